"""Exports of lists: the filtered rows and no other, safe in a spreadsheet, each download in the audit trail."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any

import pytest
from django.utils import timezone

from audit.event_store import audit_trail
from audit.models import Finding, Role
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
    assert exported(desk, "exe").status_code == 405
    assert client_of(desk.first).get("/admin/audit/finding/export/csv/").status_code == 405
    recorded = [
        (each.data["form"], each.data["rows"])
        for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if each.type == "findings.exported"
    ]
    assert recorded == [("xlsx", len(desk.findings)), ("pdf", len(desk.findings))]


@pytest.mark.superuser
def test_a_value_from_a_table_is_no_formula_in_a_spreadsheet(desk: Desk) -> None:
    with without_triggers():
        Finding.objects.filter(pk=desk.findings[0].pk).update(recorded="=cmd|' /C calc'!A0")
    values = [row["recorded"] for row in rows_of(exported(desk, "csv").content)]
    assert any("cmd" in each for each in values)
    assert not any(each.startswith(("=", "+", "-", "@")) for each in values)


def test_the_audit_trail_of_a_day_is_for_readers_of_the_casino_alone(desk: Desk) -> None:
    client = client_of(desk.auditor)
    client.get(f"/admin/audit/finding/{desk.findings[0].pk}/change/")
    page = client.get("/admin/audit-trail/?type=finding.viewed")
    assert [each["entry"].actor for each in page.context["entries"]] == [desk.auditor.username]
    assert client.get("/admin/audit-trail/?actor=nobody").context["entries"] == []
    assert client.get("/admin/audit-trail/?day=nonsense").status_code == 200
    rows = rows_of(client.post("/admin/audit-trail/export/csv/?type=finding.viewed").content)
    assert [row["action"] for row in rows] == ["finding.viewed"]
    other = client_of(hired(Tenant(), Role.AUDITOR, "other"))
    page = other.get(f"/admin/audit-trail/?casino={desk.tenant.code}&type=finding.viewed")
    assert page.context["entries"] == []
    assert client_of(desk.administrator).get("/admin/audit-trail/").status_code == 403


def test_the_first_page_counts_what_the_lists_show_and_is_not_for_administrators(desk: Desk) -> None:
    page = client_of(desk.first).get("/admin/").content.decode()
    assert f"<b>{len(desk.findings)}</b> Open" in page
    assert "Take the next finding" in page
    assert "Take the next finding" not in client_of(desk.auditor).get("/admin/").content.decode()
    assert "<b>" not in client_of(desk.administrator).get("/admin/").content.decode()
    assert "Dice changed" not in client_of(hired(Tenant(), Role.SECOND, "other")).get("/admin/").content.decode()
