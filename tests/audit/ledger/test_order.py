"""The next close in the order of the tree: the same whether it is looked for leaf by leaf, on a cluster, or in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.event_store import binary_copy, cluster
from audit.ledger import feeding, order
from audit.models import Casino, LedgerBatch, LedgerSetAside, LoggedStream
from tests import citus
from tests.audit.reconciliation.played import DAY, Events, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(bool(citus.COORDINATOR), reason="a cluster does not join what the earlier query joins"),
]

# Every event of every leaf: the oracle.
_OF_ALL_LEAVES = """
select l.log_index, l.stream_id, min(e.seq), min(b.received_at)
from log.leaf l
join log.stream s on s.stream_id = l.stream_id
join log.batch b on b.stream_id = l.stream_id and b.first_seq = l.first_seq
join log.event e on e.stream_id = l.stream_id and e.seq between b.first_seq and b.last_seq
where l.log_index >= %b::bigint and s.casino_id = %b::bigint
  and s.table_id is not null and not s.is_of_desk and e.envelope ->> 'type' = 'session.closed'
  and not exists (select from audit_ledgerbatch f where f.stream_id = l.stream_id and f.kind = 'draws')
  and not exists (select from audit_ledgersetaside a where a.stream_id = l.stream_id and a.kind = 'draws')
group by l.log_index, l.stream_id order by l.log_index
"""


@pytest.fixture(scope=citus.MODULE)
def casinos(module_db: None) -> tuple[Casino, Casino]:
    """Two casinos whose sessions are in one tree, recorded once for the module."""
    casino, other = Tenant().casino, Tenant().casino
    recorded(casino, other)
    return casino, other


@pytest.fixture(params=in_short(["one PostgreSQL", "the queries of a cluster"], every=2))
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(cluster, "is_distributed", lambda: request.param != "one PostgreSQL")
    monkeypatch.setattr(order, "FIRST_LEAVES", 2)
    monkeypatch.setattr(order, "LEAVES_AT_ONCE", 8)
    return str(request.param)


def parts_of(events: Events, size: int) -> Iterator[Events]:
    for first in range(0, len(events), size):
        yield events[first : first + size]


def recorded(casino: Casino, *others: Casino) -> None:
    """Record sessions that go on at the same time, in batches of several sizes; some close, one does so twice."""
    closes_again = session(casino, "R2", seed=3, coups=2)
    closes_again += [
        {**closes_again[-1], "seq": closes_again[-1]["seq"] + 1 + after, "data": closes_again[-1]["data"]}
        for after in range(3)
    ]
    going_on = [
        parts_of(session(casino, "R1", seed=1, coups=2), 5),
        parts_of(session(casino, "C1", ruleset="fr-craps", seed=2, coups=3), 4),
        parts_of(closes_again, 2),
        parts_of(session(casino, "R3", seed=4, coups=2)[:-1], 9),
        parts_of(session(casino, "R1", seed=5, coups=1, day=DAY - timedelta(days=1)), 1_000),
        parts_of(count(casino, {}), 1),
        *(parts_of(session(other, "R1", seed=6, coups=2), 7) for other in others),
    ]
    while going_on:
        for events in list(going_on):
            part = next(events, None)
            if part is None:
                going_on.remove(events)
            else:
                record(others[0] if _is_of(part, others) else casino, part)
                seal()


def _is_of(part: Events, others: tuple[Casino, ...]) -> bool:
    return any(part[0]["stream"].startswith(f"{other.code}.") for other in others)


def closes(casino: Casino, first_leaf: int = 0) -> list[order.Close]:
    rows = binary_copy.execute(_OF_ALL_LEAVES, (first_leaf, casino.pk))
    return [order.Close(*row) for row in rows]


def tree() -> int:
    [(size,)] = binary_copy.execute("select count(*) from log.leaf", ())
    return int(size)


def same_from_every_leaf(casino: Casino) -> list[order.Close]:
    """Check the next close from every leaf of the tree against all of them, and return these."""
    return same_from(casino, range(tree() + 2))


def same_around(casino: Casino, known: list[order.Close]) -> list[order.Close]:
    """The same, from the ends of the tree and the leaves about each close that is ``known``."""
    about = {close.log_index + by for close in known for by in (-1, 0, 1)}
    return same_from(casino, {0, tree(), *about})


def same_from(casino: Casino, leaves: Iterable[int]) -> list[order.Close]:
    everything = closes(casino)
    for leaf in leaves:
        expected = next((close for close in everything if close.log_index >= leaf), None)
        after = max(leaf, tree()) if expected is None else expected.log_index + 1
        assert order.next_close(casino.pk, leaf) == (expected, after)
    return everything


def test_the_next_close_is_the_one_that_all_events_say(casinos: tuple[Casino, Casino], where: str) -> None:
    casino, other = casinos
    found = same_from_every_leaf(casino)
    assert len({close.stream_id for close in found}) == 4
    assert len(found) > 4, "a session that closes again"
    same_around(other, found)

    # What was fed, or was set aside, awaits nothing.
    first, second = found[0].stream_id, found[1].stream_id
    stream = LoggedStream.objects.get(pk=second)
    later = timezone.now() + timedelta(days=1)
    LedgerSetAside.objects.create(
        casino=casino, kind="draws", gaming_day=DAY, currency="EUR", stream=stream, error="?", next_try_at=later
    )
    assert second not in {close.stream_id for close in same_around(casino, found)}
    feeding.feed_sessions(casino)
    fed = set(LedgerBatch.objects.filter(casino=casino, kind="draws").values_list("stream", flat=True))
    assert first in fed
    assert second not in fed
    assert same_around(casino, found) == []


def test_a_search_looks_little_beyond_the_close_that_it_finds(
    casinos: tuple[Casino, Casino], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    casino, _other = casinos
    ends: list[int] = []
    first_closes = order._first_closes

    def noting(first: int, end: int, casino_id: int, most: int) -> list[tuple[Any, ...]]:
        ends.append(end)
        assert most == 1, "it would read the events of further sessions"
        return first_closes(first, end, casino_id, most)

    monkeypatch.setattr(order, "_first_closes", noting)
    for leaf in range(closes(casino)[-1].log_index + 1):
        ends.clear()
        found, _next_leaf = order.next_close(casino.pk, leaf)
        assert found is not None
        looked_at = max(ends) - leaf
        assert looked_at <= 2 * (found.log_index - leaf + 1) + order.FIRST_LEAVES
