"""What a finding quotes, and whose text it is (account.md 7: the sentence, not the paragraph; *by analogy*)."""

from __future__ import annotations

import pytest

from settlement import RULESETS
from settlement.catalogue import RULES
from settlement.law_coverage.quoted import quoted
from settlement.provisions import PROVISIONS, WAGER_PROVISIONS, analogy, cited
from tests.settlement.tapes import play

#  rule                        label                what is quoted begins and ends
SENTENCES = """
   stacks-not-rebuilt        | art. 57-1 al. 6    | A chaque coup, il doit            | de lancer la bille.
   wheel-direction-repeated  | art. 57-1 al. 6    | Le croupier responsable           | la bille en sens inverse.
   result-after-fallen-chip  | art. 57-1 al. 6    | Dans le cas où le jeton           | et la lancer de nouveau.
   wager-after-no-more-bets  | art. 57-1 al. 6    | Dès lors aucun enjeu              | placé sur le tableau.
   wager-after-no-more-bets  | art. 55-7 al. 7    | Aucune mise                       | le "Rien ne va plus".
   point-marker-missing      | art. 55-8 A 1°     | Un croupier indique               | portant ce numéro.
   shooter-removed-by-wrong-role | art. 55-7 al. 5 | Le chef de table peut retirer    | les règles du lancer.
   dice-touched-without-cause | art. 55-7 al. 2   | Le stickman passe les dés         | tombés de la table.
   losing-wager-paid         | art. 55-8 D 1°     | Cette chance gagne si             | ou fait coup nul.
   stake-not-returned        | art. 54 al. 4      | Dans les deux cas                 | conserve sa mise.
"""


@pytest.mark.parametrize("row", SENTENCES.strip().splitlines(), ids=str.strip)
def test_a_finding_quotes_the_sentence_that_was_broken(row: str) -> None:
    rule, label, begins, ends = (cell.strip() for cell in row.split("|"))
    (sentence,) = quoted(rule, [label])
    assert sentence.quote.startswith(begins)
    assert sentence.quote.endswith(ends)


def test_every_quotation_is_of_the_provision_and_none_is_lost() -> None:
    for rule in RULES.values():
        for ruleset in rule.rulesets:
            for bet in WAGER_PROVISIONS[ruleset]:
                for label in cited(rule, ruleset, bet, "won"):
                    spans = [(each.text_id, each.start, each.end) for each in PROVISIONS[label].citations]
                    quotations = quoted(rule.name, [label])
                    assert bool(quotations) == bool(spans)
                    for each in quotations:
                        assert each.text.content[each.start : each.end] == each.quote
                        assert any(text == each.text_id and a <= each.start <= each.end <= b for text, a, b in spans)


def test_a_label_that_quotes_nothing_is_left_out() -> None:
    assert quoted("stake-out-of-limits", ["art. 53 (2007)", None, "no label"]) == ()


BY_ANALOGY = {
    ("fr-boule", "boule-settled-before-call"): "american_roulette",
    ("fr-boule", "wager-after-no-more-bets"): "american_roulette",
    ("fr-boule", "wager-near-call"): "american_roulette",
    ("fr-boule", "withdrawal-after-no-more-bets"): "american_roulette",
    ("fr-roulette", "no-more-bets-missing"): "american_roulette",
    ("fr-roulette", "wager-after-no-more-bets"): "american_roulette",
    ("fr-roulette", "wager-near-call"): "american_roulette",
    ("fr-roulette", "withdrawal-after-no-more-bets"): "american_roulette",
}
"""The rules whose clause is of another game's text."""


def test_these_rules_rest_on_the_text_of_another_game_and_no_others() -> None:
    found = {}
    for rule in RULES.values():
        for ruleset in rule.rulesets & RULESETS.keys():
            for bet in WAGER_PROVISIONS[ruleset]:
                for status in ("won", "refunded_half") if RULESETS[ruleset].has_decisions else ("won",):
                    game = analogy(ruleset, cited(rule, ruleset, bet, status))
                    if game is not None:
                        found[ruleset, rule.name] = game
    assert found == BY_ANALOGY


LATE = """
    {ruleset} calls
    call
    place w1 plein 1000 numbers=5               ! wager-after-no-more-bets:w1
    land 3
"""


def test_the_message_says_by_analogy_first() -> None:
    (late,) = play(LATE.format(ruleset="fr-roulette"))
    assert late.message("en").startswith("By analogy with American roulette: wager w1 (plein on 5, €10.00) was placed")
    assert late.message("fr").startswith("Par analogie avec la roulette américaine\N{NO-BREAK SPACE}: la mise w1")


def test_at_its_own_game_the_text_is_no_analogy() -> None:
    (late,) = play(LATE.format(ruleset="fr-american-roulette"))
    assert late.message("en").startswith("Wager w1 (plein on 5, €10.00) was placed")
    assert "analog" not in late.message("fr")
