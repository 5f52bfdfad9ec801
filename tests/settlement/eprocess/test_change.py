"""The interval of a beginning and of the share since then: by definition, by enumeration, and where a wheel changes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.eprocess.budget import level
from settlement.eprocess.change import Beginning, Counted, beginning_of, best_of
from settlement.eprocess.confidence import PARTS, interval_of_share
from settlement.eprocess.explanations import best_arc
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import Process
from tests.long_forms import in_short

ALPHA = Fraction(1, 20)
CHANCE_OF_ANY = Fraction(1, 4)
RHO = Fraction(1, 100)


def likelihood(sessions: list[Counted], share: Fraction) -> Fraction:
    times, draws = sum(each.times for each in sessions), sum(each.draws for each in sessions)
    return share**times * (1 - share) ** (draws - times)


def likelihood_of(sessions: list[Counted], start: int, share: Fraction) -> Fraction:
    return likelihood(sessions[:start], CHANCE_OF_ANY) * likelihood(sessions[start:], share)


def mixed(sessions: list[Counted]) -> Fraction:
    """Return M by its definition, the gamblers who have not begun yet included."""
    total = (1 - RHO) ** len(sessions) * likelihood(sessions, CHANCE_OF_ANY)
    for start in range(len(sessions)):
        times, draws = sum(each.times for each in sessions[start:]), sum(each.draws for each in sessions[start:])
        mean = Fraction(1, comb(draws, times) * (draws + 1))
        total += RHO * (1 - RHO) ** start * likelihood(sessions[:start], CHANCE_OF_ANY) * mean
    return total


SESSIONS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)).map(lambda each: Counted(min(each), each[1])),
                    min_size=1, max_size=6)  # fmt: skip
GRID = 100


@given(SESSIONS, st.integers(1, 300))
def test_it_has_the_pairs_that_its_definition_has(sessions: list[Counted], chosen_of: int) -> None:
    found = beginning_of(sessions, CHANCE_OF_ANY, ALPHA, chosen_of=chosen_of)
    least = mixed(sessions) * ALPHA / chosen_of
    likely = {start: likelihood_of(sessions, start, Counted(*total(sessions[start:])).times * Fraction(1, total(
        sessions[start:])[1])) for start in range(len(sessions))}  # fmt: skip
    possible = [start for start, most in likely.items() if most >= least]
    assert (found.first, found.last) == (min(possible), max(possible))
    assert likely[found.best] == max(likely.values())
    parts = [part for part in range(1, GRID) for start in possible
             if likelihood_of(sessions, start, Fraction(part, GRID)) >= least]  # fmt: skip
    for part in range(1, GRID):
        if min(parts, default=GRID) <= part <= max(parts, default=0):
            assert found.share.low <= Fraction(part, GRID) <= found.share.high
        elif parts:
            assert not found.share.low + Fraction(1, GRID) < Fraction(part, GRID) < found.share.high - Fraction(1, GRID)


def total(sessions: list[Counted]) -> tuple[int, int]:
    return sum(each.times for each in sessions), sum(each.draws for each in sessions)


@pytest.mark.parametrize("start", [0, 2, 4])
@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(9, 10)])
def test_its_mean_over_everything_that_can_be_counted_is_one(start: int, share: Fraction) -> None:
    """E(t, p) is a martingale: over all counts of four sessions, where t and p are true, it adds up to 1."""
    sizes = (2, 3, 1, 2)
    mean = Fraction(0)
    for counts in product(*(range(size + 1) for size in sizes)):
        sessions = [Counted(times, size) for times, size in zip(counts, sizes, strict=True)]
        ways = prod(comb(each.draws, each.times) for each in sessions)
        likely = likelihood_of(sessions, start, share)
        mean += ways * likely * (mixed(sessions) / likely)
    assert mean == 1


CHANCE, LIFTED = Fraction(9, 37), Fraction(9 * 115, 3700)


def counted(random: Random, honest: int, wrong: int) -> list[Counted]:
    def session(share: Fraction) -> Counted:
        return Counted(sum(random.random() < share for _ in range(300)), 300)

    return [session(CHANCE) for _ in range(honest)] + [session(LIFTED) for _ in range(wrong)]


@pytest.mark.parametrize("runs, every", [(25, 4), pytest.param(1_000, 1, marks=pytest.mark.faults)])
def test_it_misses_the_truth_at_any_of_many_looks_no_more_often_than_it_says(runs: int, every: int) -> None:
    random, missed, alpha = Random(20_261_128), 0, Fraction(1, 5)
    for _run in range(runs):
        sessions = counted(random, 10, 20)
        missed += any(not holds(beginning_of(sessions[:looked], CHANCE, alpha), 10) for looked in range(11, 31, every))
    assert missed <= runs * alpha


def holds(found: Beginning, began: int) -> bool:
    return found is not None and found.first <= began <= found.last and found.share.low <= LIFTED <= found.share.high


def wheel_that_changes(seed: int) -> tuple[Process, list[list[int]]]:
    """Feed 20,000 fair spins, and then spins of which nine neighbours come 15 % more often, until the wheel asks."""
    random, process, mixture = Random(seed), Process("wheel", "w", 37), KINDS["wheel"].mixture(37)
    process.begin_year(2026, level(Fraction(1), KINDS["wheel"], 1, 10))
    weights = [1.15 if 5 <= pocket < 14 else (37 - 9 * 1.15) / 28 for pocket in range(37)]
    seen: list[list[int]] = []
    while not process.asks():
        spins = random.choices(range(37), weights=weights if len(seen) >= HONEST else None, k=300)
        seen.append([spins.count(pocket) for pocket in range(37)])
        process.feed(mixture, {"pocket": seen[-1]}, draws=300, session=str(len(seen)))
    return process, seen


HONEST = 67
"""Sessions of 300 spins: 20,100."""


@pytest.mark.parametrize("seed", in_short([1, 2, 3, 4], every=2))
def test_beside_a_question_after_20_000_fair_spins_it_has_the_truth_where_the_whole_life_has_not(seed: int) -> None:
    process, seen = wheel_that_changes(seed)
    assert len(seen) > HONEST, "no false question in these four"
    arc = best_arc(process)
    assert arc is not None
    cells = arc.cells(37)
    sessions = [Counted(sum(counts[cell] for cell in cells), 300) for counts in seen]
    true = sum(Fraction(115, 3700) if 5 <= cell < 14 else (1 - LIFTED) / 28 for cell in cells)
    found = beginning_of(sessions, Fraction(len(cells), 37), Fraction(process.alpha), chosen_of=222)
    assert found.first <= HONEST <= found.last == len(seen) - 1
    assert abs(found.best - HONEST) <= 10
    assert found.share.low <= true <= found.share.high
    whole = interval_of_share(sum(each.times for each in sessions), 300 * len(seen), ALPHA, chosen_of=222)
    assert whole.high < true, "the interval of the whole life leaves it out"


def test_what_was_wrong_from_the_first_session_on_may_have_begun_there() -> None:
    sessions = counted(Random(3), 0, 30)
    found = beginning_of(sessions, CHANCE, ALPHA)
    assert found.first == 0
    assert found.share.low > CHANCE


def test_bounds_are_rounded_outward() -> None:
    found = beginning_of([Counted(30, 100)], CHANCE, ALPHA)
    assert all((each * PARTS).denominator == 1 for each in found.share[1:])
    assert found.share.low < found.share.share < found.share.high


@pytest.mark.parametrize(
    ("evidence", "best"),
    [([0.1, 0.5, 2.0], 0), ([-1.0, -2.0, -0.5, 3.0, 1.0], 2), ([-1.0], 0), ([-0.5, -0.5, 1.0], 2), ([-1, -2, -3], 0)],
)
def test_the_likeliest_beginning_of_a_process_that_counts_nothing_is_where_its_last_rise_begins(
    evidence: list[float], best: int
) -> None:
    assert best_of(evidence) == best
