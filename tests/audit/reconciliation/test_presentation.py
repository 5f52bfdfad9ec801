"""One presentation: page, PDF and workbook take every heading and every value from the same sections."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.utils import translation

from audit.charts.svg import for_print
from audit.desk.nights.page import night_page
from audit.desk.nights.tables import Table
from audit.exports.sheets import as_csv
from audit.models import Casino, NightReport
from audit.presentation import wager_status
from audit.reconciliation import pdf, wording
from audit.reconciliation.director import plain
from audit.reconciliation.presentation import (
    ERRORS,
    LETTERS,
    PAPER,
    RESTATEMENT,
    SESSIONS,
    SHEETS,
    STANDING,
    Section,
    boxes,
    comparisons_of,
    load_content,
    unattributed_note,
)
from audit.reconciliation.sheets import report_sheets
from tests import citus
from tests.audit.reconciliation.test_content import eventful_night

pytestmark = pytest.mark.django_db

FIGURES = "O F C K D B S U I W_acct W_rec W_adj theoretical luck payout_errors accounting_variance"

HEADINGS = {
    "tables": f"table sessions uncounted {FIGURES}",
    "games": f"game sessions uncounted {FIGURES}",
    "total": f"of sessions uncounted {FIGURES}",
    "sessions": f"stream table game ruleset opened_at closed_at events {FIGURES}"
    " hold_millionths edge_millionths z_thousandths p_millionths",
    "lines": "number line verdict stream table kind expected found events note",
    "errors": "stream table wager bet status seq amount croupier",
    "standing": "stream table wager bet status seq amount zeros refund present_value",
    "croupiers": "croupier payouts for_house for_player rate_millionths low_millionths high_millionths"
    " p_errors_millionths p_side_millionths noteworthy",
    "waiting": "stream table events W_rec W_adj W_acct",
    "restatement": "of line was is events reasons",
}
"""The keys of the columns of each sheet."""


@pytest.fixture(scope=citus.MODULE)
def night(module_db: None) -> int:
    """The id of the report of an eventful night."""
    return eventful_night(Casino.objects.create(code="presented", name="Presented"))[-1].pk


@pytest.fixture
def report(night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=night)


def test_the_columns_of_every_sheet_are_public(report: NightReport) -> None:
    keys = {sheet.name: " ".join(column.key for column in sheet.columns) for sheet in report_sheets(report)}
    assert keys == HEADINGS
    assert list(keys) == list(HEADINGS)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_heading_of_a_sheet_is_in_words_and_no_two_are_the_same(report: NightReport, language: str) -> None:
    with translation.override(language):
        headings = {sheet.name: [column.name for column in sheet.columns] for sheet in report_sheets(report)}
    keys = {key for keys in HEADINGS.values() for key in keys.split()}
    for name, of_sheet in headings.items():
        assert len(set(of_sheet)) == len(of_sheet), name
        assert all(of_sheet), name
        assert not keys & set(of_sheet), name
    opening = "Opening float (EUR)" if language == "en" else "Encaisse d’ouverture (EUR)"
    assert opening in headings["tables"]
    assert ("Hold (win over drop) (%)" in headings["sessions"]) == (language == "en")


def test_a_file_has_numbers_in_the_unit_of_their_heading_and_says_what_is_not_counted(report: NightReport) -> None:
    with translation.override("en"):
        (sheet,) = (sheet for sheet in report_sheets(report) if sheet.name == "sessions")
        rows = [dict(zip([column.key for column in sheet.columns], row, strict=True)) for row in sheet.rows]
    content = report.parsed_content()
    for row, stored in zip(rows, content["sessions"], strict=True):
        hold = stored["hold_millionths"]
        assert row["hold_millionths"] == ("not known" if hold is None else Decimal(hold) / 10_000)
        assert row["W_acct"] == ("not counted" if stored["W_acct"] is None else stored["W_acct"])
    assert {row["game"] for row in rows} == {"American roulette", "Craps", "French roulette"}
    assert {row["W_acct"] for row in rows} >= {"not counted"}
    written = as_csv(sheet, "EUR").decode()
    assert "not counted" in written


@pytest.mark.parametrize("section", [ERRORS, STANDING])
def test_a_file_says_the_status_of_a_wager_in_words(report: NightReport, section: Section) -> None:
    with translation.override("fr"):
        (sheet,) = (sheet for sheet in report_sheets(report) if sheet.name == section.name)
        statuses = [row[[column.key for column in sheet.columns].index("status")] for row in sheet.rows]
        stored = [row["status"] for row in report.parsed_content()[section.name]]
        assert statuses == [wager_status(status, "EUR") for status in stored] != stored


def test_the_numbers_of_the_lines_have_their_unit_and_one_is_singular(report: NightReport) -> None:
    with translation.override("en"):
        rows = {
            line["number"]: [
                [wording.compared(row, key, "EUR") for key in ("expected", "found")] for row in comparisons_of(line)
            ]
            for line in load_content(report)["lines"]
        }
    for number in (1, 3, 7, 9, 10, 11, 12):
        for text in (text for row in rows[number] for text in row if text):
            assert re.search(r"[a-z%]", text), f"line {number}: {text}"
    texts = {text for of_line in rows.values() for row in of_line for text in row}
    assert {"8 slips", "1 wager", "1 finding"} & texts >= {"8 slips", "1 finding"}
    assert not {text for text in texts if re.fullmatch(r"1 \w+s", text)}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_cell_of_every_section_has_its_text(report: NightReport, language: str) -> None:
    content = load_content(report)
    with translation.override(language):
        for section in {section.name: section for section in (*PAPER, *SHEETS)}.values():
            for row in section.rows(content):
                for column in section.select({*section.page, *section.paper}):
                    assert isinstance(column.text(row, "EUR"), str), (section.name, column.name)


def test_what_a_section_shows_anywhere_is_a_column_of_it() -> None:
    for section in {section.name: section for section in (*PAPER, *SHEETS)}.values():
        keys = [column.key for column in section.columns]
        assert len(keys) == len(set(keys)), section.name
        assert {*section.page, *section.paper, *section.sheet} <= set(keys), section.name


def part(data: dict[str, Any], section: Section) -> list[dict[str, str]]:
    """Return the rows of a section on paper, by heading."""
    (printed,) = (each for each in data["parts"] if each["title"] == str(section.title))
    return [dict(zip(printed["headings"], row, strict=True)) for row in printed["rows"]]


def shown(table: Table) -> list[dict[str, str]]:
    return [{str(cell.column.label): cell.text for cell in row.cells} for row in table.rows]


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("section, key", [(ERRORS, "errors"), (STANDING, "standing"), (RESTATEMENT, "restatement")])
def test_page_and_paper_say_the_same(report: NightReport, section: Section, key: str, language: Any) -> None:
    with translation.override(language):
        printed, on_page = part(pdf._data(report, language), section), shown(night_page(report)[key])
        shared = {str(column.label) for column in section.select(set(section.page) & set(section.paper))}
    assert len(printed) == len(on_page) > 0
    assert len(shared) >= 5
    for one, other in zip(printed, on_page, strict=True):
        assert {heading: one[heading] for heading in shared} == {heading: other[heading] for heading in shared}


@pytest.mark.parametrize(
    "language, given, nobody, note",
    [
        ("en", "goodwill payment", "not reported", "1 error has no croupier: goodwill, or nobody reported."),
        (
            "fr",
            "geste commercial",
            "non transmis",
            "1 erreur sans croupier : geste commercial, ou aucun croupier signalé.",
        ),
    ],
)
def test_money_given_without_a_wager_is_named_and_an_error_without_a_croupier_is_counted(
    report: NightReport, language: Any, given: str, nobody: str, note: str
) -> None:
    goodwill = {"wager": "#1005", "bet": "", "status": "goodwill", "croupier": "", "seq": 1005, "amount": -200}
    content = load_content(report)
    row = {**content["errors"][0], **goodwill}
    content["errors"] = [{**content["errors"][0], "croupier": "dealer"}, row]
    with translation.override(language):
        cells = {column.key: column.text(row, "EUR") for column in ERRORS.select(ERRORS.page)}
        assert (cells["wager"], cells["bet"], cells["croupier"]) == ("", given, nobody)
        assert cells["table"] == row["table"], "and no name of a session"
        assert unattributed_note(content).replace("\N{NO-BREAK SPACE}", " ") == note
        assert [column.value(row, "EUR") for column in ERRORS.columns if column.key == "wager"] == ["#1005"]


def test_the_figures_of_the_night_are_the_same_on_page_and_paper(report: NightReport) -> None:
    with translation.override("fr"):
        data, page = pdf._data(report, "fr"), night_page(report)
        printed = next(each["rows"] for each in data["parts"] if each["title"] == str(LETTERS.title))
        letters = page["letters"]
        named = [str(each["label"]) + (f" ({each['letter']})" if "letter" in each else "") for each in letters]
        assert printed == [[name, each["text"]] for name, each in zip(named, letters, strict=True)]
        assert data["waterfall"] == for_print(page["waterfall"])
        to_the_cent = "".join(each["text"] for each in data["sentence"])
        assert to_the_cent.replace(",00\N{NO-BREAK SPACE}€", "\N{NO-BREAK SPACE}€") == plain(page["sentence"])


def test_the_headline_says_what_is_not_known_and_what_is_wrong(report: NightReport) -> None:
    with translation.override("en"):
        states = {box.key: (box.text, box.state) for box in boxes(load_content(report))}
    assert states["W_acct"] == ("not counted", "unknown")
    assert states["accounting_variance"] == ("not counted", "unknown")
    assert states["payout_errors"][1] == states["differing"][1] == "bad"


def test_a_sessions_row_opens_its_own_table(report: NightReport) -> None:
    rows = SESSIONS.rows(load_content(report))
    table = night_page(report)["sessions"]
    assert [row.id for row in table.rows] == [f"t-{row['table']}" for row in rows]


def test_a_probability_of_a_page_has_three_decimals_rounded_up_and_a_small_one_all_six() -> None:
    shown = [wording.short_probability(millionths) for millionths in (55_303, 55_000, 1_000, 999, None)]
    assert shown == ["0.056", "0.055", "0.001", "0.000999", wording.probability(None)]


@pytest.mark.parametrize(("millionths", "shown"), [(55_560, "55.6"), (34_480, "34.5"), (6_440, "6.4"), (0, "0.0")])
def test_a_rate_in_a_thousand_is_rounded_and_not_cut_off(millionths: int, shown: str) -> None:
    assert wording.per_thousand(millionths) == shown
