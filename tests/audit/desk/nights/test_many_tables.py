"""A night of many tables: the largest are drawn, all are written, and the page does not read a session for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.desk.nights import page as night_page
from audit.desk.nights import summary
from audit.desk.nights.tables import build_table
from audit.models import Casino, NightReport
from audit.reconciliation import runs
from audit.reconciliation.columns import Column
from tests.audit.desk.nights.test_nights import at, officer
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def night_of(casino: Casino, tables: int) -> NightReport:
    """Reconcile a night of many tables that play two coups each; the last of them is not counted."""
    drops = {}
    for number in range(tables):
        events = session(casino, f"R{number:03}", seed=number + 1, coups=2)
        record(casino, events)
        drops[events[0]["stream"]] = buy_ins(events)
    drops.popitem()
    record(casino, count(casino, drops))
    seal()
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return report


def won_at(row: Mapping[str, Any]) -> int:
    return abs(row["W_rec"] if row["W_acct"] is None else row["W_acct"])


@pytest.mark.parametrize(
    ("tables", "drawn"), [pytest.param(9, 4, id="short"), pytest.param(200, 24, id="200", marks=pytest.mark.faults)]
)
def test_the_tables_at_which_most_was_won_or_lost_are_drawn_and_all_are_written(
    casino: Casino, monkeypatch: pytest.MonkeyPatch, tables: int, drawn: int
) -> None:
    assert summary.DRAWN == 24
    monkeypatch.setattr(summary, "DRAWN", drawn)
    report = night_of(casino, tables)
    desk = officer(casino, "ada")
    with CaptureQueriesContext(connection) as captured:
        answer = desk.get(at(report), headers={"accept-language": "en"})
    shown = answer.content.decode()
    assert shown.count('class="chart win-line"') == drawn
    largest = sorted(map(won_at, report.parsed_content()["tables"]), reverse=True)[:drawn]
    by_name = {row["name"]: won_at(row) for row in report.parsed_content()["tables"]}
    multiples = answer.context["multiples"]
    assert [by_name[each["name"]] for each in multiples.drawn] == largest
    assert multiples.left_out == tables - drawn
    assert f"the {drawn} tables of {tables} at which most was won or lost" in shown
    written = shown.split(f"All {tables} as a table")[1].split("</table>")[0]
    assert re.findall(r'<th scope="row"><a href="[^"]+">(R\d+)</a>', written) == sorted(by_name)
    lines_read = [each["sql"] for each in captured if "audit_streamevidence" in each["sql"].lower()]
    assert len(captured) <= 30 + 3 * drawn, len(lines_read)
    with CaptureQueriesContext(connection) as again:
        assert desk.get(at(report)).status_code == 200
    assert len(again) <= 30, "what was drawn once is in the cache"


def test_a_line_of_many_comparisons_shows_those_that_do_not_agree_first(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night_page, "LINE_ROWS", 2)
    report = night_of(casino, 6)
    lines = officer(casino, "ada").get(at(report)).context["lines"]
    content = {line["number"]: line for line in report.parsed_content()["lines"]}
    cut = [line for line in lines if len(content[line["number"]]["rows"]) > 2]
    assert cut
    for line in cut:
        rows = content[line["number"]]["rows"]
        verdicts = [cell.verdict for row in line["table"].rows for cell in row.cells if cell.verdict]
        assert verdicts == sorted((row["verdict"] for row in rows), key=lambda each: each == "agrees")[:2]
        assert line["omitted"] == len(rows) - 2


def test_a_cell_is_escaped_wherever_its_text_stands() -> None:
    evil = '<b>"&'
    rows = [{"name": evil, "note": evil, "verdict": "agrees"}]
    columns = [Column("name", "Name", "name"), Column("note", "Note")]
    table = build_table(columns, rows, "EUR", {"note": lambda row: f"/x?{row['name']}"})
    table.rows[0].cells[0].remark = evil
    table.rows[0].id = evil
    drawn = table.rows[0].html()
    assert evil not in drawn
    assert drawn.count("&lt;b&gt;&quot;&amp;") == 5
    assert drawn.startswith('<tr role="row" id="&lt;b&gt;&quot;&amp;"><th scope="row" role="rowheader">')
