"""What a finding is about in money: the difference between what was recorded and what was due, and who owes it.

    difference = recorded − due, seen from the player: positive where he has too much, negative where he is short

One table says how each rule reads it. A rule that is in none of these tables concerns no money.
"""

from __future__ import annotations

from settlement.catalogue import groups
from settlement.finding import Owed

PAID = groups.PAID
"""``recorded`` is what was handed over and ``expected`` what was due, nothing if it is not said."""

COMMISSIONS = frozenset({"commission-amount-mismatch", "undue-commission"})
"""The player pays a commission: what is short of it he owes, what is above it is owed to him."""

NOT_OWED = frozenset({"rounded-in-players-favour", "orphan-mismatch", "commission-not-paid", "commission-not-renewed"})
"""There is a difference, and nobody owes it: a gift of the house, a commission on a stake that is void."""


def difference_of(rule: str, expected: int | str | None, recorded: int | str | None) -> int | None:
    """Return the difference, in minor units, by the rule and the amounts of its finding; None without money."""
    if rule in COMMISSIONS or rule in NOT_OWED:
        if expected is None and recorded is None:
            return None
    elif rule not in PAID or not isinstance(recorded, int):
        return None
    return (recorded if isinstance(recorded, int) else 0) - (expected if isinstance(expected, int) else 0)


def owed_by(rule: str, difference: int | None, player: str | None) -> Owed | None:
    """Return who owes a difference; None if nobody does."""
    if not difference or rule in NOT_OWED:
        return None
    is_short = difference > 0 if rule in COMMISSIONS else difference < 0
    if is_short:
        return Owed("house", player, abs(difference))
    return Owed("player", None, abs(difference))
