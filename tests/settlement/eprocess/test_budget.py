"""The levels of a year add up to at most the budget; those near it are e-BH, on the e-values of now."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from settlement.catalogue import RULES
from settlement.eprocess.budget import (
    AT_ONE_TABLE,
    MOST_FOR_A_PERSON,
    allotted,
    expected_at_first,
    level,
    near_threshold,
)
from settlement.eprocess.channels import Fed
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.process import UNIT

OLD_QUESTIONS = {"wheel-fairness", "dice-fairness", "payout-errors-one-sided"}
NEW_QUESTIONS = {
    "wheel-signature", "void-call-bias", "shooter-fairness", "table-luck", "player-luck", "payout-error-rate",
    "accounting-drift", "croupier-luck", "concentration",
}  # fmt: skip


def test_the_weights_of_each_half_are_all_of_it() -> None:
    for half in ("equipment", "persons"):
        assert sum(kind.share for kind in KINDS.values() if kind.half == half) == 1


def test_every_question_has_a_published_name() -> None:
    assert {kind.question for kind in KINDS.values()} == OLD_QUESTIONS | NEW_QUESTIONS
    assert set(RULES) >= OLD_QUESTIONS


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(sorted(KINDS)), st.integers(1, 300)), st.fractions(Fraction(1, 10), 5),
    st.integers(1, 80),
)  # fmt: skip
def test_the_levels_of_any_number_of_subjects_are_within_the_budget(
    subjects: dict[str, int], budget: Fraction, expected: int
) -> None:
    spent = sum(
        (
            level(budget, KINDS[kind], rank, expected)
            for kind, number in subjects.items()
            for rank in range(1, number + 1)
        ),
        Fraction(0),
    )
    assert spent <= budget


@pytest.mark.parametrize("expected", [1, 2, 7, 50])
@pytest.mark.parametrize("blocks", range(7))
def test_whole_blocks_of_subjects_have_what_the_proof_says(expected: int, blocks: int) -> None:
    wheel = KINDS["wheel"]
    levels = [level(Fraction(2), wheel, rank, expected) for rank in range(1, expected * 2**blocks + 1)]
    # Half of all for those expected, and of the other half 1 − 1/(k + 1) for the first k blocks.
    assert sum(levels) == allotted(Fraction(2), wheel) * (1 - Fraction(1, 2 * (blocks + 1)))
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels[:expected])) == 1, "equals have the same level"


def test_a_level_by_hand() -> None:
    # One false question × half × 4/16, of ten wheels that are expected.
    by_rank = [level(Fraction(1), KINDS["wheel"], rank, 10) for rank in (1, 10, 11, 20, 21, 40, 41)]
    assert [1 / each for each in by_rank] == [160, 160, 320, 320, 1_920, 1_920, 7_680]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_person_has_a_level_above_one_in_a_hundred(kind: str) -> None:
    found = level(Fraction(1_000), KINDS[kind], 1, 1)
    assert (found == MOST_FOR_A_PERSON) == (KINDS[kind].half == "persons")


def test_a_casino_expects_a_wheel_a_table_and_fifty_persons_until_it_has_counted() -> None:
    at_first = expected_at_first(20)
    assert at_first.keys() == KINDS.keys()
    assert (at_first["wheel"], at_first["table-luck"], at_first["player-luck"]) == (20, 20, 1_000)
    assert (at_first["shift-drift"], at_first["team-drift"]) == (3, 10)
    assert expected_at_first(0) == AT_ONE_TABLE


def test_a_year_expects_as_many_as_the_last_had() -> None:
    ledger = Ledger(2026, expected=expected_at_first(4))
    ledger.feed([face(f"d{number}", 1, 0, 0, 0, 0, 0) for number in range(7)], session="s")
    ledger.begin_year(2027)
    assert ledger.expected == {**expected_at_first(4), "die": 7}
    ledger.begin_year(2028)
    assert ledger.expected["die"] == 7, "a year without any is no count"


def face(set_: str, *counts: int) -> Fed:
    return Fed("die", set_, 0, {"face": list(counts)}, sum(counts))


def test_subjects_get_their_levels_as_they_appear_and_anew_each_year() -> None:
    ledger = Ledger(2026, budget="2", expected={"die": 1})
    ledger.feed([face("a", 1, 0, 0, 0, 0, 0), face("b", 0, 1, 0, 0, 0, 0)], session="s1")
    ledger.feed([face("a", 1, 0, 0, 0, 0, 0)], session="s2")
    assert {name: process.alpha for name, process in ledger.processes.items()} == {"die: a": "1/16", "die: b": "1/32"}
    assert ledger.spent == Fraction(3, 32)
    ledger.begin_year(2027)
    assert ledger.spent == 0
    ledger.feed([face("b", 1, 0, 0, 0, 0, 0)], session="s3")
    assert ledger.processes["die: b"].alpha == "1/32", "two are expected, as many as there were"
    assert ledger.processes["die: a"].year == 2026


def test_a_level_is_given_before_its_draws_are_looked_at() -> None:
    # The first batch alone may ask.
    ledger = Ledger(2026)
    [question] = ledger.feed([face("a", 300, 0, 0, 0, 0, 0)], session="s1")
    assert question.rule == "dice-fairness"
    assert question.process.subject == "a"
    assert (question.crossing.session, question.crossing.alpha, question.crossing.draws) == ("s1", "1/1600", 300)
    assert ledger.feed([face("a", 300, 0, 0, 0, 0, 0)], session="s2") == []


def test_wheels_of_different_size_are_different_processes() -> None:
    ledger = Ledger(2026)
    for cells in (37, 38):
        ledger.feed([Fed("wheel", "w", cells, {"pocket": [1] * cells}, cells)], session="s")
    assert list(ledger.processes) == ["wheel 37: w", "wheel 38: w"]


def test_a_ledger_is_saved_to_the_last_digit() -> None:
    ledger = Ledger(2026)
    ledger.feed([face("a", 3, 1, 4, 1, 5, 9), face("b", 2, 7, 1, 8, 2, 8)], session="s1")
    again = Ledger.from_bytes(ledger.to_bytes())
    assert again == ledger
    assert again.to_bytes() == ledger.to_bytes()
    for each in (again, ledger):
        each.feed([face("a", 5, 0, 0, 0, 0, 0)], session="s2")
    assert again == ledger
    assert again.processes["die: a"].evidence > 2**64


def test_the_list_near_the_threshold_has_who_is_conspicuous_now_and_has_not_asked() -> None:
    ledger = Ledger(2026)
    for number in range(5):
        ledger.feed([face(f"d{number}", 10, 10, 10, 10, 10, 10)], session="s")
    assert ledger.near_threshold() == []
    for _ in range(40):
        ledger.feed([face("d4", 3, 2, 2, 2, 2, 1)], session="s")
        if ledger.near_threshold():
            break
    assert ledger.near_threshold() == ["die: d4"]
    assert not ledger.processes["die: d4"].asks()
    assert ledger.processes["die: d4"].e_value >= 50
    ledger.feed([face("d4", 0, 20, 20, 20, 20, 90)], session="s")
    assert ledger.processes["die: d4"].year_highest >= 50 * UNIT  # a highest that is past does not keep it there
    assert ledger.near_threshold() == []


def by_definition(e_values: dict[str, Fraction], rate: Fraction) -> set[str]:
    """Return the largest set of names each of which has an e-value of n / (size × rate) or more."""
    for size in range(len(e_values), 0, -1):
        for names in combinations(e_values, size):
            if all(e_values[name] * size * rate >= len(e_values) for name in names):
                return set(names)
    return set()


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.fractions(0, 100), max_size=6), st.fractions(Fraction(1, 20), 1))
@example({"a": Fraction(10)}, Fraction(1, 10))  # exactly as much as it takes
def test_the_list_near_it_is_the_largest_self_consistent_set(e_values: dict[str, Fraction], rate: Fraction) -> None:
    assert set(near_threshold(e_values, rate)) >= by_definition(e_values, rate)
    size = len(near_threshold(e_values, rate))
    assert all(e_values[name] * size * rate >= len(e_values) for name in near_threshold(e_values, rate))


@settings(deadline=None)
@given(st.lists(st.integers(0, 400), min_size=1, max_size=30))
def test_the_list_near_the_threshold_is_that_of_ville(e_values: list[int]) -> None:
    from ville import evalues  # which imports all of scipy: not while tests are collected

    named = {f"{index:02}": Fraction(value) for index, value in enumerate(e_values)}
    chosen = evalues.ebh([float(value) for value in e_values], alpha=0.1)
    assert set(near_threshold(named)) == {f"{index:02}" for index, is_chosen in enumerate(chosen) if is_chosen}
