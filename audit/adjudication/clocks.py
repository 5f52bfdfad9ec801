"""Clocks that are ahead of the record: an event that claims to have occurred after it was received (`clock-ahead`).

Only the record knows when it received an event, so the rules engine cannot find this. It is found again by every run,
from what is stored. While a clock stays ahead there is one finding, at the first event that shows it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter, itemgetter

from audit.event_store import read
from settlement import Event
from settlement.codec import decode_one_stored
from settlement.events import ExtensionEvent
from settlement.findings import find
from settlement.state import Table

TOLERANCE = timedelta(seconds=120)
"""How far an event may be ahead of its receipt without a finding."""

LOOKS_BACK = 20
"""The events before a step among which the last one with a clock is looked for."""


@dataclass(frozen=True, slots=True)
class _Receipts:
    """When the batches of a stream were received, by the first number of each, in order."""

    batches: Sequence[tuple[int, datetime]]

    def of(self, seq: int) -> datetime:
        return self.batches[bisect_right(self.batches, seq, key=itemgetter(0)) - 1][1]

    def is_ahead(self, event: Event) -> bool:
        return event.occurred_at - self.of(event.seq) > TOLERANCE


def find_ahead(table: Table, stream_id: int, events: Sequence[Event]) -> None:
    """Report in ``table`` where, among ``events`` of a stream, its clock begins to be ahead of the record.

    An integrator's own event stands between no two others, and its clock does not count.
    """
    first, last = events[0].seq, events[-1].seq
    earliest = read.received_from(stream_id, first, first)
    if max(map(attrgetter("occurred_at"), events)) - earliest[0][1] <= TOLERANCE:  # nearly always
        return
    receipts = _Receipts(read.received_from(stream_id, first, last))
    was_ahead: bool | None = None
    for event in events:
        if isinstance(event, ExtensionEvent):
            continue
        is_ahead = receipts.is_ahead(event)
        if is_ahead and was_ahead is None:
            was_ahead = _was_ahead_before(stream_id, event.seq)
        if is_ahead and not was_ahead:
            received_at = receipts.of(event.seq).astimezone(event.occurred_at.tzinfo)
            find(
                table,
                "clock-ahead",
                event.seq,
                expected=received_at.isoformat(timespec="milliseconds"),
                recorded=event.occurred_at.isoformat(),
                ahead_s=int((event.occurred_at - received_at).total_seconds()),
            )
        was_ahead = is_ahead


def _was_ahead_before(stream_id: int, seq: int) -> bool:
    """Whether the last event before ``seq`` that has a clock was ahead already."""
    before = [decode_one_stored(envelope) for _seq, envelope in read.before(stream_id, seq=seq, limit=LOOKS_BACK)]
    clocked = [event for event in before if not isinstance(event, ExtensionEvent)]
    if not clocked:
        return False
    last = clocked[-1]
    return _Receipts(read.received_from(stream_id, last.seq, last.seq)).is_ahead(last)
