"""A test that commits leaves to the next one, on whichever worker, the rows that the migrations wrote."""

from __future__ import annotations

import psycopg
import pytest
from django.apps import apps
from django.db import connection
from django.test import TransactionTestCase

from audit.models import Casino, Deadline, NightReport
from tests.databases import address_of

TABLES = sorted(
    table
    for table in {model._meta.db_table for model in apps.get_models()} - {"audit_leafcursor"}
    if not table.startswith('"log"')  # which nothing empties
)


def rows_of(database: str) -> dict[str, list[str]]:
    with psycopg.connect(address_of(database)) as superuser:
        return {
            table: [row for (row,) in superuser.execute(f"select t::text from {table} t order by 1").fetchall()]  # type: ignore[arg-type]
            for table in TABLES
        }


@pytest.mark.django_db(transaction=True)
@pytest.mark.superuser
def test_after_a_test_that_commits_the_tables_are_as_migrated(migrated_template: str) -> None:
    migrated = rows_of(migrated_template)
    assert migrated["audit_deadline"]
    casino = Casino.objects.create(code="committed", name="Committed")
    Deadline.objects.update(hours=1)
    # A report is never deleted, and many rows are faster gone with their table's file.
    NightReport.objects.create(casino=casino, gaming_day="2026-06-05", version=1, tree_size=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into django_session select repeat('x', 30) || n, '', now() from generate_series(1, 9999) n"
        )
        cursor.execute("select pg_relation_size('django_session') > 512 * 1024")
        assert cursor.fetchone() == (True,)
    TransactionTestCase("run")._fixture_teardown()  # type: ignore[attr-defined]
    assert rows_of(connection.settings_dict["NAME"]) == migrated
