"""What is claimed for a wager is its debt, over every case, example and tape, and over streams that are drawn."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings

from audit.simulation import IRREGULARITIES, play
from settlement import adjudicate, decode
from settlement.events import SessionOpened
from settlement.families import observed
from settlement.rulesets import RULESETS
from tests.one_by_one import one_by_one
from tests.settlement.claims import Faults, unclaimed
from tests.settlement.money_streams import money_streams
from tests.settlement.test_properties import quick, streams

CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "conformance" / "cases.jsonl").read_text().splitlines()
]


def faults(lines: Iterable[str | bytes]) -> Faults:
    lines = list(lines)
    opened = [event for event in map(decode, lines) if isinstance(event, SessionOpened)]
    return unclaimed(adjudicate(lines), observed(opened[0].data.observes) if opened else ())


@quick
@given(streams())
def test_any_stream(stream: list[bytes]) -> None:
    assert faults(stream) == []


@quick
@given(money_streams())
def test_any_money(stream: list[bytes]) -> None:
    assert faults(stream) == []


@pytest.mark.faults
@pytest.mark.parametrize("part", range(20))  # each well within a test's timeout
def test_a_hundred_thousand_streams(part: int) -> None:
    @seed(part)  # without it each part would draw the same streams
    @settings(max_examples=5_000, deadline=None, derandomize=False, database=None)
    @given(money_streams(most=40))
    def check(stream: list[bytes]) -> None:
        assert faults(stream) == []

    check()


@one_by_one(CASES, lambda case: case["id"])
def test_every_conformance_case(case: dict[str, Any]) -> None:
    assert faults(json.dumps(event) for event in case["events"]) == []


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("human", [False, True])
def test_every_irregularity_of_a_simulated_night(ruleset: str, human: bool) -> None:
    names = [name for name, each in IRREGULARITIES.items() if ruleset in each.rulesets]
    session = play(
        ruleset,
        casino="demo",
        code="T1",
        gaming_day=date(2026, 11, 19),
        seed=3,
        coups=60,
        irregularities=names,
        human=human,
    )
    assert faults(json.dumps(event) for event in session.events) == []
