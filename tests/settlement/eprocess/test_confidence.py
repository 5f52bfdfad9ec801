"""The interval of a share: what it was worked out to be by hand, what it covers at every draw, and that it narrows."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.eprocess.confidence import PARTS, interval_of_share

FIVE_PERCENT = Fraction(1, 20)


def is_possible(times: int, draws: int, part: int, alpha: Fraction) -> bool:
    """Whether a share is in the interval, in whole numbers: C(n, k) (n + 1) pᵏ (1 − p)ⁿ⁻ᵏ ≥ α."""
    likelihood = comb(draws, times) * (draws + 1) * part**times * (PARTS - part) ** (draws - times)
    return likelihood * alpha.denominator >= alpha.numerator * PARTS**draws


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 40))
def test_the_bounds_are_the_nearest_parts_outside(times: int, draws: int, chosen_of: int) -> None:
    times = min(times, draws)
    found = interval_of_share(times, draws, FIVE_PERCENT, chosen_of=chosen_of)
    alpha = FIVE_PERCENT / chosen_of
    low, high = int(found.low * PARTS), int(found.high * PARTS)
    assert found.share == Fraction(times, draws)
    assert found.low <= found.share <= found.high
    if low:
        assert not is_possible(times, draws, low, alpha)
        assert is_possible(times, draws, low + 1, alpha)
    if high < PARTS:
        assert not is_possible(times, draws, high, alpha)
        assert is_possible(times, draws, high - 1, alpha)


def test_more_draws_narrow_it_and_more_choices_widen_it() -> None:
    few, many = interval_of_share(30, 100, FIVE_PERCENT), interval_of_share(300_000, 1_000_000, FIVE_PERCENT)
    assert many.high - many.low < few.high - few.low
    chosen = interval_of_share(30, 100, FIVE_PERCENT, chosen_of=222)
    assert chosen.low < few.low
    assert chosen.high > few.high


def test_a_long_series_is_as_exact_as_a_short_one() -> None:
    """Beyond a thousand draws the factorials are Stirling's: the bounds are those of whole numbers all the same."""
    found = interval_of_share(484, 1_612, FIVE_PERCENT, chosen_of=222)
    low, high = int(found.low * PARTS), int(found.high * PARTS)
    alpha = FIVE_PERCENT / 222
    assert [is_possible(484, 1_612, part, alpha) for part in (low, low + 1, high - 1, high)] == [
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_it_misses_the_truth_at_any_of_many_draws_no_more_often_than_it_says(share: float) -> None:
    """Looked at after every draw: a plain 95% interval would miss in a third of these series."""
    random, missed = Random(20_261_125), 0
    series = 200
    for _each in range(series):
        times = 0
        for draws in range(1, 121):
            times += random.random() < share
            part = round(share * PARTS)
            if not is_possible(times, draws, part, FIVE_PERCENT):
                missed += 1
                break
    assert missed <= series * FIVE_PERCENT
