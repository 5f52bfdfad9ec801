"""The password, then the code on a page of its own: what is kept between the two, for how long, and what it lets in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from axes.models import AccessAttempt
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.event_store import audit_trail
from audit.models import Officer
from tests.audit.desk.sign_in.test_signing_in import CODE_PAGE, PASSWORD, code_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def officer() -> Officer:
    return Officer.objects.create_superuser("claire", password=PASSWORD)


@pytest.fixture
def device(officer: Officer) -> TOTPDevice:
    return TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")


@pytest.fixture(autouse=True)
def clock(settings: Any) -> Iterator[time_machine.Coordinates]:
    settings.AXES_ENABLED = True
    settings.AUTHENTICATION_BACKENDS = settings.ALL_AUTHENTICATION_BACKENDS
    cache.clear()
    with time_machine.travel("2026-11-20 12:00:00Z", tick=False) as clock:
        yield clock
    cache.clear()


def give_password(client: Client, password: str = PASSWORD, *, name: str = "claire", next: str = "/admin/") -> Any:
    return client.post("/admin/login/", {"username": name, "password": password, "next": next})


def give_code(client: Client, code: str, *, next: str = "/admin/") -> Any:
    return client.post(CODE_PAGE, {"code": code, "next": next})


def is_in(client: Client) -> bool:
    return client.get("/admin/audit/").status_code != 302


def test_only_an_account_with_a_second_factor_is_asked_for_the_code(officer: Officer) -> None:
    client = Client()
    assert give_password(client)["Location"] == "/admin/"
    assert is_in(client)
    TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    client = Client()
    assert give_password(client)["Location"].startswith(CODE_PAGE)
    assert not is_in(client)
    assert 'name="code"' not in client.get("/admin/login/").content.decode()


def test_a_second_factor_that_no_code_has_confirmed_is_not_asked_for(officer: Officer) -> None:
    TOTPDevice.objects.create(user=officer, confirmed=False, name="phone")
    assert give_password(Client())["Location"] == "/admin/"


def test_the_right_code_signs_in_and_ends_what_was_half_way(device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    assert give_code(client, code_of(device))["Location"] == "/admin/"
    assert is_in(client)
    assert "half_way_in" not in client.session
    assert client.session["otp_device_id"] == device.persistent_id
    entries = audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
    assert [entry.type for entry in entries].count("officer.signed_in") == 1


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_page_of_the_code_is_not_reached_without_the_password(device: TOTPDevice, method: str) -> None:
    client = Client()
    for _ in range(2):
        answer = getattr(client, method)(CODE_PAGE, {"code": code_of(device), "next": "/admin/audit/"})
        assert (answer.status_code, answer["Location"]) == (302, "/admin/login/?next=%2Fadmin%2Faudit%2F")
        assert not is_in(client)
        give_password(client, "wrong")  # nor with a wrong one


def test_the_code_may_be_given_for_five_minutes(device: TOTPDevice, clock: time_machine.Coordinates) -> None:
    client = Client()
    give_password(client)
    clock.shift(4 * 60 + 59)
    assert client.get(CODE_PAGE).status_code == 200
    clock.shift(1)
    assert give_code(client, code_of(device))["Location"].startswith("/admin/login/")
    assert not is_in(client)
    clock.shift(-60)
    assert client.get(CODE_PAGE).status_code == 302, "what has ended does not begin again"


def test_a_new_password_ends_what_was_half_way(officer: Officer, device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    officer.set_password("another-horse-7")
    officer.save()
    assert give_code(client, code_of(device))["Location"].startswith("/admin/login/")
    assert not is_in(client)


def test_an_account_that_is_suspended_meanwhile_is_not_let_in(officer: Officer, device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    Officer.objects.update(is_active=False)
    assert give_code(client, code_of(device))["Location"].startswith("/admin/login/")


def test_a_second_factor_that_is_reset_meanwhile_begins_anew(device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    code = code_of(device)
    device.delete()
    assert give_code(client, code)["Location"].startswith("/admin/login/")
    assert not is_in(client)


def test_the_session_gets_a_new_key_at_each_step(device: TOTPDevice) -> None:
    client = Client()
    session = client.session
    session["seen"] = True
    session.save()
    keys = [session.session_key]
    give_password(client)
    keys.append(client.session.session_key)
    give_code(client, code_of(device))
    keys.append(client.session.session_key)
    assert len(set(keys)) == 3


def test_wrong_passwords_and_wrong_codes_are_counted_together(device: TOTPDevice) -> None:
    for _ in range(3):
        assert give_password(Client(), "wrong").status_code == 200
    client = Client()
    give_password(client)
    statuses = [give_code(client, "000000").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_the_right_password_does_not_forget_the_failures(device: TOTPDevice) -> None:
    statuses = []
    for _ in range(6):
        client = Client()
        give_password(client)
        statuses.append(give_code(client, "000000").status_code)
    assert statuses == [200] * 5 + [429]
    assert give_password(Client()).status_code == 429, "nor does it tell a locked account that it is right"
    assert give_password(Client(), "wrong").status_code == 429


def test_an_account_that_is_locked_half_way_is_refused_the_right_code(
    device: TOTPDevice, clock: time_machine.Coordinates
) -> None:
    client = Client()
    give_password(client)
    for _ in range(6):
        give_password(Client(), "wrong")
    assert give_code(client, code_of(device)).status_code == 429
    assert client.get(CODE_PAGE).status_code == 302, "and the password is asked for again"
    device.refresh_from_db()
    assert device.last_t == -1, "the code was not even compared"
    clock.shift(16 * 60)
    client = Client()
    give_password(client)
    assert give_code(client, code_of(device)).status_code == 302


def test_a_wrong_password_an_unknown_name_and_a_suspended_account_are_answered_alike(officer: Officer) -> None:
    TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
    suspended = Officer.objects.create_superuser("marc", password=PASSWORD)
    TOTPDevice.objects.create(user=suspended, confirmed=True, name="phone")
    Officer.objects.filter(pk=suspended.pk).update(is_active=False)

    def refusal(name: str, password: str) -> list[str]:
        answer = give_password(Client(), password, name=name)
        assert answer.status_code == 200
        return [str(error) for error in answer.context["form"].non_field_errors()]

    answers = [
        refusal("claire", "wrong"),
        refusal("nobody", "wrong"),
        refusal("marc", "wrong"),
        refusal("marc", PASSWORD),
    ]
    assert answers == [answers[0]] * 4


def test_a_used_code_is_refused(device: TOTPDevice) -> None:
    code = code_of(device)
    first, second = Client(), Client()
    give_password(first)
    give_password(second)
    assert give_code(first, code).status_code == 302
    assert give_code(second, code).status_code == 200
    assert not is_in(second)


def test_a_code_of_another_officer_is_refused(device: TOTPDevice) -> None:
    other = Officer.objects.create_superuser("marc", password=PASSWORD)
    theirs = TOTPDevice.objects.create(user=other, confirmed=True, name="phone")
    client = Client()
    give_password(client)
    assert give_code(client, code_of(theirs)).status_code == 200
    assert not is_in(client)


def test_a_recovery_code_has_a_field_of_its_own_and_is_good_once(officer: Officer, device: TOTPDevice) -> None:
    static = StaticDevice.objects.create(user=officer, confirmed=True, name="recovery codes")
    static.token_set.create(token="abcdefgh")
    client = Client()
    give_password(client)
    assert client.post(CODE_PAGE, {"code": "", "recovery_code": "abcd efgh"}).status_code == 302
    assert is_in(client)
    client = Client()
    give_password(client)
    assert client.post(CODE_PAGE, {"recovery_code": "abcdefgh"}).status_code == 200
    assert not is_in(client)


def test_neither_code_is_kept_with_a_failure(device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    client.post(CODE_PAGE, {"code": "secret-1", "recovery_code": "secret-2", "csrfmiddlewaretoken": "x"})
    kept = AccessAttempt.objects.get()
    assert "secret-" not in f"{kept.post_data} {kept.get_data}"


def test_a_nul_in_a_code_is_a_wrong_code(device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    assert client.post(CODE_PAGE, {"code": "12\x003456", "recovery_code": "a\x00b"}).status_code == 200


@pytest.mark.parametrize(
    ("next", "leads_to"),
    [
        ("/admin/audit/finding/", "/admin/audit/finding/"),
        pytest.param("https://evil.example/", "/admin/", marks=pytest.mark.faults),
        ("//evil.example/", "/admin/"),
        ("javascript:alert(1)", "/admin/"),
    ],
)
def test_the_address_that_was_asked_for_is_kept_through_both_steps_and_is_ours(
    device: TOTPDevice, next: str, leads_to: str
) -> None:
    client = Client()
    page = give_password(client, next=next)["Location"]
    assert "evil" not in page
    assert "alert" not in page
    assert client.post(page, {"code": code_of(device)})["Location"] == leads_to
    client = Client()
    TOTPDevice.objects.update(last_t=-1)
    give_password(client)
    assert give_code(client, code_of(device), next=next)["Location"] == leads_to


def test_the_page_of_the_code_says_who_and_how_many_tries_are_left_and_is_not_stored(device: TOTPDevice) -> None:
    client = Client()
    give_password(client)
    page = client.get(CODE_PAGE)
    assert "no-store" in page["Cache-Control"]
    assert "claire" in page.content.decode()
    assert "6 tries left" in page.content.decode()
    assert "5 tries left" in give_code(client, "000000").content.decode()


def test_an_officer_who_is_signed_in_stays_so_until_another_gives_the_code(device: TOTPDevice) -> None:
    other = Officer.objects.create_superuser("marc", password=PASSWORD)
    client = Client()
    give_password(client, name="marc")
    give_password(client)
    assert int(client.session["_auth_user_id"]) == other.pk
    give_code(client, code_of(device))
    assert int(client.session["_auth_user_id"]) == device.user_id
