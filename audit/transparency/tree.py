"""The stored tree: one leaf a batch, and what is proved of it.

What a leaf is the hash of is the batch's *entry*: canonical JSON of everything the log says of the batch, so that not
only its events but also when it came, by which key and for which table are under the signature.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import msgspec

from audit.event_store import binary_copy, merkle
from audit.event_store.read import Batch

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class StreamRow:
    """What an entry says of its stream. ``table`` is None for a count room and for a desk."""

    stream_id: int
    name: str
    casino: int
    table: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """A checkpoint as it is stored: the size of the tree, its root, the signed note."""

    size: int
    root: bytes
    note: str


def entry(stream: StreamRow, batch: Batch) -> bytes:
    """Return the canonical bytes of a batch's entry. Instants are in UTC, to the microsecond."""
    return _encode(
        {
            "casino": stream.casino,
            "chain": batch.chain.hex(),
            "count": batch.count,
            "first_seq": batch.first_seq,
            "key": batch.key_id,
            "last_seq": batch.last_seq,
            "next_seq": batch.next_seq,
            "received_at": instant(batch.received_at),
            "root": batch.root.hex(),
            "stream": stream.name,
            "stream_id": stream.stream_id,
            "table": stream.table,
        }
    )


def instant(moment: datetime) -> str:
    """Write an instant as entries do: ``2026-11-19T22:04:05.000123Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def size() -> int:
    """Return how many leaves the tree has."""
    [(leaves,)] = binary_copy.execute("select coalesce(max(log_index) + 1, 0) from log.leaf", ())
    return int(leaves)


def root_of(low: int, high: int) -> bytes:
    """Return the root over the stored leaves ``low`` … ``high`` - 1. Raise ``LookupError`` where some are missing."""
    span = high - low
    if span & (span - 1) or low % span:  # no full subtree: it splits
        middle = low + merkle.split(span)
        return merkle.node(root_of(low, middle), root_of(middle, high))
    height = (span.bit_length() - 1) // merkle.TILE_BITS * merkle.TILE_BITS
    hashes = _hashes(height, low >> height, high >> height)
    if len(hashes) != span >> height:
        raise LookupError(f"the stored tree lacks hashes of height {height} between leaves {low} and {high}")
    return merkle.root(hashes)


def _hashes(height: int, low: int, high: int) -> list[bytes]:
    if height == 0:
        statement = (
            "select hash from log.leaf where log_index >= %b::bigint and log_index < %b::bigint order by log_index"
        )
        rows = binary_copy.execute(statement, (low, high))
    else:
        statement = (
            "select hash from log.subtree where height = %b::smallint and index >= %b::bigint and index < %b::bigint"
            " order by index"
        )
        rows = binary_copy.execute(statement, (height, low, high))
    return [bytes(found) for (found,) in rows]


def root_of_by_tiles() -> merkle.RootOf:
    """Return a ``root_of`` that reads 256 hashes at once and keeps them: for many proofs in one tree."""
    tile_bits = merkle.TILE_BITS

    @cache
    def tile(height: int, index: int) -> list[bytes]:
        return _hashes(height, index << tile_bits, index + 1 << tile_bits)

    @cache
    def root_of(low: int, high: int) -> bytes:
        span = high - low
        if span & (span - 1) or low % span:
            middle = low + merkle.split(span)
            return merkle.node(root_of(low, middle), root_of(middle, high))
        height = (span.bit_length() - 1) // tile_bits * tile_bits
        index, place = divmod(low >> height, 1 << tile_bits)
        hashes = tile(height, index)[place : place + (span >> height)]
        if len(hashes) != span >> height:
            raise LookupError(f"the stored tree lacks hashes of height {height} between leaves {low} and {high}")
        return merkle.root(hashes)

    return root_of


def frontier(leaves: int) -> merkle.Frontier:
    """Return the right edge of the tree of the first ``leaves`` leaves."""
    edge: list[bytes] = []
    low = 0
    for bit in reversed(range(leaves.bit_length())):
        if leaves >> bit & 1:
            edge.append(root_of(low, low + (1 << bit)))
            low += 1 << bit
    return merkle.Frontier(leaves, edge)


def newest_head() -> Head | None:
    """Return the newest checkpoint, None before the first."""
    return _head("order by size desc limit 1")


def head_of_size(leaves: int) -> Head | None:
    """Return the checkpoint of a tree of just ``leaves`` leaves, None where none was signed at that size."""
    return _head("where size = %b::bigint", leaves)


def first_head_holding(index: int) -> Head | None:
    """Return the smallest checkpoint whose tree has leaf ``index``, None while there is none."""
    return _head("where size > %b::bigint order by size limit 1", index)


def heads(*, after: int = 0) -> Iterable[Head]:
    """Yield the checkpoints of trees larger than ``after``, the smallest first, a page at a time."""
    while rows := binary_copy.execute(
        "select size, root, note from log.checkpoint where size > %b::bigint order by size limit 1000", (after,)
    ):
        for leaves, root, note in rows:
            yield Head(leaves, bytes(root), note)
        after = rows[-1][0]


def _head(which: str, *parameters: int) -> Head | None:
    rows = binary_copy.execute(f"select size, root, note from log.checkpoint {which}", parameters)
    return Head(rows[0][0], bytes(rows[0][1]), rows[0][2]) if rows else None


def index_of(stream_id: int, first_seq: int) -> int | None:
    """Return the number of a batch's leaf, None while the batch is not sealed."""
    rows = binary_copy.execute(
        "select log_index from log.leaf where stream_id = %b::bigint and first_seq = %b::bigint",
        (stream_id, first_seq),
    )
    return rows[0][0] if rows else None


def indexes_of(stream_id: int) -> dict[int, int]:
    """Return the numbers of the leaves of a stream's batches, by their first event."""
    return dict(
        binary_copy.execute("select first_seq, log_index from log.leaf where stream_id = %b::bigint", (stream_id,))
    )


def stream_row(stream_id: int) -> StreamRow | None:
    """Return what entries say of a stream."""
    rows = binary_copy.execute(
        "select stream_id, name, casino_id, table_id from log.stream where stream_id = %b::bigint", (stream_id,)
    )
    return StreamRow(*rows[0]) if rows else None
