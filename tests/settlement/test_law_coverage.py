"""Every clause of the texts is accounted for, and every rule that rests on a text is under its clause."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest

import settlement
from settlement import adjudicate
from settlement.catalogue import RULES, WAGER, WITHDRAWAL
from settlement.events.envelope import Family
from settlement.law import LAW_TEXTS
from settlement.law_coverage import (
    KINDS,
    Covered,
    UnknownRuleset,
    articles,
    covered,
    governing,
    rules_without_sentence,
)
from settlement.law_coverage.families import JUDGED, looked_at, needed
from settlement.law_coverage.sentence import Clause, UnknownClause, openings
from settlement.law_coverage.session import STATES, SessionSentence, counts, in_session
from settlement.provisions import PROVISIONS, WAGER_PROVISIONS, WITHDRAWAL_PROVISIONS
from settlement.readings import READINGS
from settlement.rulesets import RULESETS
from tests.conformance.test_conformance import CASES
from tests.settlement.streams import opener

each_ruleset = pytest.mark.parametrize("ruleset", sorted(RULESETS))
each_article = pytest.mark.parametrize("article", articles(), ids=lambda article: article.text.id)

SENTENCES = {
    "fr-art-45": 6,
    "fr-art-46": 7,
    "fr-art-54": 23,
    "fr-art-55-7": 18,
    "fr-art-55-8": 69,
    "fr-art-57-1": 19,
    "qc-s-13.1-r-3-s-95.17": 22,
}
"""As counted on paper, headings and closing note included."""

OBLIGATIONS = {
    "fr-art-45": (2, 4),
    "fr-art-46": (5, 0),
    "fr-art-54": (20, 1),
    "fr-art-55-7": (24, 2),
    "fr-art-55-8": (106, 6),
    "fr-art-57-1": (28, 11),
    "qc-s-13.1-r-3-s-95.17": (25, 2),
}
"""Those that are checked, and those that no table reports."""

# ruleset | how the sentence begins | rules it must have | families it needs at least
ANSWERS = """
    fr-roulette          | Les joueurs ne peuvent       | wager-not-permitted                                         | -
    fr-roulette          | Mise sur un carré            | combination-not-permitted payout-underpaid payout-missing   | collections
    fr-roulette          | Dans les deux cas            | stake-not-returned                                          | -
    fr-roulette          | 1° Retirer                   | half-refund-mismatch zero-decision-missing                  | -
    fr-roulette          | Les autres sont              | losing-wager-paid losing-wager-not-collected                | collections
    fr-roulette          | Lorsque le zéro sort         | last-coup-refund-mismatch result-after-last-coup            | -
    fr-roulette          | Dès lors aucun enjeu         | wager-after-no-more-bets wager-near-call                    | calls
    fr-roulette          | le croupier annonce          | no-more-bets-missing                                        | calls
    fr-boule             | Tous les employés            | thrower-not-rotated                                         | staff
    fr-boule             | sans qu'aucun d'eux          | thrower-not-rotated                                         | staff
    fr-boule             | Les seuls appareils          | boule-number-invalid                                        | -
    fr-boule             | 1° Miser                     | boule-stake-number-invalid payout-overpaid                  | collections
    fr-boule             | Toutefois                    | losing-wager-paid losing-wager-not-collected                | collections
    fr-craps             | Les dés sont proposés        | first-shooter-not-left-of-croupiers                         | custody
    fr-craps             | Le joueur qui lance          | throw-without-no-more-bets throw-delayed                    | calls
    fr-craps             | Il ne peut toutefois         | dice-changed-during-point-series                            | custody
    fr-craps             | Le chef de table peut        | shooter-removed-by-wrong-role                               | custody
    fr-craps             | Aucune mise                  | wager-after-no-more-bets                                    | calls
    fr-craps             | Le tireur doit               | shooter-without-line-wager                                  | custody
    fr-craps             | Un croupier indique          | point-marker-missing point-marker-mismatch                  | marker
    fr-craps             | Les dés changent             | dice-passed-without-seven-out                               | custody
    fr-craps             | Les mises placées            | contract-wager-withdrawn                                    | -
    fr-craps             | 8° Le horn                   | horn-paid-split payout-overpaid                             | -
    fr-craps             | C. - Les chances             | odds-without-base-wager odds-number-mismatch                | -
    fr-craps             | suivent le sort              | payout-missing losing-wager-paid                            | collections
    qc-craps             | The wager is only accepted   | commission-not-paid commission-not-renewed                  | -
    qc-craps             | a commission of 5%           | commission-amount-mismatch                                  | -
    qc-craps             | The “Buy Bet” wager is not   | inactive-wager-settled                                      | -
    qc-craps             | unless otherwise             | working-call-late                                           | calls
    fr-american-roulette | De dimensions                | seat-limit-exceeded                                         | seating
    fr-american-roulette | Le personnel                 | staffing-invalid table-without-chief                        | staff
    fr-american-roulette | un croupier                  | table-without-croupier                                      | staff
    fr-american-roulette | et, éventuellement           | staffing-invalid                                            | staff
    fr-american-roulette | Le croupier responsable      | wheel-not-spun spin-by-non-croupier                         | wheel
    fr-american-roulette | dans un sens opposé          | wheel-direction-repeated                                    | wheel
    fr-american-roulette | et lancer la bille           | ball-not-launched                                           | wheel
    fr-american-roulette | en sens inverse              | ball-same-direction-as-wheel                                | wheel
    fr-american-roulette | A chaque coup                | stacks-not-rebuilt                                          | handling
    fr-american-roulette | Quand la bille               | result-not-announced announcement-mismatch                  | announcements
    fr-american-roulette | Il ramasse                   | payment-before-collection                                   | collections
    fr-american-roulette | et procède par joueur        | payments-interleaved                                        | wheel
    fr-american-roulette | après avoir annoncé          | payment-not-announced payment-not-as-announced              | announcements
    fr-american-roulette | Les paiements                | payment-order-violated                                      | -
    fr-american-roulette | et se font                   | payment-wrong-colour payment-without-colour                 | colours
"""  # noqa: E501


def answers() -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in ANSWERS.strip().splitlines()]


def words(each: Covered) -> str:
    return LAW_TEXTS[each.text].content[each.start : each.end]


def beginning(ruleset: str, opening: str) -> Covered:
    """Return the first clause that begins with ``opening`` and that has rules under ``ruleset``."""
    return next(each for each in covered(ruleset) if words(each).startswith(opening) and each.rules)


# The texts


@each_ruleset
def test_the_spans_tile_each_text(ruleset: str) -> None:
    entries = settlement.coverage(ruleset)
    assert list(dict.fromkeys(entry["text"] for entry in entries)) == sorted(LAW_TEXTS)
    for text in LAW_TEXTS.values():
        spans = [(entry["start"], entry["end"]) for entry in entries if entry["text"] == text.id]
        assert spans[0][0] == 0
        assert spans[-1][1] == len(text.content)
        assert all(end == start for (_, end), (start, _) in pairwise(spans))
        assert all(start < end for start, end in spans)


@each_article
def test_no_span_holds_two_sentences_and_every_sentence_begins_one(article) -> None:
    content = article.text.content
    for _sentence, start, end in article.spans():
        inside = re.sub(
            r"^(# |\w\.? - |\d° |\(\d\)\s+|95\.17\. )|S-13\.1, r\. 3|O\.C\.", "", content[start:end].strip()
        )
        assert not re.search(r"""[.:;]["”]?\s+[A-ZÀ-Ý“]|\n\s*\S""", inside), inside
    beginnings = [start for _clause, start, _end in article.spans() if _begins_a_sentence(content, start)]
    assert len(beginnings) == SENTENCES[article.text.id]


def _begins_a_sentence(content: str, start: int) -> bool:
    before = content[:start]
    begins = not before or before.endswith("\n") or re.search(r"""[.:;\-]["”]?\s+$""", before) is not None
    return begins and not content[start].islower()


@each_article
def test_obligations_are_counted_by_whether_anything_checks_them(article) -> None:
    obligations = [clause for clause in article.clauses if clause.obligation]
    checked = [clause for clause in obligations if clause.rules]
    assert (len(checked), len(obligations) - len(checked)) == OBLIGATIONS[article.text.id]


def test_the_colours_of_the_pockets_are_not_observable_and_say_so() -> None:
    pockets = next(each for each in covered("fr-american-roulette") if words(each).startswith("Les cases alter"))
    assert (pockets.obligation, pockets.kinds, pockets.rules) == (
        "alternativement rouges et noires", ("not observable",), ()
    )  # fmt: skip


@each_ruleset
def test_every_paragraph_of_a_text_begins_a_sentence(ruleset: str) -> None:
    starts = {(each.text, each.start) for each in covered(ruleset)}
    for text in LAW_TEXTS.values():
        assert [each.number for each in text.paragraphs if (text.id, each.start) not in starts] == []


def test_opening_words_that_are_not_there_or_not_in_that_order_are_refused() -> None:
    assert openings("one. two. one.", ["one", "two", "one"]) == [0, 5, 10]
    with pytest.raises(UnknownClause):
        openings("one. two.", ["two", "one"])


# What a sentence says of itself


@each_ruleset
def test_every_sentence_has_a_kind_and_the_kinds_are_what_it_holds(ruleset: str) -> None:
    for each in covered(ruleset):
        holds = zip(KINDS, (each.rules, each.readings, each.bets, each.why is not None), strict=True)
        assert each.kinds == tuple(kind for kind, is_so in holds if is_so), words(each)
        assert each.kinds, words(each)


@each_ruleset
def test_the_names_exist_under_the_ruleset_and_the_families_are_what_the_rules_need(ruleset: str) -> None:
    for each in covered(ruleset):
        assert all(ruleset in RULES[rule].rulesets for rule in each.rules)
        assert all(ruleset in READINGS[reading].rulesets for reading in each.readings)
        assert set(each.bets) <= set(RULESETS[ruleset].kinds)
        of_rules = {family for rule in each.rules for family in needed(rule)}
        assert set(each.families) == of_rules & RULESETS[ruleset].families
        for names in (each.rules, each.readings, each.bets, each.families):
            assert len(set(names)) == len(names)


@each_article
def test_what_an_article_names_is_in_the_catalogue_among_the_readings_and_among_the_bets(article) -> None:
    bets = {bet for ruleset in article.governs for bet in RULESETS[ruleset].kinds}
    assert article.rules <= set(RULES)
    assert article.readings <= set(READINGS)
    assert {bet for clause in article.clauses for bet in clause.bets} <= bets


@each_article
def test_why_is_said_in_both_languages(article) -> None:
    for why in (clause.why for clause in article.clauses if clause.why):
        assert "a table would have to report" in why.en
        assert "la table devrait transmettre" in why.fr
        assert why.en != why.fr


@each_article
def test_what_a_sentence_is_that_defines_no_bet_is_told_in_both_languages_and_of_none_with_a_rule(article) -> None:
    named = [clause for clause in article.clauses if clause.says]
    assert named[0] is article.clauses[0], "the number or the name of the text"
    for sentence in named:
        assert not sentence.rules
        assert not sentence.readings
        assert sentence.says.en != sentence.says.fr
    for ruleset in article.governs:
        spans = {words(each) for each in covered(ruleset) if each.text == article.text.id and each.says}
        assert len(spans) == len(named)


def test_an_entry_is_plain_data() -> None:
    entry = next(entry for entry in settlement.coverage("fr-craps") if entry["text"] == "fr-art-55-8" and entry["why"])
    assert sorted(entry) == [
        "bets", "end", "families", "kinds", "obligation", "readings", "rules", "start", "text", "why"
    ]  # fmt: skip
    assert sorted(entry["why"]) == ["en", "fr"]
    assert all(type(entry[key]) is list for key in ("bets", "families", "kinds", "readings", "rules"))


@pytest.mark.parametrize(
    ("ruleset", "opening", "rules", "families"), answers(), ids=lambda cell: cell.replace(" ", "-")[:30]
)
def test_a_sentence_is_answered_by_its_rules(ruleset: str, opening: str, rules: str, families: str) -> None:
    each = beginning(ruleset, opening)
    assert "checked" in each.kinds
    assert set(rules.split()) <= set(each.rules)
    assert set(families.strip("-").split()) <= set(each.families)


def test_an_unknown_ruleset_is_refused() -> None:
    with pytest.raises(UnknownRuleset, match="fr-craps"):
        settlement.coverage("sic-bo")


# Both directions


@each_ruleset
def test_every_rule_is_under_a_sentence_or_says_why_it_rests_on_none(ruleset: str) -> None:
    named = {rule for each in covered(ruleset) for rule in each.rules}
    without = rules_without_sentence(ruleset)
    assert named.isdisjoint(without)
    assert named | set(without) == {rule.name for rule in RULES.values() if ruleset in rule.rulesets}
    assert all(reason.en and reason.fr for reason in without.values())


@each_ruleset
def test_a_rule_whose_clause_is_among_the_texts_is_under_a_sentence(ruleset: str) -> None:
    for name in rules_without_sentence(ruleset):
        labels = RULES[name].provisions[ruleset]
        assert not any(label in (WAGER, WITHDRAWAL) or PROVISIONS[label].citations for label in labels), name


@each_ruleset
def test_a_rule_is_only_under_sentences_of_a_text_that_it_cites(ruleset: str) -> None:
    for each in covered(ruleset):
        for rule in each.rules:
            labels = set(RULES[rule].provisions[ruleset])
            if WAGER in labels:
                labels |= set(WAGER_PROVISIONS[ruleset].values())
            if WITHDRAWAL in labels:
                labels |= set(WITHDRAWAL_PROVISIONS[ruleset].values())
            cited = {each.text_id for label in labels - {WAGER, WITHDRAWAL} for each in PROVISIONS[label].citations}
            assert each.text in cited, (rule, words(each))


@each_ruleset
def test_every_reading_of_a_text_that_we_have_is_under_a_sentence(ruleset: str) -> None:
    named = {reading for each in covered(ruleset) for reading in each.readings}
    for reading in READINGS.values():
        if ruleset in reading.rulesets and any(PROVISIONS[label].citations for label in reading.leaves_open):
            assert reading.name in named


@each_ruleset
def test_every_bet_is_defined_by_a_sentence_of_its_own(ruleset: str) -> None:
    alone = {each.bets[0] for each in covered(ruleset) if len(each.bets) <= 2 for _ in each.bets}
    alone |= {bet for each in covered(ruleset) if len(each.bets) <= 2 for bet in each.bets}
    assert alone == set(RULESETS[ruleset].kinds)


def test_a_rule_that_no_sentence_names_goes_by_what_its_provisions_quote(monkeypatch) -> None:
    article = next(article for article in articles() if article.text.id == "fr-art-57-1")
    nameless = tuple(
        Clause(each.opening, each.obligation, tuple(rule for rule in each.rules if rule != "staffing-invalid"))
        for each in article.clauses
    )
    other = type(article)(article.text, article.governs, nameless)
    monkeypatch.setattr("settlement.law_coverage.articles", lambda: (other,))
    found = [words(each) for each in covered.__wrapped__("fr-american-roulette") if "staffing-invalid" in each.rules]
    assert [each.strip() for each in found[1:]] == ["un croupier", "et, éventuellement, un employé."]
    assert found[0].startswith("Le personnel affecté")


@each_ruleset
def test_a_text_of_another_game_says_so_but_for_what_is_followed_by_analogy(ruleset: str) -> None:
    for each in covered(ruleset):
        if each.text not in governing(ruleset):
            assert each.bets == ()
            assert (each.why is None) == bool(each.rules or each.readings)
    assert len(governing(ruleset)) == len(RULESETS[ruleset].articles)


def test_a_rule_that_another_game_follows_is_under_the_same_sentence_there() -> None:
    found = [words(each) for each in covered("fr-roulette") if "no-more-bets-missing" in each.rules]
    assert len(found) == 1
    assert found[0].startswith("le croupier annonce")


# Families


OBSERVED = {
    "wagers": "wager.placed wager.withdrawn wager.switched wager.moved",
    "results": "dice.thrown throw.voided ball.settled",
    "payouts": "payout.made",
    "decisions": "zero.decided",
    "calls": "no_more_bets",
    "custody": "dice.offered dice.declined dice.set_introduced dice.selected dice.touched shooter.removed",
    "marker": "point.marked",
    "wheel": "wheel.spun ball.launched chip.fell_in_wheel ball.retrieved",
    "announcements": "result.announced payment.announced",
    "collections": "stakes.collected",
    "seating": "player.seated player.left",
    "colours": "colour.assigned",
    "handling": "chips.handled stacks.rebuilt",
    "staff": "staff.assigned staff.relieved",
}
FAMILY_OF = {kind: family for family, kinds in OBSERVED.items() for kind in kinds.split()}


def test_the_families_looked_at_exist_and_so_do_the_rules() -> None:
    assert {rule for rules in JUDGED.values() for rule in rules} <= set(RULES)
    assert set(JUDGED) <= {*get_args(Family), "wagers", "results", "decisions", "payouts"}


def test_a_rule_on_the_clause_of_a_bet_judges_the_money_of_its_wagers_unless_it_is_listed(monkeypatch) -> None:
    overpaid, staffing = RULES["payout-overpaid"], RULES["staffing-invalid"]
    rules = {
        rule.name: rule for rule in (replace(overpaid, name="new"), replace(staffing, name="of-no-bet", needs=None))
    }
    monkeypatch.setattr("settlement.law_coverage.families.RULES", rules)
    assert looked_at.__wrapped__("new") == {"wagers", "payouts"}
    assert looked_at.__wrapped__("of-no-bet") == set()


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_a_rule_looks_at_the_family_of_the_event_that_it_is_found_at(ruleset: str) -> None:
    """Over every conformance stream: a finding's event is of a family that its rule looks at."""
    resting = rules_without_sentence(ruleset)
    for case in CASES:
        answer = adjudicate(json.dumps(event) for event in case["events"])
        if answer.ruleset != ruleset:
            continue
        kinds = {event["seq"]: event["type"] for event in case["events"]}
        for finding in answer.findings:
            family = FAMILY_OF.get(kinds[finding.seq])
            if family is not None and finding.rule not in resting and family not in EITHER.get(finding.rule, ()):
                assert family in looked_at(finding.rule), (finding.rule, kinds[finding.seq])


EITHER = {
    "barred-number-settled": ("payouts", "collections"),
    "inactive-wager-settled": ("payouts", "collections"),
    "void-throw-settled": ("payouts", "collections", "marker", "wagers"),
    "indivisible-stake": ("decisions",),
    "result-not-announced": ("payouts", "wheel"),
}
"""Rules that are found at whichever of several changes is reported first, and so lack none of them alone."""


# A session


def session(ruleset: str, *observes: str) -> tuple[SessionSentence, ...]:
    return adjudicate([opener("s", ruleset, observes=list(observes))]).coverage()


def at(sentences: tuple[SessionSentence, ...], opening: str) -> SessionSentence:
    return next(each for each in sentences if words(each.sentence).startswith(opening))


def test_a_table_that_observes_everything_leaves_no_rule_silent() -> None:
    for ruleset in RULESETS:
        sentences = session(ruleset, *get_args(Family))
        assert [each for each in sentences if each.lacking or each.silent or "checked" in each.state[1:]] == []
        assert counts(sentences)["checked"] == sum(1 for each in sentences if each.sentence.rules)


def test_a_sentence_whose_family_is_not_observed_is_not_checked_and_says_for_lack_of_what() -> None:
    sentences = session("fr-craps")
    offered = at(sentences, "Les dés sont proposés")
    assert (offered.state, offered.lacking) == ("not checked", ("custody",))
    assert offered.silent == offered.sentence.rules
    assert at(session("fr-craps", "custody"), "Les dés sont proposés").state == "checked"


def test_a_sentence_of_which_some_rules_can_speak_is_partly_checked() -> None:
    void = at(session("fr-craps"), "En cas de dés cassés")
    assert (void.state, void.lacking) == ("partly checked", ("custody",))
    assert void.silent == ("dice-replaced-during-point-series-with-cause",)


def test_what_cannot_be_seen_of_one_obligation_is_not_said_of_another_in_its_sentence() -> None:
    sentences = session("fr-craps")
    assert [at(sentences, opening).state for opening in ("Le joueur qui lance", "et ne doit ni les frotter")] == [
        "not checked", "checked"
    ]  # fmt: skip


def test_a_rule_that_needs_nothing_has_nothing_to_judge_where_its_events_are_not_reported() -> None:
    touched = at(session("fr-craps"), "et doit éviter de les toucher")
    assert touched.sentence.families == ()
    assert (touched.state, touched.lacking) == ("not checked", ("custody",))


def test_a_sentence_without_a_rule_is_what_it_is_whatever_is_observed() -> None:
    sentences = session("fr-american-roulette", *get_args(Family))
    assert at(sentences, "Le matériel").state == "not observable"
    assert at(sentences, "# Article 57-1").state == "defines"
    assert at(session("qc-craps"), "Aucune mise").state == "reading"


def test_payments_are_not_checked_where_payouts_are_not_reported() -> None:
    lines = in_session("fr-roulette", ["payouts"])
    kept = at(lines, "Dans les deux cas")
    assert (kept.state, kept.lacking) == ("not checked", ("payouts",))
    assert at(lines, "Les joueurs ne peuvent").state == "checked"


def test_the_texts_of_other_games_are_left_out_of_a_session() -> None:
    assert {each.sentence.text for each in session("fr-american-roulette")} == {"fr-art-54", "fr-art-57-1"}


def test_a_session_of_no_known_ruleset_has_no_coverage() -> None:
    assert session("sic-bo") == ()


def test_every_state_is_counted() -> None:
    found = counts(session("fr-craps"))
    assert tuple(found) == STATES
    assert sum(found.values()) == len(session("fr-craps"))


def test_a_session_sentence_is_plain_data() -> None:
    entry = at(session("fr-craps"), "Le joueur qui lance").as_dict()
    assert (entry["state"], entry["lacking"], entry["text"]) == ("not checked", ["calls"], "fr-art-55-7")
    assert entry["obligation"] == "jeter"
