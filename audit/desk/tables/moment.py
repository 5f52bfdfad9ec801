"""A table at a clock time: “r3 23:41”, « R3 à 23h41 », found as the event that stood last at that instant.

The clock is the casino's. Without a date it is that of the newest session of the table that was open at that clock. If
none was, it is the beginning or the end of the newest session, whichever is nearer.
Instants are what the table systems claim; they may run back a little, so the search is right to within such a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.urls import reverse

from audit.event_store import read
from audit.models import GamingTable, LoggedStream
from settlement.codec import decode_one_stored

SESSIONS = 40
"""Sessions of a table that are tried, the newest first."""

CLOCK = re.compile(r"(?<![\d:h])([01]?\d|2[0-3])[:hH]([0-5]\d)(?!\d)")
"""A clock time: 23:41, 23h41, 9:05."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A table at an instant, ``at``, in the casino's zone. ``seq`` is that of the last event that had happened.

    ``clock`` is what was asked for. Unless ``is_open``, the session did not go on then, and ``at`` is its nearer end.
    """

    stream: LoggedStream
    table: GamingTable
    seq: int
    at: datetime
    clock: time
    is_open: bool

    @property
    def address(self) -> str:
        page = reverse("admin:audit_loggedstream_table", args=(self.stream.pk,))
        return f"{page}?at={self.seq}&clock={self.clock:%H:%M}"


@dataclass(frozen=True, slots=True)
class Span:
    """A session from its first event to its last: the number of the last, and when both happened."""

    last_seq: int
    first_at: datetime
    last_at: datetime


def span_of(stream_id: int) -> Span | None:
    """Return from when to when a session has events; None if it has none."""
    ends = read.ends_of(stream_id)
    return Span(*ends) if ends is not None else None


def clock_in(text: str) -> time | None:
    """Return the first clock time in a text; None if it has none."""
    found = CLOCK.search(text)
    return time(int(found[1]), int(found[2])) if found else None


def moments_of(
    tables: Iterable[GamingTable], clock: time, *, streams: QuerySet[LoggedStream], day: date | None = None
) -> Iterator[Moment]:
    """Yield for each table the newest moment at ``clock`` of ``streams``, of gaming day ``day`` where it is given.

    Where no session was open at that clock, the nearer end of the newest.
    """
    for table in tables:
        sessions = streams.filter(table=table, is_of_desk=False).select_related("casino")
        if day is not None:
            sessions = sessions.filter(gaming_day=day)
        nearest = None
        for stream in sessions.order_by("-gaming_day", "-opened_at", "-pk")[:SESSIONS]:
            span = span_of(stream.pk)
            moment = moment_in(stream, table, clock, span) if span is not None else None
            nearest = nearest or moment
            if moment is not None and moment.is_open:
                nearest = moment
                break
        if nearest is not None:
            yield nearest


def moment_in(stream: LoggedStream, table: GamingTable, clock: time, span: Span) -> Moment:
    """Return a session at a clock time. In the minute of its opener, it is open."""
    last, zone = span.last_seq, ZoneInfo(stream.casino.time_zone)
    opened, ended = span.first_at.astimezone(zone), span.last_at.astimezone(zone)
    at = datetime.combine(opened.date(), clock, zone)
    if at + timedelta(minutes=1) <= opened:
        at += timedelta(days=1)
    if at <= ended:
        return Moment(stream, table, _last_seq_at(stream.pk, last, at), at, clock, is_open=True)
    is_before = opened - (at - timedelta(days=1)) < at - ended
    seq, end = (1, opened) if is_before else (last, ended)
    return Moment(stream, table, seq, end, clock, is_open=False)


def instant_at(stream: LoggedStream, seq: int, written: str, span: Span) -> datetime | None:
    """Return the instant that a page about event ``seq`` shows: the clock time that its address has (``written``), if
    the session was open then, else when the event happened; None where there is no such event."""
    clock = clock_in(written)
    if clock is not None and stream.table is not None:
        moment = moment_in(stream, stream.table, clock, span)
        if moment.is_open:
            return moment.at
    return _occurred(stream.pk, seq)


def _last_seq_at(stream_id: int, last: int, instant: datetime) -> int:
    """Return the seq of the last event that had happened at ``instant``, 1 at least, in as many reads as halvings."""
    low, high = 1, last
    while low < high:
        middle = (low + high + 1) // 2
        occurred = _occurred(stream_id, middle)
        if occurred is not None and occurred <= instant:
            low = middle
        else:
            high = middle - 1
    return low


def _occurred(stream_id: int, seq: int) -> datetime | None:
    """Return when the event at a seq, or the last before it, happened; None if there is none."""
    found = read.before(stream_id, seq=seq + 1, limit=1)
    return decode_one_stored(found[0][1]).occurred_at if found else None
