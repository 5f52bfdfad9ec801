"""Croupiers: intervals against tables, tests against enumeration, false names against a simulated room."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import comb

import pytest

from settlement.night import croupiers
from settlement.night.croupiers import (
    Tally,
    clopper_pearson,
    compare,
    error_rate,
    more_than_others,
    noteworthy,
    one_sidedness,
)

FIVE = Fraction(5, 100)

#  errors  trials   low       high      the published 95 % intervals
PUBLISHED = """
   0       10       0         0.308498
   1       10       0.002528  0.445017
   5       10       0.187086  0.812914
   10      10       0.691502  1
   3       100      0.006229  0.085177
   0       1000     0         0.003683
   13      5000     0.001385  0.004442
"""


@pytest.mark.parametrize("row", PUBLISHED.strip().splitlines(), ids=lambda row: " ".join(row.split()[:2]))
def test_the_interval_is_the_published_one(row: str) -> None:
    errors, trials, low, high = row.split()
    bounds = clopper_pearson(int(errors), int(trials), FIVE)
    assert abs(bounds[0] - Fraction(low)) <= Fraction(2, 10**6)
    assert abs(bounds[1] - Fraction(high)) <= Fraction(2, 10**6)


def chance_of(errors: int, trials: int, rate: Fraction) -> Fraction:
    return comb(trials, errors) * rate**errors * (1 - rate) ** (trials - errors)


@pytest.mark.parametrize("trials", [1, 4, 11])
def test_the_bounds_are_the_last_millionths_outside_the_level(trials: int) -> None:
    millionth = Fraction(1, 10**6)
    for errors in range(trials + 1):

        def as_many(rate: Fraction, least: int = errors) -> Fraction:
            return sum((chance_of(each, trials, rate) for each in range(least, trials + 1)), Fraction(0))

        def as_few(rate: Fraction, most: int = errors) -> Fraction:
            return sum((chance_of(each, trials, rate) for each in range(most + 1)), Fraction(0))

        low, high = clopper_pearson(errors, trials, FIVE)
        assert (low == 0) if errors == 0 else as_many(low) < FIVE / 2 <= as_many(low + millionth)
        assert (high == 1) if errors == trials else as_few(high) < FIVE / 2 <= as_few(high - millionth)
        assert (low / millionth).denominator == (high / millionth).denominator == 1


@pytest.mark.parametrize("trials", [1, 5, 20])
def test_the_interval_holds_any_rate_as_often_as_it_says(trials: int) -> None:
    intervals = [clopper_pearson(errors, trials, FIVE) for errors in range(trials + 1)]
    for percent in range(101):
        rate = Fraction(percent, 100)
        held = sum(
            chance_of(errors, trials, rate) for errors, (low, high) in enumerate(intervals) if low <= rate <= high
        )
        assert held >= 1 - FIVE


def test_who_paid_nothing_has_no_rate() -> None:
    assert Tally(7) == (7, 0, 0)
    assert error_rate(Tally(0), FIVE) is None
    rate = error_rate(Tally(200, 1, 3), FIVE)
    assert rate is not None
    assert (rate.rate, rate.alpha) == (Fraction(4, 200), FIVE)
    assert rate.low < rate.rate < rate.high


def test_fishers_test_is_the_share_of_deals_that_give_one_so_many() -> None:
    # Seven payouts, three of them wrong; the first four are his. Every deal of the three errors is enumerated.
    deals = [deal for deal in product((0, 1), repeat=7) if sum(deal) == 3]
    for mine in range(4):
        as_many = sum(sum(deal[:4]) >= mine for deal in deals)
        assert more_than_others(Tally(4, mine), Tally(7, 3)) == Fraction(as_many, len(deals))


@pytest.mark.parametrize(
    ("for_house", "for_player", "p"),
    [(0, 0, "1"), (1, 1, "1"), (5, 0, "1/16"), (0, 5, "1/16"), (8, 2, "7/64"), (10, 0, "1/512")],
)
def test_the_sign_test_has_a_coins_chances(for_house: int, for_player: int, p: str) -> None:
    assert one_sidedness(Tally(100, for_house, for_player)) == Fraction(p)


def test_those_are_named_that_benjamini_and_hochberg_name() -> None:
    # The fifteen p-values of their paper: at q = 5 % the first four are kept.
    published = "0.0001 0.0004 0.0019 0.0095 0.0201 0.0278 0.0298 0.0344 0.0459 0.3240 0.4262 0.5719 0.6528 0.7590 1"
    p_values = {f"{rank:02}": Fraction(p) for rank, p in enumerate(published.split(), start=1)}
    assert noteworthy(p_values, FIVE) == ["01", "02", "03", "04"]
    assert noteworthy(p_values, FIVE, any_dependence=True) == ["01", "02", "03"]
    assert noteworthy({}, FIVE) == noteworthy({}, FIVE, any_dependence=True) == []


@pytest.mark.parametrize(("any_dependence", "last"), [(False, Fraction(5, 200)), (True, Fraction(5, 300))])
def test_the_smallest_of_two_stands_out_up_to_its_rank_s_share_of_the_level(
    any_dependence: bool, last: Fraction
) -> None:
    # Of two, the first may have a half of the level; with any dependence that is divided by 1 + ½.
    tiny = Fraction(1, 10**9)
    assert noteworthy({"a": last, "b": Fraction(1)}, FIVE, any_dependence=any_dependence) == ["a"]
    assert noteworthy({"a": last + tiny, "b": Fraction(1)}, FIVE, any_dependence=any_dependence) == []
    assert noteworthy({"b": 2 * last, "a": 2 * last}, FIVE, any_dependence=any_dependence) == ["a", "b"]


def test_a_croupier_alone_is_compared_with_nobody() -> None:
    (alone,) = compare({"absent": Tally(0), "only": Tally(40, 1, 2)}, alpha=FIVE, q=FIVE).values()
    assert alone.tally == Tally(40, 1, 2)
    assert alone.rate == error_rate(Tally(40, 1, 2), FIVE)
    assert (alone.p_errors, alone.p_side, alone.noteworthy) == (1, 1, False)


def test_everybody_s_payouts_are_those_of_all_who_paid() -> None:
    tallies = {"b": Tally(4, 1, 1), "a": Tally(3, 1), "absent": Tally(0)}
    assessments = compare(tallies, alpha=FIVE, q=FIVE)
    assert list(assessments) == ["a", "b"]
    assert assessments["a"].p_errors == more_than_others(Tally(3, 1), Tally(7, 2, 1))
    assert assessments["b"].p_errors == more_than_others(Tally(4, 2), Tally(7, 3))


@pytest.mark.parametrize(
    ("errors", "trials", "alpha"), [(-1, 5, FIVE), (6, 5, FIVE), (1, 5, Fraction(0)), (1, 5, Fraction(1))]
)
def test_impossible_counts_and_levels_have_no_interval(errors: int, trials: int, alpha: Fraction) -> None:
    with pytest.raises(AssertionError):
        clopper_pearson(errors, trials, alpha)


def test_a_later_small_one_takes_those_before_it_along() -> None:
    p_values = {"a": Fraction(4, 100), "b": Fraction(45, 1000)}
    assert noteworthy(p_values, FIVE) == ["a", "b"]


def test_one_bad_croupier_is_named_and_a_room_of_equals_is_left_alone() -> None:
    honest = {f"croupier-{number}": Tally(600, 1, 1) for number in range(1, 12)}
    assessments = compare(honest | {"croupier-12": Tally(600, 14, 0)}, alpha=FIVE, q=FIVE)
    assert [name for name, assessment in assessments.items() if assessment.noteworthy] == ["croupier-12"]
    bad = assessments["croupier-12"]
    assert bad.rate.low > Fraction(2, 600)
    assert bad.p_side == Fraction(2, 2**14)
    assert not any(assessment.noteworthy for assessment in compare(honest, alpha=FIVE, q=FIVE).values())
    assert compare({"absent": Tally(0)}, alpha=FIVE, q=FIVE) == {}


@pytest.mark.parametrize("rooms", [400, pytest.param(1_500, marks=pytest.mark.faults)])
def test_false_names_are_as_rare_as_is_said(rooms: int) -> None:
    # Rooms of ten who err alike: whoever is named is falsely named, so some name is given in at most 5 %.
    chance = random.Random(1995)
    named = 0
    for _ in range(rooms):
        tallies = {}
        for number in range(10):
            errors = sum(chance.random() < 0.01 for _ in range(300))
            tallies[f"c{number}"] = Tally(300, errors)
        everybody = Tally(3_000, sum(tally.errors for tally in tallies.values()))
        p_values = {name: more_than_others(tally, everybody) for name, tally in tallies.items()}
        named += bool(noteworthy(p_values, FIVE))
    assert 0 < named <= rooms // 20


# A rate of 39/40 leaves one payout right in exactly α/2 of all cases: the bound is the first rate above it.
@pytest.mark.parametrize("errors, trials", [(0, 1), (0, 900), (1, 900), (13, 900), (899, 900), (900, 900), (450, 900)])
def test_many_payouts_have_the_bounds_that_whole_numbers_give(errors: int, trials: int) -> None:
    alpha = Fraction(1, 20)
    assert croupiers._rounded_bounds(errors, trials, alpha) == clopper_pearson(errors, trials, alpha)


def test_a_million_payouts_take_no_time() -> None:
    low, high = clopper_pearson(120, 1_000_000, Fraction(1, 20))
    assert low < Fraction(120, 1_000_000) < high
