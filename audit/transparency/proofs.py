"""Proofs: that an event is in a signed tree, and that one signed tree extends another.

envelope ─ leaf ─ path ─► root of its batch ─ in the entry ─ leaf ─ path ─► root of the tree ─ in the checkpoint
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from audit.event_store import merkle, read
from audit.event_store.read import Batch
from audit.event_store.streams import stream_row
from audit.models import FIRST_SANDBOX_ID
from audit.transparency import cosignatures, tree
from audit.transparency.tree import StoredCheckpoint


class NotInLog(Exception):
    """The log has no such event, or no tree of such a size."""


class NotSealed(Exception):
    """The batch is accepted, but no checkpoint covers it yet. The sequencer signs one within moments."""


class OfSandbox(NotSealed):
    """The stream is of a sandbox, whose batches no checkpoint ever covers."""

    def __init__(self) -> None:
        super().__init__("the stream is of a sandbox, and nothing of a sandbox is ever sealed")


@dataclass(frozen=True, slots=True)
class BatchProof:
    """The proof that a batch is in a tree: its entry, the index of its leaf, the path to the checkpoint's root."""

    batch: Batch
    entry: bytes
    index: int
    path: list[bytes]
    checkpoint: StoredCheckpoint


def prove_batch(stream_id: int, batch: Batch, checkpoint: StoredCheckpoint | None = None) -> BatchProof:
    """Prove that ``batch`` is in the tree of ``checkpoint``, by default the newest.

    Raise ``NotSealed`` if that tree does not have the batch, ``OfSandbox`` if none ever does.
    """
    if stream_id >= FIRST_SANDBOX_ID:
        raise OfSandbox
    stream = stream_row(stream_id)
    index = tree.index_of(stream_id, batch.first_seq)
    checkpoint = checkpoint or tree.newest_checkpoint()
    assert stream is not None, "a batch has its stream"
    if index is None or checkpoint is None or checkpoint.size <= index:
        raise NotSealed(f"the batch of event {batch.first_seq} is not under a checkpoint yet")
    path = merkle.inclusion(index, checkpoint.size, tree.root_of)
    return BatchProof(batch, tree.entry(stream, batch), index, path, checkpoint)


def prove_through(stream_id: int, seq: int, *, with_entries: Iterable[tuple[int, int]] = ()) -> list[BatchProof]:
    """Prove every batch of a stream through the one of event ``seq``, all in one signed tree that has it.

    It is the smallest that a witness has cosigned, or, while none has, the smallest. ``with_entries`` are entries of
    the audit trail, by stream id and seq, that the tree has to have as well. Raise ``NotSealed`` while there is none,
    and ``OfSandbox`` if none ever is.
    """
    if stream_id >= FIRST_SANDBOX_ID:
        raise OfSandbox
    batches = read.batches_through(stream_id, seq)
    stream = stream_row(stream_id)
    indexes = tree.indexes_of(stream_id)
    unsealed = next((batch for batch in batches if batch.first_seq not in indexes), None)
    if unsealed or not batches or stream is None:
        raise NotSealed(f"the batch of event {unsealed.first_seq if unsealed else seq} is not under a checkpoint yet")
    of_entries = [tree.index_of(*entry) for entry in with_entries]
    needed = [indexes[batches[-1].first_seq], *(index for index in of_entries if index is not None)]
    checkpoint = None
    if None not in of_entries:
        checkpoint = cosignatures.first_cosigned_holding(max(needed)) or tree.first_checkpoint_holding(max(needed))
    if checkpoint is None:
        raise NotSealed(f"the batch of event {seq}, or a decision about it, is not under a checkpoint yet")
    root_of = tree.cached_root_of()
    return [
        BatchProof(
            batch, tree.entry(stream, batch), index, merkle.inclusion(index, checkpoint.size, root_of), checkpoint
        )
        for batch in batches
        for index in (indexes[batch.first_seq],)
    ]


def prove(stream_id: int, seq: int, checkpoint: StoredCheckpoint | None = None) -> dict[str, Any]:
    """Prove that an event is in the tree of ``checkpoint``, by default the newest: what ``GET /log/inclusion`` returns.

    Raise ``NotInLog`` if the stream has no such event, ``NotSealed`` if the tree does not have its batch.
    """
    batch = read.batch_holding(stream_id, seq)
    events = read.slice_of(stream_id, after=batch.first_seq - 1, limit=batch.count) if batch else []
    position = next((position for position, (stored_seq, _) in enumerate(events) if stored_seq == seq), None)
    if batch is None or position is None:
        raise NotInLog(f"the stream has no event {seq}")
    proof = prove_batch(stream_id, batch, checkpoint)
    leaves = merkle.leaves(envelope for _, envelope in events)
    path_in_batch = merkle.inclusion(position, len(leaves), lambda low, high: merkle.root(leaves[low:high]))
    stream = stream_row(stream_id)
    assert stream is not None, "a batch has its stream"
    return {
        "stream": stream.name,
        "seq": seq,
        "event": events[position][1].decode(),
        "batch": {
            "entry": proof.entry.decode(),
            "index": position,
            "size": len(leaves),
            "path": [sibling.hex() for sibling in path_in_batch],
        },
        "log": {
            "index": proof.index,
            "size": proof.checkpoint.size,
            "path": [sibling.hex() for sibling in proof.path],
        },
        "checkpoint": proof.checkpoint.note,
    }


def prove_consistency(first: int, second: int) -> list[bytes]:
    """Prove that the tree of ``second`` leaves extends that of ``first``: RFC 6962, 2.1.2.

    Raise ``NotInLog`` unless 0 < first ≤ second ≤ the size of the tree.
    """
    if not 0 < first <= second <= tree.size():
        raise NotInLog("there are no trees of these sizes, the first no larger than the second")
    return merkle.consistency(first, second, tree.root_of)
