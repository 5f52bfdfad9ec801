"""A node of a Citus cluster is killed between PREPARE TRANSACTION and COMMIT PREPARED: nothing is lost or doubled.

A node that waits for a standby which does not exist holds what it commits after it has written it: there it is killed.
Only where the nodes' data folders are on this machine, and the tests may start them again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import Error, connection, connections

from audit.event_store import read
from audit.transparency.outcome import Outcome
from tests import citus
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, verified

pytestmark = [citus.ON_A_CLUSTER, pytest.mark.django_db(transaction=True)]


class Node:
    """A node whose data folder is here."""

    def __init__(self, address: str) -> None:
        self.address = address
        found = self.ask("select setting from pg_settings where name in ('data_directory', 'config_file') order by 1")
        folders = [Path(setting) for (setting,) in found]
        self.data = next(each.parent if each.is_file() else each for each in folders)
        if not (self.data / "postmaster.pid").is_file() or os.getuid() != 0:
            pytest.skip("the nodes' data folders are not on this machine, or the tests may not start servers")

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.address, autocommit=True) as superuser:
            return superuser.execute(statement).fetchall()  # type: ignore[call-overload,no-any-return]

    def hold_commits(self) -> None:
        """Have every commit wait, after it is written, for a standby that does not exist."""
        with psycopg.connect(self.address, autocommit=True) as superuser:
            superuser.execute("alter system set synchronous_standby_names = 'nobody'")
            superuser.execute("select pg_reload_conf()")
        until(lambda: self.ask("show synchronous_standby_names") == [("nobody",)])

    def wait_until_held(self) -> None:
        until(lambda: bool(self.ask("select from pg_stat_activity where wait_event = 'SyncRep'")))

    def kill(self) -> None:
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def start(self) -> None:
        """Start the node again, holding no commits."""
        auto = self.data / "postgresql.auto.conf"
        auto.write_text(
            "".join(line for line in auto.read_text().splitlines(True) if "synchronous_standby" not in line)
        )
        pg_ctl = ["runuser", "-u", "postgres", "--", self._bin() + "/pg_ctl", "-D", str(self.data)]
        until(lambda: subprocess.run([*pg_ctl, "-w", "-l", "/dev/null", "start"], cwd="/", check=False).returncode == 0)
        until(lambda: self.ask("select 1") == [(1,)])

    def _bin(self) -> str:
        return subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            if condition():
                return
        except psycopg.Error:
            pass
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def attempted(call: Callable[[], object]) -> threading.Thread:
    """Do something in a thread of its own, which may fail with the node."""

    def run() -> None:
        try:
            call()
        except (Error, psycopg.Error, AssertionError):
            pass
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def prepared() -> int:
    return sum(Node(node).ask("select count(*) from pg_prepared_xacts")[0][0] for node in citus.nodes())


def recovered() -> None:
    connections.close_all()
    Node(citus.database_of(citus.COORDINATOR, connection.settings_dict["NAME"])).ask(
        "select recover_prepared_transactions()"
    )
    assert prepared() == 0


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


def leaves() -> int:
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from log.leaf")
        [count] = cursor.fetchone()
    return int(count)
