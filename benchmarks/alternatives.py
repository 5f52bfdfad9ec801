"""What can be wrong at a table, as probabilities: three strengths of each, for simulations of power.

Every alternative names the process that should notice it, draws batches of what that process sees, and has a goal at
its middle strength where one is set. A batch is drawn for many runs at once; the first axis is the runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Seen = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator, int, int], Seen]
"""From a source of chance, runs and draws: what is seen."""

POCKETS = 37
TOTALS = 11


class Goal(NamedTuple):
    """The ``quantile`` of the delay is at most ``draws``."""

    quantile: float
    draws: int


class Cells(NamedTuple):
    """For χ² on a fixed sample: the cells' probabilities under the alternative, and under the null."""

    alternative: np.ndarray
    null: np.ndarray


class Alternative(NamedTuple):
    """One thing that is wrong, at three ``strengths``; ``draw`` and ``cells`` take one of them.

    ``step`` is how many draws a batch has, ``most`` when a run is given up. ``unit`` names a draw; with several cells
    counted by draw, ``per_draw`` says how many.
    """

    name: str
    kind: str
    strengths: tuple[float, ...]
    label: Callable[[float], str]
    draw: Callable[[float], Draw]
    most: int
    step: int = 1
    goal: Goal | None = None
    unit: str = "spins"
    cells: Callable[[float], Cells] | None = None
    per_draw: int = 1


def _even(cells: int) -> np.ndarray:
    return np.full(cells, 1 / cells)


def _lifted(width: int, lift: float) -> np.ndarray:
    """Return the pockets of a wheel of which ``width`` neighbours come ``lift`` more often."""
    p = np.full(POCKETS, (1 - width * (1 + lift) / POCKETS) / (POCKETS - width))
    p[5 : 5 + width] = (1 + lift) / POCKETS
    return p


def _wave(size: float) -> np.ndarray:
    # A phase halfway between two of the twelve that are bet on, the least favourable one.
    return (1 + size * np.cos(2 * np.pi * (np.arange(POCKETS) / POCKETS - 1 / 24))) / POCKETS


def _aimed(part: float) -> np.ndarray:
    p = np.full(POCKETS, (1 - part) / POCKETS)
    p[5:14] += part / 9
    return p


def _loaded(part: float) -> np.ndarray:
    """Return the faces of a die: one comes ``part`` more often at the cost of the opposite one."""
    p = np.full(6, 1 / 6)
    p[5] *= 1 + part
    p[0] *= 1 - part
    return p


def _counted(channel: str, p: np.ndarray) -> Draw:
    return lambda chance, runs, draws: {channel: chance.multinomial(draws, p, size=runs)}


def _supply(part: float) -> Draw:
    loaded, fair = _loaded(part), _even(6)

    def draw(chance: np.random.Generator, runs: int, draws: int) -> Seen:
        return {"face": chance.multinomial(draws, loaded, runs) + chance.multinomial(draws, fair, runs)}

    return draw


def _throws(weights: np.ndarray) -> Draw:
    """Draw pairs of dice with these probabilities of the 36, in sequence, and see what the mixture of the pair sees."""
    first, second = np.divmod(np.arange(36), 6)

    def draw(chance: np.random.Generator, runs: int, draws: int) -> Seen:
        thrown = chance.choice(36, size=(runs, draws), p=weights)
        totals = (first + second)[thrown]
        double = (first == second)[thrown].sum(1)
        seven = (totals == 5).sum(1)
        return {
            "double": np.stack([double, draws - double], 1),
            "seven": np.stack([seven, draws - seven], 1),
            "total": (totals[:, :, None] == np.arange(TOTALS)).sum(1),
        }

    return draw


def _pairs(sevens: float) -> np.ndarray:
    first, second = np.divmod(np.arange(36), 6)
    is_seven = first + second == 5
    return np.where(is_seven, sevens / 6, (1 - sevens) / 30)


def _doubles(part: float) -> np.ndarray:
    first, second = np.divmod(np.arange(36), 6)
    return np.where(first == second, part / 6, (1 - part) / 30)


def _two(part: float) -> Cells:
    return Cells(np.array([part, 1 - part]), np.array([1 / 6, 5 / 6]))


def changes(won: np.ndarray, draws: int, lowest: float, highest: float) -> Seen:
    """Return changes of the house's expectation: ``lowest`` in the ``won`` ones of ``draws``, else ``highest``."""
    seen = np.empty((len(won), 2, 4))
    seen[:, :, 1:3] = (lowest, highest)
    seen[:, :, 0] = (lowest, highest)
    seen[:, 0, 3], seen[:, 1, 3] = won, draws - won
    return {"luck": seen}


def _pleins(part: float) -> Draw:
    """Draw bets of one piece straight up, ``part`` of which are placed after the ball fell, on the number."""
    wins = part + (1 - part) / POCKETS
    # In 36/37 of a piece.
    return lambda chance, runs, draws: changes(chance.binomial(draws, wins, runs), draws, -36.0, 1.0)


def _crowd(part: float) -> Draw:
    """Draw coups of a table of ten pieces on different numbers; in ``part`` of them one is moved to the winning one."""
    covered = 10
    wins = 1 - (1 - part) * (1 - covered / POCKETS)
    return lambda chance, runs, draws: changes(
        chance.binomial(draws, wins, runs), draws, -36.0 * (POCKETS - covered) / POCKETS, 36.0 * covered / POCKETS
    )


def _bets(part: float) -> Cells:
    p = part + (1 - part) / POCKETS
    return Cells(np.array([p, 1 - p]), np.array([1 / POCKETS, 1 - 1 / POCKETS]))


def _percent(name: str) -> Callable[[float], str]:
    return lambda part: f"{name} {100 * part:g} %"


def _voided(part: float) -> Draw:
    """Draw void throws, ``part`` of which are called because a seven showed, the rest whatever showed."""
    return _throws(_pairs(part + (1 - part) / 6))


ALTERNATIVES = (
    Alternative(
        "a loose pocket", "wheel", (0.1, 0.2, 0.4), _percent("+"), lambda s: _counted("pocket", _lifted(1, s)), 200_000,
        50, Goal(0.6, 30_000), cells=lambda s: Cells(_lifted(1, s), _even(37)),
    ),
    Alternative(
        "nine neighbouring pockets", "wheel", (0.05, 0.075, 0.15), _percent("+"),
        lambda s: _counted("pocket", _lifted(9, s)), 100_000, 50, Goal(0.9, 30_000),
        cells=lambda s: Cells(_lifted(9, s), _even(37)),
    ),
    Alternative(
        "a sinusoid", "wheel", (0.03, 0.05, 0.1), _percent("amplitude"), lambda s: _counted("pocket", _wave(s)),
        100_000, 50, Goal(0.8, 30_000), cells=lambda s: Cells(_wave(s), _even(37)),
    ),
    Alternative(
        "spins aimed at nine pockets", "wheel-displacement", (0.1, 0.2, 0.4), lambda s: f"{100 * s:g} %",
        lambda s: _counted("displacement", _aimed(s)), 5_000, 1, Goal(0.5, 350),
        cells=lambda s: Cells(_aimed(s), _even(37)),
    ),
    Alternative(
        "a die 5/24 : 3/24, known by name", "die", (0.125, 0.25, 0.5), _percent("±"),
        lambda s: _counted("face", _loaded(s)), 20_000, 1, None, "throws", lambda s: Cells(_loaded(s), _even(6)),
    ),
    Alternative(
        "fresh dice, one of two 5/24 : 3/24", "dice-supply", (0.125, 0.25, 0.5), _percent("±"), _supply, 40_000, 1,
        Goal(0.5, 2_200), "throws", lambda s: Cells((_loaded(s) + _even(6)) / 2, _even(6)), 2,
    ),
    Alternative(
        "too few sevens", "dice-pair", (1 / 9, 1 / 18, 0.0), lambda s: f"{36 * s:g} of 36",
        lambda s: _throws(_pairs(s)), 3_000, 1, Goal(0.5, 80), "throws", _two,
    ),
    Alternative(
        "doubles", "dice-pair", (1 / 3, 1 / 2, 1.0), lambda s: f"{36 * s:g} of 36", lambda s: _throws(_doubles(s)),
        1_000, 1, Goal(0.5, 12), "throws", _two,
    ),
    Alternative(
        "throws called void because of a seven", "void-call", (0.1, 0.2, 0.4), lambda s: f"{100 * s:g} %", _voided,
        3_000, 1, None, "void throws", lambda s: _two(s + (1 - s) / 6),
    ),
    Alternative(
        "past posting, straight up", "player-luck", (1 / 40, 1 / 20, 1 / 10), lambda s: f"1 bet in {1 / s:g}", _pleins,
        5_000, 1, Goal(0.5, 320), "bets", _bets,
    ),
    Alternative(
        "a piece moved to the number, ten on the table", "table-luck", (1 / 40, 1 / 20, 1 / 10),
        lambda s: f"1 coup in {1 / s:g}", _crowd, 20_000, 1, None, "coups",
        lambda s: Cells(
            np.array([1 - (1 - s) * 27 / 37, (1 - s) * 27 / 37]), np.array([10 / 37, 27 / 37])
        ),
    ),
)  # fmt: skip
"""What the twin simulates. A goal is for the middle strength, or for the last of those in ``GOAL_AT_LAST``."""

GOAL_AT_LAST = {"too few sevens", "doubles"}
