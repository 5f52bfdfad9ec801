"""Counts: what the count room counted, the drop of each session, with corrections applied.

A count is a stream of its own. A drop belongs to the gaming day of its session, so it is looked up by the session that
it names, in the counts from the day before to a week after; what is counted outside that time is in no report, and is a
finding. Two entries for one session are two boxes and are added; a recount is a correction of the entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from audit.adjudication.stream_reader import corrected_events
from audit.models import Casino, LoggedStream
from settlement.events import CountClosed, DropCounted

BEFORE, AFTER = timedelta(days=1), timedelta(days=7)
"""How far from a gaming day its counts may be opened."""


@dataclass(frozen=True, slots=True)
class CountEntry:
    """One entry of a count, with corrections applied. ``count`` is the name of the stream; the amount, minor units."""

    count: str
    stream_id: int
    event: DropCounted

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def amount(self) -> int:
        return self.event.data.amount


@dataclass(slots=True)
class Counts:
    """The counts in one currency that may concern one gaming day.

    ``streams`` maps every count that was read to its name, ``of_day`` are those opened for that very day;
    ``is_closed`` is about the latter.
    """

    by_session: dict[str, list[CountEntry]] = field(default_factory=dict)
    streams: dict[int, str] = field(default_factory=dict)
    of_day: set[int] = field(default_factory=set)
    is_closed: bool = False

    def drop(self, session: str) -> int | None:
        """Return the drop of a session in minor units, or None if it has not been counted."""
        entries = self.by_session.get(session)
        return sum(entry.amount for entry in entries) if entries else None

    def for_unknown_sessions(self, known: Iterable[str]) -> list[CountEntry]:
        """Return the entries of this day's counts that name a session outside ``known``."""
        names = set(known)
        entries = (entry for name, listed in self.by_session.items() if name not in names for entry in listed)
        return sorted((e for e in entries if e.stream_id in self.of_day), key=lambda e: (e.count, e.seq))


@dataclass(frozen=True, slots=True)
class LateCount:
    """An entry of a count that was opened too far from the day of its session, ``days`` after it; below 0, before."""

    entry: CountEntry
    session: str
    gaming_day: date
    days: int


def late_counts(casino: Casino, day: date, counts: Counts) -> list[LateCount]:
    """Return the entries of the counts of ``day`` that no report has: they name sessions of days too far away."""
    ours = [entry for entries in counts.by_session.values() for entry in entries if entry.stream_id in counts.of_day]
    names = {entry.event.data.session for entry in ours}
    sessions = LoggedStream.objects.filter(casino=casino, name__in=names, table__isnull=False, is_of_desk=False)
    days = {name: day - played for name, played in sessions.values_list("name", "gaming_day")}
    late = [
        LateCount(entry, name, day - days[name], days[name].days)
        for entry in ours
        for name in [entry.event.data.session]
        if name in days and not -BEFORE <= days[name] <= AFTER
    ]
    return sorted(late, key=lambda each: (each.entry.count, each.entry.seq))


def count_streams(casino: Casino, day: date) -> list[LoggedStream]:
    """Return the count-room streams that may hold the drop of a gaming day's sessions, by stream id."""
    streams = LoggedStream.objects.filter(
        casino=casino, table=None, is_of_desk=False, gaming_day__range=(day - BEFORE, day + AFTER)
    )
    return list(streams.order_by("stream_id"))


def read_counts(streams: Iterable[LoggedStream], day: date, currency: str, through: dict[int, int]) -> Counts:
    """Return what ``streams`` counted in a currency. ``through`` holds the last seq to read of each, by stream id."""
    counts = Counts()
    for stream in streams:
        if stream.currency != currency or stream.stream_id not in through:
            continue
        last = through[stream.stream_id]
        counts.streams[stream.stream_id] = stream.name
        is_of_day = stream.gaming_day == day
        if is_of_day:
            counts.of_day.add(stream.stream_id)
        for event in corrected_events(stream.stream_id, last):
            if isinstance(event, DropCounted):
                entry = CountEntry(stream.name, stream.stream_id, event)
                counts.by_session.setdefault(event.data.session, []).append(entry)
            elif isinstance(event, CountClosed) and is_of_day:
                counts.is_closed = True
    return counts
