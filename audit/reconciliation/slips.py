"""Slips of fills and credits: numbered without gaps, each used once, whatever the day.

A slip is a *series*, everything before its last digits, and a number. Within a casino and currency a series runs on
from day to day, from the lowest number ever used; where it should begin is not known. A slip without a number can only
be a duplicate.

    within a day    used twice: a duplicate; a number between two others that is missing: a gap
    across days     used on an earlier day: a reuse; numbers missing after the highest of the days before: a gap
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from settlement.night.figures import Figures
from settlement.night.notes import Slip

_NUMBERED = re.compile(r"(?s)(.*?)([0-9]{1,15})\Z")


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a slip, in the order of the night."""

    stream: str
    slip: Slip


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers of a series that no fill or credit uses: the first and last slip, how many, and the next use.

    ``since`` is the gaming day whose last number precedes the gap, "" if it is this one.
    """

    first: str
    last: str
    count: int
    next_use: Use
    since: str = ""

    @property
    def label(self) -> str:
        return self.first if self.count == 1 else f"{self.first} … {self.last}"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A slip that was used again."""

    again: Use
    first: Use


class EarlierUse(NamedTuple):
    """A use of a slip on an earlier gaming day: the stream, the seq, and the day as ``YYYY-MM-DD``."""

    stream: str
    seq: int
    gaming_day: str


class Reached(NamedTuple):
    """The highest number of a series used before a day, and the day of that use as ``YYYY-MM-DD``."""

    number: int
    gaming_day: str


@dataclass(frozen=True, slots=True)
class Reuse:
    """A slip that an earlier day had used; its first use since."""

    again: Use
    earlier: EarlierUse


def series_of(slip: str) -> tuple[str, int | None]:
    """Return the series and the number of a slip; None if it has none."""
    numbered = _NUMBERED.match(slip)
    return (numbered[1], int(numbered[2])) if numbered else (slip, None)


def uses(sessions: Iterable[Figures]) -> list[Use]:
    return [Use(figures.stream, slip) for figures in sessions for slip in figures.slips]


def duplicates(used: Iterable[Use]) -> list[Duplicate]:
    """Return every use of a slip after its first of the day."""
    first_uses: dict[str, Use] = {}
    repeated = []
    for use in used:
        first = first_uses.setdefault(use.slip.slip, use)
        if first is not use:
            repeated.append(Duplicate(use, first))
    return repeated


def reuses(used: Iterable[Use], earlier: Mapping[str, EarlierUse]) -> list[Reuse]:
    """Return the first use today of every slip that an ``earlier`` day used, by slip."""
    first_uses: dict[str, Use] = {}
    for use in used:
        first_uses.setdefault(use.slip.slip, use)
    return [Reuse(use, earlier[slip]) for slip, use in first_uses.items() if slip in earlier]


def gaps(used: Iterable[Use], reached: Mapping[str, Reached] | None = None) -> list[Gap]:
    """Return the gaps in every series, adjacent missing numbers as one.

    ``reached`` has the highest number of each series before the day: what it reached cannot be missing today.
    """
    series: dict[str, dict[int, Use]] = {}
    for use in used:
        prefix, number = series_of(use.slip.slip)
        if number is not None:
            series.setdefault(prefix, {}).setdefault(number, use)
    missing = []
    for prefix, numbers in sorted(series.items()):
        before = (reached or {}).get(prefix)
        following = sorted(number for number in numbers if before is None or number > before.number)
        for below, above in pairwise(following if before is None else [before.number, *following]):
            if above - below > 1:
                use = numbers[above]
                width = len(use.slip.slip) - len(prefix)
                first, last = (f"{prefix}{number:0{width}}" for number in (below + 1, above - 1))
                since = before.gaming_day if before is not None and below == before.number else ""
                missing.append(Gap(first, last, above - below - 1, use, since))
    return missing
