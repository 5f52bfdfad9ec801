"""Gaming days: from a casino's cutoff to the next, in its time zone. A day of a clock change has 23 or 25 hours."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from audit.models import Casino


class Bounds(NamedTuple):
    """The instants between which a gaming day lies, in the casino's time zone. ``end`` is excluded."""

    begin: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """The elapsed time. Subtracting the local times would ignore a clock change."""
        return self.end.astimezone(UTC) - self.begin.astimezone(UTC)


def bounds(casino: Casino, day: date) -> Bounds:
    """Return when a gaming day begins and ends."""
    return Bounds(casino.cutoff_at(day), casino.cutoff_at(day + timedelta(days=1)))


def day_of(casino: Casino, moment: datetime) -> date:
    """Return the gaming day that contains an instant."""
    return casino.gaming_day_at(moment)


def has_ended(casino: Casino, day: date, now: datetime) -> bool:
    return now >= bounds(casino, day).end


def last_ended(casino: Casino, now: datetime) -> date:
    """Return the last gaming day that has ended."""
    return day_of(casino, now) - timedelta(days=1)
