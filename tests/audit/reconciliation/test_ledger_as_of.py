"""Line 11: the evidence ledger as it was after the last session of a night, whenever the report is computed."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone, translation
from django.utils.html import escape

from audit.ledger import feeding, listing
from audit.ledger.equipment import take_apart
from audit.models import (
    BatchKind,
    Casino,
    Finding,
    LedgerBatch,
    LedgerCursor,
    LedgerLevel,
    LedgerProcess,
    LedgerQuestion,
    LedgerYear,
    NightReport,
    Role,
)
from audit.reconciliation import runs, wording
from audit.reconciliation.checks import MILLION
from audit.reconciliation.ledger_as_of import ledger_as_of
from audit.reconciliation.night import session_streams
from audit.reconciliation.pdf import _data
from audit.reconciliation.presentation import LEDGER, load_content
from audit.reconciliation.sheets import sheet_named
from settlement.eprocess.process import UNIT, Process
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.reconciliation.played import DAY, MORNING, record
from tests.audit.reconciliation.test_questions import stream
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

NEXT = DAY + timedelta(days=1)


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def spins(number: int, first: int = 0) -> list[tuple[str, dict[str, Any]]]:
    pockets = ["17" if each % 4 == 0 else str((each * 7 + first) % 37) for each in range(number)]
    return [("ball.settled", {"pocket": pocket}) for pocket in pockets]


def stuck(number: int) -> list[tuple[str, dict[str, Any]]]:
    return [("ball.settled", {"pocket": "17"})] * number


def played(casino: Casino, table: str, following: list[Any], *, day: date = DAY, **opened: Any) -> str:
    events = stream(
        casino, table, [*following, ("session.closed", {"float": 100_000})], gaming_day=day.isoformat(), **opened
    )
    currency = opened.get("currency", "EUR")
    events = [{**event, "stream": f"{event['stream']}.{currency}"} for event in events]
    record(casino, events)
    return str(events[0]["stream"])


def fed(casino: Casino) -> None:
    seal()
    feeding.feed(casino)


def reconcile(casino: Casino, day: date = DAY) -> NightReport:
    (report,) = runs.reconcile(casino, day, actor="test", now=MORNING)
    return report


def line_of(report: NightReport) -> dict[str, Any]:
    return next(line for line in report.parsed_content()["lines"] if line["code"] == "chance")


def rows(report: NightReport, note: str = "ledger") -> list[dict[str, Any]]:
    return [row for row in line_of(report)["rows"] if row["note"] == note]


def test_a_night_says_budget_what_is_spent_what_asks_and_what_is_near_the_threshold(casino: Casino) -> None:
    name = played(casino, "R1", stuck(20), wheel="W1")
    played(casino, "R2", stuck(5), wheel="W2")
    fed(casino)
    report = reconcile(casino)
    budget = listing.budget_of(casino)
    assert budget is not None
    [row] = rows(report)
    assert (row["verdict"], row["expected"], row["found"]) == ("agrees", 2, 2)
    assert (row["facts"]["budget"], row["facts"]["year"]) == ("1", timezone.now().year)
    assert 0 <= Fraction(row["facts"]["spent_millionths"], MILLION) - budget.spent < Fraction(1, MILLION)
    crossed = {(row["facts"]["process"], row["facts"]["subject"]): row for row in rows(report, "ledger_crossed")}
    questions = LedgerQuestion.objects.filter(process__casino=casino)
    assert crossed.keys() == {(each.process.kind, each.process.subject) for each in questions}
    row = crossed["wheel", "W1"]
    assert (row["verdict"], row["stream"], row["seqs"], row["table"]) == ("question", name, [22], "W1")
    assert (row["facts"]["alpha"], row["expected"]) == ("1/48", "< 48")
    assert wording.compared(row | {"found": "3\N{NARROW NO-BREAK SPACE}696"}, "found", "EUR") == "3,696"
    near = {(row["facts"]["process"], row["table"], row["verdict"]) for row in rows(report, "ledger_watched")}
    assert near == {("wheel-displacement", "W2", "agrees")}
    assert {(kind, subject) for kind, subject, _verdict in near} == {
        (each.kind, each.subject) for each in listing.near_threshold(casino)
    }
    assert line_of(report)["verdict"] == "question"


def test_a_question_of_an_earlier_night_has_asked_and_asks_no_more(casino: Casino) -> None:
    played(casino, "R1", stuck(20), wheel="W1")
    fed(casino)
    played(casino, "R2", spins(3), day=NEXT, wheel="W2")
    fed(casino)
    report = reconcile(casino, NEXT)
    assert not rows(report, "ledger_crossed")
    row = next(row for row in rows(report, "ledger_asked") if row["facts"]["process"] == "wheel")
    assert (row["verdict"], row["facts"]["day"], row["facts"]["alpha"]) == ("agrees", DAY.isoformat(), "1/32")
    assert row["stream"].startswith(f"{casino.code}.R1")


def test_what_is_fed_afterwards_leaves_the_night_as_it_was(tenant: Tenant, casino: Casino) -> None:
    played(casino, "R1", stuck(20), wheel="W1")
    played(casino, "R2", stuck(5), wheel="W2")
    fed(casino)
    before = reconcile(casino)
    ids = [each.pk for each in session_streams(casino, DAY)]
    then = ledger_as_of(casino, DAY, "EUR", ids)
    assert [(each.kind, each.subject) for each in then.near_threshold] == [("wheel-displacement", "W2")]
    played(casino, "R2", spins(60), day=NEXT, wheel="W2")
    played(casino, "R3", spins(10), day=NEXT, wheel="W3")
    fed(casino)
    assert not listing.near_threshold(casino), "now it is not near it any more, and there are more processes"
    assert ledger_as_of(casino, DAY, "EUR", ids) == then
    assert reconcile(casino).pk == before.pk, "no new version"
    take_apart(hired(tenant, Role.SECOND, "second"), casino, "wheel", "W2", reason="levelled")
    assert reconcile(casino).pk == before.pk, "what ended later was near it then"
    at_the_close = LedgerBatch.objects.get(casino=casino, stream=ids[-1]).fed_at
    LedgerProcess.objects.filter(casino=casino, subject="W2").update(ended_at=at_the_close)
    assert not ledger_as_of(casino, DAY, "EUR", ids).near_threshold


def test_each_currency_has_the_ledger_after_its_own_last_session(casino: Casino) -> None:
    played(casino, "R1", spins(5), wheel="W1", currency="CAD")
    fed(casino)
    played(casino, "R1", stuck(20), wheel="W1")
    fed(casino)
    dollars, euros = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    assert [row["facts"]["batch"] for row in (*rows(dollars), *rows(euros))] == [2, 4], "its evening; a late one"
    assert not rows(dollars, "ledger_crossed")
    assert rows(euros, "ledger_crossed")


@pytest.mark.superuser
def test_a_session_that_is_not_in_the_ledger_is_not_known(casino: Casino) -> None:
    played(casino, "R1", spins(5), wheel="W1")
    report = reconcile(casino)
    [row] = rows(report, "ledger_empty")
    assert (row["verdict"], row["expected"], row["found"]) == ("unknown", 1, 0)
    fed(casino)
    played(casino, "R2", spins(5), wheel="W2")
    report = reconcile(casino)
    [row] = rows(report, "ledger_waits")
    assert (row["verdict"], row["expected"], row["found"]) == ("unknown", 2, 1)
    LedgerBatch.objects.filter(casino=casino).update(error="ValueError: a letter that nobody can read")
    report = reconcile(casino)
    [row] = rows(report, "ledger_left_out")
    assert (row["verdict"], row["expected"], row["found"]) == ("unknown", 0, 1)


def test_a_question_of_the_payouts_of_a_night_is_in_its_next_version(casino: Casino) -> None:
    played(casino, "R1", spins(5), wheel="W1")
    fed(casino)
    assert not rows(reconcile(casino), "ledger_crossed")
    process = LedgerProcess.objects.filter(casino=casino, kind="wheel").get()
    batch = LedgerBatch.objects.create(
        casino=casino,
        number=3,
        kind=BatchKind.PAYOUTS,
        gaming_day=DAY,
        currency="EUR",
        year=process.year,
        engine_version="",
        content=b"[]",
    )
    finding = Finding.objects.filter(casino=casino).latest("pk")
    LedgerQuestion.objects.create(
        process=process, batch=batch, year=process.year, alpha="2/7", draws=5, evidence=17, finding_id=finding.pk
    )
    report = reconcile(casino)
    [row] = rows(report, "ledger_crossed")
    assert (row["stream"], row["seqs"]) == (finding.stream.name, [finding.seq])
    assert (row["expected"], row["found"]) == ("< 4", "17"), "1/α, rounded up"
    assert not rows(report, "ledger_asked")


def a_year_ago(casino: Casino) -> None:
    """Let everything that the ledger was fed have been fed in the year before."""
    for rows in (LedgerCursor, LedgerBatch, LedgerYear):
        rows.objects.filter(casino=casino).update(year=F("year") - 1)
    for rows in (LedgerLevel, LedgerQuestion):
        rows.objects.filter(process__casino=casino).update(year=F("year") - 1)
    for row in LedgerProcess.objects.filter(casino=casino):
        process = msgspec.json.decode(bytes(row.state), type=Process)
        process.year -= 1
        row.year, row.state = process.year, msgspec.json.encode(process, order="sorted")
        row.save()


@pytest.mark.superuser
def test_when_the_year_has_ended_a_night_has_the_levels_budget_and_list_that_it_had(casino: Casino) -> None:
    Casino.objects.filter(pk=casino.pk).update(false_questions="0.5")
    played(casino, "R1", stuck(30), wheel="W1")
    played(casino, "R2", stuck(5), wheel="W2")
    fed(casino)
    ids = [each.pk for each in session_streams(casino, DAY)]
    a_year_ago(casino)
    then = ledger_as_of(casino, DAY, "EUR", ids)
    assert (then.budget, bool(then.crossed)) == (Fraction(1, 2), True)
    assert then.near_threshold
    Casino.objects.filter(pk=casino.pk).update(false_questions="2")
    played(casino, "R2", spins(60), day=NEXT, wheel="W2")
    played(casino, "R3", spins(5), day=NEXT, wheel="W1")
    fed(casino)
    assert LedgerCursor.objects.get(casino=casino).year == then.year + 1
    assert ledger_as_of(casino, DAY, "EUR", ids) == then
    [row] = rows(reconcile(casino))
    assert (row["facts"]["year"], row["facts"]["budget"], row["verdict"]) == (then.year, "1/2", "agrees")
    [row] = rows(reconcile(casino, NEXT))
    assert (row["facts"]["year"], row["facts"]["budget"]) == (then.year + 1, "2")


@pytest.mark.superuser
def test_each_year_of_a_process_has_its_level_and_its_opening(casino: Casino) -> None:
    played(casino, "R1", stuck(3), wheel="W1")
    fed(casino)
    a_year_ago(casino)
    played(casino, "R1", spins(3), day=NEXT, wheel="W2")
    played(casino, "R2", stuck(3), day=NEXT, wheel="W1")
    fed(casino)
    process = LedgerProcess.objects.get(casino=casino, name="wheel 37: W1")
    first, second = LedgerLevel.objects.filter(process=process).order_by("year")
    assert (first.year + 1, first.alpha, int(first.opening)) == (second.year, "1/32", UNIT)
    assert (second.alpha, second.opening) == ("1/32", process.points.order_by("batch__number")[0].wealth)


@pytest.mark.superuser
def test_where_no_level_was_kept_a_new_version_has_what_the_one_before_had(casino: Casino) -> None:
    played(casino, "R1", stuck(2), wheel="W1")
    fed(casino)
    before = reconcile(casino)
    LedgerBatch.objects.filter(casino=casino).update(year=2020)
    assert rows(reconcile(casino)) == rows(before), "what it had is kept"
    played(casino, "R2", spins(2), wheel="W2", day=NEXT)
    fed(casino)
    LedgerBatch.objects.filter(casino=casino).update(year=2020)
    [row] = rows(reconcile(casino, NEXT), "ledger_past")
    assert row["verdict"] == "unknown"


def test_the_line_is_on_paper_in_the_workbook_and_in_french(casino: Casino) -> None:
    played(casino, "R1", stuck(20), wheel="W1")
    played(casino, "R2", stuck(5), wheel="W2")
    fed(casino)
    report = reconcile(casino)
    with translation.override("fr"):
        part = next(each for each in _data(report, "fr")["parts"] if each["title"] == str(LEDGER.title))
        notes = [wording.note(row, "EUR") for row in LEDGER.rows(load_content(report))]
    assert len(part["rows"]) == len(notes)
    assert "à examiner\xa0: W1 (Cylindre\xa0: cases)" in notes
    sheet = sheet_named(report, "lines")
    assert sheet is not None
    assert any("under review: W1 (Wheel: pockets)" in row for row in sheet.rows)


def test_a_row_of_the_line_leads_to_its_process(tenant: Tenant, casino: Casino) -> None:
    played(casino, "R1", stuck(20), wheel="W 1&2")
    fed(casino)
    report = reconcile(casino)
    reader = client_of(hired(tenant, Role.OFFICER, "officer"))
    shown = reader.get(f"/admin/audit/nightreport/{report.pk}/change/").content.decode()
    address = "/admin/audit/ledgerprocess/?q=W+1%262&kind=wheel&ended=all"
    assert f'href="{escape(address)}"' in shown
    process = LedgerProcess.objects.get(casino=casino, kind="wheel")
    assert f"/admin/audit/ledgerprocess/{process.pk}/change/" in reader.get(address).content.decode()


def test_the_command_feeds_the_ledger_before_the_report(casino: Casino) -> None:
    played(casino, "R1", spins(5), wheel="W1")
    seal()
    call_command("reconcile", casino=casino.code, day=DAY)
    report = NightReport.newest(casino, DAY, "EUR")
    assert report is not None
    assert [(row["expected"], row["found"]) for row in rows(report)] == [(1, 1)]


def test_a_report_from_before_the_ledger_reads_as_it_did(casino: Casino) -> None:
    facts = {"p_millionths": 1234, "level": "1/1000"}
    old = {"number": 11, "code": "chance", "rows": [{"note": "wheel", "facts": facts, "verdict": "question"}]}
    assert wording.note(old["rows"][0], "EUR") == (  # type: ignore[index]
        "spins since the first of the month; p = 0.001234, threshold 1/1000 per table and month"
    )
    assert wording.restated_line("line.chance") == "Hold and unexplained results"
