"""The edge of a simple chance in prison, as a series: what the values of ``settlement.night.roulette`` come to."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from settlement.layouts import SIMPLE_CHANCES
from settlement.night.chances import Readings, chance
from settlement.night.roulette import edge_at_roulette, layout_of, refund, release


def edge_of_a_simple_chance(readings: Readings, answer: Literal["half", "prison"]) -> Fraction:
    """Return the edge on a player who makes the same choice at every zero.

    A stake that stays in prison after k zeros has the value V(k) = w·released(k) + z·V(k + 1), with w and z the chances
    of its pockets and of the zeros. What is released changes by the same factor at each zero: V(k + 1) = factor · V(k).
    """
    exact = readings._replace(payout_unit=None)
    layout = layout_of(readings.ruleset)
    pockets, ways = len(layout.wheel), len(SIMPLE_CHANCES["rouge"])
    half = edge_at_roulette(exact, "rouge", ways)
    if answer == "half" or readings.zero_rule != "choice":
        return half
    zero = chance(len(layout.zeros), pockets)
    released = release(exact, 1, 1)
    factor = release(exact, 1, 2) / released
    always = chance(ways, pockets) * released / (1 - zero * factor)
    return half - zero * (always - refund(exact, 1, 1))
