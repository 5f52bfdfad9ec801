"""The log on a Citus cluster, as ``manage.py distribute`` leaves it: what is where, who is refused, what moves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from audit import monitoring
from audit.access import sandboxes
from audit.event_store import cluster, read
from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome
from audit.transparency.verify import verify
from tests import citus
from tests.audit.event_store.cluster_nodes import Node
from tests.audit.sessions import opener, unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.roles import ACCOUNTS, acting_as, signed_in_as

pytestmark = [citus.ON_A_CLUSTER, pytest.mark.django_db(transaction=True)]

COLOCATED = ("event", "batch", "stream_head", "outbox")
APPEND_ONLY, OUTSIDE_MAINTENANCE = "ES001", "ES002"


@contextmanager
def superuser_at(node: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the tests' database on a node, as somebody who wants to change a shard there."""
    address = citus.database_of(node, connection.settings_dict["NAME"])
    with psycopg.connect(address, autocommit=True) as superuser:
        superuser.execute("set citus.enable_manual_changes_to_shards = on")
        superuser.execute("set citus.override_table_visibility = off")
        yield superuser


def recorded(tenant: Tenant, *, batches: int = 2) -> int:
    """Record a session in batches of five. Return its stream's id."""
    name = unique_name()
    events = tenant.session(name, 5 * batches)
    for first in range(0, 5 * batches, 5):
        assert tenant.send(name, events[first : first + 5]).status_code == 201
    head = read.head_of(tenant.casino.pk, name)
    assert head is not None
    return head.stream_id


def shard(table: str, stream_id: int) -> tuple[str, str, int]:
    """Return the shard of a table that has a stream: its name, and host and port of its worker."""
    with superuser_at(citus.COORDINATOR) as coordinator:
        [found] = coordinator.execute(
            "select 'log.' || %s || '_' || s.id, p.nodename, p.nodeport"
            " from (select get_shard_id_for_distribution_column(%s::regclass, %s) as id) s"
            " join pg_dist_shard_placement p on p.shardid = s.id",
            (table, f"log.{table}", stream_id),
        ).fetchall()
    name, host, port = found
    return str(name), str(host), int(port)


@contextmanager
def worker_of(stream_id: int) -> Iterator[psycopg.Connection[Any]]:
    _name, _host, port = shard("event", stream_id)
    [node] = [each for each in citus.nodes() if f":{port}/" in each]
    with superuser_at(node) as worker:
        yield worker


def faults_of(stream_id: int) -> list[str]:
    return [fault.what for fault in verified(stream_id).faults]


def verified(stream_id: int) -> Outcome:
    return verify(signing_keys.verifiers("checkpoint"), streams=[stream_id], with_tree=False)


def refused(worker: psycopg.Connection[Any], statement: str) -> str | None:
    """Run a statement and roll it back. Return the SQLSTATE that it was refused with, None if it was not."""
    try:
        with worker.transaction(force_rollback=True):
            worker.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate
    return None


def test_a_stream_is_whole_on_one_worker(tenant: Tenant) -> None:
    for _ in range(3):
        stream_id = recorded(tenant)
        placed = {shard(table, stream_id)[1:] for table in COLOCATED}
        assert len(placed) == 1
        assert len(list(read.whole(stream_id))) == 10


def test_every_node_takes_an_append_and_none_takes_it_twice(tenant: Tenant) -> None:
    citus.leaves_damage()  # what is appended here are no events
    name = unique_name()
    events = tenant.session(name, 3)
    assert tenant.send(name, events).status_code == 201
    append = (
        "select appended from log.append_named(%s, %s, null, %s, %s, sha256('x'), 0, %s::bigint[],"
        " array[now()], array['{}'])"
    )
    for turn, node in enumerate(citus.nodes()):
        with superuser_at(node) as there:
            there.execute("set role cabochon_web")
            seq = 4 + turn
            parameters = (tenant.casino.pk, name, seq, seq + 1, [seq])
            assert there.execute(append, parameters).fetchone() == (True,)
            assert there.execute(append, parameters).fetchone() == (False,)
    head = read.head_of(tenant.casino.pk, name)
    assert head is not None
    assert head.next_seq == 4 + len(citus.nodes())


def test_a_worker_refuses_every_change_of_a_shard(tenant: Tenant) -> None:
    stream_id = recorded(tenant)
    [month] = [name for (name,) in _partitions(stream_id)]
    with worker_of(stream_id) as worker:
        for table in (month, month.replace("event", "batch"), "stream_head"):
            name = shard(table, stream_id)[0]
            row = f"where stream_id = {stream_id}"
            changed = "next_seq = next_seq - 1" if table == "stream_head" else "stream_id = stream_id"
            assert refused(worker, f"update {name} set {changed} {row}") == APPEND_ONLY, name
            assert refused(worker, f"delete from {name} {row}") == APPEND_ONLY, name
            assert refused(worker, f"truncate {name}") == APPEND_ONLY, name
            assert refused(worker, f"alter table {name} disable trigger all") == OUTSIDE_MAINTENANCE, name
            assert refused(worker, f"drop table {name}") == OUTSIDE_MAINTENANCE, name
            worker.execute("set session_replication_role = replica")
            assert refused(worker, f"delete from {name} {row}") == APPEND_ONLY, name
            worker.execute("reset session_replication_role")


def _partitions(stream_id: int) -> list[tuple[str]]:
    with superuser_at(citus.COORDINATOR) as coordinator:
        return coordinator.execute(
            "select 'event' || to_char(gaming_day, '_YYYYMM') from log.stream where stream_id = %s", (stream_id,)
        ).fetchall()


def test_what_is_changed_on_a_worker_is_found(tenant: Tenant) -> None:
    stream_id = recorded(tenant)
    assert faults_of(stream_id) == []
    [month] = [name for (name,) in _partitions(stream_id)]
    name = shard(month, stream_id)[0]
    with worker_of(stream_id) as worker:
        change = "update {} set envelope = replace(envelope::text, '{}', '{}')::json where stream_id = {} and seq = 3"
        for was, becomes in (("wager.placed", "wager.forged"), ("wager.forged", "wager.placed")):
            with worker.transaction():
                worker.execute("insert into log_guard.maintenance (reason) values ('an attack of the tests')")
                worker.execute(f"alter table {name} disable trigger user")
                assert worker.execute(change.format(name, was, becomes, stream_id)).rowcount == 1
                for (trigger,) in worker.execute(
                    "select tgname from pg_trigger where tgrelid = %s::regclass and not tgisinternal", (name,)
                ).fetchall():
                    worker.execute(f'alter table {name} enable always trigger "{trigger}"')
            found = faults_of(stream_id)
            assert any("root differs" in what for what in found) == (becomes == "wager.forged")
    assert cluster.unprotected() == []


def test_a_shard_without_its_trigger_is_named(tenant: Tenant) -> None:
    stream_id = recorded(tenant)
    [month] = [name for (name,) in _partitions(stream_id)]
    name = shard(month, stream_id)[0]
    with worker_of(stream_id) as worker:
        [trigger] = [
            trigger
            for (trigger,) in worker.execute(
                "select tgname from pg_trigger where tgrelid = %s::regclass and tgname like 'no_truncate%%'", (name,)
            ).fetchall()
        ]
        for firing in ("disable", "enable always"):
            with worker.transaction():
                worker.execute("insert into log_guard.maintenance (reason) values ('a trigger of the tests')")
                worker.execute(f'alter table {name} {firing} trigger "{trigger}"')
            named = " ".join(what for _node, what in cluster.unprotected())
            assert (name.removeprefix("log.") in named) == (firing == "disable")


def test_a_month_that_opens_later_is_protected_on_every_shard(tenant: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select log.open_stream(%s, null, %s, '2031-05-07', null, null, 'EUR')", (tenant.casino.pk, unique_name())
        )
        cursor.execute("select count(*) from pg_dist_shard where logicalrelid = 'log.event_203105'::regclass")
        assert cursor.fetchone() == (32,)
    assert cluster.unprotected() == []


def test_two_that_open_one_stream_at_once_open_it_once(tenant: Tenant) -> None:
    name = unique_name()
    events = tenant.session(name, 3)
    statuses: list[int] = []

    def send() -> None:
        statuses.append(tenant.send(name, events).status_code)
        connections.close_all()

    _at_once(*[send] * 4)
    assert sorted(statuses) == [200, 200, 200, 201]


def test_a_shard_that_moves_while_its_table_reports_loses_nothing(tenant: Tenant) -> None:
    name = unique_name()
    events = tenant.session(name, 60)
    assert tenant.send(name, events[:1]).status_code == 201
    head = read.head_of(tenant.casino.pk, name)
    assert head is not None
    _table, host, port = shard("event", head.stream_id)
    [(to_host, to_port)] = [
        (host, int(node.rpartition(":")[2].partition("/")[0])) for node in citus.nodes()[1:] if f":{port}/" not in node
    ][:1]

    def move() -> None:
        with superuser_at(citus.COORDINATOR) as coordinator:
            cluster_moves(coordinator, head.stream_id, (host, port), (to_host, to_port))

    mover = threading.Thread(target=move)
    mover.start()
    for event in events[1:]:
        while tenant.send(name, [event]).status_code not in {200, 201}:
            continue
    mover.join()
    assert shard("event", head.stream_id)[1:] == (to_host, to_port)
    assert [seq for seq, _envelope in read.whole(head.stream_id)] == list(range(1, 61))
    assert faults_of(head.stream_id) == []
    assert cluster.unprotected() == []
    seal()


def cluster_moves(
    coordinator: psycopg.Connection[Any], stream_id: int, source: tuple[str, int], target: tuple[str, int]
) -> None:
    """Move the shards of a stream to another worker, as docs/scaling.md says."""
    coordinator.execute("select log_node.allow_moves(true)")
    try:
        coordinator.execute(
            "select citus_move_shard_placement(get_shard_id_for_distribution_column('log.event', %s), %s, %s, %s, %s,"
            " shard_transfer_mode => 'block_writes')",
            (stream_id, *source, *target),
        )
    finally:
        coordinator.execute("select log_node.allow_moves(false)")


def test_a_sandbox_is_emptied_on_every_node_and_no_shard_deletes_a_row_otherwise() -> None:
    sandbox, other = (Tenant(tables=("C1",), is_sandbox=True) for _ in range(2))
    streams = [recorded(sandbox) for _ in range(6)]
    left = recorded(other)
    _refuses_to_delete(left, streams[0])
    emptied = sandboxes.empty(sandbox.casino, reason="the next try")
    assert (emptied.streams, emptied.events) == (6, 60)
    for node in citus.nodes():
        with superuser_at(node) as there:
            there.execute("set citus.enable_local_execution = off")
            for table in (*COLOCATED, "stream"):
                counted = there.execute(f"select count(*) from log.{table} where stream_id = any (%s)", (streams,))
                assert counted.fetchone() == (0,), (table, node)
            assert there.execute("select count(*) from log_node.emptying").fetchone() == (0,)
    assert len(list(read.whole(left))) == 10
    _refuses_to_delete(left)
    again = recorded(sandbox)
    assert again not in streams
    assert cluster.unprotected() == []


def _refuses_to_delete(*stream_ids: int) -> None:
    """Whoever deletes on a worker what is in the space of sandboxes, and is not being emptied, is refused."""
    for stream_id in stream_ids:
        with worker_of(stream_id) as worker:
            for table in ("event_sandbox", "batch_sandbox", "stream_head"):
                name = shard(table, stream_id)[0]
                assert refused(worker, f"delete from {name} where stream_id = {stream_id}") == APPEND_ONLY, name
                assert refused(worker, f"truncate {name}") == APPEND_ONLY, name


def test_no_process_has_a_privilege_on_a_node_that_it_has_not_on_the_coordinator(tenant: Tenant) -> None:
    """On tables and shards none but to read; of functions those of the coordinator, or fewer."""
    recorded(tenant)
    allowed = {node: _functions_of_processes(node) for node in citus.nodes()}
    for node in citus.nodes():
        assert allowed[node] <= allowed[citus.COORDINATOR], node
        with superuser_at(node) as there:
            found = there.execute(
                "select r.rolname, c.oid::regclass::text, p from pg_class c, pg_roles r,"
                " unnest(array['insert', 'update', 'delete', 'truncate', 'trigger']) p"
                " where c.relnamespace in ('log'::regnamespace, 'log_node'::regnamespace) and c.relkind in ('r', 'p')"
                " and r.rolname = any (%s) and has_table_privilege(r.oid, c.oid, p)",
                (list(ACCOUNTS),),
            ).fetchall()
        assert found == [], node


def _functions_of_processes(node: str) -> set[tuple[str, str]]:
    with superuser_at(node) as there:
        return set(
            there.execute(
                "select r.rolname, p.oid::regprocedure::text from pg_proc p, pg_roles r"
                " where p.pronamespace in ('log'::regnamespace, 'log_node'::regnamespace) and r.rolname = any (%s)"
                " and has_schema_privilege(r.oid, p.pronamespace, 'usage')"
                " and has_function_privilege(r.oid, p.oid, 'execute')",
                (list(ACCOUNTS),),
            ).fetchall()
        )


@pytest.mark.parametrize("account", ACCOUNTS)
def test_no_process_writes_to_a_shard(tenant: Tenant, account: str) -> None:
    """By its own account, on the worker that has the shard, and on the others."""
    stream_id = recorded(tenant)
    [month] = [name for (name,) in _partitions(stream_id)]
    shards = [shard(table, stream_id)[0] for table in (month, month.replace("event", "batch"), "stream_head", "outbox")]
    own = citus.database_of(citus.COORDINATOR, connection.settings_dict["NAME"])
    with psycopg.connect(own) as superuser:
        tables = [*COLOCATED, "stream", "key", "clock", "leaf", "checkpoint"]
        for (name,) in superuser.execute(
            "select shard_name from citus_shards where citus_table_type = 'reference' and table_name::text ~ '^log'"
        ).fetchall():
            shards.append(name)
    for node in citus.nodes():
        at = signed_in_as(account, citus.database_of(node, connection.settings_dict["NAME"]))
        with psycopg.connect(at, autocommit=True) as process:
            process.execute("set citus.enable_manual_changes_to_shards = on")
            process.execute("set citus.override_table_visibility = off")
            process.execute("set application_name = 'citus_internal gpid=10000000001'")
            for table in (*shards, *(f"log.{table}" for table in tables)):
                for change in (
                    f"update {table} set {_column_of(table)} = {_column_of(table)}",
                    f"delete from {table}",
                    f"truncate {table} cascade",
                    f"insert into {table} select * from {table}",
                    f"alter table {table} disable trigger all",
                    f"drop table {table} cascade",
                ):
                    # No such table: this node has other shards.
                    assert refused(process, change) in {"42501", "42P01"}, (change, node)


def _column_of(table: str) -> str:
    others = {"clock": "received_at", "key": "public_key", "checkpoint": "size", "leaf": "hash"}
    return next((column for name, column in others.items() if f".{name}" in table), "stream_id")


def test_what_monitoring_says_of_a_cluster_is_what_was_sent(tenant: Tenant) -> None:
    casino = [tenant.casino.pk]
    recorded(tenant)
    name = unique_name()
    assert tenant.send(name, [opener(name, casino=tenant.code, gaming_day="1999-12-31")]).status_code == 201
    with acting_as("cabochon_web"):
        months = [(month.first, month.events) for month in monitoring.months(casino, limit=5)]
        assert months == [(date(1999, 12, 1), 1), (date(2026, 11, 1), 10)]
        assert [month.first for month in monitoring.months(casino, limit=1)] == [date(2026, 11, 1)]
        assert monitoring.months([-1], limit=5) == []
        assert (monitoring.dirty(casino).count, monitoring.unsealed(casino).count) == (2, 3)
        assert {each.stream for each in monitoring.behind(casino, limit=5)} > {name}
        assert monitoring.tables(casino)[0].casino_id == tenant.casino.pk
        assert monitoring.months(limit=2) != []
        assert monitoring.refused() == []
    seal()
    checkpoint = monitoring.last_checkpoint()
    assert checkpoint is not None
    assert monitoring.unsealed(casino).count == 0


@pytest.mark.parametrize("index", [1, 2])
def test_while_a_worker_is_down_no_sandbox_is_emptied(index: int) -> None:
    sandbox = Tenant(tables=("C1",), is_sandbox=True)
    streams = [recorded(sandbox) for _ in range(4)]
    with Node(citus.nodes()[index]).down():
        connections.close_all()
        with pytest.raises(CommandError, match="it deletes all or nothing"):
            call_command("sandbox", "--empty", sandbox.code)
    connections.close_all()
    for stream_id in streams:
        assert len(list(read.whole(stream_id))) == 10
    _refuses_to_delete(*streams)
    emptied = sandboxes.empty(sandbox.casino, reason="the worker is back")
    assert (emptied.streams, emptied.events) == (4, 40)


def _at_once(*calls: Any) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
