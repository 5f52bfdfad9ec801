"""The house's register of readings: what decides, what a session may not declare, what no reading may say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from settlement import Finding, ShapeError, State, adjudicate, decode
from settlement.register import DEFAULTS, READINGS
from settlement.streams import fold
from tests.settlement.streams import event, opener


def stream_of(
    ruleset: str,
    *rest: tuple[str, dict[str, Any]],
    params: dict[str, Any] | None = None,
    **opened: Any,
) -> list[bytes]:
    first = opener("s", ruleset, **opened, **({} if params is None else {"params": params}))
    return [first, *(event("s", seq, kind, **data) for seq, (kind, data) in enumerate(rest, start=2))]


def placed(wager: str, bet: str = "rouge", stake: int = 1000, **data: Any) -> tuple[str, dict[str, Any]]:
    return "wager.placed", {"wager": wager, "bet": bet, "stake": stake, **data}


def found(findings: list[Finding], rule: str) -> list[tuple[str, Any, Any]]:
    return [(each.severity, each.recorded, each.expected) for each in findings if each.rule == rule]


#    ruleset, params, opener, register, what was declared, what is used
UNLAWFUL = [
    ("fr-roulette", {"zero_rule": "half"}, {}, None, "half", "choice"),
    ("fr-roulette", {"zero_rule": "lose"}, {}, {}, "lose", "choice"),
    ("fr-american-roulette", {"seat_limit": 8}, {}, None, "8", "7"),
    ("fr-american-roulette", {"seat_limit": 8}, {}, {"seat_limit": 5}, "8", "5"),
    ("fr-american-roulette", {"seat_limit": 8}, {}, {"seat_limit": 9}, "9", "7"),
    ("fr-american-roulette", {"seat_limit": 15}, {"double_table": True}, None, "15", "14"),
    ("fr-american-roulette", {}, {}, {"seat_limit": 15, "double_table": True}, "15", "14"),
    ("fr-craps", {"payout_unit": 600}, {"minimum": 500}, None, "600", "1"),
    ("fr-craps", {"payout_unit": 600}, {"minimum": 500}, {"payout_unit": 500}, "600", "500"),
    ("fr-craps", {"payout_unit": 500}, {"minimum": 500}, {"minimum": 400}, "500", "1"),
    ("qc-craps", {"call_tolerance_ms": 1001}, {}, None, "1001", "500"),
    ("fr-roulette", {"result_slip_s": 31}, {}, None, "31", "10"),
    ("fr-craps", {"result_slip_s": 31}, {}, {"result_slip_s": 20}, "31", "20"),
]
LAWFUL = [
    ("fr-roulette", {"zero_rule": "choice"}, {}, None),
    ("fr-american-roulette", {"zero_rule": "choice"}, {}, None),
    ("fr-craps", {"zero_rule": "lose"}, {}, {}),  # nothing to do with the game
    ("fr-american-roulette", {"seat_limit": 7}, {}, None),
    ("fr-american-roulette", {"seat_limit": 14}, {"double_table": True}, None),
    ("fr-craps", {"payout_unit": 500}, {"minimum": 500}, None),
    ("qc-craps", {"call_tolerance_ms": 1000}, {}, None),
    ("qc-craps", {"result_slip_s": 30}, {}, None),
]


@pytest.mark.parametrize(("ruleset", "params", "opened", "register", "recorded", "used"), UNLAWFUL)
def test_no_reading_contradicts_the_text(
    ruleset: str, params: Any, opened: Any, register: Any, recorded: str, used: str
) -> None:
    state = fold([decode(raw) for raw in stream_of(ruleset, params=params, **opened)], register)
    findings = state.adjudication().findings
    assert found(findings, "parameter-unlawful") == [("critical", recorded, used)]
    # A param both unlawful and different is this finding alone.
    assert {finding.rule for finding in findings} == {"parameter-unlawful"}
    (name,) = findings[0].facts["readings"]  # type: ignore[misc]
    assert str(getattr(state.table.session, name)) == used


@pytest.mark.parametrize(("ruleset", "params", "opened", "register"), LAWFUL)
def test_what_the_text_leaves_open_may_be_read_so(ruleset: str, params: Any, opened: Any, register: Any) -> None:
    assert adjudicate(stream_of(ruleset, params=params, **opened), readings=register).findings == []


def test_a_unit_is_held_against_the_smallest_stake_where_there_is_no_minimum() -> None:
    five = {"wager": "b", "bet": "plein", "stake": 500, "numbers": ["3"]}
    rest = [placed("a", stake=1000), ("wager.placed", five), ("ball.settled", {"pocket": "3"})]
    answer = adjudicate(stream_of("fr-roulette", *rest, params={"payout_unit": 1000}))
    assert found(answer.findings, "parameter-unlawful") == [("critical", "1000", "1")]
    assert answer.wagers["b"].winnings_due == 17_500
    events = stream_of("fr-roulette", *rest, params={"payout_unit": 1000})
    again = adjudicate(events, readings={"payout_unit": 500})
    assert found(again.findings, "params-differ-from-register")
    assert not found(again.findings, "parameter-unlawful")
    (both,) = found(adjudicate(events, readings={"payout_unit": 700}).findings, "parameter-unlawful")
    assert both == ("critical", "700", "1")
    # Not in play, not compared; and a minimum is the measure where there is one.
    void = [("wager.placed", five | {"numbers": ["3", "36"]})]
    assert not found(
        adjudicate(stream_of("fr-roulette", *void, params={"payout_unit": 1000})).findings, "parameter-unlawful"
    )
    lower = stream_of("fr-roulette", *rest, params={"payout_unit": 1000}, minimum=1000)
    assert not found(adjudicate(lower).findings, "parameter-unlawful")


def test_a_state_goes_on_comparing_the_unit_after_it_was_saved() -> None:
    events = [decode(raw) for raw in stream_of("fr-roulette", placed("a", stake=500), params={"payout_unit": 1000})]
    state = State()
    state.feed(events[0])
    state = State.from_bytes(state.to_bytes())
    assert [finding.rule for finding in state.feed(events[1])] == ["parameter-unlawful"]


def test_the_register_then_the_default_decides_and_the_session_never() -> None:
    params = {"throw_delay_s": 30, "call_tolerance_ms": 100}
    events = [decode(raw) for raw in stream_of("fr-craps", params=params)]
    sessions = [fold(events, register).table.session for register in (None, {}, {"throw_delay_s": 20})]
    read = [(session.throw_delay_s, session.call_tolerance_ms) for session in sessions if session]
    assert read == [(30, 100), (10, 500), (20, 500)]
    differ = found(fold(events, {"throw_delay_s": 20}).adjudication().findings, "params-differ-from-register")
    assert differ == [("major", "throw_delay_s=30, call_tolerance_ms=100", "throw_delay_s=20, call_tolerance_ms=500")]
    assert fold(events, {"throw_delay_s": 30, "call_tolerance_ms": 100}).adjudication().findings == []
    assert fold(events).adjudication().findings == []


def test_a_default_that_is_declared_still_differs_from_the_register() -> None:
    events = stream_of("fr-craps", params={"payout_unit": 1}, minimum=100)
    answer = adjudicate(events, readings={"payout_unit": 100})
    assert found(answer.findings, "params-differ-from-register") == [("major", "1", "100")]


PRISON = [
    placed("a", stake=400),
    ("ball.settled", {"pocket": "0"}),
    ("zero.decided", {"wager": "a", "choice": "prison"}),
    ("ball.settled", {"pocket": "0"}),
    ("zero.decided", {"wager": "a", "choice": "prison"}),
]
FREED = ("ball.settled", {"pocket": "3"})
FULL = {"release_value": "full"}


def test_it_is_critical_where_a_payment_would_be_another() -> None:
    def severity(*rest: tuple[str, dict[str, Any]]) -> str:
        answer = adjudicate(stream_of("fr-roulette", *rest, params=FULL), readings={})
        ((severity, *_),) = found(answer.findings, "params-differ-from-register")
        return severity

    assert severity(*PRISON) == "major"
    assert severity(*PRISON, FREED) == "critical"
    assert severity(*PRISON, FREED, ("ball.settled", {"pocket": "5"}), ("session.closed", {"float": 0})) == "critical"
    assert severity(*PRISON, ("ball.settled", {"pocket": "2"})) == "major"  # lost either way


@pytest.mark.parametrize("page", [1, 3, 100])
def test_in_pages_it_is_told_when_it_is_found(page: int) -> None:
    events = [
        decode(raw) for raw in stream_of("fr-roulette", *PRISON, FREED, ("ball.settled", {"pocket": "5"}), params=FULL)
    ]
    state, given, retired = State(readings={}), [], {}
    for low in range(0, len(events), page):
        some = events[low : low + page]
        state.recall(retired.pop(wager) for wager in state.unheld(some) & retired.keys())
        given += [*state.feed_all(some)]
        state.forget_findings()
        retired |= {wager.id: wager for wager in state.retire()}
        given += state.revised()
        state = State.from_bytes(state.to_bytes(), readings={})
    severities = [finding.severity for finding in given if finding.rule == "params-differ-from-register"]
    assert severities == (["major", "critical"])


def test_in_pages_a_wager_is_compared_although_the_register_has_settled_it_before() -> None:
    rest = [placed("a", stake=400), *PRISON[1:3], FREED, ("ball.settled", {"pocket": "5"})]
    events = [decode(raw) for raw in stream_of("fr-american-roulette", *rest, params={"zero_rule": "choice"})]
    state, given = State(readings={}), []
    for each in events:
        given += state.feed(each)
        state.forget_findings()
        state.retire()
        given += state.revised()
        state = State.from_bytes(state.to_bytes(), readings={})
    severities = [finding.severity for finding in given if finding.rule == "params-differ-from-register"]
    assert severities == ["major", "critical"]


def test_a_table_observes_what_it_owes() -> None:
    events = stream_of("fr-craps", observes=["calls"])
    answer = adjudicate(events, readings={"families": ["custody", "calls", "staff"]})
    (finding,) = answer.findings
    assert (finding.rule, finding.severity, finding.facts["families"]) == (
        "observes-less-than-owed",
        "major",
        ["custody", "staff"],
    )
    assert adjudicate(events, readings={"families": ["calls"]}).findings == []
    assert adjudicate(events).findings == []


def test_the_register_says_whether_a_table_is_double() -> None:
    events = [decode(raw) for raw in stream_of("fr-american-roulette", double_table=True)]
    state = fold(events, {"double_table": False})
    assert state.table.session is not None
    assert state.table.session.seat_limit == 7
    assert [finding.rule for finding in state.table.findings] == ["params-differ-from-register"]
    silent = fold(events, {}).table.session
    assert silent is not None
    assert silent.seat_limit == 14


def test_limits_are_facts_of_the_table_which_the_register_may_cap() -> None:
    opened = {"minimum": 500, "params": {"maximum": {"win": 9000, "field": 100}}}
    events = [decode(opener("s", "fr-craps", **opened))]
    session = fold(events, {"maximum": {"win": 5000, "come": 4000}, "minimum": 300}).table.session
    assert session is not None
    assert session.maximum == {"win": 5000, "field": 100, "come": 4000}
    assert session.minimum == 300
    session = fold(events, {"maximum": {"win": 10_000}, "minimum": 700}).table.session
    assert session is not None
    assert session.maximum == {"win": 9000, "field": 100}
    assert session.minimum == 500


#    ruleset, how it is read, and what a payment is
BY_ANOTHER_READING = [
    ("fr-american-roulette", {"zero_rule": "lose"}, 500, "zero_rule"),
    ("fr-american-roulette", {"zero_rule": "half"}, 0, "zero_rule"),
    ("fr-american-roulette", {"zero_rule": "lose"}, 400, None),
    ("fr-american-roulette", {"zero_rule": "half"}, 400, None),
]


@pytest.mark.parametrize(("ruleset", "params", "returned", "reading"), BY_ANOTHER_READING)
def test_what_another_reading_makes_right_breaks_no_text(
    ruleset: str, params: dict[str, Any], returned: int, reading: str | None
) -> None:
    paid = ("payout.made", {"wager": "a", "winnings": 0, "stake_returned": returned})
    rest = [placed("a"), ("ball.settled", {"pocket": "00"}), paid, FREED]
    for decided_by, given in ((params, None), ({}, params)):
        answer = adjudicate(stream_of(ruleset, *rest, params=decided_by), readings=given)
        (finding,) = answer.findings
        by_the_casino = given is not None
        softened = reading is not None and not by_the_casino
        assert finding.severity == ("major" if softened else "critical")
        assert ("Another reading" in finding.message("en")) is softened
        assert ("(effet du zéro sur les chances simples)" in finding.message("fr")) is softened


def test_where_the_text_says_what_a_zero_does_no_other_reading_makes_a_payment_right() -> None:
    zero = ("ball.settled", {"pocket": "0"})
    chosen = [("zero.decided", {"wager": "a", "choice": choice}) for choice in ("prison", "half")]
    paid = ("payout.made", {"wager": "a", "winnings": 0, "stake_returned": 500})  # half of the stake after two zeros
    (finding,) = adjudicate(
        stream_of("fr-roulette", placed("a"), zero, chosen[0], zero, chosen[1], paid, FREED)
    ).findings
    assert (finding.rule, finding.severity) == ("half-refund-mismatch", "critical")
    assert "reading" not in finding.facts


@pytest.mark.parametrize(("register", "severity"), [(None, "major"), ({}, "major"), (FULL, "critical")])
@pytest.mark.parametrize("winnings", [0, 5])
def test_so_does_the_value_of_a_stake_on_its_release(register: Any, severity: str, winnings: int) -> None:
    is_full = register == FULL
    paid = ("payout.made", {"wager": "a", "winnings": winnings, "stake_returned": 200 if is_full else 400})
    answer = adjudicate(stream_of("fr-roulette", *PRISON, FREED, paid, FREED), readings=register)
    severities = {finding.rule: finding.severity for finding in answer.findings}
    assert severities["imprisoned-value-not-halved"] == ("critical" if winnings else severity)


@pytest.mark.parametrize("register", [{"zero": "half"}, {"payout_unit": 0}, {"families": ["nothing"]}])
def test_a_register_says_what_there_is_to_say(register: dict[str, Any]) -> None:
    with pytest.raises(ShapeError):
        adjudicate([], readings=register)


def test_every_reading_has_a_default_or_is_of_its_ruleset() -> None:
    assert set(READINGS) - set(DEFAULTS) == {"zero_rule", "seat_limit", "maximum"}


@pytest.mark.parametrize(
    ("day", "found_on"), [("2007-05-16", True), ("2007-05-17", True), ("2007-05-18", False), ("2026-01-01", False)]
)
def test_the_days_in_force_of_the_arrete_of_2007(day: str, found_on: bool) -> None:
    answer = adjudicate([opener("s", "fr-craps", gaming_day=day)])
    assert [finding.rule for finding in answer.findings] == ["ruleset-not-in-force"] * found_on
    for finding in answer.findings:
        text = json.dumps(finding.as_dict()["message"], ensure_ascii=False).replace("\N{NO-BREAK SPACE}", " ")
        assert "18 May 2007" in text
        assert "or 17 May 2007 by a public database" in text
        assert "depuis le 18 mai 2007" in text
