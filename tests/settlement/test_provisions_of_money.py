"""The clause that decides a finding of money is the one with the odds, for every bet of every text."""

from __future__ import annotations

import re

import pytest

from settlement import RULESETS
from settlement.catalogue import RULES
from settlement.provisions import PROVISIONS, WAGER_PROVISIONS, WHAT_IT_PAYS, cited, deciding_first

SAYS_WHAT_IT_PAYS = re.compile(r"égalité|\bfois la mise|\.\.\. +(\d|1/2)|\bpour \d|odds of \d")

BETS = [(name, bet) for name in RULESETS for bet in WAGER_PROVISIONS[name]]


@pytest.mark.parametrize(("ruleset", "bet"), BETS)
def test_the_first_clause_of_a_payment_says_what_the_bet_pays(ruleset: str, bet: str) -> None:
    for rule in sorted(WHAT_IT_PAYS):
        labels = cited(RULES[rule], ruleset, bet, "won")
        if not labels:  # no rule of this ruleset
            continue
        first, *_others = deciding_first(labels, rule, ruleset, bet)
        assert any(SAYS_WHAT_IT_PAYS.search(quote) for quote in PROVISIONS[first].quotes), (rule, first)


def test_what_makes_a_bet_lose_decides_a_losing_wager_that_was_paid() -> None:
    labels = cited(RULES["losing-wager-paid"], "fr-craps", "big_8", "lost")
    assert deciding_first(labels, "losing-wager-paid", "fr-craps", "big_8")[0] == "art. 55-8 A 7°"


def test_at_zero_what_is_handed_back_decides() -> None:
    labels = cited(RULES["payout-missing"], "fr-roulette", "rouge", "refunded_half")
    assert deciding_first(labels, "payout-missing", "fr-roulette", "rouge")[0] == "art. 54 B 1°"


@pytest.mark.parametrize("status", ["won", "void", "withdrawn"])
@pytest.mark.parametrize("ruleset", ["fr-roulette", "fr-american-roulette"])
def test_a_stake_of_roulette_is_kept_by_the_sentence_that_says_so(ruleset: str, status: str) -> None:
    """Art. 54 al. 4: «Dans les deux cas le joueur conserve sa mise.» Both cases are multiple and simple chances."""
    for bet in WAGER_PROVISIONS[ruleset]:
        labels = cited(RULES["stake-not-returned"], ruleset, bet, status)
        first, line = deciding_first(labels, "stake-not-returned", ruleset, bet)
        assert (first, line.partition(" ")[0]) == ("art. 54 al. 4", "art.")
        assert PROVISIONS[first].quotes == ("Dans les deux cas le joueur conserve sa mise.",)
