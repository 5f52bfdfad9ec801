"""The sequencer: takes committed batches out of the outbox, gives each a leaf of the tree, and signs the tree.

    outbox ─► batch and its stored events ─► root and chain recomputed ─► leaves and signed checkpoint ─► commit
                                                    │                                  │
                                              do not agree:                     another was faster:
                                          not sealed, a finding                load the tree again

One works at a time: it holds a lock of the database, which ends with its connection. Should two work all the same, the
number of the next leaf fences the second. It signs no tree that does not extend every checkpoint it can find, those
kept outside the database included.

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
from audit.transparency import signing_keys, tree
from audit.transparency.checkpoint_export import exported_heads
from audit.transparency.signed_notes import Checkpoint
from audit.transparency.tree import StreamRow

ROUND_BATCHES, ROUND_EVENTS = 2_000, 20_000
"""Most of what one round seals; the first batch is always sealed."""

log = structlog.get_logger(__name__)

_WAITING = """
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
from unnest(%b::bigint[], %b::bigint[], %b::bigint[]) with ordinality as b (stream_id, first_seq, last_seq, place)
order by b.place
"""


class Forked(Exception):
    """The stored tree does not extend a checkpoint that was signed: nothing more may be signed on it."""


class Moved(Exception):
    """Another sequencer has appended to the tree."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A batch of the outbox, with the chain of its stream before it."""

    stream: StreamRow
    batch: Batch
    chain_before: bytes


Report: TypeAlias = Callable[[Waiting, bytes], None]
"""What is told of a batch that does not agree, with the root that its stored events have."""


class Sequencer:
    """The tree as this process continues it. ``refused`` are batches whose stored bytes are not what was accepted."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.frontier = merkle.Frontier()
        self.refused: set[tuple[int, int]] = set()

    @staticmethod
    def lead() -> bool:
        """Become the one that works, for as long as this connection lasts. Return whether nobody else is."""
        [(leads,)] = binary_copy.execute("select pg_try_advisory_lock(hashtext('log.sequencer'))", ())
        return bool(leads)

    def load(self) -> None:
        """Take the tree up where it stands. Raise ``Forked`` where it does not extend what was signed."""
        newest = tree.newest_head()
        signed = [Checkpoint(signing_keys.origin(), newest.size, newest.root)] if newest else []
        signed += exported_heads(signing_keys.verifiers("checkpoint"), signing_keys.origin())
        size = tree.size()  # after what was signed: another sequencer may be at work
        self.frontier = tree.frontier(size)
        for checkpoint in signed:
            if checkpoint.size > size:
                raise Forked(f"a tree of {checkpoint.size} leaves was signed, and {size} are here")
            if tree.frontier(checkpoint.size).root() != checkpoint.root:
                raise Forked(f"the tree's first {checkpoint.size} leaves are not those that were signed")

    def round(self) -> int:
        """Seal what waits, up to a round's worth, and return how many batches.

        Raise ``Moved`` for another's work, ``NoSigningKey`` where nothing signs here.
        """
        with transaction.atomic():
            sound = self._sound(self._take())
            if not sound:
                return 0
            grown = self.frontier.copy()
            leaves: list[bytes] = []
            subtrees: list[tuple[int, int, bytes]] = []
            for each in sound:
                leaves.append(merkle.leaf(tree.entry(each.stream, each.batch)))
                subtrees += grown.add(leaves[-1])
            self._seal(sound, leaves, subtrees, Checkpoint(signing_keys.origin(), grown.size, grown.root()))
        self.frontier = grown
        return len(sound)

    def _take(self) -> list[Waiting]:
        """Return the batches to seal next, in order of stream and place in it."""
        taken: list[Waiting] = []
        events = 0
        for row in binary_copy.execute(_WAITING, (ROUND_BATCHES + len(self.refused),)):
            each = Waiting(StreamRow(*row[:4]), Batch(*row[4:12]), row[12] or merkle.NO_CHAIN)
            if (each.stream.stream_id, each.batch.first_seq) in self.refused:
                continue
            events += each.batch.count
            if taken and events > ROUND_EVENTS:
                break
            taken.append(each)
        return taken

    def _sound(self, waiting: Sequence[Waiting]) -> list[Waiting]:
        """Return the batches whose root and chain follow from the stored bytes; report the others."""
        if not waiting:
            return []
        stored = binary_copy.execute(
            _ENVELOPES,
            (
                [each.stream.stream_id for each in waiting],
                [each.batch.first_seq for each in waiting],
                [each.batch.last_seq for each in waiting],
            ),
        )
        sound: list[Waiting] = []
        for each, (envelopes,) in zip(waiting, stored, strict=True):
            root = merkle.root(map(merkle.leaf, envelopes)) if envelopes else bytes(32)
            if _agrees(each, root, len(envelopes or ())):
                sound.append(each)
                continue
            self.refused.add((each.stream.stream_id, each.batch.first_seq))
            log.critical("tampered, not sealed", stream=each.stream.name, first_seq=each.batch.first_seq)
            transaction.on_commit(partial(self.report, each, root))
        return sound

    def _seal(
        self,
        sound: Sequence[Waiting],
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
                    [each.stream.stream_id for each in sound],
                    [each.batch.first_seq for each in sound],
                    leaves,
                    [height for height, _, _ in subtrees],
                    [index for _, index, _ in subtrees],
                    [root for _, _, root in subtrees],
                    checkpoint.root,
                    signer.note(checkpoint.text()),
                ),
            )
        except IntegrityError as error:
            raise Moved("another sequencer took the number of the next leaf") from error
        except Exception as error:
            if getattr(error.__cause__, "sqlstate", None) == "ES409":
                raise Moved("another sequencer has appended to the tree") from error
            raise


def _agrees(waiting: Waiting, root: bytes, events: int) -> bool:
    """Tell whether a batch follows from its stored events, which have ``root``, and from the chain before it."""
    batch = waiting.batch
    chain = merkle.chain(waiting.chain_before, batch.root, first_seq=batch.first_seq, count=batch.count)
    return root == batch.root and events == batch.count and chain == batch.chain


def catch_up(sequencer: Sequencer) -> int:
    """Seal everything that waits. Return how many batches."""
    sealed = 0
    while batches := sequencer.round():
        sealed += batches
    return sealed
