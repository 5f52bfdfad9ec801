"""A report in every format: the same bytes for the same report, in both languages, safe to open."""

from __future__ import annotations

import csv
import io
import json
import smtplib
import zipfile
from typing import Any

import pytest
from django.core import mail as outbox
from django.utils import timezone, translation

from audit import tasks
from audit.exports.sheets import Column, Sheet, as_csv, workbook
from audit.models import Casino, Membership, NightReport, NightSubscriber, Officer, Role
from audit.notifications import mail
from audit.notifications.delivery import GIVEN_UP_AFTER
from audit.notifications.mail import send
from audit.reconciliation import sheets, wording
from audit.reconciliation.content import BRIDGE
from audit.reconciliation.pdf import as_pdf
from audit.reconciliation.presentation import ERRORS, LETTERS, TABLES, bridge_note, load_content
from audit.reconciliation.versions import add_signoff_exception, missing_signoff_exceptions, sign
from audit.reconciliation.wording import money
from audit.tasks import night_mail
from tests import citus
from tests.audit.reconciliation.played import MORNING, reconciled, session
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture(scope=citus.MODULE)
def night(module_db: None) -> int:
    """The id of the report of a night with errors both ways and a drop that differs."""
    casino = Tenant().casino
    orderly = session(casino, "R1")
    wrong = session(
        casino, "C1", ruleset="fr-craps", seed=3, coups=30, irregularities=["payout-overpaid", "payout-underpaid"]
    )
    return reconciled(casino, orderly, wrong, counted_more=12_345, closed=False).pk


@pytest.fixture
def report(night: int, db: None) -> NightReport:
    return NightReport.objects.get(pk=night)


@pytest.fixture
def casino(report: NightReport) -> Casino:
    return report.casino


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_paper_is_the_same_every_time_and_another_once_it_is_signed(report: NightReport, language: str) -> None:
    printed = as_pdf(report, language)  # type: ignore[arg-type]
    assert printed.startswith(b"%PDF-")
    assert as_pdf(NightReport.objects.get(pk=report.pk), language) == printed  # type: ignore[arg-type]
    ada = Officer.objects.create_user("ada")
    for code in missing_signoff_exceptions(report):
        add_signoff_exception(report, code, "seen", officer=ada)
    signed = sign(report, officer=ada, now=MORNING)
    assert as_pdf(signed, language) != printed  # type: ignore[arg-type]


def test_csv_adds_up_and_has_no_formula(report: NightReport, casino: Casino) -> None:
    sheet = sheets.sheet_named(report, "tables")
    assert sheet is not None
    written = as_csv(sheet, report.currency)
    assert written == as_csv(sheet, report.currency)
    _headings, *lines = csv.reader(io.StringIO(written.decode()))
    rows = [dict(zip([column.key for column in sheet.columns], line, strict=True)) for line in lines]
    assert [row["table"] for row in rows] == ["C1", "R1"]
    for row in rows:
        cents = {name: int(row[name].replace(".", "")) for name in BRIDGE}
        assert sum(cents.values()) == int(row["W_acct"].replace(".", ""))
    assert rows[0]["accounting_variance"] == "123.45"
    hostile = Sheet("x", [Column("a")], [["=cmd|' /C calc'!A0"], ["+1"], ["plain"]])
    assert [line[:2] for line in as_csv(hostile, "EUR").decode().split("\r\n")[1:4]] == ["'=", "'+", "pl"]


def test_the_workbook_has_every_table_and_no_formula(report: NightReport) -> None:
    written = sheets.as_xlsx(report)
    assert sheets.as_xlsx(report) == written
    hostile = workbook([Sheet("x", [Column("a")], [["=1+1"]])], "EUR", "t")
    with zipfile.ZipFile(io.BytesIO(hostile)) as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
    with zipfile.ZipFile(io.BytesIO(written)) as book:
        for name in sheets.sheet_names():
            assert f'name="{name}"'.encode() in book.read("xl/workbook.xml")


def test_every_table_is_named_and_json_holds_all(report: NightReport) -> None:
    assert [sheet.name for sheet in sheets.report_sheets(report)] == sheets.sheet_names()
    content = json.loads(json.dumps(sheets.document(report)))
    assert content["state"] == "provisional"
    assert content["watermark"]["root"] == report.tree_root
    assert len(content["lines"]) == 12


def test_json_has_who_signed_as_what_and_with_which_exceptions(report: NightReport) -> None:
    ada = Officer.objects.create_user("ada")
    codes = missing_signoff_exceptions(report)
    assert codes
    for code in codes:
        add_signoff_exception(report, code, f"seen: {code}", officer=ada)
    signed = sign(report, officer=ada, now=MORNING)
    assert signed.reviewed_at is not None
    written = json.loads(sheets.as_json(signed))
    assert written["signatures"] == [{"officer": "ada", "at": signed.reviewed_at.isoformat(), "as": "reviewed"}]
    assert sorted(written["reservations"], key=lambda each: codes.index(each["code"])) == [
        {"code": code, "words": f"seen: {code}", "officer": "ada"} for code in codes
    ]
    assert set(written) - set(report.parsed_content()) == {
        *("state", "digest", "made_at", "restatement", "signatures", "reservations")
    }


def test_notes_are_written_in_both_languages(report: NightReport) -> None:
    from audit.reconciliation import wording

    for language in ("en", "fr"):
        with translation.override(language):
            for line in report.parsed_content()["lines"]:
                assert str(wording.LINES[line["code"]])
                for row in line["rows"]:
                    assert wording.note(row, "EUR") or row["note"] == ""


def test_a_subscriber_is_sent_each_version_once(report: NightReport, casino: Casino) -> None:
    officer = Officer.objects.create_user("ada", email="ada@example.org")
    Membership.objects.create(officer=officer, casino=casino, role=Role.AUDITOR)
    NightSubscriber.objects.create(casino=casino, officer=officer, language="en")
    NightSubscriber.objects.create(casino=casino, officer=Officer.objects.create_user("no-address"))
    assert send(report) == 1
    assert night_mail(report_id=report.pk) == 0
    (message,) = outbox.outbox
    assert message.to == ["ada@example.org"]
    assert (
        f"Accounting win (gross gaming revenue): {money(report.parsed_content()['total']['W_acct'], 'EUR')}\n"
        in message.body
    )
    assert "Accounting variance: +€123.45 (counted − recorded; plus favours the house)\n" in message.body
    assert "The report is attached as a PDF.\n" in message.body
    assert message.attachments[0][1] == as_pdf(report, "en")


def test_a_report_that_no_server_took_is_mailed_by_the_next_sweep_for_some_days(
    report: NightReport, casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    officer = Officer.objects.create_user("ada", email="ada@example.org")
    Membership.objects.create(officer=officer, casino=casino, role=Role.AUDITOR)
    NightSubscriber.objects.create(casino=casino, officer=officer, language="en")
    sent: list[int] = []
    monkeypatch.setattr(tasks.night_mail, "delay", lambda *, report_id: sent.append(report_id))

    def refuse(self: object) -> int:
        raise smtplib.SMTPServerDisconnected

    with monkeypatch.context() as broken:
        broken.setattr(outbox.EmailMessage, "send", refuse)
        with pytest.raises(smtplib.SMTPServerDisconnected):
            tasks.night_mail(report_id=report.pk)
    tasks.night_sweep()
    assert sent == [report.pk]
    assert mail.waiting(report.made_at + GIVEN_UP_AFTER) == []
    assert tasks.night_mail(report_id=report.pk) == 1
    assert mail.waiting(timezone.now()) == []


def test_what_is_to_be_mailed_is_asked_once_for_all_nights(
    report: NightReport, casino: Casino, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(2):  # the nights, and the subscribers
        assert mail.waiting(timezone.now()) == []
    officer = Officer.objects.create_user("ada", email="ada@example.org")
    Membership.objects.create(officer=officer, casino=casino, role=Role.AUDITOR)
    NightSubscriber.objects.create(casino=casino, officer=officer, language="en")
    with django_assert_num_queries(4):  # the deliveries and the roles of the subscriber, too
        assert mail.waiting(timezone.now()) == [report]


@pytest.mark.parametrize(
    ("language", "underpaid", "overpaid", "caption"),
    [
        ("en", "owed to the player", "overpaid", "Plus favours the house, minus the players."),
        ("fr", "dus au joueur", "payés en trop", "Positif : en faveur de la banque ; négatif : en faveur des joueurs."),
    ],
)
def test_only_the_bridge_has_signs_and_it_says_whose_the_plus_is(
    report: NightReport, language: str, underpaid: str, overpaid: str, caption: str
) -> None:
    content = load_content(report)
    errors = {row["amount"] for row in content["errors"]}
    assert {amount > 0 for amount in errors} == {True, False}, "kept from a player, and paid too much"
    with translation.override(language):
        columns = ERRORS.select(ERRORS.paper)
        shown = [[column.text(row, "EUR") for column in columns] for row in ERRORS.rows(content)]
        for row, cells in zip(content["errors"], shown, strict=True):
            assert cells[-1] == f"{money(abs(row['amount']), 'EUR')} {underpaid if row['amount'] > 0 else overpaid}"
        assert caption in bridge_note(content)
        steps = {column.key: column for column in TABLES.select(TABLES.page)}
        assert steps["accounting_variance"].text({"accounting_variance": 86_400}, "EUR")[0] == "+"
        assert steps["luck"].text({"luck": -86_400}, "EUR")[0] == "−"
        assert "+" not in steps["W_acct"].text({"W_acct": 86_400}, "EUR")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_figure_is_a_letter_without_its_name(report: NightReport, language: str) -> None:
    with translation.override(language):
        labels = [str(row["label"]) for row in LETTERS.rows(load_content(report))]
        handle, revenue = str(wording.FIGURES["S"]), str(wording.FIGURES["W_acct"])
    assert all(len(label) > len("(K)") + 1 for label in labels)
    assert {label[-3:] for label in labels[:13]} == {f"({letter})" for letter in "OFCKDBSLZVGUI"}
    assert ("Handle" if language == "en" else "Enjeux joués") in handle
    assert ("gross gaming revenue" if language == "en" else "produit brut des jeux") in revenue
