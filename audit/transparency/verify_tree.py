"""Verification of the tree: leaves in the order of the log, stored roots, checkpoints, epochs, exported checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from audit.event_store import binary_copy, merkle
from audit.models import FIRST_SANDBOX_ID
from audit.transparency import cosignatures, epochs, tree
from audit.transparency.outcome import Fault, Outcome, Phase, Progress
from audit.transparency.received_order import INSTANT, ReceivedOrder
from audit.transparency.signed_notes import BadNote, Checkpoint, Verifier, open_checkpoint, open_note


class TreeVerification:
    """The leaves in the order of the log, and the checkpoints over them."""

    def __init__(self, outcome: Outcome, verifiers: list[Verifier], progress: Progress) -> None:
        self.outcome = outcome
        self.progress = progress
        self.verifiers = verifiers
        self.epochs = epochs.epochs()
        self.frontier = merkle.Frontier()

    def verify(self, since: Checkpoint | None, outside: Sequence[tuple[str, str]]) -> None:
        self._begin(Phase.SIGNATURES)
        expected = self._stored_checkpoints()
        if since is not None:
            expected.append(("the given checkpoint", since))
        for epoch in self.epochs[1:]:
            self.outcome.epochs.append(epoch)
            if wrong := epochs.wrong_note(epoch, self.verifiers):
                self._fault("checkpoint", wrong)
        elsewhere: list[tuple[str, Checkpoint]] = []  # of the same log, kept where the database cannot change it
        for name, note in outside:
            try:
                elsewhere.append((name, self._opened(note)))
            except BadNote as error:
                self._fault("checkpoint", f"{name}: {error}")
        for witness, checkpoint, holds in cosignatures.kept([epoch.origin for epoch in self.epochs]):
            elsewhere.append((f"what {witness} cosigned", checkpoint))
            if not holds:
                self._fault("checkpoint", f"{witness} has not cosigned the one of {checkpoint.size} leaves")
        by_size: dict[int, list[tuple[str, Checkpoint]]] = {}
        for name, checkpoint in (*expected, *(each for each in elsewhere if not self._is_lost(each[1]))):
            by_size.setdefault(checkpoint.size, []).append((name, checkpoint))
        self.outcome.lost = sum(self._is_lost(checkpoint) for _, checkpoint in elsewhere)
        self._begin(Phase.TREE)
        self._verify_leaves(by_size)
        for size in sorted(by_size):
            for name, _ in by_size[size]:
                self._fault("checkpoint", f"{name} is of {size} leaves, and there are {self.frontier.size}")

    def _opened(self, note: str) -> Checkpoint:
        """Return the checkpoint of an exported note.

        Raise ``BadNote`` if it is signed by none of the keys, or of another log.
        """
        checkpoint = Checkpoint.parse(open_note(note, self.verifiers))
        if checkpoint.origin not in {epoch.origin for epoch in self.epochs}:
            raise BadNote(f"the checkpoint is of '{checkpoint.origin}', not of '{self.epochs[-1].origin}'")
        return checkpoint

    def _is_lost(self, checkpoint: Checkpoint) -> bool:
        """Whether the epoch after a checkpoint's own says that leaves of it were lost."""
        return any(
            later.forked_at < checkpoint.size <= later.signed_size
            for epoch, later in pairwise(self.epochs)
            if epoch.origin == checkpoint.origin
        )

    def _stored_checkpoints(self) -> list[tuple[str, Checkpoint]]:
        """Return the stored checkpoints that are signed, each with a name; report what is wrong with any of them."""
        signed: list[tuple[str, Checkpoint]] = []
        numbers, size = 0, 0
        rows = binary_copy.execute("select number, size, root, note from log.checkpoint order by number", ())
        for number, leaves, root, note in rows:
            self.outcome.checkpoints += 1
            if number != numbers + 1:  # a gap is said once, and not of each after it
                self._fault("checkpoint", f"number {number} is where number {numbers + 1} ought to be")
            if leaves <= size:
                self._fault("checkpoint", f"number {number} of size {leaves} does not follow the one before it")
            numbers, size = max(number, numbers), leaves
            try:
                origin = epochs.epoch_at(leaves, self.epochs).origin
                checkpoint = open_checkpoint(note, self.verifiers, origin=origin)
            except BadNote as error:
                self._fault("checkpoint", f"number {number}: {error}")
                continue
            if (checkpoint.size, checkpoint.root) != (leaves, bytes(root)) or note.count("\n— ") != 1:
                self._fault("checkpoint", f"number {number} is not what its note says")
            signed.append((f"number {number}", checkpoint))
        if size != tree.size():
            missing = f"number {numbers + 1} is missing: " if size < tree.size() else ""
            self._fault("checkpoint", f"{missing}the newest is of {size} leaves, and there are {tree.size()}")
        return signed

    def _verify_leaves(self, by_size: dict[int, list[tuple[str, Checkpoint]]]) -> None:
        """Build the tree leaf by leaf; at each size, compare and remove the checkpoints of ``by_size``."""
        subtrees = {(height, index): bytes(root) for height, index, root in binary_copy.execute(_SUBTREES, ())}
        for (index,) in binary_copy.execute(_BEFORE_THE_FIRST, ()):
            self._fault("leaf", f"leaf {index} is before the first", index)
        after, expected, order = -1, 0, ReceivedOrder()
        while rows := binary_copy.execute(_LEAVES, (after,)):
            for index, hash, stream_id, first_seq, has_batch, received_at in rows:
                self.outcome.leaves += 1
                if index != expected:  # a gap is said once, and not of each leaf after it
                    self._fault("leaf", f"leaf {index} is where leaf {expected} ought to be", index)
                expected = index + 1
                if not has_batch:
                    self._fault(
                        "leaf", f"leaf {index} is of a batch that does not exist: {stream_id}/{first_seq}", index
                    )
                if stream_id >= FIRST_SANDBOX_ID:
                    self._fault("leaf", f"leaf {index} is of a sandbox, and no batch of one is ever sealed", index)
                if wrong := order.wrong_leaf(index, received_at):
                    self._fault("leaf", wrong, index)
                for height, position, root in self.frontier.add(bytes(hash)):
                    if subtrees.pop((height, position), None) != root:
                        what = f"the stored root of subtree {position} of height {height} is missing or wrong"
                        self._fault("leaf", what, index)
                for name, checkpoint in by_size.pop(self.frontier.size, ()):
                    if self.frontier.root() != checkpoint.root:
                        self._fault("checkpoint", f"{name} is not of this tree of {checkpoint.size} leaves", index)
            after = rows[-1][0]
            self.progress(self.outcome)
        if wrong := order.wrong_clock():
            self._fault("leaf", wrong)
        for height, position in subtrees:
            self._fault("leaf", f"a root is stored for subtree {position} of height {height}, which the tree has not")

    def _begin(self, phase: Phase) -> None:
        self.outcome.phase = phase
        self.progress(self.outcome)

    def _fault(self, part: str, what: str, batch: int | None = None) -> None:
        self.outcome.add(Fault(part, what, batch=batch))


_SUBTREES = "select height, index, hash from log.subtree"

_BEFORE_THE_FIRST = "select log_index from log.leaf where log_index < 0 order by log_index"

_LEAVES = f"""
select l.log_index, l.hash, l.stream_id, l.first_seq, b.first_seq is not null, {INSTANT}
from log.leaf l left join log.batch b using (stream_id, first_seq)
where l.log_index > %b::bigint order by l.log_index limit 20000
"""
