"""What the count room counted: the drop of each session, as corrected.

A count is a stream of its own. Win belongs to the gaming day of the session, so a drop is looked for by the session it
names, in the counts from the day before to a week after. Two entries for one session are two boxes and are added; a
recount is a correction of the entry.
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
class Counted:
    """One entry of a count: which event, for which session, how much in minor units, by whom."""

    count: str
    stream_id: int
    seq: int
    session: str
    amount: int
    counted_by: tuple[str, ...]


@dataclass(slots=True)
class Counts:
    """The counts in one currency about one gaming day."""

    by_session: dict[str, list[Counted]] = field(default_factory=dict)
    streams: dict[int, str] = field(default_factory=dict)
    of_day: set[int] = field(default_factory=set)  # those that were opened for that very day
    through: dict[int, int] = field(default_factory=dict)
    is_closed: bool = False

    def drop(self, session: str) -> int | None:
        """Return the drop of a session, None where nothing was counted for it."""
        entries = self.by_session.get(session)
        return sum(entry.amount for entry in entries) if entries else None

    def strangers(self, sessions: Iterable[str]) -> list[Counted]:
        """Return the entries of this day's counts that name none of ``sessions``."""
        known = set(sessions)
        entries = (entry for name, listed in self.by_session.items() if name not in known for entry in listed)
        return sorted((e for e in entries if e.stream_id in self.of_day), key=lambda e: (e.count, e.seq))


def count_streams(casino: Casino, day: date) -> list[LoggedStream]:
    """Return the count-room streams that may hold the drop of a gaming day's sessions."""
    streams = LoggedStream.objects.filter(
        casino=casino, table=None, is_of_desk=False, gaming_day__range=(day - BEFORE, day + AFTER)
    )
    return list(streams.order_by("stream_id"))


def counts_of(streams: Iterable[LoggedStream], day: date, currency: str, through: dict[int, int]) -> Counts:
    """Return what ``streams`` counted in a currency, each read through the event that ``through`` says."""
    counts = Counts()
    for stream in streams:
        if stream.currency != currency or stream.stream_id not in through:
            continue
        last = through[stream.stream_id]
        counts.streams[stream.stream_id] = stream.name
        counts.through[stream.stream_id] = last
        is_of_day = stream.gaming_day == day
        if is_of_day:
            counts.of_day.add(stream.stream_id)
        for event in corrected_events(stream.stream_id, last):
            if isinstance(event, DropCounted):
                entry = Counted(
                    stream.name,
                    stream.stream_id,
                    event.seq,
                    event.data.session,
                    event.data.amount,
                    tuple(event.data.counted_by),
                )
                counts.by_session.setdefault(entry.session, []).append(entry)
            elif isinstance(event, CountClosed) and is_of_day:
                counts.is_closed = True
    return counts
