"""A sum by denominator is the sum of the fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from settlement.sums import Sum

parts = st.lists(st.tuples(st.integers(), st.one_of(st.integers(1, 12), st.integers(1, 2**200))))


@given(parts)
def test_a_sum_is_that_of_its_fractions(parts: list[tuple[int, int]]) -> None:
    total = Sum()
    for numerator, denominator in parts:
        total.add(numerator, denominator)
    assert total.value() == sum((Fraction(*part) for part in parts), Fraction(0))


def test_it_starts_at_nothing_and_a_whole_number_needs_no_denominator() -> None:
    total = Sum()
    assert total.value() == 0
    total.add(2)
    total.add(1, 3)
    assert total.value() == Fraction(7, 3)
