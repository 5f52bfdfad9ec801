"""Sums of many fractions: their numerators are added as integers, by denominator, and only the result is a fraction."""

from __future__ import annotations

from fractions import Fraction


class Sum:
    """A sum of fractions so far: exact, and cheap while there are few denominators."""

    __slots__ = ("_numerators",)

    def __init__(self) -> None:
        self._numerators: dict[int, int] = {}

    def add(self, numerator: int, denominator: int = 1) -> None:
        """Add ``numerator`` / ``denominator``, which need not be in lowest terms."""
        self._numerators[denominator] = self._numerators.get(denominator, 0) + numerator

    def value(self) -> Fraction:
        """Return the sum."""
        return sum((Fraction(numerator, per) for per, numerator in self._numerators.items()), Fraction(0))
