"""``python -m benchmarks.cluster``: one PostgreSQL against a Citus cluster, on one machine, in alternating rounds.

``CABOCHON_TEST_CITUS`` is the address of a coordinator for a superuser, of which each worker may sign in at each other.
Both logs are databases on the coordinator's server and its workers: one is plain, one distributed. So only ratios mean
something, and they say what a cluster costs where it gains nothing, as all of its nodes share the cores of one machine.
Each round accepts, seals, verifies and replays the same nights in both, in turns of who is first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.database import ROOT
from benchmarks.processes import ready_process
from tests import citus

KINDS = ("one server", "cluster", "cluster, near a worker")

_ROUND = """
import argparse, json, os, sys
from benchmarks.record import Run, _timed
run = Run(dict(os.environ), argparse.Namespace(events=int(sys.argv[1]), rounds=0, seconds=float(sys.argv[2])))
run.warm_up = run._play(10_000)
run._accept(run.warm_up)
print("ready", flush=True)
for line in sys.stdin:
    streams = run._play(int(line))
    events = sum(len(lines) for _, lines in streams)
    figures = {"accept": events / _timed(lambda: run._accept(streams)), "seal": events / _timed(run._seal)}
    figures["verify"] = run._verify()
    figures["replay"] = events / run._replay(streams, processes=1)
    figures["HTTP, batches of 1,000"] = run.http(1_000, clients=4)
    figures["HTTP, single events"] = run.http(1, clients=8)
    print(json.dumps(figures), flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--events", type=int, default=60_000, help="events of one round, all tables together")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="duration of each HTTP measurement")
    options = parser.parse_args()
    if not citus.COORDINATOR:
        parser.error("CABOCHON_TEST_CITUS is not set: the address of a coordinator for a superuser")
    measured: dict[str, dict[str, list[float]]] = {kind: {} for kind in KINDS}
    with _started(options.events, options.seconds) as processes:
        for number in range(1, options.rounds + 1):
            for kind in KINDS if number % 2 else KINDS[::-1]:
                for name, value in _round(processes[kind], number).items():
                    measured[kind].setdefault(name, []).append(value)
    _print(measured)
    return 0


@contextmanager
def _started(events: int, seconds: float) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Start a process of each kind, each with a database of its own; drop them at the end."""
    created, processes = [], {}
    with tempfile.TemporaryDirectory() as data:
        try:
            for kind in KINDS:
                new = citus.new_database(ROOT, is_distributed=kind != KINDS[0])
                url = next(new)
                created.append(new)
                processes[kind] = _process(url, data, (events, seconds), is_near=kind == KINDS[2])
            yield processes
        finally:
            for process in processes.values():
                process.communicate()
            for new in created:
                next(new, None)


def _process(url: str, data: str, sizes: tuple[int, float], *, is_near: bool) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "CABOCHON_DATA": data,
        "CELERY_BROKER_URL": "memory://",
        "CABOCHON_RATE": "100000000/min",
        "CABOCHON_PROCESSOR_BURST_S": "1e9",
        "DJANGO_SETTINGS_MODULE": "casino.settings",
    }
    if is_near:
        environment["CABOCHON_NEAR_URL"] = citus.database_of(citus.nodes()[1], url.rpartition("/")[2])
    make_key = [sys.executable, "manage.py", "logkey", "--make", "--quiet"]
    subprocess.run(make_key, cwd=ROOT, env=environment, check=True)
    return ready_process("-c", _ROUND, *map(str, sizes), environment=environment)


def _round(process: subprocess.Popen[str], number: int) -> dict[str, float]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{number}\n")
    process.stdin.flush()
    figures: dict[str, float] = json.loads(process.stdout.readline())
    return figures


def _print(measured: dict[str, dict[str, list[float]]]) -> None:
    base = measured[KINDS[0]]
    for kind in KINDS[1:]:
        for name, values in measured[kind].items():
            ratios = [each / one for each, one in zip(values, base[name], strict=True)]
            print(
                f"{kind}: {name} {statistics.median(ratios):.2f} ({min(ratios):.2f} – {max(ratios):.2f}) of one server"
            )


if __name__ == "__main__":
    sys.exit(main())
