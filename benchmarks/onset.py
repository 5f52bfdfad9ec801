"""What begins after honest play: the delay from then on, beside a Shiryaev–Roberts e-detector and a CUSUM.

The three have the same gamblers with the same weights and see the same draws. They differ in what they stake at the
beginning of a session:

    process              a part of its cash, by the schedule of ``settlement.eprocess.process``
    Shiryaev–Roberts     1, divided among the gamblers, at each
    CUSUM                what brings each gambler who has less back to his share of 1

The first holds its level for ever. The three are compared at the thresholds that ``FALSE`` of simulated honest years
of ``YEAR`` sessions reach (J. Shin, A. Ramdas and A. Rinaldo, *E-detectors*, 2022).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.alternatives import ALTERNATIVES, Alternative
from benchmarks.eprocess_twin import Twin
from settlement.eprocess.kinds import KINDS

WEALTH = 1_000.0
SESSION = {"spins": 300, "throws": 150, "void throws": 5, "bets": 50, "coups": 300}
"""Draws of a session."""

YEAR = 300
FALSE = 1 / 50
LOOK = {"spins": 50, "bets": 10, "coups": 50}
"""Draws after which the three are looked at, honest or not."""

GIVEN_UP = float("inf")


class ShiryaevRoberts(Twin):
    def _stake(self) -> None:
        self.cash[:] = 0
        self.wealth += self.shares


class Cusum(Twin):
    def _stake(self) -> None:
        self.cash[:] = 0
        np.maximum(self.wealth, self.shares, out=self.wealth)


DETECTORS = (Twin, ShiryaevRoberts, Cusum)


class Onset(NamedTuple):
    """An alternative at one strength, after so many honest draws."""

    name: str
    strength: float
    honest: int
    goal: int = 0

    @property
    def alternative(self) -> Alternative:
        return next(each for each in ALTERNATIVES if each.name == self.name)


ONSETS = (
    Onset("a loose pocket", 0.4, 20_000),
    Onset("nine neighbouring pockets", 0.075, 20_000),
    Onset("nine neighbouring pockets", 0.15, 20_000),
    Onset("spins aimed at nine pockets", 0.2, 20_000, 350),
    Onset("past posting, straight up", 1 / 20, 3_000, 400),
    Onset("past posting, straight up", 1 / 10, 3_000),
    Onset("a piece moved to the number, ten on the table", 1 / 10, 20_000),
)


def delays(onset: Onset, detector: type[Twin], *, runs: int, step: int, thresholds: list[float]) -> np.ndarray:
    """Return for each threshold and run the draws from the onset on after which it is reached; infinite if it is not.

    A run that has reached one before is a false alarm, and left out of it: not a number.
    """
    alternative = onset.alternative
    session = SESSION[alternative.unit]
    chance = np.random.default_rng([7, round(onset.strength * 1e6), step])
    twin = detector(KINDS[alternative.kind].mixture(37), runs, np.float32)
    reached = np.full((len(thresholds), runs), GIVEN_UP)
    honest = alternative.draw(0.0)
    for drawn in range(0, onset.honest, session):
        wealth = twin.feed(honest(chance, runs, min(session, onset.honest - drawn)))
        for row, wanted in zip(reached, thresholds, strict=True):
            row[wealth >= wanted] = np.nan
    wrong, drawn, left = alternative.draw(onset.strength), 0, np.arange(runs)
    while len(left) and drawn < alternative.most:
        wealth = twin.feed(wrong(chance, len(left), step), begins=drawn % session < step)
        drawn += step
        for row, wanted in zip(reached, thresholds, strict=True):
            hit = left[wealth >= wanted]
            row[hit] = np.minimum(row[hit], drawn)  # what is not a number stays so
        done = wealth >= max(thresholds)
        if done.any():
            twin.keep(~done)
            left = left[~done]
    return reached


def thresholds_of(alternative: Alternative, runs: int) -> list[float]:
    """Return for each detector the value that ``FALSE`` of honest years reach, looked at as often as in ``delays``."""
    chance = np.random.default_rng(11)
    step, session = LOOK[alternative.unit], SESSION[alternative.unit]
    twins = [detector(KINDS[alternative.kind].mixture(37), runs, np.float32) for detector in DETECTORS]
    highest = np.zeros((len(twins), runs))
    honest = alternative.draw(0.0)
    for drawn in range(0, YEAR * session, step):
        seen = honest(chance, runs, step)
        for row, twin in zip(highest, twins, strict=True):
            np.maximum(row, twin.feed(seen, begins=drawn % session < step), out=row)
    return [float(np.quantile(row, 1 - FALSE)) for row in highest]


def quantile(delays: np.ndarray, part: float) -> float:
    """Return the delay that ``part`` of the runs without a false alarm do not exceed."""
    ordered = np.sort(delays[~np.isnan(delays)])
    return float(ordered[int(np.ceil(part * len(ordered))) - 1])


def shown(draws: float) -> str:
    """Return a delay as the tables have it."""
    return "–" if draws == GIVEN_UP else f"{draws:,.0f}"


HEAD = (
    "| alternative | strength | honest before | at wealth 1,000: median | 90 % | at equal false alarms: process, median"
    " | Shiryaev–Roberts | CUSUM | goal |\n|---|---|---|---|---|---|---|---|---|"
)


def rows(runs: int) -> list[str]:
    """Return the lines of the table, printed as they come."""
    lines, levels = [HEAD], dict[str, list[float]]()
    print(HEAD, flush=True)
    for onset in ONSETS:
        alternative = onset.alternative
        if alternative.kind not in levels:  # what is honest is so for all of a kind
            levels[alternative.kind] = thresholds_of(alternative, 3 * runs)
        [at_wealth] = delays(onset, Twin, runs=5 * runs, step=alternative.step, thresholds=[WEALTH])
        median = quantile(at_wealth, 0.5)
        equal = [
            quantile(delays(onset, each, runs=runs, step=LOOK[alternative.unit], thresholds=[level])[0], 0.5)
            for each, level in zip(DETECTORS, levels[alternative.kind], strict=True)
        ]
        verdict = f"{onset.goal:,}: {'yes' if median <= onset.goal else '**no**'}" if onset.goal else ""
        entries = [
            alternative.name,
            alternative.label(onset.strength),
            f"{onset.honest:,} {alternative.unit}",
            *(shown(each) for each in (median, quantile(at_wealth, 0.9), *equal)),
            verdict,
        ]
        lines.append("| " + " | ".join(entries) + " |")
        print(lines[-1], flush=True)
    return lines
