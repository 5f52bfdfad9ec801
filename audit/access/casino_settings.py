"""What a casino and a table are set to, as entries of the audit trail: all of it, each time that it changes.

    the desk, a command ─► casino.added, casino.changed, gamingtable.added, gamingtable.changed ─► the row
    manage.py keep ──────► what an earlier version left outside the log: casino.kept, gamingtable.kept

The database sets a row to what its entry says, in one statement with it: ``sql/casinos.sql``.

A gaming day begins at the hour of its casino, in its zone; a report is under its name, and a question at its level. So
the rows are held against the newest entry of each: ``audit.projections.casinos``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time
from decimal import Decimal
from typing import Any, Literal

from audit.event_store import audit_trail, binary_copy
from audit.models import Casino, GamingTable

CASINOS = ("casino.added", "casino.changed", "casino.kept")
TABLES = ("gamingtable.added", "gamingtable.changed", "gamingtable.kept")

_OF_CASINO = (
    *("code", "name", "time_zone", "cutoff", "priority_threshold", "false_questions"),
    *("reports_from", "reports_until", "silent_after_min", "is_sandbox", "unclaimed_days", "reference_code"),
)
_OF_TABLE = ("code", "name", "does_not_report")


def settings_of(row: Casino | GamingTable) -> dict[str, str | int]:
    """Return what a row is set to, as an entry says it: "" for nothing, 1 for yes, hours as 06:00:00."""
    names = _OF_CASINO if isinstance(row, Casino) else _OF_TABLE
    fields = [field for field in row._meta.concrete_fields if field.name in names]
    return {field.name: _plain(field.to_python(getattr(row, field.name))) for field in fields}


def casino_id_of(row: Casino | GamingTable) -> int:
    """Return the casino in whose trail the entries of a row are."""
    return int(row.pk if isinstance(row, Casino) else row.casino_id)


def keep(actor: str, row: Casino | GamingTable) -> None:
    """Enter what a stored row is set to."""
    data = {"id": row.pk, "named": str(row), **settings_of(row)}
    audit_trail.record(actor, f"{row._meta.model_name}.kept", casino_id=casino_id_of(row), data=data)


def store(
    actor: str | None, verb: Literal["added", "changed"], row: Casino | GamingTable, *, fields: Sequence[str] = ()
) -> None:
    """Set a new row, or one that there is, to what it has now. ``fields`` are called those that were changed.

    The ``actor`` is the name of an officer, or ``COMMAND``; raise ``EntryRefused`` for one who may not.
    """
    if verb == "added":
        [(row.pk,)] = binary_copy.execute("select audit_next_id(%b::text)", (row._meta.model_name,))
    if verb == "added" and isinstance(row, Casino):
        [(row.reference_code,)] = binary_copy.execute("select audit_free_reference_code(%b::text)", (row.code,))
    data = {"id": row.pk, "named": str(row), "fields": list(fields), **settings_of(row)}
    audit_trail.perform(actor, f"{row._meta.model_name}.{verb}", casino_id=casino_id_of(row), data=data)
    row._state.adding, row._state.db = False, "default"


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
