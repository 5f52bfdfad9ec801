"""References of held rows: the row that one names is there.

The database holds it by constraints, which a superuser drops. Checks that join would then see nobody where a row names
an officer who never was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from django.apps import apps
from django.db import connection
from django.db.models import ForeignKey

from audit.event_store import cluster
from audit.projections.columns import state_of
from audit.projections.coverage import TABLES
from audit.projections.faults import WrongRow


def wrong_references() -> Iterator[WrongRow]:
    """Yield the rows of held columns that name a row which is not there, of every casino."""
    with connection.cursor() as cursor:
        cursor.execute(_statement(is_distributed=cluster.is_distributed()))
        for _number, table, column, row, value in cursor.fetchall():
            yield WrongRow("reference", f"{table} {row} has the {column} {value}, which is not there")


@cache
def _statement(*, is_distributed: bool) -> str:
    """Return one statement for all columns: on a small record, its way to the database and back is most of its time."""
    parts: list[str] = []
    for model in apps.get_app_config("audit").get_models(include_auto_created=True):
        table = model._meta.db_table
        if table not in TABLES:
            continue
        for field in model._meta.concrete_fields:
            if not isinstance(field, ForeignKey) or state_of(table, column := field.get_attname()) == "not held":
                continue
            target = field.target_field
            named = target.model._meta
            if not named.managed and is_distributed:  # of another node: the checks of the log say it
                continue
            key, name = model._meta.pk.column or column, named.db_table
            parts.append(
                f"select {len(parts)} as number, '{table}', '{column}', t.{key}::text as key, t.{column}::text"
                f" from {table} t where t.{column} is not null"
                f" and not exists (select from {name} r where r.{target.column} = t.{column})"
            )
    return f"select * from ({' union all '.join(parts)}) wrong order by number, length(key), key"
