"""Money of bets that no ruleset decides has a line of its own in every medium, and only where there is such money."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core import mail as outbox
from django.utils import translation

from audit.desk.nights.month_page import month_page
from audit.desk.nights.page import figure_page, night_page, session_page
from audit.models import Casino, NightReport
from audit.notifications import mail
from audit.reconciliation import pdf, runs, sheets
from audit.reconciliation.month import month_of
from audit.reconciliation.month import sheets as month_sheets
from audit.reconciliation.presentation import SESSIONS, TABLES
from tests import citus
from tests.audit.reconciliation.played import DAY, MORNING, Events, count, record, session

pytestmark = pytest.mark.django_db

LABELS: list[tuple[Any, str]] = [("en", "Bets not adjudicated"), ("fr", "Mises non jugées")]
ERRORS: list[tuple[Any, str, str]] = [
    (
        "en",
        "recorded − by the rules − bets not adjudicated; plus favours the house",
        "recorded − by the rules; plus favours the house",
    ),
    (
        "fr",
        "enregistré − selon les règles − mises non jugées ; positif : en faveur de la banque",
        "enregistré − selon les règles ; positif : en faveur de la banque",
    ),
]


def played(casino: Casino, bet: str) -> Events:
    """Return a session with one ``bet`` of 1,000, lost by the dice where a ruleset decides it, and paid 7,000."""
    opener = session(casino, "C1", ruleset="qc-craps", coups=1, float=500_000, currency="EUR")[0]
    moves: list[tuple[str, dict[str, Any]]] = [
        ("wager.placed", {"wager": "x", "bet": bet, "stake": 1000}),
        ("dice.thrown", {"faces": [1, 1]}),
        ("payout.made", {"wager": "x", "winnings": 7000, "stake_returned": 1000}),
        ("session.closed", {"float": 493_000}),
    ]
    rest = [{**opener, "seq": seq, "type": kind, "data": data} for seq, (kind, data) in enumerate(moves, start=2)]
    return [opener, *rest]


def reconciled(casino: Casino, bet: str) -> NightReport:
    events = played(casino, bet)
    record(casino, events)
    record(casino, count(casino, {events[0]["stream"]: 0}))
    (report,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return report


@pytest.fixture(scope=citus.MODULE)
def nights(module_db: None) -> tuple[int, int]:
    """The ids of the reports of a night with a bet that nobody adjudicates, and of one without."""
    outside = reconciled(Casino.objects.create(code="outside", name="Outside"), "any_craps")
    return outside.pk, reconciled(Casino.objects.create(code="inside", name="Inside"), "right_bet").pk


@pytest.fixture
def report(nights: tuple[int, int], db: None) -> NightReport:
    return NightReport.objects.get(pk=nights[0])


@pytest.fixture
def inside(nights: tuple[int, int], db: None) -> NightReport:
    return NightReport.objects.get(pk=nights[1])


def test_it_is_neither_luck_nor_an_error(report: NightReport) -> None:
    content = report.parsed_content()
    for row in (content["total"], *content["tables"], *content["games"], *content["sessions"]):
        assert row["bridge"] == {
            "theoretical": 0,
            "luck": 0,
            "unadjudicated": -7000,
            "payout_errors": 0,
            "accounting_variance": 0,
            "accounting_win": -7000,
        }
    (compared,) = next(line for line in content["lines"] if line["code"] == "payouts")["rows"]
    assert (compared["expected"], compared["found"], compared["verdict"]) == (-7000, -7000, "agrees")


@pytest.mark.parametrize(("language", "label"), LABELS)
def test_page_paper_and_mail_name_it(report: NightReport, language: Any, label: str) -> None:
    with translation.override(language):
        page, paper = night_page(report), pdf._data(report, language)
        assert [box.key for box in page["boxes"]].count("unadjudicated") == 1
        assert f">{label}</text>" in paper["waterfall"]
        for table in (page["sessions"], page["sums"]):
            assert label in [str(heading.column.label) for heading in table.headings]
        printed = paper["tables"]
        assert label in printed["headings"]
        assert label.lower() in printed["note"]
        assert page["bridge_note"] == printed["note"]
        (of_session,) = report.parsed_content()["sessions"]
        opened = session_page(report, of_session, "unadjudicated", 0)
        assert (opened["count"], opened["sum"]) == (1, page["boxes"][2].text)
        assert figure_page(report, "unadjudicated")["total"] == opened["sum"]
    mail.message(report, "ada@example.org", language).send()
    colon = " :" if language == "fr" else ":"
    assert f"{label}{colon} {opened['sum']}\n" in outbox.outbox[0].body


@pytest.mark.parametrize(("language", "remark", "usual"), ERRORS)
def test_the_payout_errors_say_what_they_are_the_difference_of(
    report: NightReport, inside: NightReport, language: Any, remark: str, usual: str
) -> None:
    total = report.parsed_content()["total"]
    bridge = total["bridge"]
    assert bridge["payout_errors"] == total["W_rec"] - total["W_adj"] - bridge["unadjudicated"]
    with translation.override(language):
        assert {box.key: box.remark for box in night_page(report)["boxes"]}["payout_errors"] == remark
        assert {box.key: box.remark for box in night_page(inside)["boxes"]}["payout_errors"] == usual


def test_sheets_and_the_month_have_its_column(report: NightReport) -> None:
    for name in ("tables", "games", "total", "sessions"):
        sheet = sheets.sheet_named(report, name)
        assert sheet is not None
        (row,) = sheet.rows
        assert dict(zip([column.key for column in sheet.columns], row, strict=True))["unadjudicated"] == -7000
    month = month_of(report.casino, DAY.replace(day=1), "EUR")
    assert month.total("unadjudicated") == -7000
    with translation.override("en"):
        assert [column.name for column in month_sheets(month)[0].columns] == [
            "Table",
            "19 Nov 2026 (EUR)",
            "Total (EUR)",
        ]
    assert "unadjudicated" in [column.key for column in month_sheets(month)[1].columns]
    assert json.loads(sheets.as_json(report))["total"]["bridge"]["unadjudicated"] == -7000


def test_a_night_without_such_money_has_no_such_line(inside: NightReport) -> None:
    casino, report = inside.casino, inside
    assert b"unadjudicated" not in bytes(report.content)
    page = night_page(report)
    assert page["bridge_note"] == pdf._data(report, "en")["parts"][0]["note"]
    assert "adjudicated" not in page["bridge_note"]
    assert [box.key for box in page["boxes"]] == ["W_acct", "accounting_variance", "payout_errors", "differing"]
    for section in (SESSIONS, TABLES):
        assert "unadjudicated" not in [column.key for column in section.select(section.page, report.parsed_content())]
    month = month_of(casino, DAY.replace(day=1), "EUR")
    assert "unadjudicated" not in [column.key for column in month_sheets(month)[1].columns]
    assert len(month_page(month)["win"].foot) == len(month.figures)
