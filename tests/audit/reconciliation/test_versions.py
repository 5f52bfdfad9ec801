"""Versions and signatures: content never changes, and two officers answer for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone, translation

from audit.casework import actions
from audit.event_store import audit_trail
from audit.models import Casino, Deadline, Finding, NightReport, NightState, Officer, Role, SignoffException
from audit.reconciliation import runs, wording
from audit.reconciliation.versions import SignatureRefused, add_signoff_exception, missing_signoff_exceptions, sign
from tests.audit.casework.test_actions import hired
from tests.audit.corrections.corrections_desk import approve
from tests.audit.reconciliation.played import DAY, MORNING, Events, buy_ins, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


@pytest.fixture
def officers(db: None) -> tuple[Officer, Officer]:
    return Officer.objects.create_user("ada"), Officer.objects.create_user("bob")


@pytest.fixture
def played(casino: Casino) -> Events:
    events = session(casino, "R1")
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, closed=False))
    seal()
    return events


def reconciled(casino: Casino) -> NightReport:
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return report


def refused(report: NightReport, officer: Officer, code: str) -> None:
    with pytest.raises(SignatureRefused) as error:
        sign(report, officer=officer, now=MORNING)
    assert error.value.code == code


def append(casino: Casino, events: Events, seq: int, kind: str, **data: Any) -> None:
    event = {**events[-1], "seq": seq, "type": kind, "data": data}
    event.pop("actor", None)
    record(casino, [event])


def test_the_same_inputs_are_the_same_version_and_the_same_bytes(casino: Casino, played: Events) -> None:
    first = reconciled(casino)
    again = reconciled(casino)
    assert (again.pk, again.version) == (first.pk, 1)
    assert bytes(again.content) == bytes(first.content)


def test_two_different_officers_sign(casino: Casino, played: Events, officers: tuple[Officer, Officer]) -> None:
    ada, bob = officers
    report = reconciled(casino)
    reviewed = sign(report, officer=ada, now=MORNING)
    assert (reviewed.state, reviewed.reviewed_by) == (NightState.REVIEWED, ada)
    refused(report, ada, "another-officer")
    closed = sign(report, officer=bob, now=MORNING)
    assert (closed.state, closed.closed_by, closed.reviewed_by) == (NightState.CLOSED, bob, ada)
    refused(report, ada, "closed")
    entries = audit_trail.entries_of(casino.pk, timezone.now().date())
    types = [entry.type for entry in entries if entry.type.startswith("night.")]
    assert types == [
        "night.started",
        "night.reported",
        "night.ended",
        "night.reviewed",
        "night.signature_refused",
        "night.closed",
        "night.signature_refused",
    ]


@pytest.mark.superuser
def test_the_database_holds_four_eyes_by_itself(
    casino: Casino, played: Events, officers: tuple[Officer, Officer]
) -> None:
    report = sign(reconciled(casino), officer=officers[0], now=MORNING)
    with pytest.raises(IntegrityError, match=r"night_signed_by_two|signed by two people"), transaction.atomic():
        NightReport.objects.filter(pk=report.pk).update(state="closed", closed_by=officers[0])
    with pytest.raises(IntegrityError, match="night_state_is_its_signatures"), transaction.atomic():
        NightReport.objects.filter(pk=report.pk).update(state="closed")


@pytest.mark.superuser
def test_the_content_of_a_report_is_never_changed(casino: Casino, played: Events) -> None:
    report = reconciled(casino)
    changes: list[dict[str, Any]] = [{"content": b"{}"}, {"digest": "0" * 64}, {"tree_root": "1"}, {"sheet": [1]}]
    for change in (*changes, {"version": 7}):
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            NightReport.objects.filter(pk=report.pk).update(**change)


@pytest.mark.superuser
def test_a_closed_report_never_changes(casino: Casino, played: Events, officers: tuple[Officer, Officer]) -> None:
    report = reconciled(casino)
    for officer in officers:
        report = sign(report, officer=officer, now=MORNING)
    rows = NightReport.objects.filter(pk=report.pk)
    with pytest.raises(DatabaseError, match="closed report"), transaction.atomic():
        rows.update(state="provisional", reviewed_by=None, closed_by=None)
    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
        rows.delete()
    with pytest.raises(DatabaseError, match="takes no reservation"), transaction.atomic():
        SignoffException.objects.create(report=report, code="gap", reason="x", officer=officers[0])


@pytest.mark.superuser
def test_closing_without_a_count_needs_a_signoff_exception_with_a_reason(
    casino: Casino, officers: tuple[Officer, Officer]
) -> None:
    ada, bob = officers
    record(casino, session(casino, "R1"))
    report = reconciled(casino)
    assert report.state == NightState.COUNTING
    refused(report, ada, "needs-signoff-exceptions")
    for nothing in ("  ", "\0", "police\0", "\ud800", "x" * 2_001):
        with pytest.raises(SignatureRefused, match="reason-missing"):
            add_signoff_exception(report, "count-missing", nothing, officer=ada)
    with pytest.raises(SignatureRefused, match="exception-not-needed"):
        add_signoff_exception(report, "gap", "because", officer=ada)
    add_signoff_exception(report, "count-missing", "The box\r\nis with the police.", officer=ada)
    assert SignoffException.objects.get().reason == "The box\nis with the police."
    with pytest.raises(SignatureRefused, match="exception-already-signed"):
        add_signoff_exception(report, "count-missing", "Or not.", officer=bob)
    assert missing_signoff_exceptions(report) == ["not-sealed"]
    add_signoff_exception(report, "not-sealed", "The sequencer is down.", officer=bob)
    sign(report, officer=ada, now=MORNING)
    assert sign(report, officer=bob, now=MORNING).state == NightState.CLOSED
    with pytest.raises(DatabaseError, match="reservation is never changed"), transaction.atomic():
        SignoffException.objects.filter(report=report).update(reason="other")


def test_an_open_critical_finding_needs_a_signoff_exception(casino: Casino, officers: tuple[Officer, Officer]) -> None:
    events = session(casino, "R1", irregularities=["payout-overpaid"])
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    seal()
    report = reconciled(casino)
    assert Finding.objects.filter(casino=casino, rule="payout-overpaid").exists()
    assert report.parsed_content()["needs"] == ["critical-open"]
    refused(report, officers[0], "needs-signoff-exceptions")


def closed_by_two(tenant: Tenant, finding: Finding) -> None:
    """Have two officers close the case of a finding."""
    taker, approver = hired(tenant, Role.SECOND, "taker"), hired(tenant, Role.SECOND, "approver")
    actions.perform(finding.case_id, taker, "take")
    actions.perform(finding.case_id, taker, "propose", reason="recovered", outcome="confirmed")
    actions.perform(finding.case_id, approver, "approve")


@pytest.mark.parametrize("signatures", in_short([2, 1], every=2))
def test_a_signed_night_stays_as_signed_when_a_case_of_it_is_closed(
    tenant: Tenant, officers: tuple[Officer, Officer], signatures: int
) -> None:
    casino = tenant.casino
    events = session(casino, "R1", irregularities=["payout-overpaid"])
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}, closed=False))
    seal()
    report = reconciled(casino)
    add_signoff_exception(report, "critical-open", "The case waits for the video.", officer=officers[0])
    for officer in officers[:signatures]:
        report = sign(report, officer=officer, now=MORNING)
    (wrong,) = Finding.objects.standing().filter(casino=casino, rule="payout-overpaid")
    closed_by_two(tenant, wrong)
    Deadline.objects.filter(casino=None, severity="critical").update(hours=5)
    again = reconciled(casino)
    assert (again.pk, again.version, again.state) == (report.pk, 1, report.state)

    box = count(casino, {events[0]["stream"]: 0}, closed=False)
    right = {"session": events[0]["stream"], "amount": buy_ins(events) + 500, "counted_by": ["Ida", "Max"]}
    append(casino, box, 3, "entry.corrected", corrects=2, data=right, reason="a second box", approved_by="Ida")
    restated = reconciled(casino)
    assert restated.version == 2


def test_a_report_made_after_a_case_was_closed_does_not_list_it_as_open(
    tenant: Tenant, officers: tuple[Officer, Officer]
) -> None:
    casino = tenant.casino
    events = session(casino, "R1", irregularities=["payout-overpaid"])
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: buy_ins(events)}))
    seal()

    def listed(report: NightReport) -> list[tuple[int, str, str]]:
        line = next(line for line in report.parsed_content()["lines"] if line["code"] == "findings")
        rows = [row for row in line["rows"] if row["facts"].get("rule") == "payout-overpaid"]
        return [(row["found"], row["verdict"], wording.note(row, "EUR")) for row in rows]

    first = reconciled(casino)
    hours = Deadline.objects.get(casino=None, severity="critical").hours
    assert listed(first) == [(1, "differs", f"Paid too much; to be closed within {hours} h")]
    (wrong,) = Finding.objects.standing().filter(casino=casino, rule="payout-overpaid")
    closed_by_two(tenant, wrong)
    second = reconciled(casino)
    assert second.version == 2
    assert listed(second) == [(0, "agrees", "Paid too much; closed by two officers: 1")]
    with translation.override("fr"):
        assert listed(second)[0][2] == "Paiement excessif ; clos par deux agents : 1"
    assert missing_signoff_exceptions(second) == []
    for officer in officers:
        second = sign(second, officer=officer, now=MORNING)
    assert second.state == NightState.CLOSED
    assert listed(first)[0][0] == 1, "what was found when it was made stays as it is"


@pytest.mark.parametrize("first", ["own", "elsewhere"])
def test_a_report_names_the_hours_of_its_casino_and_of_no_other(casino: Casino, first: str) -> None:
    record(casino, session(casino, "R1", irregularities=["payout-overpaid"]))
    other = Casino.objects.create(code="other", name="Other")
    hours = {"own": (casino, 12), "elsewhere": (other, 99)}
    for whose in (first, *(hours.keys() - {first})):
        Deadline.objects.create(casino=hours[whose][0], severity="critical", hours=hours[whose][1])
    line = next(line for line in reconciled(casino).parsed_content()["lines"] if line["code"] == "findings")
    assert {row["facts"]["hours"] for row in line["rows"] if row["facts"]["severity"] == "critical"} == {12}


def test_nobody_signs_before_the_day_is_over(casino: Casino, played: Events, officers: tuple[Officer, Officer]) -> None:
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING - timedelta(hours=12))
    with pytest.raises(SignatureRefused, match="day-not-over"):
        sign(report, officer=officers[0], now=MORNING - timedelta(hours=12))


def test_a_corrected_count_makes_a_second_version_with_its_sheet(
    casino: Casino, played: Events, officers: tuple[Officer, Officer]
) -> None:
    first = reconciled(casino)
    for officer in officers:
        sign(first, officer=officer, now=MORNING)
    right = {"session": played[0]["stream"], "amount": buy_ins(played) + 500, "counted_by": ["Ida", "Max"]}
    counted = count(casino, {played[0]["stream"]: 0})
    append(
        casino, counted, 3, "entry.corrected", corrects=2, data=right, reason="a note behind the box", approved_by="Ida"
    )
    seal()
    second = reconciled(casino)
    assert (second.version, second.state) == (2, NightState.PROVISIONAL)
    assert NightReport.objects.get(pk=first.pk).state == NightState.CLOSED
    rows = {(row["of"], row["line"]): row for row in second.sheet}
    drop = rows["", "D"]
    assert (drop["was"], drop["is"]) == (buy_ins(played), buy_ins(played) + 500)
    assert drop["reasons"] == ["corrected: #2, a note behind the box (Ida)"]
    assert drop["events"] == [f"{counted[0]['stream']}#3"]
    assert (rows["", "accounting_variance"]["was"], rows["", "accounting_variance"]["is"]) == (0, 500)
    assert (rows["", "line.accounting"]["was"], rows["", "line.accounting"]["is"]) == ("agrees", "differs")
    refused(first, officers[0], "restated")


def test_a_late_event_is_on_line_nine_and_on_the_sheet(casino: Casino, played: Events) -> None:
    reconciled(casino)
    last = played[-1]["seq"]
    append(casino, played, last + 1, "bank.filled", amount=1000, slip="late-1")
    second = reconciled(casino)
    (row,) = [row for row in second.parsed_content()["lines"][8]["rows"] if row["note"] == "came_late"]
    assert (row["stream"], row["found"], row["seqs"]) == (played[0]["stream"], 1, [last + 1])
    rows = {(row["of"], row["line"]): row for row in second.sheet}
    fills = rows[played[0]["stream"], "F"]
    assert fills["is"] - fills["was"] == 1000
    assert fills["reasons"] == ["late: bank.filled"]
    assert fills["events"] == [f"{played[0]['stream']}#{last + 1}"]


def test_a_corrected_entry_restates_what_it_changes(casino: Casino, played: Events) -> None:
    first = reconciled(casino)
    paid = next(event for event in played if event["type"] == "payout.made" and event["data"]["winnings"])
    right = {**paid["data"], "winnings": paid["data"]["winnings"] + 100}
    append(
        casino,
        played,
        played[-1]["seq"] + 1,
        "entry.corrected",
        corrects=paid["seq"],
        data=right,
        reason="misread",
        approved_by="Ida",
    )
    waits = reconciled(casino)
    assert waits.parsed_content()["total"] == first.parsed_content()["total"], "the correction waits for two officers"
    approve(casino, waits.parsed_content()["waiting"][0]["stream_id"], played[-1]["seq"] + 1)
    second = reconciled(casino)
    was, now = first.parsed_content()["total"]["bridge"], second.parsed_content()["total"]["bridge"]
    assert now["payout_errors"] - was["payout_errors"] == -100
    assert now["accounting_variance"] - was["accounting_variance"] == 100
    assert {row["line"] for row in second.sheet} >= {"W_rec", "payout_errors", "accounting_variance"}
