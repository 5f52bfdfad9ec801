"""The house register, held against the audit trail: what was proposed, and who approved, declined or withdrew it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.models import RegisterEntry
from audit.projections.entries import Entry, entries, officer_names
from audit.projections.faults import WrongRow

PROPOSED = "register.proposed"

DECIDED = ("approved", "declined", "withdrawn")

_FIELDS = (
    *("casino", "table", "ruleset", "reading", "value", "first_day", "last_day", "reason", "state", "version"),
    *("proposed_by", "proposed_at", "decided_by", "decided_at", "decision_reason"),
)


@dataclass(slots=True)
class _Rebuilt:
    """An entry of the register as the audit trail leaves it; officers by name, the table by code, days as text."""

    casino: int
    table: str
    ruleset: str
    reading: str
    value: Any
    first_day: str
    last_day: str
    reason: str
    proposed_by: str
    proposed_at: datetime
    state: str = "waiting"
    version: int | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str = ""

    @property
    def json(self) -> str:
        """The value as JSON: to Python, true is 1."""
        return json.dumps(self.value, sort_keys=True)

    @property
    def proposal(self) -> tuple[Any, ...]:
        """What a decision names of what it decides."""
        return (self.reading, self.value, self.ruleset, self.table, self.first_day, self.last_day, self.proposed_by)


def wrong_register(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's register, every casino's for None."""
    names = officer_names()
    rows = RegisterEntry.objects.select_related("table").order_by("pk")
    stored = {row.pk: _of_row(row, names) for row in (rows if casino_id is None else rows.filter(casino=casino_id))}
    rebuilt, faults = _rebuilt(casino_id)
    yield from faults
    for expected in rebuilt:
        same = next((pk for pk, row in stored.items() if row == expected and row.json == expected.json), None)
        if same is not None:
            del stored[same]
            continue
        like = next((pk for pk, row in stored.items() if row.proposed_at == expected.proposed_at), None)
        if like is None:
            what = f"the entry on {expected.reading} that {expected.proposed_by} proposed is missing"
            yield WrongRow("register", what)
            continue
        altered = [name for name in _FIELDS if getattr(stored[like], name) != getattr(expected, name)]
        if stored[like].json != expected.json:
            altered.append("value")
        yield WrongRow("register", f"entry {like} is not what the audit trail says: {', '.join(altered)}")
        del stored[like]
    for pk, row in stored.items():
        yield WrongRow("register", f"entry {pk} on {row.reading} is stored, and the audit trail does not say so")


def _rebuilt(casino_id: int | None) -> tuple[list[_Rebuilt], list[WrongRow]]:
    proposed: list[_Rebuilt] = []
    faults: list[WrongRow] = []
    versions: dict[int, int] = {}
    types = [PROPOSED, *(f"register.{state}" for state in DECIDED)]
    for entry in entries(casino_id, types):
        stated = _of_entry(entry)
        if entry.type == PROPOSED:
            proposed.append(stated)
            continue
        key = (stated.casino, *stated.proposal[:-1], entry.text("proposed_by"))
        decided = next(
            (each for each in proposed if each.state == "waiting" and (each.casino, *each.proposal) == key), None
        )
        if decided is None:
            faults.append(WrongRow("register", f"{entry.name} decides what nobody has proposed"))
            continue
        decided.state = entry.type.removeprefix("register.")
        decided.decided_by, decided.decided_at = entry.actor, entry.at
        decided.decision_reason = stated.reason
        if decided.state == "approved":
            decided.version = versions[stated.casino] = versions.get(stated.casino, 0) + 1
    return proposed, faults


def _of_entry(entry: Entry) -> _Rebuilt:
    try:
        value = json.loads(entry.text("value") or "null")
    except ValueError:
        value = entry.text("value")
    return _Rebuilt(
        casino=entry.casino_id,
        table=entry.text("table"),
        ruleset=entry.text("ruleset"),
        reading=entry.text("reading"),
        value=value,
        first_day=entry.text("first_day"),
        last_day=entry.text("last_day"),
        reason=entry.text("reason").strip(),
        proposed_by=entry.actor,
        proposed_at=entry.at,
    )


def _of_row(row: RegisterEntry, names: Mapping[int, str]) -> _Rebuilt:
    return _Rebuilt(
        casino=row.casino_id,
        table=row.table.code if row.table else "",
        ruleset=row.ruleset,
        reading=row.reading,
        value=row.value,
        first_day=row.first_day.isoformat(),
        last_day=row.last_day.isoformat() if row.last_day else "",
        reason=row.reason,
        proposed_by=names.get(row.proposed_by_id, ""),
        proposed_at=row.proposed_at,
        state=row.state,
        version=row.version,
        decided_by=names.get(row.decided_by_id) if row.decided_by_id else None,
        decided_at=row.decided_at,
        decision_reason=row.decision_reason,
    )
