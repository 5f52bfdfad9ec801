"""Fairness: which stream a worker replays next, so that no casino delays another.

    hint, sweep, new leaves of the tree ─► waiting streams ─► a turn: one step of one stream ─► waiting again, or done

A message to a worker says that something waits, and not what: otherwise a casino that sends much would have its
messages in front of everybody else's. A worker that gets one puts into the queue, a table, what has come since the last
time, and then takes turns. A turn is one step of one stream. It goes to the casino with the fewest streams in replay,
and among those to the one whose last turn is longest ago; within a casino, to the stream that waits longest. So a
stream of ten million events is behind every other after each step. While other casinos are there, steps are short ones
(``replay.SHARED_STEP_S``).

The processor time of a turn is put on its casino's account: its last turn counts as so much later, up to
``RECENT_S`` from now. So among casinos that wait, who has used least of late is first.

While another casino waits or had a turn within ``RECENT_S``, a casino has at most its share of the workers
(``share``), and leaves the others idle rather than have a table of another casino wait for the end of a step.

The queue is only a queue: what is lost of it, the sweep puts back. A worker that dies ends its database connection,
and by that what it had taken is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from audit.event_store import cluster, read
from settlement import ENGINE_VERSION

RECENT_S = 10
"""How long after its last turn a casino still keeps the others from using more than their share."""

FEED_LEAVES = 20_000
"""The most leaves that are looked at for one message; the sweep finds what is further back."""

_PUT = f"""
with off as (select set_config('synchronous_commit', 'off', true)),
put as (
  insert into audit_waitingstream (stream_id, casino_id, since, hints)
  select s.stream_id, s.casino_id, clock_timestamp(), 1
  from off cross join {read.DIRTY}
    and h.stream_id = any (%(streams)s)
  on conflict (stream_id) do update set hints = audit_waitingstream.hints + 1
  returning casino_id),
casinos as (insert into audit_casinoturn (casino_id) select distinct casino_id from put on conflict do nothing)
select count(*) from put
"""

_HAS_NEW_LEAVES = """
select not exists (select 1 from audit_leafcursor c where c.id = 1
                   and c.next_leaf = (select coalesce(max(log_index) + 1, 0) from log.leaf))
"""

_LEAVES = """
with head as (select coalesce(max(log_index) + 1, 0) as size from log.leaf),
span as (select case when c.next_leaf > head.size then head.size
                     else greatest(c.next_leaf, head.size - %(most)s) end as first, head.size
         from audit_leafcursor c, head where c.id = 1),
moved as (update audit_leafcursor set next_leaf = span.size from span where id = 1)
select distinct l.stream_id from log.leaf l, span where l.log_index >= span.first and l.log_index < span.size
"""

_TAKE = """
with alive as materialized (select pid, backend_start from pg_stat_activity where datname = current_database()),
held as (
  select w.stream_id, w.casino_id from audit_waitingstream w
  join alive on alive.pid = w.holder_pid and alive.backend_start = w.holder_began),
next_of_each as (
  select t.casino_id, t.last_turn_at, f.stream_id, f.since,
         (select count(*) from held where held.casino_id = t.casino_id) as turns
  from audit_casinoturn t cross join lateral (
    select w.stream_id, w.since from audit_waitingstream w
    where w.casino_id = t.casino_id and (w.holder_pid is null or w.stream_id not in (select stream_id from held))
    order by w.since limit 1) f),
chosen as (
  select n.stream_id, n.casino_id, others.are_there from next_of_each n cross join lateral (
    select exists (select 1 from audit_casinoturn o where o.casino_id <> n.casino_id
                   and o.last_turn_at > clock_timestamp() - make_interval(secs => %(recent)s))
        or exists (select 1 from next_of_each o where o.casino_id <> n.casino_id) as are_there) others
  where n.turns < %(share)s or not others.are_there
  order by n.turns, n.last_turn_at nulls first, n.since limit 1),
turn as (
  update audit_casinoturn t set last_turn_at = greatest(t.last_turn_at, clock_timestamp())
  from chosen where t.casino_id = chosen.casino_id)
update audit_waitingstream w set holder_pid = alive.pid, holder_began = alive.backend_start
from chosen, alive where w.stream_id = chosen.stream_id and alive.pid = pg_backend_pid()
returning w.stream_id, w.casino_id, w.hints, chosen.are_there
"""

_END = """
with off as (select set_config('synchronous_commit', 'off', true)),
used as (
  update audit_casinoturn t set last_turn_at = least(
    greatest(t.last_turn_at, clock_timestamp()) + make_interval(secs => %(used)s),
    clock_timestamp() + make_interval(secs => %(recent)s))
  from off where t.casino_id = %(casino)s and %(used)s > 0),
gone as (delete from audit_waitingstream w using off where w.stream_id = %(stream)s and w.hints <= %(through)s)
update audit_waitingstream w set since = clock_timestamp(), holder_pid = null, holder_began = null
from off where w.stream_id = %(stream)s and w.hints > %(through)s and w.holder_pid = pg_backend_pid()
"""

_LOCK = "select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtext('audit.replay_queue'))"

MOST_HINTS = 2**62


@dataclass(frozen=True, slots=True)
class Turn:
    """A stream that this worker may fold one step of; ``hints`` as they were when it was taken.

    ``is_shared``: whether another casino waits or had a turn a moment ago, so that the step is a short one.
    """

    stream_id: int
    casino_id: int
    hints: int
    is_shared: bool


def share() -> int:
    """Return how many replay workers a casino may occupy while others wait: half of them, and at least one."""
    workers: int = settings.CABOCHON_REPLAY_WORKERS
    return max(1, (workers + 1) // 2)


def put(stream_ids: Sequence[int]) -> int:
    """Put those of the streams that are dirty into the queue, and return how many."""
    if not stream_ids:
        return 0
    params = {**read.dirty_params(ENGINE_VERSION), "streams": sorted(stream_ids)}
    if len(stream_ids) == 1:
        return _count(_PUT, params)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK)  # two workers that put the same streams would wait for each other in a circle
        return _count(_PUT, params)


def put_newly_sealed() -> int:
    """Put the streams into the queue that have new leaves in the tree since the last call, and return how many.

    So a stream waits from the moment that it is sealed, however many messages are in front of its own.
    """
    if not _count(_HAS_NEW_LEAVES, {}):
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("insert into audit_leafcursor (id, next_leaf) values (1, 0) on conflict do nothing")
        cursor.execute("select 1 from audit_leafcursor where id = 1 for update skip locked")
        if cursor.fetchone() is None:  # another worker does it
            return 0
        cursor.execute(_LEAVES, {"most": FEED_LEAVES})
        return put([stream_id for (stream_id,) in cursor.fetchall()])


def take() -> Turn | None:
    """Take the next turn for this database connection; None if nothing waits that it may have."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK)
        cursor.execute(_TAKE, {"share": share(), "recent": RECENT_S})
        row = cursor.fetchone()
    return Turn(*row) if row else None


def give_back(turn: Turn, *, used_s: float = 0.0) -> None:
    """End a turn whose stream is not at its end: it waits again, behind the others of its casino.

    ``used_s``, here and below: the seconds of processor time that the turn took.
    """
    _end(turn, through=0, used_s=used_s)


def done(turn: Turn, *, used_s: float = 0.0) -> None:
    """End a turn whose stream is at its end. If a hint has come meanwhile, it waits again."""
    _end(turn, through=turn.hints, used_s=used_s)


def drop(turn: Turn, *, used_s: float = 0.0) -> None:
    """End a turn that failed, or whose stream another process holds: the sweep puts it back, if it is dirty."""
    _end(turn, through=MOST_HINTS, used_s=used_s)


def _end(turn: Turn, *, through: int, used_s: float) -> None:
    """Take the stream of a turn out of the queue, unless it had more hints than ``through``: then it waits again."""
    params = {"stream": turn.stream_id, "casino": turn.casino_id, "through": through}
    with connection.cursor() as cursor:
        cursor.execute(_END, {**params, "used": used_s, "recent": RECENT_S})


def _count(query: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(cluster.readable(query), params)
        [(count,)] = cursor.fetchall()
    return int(count)
