"""Cases and actions on them, held against the audit trail.

    case.taken, case.proposed, case.closed, … in order ─► the state machine ─► what a case is ─┐
                                                     └─► one action an entry ──────────────────┤ the same, or a fault
    audit_case, audit_caseaction ──────────────────────────────────────────────────────────────┘

A case is opened by a finding, and what it was opened with is in the leaf of each of its findings: ``found``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, F, OuterRef

from audit.casework.state_machine import PAST, TRANSITIONS, Transition
from audit.models import Case, CaseAction, Finding
from audit.models.cases import State
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow

EVENTS: dict[str, Transition] = {each.event: each for each in (*TRANSITIONS.values(), *PAST)}

_COMPARED = ("state", "assigned_to", "outcome", "reason", "proposed_by", "approved_by")


@dataclass(slots=True)
class _Rebuilt:
    """A case as its entries leave it; officers by name."""

    state: str = State.NEW
    assigned_to: str | None = None
    outcome: str = ""
    reason: str = ""
    proposed_by: str | None = None
    approved_by: str | None = None
    closed_at: datetime | None = None

    def apply(self, entry: Entry, transition: Transition) -> None:
        """Do what an entry says, as ``audit.casework.actions`` did it."""
        match transition.name:
            case "take" | "join":
                self.assigned_to = entry.actor
            case "assign":
                self.assigned_to = entry.text("about")
            case "release" | "leave":
                self.assigned_to = None
            case "propose":
                self.outcome, self.reason, self.proposed_by = entry.text("about"), entry.text("reason"), entry.actor
            case "approve":
                self.approved_by, self.closed_at = entry.actor, instant_of(entry)
            case "send_back" | "reopen" | "withdraw":
                self.outcome = self.reason = ""
                self.proposed_by = self.approved_by = self.closed_at = None
        if transition.target is not None:
            self.state = transition.target


def wrong_cases(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's cases and the actions on them, every casino's for None."""
    by_case: dict[int, list[Entry]] = {}
    for entry in entries(casino_id, EVENTS):
        by_case.setdefault(entry.number("case"), []).append(entry)
    actions: dict[int, list[tuple[Any, ...]]] = {}
    rows = CaseAction.objects.all() if casino_id is None else CaseAction.objects.filter(case__casino=casino_id)
    for case_id, *action in rows.values_list("case", "type", "officer__username", "reason", "about", "at", "pk"):
        actions.setdefault(case_id, []).append(tuple(action))
    of_finding = Finding.objects.filter(case=OuterRef("pk")).stood_once()
    cases = Case.objects.all() if casino_id is None else Case.objects.filter(casino=casino_id)
    names = officer_names()
    for case in cases.annotate(has_finding=Exists(of_finding)).order_by("pk").iterator():
        of_case = by_case.pop(case.pk, [])
        yield from _wrong_case(case, of_case, names)
        yield from _wrong_actions(case, of_case, actions.pop(case.pk, []))
    for pk, of_case in by_case.items():
        yield WrongRow("case", f"case {pk} is missing, of which {of_case[0].name} says something")
    yield from _wrong_heads(casino_id)


def _wrong_heads(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield the findings that a queue shows for a case that is of another, or does not show for their own."""
    names = ("seq", "rule", "wager", "stream_id")
    own = Exists(Case.objects.filter(pk=OuterRef("case"), **{each: OuterRef(each) for each in names}))
    found = Finding.objects.all() if casino_id is None else Finding.objects.filter(casino=casino_id)
    wrong = found.annotate(is_own=own).exclude(heads_case=F("is_own"))
    for name, seq, rule, heads in wrong.values_list("stream__name", "seq", "rule", "heads_case"):
        what = "is marked as what its case is of, and is not" if heads else "is what its case is of, and is not marked"
        yield WrongRow("finding", f"finding of {rule} {what}", name, seq)


def _wrong_case(case: Any, of_case: Iterable[Entry], names: dict[int, str]) -> Iterator[WrongRow]:
    rebuilt = _Rebuilt()
    for entry in of_case:
        rebuilt.apply(entry, EVENTS[entry.type])
        stated = (entry.number("seq"), entry.text("rule"), entry.text("wager"), entry.casino_id)
        if stated != (case.seq, case.rule, case.wager, case.casino_id):
            yield WrongRow("case", f"case {case.pk} is not of the finding that {entry.name} says", seq=case.seq)
    stored = {
        "state": case.state,
        "assigned_to": names.get(case.assigned_to_id),
        "outcome": case.outcome,
        "reason": case.reason,
        "proposed_by": names.get(case.proposed_by_id),
        "approved_by": names.get(case.approved_by_id),
    }
    altered = [name for name in _COMPARED if stored[name] != getattr(rebuilt, name)]
    exactly = any(entry.text("at") for entry in of_case)
    if not is_same_instant(case.closed_at, rebuilt.closed_at, exactly=exactly):
        altered.append("closed_at")
    if altered:
        what = f"case {case.pk} of {case.rule} is not what the audit trail says: {', '.join(altered)}"
        yield WrongRow("case", what, seq=case.seq)
    if not case.has_finding:
        yield WrongRow("case", f"case {case.pk} of {case.rule} is of no finding that has stood", seq=case.seq)


def instant_of(entry: Entry) -> datetime:
    """Return the instant of an action: the entry says it, to the microsecond, but not in 0.1.0."""
    try:
        return datetime.fromisoformat(entry.text("at"))
    except ValueError:
        return entry.at


def is_at(stored: datetime, entry: Entry) -> bool:
    """Return whether a row's instant is that of an action's entry."""
    return is_same_instant(stored, instant_of(entry), exactly=bool(entry.text("at")))


def _wrong_actions(case: Case, of_case: Iterable[Entry], stored: list[tuple[Any, ...]]) -> Iterator[WrongRow]:
    for entry in of_case:
        stated = (entry.type, entry.actor, entry.text("reason"), entry.text("about"))
        row = next((row for row in stored if row[:4] == stated and is_at(row[4], entry)), None)
        if row is None:
            what = f"{entry.type} by {entry.actor} on case {case.pk} is missing or altered, which {entry.name} says"
            yield WrongRow("action", what, seq=case.seq)
        else:
            stored.remove(row)
    for type, officer, *_rest in stored:
        what = f"{type} by {officer} on case {case.pk} is stored, and no entry says so"
        yield WrongRow("action", what, seq=case.seq)
