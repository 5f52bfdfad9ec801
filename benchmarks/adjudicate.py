"""``python -m benchmarks.adjudicate``: events adjudicated per second, compared with ``json.loads`` of the same bytes.

One process, a generated session of each ruleset, decoding from bytes included. Seconds are those of the processor, so
that other processes do not count. Each figure is the median of several rounds, and the ratio the median of theirs; the
subjects alternate, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from datetime import date
from typing import Any

from rich.console import Console
from rich.table import Table

from audit.simulation import RULESET_NAMES, play
from benchmarks import EVENTS_A_COUP
from settlement import adjudicate
from settlement.codec import decode_all
from settlement.streams import fold

MIN_RATIO, TARGET = 0.9, 250_000
"""The slowest ruleset must reach this share of ``json.loads``, and should reach this many events a second."""


def night_of(ruleset: str, events: int) -> list[bytes]:
    """Return one session of about ``events`` events, each as the bytes a table system sends."""
    coups = max(10, events // EVENTS_A_COUP[ruleset])
    played = play(
        ruleset, casino="bench", code="T1", gaming_day=date(2026, 11, 19), seed=7, coups=coups, irregularities=()
    )
    return [json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() for event in played.events]


def measure(lines: list[bytes], rounds: int) -> dict[str, float]:
    """Return events a second of each subject, and under "ratio" that of adjudicate to json.loads: medians of rounds."""
    decoded = decode_all(lines)
    subjects: dict[str, Callable[[], Any]] = {
        "json.loads": lambda: [json.loads(line) for line in lines],
        "decode": lambda: decode_all(lines),
        "fold": lambda: fold(decoded),
        "adjudicate": lambda: adjudicate(lines),
    }
    seconds: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, subject in subjects.items():
            gc.collect()
            started = time.process_time()
            subject()
            seconds[name].append(time.process_time() - started)
    rates = {name: len(lines) / statistics.median(times) for name, times in seconds.items()}
    ratios = (loads / own for loads, own in zip(seconds["json.loads"], seconds["adjudicate"], strict=True))
    return rates | {"ratio": statistics.median(ratios)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000, help="events of each session, about")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    table = Table(title="Events a second, one process, from bytes")
    for heading in ("ruleset", "events", "bytes each", "json.loads", "decode", "fold", "adjudicate", "÷ json.loads"):
        table.add_column(heading, justify="left" if heading == "ruleset" else "right")
    rates, ratios = [], []
    for ruleset in RULESET_NAMES:
        lines = night_of(ruleset, options.events)
        rate = measure(lines, options.rounds)
        rates.append(rate["adjudicate"])
        ratios.append(rate["ratio"])
        table.add_row(
            ruleset,
            f"{len(lines):,}",
            f"{sum(map(len, lines)) / len(lines):.0f}",
            *(f"{rate[name]:,.0f}" for name in ("json.loads", "decode", "fold", "adjudicate")),
            f"{rate['ratio']:.2f}",
        )
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    console.print(
        f"Slowest: {min(rates):,.0f} events/s (target {TARGET:,}); "
        f"{min(ratios):.2f} of json.loads (at least {MIN_RATIO:.2f})."
    )


if __name__ == "__main__":
    main()
