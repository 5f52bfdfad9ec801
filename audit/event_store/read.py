"""Reading streams, batches and stream heads. Envelopes are the stored bytes, as they were hashed.

A stream whose events were archived has none to read. ``StreamArchived`` says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from audit.event_store import archived, binary_copy, cluster
from audit.event_store.readable import is_readable, readable
from settlement.events import VOIDS

PAGE = 1_000
"""Rows that ``whole`` fetches at a time."""


@dataclass(frozen=True, slots=True)
class StreamHead:
    """The state of a stream: the number it takes next, and its chain value, 32 bytes.

    ``table_id`` is None for a count room and for a desk; ``game`` and ``ruleset`` are None for both, too.
    """

    stream_id: int
    table_id: int | None
    next_seq: int
    chain: bytes
    is_of_desk: bool
    game: str | None
    ruleset: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """One accepted request: its first and last number, the number after it, how many events, RFC 6962 root, chain.

    ``key_id`` is the API key's that sent it, 0 for the audit trail. ``signature`` is the table system's, None if its
    key has none to sign with: ``batch_signatures``.
    """

    first_seq: int
    last_seq: int
    next_seq: int
    count: int
    root: bytes
    chain: bytes
    received_at: datetime
    key_id: int
    signature: bytes | None = None


def head_of(casino_id: int, name: str) -> StreamHead | None:
    """Return the head of a casino's stream, or None if no stream of that name was opened."""
    if cluster.is_distributed():
        return _head_on_its_node(casino_id, name)
    rows = binary_copy.execute(
        "select s.stream_id, s.table_id, h.next_seq, h.chain, s.is_of_desk, s.game, s.ruleset"
        " from log.stream s join log.stream_head h using (stream_id)"
        " where s.casino_id = %b::bigint and s.name = %b::text",
        (casino_id, name),
    )
    return StreamHead(*rows[0]) if rows else None


def _head_on_its_node(casino_id: int, name: str) -> StreamHead | None:
    """Return the same from a cluster, where a name says of no stream on which node it is: two queries of one node."""
    found = binary_copy.execute(
        "select stream_id, table_id, is_of_desk, game, ruleset from log.stream"
        " where casino_id = %b::bigint and name = %b::text",
        (casino_id, name),
    )
    for stream_id, table_id, is_of_desk, game, ruleset in found:
        [(next_seq, chain)] = binary_copy.execute(
            "select next_seq, chain from log.stream_head where stream_id = %b::bigint", (stream_id,)
        )
        return StreamHead(stream_id, table_id, next_seq, chain, is_of_desk, game, ruleset)
    return None


def next_seq_of(stream_id: int) -> int:
    """Return the number that a stream takes next. Raise ``ValueError`` if there is no such stream."""
    [(next_seq,)] = binary_copy.execute(
        "select next_seq from log.stream_head where stream_id = %b::bigint", (stream_id,)
    )
    return int(next_seq)


def chain_of(stream_id: int) -> bytes:
    """Return the chain value of a stream, b"" if there is no such stream: it stands for all that is in it."""
    rows = binary_copy.execute("select chain from log.stream_head where stream_id = %b::bigint", (stream_id,))
    return rows[0][0] if rows else b""


def slice_of(stream_id: int, *, after: int = 0, limit: int) -> list[tuple[int, bytes]]:
    """Return the first ``limit`` events of a stream whose seq is above ``after``, in order: seq and canonical bytes."""
    rows = binary_copy.execute(
        "select seq, envelope from log.event where stream_id = %b::bigint and seq > %b::bigint"
        " order by seq limit %b::bigint",
        (stream_id, after, limit),
        nearby=True,
    )
    return rows or _nothing(stream_id)


def before(stream_id: int, *, seq: int, limit: int) -> list[tuple[int, bytes]]:
    """Return the last ``limit`` events of a stream whose seq is below ``seq``, in order: seq and canonical bytes."""
    rows = binary_copy.execute(
        "select seq, envelope from log.event where stream_id = %b::bigint and seq < %b::bigint"
        " order by seq desc limit %b::bigint",
        (stream_id, seq, limit),
        nearby=True,
    )
    return rows[::-1] or _nothing(stream_id)


def count_from(stream_id: int, first_seq: int, *, through: int = 2**63 - 1, limit: int) -> int:
    """Return how many events of a stream have a seq from ``first_seq`` to ``through``, counted up to ``limit``."""
    [(count,)] = binary_copy.execute(
        "select count(*) from (select from log.event where stream_id = %b::bigint"
        " and seq between %b::bigint and %b::bigint limit %b::bigint) counted",
        (stream_id, first_seq, through, limit),
    )
    return int(count) or len(_nothing(stream_id))


def whole(stream_id: int, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the events of a stream whose seq is above ``after``, in order, a page at a time: memory stays flat."""
    while page := slice_of(stream_id, after=after, limit=PAGE):
        yield from page
        after = page[-1][0]


def ends_of(stream_id: int) -> tuple[int, datetime, datetime] | None:
    """Return the number of a stream's last event, and when its first and its last happened; None without events."""
    rows = binary_copy.execute(
        "select l.seq, f.occurred_at, l.occurred_at from"
        " (select occurred_at from log.event where stream_id = %b::bigint order by seq limit 1) f,"
        " (select seq, occurred_at from log.event where stream_id = %b::bigint order by seq desc limit 1) l",
        (stream_id, stream_id),
    )
    if not rows:
        _nothing(stream_id)
        return None
    last_seq, first_at, last_at = rows[0]
    return last_seq, first_at, last_at


def events_at(stream_id: int, seqs: list[int]) -> dict[int, bytes]:
    """Return the canonical bytes of those of ``seqs`` that are stored, by seq."""
    if not seqs:
        return {}
    rows = binary_copy.execute(
        "select seq, envelope from log.event where stream_id = %b::bigint and seq = any (%b::bigint[])",
        (stream_id, seqs),
        nearby=True,
    )
    return dict(rows or _nothing(stream_id))


def _nothing(stream_id: int) -> list[Any]:
    """Return no rows: the stream has none there. Raise ``StreamArchived`` if they are elsewhere."""
    archived.demand_here(stream_id)
    return []


def _is_change(body: str) -> str:
    """Return the SQL of whether an event acts on an earlier one; its parameter is the types that may void a result.

    One that the database cannot read may: the engine reads it, and says.
    """
    return (
        f"case when {is_readable(body)} then {body} ->> 'type' in ('entry.corrected', 'entry.annulled')"
        f" or {body} ->> 'type' = any (%b::text[]) and {body} -> 'data' -> 'voids' is not null else true end"
    )


def corrections_of(stream_id: int) -> list[bytes]:
    """Return the events of a stream that act on an earlier one, in order: corrections, annulments, results voided."""
    chain = chain_of(stream_id)
    return list(_corrections_under(stream_id, chain)) if chain else []


@lru_cache(maxsize=256)
def _corrections_under(stream_id: int, chain: bytes) -> tuple[bytes, ...]:
    """Scan a stream once for each chain value, which stands for all that is in it."""
    rows = binary_copy.execute(
        f"select envelope from log.event where stream_id = %b::bigint and {_is_change('envelope')} order by seq",
        (stream_id, [kind.type for kind in VOIDS]),
    )
    rows = rows or _nothing(stream_id)
    return tuple(envelope for (envelope,) in rows)


def of_types(stream_id: int, types: Collection[str]) -> tuple[bytes, ...]:
    """Return the events of some types of a stream, in order."""
    chain = chain_of(stream_id)
    return _of_types_under(stream_id, chain, tuple(sorted(types))) if chain else ()


@lru_cache(maxsize=64)
def _of_types_under(stream_id: int, chain: bytes, types: tuple[str, ...]) -> tuple[bytes, ...]:
    """Scan a stream once for each chain value, as ``_corrections_under``."""
    rows = binary_copy.execute(
        "select envelope from log.event where stream_id = %b::bigint"
        f" and {readable('envelope')} ->> 'type' = any (%b::text[]) order by seq",
        (stream_id, list(types)),
    )
    rows = rows or _nothing(stream_id)
    return tuple(envelope for (envelope,) in rows)


def sessions_counted(stream_ids: list[int]) -> dict[int, set[str]]:
    """Return the sessions that counts name, by stream id, those of corrections and of entries corrected since too."""
    rows = binary_copy.execute(
        "select distinct stream_id, coalesce(envelope #>> '{data,session}', envelope #>> '{data,data,session}')"
        " from log.event where stream_id = any (%b::bigint[])"
        f" and {readable('envelope')} ->> 'type' in ('drop.counted', 'entry.corrected')",
        (stream_ids,),
    )
    archived.demand_all_here(set(stream_ids) - {stream_id for stream_id, _session in rows})
    sessions: dict[int, set[str]] = {}
    for stream_id, session in rows:
        sessions.setdefault(stream_id, set()).add(session)
    return sessions


def firsts_of(stream_ids: list[int]) -> list[tuple[int, bytes]]:
    """Return the first event of each of some streams: stream id and canonical bytes; an empty stream is not there."""
    return binary_copy.execute(
        "select stream_id, envelope from log.event where stream_id = any (%b::bigint[]) and seq = 1", (stream_ids,)
    )


_CHANGED_LATER = (
    f"exists (select from log.event c where c.stream_id = l.stream_id and c.seq > l.seq and {_is_change('c.envelope')})"
)

_LAST_OF_TYPE = (
    f"select s.stream_id, e.envelope, {_CHANGED_LATER.replace('l.stream_id', 's.stream_id').replace('l.seq', 'e.seq')}"
    " from unnest(%b::bigint[]) as s (stream_id) cross join lateral (select seq, envelope from log.event l"
    f" where l.stream_id = s.stream_id and {readable('l.envelope')} ->> 'type' = %b::text order by seq desc limit 1) e"
)

_LAST_OF_TYPE_ON_NODES = (
    f"select distinct on (l.stream_id) l.stream_id, l.envelope, {_CHANGED_LATER} from log.event l"
    f" where l.stream_id = any (%b::bigint[]) and {readable('l.envelope')} ->> 'type' = %b::text"
    " order by l.stream_id, l.seq desc"
)


def last_of_type_in(stream_ids: list[int], type: str) -> dict[int, tuple[bytes, bool]]:
    """Return the last event of a type in each of some streams, by stream id; one that has none is not there.

    With each, whether an event after it may change it: a correction, an annulment, a result voided.
    """
    statement = _LAST_OF_TYPE if not cluster.is_distributed() else _LAST_OF_TYPE_ON_NODES
    rows = binary_copy.execute(statement, ([kind.type for kind in VOIDS], stream_ids, type))
    archived.demand_all_here(set(stream_ids) - {row[0] for row in rows})
    return {stream_id: (envelope, is_changed) for stream_id, envelope, is_changed in rows}


def last_seqs(stream_ids: list[int]) -> dict[int, int]:
    """Return the last number of each stream, declared losses included, by stream id; 0 for an empty stream."""
    rows = binary_copy.execute(
        "select stream_id, next_seq - 1 from log.stream_head where stream_id = any (%b::bigint[])", (stream_ids,)
    )
    return dict(rows)


def last_received(stream_ids: list[int]) -> datetime | None:
    """Return when the newest batch of the streams was received, or None if they have no batch."""
    [(received_at,)] = binary_copy.execute(
        "select max(received_at) from log.batch where stream_id = any (%b::bigint[])", (stream_ids,)
    )
    assert received_at is None or isinstance(received_at, datetime)
    return received_at


def batch_holding(stream_id: int, seq: int) -> Batch | None:
    """Return the batch that event ``seq`` came in, or None if no batch holds that number."""
    rows = binary_copy.execute(
        "select first_seq, last_seq, next_seq, count, root, chain, received_at, key_id, signature from log.batch"
        " where stream_id = %b::bigint and first_seq <= %b::bigint order by first_seq desc limit 1",
        (stream_id, seq),
    )
    if not rows or seq > rows[0][1]:
        return None
    return Batch(*rows[0])


def received_from(stream_id: int, first_seq: int, last_seq: int) -> list[tuple[int, datetime]]:
    """Return when the batches that hold events ``first_seq`` to ``last_seq`` were received, by their first number."""
    return binary_copy.execute(
        "select first_seq, received_at from log.batch where stream_id = %b::bigint and first_seq <= %b::bigint"
        " and first_seq >= (select max(b.first_seq) from log.batch b"
        " where b.stream_id = %b::bigint and b.first_seq <= %b::bigint) order by first_seq",
        (stream_id, last_seq, stream_id, first_seq),
    )


def credible_instants(stream_id: int, claimed: Mapping[int, datetime]) -> dict[int, datetime]:
    """Return the instants of events as lists are ordered by, by ``seq``: as the table's clock has them, ``claimed``.

    An event may claim any instant, and one of 2098 would head every list until then. So one that claims to have
    occurred more than ``CLOCK_TOLERANCE`` after it was received is taken to have occurred when it was received.
    """
    rows = binary_copy.execute(
        "select s.seq, (select b.received_at from log.batch b where b.stream_id = %b::bigint and b.first_seq <= s.seq"
        " order by b.first_seq desc limit 1) from unnest(%b::bigint[]) as s (seq)",
        (stream_id, sorted(claimed)),
    )
    received = dict(rows)
    return {seq: credible(at, received.get(seq)) for seq, at in claimed.items()}


def claimed_and_received(events: Collection[tuple[int, int]]) -> list[tuple[int, int, bytes, datetime | None]]:
    """Return those of ``events``, each a stream id and a seq, that are stored: their bytes, and when received."""
    stream_ids, seqs = [stream_id for stream_id, _seq in events], [seq for _stream_id, seq in events]
    return binary_copy.execute(
        "select e.stream_id, e.seq, e.envelope, (select b.received_at from log.batch b"
        " where b.stream_id = e.stream_id and b.first_seq <= e.seq order by b.first_seq desc limit 1)"
        " from unnest(%b::bigint[], %b::bigint[]) as s (stream_id, seq) join log.event e using (stream_id, seq)",
        (stream_ids, seqs),
    )


def credible(claimed: datetime, received: datetime | None) -> datetime:
    """Return the instant of an event as lists are ordered by; see ``credible_instants``."""
    return received if received is not None and claimed > received + CLOCK_TOLERANCE else claimed


def batches_after(stream_id: int, seq: int, *, limit: int) -> list[tuple[Batch, str]]:
    """Return the batches of a stream that begin after event ``seq``, in order, each with the prefix of its API key."""
    rows = binary_copy.execute(
        "select b.first_seq, b.last_seq, b.next_seq, b.count, b.root, b.chain, b.received_at, b.key_id, b.signature,"
        " coalesce(k.prefix, '') from log.batch b left join audit_apikey k on k.id = b.key_id"
        " where b.stream_id = %b::bigint and b.first_seq > %b::bigint order by b.first_seq limit %b::bigint",
        (stream_id, seq, limit),
    )
    return [(Batch(*row[:-1]), str(row[-1])) for row in rows]


def batches_through(stream_id: int, seq: int) -> list[Batch]:
    """Return the batches of a stream up to and including the one that holds event ``seq``, in order."""
    rows = binary_copy.execute(
        "select first_seq, last_seq, next_seq, count, root, chain, received_at, key_id, signature from log.batch"
        " where stream_id = %b::bigint and first_seq <= %b::bigint order by first_seq",
        (stream_id, seq),
    )
    return [Batch(*row) for row in rows]


CLOCK_TOLERANCE = timedelta(hours=1)
"""How far a table's clock may be ahead before the instants it claims are not used to order lists."""

TAKEN_OVER_AFTER = timedelta(minutes=10)
"""How long the workers of a later engine version must have left a stream alone before an earlier version takes over."""


DIRTY = (
    """
log.stream_head h join log.stream s using (stream_id)
left join audit_adjudication a
  on a.stream_id = h.stream_id and a.engine_version = %(engine)s and a.what_if_id is null
left join audit_adjudicationrun r on r.id = a.run_id
left join (select e.casino_id, max(e.version) as version from audit_registerentry e
           where e.version is not null group by e.casino_id) g on g.casino_id = s.casino_id
where (h.next_seq > coalesce(a.next_seq, 1) or r.state in ('running', 'failed')
       or (r.state = 'complete' and r.register_version is distinct from coalesce(g.version, 0))
       or (r.state = 'complete' and (r.approved is null or exists (
         select from audit_correctiondecision d where d.stream_id = h.stream_id and d.verdict = 'countersigned'
           and d.number = 2 and d.seq <> all (r.approved))))) and not s.is_of_desk
  and (r.next_try_at is null or r.next_try_at <= now())
  and (r.state is distinct from 'superseded' or not exists (
    select from audit_adjudication o where o.stream_id = h.stream_id and o.what_if_id is null
      and o.id <> a.id and o.updated_at > now() - %(taken_over_after)s::interval))
  and (a.id is not null or not exists (
    select from audit_adjudication o join audit_adjudicationrun p on p.id = o.run_id
    where o.stream_id = h.stream_id and o.what_if_id is null and o.engine_version <> %(engine)s
      and p.state = 'complete' and o.next_seq >= h.next_seq
      and not exists (
        select from audit_registerentry e
        where e.casino_id = s.casino_id and e.version > coalesce(p.register_version, 0)
          and (e.table_id is null or e.table_id = s.table_id) and e.ruleset in ('', s.ruleset)
          and s.gaming_day >= e.first_day and s.gaming_day <= coalesce(e.last_day, s.gaming_day))
      and not exists (
        select from audit_adjudicationrun w join audit_whatif i on i.id = w.what_if_id
        where w.stream_id = h.stream_id and w.state = 'complete' and i.promoted_at is not null
          and i.engine_version = %(engine)s)))
  and """
    + archived.NOT_ARCHIVED
)
"""The streams that are dirty, as ``from`` and ``where`` of a query; its parameters are those of ``dirty_params``.

Those whose events an engine version has not all adjudicated, and those that it has adjudicated by an earlier version of
the casino's register, or before officers approved a correction: head ``h``, stream ``s``, adjudication ``a``, run
``r``, register ``g``.
Desk streams, archived ones and what-if runs do not count, nor do streams that a failed run has set aside until later,
nor those that workers of another version have taken over. Nor do those that an earlier version has read to their end,
by a register that says the same of them, until a what-if run with them is promoted. More conditions may follow.
"""


def dirty_params(engine_version: str) -> dict[str, Any]:
    """Return the parameters of ``DIRTY``."""
    return {"engine": engine_version, "taken_over_after": TAKEN_OVER_AFTER}


def dirty_streams(engine_version: str, *, limit: int) -> list[int]:
    """Return up to ``limit`` streams that are dirty for ``engine_version``.

    The casinos take turns, each with its newest stream first, so that none fills the limit.
    """
    rows = binary_copy.execute(
        cluster.readable(
            f"select h.stream_id from {DIRTY}"
            " order by row_number() over (partition by s.casino_id order by h.stream_id desc), h.stream_id desc"
            " limit %(limit)s"
        ),
        {**dirty_params(engine_version), "limit": limit},
    )
    return [stream_id for (stream_id,) in rows]
