"""``python -m tests.faults.restore_drill``: the database is lost under load, restored without its last hour, recovered.

    load ─► backup ─► load ─► *the moment* ─► load: "the hour" ─► the database is gone ─► restore up to the moment
         ─► desk, /health/ready, clients ─► manage.py recover ─► clients send again ─► verify --deep, same findings

A whole deployment on an embedded PostgreSQL of its own, and six table systems that keep their receipts and do what
they are told, nothing else. ``--by wal`` restores a base backup and the write-ahead log up to the moment, ``--by dump``
a dump of it into a new cluster. Prints at each step what the desk, ``/health/ready`` and the clients said. This is how
every command of ``docs/recovery.md`` is tried.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import psycopg

from casino.embedded.postgres import EmbeddedPostgres, binaries
from casino.embedded.process import own_folder, run
from tests.casino.processes import nothing_left_on, until
from tests.casino.stack import ROOT, STOPS_WITHIN_S, Stack
from tests.faults.test_brokers import BEHIND, check_stream, nights

Way: TypeAlias = Literal["wal", "dump"]

CLIENTS, BATCH, PAUSE_S = 6, 10, 0.25
CASINO, PASSWORD = "deauville", "long-enough-for-a-drill-1"
OFFICERS = ("dora", "sam")
REASON = "The disk of the database failed; restored to the last moment that its log was kept of."

MAX_LINES = 30
"""Of one step that are printed."""

DESK = """
import re
from html import unescape
from django.test import Client
from django.urls import reverse
from audit.models import Officer
client = Client()
client.force_login(Officer.objects.get(username="dora"), backend="django.contrib.auth.backends.ModelBackend")
page = client.get(reverse("admin:record_state"), headers={"host": "localhost"}, follow=True)
head = re.search(r'<h1>.*?</h1><p>(.*?)</p>', page.content.decode(), re.S)
print("DESK", page.status_code, unescape(re.sub(r"<[^>]+>", "", head[1])) if head else page.content.decode()[:2000])
"""


@dataclass
class TableSystem:
    """A client: sends a session in batches, keeps the receipts, and does what an answer tells it.

    ``refusals`` are its answers that were not 200 or 201, each once in a row.
    """

    name: str
    lines: list[bytes]
    send: Callable[[str, bytes], tuple[int, dict[str, Any]]]
    next: int = 0  # lines that are acknowledged, as far as it knows
    receipts: dict[int, dict[str, Any]] = field(default_factory=dict)  # by first_seq
    void: list[dict[str, Any]] = field(default_factory=list)  # receipts of what was lost: kept
    refusals: list[str] = field(default_factory=list)
    sent_again: int = 0

    def turn(self) -> None:
        """Send the next batch, and do what the answer says."""
        low = self.next
        status, answer = self.send(self.name, b"[" + b",".join(self.lines[low : low + BATCH]) + b"]")
        if status in (200, 201):
            self.receipts[answer["first_seq"]] = answer
            self.next = min(low + BATCH, len(self.lines))
            return
        epoch = f", epoch {answer['epoch']}" if "epoch" in answer else ""
        refusal = f"{status} {answer.get('code', '')}{epoch}: {answer.get('detail', '')}"
        if refusal not in self.refusals[-1:]:
            self.refusals.append(refusal)
        if answer.get("code") in ("gap", "not-opened"):
            self._go_back(answer["next_seq"])

    def _go_back(self, seq: int) -> None:
        """Send again from an event on; what had been acknowledged from there on was lost, and its receipts prove it."""
        self.void += [self.receipts.pop(first) for first in sorted(self.receipts) if first >= seq]
        self.next = bisect_left([json.loads(line)["seq"] for line in self.lines], seq)  # numbers may be declared lost
        self.sent_again += 1

    @property
    def is_done(self) -> bool:
        return self.next >= len(self.lines)


class Clients:
    """Six table systems, each in a thread of its own, which may be held at a share of their sessions."""

    def __init__(self, stack: Stack, key: str, coups: int) -> None:
        self.url, self.key = stack.url, key
        sessions = [(name, lines[:coups] if coups else lines) for name, lines in nights(CASINO)[:CLIENTS]]
        self.all = [TableSystem(name, lines, self._send) for name, lines in sessions]
        self.limit = 0.0
        self.stop = threading.Event()

    def _send(self, stream: str, body: bytes) -> tuple[int, dict[str, Any]]:
        request = urllib.request.Request(
            f"{self.url}/api/v1/streams/{stream}/events",
            data=body,
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except (OSError, http.client.HTTPException) as error:
            return 0, {"code": "no answer", "detail": type(error).__name__}

    @contextmanager
    def sending(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._report, args=(each,)) for each in self.all]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()

    def _report(self, client: TableSystem) -> None:
        while not self.stop.wait(PAUSE_S):
            if not client.is_done and client.next < self.limit * len(client.lines):
                client.turn()

    def advance(self, share: float) -> None:
        """Let every client send this share of its session, and wait until it has been acknowledged."""
        self.limit = share
        until(lambda: all(each.next >= share * len(each.lines) for each in self.all), f"{share:.0%}", timeout_s=300)

    def last_refusals(self) -> str:
        """Return what each client was told last, and forget it."""
        lines = []
        for each in self.all:
            lines += [f"{each.name}: {refusal}" for refusal in each.refusals[-3:]]
            each.refusals.clear()
        return "\n".join(lines) or "nothing but receipts"


class Drill:
    """The deployment, its backups and what is done to them. ``say`` gets what happened at each step."""

    def __init__(
        self, folder: Path, way: Way, *, migrated: Path | None, port: int, say: Callable[[str, str], None]
    ) -> None:
        self.way, self.say = way, say
        self.data, self.backup = folder / "data", folder / "backup"
        self.archive, self.outside = folder / "archive", folder / "outside"
        self.postgres = EmbeddedPostgres(self.data)
        self.stack = Stack(self.data, migrated=migrated, output=folder / "output", port=port)
        self.stack.environment |= {
            "CABOCHON_CHECKPOINTS": str(self.outside / "checkpoints"),
            "CABOCHON_EXPORT_S": "1",
            "CABOCHON_SWEEP_S": "2",
            "CABOCHON_RATE": "1000000/min",
            "CABOCHON_PROCESSOR_BURST_S": "1e9",
        }
        self.process: subprocess.Popen[bytes] | None = None

    # The deployment

    def start(self) -> None:
        self.process = self.stack.start()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(STOPS_WITHIN_S)

    def manage(self, *arguments: str, entered: str = "", fails: bool = False, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.stack.environment | environment,
            input=entered,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + (done.stderr if fails else "")

    def tool(self, name: str, *arguments: object) -> str:
        """Run a program of PostgreSQL as an administrator would, as the superuser."""
        self.say("runs", f"{name} {' '.join(map(str, arguments))}".replace(self.postgres.url(), "DATABASE_URL"))
        return run(binaries() / name, *arguments, data=self.data)

    def sql(self, statement: str) -> Any:
        with psycopg.connect(self.postgres.url(), autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[arg-type]
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else None

    def prepare(self) -> str:
        """Start a deployment whose write-ahead log is archived, with two officers; return the key of the clients."""
        self.postgres.start()
        for folder in (self.archive, self.backup):
            own_folder(folder, data=self.data)
        for setting in (
            "archive_mode = 'on'",
            f"archive_command = 'test ! -f {self.archive}/%f && cp %p {self.archive}/%f'",
            "archive_timeout = '60s'",
        ):
            self.sql(f"alter system set {setting}")
        self.postgres.stop()
        self.start()
        for name in OFFICERS:
            self.manage(
                *("createsuperuser", "--noinput", "--username", name, "--email", f"{name}@example.org"),
                DJANGO_SUPERUSER_PASSWORD=PASSWORD,
            )
        tables = [argument for number in range(CLIENTS) for argument in ("--register", f"T{number}")]
        return self.manage("createkey", "--casino", CASINO, "--backfill", *tables).strip()

    # Backups

    def back_up(self) -> None:
        """Take the base backup while tables report; a dump is taken at the moment itself."""
        if self.way == "wal":
            base = self.backup / "base"
            self.tool("pg_basebackup", "-d", self.postgres.url(), "-D", base, "-c", "fast", "-X", "none")
            self.tool("pg_verifybackup", "-n", base)

    def at_the_moment(self) -> str:
        """Return the moment up to which the backups reach."""
        if self.way == "dump":
            self.tool("pg_dump", "-d", self.postgres.url(), "-Fc", "-f", self.backup / "dump")
            self.tool("pg_dumpall", "-d", self.postgres.url(), "--roles-only", "-f", self.backup / "roles.sql")
        return str(self.sql("select clock_timestamp()"))

    def lose(self) -> None:
        """Lose the database: kill everything on it, and delete it."""
        self.manage("tiles", "--output", str(self.outside / "tiles"))
        if self.way == "wal":
            self.sql("select pg_switch_wal()")
            name = self.sql("select pg_walfile_name(pg_current_wal_lsn())")
            before = f"{int(name, 16) - 1:024X}"
            until(lambda: (self.archive / before).exists() or self._is_archived(), "the archive of the last segment")
        self.end()
        shutil.rmtree(self.postgres.cluster)

    def _is_archived(self) -> bool:
        return bool(self.sql("select failed_count = 0 and last_archived_wal is not null from pg_stat_archiver"))

    def restore(self, moment: str) -> None:
        """Restore up to the moment, as the chapter says, and start the deployment again."""
        if self.way == "wal":
            shutil.copytree(self.backup / "base", self.postgres.cluster, symlinks=True)
            with (self.postgres.cluster / "postgresql.auto.conf").open("a") as settings:
                settings.write(f"restore_command = 'cp {self.archive}/%f %p'\n")
                settings.write(f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n")
            (self.postgres.cluster / "recovery.signal").touch()
            self.postgres.start()
            until(lambda: not self.sql("select pg_is_in_recovery()"), "the end of the restore")
            for setting in ("restore_command", "recovery_target_time", "recovery_target_action"):
                self.sql(f"alter system reset {setting}")
            self.postgres.stop()
        else:
            self.postgres.start()  # a new cluster, with an empty database
            self.tool("psql", "-q", "-d", self.postgres.url(), "-f", self.backup / "roles.sql")
            self.tool("pg_restore", "-d", self.postgres.url(), "--exit-on-error", self.backup / "dump")
            self.postgres.stop()
        self.start()

    # What is said

    def look(self, clients: Clients) -> dict[str, Any]:
        """Print what the desk, ``/health/ready`` and the clients say now; return the second."""
        _status, ready = self.stack.ready()
        details = [f"{name}: {ready['checks'][name].get('detail', '')}" for name in ready["failed"]]
        self.say("/health/ready", "; ".join(details) or "ready")
        self.say("desk", self.desk())
        self.say("clients", clients.last_refusals())
        return ready

    def desk(self) -> str:
        printed = self.manage("shell", "--no-imports", "-c", DESK, CABOCHON_PROCESS="web")
        match = re.search(r"^DESK (.*)", printed, re.MULTILINE | re.DOTALL)
        return " ".join(match[1].split()) if match else printed


def drill(
    folder: Path,
    way: Way,
    *,
    events: int = 0,
    migrated: Path | None = None,
    port: int = 8780,
    say: Callable[[str, str], None],
) -> None:
    """Play the drill in ``folder``, on a copy of the cluster ``migrated`` or on a new one.

    ``events`` cuts each session to as many, 0 takes all. Raise ``AssertionError``.
    """
    plan = Drill(folder, way, migrated=migrated, port=port, say=say)
    with nothing_left_on(plan.data):
        try:
            key = plan.prepare()
            clients = Clients(plan.stack, key, events)
            with clients.sending():
                _play(plan, clients)
            _check(plan, clients)
        finally:
            plan.end()


def _play(plan: Drill, clients: Clients) -> None:
    say = plan.say
    clients.advance(0.2)
    clients.limit = 0.5
    plan.back_up()
    clients.advance(0.5)
    moment = plan.at_the_moment()
    clients.advance(0.8)
    until(lambda: _exported(plan) == plan.sql("select max(size) from log.checkpoint"), "the export of all of it")
    say("before", f"{_exported(plan)} leaves signed; the moment is {moment}")
    plan.look(clients)

    plan.lose()
    signed = _exported(plan)  # with what officers did meanwhile
    say("lost", f"the database is gone; {signed} leaves were signed")
    clients.limit = 0.9  # they do not wait: first nobody answers
    plan.restore(moment)
    until(lambda: "forked" in str(plan.stack.ready()[1]), "the sequencer to see the fork")
    until(lambda: all(each.sent_again for each in clients.all), "every client to be told to send again")
    ready = plan.look(clients)
    leaves = plan.sql("select max(size) from log.checkpoint")
    assert f"{leaves} leaves are here, and {signed} were signed" in ready["checks"]["sealing"]["detail"]
    say("verify", plan.manage("verify", "--against", str(plan.outside / "checkpoints"), fails=True).strip())

    tiles = ("--tiles", str(plan.outside / "tiles"))
    say("recover --dry-run", plan.manage("recover", "--dry-run", *tiles).strip())
    named = [argument for name in OFFICERS for argument in ("--officer", name)]
    entered = f"{PASSWORD}\n" * len(OFFICERS)
    say("recover", plan.manage("recover", *named, "--reason", REASON, *tiles, entered=entered).strip())
    until(lambda: "forked" not in str(plan.stack.ready()[1]), "the sequencer to go on")
    _send_past_the_end(clients)
    plan.look(clients)
    clients.advance(1.0)
    until(lambda: plan.sql(BEHIND) == 0, "every stream replayed to its end", timeout_s=300)
    until(lambda: plan.sql("select count(*) from log.outbox") == 0, "every batch sealed")
    until(lambda: plan.stack.ready()[0] == 200, "ready")
    plan.look(clients)


def _send_past_the_end(clients: Clients) -> None:
    """Send once past where a stream stands, as a table system does that was away until now: what is it told?"""
    client = clients.all[0]
    _status, answer = clients._send(client.name, b"[" + client.lines[-1] + b"]")
    assert (answer["code"], answer["epoch"]) == ("gap", 2), answer
    client.refusals.append(
        f"{answer['code']}, next_seq {answer['next_seq']}, epoch {answer['epoch']}: {answer['detail']}"
    )


def _exported(plan: Drill) -> int:
    names = sorted(path.name for path in (plan.outside / "checkpoints").glob("checkpoint-*"))
    return int(names[-1].removeprefix("checkpoint-")[:20]) if names else 0


def _check(plan: Drill, clients: Clients) -> None:
    """Nothing is lost, nothing is counted twice, the findings are those of a clean run, and the log holds."""
    printed = plan.manage("verify", "--deep", "--against", str(plan.outside / "checkpoints"))
    plan.say("verify --deep --against", printed.strip())
    assert "Everything holds." in printed
    assert "Not compared" in printed, "checkpoints of what was lost were exported"
    with psycopg.connect(plan.postgres.url()) as connection:
        for client in clients.all:
            receipts = [client.receipts[first] for first in sorted(client.receipts)]
            check_stream(connection, client.name, client.lines, receipts)
    void = sum(len(client.void) for client in clients.all)
    assert void, "receipts of what was lost are kept"
    total = sum(len(client.lines) for client in clients.all)
    plan.say("clean", f"{total} events once each, findings as of a clean run; {void} receipts prove what was lost")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.restore_drill", description=__doc__)
    parser.add_argument("--by", choices=("wal", "dump"), default="wal")
    parser.add_argument("--events", type=int, default=0, metavar="N", help="of each session; default: all")
    parser.add_argument("--port", type=int, default=8780)
    args = parser.parse_args()
    started = time.monotonic()

    def say(who: str, what: str) -> None:
        lines = what.splitlines()
        shown = lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 5], "…", *lines[-5:]]
        print(f"[{time.monotonic() - started:6.1f} s] {who}: {chr(10).join(shown)}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        drill(Path(folder), args.by, events=args.events, port=args.port, say=say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
