"""Streams: their identity in the log, and how the log formats instants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

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


def opened_by(key_id: int, casino_id: int, gaming_day: date) -> int:
    """Return how many streams of a casino's gaming day were opened with an API key."""
    [(count,)] = binary_copy.execute(
        "select count(*) from log.stream s join log.batch b on b.stream_id = s.stream_id and b.first_seq = 1"
        " where s.casino_id = %b::bigint and s.gaming_day = %b::date and b.key_id = %b::bigint",
        (casino_id, gaming_day, key_id),
    )
    return int(count)


def hold_day(gaming_day: date) -> None:
    """Take the lock with which streams of a gaming day are opened one after the other, in this transaction."""
    binary_copy.execute(
        "select pg_advisory_xact_lock(hashtext('log.open_stream'), %b::date - date '2020-01-01')", (gaming_day,)
    )


def has_month(day: date) -> bool:
    """Return whether the partitions of a day's month exist; if not, opening a stream of that day creates them."""
    [(exists,)] = binary_copy.execute(
        "select exists (select from pg_class where relnamespace = 'log'::regnamespace and relname = %b::text)",
        (f"batch{day:_%Y%m}",),
    )
    return bool(exists)


def months_opened_by(key_id: int, casino_id: int, *, since: datetime) -> int:
    """Return how many months the streams are of that were opened with an API key since an instant."""
    [(count,)] = binary_copy.execute(
        "select count(distinct date_trunc('month', s.gaming_day)) from log.stream s"
        " join log.batch b on b.stream_id = s.stream_id and b.first_seq = 1"
        " where s.casino_id = %b::bigint and s.opened_at >= %b::timestamptz and b.key_id = %b::bigint",
        (casino_id, since, key_id),
    )
    return int(count)


def instant(moment: datetime) -> str:
    """Format an instant as the log does, in UTC, to the microsecond: ``2026-11-19T22:04:05.000123Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
