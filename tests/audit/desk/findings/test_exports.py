"""Exports of lists: the filtered rows and no other, safe in a spreadsheet, each download in the audit trail."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone, translation

from audit.casework.stakes import money_at_stake
from audit.desk.findings import admin as findings_admin
from audit.event_store import audit_trail
from audit.exports.findings import COLUMNS, PRINTED
from audit.exports.lists import _pdf_data
from audit.exports.sheets import Column, Sheet
from audit.models import Finding, Person, PersonKind, Role
from audit.presentation import (
    date_time,
    money,
)
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant
from tests.roles import without_triggers

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return Desk()


def exported(desk: Desk, format: str, query: str = "") -> Any:
    return client_of(desk.first).post(f"/admin/audit/finding/export/{format}/{query}")


def rows_of(body: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body.decode())))


def test_a_file_has_exactly_the_rows_of_the_filtered_list(desk: Desk) -> None:
    assert {int(row["id"]) for row in rows_of(exported(desk, "csv").content)} == {each.pk for each in desk.findings}
    rule = desk.findings[0].rule
    filtered = rows_of(exported(desk, "csv", f"?rule={rule}").content)
    assert {row["rule"] for row in filtered} == {rule}
    assert len(filtered) == sum(each.rule == rule for each in desk.findings)
    assert rows_of(exported(desk, "csv", "?queue=closed").content) == []
    other = client_of(hired(Tenant(), Role.SECOND, "other"))
    assert rows_of(other.post("/admin/audit/finding/export/csv/").content) == []
    assert client_of(desk.administrator).post("/admin/audit/finding/export/csv/").status_code == 403


def test_every_format_is_a_file_of_its_kind_and_each_download_is_in_the_audit_trail(desk: Desk) -> None:
    book = zipfile.ZipFile(io.BytesIO(exported(desk, "xlsx").content))
    assert "xl/worksheets/sheet1.xml" in book.namelist()
    assert exported(desk, "pdf").content.startswith(b"%PDF-")
    assert len(json.loads(exported(desk, "json").content)) == len(desk.findings)
    assert exported(desk, "exe").status_code == 405
    assert client_of(desk.first).get("/admin/audit/finding/export/csv/").status_code == 405
    recorded = [
        (each.data["form"], each.data["rows"])
        for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if each.type == "findings.exported"
    ]
    assert recorded == [(format, len(desk.findings)) for format in ("xlsx", "pdf", "json")]


@pytest.mark.superuser
def test_money_is_in_units_of_the_currency_and_says_who_owes_whom(desk: Desk) -> None:
    """One pays 9.00 for 7.00: the player has 2.00 too much."""
    overpaid = Finding.objects.get(casino=desk.tenant.casino, rule="payout-overpaid")
    with without_triggers():
        Finding.objects.filter(pk=overpaid.pk).update(player="p0412", croupier="c-9")
    Person.objects.create(casino=desk.tenant.casino, code="p0412", kind=PersonKind.PLAYER, name="Anna Ferrand")
    named = "Anna Ferrand (p0412)"
    [row] = [row for row in rows_of(exported(desk, "csv").content) if row["rule"] == "payout-overpaid"]
    assert (row["expected"], row["recorded"], row["amount"], row["currency"]) == ("7.00", "9.00", "2.00", "EUR")
    assert (row["owed by"], row["owed to"]) == (named, "the house")
    assert (row["player"], row["croupier"]) == (named, "c-9")
    assert row["money"] == f"€2.00 overpaid to {named}"
    assert row["what to do"] == f"Recover €2.00 from {named}."
    book = zipfile.ZipFile(io.BytesIO(exported(desk, "xlsx").content))
    assert re.search(r"<c [^>]*><v>2</v></c>", book.read("xl/worksheets/sheet1.xml").decode())
    assert "#,##0.00" in book.read("xl/styles.xml").decode()
    [entry] = [each for each in json.loads(exported(desk, "json").content) if each["rule"] == "payout-overpaid"]
    assert (entry["amount"], entry["owed_by"], entry["owed_to"]) == ("2.00", "p0412", "the house")
    assert "Anna" not in json.dumps(entry), "JSON has ids alone"
    listed = client_of(desk.first).get("/admin/audit/finding/").content.decode()
    page = client_of(desk.first).get(f"/admin/audit/finding/{overpaid.pk}/change/").content.decode()
    assert re.search(r'<span class="money">€2.00</span><br><span class="who bank">.*?overpaid to Anna Ferrand<', listed)
    assert "Anna Ferrand (" not in listed, "on a page a name stands alone"
    assert 'Anna Ferrand was overpaid <em class="bank">€2</em>' in page
    assert "Anna" not in client_of(desk.auditor).get("/admin/audit/finding/").content.decode()
    assert "overpaid to p0412<" in client_of(desk.auditor).get("/admin/audit/finding/").content.decode()


@pytest.mark.parametrize(
    ("difference", "owed", "cells"),
    [
        (-86_400, {"by": "house", "to": "p1", "amount": 86_400}, ("864.00", "the house", "p1")),
        (200, {"by": "player", "to": None, "amount": 200}, ("2.00", "p1", "the house")),
        (50, None, ("0.50", "", "")),
        (None, None, ("None", "", "")),
    ],
)
def test_the_money_of_a_finding_has_no_sign_in_a_file(
    difference: int | None, owed: dict[str, Any] | None, cells: tuple[str, str, str]
) -> None:
    finding = Finding(rule="payout-missing", severity="major", seq=1, evidence=[1], currency="EUR", player="p1")
    finding.difference, finding.owed = difference, owed
    assert tuple(str(COLUMNS[name].cell(finding)) for name in ("amount", "owed_by", "owed_to")) == cells
    assert not {"difference", "owed"} & COLUMNS.keys()


def test_a_printed_list_has_the_columns_that_a_page_has_room_for() -> None:
    columns = [Column(name.upper(), key=name) for name in COLUMNS]
    row = [Decimal("864.00") if name == "money" else None if name == "wager" else name for name in COLUMNS]
    data = _pdf_data(Sheet("findings", columns, [row], PRINTED), "Findings", [], date(2026, 11, 22))
    assert data["headings"] == [name.upper() for name in COLUMNS if name in PRINTED]
    printed = dict(zip(data["headings"], data["rows"][0], strict=True))
    assert (printed["MONEY"], printed["WAGER"], printed["REMEDY"]) == ("864.00", "", "remedy")
    assert len(_pdf_data(Sheet("trail", columns, [row]), "Trail", [], date(2026, 11, 22))["headings"]) == len(COLUMNS)


@pytest.mark.parametrize(
    ("language", "day", "says"),
    [
        ("en", "Thu 19 Nov 2026", ["Queue: Open", "Rule or article: Paid too much", "Search: w2"]),
        pytest.param(
            "fr",
            "jeudi 19 nov. 2026",
            ["File : Ouverts", "Règle ou article : Paiement excessif", "Recherche : w2"],
            marks=pytest.mark.faults,
        ),
    ],
)
def test_a_file_has_dates_and_filters_in_words_and_json_has_dates_as_machines_read_them(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, language: str, day: str, says: list[str]
) -> None:
    given: list[list[str]] = []
    whole = findings_admin.list_response

    def noted(sheet: Sheet, format: str, *, title: str, filters: list[str], day: date) -> Any:
        given.append(filters)
        return whole(sheet, format, title=title, filters=filters, day=day)

    monkeypatch.setattr(findings_admin, "list_response", noted)
    client, query = client_of(desk.first), "?queue=open&rule=payout-overpaid&q=w2"
    headers = {"accept-language": language}
    with translation.override(language):  # as it was, after the request
        body = client.post(f"/admin/audit/finding/export/csv/{query}", headers=headers).content.decode()
        answer = client.post(f"/admin/audit/finding/export/json/{query}", headers=headers)
    assert day in body
    assert ", 20:00:12 CET" in body
    assert "2026-11-19" not in body
    assert given == [says, says]
    [entry] = json.loads(answer.content)
    assert (entry["gaming_day"], entry["occurred"]) == ("2026-11-19", "2026-11-19T20:00:12+01:00")


@pytest.mark.parametrize(
    ("difference", "owed", "player", "rule", "expected"),
    [
        (-86_400, {"by": "house", "to": "p1", "amount": 86_400}, "p1", "payout-missing", "€864 owed to p1"),
        (
            -86_400,
            {"by": "house", "to": None, "amount": 86_400},
            "",
            "payout-missing",
            "€864 owed to an unknown player",
        ),
        (200, {"by": "player", "to": None, "amount": 200}, "p1", "losing-wager-not-collected", "€2 owed by p1"),
        (200, {"by": "player", "to": None, "amount": 200}, "", "payout-overpaid", "€2 overpaid"),
        (50, None, "p1", "rounded-in-players-favour", "€0.50 too much, not owed"),
        (0, None, "p1", "payout-put-right", "put right"),
        (None, None, "p1", "dice-set-not-six", ""),
    ],
)
def test_money_is_in_words_without_a_sign(
    difference: int | None, owed: dict[str, Any] | None, player: str, rule: str, expected: str
) -> None:
    finding = Finding(rule=rule, severity="major", seq=1, evidence=[1], currency="EUR", player=player)
    finding.difference, finding.owed = difference, owed
    assert money_at_stake(finding) == expected
    in_a_table = expected.replace("€864 ", "€864.00 ").replace("€2 ", "€2.00 ")
    assert money_at_stake(finding, write=money) == in_a_table, "to the cent"


@pytest.mark.superuser
def test_a_value_from_a_table_is_no_formula_in_a_spreadsheet(desk: Desk) -> None:
    with without_triggers():
        Finding.objects.filter(pk=desk.findings[0].pk).update(recorded="=cmd|' /C calc'!A0")
    values = [row["recorded"] for row in rows_of(exported(desk, "csv").content)]
    assert any("cmd" in each for each in values)
    assert not any(each.startswith(("=", "+", "-", "@")) for each in values)


def test_what_the_audit_trail_quotes_is_no_markup(desk: Desk) -> None:
    data = {"search": "<i>1</i>", "words": ["<i>2</i>"]}
    audit_trail.record("<i>3</i>", "a.<i>4</i>", casino_id=desk.tenant.casino.pk, data=data, reason="<i>5</i>")
    page = client_of(desk.auditor).get("/admin/audit-trail/").content.decode()
    assert [f"&lt;i&gt;{number}&lt;/i&gt;" in page for number in range(1, 6)] == [True] * 5
    assert not any(f"<i>{number}</i>" in page for number in range(1, 6))


def test_the_audit_trail_writes_days_and_digests_as_the_desk_does_and_to_a_machine_as_they_are(desk: Desk) -> None:
    data = {"gaming_day": "2026-11-19", "digest": "ab" * 32, "at": "2026-11-19T22:41:00+00:00"}
    audit_trail.record("anna", "a.b", casino_id=desk.tenant.casino.pk, data=data)
    client = client_of(desk.auditor)
    rows = client.get("/admin/audit-trail/?type=a.b").context["rows"]
    assert "gaming day: 19 Nov · time: 19 Nov, 23:41 CET · digest: abababab…abab" in rows
    [row] = rows_of(client.post("/admin/audit-trail/export/csv/?type=a.b").content)
    assert row["about"] == f"gaming day: 19 Nov · time: 19 Nov, 23:41 CET · digest: {'ab' * 32}"
    [as_json] = json.loads(client.post("/admin/audit-trail/export/json/?type=a.b").content)
    assert "gaming_day 2026-11-19" in as_json["about"]


def test_the_audit_trail_of_a_day_is_for_readers_of_the_casino_alone(desk: Desk) -> None:
    client = client_of(desk.auditor)
    client.get(f"/admin/audit/finding/{desk.findings[0].pk}/change/")
    page = client.get("/admin/audit-trail/?type=finding.viewed")
    assert page.context["rows"].count("<tr>") == 1
    assert (
        f'<td>{desk.auditor.username}</td><td title="finding.viewed">looked at a finding</td>' in page.context["rows"]
    )
    assert client.get("/admin/audit-trail/?actor=nobody").context["rows"] == ""
    assert client.get("/admin/audit-trail/?day=nonsense").status_code == 200
    rows = rows_of(client.post("/admin/audit-trail/export/csv/?type=finding.viewed").content)
    assert [row["action"] for row in rows] == ["finding.viewed"]
    [entry] = [
        each
        for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if each.type == "finding.viewed"
    ]
    assert rows[0]["at"] == date_time(entry.at, desk.tenant.casino, seconds=True, with_year=True)
    assert f'<td><time datetime="{entry.at:%Y}' in page.content.decode()
    assert date_time(entry.at, desk.tenant.casino, seconds=True) in page.content.decode()
    [as_json] = json.loads(client.post("/admin/audit-trail/export/json/?type=finding.viewed").content)
    assert datetime.fromisoformat(as_json["at"]) == entry.at
    other = client_of(hired(Tenant(), Role.AUDITOR, "other"))
    page = other.get(f"/admin/audit-trail/?casino={desk.tenant.code}&type=finding.viewed")
    assert page.context["rows"] == ""
    assert client_of(desk.administrator).get("/admin/audit-trail/").status_code == 403


def test_the_first_page_counts_what_the_lists_show_and_is_not_for_administrators(desk: Desk) -> None:
    page = client_of(desk.first).get("/admin/").content.decode()
    assert f"Findings<b>{len(desk.findings)}</b>" in page
    assert "Take the next finding" in page
    assert "Take the next finding" not in client_of(desk.auditor).get("/admin/").content.decode()
    assert "<b>" not in client_of(desk.administrator).get("/admin/").content.decode()
    assert "Dice changed" not in client_of(hired(Tenant(), Role.SECOND, "other")).get("/admin/").content.decode()
