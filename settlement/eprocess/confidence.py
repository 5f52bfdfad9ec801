"""How often something really comes, by what was counted: an interval that holds however often anybody looks.

    n draws, k of them in it        C(n, k) · (n + 1) · pᵏ (1 − p)ⁿ⁻ᵏ ≥ α        every p of which that is true

A gambler who spreads his wealth evenly over every alternative has 1 / (C(n, k) (n + 1) pᵏ (1 − p)ⁿ⁻ᵏ) of what he began
with, where p is true: a martingale, which reaches 1/α with a probability of at most α (Ville, 1939; H. Robbins, Ann.
Math. Statist. 41, 1970). So at the level 1 − α the interval has p after every draw at once, and not only after the
last. Where one of several things was chosen by its counts, α is divided among all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from math import factorial
from typing import NamedTuple

PARTS = 10_000
"""Bounds are rounded outward to as many parts of the whole."""

_precise = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Ample for bounds of four digits: what is rounded is in the thirtieth."""

_FEW = 1_000
"""Factorials up to this one are computed; beyond, Stirling's series errs by less than 10⁻³⁵."""

_BERNOULLI = (
    Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66), Fraction(-691, 2730),
)  # fmt: skip
_TWO_PI = Decimal("6.2831853071795864769252867665590057683943387987502")


class Interval(NamedTuple):
    """The share that was counted, and between what it lies."""

    share: Fraction
    low: Fraction
    high: Fraction


def interval_of_share(times: int, draws: int, alpha: Fraction, *, chosen_of: int = 1) -> Interval:
    """Return the interval of the share of what came ``times`` in ``draws``, at the level 1 − ``alpha`` at any time.

    ``chosen_of`` is among how many things this one was chosen by its counts. The bounds are rounded outward.
    """
    assert 0 <= times <= draws
    assert draws > 0
    assert 0 < alpha < 1
    assert chosen_of > 0
    of_ways = _precise.subtract(
        _log_factorial(draws), _precise.add(_log_factorial(times), _log_factorial(draws - times))
    )
    of_mixture = _precise.add(of_ways, _log(draws + 1))
    level = _log(Fraction(alpha, chosen_of))

    def is_possible(part: int) -> bool:
        if (not part and times) or (part == PARTS and times < draws):
            return False
        came = _precise.multiply(times, _log(Fraction(part, PARTS))) if times else Decimal(0)
        rest = draws - times
        stayed = _precise.multiply(rest, _log(Fraction(PARTS - part, PARTS))) if rest else Decimal(0)
        return _precise.add(of_mixture, _precise.add(came, stayed)) >= level

    middle = times * PARTS // draws
    low = _edge(middle, 0, is_possible)
    high = _edge(min(PARTS, middle + 1), PARTS, is_possible)
    return Interval(Fraction(times, draws), Fraction(low, PARTS), Fraction(high, PARTS))


def _edge(inside: int, end: int, is_possible: Callable[[int], bool]) -> int:
    """Return the first part from ``inside`` towards ``end`` that is not possible; ``end`` where every one is."""
    if is_possible(end):
        return end
    while abs(inside - end) > 1:
        middle = (inside + end) // 2
        if is_possible(middle):
            inside = middle
        else:
            end = middle
    return end


def _log(number: Fraction | int) -> Decimal:
    """Return the natural logarithm of a number above 0."""
    return _precise.ln(_precise.divide(number.numerator, number.denominator))


def _log_factorial(number: int) -> Decimal:
    """Return ln(n!)."""
    if number <= _FEW:
        return _precise.ln(Decimal(factorial(number)))
    n = Decimal(number)
    log = _log(number)
    total = _precise.subtract(_precise.multiply(n, log), n)
    total = _precise.add(total, _precise.divide(_precise.add(_precise.ln(_TWO_PI), log), 2))
    for index, each in enumerate(_BERNOULLI, start=1):
        below = 2 * index * (2 * index - 1) * each.denominator
        total = _precise.add(
            total, _precise.divide(each.numerator, _precise.multiply(below, _precise.power(n, 2 * index - 1)))
        )
    return total
