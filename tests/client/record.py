"""A record of its own for the tests of the client: web server and, if wanted, sequencer, on their own database."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, until
from tests.databases import address_of, new_database, once_a_run, server_url
from tests.roles import ACCOUNT, signed_in_as

ROOT = Path(__file__).parents[2]
CASINO, TABLES = "harbour", 50
SANDBOX = "harbour-sandbox"

KEYS = "api-keys"
"""In a record's data: the keys of the casino, and those of the sandbox."""

MAKE_KEYS = f"""
import django
django.setup()
from django.core.management import call_command
call_command("logkey", "--make", "--quiet")
def key(*words):
    call_command("createkey", "--no-expiry", *words)
key("--casino", "{CASINO}", *(word for number in range({TABLES}) for word in ("--register", f"T{{number}}")))
key("--casino", "{CASINO}")
key("--casino", "{CASINO}", "--scope", "streams:read")
for of in (("--table", "T1"), ("--table", "T1"), ("--register", "C1")):
    key("--sandbox", "--casino", "{SANDBOX}", *of)
"""
"""The program that makes them, and the keys of the log, in one process. It prints them in the order of ``Record``."""

STORED = """
select e.seq, e.envelope::text from log.event e join log.stream s using (stream_id) where s.name = %s order by e.seq
"""
BATCHES = """
select b.first_seq from log.batch b join log.stream s using (stream_id) where s.name = %s
order by b.received_at, b.first_seq
"""


@dataclass
class Record:
    """A web server at ``url`` on ``data`` and a database, a key for every table, another one that may be revoked, one
    that only reads, and those of a sandbox: two of its table T1, and one of that and of C1, at which simulated nights
    of craps are played.

    ``database`` is the database's address for a superuser, who looks at what is stored; no process signs in so.
    """

    data: Path
    database: str
    port: int
    key: str = ""
    spare_key: str = ""
    reading_key: str = ""
    sandbox_keys: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **ENVIRONMENT,
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "CABOCHON_DATA": str(self.data),
            "DATABASE_URL": signed_in_as(ACCOUNT, self.database),
            "CELERY_BROKER_URL": "memory://",
            "CABOCHON_BIND": f"127.0.0.1:{self.port}",
            "CABOCHON_WEB_WORKERS": "1",
            "CABOCHON_PROCESSOR_BURST_S": "1e9",  # of all tests together, on a machine of any speed
            **self.variables,
        }

    def start(self, name: str, *words: str) -> None:
        with (self.data / f"{name}.log").open("ab") as output:
            command = [sys.executable, *words]
            self.processes[name] = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=output, stderr=subprocess.STDOUT
            )

    def start_web(self) -> None:
        self.start("web", "-m", "casino.web")
        until(lambda: is_ready(self.url), "the web server")

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        workers = psutil.Process(process.pid).children(recursive=True)  # which keep the port for a while
        process.kill()
        process.wait()
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
                worker.wait(60)

    def manage(self, *words: str) -> str:
        """Run a command; return what it prints."""
        return self.run("manage.py", *words)

    def run(self, *words: str) -> str:
        """Run Python in a process of its own; return what it prints."""
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(statement, values).fetchall()  # type: ignore[arg-type]

    def stored(self, stream: str) -> list[tuple[int, bytes]]:
        """Return every event of a stream as it is stored, with its number."""
        return [(seq, envelope.encode()) for seq, envelope in self.query(STORED, stream)]

    def count(self) -> int:
        return int(self.query("select count(*) from log.event e join log.stream s using (stream_id)"
                              " where s.name like %s", f"{CASINO}.%")[0][0])  # fmt: skip

    def batches(self, stream: str) -> list[int]:
        """Return the first number of each batch of a stream, in the order of receipt."""
        return [int(row[0]) for row in self.query(BATCHES, stream)]

    def refused(self, streams: Iterable[str]) -> list[tuple[Any, ...]]:
        """Return code and detail of each request that was refused about some streams."""
        return self.query(
            "select code, detail from audit_quarantined where stream = any(%s) order by id", list(streams)
        )


def prepared(template: str) -> tuple[str, Path]:
    """Return a database with the keys that every record begins with, and the folder of its log's keys.

    Made once a run: to load Django takes a process longer than many a test.
    """
    database = f"{template}_record"

    def make(folder: Path) -> None:
        folder.mkdir()
        with psycopg.connect(server_url(), autocommit=True) as owner:
            owner.execute(f'drop database if exists "{database}"')  # of a run that was killed
            owner.execute(f'create database "{database}" template "{template}"')
        making = Record(folder, address_of(database), port=0)
        keys = making.run("-c", MAKE_KEYS)
        (folder / KEYS).write_text(keys)

    return database, once_a_run("record", make)


@contextmanager
def record(
    data: Path, template: str, *, is_sealing: bool = False, is_adjudicating: bool = False, **variables: str
) -> Iterator[Record]:
    """Run a record on a database of its own until the block ends."""
    database, folder = prepared(template)
    shutil.copytree(folder, data, dirs_exist_ok=True)
    key, spare_key, reading_key, *sandbox_keys = (data / KEYS).read_text().split()
    for url in new_database(server_url(), template=database):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = int(listener.getsockname()[1])
        running = Record(data, url, port, key, spare_key, reading_key, tuple(sandbox_keys), variables)
        with nothing_left_on(data):
            running.start_web()
            if is_sealing:
                running.start("sequencer", "manage.py", "sequence")
            if is_adjudicating:
                running.start("worker", "-m", "tests.client.worker")
            yield running
            for process in running.processes.values():
                process.terminate()
            for process in running.processes.values():
                process.wait(30)


def command(
    *words: str, program: tuple[str, ...] = ("-m", "cabochon_client"), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run ``cabochon`` to its end."""
    return subprocess.run(
        [sys.executable, *program, *words],
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT / "client"), "HOME": os.environ.get("HOME", "/"), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
