"""No gambler has more than fair odds: over all outcomes of a draw, his mean wealth is at most what it was."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from fractions import Fraction
from itertools import combinations, pairwise, product
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from settlement.eprocess import mixtures
from settlement.eprocess.bets import (
    EVENS,
    ArcBets,
    Bets,
    CellBets,
    Change,
    DriftBets,
    Learner,
    LinearBets,
    OddsRatioBets,
    PairLearner,
    Share,
    aimed_arc,
    lifted_arc,
    power,
    staked_cells,
)
from settlement.eprocess.circle import cosine, sinusoid
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.mixtures import AIMS, AMPLITUDES, FACES, LIFTS, PHASES, TOTALS, WIDTHS, arcs_of
from settlement.eprocess.process import UNIT, Family
from tests.long_forms import in_short
from tests.settlement.eprocess import by_hand

CLOSE = Fraction(1, 2**100)

WAYS = {"total": TOTALS, "double": (6, 30), "seven": (6, 30), "face": FACES, **mixtures.SEQUENCES}
"""Of how many equally likely draws each cell of a channel is; on a wheel each pocket is one."""


def ways_of(family: Family, cells: int) -> tuple[int, ...]:
    return WAYS.get(family.channel, (1,) * cells)


COUNTED = [
    pytest.param(family, cells, id=f"{kind}-{cells}-{index}-{family.channel}")
    for kind in (
        "wheel",
        "wheel-displacement",
        "croupier-displacement",
        "wheel-memory",
        "die",
        "dice-pair",
        "void-call",
    )
    for cells in ((9, 37, 38) if kind.startswith(("wheel", "croupier")) else (0,))
    for index, family in enumerate(KINDS[kind].mixture(cells).families)
    if not isinstance(family.bets, LinearBets | PairLearner)
]


@pytest.mark.parametrize(("family", "cells"), in_short(COUNTED, every=3))
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_over_all_outcomes_of_a_draw_no_gambler_gains_on_average(family: Family, cells: int, seed: int) -> None:
    # Drawn by a generator of its own: Hypothesis takes longer to draw the wealth of all than the bets to settle it.
    ways, bets, random = ways_of(family, cells), family.bets, Random(seed)
    history = random.choices(range(len(ways)), k=random.randint(0, 60))
    wealth = [random.choice((0, 1, random.getrandbits(20), random.getrandbits(140))) for _ in range(bets.bettors)]
    memory = [0] * bets.memory_cells
    bets.settle([UNIT] * bets.bettors, memory, [history.count(cell) for cell in range(len(ways))])
    means = [0] * bets.bettors
    for cell, way in enumerate(ways):
        after = bets.settle(wealth, list(memory), [each == cell for each in range(len(ways))])
        means = [mean + way * each for mean, each in zip(means, after, strict=True)]
    for before, mean in zip(wealth, means, strict=True):
        assert mean <= before * sum(ways)
        # No more is lost than rounding takes: a unit of wealth, and a unit of the odds.
        assert before * sum(ways) - mean <= sum(ways) * (1 + 200 * before // EVENS + 1)


@pytest.mark.parametrize(
    "bets, ways",
    [
        (mixtures.die().families[0].bets, FACES),
        (mixtures.die().families[-1].bets, FACES),
        (mixtures.dice_pair().families[len(mixtures.die().families)].bets, (6, 30)),
        (mixtures.dice_pair().families[-1].bets, (2, 2, 32)),
    ],
)
def test_over_all_batches_of_four_draws_no_gambler_gains_on_average(bets: Bets, ways: Sequence[int]) -> None:
    # A batch is settled as one power, rounded down: still at most fair.
    means = [Fraction(0)] * bets.bettors
    for draws in product(range(len(ways)), repeat=4):
        chance = Fraction(1)
        for cell in draws:
            chance *= Fraction(ways[cell], sum(ways))
        after = bets.settle([UNIT] * bets.bettors, [0] * bets.memory_cells, [draws.count(c) for c in range(len(ways))])
        means = [mean + chance * each for mean, each in zip(means, after, strict=True)]
    assert all(UNIT * (1 - Fraction(1, 2**50)) < mean <= UNIT for mean in means)


@settings(deadline=None)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=37), st.integers(0, 2**130))
@example([36, *[-1] * 36], UNIT)
def test_bets_on_changes_of_mean_nothing_gain_nothing_on_average(amounts: list[int], wealth: int) -> None:
    # Any distribution on integers whose mean is 0: the amounts, each less their mean, times their number.
    outcomes = [len(amounts) * amount - sum(amounts) for amount in amounts]
    for sign in (1, -1):
        bets = LinearBets(sign, (0, 1, 4))
        means = [0, 0, 0]
        for amount in outcomes:
            after = bets.settle([wealth] * 3, [], [Change(amount, min(outcomes), max(outcomes))])
            assert min(after) >= 0
            means = [mean + each for mean, each in zip(means, after, strict=True)]
        assert all(wealth * len(outcomes) - len(outcomes) <= mean <= wealth * len(outcomes) for mean in means)


@settings(deadline=None)
@given(st.lists(st.integers(-10_000, 10_000), max_size=8), st.integers(0, 50_000), st.integers(0, 2**130))
def test_bets_on_drift_gain_nothing_on_an_amount_as_likely_below_as_above(
    past: list[int], size: int, wealth: int
) -> None:
    for sign in (1, -1):
        bets = DriftBets(sign, (0, 2), 100)
        memory = [0, 0]
        bets.settle([UNIT] * 2, memory, past)
        after = [bets.settle([wealth] * 2, list(memory), [amount]) for amount in (size, -size)]
        assert all(0 <= 2 * wealth - (up + down) <= 2 for up, down in zip(*after, strict=True))


def test_drift_is_cut_off_at_twice_the_mean_size_so_far() -> None:
    bets, memory = DriftBets(-1, (1,), 100), [0, 0]
    assert bets.settle([UNIT], memory, [-50]) == [UNIT * 9 // 8]  # the bound is 200: half of 50/200
    assert memory == [50, 1]
    assert bets.settle([UNIT], memory, [-10_000]) == [UNIT * 3 // 2]  # 150, of which half
    assert memory == [350, 2]  # no more than twice the bound of 150 is remembered
    assert bets.settle([UNIT], memory, [0]) == [UNIT]


@settings(deadline=None)
@given(st.integers(0, 7), st.integers(0, 7), st.integers(0, 2**130), st.data())
def test_bets_on_an_odds_ratio_gain_nothing_over_all_ways_to_choose_the_own(
    marked: int, unmarked: int, wealth: int, data: st.DataObject
) -> None:
    everything = marked + unmarked
    own = data.draw(st.integers(0, everything))
    bets = OddsRatioBets(((2, 1), (1, 3), (7, 2)))
    means, ways = [0, 0, 0], 0
    for chosen in combinations(range(everything), own):
        share = Share(sum(each < marked for each in chosen), own, marked, everything)
        means = [m + after for m, after in zip(means, bets.settle([wealth] * 3, [], [share]), strict=True)]
        ways += 1
    assert all(wealth * ways - ways <= mean <= wealth * ways for mean in means)


def test_a_group_that_has_all_the_marked_gains_on_a_ratio_above_one() -> None:
    above, below = OddsRatioBets(((2, 1), (1, 2))).settle([UNIT, UNIT], [], [Share(2, 2, 2, 4)])
    # Of 6 ways to choose two of four, 1, 4 and 1 have none, one and two of the marked: 4 / ((1 + 4 × 2 + 4) / 6) at a
    # ratio of 2, and 1/4 / ((1 + 4/2 + 1/4) / 6) at 1/2.
    assert (above, below) == (UNIT * 24 // 13, UNIT * 6 // 13)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6), st.lists(st.integers(0, 5), max_size=60), st.integers(0, 5), st.sampled_from([1, 5, 50]))
def test_a_learner_of_pairs_gains_nothing_whatever_came_before(
    cells: int, history: list[int], before: int, prior: int
) -> None:
    history = [each % cells for each in history]
    before %= cells
    learner = PairLearner(cells, prior)
    memory = [0] * learner.memory_cells
    pairs = list(pairwise(history))
    learner.settle([UNIT], memory, {pair: pairs.count(pair) for pair in pairs})
    total = sum(learner.settle([UNIT], list(memory), {(before, cell): 1})[0] for cell in range(cells))
    assert UNIT * cells - cells <= total <= UNIT * cells


@pytest.mark.parametrize("cells", [9, 37, 38])
def test_fixed_odds_pay_at_most_fairly_over_the_wheel(cells: int) -> None:
    for width, percent in product([each for each in WIDTHS if each < cells], LIFTS):
        arc = lifted_arc(cells, width, percent)
        assert 0 <= EVENS * cells - (width * arc.inside + (cells - width) * arc.outside) <= cells
    for width, percent in product([each for each in WIDTHS if each < cells], AIMS):
        arc = aimed_arc(cells, width, percent)
        assert 0 <= EVENS * cells - (width * arc.inside + (cells - width) * arc.outside) <= 2 * cells
    for phase, percent in product(PHASES, AMPLITUDES):
        odds = sinusoid(cells, phase, 12, percent)
        assert 0 < EVENS * cells - sum(odds) <= 3 * cells


def test_a_stake_on_cells_pays_at_most_fairly() -> None:
    for sizes, cells in ((TOTALS, (5,)), ((6, 30), (0,)), ((2, 2, 32), (1,)), (FACES, (0, 3))):
        for percent in (5, 80, 100):
            odds = staked_cells(sizes, cells, percent)
            assert 0 <= EVENS * sum(sizes) - sum(s * o for s, o in zip(sizes, odds, strict=True)) <= 2 * sum(sizes)


@settings(deadline=None)
@given(st.integers(0, 2**68), st.integers(0, 3_000))
def test_a_power_is_rounded_down_and_keeps_its_digits(odds: int, times: int) -> None:
    factor = power(odds, times)
    shown, exact = factor.of(UNIT), Fraction(odds, EVENS) ** times * UNIT
    assert shown <= exact
    assert exact - shown <= 1 + exact / 2**170


@pytest.mark.parametrize("cells", [37, 38])
@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(0, 36), min_size=1, max_size=40))
def test_wealth_is_that_of_the_formulas_draw_by_draw(cells: int, spins: list[int]) -> None:
    counts = [spins.count(cell) for cell in range(cells)]
    for width, percent in ((1, 20), (9, 5), (18, 40)):
        for arc, factor in ((lifted_arc, by_hand.lifted), (aimed_arc, by_hand.aimed)):
            after = arc(cells, width, percent).settle([UNIT] * cells, [], counts)
            for start in range(cells):
                exact = Fraction(UNIT)
                for cell in spins:
                    exact *= factor(cells, width, start, percent, cell)
                assert 0 <= exact - after[start] <= 1 + exact * len(spins) / 2**60


@settings(deadline=None)
@given(st.lists(st.integers(0, 36), max_size=30), st.lists(st.integers(0, 36), max_size=30))
def test_a_learner_remembers_from_batch_to_batch(first: list[int], second: list[int]) -> None:
    cells = arcs_of(37, 1)
    sizes = [cells.count(arc) for arc in range(6)]
    learner, memory, wealth = Learner(cells, tuple(sizes), 5), [0] * 6, [UNIT]
    exact, counts = Fraction(UNIT), [0] * 6
    for batch in (first, second):
        wealth = learner.settle(wealth, memory, [batch.count(pocket) for pocket in range(37)])
        for pocket in batch:
            exact *= by_hand.learned(counts, 5, sizes, cells[pocket])
            counts[cells[pocket]] += 1
    assert 0 <= exact - wealth[0] <= 1 + exact * CLOSE + 2
    assert memory == counts


@settings(deadline=None)
@given(st.lists(st.integers(-3, 5), max_size=20), st.sampled_from([1, -1]))
def test_bets_on_changes_are_those_of_the_formula(amounts: list[int], sign: int) -> None:
    exact = [Fraction(UNIT)] * 3
    for amount in amounts:
        exact = [w * by_hand.linear(sign, h, amount, -3, 5) for w, h in zip(exact, (0, 1, 4), strict=True)]
    after = LinearBets(sign, (0, 1, 4)).settle([UNIT] * 3, [], [Change(amount, -3, 5) for amount in amounts])
    assert all(0 <= e - a <= len(amounts) * max(1, e / UNIT + 2) * 2**20 for e, a in zip(exact, after, strict=True))


def test_an_arc_goes_round_the_zero_of_the_list() -> None:
    bets = ArcBets(5, 2, 2 * EVENS, EVENS // 2)
    assert bets.settle([4] * 5, [], [0, 0, 0, 0, 1]) == [2, 2, 2, 8, 8]  # the arcs that start with cell 3 and cell 4


def test_a_gambler_on_no_seven_loses_everything_on_a_seven() -> None:
    bets = CellBets((6, 30), (staked_cells((6, 30), (1,), 100),))
    assert bets.settle([UNIT], [], [1, 20]) == [0]
    assert 0 <= UNIT * Fraction(6, 5) ** 20 - bets.settle([UNIT], [], [0, 20])[0] <= UNIT * Fraction(1, 2**50)


@pytest.mark.parametrize(
    ("part", "whole", "value"), [(0, 1, 1), (1, 2, -1), (1, 4, 0), (1, 3, Fraction(-1, 2)), (5, 6, Fraction(1, 2))]
)
def test_the_cosine_of_known_angles(part: int, whole: int, value: Fraction) -> None:
    assert abs(cosine(part, whole) - value * 2**96) < 2**6


@pytest.mark.parametrize(("part", "whole"), [(1, 8), (3, 37), (17, 38), (100, 444)])
def test_the_cosine_doubles_as_it_should(part: int, whole: int) -> None:
    once = Fraction(cosine(part, whole), 2**96)
    assert abs(2 * once**2 - 1 - Fraction(cosine(2 * part, whole), 2**96)) < Fraction(1, 2**88)


def test_settling_leaves_the_wealth_it_was_given() -> None:
    for kind in ("wheel", "die", "dice-pair", "player-luck"):
        for family in KINDS[kind].mixture(37).families:
            wealth = [UNIT] * family.bets.bettors
            given_ = deepcopy(wealth)
            seen = [Change(1, -1, 1)] if isinstance(family.bets, LinearBets) else [1] * len(ways_of(family, 37))
            family.bets.settle(wealth, [0] * family.bets.memory_cells, seen)
            assert wealth == given_
