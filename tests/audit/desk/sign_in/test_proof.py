"""Asking again: approving, closing and signing need a password, and a second factor, given minutes ago."""

from __future__ import annotations

import html
import re
import time
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone
from django_otp.oath import TOTP, totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts
from audit.casework import actions
from audit.desk.sign_in.proof import proved
from audit.models import AccountRequest, ApiKey, Officer, Role, SignInRefusal
from audit.models.cases import State
from tests.audit.casework.test_actions import PASSWORD, Desk, client_of, hired

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.proposed_by(desk.first)
    return desk


@pytest.fixture
def deployed(settings: Any) -> None:
    settings.AXES_ENABLED = True
    settings.AUTHENTICATION_BACKENDS = settings.ALL_AUTHENTICATION_BACKENDS


def stale(officer: Officer) -> Client:
    """Return the client of an officer who signed in six minutes ago."""
    client = client_of(officer)
    session = client.session
    session["proved_at"] = time.time() - 360
    session.save()
    return client


def hidden(response: HttpResponse) -> dict[str, str]:
    """Return the fields that the page keeps of the form that was sent."""
    page = response.content.decode()
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in found if name not in ("csrfmiddlewaretoken", "next")}


def address(desk: Desk, name: str) -> str:
    return f"/admin/audit/finding/{desk.findings[0].pk}/case/{name}/"


def proposal(desk: Desk) -> dict[str, str]:
    """Return the field by which a decision names the proposal that its page showed."""
    return {"proposal": str(actions.proposal_of(desk.case))}


def test_a_proof_of_five_minutes_ago_does_not_approve_and_the_password_does(desk: Desk) -> None:
    client = stale(desk.second)
    response = client.post(address(desk, "approve"))
    assert response.status_code == 403
    assert "no-store" in response["Cache-Control"]
    assert desk.case.state == State.SECOND
    wrong = client.post(address(desk, "approve"), {"proof_password": "wrong"})
    assert (wrong.status_code, desk.case.state) == (403, State.SECOND)
    assert SignInRefusal.objects.get().refusals == 1, "it counts as a failed sign-in"
    proof = {"proof_password": PASSWORD, **proposal(desk)}
    assert client.post(address(desk, "approve"), proof).status_code == 302
    assert desk.case.state == State.CLOSED
    assert client.post(address(desk, "reopen"), {"reason": "one more look"}).status_code == 302
    assert desk.case.state == State.INVESTIGATING, "the proof is fresh for five minutes"
    actions.perform(desk.case.pk, desk.first, "propose", reason="seen again", outcome="confirmed")
    assert client.post(address(desk, "approve")).status_code == 403, "but a closing is signed by its own"


def test_the_sign_in_is_a_proof_for_five_minutes(desk: Desk) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = client_of(desk.second)
        clock.shift(299)
        assert client.post(address(desk, "hold"), {"reason": "the prosecutor asked"}).status_code == 302
        clock.shift(1)
        assert client.post(address(desk, "lift_hold"), {"reason": "settled"}).status_code == 403


def test_the_page_that_asks_keeps_what_was_entered(desk: Desk) -> None:
    client = stale(desk.second)
    reason = 'which "camera"?\n<b>4</b> & 5'
    entered = {"reason": reason, **proposal(desk)}
    page = client.post(address(desk, "send_back"), entered)
    kept = hidden(page)
    assert kept == entered
    wrong = client.post(address(desk, "send_back"), {**kept, "proof_password": "wrong"})
    kept = hidden(wrong)
    assert kept == entered, "and never the password"
    assert client.post(address(desk, "send_back"), {**kept, "proof_password": PASSWORD}).status_code == 302
    assert desk.case.actions.get(type="case.sent_back").reason == reason


def test_an_officer_with_a_second_factor_gives_its_code_too(desk: Desk) -> None:
    device = TOTPDevice.objects.create(user=desk.second, confirmed=True, name="phone")
    client = stale(desk.second)
    for form in ({}, {"proof_code": "000000"}, {"proof_code": "\0"}):
        TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
        assert client.post(address(desk, "approve"), {"proof_password": PASSWORD, **form}).status_code == 403
    assert desk.case.state == State.SECOND
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    totp.time = time.time()
    form = {"proof_password": PASSWORD, "proof_code": f"{totp.token():06}", **proposal(desk)}
    assert client.post(address(desk, "approve"), form).status_code == 302
    assert desk.case.state == State.CLOSED


@pytest.mark.usefixtures("deployed")
def test_wrong_passwords_in_an_open_session_lock_as_those_of_a_sign_in_do(desk: Desk) -> None:
    client = stale(desk.second)
    statuses = [client.post(address(desk, "approve"), {"proof_password": "wrong"}).status_code for _ in range(7)]
    assert statuses[:5] == [403] * 5
    assert statuses[-1] == 429
    assert client.post(address(desk, "approve"), {"proof_password": PASSWORD}).status_code == 429
    assert desk.case.state == State.SECOND


def test_the_password_of_somebody_else_proves_nothing(desk: Desk) -> None:
    desk.third.set_password("the third's own")
    desk.third.save()
    client = stale(desk.second)
    form = {"proof_password": "the third's own", "username": desk.third.username}
    assert client.post(address(desk, "approve"), form).status_code == 403


def test_forms_show_the_fields_once_the_proof_is_stale_and_those_of_a_signature_always(desk: Desk) -> None:
    page = f"/admin/audit/finding/{desk.findings[0].pk}/change/"
    fresh = client_of(desk.second).get(page).content.decode()
    assert 'id="hold-proof_password"' not in fresh
    assert 'id="approve-proof_password"' in fresh, "a signature always has its own"
    shown = stale(desk.second).get(page).content.decode()
    assert 'id="hold-proof_password"' in shown
    assert "proof_code" not in shown
    TOTPDevice.objects.create(user=desk.second, confirmed=True, name="phone")
    assert 'id="back-proof_code"' in stale(desk.second).get(page).content.decode()


def test_what_decides_nothing_is_not_asked_about_again(desk: Desk) -> None:
    assert stale(desk.first).post(address(desk, "comment"), {"reason": "a note"}).status_code == 302
    assert desk.case.actions.filter(type="case.commented").exists()


def test_revoking_a_key_asks_again_and_keeps_the_selection(desk: Desk) -> None:
    client, key = stale(desk.administrator), desk.tenant.key
    page = client.post("/admin/audit/apikey/", {"action": "revoke", "_selected_action": [str(key.pk)], "index": "0"})
    assert page.status_code == 403
    kept = hidden(page)
    assert kept == {"action": "revoke", "_selected_action": str(key.pk), "index": "0"}
    assert ApiKey.objects.get(pk=key.pk).revoked_at is None
    client.post("/admin/audit/apikey/", {**kept, "proof_password": PASSWORD})
    assert ApiKey.objects.get(pk=key.pk).revoked_at is not None


def test_accounts_are_changed_and_requests_decided_with_a_fresh_proof_alone(desk: Desk) -> None:
    other = hired(desk.tenant, Role.ADMINISTRATOR, "other")
    officer = f"/admin/audit/officer/{desk.first.pk}/do/"
    client = stale(desk.administrator)
    for name in ("link", "role", "remove-role", "second-factor", "email", "name", "deactivate", "reactivate"):
        assert client.post(f"{officer}{name}/", {"casino": str(desk.tenant.casino.pk)}).status_code == 403, name
    assert client.post("/admin/audit/officer/add/", {"username": "x"}).status_code == 403
    request = accounts.propose_role(desk.administrator, desk.first, desk.tenant.casino, Role.SECOND, reason="x")
    assert request is not None
    decide = f"/admin/audit/officer/requests/{request.pk}/approve/"
    assert stale(other).post(decide).status_code == 403
    assert AccountRequest.objects.get(pk=request.pk).state == "waiting"
    assert stale(other).post(decide, {"proof_password": PASSWORD}).status_code == 302
    assert AccountRequest.objects.get(pk=request.pk).state == "approved"


def test_whoever_finds_an_open_session_sets_no_second_factor_up(desk: Desk) -> None:
    client = stale(desk.second)
    shown = client.get("/admin/second-factor/").content.decode()
    assert "qr-code" not in shown
    assert 'name="proof_password"' in shown
    client_of(desk.second).get("/admin/second-factor/")  # of the officer, on another machine
    device = TOTPDevice.objects.get(user=desk.second)
    assert client.post("/admin/second-factor/", {"code": f"{totp(device.bin_key):06}"}).status_code == 403
    assert not TOTPDevice.objects.get(user=desk.second).confirmed
    page = client.post("/admin/second-factor/", {"proof_password": PASSWORD}).content.decode()
    assert "qr-code" in page
    assert "That code is wrong" not in page


def test_a_view_that_forgets_to_ask_writes_no_account(desk: Desk) -> None:
    request = RequestFactory().post("/")
    request.user = desk.second
    request.session = {"proved_at": time.time() - 360}  # type: ignore[assignment]  # what the proof reads of one
    with pytest.raises(PermissionDenied):
        proved(request)
    request.session["proved_at"] = time.time()
    assert proved(request) == desk.second


def test_signing_a_night_asks_again_before_it_looks_at_the_report(desk: Desk) -> None:
    assert client_of(desk.second).post("/admin/audit/nightreport/0/sign/").status_code == 403, "however fresh"
    client = stale(desk.second)
    assert client.post("/admin/audit/nightreport/0/sign/").status_code == 403
    assert client.post("/admin/audit/nightreport/0/sign/", {"proof_password": PASSWORD}).status_code == 404
