"""The sequencer: takes committed batches from the outbox, gives each a leaf of the tree, and signs the tree.

    outbox ─► batch and its stored events ─► root and chain recomputed ─► leaves and signed checkpoint ─► commit
                                                    │                                  │
                                              do not match:                    another was faster:
                                          not sealed, a finding                  reload the tree

One process leads at a time: it holds an advisory lock of the database, which ends with its connection. If two run all
the same, the index of the next leaf fences the second. It signs no tree that does not extend every checkpoint it can
find, exported ones included.

The leaves of a round and the checkpoint over them are one transaction: what is in the tree is signed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias

import structlog
from django.db import transaction
from django.db.utils import IntegrityError

from audit.event_store import binary_copy, merkle
from audit.event_store.read import Batch
from audit.event_store.streams import StreamRow
from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import exported_checkpoints
from audit.transparency.signed_notes import Checkpoint

ROUND_BATCHES, ROUND_EVENTS = 2_000, 20_000
"""The most that one round seals; the first batch is sealed whatever its size."""

log = structlog.get_logger(__name__)

_PENDING = """
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id,
       (select p.chain from log.batch p where p.stream_id = b.stream_id and p.first_seq < b.first_seq
        order by p.first_seq desc limit 1)
from (select stream_id, first_seq from log.outbox order by stream_id, first_seq limit %b::bigint) o
join log.batch b using (stream_id, first_seq) join log.stream s using (stream_id)
order by 1, 5
"""

_ENVELOPES = """
select (select array_agg(e.envelope)
        from (select envelope from log.event
              where stream_id = b.stream_id and seq between b.first_seq and b.last_seq order by seq) e)
from unnest(%b::bigint[], %b::bigint[], %b::bigint[]) with ordinality as b (stream_id, first_seq, last_seq, position)
order by b.position
"""


class Forked(Exception):
    """The stored tree does not extend a checkpoint that was signed: nothing more may be signed on it.

    ``leaves`` are here, ``signed_size`` is of that checkpoint.
    """

    def __init__(self, message: str, *, leaves: int, signed_size: int) -> None:
        super().__init__(message)
        self.leaves = leaves
        self.signed_size = signed_size


class Fenced(Exception):
    """Another sequencer has appended to the tree; this one has to reload it."""


@dataclass(frozen=True, slots=True)
class PendingBatch:
    """A batch of the outbox, with its stream's chain value before it."""

    stream: StreamRow
    batch: Batch
    chain_before: bytes


ReportTampering: TypeAlias = Callable[[PendingBatch, bytes], None]
"""Called, after the commit, with a batch that does not match its stored events, and with the root that they have."""


class Sequencer:
    """The tree as this process extends it.

    ``tampered`` are the batches, as stream id and first number, whose stored bytes are not those that were accepted;
    they are reported once and skipped.
    """

    def __init__(self, report: ReportTampering) -> None:
        self.report = report
        self.frontier = merkle.Frontier()
        self.origin = ""
        self.tampered: set[tuple[int, int]] = set()

    @staticmethod
    def lead() -> bool:
        """Take the sequencer's lock, held while this connection lasts. Return False if another process has it."""
        [(leads,)] = binary_copy.execute("select pg_try_advisory_lock(hashtext('log.sequencer'))", ())
        return bool(leads)

    def load(self) -> None:
        """Load the tree's right edge. Raise ``Forked`` if the tree does not extend what was signed."""
        self.origin = signing_keys.origin()
        newest = tree.newest_checkpoint()
        signed = [Checkpoint(self.origin, newest.size, newest.root)] if newest else []
        signed += exported_checkpoints(signing_keys.verifiers("checkpoint"), self.origin)
        size = tree.size()  # read after the checkpoints, because another sequencer may be running
        self.frontier = tree.frontier(size)
        for checkpoint in signed:
            if checkpoint.size > size:
                what = f"a tree of {checkpoint.size} leaves was signed, and {size} are here"
                raise Forked(what, leaves=size, signed_size=checkpoint.size)
            if tree.frontier(checkpoint.size).root() != checkpoint.root:
                what = f"the tree's first {checkpoint.size} leaves are not those that were signed"
                raise Forked(what, leaves=size, signed_size=checkpoint.size)

    def round(self) -> int:
        """Seal pending batches, up to the limits of a round, and return how many.

        Raise ``Fenced`` if another sequencer was faster, ``NoSigningKey`` if this host has no key to sign with.
        """
        with transaction.atomic():
            intact = self._intact(self._next_batches())
            if not intact:
                return 0
            frontier = self.frontier.copy()
            leaves: list[bytes] = []
            subtrees: list[tuple[int, int, bytes]] = []
            for each in intact:
                leaves.append(merkle.leaf(tree.entry(each.stream, each.batch)))
                subtrees += frontier.add(leaves[-1])
            self._seal(intact, leaves, subtrees, Checkpoint(self.origin, frontier.size, frontier.root()))
        self.frontier = frontier
        return len(intact)

    def _next_batches(self) -> list[PendingBatch]:
        """Return the batches to seal next, by stream and number."""
        pending: list[PendingBatch] = []
        events = 0
        for row in binary_copy.execute(_PENDING, (ROUND_BATCHES + len(self.tampered),)):
            each = PendingBatch(StreamRow(*row[:4]), Batch(*row[4:12]), row[12] or merkle.NO_CHAIN)
            if (each.stream.stream_id, each.batch.first_seq) in self.tampered:
                continue
            events += each.batch.count
            if pending and events > ROUND_EVENTS:
                break
            pending.append(each)
        return pending

    def _intact(self, pending: Sequence[PendingBatch]) -> list[PendingBatch]:
        """Return the batches whose root and chain follow from the stored bytes; report the others."""
        if not pending:
            return []
        stored = binary_copy.execute(
            _ENVELOPES,
            (
                [each.stream.stream_id for each in pending],
                [each.batch.first_seq for each in pending],
                [each.batch.last_seq for each in pending],
            ),
        )
        intact: list[PendingBatch] = []
        for each, (envelopes,) in zip(pending, stored, strict=True):
            root = merkle.root(merkle.leaves(envelopes)) if envelopes else bytes(32)
            if _matches(each, root, len(envelopes or ())):
                intact.append(each)
                continue
            self.tampered.add((each.stream.stream_id, each.batch.first_seq))
            log.critical("tampered, not sealed", stream=each.stream.name, first_seq=each.batch.first_seq)
            transaction.on_commit(partial(self.report, each, root))
        return intact

    def _seal(
        self,
        batches: Sequence[PendingBatch],
        leaves: list[bytes],
        subtrees: list[tuple[int, int, bytes]],
        checkpoint: Checkpoint,
    ) -> None:
        signer = signing_keys.signer("checkpoint", datetime.now(UTC))
        try:
            binary_copy.execute(
                "select log.seal(%b::bigint, %b::bigint[], %b::bigint[], %b::bytea[],"
                " %b::smallint[], %b::bigint[], %b::bytea[], %b::bytea, %b::text)",
                (
                    self.frontier.size,
                    [each.stream.stream_id for each in batches],
                    [each.batch.first_seq for each in batches],
                    leaves,
                    [height for height, _, _ in subtrees],
                    [index for _, index, _ in subtrees],
                    [root for _, _, root in subtrees],
                    checkpoint.root,
                    signer.note(checkpoint.text()),
                ),
            )
        except IntegrityError as error:
            raise Fenced("another sequencer took the index of the next leaf") from error
        except Exception as error:
            if getattr(error.__cause__, "sqlstate", None) == "ES409":
                raise Fenced("another sequencer has appended to the tree") from error
            raise


def _matches(pending: PendingBatch, root: bytes, count: int) -> bool:
    """Whether a batch follows from its stored events, ``count`` of them with ``root``, and from the chain before it."""
    batch = pending.batch
    chain = merkle.chain(pending.chain_before, batch.root, first_seq=batch.first_seq, count=batch.count)
    return root == batch.root and count == batch.count and chain == batch.chain


def catch_up(sequencer: Sequencer) -> int:
    """Seal every pending batch, round by round. Return how many. Raise as ``Sequencer.round``."""
    sealed = 0
    while batches := sequencer.round():
        sealed += batches
    return sealed
