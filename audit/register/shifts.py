"""The shifts of a casino: the register names each, with the clock time at which it begins. The last one begun goes on.

A value is an object of JSON, the time by the name: ``{"early": "14:00", "late": "20:00", "night": "02:00"}``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

SHIFTS = "shifts"
"""What the register calls them."""

MOST_SHIFTS = 12

_LETTERS = "A-Za-z0-9À-ÖØ-öø-ÿŒœ"
_NAME = re.compile(rf"[{_LETTERS}](?:[{_LETTERS} '’.-]{{0,38}}[{_LETTERS}])?")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_TIME_AS_WRITTEN = re.compile(r"([0-9]{1,2})\s*[:h]\s*([0-9]{2})")


def is_readable(value: Any) -> bool:
    """Return whether a value names shifts, each with a time of its own. The database compares the same."""
    return (
        isinstance(value, dict)
        and 0 < len(value) <= MOST_SHIFTS
        and all(_NAME.fullmatch(name) for name in value)
        and all(isinstance(begins, str) and _TIME.fullmatch(begins) for begins in value.values())
        and len(set(value.values())) == len(value)
    )


def parsed(parts: Sequence[str]) -> dict[str, str] | None:
    """Return what somebody wrote as ``early=14:00``, also ``early=14h00``; None where a name comes twice."""
    value: dict[str, str] = {}
    for part in parts:
        name, _equals, begins = unicodedata.normalize("NFC", part).partition("=")
        clock = _TIME_AS_WRITTEN.fullmatch(begins.strip())
        value[name.strip()] = f"{int(clock[1]):02}:{clock[2]}" if clock else begins
    return value if len(value) == len(parts) else None


def written(value: Mapping[str, str]) -> str:
    """Return shifts as a page shows them, in the order of their times."""
    return ", ".join(f"{begins} {name}" for begins, name in sorted((begins, name) for name, begins in value.items()))


def shift_at(shifts: Mapping[str, str], at: datetime, zone: ZoneInfo) -> str:
    """Return the shift that an instant is in: of those that have begun by the clock of ``zone``, the last one.

    A shift begins once a day also where clocks change: at the first of two times that read alike, and at a time that is
    skipped as soon as the clock reads later.
    """
    here = at.astimezone(zone).replace(tzinfo=None)
    begun = []
    for name, text in shifts.items():
        for back in (0, 1):
            begins = datetime.combine(here.date() - timedelta(days=back), time.fromisoformat(text))
            if begins <= here or begins.replace(tzinfo=zone).astimezone(UTC) <= at:
                begun.append((begins, name))
    return max(begun)[1]
