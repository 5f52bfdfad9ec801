"""Why a finding does not stand: on its page, in the list's filter, in the API and in the exports."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.access.scope import Scope
from audit.adjudication import replay
from audit.adjudication.replay import advance
from audit.desk.findings import page as finding_page
from audit.desk.findings.admin import FindingAdmin
from audit.exports.findings import findings_by_id, findings_sheet
from audit.models import Finding, Officer
from settlement import ENGINE_VERSION
from tests.audit.adjudication.test_what_stands import (
    OVERPAID,
    PAID_RIGHT,
    corrected,
    in_steps_of_three,
    replayed,
    session,
)
from tests.audit.casework.test_actions import sign_in
from tests.audit.corrections.corrections_desk import approve, finding_of
from tests.audit.tables import TOUCHED_WRONGLY, Tenant, dice_touched_wrongly, numbered, touched_for

pytestmark = pytest.mark.django_db

LIST = reverse("admin:audit_finding_changelist")


@pytest.fixture
def desk() -> Client:
    client = Client()
    sign_in(client, Officer.objects.create_superuser("chief"))
    return client


def page_of(desk: Client, finding: Finding, language: str = "en") -> str:
    address = reverse("admin:audit_finding_change", args=(finding.pk,))
    answer = desk.get(address, headers={"accept-language": language})
    assert answer.status_code == 200
    return answer.content.decode()


def superseded(tenant: Tenant) -> Finding:
    """Return the touch of the dice that correction 9 has removed, in its coup and before money moved."""
    events = dice_touched_wrongly(tenant, "s")
    for sent in (events, [touched_for(events, "examine", seq=9)]):
        assert tenant.post("s", sent).status_code == 201
        replayed(tenant.stream("s").stream_id)
    return Finding.objects.get(stream=tenant.stream("s"), rule=TOUCHED_WRONGLY[0])


def superseded_while_another_waits(tenant: Tenant, *, is_annulled: bool = False) -> Finding:
    """Return the touch of the dice that event 9 has removed; one run also learns of correction 10, which waits.

    Event 9 corrects the touch, or annuls it.
    """
    events = dice_touched_wrongly(tenant, "s")
    assert tenant.post("s", events).status_code == 201
    replayed(tenant.stream("s").stream_id)
    removal = touched_for(events, "examine", seq=9)
    if is_annulled:
        removal |= {"type": "entry.annulled", "data": {"annuls": 8, "reason": "twice", "approved_by": "chef-4"}}
    data = {"corrects": 1, "data": events[0]["data"], "reason": "float", "approved_by": "chef-4"}
    waiting = {**removal, "seq": 10, "type": "entry.corrected", "data": data}
    assert tenant.post("s", [removal, waiting]).status_code == 201
    replayed(tenant.stream("s").stream_id)
    assert finding_of(tenant.stream("s").stream_id, 10).facts["waits"] == "waits"
    return Finding.objects.get(stream=tenant.stream("s"), rule=TOUCHED_WRONGLY[0])


def superseded_by_approval(tenant: Tenant) -> Finding:
    """Return the overpaid payout that correction 16 has removed, once two officers had approved it."""
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    corrected(tenant, events, PAID_RIGHT)
    replayed(stream_id)
    waiting = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    assert waiting.status == "standing", "the correction came after money moved, and waits"
    approve(tenant.casino, stream_id, 16)
    replayed(stream_id)
    return Finding.objects.get(pk=waiting.pk)


def overtaken(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Finding:
    """Return the overpaid payout that one correction made and another took away in mid-run."""
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    replayed(stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    corrected(tenant, events, OVERPAID)
    in_steps_of_three(stream_id, 6)
    corrected(tenant, events, PAID_RIGHT)
    return Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")


def test_the_page_of_a_superseded_finding_names_the_run_and_links_to_the_correction(desk: Client) -> None:
    finding = superseded(Tenant())
    shown = page_of(desk, finding)
    assert "Superseded by run 2: correction #9" in shown
    events = reverse("admin:audit_loggedstream_events", args=(finding.stream_id,))
    assert f'<a href="{events}?after=8">Correction #9, approved by chef-4</a>: “misread”' in shown
    assert "Remplacé par le passage 2 : correction n° 9" in page_of(desk, finding, "fr")


def test_of_two_corrections_that_a_run_knows_the_one_that_hides_the_finding_is_named(desk: Client) -> None:
    tenant = Tenant()
    finding = superseded_while_another_waits(tenant)
    run = finding.superseded_by_run
    assert run is not None
    assert (run.cause, run.corrections_through) == ("correction", 10)
    shown = page_of(desk, finding)
    assert f"Superseded by run {run.number}: correction #9," in shown
    assert "#10" not in shown.split("Why this finding does not stand")[1].split("</section>")[0]
    events = reverse("admin:audit_loggedstream_events", args=(finding.stream_id,))
    assert f'<a href="{events}?after=8">Correction #9, approved by chef-4</a>: “misread”' in shown
    answer = tenant.get(f"/findings/{finding.pk}").json()["superseded_by"]
    assert (answer["correction"], answer["corrections"]) == (9, [{"seq": 9, "type": "entry.corrected"}])
    sheet = findings_sheet(findings_by_id([finding.pk], Scope(None)))
    row = dict(zip([column.name for column in sheet.columns], sheet.rows[0], strict=True))
    assert row["superseded by"] == f"run {run.number}: correction #9"


def test_what_an_annulment_removed_names_it_with_a_link_and_who_approved_it(desk: Client) -> None:
    tenant = Tenant()
    finding = superseded_while_another_waits(tenant, is_annulled=True)
    assert finding.superseded_by_run is not None
    number = finding.superseded_by_run.number
    events = reverse("admin:audit_loggedstream_events", args=(finding.stream_id,))
    shown = page_of(desk, finding)
    assert f"Superseded by run {number}: annulment #9," in shown
    assert f'<a href="{events}?after=8">Annulment #9, approved by chef-4</a>: “twice”' in shown
    shown = page_of(desk, finding, "fr")
    assert f"Remplacé par le passage {number} : annulation n° 9," in shown
    shown = shown.replace("\N{NO-BREAK SPACE}", " ")
    assert f'<a href="{events}?after=8">Annulation n° 9, approuvée par chef-4</a> : « twice »' in shown
    answer = tenant.get(f"/findings/{finding.pk}").json()["superseded_by"]
    assert (answer["correction"], answer["corrections"]) == (9, [{"seq": 9, "type": "entry.annulled"}])


def test_what_an_approved_annulment_removed_names_both_officers(desk: Client) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    finding = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    data = {"annuls": finding.seq, "reason": "twice", "approved_by": "chef-4"}
    annulment = numbered(events[0], *[("x", {})] * (len(events) - 1), ("entry.annulled", data))[-1]
    assert tenant.post("s", [annulment]).status_code == 201
    replayed(stream_id)
    approve(tenant.casino, stream_id, annulment["seq"])
    replayed(stream_id)
    finding.refresh_from_db()
    assert finding.status == "superseded"
    shown = page_of(desk, finding)
    officers = ", ".join(f"approver{number}-{tenant.code}-{stream_id}-{annulment['seq']}" for number in (1, 2))
    countersigned = f'<span class="quiet">countersigned by {officers}</span>'
    assert f"Annulment #{annulment['seq']}, approved by chef-4</a>: “twice” {countersigned}" in shown


def test_a_sentence_that_ends_with_a_time_has_one_period(desk: Client) -> None:
    shown = page_of(desk, superseded(Tenant()))
    assert re.search(r"Superseded by run 2: correction #9, \d+ \w+, \d\d:\d\d C\w+\.</p>", shown)


def test_the_page_of_a_finding_that_an_approval_superseded_links_to_the_correction_and_names_both_officers(
    desk: Client,
) -> None:
    tenant = Tenant()
    finding = superseded_by_approval(tenant)
    assert finding.superseded_by_run is not None
    shown = page_of(desk, finding)
    assert f"Superseded by run {finding.superseded_by_run.number}: approval of a correction" in shown
    events = reverse("admin:audit_loggedstream_events", args=(finding.stream_id,))
    officers = [f"approver{number}-{tenant.code}-{finding.stream_id}-16" for number in (1, 2)]
    link = f'<a href="{events}?after=15">Correction #16, approved by chef-4</a>: “misread chip”'
    assert f'{link} <span class="quiet">countersigned by {", ".join(officers)}</span>' in shown


def test_the_page_of_a_finding_names_the_engine_version_that_superseded_it(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id, _events = session(Tenant(), "s", OVERPAID)
    replayed(stream_id)
    monkeypatch.setattr(replay, "ENGINE_VERSION", "next")
    advance(stream_id)
    finding = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid", engine_version=ENGINE_VERSION)
    assert "Superseded by run 2: engine version next" in page_of(desk, finding)


def test_a_pending_finding_and_one_that_never_stood_have_a_page_without_a_case(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = overtaken(Tenant(), monkeypatch)
    shown = page_of(desk, finding)
    assert "Pending: it will stand, and open a case, once run 2 is complete." in shown
    replayed(finding.stream_id)
    shown = page_of(desk, finding)
    assert "Superseded by run 3: a correction that waits for two officers" in shown
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
    assert superseded_by == {
        "run": 2,
        "cause": "correction",
        "engine_version": ENGINE_VERSION,
        "correction": 9,
        "corrections": [{"seq": 9, "type": "entry.corrected"}],
        "register": None,
        "approved": None,
    }
    sheet = findings_sheet(findings_by_id([finding.pk], Scope(None)))
    row = dict(zip([column.name for column in sheet.columns], sheet.rows[0], strict=True))
    assert (row["status"], row["superseded by"]) == ("superseded", "run 2: correction #9")
    standing = Finding.objects.standing().get(stream_id=finding.stream_id, rule="entry-corrected")
    answer = tenant.get(f"/findings/{standing.pk}").json()
    assert (answer["status"], answer["superseded_at"], answer["superseded_by"]) == ("standing", None, None)


def test_the_api_and_the_export_say_that_an_approval_superseded_a_finding() -> None:
    tenant = Tenant()
    finding = superseded_by_approval(tenant)
    assert finding.superseded_by_run is not None
    number = finding.superseded_by_run.number
    superseded_by = tenant.get(f"/findings/{finding.pk}").json()["superseded_by"]
    assert superseded_by.pop("began_at")
    assert superseded_by == {
        "run": number,
        "cause": "approval",
        "engine_version": ENGINE_VERSION,
        "correction": None,
        "corrections": [{"seq": 16, "type": "entry.corrected"}],
        "register": None,
        "approved": [16],
    }
    sheet = findings_sheet(findings_by_id([finding.pk], Scope(None)))
    row = dict(zip([column.name for column in sheet.columns], sheet.rows[0], strict=True))
    assert (row["status"], row["superseded by"]) == ("superseded", f"run {number}: approval of a correction")


def test_each_finding_that_a_list_counts_is_on_one_of_its_pages(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for _casino in range(2):
        overtaken(Tenant(), monkeypatch)
    assert Finding.objects.filter(status="pending").count() > 1
    monkeypatch.setattr(FindingAdmin, "list_per_page", 1)
    found = {}
    for query in ("standing=pending", "standing=all", "standing=superseded", ""):
        listed = desk.get(f"{LIST}?{query}").context["cl"]
        pages = [
            desk.get(f"{LIST}?{query}&p={number}").context["cl"].result_list for number in listed.paginator.page_range
        ]
        shown = [finding.pk for page in pages for finding in page]
        found[query] = (len(shown), len(set(shown)), listed.result_count)
    assert all(shown == different == counted for shown, different, counted in found.values()), found
