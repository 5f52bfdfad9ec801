"""Proofs: that an event is in a tree that was signed, and that one signed tree extends another.

envelope ─ leaf ─ path ─► root of its batch ─ in the entry ─ leaf ─ path ─► root of the tree ─ in the checkpoint
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audit.event_store import merkle, read
from audit.event_store.read import Batch
from audit.transparency import tree
from audit.transparency.tree import Head


class NotThere(Exception):
    """There is no such event, batch or tree."""


class NotSealed(Exception):
    """The batch is accepted, and no checkpoint holds it yet: in a moment one will."""


@dataclass(frozen=True, slots=True)
class BatchProof:
    """That a batch is in a tree: its entry, the number of its leaf, the path to the root of ``head``."""

    batch: Batch
    entry: bytes
    index: int
    path: list[bytes]
    head: Head


def prove_batch(stream_id: int, batch: Batch, head: Head | None = None) -> BatchProof:
    """Prove that ``batch`` is in the tree of ``head``; of the newest checkpoint, where none is given.

    Raise ``NotSealed`` where that tree does not hold the batch.
    """
    stream = tree.stream_row(stream_id)
    index = tree.index_of(stream_id, batch.first_seq)
    head = head or tree.newest_head()
    assert stream is not None, "a batch is of a stream"
    if index is None or head is None or head.size <= index:
        raise NotSealed(f"the batch of event {batch.first_seq} is not under a checkpoint yet")
    path = merkle.inclusion(index, head.size, tree.root_of)
    return BatchProof(batch, tree.entry(stream, batch), index, path, head)


def prove_through(stream_id: int, seq: int) -> list[BatchProof]:
    """Prove that every batch of a stream up to that of event ``seq`` is in the smallest signed tree that holds it.

    That tree is the same for ever. Raise ``NotSealed`` while there is none.
    """
    batches = read.batches_through(stream_id, seq)
    stream = tree.stream_row(stream_id)
    indexes = tree.indexes_of(stream_id)
    unsealed = next((batch for batch in batches if batch.first_seq not in indexes), None)
    head = None if unsealed or not batches else tree.first_head_holding(indexes[batches[-1].first_seq])
    if head is None or stream is None:
        first_seq = unsealed.first_seq if unsealed else seq
        raise NotSealed(f"the batch of event {first_seq} is not under a checkpoint yet")
    root_of = tree.root_of_by_tiles()
    return [
        BatchProof(batch, tree.entry(stream, batch), index, merkle.inclusion(index, head.size, root_of), head)
        for batch in batches
        for index in (indexes[batch.first_seq],)
    ]


def prove(stream_id: int, seq: int, head: Head | None = None) -> dict[str, Any]:
    """Prove that an event is in a signed tree, as ``GET /log/inclusion`` answers it.

    Raise ``NotThere`` where the stream has no such event, ``NotSealed`` where no checkpoint holds it.
    """
    batch = read.batch_holding(stream_id, seq)
    events = read.slice_of(stream_id, after=batch.first_seq - 1, limit=batch.count) if batch else []
    place = next((place for place, (found, _) in enumerate(events) if found == seq), None)
    if batch is None or place is None:
        raise NotThere(f"the stream has no event {seq}")
    proof = prove_batch(stream_id, batch, head)
    leaves = [merkle.leaf(envelope) for _, envelope in events]
    within = merkle.inclusion(place, len(leaves), lambda low, high: merkle.root(leaves[low:high]))
    stream = tree.stream_row(stream_id)
    assert stream is not None
    return {
        "stream": stream.name,
        "seq": seq,
        "event": events[place][1].decode(),
        "batch": {
            "entry": proof.entry.decode(),
            "index": place,
            "size": len(leaves),
            "path": [sibling.hex() for sibling in within],
        },
        "log": {"index": proof.index, "size": proof.head.size, "path": [sibling.hex() for sibling in proof.path]},
        "checkpoint": proof.head.note,
    }


def prove_consistency(first: int, second: int) -> list[bytes]:
    """Prove that the tree of ``second`` leaves extends that of ``first``. Raise ``NotThere`` for a tree that is not."""
    if not 0 < first <= second <= tree.size():
        raise NotThere("there are no trees of these sizes, the first no larger than the second")
    return merkle.consistency(first, second, tree.root_of)
