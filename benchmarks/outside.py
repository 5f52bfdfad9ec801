"""``python -m benchmarks.outside``: the delay of our processes beside those of ``ville`` (PyPI), on the same draws.

Each test of ``ville`` knows beforehand what it looks for: which pocket, sevens or doubles, which side. Ours is the
whole process, which looks for everything that it bets on. Both stop when wealth reaches 1,000; looked at after every
draw.

    --runs    simulated series of each alternative
    --write   also write the table into benchmarks/results/ledger.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from ville import BernoulliTest, BettingTest

from benchmarks.alternatives import ALTERNATIVES, POCKETS
from benchmarks.fraud import GIVEN_UP, PAGE, delays, quantile, shown
from benchmarks.pages import write

ALPHA = 1 / 1_000

Test = Callable[[], BernoulliTest | BettingTest]


class Compared(NamedTuple):
    """An alternative of ours at one strength; and for the outside test the chance of 1 in a draw, and the test."""

    name: str
    strength: float
    chance: float
    test: Test


def straight_up() -> BettingTest:
    """Return the test of a player's luck: his net result on a piece straight up, as a share of what it can be."""
    return BettingTest(1 / POCKETS, alternative="greater", alpha=ALPHA)


COMPARED = (
    Compared("a loose pocket", 0.4, 1.4 / POCKETS, lambda: BernoulliTest(1 / POCKETS, alpha=ALPHA)),
    Compared("too few sevens", 1 / 18, 1 / 18, lambda: BernoulliTest(1 / 6, alpha=ALPHA)),
    Compared("too few sevens", 0.0, 0.0, lambda: BernoulliTest(1 / 6, alpha=ALPHA)),
    Compared("doubles", 0.5, 0.5, lambda: BernoulliTest(1 / 6, alpha=ALPHA)),
    Compared("past posting, straight up", 1 / 20, 1 / 20 + (19 / 20) / POCKETS, straight_up),
    Compared("past posting, straight up", 1 / 10, 1 / 10 + (9 / 10) / POCKETS, straight_up),
)

HEAD = "| alternative | strength | ours: median | 90 % | `ville` | median | 90 % |\n|---|---|---|---|---|---|---|"


def outside(compared: Compared, most: int, runs: int) -> np.ndarray:
    """Return the draws after which the outside test stops, in each run; infinite where it does not."""
    chance = np.random.default_rng(11)
    stopped = [compared.test().fit(chance.binomial(1, compared.chance, most)).stopping_time(ALPHA) for _ in range(runs)]
    return np.array([GIVEN_UP if each is None else each for each in stopped])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outside", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs of each alternative")
    parser.add_argument("--write", action="store_true", help="write the docs")
    options = parser.parse_args()
    lines = [HEAD]
    for each in COMPARED:
        [alternative] = [known for known in ALTERNATIVES if known.name == each.name]
        ours = delays(alternative, each.strength, runs=options.runs, step=alternative.step).at_thousand
        theirs = outside(each, alternative.most, options.runs)
        entries = [
            each.name,
            alternative.label(each.strength),
            *(shown(quantile(ours, part)) for part in (0.5, 0.9)),
            type(each.test()).__name__,
            *(shown(quantile(theirs, part)) for part in (0.5, 0.9)),
        ]
        lines.append("| " + " | ".join(entries) + " |")
    print("\n".join(lines))
    if options.write:
        write("outside tests", lines, PAGE, "outside")


if __name__ == "__main__":
    main()
