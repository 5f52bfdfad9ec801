"""What the standing adjudication of a table's session notes while it folds it: for figures, money and evidence.

    events of a step ─► fold ─► notes, stored with the wagers that retire ─┐
                          └───► memory, stored with the snapshot ──────────┴─► ``projection_of``: nothing is read again

An adjudication without ``memory`` notes nothing: that of a sandbox, of a count room, of a what-if run, one that began
before there were notes, or one whose step has failed and is tried again. The close reads its session anew.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from audit.adjudication import retired_wagers
from audit.models import FIRST_SANDBOX_ID, Adjudication, AdjudicationRun, LoggedStream, RetiredWagers
from settlement import State, load_wagers
from settlement.night.notes import Memory
from settlement.persons.session import PersonNotes, PersonsProjection

_encode = msgspec.json.Encoder().encode
load_memory = msgspec.json.Decoder(Memory).decode
_decode_notes = msgspec.json.Decoder(PersonNotes).decode_lines

NOTHING = _encode(PersonNotes())


def is_noted(adjudication: Adjudication, run: AdjudicationRun) -> bool:
    """Whether the next step of a run notes the session. One that has failed is tried again without."""
    if adjudication.what_if_id is not None or run.tries:
        return False
    if adjudication.cursor:
        return bool(adjudication.memory)
    return has_table(adjudication.stream_id)


def has_table(stream_id: int) -> bool:
    """Whether a stream is the session of a table, and of no sandbox: only then is it part of a night."""
    streams = LoggedStream.objects.filter(pk=stream_id, pk__lt=FIRST_SANDBOX_ID, table__isnull=False)
    return streams.exists()


def along(adjudication: Adjudication, state: State) -> PersonsProjection:
    """Return the projection for a step of an adjudication that goes on from ``state``."""
    return PersonsProjection.along(state, load_memory(bytes(adjudication.memory)) if adjudication.memory else None)


def saved_memory(projection: PersonsProjection) -> bytes:
    """Return what the next step needs of a projection."""
    return _encode(projection.memory)


def saved_notes(projection: PersonsProjection) -> bytes:
    """Return what a step has noted, as a line; b"" if that is nothing."""
    notes = _encode(projection.notes)
    return b"" if notes == NOTHING else notes + b"\n"


def load_notes(rows: Iterable[RetiredWagers]) -> list[PersonNotes]:
    """Return what the steps of an adjudication have noted, one after the other, from its rows in their order."""
    return [notes for row in rows for notes in _decode_notes(bytes(row.notes))]


def projection_of(adjudication: Adjudication) -> PersonsProjection | None:
    """Return the projection of a session as far as it was folded, from what is stored; None if it was not noted.

    None as well if a worker has folded on meanwhile.
    """
    if not adjudication.memory:
        return None
    rows = retired_wagers.rows(adjudication)
    notes = load_notes(rows)
    wagers = (wager for row in rows for wager in load_wagers(bytes(row.saved)))
    unchanged = Adjudication.objects.filter(pk=adjudication.pk, run=adjudication.run_id, cursor=adjudication.cursor)
    if not unchanged.exists():
        return None
    state = State.from_bytes(bytes(adjudication.state), compares=False)
    return PersonsProjection.of(state, notes, load_memory(bytes(adjudication.memory)), wagers)
