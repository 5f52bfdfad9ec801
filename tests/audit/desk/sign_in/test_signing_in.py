"""Signing in: locked after failed attempts, and with a second factor if the officer has one or one is required."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.event_store import audit_trail
from audit.models import Officer

pytestmark = pytest.mark.django_db

PASSWORD = "right horse"
CODE_PAGE = "/admin/login/code/"


@pytest.fixture
def officer() -> Officer:
    return Officer.objects.create_superuser("claire", password=PASSWORD)


@pytest.fixture(autouse=True)
def as_deployed(settings: Any) -> Iterator[None]:
    settings.AXES_ENABLED = True
    settings.AUTHENTICATION_BACKENDS = settings.ALL_AUTHENTICATION_BACKENDS
    cache.clear()
    yield
    cache.clear()


def sign_in(client: Client, *, password: str = PASSWORD, code: str = "", name: str = "claire", **extra: str) -> int:
    """Give the password and, if the next page asks for one, the code; return the status of the last answer."""
    answer = client.post("/admin/login/", {"username": name, "password": password, "next": "/admin/"}, **extra)
    if code and answer.status_code == 302 and answer["Location"].startswith(CODE_PAGE):
        answer = client.post(answer["Location"], {"code": code}, **extra)
    return answer.status_code


def code_of(device: TOTPDevice) -> str:
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    totp.time = timezone.now().timestamp()
    return f"{totp.token():06}"


def test_failed_attempts_lock_a_name_at_an_address_for_fifteen_minutes(officer: Officer) -> None:
    with time_machine.travel("2026-11-20 12:00:00Z", tick=False) as clock:
        statuses = [sign_in(Client(), password="wrong") for _ in range(7)]
        assert statuses[:5] == [200] * 5
        assert statuses[-1] == 429
        assert sign_in(Client()) == 429, "not with the right password either"
        assert sign_in(Client(), REMOTE_ADDR="192.0.2.9") == 302, "the officer elsewhere is not locked out"
        clock.shift(16 * 60)
        assert sign_in(Client()) == 302
    day = timezone.now().date().replace(2026, 11, 20)
    entries = [entry for entry in audit_trail.entries_of(audit_trail.INSTALLATION, day) if "refused" in entry.type]
    assert [(entry.actor, entry.data["refusals"]) for entry in entries] == [("sign-in", 8)]


@pytest.mark.parametrize("name", ["y" * 151, "y" * 5_000])
def test_a_name_longer_than_any_accounts_is_wrong_like_every_other(name: str) -> None:
    answer = Client().post("/admin/login/", {"username": name, "password": "x"}, headers={"accept-language": "en"})
    assert answer.status_code == 200
    assert "The name or the password is wrong." in answer.content.decode()


def test_a_stranger_at_the_same_address_does_not_lock_the_officer_out_of_a_known_browser(officer: Officer) -> None:
    known, other = Client(), Client()
    assert sign_in(known) == 302
    known.post("/admin/logout/")
    Officer.objects.create_superuser("paul", password=PASSWORD)
    assert sign_in(other, name="paul") == 302
    other.post("/admin/logout/")
    while sign_in(Client(), password="wrong") != 429:
        pass
    assert sign_in(Client()) == 429
    assert sign_in(other) == 429, "the browser of somebody else is a stranger's"
    assert sign_in(known) == 302


def test_a_known_browser_is_locked_by_its_own_failures_and_a_forged_one_is_not_known(officer: Officer) -> None:
    known = Client()
    assert sign_in(known) == 302
    known.post("/admin/logout/")
    [cookie] = [name for name in known.cookies if name.startswith("known_")]
    assert known.cookies[cookie]["httponly"]
    statuses = [sign_in(known, password="wrong") for _ in range(7)]
    assert statuses[-1] == 429
    assert sign_in(known) == 429
    assert sign_in(Client()) == 302, "which locks no other browser"
    forged = Client()
    forged.cookies[cookie] = known.cookies[cookie].value[:-1] + "x"
    statuses = [sign_in(forged, password="wrong") for _ in range(7)]
    assert statuses[-1] == 429
    assert sign_in(Client()) == 429, "its failures are those of any stranger"


def test_an_attacker_behind_the_same_proxy_does_not_lock_the_officer_out(officer: Officer, settings: Any) -> None:
    settings.CABOCHON_TRUSTED_PROXIES = ["10.0.0.0/8"]
    for number in range(8):  # the attacker writes more hops, which count for nothing
        header = f"203.0.113.{number}, 198.51.100.7"
        sign_in(Client(), password="wrong", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=header)
    attacker = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}
    assert sign_in(Client(), **attacker) == 429
    assert sign_in(Client(), REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR="203.0.113.5") == 302


def test_wrong_codes_after_the_right_password_lock_as_wrong_passwords_do(officer: Officer) -> None:
    TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    statuses = [sign_in(Client(), code="000000") for _ in range(7)]
    assert statuses[-1] == 429


def test_signing_in_gives_the_session_another_key(officer: Officer) -> None:
    client = Client()
    session = client.session
    session["seen"] = True
    session.save()
    before = session.session_key
    assert sign_in(client) == 302
    assert client.session.session_key != before


def test_changing_the_password_asks_the_old_one_ends_other_sessions_and_is_recorded(officer: Officer) -> None:
    client, elsewhere = Client(), Client()
    assert (sign_in(client), sign_in(elsewhere)) == (302, 302)
    new = "another-horse-7"
    form = {"old_password": "wrong", "new_password1": new, "new_password2": new}
    assert client.post("/admin/password_change/", form).status_code == 200
    assert client.post("/admin/password_change/", {**form, "old_password": PASSWORD}).status_code == 302
    assert client.get("/admin/password_change/").status_code == 200
    assert elsewhere.get("/admin/password_change/").status_code == 302
    assert sign_in(Client()) == 200
    assert sign_in(Client(), password=new) == 302
    entries = audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
    assert [entry.actor for entry in entries if entry.type == "officer.password_changed"] == ["claire"]


def test_guessing_the_old_password_in_somebodys_session_is_locked(officer: Officer) -> None:
    client = Client()
    sign_in(client)
    form = {"old_password": "wrong", "new_password1": "another-horse-7", "new_password2": "another-horse-7"}
    statuses = [client.post("/admin/password_change/", form).status_code for _ in range(7)]
    assert statuses[-1] == 429
    assert client.post("/admin/password_change/", {**form, "old_password": PASSWORD}).status_code == 429


def test_a_second_factor_is_set_up_by_its_first_code_and_required_from_then_on(officer: Officer) -> None:
    client = Client()
    assert sign_in(client) == 302
    page = client.get("/admin/second-factor/")
    assert "no-store" in page["Cache-Control"]
    device = TOTPDevice.objects.get(user=officer)
    assert client.post("/admin/second-factor/", {"code": "000000"}).status_code == 200
    device.refresh_from_db()
    assert not device.confirmed
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    page = client.post("/admin/second-factor/", {"code": code_of(device)}).content.decode()
    recovery_codes = re.findall(r"<li><code>(\w+)</code></li>", page)
    assert len(recovery_codes) == 10
    device.refresh_from_db()
    assert device.confirmed
    assert recovery_codes[0] not in client.get("/admin/second-factor/").content.decode()

    half_way = Client()
    sign_in(half_way)
    assert half_way.get("/admin/password_change/").status_code == 302, "the password alone is not enough"
    assert sign_in(Client(), code="12345") == 200
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None, last_t=-1)
    another = Client()
    assert sign_in(another, code=code_of(device)) == 302
    assert another.get("/admin/password_change/").status_code == 200
    assert sign_in(Client(), code=code_of(device)) == 200, "a code is good once"


def test_a_recovery_code_is_good_once(officer: Officer) -> None:
    client = Client()
    sign_in(client)
    client.get("/admin/second-factor/")
    device = TOTPDevice.objects.get(user=officer)
    page = client.post("/admin/second-factor/", {"code": code_of(device)}).content.decode()
    recovery_codes = re.findall(r"<li><code>(\w+)</code></li>", page)
    assert sign_in(Client(), code=recovery_codes[3]) == 302
    officer.staticdevice_set.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    TOTPDevice.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    assert sign_in(Client(), code=recovery_codes[3]) == 200


def test_an_installation_may_require_a_second_factor_of_everybody(officer: Officer, settings: Any) -> None:
    settings.CABOCHON_SECOND_FACTOR = "required"
    client = Client()
    sign_in(client)
    for page in ("/admin/", "/admin/audit/finding/", "/admin/audit/officer/"):
        response = client.get(page)
        assert (response.status_code, response["Location"]) == (302, "/admin/second-factor/")
    assert client.post("/admin/audit/finding/take-next/").status_code == 302
    assert b"need a second factor" in client.get("/admin/second-factor/").content
    device = TOTPDevice.objects.get(user=officer)
    client.post("/admin/second-factor/", {"code": code_of(device)})
    assert client.get("/admin/audit/finding/").status_code == 200
