"""Files of cases, held against the audit trail.

    case.attached ─► what a file is, by whom, since when ─┬─► audit_attachment: the same, or a fault
    case.attachment_erased ─► by whom and when it went ───┘
    the stored content ─► its hash and its size ─► those of the entry, or a fault

The trail has no name of a file, but a digest of the name and the content together. Entries of earlier versions have
none: of their files the name is not held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.casework.attachments import ATTACHED, ERASED
from audit.event_store import binary_copy
from audit.projections.cases import is_at
from audit.projections.entries import Entry, entries, officer_names
from audit.projections.faults import WrongRow

# The database hashes: a file is never in memory here.
_ROWS = """
select a.id, c.casino_id, a.case_id, a.officer_id, a.at, a.kind, a.size, a.sha256,
       h.sha256, h.size, h.digest, h.is_named, a.erased_at, a.erased_by_id
from audit_attachment a left join audit_case c on c.id = a.case_id cross join lateral audit_hashed_file(a.id) h
where %b::bigint is null or c.casino_id = %b::bigint or a.id = any (%b::bigint[])
order by a.id
"""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored file. The hash, size and digest of its content are None once it is erased."""

    pk: int
    casino: int | None
    case: int
    officer: int
    at: datetime
    kind: str
    size: int
    sha256: str
    content_sha256: str | None
    content_size: int | None
    digest: str | None
    is_named: bool
    erased_at: datetime | None
    erased_by: int | None


def wrong_attachments(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the files of a casino's cases, every casino's for None."""
    attached: dict[int, Entry] = {}
    erased: dict[int, Entry] = {}
    for entry in entries(casino_id, (ATTACHED, ERASED)):
        (attached if entry.type == ATTACHED else erased).setdefault(entry.number("attachment"), entry)
    names = officer_names()
    known = sorted(attached)
    for row in (_Stored(*each) for each in binary_copy.execute(_ROWS, (casino_id, casino_id, known))):
        stating = attached.pop(row.pk, None)
        altered = ["nobody attached it"] if stating is None else list(_altered(row, stating, names))
        altered += _erasure(row, erased.pop(row.pk, None), names)
        if altered:
            what = f"file {row.pk} of case {row.case} is not what the audit trail says: {', '.join(altered)}"
            yield WrongRow("attachment", what)
    for pk, entry in {**erased, **attached}.items():
        what = f"file {pk} of case {entry.number('case')} is missing, of which {entry.name} says something"
        yield WrongRow("attachment", what)


def _altered(row: _Stored, entry: Entry, names: Mapping[int, str]) -> Iterator[str]:
    stated: dict[str, Any] = {"casino": entry.casino_id, "case": entry.number("case"), "officer": entry.actor}
    stated |= {"kind": entry.text("kind"), "size": entry.number("size"), "sha256": entry.text("sha256")}
    stored = {"casino": row.casino, "case": row.case, "officer": names.get(row.officer, "")}
    stored |= {"kind": row.kind, "size": row.size, "sha256": row.sha256}
    yield from (name for name, value in stated.items() if stored[name] != value)
    if not is_at(row.at, entry):
        yield "at"
    if row.content_sha256 is None:
        return
    if (row.content_sha256, row.content_size) != (entry.text("sha256"), entry.number("size")):
        yield "content"
    elif row.digest != entry.data.get("digest", row.digest):
        yield "name"


def _erasure(row: _Stored, entry: Entry | None, names: Mapping[int, str]) -> Iterator[str]:
    """Yield what does not hold about whether a file is erased, by whom and since when."""
    if entry is None:
        if row.content_sha256 is None or row.erased_at is not None or row.erased_by is not None:
            yield "it is erased, and no entry says so"
        return
    if row.content_sha256 is not None or row.is_named:
        yield f"{entry.name} erased it, and it is there"
    if row.erased_by is None or names.get(row.erased_by) != entry.actor:
        yield "erased_by"
    if row.erased_at is None or not is_at(row.erased_at, entry):
        yield "erased_at"
