"""What whoever takes over a web server does to the register: nothing by its table, and by the functions only what the
rules let the officer do in whose name they are called."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from audit.access.capabilities import Capability, roles_with
from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Officer, RegisterEntry, Role
from audit.register.entries import _content
from audit.register.readings import KINDS, ValueRefused, check
from tests.audit.access.test_account_walls import DENIED, WEB, refused
from tests.audit.casework.test_actions import hired
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.register.test_entries import READABLE, UNREADABLE
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

CONTENT = {
    "reading": "payout_unit",
    "value": "100",
    "ruleset": "",
    "table": "",
    "first_day": "2020-01-01",
    "last_day": "",
    "reason": "mine",
}


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def attempted(actor: Officer | str, type: str, desk: RegisterDesk, **data: Any) -> str | None:
    """Name an entry as a web server does, and roll it back. Return the code of the refusal, or None."""
    try:
        with transaction.atomic(), acting_as(WEB):
            audit_trail.perform(str(actor), type, casino_id=desk.casino.pk, data=data)
            transaction.set_rollback(True)
    except EntryRefused as refusal:
        return refusal.code
    return None


def named(entry: RegisterEntry, **other: Any) -> dict[str, Any]:
    """Return the data with which an entry is decided."""
    return {"id": entry.pk, **_content_of(entry), "proposed_by": entry.proposed_by.get_username(), **other}


def _content_of(entry: RegisterEntry) -> dict[str, Any]:
    return _content(entry)  # type: ignore[arg-type]  # it has the same fields


@pytest.mark.parametrize(
    "statement",
    [
        "insert into audit_registerentry default values",
        "update audit_registerentry set state = 'approved', version = 9, decided_by_id = 1, decided_at = now()",
        "update audit_registerentry set value = '1'",
        "update audit_registerentry set first_day = '2000-01-01'",
        "update audit_registerentry set proposed_by_id = 1",
        "update audit_registerentry set reason = 'x'",
        "delete from audit_registerentry",
        "update audit_adjudicationrun set register_version = 9",
        "select audit_act_register_proposed('{}', 1, null)",
        "select audit_act_register_approved('{}', 1, null)",
        "select audit_act_register_declined('{}', 1, null)",
        "select audit_act_register_withdrawn('{}', 1, null)",
        "select audit_decide_register_entry('{}', 'approved')",
        "select audit_guard_register_entry()",
    ],
)
def test_a_web_server_that_was_taken_over_writes_no_row_of_the_register(statement: str) -> None:
    assert refused(statement) == DENIED


def test_nor_does_a_worker(desk: RegisterDesk) -> None:
    desk.proposed("payout_unit", 100)
    for statement in ("update audit_registerentry set reason = 'x'", "delete from audit_registerentry"):
        with pytest.raises(DatabaseError, match="permission denied"):  # noqa: SIM117  # the transaction ends first
            with transaction.atomic(), acting_as("cabochon_worker"), connection.cursor() as cursor:
                cursor.execute(statement)


def test_the_functions_let_those_propose_and_decide_who_keep_the_register_there(desk: RegisterDesk) -> None:
    entry, foreign = desk.proposed("throw_delay_s", 20), RegisterDesk()
    for role in Role:
        officer = hired(desk.tenant, role, f"wall-{role}")
        keeps = role in roles_with(Capability.KEEP_REGISTER)
        assert (attempted(officer, "register.proposed", desk, **CONTENT) is None) == keeps, role
        assert (attempted(officer, "register.approved", desk, **named(entry)) is None) == keeps, role
    assert attempted(foreign.one, "register.proposed", desk, **CONTENT) == "not-keeper"
    assert attempted(foreign.other, "register.approved", desk, **named(entry)) == "not-keeper"
    assert attempted("nobody-at-all", "register.proposed", desk, **CONTENT) == "not-an-officer"


def test_the_functions_take_two_people_and_what_was_proposed(desk: RegisterDesk) -> None:
    entry = desk.proposed("payout_unit", 100, table=desk.table("T1"))
    third = hired(desk.tenant, Role.SECOND, "third")
    assert attempted(desk.one, "register.approved", desk, **named(entry)) == "own-proposal"
    assert attempted(desk.one, "register.declined", desk, **named(entry)) == "own-proposal"
    assert attempted(desk.other, "register.withdrawn", desk, **named(entry)) == "not-own-proposal"
    for other in (
        {"value": "500"},
        {"reading": "commission_unit"},
        {"ruleset": "fr-craps"},
        {"table": ""},
        {"table": "T2"},
        {"first_day": "2020-01-02"},
        {"last_day": "2020-01-02"},
        {"proposed_by": third.username},
        {"id": entry.pk + 1_000_000},
    ):
        assert attempted(desk.other, "register.approved", desk, **named(entry, **other)) == "no-such-entry", other
    assert attempted(desk.other, "register.approved", desk, **named(entry)) is None
    Officer.objects.get(pk=desk.one.pk).memberships.all().delete()
    assert attempted(desk.other, "register.approved", desk, **named(entry)) == "proposer-left"
    assert attempted(desk.other, "register.declined", desk, **named(entry)) is None


def test_an_entry_is_decided_once_whatever_writes_it(desk: RegisterDesk) -> None:
    entry = desk.decided("payout_unit", 100)
    for type in ("register.approved", "register.declined"):
        assert attempted(desk.other, type, desk, **named(entry)) == "decided"
    assert attempted(desk.one, "register.withdrawn", desk, **named(entry)) == "decided"


def test_a_table_of_another_casino_is_none(desk: RegisterDesk) -> None:
    assert attempted(desk.one, "register.proposed", desk, **{**CONTENT, "table": "T9"}) == "no-such-table"


@pytest.mark.parametrize(
    "other",
    [
        {"reason": " "},
        {"reason": ""},
        {"first_day": "2020-02-30"},
        {"first_day": "0001-01-01"},
        {"first_day": "99999-01-01"},
        {"last_day": "2019-12-31"},
        {"last_day": "2101-01-01"},
        {"value": "{"},
        {"value": "null null"},
        {"reading": "x" * 200},
        {"ruleset": "x" * 200},
    ],
)
def test_the_functions_take_no_entry_that_a_page_could_not_show(desk: RegisterDesk, other: dict[str, str]) -> None:
    assert attempted(desk.one, "register.proposed", desk, **{**CONTENT, **other}) == "not-readable"


def is_readable(reading: str, value: Any) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select audit_reading_is_readable(%s, %s::jsonb)", [reading, json.dumps(value)])
        return bool(cursor.fetchone()[0])


@pytest.mark.superuser
@pytest.mark.parametrize(("reading", "value"), [*READABLE, *UNREADABLE])
def test_the_database_reads_the_values_that_the_engine_reads(reading: str, value: Any) -> None:
    try:
        check(reading, value)
    except ValueRefused:
        is_value = False
    else:
        is_value = True
    if value == ["wishes"]:  # which families there are is the engine's to say
        assert is_readable(reading, value)
    else:
        assert is_readable(reading, value) is is_value


@pytest.mark.superuser
def test_the_database_knows_the_readings_of_the_register() -> None:
    assert all(is_readable(name, None) for name in KINDS)
    assert not is_readable("luck", None)


@pytest.mark.superuser
def test_no_other_way_of_writing_changes_a_decided_entry(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    for statement in (
        "update audit_registerentry set value = '1'",
        "update audit_registerentry set state = 'declined', version = null",
        "delete from audit_registerentry",
        "update audit_registerentry set version = 7",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
