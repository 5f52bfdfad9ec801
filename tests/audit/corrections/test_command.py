"""``manage.py corrections``: what waits, and the same two people and the same rules as at the desk."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.audit.corrections.corrections_desk import CorrectionsDesk, replayed, rules

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk() -> CorrectionsDesk:
    return CorrectionsDesk()


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("x\n" * 4))  # that of every officer who is hired


def ran(*arguments: str) -> str:
    out = StringIO()
    call_command("corrections", *arguments, stdout=out)
    return out.getvalue()


def failed(*arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        ran(*arguments)
    return str(error.value)


def test_it_lists_what_waits_with_what_it_hides_and_the_money_at_stake(desk: CorrectionsDesk) -> None:
    desk.session("s")
    desk.refused(desk.session("t", table="T2"))
    [line] = ran("--casino", desk.casino.code, "--json").splitlines()
    row = json.loads(line)
    assert row.pop("age_s") >= 0
    assert row == {
        "casino": desk.casino.code,
        "session": "s",
        "correction": 6,
        "rule": "entry-corrected",
        "severity": "major",
        "hides": [
            {"rule": "indivisible-stake", "seq": 3, "wager": "w1"},
            {"rule": "payout-overpaid", "seq": 4, "wager": "w1"},
            {"rule": "stake-not-returned", "seq": 4, "wager": "w1"},
        ],
        "money": -234,  # 7 to 6: 14.00 on 12.00, and 11.66 on 10.00
        "currency": "EUR",
        "countersigned_by": [],
    }
    listed = ran("list", "--casino", desk.casino.code)
    assert all(word in listed for word in ("s", "payout-overpaid (4)", "€", "second"))
    assert ran("--casino", CorrectionsDesk().casino.code) == "No correction waits.\n"
    assert "There is no casino" in failed("--casino", "nowhere")


def test_two_officers_countersign_and_it_takes_effect(desk: CorrectionsDesk) -> None:
    stream_id = desk.session("s")
    about = (desk.casino.code, "s", "6", "--reason", "seen on video")
    assert "waits for two officers" in ran("countersign", *about, "--officer", desk.second.username)
    assert desk.second.username in ran("list", "--casino", desk.casino.code)
    assert "Another officer must decide" in failed("countersign", *about, "--officer", desk.second.username)
    assert "approved" in ran("countersign", *about, "--officer", desk.other.username)
    replayed(stream_id)
    assert "payout-overpaid" not in rules(stream_id)
    assert [(each.type, each.actor) for each in desk.trail()][-2:] == [
        ("correction.attempt_refused", desk.second.username),
        ("correction.countersigned", desk.other.username),
    ]


def test_one_refuses_with_the_second_factor_where_there_is_one(desk: CorrectionsDesk) -> None:
    desk.session("s")
    TOTPDevice.objects.create(user=desk.director, name="phone", confirmed=True)
    about = (desk.casino.code, "s", "6", "--reason", "no")
    assert "second factor" in failed("refuse", *about, "--officer", desk.director.username)
    assert "refused" in ran("refuse", *about, "--officer", desk.other.username)
    assert "decided in the meantime" in failed("refuse", *about, "--officer", desk.second.username)
    assert "has no session" in failed("refuse", desk.casino.code, "x", "6", "--reason", "no", "--officer", "x")


def test_nobody_decides_without_the_right_password(desk: CorrectionsDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.session("s")
    monkeypatch.setattr("sys.stdin", StringIO("wrong\n"))
    about = (desk.casino.code, "s", "6", "--reason", "no", "--officer", desk.director.username)
    assert "password is wrong" in failed("refuse", *about)
    assert "correction.refused" not in {each.type for each in desk.trail()}
