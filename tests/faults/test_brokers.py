"""Real processes and a real broker, killed while tables report.

    tables ─► web ─► PostgreSQL, broker ─► two workers ─► findings      each killed by SIGKILL, repeatedly
                         └─► sequencer ─► checkpoints                   the broker's messages lost or delivered twice

``test_crash_points`` kills one process at a time, at every step. Here Celery, web server and broker themselves are
killed, whose steps are not counted: when each is killed is left to a seed and the clock.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from kombu import Connection

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from casino.embedded.valkey import EmbeddedValkey
from tests.audit.adjudication.finished import of_finished_coups
from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, until

ROOT = Path(__file__).parents[2]
TABLES = 8
BATCH = 25
PROGRAMS = {
    "web": ("-m", "casino.web"),
    "worker one": ("-m", "celery", "-A", "casino", "worker", "-Q", "replay", "-c", "2", "-n", "one@%h"),
    "worker two": ("-m", "celery", "-A", "casino", "worker", "-Q", "replay", "-c", "1", "-n", "two@%h"),
    "beat": ("-m", "celery", "-A", "casino", "beat", "--pidfile", ""),
    "sequencer": ("manage.py", "sequence"),
}

Stream = tuple[str, list[bytes]]


@dataclass
class Broker:
    """A broker and its failure: ``fail`` loses every message, or kills and restarts the broker."""

    url: str  # "" for the embedded broker
    fail: Callable[[], object]


@pytest.fixture
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    if request.param == "rabbitmq":
        url = request.getfixturevalue("rabbitmq_url")
        yield Broker(url, lambda: purge(url))
    elif request.param == "redis":
        # A database that no other test uses.
        url = urlsplit(request.getfixturevalue("redis_url"))._replace(path="/14").geturl()
        with redis.Redis.from_url(url) as server:
            server.flushdb()
            yield Broker(url, server.flushdb)
            server.flushdb()
    else:
        valkey = EmbeddedValkey(tmp_path)
        valkey.start()
        yield Broker("", lambda: kill_and_start(valkey))
        valkey.stop()


def purge(url: str) -> None:
    """Lose the hints that wait in the queue."""
    with Connection(url) as connection, connection.channel() as channel:
        channel.queue_purge("replay")


def kill_and_start(valkey: EmbeddedValkey) -> None:
    os.kill(int((valkey.folder / "pid").read_text()), signal.SIGKILL)
    until(lambda: not valkey.is_running(), "the end of the broker's process")
    valkey.start()


@dataclass
class Stack:
    """The processes of a deployment, each in a session of its own, so that its children are killed with it."""

    data: Path
    environment: dict[str, str]
    url: str
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, name: str) -> None:
        self.running[name] = subprocess.Popen(
            [sys.executable, *PROGRAMS[name]],
            cwd=ROOT,
            env=self.environment,
            stdout=(self.data / f"{name}.log").open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def kill(self, name: str) -> None:
        """Kill a program with all its processes, and wait for its end."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def stack(tmp_path: Path, migrated_url: str, broker: Broker) -> Iterator[Stack]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environment = {
        **ENVIRONMENT,
        "CABOCHON_DATA": str(tmp_path),
        "DATABASE_URL": migrated_url,
        "CABOCHON_BIND": f"127.0.0.1:{port}",
        "CABOCHON_WEB_WORKERS": "1",
        "CABOCHON_SWEEP_S": "1",
        "CABOCHON_RATE": "1000000/min",
        "CABOCHON_PROCESSOR_BURST_S": "1e9",
        **({"CELERY_BROKER_URL": broker.url} if broker.url else {}),
    }
    stack = Stack(tmp_path, environment, f"http://localhost:{port}")
    with nothing_left_on(tmp_path):
        stack.manage("logkey", "--make", "--quiet")
        yield stack
        for name in list(stack.running):
            stack.kill(name)


def nights(casino: str) -> list[Stream]:
    """Return one session of each table, with every irregularity it has an occasion for."""
    streams = []
    for number, ruleset in zip(range(TABLES), cycle(RULESET_NAMES), strict=False):
        night = play(
            ruleset,
            casino=casino,
            code=f"T{number}",
            gaming_day=date(2010, 11, 19),
            seed=number,
            coups=100,
            irregularities=list(IRREGULARITIES),
        )
        streams.append((night.stream, [json.dumps(event).encode() for event in night.events]))
    return streams


def report(stack: Stack, key: str, stream: Stream, stop: threading.Event) -> list[dict[str, Any]]:
    """Send a session in batches, each until it is acknowledged; return the receipts."""
    name, lines = stream
    receipts = []
    for low in range(0, len(lines), BATCH):
        while not stop.is_set():
            request = urllib.request.Request(
                f"{stack.url}/api/v1/streams/{name}/events",
                data=b"[" + b",".join(lines[low : low + BATCH]) + b"]",
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            )
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    receipts.append(json.load(answer))
                    break
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise
            except (OSError, http.client.HTTPException):  # killed before its answer, or in the middle of it
                pass
            time.sleep(0.1)
        time.sleep(0.2)
    return receipts


@contextmanager
def reporting(stack: Stack, key: str, streams: list[Stream]) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """Let every table report in a thread of its own; yield the receipts by stream, complete after the block."""
    receipts: dict[str, list[dict[str, Any]]] = {}
    stop = threading.Event()

    def table(stream: Stream) -> None:
        receipts[stream[0]] = report(stack, key, stream, stop)

    threads = [threading.Thread(target=table, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    try:
        yield receipts
        until(lambda: not any(thread.is_alive() for thread in threads), "every table's last receipt")
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def scalar(stack: Stack, statement: str) -> Any:
    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        row = connection.execute(statement).fetchone()
        return row[0] if row else None


BEHIND = """
select count(*) from log.stream s join log.stream_head h using (stream_id)
left join audit_adjudication a on a.stream_id = s.stream_id and a.what_if_id is null
left join audit_adjudicationrun r on r.id = a.run_id
where not s.is_of_desk and (a.next_seq is distinct from h.next_seq or r.state is distinct from 'complete')
"""


@pytest.mark.parametrize(
    ("broker", "kills"),
    [
        pytest.param("embedded", 18, marks=pytest.mark.faults),
        pytest.param("rabbitmq", 18, marks=pytest.mark.faults),
        pytest.param("redis", 18, marks=pytest.mark.faults),
    ],
    indirect=["broker"],
)
def test_processes_and_broker_are_killed_while_tables_report_and_nothing_is_lost_or_counted_twice(
    stack: Stack, broker: Broker, kills: int
) -> None:
    chance = random.Random(20_261_119)
    tables = [argument for number in range(TABLES) for argument in ("--register", f"T{number}")]
    key = stack.manage("createkey", "--casino", "deauville", "--backfill", *tables).strip()
    streams = nights("deauville")
    for name in PROGRAMS:
        stack.start(name)
    until(lambda: is_ready(stack.url), "the web server")
    with reporting(stack, key, streams) as receipts:
        victims = [*PROGRAMS, "broker"]
        for number in range(kills):
            time.sleep(chance.uniform(0.2, 1.2))
            victim = victims[number % len(victims)]
            if victim == "broker":
                with suppress(ConnectionError):
                    broker.fail()
            else:
                stack.kill(victim)
                stack.start(victim)
        assert len(receipts) < TABLES, "the tables reported through all of it"
    until(lambda: scalar(stack, BEHIND) == 0, "every stream replayed to its end")
    until(lambda: scalar(stack, "select count(*) from log.outbox") == 0, "every batch sealed")
    for name in list(stack.running):
        stack.kill(name)

    with psycopg.connect(stack.environment["DATABASE_URL"]) as connection:
        for name, lines in streams:
            check_stream(connection, name, lines, receipts[name])
    assert "Everything holds." in stack.manage("verify")


def check_stream(
    connection: psycopg.Connection[Any], name: str, lines: list[bytes], receipts: list[dict[str, Any]]
) -> None:
    """Check that each event is stored once, each receipt has a stored batch, the findings are those of a clean run."""
    stored = connection.execute(
        "select e.envelope from log.event e join log.stream s using (stream_id) where s.name = %s order by e.seq",
        (name,),
    ).fetchall()
    assert [envelope for (envelope,) in stored] == [{"v": 1, "data": {}} | json.loads(line) for line in lines]
    batches = connection.execute(
        "select encode(b.chain, 'hex') from log.batch b join log.stream s using (stream_id) where s.name = %s"
        " order by b.first_seq",
        (name,),
    ).fetchall()
    assert [receipt["chain"] for receipt in receipts] == [chain for (chain,) in batches]
    findings = connection.execute(
        "select f.seq, f.rule, f.wager, f.severity, f.evidence, f.expected, f.recorded from audit_finding f"
        " join log.stream s using (stream_id) where s.name = %s and f.superseded_at is null",
        (name,),
    ).fetchall()
    clean = [
        (each.seq, each.rule, each.wager or "", each.severity, list(each.evidence), each.expected, each.recorded)
        for each in of_finished_coups(lines)
    ]
    assert clean, "a session with every irregularity has findings"
    assert sorted(findings, key=str) == sorted(clean, key=str)
