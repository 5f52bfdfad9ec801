"""A node of a Citus cluster is killed between PREPARE TRANSACTION and COMMIT PREPARED: nothing is lost or doubled.

A node that waits for a standby which does not exist holds what it commits after it has written it: there it is killed.
Only where the nodes' data folders are on this machine, and the tests may start them again.
"""

from __future__ import annotations

import pytest
from django.db import connection

from audit.access import sandboxes
from audit.event_store import read
from audit.transparency.outcome import Outcome
from tests import citus
from tests.audit.event_store.cluster_nodes import Node, attempted, prepared, recovered, until
from tests.audit.event_store.test_cluster import recorded, superuser_at
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, verified

pytestmark = [citus.ON_A_CLUSTER, pytest.mark.django_db(transaction=True)]


def whole() -> Outcome:
    seal()
    return verified()


@pytest.mark.parametrize("index", [0, 1])
def test_a_node_killed_while_a_seal_commits_loses_and_doubles_nothing(tenant: Tenant, index: int) -> None:
    seal()
    for _ in range(6):
        name = unique_name()
        assert tenant.send(name, tenant.session(name, 4)).status_code == 201
    before = leaves()
    node = Node(citus.nodes()[index])
    node.hold_commits()
    attempt = attempted(seal)
    node.wait_until_held()
    assert prepared() > 0
    node.kill()
    attempt.join()
    node.start()
    recovered()
    assert leaves() in {before, before + 6}
    assert whole().faults == []
    assert leaves() == before + 6


@pytest.mark.parametrize("index", [0, 1])
def test_a_node_killed_while_a_stream_is_opened_loses_and_doubles_nothing(tenant: Tenant, index: int) -> None:
    name = unique_name()
    events = tenant.session(name, 4)
    first = unique_name()
    assert tenant.send(first, tenant.session(first, 2)).status_code == 201  # the month is there
    node = Node(citus.nodes()[index])
    node.hold_commits()
    attempt = attempted(lambda: tenant.send(name, events))
    node.wait_until_held()
    node.kill()
    attempt.join()
    node.start()
    recovered()
    answer = tenant.send(name, events)
    assert answer.status_code in {200, 201}
    head = read.head_of(tenant.casino.pk, name)
    assert head is not None
    assert [seq for seq, _envelope in read.whole(head.stream_id)] == [1, 2, 3, 4]
    assert whole().faults == []


@pytest.mark.parametrize("index", [0, 1])
def test_a_node_killed_while_a_sandbox_is_emptied_leaves_it_as_it_was_or_empty(index: int) -> None:
    sandbox = Tenant(tables=("C1",), is_sandbox=True)
    streams = [recorded(sandbox) for _ in range(6)]
    node = Node(citus.nodes()[index])
    node.hold_commits()
    attempt = attempted(lambda: sandboxes.empty(sandbox.casino))
    until(lambda: prepared() > 0)
    node.wait_until_held()
    node.kill()
    attempt.join()
    node.start()
    recovered()
    there = {len(events_of(stream_id)) for stream_id in streams}
    assert there in ({10}, {0})
    for each in citus.nodes():
        with superuser_at(each) as superuser:
            superuser.execute("set citus.enable_local_execution = off")
            assert superuser.execute("select count(*) from log_node.emptying").fetchone() == (0,)
    if there == {10}:
        assert sandboxes.empty(sandbox.casino).streams == 6
    assert all(events_of(stream_id) == [] for stream_id in streams)
    assert whole().faults == []


def events_of(stream_id: int) -> list[int]:
    return [seq for seq, _envelope in read.whole(stream_id)]


def leaves() -> int:
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from log.leaf")
        [count] = cursor.fetchone()
    return int(count)
