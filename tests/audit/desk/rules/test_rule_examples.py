"""The examples on the page of a rule: judged by the engine again, made from the tapes, and as a reader sees them."""

from __future__ import annotations

import re
from html import unescape
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
from django.urls import reverse
from django.utils import translation

from audit.desk.rules.examples import FILE, TITLES, Examples, envelopes, examples_of, shown_of
from settlement import Finding, adjudicate
from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount_in_prose
from tests.audit.desk.rules.test_rules_page import desk_of
from tests.audit.tables import Tenant

ROWS = [msgspec.json.decode(line, type=Examples) for line in FILE.read_bytes().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_first_example_of_a_rule_fires_and_the_others_do_not(row: Examples) -> None:
    rules = [
        {each.rule for each in adjudicate(map(msgspec.json.encode, envelopes(example)), readings=row.readings).findings}
        for example in row.examples
    ]
    first, *others = rules
    assert row.rule in first
    assert row.examples[0].kind == "fires"
    assert not [each for each in others if row.rule in each]
    for example, found in zip(row.examples[1:], others, strict=True):
        if example.others:
            assert set(example.others) <= found


def test_every_rule_that_a_stream_without_a_gap_can_break_has_an_example() -> None:
    of_streams = {name for name, rule in RULES.items() if rule.raised_by != "record"}
    # Three are about numbers that are missing or come twice; the last finds a fault of the engine, and none is known.
    numbered = {"sequence-gap", "sequence-conflict", "events-lost"}
    assert of_streams - {row.rule for row in ROWS} == {*numbered, "ledger-imbalance"}


def test_every_rule_that_a_tape_raises_has_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file need not be made anew for each tape: what is in it is held against the engine above."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[4] / ".ci"))
    tool = import_module("rule_examples")
    raised = {rule for stream in tool.streams() for rule in tool.adjudicated(stream).rules}
    assert sorted(raised - {row.rule for row in ROWS}) == [], "make rule-examples"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "words"),
    [
        pytest.param(
            "en",
            [
                "When it fires, and when it does not",
                "It fires",
                "fires",
                "silent",
                "It was paid in time",
                "(completes)",
            ],
            marks=pytest.mark.faults,
        ),
        ("fr", ["Quand elle se déclenche, et quand non", "Elle se déclenche", "muette", "Payé à temps", "(complète)"]),
    ],
)
def test_a_reader_sees_when_a_rule_fires_and_when_it_does_not(language: str, words: list[str]) -> None:
    address = reverse("admin:rule", args=("payout-missing",))
    page = desk_of(Tenant()).get(address, headers={"accept-language": language}).content.decode()
    section = page[page.index('id="examples"') :]
    section = unescape(re.sub(r"<[^>]+>", " ", section[: section.index("</section>")]))
    assert [each for each in words if each not in section] == []
    assert section.count("20:00:") >= 2 * len(examples_of("payout-missing").examples)  # type: ignore[union-attr]


@pytest.mark.django_db
def test_a_rule_of_the_record_alone_has_no_examples() -> None:
    name = next(name for name, rule in RULES.items() if rule.raised_by == "record")
    page = desk_of(Tenant()).get(reverse("admin:rule", args=(name,))).content.decode()
    assert 'id="examples"' not in page


@pytest.mark.django_db
def test_a_rule_that_rests_on_the_bet_shows_the_clause_of_its_example() -> None:
    page = desk_of(Tenant()).get(reverse("admin:rule", args=("payout-missing",))).content.decode()
    law = page[page.index('id="law"') : page.index('id="often"')]
    assert "For the bet in the first example:" in law
    assert "<mark>" in law


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_example_is_called_by_what_makes_the_difference(language: str) -> None:
    """No caption is the tool's: what a colleague would say has words for every kind of difference that there is."""
    with translation.override(language):
        tools = {str(title) for kind, title in TITLES.items() if kind != "fires"}
        shown = {row.rule: shown_of(row.rule) for row in ROWS}
        assert {rule for rule, examples in shown.items() if tools & {each.title for each in examples}} == set()
        for rule, (first, *_others) in shown.items():
            assert first.reason == adjudicated(rule).message(language, amount_in_prose), "what the officer reads of it"
    assert len({each.title for examples in shown.values() for each in examples}) > 60


def adjudicated(rule: str) -> Finding:
    row = next(each for each in ROWS if each.rule == rule)
    findings = adjudicate(map(msgspec.json.encode, envelopes(row.examples[0])), readings=row.readings).findings
    return next(each for each in findings if each.rule == rule)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_every_rule_has_one_example_that_fires_and_two_near_ones_that_differ(row: Examples) -> None:
    assert [each.kind for each in row.examples].count("fires") == 1
    assert len(row.examples) >= 3
    assert len({msgspec.json.encode(envelopes(each)) for each in row.examples}) == len(row.examples)


def test_no_rule_is_shown_silent_because_nothing_is_judged() -> None:
    """A session of an unknown ruleset breaks no other rule: that says nothing about it."""
    near = {row.rule: [name for each in row.examples[1:] for name in each.others] for row in ROWS}
    assert [rule for rule, others in near.items() if "unknown-ruleset" in others and rule != "unknown-ruleset"] == []


@pytest.mark.parametrize("language", ["en", "fr"])
def test_where_another_rule_speaks_it_is_named(language: str) -> None:
    with translation.override(language):
        others = [each for row in ROWS for each in shown_of(row.rule) if each.others and not each.fires]
        assert len(others) > 20
        assert [each.reason for each in others if any(title not in each.reason for title in each.others)] == []
