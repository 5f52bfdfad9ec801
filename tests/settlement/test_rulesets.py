"""Every ruleset is whole: no bet without citation, words, odds, edge, felt spot and tape."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from two_coins.ruleset import TOY

from audit.felt.frames import Stake
from audit.felt.geometry import WIDTH
from audit.felt.layouts import felt_of
from audit.simulation.nights import simulator_of
from settlement import RULESETS
from settlement.catalogue import BET_LABELS, BET_WORDS, RULES
from settlement.catalogue.rule import LANGUAGES
from settlement.catalogue.words import word
from settlement.kinds import Kind
from settlement.law_coverage import covered, governing, rules_without_sentence
from settlement.layouts import DOZEN_SHAPES
from settlement.money import Odds
from settlement.night.chances import Readings, chances_of
from settlement.night.edges import edges
from settlement.provisions import PROVISIONS
from settlement.ruleset import Ruleset
from settlement.rulesets import registered
from settlement.state import Wager

TESTS = Path(__file__).parents[1]
NAMES = [*RULESETS, TOY.name]


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    with registered(TOY):
        yield


EVERY_BET = [
    pytest.param(ruleset, kind, id=f"{ruleset.name}-{kind.bet}")
    for ruleset in (*RULESETS.values(), TOY)
    for kind in ruleset.kinds.values()
]
each_bet = pytest.mark.parametrize(("ruleset", "kind"), EVERY_BET)
each_ruleset = pytest.mark.parametrize("name", NAMES)


@each_bet
def test_a_bet_cites_what_makes_it_and_what_prices_it(ruleset: Ruleset, kind: Kind) -> None:
    labels = [kind.clause, kind.pays, kind.line, kind.withdrawn_under]
    assert all(PROVISIONS[label].citations for label in labels if label is not None)
    text = PROVISIONS[kind.clause].citations[0].text
    assert text.instrument == ruleset.instrument
    priced = " ".join(quote for label in labels[:3] if label for quote in PROVISIONS[label].quotes)
    assert any(pays in priced for pays in ("pa", "fois la mise", "odds of", "rapporte")), priced


@each_bet
def test_a_bet_has_words_in_both_languages(ruleset: Ruleset, kind: Kind) -> None:
    assert kind.word.strip()
    assert len(kind.usual) == 2
    assert all(name.strip() for name in kind.usual)
    assert ruleset.kinds[kind.bet] is kind
    assert BET_WORDS[ruleset.name, kind.bet] == kind.word
    for language, usual in zip(LANGUAGES, kind.usual, strict=True):
        assert {kind.word, usual} <= set(
            re.split(r" — | \((?=.*\)$)|\)$", BET_LABELS[ruleset.name, kind.bet][language])
        )


@each_bet
def test_a_bet_has_odds_and_an_edge_between_nothing_and_everything(ruleset: Ruleset, kind: Kind) -> None:
    every = [kind.odds] if isinstance(kind.odds, Odds) else list(kind.odds.values())
    assert every
    assert all(odds.pays > 0 and odds.per > 0 for odds in every)
    found = [edge for priced, edge in edges(Readings(ruleset.name)).items() if priced.bet == kind.bet]
    assert found
    assert all(0 <= edge < 1 for edge in found)


def placed(ruleset: Ruleset, kind: Kind) -> Iterator[Wager]:
    """Yield a wager on each way in which a bet can be placed."""
    for number in kind.numbers or (None,):
        match kind.shape:
            case "numbers":
                assert ruleset.layout is not None
                for pockets in ruleset.layout.shapes[kind.bet].values():
                    yield Wager("w", kind.bet, 1, 1, 1, pockets=pockets)
            case "which":
                _blocks, count = DOZEN_SHAPES[kind.bet]
                for first in range(1, 5 - count):
                    yield Wager("w", kind.bet, 1, 1, 1, which=tuple(range(first, first + count)))
            case _:
                yield Wager("w", kind.bet, 1, 1, 1, number=number)


@each_bet
def test_a_bet_has_its_spot_on_the_felt_however_it_is_placed(ruleset: Ruleset, kind: Kind) -> None:
    felt = felt_of(ruleset.name)
    assert felt is not None
    for wager in placed(ruleset, kind):
        spot = felt.spot(Stake(wager, "on", wager.number))
        assert spot is not None, wager
        assert 0 < spot[0] < WIDTH
        assert 0 < spot[1] < felt.height


@cache
def bets_in_tapes() -> dict[str, set[str]]:
    """Return the bets that are placed in tapes, by ruleset."""
    found: dict[str, set[str]] = {}
    for source in (path.read_text() for path in TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(source)) if "place " in source else ():
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and (opening := re.match(r"\s*([\w-]+)", text)) and "place " in text:
                found.setdefault(opening[1], set()).update(re.findall(r"place \S+ (\w+)", text))
    return found


@each_bet
def test_a_bet_is_played_in_a_tape(ruleset: Ruleset, kind: Kind) -> None:
    assert kind.bet in bets_in_tapes()[ruleset.name]


@each_ruleset
def test_a_ruleset_has_its_names_in_both_languages(name: str) -> None:
    ruleset = RULESETS[name]
    for wording in (ruleset.title, ruleset.game_title, ruleset.game_name):
        assert wording.en.strip()
        assert wording.fr.strip()
    assert word("game", ruleset.game, "fr") == ruleset.game_name.fr
    assert PROVISIONS[ruleset.closed_list].citations


@each_ruleset
def test_a_ruleset_decides_its_coups_and_has_its_mathematics_and_its_simulator(name: str) -> None:
    ruleset = RULESETS[name]
    assert ruleset.result.is_result
    assert ruleset.result in ruleset.handlers
    assert chances_of(name) is not None
    simulator = simulator_of(name)
    assert (simulator.ruleset, simulator.game) == (name, ruleset.game)
    letters = [simulator_of(other).letter for other in RULESETS]
    assert len(set(letters)) == len(letters)


@each_ruleset
def test_every_rule_of_a_ruleset_rests_on_a_clause_or_says_why_on_none(name: str) -> None:
    ruleset = RULESETS[name]
    assert governing(name)
    for rule in RULES.values():
        if name in rule.rulesets:
            assert rule.provisions[name] or rule.reason is not None, rule.name
    assert all(rule.reason or rule.everywhere == () for rule in RULES.values() if not rule.provisions.get(name, "-"))
    assert set(rules_without_sentence(name)) <= set(RULES)
    assert all(each.kinds for each in covered(name))
    assert {rule.name for rule in ruleset.rules} <= set(RULES)
