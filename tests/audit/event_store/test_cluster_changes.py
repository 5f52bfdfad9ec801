"""What becomes of a log on a Citus cluster later: a migration, a worker that goes and one that comes, its shards moved.

The worker that goes is the last: it is drained and removed, its database is dropped, and it comes back as a new one.
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from audit.access import applied_roles
from audit.access.database_roles import OWNER
from audit.event_store import cluster, read
from tests import citus
from tests.audit.event_store.test_cluster import faults_of, recorded, shard, superuser_at
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = [citus.ON_A_CLUSTER, pytest.mark.django_db(transaction=True)]

CHANGED = "-- as a later migration has it"


def test_a_later_migration_that_makes_a_function_of_the_log_anew_reaches_every_node(tenant: Tenant) -> None:
    with superuser_at(citus.COORDINATOR) as coordinator:
        for function in ("append", "hold", "seal", "open_stream"):
            _make_anew(coordinator, function)
    _migrate()
    _migrate()
    stream_id = recorded(tenant)
    seal()
    assert faults_of(stream_id) == []
    assert cluster.unprotected() == []
    assert [*applied_roles.excessive(), *applied_roles.missing(), *applied_roles.misowned()] == []
    with connection.cursor() as cursor:  # a month is archived after a migrate, too
        cursor.execute("select has_function_privilege(%s, 'log.swap_month(date, bigint, bigint)', 'execute')", (OWNER,))
        assert cursor.fetchone() == (True,)
    for node in citus.nodes():
        with superuser_at(node) as there:
            [wrapped] = _source(there, "log.append")
            assert "log_node.append" in wrapped
            [behind] = _source(there, "log_node.append")
            assert behind.count(CHANGED) == 1, node


def _make_anew(coordinator: psycopg.Connection[object], function: str) -> None:
    """Make a function as its migration did, with a comment in its body."""
    [definition] = [
        str(text)
        for (text,) in coordinator.execute(
            "select pg_get_functiondef(p.oid) from pg_proc p"
            " where p.pronamespace = 'log_node'::regnamespace and p.proname = %s",
            (function,),
        ).fetchall()
    ]
    anew = definition.replace(CHANGED, "").replace(f"log_node.{function}(", f"log.{function}(", 1)
    with coordinator.transaction():
        coordinator.execute("insert into log_guard.maintenance (reason) values ('a migration of the tests')")
        coordinator.execute(anew.replace("\nbegin\n", f"\nbegin\n  {CHANGED}\n", 1))


def _source(node: psycopg.Connection[object], function: str) -> list[str]:
    schema, name = function.split(".")
    return [
        str(text)
        for (text,) in node.execute(
            "select prosrc from pg_proc where pronamespace = %s::regnamespace and proname = %s", (schema, name)
        ).fetchall()
    ]


def _migrate() -> None:
    citus.manage(citus.ROOT, citus.database_of(citus.COORDINATOR, connection.settings_dict["NAME"]), "migrate")


def test_a_worker_leaves_and_one_that_was_never_there_takes_its_place(tenant: Tenant) -> None:
    before = [recorded(tenant) for _ in range(4)]
    seal()
    node = citus.nodes()[-1]
    at, name = urlsplit(node), connection.settings_dict["NAME"]
    with superuser_at(citus.COORDINATOR) as coordinator:
        drain(coordinator, node)
        during = recorded(tenant)
        replace(coordinator, node)
        assert any(f":{at.port}" in each for each, _what in cluster.unprotected())
        printed = citus.manage(citus.ROOT, citus.database_of(citus.COORDINATOR, name), "distribute")
        assert "distributed already" in printed
        assert cluster.unprotected() == []
        rebalance(coordinator, node)
    after = recorded(tenant)
    seal()
    assert cluster.unprotected() == []
    for stream_id in (*before, during, after):
        assert [seq for seq, _envelope in read.whole(stream_id)] == list(range(1, 11))
        assert faults_of(stream_id) == []
    ports = {shard("event", stream_id)[2] for stream_id in (recorded(tenant) for _ in range(12))}
    assert at.port in ports


def drain(coordinator: psycopg.Connection[object], node: str) -> None:
    """Move all shards away from a worker."""
    at = urlsplit(node)
    _move_shards(coordinator, f"select citus_drain_node('{at.hostname}', {at.port}, 'block_writes')")
    assert f":{at.port}" not in _placed(coordinator)


def replace(coordinator: psycopg.Connection[object], node: str) -> None:
    """Take a worker that was drained out of the cluster, and add one there in which nothing is."""
    at = urlsplit(node)
    coordinator.execute("select citus_remove_node(%s, %s)", (at.hostname, at.port))
    try:
        citus.new_empty_database(connection.settings_dict["NAME"], node)
    finally:
        coordinator.execute("select citus_add_node(%s, %s)", (at.hostname, at.port))


def rebalance(coordinator: psycopg.Connection[object], node: str) -> None:
    """Have a new worker take its shards."""
    coordinator.execute("select log_node.allow_moves(true)")
    try:
        coordinator.execute("select citus_rebalance_start(shard_transfer_mode => 'block_writes')")
        _until_balanced(coordinator)
    finally:
        coordinator.execute("select log_node.allow_moves(false)")
    assert f":{urlsplit(node).port}" in _placed(coordinator)


def _move_shards(coordinator: psycopg.Connection[object], statement: str) -> None:
    coordinator.execute("select log_node.allow_moves(true)")
    try:
        coordinator.execute(statement)
    finally:
        coordinator.execute("select log_node.allow_moves(false)")


def _placed(coordinator: psycopg.Connection[object]) -> str:
    """Return the nodes that have shards of events."""
    return " ".join(
        str(node)
        for (node,) in coordinator.execute(
            "select distinct nodename || ':' || nodeport from citus_shards where table_name = 'log.event'::regclass"
        ).fetchall()
    )


def _until_balanced(coordinator: psycopg.Connection[object]) -> None:
    deadline = time.monotonic() + 300
    while True:
        [(state, details)] = coordinator.execute(
            "select state::text, details::text from citus_rebalance_status() order by job_id desc limit 1"
        ).fetchall()
        if state == "finished":
            return
        assert state in {"scheduled", "running"}, details
        assert time.monotonic() < deadline, details
        time.sleep(0.2)
