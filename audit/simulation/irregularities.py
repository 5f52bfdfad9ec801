"""The irregularities that a simulated night can contain on request, each named after the rule that reports it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from settlement.catalogue.rule import RULESET_NAMES

CRAPS = frozenset({"fr-craps"})
QUEBEC = frozenset({"qc-craps"})
BOTH_CRAPS = CRAPS | QUEBEC
FRENCH = frozenset({"fr-roulette"})
AMERICAN = frozenset({"fr-american-roulette"})
BOTH_WHEELS = FRENCH | AMERICAN
EVERYWHERE = RULESET_NAMES


@dataclass(frozen=True, slots=True)
class Irregularity:
    """An irregularity that can be requested.

    It breaks ``rule`` and can happen under ``rulesets``. ``companions`` are the rules that may be met together with it.
    """

    rule: str
    rulesets: Collection[str]
    companions: frozenset[str] = frozenset()


def _table(*irregularities: Irregularity) -> Mapping[str, Irregularity]:
    return MappingProxyType({each.rule: each for each in irregularities})


IRREGULARITIES = _table(
    Irregularity("dice-changed-during-point-series", CRAPS),
    Irregularity("dice-selected-by-another", CRAPS),
    Irregularity("dice-passed-without-seven-out", CRAPS),
    Irregularity("dice-not-offered-clockwise", CRAPS),
    Irregularity("shooter-kept-dice-after-seven-out", CRAPS, frozenset({"shooter-without-line-wager"})),
    Irregularity("irregular-throw-counted", BOTH_CRAPS),
    Irregularity("throw-delayed", CRAPS),
    Irregularity("throw-without-no-more-bets", CRAPS),
    Irregularity("void-throw-settled", CRAPS),
    Irregularity("point-marker-missing", BOTH_CRAPS),
    Irregularity("point-marker-mismatch", BOTH_CRAPS),
    Irregularity("come-moved-to-wrong-number", CRAPS),
    Irregularity("line-wager-after-come-out", CRAPS),
    Irregularity("odds-without-base-wager", CRAPS),
    Irregularity("odds-on-anothers-base", CRAPS),
    Irregularity("odds-number-mismatch", CRAPS),
    Irregularity("barred-number-settled", CRAPS),
    Irregularity("push-paid", BOTH_CRAPS),
    Irregularity("commission-amount-mismatch", QUEBEC),
    Irregularity("commission-not-paid", QUEBEC),
    Irregularity("inactive-wager-settled", QUEBEC),
    Irregularity("payout-overpaid", EVERYWHERE),
    Irregularity("payout-underpaid", EVERYWHERE),
    Irregularity("payout-missing", EVERYWHERE, frozenset({"spin-before-payments-complete"})),
    Irregularity("payout-duplicated", EVERYWHERE),
    Irregularity("stake-not-returned", EVERYWHERE),
    Irregularity(
        "losing-wager-paid",
        EVERYWHERE,
        frozenset({"payment-not-announced", "payments-interleaved", "payment-order-violated"}),
    ),
    Irregularity("losing-wager-not-collected", EVERYWHERE),
    Irregularity("winning-wager-collected", EVERYWHERE, frozenset({"payout-missing", "spin-before-payments-complete"})),
    Irregularity("wager-after-no-more-bets", EVERYWHERE),
    Irregularity("wager-near-call", EVERYWHERE),
    Irregularity("combination-not-permitted", BOTH_WHEELS),
    Irregularity("no-more-bets-missing", BOTH_WHEELS),
    Irregularity("zero-decision-missing", FRENCH),
    Irregularity("half-refund-mismatch", FRENCH),
    Irregularity("imprisoned-stake-paid-winnings", FRENCH),
    Irregularity("imprisoned-stake-withdrawn", FRENCH, frozenset({"withdrawal-after-no-more-bets"})),
    Irregularity("imprisoned-at-close", FRENCH),
    Irregularity("wheel-direction-repeated", AMERICAN),
    Irregularity("ball-same-direction-as-wheel", AMERICAN),
    Irregularity("result-after-fallen-chip", AMERICAN),
    Irregularity("stacks-not-rebuilt", AMERICAN),
    Irregularity("announcement-mismatch", AMERICAN),
    Irregularity("result-not-announced", AMERICAN),
    Irregularity("payment-not-announced", AMERICAN),
    Irregularity("payments-interleaved", AMERICAN, frozenset({"payment-order-violated"})),
    Irregularity("payment-order-violated", AMERICAN),
    Irregularity("payment-wrong-colour", AMERICAN),
    Irregularity("colour-shared", AMERICAN),
    Irregularity("wager-with-unassigned-colour", AMERICAN),
    Irregularity("stake-not-multiple-of-colour-value", AMERICAN),
    Irregularity("table-without-chief", AMERICAN),
    Irregularity("chief-handled-chips", AMERICAN),
    Irregularity("seat-limit-exceeded", AMERICAN),
    Irregularity("unseated-player-over-limit", AMERICAN),
    Irregularity("events-lost", EVERYWHERE),
    # Set back before the call, the clock makes late what was placed before it: a wager left up when it was paid.
    Irregularity("clock-went-back", EVERYWHERE, frozenset({"wager-after-no-more-bets"})),
)
