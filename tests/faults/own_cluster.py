"""A Citus cluster of a test's own on this machine: backed up, killed as by a power cut, destroyed, restored.

Of the machine's PostgreSQL, whose ``pg_config`` is in the path, with Citus installed. Its nodes write to the disk as a
deployment's do, and archive their write-ahead log.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from django.db import connection, connections

from casino.embedded.process import own_folder, run
from tests import citus
from tests.faults.servers import until
from tests.roles import ACCOUNT

DATABASE = "cabochon"

_SETTINGS = """
shared_preload_libraries = 'citus'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
max_prepared_transactions = 100
wal_level = logical
archive_mode = on
citus.node_conninfo = 'sslmode=disable'
citus.enable_statistics_collection = off
"""


@cache
def _config(what: str) -> str:
    return subprocess.run(["pg_config", what], capture_output=True, text=True, check=True).stdout.strip()


def skip_without_citus() -> None:
    """Skip the test where the machine's PostgreSQL has no Citus."""
    if shutil.which("pg_config") is None or not (Path(_config("--pkglibdir")) / "citus.so").is_file():
        pytest.skip("the machine's PostgreSQL, if there is one, has no Citus: pg_config, citus.so")


class Node:
    """A node: its data, its base backup and the archive of its write-ahead log are in folders of ``folder``."""

    settings = _SETTINGS

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data, self.base, self.archive = folder / "data", folder / "base", folder / "archive"
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = int(listener.getsockname()[1])

    def make(self) -> None:
        for folder in (self.data, self.archive):
            own_folder(folder, data=self.folder)
        self._tool("initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "-k")
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(f"{self.settings}port = {self.port}\n")
            settings.write(f"archive_command = 'test ! -f {self.archive}/%f && cp %p {self.archive}/%f'\n")
        self.start()

    def start(self) -> None:
        self._tool("pg_ctl", "-D", self.data, "-w", "-t", "100", "-l", self.folder / "server.log", "start")

    def cut_power(self) -> None:
        """End all of its processes at once; what it has written is there."""
        leader = psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))
        everybody = [leader, *leader.children(recursive=True)]
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.suspend()  # nobody tidies up after another
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(everybody, timeout=20)

    def back_up(self) -> None:
        """Take a base backup while it runs, as docs/recovery.md says."""
        self._tool("pg_basebackup", "-d", self.url("postgres"), "-D", self.base, "-c", "fast", "-X", "none")

    def archive_all(self) -> None:
        """Have everything that is written until now in the archive."""
        [(segment,)] = self.ask("select pg_walfile_name(pg_current_wal_lsn())")
        self.ask("select pg_switch_wal()")
        until(lambda: (self.archive / segment).exists(), f"the archive of {segment}")

    def restore(self, point: str) -> None:
        """Restore the base backup and the archived log up to a named restore point, as docs/recovery.md says."""
        shutil.copytree(self.base, self.data, symlinks=True)
        own_folder(self.data, data=self.folder)
        with (self.data / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"restore_command = 'cp {self.archive}/%f %p'\n")
            settings.write(f"recovery_target_name = '{point}'\nrecovery_target_action = 'promote'\n")
        (self.data / "recovery.signal").touch()
        self.start()
        until(lambda: self.ask("select pg_is_in_recovery()") == [(False,)], "the end of the restore")
        for setting in ("restore_command", "recovery_target_name", "recovery_target_action"):
            self.ask(f"alter system reset {setting}")

    def hold_commits(self) -> None:
        """Have every commit and prepare wait, after it is written, for a standby that does not exist."""
        self._set("synchronous_standby_names = 'nobody'")
        until(lambda: self.ask("show synchronous_standby_names") == [("nobody",)], "a node that holds commits")

    def wait_until_held(self) -> None:
        until(lambda: self.ask("select 1 from pg_stat_activity where wait_event = 'SyncRep'"), "a commit that is held")

    def let_commits_go(self) -> None:
        self._set("synchronous_standby_names = ''")
        until(lambda: self.ask("show synchronous_standby_names") == [("",)], "a node that holds no commits")

    def leave_undecided(self) -> None:
        """Have the node decide by itself nothing that was prepared on others when it was killed."""
        self._set("citus.recover_2pc_interval = -1")

    def decide_within_a_second(self) -> None:
        """Have it decide that sooner than within a minute."""
        self._set("citus.recover_2pc_interval = '1s'")

    def prepared(self) -> int:
        [(count,)] = self.ask("select count(*) from pg_prepared_xacts")
        return int(count)

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(), autocommit=True) as superuser:
            cursor = superuser.execute(statement)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str = DATABASE) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def is_running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def _set(self, setting: str) -> None:
        self.ask(f"alter system set {setting}")
        self.ask("select pg_reload_conf()")

    def _tool(self, name: str, *arguments: object) -> None:
        run(Path(_config("--bindir")) / name, *arguments, data=self.folder)


class Cluster:
    """A coordinator and two workers, with a log that is migrated and distributed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.nodes = [Node(folder / name) for name in ("coordinator", "worker1", "worker2")]
        self.coordinator, *self.workers = self.nodes

    def make(self) -> None:
        for node in self.nodes:
            node.folder.mkdir()
            node.make()
        citus.make(DATABASE, [node.url("postgres") for node in self.nodes])
        for command in ("migrate", "distribute"):
            citus.manage(citus.ROOT, self.coordinator.url(), command, "--verbosity", "0")

    def prepared(self) -> int:
        return sum(node.prepared() for node in self.nodes)

    def decide(self) -> None:
        """Commit or roll back what was prepared and not decided, as the coordinator has it."""
        self.coordinator.ask("select recover_prepared_transactions()")
        assert self.prepared() == 0

    def destroy(self) -> None:
        """Lose every node; base backups and archives are elsewhere."""
        for node in self.nodes:
            node.cut_power()
        for node in self.nodes:
            shutil.rmtree(node.data)

    def worker_of(self, stream_id: int) -> Node:
        [(port,)] = self.coordinator.ask(
            "select nodeport from pg_dist_shard_placement"
            f" where shardid = get_shard_id_for_distribution_column('log.stream_head', {stream_id})"
        )
        [worker] = [each for each in self.workers if each.port == port]
        return worker

    @contextmanager
    def with_django(self) -> Iterator[None]:
        """Have Django's connections go to the coordinator, as the account of the tests."""
        here = {"HOST": "127.0.0.1", "PORT": str(self.coordinator.port), "NAME": DATABASE}
        connections.close_all()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**here, "USER": ACCOUNT, "PASSWORD": ACCOUNT}.items():
                patch.setitem(connection.settings_dict, name, value)
            try:
                yield
            finally:
                connections.close_all()

    def end(self) -> None:
        for node in self.nodes:
            if node.is_running():
                node.cut_power()
