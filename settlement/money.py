"""Money and odds, exact by construction.

Unit: the minor unit of the session's currency (centime, cent), always ``int``. Odds stay a pair of integers until the
last step, and that step is one of the functions below: nothing else in the package rounds.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

Rounding = Literal["ceil", "floor", "nearest"]


class Odds(NamedTuple):
    """``Odds(7, 6)`` reads "7 to 6": 6 staked win 7, and the 6 come back on top."""

    pays: int
    per: int

    def __str__(self) -> str:
        return f"{self.pays}:{self.per}"

    @classmethod
    def read(cls, text: str) -> Odds:
        """Return the odds that ``str`` wrote."""
        pays, _colon, per = text.partition(":")
        return cls(int(pays), int(per))


@cache
def written(odds: Odds) -> str:
    """Return ``odds`` as text, "7:6": for every winner, of a few dozen odds that there are."""
    return str(odds)


EVEN = Odds(1, 1)
"""«À égalité», «1 fois la mise»."""


def share(amount: int, part: Odds, unit: int) -> tuple[int, bool]:
    """Return ``part`` of ``amount``, rounded down to whole ``unit``s, and whether it divided exactly.

    All are in minor units. No text says who keeps the fraction: reading ``payout_unit``.
    """
    exact, step = amount * part.pays, part.per * unit
    whole = exact // step
    return whole * unit, whole * step == exact


def halved(times: int) -> Odds:
    """Return a half, a quarter, an eighth … as a part. Of any stake nothing is left after 64 halvings."""
    return Odds(1, 2 ** min(times, 64))


def is_rounded_up(paid: int, amount: int, part: Odds, unit: int) -> bool:
    """Whether ``paid`` is ``part`` of ``amount`` with its fraction rounded up, or left whole, in the player's favour.

    All are in minor units. It is less than one ``unit`` above the exact amount; what divides into whole units has no
    fraction to round.
    """
    exact, step = amount * part.pays, part.per * unit
    return bool(exact % step) and exact // step * unit < paid and paid * part.per - exact < step


def five_per_cent(amount: int, part: Odds, rounding: Rounding, unit: int = 1) -> int:
    """Return 5 % of ``part`` of ``amount``, in whole ``unit``s: readings ``commission_rounding``, ``commission_unit``.

    All are in minor units. ``nearest`` rounds a half up.
    """
    exact, per = amount * part.pays * 5, part.per * 100 * unit
    match rounding:
        case "ceil":
            return -(-exact // per) * unit
        case "floor":
            return exact // per * unit
        case "nearest":
            return (2 * exact + per) // (2 * per) * unit
