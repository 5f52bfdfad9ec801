"""``manage.py check --deploy --database default``: what stands between the application and the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connection

_STANDING = """
select current_user,
       (select rolsuper from pg_roles where rolname = current_user),
       exists (select from pg_class c where c.relnamespace = to_regnamespace('log')
               and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'member')),
       exists (select from pg_event_trigger where evtname = 'log_no_change' and evtenabled = 'A')
"""


@register(Tags.security, deploy=True)
def check_powers(*, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of powers over the log that the application has and does not need."""
    if "default" not in (databases or ()):
        return []
    with connection.cursor() as cursor:
        cursor.execute(_STANDING)
        role, is_superuser, is_owner, is_guarded = cursor.fetchone()
    found: list[CheckMessage] = []
    if is_superuser:
        found.append(
            Warning(
                f"The application connects as {role}, a superuser: nothing in the database holds it back.",
                hint="Migrate as a superuser; serve as a role that is granted cabochon_writer and cabochon_reader.",
                id="audit.W001",
            )
        )
    elif is_owner:
        found.append(
            Warning(
                f"The application connects as {role}, who owns the log and may alter its tables.",
                hint="Migrate as a superuser, which hands the tables to cabochon_owner.",
                id="audit.W002",
            )
        )
    if not is_guarded:
        found.append(
            Warning(
                "Nothing refuses DDL that would weaken the log.",
                hint="Event triggers need a superuser: run audit/log/sql/guard.sql as one.",
                id="audit.W003",
            )
        )
    return found
