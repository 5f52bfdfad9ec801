"""What is set for mail, single sign-on, video room and cage, where, and a test of it by administrators alone."""

from __future__ import annotations

import smtplib
from datetime import UTC, datetime

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from audit.event_store import audit_trail
from audit.models import CaseContacts, Officer, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

ADDRESS = "/admin/connections/"
EN = {"accept-language": "en"}


@pytest.fixture
def keeper(tenant: Tenant) -> Officer:
    officer = hired(tenant, Role.ADMINISTRATOR, "keeper")
    officer.email = "keeper@casino.example"
    officer.save()
    CaseContacts.objects.create(casino=tenant.casino, video_room="video@casino.example")
    return officer


def test_the_page_says_what_is_set_and_where(keeper: Officer) -> None:
    page = client_of(keeper).get(ADDRESS, headers=EN).content.decode()
    for words in ("CABOCHON_EMAIL_URL", "CABOCHON_OIDC_ISSUER", "video@casino.example", "Payment orders"):
        assert words in page, words
    assert "Officers sign in with a password and a second factor." in page
    assert 'href="/admin/connections/"' in client_of(keeper).get("/admin/audit/").content.decode()


def test_a_test_mail_goes_to_the_officer_or_to_the_video_room_and_is_in_the_trail(
    keeper: Officer, tenant: Tenant
) -> None:
    client = client_of(keeper)
    page = client.post(f"{ADDRESS}mail/try/", follow=True, headers=EN).content.decode()
    assert "accepted a test mail to keeper@casino.example" in page
    client.post(f"{ADDRESS}video/try/", {"casino": tenant.casino.pk})
    assert [each.to for each in mail.outbox] == [["keeper@casino.example"], ["video@casino.example"]]
    tried = [
        casino
        for casino in (audit_trail.INSTALLATION, tenant.casino.pk)
        for each in audit_trail.entries_of(casino, datetime.now(UTC).date())
        if each.type == "casecontacts.tried"
    ]
    assert tried == [audit_trail.INSTALLATION, tenant.casino.pk]


def test_a_mail_server_that_refuses_is_said(keeper: Officer, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: EmailBackend, messages: object) -> int:
        raise smtplib.SMTPException("451 <busy>")

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    page = client_of(keeper).post(f"{ADDRESS}mail/try/", follow=True, headers=EN).content.decode()
    assert "The mail server did not accept the message: 451 &lt;busy&gt;" in page


@pytest.mark.parametrize("name", ["video", "sign-on", "nothing"])
@pytest.mark.parametrize("casino", in_short(["x"], further=["", "9" * 30]))
def test_what_there_is_not_is_not_tried(keeper: Officer, name: str, casino: str) -> None:
    assert client_of(keeper).post(f"{ADDRESS}{name}/try/", {"casino": casino}).status_code == 404
    assert mail.outbox == []


def test_nobody_else_sees_or_tries_them(keeper: Officer, tenant: Tenant) -> None:
    for client in (client_of(hired(tenant, Role.SECOND, "second")), client_of(hired(Tenant(), Role.DIRECTOR, "far"))):
        assert client.get(ADDRESS).status_code == 403
        assert client.post(f"{ADDRESS}mail/try/").status_code == 403
    foreign = client_of(hired(Tenant(), Role.ADMINISTRATOR, "foreign"))
    assert "video@casino.example" not in foreign.get(ADDRESS).content.decode()
    assert foreign.post(f"{ADDRESS}video/try/", {"casino": tenant.casino.pk}).status_code == 404
    assert client_of(keeper).get(f"{ADDRESS}mail/try/").status_code == 405
    assert mail.outbox == []
