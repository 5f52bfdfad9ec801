"""A report on paper and as files: each list says how many rows it leaves out, and a total adds them all."""

from __future__ import annotations

import io
import re
import zipfile
from copy import deepcopy
from typing import Any

import pytest
from django.utils import translation

from audit.models import Casino, NightReport
from audit.reconciliation import pdf, presentation, runs, sheets
from audit.reconciliation.presentation import GAMES, load_content
from tests import citus
from tests.audit.desk.printed import words_of
from tests.audit.reconciliation.played import DAY, MORNING, record, session
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def night(module_db: None) -> int:
    """The id of the report of a night at one table."""
    casino = Casino.objects.create(code="printed", name="Printed")
    record(casino, session(casino, "R1", coups=5, irregularities=["payout-overpaid"]))
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return report.pk


@pytest.fixture
def report(night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=night)


def of_tables(monkeypatch: pytest.MonkeyPatch, report: NightReport, tables: int, *, errors: int = 0) -> None:
    """Have the report be read as one of many tables, each as its own; and of as many payout errors."""
    content = load_content(report)
    [table], error = content["tables"], content["errors"][0]
    content["tables"] = [{**table, "name": f"table{number:03}"} for number in range(tables)]
    content["errors"] = [{**error, "wager": f"error{number:03}"} for number in range(errors)]
    for module in (pdf, presentation, sheets):
        if hasattr(module, "load_content"):
            monkeypatch.setattr(module, "load_content", lambda *args, **options: deepcopy(content))


@pytest.mark.parametrize(
    ("tables", "says"),
    in_short(
        [(60, []), (61, ["1 further row is in the workbook."])],
        further=[(59, []), (250, ["190 further rows are in the workbook."])],
    ),
)
def test_the_paper_of_a_night_has_each_row_once_then_how_many_it_leaves_out_and_always_the_total(
    monkeypatch: pytest.MonkeyPatch, report: NightReport, tables: int, says: list[str]
) -> None:
    of_tables(monkeypatch, report, tables)
    words = words_of(pdf.as_pdf(report, "en"))
    printed = [f"table{number:03}" for number in range(min(tables, pdf.MAX_ROWS))]
    named = re.findall(r"\btable\d{3}\b", words)  # some above the list, too: what is not counted
    assert named[-len(printed) :] == printed
    after = words.rpartition(printed[-1])[2].partition(str(GAMES.title))[0]
    assert re.search(r"\bTotal\b", after)
    assert re.findall(r"\d+ further rows? (?:is|are) in the workbook\.", after) == says


def test_a_section_of_hundreds_of_rows_says_how_many_are_in_the_workbook_which_has_them(
    monkeypatch: pytest.MonkeyPatch, report: NightReport
) -> None:
    of_tables(monkeypatch, report, 1, errors=300)
    words = words_of(pdf.as_pdf(report, "en"))
    assert re.findall(r"\berror\d{3}\b", words) == [f"error{number:03}" for number in range(pdf.MAX_ROWS)]
    assert words.count("240 further rows are in the workbook.") == 1
    with zipfile.ZipFile(io.BytesIO(sheets.as_xlsx(report))) as book:
        texts = book.read("xl/sharedStrings.xml").decode()
    assert len(set(re.findall(r"error\d{3}", texts))) == 300


@pytest.mark.parametrize(("language", "says"), [("en", "The report keeps the first"), ("fr", "Le rapport garde les")])
def test_a_file_of_what_a_report_does_not_keep_says_so_in_its_last_row(
    monkeypatch: pytest.MonkeyPatch, report: NightReport, language: str, says: str
) -> None:
    content: dict[str, Any] = load_content(report)
    for line in content["lines"]:
        line["left_off"] = 3
        for row in line["rows"]:
            if "errors" in row["facts"]:
                row["facts"]["errors"] += 7
    monkeypatch.setattr(sheets, "load_content", lambda *args, **options: content)
    with translation.override(language):
        written = {sheet.name: sheet.rows for sheet in sheets.report_sheets(report)}
    for name, rows in written.items():
        assert [str(row[0]).startswith(says) for row in rows] == [False] * (len(rows) - 1) + [
            name in ("lines", "errors")
        ] * (len(rows) > 0), name
