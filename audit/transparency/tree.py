"""The stored tree: one leaf a batch, and the signed checkpoints over it.

A leaf is the hash of the batch's *entry*: canonical JSON of everything the log says of the batch. So the signature
covers not only its events but also when it was received, by which key, and for which table.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import msgspec

from audit.event_store import binary_copy, merkle
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow, instant

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint as it is stored: the size of the tree, its root of 32 bytes, the signed note."""

    size: int
    root: bytes
    note: str


def entry(stream: StreamRow, batch: Batch) -> bytes:
    """Return the canonical bytes of a batch's entry. Instants are in UTC, to the microsecond.

    An entry of a batch that its table system signed has a ``signature``, base64; others have no such name.
    """
    signed = {} if batch.signature is None else {"signature": b64encode(batch.signature).decode()}
    return _encode(
        {
            **signed,
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


def size() -> int:
    """Return how many leaves the tree has."""
    [(last,)] = binary_copy.execute("select coalesce(max(log_index), -1) from log.leaf", ())
    return int(last) + 1  # here, where a forged index of any size can be counted on


# Roots of parts of the tree, from the leaves and from the stored roots of full subtrees ------------------------------

Hashes: TypeAlias = Callable[[int, int, int], Sequence[bytes]]
"""Return the stored hashes of a height, from ``low`` to ``high`` - 1; fewer if some are missing."""


def _root_from(hashes: Hashes) -> merkle.RootOf:
    """Return a function that gives the root over the leaves ``low`` … ``high`` - 1, or raises ``LookupError``."""

    def root_of(low: int, high: int) -> bytes:
        span = high - low
        if span & (span - 1) or low % span:  # no full subtree: it splits
            middle = low + merkle.split(span)
            return merkle.node(root_of(low, middle), root_of(middle, high))
        height = (span.bit_length() - 1) // merkle.TILE_BITS * merkle.TILE_BITS
        stored = hashes(height, low >> height, high >> height)
        if len(stored) != span >> height:
            raise LookupError(f"the stored tree lacks hashes of height {height} between leaves {low} and {high}")
        return merkle.root(stored)

    return root_of


def hashes_of(height: int, low: int, high: int) -> list[bytes]:
    """Return the stored hashes of a height (0, 8, 16 …) from ``low`` to ``high`` - 1, fewer if some are missing."""
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
    return [bytes(each) for (each,) in rows]


root_of = _root_from(hashes_of)
"""Return the root over the stored leaves ``low`` … ``high`` - 1. Raise ``LookupError`` if some are missing."""


def cached_root_of() -> merkle.RootOf:
    """Return a ``root_of`` that reads hashes by tiles of 256 and keeps what it read: for many proofs in one tree."""

    @cache
    def tile(height: int, index: int) -> list[bytes]:
        return hashes_of(height, index << merkle.TILE_BITS, index + 1 << merkle.TILE_BITS)

    def hashes(height: int, low: int, high: int) -> list[bytes]:
        index, first = divmod(low, 1 << merkle.TILE_BITS)
        return tile(height, index)[first : first + high - low]  # a full subtree of less than 256 is in one tile

    return cache(_root_from(hashes))


def frontier(leaves: int) -> merkle.Frontier:
    """Return the right edge of the tree of the first ``leaves`` leaves. Raise ``LookupError`` if some are missing."""
    edge: list[bytes] = []
    low = 0
    for bit in reversed(range(leaves.bit_length())):
        if leaves >> bit & 1:
            edge.append(root_of(low, low + (1 << bit)))
            low += 1 << bit
    return merkle.Frontier(leaves, edge)


# Checkpoints ---------------------------------------------------------------------------------------------------------


def newest_checkpoint() -> StoredCheckpoint | None:
    """Return the newest checkpoint, or None before the first."""
    return _checkpoint("order by size desc limit 1")


def checkpoint_of_size(leaves: int) -> StoredCheckpoint | None:
    """Return the checkpoint of the tree of exactly ``leaves`` leaves, or None if none was signed at that size."""
    return _checkpoint("where size = %b::bigint", leaves)


def first_checkpoint_holding(index: int) -> StoredCheckpoint | None:
    """Return the smallest checkpoint whose tree has leaf ``index``, or None while there is none."""
    return _checkpoint("where size > %b::bigint order by size limit 1", index)


def checkpoints(*, after: int = 0) -> Iterator[StoredCheckpoint]:
    """Yield the checkpoints of trees larger than ``after``, the smallest first. Reads a page at a time."""
    while rows := binary_copy.execute(
        "select size, root, note from log.checkpoint where size > %b::bigint order by size limit 1000", (after,)
    ):
        for leaves, root, note in rows:
            yield StoredCheckpoint(leaves, bytes(root), note)
        after = rows[-1][0]


def _checkpoint(condition: str, *parameters: int) -> StoredCheckpoint | None:
    rows = binary_copy.execute(f"select size, root, note from log.checkpoint {condition}", parameters)
    return StoredCheckpoint(rows[0][0], bytes(rows[0][1]), rows[0][2]) if rows else None


# Where batches are ---------------------------------------------------------------------------------------------------


def index_of(stream_id: int, first_seq: int) -> int | None:
    """Return the index of a batch's leaf, or None while the batch is not sealed."""
    rows = binary_copy.execute(
        "select log_index from log.leaf where stream_id = %b::bigint and first_seq = %b::bigint",
        (stream_id, first_seq),
    )
    return rows[0][0] if rows else None


def indexes_of(stream_id: int) -> dict[int, int]:
    """Return the leaf indexes of a stream's sealed batches, by the first number of each batch."""
    return dict(
        binary_copy.execute("select first_seq, log_index from log.leaf where stream_id = %b::bigint", (stream_id,))
    )


def unsealed(last_seqs: Mapping[int, int], tree_size: int) -> set[int]:
    """Return the streams with a batch, through the event that ``last_seqs`` gives, that no tree of that size holds."""
    rows = binary_copy.execute(
        "select distinct s.stream_id from unnest(%b::bigint[], %b::bigint[]) as s (stream_id, last_seq)"
        " join log.batch b on b.stream_id = s.stream_id and b.first_seq <= s.last_seq"
        " left join log.leaf l on l.stream_id = b.stream_id and l.first_seq = b.first_seq"
        " where l.log_index is null or l.log_index >= %b::bigint",
        (list(last_seqs), list(last_seqs.values()), tree_size),
    )
    return {stream_id for (stream_id,) in rows}
