"""Reading the log: the stored bytes, as they were hashed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from audit.event_store import binary_copy

PAGE = 1_000
"""Rows fetched at a time."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream stands: the number it takes next, and its chain. ``table_id`` is None for a count room."""

    stream_id: int
    table_id: int | None
    next_seq: int
    chain: bytes
    is_of_desk: bool
    game: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """One accepted request, as its receipt says it. ``key_id`` is that of the key it came by, 0 for a desk's acts."""

    first_seq: int
    last_seq: int
    next_seq: int
    count: int
    root: bytes
    chain: bytes
    received_at: datetime
    key_id: int


def head_of(casino_id: int, name: str) -> Head | None:
    """Return where a stream of a casino stands, None where it was never opened."""
    rows = binary_copy.execute(
        "select s.stream_id, s.table_id, h.next_seq, h.chain, s.is_of_desk, s.game"
        " from log.stream s join log.stream_head h using (stream_id)"
        " where s.casino_id = %b::bigint and s.name = %b::text",
        (casino_id, name),
    )
    return Head(*rows[0]) if rows else None


def next_seq_of(stream_id: int) -> int:
    """Return the number that an open stream takes next."""
    [(next_seq,)] = binary_copy.execute(
        "select next_seq from log.stream_head where stream_id = %b::bigint", (stream_id,)
    )
    return int(next_seq)


def slice_of(stream_id: int, *, after: int = 0, limit: int) -> list[tuple[int, bytes]]:
    """Return up to ``limit`` events of a stream whose seq is above ``after``: seq and canonical bytes."""
    return binary_copy.execute(
        "select seq, envelope from log.event where stream_id = %b::bigint and seq > %b::bigint"
        " order by seq limit %b::bigint",
        (stream_id, after, limit),
    )


def before(stream_id: int, *, seq: int, limit: int) -> list[tuple[int, bytes]]:
    """Return the last ``limit`` events of a stream whose seq is below ``seq``, in order."""
    rows = binary_copy.execute(
        "select seq, envelope from log.event where stream_id = %b::bigint and seq < %b::bigint"
        " order by seq desc limit %b::bigint",
        (stream_id, seq, limit),
    )
    return rows[::-1]


def whole(stream_id: int, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the events of a stream from ``after`` on, a page at a time: memory stays flat."""
    while page := slice_of(stream_id, after=after, limit=PAGE):
        yield from page
        after = page[-1][0]


def events_at(stream_id: int, seqs: list[int]) -> dict[int, bytes]:
    """Return the stored events among ``seqs``, by seq."""
    return dict(
        binary_copy.execute(
            "select seq, envelope from log.event where stream_id = %b::bigint and seq = any (%b::bigint[])",
            (stream_id, seqs),
        )
    )


def corrections_of(stream_id: int) -> list[bytes]:
    """Return the ``entry.corrected`` events of a stream, in order."""
    rows = binary_copy.execute("select chain from log.stream_head where stream_id = %b::bigint", (stream_id,))
    return list(_corrections_under(stream_id, rows[0][0])) if rows else []


@lru_cache(maxsize=256)
def _corrections_under(stream_id: int, chain: bytes) -> tuple[bytes, ...]:
    """Look through a whole stream, once: ``chain`` stands for all that is in it."""
    rows = binary_copy.execute(
        "select envelope from log.event"
        " where stream_id = %b::bigint and envelope ->> 'type' = 'entry.corrected' order by seq",
        (stream_id,),
    )
    return tuple(envelope for (envelope,) in rows)


def last_of_type(stream_id: int, type: str) -> bytes | None:
    """Return the last event of a type in a stream, None where it has none."""
    rows = binary_copy.execute(
        "select envelope from log.event where stream_id = %b::bigint and envelope ->> 'type' = %b::text"
        " order by seq desc limit 1",
        (stream_id, type),
    )
    return rows[0][0] if rows else None


def heads_of(stream_ids: list[int]) -> dict[int, int]:
    """Return the last number of each stream, declared losses included."""
    rows = binary_copy.execute(
        "select stream_id, next_seq - 1 from log.stream_head where stream_id = any (%b::bigint[])", (stream_ids,)
    )
    return dict(rows)


def last_received(stream_ids: list[int]) -> datetime | None:
    """Return when the newest batch of some streams came, None where there is none."""
    [(moment,)] = binary_copy.execute(
        "select max(received_at) from log.batch where stream_id = any (%b::bigint[])", (stream_ids,)
    )
    return moment


def batch_holding(stream_id: int, seq: int) -> Batch | None:
    """Return the batch that an event came in, None where the event is not there."""
    rows = binary_copy.execute(
        "select first_seq, last_seq, next_seq, count, root, chain, received_at, key_id from log.batch"
        " where stream_id = %b::bigint and first_seq <= %b::bigint order by first_seq desc limit 1",
        (stream_id, seq),
    )
    if not rows or seq > rows[0][1]:
        return None
    return Batch(*rows[0])


def batches_through(stream_id: int, seq: int) -> list[Batch]:
    """Return the batches of a stream up to the one that holds event ``seq``, in order."""
    rows = binary_copy.execute(
        "select first_seq, last_seq, next_seq, count, root, chain, received_at, key_id from log.batch"
        " where stream_id = %b::bigint and first_seq <= %b::bigint order by first_seq",
        (stream_id, seq),
    )
    return [Batch(*row) for row in rows]


def dirty_streams(engine_version: str, *, limit: int) -> list[int]:
    """Return streams whose events are not all adjudicated under ``engine_version``."""
    rows = binary_copy.execute(
        "select h.stream_id from log.stream_head h join log.stream s using (stream_id)"
        " left join audit_adjudication a on a.stream_id = h.stream_id and a.engine_version = %b::text"
        " and a.what_if_id is null"
        " where (h.next_seq > coalesce(a.next_seq, 1) or a.completed_run < a.run) and not s.is_of_desk"
        " order by h.stream_id desc limit %b::bigint",
        (engine_version, limit),
    )
    return [stream_id for (stream_id,) in rows]
