"""``manage.py logschema``: print the SQL of the schemas ``log`` and ``log_guard`` as this database has them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from audit.event_store.schema import schema_sql


class Command(BaseCommand):
    help = "Print the schemas log and log_guard of this database as SQL: audit/event_store/schema.sql, kept up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        connection.ensure_connection()
        self.stdout.write(schema_sql(connection.connection), ending="")
