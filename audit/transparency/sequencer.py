"""The sequencer: takes committed batches from the outbox, gives each a leaf of the tree, and signs the tree.

    outbox ─► batch and its stored events ─► root, chain, envelopes, date ─► leaves and signed checkpoint ─► commit
                                                    │                                  │
                                              do not hold:                     another was faster:
                                          left, and reported                     reload the tree

Leaves are in the order in which the batches were received, as far as they had been committed.

One process leads at a time: it holds an advisory lock of the database, which ends with its connection. If two run all
the same, the index of the next leaf fences the second. It signs no tree that does not extend every checkpoint it can
find, exported ones included.

The leaves of a round and the checkpoint over them are one transaction: what is in the tree is signed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias

import structlog
from django.db import DatabaseError, connection, transaction
from django.db.utils import IntegrityError

from audit.event_store import binary_copy, merkle
from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import exported_checkpoints
from audit.transparency.pending import (
    Key,
    Left,
    PendingBatch,
    SealedClock,
    pending_batches,
    stored_events,
    wrong_with,
)
from audit.transparency.signed_notes import Checkpoint

ROUND_BATCHES, ROUND_EVENTS = 2_000, 20_000
"""The most that one round seals; the first batch is sealed whatever its size."""

log = structlog.get_logger(__name__)


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


ReportLeft: TypeAlias = Callable[[Left], None]
"""Called, after the commit, with a batch that is not sealed."""


class Sequencer:
    """The tree as this process extends it.

    ``left`` are the batches that are not to be sealed; they are reported once and passed over.
    """

    def __init__(self, report: ReportLeft) -> None:
        self.report = report
        self.frontier = merkle.Frontier()
        self.origin = ""
        self.left: set[Key] = set()
        self.clock = SealedClock()

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
        """Return the batches to seal next, as they were received."""
        self.clock.look()
        pending: list[PendingBatch] = []
        events = 0
        for each in pending_batches(ROUND_BATCHES + len(self.left)):
            if isinstance(each, Left):
                self._leave(each)
                continue
            if (each.stream.stream_id, each.batch.first_seq) in self.left:
                continue
            if self.clock.is_of_the_future(each):
                break
            events += each.batch.count
            if pending and events > ROUND_EVENTS:
                break
            pending.append(each)
        return pending

    def _intact(self, pending: Sequence[PendingBatch]) -> list[PendingBatch]:
        """Return the batches that may be sealed; leave the others."""
        intact: list[PendingBatch] = []
        for each, stored in zip(pending, stored_events(pending), strict=True):
            left = wrong_with(each, stored, self.clock)
            if left is None:
                intact.append(each)
            else:
                self._leave(left)
        return intact

    def _leave(self, left: Left) -> None:
        """Seal nothing of a batch, and report it once."""
        if left.key in self.left:
            return
        self.left.add(left.key)
        stream = left.pending.stream.name if left.pending else left.key[0]
        log.critical("not sealed", cause=str(left.cause), stream=stream, first_seq=left.key[1])
        transaction.on_commit(partial(self._report, left))

    def _report(self, left: Left) -> None:
        """Report a batch that is left; if that is not possible, the log of this process has said it."""
        try:
            self.report(left)
        except DatabaseError as error:
            if not connection.is_usable():
                raise
            log.error("not reported", stream_id=left.key[0], first_seq=left.key[1], error=str(error))

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
            if binary_copy.sqlstate_of(error) == "ES409":
                raise Fenced("another sequencer has appended to the tree") from error
            raise


def catch_up(sequencer: Sequencer) -> int:
    """Seal every pending batch, round by round. Return how many. Raise as ``Sequencer.round``."""
    sealed = 0
    while True:
        left = len(sequencer.left)
        batches = sequencer.round()
        sealed += batches
        if not batches and len(sequencer.left) == left:  # a round of nothing but what is left may hide another
            return sealed
