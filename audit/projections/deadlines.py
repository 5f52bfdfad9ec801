"""Deadlines, held against the audit trail: within how many hours the cases of a severity are to be closed.

    deadline.added, deadline.changed, deadline.deleted, the newest of a casino and severity ─┐
    audit_deadline ──────────────────────────────────────────────────────────────────────────┤ the same, or a fault

Entries from before 1.0 say that a deadline was changed, and not to how many hours: what they are about is not held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from audit.event_store.audit_trail import INSTALLATION
from audit.models import Deadline
from audit.projections.entries import Entry, entries
from audit.projections.faults import WrongRow

SET, DELETED = ("deadline.added", "deadline.changed"), "deadline.deleted"

OF_THE_INSTALLATION: Mapping[str, int] = {"critical": 24, "major": 72, "minor": 168, "info": 720}
"""Hours with which every installation begins."""


def wrong_deadlines(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the deadlines of a casino, of every one and of the installation for None."""
    stated: dict[tuple[int, str], Entry] = {}
    unsaid: set[int] = set()
    for entry in entries(casino_id, (*SET, DELETED)):
        if "severity" in entry.data:
            stated[entry.casino_id, entry.text("severity")] = entry
        else:
            unsaid.add(entry.number("id"))
    expected = {key: entry.number("hours") for key, entry in stated.items() if entry.type != DELETED}
    if casino_id is None:
        begun = {(INSTALLATION, severity): hours for severity, hours in OF_THE_INSTALLATION.items()}
        expected = begun | expected
    rows = Deadline.objects.order_by("pk")
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        key = (row.casino_id or INSTALLATION, row.severity)
        hours = expected.pop(key, None)
        if row.hours != hours and (row.pk not in unsaid or key in stated):
            what = f"{_named(*key)} is {row.hours} h, and the audit trail says {f'{hours} h' if hours else 'none'}"
            yield WrongRow("deadline", what)
    for key, hours in expected.items():
        if key in stated or not unsaid:
            yield WrongRow("deadline", f"{_named(*key)} is missing, and the audit trail says {hours} h")


def _named(casino_id: int, severity: str) -> str:
    return f"the deadline of {severity} at {f'casino {casino_id}' if casino_id else 'every casino without its own'}"
