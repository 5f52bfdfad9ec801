"""Appending: the only way into the log."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime

import msgspec

from audit.event_store import binary_copy, merkle
from audit.event_store.binary_copy import BinaryArray, microseconds
from audit.event_store.read import Batch


class StreamMoved(Exception):
    """The stream takes another number next than the first of the batch: somebody else was there before."""

    def __init__(self, next_seq: int) -> None:
        super().__init__(f"the stream takes {next_seq} next")
        self.next_seq = next_seq


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One event to append: its number, its instant, and its canonical bytes."""

    seq: int
    occurred_at: datetime
    envelope: bytes


class Columns(msgspec.Struct, frozen=True, gc=False):
    """The events of a batch, ascending by number: their numbers, their instants, their canonical bytes."""

    seqs: list[int]
    moments: list[datetime]
    envelopes: list[bytes]

    def arrays(self) -> tuple[BinaryArray, BinaryArray, BinaryArray]:
        """Return the columns as the server takes them."""
        return (
            BinaryArray.of_numbers("int8", self.seqs),
            BinaryArray.of_numbers("timestamptz", microseconds(self.moments)),
            BinaryArray.of_texts("text", self.envelopes),
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
) -> int:
    """Open a stream and return its id; the id it has, where it is open already. Makes its month's partitions."""
    [(stream_id,)] = binary_copy.execute(
        "select log.open_stream(%b::bigint, %b::bigint, %b::text, %b::date, %b::text, %b::text, %b::text)",
        (casino_id, table_id, name, gaming_day, game, ruleset, currency),
    )
    assert isinstance(stream_id, int)
    return stream_id


def append(stream_id: int, entries: Sequence[Entry], *, next_seq: int, key_id: int) -> Batch:
    """Append a batch, ascending by ``seq``, and return it as stored.

    ``next_seq`` is the number that follows the batch: one more than its last, or than a loss declared by its last.
    Raise ``StreamMoved`` where the batch's first number is not the one the stream takes next; then nothing is stored.
    """
    columns = Columns(
        [entry.seq for entry in entries],
        [entry.occurred_at for entry in entries],
        [entry.envelope for entry in entries],
    )
    root = merkle.root(merkle.leaves(columns.envelopes))
    [(appended, following, chain, received_at)] = binary_copy.execute(
        "select appended, next_seq, chain, received_at from log.append("
        "%b::bigint, %b::bigint, %b::bigint, %b::bytea, %b::bigint, %b::bigint[], %b::timestamptz[], %b::text[])",
        (
            stream_id,
            entries[0].seq,
            next_seq,
            root,
            key_id,
            *columns.arrays(),
        ),
    )
    if not appended:
        raise StreamMoved(following)
    return Batch(entries[0].seq, entries[-1].seq, following, len(entries), root, chain, received_at, key_id)


def append_named(
    casino_id: int,
    name: str,
    tables: Collection[int],
    columns: Columns,
    *,
    next_seq: int,
    key_id: int,
) -> tuple[int, Batch] | None:
    """Append a batch to a stream by its name, in one round trip. Return the stream's id and the batch.

    None where there is no such stream, where its table is none of ``tables`` (which none limits), or where it does not
    take the batch's first number next; then nothing is stored.
    """
    first_seq, last_seq, count = columns.seqs[0], columns.seqs[-1], len(columns.seqs)
    root = merkle.root(merkle.leaves(columns.envelopes))
    [(stream_id, appended, chain, received_at)] = binary_copy.execute(
        "select stream_id, appended, chain, received_at from log.append_named(%b::bigint, %b::text, %b::bigint[],"
        " %b::bigint, %b::bigint, %b::bytea, %b::bigint, %b::bigint[], %b::timestamptz[], %b::text[])",
        (casino_id, name, list(tables) or None, first_seq, next_seq, root, key_id, *columns.arrays()),
    )
    if not appended:
        return None
    batch = Batch(first_seq, last_seq, next_seq, count, root, chain, received_at, key_id)
    return stream_id, batch
