"""Immutability, by attack: what the log's owner, its writer and a superuser may not do to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import psycopg
import pytest
from django.db import Error, connection, transaction

import audit
from tests import citus
from tests.audit.tables import Tenant

pytestmark = pytest.mark.superuser

GUARD = Path(audit.__file__).parent / "event_store" / "sql" / "guard.sql"

APPEND_ONLY, OUTSIDE_MAINTENANCE, NO_PERMISSION = "ES001", "ES002", "42501"


@pytest.fixture
def recorded(tenant: Tenant, stream: str) -> int:
    """A stream with events. Returns its id."""
    assert tenant.send(stream, tenant.session(stream, 5)).status_code == 201
    with connection.cursor() as cursor:
        cursor.execute("select stream_id from log.stream where name = %s", (stream,))
        return int(cursor.fetchone()[0])


@pytest.fixture
def superuser(db: None) -> None:
    """Skips unless the tests run as a superuser, who makes roles and event triggers."""
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests do not run as a superuser")


def refused(statement: str, *, role: str | None = None, before: str = "") -> str | None:
    """Run a statement and roll it back. Return the SQLSTATE it was refused with, or None if it was allowed."""
    try:
        with transaction.atomic(), connection.cursor() as cursor, citus.skipped_where_citus_refuses():
            citus.let_a_superuser_attack(cursor)
            cursor.execute(before or "select 1")
            if role:
                cursor.execute(f"set local role {role}")
            cursor.execute(statement)
            raise _Allowed
    except _Allowed:
        return None
    except Error as error:
        return cast(psycopg.Error, error.__cause__).sqlstate


class _Allowed(Exception):
    """Rolls back what was allowed."""


def relations(*names: str) -> Iterator[str]:
    """Yield the tables of those names and every partition of them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select c.oid::regclass::text from pg_class c where c.relnamespace = 'log'::regnamespace"
            " and c.relkind in ('r', 'p') and split_part(c.relname, '_2', 1) = any (%s) order by 1",
            (list(names),),
        )
        yield from (name for (name,) in cursor.fetchall())


@pytest.mark.parametrize("role", ["cabochon_owner", None])
def test_nobody_updates_deletes_or_truncates(recorded: int, superuser: None, role: str | None) -> None:
    tables = list(relations("event", "batch", "stream"))
    assert len(tables) >= 3 + 2 * 3
    for table in tables:
        assert refused(f"truncate {table} cascade", role=role) == APPEND_ONLY, table
    for table in ("log.event", "log.event_202611", "log.batch", "log.batch_202611", "log.stream"):
        row = f"{table} set stream_id = stream_id where stream_id = {recorded}"
        assert refused(f"update {row}", role=role) == APPEND_ONLY, table
        assert refused(f"delete from {table} where stream_id = {recorded}", role=role) == APPEND_ONLY, table


def test_replication_does_not_switch_the_triggers_off(recorded: int, superuser: None) -> None:
    off = "set local session_replication_role = replica"
    for table in ("log.event", "log.event_202611", "log.batch_202611", "log.stream"):
        assert refused(f"delete from {table} where stream_id = {recorded}", before=off) == APPEND_ONLY, table
        assert refused(f"truncate {table} cascade", before=off) == APPEND_ONLY, table
    assert refused(f"update log.stream_head set next_seq = 1 where stream_id = {recorded}", before=off) == APPEND_ONLY


def test_a_head_never_moves_back_and_is_never_deleted(recorded: int) -> None:
    where = f"where stream_id = {recorded}"
    assert refused(f"update log.stream_head set next_seq = 5 {where}") == APPEND_ONLY
    assert refused(f"update log.stream_head set chain = 'x' {where}") == APPEND_ONLY
    assert refused(f"delete from log.stream_head {where}") == APPEND_ONLY
    assert refused("truncate log.stream_head") == APPEND_ONLY


@pytest.mark.parametrize(
    "statement",
    [
        "select * from log.event",
        "select * from log.stream",
        "insert into log.event values (1, 1, now(), '{}')",
        "insert into log.event_202611 values (1, 1, now(), '{}')",
        "insert into log.stream_head values (1)",
        "update log.stream_head set next_seq = 9",
        "delete from log.outbox",
        "truncate log.event_202611",
        "select log.ensure_month('1999-01-01')",
        "select log.protect('log.event')",
        "alter table log.event disable trigger all",
        "drop table log.event",
        "create table log.event_199901 ()",
        "insert into log_guard.maintenance (reason) values ('mine')",
    ],
)
def test_the_writer_may_only_append(recorded: int, superuser: None, statement: str) -> None:
    assert refused(statement, role="cabochon_writer") == NO_PERMISSION


def test_the_writer_may_append_and_the_reader_read(recorded: int, superuser: None) -> None:
    digest, nothing = f"'\\x{'00' * 32}'::bytea", "array[]::timestamptz[]"
    append = (
        f"select log.append({recorded}, 6, 7, {digest}, 1, array[6::bigint], array[now()],"
        """ array['{"seq":6}'])"""
    )
    assert refused(append, role="cabochon_writer") is None
    opened = "select log.open_stream(1, null, 'a-count', '2077-07-07', null, null, 'EUR')"
    assert refused(opened, role="cabochon_writer") is None
    everything = "select * from log.event join log.batch using (stream_id) join log.stream using (stream_id)"
    assert refused(everything, role="cabochon_reader") is None
    assert refused(append, role="cabochon_reader") == NO_PERMISSION
    assert refused(append.replace("array[now()]", nothing), role="cabochon_writer") == "23502"


DDL = [
    "alter table log.event_202611 disable trigger no_change",
    "alter table log.event disable trigger all",
    "alter table log.event_202611 enable trigger no_truncate",
    "drop trigger no_change on log.event",
    "drop trigger no_truncate on log.batch_202611",
    "alter table log.event detach partition log.event_202611",
    "drop table log.event_202611",
    "drop table log.outbox cascade",
    "alter table log.batch add column x int",
    "alter table log.event_202611 set schema public",
    "alter table log.outbox set schema public",
    "create trigger swallow before insert on log.event for each row execute function log.refuse()",
    "create rule swallow as on insert to log.stream do instead nothing",
    "create policy hide on log.event",
    "create unique index spoil on log.event_202611 (seq) where seq < 0",
    "grant insert on log.event to cabochon_writer",
    "grant insert (seq) on log.event to public",
    "grant truncate on log.event_202611 to cabochon_reader",
    "alter default privileges in schema log grant insert on tables to public",
]


@pytest.mark.parametrize("statement", DDL)
@pytest.mark.parametrize("role", ["cabochon_owner", None])
def test_the_guard_refuses_ddl_that_would_weaken_the_log(superuser: None, statement: str, role: str | None) -> None:
    assert refused(statement, role=role) in (OUTSIDE_MAINTENANCE, NO_PERMISSION)


@pytest.mark.parametrize(
    "statement",
    [
        "alter function log.refuse() rename to r2",
        "alter function log.refuse() set schema public",
        "create or replace function log.refuse() returns trigger language plpgsql as 'begin return null; end'",
        "drop schema log cascade",
        "drop table log_guard.maintenance cascade",
        "alter schema log rename to gol",
    ],
)
def test_the_guard_refuses_a_superuser_who_did_not_open_maintenance(superuser: None, statement: str) -> None:
    assert refused(statement) == OUTSIDE_MAINTENANCE


def test_a_short_name_does_not_get_round_the_guard(superuser: None) -> None:
    short = "alter table event_202611 disable trigger no_change"
    assert refused(short, before="set local search_path = log") == OUTSIDE_MAINTENANCE


def test_creating_a_month_does_not_leave_the_guard_open(superuser: None) -> None:
    created = "select log.ensure_month('1993-03-03')"
    assert refused("alter table log.event disable trigger all", before=created) == OUTSIDE_MAINTENANCE


def test_maintenance_is_for_its_own_transaction_and_leaves_a_trace(superuser: None) -> None:
    opened = "insert into log_guard.maintenance (reason) values ('a column for tests')"
    assert refused("alter table log.outbox add column x int", before=opened) is None


ANY_EARLIER = "update log_guard.maintenance set transaction = pg_current_xact_id()"


def test_no_earlier_maintenance_opens_the_guard_again(superuser: None) -> None:
    """A cluster that a dump is restored into has yet to reach the transaction ids that the dump holds."""
    disabled = "alter table log.event disable trigger no_change"
    with connection.cursor() as cursor:
        cursor.execute("select count(*), count(closed_at) from log_guard.maintenance")
        rows, closed = cursor.fetchone()
    assert rows == closed >= 1
    assert refused(disabled, before=ANY_EARLIER) == OUTSIDE_MAINTENANCE


@pytest.mark.parametrize("replication", ["origin", "replica"])
def test_maintenance_is_closed_at_the_end_of_its_transaction(superuser: None, replication: str) -> None:
    opened = "insert into log_guard.maintenance (reason) values ('a column for tests')"
    ended = f"set local session_replication_role = {replication}; {opened}; set constraints all immediate"
    assert refused("alter table log.outbox add column x int", before=ended) == OUTSIDE_MAINTENANCE


def test_a_writer_who_opens_a_month_closes_its_maintenance_at_the_commit(superuser: None) -> None:
    opened = "select log.open_stream(1, null, 'a-count-of-1992', '1992-02-02', null, null, 'EUR')"
    assert refused("set constraints all immediate", role="cabochon_writer", before=opened) is None
    assert refused(f"{opened}; set constraints all immediate", role="cabochon_writer") is None


@pytest.mark.skipif(bool(citus.COORDINATOR), reason="the guard of a cluster is what distribute leaves on its nodes")
def test_a_superuser_gives_a_log_the_guard_that_it_lacks(superuser: None) -> None:
    """As ``check --deploy`` advises, where an account without that power migrated."""
    unguarded = "alter table log.event disable trigger all"
    gone = "drop event trigger log_no_change; drop event trigger log_no_drop; drop schema log_guard cascade"
    assert refused(unguarded, before=gone) is None
    assert refused(unguarded, before=f"{gone}; {GUARD.read_text()}") == OUTSIDE_MAINTENANCE


def test_the_guard_leaves_other_tables_alone(superuser: None) -> None:
    assert refused("create table audit_log (id int)") is None
    assert refused("grant select on audit_casino to public") is None
    assert refused("create schema other_log create table log (id int)") is None
