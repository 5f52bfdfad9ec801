"""Every rule says how much money its finding is about, or that it is about none."""

from __future__ import annotations

import pytest

from settlement.catalogue import RULES
from settlement.catalogue.money import DIFFERENCE, EXPECTED, NO_SUM, RECORDED, SHIFT, amount_about
from settlement.differences import COMMISSIONS, NOT_OWED, PAID
from tests.one_by_one import one_by_one

DEBTS = PAID | COMMISSIONS | NOT_OWED

GROUPS = {
    "debt": DEBTS,
    "difference": DIFFERENCE,
    "recorded": RECORDED,
    "expected": EXPECTED,
    "shift": SHIFT,
    "no sum": NO_SUM,
}


@one_by_one(sorted(RULES))
def test_a_rule_answers_once_and_one_without_an_answer_has_no_amount(name: str) -> None:
    rule = RULES[name]
    answers = [answer for answer, rules in GROUPS.items() if name in rules]
    has_amount = "money" in (rule.expected_is, rule.recorded_is) or rule.facts.get("shift") == "money"
    assert len(answers) == has_amount or (name in DEBTS and len(answers) == 1)
    if name in DIFFERENCE:
        assert (rule.expected_is, rule.recorded_is) == ("money", "money")
    if name in RECORDED:
        assert rule.recorded_is == "money"
    if name in EXPECTED:
        assert rule.expected_is == "money"


def test_no_answer_is_about_a_rule_that_there_is_not() -> None:
    assert not frozenset().union(*GROUPS.values()) - RULES.keys()


@pytest.mark.parametrize(
    ("rule", "expected", "recorded", "facts", "amount"),
    [
        ("accounting-variance", 0, -91_600, {}, 91_600),
        ("accounting-variance", 500, 500, {}, 0),
        ("accounting-variance", None, 500, {}, None),
        ("goodwill-paid", None, 500, {}, 500),
        ("imprisoned-stake-withdrawn", None, 1_000, {}, 1_000),
        ("stake-out-of-limits", 500, 10_000, {}, 10_000),
        ("indivisible-stake", 101, None, {}, 101),
        ("entry-corrected", None, None, {"shift": -700}, 700),
        ("entry-corrected", None, None, {}, None),
        ("payout-missing", 1_000, 0, {}, None),
        ("colour-value-changed", 100, 200, {}, None),
        ("dice-fairness", None, None, {"shift": 5}, None),
    ],
)
def test_the_amount_is_without_a_sign(
    rule: str, expected: int | None, recorded: int | None, facts: dict[str, int], amount: int | None
) -> None:
    assert amount_about(rule, expected, recorded, facts) == amount
