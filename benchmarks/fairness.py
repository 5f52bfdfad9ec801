"""``python -m benchmarks.fairness``: does one sender that does the worst it may delay the others?

    make run's own processes (casino.up), on a data folder of their own
        ─► ordinary casinos: an event every second or so at each table, every fourth of them irregular
        ─► undisturbed ─► hostile casino ─► undisturbed ─► sign-in flood ─► undisturbed ─► bundle flood
        ─► of the others: time to the answer of a POST, and from that to the row of the finding

The hostile casino has one key and four connections: batches of 1,000 events to many streams, corrections at the end of
long streams, so that these are replayed from their beginning, declared losses, and dry runs. The sign-in flood are
eight connections that send wrong passwords, the bundle flood eight that ask for the evidence of a finding, with one
key. Before each attack there is a round without one, so that a machine that slows down slows both; before the first
there is one that does not count. The target is that the others' 95th percentile is at most doubled, and that the
supervisor kills no process as hung.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.database import ROOT

DAY = "2026-11-21"
TARGET = 2.0

ATTACKS = ("hostile casino", "sign-in flood", "bundle flood")
UNDISTURBED = "undisturbed"


@dataclass(frozen=True)
class Client:
    """A casino's key and tables at the record."""

    url: str
    code: str
    key: str
    tables: list[str]

    def post(self, stream: str, events: list[dict[str, Any]], *, dry: bool = False) -> int:
        """Send events and return the status of the answer."""
        query = "?dry_run=true" if dry else ""
        request = urllib.request.Request(
            f"{self.url}/api/v1/streams/{stream}/events{query}",
            data=json.dumps(events).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def opener(self, stream: str, table: str) -> dict[str, Any]:
        data = {
            "casino": self.code,
            "table": table,
            "gaming_day": DAY,
            "game": "craps",
            "ruleset": "fr-craps",
            "currency": "EUR",
            "float": 5_000_000,
            "observes": ["bank"],
        }
        return event(stream, 1, "session.opened", data)


def event(stream: str, seq: int, type: str, data: dict[str, Any]) -> dict[str, Any]:
    at = f"{DAY}T20:{seq // 60 % 60:02}:{seq % 60:02}.000+01:00"
    return {"stream": stream, "seq": seq, "type": type, "occurred_at": at, "data": data}


def wager(stream: str, seq: int) -> dict[str, Any]:
    return event(stream, seq, "wager.placed", {"wager": f"w{seq}", "bet": "win", "stake": 1_000, "player": "P"})


def not_permitted(stream: str, seq: int) -> dict[str, Any]:
    """Return a wager on a bet that craps does not have: a finding at once, which no later event puts right."""
    return event(stream, seq, "wager.placed", {"wager": f"w{seq}", "bet": "none", "stake": 1_000, "player": "P"})


class Ordinary(threading.Thread):
    """One table of an ordinary casino: an event each ``pace`` seconds or so; ``sent`` are its irregular ones."""

    def __init__(self, client: Client, stream: str, *, pace: float, until: float, seed: int) -> None:
        super().__init__(daemon=True)
        self.client, self.stream, self.pace, self.until = client, stream, pace, until
        self.random = random.Random(seed)
        self.sent: dict[int, float] = {}
        self.answers: list[int] = []
        self.took: list[float] = []

    def run(self) -> None:
        self.answers.append(self.client.post(self.stream, [self.client.opener(self.stream, self.client.tables[0])]))
        seq = 2
        while time.time() < self.until:
            time.sleep(self.pace * self.random.uniform(0.5, 1.5))
            is_irregular = seq % 4 == 0
            next_event = not_permitted(self.stream, seq) if is_irregular else wager(self.stream, seq)
            began_at = time.perf_counter()
            self.answers.append(self.client.post(self.stream, [next_event]))
            self.took.append(time.perf_counter() - began_at)
            if is_irregular and self.answers[-1] == 201:
                self.sent[seq] = time.time()
            seq += 1


class Bad(threading.Thread):
    """A sender of the hostile casino: as fast as it is answered, until ``until``."""

    def __init__(self, client: Client, name: str, *, until: float, long: int) -> None:
        super().__init__(daemon=True)
        self.client, self.name_, self.until, self.long = client, name, until, long
        self.events = self.corrections = 0
        self.refused: dict[int, int] = {}

    def _post(self, stream: str, events: list[dict[str, Any]], *, dry: bool = False) -> None:
        if time.time() > self.until:
            return
        status = self.client.post(stream, events, dry=dry)
        if status in (200, 201):
            self.events += 0 if dry else len(events)
        else:
            self.refused[status] = self.refused.get(status, 0) + 1
            time.sleep(0.05)

    def run(self) -> None:
        number = 0
        while time.time() < self.until:
            stream = f"{self.name_}-{number}"
            number += 1
            self._post(
                stream,
                [self.client.opener(stream, self.client.tables[0]), *[wager(stream, seq) for seq in range(2, 1_001)]],
            )
            for first in range(1_001, self.long, 1_000):
                self._post(stream, [wager(stream, seq) for seq in range(first, first + 1_000)])
            self._post(f"{stream}-dry", [self.client.opener(f"{stream}-dry", self.client.tables[0])], dry=True)
            seq = self.long // 1_000 * 1_000 + 1
            for _ in range(3):  # each has the whole stream replayed anew
                entry = {
                    "corrects": 2,
                    "data": {"wager": "w2", "bet": "win", "stake": 900 + seq % 50, "player": "P"},
                    "reason": "misread",
                    "approved_by": "chef",
                }
                self._post(stream, [event(stream, seq, "entry.corrected", entry)])
                self.corrections += 1
                seq += 1
            self._post(stream, [event(stream, seq, "events.lost", {"through": seq + 1_000, "reason": "spool_lost"})])


class Flood(threading.Thread):
    """One connection of a flood: ``send`` returns the status of an answer, and is called until ``until``."""

    def __init__(self, send: Callable[[], int], *, until: float) -> None:
        super().__init__(daemon=True)
        self.send, self.until = send, until
        self.statuses: dict[int, int] = {}

    def run(self) -> None:
        while time.time() < self.until:
            status = self.send()
            self.statuses[status] = self.statuses.get(status, 0) + 1


def wrong_password(url: str, number: Iterator[int]) -> Callable[[], int]:
    """Return what sends a wrong password under another name each time."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    token = ""

    def send() -> int:
        nonlocal token
        try:
            if not token:
                with opener.open(f"{url}/admin/login/", timeout=60) as page:
                    found = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page.read())
                assert found is not None
                token = found[1].decode()
            form = {"csrfmiddlewaretoken": token, "username": f"nobody-{next(number)}", "password": "wrong"}
            with opener.open(f"{url}/admin/login/", urllib.parse.urlencode(form).encode(), timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    return send


def evidence_requests(client: Client, finding: int) -> Callable[[], int]:
    """Return what asks for the evidence bundle of a finding."""
    address = f"{client.url}/api/v1/findings/{finding}/bundle"
    headers = {"Authorization": f"Bearer {client.key}"}

    def send() -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
                answer.read()
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    return send


def finding_to_prove(client: Client, connection: psycopg.Connection[Any], *, wait_s: float) -> int:
    """Record a stream of a thousand events with one irregularity, and return its finding once it can be proved."""
    stream = f"{client.code}-to-prove"
    wagers = [wager(stream, seq) for seq in range(2, 1_000)]
    client.post(stream, [client.opener(stream, client.tables[0]), *wagers, not_permitted(stream, 1_000)])
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        rows = connection.execute(
            "select f.id from audit_finding f join log.stream s using (stream_id) where s.name = %s and f.seq = 1000",
            (stream,),
        ).fetchall()
        if rows and evidence_requests(client, rows[0][0])() == 200:
            return int(rows[0][0])
        time.sleep(1)
    raise SystemExit("no evidence bundle came of a finding")


@contextmanager
def stack(data: Path, port: int) -> Iterator[str]:
    """Start what ``make run`` starts on a data folder, and yield its address."""
    left_out = {"DATABASE_URL", "CELERY_BROKER_URL"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out} | {
        "CABOCHON_DATA": str(data),
        "CABOCHON_PORT": str(port),
        "CABOCHON_FIRST_NIGHT_TABLES": "0",
        "DJANGO_SETTINGS_MODULE": "casino.settings",
    }
    os.environ.update(environment)
    for name in left_out:
        os.environ.pop(name, None)
    output = data / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "casino.up"],
            cwd=ROOT,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 180
        while "Ctrl-C" not in output.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(output.read_text())
            time.sleep(0.2)
        found = re.search(r"http://localhost:\d+", output.read_text())
        assert found is not None
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def register(url: str, code: str) -> Client:
    from audit.models import ApiKey, Casino, GamingTable, KeyScope

    casino = Casino.objects.create(code=code, name=code)
    GamingTable.objects.create(casino=casino, code="T1")
    _key, secret = ApiKey.make(casino=casino, name="fairness", scopes=list(KeyScope.values))
    return Client(url, code, secret, ["T1"])


def delays_of(connection: psycopg.Connection[Any], tables: list[Ordinary], *, wait_s: float) -> tuple[list[float], int]:
    """Return the delay of each finding in seconds, and how many have not come within ``wait_s``."""
    wanted = {(table.stream, seq): at for table in tables for seq, at in table.sent.items()}
    deadline = time.monotonic() + wait_s
    while True:
        rows = connection.execute(
            "select s.name, f.seq, extract(epoch from min(f.opened_at)) from audit_finding f"
            " join log.stream s using (stream_id) where s.name = any (%s) group by 1, 2",
            ([table.stream for table in tables],),
        ).fetchall()
        found = {(name, seq): float(at) for name, seq, at in rows if (name, seq) in wanted}
        if len(found) == len(wanted) or time.monotonic() > deadline:
            return [max(0.0, found[each] - wanted[each]) for each in found], len(wanted) - len(found)
        time.sleep(0.5)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fairness", description=__doc__)
    parser.add_argument("--casinos", type=int, default=20, help="casinos, the hostile one included")
    parser.add_argument("--rounds", type=int, default=1, help="how often each attack is tried")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of an attack; half of it without one")
    parser.add_argument("--pace", type=float, default=1.0, help="seconds between two events of a table")
    parser.add_argument("--senders", type=int, default=4, help="connections of the hostile casino")
    parser.add_argument("--flood", type=int, default=8, help="connections of a flood")
    parser.add_argument("--long", type=int, default=10_000, help="events of a long stream")
    parser.add_argument("--wait", type=float, default=30.0, help="seconds in which a finding has to come")
    parser.add_argument("--port", type=int, default=8900)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cabochon-fairness-") as folder:
        data = Path(folder)
        if os.geteuid() == 0:
            data.chmod(0o755)
        with stack(data, options.port) as url:
            return _measure(url, data / "output", options)


@dataclass
class Measured:
    """What the others had in the rounds of one kind, in seconds; ``missing`` findings did not come in time."""

    posts: list[float] = field(default_factory=list)
    findings: list[float] = field(default_factory=list)
    missing: int = 0


def _measure(url: str, output: Path, options: argparse.Namespace) -> int:
    import django

    django.setup()
    from django.db import connection as of_django

    bad = register(url, "bad")
    others = [register(url, f"casino-{number}") for number in range(1, options.casinos)]
    of_django.ensure_connection()
    connection: psycopg.Connection[Any] = of_django.connection
    finding = finding_to_prove(bad, connection, wait_s=60)
    measured = {kind: Measured() for kind in (UNDISTURBED, *ATTACKS)}
    rounds = [UNDISTURBED] + [kind for attack in ATTACKS for kind in (UNDISTURBED, attack)] * options.rounds
    for number, kind in enumerate(rounds):
        until = time.time() + options.seconds / (2 if kind == UNDISTURBED else 1)
        attack = None if kind == UNDISTURBED else Attack(kind, number, bad, finding, until, options)
        # Processes that have just started are slow: the first round is not counted.
        into = measured[kind] if number else Measured()
        _round(number, kind, attack, others, connection, options, until, into)
    return _print(measured, output.read_text().count("it is killed"))


@dataclass(frozen=True)
class Attack:
    """What a process of its own sends until ``until``, and tells of when it ends."""

    kind: str
    number: int
    bad: Client
    finding: int
    until: float
    options: argparse.Namespace

    def senders(self) -> list[Bad | Flood]:
        """Return the connections of the attack."""
        until, options = self.until, self.options
        if self.kind == "hostile casino":
            names = [f"bad-r{self.number}-{index}" for index in range(options.senders)]
            return [Bad(self.bad, name, until=until, long=options.long) for name in names]
        if self.kind == "sign-in flood":
            numbers = itertools.count(self.number * 1_000_000)
            return [Flood(wrong_password(self.bad.url, numbers), until=until) for _ in range(options.flood)]
        return [Flood(evidence_requests(self.bad, self.finding), until=until) for _ in range(options.flood)]


def _attack(attack: Attack, summary: Queue[str]) -> None:
    senders = attack.senders()
    for thread in senders:
        thread.start()
    for thread in senders:
        thread.join()
    summary.put(_sent(senders))


def _round(
    number: int,
    kind: str,
    attack: Attack | None,
    others: list[Client],
    connection: psycopg.Connection[Any],
    options: argparse.Namespace,
    until: float,
    into: Measured,
) -> None:
    tables = [
        Ordinary(client, f"{client.code}-r{number}", pace=options.pace, until=until, seed=number * 1_000 + index)
        for index, client in enumerate(others)
    ]
    # The threads that measure share no interpreter with those that attack.
    spawned = multiprocessing.get_context("spawn")
    summary = spawned.Queue()
    attacker = spawned.Process(target=_attack, args=(attack, summary)) if attack else None
    if attacker:
        attacker.start()
    for thread in tables:
        thread.start()
    for thread in tables:
        thread.join()
    sent = summary.get(timeout=120) if attacker else ""
    if attacker:
        attacker.join()
    delays, late = delays_of(connection, tables, wait_s=options.wait)
    posts = [took for table in tables for took in table.took]
    into.posts += posts
    into.findings += delays
    into.missing += late
    print(
        f"round {number}: {kind}: POST p95 {_quantile(posts, 0.95):.3f} s, findings p95"
        f" {_quantile(delays, 0.95):.3f} s, worst {max(delays, default=0):.3f} s of {len(delays)}, {late} missing;"
        f" load {os.getloadavg()[0]:.1f}{sent}",
        flush=True,
    )
    if kind == "hostile casino":
        _wait_until_idle(connection, options.wait)


def _sent(attackers: list[Bad | Flood]) -> str:
    events = sum(each.events for each in attackers if isinstance(each, Bad))
    corrections = sum(each.corrections for each in attackers if isinstance(each, Bad))
    statuses: dict[int, int] = {}
    for each in attackers:
        for status, count in (each.statuses if isinstance(each, Flood) else each.refused).items():
            statuses[status] = statuses.get(status, 0) + count
    sent = f"; {events} events, {corrections} corrections" if events else ""
    return sent + (f"; answers {statuses}" if statuses else "")


def _wait_until_idle(connection: psycopg.Connection[Any], wait_s: float) -> None:
    """Wait until nothing is dirty, so that the next round begins as the first; no longer than ``wait_s``."""
    from audit.event_store import read
    from settlement import ENGINE_VERSION

    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        [(waiting,)] = connection.execute(
            f"select count(*) from {read.DIRTY}", read.dirty_params(ENGINE_VERSION)
        ).fetchall()
        if not waiting:
            return
        time.sleep(0.5)


def _quantile(values: list[float], q: float) -> float:
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[min(98, round(q * 100) - 1)]


def _print(measured: dict[str, Measured], killed: int) -> int:
    """Print each attack beside what is undisturbed; return the exit status, 0 if the target is met."""
    calm = measured[UNDISTURBED]
    if not calm.findings:
        raise SystemExit("no finding came: what is sent as irregular is none")
    ratios: list[float] = []
    for kind, each in measured.items():
        posts, findings = _quantile(each.posts, 0.95), _quantile(each.findings, 0.95)
        pair = (posts / _quantile(calm.posts, 0.95), findings / _quantile(calm.findings, 0.95))
        ratios += pair
        print(
            f"{kind:<14} POST p95 {1_000 * posts:.0f} ms ({pair[0]:.2f} x)  finding p95 {1_000 * findings:.0f} ms"
            f" ({pair[1]:.2f} x) of {len(each.findings)}; {each.missing} never came"
        )
    print(f"target: at most {TARGET:g} x; processes killed as hung: {killed} (target: 0)")
    is_met = all(ratio <= TARGET for ratio in ratios) and not killed
    return 0 if is_met and not any(each.missing for each in measured.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
