"""``python -m benchmarks.night``: a night of 200 tables and 2 million events, reconciled in one go.

It runs on a real PostgreSQL, in a database that is dropped at the end. The work of the day is timed as well: replay,
and at the close of each session its figures, the money of its players and the evidence ledger. Then the count comes,
and from it to the report only what was kept is joined. Recording is not timed. ``--different`` sessions are simulated
and recorded under the names of all tables. Memory is the peak of this process; with ``--workers``, several processes
compute the figures of the sessions. ``--whole`` has the sessions arrive after they were played: each is
closed as soon as it is replayed. Processor time is that of this process, without the database's.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from multiprocessing import get_context
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.database import ROOT, database

DAY = "2026-11-19"
EVENTS_A_COUP = {"fr-craps": 9, "fr-roulette": 13, "fr-american-roulette": 15}
BATCH = 1_000
IN_PASSING = (
    "replay",
    "closes: verify, figures, money, evidence",
    "ledger fed",
)
"""What is done while the tables play, or as soon as one closes."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.night", description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--events", type=int, default=2_000_000, help="of the night, approximately")
    parser.add_argument("--different", type=int, default=24, help="sessions simulated; the others repeat them")
    parser.add_argument("--workers", type=int, default=1, help="processes that compute figures")
    parser.add_argument("--whole", action="store_true", help="the sessions arrive whole, one after the other")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _measure(options)
        return
    with database() as environment:
        command = [sys.executable, "-m", "benchmarks.night", "--inside", *sys.argv[1:]]
        subprocess.run(command, env=environment, cwd=ROOT, check=True)


def set_up() -> None:
    """Set up Django in this process, and freeze what is loaded, as a worker does."""
    import django

    from casino import celery

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    django.setup()
    importlib.import_module("audit.tasks")
    celery.freeze()


def one_session(session: tuple[int, int]) -> int:
    """Compute the figures of one session, a stream id and its last seq. Return this process's peak memory in KiB."""
    from audit.reconciliation import sessions

    sessions.compute_figures(*session)
    return _peak_kib()


def _peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _measure(options: argparse.Namespace) -> None:
    set_up()
    console = Console(width=None if sys.stdout.isatty() else 100)
    from datetime import UTC, date, datetime

    from audit.event_store import read
    from audit.ledger import feeding
    from audit.models import Casino, NightRun
    from audit.reconciliation import runs, sheets
    from audit.reconciliation.pdf import as_pdf

    casino = Casino.objects.create(code="bench", name="Benchmark")
    events, streams, drops = _recorded(casino, options, console)
    elapsed: dict[str, float] = {}
    worked: dict[str, float] = {}
    begin = partial(_timed, elapsed, worked)
    if options.whole:
        peak = _one_by_one(streams, begin)
    else:
        with begin("replay"):
            _replay(streams)
        with begin("closes: verify, figures, money, evidence"):
            peak = _closes(sorted(read.last_seqs(streams).items()), options.workers)
    with begin("ledger fed"):
        fed = feeding.feed(casino)
    assert fed >= len(streams), "a batch of each session, and of each evening of persons"
    _count(casino, drops)
    with begin("from the last count to the report"):
        assert feeding.feed_sessions(casino) == 0
        run = runs.begin(casino, date.fromisoformat(DAY), actor="benchmark")
        assert not runs.pending_sessions(run)
        (report,) = runs.finish(NightRun.objects.get(pk=run.pk), now=datetime(2026, 11, 20, 12, tzinfo=UTC))
    with begin("ledger fed with payouts and counts"):
        feeding.feed(casino)
    for name, render in (
        ("PDF", lambda: as_pdf(report, "fr")),
        ("XLSX", lambda: sheets.as_xlsx(report)),
        ("JSON", lambda: sheets.as_json(report)),
    ):
        with begin(name):
            render()
    total = report.parsed_content()["total"]
    assert total["bridge"]["accounting_variance"] == 0
    assert total["W_acct"] == sum(amount for name, amount in total["bridge"].items() if name != "accounting_win")
    table = Table(title=f"A night of {len(streams)} tables, {events:,} events, {options.workers} process(es)")
    for heading in ("", "s", "processor", "events/s"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, seconds in elapsed.items():
        rate = f"{events / seconds:,.0f}" if name in IN_PASSING else ""
        table.add_row(name, f"{seconds:.2f}", f"{worked[name]:.2f}", rate)
    everything = sum(elapsed.values())
    table.add_row("all", f"{everything:.2f}", f"{sum(worked.values()):.2f}", f"{events / everything:,.0f}")
    console.print(table)
    console.print(
        f"Peak memory: {peak / 1024:,.0f} MiB in a process that reads sessions, {_peak_kib() / 1024:,.0f} MiB here."
    )


@contextmanager
def _timed(elapsed: dict[str, float], worked: dict[str, float], name: str) -> Iterator[None]:
    """Add the seconds of a block under a name: those that pass, and those that this process works."""
    began, used = time.perf_counter(), time.process_time()
    yield
    elapsed[name] = elapsed.get(name, 0) + time.perf_counter() - began
    worked[name] = worked.get(name, 0) + time.process_time() - used


def _one_by_one(streams: list[int], begin: Callable[[str], AbstractContextManager[None]]) -> int:
    """Replay and close one session after the other. Return this process's peak memory in KiB."""
    from audit.event_store import read
    from audit.reconciliation.sessions import bring_up_to_date, compute_figures

    for stream_id in streams:
        with begin("replay"):
            bring_up_to_date(stream_id)
        with begin("closes: verify, figures, money, evidence"):
            compute_figures(stream_id, read.next_seq_of(stream_id) - 1)
    return _peak_kib()


def _closes(pending: list[tuple[int, int]], workers: int) -> int:
    """Compute the figures of sessions that were replayed. Return the peak memory in KiB of a process that does."""
    if workers == 1:
        return max(map(one_session, pending))
    from django.db import connections

    connections.close_all()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=set_up) as pool:
        return max(pool.map(one_session, pending))


def _recorded(casino: Any, options: argparse.Namespace, console: Console) -> tuple[int, list[int], dict[str, int]]:
    """Record and seal the night; return how many events it has, its streams, and the drop of each session."""
    from datetime import date

    from audit.event_store.append import NewEvent, append, open_stream
    from audit.models import GamingTable
    from audit.simulation import play
    from audit.transparency.sequencer import Sequencer, catch_up
    from settlement.codec import decode_canonical_all, next_seq_after

    rulesets = list(EVENTS_A_COUP)
    each = options.events // options.tables
    played = []
    for number in range(min(options.different, options.tables)):
        ruleset = rulesets[number % len(rulesets)]
        coups = each // EVENTS_A_COUP[ruleset]
        played.append(
            play(ruleset, casino="bench", code="T", gaming_day=date.fromisoformat(DAY), seed=number, coups=coups)
        )
    total = 0
    streams: list[int] = []
    drops: dict[str, int] = {}
    with console.status("Recording the night …"):
        for number in range(options.tables):
            night = played[number % len(played)]
            table = GamingTable.objects.create(casino=casino, code=f"T{number + 1:03}")
            name = f"bench.{table.code}.{DAY}.1"
            text = json.dumps(
                [{**event, "stream": name} for event in night.events], ensure_ascii=False, separators=(",", ":")
            )
            text = text.replace('"T-', f'"{table.code}-').replace('"table":"T"', f'"table":"{table.code}"')
            text = text.replace("croupier-1", f"croupier-{number + 1}")
            read = decode_canonical_all(text.encode())
            assert read is not None, "the simulation writes valid events"
            data = night.events[0]["data"]
            stream_id = open_stream(
                casino_id=casino.pk, table_id=table.pk, name=name, gaming_day=date.fromisoformat(DAY),
                game=data["game"], ruleset=data["ruleset"], currency="EUR",
            )  # fmt: skip
            pairs = list(zip(*read, strict=True))
            for first in range(0, len(pairs), BATCH):
                part = pairs[first : first + BATCH]
                entries = [NewEvent(event.seq, event.occurred_at, envelope) for event, envelope in part]
                append(stream_id, entries, next_seq=next_seq_after(part[-1][0]), key_id=1)
            streams.append(stream_id)
            total += len(pairs)
            drops[name] = sum(e["data"]["amount"] for e in night.events if e["type"] == "buy_in.recorded")
        sequencer = Sequencer(lambda left: None)
        sequencer.load()
        catch_up(sequencer)
    return total, streams, drops


def _replay(streams: list[int]) -> None:
    """Adjudicate every stream to its end."""
    from audit.adjudication.replay import advance

    for stream_id in streams:
        while (progress := advance(stream_id)) is not None and progress.behind:
            continue


def _count(casino: Any, drops: dict[str, int]) -> None:
    from datetime import UTC, date, datetime

    from audit.event_store.append import NewEvent, append, open_stream

    moment = datetime(2026, 11, 20, 7, tzinfo=UTC)
    events: list[tuple[str, dict[str, Any]]] = [
        ("count.opened", {"casino": "bench", "gaming_day": DAY, "currency": "EUR"}),
        *(
            ("drop.counted", {"session": name, "amount": drop, "counted_by": ["a", "b"]})
            for name, drop in drops.items()
        ),
        ("count.closed", {}),
    ]
    entries = []
    for seq, (kind, data) in enumerate(events, start=1):
        event = {"seq": seq, "stream": "bench.count", "type": kind, "v": 1, "data": data}
        event["occurred_at"] = "2026-11-20T07:00:00+00:00"
        envelope = json.dumps(event, sort_keys=True, separators=(",", ":")).encode()
        entries.append(NewEvent(seq, moment, envelope))
    stream_id = open_stream(
        casino_id=casino.pk, table_id=None, name="bench.count", gaming_day=date.fromisoformat(DAY), game=None,
        ruleset=None, currency="EUR",
    )  # fmt: skip
    append(stream_id, entries, next_seq=len(entries) + 1, key_id=1)


if __name__ == "__main__":
    main()
