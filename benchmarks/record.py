"""``python -m benchmarks.record``: how fast the record accepts, verifies and replays events, against a plain COPY.

One run on a real PostgreSQL, on its own database. A is a binary COPY of the same events into a plain table of
``(stream_id, seq, occurred_at, envelope jsonb)`` with the same key, and B the same with ``envelope json``, the type of
the event store's own column, which PostgreSQL checks and does not convert. Each round takes every measurement and each
figure is the median of its rounds, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks import EVENTS_A_COUP
from benchmarks.database import ROOT, database
from benchmarks.processes import ready_process
from benchmarks.replay_parts import counted_per_s, parts_of_replay
from casino.web import freeze

TABLES = 32
"""Tables of a round, each with the events of a busy night: about 12,500."""

BATCH = 1_000
THREADS = 4
"""Threads of the accepting process: as many as a web server process has."""

GOALS: dict[str, tuple[float, float, str]] = {
    # A is the disk's and PostgreSQL's, the rest mostly the processor's: the ratio is one of the machine, too. So the
    # floors in A are a tenth or more below the least of five machines; those over eventsourcing vary less. Replay has
    # lower ones since it adds up what the close did before.
    "accept, one process": (0.30, 0.65, "A"),
    "accept over eventsourcing": (2.0, 3.5, "×"),
    "HTTP, batches of 1,000": (0.30, 0.90, "A"),
    "HTTP, single events": (1_000, 3_000, "/s"),
    "verify, one process": (1.25, 2.5, "A"),
    "replay, one process": (0.15, 0.5, "A"),
    "replay, two over one": (1.5, 1.9, "×"),
    "replay over eventsourcing, both counting": (8.0, 15.0, "×"),
    "replay by the law over eventsourcing counting": (1.2, 3.0, "×"),
    "disk over payload": (1.6, 1.4, "≤"),
}

Stream = tuple[str, list[bytes]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record", description=__doc__)
    parser.add_argument("--events", type=int, default=400_000, help="events of one round, all tables together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of each HTTP measurement")
    parser.add_argument(
        "--memory", type=int, default=1_000_000, metavar="N", help="events of the longest stream; 0: none"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    options = parser.parse_args()
    with database(CABOCHON_RATE="100000000/min", CABOCHON_PROCESSOR_BURST_S="1e9") as environment:
        figures = Run(environment, options).all()
    _print(figures)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 0


class Run:
    """One run of the benchmark on its own database."""

    def __init__(self, environment: dict[str, str], options: argparse.Namespace) -> None:
        self.options = options
        self.environment = environment
        import django

        django.setup()
        from audit.models import ApiKey, Casino, GamingTable, KeyScope

        self.casino = Casino.objects.create(code="bench", name="bench")
        GamingTable.objects.create(casino=self.casino, code="T1")
        self.key, self.secret = ApiKey.make(casino=self.casino, name="bench", scopes=list(KeyScope.values))

    def all(self) -> dict[str, Any]:
        """Take every measurement and return the figures by name."""
        console = Console(stderr=True)
        self.warm_up = self._play(self.options.rounds + 1)
        self._accept(self.warm_up)
        freeze()  # this process accepts like one of the web server's
        measured: dict[str, list[float]] = {}
        for number in range(self.options.rounds):
            with console.status(f"round {number + 1} of {self.options.rounds}"):
                for name, value in self._round(number).items():
                    measured.setdefault(name, []).append(value)
        figures: dict[str, Any] = {name: statistics.median(values) for name, values in measured.items()}
        base = figures["A, rows/s"]
        for name in ("accept, one process", "verify, one process", "replay, one process"):
            figures[f"{name}, events/s"] = figures[name]
            figures[f"{name}, by B"] = figures[name] / figures["B, rows/s"]
            figures[name] /= base
        with console.status("HTTP"):
            figures["HTTP, batches of 1,000, events/s"] = self.http(BATCH, clients=4)
            figures["HTTP, batches of 1,000"] = figures["HTTP, batches of 1,000, events/s"] / base
            figures["HTTP, batches of 1,000, by B"] = figures["HTTP, batches of 1,000, events/s"] / figures["B, rows/s"]
            figures["HTTP, single events"] = self.http(1, clients=8)
        with console.status("disk, eventsourcing, memory"):
            figures["disk over payload"] = self._disk()
            figures |= self._eventsourcing(figures)
            if self.options.memory:
                figures["memory, MiB by events"] = self._memory(self.options.memory)
        return figures

    def _round(self, number: int) -> dict[str, float]:
        streams = self._play(number)
        events = sum(len(lines) for _, lines in streams)
        copied = {column: events / self._copy(streams, column) for column in ("jsonb", "json")}
        accept = events / _timed(lambda: self._accept(streams))
        self._seal()
        verify = self._verify()
        one = self._replay(streams, processes=1)
        two = self._replay(streams, processes=2)
        decoding, folding = parts_of_replay(self._ids(streams))
        return {
            "A, rows/s": copied["jsonb"],
            "B, rows/s": copied["json"],
            "accept, one process": accept,
            "verify, one process": verify,
            "replay, one process": events / one,
            "replay, two over one": one / two,
            "of replay, reading and decoding": decoding / one,
            "of replay, folding": folding / one,
            "of replay, committing findings": 1 - (decoding + folding) / one,
        }

    def _play(self, number: int) -> list[Stream]:
        """Simulate a night of the rulesets, in new streams."""
        from audit.models import GamingTable
        from audit.simulation import RULESET_NAMES, play

        share = self.options.events // TABLES
        streams: list[Stream] = []
        for index in range(TABLES):
            ruleset = tuple(RULESET_NAMES)[index % len(RULESET_NAMES)]
            code = f"{ruleset}-{number}-{index}"
            GamingTable.objects.create(casino=self.casino, code=code)
            night = play(
                ruleset, casino="bench", code=code, gaming_day=date(2026, 11, 19), seed=number,
                coups=share // EVENTS_A_COUP[ruleset],
            )  # fmt: skip
            lines = [json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() for event in night.events]
            streams.append((night.stream, lines))
        return streams

    def _copy(self, streams: Sequence[Stream], column: str) -> float:
        """Return the seconds of a copy of the events, encoded beforehand, into a plain table; A is jsonb, B is json."""
        from settlement.codec import decode_canonical

        pack, epoch = struct.Struct(">hiqiqiqi").pack, datetime(2000, 1, 1, tzinfo=UTC)
        version = b"\x01" if column == "jsonb" else b""
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:
            connection.execute("drop table if exists plain")
            connection.execute(
                f"create table plain (stream_id bigint, seq bigint, occurred_at timestamptz, envelope {column},"
                " primary key (stream_id, seq))"
            )
        rows = [b"PGCOPY\n\xff\r\n\0" + bytes(8)]
        for index, (_, lines) in enumerate(streams):
            block = []
            for line in lines:
                event, envelope = decode_canonical(line)
                instant = (event.occurred_at - epoch) // timedelta(microseconds=1)
                head = pack(4, 8, index, 8, event.seq, 8, instant, len(version) + len(envelope))
                block.append(head + version + envelope)
            rows.append(b"".join(block))
        rows.append(b"\xff\xff")

        def copy() -> None:
            with (
                psycopg.connect(self.environment["DATABASE_URL"]) as connection,
                connection.cursor() as cursor,
                cursor.copy("copy plain from stdin (format binary)") as target,
            ):
                for each in rows:
                    target.write(each)

        return _timed(copy)

    def _accept(self, streams: Sequence[Stream]) -> None:
        """Decode, validate, hash and append in the threads of one process: what a web server does, without HTTP.

        The batch that opens a stream is Django's, those that follow are plain.
        """
        from django.db import connection

        from audit.api.recording import columns_of
        from audit.event_store.append import append_named
        from audit.ingest.bodies import Body
        from audit.ingest.record import record

        def send(stream: Stream) -> None:
            name, lines = stream
            for low in range(0, len(lines), BATCH):
                batch = lines[low : low + BATCH]
                raw = b"[" + b",".join(batch) + b"]"
                parsed = columns_of(name, raw) if low else None
                if parsed is None:
                    record(self.key, name, Body(b"", batch, "", raw))
                    continue
                columns, next_seq = parsed
                key = self.key
                stored = append_named(key.casino_id, name, key.own_tables, columns, next_seq=next_seq, key_id=key.pk)
                assert stored is not None
            connection.close()

        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(send, streams))

    def _seal(self) -> None:
        from audit.transparency.sequencer import Sequencer, catch_up

        sequencer = Sequencer(lambda left: None)
        sequencer.load()
        catch_up(sequencer)

    def _ids(self, streams: Sequence[Stream]) -> list[int]:
        from audit.models import LoggedStream

        return list(LoggedStream.objects.filter(name__in=[name for name, _ in streams]).values_list("pk", flat=True))

    def _verify(self) -> float:
        """Verify the whole event store, tree and signatures included, and return events per second."""
        from audit.transparency import signing_keys
        from audit.transparency.verify import verify

        started = time.perf_counter()
        outcome = verify(signing_keys.verifiers("checkpoint"))
        took = time.perf_counter() - started
        assert outcome.faults == [], outcome.faults[:3]
        return outcome.events / took

    def _replay(self, streams: Sequence[Stream], *, processes: int) -> float:
        """Return the seconds from nothing to committed findings, in warm processes.

        As with a broker, each process takes the next stream when it has finished one.
        """
        from audit.models import Adjudication, AdjudicationRun, Finding, RetiredWagers

        ids, before = self._ids(streams), self._ids(self.warm_up)[:processes]
        Finding.objects.filter(stream_id__in=ids + before).delete()
        RetiredWagers.objects.filter(run__stream_id__in=ids + before).delete()
        Adjudication.objects.filter(stream_id__in=ids + before).delete()
        AdjudicationRun.objects.filter(stream_id__in=ids + before).delete()
        workers = [ready_process("-c", _WORKER, environment=self.environment) for _ in before]
        for worker, warm_up in zip(workers, before, strict=True):
            _hand(worker, [warm_up])
        waiting = list(ids)
        started = time.perf_counter()
        with ThreadPoolExecutor(processes) as threads:
            list(threads.map(lambda worker: _hand(worker, waiting), workers))
        took = time.perf_counter() - started
        for worker in workers:
            worker.communicate()
        assert [worker.returncode for worker in workers] == [0] * processes
        return took

    def http(self, batch: int, *, clients: int) -> float:
        """Return events per second over HTTP, with two server workers."""
        port = 18_500 + os.getpid() % 1_000
        environment = {**self.environment, "CABOCHON_PROCESS": "web", "CABOCHON_BIND": f"127.0.0.1:{port}"}
        server = subprocess.Popen(
            [sys.executable, "-m", "casino.web"],
            cwd=ROOT, env=environment, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _until_up(port)
            load_clients = []
            for number in range(clients):
                name = f"load-{batch}-{number}-{uuid4().hex[:8]}"
                arguments = (str(port), self.secret, "bench", name, str(batch), str(self.options.seconds))
                load_clients.append(ready_process("benchmarks/load.py", *arguments))
            for client in load_clients:
                assert client.stdin is not None
                client.stdin.write("\n")
                client.stdin.flush()
            rates = []
            for client in load_clients:
                assert client.stdout is not None
                sent, took = client.stdout.readline().split()
                rates.append(int(sent) / float(took))
            return sum(rates)
        finally:
            server.terminate()
            server.wait()

    def _disk(self) -> float:
        with psycopg.connect(self.environment["DATABASE_URL"]) as connection:
            row = connection.execute(
                "select sum(pg_total_relation_size(i.inhrelid)),"
                " (select sum(octet_length(envelope::text)) from log.event)"
                " from pg_inherits i where i.inhparent = 'log.event'::regclass"
            ).fetchone()
        assert row is not None
        return float(row[0]) / float(row[1])

    def _eventsourcing(self, figures: dict[str, Any]) -> dict[str, float]:
        """Return what PyPI's eventsourcing stores and replays in a second, and how many times as fast Cabochon is."""
        from benchmarks.eventsourced import replayed_per_s, stored_per_s

        streams = self._play(self.options.rounds)
        stored = stored_per_s(self.environment["DATABASE_URL"], streams)
        ours = sum(len(lines) for _, lines in streams) / _timed(lambda: self._accept(streams))
        one_of_each_ruleset = streams[: len(EVENTS_A_COUP)]
        replayed = replayed_per_s(self.environment["DATABASE_URL"], one_of_each_ruleset)
        counted = counted_per_s(self._ids(one_of_each_ruleset))
        return {
            "eventsourcing, events/s": stored,
            "accept over eventsourcing": ours / stored,
            "eventsourcing, replay, events/s": replayed,
            "replay over eventsourcing, both counting": counted / replayed,
            "replay by the law over eventsourcing counting": figures["replay, one process, events/s"] / replayed,
        }

    def _memory(self, longest: int) -> dict[str, float]:
        """Return a worker's peak resident memory in MiB, by the number of events in the one stream it replays."""
        peaks: dict[str, float] = {}
        events = 10_000
        while events <= longest:
            stream_id = self._long_stream(events)
            worker = ready_process("-c", _WORKER, environment=self.environment)
            assert worker.stdin is not None
            peak = 0
            worker.stdin.write(f"{stream_id}\n")
            worker.stdin.close()
            process = psutil.Process(worker.pid)
            while worker.poll() is None:
                try:
                    peak = max(peak, process.memory_info().rss)
                except psutil.Error:
                    break
                time.sleep(0.02)
            assert worker.wait() == 0
            peaks[f"{events:,}"] = round(peak / 2**20, 1)
            events *= 10
        return peaks

    def _long_stream(self, events: int) -> int:
        """Record a stream of about ``events`` events: one night over and over, its wagers renamed. Return its id."""
        from audit.ingest.bodies import Body
        from audit.ingest.record import record
        from audit.models import GamingTable, LoggedStream
        from audit.simulation import play

        name = f"long-{events}"
        GamingTable.objects.create(casino=self.casino, code=name)
        night = play(
            "fr-roulette", casino="bench", code=name, gaming_day=date(2026, 11, 19), seed=1,
            coups=min(events, 20_000) // EVENTS_A_COUP["fr-roulette"],
        ).events  # fmt: skip
        coups, seq = night[1:-1], 0
        lines: list[bytes] = []
        for turn in range(-(-events // len(coups))):
            for event in night[:1] + coups if turn == 0 else coups:
                seq += 1
                content = {**event, "data": _renamed(event["data"], turn), "stream": name, "seq": seq}
                lines.append(json.dumps(content, separators=(",", ":")).encode())
                if len(lines) == BATCH:
                    record(self.key, name, Body(b"", lines, "", b"[" + b",".join(lines) + b"]"))
                    lines = []
        if lines:
            record(self.key, name, Body(b"", lines, "", b"[" + b",".join(lines) + b"]"))
        return int(LoggedStream.objects.get(name=name).pk)


def _renamed(data: dict[str, Any], turn: int) -> dict[str, Any]:
    """Return an event's data with its wagers renamed for ``turn``."""
    renamed = {name: f"{turn}-{data[name]}" for name in ("wager", "base", "left_up_from") if data.get(name)}
    if "wagers" in data:
        renamed["wagers"] = [f"{turn}-{wager}" for wager in data["wagers"]]
    return {**data, **renamed}


_WORKER = """
import sys, django
django.setup()
from audit.adjudication.replay import advance
from django.db import connection
connection.ensure_connection()
print("ready", flush=True)
for line in sys.stdin:
    while (progress := advance(int(line))) is not None and progress.behind:
        pass
    print("done", flush=True)
"""


def _hand(worker: subprocess.Popen[str], waiting: list[int]) -> None:
    """Hand a worker one waiting stream after another, until none is left."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    while waiting:
        try:
            stream_id = waiting.pop()
        except IndexError:
            return
        worker.stdin.write(f"{stream_id}\n")
        worker.stdin.flush()
        if worker.stdout.readline().strip() != "done":
            raise RuntimeError("a worker failed")


def _timed(step: Callable[[], None]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def _until_up(port: int) -> None:
    import urllib.request

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"http://localhost:{port}/health/accepts", timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the web server did not start")


def _print(figures: dict[str, Any]) -> None:
    table = Table(title="The record against a binary COPY of the same rows (A)")
    for heading in ("", "figure", "at least", "aim", ""):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, (least, aim, unit) in GOALS.items():
        value = figures[name]
        is_met = value <= least if unit == "≤" else value >= least
        shown = f"{value:,.0f}{unit}" if unit == "/s" else f"{value:.2f} {unit}"
        table.add_row(name, shown, f"{least:g}", f"{aim:g}", "" if is_met else "below")
    console = Console()
    console.print(table)
    for name, value in figures.items():
        if name not in GOALS:
            console.print(f"{name}: {value if isinstance(value, dict) else f'{value:,.2f}'}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
