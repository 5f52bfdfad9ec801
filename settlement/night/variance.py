"""How far chance goes: luck against its variance, and the interval of a hold.

The variance of a night's luck is the sum over its draws of the variance that each could have, given the stakes on the
layout (``value``). Luck divided by its standard deviation is z, and close to normal unless a few draws dominate: the
central limit theorem for martingales (B. M. Brown, *Martingale central limit theorems*, Ann. Math. Statist. 42, 1971).
So p is an approximation, best for a night of many coups and worst for one big stake; the processes of
``settlement.eprocess`` have a level that is exact. Tables are independent of one another: their lucks and their
variances add up.

The normal tail is computed, not looked up, in decimal arithmetic of 50 digits, and returned to 20. Below ``FAR``,

    Q(z) = ½ − φ(z) · (z + z³/3 + z⁵/(3·5) + z⁷/(3·5·7) + …)

whose terms are positive, so that only the subtraction loses digits, at most 9 of the 50; from there on Laplace's
continued fraction Q(z) = φ(z)/(z + 1/(z + 2/(z + 3/(z + …)))), two successive convergents of which enclose the value
(Abramowitz and Stegun, *Handbook of Mathematical Functions*, 1964, 26.2.11 and 26.2.14). The relative error is below
10⁻²⁰.
"""

from __future__ import annotations

from decimal import MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

DIGITS = 20
"""Significant digits of what is returned."""

_exact = Context(prec=50, Emin=MIN_EMIN)
_shown = Context(prec=DIGITS, Emin=MIN_EMIN)

PI = Decimal("3.14159265358979323846264338327950288419716939937511")
FAR = Decimal(6)
NEGLIGIBLE = Decimal(10) ** -48
CONVERGENTS = 80
"""Depth of the continued fraction: at z = 6 two successive convergents differ by less than 10⁻⁴⁰ of their value."""


class Surprise(NamedTuple):
    """How unusual a luck is: ``z`` standard deviations, positive for the house, and the probability of |z| or more."""

    z: Decimal
    p: Decimal


def surprise(luck: Fraction, variance: Fraction) -> Surprise | None:
    """Return how unusual ``luck`` is, in minor units, given its ``variance``, in their square.

    None if nothing could vary: at no draw was there a stake on the layout.
    """
    if variance == 0:
        assert luck == 0, "what cannot vary has no luck"
        return None
    z = _exact.divide(_decimal(luck), _exact.sqrt(_decimal(variance)))
    return Surprise(_shown.plus(z), two_sided(z))


def two_sided(z: Decimal) -> Decimal:
    """Return the probability that a standard normal variable is as far from 0 as ``z``, or farther; 20 digits."""
    return _shown.multiply(2, upper_tail(abs(z)))


def upper_tail(z: Decimal) -> Decimal:
    """Return Q(z), the probability that a standard normal variable exceeds ``z`` ≥ 0: 50 digits, 40 of them right."""
    assert z >= 0
    square = _exact.multiply(z, z)
    density = _exact.divide(_exact.exp(_exact.divide(-square, 2)), _exact.sqrt(_exact.multiply(2, PI)))
    if z < FAR:
        return _exact.subtract(Decimal("0.5"), _exact.multiply(density, _series(z, square)))
    return _exact.multiply(density, _exact.divide(1, _continued_fraction(z, CONVERGENTS)))


def _series(z: Decimal, square: Decimal) -> Decimal:
    term = total = z
    odd = 1
    while term > NEGLIGIBLE:
        odd += 2
        term = _exact.divide(_exact.multiply(term, square), odd)
        total = _exact.add(total, term)
    return total


def _continued_fraction(z: Decimal, depth: int) -> Decimal:
    value = z
    for step in range(depth, 0, -1):
        value = _exact.add(z, _exact.divide(step, value))
    return value


@lru_cache(64)
def two_sided_quantile(alpha: Fraction) -> Decimal:
    """Return the z of which ``two_sided`` is ``alpha``; 20 digits."""
    assert 0 < alpha < 1
    low, high = Decimal(0), Decimal(64)
    half = _exact.divide(_decimal(alpha), 2)
    for _ in range(100):
        middle = _exact.divide(_exact.add(low, high), 2)
        low, high = (middle, high) if upper_tail(middle) > half else (low, middle)
    return _shown.plus(high)


class Interval(NamedTuple):
    """The range of a win, in minor units, or of a hold, that has the probability 1 − ``alpha``; both ends included."""

    low: Fraction
    high: Fraction
    alpha: Fraction

    def holds(self, figure: Fraction | int) -> bool:
        return self.low <= figure <= self.high


def win_interval(theoretical: Fraction, variance: Fraction, alpha: Fraction) -> Interval:
    """Return the interval of the win on what was staked, in whole minor units, rounded outward."""
    reach = _exact.multiply(two_sided_quantile(alpha), _exact.sqrt(_decimal(variance)))
    low = _exact.subtract(_decimal(theoretical), reach).to_integral_value(ROUND_FLOOR)
    high = _exact.add(_decimal(theoretical), reach).to_integral_value(ROUND_CEILING)
    return Interval(Fraction(int(low)), Fraction(int(high)), alpha)


def hold_interval(theoretical: Fraction, variance: Fraction, drop: int, alpha: Fraction) -> Interval | None:
    """Return the interval of the hold, the win as a share of ``drop``; None if the drop is 0.

    A report marks a ``Bridge.hold`` outside it. On orderly nights chance alone does that to a share of ``alpha`` of all
    sessions.
    """
    if not drop:
        return None
    win = win_interval(theoretical, variance, alpha)
    return Interval(win.low / drop, win.high / drop, alpha)


def _decimal(exact: Fraction) -> Decimal:
    return _exact.divide(exact.numerator, exact.denominator)
