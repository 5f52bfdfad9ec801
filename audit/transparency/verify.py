"""Verification: everything that the log says of itself, recomputed from the stored bytes.

    streams    each event is where its envelope says; leaf → root → chain of every batch; heads; what openers say
    leaves     each batch has its leaf, or waits for it; numbers without a hole; the kept roots of full subtrees
    heads      each checkpoint is signed, numbered, and of the tree that the leaves give at its size
    outside    each checkpoint kept elsewhere is of this tree, and none of a larger one

What a superuser changes shows in one of them. Who changes all of it alike, keys included, makes another log: that is
what checkpoints kept elsewhere, and a key given from outside, are for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import msgspec
from django.db import connection, transaction

from audit.event_store import binary_copy, merkle
from audit.event_store.binary_copy import microseconds
from audit.event_store.bulk_read import Events, Stretch, events_of
from audit.event_store.read import Batch
from audit.transparency import tree
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, checkpoint_in
from audit.transparency.tree import StreamRow

MAX_FAULTS = 1_000
"""Faults listed; beyond them they are counted."""

CHUNK_EVENTS = 200_000
"""Events of streams that are read together."""

BLOCK_EVENTS = 1_000
"""Events of a stream that are fetched at once; a batch is fetched whole."""

LAST_KEY = 2**63 - 1

_BATCHES = """
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id,
       l.log_index, l.hash, o.first_seq is not null
from log.stream s join log.batch b using (stream_id)
left join log.leaf l using (stream_id, first_seq) left join log.outbox o using (stream_id, first_seq)
where s.stream_id > %b::bigint and s.stream_id <= %b::bigint order by 1, 5
"""

_STREAMS = """
select s.stream_id, s.name, s.gaming_day, s.game, s.ruleset, s.currency, s.is_of_desk, h.next_seq, h.chain
from log.stream s left join log.stream_head h using (stream_id)
where s.stream_id > %b::bigint and s.stream_id <= %b::bigint order by 1
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not hold: which part, what, and where, as far as that can be told."""

    part: str
    what: str
    stream: str = ""
    first_seq: int | None = None
    last_seq: int | None = None
    batch: int | None = None  # the number of its leaf

    def __str__(self) -> str:
        where = self.part
        if self.stream:
            where += f" of {self.stream}"
        if self.first_seq is not None:
            where += f", event {self.first_seq}"
            if self.last_seq not in (None, self.first_seq):
                where += f" to {self.last_seq}"
        if self.batch is not None:
            where += f", leaf {self.batch}"
        return f"{where}: {self.what}"


@dataclass(slots=True)
class Outcome:
    """What was looked at, and what did not hold, in the order of the log."""

    streams: int = 0
    batches: int = 0
    events: int = 0
    leaves: int = 0
    checkpoints: int = 0
    faults: list[Fault] = field(default_factory=list)
    unlisted: int = 0

    def add(self, fault: Fault) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)
        else:
            self.unlisted += 1


Progress: TypeAlias = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A batch, its leaf where it has one, and whether it waits for one."""

    stream: StreamRow
    batch: Batch
    index: int | None
    hash: bytes | None
    waits: bool


def verify(
    verifiers: Sequence[Verifier],
    origin: str,
    *,
    streams: Sequence[int] | None = None,
    since: Checkpoint | None = None,
    outside: Sequence[tuple[str, str]] = (),
    with_tree: bool = True,
    progress: Progress = lambda outcome: None,
) -> Outcome:
    """Recompute the log and return what was found.

    ``streams`` limits the events to those of some streams, ``since`` to batches that a checkpoint does not hold.
    ``outside`` are checkpoints kept elsewhere: where, and the note. Without ``with_tree`` neither they nor the stored
    ones are looked at. ``progress`` is called now and then.
    """
    outcome = Outcome()
    with _one_view():
        _Streams(outcome, progress, since.size if since else 0).verify(streams)
        progress(outcome)
        if with_tree:
            _Tree(outcome, list(verifiers), origin).verify(since, outside)
        progress(outcome)
    return outcome


@contextmanager
def _one_view() -> Iterator[None]:
    """See the log as it is at one instant, for as long as it takes."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set transaction isolation level repeatable read read only")
        yield


class _Streams:
    """The events: every stream in order of its id, several small ones at a time. ``after`` leaves are left out."""

    def __init__(self, outcome: Outcome, progress: Progress, after: int) -> None:
        self.outcome = outcome
        self.progress = progress
        self.after = after

    def verify(self, streams: Sequence[int] | None) -> None:
        ranges = self._ranges() if streams is None else ((stream - 1, stream) for stream in streams)
        for low, high in ranges:
            self._range(low, high)
            self.progress(self.outcome)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of stream ids, low excluded, that hold every possible one."""
        low, events = -LAST_KEY, 0
        rows = binary_copy.execute("select stream_id, next_seq from log.stream_head order by stream_id", ())
        for stream_id, next_seq in rows:
            events += next_seq
            if events >= CHUNK_EVENTS:
                yield low, stream_id
                low, events = stream_id, 0
        yield low, LAST_KEY

    def _range(self, low: int, high: int) -> None:
        """Verify the streams whose ids are above ``low`` and at most ``high``."""
        batches: dict[int, list[Sealed]] = {}
        for row in binary_copy.execute(_BATCHES, (low, high)):
            sealed = Sealed(StreamRow(*row[:4]), Batch(*row[4:12]), row[12], row[13], row[14])
            batches.setdefault(row[0], []).append(sealed)
        streams = [
            (row, _OneStream(self.outcome, row[0], row[1], batches.get(row[0], []), self.after))
            for row in binary_copy.execute(_STREAMS, (low, high))
        ]
        blocks = [(one, block) for _, one in streams for block in one.blocks()]
        stretches = [
            Stretch(one.stream_id, block[0].batch.first_seq, max(each.batch.last_seq for each in block))
            for one, block in blocks
        ]
        before = self.outcome.events
        for (one, block), events in zip(blocks, events_of(stretches), strict=True):
            one.verify(block, events)
        for row, one in streams:
            one.end(row)
            self.outcome.streams += 1
        if not self.after:
            self._strays(low, high, self.outcome.events - before)

    def _strays(self, low: int, high: int, in_batches: int) -> None:
        """Report events of a range that are in no batch."""
        [(stored,)] = binary_copy.execute(_COUNT, (low, high))
        if stored == in_batches:
            return
        strays = binary_copy.execute(_STRAYS, (low, high))
        for stream_id, name, seq in strays:
            self.outcome.add(Fault("event", "is in no batch", name or str(stream_id), seq))
        if not strays:
            self.outcome.add(Fault("event", f"{in_batches} are in batches, and {stored} are stored"))


_COUNT = "select count(*) from log.event where stream_id > %b::bigint and stream_id <= %b::bigint"

_STRAYS = """
select e.stream_id, s.name, e.seq from log.event e left join log.stream s using (stream_id)
where e.stream_id > %b::bigint and e.stream_id <= %b::bigint
  and not exists (select from log.batch b
                  where b.stream_id = e.stream_id and e.seq between b.first_seq and b.last_seq)
order by 1, 3 limit 1000
"""


class _OneStream:
    """One stream as its blocks go by: its batches, and the chain so far. ``after`` leaves are left out."""

    def __init__(self, outcome: Outcome, stream_id: int, name: str, every: list[Sealed], after: int) -> None:
        self.outcome = outcome
        self.stream_id = stream_id
        self.name = name
        self.chain = merkle.NO_CHAIN
        self.next_seq = 1
        self.opener: bytes | None = None
        self.batches = [each for each in every if each.index is None or each.index >= after]
        for before in every[: len(every) - len(self.batches)]:
            self.chain, self.next_seq = before.batch.chain, before.batch.next_seq
        for each in every:
            self._check_leaf(each)

    def blocks(self) -> Iterator[list[Sealed]]:
        """Yield the batches to look at, several small ones together."""
        block: list[Sealed] = []
        events = 0
        for each in self.batches:
            block.append(each)
            events += each.batch.count
            if events >= BLOCK_EVENTS:
                yield block
                block, events = [], 0
        if block:
            yield block

    def verify(self, block: list[Sealed], events: Events) -> None:
        """Look at the events of a block one by one, and then at its batches."""
        self.outcome.events += len(events.seqs)
        if events.seqs[:1] == (1,):
            self.opener = events.envelopes[0]
        leaves = merkle.leaves(events.envelopes)
        if not self._are_in_place(events):
            self._find_misplaced(block, events)
        low = 0
        for each in block:
            high = bisect_right(events.seqs, each.batch.last_seq)
            self._close(each, events.seqs[low:high], leaves[low:high], events.envelopes[high - 1 : high])
            low = max(low, high)

    def _are_in_place(self, events: Events) -> bool:
        """Tell whether every event is where its envelope says: all of them at once, which is the way of every night."""
        if not events.seqs:
            return True
        return _places(events.array) == ({self.name}, events.seqs, events.instants_us)

    def _find_misplaced(self, block: list[Sealed], events: Events) -> None:
        """Name the events whose envelopes say another place, number or instant."""
        if len(events.envelopes) != len(events.seqs):
            self.outcome.add(
                Fault("event", "what is stored is no envelope", self.name, events.seqs[0], events.seqs[-1])
            )
        for seq, instant_us, envelope in zip(events.seqs, events.instants_us, events.envelopes, strict=False):
            if _places(b"[%b]" % envelope) != ({self.name}, (seq,), (instant_us,)):
                what = "its place, number or instant is not what its envelope says"
                held = next((each for each in block if seq <= each.batch.last_seq), None)
                self.outcome.add(Fault("event", what, self.name, seq, batch=held.index if held else None))

    def _close(self, sealed: Sealed, seqs: Sequence[int], leaves: list[bytes], last: Sequence[bytes]) -> None:
        """Compare a batch with its events, of which ``last`` is the last."""
        batch = sealed.batch
        self.outcome.batches += 1
        if batch.first_seq != self.next_seq:
            self._fault(sealed, f"it begins at {batch.first_seq}, and the one before it ends at {self.next_seq - 1}")
        if len(seqs) != batch.count or (seqs[0], seqs[-1]) != (batch.first_seq, batch.last_seq):
            self._fault(sealed, f"it has {len(seqs)} events, and was accepted with {batch.count}")
        elif merkle.root(leaves) != batch.root:
            self._fault(sealed, "its events are not those that were accepted: their root is another")
        elif batch.next_seq != _next_seq(last[0], batch.last_seq):
            self._fault(sealed, "the number after it is not the one its last event leaves")
        if batch.chain != merkle.chain(self.chain, batch.root, first_seq=batch.first_seq, count=batch.count):
            self._fault(sealed, "its chain does not follow from the batch before it")
        self.chain, self.next_seq = batch.chain, batch.next_seq

    def end(self, row: Sequence[object]) -> None:
        """Finish the stream, whose row in the table of streams is ``row``, with its head."""
        _, _, day, game, ruleset, currency, is_of_desk, next_seq, chain = row
        if (next_seq, chain) != (self.next_seq, self.chain):
            self.outcome.add(Fault("head", "is not where the last batch leaves the stream", self.name))
        if self.opener is not None and not is_of_desk and _opened(self.opener) != (str(day), game, ruleset, currency):
            self.outcome.add(Fault("stream", "is not what its first event opened", self.name, 1))

    def _check_leaf(self, sealed: Sealed) -> None:
        if sealed.hash is None:
            if not sealed.waits:
                self._fault(sealed, "it has no leaf and does not wait for one")
        elif merkle.leaf(tree.entry(sealed.stream, sealed.batch)) != sealed.hash:
            self._fault(sealed, "it is not what its leaf was made of")
        elif sealed.waits:
            self._fault(sealed, "it has its leaf and waits for one all the same")

    def _fault(self, sealed: Sealed, what: str) -> None:
        batch = sealed.batch
        self.outcome.add(Fault("batch", what, self.name, batch.first_seq, batch.last_seq, sealed.index))


class _Place(msgspec.Struct, gc=False):
    """Where an envelope says that its event is."""

    stream: str
    seq: int
    occurred_at: datetime


_decode_places = msgspec.json.Decoder(list[_Place]).decode


def _places(array: bytes) -> tuple[set[str], tuple[int, ...], tuple[int, ...]] | None:
    """Return the streams, the numbers and the instants that the envelopes of a JSON array, at least one, say; None
    where any of them says none."""
    try:
        places = _decode_places(array)
        instants_us = tuple(microseconds([place.occurred_at for place in places]))
    except (msgspec.DecodeError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return {place.stream for place in places}, tuple([place.seq for place in places]), instants_us


class _Loss(msgspec.Struct):
    through: int | None = None


class _Opening(msgspec.Struct):
    gaming_day: str | None = None
    game: str | None = None
    ruleset: str | None = None
    currency: str | None = None


class _Envelope(msgspec.Struct):
    type: str
    data: msgspec.Raw


_decode = msgspec.json.Decoder(_Envelope).decode


def _next_seq(envelope: bytes, seq: int) -> int:
    """Return the number that follows an event: one more, or the one after the loss that it declares."""
    try:
        read = _decode(envelope)
        if read.type != "events.lost":
            return seq + 1
        return (msgspec.json.decode(read.data, type=_Loss).through or seq) + 1
    except msgspec.DecodeError:
        return -1


def _opened(envelope: bytes) -> tuple[str | None, str | None, str | None, str | None] | None:
    """Return what an opener says of its stream: gaming day, game, ruleset, currency."""
    try:
        said = msgspec.json.decode(_decode(envelope).data, type=_Opening)
    except msgspec.DecodeError:
        return None
    return said.gaming_day, said.game, said.ruleset, said.currency


class _Tree:
    """The leaves in the order of the log, and the checkpoints over them."""

    def __init__(self, outcome: Outcome, verifiers: list[Verifier], origin: str) -> None:
        self.outcome = outcome
        self.verifiers = verifiers
        self.origin = origin
        self.frontier = merkle.Frontier()
        self.roots: dict[int, tuple[str, bytes]] = {}  # by size: whose checkpoint, and the root it states

    def verify(self, since: Checkpoint | None, outside: Sequence[tuple[str, str]]) -> None:
        expected = self._stored_heads()
        if since is not None:
            expected.append(("the checkpoint given", since))
        for where, note in outside:
            try:
                expected.append((where, checkpoint_in(note, self.verifiers, origin=self.origin)))
            except BadNote as error:
                self._fault("checkpoint", f"{where}: {error}")
        by_size: dict[int, list[tuple[str, Checkpoint]]] = {}
        for where, checkpoint in expected:
            by_size.setdefault(checkpoint.size, []).append((where, checkpoint))
        self._leaves(by_size)
        for size in sorted(by_size):
            for where, _ in by_size[size]:
                self._fault("checkpoint", f"{where} is of {size} leaves, and there are {self.frontier.size}")

    def _stored_heads(self) -> list[tuple[str, Checkpoint]]:
        """Return the stored checkpoints that are signed and state what their rows say."""
        sound: list[tuple[str, Checkpoint]] = []
        size = 0
        rows = binary_copy.execute("select number, size, root, note from log.checkpoint order by number", ())
        for place, (number, leaves, root, note) in enumerate(rows, start=1):
            self.outcome.checkpoints += 1
            if number != place or leaves <= size:
                self._fault("checkpoint", f"number {number} of size {leaves} does not follow the one before it")
            size = leaves
            try:
                checkpoint = checkpoint_in(note, self.verifiers, origin=self.origin)
            except BadNote as error:
                self._fault("checkpoint", f"number {number}: {error}")
                continue
            if (checkpoint.size, checkpoint.root) != (leaves, bytes(root)) or note.count("\n— ") != 1:
                self._fault("checkpoint", f"number {number} is not what its note says")
            sound.append((f"number {number}", checkpoint))
        if size != tree.size():
            self._fault("checkpoint", f"the newest is of {size} leaves, and there are {tree.size()}")
        return sound

    def _leaves(self, by_size: dict[int, list[tuple[str, Checkpoint]]]) -> None:
        """Let the tree grow leaf by leaf; at each size that a checkpoint is of, compare and take it off the list."""
        kept = {(height, index): bytes(found) for height, index, found in binary_copy.execute(_SUBTREES, ())}
        after = -1
        while rows := binary_copy.execute(_LEAVES, (after,)):
            for index, hash, stream_id, first_seq, has_batch in rows:
                self.outcome.leaves += 1
                if index != self.frontier.size:
                    self._fault("leaf", f"leaf {index} follows {self.frontier.size} leaves", index)
                if not has_batch:
                    self._fault("leaf", f"leaf {index} is of a batch that is not there: {stream_id}/{first_seq}", index)
                for height, place, root in self.frontier.add(bytes(hash)):
                    if kept.pop((height, place), None) != root:
                        self._fault("leaf", f"the kept root of subtree {place} of height {height} is another", index)
                for where, checkpoint in by_size.pop(self.frontier.size, ()):
                    if self.frontier.root() != checkpoint.root:
                        self._fault("checkpoint", f"{where} is not of this tree of {checkpoint.size} leaves", index)
            after = rows[-1][0]
        for height, place in kept:
            self._fault("leaf", f"a root is kept of subtree {place} of height {height}, which is not there")

    def _fault(self, part: str, what: str, batch: int | None = None) -> None:
        self.outcome.add(Fault(part, what, batch=batch))


_SUBTREES = "select height, index, hash from log.subtree"

_LEAVES = """
select l.log_index, l.hash, l.stream_id, l.first_seq, b.first_seq is not null
from log.leaf l left join log.batch b using (stream_id, first_seq)
where l.log_index > %b::bigint order by l.log_index limit 20000
"""
