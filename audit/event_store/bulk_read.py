"""Reading many events at once: ranges of streams, each as arrays in one binary row, by libpq's COPY.

A row an event costs more than everything that is done with the event; an array a thousand events does not. The server
gathers the next range while the one before is processed.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

import psycopg
from django.db import OperationalError, connection
from psycopg.pq import ExecStatus

from audit.event_store import archived, binary_copy, cluster

# The rows are put in order once, by the index; an "order by" in the aggregates would sort them again in each.
_SELECT_RANGES = """
select b.position, a.seqs, a.instants, a.envelopes
from unnest('{{{streams}}}'::bigint[], '{{{firsts}}}'::bigint[], '{{{lasts}}}'::bigint[])
  with ordinality as b (stream_id, first_seq, last_seq, position),
lateral (select array_agg(e.seq) as seqs, array_agg(e.occurred_at) as instants,
                string_agg(e.envelope::text, E',\\n') as envelopes
         from (select seq, occurred_at, envelope from log.event
               where stream_id = b.stream_id and seq between b.first_seq and b.last_seq order by seq) e) a
"""

# Of a cluster: each node gathers what it has. A range that has no event has no row.
_SELECT_RANGES_OF_NODES = """
select b.position, array_agg(e.seq order by e.seq), array_agg(e.occurred_at order by e.seq),
       string_agg(e.envelope::text, E',\\n' order by e.seq)
from log.event e
join unnest('{{{streams}}}'::bigint[], '{{{firsts}}}'::bigint[], '{{{lasts}}}'::bigint[])
  with ordinality as b (stream_id, first_seq, last_seq, position)
  on e.stream_id = b.stream_id and e.seq between b.first_seq and b.last_seq
where e.stream_id = any ('{{{streams}}}'::bigint[])
group by e.stream_id, b.position order by b.position
"""

_HEADER = 19  # bytes before the first row: signature, flags, length of an extension
_TRAILER = b"\xff\xff"
_SEPARATOR = b",\n"  # between two envelopes; no canonical envelope contains it
_COUNT_AT, _ELEMENTS_AT = 12, 20  # in a binary array: dimensions, nulls, type, count, lower bound; then the elements
_ARRAY_AT = 18  # in a row of a number and an array: columns; eight bytes after their length; the array's length
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_int32 = struct.Struct(">i").unpack_from
_int64 = struct.Struct(">q").unpack_from


PART_EVENTS = 1_000
"""Sequence numbers that one JSON array spans, in ``arrays_between``."""


@dataclass(frozen=True, slots=True)
class SeqRange:
    """A range of a stream's sequence numbers, both ends included."""

    stream_id: int
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class Events:
    """Stored events, ascending: their numbers, their instants in microseconds since 2000 UTC, their envelopes.

    ``array`` is all envelopes as one JSON array.
    """

    seqs: Sequence[int] = ()
    instants_us: Sequence[int] = ()
    envelopes: Sequence[bytes] = ()
    array: bytes = b"[]"


def events_in(ranges: Sequence[SeqRange]) -> Iterator[Events]:
    """Yield the stored events of each range, in the order given. Raise ``OperationalError`` if the copy fails."""
    if not ranges:
        return
    statement = (_SELECT_RANGES_OF_NODES if cluster.is_distributed() else _SELECT_RANGES).format(
        streams=",".join(str(each.stream_id) for each in ranges),
        firsts=",".join(str(each.first_seq) for each in ranges),
        lasts=",".join(str(each.last_seq) for each in ranges),
    )
    following = 1
    for row in _copy_rows(statement, connection):
        [position] = _int64(row, 6)
        assert position >= following, "an ordinality is read in its order"
        yield from repeat(Events(), position - following)
        yield _unpack(row)
        following = position + 1
    yield from repeat(Events(), len(ranges) + 1 - following)


def _copy_rows(statement: str, used: Any) -> Iterator[bytes]:
    """Yield the rows of a query in the binary format of COPY, by a connection of Django's."""
    used.ensure_connection()
    assert isinstance(used.connection, psycopg.Connection)
    pgconn = used.connection.pgconn
    started = pgconn.exec_(f"copy ({binary_copy.rewritten(statement)}) to stdout (format binary)".encode())
    if started.status != ExecStatus.COPY_OUT:
        raise OperationalError(started.get_error_message()) from psycopg.errors.error_from_result(started)
    length, block = pgconn.get_copy_data(0)
    row = bytes(block)[_HEADER:]
    while length > 0:
        if row and row[:2] != _TRAILER:
            yield row
        length, block = pgconn.get_copy_data(0)
        row = bytes(block)
    ended = pgconn.get_result()
    while ended is not None:
        if ended.status != ExecStatus.COMMAND_OK:
            raise OperationalError(ended.get_error_message()) from psycopg.errors.error_from_result(ended)
        ended = pgconn.get_result()


def _unpack(row: bytes) -> Events:
    """Return the events of a binary row: the number of columns, then each after its length, which is -1 for a null."""
    at = 2 + 4 + 8
    columns: list[bytes] = []
    for _ in range(3):
        [length] = _int32(row, at)
        if length < 0:
            return Events()
        columns.append(row[at + 4 : at + 4 + length])
        at += 4 + length
    seqs, instants, joined = columns
    [count] = _int32(seqs, _COUNT_AT)
    elements = _int64_elements(count)
    envelopes = joined.split(_SEPARATOR)
    if len(envelopes) != count:
        envelopes = _rejoin(envelopes)
    return Events(
        elements.unpack_from(seqs, _ELEMENTS_AT),
        elements.unpack_from(instants, _ELEMENTS_AT),
        envelopes,
        b"[%b]" % joined,
    )


def _rejoin(parts: list[bytes]) -> list[bytes]:
    """Join what was split too often: somebody put the separator into an envelope, which no canonical one contains.

    Each envelope is JSON, and no JSON value begins with a shorter one that ends before a comma. Brackets are counted,
    not parsed: an envelope that nests too deeply for a parser hides none of those after it.
    """
    envelopes: list[bytes] = []
    pending: list[bytes] = []
    for part in parts:
        pending.append(part)
        envelope = _SEPARATOR.join(pending)
        unquoted = _STRING.sub(b"", envelope)
        is_whole = (
            unquoted.count(b"[") + unquoted.count(b"{") == unquoted.count(b"]") + unquoted.count(b"}")
            and b'"' not in unquoted
        )
        if is_whole:
            envelopes.append(envelope)
            pending = []
    return envelopes


@lru_cache(maxsize=4096)
def _int64_elements(count: int) -> struct.Struct:
    return struct.Struct(">" + "4xq" * count)


# The pages begin at stored numbers, each found by the index: a loss that is declared through 2^53 has none.
_SELECT_PAGES = """
with recursive page (low) as (
  select min(seq) from log.event where stream_id = {stream:d} and seq between {first:d} and {last:d}
  union all
  select (select min(e.seq) from log.event e
          where e.stream_id = {stream:d} and e.seq >= page.low + {part:d} and e.seq <= {last:d})
  from page where page.low is not null
)
select page.low, (select string_agg(e.envelope::text, ',') from (
    select envelope from log.event where stream_id = {stream:d} and seq >= page.low
      and seq < least(page.low + {part:d}, {last:d} + 1) order by seq) e)
from page where page.low is not null limit {limit}
"""


def arrays_between(stream_id: int, first_seq: int, last_seq: int, *, max_events: int | None = None) -> Iterator[bytes]:
    """Yield the envelopes of a range of a stream, both ends included, as JSON arrays of up to a thousand, in order.

    Arrays that span ``max_events`` numbers are read and no more: each has fewer events where numbers were declared
    lost, and at least one. The time it takes depends on the events that are stored, not on how many numbers the range
    has. Raise ``OperationalError`` if the copy fails, ``StreamArchived`` if the events are not in the database.
    """
    part = PART_EVENTS if max_events is None else min(PART_EVENTS, max_events)
    statement = _SELECT_PAGES.format(
        stream=stream_id,
        first=first_seq,
        last=last_seq,
        part=part,
        limit="all" if max_events is None else max_events // part,
    )
    before = 0
    for row in _copy_rows(statement, binary_copy.nearest(reads_committed=True)):
        [low] = _int64(row, 6)
        assert low > before, "pages are read in their order"
        before = low
        yield b"".join((b"[", memoryview(row)[_ARRAY_AT:], b"]"))
    if not before:
        archived.demand_here(stream_id)
