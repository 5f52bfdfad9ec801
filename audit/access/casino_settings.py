"""What a casino and a table are set to, as entries of the audit trail: all of it, each time that it changes.

    the desk, a command ─► the row ─► casino.added, casino.changed, gamingtable.added, gamingtable.changed
    manage.py keep ─────► what an earlier version left outside the log: casino.kept, gamingtable.kept

A gaming day begins at the hour of its casino, in its zone; a report is under its name, and a question at its level. So
the rows are held against the newest entry of each: ``audit.projections.casinos``.
"""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import Any, Literal

from django.db import transaction

from audit.event_store import audit_trail
from audit.models import Casino, GamingTable

Verb = Literal["added", "changed", "kept"]

CASINOS = ("casino.added", "casino.changed", "casino.kept")
TABLES = ("gamingtable.added", "gamingtable.changed", "gamingtable.kept")

_OF_CASINO = (
    *("code", "name", "time_zone", "cutoff", "priority_threshold", "false_questions"),
    *("reports_from", "reports_until", "silent_after_min", "is_sandbox"),
)
_OF_TABLE = ("code", "name", "does_not_report")


def settings_of(row: Casino | GamingTable) -> dict[str, str | int]:
    """Return what a stored row is set to, as an entry says it: "" for nothing, 1 for yes, hours as 06:00:00."""
    names = _OF_CASINO if isinstance(row, Casino) else _OF_TABLE
    return {name: _plain(getattr(row, name)) for name in names}


def casino_id_of(row: Casino | GamingTable) -> int:
    """Return the casino in whose trail the entries of a row are."""
    return int(row.pk if isinstance(row, Casino) else row.casino_id)


def record(actor: str, verb: Verb, row: Casino | GamingTable, **more: Any) -> None:
    """Enter what a row is set to, as it is stored, in the transaction in which it was stored."""
    stored = type(row).objects.get(pk=row.pk)
    data = {"id": row.pk, "named": str(row), **more, **settings_of(stored)}
    audit_trail.record(actor, f"{row._meta.model_name}.{verb}", casino_id=casino_id_of(row), data=data)


@transaction.atomic
def add(actor: str, row: Casino | GamingTable) -> None:
    """Store a new row and enter what it is set to."""
    row.save(force_insert=True)
    record(actor, "added", row)


def _plain(value: Any) -> str | int:
    match value:
        case None:
            return ""
        case bool():
            return int(value)
        case time():
            return value.isoformat()
        case Decimal():
            return f"{value:.2f}"
        case int() | str():
            return value
        case _:
            raise TypeError(f"no entry can say {value!r}")
