"""Saved views, own and shared, and findings in groups."""

from __future__ import annotations

import pytest

from audit.casework import actions
from audit.desk.findings.saved_views import filter_query
from audit.models import Casino, Role, SavedView
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_saved_view_has_the_filter_and_is_shared_with_officers_of_the_same_casino_alone(desk: Desk) -> None:
    mine, colleague = client_of(desk.first), client_of(desk.second)
    stranger = client_of(hired(Tenant(), Role.SECOND, "stranger"))
    form = {"name": "Dice", "query": "queue=open&rule=throw-delayed&next=//evil.example", "shared": "on"}
    assert mine.post("/admin/audit/finding/views/save/", form)["Location"].endswith("?queue=open&rule=throw-delayed")
    mine.post("/admin/audit/finding/views/save/", {"name": "Own", "query": "queue=mine"})
    assert mine.post("/admin/audit/finding/views/save/", {"name": " ", "query": ""}).status_code == 302
    for client, names in ((mine, {"Dice", "Own"}), (colleague, {"Dice"}), (stranger, set())):
        assert {view.name for view in client.get("/admin/audit/finding/").context["views"]} == names
    view = SavedView.objects.get(name="Dice")
    assert view.query == "queue=open&rule=throw-delayed"
    assert colleague.post(f"/admin/audit/finding/views/{view.pk}/delete/").status_code == 404
    assert mine.get(f"/admin/audit/finding/views/{view.pk}/delete/").status_code == 405
    mine.post("/admin/audit/finding/views/save/", {**form, "query": "queue=closed"})
    assert SavedView.objects.get(name="Dice").query == "queue=closed"
    assert mine.post(f"/admin/audit/finding/views/{view.pk}/delete/").status_code == 302
    assert not SavedView.objects.filter(name="Dice").exists()


def test_only_filter_parameters_are_saved() -> None:
    assert filter_query("p=7&queue=open&_popup=1&q=w1&q=") == "queue=open&q=w1"
    assert len(filter_query("q=" + "x" * 5_000)) <= 500


@pytest.mark.superuser
def test_a_group_counts_incidents_as_the_list_that_it_opens_as_and_names_its_casino(desk: Desk) -> None:
    Casino.objects.filter(pk=desk.tenant.casino.pk).update(name="Casino de Deauville")
    cause = found(desk, "major", euros=50)
    causes = [{"rule": cause.rule, "seq": cause.seq, "wager": None}]
    found(desk, "minor", rule="payout-missing", case=cause.case, causes=causes)
    client = client_of(desk.first)
    rows = client.get("/admin/audit/finding/groups/").context["rows"]
    assert sum(row["count"] for row in rows) == len(desk.findings) + 1
    assert "payout-missing" not in {row["rule"] for row in rows}
    assert {row["casino"] for row in rows} == {"Casino de Deauville"}
    for row in rows:
        listed = client.get(f"/admin/audit/finding/?{row['query']}").context["cl"].result_list
        assert len(listed) == row["count"]


def test_a_group_of_open_findings_at_ones_own_casinos_opens_as_its_list(desk: Desk) -> None:
    client = client_of(desk.first)
    rows = client.get("/admin/audit/finding/groups/").context["rows"]
    assert sum(row["count"] for row in rows) == len(desk.findings)
    tables = {(str(finding.casino), finding.table.code if finding.table else "") for finding in desk.findings}
    assert {(row["casino"], row["table"]) for row in rows} == tables
    for row in rows:
        listed = client.get(f"/admin/audit/finding/?{row['query']}").context["cl"].result_list
        assert len(listed) == row["count"]
    actions.perform(desk.case.pk, desk.first, "take")
    actions.perform(desk.case.pk, desk.first, "propose", reason="x", outcome="explained")
    actions.perform(desk.case.pk, desk.second, "approve")
    rows = client.get("/admin/audit/finding/groups/").context["rows"]
    assert sum(row["count"] for row in rows) == len(desk.findings) - 1
    assert client_of(hired(Tenant(), Role.SECOND, "other")).get("/admin/audit/finding/groups/").context["rows"] == []
    assert client_of(desk.administrator).get("/admin/audit/finding/groups/").status_code == 403
