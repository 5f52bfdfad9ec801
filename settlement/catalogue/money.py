"""How much money a finding is about: every rule answers, or says that it is about none.

    a debt      what one side owes the other: ``settlement.differences``, which also says who owes it
    DIFFERENCE  what was recorded differs from what should be, and nobody owes it: a variance of a count
    RECORDED    what moved, or was to be reported: goodwill, a stake that was taken back, an exchange
    EXPECTED    the amount that the rule is about, of which nothing was recorded
    SHIFT       by how much the outcomes change that an act has changed
    no money    a rule without amounts, and NO_SUM, whose amounts are no sums of money that moved

A finding of a debt that has no difference is about the same money as another finding of its incident, which has it.
"""

from __future__ import annotations

from collections.abc import Mapping

DIFFERENCE = frozenset(
    {
        "accounting-variance",
        "fill-unmatched",
        "left-up-stake-mismatch",
        "ledger-imbalance",
        "opener-differs-from-closer",
        "payment-not-as-announced",
    }
)
"""``recorded`` and ``expected`` are amounts of the same thing."""

RECORDED = frozenset(
    {
        "chips-from-elsewhere",
        "chips-outstanding",
        "chips-pooled",
        "contract-wager-withdrawn",
        "count-opened-late",
        "goodwill-paid",
        "identification-due",
        "imprisoned-stake-withdrawn",
        "minimal-play",
        "offsetting-players",
        "one-roll-wager-withdrawn",
        "payment-not-announced",
        "reportable-cash",
        "stake-not-multiple-of-colour-value",
        "stake-out-of-limits",
        "threshold-splitting",
        "withdrawal-after-no-more-bets",
        "withdrawal-not-after-indecisive-roll",
        "withdrawal-of-decided-wager",
    }
)
"""``recorded`` is the amount; where there is an ``expected``, it is a limit or a threshold."""

EXPECTED = frozenset({"indivisible-stake"})
"""``expected`` is the amount."""

SHIFT = frozenset({"entry-annulled", "entry-corrected"})
"""The fact ``shift`` is the amount, of all wagers whose outcome is another."""

NO_SUM = frozenset({"colour-value-changed"})
"""The two amounts are the values of one chip, before and after."""


def amount_about(rule: str, expected: object, recorded: object, facts: Mapping[str, object]) -> int | None:
    """Return how much money a finding is about that is no debt, in minor units and without a sign.

    None if it is about none, or does not say; and for a debt, whose amount is its difference.
    """
    if rule in DIFFERENCE:
        return abs(recorded - expected) if isinstance(recorded, int) and isinstance(expected, int) else None
    if rule in RECORDED:
        amount = recorded
    elif rule in EXPECTED:
        amount = expected
    else:
        amount = facts.get("shift") if rule in SHIFT else None
    return abs(amount) if isinstance(amount, int) else None
