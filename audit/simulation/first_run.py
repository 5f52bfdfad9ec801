"""What ``make run`` loads into an empty record, as a plan that outlives a restart, and how far it has come.

The plan is a file of this installation; how far it is, the record itself says: a night is loaded when its count is
stored, and reconciled when it has a report. So whatever interrupts the loading, it goes on where it was.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec
from django.conf import settings

from audit.access.scope import Scope
from audit.models import Casino, LoggedStream, NightReport
from audit.simulation.month import VENUES, Venue, nights_of

FIRST_NIGHTS = 2
"""Nights of each casino that are loaded before the others and reconciled together, the oldest first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A month to load: its last day, its tables in all, its nights. ``is_done``: nothing is to be loaded any more."""

    last_day: date
    tables: int
    nights: int
    is_done: bool = False

    def keep(self) -> None:
        """Store the plan, in one step."""
        path = _path()
        path.with_suffix(".new").write_bytes(msgspec.json.encode(asdict(self)))
        path.with_suffix(".new").replace(path)


@dataclass(frozen=True, slots=True)
class Progress:
    """How many nights are planned, stored and reconciled, those of all simulated casinos together."""

    planned: int
    loaded: int
    reconciled: int


def plan() -> Plan | None:
    """Return the plan of this installation; None if nothing simulated was ever loaded."""
    try:
        return msgspec.json.decode(_path().read_bytes(), type=Plan)
    except (OSError, msgspec.MsgspecError):
        return None


def begin(*, tables: int, nights: int, now: datetime) -> Plan:
    """Return a new plan, for the month that ends with the last gaming day that is over everywhere."""
    venues = [Casino(code=venue.code, name=venue.name, time_zone=venue.zone) for venue in VENUES]
    last_day = min(date.fromordinal(casino.gaming_day_at(now).toordinal() - 1) for casino in venues)
    new = Plan(last_day, tables, nights)
    new.keep()
    return new


def is_of_others() -> bool:
    """Whether a casino that is neither simulated nor a sandbox has sent a stream: then nothing simulated is added."""
    codes = [venue.code for venue in VENUES]
    of_casinos = LoggedStream.objects.filter(is_of_desk=False, casino__is_sandbox=False)
    return of_casinos.exclude(casino__code__in=codes).exists()


def is_loaded(venue: Venue, day: date) -> bool:
    """Whether a night is stored to its end. Its count comes last, in one request."""
    streams = LoggedStream.objects.filter(casino__code=venue.code, is_of_desk=False)
    if not venue.share:  # its one session is posted before anything asks; posting it again stores nothing twice
        return NightReport.objects.filter(casino__code=venue.code).exists()
    return streams.filter(name__startswith=f"{venue.code}.count.{day}").exists()


def is_to_wait(casino: Casino, day: date) -> bool:
    """Whether a night is not to be reconciled yet, because it or the night before is still to be loaded.

    A night is held against the closing floats of the one before, and the newest is loaded first: reported at once, it
    would be reopened as soon as these come.
    """
    loading = plan()
    venue = next((each for each in VENUES if each.code == casino.code and each.share), None)
    if loading is None or loading.is_done or venue is None or is_of_others():
        return False
    planned = {
        each for of, each in nights_of(loading.last_day, tables=loading.tables, number=loading.nights) if of == venue
    }
    needed = planned.intersection((day, day - timedelta(days=1))) if day in planned else ()
    return not all(is_loaded(venue, each) for each in needed)


def progress(of: Plan, scope: Scope | None = None) -> Progress:
    """Return how far a plan has come, at the casinos of ``scope``; None: at all."""
    casinos = {casino.code: casino.pk for casino in Casino.objects.filter(code__in=[venue.code for venue in VENUES])}
    codes = [code for code, casino_id in casinos.items() if scope is None or scope.includes(casino_id)]
    streams = LoggedStream.objects.filter(casino__code__in=codes, is_of_desk=False)
    counts = streams.filter(name__contains=".count.").values("casino_id", "gaming_day").distinct().count()
    elsewhere = streams.filter(casino__code__in=[venue.code for venue in VENUES if not venue.share])
    reports = NightReport.objects.filter(casino__code__in=codes).values("casino_id", "gaming_day").distinct().count()
    planned = sum(
        1 for venue, _day in nights_of(of.last_day, tables=of.tables, number=of.nights) if venue.code in codes
    )
    return Progress(planned, counts + int(elsewhere.exists()), reports)


def _path() -> Path:
    return Path(settings.DATA_DIR) / "first-run.json"
