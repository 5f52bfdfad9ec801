"""The normal tail against the standard library, the interval against what chance does."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist

import pytest

from settlement.night.variance import (
    CONVERGENTS,
    FAR,
    Interval,
    _continued_fraction,
    hold_interval,
    surprise,
    two_sided,
    two_sided_quantile,
    upper_tail,
    win_interval,
)

#  z      Q(z), to 20 digits
TAIL = """
   0      0.5
   1      0.15865525393145705141
   2      0.022750131948179207200
   3      0.0013498980316300945267
   4      0.000031671241833119921254
   5      2.8665157187919391167E-7
   6      9.8658764503769814070E-10
   7      1.2798125438858350043E-12
   8      6.2209605742717841235E-16
   10     7.6198530241605260660E-24
   20     2.7536241186062336951E-89
   38     2.8854283600687843084E-316
"""


@pytest.mark.parametrize("row", TAIL.strip().splitlines(), ids=lambda row: row.split()[0])
def test_the_tail_has_twenty_right_digits(row: str) -> None:
    z, tail = row.split()
    assert abs(upper_tail(Decimal(z)) / Decimal(tail) - 1) < Decimal("1E-19")


@pytest.mark.parametrize("z", [Decimal(n) / 7 for n in range(0, 260, 3)], ids=str)
def test_the_tail_is_that_of_the_standard_library_as_far_as_it_reaches(z: Decimal) -> None:
    expected = math.erfc(float(z) / math.sqrt(2)) / 2
    assert math.isclose(float(upper_tail(z)), expected, rel_tol=1e-12)
    assert math.isclose(float(two_sided(-z)), 2 * expected, rel_tol=1e-12)


def test_two_convergents_enclose_the_tail_as_closely_as_is_said() -> None:
    one, next_one = (_continued_fraction(FAR, depth) for depth in (CONVERGENTS, CONVERGENTS + 1))
    assert abs(one / next_one - 1) < Decimal("1E-40")


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(5, 100), Fraction(1, 1000), Fraction(1, 10**9)])
def test_a_quantile_is_where_the_tail_has_its_chance(alpha: Fraction) -> None:
    z = two_sided_quantile(alpha)
    assert math.isclose(float(z), NormalDist().inv_cdf(1 - float(alpha) / 2), rel_tol=1e-7)
    assert abs(two_sided(z) / (Decimal(alpha.numerator) / alpha.denominator) - 1) < Decimal("1E-15")


def test_luck_is_held_against_its_standard_deviation() -> None:
    # erfc(√2) = 0.04550026389635841440056…, and √½ = 0.707106781186547524400…
    assert surprise(Fraction(-300), Fraction(22_500)) == (-2, Decimal("0.045500263896358414401"))
    one_in_two = surprise(Fraction(1), Fraction(2))
    assert one_in_two is not None
    assert str(one_in_two.z) == "0.70710678118654752440"


@pytest.mark.parametrize(
    ("alpha", "z"),
    [("1/20", "1.9599639845400542355"), ("1/100", "2.5758293035489007610"), ("1/1000", "3.2905267314918947932")],
)
def test_the_usual_quantiles_have_their_published_digits(alpha: str, z: str) -> None:
    assert abs(two_sided_quantile(Fraction(alpha)) - Decimal(z)) <= Decimal("1E-18")


def test_without_a_stake_on_any_draw_there_is_nothing_to_be_surprised_at() -> None:
    assert surprise(Fraction(0), Fraction(0)) is None
    with pytest.raises(AssertionError, match="no luck"):
        surprise(Fraction(1), Fraction(0))


def test_the_interval_of_a_win_is_rounded_outward() -> None:
    interval = win_interval(Fraction(100, 3), Fraction(10_000), Fraction(5, 100))
    assert interval == Interval(Fraction(-163), Fraction(230), Fraction(5, 100))
    assert interval.holds(-163)
    assert interval.holds(230)
    assert not interval.holds(231)


def test_the_hold_has_the_drop_for_its_denominator() -> None:
    interval = hold_interval(Fraction(100), Fraction(10_000), 1_000, Fraction(5, 100))
    assert interval is not None
    assert interval == Interval(Fraction(-96, 1000), Fraction(296, 1000), Fraction(5, 100))
    assert hold_interval(Fraction(100), Fraction(10_000), 0, Fraction(5, 100)) is None


def test_an_interval_misses_a_fair_night_as_seldom_as_it_says() -> None:
    # 2,000 nights of 200 coups, a stake of 1000 on red where every zero takes a half.
    chance = random.Random(1876)
    coups, stake = 200, 1000
    mean = Fraction(stake, 74)
    variance = Fraction(18 * stake**2 + 18 * stake**2, 37) + Fraction(stake**2, 4 * 37) - mean**2
    alpha = Fraction(5, 100)
    interval = win_interval(coups * mean, coups * variance, alpha)
    outside = 0
    for _ in range(2_000):
        wins = chance.choices([stake, -stake, stake // 2], weights=[18, 18, 1], k=coups)
        outside += not interval.holds(sum(wins))
    assert 60 <= outside <= 140, "5 % of 2,000, give or take"
