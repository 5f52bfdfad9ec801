"""``python -m benchmarks.sealing``: how long an accepted batch waits for its leaf while the web server is under load.

One run on a real PostgreSQL: web server, clients and sequencer share the machine. The age of the oldest batch without a
leaf is sampled throughout; the table shows the median and the maximum of the samples.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks.database import ROOT, database
from benchmarks.record import BATCH, Run

MAX_MS = 250
SAMPLE_INTERVAL_S = 0.02

_OLDEST = """
select extract(epoch from clock_timestamp() - min(b.received_at))::float8 * 1000
from log.outbox o join log.batch b using (stream_id, first_seq)
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sealing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="duration of each load")
    seconds = parser.parse_args().seconds
    table = Table(title="Age of the oldest batch waiting for its leaf")
    for heading in ("load", "events/s", "median ms", "maximum ms", "samples"):
        table.add_column(heading, justify="left" if heading == "load" else "right")
    maximum_ms = 0.0
    with database(CABOCHON_RATE="100000000/min", CABOCHON_PROCESSOR_BURST_S="1e9") as environment:
        run = Run(environment, argparse.Namespace(seconds=seconds))
        for batch, clients in ((BATCH, 4), (1, 8)):
            with _sequencer(environment), _sampled_ages(environment["DATABASE_URL"]) as ages_ms:
                rate = run.http(batch, clients=clients)
            maximum_ms = max(maximum_ms, *ages_ms)
            figures = (f"{rate:,.0f}", f"{statistics.median(ages_ms):.0f}", f"{max(ages_ms):.0f}", str(len(ages_ms)))
            table.add_row(f"batches of {batch:,}, {clients} clients", *figures)
    Console().print(table)
    return 0 if maximum_ms <= MAX_MS else 1


@contextmanager
def _sequencer(environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "manage.py", "sequence"], cwd=ROOT, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _sampled_ages(url: str) -> Iterator[list[float]]:
    """Sample the age of the oldest waiting batch until the end; yield the ages in ms, none while no batch waits."""
    ages_ms: list[float] = []
    ended = threading.Event()

    def sample() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not ended.wait(SAMPLE_INTERVAL_S):
                row = connection.execute(_OLDEST).fetchone()
                if row is not None and row[0] is not None:
                    ages_ms.append(row[0])

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield ages_ms
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
