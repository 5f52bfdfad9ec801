"""Slips of fills and credits: numbered without gaps, each used once.

A slip is a *series*, everything before its last digits, and a number. Within a casino's gaming day and currency a
series runs from its lowest to its highest number; where it should begin is not known. A slip without a number can only
be a duplicate.
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
class Gap:
    """Numbers of a series that no fill or credit uses: the first and last slip, how many, and the next use."""

    first: str
    last: str
    count: int
    next_use: Use

    @property
    def label(self) -> str:
        return self.first if self.count == 1 else f"{self.first} … {self.last}"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A slip that was used again."""

    again: Use
    first: Use


def uses(sessions: Iterable[Figures]) -> list[Use]:
    return [Use(figures.stream, slip) for figures in sessions for slip in figures.slips]


def duplicates(used: Iterable[Use]) -> list[Duplicate]:
    """Return every use of a slip after its first."""
    first_uses: dict[str, Use] = {}
    repeated = []
    for use in used:
        first = first_uses.setdefault(use.slip.slip, use)
        if first is not use:
            repeated.append(Duplicate(use, first))
    return repeated


def gaps(used: Iterable[Use]) -> list[Gap]:
    """Return the gaps in every series, adjacent missing numbers as one."""
    series: dict[str, dict[int, Use]] = {}
    for use in used:
        numbered = _NUMBERED.match(use.slip.slip)
        if numbered:
            series.setdefault(numbered[1], {}).setdefault(int(numbered[2]), use)
    missing = []
    for prefix, numbers in sorted(series.items()):
        for below, above in pairwise(sorted(numbers)):
            if above - below > 1:
                use = numbers[above]
                width = len(use.slip.slip) - len(prefix)
                first, last = (f"{prefix}{number:0{width}}" for number in (below + 1, above - 1))
                missing.append(Gap(first, last, above - below - 1, use))
    return missing
