"""Casinos and tables are what the log says: their codes by what has played, the rest by the entries of the desk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.urls import reverse

from audit.access import casino_settings
from audit.management.commands import welcome
from audit.models import CaseContacts, Casino, GamingTable, Officer, Role
from audit.projections.casinos import wrong_casinos
from audit.projections.clock import wrong_clock
from audit.projections.faults import WrongRow
from audit.projections.found import Figures
from audit.projections.takeover import keep_settings
from audit.simulation import first_run
from audit.simulation.month import VENUES
from audit.transparency.outcome import Fault
from tests import citus
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.projections.forgers import unguarded
from tests.audit.projections.record import Casino as Record
from tests.audit.projections.record import derived, faults
from tests.audit.tables import Tenant
from tests.audit.transparency.forger import unguard
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]


class RollBack(Exception):
    """Ends an attack."""


def unguard_all_tables() -> None:
    """Switch off every guard; attacks that are rolled back after it find it done."""
    unguarded()
    with connection.cursor() as cursor:
        unguard(cursor)


_IS_GUARDED = """
select exists (select from pg_trigger where tgrelid in ('log.event'::regclass, 'audit_finding'::regclass)
               and not tgisinternal and tgenabled <> 'D')
"""


def forge(statement: str, **names: Any) -> None:
    """Run a statement as a superuser with every guard off."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_GUARDED)
        if citus.COORDINATOR or cursor.fetchall() == [(True,)]:
            unguard_all_tables()
        cursor.execute("set local session_replication_role = replica")
        cursor.execute(statement.format(**names))
        assert cursor.rowcount > 0, statement
        cursor.execute("set local session_replication_role = origin")


def named_after(attack: Callable[[], object], *, deep: bool = False) -> str:
    """Return what verification names after an attack, which is rolled back."""
    try:
        with transaction.atomic():
            attack()
            found = named(deep=deep)
            raise RollBack
    except RollBack:
        return found


def named_by(check: Callable[[], Iterable[WrongRow]], attack: Callable[[], object]) -> str:
    """Return what one part of verification names after an attack, which is rolled back."""
    try:
        with transaction.atomic():
            attack()
            found = "\n".join(str(Fault(each.part, each.what, each.stream, each.seq)) for each in check())
            raise RollBack
    except RollBack:
        return found


def named(*, deep: bool = False) -> str:
    return "\n".join(str(fault) for fault in faults(deep=deep))


class Kept:
    """A casino that has played, and another; the log keeps what all are set to."""

    def __init__(self, *, is_kept: bool = True) -> None:
        self.record = Record()
        self.casino, self.table = self.record.casino, self.record.tenant.table
        self.stream_id = self.record.played("s")
        self.other = Tenant()
        if is_kept:
            keep_settings()
        seal()
        assert faults() == []

    def forge(self, statement: str) -> None:
        forge(statement, casino=self.casino.pk, table=self.table.pk, other=self.other.casino.pk)


OF_CASINO = {
    "code": "'renamed'",
    "name": "'Another name'",
    "time_zone": "'Asia/Tokyo'",
    "cutoff": "'09:00'",
    "priority_threshold": "1000000",
    "unclaimed_days": "1",
    "reference_code": "'QQQ'",
    "false_questions": "12",
    "reports_from": "'20:00'",
    "reports_until": "'04:00'",
    "silent_after_min": "5",
    "is_sandbox": "true",
}
OF_TABLE = {"code": "'renamed'", "name": "'Another name'", "does_not_report": "true", "casino_id": "{other}"}


def test_a_casino_or_a_table_that_is_set_to_something_else_is_named() -> None:
    kept = Kept()
    unguard_all_tables()
    missed = []
    for row, id_, columns in (("casino", kept.casino.pk, OF_CASINO), ("gamingtable", kept.table.pk, OF_TABLE)):
        part = row.removeprefix("gaming")
        for column, value in columns.items():
            statement = f"update audit_{row} set {column} = {value} where id = {{{part}}}"
            found = named_by(partial(wrong_casinos, None, Figures()), partial(kept.forge, statement))
            if f"{part}: {part} {id_} " not in found or column.removesuffix("_id") not in found:
                missed.append(statement)
    assert not missed
    assert faults() == []
    kept.forge("update audit_casino set name = 'Another name' where id = {casino}")
    assert f"casino: casino {kept.casino.pk} " in named()


def test_every_column_of_a_casino_and_a_table_is_held_against_the_log() -> None:
    not_held = {"id"}
    assert {field.column for field in Casino._meta.concrete_fields} - not_held == OF_CASINO.keys()
    assert {field.column for field in GamingTable._meta.concrete_fields} - not_held == OF_TABLE.keys()


RENAMED = {
    "update audit_casino set code = 'renamed' where id = {casino}": "is called renamed, and the first event of session",
    "update audit_gamingtable set code = 'T9' where id = {table}": "is called T9, and the first event of session",
    "update audit_gamingtable set casino_id = {other}, code = 'x' where id = {table}": "is not of the casino of which",
    "delete from audit_gamingtable where id = {table}": "is missing, at which session",
    "delete from audit_casino where id = {casino}": "is missing, of which session",
}


def test_codes_are_held_against_the_sessions_before_anything_is_kept() -> None:
    """What 0.1.0 recorded says the codes, too: nothing has to be taken over for that."""
    kept = Kept(is_kept=False)
    unguard_all_tables()
    for statement, what in RENAMED.items():
        assert what in named_by(partial(wrong_casinos, None, Figures()), partial(kept.forge, statement)), statement


def test_what_no_entry_says_is_counted_until_it_is_kept_and_named_from_then_on() -> None:
    Kept(is_kept=False)
    assert derived().figures.unstated > 0
    printed = StringIO()
    call_command("keep", stdout=printed)
    assert derived().figures.unstated == 0
    added = Casino.objects.create(code="added-by-hand", name="x")
    table = GamingTable.objects.create(casino=added, code="B1")
    seal()
    assert f"casino {added.pk} (added-by-hand) is stored, and no entry says what it is set to" in named()
    assert f"table {table.pk} (B1) is stored, and no entry says what it is set to" in named()


def test_roles_and_keys_of_an_earlier_version_are_counted_until_they_are_kept() -> None:
    tenant = Tenant()
    auditor = hired(tenant, Role.AUDITOR, "auditor")
    other = Tenant()
    forge(
        "insert into audit_officer_casinos (officer_id, casino_id, role) values ({officer}, {casino}, 'auditor')",
        officer=auditor.pk,
        casino=other.casino.pk,
    )
    assert faults() == []
    before = derived().figures.unstated
    keep_settings()
    seal()
    assert before > 0 == derived().figures.unstated
    assert faults() == []
    forge("update audit_officer_casinos set role = 'second' where casino_id = {casino}", casino=other.casino.pk)
    assert f"is second at {other.code}, and entry" in named()


def test_what_somebody_has_written_past_the_desk_is_not_taken_over() -> None:
    kept = Kept()
    kept.forge("update audit_casino set cutoff = '09:00' where id = {casino}")
    added = Casino.objects.create(code="added-by-hand", name="x")
    assert keep_settings() == 0
    seal()
    assert f"casino {kept.casino.pk} " in named()
    assert f"casino {added.pk} (added-by-hand) is stored, and no entry says" in named()


def test_each_change_at_the_desk_holds() -> None:
    chief = client_of(Officer.objects.create_superuser("chief"))
    keep_settings()
    form = {
        "code": "new",
        "name": "New",
        "time_zone": "Europe/Paris",
        "cutoff": "06:00",
        "priority_threshold": "100",
        "unclaimed_days": "365",
        "false_questions": "0.5",
        "reports_from": "",
        "reports_until": "",
        "silent_after_min": "",
    }
    assert chief.post(reverse("admin:audit_casino_add"), form).status_code == 302
    casino = Casino.objects.get(code="new")
    added = {"casino": casino.pk, "code": "R1", "name": "by the window"}
    assert chief.post(reverse("admin:audit_gamingtable_add"), added).status_code == 302
    table = GamingTable.objects.get(casino=casino)
    seal()
    assert faults() == []
    changed = {**form, "cutoff": "07:30:00", "reports_from": "20:00", "reports_until": "04:00", "silent_after_min": "9"}
    page = reverse("admin:audit_casino_change", args=(casino.pk,))
    assert chief.post(page, changed).status_code == 302
    page = reverse("admin:audit_gamingtable_change", args=(table.pk,))
    assert chief.post(page, {"name": "by the door", "does_not_report": "on"}).status_code == 302
    seal()
    assert faults() == []
    forge("update audit_gamingtable set name = 'by the window' where id = {table}", table=table.pk)
    assert f"table {table.pk} (R1) is not what entry" in named()


def test_what_a_web_server_writes_past_the_desk_is_named() -> None:
    tenant = Tenant()
    hired(tenant, Role.ADMINISTRATOR, "keeper")
    keep_settings()
    Casino.objects.filter(pk=tenant.casino.pk).update(cutoff="11:00")
    seal()
    assert f"casino {tenant.casino.pk} ({tenant.code}) is not what entry" in named()


def test_a_time_zone_that_does_not_exist_is_named_although_an_entry_says_it() -> None:
    kept = Kept(is_kept=False)
    kept.forge("update audit_casino set time_zone = 'No/Where' where id = {casino}")
    keep_settings()
    seal()
    assert f"casino {kept.casino.pk} ({kept.casino.code}) has the time zone No/Where, which does not exist" in named()


def test_a_casino_that_a_command_registers_holds() -> None:
    keep_settings()
    out, err = StringIO(), StringIO()
    call_command("createkey", casino="by-command", tables=["C1"], no_expiry=True, stdout=out, stderr=err)
    call_command("createkey", casino="by-command-sandbox", sandbox=True, stdout=out, stderr=err)
    casino = Casino.objects.get(code="by-command")
    seal()
    assert faults() == []
    forge("update audit_casino set time_zone = 'UTC' where id = {casino}", casino=casino.pk)
    assert f"casino {casino.pk} (by-command) is not what entry" in named()


def test_the_casinos_and_keys_of_the_first_run_hold() -> None:
    keep_settings()
    for _again in range(2):
        welcome.Command()._casinos(first_run.Plan(date(2026, 11, 19), tables=4, nights=1))
    casino = Casino.objects.get(code=VENUES[0].code)
    assert GamingTable.objects.filter(casino=casino).exists()
    assert CaseContacts.objects.filter(casino=casino).exclude(video_room="").count() == 1
    key, _post = welcome.Command()._post(casino, "http://localhost:1")
    welcome.Command()._revoke(key)
    seal()
    assert faults() == []


def test_an_entry_says_all_that_a_row_is_set_to() -> None:
    assert set(casino_settings.settings_of(Casino())) == OF_CASINO.keys()
    assert {*casino_settings.settings_of(GamingTable()), "casino_id"} == OF_TABLE.keys()


CLOCKS = {
    "moved back": "update log.clock set since = since - 1",
    "moved forward": "update log.clock set since = since + 1",
    "moved back in time": "update log.clock set began_at = began_at - interval '1 day'",
}


def test_a_clock_that_begins_elsewhere_than_was_kept_is_named() -> None:
    with connection.cursor() as cursor:  # a log of 0.1.0, whose first leaves came before there was a clock
        unguard(cursor)
        cursor.execute("update log.clock set since = 2")
    Kept()
    expected = "clock: the log’s clock did not begin at the leaf and the time that entry"
    for statement in CLOCKS.values():
        assert expected in named_by(wrong_clock, partial(forge, statement)), statement
    forge(statement)
    assert expected in named()


def test_a_clock_that_was_moved_over_the_leaves_that_it_holds_is_named_without_any_entry() -> None:
    Kept(is_kept=False)
    forge("update log.clock set since = (select count(*) from log.leaf), began_at = began_at - interval '2 hours'")
    assert "and the one before it came after it began" in named()
