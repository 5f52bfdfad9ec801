"""The nodes of a cluster whose data folders are on this machine: held while they commit, killed, started again."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import Error, connection, connections

from tests import citus


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

    def let_commits_go(self) -> None:
        """Have commits wait no more, also those that do."""
        with psycopg.connect(self.address, autocommit=True) as superuser:
            superuser.execute("alter system reset synchronous_standby_names")
            superuser.execute("select pg_reload_conf()")

    @contextmanager
    def down(self) -> Iterator[None]:
        """Have the node killed in this block, and start it again after it."""
        self.kill()
        try:
            yield
        finally:
            self.start()

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
