"""Gaming days: from a casino's cutoff to the next, in its time zone. A day of a clock change has 23 or 25 hours."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

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
    """Return when a gaming day begins and ends. A cutoff that a clock change skips is the first instant after it."""
    return Bounds(_cutoff(casino, day), _cutoff(casino, day + timedelta(days=1)))


def day_of(casino: Casino, moment: datetime) -> date:
    """Return the gaming day that contains an instant."""
    day = moment.astimezone(ZoneInfo(casino.time_zone)).date()
    return day if moment >= _cutoff(casino, day) else day - timedelta(days=1)


def has_ended(casino: Casino, day: date, now: datetime) -> bool:
    return now >= bounds(casino, day).end


def last_ended(casino: Casino, now: datetime) -> date:
    """Return the last gaming day that has ended."""
    return day_of(casino, now) - timedelta(days=1)


def _cutoff(casino: Casino, day: date) -> datetime:
    zone = ZoneInfo(casino.time_zone)
    # The round trip through UTC turns a local time that a clock change skips into one that exists.
    return datetime.combine(day, casino.cutoff, zone).astimezone(UTC).astimezone(zone)
