"""Proof that a file has what the log has of a month, all of it and nothing else.

    events ─► leaves ─► root of the batch ─► chain of the stream ─► its end          what was accepted, without a gap
                             └─► entry ─► leaf ─┐
    the rest of the tree, from the file ────────┴─► root ─► checkpoint, signed       by the log, and no one else
    the note, signed ─► SHA-256 of the file                                          this file
    log.leaf: as many of the month, the same hashes; log.stream_head: the same ends  all of the month

The first three need nothing but the file, its note and the public key of the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec

from audit.archive import files, notes
from audit.archive.files import BadArchive, Counts, FiledBatch, FiledStream, Opened
from audit.archive.notes import Filed
from audit.event_store import binary_copy, merkle
from audit.transparency import epochs, tree
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, open_note


@dataclass(frozen=True, slots=True)
class Proven:
    """A file that was proved: what it counts, the size of the tree by which, its SHA-256 as hex."""

    counts: Counts
    size: int
    digest: str


class _Position(msgspec.Struct):
    stream: str
    seq: int


_decode = msgspec.json.Decoder(_Position).decode


def prove(path: Path, month: date, low: int, high: int, verifiers: list[Verifier]) -> Proven:
    """Prove the file of a month, whose streams have ids from ``low`` to before ``high``, against the log.

    Raise ``BadArchive`` for whatever does not hold, ``OSError`` if the file cannot be read.
    """
    opened = Opened()
    leaves = _leaves_in(files.read(path, opened), low, high)
    if opened.month != f"{month:%Y-%m}":
        raise BadArchive(f"the file is of {opened.month}")
    checkpoint = _signed_tree(opened.checkpoint, verifiers)
    if merkle.root_of_many(leaves, checkpoint.size, opened.proof) != checkpoint.root and leaves:
        raise BadArchive("the leaves are not those of the signed tree")
    _compare_with_log(leaves, low, high)
    return Proven(opened.counts, checkpoint.size, opened.digest)


def open_filed(folder: Path, file: str, verifiers: list[Verifier]) -> Filed:
    """Return what the note of a file in ``folder`` says. Raise ``BadArchive`` if the log did not sign it."""
    try:
        return notes.read((folder / files.note_of(file)).read_text(), verifiers)
    except (BadNote, UnicodeDecodeError) as error:
        raise BadArchive(f"its note: {error}") from error


def demand_filed(proven: Proven, filed: Filed) -> None:
    """Raise ``BadArchive`` unless a file that was proved is the one that a note says."""
    if proven.digest != filed.digest:
        raise BadArchive("the file is not the one that its note says: its SHA-256 differs")
    if (proven.counts.taken_batches, proven.counts.taken_events, proven.size) != (
        *(filed.batches, filed.events),
        filed.size,
    ):
        raise BadArchive("the file has not what its note says")


def _leaves_in(items: Iterator[FiledStream | FiledBatch], low: int, high: int) -> dict[int, bytes]:
    """Check streams, chains and batches; return the leaves by index."""
    leaves: dict[int, bytes] = {}
    stream: FiledStream | None = None
    chain, next_seq, last_id = merkle.NO_CHAIN, 1, low - 1
    for item in items:
        if isinstance(item, FiledStream):
            _demand_ended(stream, next_seq, chain)
            if not last_id < item.row.stream_id < high:
                raise BadArchive(f"{item.row.name} is not of the month, or is out of order")
            stream, chain, next_seq, last_id = item, merkle.NO_CHAIN, 1, item.row.stream_id
            continue
        assert stream is not None, "the reader yields a stream before its batches"
        _check_batch(stream, item, chain, next_seq)
        if item.index in leaves:
            raise BadArchive(f"leaf {item.index} is there twice")
        leaves[item.index] = item.hash
        chain, next_seq = item.batch.chain, item.batch.next_seq
    _demand_ended(stream, next_seq, chain)
    return leaves


def _demand_ended(stream: FiledStream | None, next_seq: int, chain: bytes) -> None:
    if stream is None:
        return
    heads = binary_copy.execute(
        "select next_seq, chain from log.stream_head where stream_id = %b::bigint", (stream.row.stream_id,)
    )
    if not (stream.next_seq, stream.chain) == (next_seq, chain) == (heads[0] if heads else None):
        raise BadArchive(f"{stream.row.name} does not end where its stream does")


def _check_batch(stream: FiledStream, item: FiledBatch, chain: bytes, next_seq: int) -> None:
    batch, name = item.batch, stream.row.name
    where = f"the batch of {name} from event {batch.first_seq}"
    try:
        positions = [_decode(envelope) for envelope in item.envelopes]
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadArchive(f"{where}: an event is not an envelope") from error
    seqs = [each.seq for each in positions]
    is_in_place = seqs == sorted(set(seqs)) and all(each.stream == name for each in positions)
    if not seqs or not is_in_place or (seqs[0], seqs[-1]) != (batch.first_seq, batch.last_seq):
        raise BadArchive(f"{where} has other events")
    if len(seqs) != batch.count or merkle.root(merkle.leaves(item.envelopes)) != batch.root:
        raise BadArchive(f"{where}: its events are not those that were accepted")
    follows = merkle.chain(chain, batch.root, first_seq=batch.first_seq, count=batch.count)
    if batch.first_seq != next_seq or batch.chain != follows:
        raise BadArchive(f"{where} does not follow from the one before it")
    if merkle.leaf(tree.entry(stream.row, batch)) != item.hash:
        raise BadArchive(f"{where}: its leaf is not the hash of its entry")


def _signed_tree(note: str, verifiers: list[Verifier]) -> Checkpoint:
    try:
        checkpoint = Checkpoint.parse(open_note(note, verifiers))
    except BadNote as error:
        raise BadArchive(f"the checkpoint: {error}") from error
    if checkpoint.origin not in {epoch.origin for epoch in epochs.epochs()}:
        raise BadArchive(f"the checkpoint is of '{checkpoint.origin}', not of this log")
    return checkpoint


def _compare_with_log(leaves: dict[int, bytes], low: int, high: int) -> None:
    """Compare the leaves with those that the log has of the month."""
    after = low - 1, 0
    found = 0
    while rows := binary_copy.execute(_LEAVES, (*after, high)):
        for log_index, _stream_id, _first_seq, hash in rows:
            if leaves.get(log_index) != hash:
                raise BadArchive(f"leaf {log_index} of the month is not in the file")
            found += 1
        after = rows[-1][1:3]
    if found != len(leaves):
        raise BadArchive(f"the file has {len(leaves)} leaves, and the month has {found}")


_LEAVES = """
select log_index, stream_id, first_seq, hash from log.leaf
where (stream_id, first_seq) > (%b::bigint, %b::bigint) and stream_id < %b::bigint
order by stream_id, first_seq limit 20000
"""
