"""``schema.sql`` shows the log's schemas as the migrations leave them, and PostgreSQL can read it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from audit.event_store import schema
from tests import citus

pytestmark = pytest.mark.superuser

OF_ONE_SERVER = pytest.mark.skipif(
    bool(citus.COORDINATOR), reason="schema.sql shows the log of one server; citus.sql says what a cluster's differs in"
)

SCHEMA = Path(schema.__file__).with_name("schema.sql")


@pytest.fixture
def superuser(db: None) -> None:
    """Skips where the tests do not run as a superuser, whose migrations make roles and the guard."""
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        if not cursor.fetchone()[0]:
            pytest.skip("the tests do not run as a superuser")


def statements(sql: str) -> list[str]:
    """Return the statements; of a view its name alone, because PostgreSQL writes a view anew each time it reads one."""
    parts = sql.split("\n\n")
    return [part.partition(" AS\n")[0] if part.startswith("CREATE VIEW") else part for part in parts]


@OF_ONE_SERVER
def test_schema_sql_is_up_to_date(superuser: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("logschema")
    assert capsys.readouterr().out == SCHEMA.read_text(), "run: manage.py logschema > audit/event_store/schema.sql"


def test_schema_sql_makes_the_schema_it_shows(superuser: None, empty_url: str) -> None:
    with psycopg.connect(empty_url) as empty:
        empty.execute(SCHEMA.read_text())
        assert statements(schema.schema_sql(empty)) == statements(SCHEMA.read_text())


@OF_ONE_SERVER
@pytest.mark.parametrize(
    "change",
    [
        "alter table log.outbox add column x int",
        "alter table log.stream alter column currency drop not null",
        "alter table log.batch alter column received_at set default now()",
        "alter table log.batch drop constraint batch_count_check",
        "alter table log.stream_head drop constraint stream_head_stream_id_fkey",
        "drop index log.stream_newest",
        "alter table log.outbox reset (autovacuum_vacuum_threshold)",
        "alter table log.event disable trigger no_change",
        "drop trigger forward_only on log.stream_head",
        "create or replace function log.refuse() returns trigger language plpgsql as 'begin return null; end'",
        "alter function log.append security invoker",
        "alter function log.append owner to current_user",
        "grant insert on log.event to cabochon_writer",
        "grant execute on function log.protect to public",
        "revoke usage on schema log from cabochon_reader",
        "alter event trigger log_no_drop disable",
    ],
)
def test_it_shows_every_change(superuser: None, change: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("insert into log_guard.maintenance (reason) values ('a change for tests')")
        cursor.execute(change)
    assert schema.schema_sql(connection.connection) != SCHEMA.read_text()
