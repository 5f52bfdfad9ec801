"""The tests of dice and wheels keep their level, whenever one looks, and find what is not fair."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import product

import pytest

from settlement.layouts import LAYOUT_37, LAYOUT_38, Layout
from settlement.night.fairness import (
    ARCS,
    CUTS,
    UNIT,
    Bettor,
    DiceFairness,
    WheelFairness,
    _cells,
    restore,
    saved,
    summary,
)

ALPHA = Fraction(1, 20)
STRICT = Fraction(1, 1000)


@pytest.mark.parametrize("sizes, prior", [([1] * 6, 1), ([1] * 6, 36), ([7, 6, 6, 6, 6, 6], 5), ([1, 2], 1)])
def test_wealth_is_a_martingale_in_every_history(sizes: list[int], prior: int) -> None:
    # The mean over all that may come, each with its fair chance, is what there was; rounding only takes away.
    for history in product(range(len(sizes)), repeat=3):
        bettor = Bettor(sizes, prior)
        for cell in history:
            bettor.draw(cell)
        mean = Fraction(0)
        for cell, size in enumerate(sizes):
            after = Bettor(sizes, prior)
            for each in (*history, cell):
                after.draw(each)
            mean += Fraction(after.wealth * size, sum(sizes))
        assert bettor.wealth - len(sizes) <= mean <= bettor.wealth


def test_the_evidence_of_dice_has_mean_one_over_all_throws_of_two_dice_in_turn() -> None:
    total = Fraction(0)
    for faces in product(range(1, 7), repeat=4):
        dice = DiceFairness()
        dice.throw(faces[:2], ["a", "b"])
        dice.throw(faces[2:], ["b", "c"])
        total += Fraction(dice.evidence, UNIT * 6**4)
    assert 1 - Fraction(1, 2**500) < total <= 1


@pytest.mark.parametrize("layout", [LAYOUT_37, LAYOUT_38])
def test_the_evidence_of_a_wheel_has_mean_one_over_all_pairs_of_spins(layout: Layout) -> None:
    total = Fraction(0)
    for spins in product(layout.wheel, repeat=2):
        wheel = WheelFairness(layout)
        for pocket in spins:
            wheel.spin(pocket)
        total += wheel.evidence
    mean = total / (UNIT * len(layout.wheel) ** 2)
    assert 1 - Fraction(1, 2**500) < mean <= 1


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def test_after_the_same_face_twice_each_prior_has_its_wealth() -> None:
    # The first throw teaches, the second pays: 6 × (1 + prior) / (1 + 6 × prior), under the priors 1, 6 and 36.
    wealth = mean([6 * Fraction(1 + prior, 1 + 6 * prior) for prior in (1, 6, 36)])
    dice = DiceFairness()
    for _ in range(2):
        dice.throw([4], ["a"])
    expected = (wealth + 1) / 2  # half is set aside for a second die
    assert expected - Fraction(1, 2**500) < Fraction(dice.evidence, UNIT) <= expected
    assert (dice.draws, dice.peak) == (2, dice.evidence)
    assert dice.p_value == Fraction(UNIT, dice.peak)
    assert not dice.alarms(1 / Fraction(dice.peak + 1, UNIT))
    assert dice.alarms(1 / Fraction(dice.peak, UNIT))


def test_after_the_same_pocket_twice_pockets_and_arcs_have_their_wealth() -> None:
    # The zero is in the long arc of 7 pockets in one of the four cuts, in an arc of 6 in the three others.
    pockets = mean([37 * Fraction(1 + prior, 1 + 37 * prior) for prior in (2, 20)])
    arcs = mean(
        [Fraction(37, size) * Fraction(1 + prior * size, 1 + prior * 37) for size in (7, 6, 6, 6) for prior in (1, 5)]
    )
    wheel = WheelFairness(LAYOUT_37)
    for _ in range(2):
        wheel.spin("0")
    expected = (pockets + arcs) / 2
    assert expected - Fraction(1, 2**500) < Fraction(wheel.evidence, UNIT) <= expected


def test_the_peak_stays_when_the_evidence_falls() -> None:
    dice = DiceFairness()
    for face in (6, 6, 6, 1, 2, 3, 4, 5):
        dice.throw([face], ["a"])
    assert UNIT // 3 < dice.evidence < dice.peak
    assert dice.draws == 8


@pytest.mark.parametrize("size", [37, 38])
@pytest.mark.parametrize("cut", range(CUTS))
def test_arcs_are_neighbours_of_six_or_seven(size: int, cut: int) -> None:
    cells = _cells(size, cut)
    assert {cells.count(arc) for arc in range(ARCS)} <= {6, 7}
    assert sum(cells[index] != cells[index - 1] for index in range(size)) == ARCS


def first_alarm(fairness: DiceFairness | WheelFairness, draw: object, alpha: Fraction, most: int) -> int | None:
    """Return after how many draws of ``draw`` the test asks, None if it does not within ``most``."""
    for drawn in range(1, most + 1):
        draw(fairness)  # type: ignore[operator]
        if fairness.alarms(alpha):
            return drawn
    return None


def test_the_level_holds_over_thousands_of_fair_runs_though_one_looks_after_every_draw() -> None:
    chance = random.Random(20261119)
    runs, throws, spins = 2_000, 60, 60
    faces = range(1, 7)

    def throw(dice: DiceFairness) -> None:
        dice.throw(chance.choices(faces, k=2), ["a", "b"])

    def spin(wheel: WheelFairness) -> None:
        wheel.spin(chance.choice(LAYOUT_37.wheel))

    alarms = {
        "dice": sum(first_alarm(DiceFairness(), throw, ALPHA, throws) is not None for _ in range(runs)),
        "wheel": sum(first_alarm(WheelFairness(LAYOUT_37), spin, ALPHA, spins) is not None for _ in range(runs // 2)),
    }
    print(f"false alarms at α = {ALPHA}: {alarms['dice']} of {runs} dice, {alarms['wheel']} of {runs // 2} wheels")
    # Three standard deviations above the level, were it attained: 5 % of the runs.
    assert alarms["dice"] <= runs / 20 + 3 * (runs * 0.05 * 0.95) ** 0.5
    assert alarms["wheel"] <= runs / 40 + 3 * (runs / 2 * 0.05 * 0.95) ** 0.5


def test_a_loaded_die_is_found() -> None:
    # A six weighs a quarter more than it should at the cost of the one: 5/24, 3/24.
    chance = random.Random(7)
    delays = []
    for _ in range(20):

        def throw(dice: DiceFairness) -> None:
            loaded = chance.choices(range(1, 7), weights=[3, 4, 4, 4, 4, 5])[0]
            dice.throw([loaded, chance.randint(1, 6)], ["loaded", "fair"])

        delays.append(first_alarm(DiceFairness(), throw, STRICT, 6_000))
    alarms = sorted(delay for delay in delays if delay is not None)
    print(f"loaded die (5/24 on the six, 3/24 on the one): asked after {alarms[len(alarms) // 2]} throws, median of 20")
    assert len(alarms) == len(delays)
    assert alarms[len(alarms) // 2] < 2_500


def test_a_tilted_wheel_is_found_by_its_arc() -> None:
    # A third of the wheel comes a third more often than it should.
    chance = random.Random(8)
    weights = [4 if index < 12 else 3 for index in range(37)]
    delays = []
    for _ in range(15):

        def spin(wheel: WheelFairness) -> None:
            wheel.spin(chance.choices(LAYOUT_37.wheel, weights=weights)[0])

        delays.append(first_alarm(WheelFairness(LAYOUT_37), spin, STRICT, 6_000))
    alarms = sorted(delay for delay in delays if delay is not None)
    print(f"tilted wheel (12 pockets a third more often): asked after {alarms[len(alarms) // 2]} spins, median of 15")
    assert len(alarms) == len(delays)
    assert alarms[len(alarms) // 2] < 3_000


def test_a_loose_pocket_is_found_by_its_pocket() -> None:
    chance = random.Random(9)
    weights = [2 if pocket == "17" else 1 for pocket in LAYOUT_38.wheel]
    wheel = WheelFairness(LAYOUT_38)
    for _ in range(4_000):
        wheel.spin(chance.choices(LAYOUT_38.wheel, weights=weights)[0])
    assert wheel.alarms(STRICT)


def test_a_thousand_fair_nights_on_one_wheel_do_not_run_out_of_digits() -> None:
    chance = random.Random(10)
    wheel = WheelFairness(LAYOUT_37)
    for _ in range(20_000):
        wheel.spin(chance.choice(LAYOUT_37.wheel))
    assert all(bettor.wealth > 0 for bettor in wheel.pockets)
    assert not wheel.alarms(STRICT)


def test_dice_without_names_are_known_by_their_position() -> None:
    dice = DiceFairness()
    dice.throw([1, 6])
    dice.throw([1, 6], ["a"])
    dice.throw([1, 6], ["a", "a"])
    assert list(dice.dice) == ["#0", "#1"]


def test_named_dice_are_known_by_their_names_in_any_order() -> None:
    dice, alone = DiceFairness(), DiceFairness()
    for _ in range(3):
        dice.throw([6, 1], ["a", "b"])
        dice.throw([1, 6], ["b", "a"])
        alone.throw([6], ["a"])
        alone.throw([6], ["a"])
    assert list(dice.dice) == ["a", "b"]
    assert dice.dice["a"].wealth == alone.dice["a"].wealth > UNIT
    assert dice.draws == 6


def test_a_reported_p_value_is_rounded_up() -> None:
    dice = DiceFairness()
    for _ in range(12):
        dice.throw([6, 6])
    content = summary(dice, STRICT)
    assert content["draws"] == 12
    assert (content["asks"], content["alpha"]) == (True, "1/1000")
    assert Fraction(content["p_millionths"] - 1, 10**6) < dice.p_value <= Fraction(content["p_millionths"], 10**6)
    assert summary(DiceFairness(), STRICT) == {"draws": 0, "p_millionths": 10**6, "asks": False, "alpha": "1/1000"}


@pytest.mark.parametrize("layout", [LAYOUT_37, LAYOUT_38])
def test_a_wheel_that_was_saved_goes_on_as_one_that_was_not(layout: Layout) -> None:
    chance = random.Random(5)
    spins = chance.choices(layout.wheel, [2, *[1] * (len(layout.wheel) - 1)], k=60)
    whole, first, second = (WheelFairness(layout) for _ in range(3))
    for pocket in spins:
        whole.spin(pocket)
    for pocket in spins[:25]:
        first.spin(pocket)
    restore(second, json.loads(json.dumps(saved(first))))
    for pocket in spins[25:]:
        second.spin(pocket)
    assert (second.evidence, second.peak, second.draws) == (whole.evidence, whole.peak, 60)
    assert saved(second) == saved(whole) != saved(first)


def test_dice_that_were_saved_go_on_as_if_they_were_not_and_others_may_join() -> None:
    throws = [([6, 1], ["a", "b"]), ([6, 6], ["b", "c"]), ([6, 2], []), ([6, 5], ["c", "d"]), ([6, 6], ["a", "d"])]
    whole, first, second = (DiceFairness() for _ in range(3))
    for faces, names in throws:
        whole.throw(faces, names)
    for faces, names in throws[:3]:
        first.throw(faces, names)
    restore(second, json.loads(json.dumps(saved(first))))
    for faces, names in throws[3:]:
        second.throw(faces, names)
    assert (second.evidence, second.peak, second.draws) == (whole.evidence, whole.peak, 5)
    assert saved(second) == saved(whole) != saved(first)
