"""Where replay goes on in a session, held against its events: ``verify --deep`` reads them again.

    events through the cursor ─► what the fold remembers ─────────────────────────┐
    audit_adjudication, audit_retiredwagers ─► the snapshot, and what has retired ┤ the same, or a fault

A worker folds the next events on the snapshot: whoever alters it has a session judged otherwise from there on. Wagers
retire at the end of each step, so the snapshot and the rows are compared as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from audit.adjudication import noted, retired_wagers
from audit.adjudication.findings import known_ruleset
from audit.adjudication.retired_wagers import MAX_PREFIXES
from audit.models import Adjudication, AdjudicationRun, RetiredWagers
from audit.projections.faults import WrongRow
from settlement import State, load_wagers, save_wagers
from settlement.persons.session import PersonNotes, PersonsProjection
from settlement.state import Wager


class Read(NamedTuple):
    """What a run has read, folded again: the state after it, with no finding in it, and the projection if it notes any.

    ``last_seq`` is the last event, ``next_seq`` the number after it. Of a run that has read nothing the state is empty,
    and the last 0.
    """

    state: State
    last_seq: int
    next_seq: int
    projection: PersonsProjection | None = None


def wrong_snapshot(name: str, run: AdjudicationRun, has_read: Read) -> Iterator[WrongRow]:
    """Yield what does not hold about the snapshot of the run that judges the session ``name``.

    The state of what it ``has_read`` is changed.
    """
    rows = list(Adjudication.objects.filter(run=run).order_by("pk"))
    if len(rows) != 1:
        yield WrongRow("session", f"it has {len(rows)} snapshots of the run that judges it", name)
        return
    [stored] = rows
    altered = [what for what, holds in _compared(stored, run, has_read) if not holds]
    if altered:
        what = f"the snapshot of run {run.number} is not what its events give: {', '.join(altered)}"
        yield WrongRow("session", what, name, has_read.last_seq)


def _compared(stored: Adjudication, run: AdjudicationRun, has_read: Read) -> Iterator[tuple[str, bool]]:
    state, last_seq, next_seq, projection = has_read
    rows = list(RetiredWagers.objects.filter(run=run).order_by("through"))
    all_retired = [wager for row in rows for wager in _retired(row)]
    is_once = len({(wager.id, wager.changed_by) for wager in all_retired}) == len(all_retired)
    yield "retired wagers", is_once and all(_is_whole(row, last_seq) for row in rows)
    retired = {wager.id: wager for wager in all_retired}
    yield "stream_id", stored.stream_id == run.stream_id
    yield "engine_version", stored.engine_version == run.engine_version
    yield "what_if_id", stored.what_if_id is None
    yield "cursor", stored.cursor == last_seq
    yield "next_seq", stored.next_seq == next_seq
    yield "events", stored.events == state.table.events
    yield "closed", stored.closed == bool(state.table.closed_by)
    if not last_seq:
        return
    yield "ruleset", stored.ruleset == known_ruleset(state)
    yield "readings_digest", stored.readings_digest == state.readings_digest
    yield "known_ids", _are_known(stored, retired)
    try:
        remembered = State.from_bytes(bytes(stored.state)).table
    except (msgspec.DecodeError, ValueError):
        yield "state", False
        return
    # A run knew in advance what had come by its beginning, or none where it began anew with some that have no effect.
    known = [seq for seq in state.table.announced if seq <= run.corrections_through]
    for table in (state.table, *(each.table for each in state.table.differences.values())):
        if table is not None:  # a comparison has its copy
            table.announced = known if remembered.announced else []
    yield "notes", _are_noted(stored, rows, projection)
    again = {wager.id: wager for wager in (*state.retire(), *state.table.wagers.values())}
    yield "state", _without_wagers(bytes(stored.state)) == _without_wagers(state.to_bytes())
    yield "wagers", _as_bytes({**retired, **remembered.wagers}) == _as_bytes(again)


def _are_noted(stored: Adjudication, rows: list[RetiredWagers], projection: PersonsProjection | None) -> bool:
    """Whether what is noted of the session, and remembered to note more, is what a ``projection`` of it gives.

    One without a memory is not noted: it has what its steps noted until one failed, which nothing reads.
    """
    if projection is None or not stored.memory:
        return projection is not None or not (stored.memory or any(row.notes for row in rows))
    try:
        memory, notes = noted.load_memory(bytes(stored.memory)), noted.load_notes(rows)
    except (msgspec.DecodeError, ValueError):
        return False
    whole = PersonNotes()
    for each in notes:
        whole.add(each)
    return memory == projection.memory and whole == projection.notes


def _retired(row: RetiredWagers) -> list[Wager]:
    """Return the wagers of a row; none if it cannot be read: what is missing then is named."""
    try:
        return load_wagers(bytes(row.saved))
    except (msgspec.DecodeError, ValueError):
        return []


def _is_whole(row: RetiredWagers, last_seq: int) -> bool:
    """Whether a row has the digests by which its wagers are found, nothing else, and was written by then."""
    wagers = _retired(row)
    written = max([wager.changed_by for wager in wagers], default=0) <= row.through <= last_seq
    return (
        written and bytes(row.saved) == save_wagers(wagers) and bytes(row.digests) == retired_wagers.digests_of(wagers)
    )


def _without_wagers(saved: bytes) -> Any:
    """Return what a saved state remembers beside its wagers; what a session observes is a set, and has no order.

    One that was saved before there was ``found`` had found nothing.
    """
    remembered = msgspec.json.decode(saved)
    remembered.pop("wagers", None)
    copies = (each["table"] for each in remembered.get("differences", {}).values())
    for table in (remembered, *filter(None, copies)):  # a comparison has its copy
        table.setdefault("found", [])
        if (session := table.get("session")) is not None:
            session["observes"] = sorted(session["observes"])
    return remembered


def _as_bytes(wagers: Mapping[str, Wager]) -> bytes:
    return save_wagers([wagers[each] for each in sorted(wagers)])


def _are_known(stored: Adjudication, retired: Mapping[str, Wager]) -> bool:
    """Whether the ids that are known are those of retired wagers: of all, unless the session is closed.

    After the close every id is looked up. Of ids with many prefixes, only some are known.
    """
    largest: dict[str, int] = {}
    retired_wagers.remember(largest, retired.values())
    if not isinstance(stored.known_ids, dict):
        return False
    if not stored.closed and len(largest) < MAX_PREFIXES:
        return bool(stored.known_ids == largest)
    return all(each in largest and number <= largest[each] for each, number in stored.known_ids.items())
