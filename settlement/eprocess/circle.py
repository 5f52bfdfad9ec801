"""The cosine on a circle, in integers: for a wheel whose pockets come by a sinusoid."""

from __future__ import annotations

from functools import cache

from settlement.eprocess.bets import EVENS, ODDS_BITS

BITS = 96
PI = 3141592653589793238462643383279502884197169399375105820974944592
PI_DIGITS = 10**63


@cache
def cosine(part: int, whole: int) -> int:
    """Return the cosine of ``part`` / ``whole`` of a turn in 2⁻⁹⁶, to within 2⁻⁹⁰."""
    part %= whole
    angle = (2 * PI * min(part, whole - part) << BITS) // (PI_DIGITS * whole)
    square = angle * angle >> BITS
    term, total, order = 1 << BITS, 1 << BITS, 0
    while term:
        order += 2
        term = (term * square >> BITS) // ((order - 1) * order)
        total += term if order % 4 == 0 else -term
    return total


def sinusoid(cells: int, phase: int, phases: int, percent: int) -> tuple[int, ...]:
    """Return the odds of a gambler for whom cell i comes ``percent`` × cos 2π(i/cells − phase/phases) more often.

    They are one unit of 2⁻⁶⁴ below the exact ones or up to two, so that they pay less than fairly on the whole.
    """
    return tuple(
        EVENS + (percent * cosine(cell * phases - phase * cells, cells * phases) // 100 >> BITS - ODDS_BITS) - 1
        for cell in range(cells)
    )
