"""Fair years of a casino of 20 tables, ten wheels and ten craps tables: how many questions are asked.

    python -m benchmarks.fair_years    those about the money of persons in 2,000 clean nights (``fair_money``); fails if
                                       there is more than one a week. The others: ``python -m benchmarks.fraud --false``

Everything is even and independent. A year has 300 sessions a table, of 300 spins or 150 throws; wheels have two
croupiers in turn, each set of dice lasts a month, and 200 players have 40 visits of 50 pieces straight up. Croupiers'
errors and accounting variances, whose batches are nights, are simulated with the shipped code, one year in 200;
the memory of wheels, whose 1,369 pairs take longest, in one year in ten.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import chain

import numpy as np

from benchmarks.alternatives import Seen, changes
from benchmarks.eprocess_twin import Twin
from benchmarks.fair_money import questions_of_money
from benchmarks.nightly import fair_nights
from benchmarks.pages import DOCS, write
from settlement.eprocess.budget import expected_at_first, level
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Process

POCKETS = 37
SESSIONS, SPINS, THROWS = 300, 300, 150
WHEELS = TABLES = 10
PLAYERS, VISITS, BETS = 200, 40, 50
YEARS_AT_ONCE = 20
RARE = 200
NIGHTS = ("payout-lean", "payout-rate", "table-drift")
SOME = 10
CROUPIERS = 10
SUBJECTS = {
    "wheel": WHEELS, "wheel-displacement": WHEELS, "wheel-memory": WHEELS, "croupier-displacement": 2 * WHEELS,
    "dice-supply": TABLES, "die": 2 * 12 * TABLES, "dice-pair": TABLES, "table-luck": 2 * TABLES,
    "player-luck": PLAYERS, "payout-lean": CROUPIERS, "payout-rate": CROUPIERS, "table-drift": 2 * TABLES,
}  # fmt: skip
"""Subjects of a year, by kind."""


def alphas(kind: str) -> np.ndarray:
    """Return the levels of the subjects of a year, in the order in which they appear."""
    own, whole = KINDS[kind], Fraction(1)
    return np.array([float(level(whole, own, rank, expected(kind))) for rank in range(1, SUBJECTS[kind] + 1)])


def expected(kind: str) -> int:
    """Return how many subjects of a kind are expected: as many as the year before had, or as 20 tables have."""
    return SUBJECTS.get(kind) or expected_at_first(2 * TABLES)[kind]


class Watch:
    """Twins of all subjects of a kind in some years, and which of them have asked."""

    def __init__(self, kind: str, years: int) -> None:
        self.limits = np.tile(1 / alphas(kind), years)
        self.twin = Twin(KINDS[kind].mixture(POCKETS), len(self.limits), np.float32)
        self.crossed = np.zeros(len(self.limits), dtype=bool)
        self.highest = np.zeros(len(self.limits))

    def feed(self, seen: Seen) -> None:
        wealth = self.twin.feed(seen)
        self.crossed |= wealth >= self.limits
        np.maximum(self.highest, wealth, out=self.highest)


def _counts(values: np.ndarray, cells: int) -> np.ndarray:
    """Return how often each cell is in each row."""
    rows = np.arange(len(values))[:, None]
    return np.bincount((values + rows * cells).ravel(), minlength=len(values) * cells).reshape(-1, cells)


def _wheels(chance: np.random.Generator, years: int, *, with_memory: bool) -> Iterator[tuple[str, Watch]]:
    kinds = ["wheel", "wheel-displacement", "croupier-displacement", *(["wheel-memory"] if with_memory else [])]
    watches = {kind: Watch(kind, years) for kind in kinds}
    rows = years * WHEELS
    for _session in range(SESSIONS):
        spins = chance.integers(0, POCKETS, (rows, SPINS))
        steps = {lag: (spins[:, lag:] - spins[:, :-lag]) % POCKETS for lag in (1, 2, 3)[: 3 if with_memory else 1]}
        watches["wheel"].feed({"pocket": _counts(spins, POCKETS)})
        watches["wheel-displacement"].feed({"displacement": _counts(steps[1], POCKETS)})
        if with_memory:
            seen = {f"displacement-{lag}": _counts(steps[lag], POCKETS) for lag in (2, 3)}
            for lag in (1, 2, 3):
                seen[f"pair-{lag}"] = _counts(spins[:, :-lag] * POCKETS + spins[:, lag:], POCKETS**2)
            watches["wheel-memory"].feed(seen)
        half = SPINS // 2
        by_croupier = np.stack([_counts(steps[1][:, :half], POCKETS), _counts(steps[1][:, half:], POCKETS)], 1)
        watches["croupier-displacement"].feed({"displacement": by_croupier.reshape(-1, POCKETS)})
    yield from watches.items()


def _pair(first: np.ndarray, second: np.ndarray) -> Seen:
    throws = first.shape[1]
    double, seven = (first == second).sum(1), (first + second == 5).sum(1)
    return {
        "double": np.stack([double, throws - double], 1),
        "seven": np.stack([seven, throws - seven], 1),
        "total": _counts(first + second, 11),
    }


def _sequences(first: np.ndarray, second: np.ndarray) -> Seen:
    low, high = np.minimum(first, second), np.maximum(first, second)
    before, now = (low[:, :-1], high[:, :-1]), (low[:, 1:], high[:, 1:])
    same = (before[0] == now[0]) & (before[1] == now[1])
    opposite = (5 - before[1] == now[0]) & (5 - before[0] == now[1])
    double, seven = before[0] == before[1], before[0] + before[1] == 5
    other = ~double & ~seven
    seen = {"after-seven": np.stack([(seven & same).sum(1), (seven & ~same).sum(1)], 1)}
    for channel, here in (("after-double", double), ("after-other", other)):
        neither = here & ~same & ~opposite
        seen[channel] = np.stack([(here & same).sum(1), (here & opposite).sum(1), neither.sum(1)], 1)
    return seen


def _craps(chance: np.random.Generator, years: int) -> Iterator[tuple[str, Watch]]:
    watches = {kind: Watch(kind, years) for kind in ("dice-supply", "dice-pair", "die")}
    rows, a_month = years * TABLES, SESSIONS // 12
    watch = watches["die"]
    # A die lasts a month: the twins of the dice of one month are fed together.
    by_die = watch.limits.reshape(years, 12, 2 * TABLES)
    found = np.zeros(by_die.shape, dtype=bool)
    for session in range(SESSIONS):
        if session % a_month == 0:
            month = session // a_month
            dice = Twin(KINDS["die"].mixture(0), 2 * rows)
        first, second = chance.integers(0, 6, (2, rows, THROWS))
        faces = _counts(first, 6), _counts(second, 6)
        watches["dice-supply"].feed({"face": faces[0] + faces[1]})
        watches["dice-pair"].feed({"face": faces[0] + faces[1]} | _pair(first, second) | _sequences(first, second))
        wealth = dice.feed({"face": np.stack(faces, 1).reshape(-1, 6)}).reshape(years, 2 * TABLES)
        found[:, month] |= wealth >= by_die[:, month]
    watch.crossed = found.ravel()
    yield from watches.items()


def _people(chance: np.random.Generator, years: int) -> Iterator[tuple[str, Watch]]:
    players = Watch("player-luck", years)
    for _visit in range(VISITS):
        players.feed(changes(chance.binomial(BETS, 1 / POCKETS, years * PLAYERS), BETS, -36.0, 1.0))
    yield "player-luck", players
    tables = Watch("table-luck", years)
    for _session in range(SESSIONS):
        won = chance.binomial(SPINS, 10 / POCKETS, years * 2 * TABLES)
        tables.feed(changes(won, SPINS, -36 * 27 / POCKETS, 36 * 10 / POCKETS))
    yield "table-luck", tables


def _nightly(kind: str, years: int) -> int:
    """Return how many questions of a kind the shipped code asks in some years."""
    found = 0
    mixture = KINDS[kind].mixture(0)
    for year in range(years):
        for rank, alpha in enumerate(alphas(kind)):
            chance = np.random.default_rng([year, rank, len(kind)])
            process = Process(kind, "one")
            for fed in fair_nights(kind, chance, SESSIONS):
                if fed is not None:
                    process.feed(mixture, fed.seen, draws=fed.draws, session="")
            found += process.highest * alpha >= UNIT
    return found


def _some_years(first: int, years: int) -> Counter[str]:
    """Return how many questions of each kind are asked in ``years`` from ``first`` on."""
    chance = np.random.default_rng([20261122, first])
    questions: Counter[str] = Counter()
    with_memory = first // YEARS_AT_ONCE % SOME == 0
    parts = [_wheels(chance, years, with_memory=with_memory), _craps(chance, years), _people(chance, years)]
    for kind, watch in chain(*parts):
        questions[kind] += int(watch.crossed.sum())
    return questions


def questions_of(years: int, processes: int = 1) -> tuple[list[str], float]:
    """Return a table of the questions of fair ``years``, and how many a year there are in all."""
    questions: Counter[str] = Counter()
    done = 0
    with ProcessPoolExecutor(processes) as pool:
        starts = range(0, years, YEARS_AT_ONCE)
        for found in pool.map(_some_years, starts, [min(YEARS_AT_ONCE, years - first) for first in starts]):
            questions += found
            done += YEARS_AT_ONCE
            print(f"{min(done, years)} of {years} years: {dict(questions)}", file=sys.stderr, flush=True)
    few = max(1, years // RARE)
    by_night = {kind: _nightly(kind, few) for kind in NIGHTS}
    return table(questions, years, by_night, few)


def table(questions: Mapping[str, int], years: int, by_night: Mapping[str, int], few: int) -> tuple[list[str], float]:
    """Return the lines of the table, and the questions a year: of ``years``, and of a ``few`` for ``by_night``."""
    lines = [
        "| process | subjects | fair years | questions | a year | Σ α, the most there may be on average |",
        "|---|---|---|---|---|---|",
    ]
    total = most = 0.0
    for kind in SUBJECTS:
        found, of = (by_night[kind], few) if kind in by_night else (questions.get(kind, 0), years)
        if kind == "wheel-memory":
            of = sum(min(YEARS_AT_ONCE, years - first) for first in range(0, years, YEARS_AT_ONCE * SOME))
        limit = float(alphas(kind).sum())
        total += found / of
        most += limit
        lines.append(f"| `{kind}` | {SUBJECTS[kind]} | {of:,} | {found:,} | {found / of:.4f} | {limit:.4f} |")
    lines.append(f"| all | | | | {total:.4f} | {most:.4f} |")
    return lines, total


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fair_years", description=__doc__)
    parser.add_argument("--nights", type=int, default=2_000, help="clean nights")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the docs")
    options = parser.parse_args()
    lines, a_week = questions_of_money(options.nights, options.processes)
    print("\n".join(lines))
    if options.write:
        write("fair money", lines, DOCS / "persons.md", "fair_years")
    return int(a_week > 1)


if __name__ == "__main__":
    sys.exit(main())
