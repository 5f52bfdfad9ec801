"""Streams: their identity in the log, and how the log formats instants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from audit.event_store import binary_copy


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A stream's identity. ``casino`` and ``table`` are ids; ``table`` is None for a count room and for a desk."""

    stream_id: int
    name: str
    casino: int
    table: int | None


def stream_row(stream_id: int) -> StreamRow | None:
    """Return a stream's identity, or None if there is no such stream."""
    rows = binary_copy.execute(
        "select stream_id, name, casino_id, table_id from log.stream where stream_id = %b::bigint", (stream_id,)
    )
    return StreamRow(*rows[0]) if rows else None


def instant(moment: datetime) -> str:
    """Format an instant as the log does, in UTC, to the microsecond: ``2026-11-19T22:04:05.000123Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
