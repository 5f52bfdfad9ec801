"""Where a step of replay ends, because of changes to earlier events.

    … entry ……… change ……… change that the run does not know …
     │                      └─ the run is complete before it; the next run knows every change that is stored by then
     └─ a step ends before it: if the change turns out to wait, the run goes on from here without it

So changes that arrive while a run is under way cost one more run together. Those that wait for officers are found one
after the other, and each costs the events since the earliest entry and not the whole stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from audit.adjudication import stream_reader
from audit.models import Adjudication, AdjudicationRun
from settlement import Event, State
from settlement.corrections import Corrections, changes_in


def newest_change(stream_id: int) -> int:
    """Return the number of the last change to an earlier event that is stored, 0 if there is none."""
    known = stream_reader.corrections_of(stream_id)
    return known[-1].seq if known else 0


def up_to(chunks: Iterable[Sequence[Event]], *, known_through: int | None, entry: int) -> Iterator[Sequence[Event]]:
    """Yield events up to the first change after ``known_through``, and up to ``entry``; None and 0 are no end.

    If that leaves no event at all, yield them as they are.
    """
    has_any = False
    for events in chunks:
        ends = [each.seq for each in changes_in(events) if known_through is not None and each.seq > known_through][:1]
        ends += [entry] if entry else []
        before = [event for event in events if event.seq < min(ends)] if ends else events
        if has_any and not before:
            return
        yield before or events
        if before and len(before) < len(events):
            return
        has_any = True


def undecided_entry(adjudication: Adjudication, run: AdjudicationRun) -> int:
    """Return the earliest event that a change may change of which the run has not found yet whether it waits.

    It returns 0 if there is none, or if the run has come to that event already.
    """
    if run.approved is None or run.corrections_through <= adjudication.cursor:
        return 0
    known = _known(adjudication, run)
    decided = stream_reader.held_by(bytes(adjudication.state)) | set(run.approved)
    entries = [
        known.entry_of(each.seq)
        for each in known.changes
        if each.seq > adjudication.cursor and each.seq not in decided and known.fault(each.seq) is None
    ]
    earliest = min(entries, default=0)
    return earliest if earliest > adjudication.next_seq else 0


def goes_on_without(adjudication: Adjudication, run: AdjudicationRun, held: Collection[int]) -> bool:
    """Have a run go on from its cursor with the changes ``held`` without effect, and save that.

    Return False if nothing new is held, or if one of these changes an event that the run has folded already.
    """
    if not adjudication.cursor:
        return False
    state = State.from_bytes(bytes(adjudication.state))
    new, known = set(held) - state.corrections.held, _known(adjudication, run)
    if not new or min(map(known.entry_of, new)) <= adjudication.cursor:
        return False
    state.table.held = sorted(held)
    adjudication.state = state.to_bytes()
    adjudication.save()
    return True


def _known(adjudication: Adjudication, run: AdjudicationRun) -> Corrections:
    known_through = run.corrections_through
    return Corrections(stream_reader.corrections_of(adjudication.stream_id, known_through=known_through))
