"""Sums of many fractions: their numerators are added as integers, by denominator, and only the result is a fraction."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct


class Sum(Struct, array_like=True):
    """A sum of fractions so far: exact, and cheap while there are few denominators. ``numerators`` are by these."""

    numerators: dict[int, int] = {}

    def add(self, numerator: int, denominator: int = 1) -> None:
        """Add ``numerator`` / ``denominator``, which need not be in lowest terms."""
        self.numerators[denominator] = self.numerators.get(denominator, 0) + numerator

    def add_all(self, other: Sum) -> None:
        """Add what ``other`` adds up to."""
        for denominator, numerator in other.numerators.items():
            self.add(numerator, denominator)

    def value(self) -> Fraction:
        """Return the sum."""
        return sum((Fraction(numerator, per) for per, numerator in self.numerators.items()), Fraction(0))
