"""Verification: everything that the log says about itself, recomputed from the stored bytes.

    streams       each event is where its envelope says; leaf → root → chain of every batch; stream heads; openers
    received      never before the batch before it in the stream, nor long before what was sealed: ``received_order``
    leaves        each batch has its leaf or is in the outbox; indexes without a gap; stored roots of full subtrees
    checkpoints   each is signed, numbered, and has the root that the leaves give at its size
    decisions     each decision about a correction is what an entry of the audit trail says, by the rules: ``decisions``
    cosigned      each checkpoint that a witness cosigned has the root of this tree, and is cosigned
    exported      each checkpoint exported out of the database has the root of this tree, and none is of a larger one

How it sees a forgery: a changed, lost, added or moved event breaks the root of its batch; a recomputed root breaks the
batch's chain; a recomputed chain breaks the batch's leaf; a recomputed leaf breaks the root of every later checkpoint,
which only the private key can sign anew. A forger with the private key, or one who restores an older database, makes a
consistent log. Only exported checkpoints show that, and a public key that is given instead of read from the log.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction

from audit.event_store import archived, audit_trail, binary_copy, cluster, merkle
from audit.event_store.bulk_read import Events, SeqRange, events_in
from audit.event_store.read import Batch
from audit.event_store.readable import holds_unreadable
from audit.event_store.streams import StreamRow
from audit.models import FIRST_SANDBOX_ID
from audit.transparency import envelopes, tree
from audit.transparency.decisions import wrong_decisions
from audit.transparency.outcome import Archived, Fault, Outcome, Phase, Progress
from audit.transparency.received_order import HEAD_INSTANT, INSTANT, ReceivedOrder
from audit.transparency.signed_notes import Checkpoint, Verifier
from audit.transparency.verify_tree import TreeVerification

CHUNK_EVENTS = 200_000
"""Events read by one query, of one or several streams."""

BLOCK_EVENTS = 1_000
"""Events of a stream that are one row of that query; a batch is never divided."""

MIN_STREAM_ID = -(2**63)
"""The least that a column holds, whatever ids the log gives: who moves a session there hides nothing."""

WRITTEN_WITHIN = timedelta(days=3)
"""How far the instant of an officer's entry may be from when the log received it: as far as two hosts' clocks may be
apart. An entry that says an earlier day is one that somebody has dated back."""

YEAR_2000, MICROSECOND = datetime(2000, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
"""What the instants of events are counted from and in."""

VERIFYING = "log.verify"
"""The advisory lock that a verification shares: no month goes into the archive while one reads it."""

WAITS_S = 60.0
"""How long a verification waits for that lock. Every account of the database could take it, and keep it."""

_HOLDERS = """
select distinct a.usename::text, a.pid from pg_locks l join pg_stat_activity a using (pid)
where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' and l.objsubid = 1
  and l.database = (select oid from pg_database where datname = current_database())
  and l.objid::bigint = hashtext(%b::text)::bigint & 4294967295
"""


class HeldUp(Exception):
    """Nothing was verified: another session of the database keeps verifications waiting."""


_BATCHES = f"""
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, {INSTANT}, b.key_id, b.signature,
       l.log_index, l.hash, o.first_seq is not null
from log.stream s join log.batch b using (stream_id)
left join log.leaf l using (stream_id, first_seq) left join log.outbox o using (stream_id, first_seq)
where s.stream_id >= %b::bigint and s.stream_id <= %b::bigint order by 1, 5
"""

# Of a cluster, where leaves are on one node and batches on others: the leaves are read by themselves.
_BATCHES_OF_NODES = f"""
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, {INSTANT}, b.key_id, b.signature,
       null, null, o.first_seq is not null
from log.stream s join log.batch b on b.stream_id = s.stream_id
left join log.outbox o on o.stream_id = b.stream_id and o.first_seq = b.first_seq
where s.stream_id >= %b::bigint and s.stream_id <= %b::bigint order by 1, 5
"""

_LEAVES_BETWEEN = """
select stream_id, first_seq, log_index, hash from log.leaf
where stream_id >= %b::bigint and stream_id <= %b::bigint
"""

_STREAMS = f"""
select s.stream_id, s.name, s.gaming_day, s.game, s.ruleset, s.currency, s.is_of_desk, h.next_seq, h.chain,
       {HEAD_INSTANT}
from log.stream s left join log.stream_head h using (stream_id)
where s.stream_id >= %b::bigint and s.stream_id <= %b::bigint order by 1
"""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch, the index and hash of its leaf, or None for each, and whether it is in the outbox."""

    stream: StreamRow
    batch: Batch
    index: int | None
    hash: bytes | None
    in_outbox: bool


def verify(
    verifiers: Sequence[Verifier],
    *,
    streams: Sequence[int] | None = None,
    since: Checkpoint | None = None,
    outside: Sequence[tuple[str, str]] = (),
    with_tree: bool = True,
    decisions: Sequence[int | None] = (),
    progress: Progress = lambda outcome: None,
) -> Outcome:
    """Recompute the log, as it is at one instant, and return what was verified and what does not hold.

    ``verifiers`` are the keys that may sign checkpoints. ``streams`` limits the events to
    those of some streams, by id; ``since`` to batches that this checkpoint does not cover. ``outside`` are exported
    checkpoints: a name to report, and the note. If ``with_tree`` is False, leaves and checkpoints are not verified.
    ``progress`` is called with the outcome so far, about every ``CHUNK_EVENTS`` events and where a phase begins.
    ``decisions`` are the casinos whose decisions about corrections are verified, None among them for every one. Of a
    month in an archive the batches are verified; the outcome says where its events are. Streams of sandboxes are left
    out: they prove nothing.
    """
    outcome = Outcome()
    with one_snapshot():
        _Streams(outcome, progress, since.size if since else 0).verify(streams)
        outcome.phase = Phase.DECISIONS
        progress(outcome)
        for casino_id in decisions:
            for wrong in wrong_decisions(casino_id):
                outcome.add(Fault("decision", wrong.what, wrong.session, wrong.seq))
        if with_tree:
            TreeVerification(outcome, list(verifiers), progress).verify(since, outside)
        progress(outcome)
    return outcome


def _batches_between(low: int, high: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of ``_BATCHES``."""
    if not cluster.is_distributed():
        yield from binary_copy.execute(_BATCHES, (low, high))
        return
    leaves = {row[:2]: row[2:] for row in binary_copy.execute(_LEAVES_BETWEEN, (low, high))}
    for row in binary_copy.execute(_BATCHES_OF_NODES, (low, high)):
        yield (*row[:13], *leaves.get((row[0], row[4]), (None, None)), row[15])


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Read the log as it is at one instant; inside a transaction, as that transaction sees it.

    Raise ``HeldUp`` if another session lets no verification begin.
    """
    if connection.in_atomic_block:
        yield
        return
    # Before the snapshot: a month that goes into the archive meanwhile would be in neither.
    _wait_until_nobody_archives()
    try:
        with ExitStack() as looking:
            if cluster.is_distributed():
                looking.enter_context(still := ExitStack())
                still.enter_context(cluster.nothing_half_committed())
            looking.enter_context(transaction.atomic())
            cursor = looking.enter_context(connection.cursor())
            cursor.execute("set transaction isolation level repeatable read read only")
            if cluster.is_distributed():
                # A connection to a node sees what there is when it is first used: one to each node, all of them now.
                cursor.execute("set local citus.max_adaptive_executor_pool_size = 1")
                cursor.execute("select count(*) from log.stream_head")
                still.close()
            yield
    finally:
        binary_copy.execute("select pg_advisory_unlock_shared(hashtext(%b::text))", (VERIFYING,))


def _wait_until_nobody_archives() -> None:
    """Share the lock of verifications. Raise ``HeldUp``."""
    until = time.monotonic() + WAITS_S
    while True:
        [(is_taken,)] = binary_copy.execute("select pg_try_advisory_lock_shared(hashtext(%b::text))", (VERIFYING,))
        if is_taken:
            return
        if time.monotonic() >= until:
            holders = [f"{account} (process {pid})" for account, pid in binary_copy.execute(_HOLDERS, (VERIFYING,))]
            raise HeldUp(
                f"Nothing was verified: for {WAITS_S:.0f} s a session of the database has let no verification begin: "
                f"{', '.join(holders) or 'it has just ended'}. Unless a month goes into the archive, end that session."
            )
        time.sleep(min(0.5, WAITS_S))


class _Streams:
    """The events: every stream by its id, several small ones in one query. Skips the first ``after`` leaves."""

    def __init__(self, outcome: Outcome, progress: Progress, after: int) -> None:
        self.outcome = outcome
        self.progress = progress
        self.after = after
        self.order = ReceivedOrder()
        self.away = archived.Away()

    def verify(self, streams: Sequence[int] | None) -> None:
        id_ranges = self._id_ranges() if streams is None else ((stream, stream) for stream in streams)
        for low, high in id_ranges:
            self._verify_ids(low, high)
            self.progress(self.outcome)
        if streams is None:
            for (name,) in binary_copy.execute(_HIDDEN, (FIRST_SANDBOX_ID,)):
                self.outcome.add(Fault("stream", "is among those of sandboxes, and is none of a sandbox's", name))
            for (stream_id,) in binary_copy.execute(_OF_NO_STREAM, ()):
                self.outcome.add(Fault("head", f"is stored of stream {stream_id}, which there is not"))

    def _id_ranges(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of stream ids, both ends included, that cover every possible id but those of sandboxes."""
        low, events = MIN_STREAM_ID, 0
        rows = binary_copy.execute(
            "select stream_id, next_seq from log.stream_head where stream_id < %b::bigint order by stream_id",
            (FIRST_SANDBOX_ID,),
        )
        for stream_id, next_seq in rows:
            events += next_seq
            if events >= CHUNK_EVENTS:
                yield low, stream_id
                low, events = stream_id + 1, 0
        yield low, FIRST_SANDBOX_ID - 1

    def _verify_ids(self, low: int, high: int) -> None:
        """Verify the streams whose ids are ``low`` to ``high``."""
        batches: dict[int, list[StoredBatch]] = {}
        for row in _batches_between(low, high):
            stored = StoredBatch(StreamRow(*row[:4]), Batch(*row[4:13]), row[13], row[14], row[15])
            batches.setdefault(row[0], []).append(stored)
        streams = [
            (row, _OneStream(self.outcome, row, batches.get(row[0], []), self.after, self.order))
            for row in binary_copy.execute(_STREAMS, (low, high))
        ]
        here = [one for row, one in streams if row[6] or not self._is_away(one)]
        blocks = [(one, block) for one in here for block in one.blocks()]
        ranges = [
            SeqRange(one.stream_id, block[0].batch.first_seq, max(each.batch.last_seq for each in block))
            for one, block in blocks
        ]
        before = self.outcome.events
        for (one, block), events in zip(blocks, events_in(ranges), strict=True):
            one.verify(block, events)
        for row, one in streams:
            one.end(row)
            self.outcome.streams += 1
        if not self.after:
            self._find_unbatched(low, high, self.outcome.events - before)

    def _is_away(self, one: _OneStream) -> bool:
        """Whether the events of a stream are not in the database; if so, verify what the log keeps of them."""
        month = self.away.month_of(one.stream_id)
        if month is None:
            return False
        taken = self.outcome.archived.setdefault(month.low, Archived(month))
        for each in one.batches:
            one.check_chain(each)
            taken.events += each.batch.count
        taken.streams += 1
        taken.batches += len(one.batches)
        return True

    def _find_unbatched(self, low: int, high: int, in_batches: int) -> None:
        """Report events of a range that are in no batch."""
        [(stored,)] = binary_copy.execute(_COUNT, (low, high))
        if stored == in_batches:
            return
        unbatched = binary_copy.execute(_UNBATCHED, (low, high))
        for stream_id, name, seq in unbatched:
            self.outcome.add(Fault("event", "is in no batch", name or str(stream_id), seq))
        if not unbatched:
            self.outcome.add(Fault("event", f"{in_batches} are in batches, and {stored} are stored"))


# Nothing of a sandbox is sealed: whoever puts a stream there hides it from verification.
_HIDDEN = """
select s.name from log.stream s left join audit_casino c on c.id = s.casino_id
where s.stream_id >= %b::bigint and (s.is_of_desk or not coalesce(c.is_sandbox, true)) order by s.stream_id
"""

_OF_NO_STREAM = """
select stream_id from (select stream_id from log.stream_head union select stream_id from log.batch) stored
where not exists (select from log.stream s where s.stream_id = stored.stream_id) order by 1
"""

_COUNT = "select count(*) from log.event where stream_id >= %b::bigint and stream_id <= %b::bigint"

_UNBATCHED = """
select e.stream_id, s.name, e.seq from log.event e left join log.stream s using (stream_id)
where e.stream_id >= %b::bigint and e.stream_id <= %b::bigint
  and not exists (select from log.batch b
                  where b.stream_id = e.stream_id and e.seq between b.first_seq and b.last_seq)
order by 1, 3 limit 1000
"""


class _OneStream:
    """One stream, verified block by block: its batches, and the chain so far. Skips the first ``after`` leaves."""

    def __init__(
        self,
        outcome: Outcome,
        row: Sequence[Any],
        stored: list[StoredBatch],
        after: int,
        order: ReceivedOrder,
    ) -> None:
        self.outcome = outcome
        self.stream_id, self.name, self.is_of_desk = row[0], row[1], row[6]
        self.chain = merkle.NO_CHAIN
        self.next_seq = 1
        self.opener: bytes | None = None
        self.batches = [each for each in stored if each.index is None or each.index >= after]
        for skipped in stored[: len(stored) - len(self.batches)]:
            self.chain, self.next_seq = skipped.batch.chain, skipped.batch.next_seq
        for each in stored:
            self._check_leaf(each)
        for at, wrong in order.wrong_in_stream([(each.index, each.batch.received_at) for each in stored]):
            self._fault(stored[at], wrong)
        self.received_at = stored[-1].batch.received_at if stored else None

    def blocks(self) -> Iterator[list[StoredBatch]]:
        """Yield the batches to verify, several small ones together."""
        block: list[StoredBatch] = []
        events = 0
        for each in self.batches:
            block.append(each)
            events += each.batch.count
            if events >= BLOCK_EVENTS:
                yield block
                block, events = [], 0
        if block:
            yield block

    def verify(self, block: list[StoredBatch], events: Events) -> None:
        """Verify the events of a block, and then its batches."""
        self.outcome.events += len(events.seqs)
        if events.seqs[:1] == (1,):
            self.opener = events.envelopes[0]
        leaves = merkle.leaves(events.envelopes)
        if not self._are_in_place(events):
            self._find_misplaced(block, events)
        low = 0
        for each in block:
            high = bisect_right(events.seqs, each.batch.last_seq)
            self._check_batch(each, events.seqs[low:high], leaves[low:high], events.envelopes[high - 1 : high])
            if self.is_of_desk and each.batch.key_id == audit_trail.NO_KEY:
                self._check_written(each, events.instants_us[low:high])
            low = max(low, high)

    def _are_in_place(self, events: Events) -> bool:
        """Whether every event is where its envelope says: all at once, because as a rule every one is."""
        if not events.seqs:
            return True
        return envelopes.positions(events.array) == ({self.name}, events.seqs, events.instants_us)

    def _find_misplaced(self, block: list[StoredBatch], events: Events) -> None:
        """Report the events whose envelopes say another stream, number or instant, and their batches if not sealed."""
        reported: set[int] = set()
        if len(events.envelopes) != len(events.seqs):
            self.outcome.add(
                Fault("event", "what is stored is not an envelope", self.name, events.seqs[0], events.seqs[-1])
            )
        for seq, instant_us, envelope in zip(events.seqs, events.instants_us, events.envelopes, strict=False):
            if envelopes.positions(b"[%b]" % envelope) != ({self.name}, (seq,), (instant_us,)):
                what = "its stream, number or instant is not what its envelope says"
                if holds_unreadable(envelope):
                    what = "the database cannot read its text"
                batch = next((each for each in block if seq <= each.batch.last_seq), None)
                self.outcome.add(Fault("event", what, self.name, seq, batch=batch.index if batch else None))
                if batch is not None and batch.index is None and batch.batch.first_seq not in reported:
                    reported.add(batch.batch.first_seq)
                    self._fault(batch, "it is not sealed: a body is no envelope of its event")

    def _check_batch(
        self, stored: StoredBatch, seqs: Sequence[int], leaves: list[bytes], last: Sequence[bytes]
    ) -> None:
        """Compare a batch with its events, of which ``last`` is the last, if there is one."""
        batch = stored.batch
        if not seqs:
            self._fault(stored, f"its {batch.count} events are missing")
        elif len(seqs) != batch.count or (seqs[0], seqs[-1]) != (batch.first_seq, batch.last_seq):
            self._fault(stored, f"it has {len(seqs)} events, and was accepted with {batch.count}")
        elif merkle.root(leaves) != batch.root:
            self._fault(stored, "its events are not those that were accepted: their root differs")
        elif batch.next_seq != envelopes.next_seq(last[0], batch.last_seq):
            self._fault(stored, "the number after it is not the one that its last event says")
        self.check_chain(stored)

    def _check_written(self, stored: StoredBatch, instants_us: Sequence[int]) -> None:
        """Compare when officers' entries say that they were written to when they were received."""
        received_at = stored.batch.received_at
        if received_at is None or not instants_us:
            return
        received_us, apart_us = ((received_at - YEAR_2000) / MICROSECOND, WRITTEN_WITHIN / MICROSECOND)
        if not received_us - apart_us <= min(instants_us) <= max(instants_us) <= received_us + apart_us:
            self._fault(stored, "its entries are dated days from when they were received")

    def check_chain(self, stored: StoredBatch) -> None:
        """Compare a batch with the one before it."""
        batch = stored.batch
        self.outcome.batches += 1
        if batch.first_seq != self.next_seq:
            self._fault(stored, f"it begins at {batch.first_seq}, and the one before it ends at {self.next_seq - 1}")
        if batch.chain != merkle.chain(self.chain, batch.root, first_seq=batch.first_seq, count=batch.count):
            self._fault(stored, "its chain does not follow from the batch before it")
        self.chain, self.next_seq = batch.chain, batch.next_seq

    def end(self, row: Sequence[object]) -> None:
        """Compare the stream's row, with its head, to the batches and the first event."""
        _, _, day, game, ruleset, currency, is_of_desk, next_seq, chain, received_at = row
        if (next_seq, chain) != (self.next_seq, self.chain) or received_at not in (None, self.received_at):
            self.outcome.add(Fault("head", "is not where the last batch ends", self.name))
        if is_of_desk and any(each.batch.key_id != audit_trail.NO_KEY for each in self.batches):
            self.outcome.add(
                Fault("stream", "is said to be of officers' entries, and a table system sent it", self.name)
            )
        elif is_of_desk and self.name.rstrip(":") != f"desk:{day}":
            self.outcome.add(Fault("stream", "is not of the day that its name says", self.name))
        if self.opener is None or is_of_desk:
            return
        if envelopes.opened(self.opener) != (str(day), game, ruleset, currency):
            self.outcome.add(Fault("stream", "is not what its first event says", self.name, 1))

    def _check_leaf(self, stored: StoredBatch) -> None:
        if stored.hash is None:
            if not stored.in_outbox:
                self._fault(stored, "it has no leaf and is not in the outbox")
        elif stored.batch.received_at is None or (merkle.leaf(tree.entry(stored.stream, stored.batch)) != stored.hash):
            self._fault(stored, "its leaf is not the hash of its entry")
        elif stored.in_outbox:
            self._fault(stored, "it has a leaf and is still in the outbox")

    def _fault(self, stored: StoredBatch, what: str) -> None:
        batch = stored.batch
        self.outcome.add(Fault("batch", what, self.name, batch.first_seq, batch.last_seq, stored.index))
