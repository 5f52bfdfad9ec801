"""Reading the log: the stored bytes, as they were hashed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

PAGE = 1_000
"""Rows fetched at a time."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream stands: the number it takes next, and its chain."""

    stream_id: int
    next_seq: int
    chain: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """One accepted request, as its receipt says it."""

    first_seq: int
    last_seq: int
    next_seq: int
    count: int
    root: bytes
    chain: bytes
    received_at: datetime


def head_of(casino_id: int, name: str) -> Head | None:
    """Return where a stream of a casino stands, None where it was never opened."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select s.stream_id, h.next_seq, h.chain from log.stream s join log.stream_head h using (stream_id)"
            " where s.casino_id = %s and s.name = %s",
            (casino_id, name),
        )
        row = cursor.fetchone()
    return None if row is None else Head(row[0], row[1], bytes(row[2]))


def slice_of(stream_id: int, *, after: int = 0, limit: int) -> list[tuple[int, bytes]]:
    """Return up to ``limit`` events of a stream whose seq is above ``after``: seq and canonical bytes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select seq, envelope::text from log.event where stream_id = %s and seq > %s order by seq limit %s",
            (stream_id, after, limit),
        )
        return [(seq, envelope.encode()) for seq, envelope in cursor.fetchall()]


def before(stream_id: int, *, seq: int, limit: int) -> list[tuple[int, bytes]]:
    """Return the last ``limit`` events of a stream whose seq is below ``seq``, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select seq, envelope::text from log.event where stream_id = %s and seq < %s order by seq desc limit %s",
            (stream_id, seq, limit),
        )
        return [(seq, envelope.encode()) for seq, envelope in reversed(cursor.fetchall())]


def whole(stream_id: int, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the events of a stream from ``after`` on, a page at a time: memory stays flat."""
    while page := slice_of(stream_id, after=after, limit=PAGE):
        yield from page
        after = page[-1][0]


def events_at(stream_id: int, seqs: list[int]) -> dict[int, bytes]:
    """Return the stored events among ``seqs``, by seq."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select seq, envelope::text from log.event where stream_id = %s and seq = any (%s)", (stream_id, seqs)
        )
        return {seq: envelope.encode() for seq, envelope in cursor.fetchall()}


def corrections_of(stream_id: int) -> list[bytes]:
    """Return the ``entry.corrected`` events of a stream, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select envelope::text from log.event"
            " where stream_id = %s and envelope ->> 'type' = 'entry.corrected' order by seq",
            (stream_id,),
        )
        return [envelope.encode() for (envelope,) in cursor.fetchall()]


def batch_holding(stream_id: int, seq: int) -> Batch | None:
    """Return the batch that an event came in, None where the event is not there."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select first_seq, last_seq, next_seq, count, root, chain, received_at from log.batch"
            " where stream_id = %s and first_seq <= %s order by first_seq desc limit 1",
            (stream_id, seq),
        )
        row = cursor.fetchone()
    if row is None or seq > row[1]:
        return None
    first, last, following, count, root, chain, received_at = row
    return Batch(first, last, following, count, bytes(root), bytes(chain), received_at)


def dirty_streams(engine_version: str, *, limit: int) -> list[int]:
    """Return streams whose events are not all adjudicated under ``engine_version``."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select h.stream_id from log.stream_head h"
            " left join audit_adjudication a on a.stream_id = h.stream_id and a.engine_version = %s"
            " where h.next_seq > coalesce(a.next_seq, 1) order by h.stream_id desc limit %s",
            (engine_version, limit),
        )
        return [stream_id for (stream_id,) in cursor.fetchall()]
