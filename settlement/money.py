"""Money and odds, exact by construction.

Unit: the minor unit of the session's currency (centime, cent), always ``int``. Odds stay a pair of integers until the
last step, and that step is one of the functions below: nothing else in the package rounds.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Rounding = Literal["ceil", "floor", "nearest"]


class Odds(NamedTuple):
    """``Odds(7, 6)`` reads "7 to 6": 6 staked win 7, and the 6 come back on top."""

    pays: int
    per: int

    def __str__(self) -> str:
        return f"{self.pays}:{self.per}"


EVEN = Odds(1, 1)
"""«À égalité», «1 fois la mise»."""


def share(amount: int, part: Odds, unit: int) -> tuple[int, bool]:
    """Return ``part`` of ``amount``, rounded down to whole ``unit``s, and whether it divided exactly.

    All are in minor units. No text says who keeps the fraction: reading ``payout_unit``.
    """
    whole, breakage = divmod(amount * part.pays, part.per * unit)
    return whole * unit, not breakage


def five_per_cent(amount: int, part: Odds, rounding: Rounding) -> int:
    """Return 5 % of ``part`` of ``amount``, in whole minor units: reading ``commission_rounding``.

    ``nearest`` rounds a half up.
    """
    exact, per = amount * part.pays * 5, part.per * 100
    match rounding:
        case "ceil":
            return -(-exact // per)
        case "floor":
            return exact // per
        case "nearest":
            return (2 * exact + per) // (2 * per)
