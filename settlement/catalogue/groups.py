"""Rules that are alike, each list once: for what is owed, for incidents and for remedies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from settlement.catalogue.rule import Wording

PAID_ON_A_DECISION = (
    "payout-missing",
    "payout-duplicated",
    "payout-overpaid",
    "payout-underpaid",
    "payout-parts-mixed",
    "payout-put-right",
    "stake-not-returned",
    "losing-wager-paid",
    "horn-paid-split",
    "half-refund-mismatch",
    "imprisoned-stake-paid-winnings",
    "imprisoned-value-not-halved",
    "last-coup-refund-mismatch",
)
"""The rules on what was paid, or not, for a wager that was decided."""

WITHDRAWALS_FORBIDDEN = frozenset(
    {
        "withdrawal-after-no-more-bets",
        "withdrawal-of-decided-wager",
        "contract-wager-withdrawn",
        "imprisoned-stake-withdrawn",
    }
)
"""The rules on a stake that the player may not take: ``recorded`` is what he took."""

PAID_ON_NO_DECISION = ("payout-without-result", "push-paid", "barred-number-settled", "inactive-wager-settled")
"""The rules on what was paid for a wager that nothing had decided."""

PAID = frozenset({*PAID_ON_A_DECISION, *PAID_ON_NO_DECISION, "void-throw-settled"})
"""The rules on what was paid: ``recorded`` is what was handed over, and ``expected`` what was due, or nothing."""

ON_A_READING: Mapping[str, Wording] = MappingProxyType(
    {
        "withdrawal-after-no-more-bets": Wording(
            "stakes taken back after “Rien ne va plus”",
            "retrait d’un enjeu après le « Rien ne va plus »",
        )
    }
)
"""The rules that no sentence of a text states, each with what it reads: a player is asked for nothing by them."""

STAKE_REFUSED = (
    "wager-not-permitted",
    "combination-not-permitted",
    "line-wager-after-come-out",
    "come-wager-on-come-out",
    "odds-without-base-wager",
    "odds-number-mismatch",
    "odds-on-anothers-base",
    "invalid-wager-number",
)
"""The rules on a stake that no article permits as it was placed."""
