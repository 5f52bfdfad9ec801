"""A process is given any node of a cluster: whom it follows, and what it says where that leads nowhere.

``test_cluster_nodes.py`` does it on a cluster. Here a PostgreSQL without Citus has, in a database of its own, tables
with the names of Citus' metadata: the second time that it is asked, it is the coordinator.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import InternalError, OperationalError, connection, connections, transaction
from psycopg.conninfo import conninfo_to_dict
from pytest_django import DjangoDbBlocker

from audit.event_store import binary_copy
from audit.event_store.any_node import base
from audit.event_store.any_node.base import NEAR, DatabaseWrapper, NoCoordinator, coordinator_to_follow
from audit.transparency import deployment_checks

ELSEWHERE = "192.0.2.7"


@pytest.mark.parametrize("reached", ["", "127.0.0.1", "::1", ELSEWHERE])
def test_a_node_that_is_no_worker_is_followed_nowhere(reached: str) -> None:
    assert coordinator_to_follow(None, reached=reached) is None


@pytest.mark.parametrize(
    ("host", "reached"),
    [
        ("coordinator.example", ELSEWHERE),
        ("coordinator.example", ""),
        ("192.0.2.1", "127.0.0.1"),
        ("localhost", ""),
        ("localhost", "127.0.0.1"),
        ("127.0.0.1", "::1"),
    ],
)
def test_a_worker_is_followed_to_its_coordinator(host: str, reached: str) -> None:
    assert coordinator_to_follow((host, 5433), reached=reached) == (host, 5433)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.1.1", "::1"])
def test_a_coordinator_that_only_its_own_machine_reaches_is_not_looked_for_here(host: str) -> None:
    with pytest.raises(NoCoordinator, match=rf"has {host} as the coordinator's host.* citus_set_coordinator_host"):
        coordinator_to_follow((host, 5432), reached=ELSEWHERE)


def test_a_worker_without_a_coordinator_says_so() -> None:
    with pytest.raises(NoCoordinator, match=r"has no coordinator\..* citus_set_coordinator_host"):
        coordinator_to_follow((None, None), reached=ELSEWHERE)


def at(url: str) -> dict[str, Any]:
    """Return an address as psycopg takes it, whose host may be percent-encoded."""
    return conninfo_to_dict(url)


Given = Callable[[str], AbstractContextManager[DatabaseWrapper]]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, django_db_blocker: DjangoDbBlocker) -> Iterator[Given]:
    """What makes Django's connection of a process that was given an address."""
    monkeypatch.setattr(base, "_has_citus", {})
    with django_db_blocker.unblock():
        yield connection_to


@contextmanager
def connection_to(url: str) -> Iterator[DatabaseWrapper]:
    parts = at(url)
    address = {"HOST": parts.get("host", ""), "PORT": parts.get("port", ""), "NAME": parts["dbname"],
               "USER": parts["user"], "PASSWORD": parts.get("password", "")}  # fmt: skip
    wrapper = DatabaseWrapper({**connection.settings_dict, **address}, "default")
    try:
        yield wrapper
    finally:
        wrapper.close()


_METADATA = """
set allow_system_table_mods = on;
create sequence public.turns;
create view pg_catalog.pg_dist_local_group as select {groupid} as groupid;
create table pg_catalog.pg_dist_node (groupid int, noderole text, nodename text, nodeport int);
grant select on pg_catalog.pg_dist_node, pg_catalog.pg_dist_local_group to public;
"""
_AT_FIRST_A_WORKER = "(nextval('public.turns') % 2)::int"


def name_coordinator(url: str, host: str, port: int, *, groupid: str = _AT_FIRST_A_WORKER) -> None:
    """Give a database the metadata of a worker whose coordinator is at an address."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(_METADATA.replace("{groupid}", groupid))
        server.execute("insert into pg_catalog.pg_dist_node values (0, 'primary', %s, %s)", (host, port))


def test_one_server_is_asked_once_by_a_process_and_has_no_other_node_nearby(
    empty_url: str, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    ask = psycopg.Connection.execute

    def counted(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        queries.append(query)
        return ask(self, query, *args, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", counted)
    with given(empty_url) as wrapper:
        for _ in range(3):
            wrapper.connect()
            assert wrapper.nearby() is wrapper
            wrapper.close()
    assert len(queries) == 1


def test_whoever_is_given_a_worker_is_connected_to_the_coordinator_and_keeps_the_worker_nearby(
    empty_url: str, given: Given
) -> None:
    parts = at(empty_url)
    name_coordinator(empty_url, parts["host"], int(parts["port"]))
    with given(empty_url) as wrapper:
        near = wrapper.nearby()
        assert near is not wrapper
        near.ensure_connection()
        pids = {each.connection.info.backend_pid for each in (wrapper, near)}
        assert len(pids) == 2, "two connections: no third was opened to ask"
        assert {each.connection.info.user for each in (wrapper, near)} == {parts["user"]}
        for each in (wrapper, near):
            assert each.connection.autocommit
            with each.cursor() as cursor:
                cursor.execute("select 1")
        wrapper.close()
        assert near.connection is None
        with near.cursor() as cursor:  # opened anew by itself, to the node that was given
            cursor.execute("select pg_backend_pid()")
            assert cursor.fetchone()[0] not in pids


def test_a_coordinator_that_has_moved_is_found_by_the_next_connection(empty_url: str, given: Given) -> None:
    parts = at(empty_url)
    name_coordinator(empty_url, parts["host"], int(parts["port"]))
    with given(empty_url) as wrapper:
        wrapper.connect()
        wrapper.close()
        with psycopg.connect(empty_url, autocommit=True) as server:
            server.execute("set allow_system_table_mods = on")
            server.execute("update pg_catalog.pg_dist_node set nodename = '127.0.0.1', nodeport = 1")
        with pytest.raises(OperationalError, match=r"127\.0\.0\.1:1"):
            wrapper.ensure_connection()


def _no_host(url: str) -> tuple[str, int, str]:
    return "", 0, "has no coordinator"


def _refused(url: str) -> tuple[str, int, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return "127.0.0.1", port, rf"coordinator 127\.0\.0\.1:{port} cannot be connected to: .*refused"


def _another(url: str) -> tuple[str, int, str]:
    return at(url)["host"], int(at(url)["port"]), "as the coordinator, which it is not"


@pytest.mark.parametrize("names", [_no_host, _refused, _another])
def test_a_worker_that_leads_nowhere_says_where_it_led(
    empty_url: str, given: Given, names: Callable[[str], tuple[str, int, str]]
) -> None:
    host, port, says = names(empty_url)
    name_coordinator(empty_url, host, port, groupid="1")
    with given(empty_url) as wrapper:
        with pytest.raises(NoCoordinator, match=says):
            wrapper.ensure_connection()
        assert wrapper.connection is None


@pytest.mark.django_db
def test_in_a_transaction_the_node_nearby_is_the_connection_itself() -> None:
    with transaction.atomic():
        assert binary_copy.nearest() is connection
        assert binary_copy.nearest(reads_committed=True) is connections["default"]


@pytest.mark.django_db
def test_a_node_nearby_of_another_database_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(deployment_checks._nearby()) == []
    monkeypatch.setitem(settings.DATABASES, NEAR, {**connection.settings_dict, "NAME": "postgres"})
    connections[NEAR].connect()  # Django's test cases refuse one that is not connected yet
    try:
        [found] = deployment_checks._nearby()
    finally:
        connections[NEAR].close()
        del connections[NEAR]
    assert found.id == "audit.E010"
    assert "no node of the cluster" in found.msg


# libpq's own words, which Citus repeats as those of an internal error of the node that was asked.
_DIED = (
    "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally",
    "could not receive data from server: Connection reset by peer",
    "could not send data to server: Broken pipe",
    "no connection to the server",
    "connection not open",
)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("message", "raised"),
    [*((each, OperationalError) for each in _DIED), ("cache lookup failed for relation 1", InternalError)],
)
def test_a_worker_that_dies_at_work_is_a_database_that_is_down(message: str, raised: type[Exception]) -> None:
    refusal = f"do $$ begin raise exception using message = {message!r}, errcode = 'XX000'; end $$"
    with pytest.raises(raised) as failure, connection.cursor() as cursor:
        cursor.execute(refusal.replace("= '", "= e'", 1))
    assert binary_copy.message_of(failure.value) == message
