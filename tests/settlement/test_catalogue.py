"""The catalogue is the table of rules, every rule has its messages in two languages, and no message ever fails."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from settlement import adjudicate
from settlement.catalogue import BET_LABELS, REMEDIES, RULES, WAGER, WITHDRAWAL, message, remedy
from settlement.catalogue.remedies import REMEDIES_BY_FACT
from settlement.catalogue.rule import LANGUAGES, STANDARD_FACTS, Kind, Rule, Wording
from settlement.catalogue.sentences import DERIVED, amount
from settlement.catalogue.words import WORDS, word
from settlement.events import TYPES
from settlement.provisions import PROVISIONS, WAGER_PROVISIONS
from tests.one_by_one import one_by_one
from tests.settlement.wording import check_finding, check_sentence

# Name, severity (C critical, M major, m minor, i info), the family without which the rule is silent.
RAISED_BY_THE_ENGINE = """
    wager-id-reused                                C  -
    wager-not-permitted                            M  -
    combination-not-permitted                      M  -
    payout-without-result                          C  -
    payout-missing                                 C  -
    payout-duplicated                              C  -
    payout-overpaid                                C  -
    payout-underpaid                               C  -
    stake-not-returned                             C  -
    losing-wager-paid                              C  -
    push-paid                                      C  -
    winning-wager-collected                        C  collections
    losing-wager-not-collected                     M  collections
    payout-put-right                               i  -
    act-put-right                                  i  -
    rounded-in-players-favour                      i  -
    void-stake-kept                                C  collections
    left-up-stake-mismatch                         C  -
    goodwill-paid                                  i  -
    payout-parts-mixed                             i  -
    approved-by-a-party                            M  -
    dispute-settled-twice                          M  -
    orphan-mismatch                                M  -
    indivisible-stake                              i  -
    thrower-not-rotated                            m  staff
    boule-number-invalid                           C  -
    boule-stake-number-invalid                     M  -
    boule-settled-before-call                      M  calls
    stake-out-of-limits                            M  -
    non-chip-stake                                 M  -
    wager-after-no-more-bets                       C  calls
    wager-near-call                                i  calls
    dice-selected-by-another                       M  custody
    odds-number-mismatch                           M  -
    odds-on-anothers-base                          M  -
    unseated-player-over-limit                     m  seating
    wager-with-unassigned-colour                   M  colours
    stake-not-multiple-of-colour-value             M  colours
    table-without-chief                            M  staff
    table-without-croupier                         M  staff
    withdrawal-after-no-more-bets                  M  calls
    withdrawal-of-decided-wager                    C  -
    wager-left-open                                C  -
    ruleset-not-in-force                           i  -
    unknown-ruleset                                C  -
    sequence-gap                                   C  -
    events-lost                                    C  -
    correction-without-effect                      M  -
    entry-corrected                                M  -
    entry-annulled                                 M  -
    params-differ-from-register                    M  -
    parameter-unlawful                             C  -
    observes-less-than-owed                        M  -
    clock-went-back                                M  -
    ledger-imbalance                               C  -
    first-shooter-not-left-of-croupiers            M  custody
    dice-not-offered-clockwise                     M  custody
    throw-by-non-shooter                           C  custody
    dice-passed-without-seven-out                  M  custody
    shooter-kept-dice-after-seven-out              M  custody
    shooter-removed-without-repeated-violation     M  custody
    shooter-removed-by-wrong-role                  M  custody
    shooter-without-line-wager                     M  custody
    throw-without-no-more-bets                     M  calls
    throw-delayed                                  m  calls
    dice-rubbed-or-held                            m  -
    dice-changed-during-point-series               C  custody
    dice-replaced-during-point-series-with-cause   i  custody
    dice-change-not-authorised                     M  custody
    dice-change-not-announced                      m  custody
    dice-set-not-six                               M  custody
    dice-selection-not-two                         M  custody
    dice-remainder-not-boxed                       m  custody
    unselected-dice-thrown                         C  custody
    dice-touched-without-cause                     m  -
    invalid-dice-values                            C  -
    irregular-throw-counted                        C  -
    valid-throw-voided                             C  -
    void-throw-settled                             C  -
    void-not-announced-by-stickman                 m  -
    point-marker-missing                           m  marker
    point-marker-mismatch                          m  -
    line-wager-after-come-out                      C  -
    come-wager-on-come-out                         M  -
    contract-wager-withdrawn                       C  -
    come-not-moved                                 C  -
    come-moved-to-wrong-number                     C  -
    odds-without-base-wager                        C  -
    withdrawal-not-after-indecisive-roll           m  -
    one-roll-wager-withdrawn                       m  -
    invalid-wager-number                           M  -
    wrong-bet-not-marked                           m  -
    barred-number-settled                          C  -
    horn-paid-split                                C  -
    commission-not-paid                            C  -
    commission-amount-mismatch                     C  -
    undue-commission                               M  -
    inactive-wager-settled                         C  -
    working-call-late                              m  calls
    wager-marker-missing                           m  -
    commission-not-renewed                         M  -
    zero-option-on-multiple-chance                 C  -
    zero-decision-missing                          M  -
    zero-decision-without-zero                     M  -
    half-refund-mismatch                           C  -
    imprisoned-stake-paid-winnings                 C  -
    imprisoned-value-not-halved                    C  -
    imprisoned-stake-withdrawn                     C  -
    zero-decision-on-last-coup                     C  -
    last-coup-refund-mismatch                      C  -
    imprisoned-at-close                            C  -
    result-after-last-coup                         M  -
    invalid-pocket                                 C  -
    wheel-direction-repeated                       M  wheel
    ball-same-direction-as-wheel                   M  wheel
    wheel-not-spun                                 M  wheel
    ball-not-launched                              M  wheel
    result-after-fallen-chip                       C  wheel
    no-more-bets-missing                           M  calls
    stacks-not-rebuilt                             m  handling
    result-not-announced                           M  announcements
    announcement-mismatch                          M  -
    payment-before-collection                      M  collections
    payments-interleaved                           M  -
    payment-not-announced                          M  announcements
    payment-not-as-announced                       M  -
    payment-order-violated                         M  -
    payment-wrong-colour                           M  -
    payment-without-colour                         m  colours
    seat-limit-exceeded                            M  seating
    colour-limit-exceeded                          m  colours
    colour-shared                                  C  -
    wager-with-foreign-colour                      C  -
    colour-value-undeclared                        C  -
    colour-value-changed                           C  -
    chief-handled-chips                            M  -
    marker-not-from-chief                          m  -
    staffing-invalid                               m  staff
    spin-by-non-croupier                           M  -
    spin-before-payments-complete                  m  wheel
"""

RAISED_BY_THE_RECORD = """
    sequence-conflict                              C  -
    late-after-close                               M  -
    opener-differs-from-closer                     M  -
    slip-number-missing                            M  -
    slip-number-duplicated                         C  -
    slip-reused                                    C  -
    count-opened-late                              M  -
    accounting-variance                            M  -
    count-missing                                  M  -
    clock-ahead                                    M  -
    log-tampered                                   C  -
    dice-fairness                                  i  -
    wheel-fairness                                 i  -
    wheel-signature                                i  -
    void-call-bias                                 i  -
    shooter-fairness                               i  -
    table-luck                                     i  -
    player-luck                                    i  -
    croupier-luck                                  i  -
    concentration                                  i  -
    payout-error-rate                              i  -
    accounting-drift                               i  -
    hold-outside-interval                          i  -
    payout-errors-one-sided                        i  -
    identification-due                             M  -
    reportable-cash                                M  -
    fill-unmatched                                 M  -
    threshold-splitting                            i  -
    minimal-play                                   i  -
    chips-from-elsewhere                           i  -
    chips-pooled                                   i  -
    chips-outstanding                              i  -
    offsetting-players                             i  -
"""

CASES = [
    case
    for line in (Path(__file__).parents[1] / "conformance" / "cases.jsonl").read_text().splitlines()
    if (case := json.loads(line))["expected"]["findings"]
]

SEVERITIES = {"C": "critical", "M": "major", "m": "minor", "i": "info"}

# What holds instead in the case its explanation names.
EXCEPTIONS = {
    "contract-wager-withdrawn": "minor",
    "dice-changed-during-point-series": "major",
    "accounting-variance": "critical",
    "params-differ-from-register": "critical",
    "goodwill-paid": "major",
    "payment-before-collection": "minor",
}

# Rules that do not hold in every ruleset, by the first letters of the rulesets: f fr-craps, q qc-craps, r fr-roulette,
# a fr-american-roulette, b fr-boule.
RULESETS_OF = """
    thrower-not-rotated                  b
    boule-number-invalid                 b
    combination-not-permitted            ra
    invalid-dice-values                  fq
    irregular-throw-counted              fq
    valid-throw-voided                   fq
    void-throw-settled                   fq
    void-not-announced-by-stickman       fq
    point-marker-missing                 fq
    point-marker-mismatch                fq
    withdrawal-not-after-indecisive-roll fq
    invalid-wager-number                 fq
    commission-not-paid                  q
    commission-amount-mismatch           q
    undue-commission                     q
    inactive-wager-settled               q
    working-call-late                    q
    wager-marker-missing                 q
    commission-not-renewed               q
    invalid-pocket                       ra
    no-more-bets-missing                 ra
    dice-changed-during-point-series     f
    odds-without-base-wager              f
    zero-decision-missing                ra
    orphan-mismatch                      ra
    imprisoned-at-close                  ra
    payment-order-violated               a
    seat-limit-exceeded                  a
    payout-overpaid                      fqrab
    wager-after-no-more-bets             fqrab
    identification-due                   frab
    reportable-cash                      q
    fill-unmatched                       fqrab
"""

EVERY_RULE = one_by_one(RULES.values(), lambda rule: rule.name)

# A value of each kind as an engine would pass it.
SAMPLES: dict[Kind, Any] = {
    "money": 700,
    "number": 6,
    "numbers": [2, 4],
    "faces": [2, 4],
    "text": "S1",
    "texts": ["d1", "d2"],
    "wagers": ["w1", "w2"],
    "odds": "7:6",
    "bet": "right_bet",
    "colour": "green",
    "role": "croupier",
    "direction": "clockwise",
    "choice": "half",
    "status": "imprisoned",
    "medium": "cash",
    "bound": "minimum",
    "flags": ["slid", "off_table"],
    "loss": "spool_lost",
    "cause": "broken",
    "act": "payout.made",
    "event": "count.closed",
    "fault": "no_point",
    "switch": "on",
    "waiting": "waits",
    "changed": ["pocket", "17", "20", "stake", 200, 500],
    "outcomes": ["w1", "P1", "won", "open", 3500, 0, "w2", "", "open", "lost", 0, -500],
    "gravity": ["announced", "alone"],
    "favoured": "house",
    "recourse": "other_shape",
    "readings": ["payout_unit", "seat_limit"],
    "game": "craps",
    "day": "2011-10-13",
    "instant": "2026-11-19T22:10:00+01:00",
    "exchange": "in",
    "means": "cheque",
    "pattern": "midnight",
    "part": "winnings",
    "multiple": "3\u202f696",
    "ending": "close",
    "reason": "ball_left_wheel",
    "families": ["calls", "wheel"],
    "ruleset": "fr-craps",
}


def table_of(text: str) -> dict[str, tuple[str, str | None]]:
    rows = (line.split() for line in text.strip().splitlines())
    return {name: (SEVERITIES[letter], None if family == "-" else family) for name, letter, family in rows}


def placeholders(wording: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", wording))


def complete_facts(rule: Rule) -> dict[str, Any]:
    kinds: dict[str, Kind] = dict(STANDARD_FACTS) | dict(rule.facts)
    kinds |= {"expected": rule.expected_is or "text", "recorded": rule.recorded_is or "text"}
    facts = {name: SAMPLES[kind] for name, kind in kinds.items()}
    return facts | {"wager": "w2", "stake": 600, "zeros": 2}


def test_the_catalogue_is_the_table_of_rules() -> None:
    expected = table_of(RAISED_BY_THE_ENGINE) | table_of(RAISED_BY_THE_RECORD)
    assert {rule.name: (rule.severity, rule.needs) for rule in RULES.values()} == expected


def test_the_record_raises_the_rules_of_the_last_section() -> None:
    assert {rule.name for rule in RULES.values() if rule.raised_by != "engine"} == set(table_of(RAISED_BY_THE_RECORD))
    # Two contents of one number are seen in a file as well.
    assert [rule.name for rule in RULES.values() if rule.raised_by == "both"] == ["sequence-conflict"]


def test_some_rules_have_another_severity_in_one_case() -> None:
    exceptional = {rule.name: rule.exceptional_severity for rule in RULES.values() if rule.exceptional_severity}
    assert exceptional == EXCEPTIONS


@one_by_one(RULESETS_OF.strip().splitlines(), str.strip)
def test_a_rule_holds_where_the_table_says(row: str) -> None:
    name, letters = row.split()
    by_letter = {"f": "fr-craps", "q": "qc-craps", "r": "fr-roulette", "a": "fr-american-roulette", "b": "fr-boule"}
    assert RULES[name].rulesets & {*by_letter.values()} == {by_letter[letter] for letter in letters}


@EVERY_RULE
def test_a_rule_rests_on_a_provision_or_says_why_on_none(rule: Rule) -> None:
    assert rule.provisions
    for labels in rule.provisions.values():
        assert all(label in (WAGER, WITHDRAWAL) or label in PROVISIONS for label in labels)
        quoted = any(label in (WAGER, WITHDRAWAL) or PROVISIONS[label].citations for label in labels)
        assert quoted or rule.reason is not None
    assert rule.provision_in(None) is None


@EVERY_RULE
def test_both_languages_use_the_same_facts(rule: Rule) -> None:
    assert placeholders(rule.message.en) == placeholders(rule.message.fr)
    known = {"expected", "recorded", *STANDARD_FACTS, *rule.facts, *DERIVED}
    assert placeholders(rule.message.en) <= known
    for field, kind in (("expected", rule.expected_is), ("recorded", rule.recorded_is)):
        assert kind is not None or field not in placeholders(rule.message.en)


@EVERY_RULE
def test_french_is_french(rule: Rule) -> None:
    for wording in (rule.title, rule.message, rule.explanation, *([rule.reason] if rule.reason else [])):
        assert wording.en.strip()
        assert wording.fr.strip()
        assert wording.en != wording.fr
        assert "'" not in wording.fr, "typographic apostrophes"
        assert "'" not in wording.en or "jusqu'" in wording.en, "typographic apostrophes"
        assert not re.search(r" [;:?!%»]|« ", wording.fr), "no-break spaces"
        assert not re.search(r"[“”]", wording.fr), "guillemets"
        english = re.search(r"\b(the|wager|was|stake|seat|paid|of|and|which)\b", re.sub(r"\{\w+\}", "", wording.fr))
        assert english is None, wording.fr


@EVERY_RULE
def test_a_message_with_all_its_facts_is_whole(rule: Rule) -> None:
    for language in LANGUAGES:
        sentence = message(rule.name, complete_facts(rule), language, "EUR")
        check_sentence(sentence, rule.name)
        assert sentence.endswith(".")
        assert sentence[0].upper() == sentence[0]
        assert "  " not in sentence


@EVERY_RULE
def test_every_rule_has_a_remedy_in_both_languages(rule: Rule) -> None:
    wording = rule.remedy or REMEDIES[rule.name]
    assert placeholders(wording.en) == placeholders(wording.fr)
    assert placeholders(wording.en) <= {"expected", "recorded", "croupier", *STANDARD_FACTS, *rule.facts, *DERIVED}
    for language in LANGUAGES:
        facts = {"croupier": "k1"} | complete_facts(rule)
        for sentence in (
            remedy(rule.name, facts, None, language, "EUR"),
            remedy(rule.name, facts, ("house", 1000), language, "EUR"),
            remedy(rule.name, {"wager": None}, ("player", 1000), language, "EUR"),
        ):
            assert sentence.endswith(".")
            assert sentence.count(". ") == 0, "one sentence"
            assert sentence[0].upper() == sentence[0]
            check_sentence(sentence, rule.name)


@EVERY_RULE
def test_a_remedy_in_french_is_french(rule: Rule) -> None:
    wording = rule.remedy or REMEDIES[rule.name]
    assert wording.en != wording.fr
    assert "'" not in wording.fr, "typographic apostrophes"
    assert not re.search(r" [;:?!%]|« ", wording.fr), "no-break spaces"
    assert not re.search(r"[“”]", wording.fr), "guillemets"
    english = re.search(r"\b(the|wager|was|stake|paid|of|and|which)\b", re.sub(r"\{\w+\}", "", wording.fr))
    assert english is None, wording.fr


REMEDIES_OF_ONE_FACT = [
    (rule, fact, value, wording)
    for rule, (fact, wordings) in REMEDIES_BY_FACT.items()
    for value, wording in wordings.items()
]


@pytest.mark.parametrize(
    ("rule", "fact", "value", "wording"), REMEDIES_OF_ONE_FACT, ids=[" ".join(row[:3]) for row in REMEDIES_OF_ONE_FACT]
)
def test_a_remedy_that_depends_on_a_fact_is_whole_in_both_languages(
    rule: str, fact: str, value: str, wording: Wording
) -> None:
    assert fact in {"expected", "recorded", *STANDARD_FACTS, *RULES[rule].facts}
    assert placeholders(wording.en) == placeholders(wording.fr)
    assert not re.search(r" [;:?!%]|« ", wording.fr), "no-break spaces"
    for language in LANGUAGES:
        facts = {"croupier": "k1"} | complete_facts(RULES[rule]) | {fact: value or None}
        sentence = remedy(rule, facts, None, language, "EUR")
        assert sentence != remedy(rule, facts | {fact: "another"}, None, language, "EUR")
        assert sentence.endswith(".")
        assert sentence.count(". ") == 0, "one sentence"
        check_sentence(sentence, f"{rule} {value}")


@EVERY_RULE
def test_no_message_fails_for_want_of_facts(rule: Rule) -> None:
    nothings: tuple[Any, ...] = (None, "", [], ())
    for nothing, language in product(nothings, LANGUAGES):
        sentence = message(rule.name, dict.fromkeys(complete_facts(rule), nothing), language, "")
        assert sentence == message(rule.name, {}, language, "")
        assert sentence
        assert not re.search(r"[\[\]{}]", sentence)


@EVERY_RULE
def test_a_fact_that_is_missing_is_left_out(rule: Rule) -> None:
    facts = {"croupier": "k1"} | complete_facts(rule)
    debts: tuple[tuple[str, int] | None, ...] = (None, ("house", 1000), ("player", 1000))
    for name, language in product(facts, LANGUAGES):
        known = {**facts, name: None}
        check_sentence(message(rule.name, known, language, "EUR"), f"{rule.name} without {name}")
        for owed in debts:
            check_sentence(remedy(rule.name, known, owed, language, "EUR"), f"{rule.name} without {name}")


@EVERY_RULE
def test_no_message_fails_for_facts_of_another_type(rule: Rule) -> None:
    oddities: tuple[Any, ...] = (-7, "{wager} [x]", [1, "a"], 3.5, True)
    for oddity, language in product(oddities, LANGUAGES):
        assert message(rule.name, dict.fromkeys(complete_facts(rule), oddity), language, "XXX")


@one_by_one(CASES, lambda case: case["id"])
def test_the_engine_passes_the_facts_each_message_needs(case: dict[str, Any]) -> None:
    for finding in adjudicate(json.dumps(event) for event in case["events"]).findings:
        assert set(finding.facts) <= {*RULES[finding.rule].facts, *STANDARD_FACTS}, finding.rule
        check_finding(finding)


def test_an_overpaid_right_bet_reads_with_its_arithmetic() -> None:
    facts = {
        "wager": "w2",
        "bet": "right_bet",
        "number": 6,
        "stake": 600,
        "odds": "7:6",
        "expected": 700,
        "recorded": 900,
        "part": "winnings",
    }
    assert message("payout-overpaid", facts, "en", "EUR", ruleset="fr-craps") == (
        "Wager w2 (right bet on 6, €6.00) was paid €9.00 in winnings; €7.00 was due: €6.00 × 7/6. "
        "The house paid €2.00 too much."
    )
    assert plain(message("payout-overpaid", facts, "fr", "EUR", ruleset="fr-craps")) == (
        "La mise w2 (right bet sur 6, 6,00 €) a reçu un gain de 9,00 € ; il était dû 7,00 € : 6,00 € × 7/6. "
        "La banque a payé 2,00 € de trop."
    )
    rounded = facts | {"stake": 1000, "expected": 1166}
    assert "€11.66 was due: €10.00 × 7/6, rounded down." in message(
        "payout-overpaid", rounded, "en", "EUR", ruleset="fr-craps"
    )


@pytest.mark.parametrize(
    ("stake", "due", "english", "french"),
    [
        (75, 37, "€0.75 ÷ 2, rounded down.", "0,75 € ÷ 2, arrondi à l’unité inférieure."),
        (1000, 500, "€10.00 ÷ 2.", "10,00 € ÷ 2."),
    ],
)
def test_a_half_that_is_rounded_says_so(stake: int, due: int, english: str, french: str) -> None:
    facts = {"wager": "w1", "stake": stake, "zeros": 1, "expected": due, "recorded": due + 1, "part": "stake"}
    assert f"was due: {english} The house" in message("half-refund-mismatch", facts, "en", "EUR")
    assert french in plain(message("half-refund-mismatch", facts, "fr", "EUR"))


@pytest.mark.parametrize("rule", ["commission-not-paid", "commission-not-renewed", "commission-amount-mismatch"])
@pytest.mark.parametrize(
    ("due", "english"), [(125, "5% of €25.10, rounded down"), (126, "5% of €25.10, rounded up")], ids=str
)
def test_a_commission_that_is_rounded_says_so(rule: str, due: int, english: str) -> None:
    facts = {"wager": "w1", "left_up_from": "w0", "expected": due, "recorded": 100, "commission_on": 2510}
    assert english in message(rule, facts, "en", "EUR")
    exact = message(rule, facts | {"expected": 125, "commission_on": 2500}, "en", "EUR")
    assert "5% of €25.00" in exact
    assert "rounded" not in exact


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("chef_de_partie", "Ask the chef de partie why the dice were changed (event 5)."),
        ("shooter", "Remind the stickman to refuse a shooter other dice while a point is being played."),
        (None, "Ask the stickman why other dice were taken out of the box: g, h (event 5)."),
    ],
)
def test_whoever_changed_the_dice_is_asked(by: str | None, sentence: str) -> None:
    facts = {"by": by, "dice": ["g", "h"], "seq": 5}
    assert remedy("dice-changed-during-point-series", facts, None, "en", "EUR") == sentence


def test_a_code_of_the_table_system_is_put_in_words() -> None:
    bet = {"wager": "a", "bet": "five_number", "recorded": "five_number"}
    assert "on “five number”" in message("wager-not-permitted", bet, "en", "EUR")
    voided = {"corrects": 3, "reason": "ball_left_wheel"}
    assert "“the ball left the wheel”" in message("entry-annulled", voided, "en", "EUR")
    families = {"families": ["calls", "wheel"]}
    assert "les annonces du croupier, ce qui" in message("observes-less-than-owed", families, "fr", "EUR")
    unlawful = {"readings": ["call_tolerance_ms"], "expected": "500", "recorded": "1001"}
    assert ": 1001\N{NO-BREAK SPACE}ms. " in message("parameter-unlawful", unlawful, "en", "EUR")


def test_french_names_the_house_and_the_end_of_a_session_by_one_word_each() -> None:
    french = [text.fr for rule in RULES.values() for text in (rule.title, rule.message, rule.explanation)]
    french += [wording.fr for wording in REMEDIES.values()]
    french += [text for words in WORDS.values() for _english, text in words.values()]
    assert [text for text in french if re.search(r"\bmaison\b|\bfermetures?\b", text)] == []


def test_no_person_is_named_after_a_preposition_that_would_elide() -> None:
    person = r"\b(de|le|du|au) \{(player|croupier|approved_by|owner|other_player|player_before|subject)\}"
    french = [rule.message.fr for rule in RULES.values()] + [wording.fr for wording in REMEDIES.values()]
    french += [wording.fr for _fact, wordings in REMEDIES_BY_FACT.values() for wording in wordings.values()]
    assert [text for text in french if re.search(person, text)] == []


def test_dice_changed_during_a_point_series_reads_in_both_languages() -> None:
    facts = {"point": 6, "point_seq": 12, "by": "chef_de_table", "dice": ["B1", "B2"]}
    assert message("dice-changed-during-point-series", facts, "en", "EUR") == (
        "Other dice (B1, B2) came into play while the point 6, set at event 12, was being played; "
        "the change was decided by the chef de table."
    )
    assert plain(message("dice-changed-during-point-series", facts, "fr", "EUR")) == (
        "D’autres dés (B1, B2) sont entrés en jeu alors que le point 6, établi à l’événement 12, était en jeu ; "
        "le changement a été décidé par le chef de table."
    )


@pytest.mark.parametrize(
    "rule", ["payout-missing", "losing-wager-not-collected", "come-not-moved", "zero-decision-missing"]
)
def test_what_the_close_of_a_session_completes_too_says_which_of_the_two_it_was(rule: str) -> None:
    facts = complete_facts(RULES[rule])
    for ending, english, french in (
        ("result", "(when|before) the next result came", "quand le résultat suivant est venu"),
        ("close", "(when|before) the session was closed", "quand la séance a été close"),
    ):
        assert re.search(english, message(rule, facts | {"ending": ending}, "en", "EUR"))
        assert re.search(french, message(rule, facts | {"ending": ending}, "fr", "EUR"))


def test_a_clause_goes_with_the_clause_inside_it() -> None:
    faces = {"faces": [3, 7]}
    assert message("invalid-dice-values", faces, "en", "EUR").startswith("The throw was recorded as 3-7. It")
    total = faces | {"recorded": 9}
    assert "as 3-7 with a total of 9. It" in message("invalid-dice-values", total, "en", "EUR")
    both = total | {"expected": 10}
    assert "with a total of 9 where they make 10. It" in message("invalid-dice-values", both, "en", "EUR")


@pytest.mark.parametrize(("zeros", "english", "french"), [(1, "1 zero:", "1 zéro :"), (2, "2 zeros:", "2 zéros :")])
def test_a_plural_agrees_with_its_number(zeros: int, english: str, french: str) -> None:
    facts = {"wager": "w1", "zeros": zeros, "expected": 100, "recorded": 50}
    assert f"after {english}" in message("imprisoned-value-not-halved", facts, "en", "EUR")
    assert f"après {french}" in plain(message("imprisoned-value-not-halved", facts, "fr", "EUR"))


def test_french_elides_before_a_vowel() -> None:
    facts = {"colour": "blue", "recorded": "employe", "expected": "chef_de_table"}
    sentence = plain(message("marker-not-from-chief", facts, "fr", "EUR"))
    assert "remis par l’employé ; les marqueurs sont tenus par le chef de table" in sentence
    assert "sur décision de l’employé" in message("dice-change-not-authorised", facts, "fr", "EUR")


def test_no_staff_is_plural_in_english_and_singular_in_french() -> None:
    facts = {"chefs_de_table": 0, "croupiers": 1, "employes": 2}
    assert "0 chefs de table, 1 croupier and 2 employés;" in message("staffing-invalid", facts, "en", "EUR")
    assert "0 chef de table, 1 croupier et 2 employés ;" in plain(message("staffing-invalid", facts, "fr", "EUR"))


@pytest.mark.parametrize(
    ("through", "english", "french"),
    [(6, "lacks event 6;", "fichier l’événement 6 ;"), (8, "lacks events 6 to 8;", "fichier les événements 6 à 8 ;")],
)
def test_missing_events_are_one_or_a_span(through: int, english: str, french: str) -> None:
    facts = {"missing_from": 6, "through": through}
    assert english in message("sequence-gap", facts, "en", "EUR")
    assert french in plain(message("sequence-gap", facts, "fr", "EUR"))


#  minor     currency  English       French
AMOUNTS = """
   123456789  EUR  €1,234,567.89     1 234 567,89 €
   5          EUR  €0.05             0,05 €
   -250       EUR  −€2.50            −2,50 €
   1500       JPY  ¥1,500            1 500 ¥
   1500       KWD  KWD 1.500         1,500 KWD
   250        CAD  CA$2.50           2,50 $ CA
   250        CHF  CHF 2.50          2,50 CHF
"""


@pytest.mark.parametrize("row", AMOUNTS.strip().splitlines(), ids=str.strip)
def test_amounts_have_the_format_of_their_language(row: str) -> None:
    minor, currency, english, french = re.split(r"\s{2,}", row.strip())
    assert plain(amount(int(minor), currency, "en")) == english
    assert plain(amount(int(minor), currency, "fr")) == french


def test_french_amounts_never_break_over_two_lines() -> None:
    assert " " not in amount(123456789, "EUR", "fr")


def test_every_bet_shows_the_word_of_the_law_and_the_usual_name() -> None:
    assert set(BET_LABELS) == {(ruleset, bet) for ruleset, bets in WAGER_PROVISIONS.items() for bet in bets}
    assert BET_LABELS["fr-craps", "win"] == {"en": "win — pass line", "fr": "win (ligne de passe)"}
    assert all(set(labels) == {"en", "fr"} for labels in BET_LABELS.values())


def test_every_word_has_both_languages() -> None:
    for words in WORDS.values():
        assert all(english.strip() and french.strip() for english, french in words.values())


OF_THE_CONTRACT = [name for name, cls in TYPES.items() if cls.ruleset is None]


@pytest.mark.parametrize("type", OF_THE_CONTRACT)
def test_every_type_of_event_is_called_something_in_both_languages(type: str) -> None:
    english, french = (word("event", type, language) for language in LANGUAGES)
    assert type not in (english, french)
    assert not re.search(r"[a-z]+[._][a-z]+", english + french), "a code is no word"


def test_no_two_types_of_event_are_called_the_same() -> None:
    assert WORDS["event"].keys() == set(OF_THE_CONTRACT)
    for language in LANGUAGES:
        assert len({word("event", type, language) for type in OF_THE_CONTRACT}) == len(OF_THE_CONTRACT)


def test_an_event_after_the_close_is_called_by_words_in_its_message() -> None:
    facts = {"seq": 12, "event_type": "payout.made", "closed_seq": 10}
    assert message("late-after-close", facts, "en", "EUR").startswith("Event 12 (payout) came after")
    assert message("late-after-close", facts, "fr", "EUR").startswith("L’événement 12 (paiement) est arrivé")
    first = {"seq": 1, "event_type": "wager.placed"}
    assert "is of another kind (wager placed) than the opening" in message("unknown-ruleset", first, "en", "EUR")
    french = message("unknown-ruleset", first, "fr", "EUR")
    assert "n’est pas l’ouverture d’une séance (dépôt d’une mise)" in french


def test_wording_puts_the_spaces_of_french() -> None:
    assert Wording("a", "Il dit « non » : 5 % ; vrai ?").fr == (
        "Il dit «\N{NO-BREAK SPACE}non\N{NO-BREAK SPACE}»\N{NO-BREAK SPACE}: 5\N{NARROW NO-BREAK SPACE}%"
        "\N{NARROW NO-BREAK SPACE}; vrai\N{NARROW NO-BREAK SPACE}?"
    )


def plain(text: str) -> str:
    """Return ``text`` with ordinary spaces."""
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("rule", ["clock-went-back", "clock-ahead"])
def test_a_message_about_clocks_shows_the_days_where_they_differ(rule: str) -> None:
    facts = {"seq": 4, "back_s": 86_000, "ahead_s": 86_000, "expected": "2026-11-19T23:59:58+01:00"}
    same = facts | {"recorded": "2026-11-19T20:00:00+01:00"}
    other = facts | {"recorded": "2026-11-20T20:00:00+01:00"}
    assert "2026" not in message(rule, same, "en", "EUR")
    assert "20:00:00\N{NO-BREAK SPACE}UTC+1" in message(rule, same, "en", "EUR")
    english, french = (
        message(rule, other, language, "EUR").replace("\N{NO-BREAK SPACE}", " ") for language in ("en", "fr")
    )
    assert "19 November 2026 at 23:59:58 UTC+1" in english
    assert "20 November 2026 at 20:00:00 UTC+1" in english
    assert "19 novembre 2026 à 23:59:58 UTC+1" in french
    assert "20 novembre 2026 à 20:00:00 UTC+1" in french


def test_a_colour_is_a_word_of_the_language_and_any_other_id_stays_as_it_is() -> None:
    facts = {"colour": "green", "player": "p1", "owner": "p2"}
    assert message("colour-shared", facts, "fr", "EUR").startswith(
        "La couleur «\N{NO-BREAK SPACE}vert\N{NO-BREAK SPACE}»"
    )
    assert message("colour-shared", facts, "en", "EUR").startswith("Colour green")
    assert "Colour K7 " in message("colour-shared", facts | {"colour": "K7"}, "en", "EUR")
