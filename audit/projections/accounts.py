"""Requests about accounts, which two administrators decide, held against the audit trail.

An entry is in the trail of each casino of the officer; the first has the effect, and its instant is the row's. The mail
address that a request is about is in no entry, and is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.event_store.audit_trail import INSTALLATION
from audit.models import AccountRequest, RequestKind, RequestState
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow

FIRST = "officer.first_administrator"

DECIDED = tuple(state for state in RequestState if state != RequestState.WAITING)


@dataclass(slots=True)
class _Rebuilt:
    """A request as its entries leave it; people by name, except the officer whom it is about."""

    kind: str
    officer: int
    casino: int | None
    role: str
    reason: str
    proposed_by: str
    proposed_at: datetime
    is_first: bool = False
    state: str = RequestState.WAITING
    decided_by: str | None = None
    decided_at: datetime | None = None


def wrong_requests() -> Iterator[WrongRow]:
    """Yield what does not hold about the requests about accounts, of every casino: accounts belong to several."""
    proposed, decided = _stated()
    names = officer_names()
    for row in AccountRequest.objects.order_by("pk"):
        name = f"request {row.pk} ({row.kind}) about officer {row.officer_id}"
        stored = _of_row(row, names)
        like = [each for each in proposed if each.proposed_at == row.proposed_at and each.kind == row.kind]
        if not like:
            yield WrongRow("request", f"{name} is stored, and no entry proposes it")
            continue
        rebuilt = like[0]
        proposed = [each for each in proposed if not _is_copy(each, rebuilt)]
        of_request = [
            entry for entry in decided.pop(row.pk, []) if entry.type.rpartition("_")[0] == f"officer.{row.kind}"
        ]
        if of_request:
            rebuilt.state = of_request[0].type.rpartition("_")[2]
            rebuilt.decided_by, rebuilt.decided_at = of_request[0].actor, of_request[0].at
        altered = [each for each in _Rebuilt.__slots__ if getattr(rebuilt, each) != getattr(stored, each)]
        if altered and altered == ["decided_at"] and any(entry.at == row.decided_at for entry in of_request):
            continue  # the entry that had the effect is in the trail of another of the officer's casinos
        if altered:
            yield WrongRow("request", f"{name} is not what the audit trail says: {', '.join(altered)}")
    for each in proposed:
        yield WrongRow(
            "request", f"the request ({each.kind}) about officer {each.officer} of {each.proposed_at} is missing"
        )
    for pk, of_request in decided.items():
        yield WrongRow("request", f"request {pk} is missing, which {of_request[0].name} decides")


def _stated() -> tuple[list[_Rebuilt], dict[int, list[Entry]]]:
    """Return what is proposed, in order, and by the request the entries that decide."""
    proposed: list[_Rebuilt] = []
    decided: dict[int, list[Entry]] = {}
    of_kind = [f"officer.{kind}_{verb}" for kind in RequestKind for verb in ("proposed", *DECIDED)]
    for entry in entries(None, (*of_kind, FIRST)):
        kind, _, verb = entry.type.removeprefix("officer.").rpartition("_")
        if entry.type == FIRST:
            proposed.append(_first(entry))
        elif verb == "proposed":
            casino = entry.casino_id if kind == RequestKind.ROLE else None
            proposed.append(_of_entry(entry, kind, casino))
        else:
            decided.setdefault(entry.number("request"), []).append(entry)
    return proposed, {pk: sorted(of_request, key=_first_trail) for pk, of_request in decided.items()}


def _first_trail(entry: Entry) -> tuple[bool, datetime]:
    return entry.casino_id == INSTALLATION, entry.at


def _of_entry(entry: Entry, kind: str, casino: int | None) -> _Rebuilt:
    role = entry.text("role") if kind == RequestKind.ROLE else ""
    return _Rebuilt(kind, entry.number("id"), casino, role, entry.text("reason"), entry.actor, entry.at)


def _first(entry: Entry) -> _Rebuilt:
    first = _of_entry(entry, RequestKind.ROLE, entry.casino_id)
    first.is_first, first.state = True, RequestState.APPROVED
    first.decided_by, first.decided_at = entry.actor, entry.at
    return first


def _of_row(row: AccountRequest, names: Mapping[int, str]) -> _Rebuilt:
    values: dict[str, Any] = {
        name: getattr(row, name) for name in ("kind", "role", "reason", "proposed_at", "is_first")
    }
    return _Rebuilt(
        **values,
        officer=row.officer_id,
        casino=row.casino_id,
        proposed_by=names.get(row.proposed_by_id, ""),
        state=row.state,
        decided_by=names.get(row.decided_by_id) if row.decided_by_id else None,
        decided_at=row.decided_at,
    )


def _is_copy(each: _Rebuilt, other: _Rebuilt) -> bool:
    """Whether two entries are of one request: the same, or its copy in the trail of another casino, moments apart."""
    same = (each.kind, each.officer, each.casino, each.role, each.reason, each.proposed_by)
    return same == (other.kind, other.officer, other.casino, other.role, other.reason, other.proposed_by) and (
        each is other or (each.casino is None and is_same_instant(each.proposed_at, other.proposed_at))
    )
