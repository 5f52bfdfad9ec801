"""Casework: the state machine and its diagram, four eyes, and no access across casinos."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import IntegrityError, connection, transaction
from django.db.utils import Error as DatabaseError
from django.test import Client
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.casework import actions
from audit.casework.state_machine import TRANSITIONS
from audit.desk.sign_in import proof
from audit.event_store import audit_trail
from audit.management.commands.diagrams import CASES, with_diagrams
from audit.models import Case, CaseAction, Finding, Membership, Officer, Role
from audit.models.cases import State
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


PASSWORD = "x"
"""Of everybody whom ``hired`` makes."""


def hired(tenant: Tenant, role: Role, name: str) -> Officer:
    officer = Officer.objects.create_user(f"{name}-{tenant.code}", password=PASSWORD, is_staff=True)
    Membership.objects.create(officer=officer, casino=tenant.casino, role=role)
    return officer


class Desk:
    """A casino with findings, and an officer of every role."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        stream = f"cases-{self.tenant.code}"
        events = dice_changed_in_mid_series(self.tenant, stream)
        assert self.tenant.post(stream, events).status_code == 201
        self.stream = self.tenant.stream(stream)
        while (progress := advance(self.stream.pk)) is not None and progress.behind:
            pass
        self.findings = list(Finding.objects.filter(stream=self.stream, status="standing").order_by("pk"))
        assert len(self.findings) > 1
        self.first = hired(self.tenant, Role.OFFICER, "first")
        self.second = hired(self.tenant, Role.SECOND, "second")
        self.third = hired(self.tenant, Role.SECOND, "third")
        self.auditor = hired(self.tenant, Role.AUDITOR, "auditor")
        self.administrator = hired(self.tenant, Role.ADMINISTRATOR, "administrator")

    @property
    def case(self) -> Case:
        return Case.objects.get(pk=self.findings[0].case_id)

    def proposed_by(self, officer: Officer) -> Case:
        actions.perform(self.case.pk, officer, "take")
        return actions.perform(self.case.pk, officer, "propose", reason="the camera shows it", outcome="confirmed")


def client_of(officer: Officer) -> Client:
    client = Client()
    sign_in(client, officer)
    return client


def sign_in(client: Client, officer: Officer) -> None:
    """Give a browser the session of an officer who has just signed in, in one statement of the twenty-six of a sign-in.

    The audit trail has no entry of it, and the account no time of it: whoever tests these uses the form, or
    ``force_login``.
    """
    key, ends_at = uuid4().hex, timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    signed_in = SessionStore().encode(
        {
            SESSION_KEY: str(officer.pk),
            BACKEND_SESSION_KEY: "django.contrib.auth.backends.ModelBackend",
            HASH_SESSION_KEY: officer.get_session_auth_hash(),
            proof._PROVED_AT: time.time(),
        }
    )
    Session.objects.bulk_create([Session(session_key=key, session_data=signed_in, expire_date=ends_at)])
    client.cookies[settings.SESSION_COOKIE_NAME] = key


def post_transition(officer: Officer, finding: Finding, name: str, **form: str) -> int:
    address = f"/admin/audit/finding/{finding.pk}/case/{name}/"
    assert finding.case is not None
    read = {"proof_password": PASSWORD, "proposal": str(actions.proposal_of(finding.case))}
    return client_of(officer).post(address, {**read, **form}).status_code


def test_every_finding_has_a_case_that_stays_with_it_when_it_is_found_again(desk: Desk) -> None:
    assert all(finding.case_id for finding in desk.findings)
    assert desk.case.state == State.NEW
    assert desk.case.deadline > desk.case.opened_at
    again = Finding.objects.get(pk=desk.findings[0].pk)
    again.pk, again.engine_version = None, "another"
    again.save(force_insert=True)
    again.refresh_from_db()
    assert again.case_id == desk.findings[0].case_id


def test_two_officers_close_a_case_and_each_action_is_in_the_audit_trail_with_its_reason(desk: Desk) -> None:
    before = timezone.now().date()
    desk.proposed_by(desk.first)
    actions.perform(desk.case.pk, desk.second, "send_back", reason="which camera?")
    actions.perform(desk.case.pk, desk.first, "comment", reason="camera 4")
    actions.perform(desk.case.pk, desk.first, "propose", reason="camera 4, 20:14", outcome="confirmed")
    closed = actions.perform(desk.case.pk, desk.second, "approve")
    assert (closed.state, closed.approved_by, closed.proposed_by) == ("closed", desk.second, desk.first)
    recorded = [
        (each.type, each.actor, each.reason)
        for each in audit_trail.entries_of(desk.tenant.casino.pk, before)
        if each.type.startswith("case.")
    ]
    first, second = desk.first.username, desk.second.username
    assert recorded == [
        ("case.taken", first, ""),
        ("case.proposed", first, "the camera shows it"),
        ("case.sent_back", second, "which camera?"),
        ("case.commented", first, "camera 4"),
        ("case.proposed", first, "camera 4, 20:14"),
        ("case.closed", second, ""),
    ]
    assert [each.type for each in CaseAction.objects.filter(case=closed)] == [kind for kind, _, _ in recorded]


def test_approving_ones_own_proposal_is_refused_and_recorded(desk: Desk) -> None:
    desk.proposed_by(desk.second)
    assert post_transition(desk.second, desk.findings[0], "approve") == 302
    assert post_transition(desk.second, desk.findings[0], "send_back", reason="x") == 302
    assert desk.case.state == State.SECOND
    refused = [
        each
        for each in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
        if each.type == actions.REFUSED
    ]
    assert [(each.actor, each.data["about"]) for each in refused] == [
        (desk.second.username, "approve"),
        (desk.second.username, "send_back"),
    ]
    assert post_transition(desk.third, desk.findings[0], "approve") == 302
    assert desk.case.state == State.CLOSED


BY_HAND = (
    "state = 'closed', approved_by_id = proposed_by_id, closed_at = now()",
    "state = 'closed', approved_by_id = null, closed_at = now()",
    "state = 'closed', approved_by_id = {third}, proposed_by_id = {first}, closed_at = now()",
    "state = 'closed', approved_by_id = {third}, closed_at = now(), outcome = 'mistaken'",
    "state = 'closed', approved_by_id = {third}, closed_at = now(), reason = ''",
    "approved_by_id = {third}",
    "state = 'new'",
    "state = 'gone'",
    "seq = seq + 1",
    "opened_at = opened_at - interval '1 day'",
)


@pytest.mark.parametrize("change", in_short(BY_HAND, every=2))
def test_the_database_enforces_four_eyes_against_direct_updates(desk: Desk, change: str) -> None:
    desk.proposed_by(desk.second)
    written = change.format(first=desk.first.pk, third=desk.third.pk)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"update audit_case set {written} where id = %s", [desk.case.pk])
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("delete from audit_case where id = %s", [desk.case.pk])
    assert desk.case.state == State.SECOND


def test_a_new_case_cannot_be_closed_in_one_update_and_a_closed_one_cannot_be_changed(desk: Desk) -> None:
    whole = "state = 'closed', outcome = 'mistaken', reason = 'x', closed_at = now(), proposed_by_id = %s"
    whole += ", approved_by_id = %s"
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"update audit_case set {whole}", [desk.first.pk, desk.second.pk])
    desk.proposed_by(desk.first)
    actions.perform(desk.case.pk, desk.second, "approve")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("update audit_case set outcome = 'mistaken' where id = %s", [desk.case.pk])
    reopened = actions.perform(desk.case.pk, desk.third, "reopen", reason="it happened again")
    assert (reopened.state, reopened.outcome, reopened.approved_by) == ("investigating", "", None)


def test_no_officer_does_what_their_role_does_not_allow(desk: Desk) -> None:
    for officer in (desk.auditor, desk.administrator):
        for name in TRANSITIONS:
            with pytest.raises(actions.ActionRefused):
                actions.perform(desk.case.pk, officer, name, reason="x", outcome="confirmed", assignee=officer)
    desk.proposed_by(desk.second)
    for name in ("approve", "send_back"):
        with pytest.raises(actions.ActionRefused):
            actions.perform(desk.case.pk, desk.first, name, reason="x")
    assert desk.case.state == State.SECOND
    with pytest.raises(actions.ActionRefused):
        actions.perform(desk.case.pk, desk.first, "assign", assignee=desk.auditor)


def test_no_transition_from_another_state_or_without_the_values_it_needs(desk: Desk) -> None:
    for name, transition in TRANSITIONS.items():
        if State.NEW not in transition.sources:
            with pytest.raises(actions.ActionRefused):
                actions.perform(desk.case.pk, desk.third, name, reason="x", outcome="confirmed")
    actions.perform(desk.case.pk, desk.first, "take")
    for values in (
        {},
        {"reason": " "},
        {"reason": "x"},
        {"reason": "x", "outcome": "whatever"},
        {"outcome": "confirmed"},
    ):
        with pytest.raises(actions.ActionRefused):
            actions.perform(desk.case.pk, desk.first, "propose", **values)
    assert desk.case.state == State.INVESTIGATING


def test_an_officer_of_another_casino_gets_404(desk: Desk) -> None:
    stranger = hired(Tenant(), Role.SECOND, "stranger")
    finding = desk.findings[0]
    client = client_of(stranger)
    for address in (
        f"/admin/audit/finding/{finding.pk}/change/",
        f"/admin/audit/loggedstream/{desk.stream.pk}/events/",
    ):
        assert client.get(address).status_code == 404
    assert post_transition(stranger, finding, "take") == 404
    assert post_transition(stranger, finding, "approve") == 404
    with pytest.raises(actions.ActionRefused):
        actions.perform(desk.case.pk, stranger, "take")
    assert client.post("/admin/audit/finding/take-next/").status_code == 302
    bulk = {"action": "take_selected", "_selected_action": [finding.pk], "index": "0"}
    assert client.post("/admin/audit/finding/", bulk).status_code in (200, 302)
    assert desk.case.state == State.NEW
    assert b"Dice changed" not in client.get("/admin/audit/finding/").content


def test_auditors_see_everything_and_change_nothing_administrators_the_reverse(desk: Desk) -> None:
    auditor, administrator = client_of(desk.auditor), client_of(desk.administrator)
    finding = f"/admin/audit/finding/{desk.findings[0].pk}/change/"
    for address in ("/admin/audit/finding/", finding, f"/admin/audit/loggedstream/{desk.stream.pk}/table/"):
        assert auditor.get(address).status_code == 200
        assert administrator.get(address).status_code in (403, 404)
    assert b'name="action"' not in auditor.get("/admin/audit/finding/").content
    assert b"/case/take/" not in auditor.get(finding).content
    assert administrator.get("/admin/audit/apikey/").status_code == 200
    assert auditor.get("/admin/audit/apikey/").status_code == 403
    assert auditor.get("/admin/audit/officer/").status_code == 403


def test_a_transition_needs_a_post_with_a_csrf_token(desk: Desk) -> None:
    address = f"/admin/audit/finding/{desk.findings[0].pk}/case/take/"
    client = client_of(desk.first)
    assert client.get(address).status_code == 405
    assert client.get("/admin/audit/finding/take-next/").status_code == 405
    forged = Client(enforce_csrf_checks=True)
    forged.force_login(desk.first, backend="django.contrib.auth.backends.ModelBackend")
    assert forged.post(address).status_code == 403
    assert client.post(f"/admin/audit/finding/{desk.findings[0].pk}/case/nonsense/").status_code == 404
    assert desk.case.state == State.NEW


QUEUES = ("open", "unassigned", "mine", "second", "overdue", "closed")


def test_the_counts_of_the_queues_are_the_lengths_of_their_lists(
    desk: Desk, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    mine, other, *_ = desk.findings
    actions.perform(mine.case_id, desk.first, "take")
    actions.perform(other.case_id, desk.second, "take")
    actions.perform(other.case_id, desk.second, "propose", reason="x", outcome="explained")
    Case.objects.filter(pk=mine.case_id).update(deadline=timezone.now())
    client = client_of(desk.first)
    counted = {}
    for name in QUEUES:
        answer = client.get(f"/admin/audit/finding/?queue={name}")
        counted[name] = next(tab.count for tab in answer.context["tabs"] if tab.name == name)
        assert counted[name] == len(answer.context["cl"].result_list), name
    assert counted == {
        "open": len(desk.findings),
        "unassigned": len(desk.findings) - 2,
        "mine": 1,
        "second": 1,
        "overdue": 1,
        "closed": 0,
    }
    with django_assert_max_num_queries(30):
        client.get("/admin/audit/finding/?queue=open")


def test_several_cases_are_assigned_and_proposed_at_once_but_never_approved(desk: Desk) -> None:
    client = client_of(desk.second)
    chosen = [finding.pk for finding in desk.findings]
    client.post("/admin/audit/finding/", {"action": "take_selected", "_selected_action": chosen, "index": "0"})
    values = {"outcome": "explained", "reason": "training night"}
    sent = {"action": "propose_selected", "_selected_action": chosen, "index": "0", **values}
    page = client.post("/admin/audit/finding/", sent, follow=True).content.decode()
    assert f"You proposed closing {len(chosen)} cases." in page
    assert set(Case.objects.filter(findings__in=chosen).values_list("state", "reason")) == {
        ("second", "training night")
    }
    listed = client.get("/admin/audit/finding/").content.decode()
    assert 'value="take_selected"' in listed
    assert 'value="approve' not in listed
    assert "/case/approve/" not in listed
    again = client.post("/admin/audit/finding/", sent, follow=True).content.decode()
    assert f"{len(chosen)} cases were not" in again


def test_the_diagram_on_the_page_is_generated_from_the_state_machine() -> None:
    page = (Path(__file__).parents[3] / CASES).read_text()
    assert with_diagrams(CASES, page) == page
    for transition in TRANSITIONS.values():
        assert transition.target is None or f": {transition.name} (" in page
