"""Verification of when batches were received: that never goes back, in a stream or between leaves.

``log.append`` dates no batch before the one before it in its stream, nor before what is sealed, and the sequencer seals
as batches were received. Leaves can still stand the other way round where a transaction was committed late, by as long
as it took: ``pending.LATE`` is allowed for that. While it runs, the sequencer knows better and leaves what is dated
back.

The leaves before ``log.clock.since`` were appended by a version that knew none of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from audit.event_store import binary_copy
from audit.transparency.pending import LATE

FUTURE = timedelta(days=1)
"""How far a clock may be wrong before a date to come is one that somebody has written."""

INSTANT = "case when b.received_at > '2000-01-01' and b.received_at < '3000-01-01' then b.received_at end"
"""When batch ``b`` was received, null for a date that Python has not: somebody else has put it there."""

HEAD_INSTANT = f"case when h.received_at is not null then coalesce({INSTANT.replace('b.', 'h.')}, '2000-01-01') end"
"""When the last batch of the head ``h`` was received, null before the first, and 2000 for an invalid date."""

_CLOCK = """
select since, began_at, received_at, clock_timestamp() from log.clock
where began_at > '2000-01-01' and received_at < '3000-01-01'
"""


class ReceivedOrder:
    """What is held to: since which leaf, and how far the log's clock has come."""

    def __init__(self) -> None:
        rows = binary_copy.execute(_CLOCK, ())
        self.is_there = bool(rows)
        self.since: int = rows[0][0] if rows else 0
        self.clock: datetime | None = rows[0][2] if rows else None
        self.newest: datetime | None = rows[0][1] if rows else None
        self.now: datetime | None = rows[0][3] if rows else None

    def wrong_leaf(self, index: int, received_at: datetime | None) -> str | None:
        """Return what is wrong with the date of a leaf, all in the order of the log; None if nothing is."""
        if received_at is None or index < self.since or self.newest is None:
            return None
        if received_at < self.newest - LATE:
            return (
                f"its batch was received at {received_at.isoformat()}, and one before it at {self.newest.isoformat()}"
            )
        self.newest = max(self.newest, received_at)
        return None

    def wrong_in_stream(self, batches: Sequence[tuple[int | None, datetime | None]]) -> Iterator[tuple[int, str]]:
        """Yield which of a stream's batches, given as leaf index and date, are dated wrongly, and how."""
        for at, (index, received_at) in enumerate(batches):
            if received_at is None:
                yield at, "when it was received is not a date"
                continue
            if self.clock is None or self.now is None:
                continue
            before_index, before = batches[at - 1] if at else (None, None)
            is_held = index is None or index >= self.since
            was_held = before_index is None or before_index >= self.since
            if before is not None and is_held and was_held and received_at < before:
                yield at, "it was received before the batch before it"
            elif index is None and received_at < self.clock - LATE:
                yield at, "it is not sealed, and was received before what is"
            elif index is None and received_at > max(self.now, self.clock) + FUTURE:
                yield at, "it was received at a time to come"

    def wrong_clock(self) -> str | None:
        """Return what is wrong with the log's clock, when every leaf has been given to ``wrong_leaf``."""
        if not self.is_there:
            return "the log has no clock, or one without a date"
        if self.newest is not None and self.now is not None and self.newest > self.now + FUTURE:
            return "the log's clock is more than a day ahead of the host's"
        return None if self.clock == self.newest else "the log's clock is not the newest instant that is sealed"
