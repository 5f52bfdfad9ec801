"""The page after sign-in says when the account last signed in and from which address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from axes.models import AccessLog
from django.core.cache import cache
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.models import Casino, Officer
from tests.audit.desk.sign_in.test_signing_in import PASSWORD, code_of, sign_in

pytestmark = pytest.mark.django_db

OFFICE, ELSEWHERE = "192.0.2.1", "198.51.100.7"


@pytest.fixture
def officer() -> Officer:
    for code in ("paris", "montreal"):  # of an officer of one casino, the page says the time there
        Casino.objects.create(code=f"last-sign-in-{code}", name=code, time_zone="Europe/Paris")
    return Officer.objects.create_superuser("claire", password=PASSWORD)


@pytest.fixture(autouse=True)
def clock(settings: Any) -> Iterator[time_machine.Coordinates]:
    settings.AXES_ENABLED = True
    settings.AUTHENTICATION_BACKENDS = settings.ALL_AUTHENTICATION_BACKENDS
    cache.clear()
    with time_machine.travel("2026-11-20 12:00:00Z", tick=False) as clock:
        yield clock
    cache.clear()


def shown(client: Client, language: str = "en") -> str:
    """Return what the next page says of the last sign-in, "" if nothing."""
    page = client.get("/admin/audit/officer/", headers={"accept-language": language})
    assert page.status_code == 200
    return " ".join(str(each) for each in page.context["messages"])


def test_the_first_sign_in_says_nothing_and_the_next_says_when_and_from_where(
    officer: Officer, clock: time_machine.Coordinates
) -> None:
    client = Client()
    assert sign_in(client, REMOTE_ADDR=ELSEWHERE) == 302
    assert shown(client) == ""
    clock.shift(3600)
    client = Client()
    sign_in(client, REMOTE_ADDR=OFFICE)
    advice = "If that was not you, tell an administrator."
    assert shown(client) == f"You last signed in on 20 Nov, 12:00 UTC, from {ELSEWHERE}. {advice}"
    assert shown(client) == "", "once"
    clock.shift(3600)
    client = Client()
    sign_in(client, REMOTE_ADDR=OFFICE)
    assert f"13:00 UTC, from {OFFICE}." in shown(client)


def test_a_wrong_password_is_no_sign_in_and_a_code_that_is_still_to_come_neither(
    officer: Officer, clock: time_machine.Coordinates
) -> None:
    sign_in(Client(), REMOTE_ADDR=OFFICE)
    device = TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    clock.shift(3600)
    sign_in(Client(), password="wrong", REMOTE_ADDR=ELSEWHERE)
    sign_in(Client(), REMOTE_ADDR=ELSEWHERE)  # and no code
    client = Client()
    assert sign_in(client, code=code_of(device), REMOTE_ADDR=OFFICE) == 302
    assert f"12:00 UTC, from {OFFICE}." in shown(client)


def test_one_row_an_account_is_kept_with_nothing_of_the_browser(
    officer: Officer, clock: time_machine.Coordinates
) -> None:
    Officer.objects.create_superuser("denis", password=PASSWORD)
    for name, address in (("claire", OFFICE), ("denis", OFFICE), ("claire", "2001:db8:1:2:3::4")):
        clock.shift(60)
        sign_in(Client(), name=name, REMOTE_ADDR=address, HTTP_USER_AGENT="a browser")
    rows = AccessLog.objects.order_by("username").values_list("username", "ip_address", "user_agent", "session_hash")
    assert list(rows) == [("claire", "2001:db8:1:2::", "", ""), ("denis", OFFICE, "", "")]
    client = Client()
    sign_in(client)
    assert "from 2001:db8:1:2::/64." in shown(client)


def test_a_sign_in_of_which_no_address_was_kept_has_its_time_alone(
    officer: Officer, clock: time_machine.Coordinates
) -> None:
    sign_in(Client(), REMOTE_ADDR=ELSEWHERE)
    clock.shift(3600)
    client = Client()
    sign_in(client, REMOTE_ADDR=OFFICE)
    AccessLog.objects.update(attempt_time="2026-11-20 12:00:00Z")  # of the sign-in before
    clock.shift(3600)
    client = Client()
    sign_in(client)
    assert shown(client).startswith("You last signed in on 20 Nov, 13:00 UTC. If")
