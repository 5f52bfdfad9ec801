"""Every recorded session of the conformance file, judged as its README says, in one run and cut anywhere.

The file is read from ``$CABOCHON_CONFORMANCE`` if it is set, else from the copy that lies here.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from settlement import Adjudication, Event, NeedsReplay, State, adjudicate, decode

HERE = Path(__file__).parent


def folder() -> Path:
    chosen = os.environ.get("CABOCHON_CONFORMANCE")
    if not chosen:
        return HERE
    path = Path(chosen)
    return path if path.is_dir() else path.parent


SCHEMA = json.loads((folder() / "case.schema.json").read_text())
CASES: list[dict[str, Any]] = [json.loads(line) for line in (folder() / "cases.jsonl").read_text().splitlines()]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def judge(answer: Adjudication, expected: dict[str, Any]) -> None:
    """Fail where ``answer`` is not what a case expects: three values of each wager, and every finding, no other."""
    given = answer.as_dict()
    for wager, values in expected["wagers"].items():
        assert {name: given["wagers"][wager][name] for name in values} == values, wager
    found = [(finding["rule"], finding["seq"], finding.get("wager")) for finding in given["findings"]]
    for finding in expected["findings"]:
        rule, seq, wager = finding["rule"], finding["seq"], finding.get("wager")
        # A finding that is expected without a wager may name one or none.
        match = next((each for each in found if each[:2] == (rule, seq) and wager in (None, each[2])), None)
        assert match is not None, f"missing: {rule} at {seq} on {wager}"
        found.remove(match)
    assert found == [], "found, and not expected"


@each_case
def test_case(case: dict[str, Any]) -> None:
    judge(adjudicate(json.dumps(event) for event in case["events"]), case["expected"])


@each_case
def test_case_in_reverse_order(case: dict[str, Any]) -> None:
    events = [decode(json.dumps(event)) for event in case["events"]]
    if len({event.seq for event in events}) < len(events):
        pytest.skip("of two contents of one seq the first counts: this order is part of the case")
    judge(adjudicate(reversed(events)), case["expected"])


@each_case
def test_case_cut_everywhere_and_taken_up_again(case: dict[str, Any]) -> None:
    by_seq: dict[int, Event] = {}
    for event in (decode(json.dumps(event)) for event in case["events"]):
        by_seq.setdefault(event.seq, event)
    state = State()
    for seq in sorted(by_seq):
        try:
            state.feed(by_seq[seq])
        except NeedsReplay:
            pytest.skip("a correction changes what was folded before it: the stream is replayed, not resumed")
        state = State.from_bytes(state.to_bytes())
    judge(state.adjudication(), case["expected"])


def test_the_cases_have_the_shape_of_their_schema() -> None:
    check = jsonschema.Draft202012Validator(SCHEMA)
    for case in CASES:
        check.validate(case)


def test_no_case_was_lost() -> None:
    assert len(CASES) >= 409
    assert Counter(case["id"] for case in CASES).most_common(1)[0][1] == 1
    assert {case["ruleset"] for case in CASES} == {"fr-craps", "qc-craps", "fr-roulette", "fr-american-roulette"}
