"""The twin in floating point has the wealth of the shipped code, and the level holds however often one looks.

The twin carries the simulations of ``benchmarks.fraud``; here it is held to the shipped code over 20 table-years.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.alternatives import ALTERNATIVES, GOAL_AT_LAST, changes
from benchmarks.chi_square import CRITICAL, sample_needed
from benchmarks.eprocess_twin import Twin
from benchmarks.fair_years import POCKETS, _counts, _pair, _sequences
from benchmarks.fraud import delays, quantile
from settlement.eprocess.bets import Change
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Process
from tests.long_forms import in_short

TABLES, SESSIONS = 20, 300
FEW_TABLES = 6


def wheel(chance: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    spins = chance.integers(0, POCKETS, (rows, 300))
    steps = (spins[:, 1:] - spins[:, :-1]) % POCKETS
    seen = {"pocket": _counts(spins, POCKETS), "displacement": _counts(steps, POCKETS)}
    for lag in (1, 2, 3):
        seen[f"displacement-{lag}"] = _counts((spins[:, lag:] - spins[:, :-lag]) % POCKETS, POCKETS)
        seen[f"pair-{lag}"] = _counts(spins[:, :-lag] * POCKETS + spins[:, lag:], POCKETS**2)
    return seen


def dice(chance: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    first, second = chance.integers(0, 6, (2, rows, 150))
    faces = _counts(first, 6) + _counts(second, 6)
    return {"face": faces} | _pair(first, second) | _sequences(first, second)


def luck(chance: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
    return changes(chance.binomial(40, 1 / POCKETS, rows), 40, -36.0, 1.0)


DRAWN = {
    "wheel": wheel, "wheel-displacement": wheel, "croupier-displacement": wheel, "wheel-memory": wheel,
    "dice-supply": dice, "dice-pair": dice,
    "player-luck": luck, "table-luck": luck,
}  # fmt: skip


def shipped(channel: str, seen: np.ndarray) -> object:
    """Return what one table shows, as the shipped code takes it."""
    if channel.startswith("pair"):
        return {(int(pair) // POCKETS, int(pair) % POCKETS): int(seen[pair]) for pair in np.flatnonzero(seen)}
    if channel == "luck":
        return [Change(int(row[0]), int(row[1]), int(row[2])) for row in seen for _ in range(int(row[3]))]
    return seen.tolist()


def compare(kind: str, tables: int, sessions: int) -> None:
    chance = np.random.default_rng([1, sessions])
    mixture = KINDS[kind].mixture(POCKETS)
    channels = {family.channel for family in mixture.families}
    twin, processes = Twin(mixture, tables), [Process(kind, str(table), POCKETS) for table in range(tables)]
    for session in range(sessions):
        if session == sessions // 2:
            twin.begin_year()
            for process in processes:
                process.batches = 0
        seen = {channel: counts for channel, counts in DRAWN[kind](chance, tables).items() if channel in channels}
        evidence = twin.feed(seen)
        for table, process in enumerate(processes):
            own = {channel: shipped(channel, counts[table]) for channel, counts in seen.items()}
            process.feed(mixture, own, draws=1, session="s")
        exact = [process.evidence / UNIT for process in processes]
        assert evidence == pytest.approx(exact, rel=1e-6)
        assert len(set(exact)) > 1  # tables differ, so it is no constant that agrees


@pytest.mark.parametrize("kind", sorted(DRAWN))
def test_the_twin_has_the_wealth_of_the_shipped_code(kind: str) -> None:
    compare(kind, FEW_TABLES, 8 if kind.startswith("wheel") else 40)


@pytest.mark.faults
@pytest.mark.parametrize("kind", sorted(DRAWN))
def test_the_twin_has_the_wealth_of_the_shipped_code_at_twenty_tables(kind: str) -> None:
    compare(kind, TABLES, 8 if kind.startswith("wheel") else 40)


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(DRAWN))
def test_the_twin_has_the_wealth_of_the_shipped_code_over_twenty_table_years(kind: str) -> None:
    compare(kind, TABLES, SESSIONS)


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.faults)])
@pytest.mark.parametrize(
    "kind, runs, batches", [("wheel", 300, 40), ("wheel-displacement", 300, 40), ("dice-pair", 2_000, 60),
                            ("dice-supply", 2_000, 60), ("player-luck", 2_000, 60), ("table-luck", 2_000, 60)],
)  # fmt: skip
def test_wealth_reaches_a_level_as_rarely_as_it_should(kind: str, runs: int, batches: int, share: int) -> None:
    runs //= share
    chance = np.random.default_rng(2)
    twin, highest = Twin(KINDS[kind].mixture(POCKETS), runs), np.ones(runs)
    for _ in range(batches):
        highest = np.maximum(highest, twin.feed(DRAWN[kind](chance, runs)))
    for wealth in (4, 20):
        # Three standard deviations above what the level would allow.
        assert np.sum(highest >= wealth) <= runs / wealth + 3 * (runs / wealth) ** 0.5
    assert np.sum(highest >= 2) > 0


QUICK = ("spins aimed at nine pockets", "too few sevens", "doubles", "past posting, straight up")


@pytest.mark.parametrize("runs", [150, pytest.param(400, marks=pytest.mark.faults)])
@pytest.mark.parametrize("name", in_short([*QUICK, "fresh dice, one of two 5/24 : 3/24"], every=2))
def test_what_is_wrong_is_noticed_within_the_goal(name: str, runs: int) -> None:
    [alternative] = [each for each in ALTERNATIVES if each.name == name]
    strength = alternative.strengths[-1 if name in GOAL_AT_LAST else 1]
    found = delays(alternative, strength, runs=runs, step=alternative.step).at_thousand
    assert alternative.goal is not None
    assert quantile(found, alternative.goal.quantile) <= alternative.goal.draws


def test_never_a_seven_is_noticed_by_the_shipped_code_within_80_throws() -> None:
    process, mixture = Process("dice-pair", "s"), KINDS["dice-pair"].mixture(0)
    throws = 0
    while process.evidence < 1_000 * UNIT:
        process.feed(mixture, {"seven": [0, 1], "double": [0, 1]}, draws=1, session="s")
        throws += 1
    assert throws <= 80


def test_chi_square_is_above_its_critical_points_once_in_a_thousand() -> None:
    chance = np.random.default_rng(5)
    for freedom, limit in CRITICAL.items():
        above = np.mean(chance.chisquare(freedom, 400_000) >= limit)
        assert abs(above - 0.001) < 4 * (0.001 / 400_000) ** 0.5


def test_the_sample_that_chi_square_needs_gives_its_power() -> None:
    [aimed] = [each for each in ALTERNATIVES if each.name == "spins aimed at nine pockets"]
    assert aimed.cells is not None
    cells = aimed.cells(0.2)
    needed = sample_needed(cells, 0.5)
    came = np.random.default_rng(99).multinomial(int(needed), cells.alternative, size=3_000)
    rejected = (((came - needed * cells.null) ** 2) / (needed * cells.null)).sum(1) >= CRITICAL[36]
    assert abs(rejected.mean() - 0.5) < 0.06
