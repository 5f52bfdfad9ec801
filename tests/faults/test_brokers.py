"""The same deaths with nothing simulated: real processes and a real broker, killed while tables report.

    tables ─► web ─► PostgreSQL, broker ─► two workers ─► findings      each killed by SIGKILL, again and again
                         └─► sequencer ─► checkpoints                   the broker's messages lost, or come twice

``test_crash_points`` dies at every step there is, a process at a time. Here are Celery, gunicorn and the broker
themselves, whose steps nobody counts: where they die is left to a seed and to the clock.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from kombu import Connection

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from casino.embedded.valkey import EmbeddedValkey
from settlement import adjudicate
from tests.casino.processes import is_ready, nothing_left_on, until

ROOT = Path(__file__).parents[2]
TABLES = 8
BATCH = 25
DEATHS = 18
PROGRAMS = {
    "web": ("-m", "gunicorn", "casino.wsgi", "--config", "casino/gunicorn.py"),
    "worker one": ("-m", "celery", "-A", "casino", "worker", "-Q", "replay", "-c", "2", "-n", "one@%h"),
    "worker two": ("-m", "celery", "-A", "casino", "worker", "-Q", "replay", "-c", "1", "-n", "two@%h"),
    "beat": ("-m", "celery", "-A", "casino", "beat", "--pidfile", ""),
    "sequencer": ("manage.py", "sequence"),
}

Stream = tuple[str, list[bytes]]


@dataclass
class Broker:
    """A broker, and what can happen to it: ``fails`` takes away every message, or all of it for a moment."""

    url: str  # "" is the embedded one
    fails: Callable[[], object]


@pytest.fixture(params=["rabbitmq", "redis", "embedded"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    if request.param == "rabbitmq":
        url = request.getfixturevalue("rabbitmq_url")
        yield Broker(url, lambda: purge(url))
    elif request.param == "redis":
        # A database of its own, which no other test empties or fills.
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
    """Lose what waits in the queue of hints."""
    with Connection(url) as connection, connection.channel() as channel:
        channel.queue_purge("replay")


def kill_and_start(valkey: EmbeddedValkey) -> None:
    os.kill(int((valkey.folder / "pid").read_text()), signal.SIGKILL)
    until(lambda: not valkey.is_running(), "the end of the broker")
    valkey.start()


@dataclass
class Stack:
    """The processes of a deployment, each in a session of its own, so that its children die with it."""

    data: Path
    environment: dict[str, str]
    url: str
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
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
        """Pull the plug: no process of it does anything any more."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def stack(tmp_path: Path, migrated_url: str, broker: Broker) -> Iterator[Stack]:
    with socket.create_server(("127.0.0.1", 0)) as line:
        port = line.getsockname()[1]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONUNBUFFERED": "1",
        "CABOCHON_DATA": str(tmp_path),
        "DATABASE_URL": migrated_url,
        "CABOCHON_BIND": f"127.0.0.1:{port}",
        "CABOCHON_WEB_WORKERS": "1",
        "CABOCHON_SWEEP_S": "1",
        "CABOCHON_RATE": "1000000/min",
        **({"CELERY_BROKER_URL": broker.url} if broker.url else {}),
    }
    stack = Stack(tmp_path, environment, f"http://localhost:{port}")
    with nothing_left_on(tmp_path):
        stack.manage("logkey", "--make", "--quiet")
        yield stack
        for name in list(stack.running):
            stack.kill(name)


def nights(casino: str) -> list[Stream]:
    """Return the tables' nights, with everything irregular in them that they find an occasion for."""
    found = []
    for place in range(TABLES):
        night = play(
            RULESET_NAMES[place % len(RULESET_NAMES)],
            casino=casino,
            code=f"T{place}",
            gaming_day=date(2010, 11, 19),
            seed=place,
            coups=100,
            irregularities=list(IRREGULARITIES),
        )
        found.append((night.stream, [json.dumps(event).encode() for event in night.events]))
    return found


def report(stack: Stack, key: str, stream: Stream, stop: threading.Event) -> list[dict[str, Any]]:
    """Send a night in batches, each until it is acknowledged, and return the receipts."""
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
            except OSError:
                pass
            time.sleep(0.1)
        time.sleep(0.2)
    return receipts


@contextmanager
def reporting(stack: Stack, key: str, streams: list[Stream]) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """Let the tables report meanwhile, each in its thread. Afterwards all have, and the receipts are there."""
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
where not s.is_of_desk and (a.next_seq is distinct from h.next_seq or a.completed_run is distinct from a.run)
"""


def test_processes_and_broker_die_while_tables_report_and_nothing_is_lost_or_counted_twice(
    stack: Stack, broker: Broker
) -> None:
    chance = random.Random(20_261_119)
    codes = [word for place in range(TABLES) for word in ("--register", f"T{place}")]
    key = stack.manage("createkey", "--casino", "deauville", *codes).strip()
    streams = nights("deauville")
    for name in PROGRAMS:
        stack.start(name)
    until(lambda: is_ready(stack.url), "the web server")
    with reporting(stack, key, streams) as receipts:
        victims = [*PROGRAMS, "broker"]
        for place in range(DEATHS):
            time.sleep(chance.uniform(0.2, 1.2))
            victim = victims[place % len(victims)]
            if victim == "broker":
                with suppress(ConnectionError):
                    broker.fails()
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
    """Each event is stored once, each receipt is of a stored batch, and the findings are those of one clean run."""
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
    found = connection.execute(
        "select f.seq, f.rule, f.wager, f.severity, f.evidence, f.expected, f.recorded from audit_finding f"
        " join log.stream s using (stream_id) where s.name = %s and f.superseded_at is null",
        (name,),
    ).fetchall()
    clean = [
        (each.seq, each.rule, each.wager or "", each.severity, list(each.evidence), each.expected, each.recorded)
        for each in adjudicate(lines).findings
    ]
    assert clean, "a night with everything irregular has findings"
    assert sorted(found, key=str) == sorted(clean, key=str)
