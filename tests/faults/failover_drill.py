"""``python -m tests.faults.failover_drill``: the primary is killed under load, and a synchronous standby takes over.

    primary ─► pg_basebackup -R ─► standby ─► synchronous ─► load ─► *the primary dies* ─► pg_ctl promote
            ─► what is missing? ─► the clients have sent everything ─► verify ─► the old host is made a standby

Two servers of the machine's own PostgreSQL, whose ``pg_config`` is in the path, on this machine; a web server whose
``DATABASE_URL`` names both; and table systems that send by ``cabochon_client``. Prints how long each step took, and how
many acknowledged events the new primary lacks. This is how the chapter of ``docs/recovery.md`` is tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from cabochon_client import Client

from casino.embedded.process import own_folder
from tests.casino.processes import until
from tests.citus import ROOT
from tests.faults.own_cluster import Node
from tests.faults.test_brokers import nights

TABLES, EVENTS, PAUSE_S = 4, 400, 0.1
"""The table systems, the events of each one's session at most, and the seconds between two of them."""

ACCOUNT, PASSWORD, CASINO = "cabochon_web_login", "long-enough-for-a-drill-1", "deauville"
STANDBY = "standby"

_STORED = "select s.name, array_agg(e.seq) from log.event e join log.stream s using (stream_id) group by s.name"


class Server(Node):
    """One of the two servers: no extension, and no archive."""

    settings = "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"

    def follow(self, primary: Server) -> None:
        """Become a standby of ``primary``, as the chapter says, and run."""
        shutil.rmtree(self.data, ignore_errors=True)
        own_folder(self.data, data=self.folder)
        address = f"host=127.0.0.1 port={primary.port} user=postgres application_name={STANDBY}"
        self._tool("pg_basebackup", "-d", address, "-D", self.data, "-R", "-X", "stream", "-c", "fast")
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(f"port = {self.port}\n")
        self.start()

    def wait_for_standby(self) -> None:
        """Acknowledge from now on nothing that the standby has not written to its disk."""
        self._set(f"synchronous_standby_names = '{STANDBY}'")
        state = "select 1 from pg_stat_replication where sync_state = 'sync'"
        until(lambda: self.ask(state), "a synchronous standby")

    def promote(self) -> None:
        self._tool("pg_ctl", "-D", self.data, "-w", "promote")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the drill has seen. Seconds are from the death of the primary, but for ``promoted_s``, which is a step's.

    ``acknowledged`` events were acknowledged when the primary was dead; the new primary lacks ``lost`` of them. Of the
    ``sent`` events the record has ``stored`` in the end.
    """

    version: str
    acknowledged: int
    lost: int
    promoted_s: float
    first_receipt_s: float
    sent: int
    stored: int
    verified: str


class Load:
    """Table systems that write events down one by one, and send them by ``cabochon_client``."""

    def __init__(self, folder: Path, url: str, key: str, *, events: int) -> None:
        self.nights = [(name, lines[:events]) for name, lines in nights(CASINO)[:TABLES]]
        self.clients = {name: Client(folder / f"{name}.spool", url, key, timeout_s=10) for name, _ in self.nights}
        self._threads = [threading.Thread(target=self._write, args=each) for each in self.nights]

    def _write(self, name: str, lines: list[bytes]) -> None:
        for line in lines:
            self.clients[name].put([json.loads(line)])
            time.sleep(PAUSE_S)

    @contextmanager
    def sending(self) -> Iterator[None]:
        for thread in (*self.clients.values(), *self._threads):
            thread.start()
        try:
            yield
        finally:
            for thread in self._threads:
                thread.join()
            for client in self.clients.values():
                client.close()

    def acknowledged(self) -> dict[str, int]:
        """Return the last number of each session for which there is a receipt."""
        rows = [row for client in self.clients.values() for row in client.status().sessions]
        return {row.stream: row.acknowledged for row in rows}

    @property
    def last(self) -> dict[str, int]:
        return {name: json.loads(lines[-1])["seq"] for name, lines in self.nights}

    def through(self, last: dict[str, int]) -> set[tuple[str, int]]:
        """Return the events up to a number of each session; numbers may be declared lost."""
        events = [(name, int(json.loads(line)["seq"])) for name, lines in self.nights for line in lines]
        return {(name, seq) for name, seq in events if seq <= last.get(name, 0)}


class Drill:
    """The two servers and the web server. ``say`` gets what happened at each step."""

    def __init__(self, folder: Path, *, port: int, say: Callable[[str], None]) -> None:
        self.folder, self.say, self.port = folder, say, port
        self.primary, self.standby = Server(folder / "primary"), Server(folder / "standby")
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "CABOCHON_DATA": str(folder / "data"),
            "CABOCHON_SECRET_KEY": "of-a-drill",
            "CABOCHON_BIND": f"127.0.0.1:{port}",
            "CABOCHON_WEB_WORKERS": "1",
            "CABOCHON_RATE": "1000000/min",
            "CABOCHON_WEB_PASSWORD": PASSWORD,
            "CELERY_BROKER_URL": "memory://",
        }

    def both(self, account: str) -> str:
        """Return the address that names both servers, and takes the one that writes."""
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        return f"postgres://{account}@{hosts}/cabochon?target_session_attrs=read-write&connect_timeout=2"

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        environment = {**self.environment, "DATABASE_URL": self.both("postgres")}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def prepare(self) -> str:
        """Make both servers and the record; return the key of the table systems."""
        for server in (self.primary, self.standby):
            server.folder.mkdir(parents=True)
        self.primary.make()
        with psycopg.connect(self.primary.url("postgres"), autocommit=True) as superuser:
            superuser.execute("create database cabochon")
        for command in (("migrate", "--verbosity", "0"), ("dbaccounts",), ("logkey", "--make")):
            self.manage(*command)
        tables = [word for number in range(TABLES) for word in ("--register", f"T{number}")]
        key = self.manage("createkey", "--casino", CASINO, "--backfill", *tables).strip()
        self.standby.follow(self.primary)
        self.primary.wait_for_standby()
        return key

    @contextmanager
    def web(self) -> Iterator[str]:
        environment = {**self.environment, "DATABASE_URL": self.both(ACCOUNT), "CABOCHON_PROCESS": "web"}
        with (self.folder / "web.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "casino.web"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
            try:
                yield f"http://127.0.0.1:{self.port}"
            finally:
                process.terminate()
                process.wait(60)

    def stored(self, load: Load) -> set[tuple[str, int]]:
        """Return the events that the new primary has of the table systems; the record keeps streams of its own, too."""
        return {(name, seq) for name, seqs in self.standby.ask(_STORED) if name in load.clients for seq in seqs}

    def end(self) -> None:
        for server in (self.primary, self.standby):
            if server.is_running():
                server.cut_power()


def drill(folder: Path, *, events: int = EVENTS, port: int = 8790, say: Callable[[str], None]) -> Outcome:
    """Play the drill in ``folder``, with ``events`` of each table; return what was seen."""
    plan = Drill(folder, port=port, say=say)
    try:
        key = plan.prepare()
        [(version,)] = plan.primary.ask("show server_version")
        say(f"PostgreSQL {version}: a primary, and a standby that is synchronous")
        with plan.web() as url:
            load = Load(folder, url, key, events=events)
            with load.sending():
                return _play(plan, load, version)
    finally:
        plan.end()


def _play(plan: Drill, load: Load, version: str) -> Outcome:
    until(lambda: sum(load.acknowledged().values()) >= sum(load.last.values()) / 4, "a quarter of it", timeout_s=300)
    plan.primary.cut_power()
    died = time.monotonic()
    before = load.acknowledged()
    acknowledged = load.through(before)
    plan.say(f"the primary is dead; {len(acknowledged)} events were acknowledged")
    plan.standby.promote()
    promoted_s = time.monotonic() - died
    lost = len(acknowledged - plan.stored(load))
    plan.say(f"promoted after {promoted_s:.1f} s; it lacks {lost} of these events")
    until(lambda: load.acknowledged() != before, "a receipt", timeout_s=300)
    first_receipt_s = time.monotonic() - died
    plan.say(f"the first receipt after {first_receipt_s:.1f} s")
    until(lambda: load.acknowledged() == load.last, "everything sent", timeout_s=600)
    sent, stored = load.through(load.last), plan.stored(load)
    verified = plan.manage("verify").strip().splitlines()[-1]
    plan.say(f"{len(stored)} of {len(sent)} events are stored; verify: {verified}")
    plan.primary.follow(plan.standby)
    plan.standby.wait_for_standby()
    plan.say("the old host is the new one's standby, synchronous")
    return Outcome(
        version=version,
        acknowledged=len(acknowledged),
        lost=lost,
        promoted_s=promoted_s,
        first_receipt_s=first_receipt_s,
        sent=len(sent),
        stored=len(stored),
        verified=verified,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.failover_drill", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N", help=f"of each session; default: {EVENTS}")
    parser.add_argument("--port", type=int, default=8790)
    args = parser.parse_args()
    started = time.monotonic()

    def say(what: str) -> None:
        print(f"[{time.monotonic() - started:6.1f} s] {what}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        drill(Path(folder), events=args.events, port=args.port, say=say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
