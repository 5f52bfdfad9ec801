"""A night: its bridge, its lines, its findings, in the days that are no usual ones, too."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from audit.models import Casino, Finding, NightReport
from audit.reconciliation import runs
from audit.reconciliation.gaming_days import bounds, day_of, last_ended
from tests.audit.reconciliation.played import DAY, MORNING, Events, buy_ins, count, inserted, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def reported(casino: Casino, day: date = DAY, now: datetime = MORNING) -> dict[str, Any]:
    (report,) = runs.reconcile(casino, day, actor="test", now=now)
    return {**report.parsed_content(), "state": report.state}


def standing(casino: Casino, rule: str) -> list[Finding]:
    return list(Finding.objects.filter(casino=casino, rule=rule, status="standing").order_by("stream_id", "seq"))


def line(content: dict[str, Any], code: str) -> dict[str, Any]:
    return next(each for each in content["lines"] if each["code"] == code)


def play_and_count(casino: Casino, events: Events, **drop: int) -> None:
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: drop.get("drop", buy_ins(events))}))


def test_an_orderly_night_closes_with_nothing_but_luck(casino: Casino) -> None:
    events = session(casino, "R1")
    play_and_count(casino, events)
    seal()
    content = reported(casino)
    total = content["total"]
    assert content["state"] == "provisional"
    assert total["W_acct"] == total["W_rec"] == total["W_adj"]
    assert total["bridge"]["theoretical"] + total["bridge"]["luck"] == total["W_acct"]
    assert (total["bridge"]["payout_errors"], total["bridge"]["accounting_variance"]) == (0, 0)
    assert total["D"] == total["B"] == buy_ins(events)
    assert content["watermark"]["size"] > 0
    assert len(content["watermark"]["root"]) == 64
    for code in ("completeness", "slips", "drop", "accounting", "payouts", "limits", "standing", "late"):
        assert line(content, code)["verdict"] == "agrees", line(content, code)
    assert not Finding.objects.filter(casino=casino, rule__in=["accounting-variance", "count-missing"]).exists()


@pytest.mark.parametrize("amount, severity", [(9_999, "major"), (10_000, "critical"), (-10_000, "critical")])
def test_a_variance_is_critical_from_a_hundred_units_on(casino: Casino, amount: int, severity: str) -> None:
    events = session(casino, "R1")
    play_and_count(casino, events, drop=buy_ins(events) + amount)
    content = reported(casino)
    assert content["total"]["bridge"]["accounting_variance"] == amount
    (finding,) = standing(casino, "accounting-variance")
    assert (finding.severity, finding.recorded - finding.expected) == (severity, amount)
    assert finding.seq == next(event["seq"] for event in events if event["type"] == "session.closed")
    assert "variance is" in finding.as_value().message("en")


def test_a_hundred_yen_are_a_hundred_minor_units(casino: Casino) -> None:
    events = session(casino, "R1", currency="JPY")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events) + 100}, currency="JPY"))
    reported(casino)
    assert standing(casino, "accounting-variance")[0].severity == "critical"


def test_a_missing_count_is_found_and_superseded_when_it_comes(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    assert reported(casino)["state"] == "counting"
    (finding,) = standing(casino, "count-missing")
    assert finding.severity == "major"
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    assert reported(casino)["state"] == "provisional"
    assert not standing(casino, "count-missing")
    assert Finding.objects.get(pk=finding.pk).superseded_at is not None


def test_before_the_day_is_over_no_count_is_missing(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    content = reported(casino, now=datetime(2026, 11, 20, 4, 59, tzinfo=UTC))
    assert content["state"] == "open"
    assert not standing(casino, "count-missing")


def test_a_table_opens_with_what_it_was_closed_with(casino: Casino) -> None:
    first = session(casino, "R1", day=DAY - timedelta(days=1))
    closing = next(event["data"]["float"] for event in first if event["type"] == "session.closed")
    record(casino, first)
    record(casino, session(casino, "R1", float=closing + 7))
    content = reported(casino)
    (finding,) = standing(casino, "opener-differs-from-closer")
    assert (finding.seq, finding.expected, finding.recorded) == (1, closing, closing + 7)
    assert finding.facts == {"previous_stream": first[0]["stream"]}
    assert line(content, "opener")["verdict"] == "differs"


def test_holes_and_doubles_among_slips(casino: Casino) -> None:
    events = session(casino, "R1")
    for index, slip in enumerate(["F-001", "F-002", "F-005", "F-002", "loose", "loose"], start=5):
        events = inserted(events, index, "bank.filled", {"amount": 0, "slip": slip})
    record(casino, events)
    other = inserted(session(casino, "R2", seed=2), 5, "bank.credited", {"amount": 0, "slip": "F-001"})
    record(casino, other)
    content = reported(casino)
    missing = standing(casino, "slip-number-missing")
    assert [(finding.seq, finding.facts["slip"]) for finding in missing] == [(8, "F-003 … F-004")]
    doubled = standing(casino, "slip-number-duplicated")
    assert [(finding.seq, finding.facts["slip"]) for finding in doubled] == [(9, "F-002"), (11, "loose"), (6, "F-001")]
    assert doubled[0].evidence == [7, 9]
    assert {finding.severity for finding in doubled} == {"critical"}
    assert line(content, "slips")["verdict"] == "differs"


def test_a_slip_from_far_away_is_one_hole_not_a_million(casino: Casino) -> None:
    events = inserted(session(casino, "R1"), 5, "bank.filled", {"amount": 0, "slip": "7"})
    events = inserted(events, 6, "bank.filled", {"amount": 0, "slip": "99999999999999999999"})
    events = inserted(events, 7, "bank.filled", {"amount": 0, "slip": "999999999999999"})
    record(casino, events)
    reported(casino)
    assert len(standing(casino, "slip-number-missing")) == 1


def test_a_drop_for_a_session_that_nobody_knows_is_shown(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events), "elsewhere.X1": 500}))
    rows = line(reported(casino), "drop")["rows"]
    assert [(row["note"], row["found"]) for row in rows if row["verdict"] == "differs"] == [("stranger", 500)]


def test_two_boxes_are_added_and_a_recount_corrects(casino: Casino) -> None:
    events = session(casino, "R1")
    record(casino, events)
    name = events[0]["stream"]
    counted = count(casino, {name: buy_ins(events) - 300}, closed=False)
    counted += [{**counted[1], "seq": 3, "data": {**counted[1]["data"], "amount": 100}}]
    right = {**counted[1]["data"], "amount": 300}
    reason = {"corrects": 3, "data": right, "reason": "recounted", "approved_by": "Ida"}
    counted += [{**counted[1], "seq": 4, "type": "entry.corrected", "data": reason}]
    record(casino, counted)
    assert reported(casino)["total"]["bridge"]["accounting_variance"] == 0


def test_a_casino_whose_day_ends_at_six_and_a_session_across_midnight(casino: Casino) -> None:
    assert casino.cutoff == time(6)
    assert day_of(casino, datetime(2026, 11, 20, 4, 59, tzinfo=UTC)) == DAY  # 05:59 in Paris
    assert day_of(casino, datetime(2026, 11, 20, 5, 0, tzinfo=UTC)) == DAY + timedelta(days=1)
    assert last_ended(casino, datetime(2026, 11, 20, 4, 59, tzinfo=UTC)) == DAY - timedelta(days=1)
    events = session(casino, "R1", coups=12)
    for event in events[len(events) // 2 :]:
        event["occurred_at"] = event["occurred_at"].replace("2026-11-19T2", "2026-11-20T0")
    play_and_count(casino, events)
    content = reported(casino)
    assert content["sessions"][0]["closed_at"].startswith("2026-11-20T0")
    assert content["total"]["bridge"]["accounting_variance"] == 0
    (empty,) = runs.reconcile(casino, DAY + timedelta(days=1), actor="test", now=MORNING + timedelta(days=1))
    assert empty.parsed_content()["sessions"] == []


@pytest.mark.parametrize("day, hours", [(date(2026, 3, 28), 23), (date(2026, 10, 24), 25), (DAY, 24)])
@pytest.mark.parametrize("cutoff", [time(6), time(2, 30)])
def test_a_day_of_a_clock_change_has_23_or_25_hours(casino: Casino, cutoff: time, day: date, hours: int) -> None:
    casino.cutoff = cutoff
    if cutoff == time(2, 30) and hours != 24:
        # The cutoff itself is leapt over, or comes twice: days still follow one another without hole or overlap.
        assert bounds(casino, day).end == bounds(casino, day + timedelta(days=1)).begin
        both = bounds(casino, day).length + bounds(casino, day + timedelta(days=1)).length
        assert both == timedelta(hours=24 + hours)
        return
    assert bounds(casino, day).length == timedelta(hours=hours)
    begin, end = bounds(casino, day)
    for moment in (begin, end - timedelta(microseconds=1)):
        assert day_of(casino, moment) == day
    assert day_of(casino, end) == day + timedelta(days=1)


@pytest.mark.parametrize("day, hours", [(date(2026, 3, 28), 23), (date(2026, 10, 24), 25)])
def test_a_night_of_a_clock_change_closes(casino: Casino, day: date, hours: int) -> None:
    events = session(casino, "R1", day=day, coups=15)
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, day=day))
    content = reported(casino, day, datetime.combine(day, time(12), UTC) + timedelta(days=1))
    assert content["hours"] == hours
    assert content["total"]["bridge"]["accounting_variance"] == 0


def test_two_currencies_are_two_reports_and_never_one_sum(casino: Casino) -> None:
    euros, dollars = session(casino, "R1"), session(casino, "R2", seed=2, currency="CAD")
    for events, currency in ((euros, "EUR"), (dollars, "CAD")):
        record(casino, events)
        record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, currency=currency))
    cad, eur = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert (cad.currency, eur.currency) == ("CAD", "EUR")
    for report, events in ((cad, dollars), (eur, euros)):
        content = report.parsed_content()
        assert [each["stream"] for each in content["sessions"]] == [events[0]["stream"]]
        assert content["total"]["bridge"]["accounting_variance"] == 0


def test_an_empty_night_is_reported_as_empty(casino: Casino) -> None:
    content = reported(casino)
    assert (content["state"], content["currency"], content["sessions"]) == ("provisional", "XXX", [])
    assert content["total"]["W_acct"] == 0
    assert sum(content["total"]["bridge"].values()) == 0


def test_a_session_left_open_stays_open_and_needs_a_signoff_exception(casino: Casino) -> None:
    events = [event for event in session(casino, "R1") if event["type"] != "session.closed"]
    record(casino, events)
    content = reported(casino)
    assert content["state"] == "open"
    assert "session-open" in content["needs"]
    assert line(content, "completeness")["rows"][0]["note"] == "still_open"


def test_losses_and_unobserved_families_are_said(casino: Casino) -> None:
    record(casino, session(casino, "C1", ruleset="fr-craps", irregularities=["events-lost"], observes=["calls"]))
    content = reported(casino)
    assert line(content, "completeness")["rows"][0]["note"] == "lost"
    assert "gap" in content["needs"]
    unobserved, law = line(content, "unchecked")["rows"]
    assert unobserved["facts"]["families"] == ["bank", "collections", "custody", "marker"]
    assert (law["verdict"], law["note"]) == ("unknown", "law_in_part")
    assert law["facts"] == {"lacking": "collections, custody, marker"}
    assert 0 < law["found"] < law["expected"]


def test_a_table_that_reports_everything_has_every_sentence_with_a_rule_checked(casino: Casino) -> None:
    record(casino, session(casino, "R1"))
    (law,) = line(reported(casino), "unchecked")["rows"]
    assert (law["verdict"], law["note"], law["facts"]) == ("agrees", "law", {})
    assert law["found"] == law["expected"] > 10


def test_by_hand(casino: Casino) -> None:
    play_and_count(casino, session(casino, "R1"))
    out = StringIO()
    call_command("reconcile", "--casino", casino.code, "--day", DAY.isoformat(), stdout=out)
    assert "version 1" in out.getvalue()
    assert " 5 accounting     agrees" in out.getvalue()
    assert NightReport.objects.filter(casino=casino).count() == 1
