"""PostgreSQL servers of a test's own, whose disks, clocks and lives are the test's, with Django on one of them."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from django.db import connection, connections

from casino.embedded.postgres import DATABASE, EmbeddedPostgres, binaries
from casino.embedded.process import own_folder, run
from tests.roles import ACCOUNT

FAKETIME = [
    *Path("/usr/lib").glob("*/faketime/libfaketime.so.1"),
    *Path("/usr/lib").glob("faketime/libfaketime.so.1"),
]


class Server(EmbeddedPostgres):
    """A server on a copy of a migrated cluster. ``environment`` is what its processes have in addition."""

    def start_with(self, environment: Mapping[str, str]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            self.start()

    def kill(self) -> None:
        """End all of its processes at once, as a power cut does."""
        leader = psutil.Process(int((self.cluster / "postmaster.pid").read_text().split()[0]))
        everybody = [leader, *leader.children(recursive=True)]
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.suspend()  # nobody tidies up after another
        for process in everybody:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(everybody, timeout=20)

    def superuser(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(), autocommit=True)

    @contextmanager
    def with_django(self) -> Iterator[None]:
        """Have Django's connections go to this server, as the account of the tests."""
        here = {
            "HOST": str(self.sockets),
            "PORT": "5432",
            "NAME": DATABASE,
            "USER": ACCOUNT,
            "PASSWORD": ACCOUNT,
        }
        connections.close_all()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in here.items():
                patch.setitem(connection.settings_dict, name, value)
            try:
                yield
            finally:
                connections.close_all()


def copy_of(migrated: Path, data: Path) -> Server:
    """Return a server, not yet running, on a copy of a cluster that is stopped."""
    shutil.copytree(migrated, data, symlinks=True, dirs_exist_ok=True)
    for name in ("postmaster.pid", "postmaster.opts"):
        (data / "postgres" / name).unlink(missing_ok=True)
    own_folder(data / "postgres", data=data)
    return Server(data)


def replica_of(primary: Server, data: Path) -> Server:
    """Return a running server that follows another by streaming."""
    data.mkdir()
    replica = Server(data)
    shutil.copytree(primary.data / "passwords", data / "passwords")
    own_folder(replica.cluster, data=data)
    own_folder(replica.sockets, data=data)
    address = f"host={primary.sockets} user=cabochon password={primary.account('migrate')[1]} application_name=replica"
    run(
        binaries() / "pg_basebackup",
        "-D",
        replica.cluster,
        "-R",
        "-X",
        "stream",
        "-c",
        "fast",
        "-d",
        address,
        data=data,
    )
    start_replica(replica)
    return replica


def start_replica(replica: Server) -> None:
    options = f"-c listen_addresses='' -c unix_socket_directories='{replica.sockets}'"
    log = replica.cluster / "server.log"
    run(binaries() / "pg_ctl", "-D", replica.cluster, "-w", "-l", log, "-o", options, "start", data=replica.data)


def promote(replica: Server) -> None:
    run(binaries() / "pg_ctl", "-D", replica.cluster, "-w", "promote", data=replica.data)


def faulty_disk(folder: Path) -> Path:
    """Compile ``faulty_disk.c``, which is loaded into a server by LD_PRELOAD. Skip the test if there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: cc")
    library = folder / "faulty_disk.so"
    source = Path(__file__).with_name("faulty_disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def until(condition: Any, what: str, timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)
