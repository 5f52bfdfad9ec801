"""The conformance cases: recorded sessions and the answer to each, judged as README.md says.

Every case is a test of its own, by its id: ``pytest tests/conformance -k CR-A1-after-point``. The cases are read from
``$CABOCHON_CONFORMANCE`` (a folder, or its ``cases.jsonl``) if it is set, else from the copy in this folder.
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
from settlement.events import EntryCorrected

HERE = Path(__file__).parent


def folder() -> Path:
    chosen = os.environ.get("CABOCHON_CONFORMANCE")
    if not chosen:
        return HERE
    path = Path(chosen)
    return path if path.is_dir() else path.parent


SCHEMA = json.loads((folder() / "case.schema.json").read_text())
CASES: list[dict[str, Any]] = [json.loads(line) for line in (folder() / "cases.jsonl").read_text().splitlines()]


def case_id(case: dict[str, Any]) -> str:
    return str(case["id"])


def decoded(case: dict[str, Any]) -> list[Event]:
    return [decode(json.dumps(event)) for event in case["events"]]


def has_its_own_order(case: dict[str, Any]) -> bool:
    """Whether one seq comes twice: of two contents the first counts, so that the order is part of the case."""
    return len({event["seq"] for event in case["events"]}) < len(case["events"])


def judge(answer: Adjudication, expected: dict[str, Any]) -> None:
    """Fail if ``answer`` is not what a case expects: three values of each wager, and every finding, no other."""
    given = answer.as_dict()
    for wager, values in expected["wagers"].items():
        assert {name: given["wagers"][wager][name] for name in values} == values, wager
    unexpected = [(finding["rule"], finding["seq"], finding.get("wager")) for finding in given["findings"]]
    for finding in expected["findings"]:
        rule, seq, wager = finding["rule"], finding["seq"], finding.get("wager")
        # A finding that is expected without a wager may name one or none.
        match = next((each for each in unexpected if each[:2] == (rule, seq) and wager in (None, each[2])), None)
        assert match is not None, f"missing: {rule} at {seq} on {wager}"
        unexpected.remove(match)
    assert unexpected == []


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_as_a_whole_in_reverse_order_and_resumed_at_every_event(case: dict[str, Any]) -> None:
    judge(adjudicate(json.dumps(event) for event in case["events"]), case["expected"])
    if not has_its_own_order(case):
        judge(adjudicate(reversed(decoded(case))), case["expected"])
    judge(resumed(decoded(case)), case["expected"])


def resumed(recorded: list[Event]) -> Adjudication:
    """Return the answer to events of which each is fed to a state that was stored and read again."""
    first: dict[int, Event] = {}
    for event in recorded:
        first.setdefault(event.seq, event)
    events = [first[seq] for seq in sorted(first)]
    state = State()
    for index, event in enumerate(events):
        try:
            state.feed(event)
        except NeedsReplay:  # a correction: replay with all that are known by now
            known = events[: index + 1]
            state = State(each for each in known if isinstance(each, EntryCorrected))
            state.feed_all(known)
        state = State.from_bytes(state.to_bytes())
    return state.adjudication()


def test_the_cases_have_the_shape_of_their_schema() -> None:
    check = jsonschema.Draft202012Validator(SCHEMA)
    for case in CASES:
        check.validate(case)


def test_no_case_is_lost() -> None:
    assert len(CASES) >= 409
    assert Counter(case["id"] for case in CASES).most_common(1)[0][1] == 1
    assert {case["ruleset"] for case in CASES} == {"fr-craps", "qc-craps", "fr-roulette", "fr-american-roulette"}
