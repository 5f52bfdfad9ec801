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

PRECISE = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX)
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
    of_ways = PRECISE.subtract(log_factorial(draws), PRECISE.add(log_factorial(times), log_factorial(draws - times)))
    of_mixture = PRECISE.add(of_ways, log(draws + 1))
    level = log(Fraction(alpha, chosen_of))

    def is_possible(part: int) -> bool:
        if (not part and times) or (part == PARTS and times < draws):
            return False
        came = PRECISE.multiply(times, log(Fraction(part, PARTS))) if times else Decimal(0)
        rest = draws - times
        stayed = PRECISE.multiply(rest, log(Fraction(PARTS - part, PARTS))) if rest else Decimal(0)
        return PRECISE.add(of_mixture, PRECISE.add(came, stayed)) >= level

    middle = times * PARTS // draws
    low = edge(middle, 0, is_possible)
    high = edge(min(PARTS, middle + 1), PARTS, is_possible)
    return Interval(Fraction(times, draws), Fraction(low, PARTS), Fraction(high, PARTS))


def edge(inside: int, end: int, is_possible: Callable[[int], bool]) -> int:
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


def log(number: Fraction | int) -> Decimal:
    """Return the natural logarithm of a number above 0."""
    return PRECISE.ln(PRECISE.divide(number.numerator, number.denominator))


def log_factorial(number: int) -> Decimal:
    """Return ln(n!)."""
    if number <= _FEW:
        return PRECISE.ln(Decimal(factorial(number)))
    n = Decimal(number)
    of_number = log(number)
    total = PRECISE.subtract(PRECISE.multiply(n, of_number), n)
    total = PRECISE.add(total, PRECISE.divide(PRECISE.add(PRECISE.ln(_TWO_PI), of_number), 2))
    for index, each in enumerate(_BERNOULLI, start=1):
        below = 2 * index * (2 * index - 1) * each.denominator
        total = PRECISE.add(
            total, PRECISE.divide(each.numerator, PRECISE.multiply(below, PRECISE.power(n, 2 * index - 1)))
        )
    return total
