"""Which families of events a rule looks at: those it needs, and those whose events it judges.

A rule *needs* a family if it attends to the absence of an event (``settlement.families``). A rule that judges an event
which is there needs nothing, but where a table reports no event of that kind it has nothing to judge, and the sentence
that it answers for goes unchecked all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from settlement import registries
from settlement.catalogue import RULES, WAGER, Rule
from settlement.families import families_of

JUDGED: Mapping[str, tuple[str, ...]] = {
    "wagers": (
        "wager-not-permitted",
        "combination-not-permitted",
        "wager-after-no-more-bets",
        "wager-near-call",
        "withdrawal-after-no-more-bets",
        "withdrawal-of-decided-wager",
        "indivisible-stake",
        "wager-left-open",
        "payout-without-result",
        "payout-missing",
        "payout-duplicated",
        "payout-overpaid",
        "payout-underpaid",
        "stake-not-returned",
        "losing-wager-paid",
        "push-paid",
        "winning-wager-collected",
        "losing-wager-not-collected",
        "shooter-without-line-wager",
        "line-wager-after-come-out",
        "come-wager-on-come-out",
        "contract-wager-withdrawn",
        "come-not-moved",
        "come-moved-to-wrong-number",
        "odds-without-base-wager",
        "odds-number-mismatch",
        "odds-on-anothers-base",
        "withdrawal-not-after-indecisive-roll",
        "one-roll-wager-withdrawn",
        "invalid-wager-number",
        "wrong-bet-not-marked",
        "barred-number-settled",
        "horn-paid-split",
        "commission-not-paid",
        "commission-amount-mismatch",
        "undue-commission",
        "inactive-wager-settled",
        "working-call-late",
        "wager-marker-missing",
        "commission-not-renewed",
        "zero-option-on-multiple-chance",
        "zero-decision-missing",
        "zero-decision-without-zero",
        "half-refund-mismatch",
        "imprisoned-stake-paid-winnings",
        "imprisoned-value-not-halved",
        "imprisoned-stake-withdrawn",
        "zero-decision-on-last-coup",
        "last-coup-refund-mismatch",
        "imprisoned-at-close",
        "payment-before-collection",
        "payments-interleaved",
        "payment-order-violated",
        "payment-wrong-colour",
        "payment-without-colour",
        "unseated-player-over-limit",
        "wager-with-foreign-colour",
        "wager-with-unassigned-colour",
        "stake-not-multiple-of-colour-value",
    ),
    "results": (
        "indivisible-stake",
        "payout-missing",
        "payout-overpaid",
        "payout-underpaid",
        "stake-not-returned",
        "losing-wager-paid",
        "push-paid",
        "winning-wager-collected",
        "losing-wager-not-collected",
        "withdrawal-of-decided-wager",
        "throw-by-non-shooter",
        "dice-passed-without-seven-out",
        "shooter-kept-dice-after-seven-out",
        "shooter-without-line-wager",
        "throw-without-no-more-bets",
        "throw-delayed",
        "dice-rubbed-or-held",
        "irregular-throw-counted",
        "valid-throw-voided",
        "void-throw-settled",
        "void-not-announced-by-stickman",
        "point-marker-missing",
        "point-marker-mismatch",
        "dice-changed-during-point-series",
        "dice-replaced-during-point-series-with-cause",
        "unselected-dice-thrown",
        "line-wager-after-come-out",
        "come-wager-on-come-out",
        "come-not-moved",
        "come-moved-to-wrong-number",
        "barred-number-settled",
        "horn-paid-split",
        "inactive-wager-settled",
        "zero-option-on-multiple-chance",
        "zero-decision-missing",
        "zero-decision-without-zero",
        "half-refund-mismatch",
        "imprisoned-stake-paid-winnings",
        "imprisoned-value-not-halved",
        "imprisoned-stake-withdrawn",
        "zero-decision-on-last-coup",
        "last-coup-refund-mismatch",
        "imprisoned-at-close",
        "result-after-last-coup",
        "invalid-pocket",
        "no-more-bets-missing",
        "result-after-fallen-chip",
        "table-without-chief",
        "table-without-croupier",
        "staffing-invalid",
        "wheel-not-spun",
        "ball-not-launched",
        "result-not-announced",
        "announcement-mismatch",
        "spin-before-payments-complete",
        "payment-before-collection",
    ),
    "payouts": (
        "payout-without-result",
        "payout-missing",
        "payout-duplicated",
        "payout-overpaid",
        "payout-underpaid",
        "stake-not-returned",
        "losing-wager-paid",
        "push-paid",
        "horn-paid-split",
        "half-refund-mismatch",
        "imprisoned-stake-paid-winnings",
        "imprisoned-value-not-halved",
        "last-coup-refund-mismatch",
        "spin-before-payments-complete",
        "payment-before-collection",
        "payments-interleaved",
        "payment-order-violated",
        "payment-wrong-colour",
        "payment-without-colour",
        "payment-not-announced",
        "payment-not-as-announced",
    ),
    "decisions": (
        "zero-option-on-multiple-chance",
        "zero-decision-without-zero",
        "zero-decision-on-last-coup",
    ),
    "custody": ("dice-touched-without-cause",),
    "marker": ("point-marker-mismatch",),
    "wheel": ("spin-by-non-croupier", "stacks-not-rebuilt"),
    "announcements": ("announcement-mismatch", "payment-not-as-announced"),
    "colours": (
        "payment-wrong-colour",
        "colour-shared",
        "wager-with-foreign-colour",
        "colour-value-undeclared",
        "colour-value-changed",
        "marker-not-from-chief",
    ),
    "handling": ("chief-handled-chips",),
}
"""The rules that judge events of each family, beyond those that need it."""


@cache
def needed(rule: str) -> frozenset[str]:
    """Return the families without which ``rule`` is silent, wholly or in some of its cases."""
    return families_of(RULES[rule])


@cache
def looked_at(rule: str) -> frozenset[str]:
    """Return every family that ``rule`` looks at, needed or not."""
    listed = (family for family, rules in JUDGED.items() if rule in rules)
    judged = frozenset((*listed, *RULES[rule].judges))
    return needed(rule) | (judged or _judged_by_clause(RULES[rule]))


def _judged_by_clause(rule: Rule) -> frozenset[str]:
    """Return what a rule that is not in ``JUDGED`` judges: one on a bet's own clause, the money of its wagers."""
    is_of_a_bet = any(WAGER in labels for labels in rule.provisions.values())
    return frozenset({"wagers", "payouts"}) if is_of_a_bet else frozenset()


for _computed in (needed, looked_at):
    registries.forgets(_computed.cache_clear)
del _computed
