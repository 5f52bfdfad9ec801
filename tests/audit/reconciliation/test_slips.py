"""Slips from day to day: holes, reuse, and the days that have to be looked at again; counts that are opened late."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from audit.models import Casino, Finding, NightReport, NightRun, SlipUse
from audit.reconciliation import runs, slips
from audit.reconciliation.slips import EarlierUse, Reached, Use
from settlement.night.notes import Slip
from tests.audit.reconciliation.played import DAY, MORNING, count, record
from tests.audit.reconciliation.test_questions import stream
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

YESTERDAY, TOMORROW = DAY - timedelta(days=1), DAY + timedelta(days=1)


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def night(casino: Casino, day: date, *numbers: str, code: str = "R1", currency: str = "EUR") -> str:
    """Record a session with fills that bear these slips, from seq 2 on; return the name of its stream."""
    fills = [("bank.filled", {"amount": 100, "slip": number}) for number in numbers]
    closed = ("session.closed", {"float": 100_000})
    events = stream(casino, code, [*fills, closed], gaming_day=day.isoformat(), currency=currency)
    record(casino, events)
    return str(events[0]["stream"])


def reconcile(casino: Casino, day: date) -> dict[str, Any]:
    (report,) = runs.reconcile(casino, day, actor="test", now=MORNING + timedelta(days=40))
    return {line["code"]: line for line in report.parsed_content()["lines"]}


def standing(casino: Casino, rule: str) -> list[tuple[date, int, dict[str, Any]]]:
    found = Finding.objects.filter(casino=casino, rule=rule, status="standing").order_by("gaming_day", "seq")
    return [(finding.gaming_day, finding.seq, finding.facts) for finding in found]


def test_a_slip_of_an_earlier_day_is_reused_and_critical(casino: Casino) -> None:
    first = night(casino, YESTERDAY, "F-001", "F-002")
    night(casino, DAY, "F-003", "F-002")
    assert reconcile(casino, YESTERDAY)["slips"]["verdict"] == "agrees"
    lines = reconcile(casino, DAY)
    facts = {"slip": "F-002", "first_stream": first, "first_seq": 3, "first_day": YESTERDAY.isoformat()}
    assert standing(casino, "slip-reused") == [(DAY, 3, facts)]
    assert Finding.objects.get(casino=casino, rule="slip-reused").severity == "critical"
    assert lines["slips"]["verdict"] == "differs"
    assert [row["seqs"] for row in lines["slips"]["rows"] if row["note"] == "reused"] == [[3]]
    assert standing(casino, "slip-number-missing") == []


def test_numbers_missing_between_two_days_are_a_hole_since_the_earlier_one(casino: Casino) -> None:
    night(casino, YESTERDAY, "F-007")
    night(casino, DAY, "F-009", "F-012")
    reconcile(casino, YESTERDAY)
    lines = reconcile(casino, DAY)
    since = YESTERDAY.isoformat()
    assert standing(casino, "slip-number-missing") == [
        (DAY, 2, {"slip": "F-008", "since": since}),
        (DAY, 3, {"slip": "F-010 … F-011"}),
    ]
    holes = {row["note"]: row["facts"] for row in lines["slips"]["rows"] if row["note"].startswith("hole")}
    assert holes["hole_since"] == {"slips": "F-008", "missing": 1, "since": since}
    assert holes["hole"] == {"slips": "F-010 … F-011", "missing": 2}


def test_another_series_another_currency_and_a_later_day_are_apart(casino: Casino) -> None:
    night(casino, YESTERDAY, "F-007", currency="CAD")
    night(casino, YESTERDAY, "G-007", code="R2")
    night(casino, TOMORROW, "F-002")
    night(casino, DAY, "F-002")
    for day in (YESTERDAY, TOMORROW):
        runs.reconcile(casino, day, actor="test", now=MORNING + timedelta(days=40))
    reconcile(casino, DAY)
    assert standing(casino, "slip-number-missing") == standing(casino, "slip-reused") == []


def test_a_night_that_is_reconciled_later_makes_the_next_ones_due(casino: Casino) -> None:
    night(casino, DAY, "F-001", "F-003")
    night(casino, TOMORROW, "F-004")
    reconcile(casino, DAY)
    reconcile(casino, TOMORROW)
    night(casino, YESTERDAY, "F-001", code="R2")  # no closer of R1 makes the next day due
    reconcile(casino, YESTERDAY)
    assert list(NightRun.objects.filter(ended_at=None).values_list("gaming_day", flat=True)) == [DAY]
    reconcile(casino, DAY)
    assert [day for day, _seq, _facts in standing(casino, "slip-reused")] == [DAY]
    assert not NightRun.objects.filter(ended_at=None).exists(), "what a day has used did not change by that"
    assert NightReport.newest(casino, DAY, "EUR") is not None


def test_a_night_that_nobody_has_reported_is_not_begun_for_the_sake_of_its_slips(casino: Casino) -> None:
    night(casino, DAY, "F-001")
    reconcile(casino, DAY)
    night(casino, YESTERDAY, "F-001", code="R2")  # no closer of R1 makes the next day due
    night(casino, TOMORROW, "F-002")
    reconcile(casino, YESTERDAY)
    assert list(NightRun.objects.filter(ended_at=None).values_list("gaming_day", flat=True)) == [DAY]


def test_what_is_kept_follows_the_newest_reading_of_a_session(casino: Casino) -> None:
    name = night(casino, DAY, "F-001", "loose")
    reconcile(casino, DAY)
    kept = SlipUse.objects.filter(casino=casino).order_by("seq").values_list("seq", "slip", "series", "number")
    assert list(kept) == [(2, "F-001", "F-", 1), (3, "loose", "loose", None)]
    late = {"stream": name, "seq": 5, "type": "bank.credited", "occurred_at": f"{DAY}T20:01:00+01:00"}
    record(casino, [{**late, "data": {"amount": 1, "slip": "F-002"}}], next_seq=5)
    reconcile(casino, DAY)
    assert list(kept.all()) == [(2, "F-001", "F-", 1), (3, "loose", "loose", None), (5, "F-002", "F-", 2)]


def test_a_slip_whose_second_reading_was_annulled_is_used_once(casino: Casino) -> None:
    fill: tuple[str, dict[str, Any]] = ("bank.filled", {"amount": 100, "slip": "F-001"})
    annulled = ("entry.annulled", {"annuls": 3, "reason": "read twice", "approved_by": "chef-1"})
    record(casino, stream(casino, "R1", [fill, fill, annulled, ("session.closed", {"float": 100_000})]))
    reconcile(casino, DAY)
    assert list(SlipUse.objects.filter(casino=casino).values_list("seq", "slip")) == [(2, "F-001")]


def test_a_slip_without_a_number_can_be_reused_and_leaves_no_hole(casino: Casino) -> None:
    night(casino, YESTERDAY, "loose")
    night(casino, DAY, "loose")
    reconcile(casino, YESTERDAY)
    reconcile(casino, DAY)
    assert [(day, seq) for day, seq, _facts in standing(casino, "slip-reused")] == [(DAY, 2)]
    assert standing(casino, "slip-number-missing") == []


def test_what_a_series_reached_is_neither_missing_nor_a_hole() -> None:
    def labels(reached: dict[str, Reached], *numbers: str) -> list[tuple[str, str]]:
        used = [Use("s", Slip(seq, "fill", number, 0)) for seq, number in enumerate(numbers, start=1)]
        return [(gap.label, gap.since) for gap in slips.gaps(used, reached)]

    reached = {"F-": Reached(7, "2026-11-18")}
    assert labels(reached, "F-08", "F-09") == []
    assert labels(reached, "F-05", "F-03") == []
    assert labels(reached, "F-05", "F-10") == [("F-08 … F-09", "2026-11-18")]
    assert labels(reached, "F-09", "F-11") == [("F-08", "2026-11-18"), ("F-10", "")]
    assert labels({}, "F-09", "F-11") == [("F-10", "")]


def test_a_slip_reused_twice_in_a_night_is_reused_once_and_doubled_once() -> None:
    used = [Use("s", Slip(seq, "fill", "F-1", 0)) for seq in (2, 3)]
    earlier = {"F-1": EarlierUse("t", 9, "2026-11-01")}
    assert [(each.again.slip.seq, each.earlier.seq) for each in slips.reuses(used, earlier)] == [(2, 9)]
    assert [each.again.slip.seq for each in slips.duplicates(used)] == [3]


# Counts opened late


@pytest.mark.parametrize(
    "days, is_late",
    [
        *((-2, True), (-1, False), (7, False), (8, True)),
        *(pytest.param(days, is_late, marks=pytest.mark.faults) for days, is_late in ((0, False), (30, True))),
    ],
)
def test_a_count_opened_outside_its_time_is_a_finding_at_the_count(casino: Casino, days: int, is_late: bool) -> None:
    name = night(casino, DAY)
    counted = count(casino, {name: 500}, day=DAY + timedelta(days=days))
    record(casino, counted)
    lines = reconcile(casino, DAY + timedelta(days=days))
    found = Finding.objects.filter(casino=casino, rule="count-opened-late")
    facts = {"session": name, "gaming_day": DAY.isoformat(), "days": abs(days)}
    assert [(each.stream.name, each.seq, each.recorded, each.facts, each.severity) for each in found] == (
        [(counted[0]["stream"], 2, 500, facts, "major")] if is_late else []
    )
    notes = [row["note"] for row in lines["drop"]["rows"] if row["stream"] == counted[0]["stream"]]
    assert ("opened_late" in notes) is is_late


def test_a_session_that_nobody_knows_is_unknown_and_not_late(casino: Casino) -> None:
    late = DAY + timedelta(days=9)
    record(casino, count(casino, {"elsewhere.X1.2026-11-19.1": 7, night(casino, DAY): 500}, day=late))
    lines = reconcile(casino, late)
    assert [seq for _day, seq, _facts in standing(casino, "count-opened-late")] == [3]
    assert [row["note"] for row in lines["drop"]["rows"]] == ["stranger", "opened_late"]


def test_a_session_of_another_casino_is_not_counted_late(casino: Casino) -> None:
    other = Tenant().casino
    name = night(other, DAY)
    record(casino, count(casino, {name: 500}, day=DAY + timedelta(days=9)))
    reconcile(casino, DAY + timedelta(days=9))
    assert standing(casino, "count-opened-late") == []
