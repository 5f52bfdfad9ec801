"""The processes a second time: exact fractions, one draw at a time, from the formulas of the docs and from no table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def lifted(cells: int, width: int, start: int, percent: int, cell: int) -> Fraction:
    """Return the factor of a gambler on an arc whose pockets come ``percent`` more often."""
    if (cell - start) % cells < width:
        return 1 + Fraction(percent, 100)
    return (cells - width * (1 + Fraction(percent, 100))) / (cells - width)


def aimed(cells: int, width: int, start: int, percent: int, cell: int) -> Fraction:
    """Return the factor of a gambler for whom ``percent`` of the draws are aimed at an arc."""
    part = Fraction(percent, 100)
    return 1 - part + (part * cells / width if (cell - start) % cells < width else 0)


def learned(counts: Sequence[int], prior: int, sizes: Sequence[int], cell: int) -> Fraction:
    """Return the factor of a learner who has seen ``counts``: predictive over fair."""
    predictive = Fraction(counts[cell] + prior * sizes[cell], sum(counts) + prior * sum(sizes))
    return predictive * sum(sizes) / sizes[cell]


def staked(sizes: Sequence[int], on: Sequence[int], percent: int, cell: int) -> Fraction:
    """Return the factor of a gambler who stakes ``percent`` on some cells."""
    part = Fraction(percent, 100)
    return 1 - part + (part * sum(sizes) / sum(sizes[each] for each in on) if cell in on else 0)


def linear(sign: int, halvings: int, amount: int, lowest: int, highest: int) -> Fraction:
    """Return the factor of a gambler on the sign of a change."""
    worst = -lowest if sign > 0 else highest
    return 1 + Fraction(sign * amount, worst << halvings)


def cash_after(batches: int, of_year: int = 365) -> Fraction:
    """Return what is still cash after some batches, as a part of the first wealth."""
    early = Fraction(1, 2)
    for batch in range(1, batches + 1):
        early *= Fraction(1, 8) if batch == 1 else 1 - Fraction(1, batch + 1)
    return early + Fraction(1, 2) * Fraction(max(0, of_year - batches), of_year)
