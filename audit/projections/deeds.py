"""What officers did once, held against the audit trail: promoted runs, equipment taken apart, persons erased."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.adjudication.promotion import PROMOTED
from audit.event_store.audit_trail import INSTALLATION
from audit.models import ErasedPerson, LedgerProcess, Person, WhatIf
from audit.persons.directory import family_of
from audit.persons.erasure import ERASED
from audit.projections.entries import Entry, entries, is_same_instant, officer_names
from audit.projections.faults import WrongRow

_ADDED, _TAKEN_APART = "person.added", "equipment.taken_apart"


def wrong_promotions(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the promoted what-if runs of a casino, of every one and of all for None."""
    stated: dict[int, Entry] = {}
    for entry in entries(casino_id, (PROMOTED,)):
        stated.setdefault(entry.number("id"), entry)
    rows = WhatIf.objects.order_by("pk")
    for run in rows if casino_id is None else rows.filter(casino=casino_id):
        promotion = stated.pop(run.pk, None)
        if promotion is None:
            if run.promoted_at is not None:
                yield WrongRow("what-if", f"run {run.name} is promoted, and no entry says so")
            continue
        stated_of_run = (promotion.casino_id, promotion.text("name"), promotion.text("engine_version"), promotion.actor)
        held = (run.casino_id or INSTALLATION, run.name, run.engine_version, run.promoted_by)
        if stated_of_run != held or not is_same_instant(run.promoted_at, promotion.at):
            yield WrongRow("what-if", f"run {run.name} is not what {promotion.name} promoted")
    for pk, promotion in stated.items():
        yield WrongRow("what-if", f"run {pk} is missing, which {promotion.name} promoted")


def wrong_ends(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the processes of the ledger that officers ended, of every casino for None."""
    stated: dict[tuple[int, str], list[Entry]] = {}
    for entry in entries(casino_id, (_TAKEN_APART,)):
        names = entry.data.get("processes")
        for name in names if isinstance(names, list) else ():
            stated.setdefault((entry.casino_id, str(name)), []).append(entry)
    rows = LedgerProcess.objects.exclude(ended_at=None, ended_by="", ended_reason="").order_by("pk")
    rows = rows if casino_id is None else rows.filter(casino=casino_id)
    for pk, of_casino, name, at, by, reason in rows.values_list(
        "pk", "casino_id", "name", "ended_at", "ended_by", "ended_reason"
    ):
        of_name = stated.get((of_casino, name), [])
        stating = next(
            (e for e in of_name if (e.actor, e.text("reason")) == (by, reason) and is_same_instant(at, e.at)), None
        )
        if stating is None:
            yield WrongRow("ledger", f"process {pk} ({name}) was ended by {by or 'nobody'}, and no entry says so")
        else:
            of_name.remove(stating)
    for (_casino, name), of_name in stated.items():
        for end in of_name:
            yield WrongRow("ledger", f"process {name} goes on or is missing, which {end.name} ended")


def wrong_erasures(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the persons of a casino who were erased, of every casino for None.

    A name that stands again under an erased id has to have been entered anew.
    """
    erased, added = _erased_and_added(casino_id)
    names = officer_names()
    rows = ErasedPerson.objects.order_by("pk")
    missing = [*erased]
    for row in rows if casino_id is None else rows.filter(casino=casino_id):
        stored = (row.casino_id, row.code, row.kind, row.reason, names.get(row.erased_by_id, ""), row.erased_at)
        entry = next((each for each in missing if _erasure_of(each) == stored), None)
        if entry is None:
            yield WrongRow("person", f"the erasure of {row.code} is stored, and no entry says so, or another")
        else:
            missing.remove(entry)
    for entry in missing:
        yield WrongRow("person", f"the erasure of {entry.text('named')} is missing or altered, which {entry.name} says")
    newest = {(each.casino_id, each.text("named"), family_of(each.text("kind"))): each for each in erased}
    people = Person.objects.filter(code__in={code for _casino, code, _family in newest})
    for casino, code, kind in people.order_by().values_list("casino_id", "code", "kind"):
        entry = newest.get((casino, code, family_of(kind)))
        if entry is not None and not any(each > (entry.at, entry.seq) for each in added.get((casino, code), ())):
            yield WrongRow(
                "person", f"{code} stands in the directory again, and nobody has entered them since {entry.name}"
            )


def _erased_and_added(casino_id: int | None) -> tuple[list[Entry], dict[tuple[int, str], list[tuple[Any, int]]]]:
    erased: list[Entry] = []
    added: dict[tuple[int, str], list[tuple[Any, int]]] = {}
    for entry in entries(casino_id, (ERASED, _ADDED)):
        if entry.type == ERASED:
            erased.append(entry)
            continue
        named = entry.data.get("named")
        for code in named if isinstance(named, list) else [named]:
            added.setdefault((entry.casino_id, str(code)), []).append((entry.at, entry.seq))
    return erased, added


def _erasure_of(entry: Entry) -> tuple[Any, ...]:
    reason = entry.text("reason").strip()
    return entry.casino_id, entry.text("named"), entry.text("kind"), reason, entry.actor, entry.at
