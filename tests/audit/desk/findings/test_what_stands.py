"""Why a finding does not stand: on its page, in the list's filter, in the API and in the exports."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.access.scope import Scope
from audit.adjudication import replay
from audit.adjudication.replay import advance
from audit.desk.findings import page as finding_page
from audit.exports.findings import findings_by_id, findings_sheet
from audit.models import Finding, Officer
from tests.audit.adjudication.test_what_stands import (
    OVERPAID,
    PAID_RIGHT,
    corrected,
    in_steps_of_three,
    replayed,
    session,
)
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db(transaction=True)

LIST = reverse("admin:audit_finding_changelist")


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(Officer.objects.create_superuser("chief"))
    return client


def page_of(desk: Client, finding: Finding, language: str = "en") -> str:
    address = reverse("admin:audit_finding_change", args=(finding.pk,))
    answer = desk.get(address, headers={"accept-language": language})
    assert answer.status_code == 200
    return answer.content.decode()


def superseded(tenant: Tenant) -> Finding:
    """Return the overpaid payout that a correction has removed."""
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    corrected(tenant, events, PAID_RIGHT)
    replayed(stream_id)
    return Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")


def overtaken(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Finding:
    """Return the overpaid payout that one correction made and another took away in mid-run."""
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    replayed(stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    corrected(tenant, events, OVERPAID)
    in_steps_of_three(stream_id, 5)
    corrected(tenant, events, PAID_RIGHT)
    return Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")


def test_the_page_of_a_superseded_finding_names_the_run_and_links_to_the_correction(desk: Client) -> None:
    finding = superseded(Tenant())
    shown = page_of(desk, finding)
    assert "Superseded by run 2: correction #13" in shown
    events = reverse("admin:audit_loggedstream_events", args=(finding.stream_id,))
    assert f'<a href="{events}?after=12">Correction #13, approved by chef-4</a>: misread chip' in shown
    assert "Remplacé par le passage 2 : rectification n° 13" in page_of(desk, finding, "fr")


def test_the_page_of_a_finding_names_the_engine_version_that_superseded_it(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id, _events = session(Tenant(), "s", OVERPAID)
    replayed(stream_id)
    monkeypatch.setattr(replay, "ENGINE_VERSION", "2")
    advance(stream_id)
    finding = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid", engine_version="1")
    assert "Superseded by run 2: engine version 2" in page_of(desk, finding)


def test_a_pending_finding_and_one_that_never_stood_have_a_page_without_a_case(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = overtaken(Tenant(), monkeypatch)
    shown = page_of(desk, finding)
    assert "Pending: it stands, and opens a case, when run 2 is complete." in shown
    replayed(finding.stream_id)
    shown = page_of(desk, finding)
    assert "Superseded by run 3: correction #14" in shown
    assert "It never stood" in shown
    assert finding_page.RULES[finding.rule].title.en in shown


def test_a_finding_that_never_stood_is_in_no_list_unless_asked_for(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = Tenant()
    finding = overtaken(tenant, monkeypatch)
    address = reverse("admin:audit_finding_change", args=(finding.pk,))
    assert address in desk.get(f"{LIST}?standing=pending").content.decode()
    replayed(finding.stream_id)
    for query in ("", "?standing=superseded", "?standing=all", "?standing=pending"):
        assert address not in desk.get(LIST + query).content.decode(), query
    assert address in desk.get(f"{LIST}?standing=never").content.decode()

    def listed(query: str) -> list[int]:
        return [each["id"] for each in tenant.get(f"/findings{query}").json()["results"]]

    for query in ("", "?status=standing", "?status=superseded", "?status=pending"):
        assert finding.pk not in listed(query), query
    assert listed("?status=never-stood") == [finding.pk]


def test_the_api_and_the_export_say_by_which_run_a_finding_was_superseded() -> None:
    tenant = Tenant()
    finding = superseded(tenant)
    answer: dict[str, Any] = tenant.get(f"/findings/{finding.pk}").json()
    assert answer["status"] == "superseded"
    assert answer["superseded_at"] is not None
    superseded_by = answer["superseded_by"]
    assert superseded_by.pop("began_at")
    assert superseded_by == {"run": 2, "cause": "correction", "engine_version": "1", "correction": 13}
    sheet = findings_sheet(findings_by_id([finding.pk], Scope(None)))
    row = dict(zip([column.name for column in sheet.columns], sheet.rows[0], strict=True))
    assert (row["status"], row["superseded by"]) == ("superseded", "run 2: correction #13")
    standing = Finding.objects.standing().get(stream_id=finding.stream_id)
    answer = tenant.get(f"/findings/{standing.pk}").json()
    assert (answer["status"], answer["superseded_at"], answer["superseded_by"]) == ("standing", None, None)
