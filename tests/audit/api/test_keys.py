"""Keys: made once, hashed at rest, found by their prefix; and the command that makes them."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.api import attempts
from audit.models import ApiKey, Casino, Scope
from tests.audit.conftest import House
from tests.audit.sessions import opener


def made(*options: str) -> str:
    """Return what ``createkey`` prints."""
    printed = StringIO()
    call_command("createkey", *options, stdout=printed)
    return printed.getvalue().strip()


def test_a_key_is_found_by_its_secret_and_by_nothing_else(house: House) -> None:
    secret = house.secret
    assert ApiKey.of_secret(secret) == house.key
    for other in ("", secret[:-1], secret + "A", secret.upper(), secret.replace("cab_", "kab_"), f" {secret}", "cab__"):
        assert ApiKey.of_secret(other) is None
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    assert ApiKey.of_secret(changed) is None


def test_the_secret_is_nowhere_in_the_database(house: House) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select row_to_json(k)::text from audit_apikey k where id = %s", (house.key.pk,))
        row = cursor.fetchone()[0]
    assert house.key.prefix in row
    # Any piece of it would do harm, so pieces are looked for; shorter ones would meet other columns by chance.
    secret = house.secret.split("_", 2)[2]
    assert [secret[at : at + 8] for at in range(len(secret) - 7) if secret[at : at + 8] in row] == []


def test_the_last_use_of_a_key_is_noted_now_and_then(house: House) -> None:
    def noted() -> Any:
        return ApiKey.objects.get(pk=house.key.pk).last_used_at

    assert noted() is None
    house.ask("rules")
    first = noted()
    assert first is not None
    house.ask("rules")
    assert noted() == first
    ApiKey.objects.filter(pk=house.key.pk).update(last_used_at=first - timedelta(hours=1))
    house.ask("rules")
    assert noted() > first


def test_createkey_registers_casino_and_tables_and_its_key_records(db: None, house: House, stream: str) -> None:
    secret = made("--casino", "trouville", "--casino-name", "Casino de Trouville", "--table", "C1", "--register", "R1")
    casino = Casino.objects.get(code="trouville")
    assert casino.name == "Casino de Trouville"
    assert sorted(casino.tables.values_list("code", flat=True)) == ["C1", "R1"]
    bearer = f"Bearer {secret}"
    assert house.send(stream, [opener(stream, casino="trouville")], Authorization=bearer).status_code == 201
    other = [opener(stream + "r", casino="trouville", table="R1")]
    assert house.send(stream + "r", other, Authorization=bearer).status_code == 403


def test_createkey_again_adds_a_second_key_and_changes_nothing_else(db: None) -> None:
    first = made("--casino", "trouville", "--casino-name", "Trouville", "--table", "C1")
    second = made("--casino", "trouville", "--casino-name", "Another", "--table", "C1", "--scope", "events:write")
    assert Casino.objects.get(code="trouville").name == "Trouville"
    assert first != second
    assert ApiKey.of_secret(first) is not None
    assert ApiKey.of_secret(second).scopes == [Scope.EVENTS_WRITE]


def test_a_key_for_some_days_expires(db: None) -> None:
    key = ApiKey.of_secret(made("--casino", "trouville", "--days", "30"))
    assert key is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "options",
    [
        ["--casino", "trou ville"],
        ["--casino", ""],
        ["--casino", "trouville", "--table", "é"],
        ["--casino", "trouville", "--time-zone", "Europe/Atlantis"],
        ["--casino", "trouville", "--scope", "everything"],
        ["--casino", "trouville", "--days", "0"],
        ["--casino", "trouville", "--days", "-3"],
        [],
    ],
)
def test_createkey_makes_nothing_of_what_is_wrong(db: None, options: list[str]) -> None:
    with pytest.raises(CommandError):
        made(*options)
    assert not Casino.objects.filter(code__startswith="trou").exists()


def test_a_key_is_followed_by_another_like_it_and_both_are_valid_for_a_while(house: House, stream: str) -> None:
    house.key.tables.set([house.casino.tables.get(code="C1")])
    house.key.scopes = ["events:write", "streams:read"]
    house.key.save()
    said = StringIO()
    call_command("createkey", "--rotate", house.key.prefix, "--overlap", "2", stdout=said)
    secret = said.getvalue().strip()
    following = ApiKey.of_secret(secret)
    assert following is not None
    assert (following.casino, following.scopes) == (house.casino, house.key.scopes)
    assert following.own_tables == house.key.own_tables
    sent = house.session(stream, 4)
    assert house.send(stream, sent[:2]).status_code == 201
    assert house.send(stream, sent, Authorization=f"Bearer {secret}").status_code == 201
    with time_machine.travel(timezone.now() + timedelta(hours=2, seconds=1)):
        assert house.send(stream, sent).status_code == 401
        assert house.send(stream, sent, Authorization=f"Bearer {secret}").status_code == 200
    call_command("revokekey", following.prefix, "--reason", "lost", stdout=said)
    assert house.send(stream, sent, Authorization=f"Bearer {secret}").status_code == 401
    for words in (["revokekey", following.prefix], ["createkey", "--rotate", following.prefix], ["createkey"]):
        with pytest.raises(CommandError):
            call_command(*words)


def wrong(number: int) -> str:
    return f"cab_{number:012x}_{'A' * 43}"


def test_an_address_with_many_wrong_keys_is_asked_to_wait_and_costs_no_query(house: House) -> None:
    with time_machine.travel(600_000_010, tick=False):
        house.ask("rules")  # a key that was right goes on from any address
        right = house.secret
        for number in range(attempts.MOST_A_MINUTE):
            assert house.ask("rules", Authorization=f"Bearer {wrong(number)}").status_code == 401
        with CaptureQueriesContext(connection) as queries:
            refused = house.ask("rules", Authorization=f"Bearer {wrong(7)}")
            house.send("a-stream", [], Authorization=f"Bearer {wrong(8)}")
        assert (refused.status_code, refused.json()["code"], refused.headers["Retry-After"]) == (429, "throttled", "50")
        assert len(queries) == 0
        assert house.ask("rules").status_code == 200
        elsewhere = house.client.get(
            "/api/v1/rules", headers={"Authorization": f"Bearer {wrong(9)}"}, REMOTE_ADDR="192.0.2.7"
        )
        assert elsewhere.status_code == 401
        attempts._known.clear()
        assert house.ask("rules").status_code == 429
    with time_machine.travel(600_000_070, tick=False):
        assert house.ask("rules", Authorization=f"Bearer {right}").status_code == 200


def test_addresses_of_one_subscriber_count_together() -> None:
    assert (
        attempts._place("2001:db8:1:2::7") == attempts._place("2001:db8:1:2:ffff::1") != attempts._place("2001:db8::")
    )
    assert attempts._place("192.0.2.1") != attempts._place("192.0.2.2")
    assert attempts._place("") == attempts._place("no address")
