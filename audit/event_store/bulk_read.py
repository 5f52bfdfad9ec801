"""Reading much of the log at once: stretches of streams, each as arrays in one binary row, by libpq itself.

A row an event costs more than everything that is done with the event; an array a thousand events does not. The server
gathers the next stretch while the one before is looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import psycopg
from django.db import OperationalError, connection
from psycopg.pq import ExecStatus

_SELECTED = """
select b.place, a.seqs, a.instants, a.envelopes
from unnest('{{{streams}}}'::bigint[], '{{{firsts}}}'::bigint[], '{{{lasts}}}'::bigint[])
  with ordinality as b (stream_id, first_seq, last_seq, place),
lateral (select array_agg(e.seq) as seqs, array_agg(e.occurred_at) as instants,
                string_agg(e.envelope::text, E',\\n') as envelopes
         from (select seq, occurred_at, envelope from log.event
               where stream_id = b.stream_id and seq between b.first_seq and b.last_seq order by seq) e) a
"""
# The rows are put in order once, by the index; an "order by" in the aggregates would sort them again in each.

_HEADER = 19  # bytes before the first row: signature, flags, length of an extension
_END = b"\xff\xff"
_BETWEEN = b",\n"  # what stands between two envelopes, and in none of them
_COUNT_AT, _ELEMENTS_AT = 12, 20  # in a binary array: dimensions, nulls, type, count, lower bound; then the elements
_ARRAY_AT = 18  # in a row of a number and an array: columns; eight bytes after their length; the array's length
_int32 = struct.Struct(">i").unpack_from
_int64 = struct.Struct(">q").unpack_from


PART_EVENTS = 1_000
"""Envelopes that are handed on together."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a stream, both ends included."""

    stream_id: int
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class Events:
    """Stored events, ascending: their numbers, their instants in microseconds since 2000, their envelopes.

    ``array`` is all envelopes as one JSON array.
    """

    seqs: Sequence[int] = ()
    instants_us: Sequence[int] = ()
    envelopes: Sequence[bytes] = ()
    array: bytes = b"[]"


def events_of(stretches: Sequence[Stretch]) -> Iterator[Events]:
    """Yield the stored events of each stretch, in the order of the stretches."""
    if not stretches:
        return
    selected = _SELECTED.format(
        streams=",".join(str(stretch.stream_id) for stretch in stretches),
        firsts=",".join(str(stretch.first_seq) for stretch in stretches),
        lasts=",".join(str(stretch.last_seq) for stretch in stretches),
    )
    for place, row in enumerate(_copied(selected), start=1):
        assert _int64(row, 6)[0] == place, "an ordinality is read in its order"
        yield _unpacked(row)


def _copied(selected: str) -> Iterator[bytes]:
    connection.ensure_connection()
    assert isinstance(connection.connection, psycopg.Connection)
    server = connection.connection.pgconn
    begun = server.exec_(f"copy ({selected}) to stdout (format binary)".encode())
    if begun.status != ExecStatus.COPY_OUT:
        raise OperationalError(begun.get_error_message())
    length, block = server.get_copy_data(0)
    row = bytes(block)[_HEADER:]
    while length > 0:
        if row and row[:2] != _END:
            yield row
        length, block = server.get_copy_data(0)
        row = bytes(block)
    ended = server.get_result()
    while ended is not None:
        if ended.status != ExecStatus.COMMAND_OK:
            raise OperationalError(ended.get_error_message())
        ended = server.get_result()


def _unpacked(row: bytes) -> Events:
    """Return the events of a binary row: the number of columns, then each after its length, -1 where it is null."""
    at = 2 + 4 + 8
    arrays: list[bytes] = []
    for _ in range(3):
        [length] = _int32(row, at)
        if length < 0:
            return Events()
        arrays.append(row[at + 4 : at + 4 + length])
        at += 4 + length
    seqs, instants, together = arrays
    [count] = _int32(seqs, _COUNT_AT)
    numbers = _numbers(count)
    envelopes = together.split(_BETWEEN)
    if len(envelopes) != count:
        envelopes = _as_stored(envelopes)
    return Events(
        numbers.unpack_from(seqs, _ELEMENTS_AT),
        numbers.unpack_from(instants, _ELEMENTS_AT),
        envelopes,
        b"[%b]" % together,
    )


def _as_stored(parts: list[bytes]) -> list[bytes]:
    """Put together what was cut too often: somebody wrote a line's end into an envelope, which no canonical one has.

    Each is JSON, and no JSON begins with a shorter one that ends before a comma.
    """
    envelopes: list[bytes] = []
    held: list[bytes] = []
    for part in parts:
        held.append(part)
        envelope = _BETWEEN.join(held)
        try:
            msgspec.json.decode(envelope)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        envelopes.append(envelope)
        held = []
    return envelopes


@lru_cache(maxsize=4096)
def _numbers(count: int) -> struct.Struct:
    return struct.Struct(">" + "4xq" * count)


def arrays_between(stream_id: int, first_seq: int, last_seq: int) -> Iterator[bytes]:
    """Yield the envelopes of a part of a stream, both ends included, as JSON arrays of some events each, in order."""
    selected = (
        "select g.low, (select string_agg(e.envelope::text, ',') from ("
        f" select envelope from log.event where stream_id = {stream_id:d} and seq >= g.low"
        f" and seq < least(g.low + {PART_EVENTS:d}, {last_seq + 1:d}) order by seq) e)"
        f" from generate_series({first_seq:d}::bigint, {last_seq:d}::bigint, {PART_EVENTS:d}) as g (low)"
    )
    for place, row in enumerate(_copied(selected)):
        assert _int64(row, 6)[0] == first_seq + place * PART_EVENTS, "a series is read in its order"
        if _int32(row, _ARRAY_AT - 4)[0] > 0:  # nothing where every event of a part was declared lost
            yield b"".join((b"[", memoryview(row)[_ARRAY_AT:], b"]"))
