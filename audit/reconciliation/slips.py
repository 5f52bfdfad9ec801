"""Slips of fills and credits: numbered without holes, each used once.

A slip is what comes before its last digits, its *series*, and its number. Within a casino's gaming day and currency a
series runs from its lowest to its highest number; where it began is not known here, and a slip without a number can
only be doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from settlement.night.figures import Figures, Slip

_NUMBERED = re.compile(r"(?s)(.*?)([0-9]{1,15})\Z")


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a slip, in the order of the night."""

    stream: str
    slip: Slip


@dataclass(frozen=True, slots=True)
class Hole:
    """Numbers of a series that no movement bears: the first and the last of them, and the use right after."""

    first: str
    last: str
    numbers: int
    after: Use

    @property
    def written(self) -> str:
        return self.first if self.numbers == 1 else f"{self.first} … {self.last}"


@dataclass(frozen=True, slots=True)
class Double:
    """A slip that was used again."""

    again: Use
    first: Use


def uses(sessions: Iterable[Figures]) -> list[Use]:
    return [Use(figures.stream, slip) for figures in sessions for slip in figures.slips]


def doubles(used: Iterable[Use]) -> list[Double]:
    """Return every use of a slip after its first."""
    first: dict[str, Use] = {}
    found = []
    for use in used:
        known = first.setdefault(use.slip.slip, use)
        if known is not use:
            found.append(Double(use, known))
    return found


def holes(used: Iterable[Use]) -> list[Hole]:
    """Return the holes in every series, each as one, whatever its width."""
    series: dict[str, dict[int, Use]] = {}
    for use in used:
        numbered = _NUMBERED.match(use.slip.slip)
        if numbered:
            series.setdefault(numbered[1], {}).setdefault(int(numbered[2]), use)
    found = []
    for prefix, numbers in sorted(series.items()):
        ordered = sorted(numbers)
        for before, number in pairwise(ordered):
            if number - before > 1:
                use = numbers[number]
                width = len(use.slip.slip) - len(prefix)
                first, last = (f"{prefix}{missing:0{width}}" for missing in (before + 1, number - 1))
                found.append(Hole(first, last, number - before - 1, use))
    return found
