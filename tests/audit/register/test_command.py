"""``manage.py register``: the same two people and the same rules as at the desk."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.models import RegisterEntry
from tests.audit.register.register_desk import RegisterDesk

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("x\n" * 3))  # that of every officer who is hired


def ran(*arguments: str) -> str:
    out = StringIO()
    call_command("register", *arguments, stdout=out)
    return out.getvalue()


def failed(*arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        ran(*arguments)
    return str(error.value)


def proposed(desk: RegisterDesk, *arguments: str) -> tuple[str, ...]:
    about = ("--casino", desk.casino.code, "--from", "2026-01-01", "--reason", "custom")
    return ("propose", *(arguments or ("payout_unit", "--value", "100")), *about, "--officer", desk.one.username)


def test_one_officer_proposes_another_approves_and_both_are_listed(desk: RegisterDesk) -> None:
    assert "touched: 0 sessions, 0 signed nights" in ran(*proposed(desk))
    entry = RegisterEntry.objects.get(casino=desk.casino)
    assert "approved" in ran("approve", str(entry.pk), "--officer", desk.other.username)
    listed = ran("list", "--casino", desk.casino.code)
    assert all(word in listed for word in ("payout_unit", "100 minor units", "version 1", desk.other.username))
    assert "No entry." in ran("list", "--casino", desk.casino.code, "--day", "2025-12-31")
    assert "No entry." in ran("list", "--casino", desk.casino.code, "--state", "waiting")


def test_the_proposer_does_not_approve_and_may_withdraw(desk: RegisterDesk) -> None:
    ran(*proposed(desk))
    entry = str(RegisterEntry.objects.get(casino=desk.casino).pk)
    assert "You proposed this" in failed("approve", entry, "--officer", desk.one.username)
    assert "withdrawn" in ran("withdraw", entry, "--officer", desk.one.username)


def test_an_entry_without_a_value_takes_back(desk: RegisterDesk) -> None:
    ran(*proposed(desk, "payout_unit", "--take-back"))
    assert RegisterEntry.objects.get(casino=desk.casino).value is None


def test_a_wrong_password_or_account_or_code_does_nothing(desk: RegisterDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "wrong" in failed(*proposed(desk)[:-1], "nobody")
    TOTPDevice.objects.create(user=desk.one, confirmed=True, name="phone")
    assert "--code" in failed(*proposed(desk))
    monkeypatch.setattr("sys.stdin", StringIO("y\n"))
    assert "wrong" in failed(*proposed(desk))
    assert not RegisterEntry.objects.filter(casino=desk.casino).exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("payout_unit", "--value", "nothing"), "Not a valid value for this reading"),
        (("double_table", "--value", "yes"), "Choose the table"),
        (("payout_unit", "--value", "1", "--table", "T9"), "no table 'T9'"),
    ],
)
def test_what_is_refused_is_said(desk: RegisterDesk, arguments: tuple[str, ...], reason: str) -> None:
    assert reason in failed(*proposed(desk, *arguments))


def test_there_is_no_such_entry_or_casino(desk: RegisterDesk) -> None:
    assert "no entry" in failed("approve", str(2**70), "--officer", desk.other.username)
    arguments = list(proposed(desk))
    arguments[arguments.index(desk.casino.code)] = "atlantis"
    assert "no casino 'atlantis'" in failed(*arguments)
    with pytest.raises(CommandError, match="is not a date"):
        ran("list", "--day", "yesterday")
