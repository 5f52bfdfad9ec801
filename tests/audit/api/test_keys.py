"""API keys: shown once, hashed at rest, found by their prefix; and the command that creates them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.api import key_lookup
from audit.models import DEFAULT_SCOPES, ApiKey, Casino, KeyScope
from tests.audit.sessions import opener
from tests.audit.tables import Tenant


def created_key(*options: str) -> str:
    """Return what ``createkey`` prints."""
    printed = StringIO()
    call_command("createkey", *options, stdout=printed)
    return printed.getvalue().strip()


def test_a_key_is_found_by_its_secret_and_by_nothing_else(tenant: Tenant) -> None:
    secret = tenant.secret
    assert ApiKey.of_secret(secret) == tenant.key
    for other in ("", secret[:-1], secret + "A", secret.upper(), secret.replace("cab_", "kab_"), f" {secret}", "cab__"):
        assert ApiKey.of_secret(other) is None
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    assert ApiKey.of_secret(changed) is None


def test_the_secret_is_nowhere_in_the_database(tenant: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select row_to_json(k)::text from audit_apikey k where id = %s", (tenant.key.pk,))
        row = cursor.fetchone()[0]
    assert tenant.key.prefix in row
    # Any piece of it would do harm, so pieces are looked for; shorter ones would meet other columns by chance.
    secret = tenant.secret.split("_", 2)[2]
    assert [secret[at : at + 8] for at in range(len(secret) - 7) if secret[at : at + 8] in row] == []


def test_the_last_use_of_a_key_is_stored_now_and_then(tenant: Tenant) -> None:
    def noted() -> Any:
        return ApiKey.objects.get(pk=tenant.key.pk).last_used_at

    assert noted() is None
    tenant.ask("rules")
    first = noted()
    assert first is not None
    tenant.ask("rules")
    assert noted() == first
    ApiKey.objects.filter(pk=tenant.key.pk).update(last_used_at=first - timedelta(hours=1))
    tenant.ask("rules")
    assert noted() > first


def test_createkey_registers_casino_and_tables_and_its_key_records(db: None, tenant: Tenant, stream: str) -> None:
    secret = created_key(
        *("--casino", "trouville", "--casino-name", "Casino de Trouville", "--table", "C1", "--register", "R1"),
        "--backfill",  # the day of the session is past
    )
    casino = Casino.objects.get(code="trouville")
    assert casino.name == "Casino de Trouville"
    assert sorted(casino.tables.values_list("code", flat=True)) == ["C1", "R1"]
    bearer = f"Bearer {secret}"
    assert tenant.send(stream, [opener(stream, casino="trouville")], Authorization=bearer).status_code == 201
    other = [opener(stream + "r", casino="trouville", table="R1")]
    assert tenant.send(stream + "r", other, Authorization=bearer).status_code == 403


def test_createkey_again_adds_a_second_key_and_changes_nothing_else(db: None) -> None:
    first = created_key("--casino", "trouville", "--casino-name", "Trouville", "--table", "C1")
    second = created_key(
        "--casino", "trouville", "--casino-name", "Another", "--table", "C1", "--scope", "events:write"
    )
    assert Casino.objects.get(code="trouville").name == "Trouville"
    assert first != second
    assert ApiKey.of_secret(first) is not None
    assert ApiKey.of_secret(second).scopes == [KeyScope.EVENTS_WRITE]


def test_createkey_gives_every_scope_but_backfill_which_it_offers(db: None) -> None:
    def scopes(*options: str) -> list[str]:
        key = ApiKey.of_secret(created_key("--casino", "trouville", *options))
        assert key is not None
        return list(key.scopes)

    assert scopes() == DEFAULT_SCOPES
    assert scopes("--backfill") == [*DEFAULT_SCOPES, KeyScope.EVENTS_BACKFILL]
    assert scopes("--scope", "events:write", "--backfill") == [KeyScope.EVENTS_WRITE, KeyScope.EVENTS_BACKFILL]
    assert scopes("--scope", "events:backfill", "--backfill") == [KeyScope.EVENTS_BACKFILL]


def test_a_key_for_some_days_expires(db: None) -> None:
    key = ApiKey.of_secret(created_key("--casino", "trouville", "--days", "30"))
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
def test_createkey_refuses_invalid_options_and_creates_nothing(db: None, options: list[str]) -> None:
    with pytest.raises(CommandError):
        created_key(*options)
    assert not Casino.objects.filter(code__startswith="trou").exists()


def test_a_rotated_key_and_its_successor_are_both_valid_for_the_overlap(tenant: Tenant, stream: str) -> None:
    tenant.key.tables.set([tenant.casino.tables.get(code="C1")])
    tenant.key.scopes = ["events:write", "events:backfill", "streams:read"]
    tenant.key.save()
    output = StringIO()
    call_command("createkey", "--rotate", tenant.key.prefix, "--overlap", "2", stdout=output)
    secret = output.getvalue().strip()
    following = ApiKey.of_secret(secret)
    assert following is not None
    assert (following.casino, following.scopes) == (tenant.casino, tenant.key.scopes)
    assert following.own_tables == tenant.key.own_tables
    sent = tenant.session(stream, 4)
    assert tenant.send(stream, sent[:2]).status_code == 201
    assert tenant.send(stream, sent, Authorization=f"Bearer {secret}").status_code == 201
    with time_machine.travel(timezone.now() + timedelta(hours=2, seconds=1)):
        assert tenant.send(stream, sent).status_code == 401
        assert tenant.send(stream, sent, Authorization=f"Bearer {secret}").status_code == 200
    call_command("revokekey", following.prefix, "--reason", "lost", stdout=output)
    assert tenant.send(stream, sent, Authorization=f"Bearer {secret}").status_code == 401
    for args in (["revokekey", following.prefix], ["createkey", "--rotate", following.prefix], ["createkey"]):
        with pytest.raises(CommandError):
            call_command(*args)


def wrong(number: int) -> str:
    return f"cab_{number:012x}_{'A' * 43}"


def refuse_often(tenant: Tenant) -> None:
    """Try unknown keys from the address of the tests until they are refused without a query."""
    for number in range(key_lookup.MAX_FAILURES):
        assert tenant.ask("rules", Authorization=f"Bearer {wrong(number)}").status_code == 401
    with CaptureQueriesContext(connection) as queries:
        refused = tenant.ask("rules", Authorization=f"Bearer {wrong(7)}")
        tenant.send("a-stream", [], Authorization=f"Bearer {wrong(8)}")
    assert (refused.status_code, refused.json()["code"], refused.headers["Retry-After"]) == (429, "throttled", "50")
    assert len(queries) == 0


@pytest.fixture
def at_ten_past() -> Iterator[None]:
    with time_machine.travel(600_000_010, tick=False):
        yield


@pytest.mark.usefixtures("at_ten_past")
def test_guessing_keys_locks_out_no_table_system_of_the_same_address(tenant: Tenant) -> None:
    _, secret = ApiKey.make(casino=tenant.casino, name="not used yet", scopes=DEFAULT_SCOPES)
    assert tenant.ask("rules").status_code == 200
    refuse_often(tenant)
    for each in (tenant.secret, secret):
        assert tenant.ask("rules", Authorization=f"Bearer {each}").status_code == 200
    elsewhere = tenant.client.get(
        "/api/v1/rules", headers={"Authorization": f"Bearer {wrong(9)}"}, REMOTE_ADDR="192.0.2.7"
    )
    assert elsewhere.status_code == 401


@pytest.mark.usefixtures("at_ten_past")
def test_a_key_made_in_the_middle_of_an_attack_is_known_soon(tenant: Tenant) -> None:
    refuse_often(tenant)
    _, secret = ApiKey.make(casino=tenant.casino, name="new", scopes=DEFAULT_SCOPES)
    assert tenant.ask("rules", Authorization=f"Bearer {secret}").status_code == 429
    key_lookup._active_keys.forget()  # as after KNOWN_S
    assert tenant.ask("rules", Authorization=f"Bearer {secret}").status_code == 200


@pytest.mark.usefixtures("at_ten_past")
def test_wrong_secrets_of_a_known_key_are_limited_and_the_right_one_is_not(tenant: Tenant) -> None:
    assert tenant.ask("rules").status_code == 200
    guess = f"cab_{tenant.key.prefix}_{'A' * 43}"
    with CaptureQueriesContext(connection) as queries:
        answers = [tenant.ask("rules", Authorization=f"Bearer {guess}") for _ in range(key_lookup.MAX_FAILURES + 1)]
    assert [answer.status_code for answer in answers] == [401] * key_lookup.MAX_FAILURES + [429]
    assert len(queries) == 0
    assert tenant.ask("rules").status_code == 200
    assert tenant.ask("rules", Authorization=f"Bearer {wrong(1)}").status_code == 401, "another prefix is not limited"


def test_what_cannot_be_a_key_costs_no_query(tenant: Tenant) -> None:
    with CaptureQueriesContext(connection) as queries:
        for _ in range(2 * key_lookup.MAX_FAILURES):
            assert tenant.ask("rules", Authorization="Bearer cab_x").status_code == 401
    assert len(queries) == 0


def test_a_revoked_key_is_refused_though_its_digest_is_still_known(tenant: Tenant) -> None:
    assert tenant.ask("rules").status_code == 200
    ApiKey.objects.filter(pk=tenant.key.pk).update(revoked_at=timezone.now())
    assert tenant.ask("rules").status_code == 401


@pytest.mark.usefixtures("at_ten_past")
def test_failures_are_counted_by_the_address_that_a_proxy_reports(tenant: Tenant, settings: Any) -> None:
    settings.CABOCHON_TRUSTED_PROXIES = ["127.0.0.1"]

    def tried(number: int, reported: str) -> int:
        return tenant.ask("rules", Authorization=f"Bearer {wrong(number)}", **{"X-Forwarded-For": reported}).status_code

    for number in range(key_lookup.MAX_FAILURES):
        assert tried(number, f"10.0.0.{number}, 192.0.2.1") == 401  # what the client writes does not count
    assert tried(1, "10.0.0.200, 192.0.2.1") == 429
    assert tried(1, "192.0.2.2") == 401


@pytest.mark.parametrize("address", ["/api/v1/findings/1/bundle", "/api/v1/docs/"])
def test_an_address_that_answers_with_no_json_does_not_answer_options(tenant: Tenant, address: str) -> None:
    assert tenant.client.options(address, headers=tenant.headers()).status_code == 405


class Terminal(StringIO):
    """A terminal at which these lines are typed."""

    def isatty(self) -> bool:
        return True


def at_terminal(monkeypatch: pytest.MonkeyPatch, typed: str, *options: str) -> tuple[ApiKey, str]:
    """Return the key that ``createkey`` makes at a terminal, and what it asks."""
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    printed, prompts = StringIO(), StringIO()
    call_command("createkey", *options, stdout=printed, stderr=prompts)
    key = ApiKey.of_secret(printed.getvalue().strip())
    assert key is not None
    return key, prompts.getvalue()


def days_of(key: ApiKey) -> int | None:
    return None if key.expires_at is None else round((key.expires_at - timezone.now()) / timedelta(days=1))


def test_createkey_says_that_it_made_no_key_when_somebody_interrupts_it(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Terminal) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(Terminal, "readline", interrupted)
    with pytest.raises(CommandError, match=r"^No key was made\.$"):
        at_terminal(monkeypatch, "", "--casino", "trouville")
    assert not ApiKey.objects.exists()


def test_createkey_asks_at_a_terminal_for_what_no_option_gives(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    key, prompts = at_terminal(monkeypatch, "1, 3\n90\n", "--casino", "trouville")
    assert key.scopes == [KeyScope.EVENTS_WRITE, KeyScope.STREAMS_READ]
    assert days_of(key) == 90
    assert "The key may, by number [1,3,4,5]: " in prompts
    assert "Days until it expires [365]: " in prompts
    key, prompts = at_terminal(monkeypatch, "9\nall\n\nnever\n\n", "--casino", "trouville")
    assert (key.scopes, days_of(key)) == (DEFAULT_SCOPES, 365)
    assert "'9' is not numbers from 1 to 5" in prompts
    assert "'never' is not a whole number" in prompts
    options = ("--casino", "trouville", "--scope", "streams:read", "--no-expiry")
    key, prompts = at_terminal(monkeypatch, "", *options)
    assert (key.scopes, days_of(key)) == ([KeyScope.STREAMS_READ], None)
    assert "[" not in prompts
    monkeypatch.setattr("sys.stdin", Terminal("1\n"))
    with pytest.raises(CommandError, match="the answer is missing"):
        call_command("createkey", "--casino", "nowhere", stderr=StringIO())
    assert not Casino.objects.filter(code="nowhere").exists()


def test_no_key_is_valid_for_ever_unless_requested(db: None) -> None:
    def made(*options: str) -> int | None:
        key = ApiKey.of_secret(created_key(*options))
        assert key is not None
        return days_of(key)

    assert made("--casino", "trouville") == 365
    assert made("--sandbox", "--casino", "trouville-sandbox") == 30
    assert made("--casino", "trouville", "--no-expiry") is None
    with pytest.raises(CommandError, match="not both"):
        created_key("--casino", "trouville", "--no-expiry", "--days", "3")


def test_a_key_that_follows_another_lives_as_long(db: None) -> None:
    for options, days in ((("--days", "90"), 90), (("--no-expiry",), None)):
        secret = created_key("--casino", "trouville", *options)
        with time_machine.travel(timezone.now() + timedelta(days=80)):
            following = ApiKey.of_secret(created_key("--rotate", secret.split("_")[1]))
            assert following is not None
            assert days_of(following) == days
    secret = created_key("--casino", "trouville")
    following = ApiKey.of_secret(created_key("--rotate", secret.split("_")[1], "--days", "7"))
    assert following is not None
    assert days_of(following) == 7


@pytest.mark.parametrize("named", ["{prefix}", "cab_{prefix}", "{secret}"])
def test_a_key_is_named_by_its_prefix_with_cab_or_without(db: None, named: str) -> None:
    def name(secret: str) -> str:
        return named.format(prefix=secret.split("_")[1], secret=secret)

    first = created_key("--casino", "trouville")
    second = created_key("--rotate", name(first))
    assert ApiKey.of_secret(second) is not None
    call_command("revokekey", name(second), stdout=StringIO())
    assert ApiKey.of_secret(second) is None


def test_a_key_that_is_revoked_works_no_more_whenever_that_is_said_to_be(tenant: Tenant) -> None:
    """Nothing revokes a key in advance: by a date to come somebody would have it live again."""
    ApiKey.objects.filter(pk=tenant.key.pk).update(revoked_at=timezone.now() + timedelta(days=30_000))
    assert tenant.ask("rules").status_code == 401
    assert not tenant.key.is_still_active()
    assert tenant.key.prefix not in ApiKey.active_digests()
    assert ApiKey.still_active([tenant.key.pk]) == {}
