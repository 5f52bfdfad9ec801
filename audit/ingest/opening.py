"""What a key may open: which gaming days, how many streams of one, and how many months that have no partitions yet.

An opened stream is work for the night of its day and for everything that lists it, and its month's partitions are for
good. A key that is broken or stolen must not cause more of it than a casino does.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from django.conf import settings

from audit.event_store import streams
from audit.ingest.refusals import EventsRefused
from audit.models import ApiKey, KeyScope

DAYS_BACK, DAYS_AHEAD = 40, 2
"""The gaming days that are accepted, counted from the casino's current one, both included."""

MONTHS_WITHIN = timedelta(days=1)
"""The time in which new months are counted."""


class GamingDayNotAccepted(EventsRefused):
    """The gaming day lies too far back for a key without ``events:backfill``, or too far ahead for any key."""

    def __init__(self, day: date, first_day: date | None, last_day: date) -> None:
        self.first_day = first_day.isoformat() if first_day is not None else None
        self.last_day = last_day.isoformat()
        if day > last_day:
            remedy = "check the gaming day and the clock of the table system"
        else:
            remedy = f"an earlier day needs a key with the scope {KeyScope.EVENTS_BACKFILL}"
        accepted = f"to {last_day}" if first_day is None else f"from {first_day} to {last_day}"
        super().__init__(f"The gaming day {day} is not accepted now, only those {accepted}: {remedy}.")


class TooManyStreams(EventsRefused):
    """The key has opened as many streams of a gaming day as it may (``CABOCHON_STREAMS_A_DAY``)."""

    def __init__(self, day: date, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"This key has opened {limit} streams of the gaming day {day}, and may open no more: go on in a stream that"
            " is open, or have the operator raise CABOCHON_STREAMS_A_DAY."
        )


class TooManyMonths(EventsRefused):
    """The key has opened streams of as many months within a day as it may (``CABOCHON_MONTHS_A_DAY``)."""

    def __init__(self, day: date, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"This key has opened streams of {limit} months within a day, and {day:%Y-%m} would be a new one: go on"
            " tomorrow, or have the operator raise CABOCHON_MONTHS_A_DAY."
        )


def check_day(key: ApiKey, day: date) -> None:
    """Raise ``GamingDayNotAccepted`` for a gaming day that the key may not open a stream of."""
    today = key.casino.gaming_day_at(datetime.now(UTC))
    is_backfill = KeyScope.EVENTS_BACKFILL in key.scopes
    first_day = None if is_backfill else today - timedelta(days=DAYS_BACK)
    last_day = today + timedelta(days=DAYS_AHEAD)
    if day > last_day or (first_day is not None and day < first_day):
        raise GamingDayNotAccepted(day, first_day, last_day)


def check_months(key: ApiKey, day: date, *, planned: int = 0) -> None:
    """Raise ``TooManyMonths`` if a stream of a day needs new partitions and the key has caused enough of them.

    ``planned`` are other months of which streams are to be opened before it.

    A sandbox has no months: its streams share one partition.
    """
    limit: int = settings.CABOCHON_MONTHS_A_DAY
    if not key.casino.is_sandbox and not streams.has_month(day):
        since = datetime.now(UTC) - MONTHS_WITHIN
        if streams.months_opened_by(key.pk, key.casino_id, since=since) + planned >= limit:
            raise TooManyMonths(day, limit)


def check_count(key: ApiKey, day: date, *, opened: int) -> None:
    """Raise ``TooManyStreams`` if the key may open no more streams of a day.

    Those ``opened`` just now are left out. Below 0, as many more are to be opened before.
    """
    limit: int = settings.CABOCHON_STREAMS_A_DAY
    if streams.opened_by(key.pk, key.casino_id, day) - opened >= limit:
        raise TooManyStreams(day, limit)
