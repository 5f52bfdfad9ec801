"""The order of the ledger: which finished session comes next, as the tree has it.

A session is finished when the batch that holds its first ``session.closed`` is sealed. The leaf of that batch is its
place, whatever its gaming day, its currency or the engine that reads it: it is fixed before anybody looks at a draw.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from audit.event_store import binary_copy, cluster
from audit.event_store.readable import is_of_type

FIRST_LEAVES = 16
LEAVES_AT_ONCE = 5_000
"""Leaves that the first statement of a search looks through, and the most that any does: each takes twice the last.

So a search reads little beyond the close that it finds.
"""

CLOSES_AT_ONCE = 16
"""Most closes that one search for several finds."""


class Close(NamedTuple):
    """The close of a session: its leaf in the tree, its stream, the closing event, and when the batch was received."""

    log_index: int
    stream_id: int
    seq: int
    received_at: datetime


# Leaf by leaf in the order of the tree, to the first closes: "offset 0" keeps the planner from gathering and sorting
# every close first, which it does while it has no statistics, so that each event would be read again for each session.
_CLOSES = f"""
select l.log_index, l.stream_id, e.seq, l.received_at
from (select l.log_index, l.stream_id, b.first_seq, b.last_seq, b.received_at
      from log.leaf l
      join log.stream s on s.stream_id = l.stream_id
      join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
      where l.log_index >= %b::bigint and l.log_index < %b::bigint and s.casino_id = %b::bigint
        and s.table_id is not null and not s.is_of_desk
        and not exists (select from audit_ledgerbatch f where f.stream_id = l.stream_id and f.kind = 'draws')
        and not exists (select from audit_ledgersetaside a where a.stream_id = l.stream_id and a.kind = 'draws')
      order by l.log_index offset 0) l
cross join lateral (select min(seq) as seq from log.event
                    where stream_id = l.stream_id and seq between l.first_seq and l.last_seq
                      and {is_of_type("envelope", "session.closed")}) e
where e.seq is not null
order by l.log_index limit
"""

# The same on a cluster, which joins no tables of its coordinator with those of its workers: two queries. The second
# reads every event of the leaves that it is given.
_LEAVES_NOT_FED = """
select l.log_index, l.stream_id, l.first_seq
from log.leaf l join log.stream s on s.stream_id = l.stream_id
where l.log_index >= %b::bigint and l.log_index < %b::bigint and s.casino_id = %b::bigint
  and s.table_id is not null and not s.is_of_desk
  and not exists (select from audit_ledgerbatch f where f.stream_id = l.stream_id and f.kind = 'draws')
  and not exists (select from audit_ledgersetaside a where a.stream_id = l.stream_id and a.kind = 'draws')
"""
_CLOSES_OF_NODES = f"""
select l.log_index, b.stream_id, min(e.seq), min(b.received_at)
from log.batch b
join unnest(%(indexes)b::bigint[], %(streams)b::bigint[], %(firsts)b::bigint[]) as l (log_index, stream_id, first_seq)
  on b.stream_id = l.stream_id and b.first_seq = l.first_seq
join log.event e on e.stream_id = b.stream_id and e.seq between b.first_seq and b.last_seq
where b.stream_id = any (%(streams)b::bigint[]) and {is_of_type("e.envelope", "session.closed")}
group by l.log_index, b.stream_id order by l.log_index limit
"""


def next_close(casino_id: int, first_leaf: int) -> tuple[Close | None, int]:
    """Return the first close, from ``first_leaf`` on, of a session that awaits its turn, and the leaf to go on from.

    It awaits it if it was neither fed nor set aside.
    Without a close the latter is the size of the tree.
    """
    closes, end = next_closes(casino_id, first_leaf, most=1)
    return (closes[0], closes[0].log_index + 1) if closes else (None, end)


def next_closes(casino_id: int, first_leaf: int, most: int = CLOSES_AT_ONCE) -> tuple[list[Close], int]:
    """Return the first closes, as ``next_close`` has the first, each of another session, and the leaf after the last.

    ``most`` are found: each takes reading events. Without any the latter is the size of the tree.
    """
    [(size,)] = binary_copy.execute("select coalesce(max(log_index) + 1, 0) from log.leaf", ())
    first, leaves = first_leaf, FIRST_LEAVES
    while first < size:
        rows = _first_closes(first, min(size, first + leaves), casino_id, most)
        if rows:
            closes: dict[int, Close] = {}
            for row in rows:
                closes.setdefault(row[1], Close(*row))  # the first counts of a session that closes again
            return list(closes.values()), rows[-1][0] + 1
        first, leaves = first + leaves, min(2 * leaves, LEAVES_AT_ONCE)
    return [], max(first_leaf, size)


def _first_closes(first: int, end: int, casino_id: int, most: int) -> list[tuple[Any, ...]]:
    """Return the first rows of ``_CLOSES`` of the leaves from ``first`` to before ``end``."""
    if not cluster.is_distributed():
        return binary_copy.execute(f"{_CLOSES} {most}", (first, end, casino_id))
    leaves = binary_copy.execute(_LEAVES_NOT_FED, (first, end, casino_id))
    if not leaves:
        return []
    indexes, streams, firsts = map(list, zip(*leaves, strict=True))
    return binary_copy.execute(f"{_CLOSES_OF_NODES} {most}", {"indexes": indexes, "streams": streams, "firsts": firsts})
