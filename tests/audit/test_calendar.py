"""No row of any table has an instant or a day that no page can show: one such row failed whoever read it, and others.

Whoever has taken over a web server can write some of these columns.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from audit.access.database_roles import WEB
from audit.models import Casino
from audit.reconciliation import runs
from tests.audit.reconciliation.played import DAY, MORNING
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

_COLUMNS = """
select c.relname, a.attname, coalesce(string_agg(pg_get_constraintdef(k.oid), ' '), '')
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_constraint k on k.conrelid = c.oid and k.contype = 'c' and a.attnum = any (k.conkey)
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname like 'audit\\_%'
  and a.atttypid in ('timestamptz'::regtype, 'date'::regtype)
group by 1, 2
"""

ATTACKS = {
    "of an officer, who then could not sign in": "update audit_officer set last_login = '{at}'",
    "of a key": "update audit_apikey set last_used_at = '{at}'",
    "of the night of a casino": (
        "insert into audit_nightrun (casino_id, gaming_day, started_at, started_by, through, error)"
        " select min(id), '{at}', now(), 'x', '{{}}', '' from audit_casino"
    ),
    "of a process": (
        "insert into audit_heartbeat (name, beat_at) values ('web', '{at}')"
        " on conflict (name) do update set beat_at = excluded.beat_at"
    ),
}


def test_every_instant_and_day_of_every_table_is_of_the_calendar() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        rows = cursor.fetchall()
    assert len(rows) > 100
    assert [f"{table}.{column}" for table, column, checks in rows if f"({column} >=" not in checks] == []


@pytest.mark.parametrize("at", ["infinity", "-infinity"])
@pytest.mark.parametrize("statement", ATTACKS.values(), ids=ATTACKS)
def test_a_web_server_that_was_taken_over_stores_none(tenant: Tenant, statement: str, at: str) -> None:
    tenant.casino.officers.create(username="ada")
    with (
        acting_as(WEB),
        pytest.raises(IntegrityError, match=r"_calendar|a time to come"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(at=at))


def test_a_casino_whose_nights_cannot_be_told_keeps_no_other_from_its_reports(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Tenant()
    for each in (tenant, other):
        runs.begin(each.casino, DAY, actor="beat")
    changed = runs._changed

    def unreadable(casino: Casino, now: Any) -> set[date]:
        if casino == tenant.casino:
            raise AttributeError
        return changed(casino, now)

    monkeypatch.setattr(runs, "_changed", unreadable)
    assert runs.due(MORNING) == [(other.casino, DAY)]
