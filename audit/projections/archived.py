"""Archived months, held against the audit trail of the installation, their signed notes, and what the log keeps.

    log.archived ─► log.attached ─► log.detached … ─► log.destroyed, in order ─► what a month is ─┐
    note, signed with the key of checkpoints ─► file, SHA-256, how much ──────────────────────────┤ the same, or a fault
    audit_archivedmonth ──────────────────────────────────────────────────────────────────────────┘

An entry written without the key of checkpoints has no valid note. So a month that was taken away by hand is
*missing*, whatever somebody wrote about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from audit.archive import notes
from audit.archive.files import name_of
from audit.archive.months import ARCHIVED, ATTACHED, DESTROYED, DETACHED, range_of
from audit.archive.notes import Filed
from audit.event_store import archived, binary_copy
from audit.event_store.archived import Month
from audit.event_store.audit_trail import INSTALLATION
from audit.projections.entries import Entry, entries
from audit.projections.faults import WrongRow
from audit.transparency import signing_keys
from audit.transparency.signed_notes import BadNote, Verifier

STATES = {ARCHIVED: "archived", ATTACHED: "attached", DETACHED: "archived", DESTROYED: "destroyed"}
"""The state of a month after an entry."""

FOLLOWS = {ARCHIVED: (None,), ATTACHED: ("archived",), DETACHED: ("attached",), DESTROYED: ("archived",)}
"""The states in which an entry finds its month."""


@dataclass(slots=True)
class _Rebuilt:
    """A month as its entries leave it: the entry that archived it, and the newest."""

    first: Entry
    newest: Entry

    @property
    def state(self) -> str:
        return STATES[self.newest.type]


def wrong_months() -> Iterator[WrongRow]:
    """Yield what does not hold about the months that were archived."""
    rebuilt: dict[str, _Rebuilt] = {}
    for entry in entries(INSTALLATION, STATES):
        name, before = entry.text("month"), rebuilt.get(entry.text("month"))
        if (before.state if before else None) not in FOLLOWS[entry.type]:
            yield WrongRow("archive", f"{entry.name}: {name} was {before.state if before else 'in the database'}")
        rebuilt[name] = _Rebuilt(before.first if before else entry, entry)
    verifiers = signing_keys.verifiers("checkpoint")
    for month in archived.months():
        stated = rebuilt.pop(month.name, None)
        for what in _faults(month, stated, verifiers):
            yield WrongRow("archive", f"{month.name} {what}")
    for name, missing in rebuilt.items():
        yield WrongRow(
            "archive", f"{name} is not in the table, and {missing.newest.name} says that it is {missing.state}"
        )


def _faults(month: Month, stated: _Rebuilt | None, verifiers: list[Verifier]) -> Iterator[str]:
    if stated is None:
        yield f"is said to be {month.state}, and no entry says so: its events are missing"
        return
    first, newest = stated.first, stated.newest
    entered = (first.text("file"), first.text("sha256"), first.number("batches"), first.number("events"), first.at)
    if (month.file, month.digest, month.batches, month.events, month.archived_at) != entered or (
        (month.low, month.high) != range_of(month.month) or month.note != first.text("note")
    ):
        yield f"is not what {first.name} says"
    if (month.state, month.desk, month.entry) != (stated.state, newest.desk, newest.seq):
        yield f"is {month.state}, and {newest.name} says that it is {stated.state}"
    try:
        filed = notes.read(month.note, verifiers)
    except BadNote as error:
        yield f"has a note that is not the log’s: {error}"
    else:
        here = Filed(month.name, name_of(month.month), month.digest, month.batches, month.events, filed.size)
        if filed != here:
            yield "is not what its note says"
    if month.state == "destroyed" and (wrong := notes.wrong_destruction(month, verifiers)):
        yield f"is said to be destroyed: {wrong}"
    [kept] = binary_copy.execute(_KEPT, (month.low, month.high))
    if kept != (month.batches, month.events):
        yield f"has {kept[0]} batches with {kept[1]} events, and its archive {month.batches} with {month.events}"


_KEPT = """
select count(*), coalesce(sum(b.count), 0)::bigint from log.batch b join log.stream s using (stream_id)
where b.stream_id >= %b::bigint and b.stream_id < %b::bigint and not s.is_of_desk
"""
