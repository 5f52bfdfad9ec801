"""The exact edge of every bet, and the value of a stake while it is undecided.

The *value* of a stake is what the player can expect back from it, winnings and stake, under fair dice and a fair wheel;
the *edge* is what the house can expect to keep, per unit staked, its commission counted: edge = 1 + commission − value.
Both are exact fractions.

How a game's stakes are valued is in its ``Chances``.

Rounding. Payouts are floored to the session's ``payout_unit`` by ``money.share``, and so are values: the value of 5
minor units on a bet at 7 to 6 counts 5 of winnings, not 5⅚. So the *breakage* is expected, charged with the edge, and
never shows as luck. With ``Readings.payout_unit`` None nothing is rounded: that is the edge of the text, the published
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from settlement.money import five_per_cent
from settlement.night.chances import Priced, Readings, chances_of


def commission_rate(ruleset: str, bet: str, number: int | None) -> Fraction:
    """Return the commission of 5 % per unit staked, unrounded; 0 for a bet without one."""
    base = chances_of(ruleset).commission_base(bet, number)
    if base is None:
        return Fraction(0)
    whole = 100 * base.per  # a stake that 5 % of any of these odds divides
    return Fraction(five_per_cent(whole, base, "floor"), whole)


def edges(readings: Readings) -> Mapping[Priced, Fraction]:
    """Return the edge of the text of every bet of a ruleset, in the order of the law."""
    return chances_of(readings.ruleset).edges(readings)
