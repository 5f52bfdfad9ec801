"""The sessions of a table in order: how each was closed before the next one opened, for many at once.

A close that was annulled is none; a correction that waits for its approval has no effect.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from audit.adjudication import stream_reader
from audit.event_store import read
from audit.models import LoggedStream
from settlement.codec import decode_one_stored
from settlement.events import SessionClosed


@dataclass(frozen=True, slots=True)
class Closer:
    """How the previous session of a table was closed: its stream, and its closing float in minor units."""

    stream: str
    amount: int


def previous_closers(streams: Collection[LoggedStream]) -> dict[int, Closer]:
    """Return how the table was closed before each session, by stream id.

    One that is the first of its table, or follows an open one, is not there.
    """
    before = _neighbours(streams, "lt", "-stream_id")
    closes = read.last_of_type_in([previous.stream_id for previous in before.values()], "session.closed")
    closers = {}
    for stream_id, previous in before.items():
        amount = _amount_of(previous.stream_id, *closes[previous.stream_id]) if previous.stream_id in closes else None
        if amount is not None:
            closers[stream_id] = Closer(previous.name, amount)
    return closers


def followers(streams: Collection[LoggedStream]) -> Mapping[int, LoggedStream]:
    """Return the next session of the table of each, by stream id; the last of a table has none."""
    return _neighbours(streams, "gt", "stream_id")


def _neighbours(streams: Collection[LoggedStream], side: str, order: str) -> dict[int, LoggedStream]:
    others = LoggedStream.objects.filter(
        table=OuterRef("table"), currency=OuterRef("currency"), is_of_desk=False,
        **{f"stream_id__{side}": OuterRef("stream_id")},
    )  # fmt: skip
    neighbour = Subquery(others.order_by(order).values("pk")[:1])
    rows = LoggedStream.objects.filter(pk__in=[stream.pk for stream in streams]).annotate(neighbour=neighbour)
    pairs = dict(rows.order_by("pk").values_list("pk", "neighbour"))
    found = LoggedStream.objects.in_bulk([pk for pk in pairs.values() if pk is not None])
    return {stream_id: found[pk] for stream_id, pk in pairs.items() if pk is not None}


def _amount_of(stream_id: int, raw: bytes, is_changed: bool) -> int | None:
    """Return the closing float in minor units of a close as its corrections leave it, None if it was annulled."""
    event = decode_one_stored(raw)
    if is_changed:
        corrections = stream_reader.corrections_in_effect(stream_id)
        if corrections.removed_by(event):
            return None
        event = corrections.corrected(event)
    assert isinstance(event, SessionClosed)
    return event.data.float
