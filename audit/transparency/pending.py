"""Batches of the outbox: which may be sealed, which are left, and which wait.

    altered      root, count or chain do not follow from the stored events
    no-envelope  a body is not an envelope of the event that it is stored as: nothing of ours has put it there
    back-dated   it was received before the batch before it in its stream; or before what was sealed when it was written
    unreadable   the database cannot read its events
    missing      the outbox names it, and it is not there

A batch that is left is reported and passed over: whoever can write to the database stops the seal of no other. One that
was received later than the clock says waits: the clock of the database's host was set back, or somebody has dated it.

*Written before what was sealed*: ``log.append`` dates no batch before ``log.clock``, the newest instant that is sealed.
A batch whose transaction began after a look at that clock (its id is not below the snapshot's ``xmax``) has seen at
least the same, however long it ran and whatever was done to the host's clock. So no honest batch is ever named.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction

from audit.event_store import binary_copy, cluster, merkle
from audit.event_store.read import Batch
from audit.event_store.readable import holds_unreadable
from audit.event_store.streams import StreamRow
from audit.models import LeftBatch
from audit.transparency import envelopes

Cause = LeftBatch.Cause

LATE = timedelta(hours=1)
"""Between the append and the commit of a batch at most. A batch dated longer before what is sealed is back-dated, even
if its transaction is old: none of ours takes a minute."""

MAX_LOOKS = 10_000
"""Looks at the clock that are remembered: each is of another instant that was sealed."""

_UNREADABLE = ("22", "54", "XX")
"""Classes of SQLSTATE that say that data cannot be read: data exceptions, limits of the program, corruption."""

# Dates that Python has not are none: somebody else has put them there.
_PENDING = """
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain,
       case when b.received_at > '2000-01-01' and b.received_at < '3000-01-01' then b.received_at end, b.key_id,
       b.signature,
       p.chain, p.received_at > b.received_at, b.xmin::text::bigint, o.stream_id, o.first_seq
from (select stream_id, first_seq from log.outbox order by received_at, stream_id, first_seq limit %b::bigint) o
left join log.batch b using (stream_id, first_seq) left join log.stream s on s.stream_id = b.stream_id
left join lateral (select chain, received_at from log.batch
                   where stream_id = b.stream_id and first_seq < b.first_seq
                   order by first_seq desc limit 1) p on true
order by b.received_at, o.stream_id, o.first_seq
"""

_EVENTS = """
select e.seqs, e.instants, e.envelopes
from unnest(%b::bigint[], %b::bigint[], %b::bigint[]) with ordinality as b (stream_id, first_seq, last_seq, position),
lateral (select array_agg(seq) as seqs, array_agg((extract(epoch from occurred_at) * 1000000)::bigint) as instants,
                array_agg(envelope) as envelopes
         from (select seq, case when isfinite(occurred_at) then occurred_at end as occurred_at, envelope from log.event
               where stream_id = b.stream_id and seq between b.first_seq and b.last_seq order by seq) e) e
order by b.position
"""

# Of a cluster, where the transactions of a node have numbers of their own, which say nothing here: 0.
_PENDING_OF_NODES = """
select s.stream_id, s.name, s.casino_id, s.table_id,
       b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain,
       case when b.received_at > '2000-01-01' and b.received_at < '3000-01-01' then b.received_at end, b.key_id,
       b.signature,
       (select p.chain from log.batch p where p.stream_id = b.stream_id and p.first_seq < b.first_seq
        order by p.first_seq desc limit 1),
       (select p.received_at from log.batch p where p.stream_id = b.stream_id and p.first_seq < b.first_seq
        order by p.first_seq desc limit 1) > b.received_at, 0, o.stream_id, o.first_seq
from log.outbox o
left join log.batch b on b.stream_id = o.stream_id and b.first_seq = o.first_seq
left join log.stream s on s.stream_id = b.stream_id
order by o.received_at, o.stream_id, o.first_seq limit %b::bigint
"""

_EVENTS_OF_NODES = """
select b.position, array_agg(e.seq order by e.seq),
       array_agg(case when isfinite(e.occurred_at) then (extract(epoch from e.occurred_at) * 1000000)::bigint end
                 order by e.seq),
       array_agg(e.envelope order by e.seq)
from log.event e
join unnest(%b::bigint[], %b::bigint[], %b::bigint[]) with ordinality as b (stream_id, first_seq, last_seq, position)
  on e.stream_id = b.stream_id and e.seq between b.first_seq and b.last_seq
where e.stream_id = any (%b::bigint[])
group by e.stream_id, b.position
"""

_CLOCK = """
select pg_snapshot_xmax(pg_current_snapshot())::text::bigint, clock_timestamp(),
       (select received_at from log.clock where received_at < clock_timestamp() + interval '1 year')
"""

_EPOCH_US = 946_684_800_000_000
"""2000-01-01 in microseconds since 1970."""

Key = tuple[int, int]
"""A batch: stream id and first number."""


@dataclass(frozen=True, slots=True)
class PendingBatch:
    """A batch of the outbox, with its stream's chain value before it, and the id of the transaction that wrote it.

    ``is_before_previous``: the batch before it in its stream was received later.
    """

    stream: StreamRow
    batch: Batch
    chain_before: bytes
    is_before_previous: bool = False
    written_by: int = 0


@dataclass(frozen=True, slots=True)
class Left:
    """A batch that is not sealed. ``pending`` is None if it is not there, ``root`` unless its events have another."""

    key: Key
    cause: str
    pending: PendingBatch | None = None
    root: bytes | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a batch: numbers, instants in microseconds since 2000, bodies."""

    seqs: Sequence[int]
    instants_us: Sequence[int]
    bodies: Sequence[bytes]


class SealedClock:
    """What was sealed when: looks at the log's clock, each before any transaction of the ids that it has not seen yet.

    A process that starts has looked never: of what was written before, ``LATE`` is all that it can say.
    """

    def __init__(self) -> None:
        self.xmax: list[int] = []
        self.sealed: list[datetime] = []
        self.now: datetime | None = None

    def look(self) -> None:
        """Look at the clock. The batches to judge have to be read afterwards."""
        [(xmax, now, sealed)] = binary_copy.execute(_CLOCK, ())
        self.now = max(now, sealed) if sealed is not None else now
        if sealed is not None and (not self.sealed or sealed > self.sealed[-1]):
            self.xmax.append(xmax)
            self.sealed.append(sealed)
            del self.xmax[:-MAX_LOOKS], self.sealed[:-MAX_LOOKS]

    def is_back_dated(self, pending: PendingBatch) -> bool:
        """Whether a batch says that it was received before what was sealed when its transaction began."""
        if pending.is_before_previous:
            return True
        if not self.sealed:
            return False
        received_at = pending.batch.received_at
        looks = bisect_right(self.xmax, self._full(pending.written_by)) if pending.written_by else 0
        return received_at < self.sealed[-1] - LATE or (looks > 0 and received_at < self.sealed[looks - 1])

    def is_of_the_future(self, pending: PendingBatch) -> bool:
        """Whether a batch says that it was received later than it is."""
        return self.now is not None and pending.batch.received_at > self.now

    def _full(self, transaction_id: int) -> int:
        """Return a transaction id of 32 bits with its epoch: the one that is nearest below two billion ahead."""
        full = self.xmax[-1] >> 32 << 32 | transaction_id
        return full - (1 << 32) if full > self.xmax[-1] + (1 << 31) else full


def pending_batches(limit: int) -> Iterator[PendingBatch | Left]:
    """Yield the first ``limit`` batches of the outbox, as they were received, those of a stream in their order."""
    for row in binary_copy.execute(_PENDING_OF_NODES if cluster.is_distributed() else _PENDING, (limit,)):
        *_, is_before_previous, written_by, stream_id, first_seq = row
        if row[0] is None:
            yield Left((stream_id, first_seq), Cause.MISSING)
            continue
        each = PendingBatch(
            StreamRow(*row[:4]), Batch(*row[4:13]), row[13] or merkle.NO_CHAIN, bool(is_before_previous), written_by
        )
        if row[10] is None:  # no instant
            yield Left((stream_id, first_seq), Cause.UNREADABLE, each)
        else:
            yield each


def stored_events(pending: Sequence[PendingBatch]) -> list[Stored | None]:
    """Return what is stored of each batch, None for one that the database cannot read."""
    if not pending:
        return []
    keys = (
        [each.stream.stream_id for each in pending],
        [each.batch.first_seq for each in pending],
        [each.batch.last_seq for each in pending],
    )
    try:
        with transaction.atomic():
            rows = _of_nodes(keys) if cluster.is_distributed() else binary_copy.execute(_EVENTS, keys)
    except DatabaseError as error:
        if not binary_copy.sqlstate_of(error).startswith(_UNREADABLE) or not connection.is_usable():
            raise
        if len(pending) == 1:
            return [None]
        middle = len(pending) // 2
        return stored_events(pending[:middle]) + stored_events(pending[middle:])
    return [
        Stored(seqs or (), [-1 if each is None else each - _EPOCH_US for each in instants or ()], bodies or ())
        for seqs, instants, bodies in rows
    ]


def _of_nodes(keys: tuple[list[int], list[int], list[int]]) -> list[tuple[Any, ...]]:
    """Return the rows of ``_EVENTS`` from a cluster, where a batch without events has none."""
    streams = keys[0]
    rows = {row[0]: row[1:] for row in binary_copy.execute(_EVENTS_OF_NODES, (*keys, sorted(set(streams))))}
    return [rows.get(position, (None, None, None)) for position in range(1, len(streams) + 1)]


def wrong_with(pending: PendingBatch, stored: Stored | None, clock: SealedClock) -> Left | None:
    """Return why a batch is not to be sealed, None if it is."""
    stream, batch = pending.stream, pending.batch
    key = (stream.stream_id, batch.first_seq)
    if stored is None:
        return Left(key, Cause.UNREADABLE, pending)
    root = merkle.root(merkle.leaves(stored.bodies)) if stored.bodies else bytes(32)
    chain = merkle.chain(pending.chain_before, batch.root, first_seq=batch.first_seq, count=batch.count)
    if (root, len(stored.bodies), chain) != (batch.root, batch.count, batch.chain):
        return Left(key, Cause.ALTERED, pending, root)
    if holds_unreadable(b"".join(stored.bodies)):
        return Left(key, Cause.UNREADABLE, pending)
    if envelopes.misplaced(stream.name, stored.seqs, stored.instants_us, stored.bodies):
        return Left(key, Cause.NO_ENVELOPE, pending)
    if batch.next_seq != envelopes.next_seq(stored.bodies[-1], batch.last_seq):
        return Left(key, Cause.NO_ENVELOPE, pending)
    return Left(key, Cause.BACK_DATED, pending) if clock.is_back_dated(pending) else None
