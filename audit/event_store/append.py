"""Appending a batch of events to a stream: the only way into the log.

Optimistic concurrency: a batch names the sequence number it begins at, and is stored only if the stream takes that
number next. One statement is one round trip and, outside a transaction, durable when it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any

import msgspec
from django.db import DatabaseError

from audit.event_store import binary_copy, merkle
from audit.event_store.binary_copy import BinaryArray, microseconds
from audit.event_store.read import Batch

REFUSED = "ES403"
"""The SQLSTATE with which the database refuses what an entry of the audit trail was to do."""

CLOSED = "ES410"
"""The SQLSTATE with which the database refuses an event of a month that is archived."""

_PARAMETERS = "%b::bigint, %b::bigint, %b::bigint, %b::bytea, %b::bigint, %b::bigint[], %b::timestamptz[], %b::text[]"


_APPEND_SINGLES = (
    "select each.number, stored.stream_id, stored.appended, stored.chain, stored.received_at"
    " from unnest(%b::bigint[], %b::text[], %b::text[], %b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[],"
    " %b::timestamptz[], %b::text[]) with ordinality"
    " as each (casino_id, name, tables, seq, next_seq, root, key_id, occurred_at, envelope, number),"
    " lateral log.append_named(each.casino_id, each.name, nullif(each.tables, '')::bigint[], each.seq, each.next_seq,"
    " each.root, each.key_id, array[each.seq], array[each.occurred_at], array[each.envelope]) stored"
)


class UnexpectedSeq(Exception):
    """The batch does not begin at ``next_seq``, the number that the stream takes next: another writer was first."""

    def __init__(self, next_seq: int) -> None:
        super().__init__(f"the stream takes {next_seq} next")
        self.next_seq = next_seq


class MonthClosed(Exception):
    """The stream is of a month that is archived: it takes no more events, and nothing is stored."""

    def __init__(self) -> None:
        super().__init__("The month of this stream is archived: it takes no more events.")


class EntryRefused(Exception):
    """The database refused what an entry of the audit trail was to do. ``code`` says why; nothing is stored."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class NewEvent(msgspec.Struct, frozen=True, gc=False):
    """One event to append: its number, its instant, its canonical bytes."""

    seq: int
    occurred_at: datetime
    envelope: bytes


class Columns(msgspec.Struct, frozen=True, gc=False):
    """The events of a batch by column, ascending by number: numbers, instants, canonical bytes."""

    seqs: list[int]
    instants: list[datetime]
    envelopes: list[bytes]

    def arrays(self) -> tuple[BinaryArray, BinaryArray, BinaryArray]:
        """Return the columns as binary arrays, as ``log.append`` takes them."""
        return (
            BinaryArray.from_integers("int8", self.seqs),
            BinaryArray.from_integers("timestamptz", microseconds(self.instants)),
            BinaryArray.from_texts("text", self.envelopes),
        )


def open_stream(
    *,
    casino_id: int,
    table_id: int | None,
    name: str,
    gaming_day: date,
    game: str | None,
    ruleset: str | None,
    currency: str,
    is_of_sandbox: bool = False,
) -> int:
    """Open a stream and return its id, or the id of the casino's open stream of that name.

    Idempotent: what an open stream was opened with does not change. ``table_id``, ``game`` and ``ruleset`` are None for
    a count room. Creates the partitions of the gaming day's month; the streams of all sandboxes share one, and the
    database refuses ``is_of_sandbox`` for any other casino. Raise ``IntegrityError`` for a gaming day before 1990 or
    after 2100.
    """
    opening = "open_sandbox_stream" if is_of_sandbox else "open_stream"
    [(stream_id,)] = binary_copy.execute(
        f"select log.{opening}(%b::bigint, %b::bigint, %b::text, %b::date, %b::text, %b::text, %b::text)",
        (casino_id, table_id, name, gaming_day, game, ruleset, currency),
    )
    assert isinstance(stream_id, int)
    return stream_id


def append(
    stream_id: int, events: Sequence[NewEvent], *, next_seq: int, key_id: int, signature: bytes | None = None
) -> Batch:
    """Append a batch, at least one event, ascending by ``seq``, and return it as stored.

    ``next_seq`` is the number that follows the batch: one more than its last, or than the end of a loss that its last
    event declares. ``key_id`` is 0 for the audit trail; ``signature`` is the table system's, 64 bytes. Raise
    ``UnexpectedSeq`` and store nothing if the stream does not take the first event's number next, ``MonthClosed`` if it
    takes none any more.
    """
    parameters, root = _parameters(stream_id, events, next_seq, key_id)
    with _closed_months():
        [(appended, following, chain, received_at)] = binary_copy.execute(
            f"select appended, next_seq, chain, received_at from log.append({_PARAMETERS}, %b::bytea)",
            (*parameters, signature),
        )
    if not appended:
        raise UnexpectedSeq(following)
    return Batch(events[0].seq, events[-1].seq, following, len(events), root, chain, received_at, key_id, signature)


def append_and_apply(stream_id: int, entry: NewEvent, *, function: str, secret: str | None) -> dict[str, Any]:
    """Append an entry of the audit trail and apply it, in one statement of the database's. Return what that returns.

    ``function`` is ``audit_perform_act`` or ``audit_perform_command``; see ``sql/entries.sql``. Raise ``EntryRefused``
    or ``UnexpectedSeq``, and store nothing.
    """
    parameters, _root = _parameters(stream_id, [entry], entry.seq + 1, 0)
    try:
        [(appended, following, result)] = binary_copy.execute(
            f"select appended, next_seq, result from {function}({_PARAMETERS}, %b::text)", (*parameters, secret)
        )
    except DatabaseError as error:
        if binary_copy.sqlstate_of(error) == REFUSED:
            raise EntryRefused(binary_copy.message_of(error)) from error
        raise
    if not appended:
        raise UnexpectedSeq(following)
    return result or {}


@contextmanager
def _closed_months() -> Iterator[None]:
    """Raise ``MonthClosed`` for what the database refuses because of that."""
    try:
        yield
    except DatabaseError as error:
        if binary_copy.sqlstate_of(error) == CLOSED:
            raise MonthClosed from error
        raise


def _parameters(
    stream_id: int, events: Sequence[NewEvent], next_seq: int, key_id: int
) -> tuple[tuple[Any, ...], bytes]:
    """Return the parameters of ``log.append`` for a batch, and the batch's root."""
    columns = Columns(
        [event.seq for event in events],
        [event.occurred_at for event in events],
        [event.envelope for event in events],
    )
    root = merkle.root(merkle.leaves(columns.envelopes))
    return (stream_id, events[0].seq, next_seq, root, key_id, *columns.arrays()), root


def append_named(
    casino_id: int,
    name: str,
    tables: Collection[int],
    columns: Columns,
    *,
    next_seq: int,
    key_id: int,
) -> tuple[int, Batch] | None:
    """Append a batch, at least one event, to a stream by its name, in one round trip. Return stream id and batch.

    ``tables`` are the ids of the tables that the key is limited to; empty means no limit. Return None and store nothing
    if there is no such stream, if its table is not among ``tables``, or if it does not take the first event's number
    next.
    """
    first_seq, last_seq, count = columns.seqs[0], columns.seqs[-1], len(columns.seqs)
    root = merkle.root(merkle.leaves(columns.envelopes))
    with _closed_months():
        [(stream_id, appended, chain, received_at)] = binary_copy.execute(
            "select stream_id, appended, chain, received_at from log.append_named(%b::bigint, %b::text, %b::bigint[],"
            " %b::bigint, %b::bigint, %b::bytea, %b::bigint, %b::bigint[], %b::timestamptz[], %b::text[])",
            (casino_id, name, list(tables) or None, first_seq, next_seq, root, key_id, *columns.arrays()),
            nearby=True,
        )
    if not appended:
        return None
    batch = Batch(first_seq, last_seq, next_seq, count, root, chain, received_at, key_id)
    return stream_id, batch


class SingleEvent(msgspec.Struct, frozen=True, gc=False):
    """A batch of one event, for a stream by its name: the parameters of ``append_named``."""

    casino_id: int
    name: str
    tables: frozenset[int]
    event: NewEvent
    next_seq: int
    key_id: int


def append_singles(batches: Sequence[SingleEvent]) -> list[tuple[int, Batch] | None]:
    """Append batches of one event each, of any streams, in one statement. Return of each what ``append_named`` returns.

    What the database does not take of one stores nothing of that one, and the others all the same. They are visible and
    durable at one instant, when this returns; if it raises, none is stored, or the connection was lost and all may be.
    Batches of one stream are appended in the order in which they are here.
    """
    # In the same order in every process, so that no two wait for each other's streams.
    ordered = sorted(range(len(batches)), key=lambda index: (batches[index].casino_id, batches[index].name))
    sent = [batches[index] for index in ordered]
    roots = [merkle.root(merkle.leaves([each.event.envelope])) for each in sent]
    integers, texts = BinaryArray.from_integers, BinaryArray.from_texts
    parameters = (
        integers("int8", [each.casino_id for each in sent]),
        texts("text", [each.name.encode() for each in sent]),
        texts("text", [f"{{{','.join(map(str, each.tables))}}}".encode() if each.tables else b"" for each in sent]),
        integers("int8", [each.event.seq for each in sent]),
        integers("int8", [each.next_seq for each in sent]),
        texts("bytea", roots),
        integers("int8", [each.key_id for each in sent]),
        integers("timestamptz", microseconds([each.event.occurred_at for each in sent])),
        texts("text", [each.event.envelope for each in sent]),
    )
    with _closed_months():
        rows = binary_copy.execute(_APPEND_SINGLES, parameters, nearby=True)
    stored: list[tuple[int, Batch] | None] = [None] * len(batches)
    for number, stream_id, appended, chain, received_at in rows:
        if appended:
            each, root = sent[number - 1], roots[number - 1]
            seq = each.event.seq
            batch = Batch(seq, seq, each.next_seq, 1, root, chain, received_at, each.key_id)
            stored[ordered[number - 1]] = stream_id, batch
    return stored
