"""The page of a one-time link: a password is chosen by the officer, once, on a page that keeps its address."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.cache import cache
from django.test import Client

from audit.access import accounts
from audit.models import Officer, Role
from audit.notifications.access_links import CONSOLE
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

PASSWORD = "correct-horse-9"


@pytest.fixture(autouse=True)
def no_attempts_yet() -> None:
    cache.clear()


class Link:
    """An officer who has just been sent a link by an administrator."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        self.administrator = hired(self.tenant, Role.ADMINISTRATOR, "keeper")
        self.officer = hired(self.tenant, Role.OFFICER, "officer")
        self.token = accounts.issue_link(self.administrator, self.officer, is_shown=True)
        self.address = f"/admin/link/{self.token}/"


@pytest.fixture
def link() -> Link:
    return Link()


def chosen(password: str, again: str | None = None) -> dict[str, str]:
    return {"new_password1": password, "new_password2": again or password}


def test_the_officer_chooses_the_password_and_signs_in_with_it(link: Link) -> None:
    client = Client()
    page = client.get(link.address)
    assert page.status_code == 200
    assert link.officer.username in page.content.decode()
    assert client.get(link.address).status_code == 200, "looking at it does not use it up"
    response = client.post(link.address, chosen(PASSWORD))
    assert (response.status_code, response["Location"]) == (302, "/admin/login/")
    assert Client().login(username=link.officer.username, password=PASSWORD)
    again = client.post(link.address, chosen("another-password-1"))
    assert again.status_code == 404
    assert not Client().login(username=link.officer.username, password="another-password-1")


def test_neither_a_cache_nor_another_site_nor_a_script_gets_the_address(link: Link) -> None:
    client = Client()
    for response in (
        client.get(link.address),
        client.post(link.address, chosen("short")),
        client.get("/admin/link/nonsense/"),
        client.post(link.address, chosen(PASSWORD)),
    ):
        assert "no-store" in response["Cache-Control"]
        assert response["Referrer-Policy"] == "no-referrer"
        assert "script-src 'self'" in response["Content-Security-Policy"]


@pytest.mark.parametrize(
    "password",
    in_short(["short", "12345678"], further=["password1", ""]),
)
def test_a_weak_password_is_refused_and_the_link_stays_good(link: Link, password: str) -> None:
    response = Client().post(link.address, chosen(password))
    assert response.status_code == 200
    assert accounts.link_of(link.token) is not None
    assert Client().post(link.address, chosen(link.officer.username)).status_code == 200, "nor is the user name one"
    assert Client().post(link.address, chosen(PASSWORD, "something-else-1")).status_code == 200
    assert Client().post(link.address, chosen(PASSWORD)).status_code == 302


def test_a_browser_that_sends_no_referrer_and_so_the_origin_null_chooses_too(link: Link) -> None:
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(link.address, chosen(PASSWORD), headers={"origin": "null"}).status_code == 302


def test_using_the_link_ends_the_sessions_of_the_officer(link: Link) -> None:
    open_session = client_of(link.officer)
    assert open_session.get("/admin/").status_code == 200
    Client().post(link.address, chosen(PASSWORD))
    assert open_session.get("/admin/").status_code == 302


@pytest.mark.parametrize("why", ["unknown", "used", "replaced", "expired", "deactivated"])
def test_a_link_that_cannot_be_used_says_the_same_whatever_the_reason(link: Link, why: str) -> None:
    now = datetime.now(UTC)
    address = link.address
    match why:
        case "unknown":
            address = "/admin/link/AAAA/"
        case "used":
            accounts.choose_password(link.token, PASSWORD)
        case "replaced":
            accounts.issue_link(link.administrator, link.officer, is_shown=True)
        case "expired":
            now += timedelta(hours=73)
        case "deactivated":
            accounts.deactivate(link.administrator, link.officer, reason="left")
    with time_machine.travel(now, tick=False):
        responses = [Client().get(address), Client().post(address, chosen("another-password-1"))]
    assert [response.status_code for response in responses] == [404, 404]
    assert link.officer.username not in responses[0].content.decode()


def test_somebody_who_tries_links_is_stopped_and_others_are_not(link: Link) -> None:
    statuses = [
        Client().get(f"/admin/link/guess{number}/", REMOTE_ADDR="198.51.100.7").status_code for number in range(31)
    ]
    assert statuses == [404] * 30 + [429]
    assert Client().get(link.address, REMOTE_ADDR="198.51.100.7").status_code == 429
    assert Client().get(link.address, REMOTE_ADDR="198.51.100.8").status_code == 200


def test_a_link_is_mailed_where_there_is_a_mail_server_and_shown_once_where_there_is_none(
    link: Link, settings: Any
) -> None:
    client = client_of(link.administrator)
    Officer.objects.filter(pk=link.officer.pk).update(email="officer@cabochon.example")
    reset = f"/admin/audit/officer/{link.officer.pk}/do/link/"
    response = client.post(reset)
    assert response.status_code == 302
    [message] = mail.outbox
    assert message.to == ["officer@cabochon.example"]
    [address] = [line for line in message.body.splitlines() if "/admin/link/" in line]
    assert Client().get(address).status_code == 200
    assert "/admin/link/" not in client.get(response["Location"]).content.decode()
    settings.EMAIL_BACKEND = CONSOLE
    shown = client.post(reset)
    assert shown.status_code == 200
    assert "no-store" in shown["Cache-Control"]
    assert "/admin/link/" in shown.content.decode()
    assert "/admin/link/" not in client.get(f"/admin/audit/officer/{link.officer.pk}/change/").content.decode()
    assert Client().get(address).status_code == 404, "the mailed one is replaced"


def test_an_officer_without_an_address_is_shown_a_link(link: Link) -> None:
    assert (
        b"/admin/link/"
        in client_of(link.administrator).post(f"/admin/audit/officer/{link.officer.pk}/do/link/").content
    )
    assert mail.outbox == []
