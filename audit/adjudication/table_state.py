"""The state of a stream just after an event, computed over a bounded number of events: for an answer in a web server.

after the cursor of replay ─► its snapshot, and the events since
before it, or a correction changes what is folded ─► from the beginning
"""

from __future__ import annotations

from audit.adjudication import retired_wagers, stream_reader
from audit.adjudication.preview import ATTEMPTS, TooManyEvents, Unsettled, place_of
from audit.adjudication.replay import fold_on
from audit.adjudication.results import standing, standing_readings
from audit.event_store import read
from audit.models import Adjudication, RunState
from settlement import NeedsReplay, State
from settlement.corrections import target_of


def state_after(stream_id: int, seq: int, *, max_events: int) -> State:
    """Return the state after the last event that is not after ``seq``, with every wager that is not settled.

    Raise ``Unsettled`` if that takes more than ``max_events`` events until replay has come further, ``TooManyEvents``
    if it always will.
    """
    for _ in range(ATTEMPTS):
        adjudication = standing(stream_id)
        state = _from_snapshot(adjudication, seq, max_events) if adjudication is not None else None
        if place_of(standing(stream_id)) == place_of(adjudication):  # what was read in between is of one moment
            break
    else:
        raise Unsettled
    if state is not None:
        return state
    count = read.count_from(stream_id, 1, through=seq, limit=max_events + 1)
    if count <= max_events:
        return stream_reader.state_at(stream_id, seq, readings=standing_readings(stream_id))
    is_replayed = adjudication is not None and adjudication.run is not None and seq < adjudication.cursor
    raise TooManyEvents(count) if is_replayed else Unsettled


def _from_snapshot(adjudication: Adjudication, seq: int, max_events: int) -> State | None:
    """Return the state from replay's snapshot; None if it is later than the event, too old, or corrected since.

    None, too, while the run may still find corrections that wait.
    """
    run, stream_id = adjudication.run, adjudication.stream_id
    if run is None or run.state == RunState.SUPERSEDED or not run.stands:
        return None
    if not adjudication.cursor or seq < adjudication.cursor:
        return None
    if read.count_from(stream_id, adjudication.next_seq, limit=max_events + 1) > max_events:
        return None
    last_seq = read.next_seq_of(stream_id) - 1
    pages = stream_reader.pages(stream_id, adjudication.next_seq, last_seq)
    events = [event for page in pages for event in page]
    if any(target_of(event) is not None and event.seq > run.corrections_through for event in events):
        return None  # it counts for the events before it, too
    try:
        state = fold_on(adjudication, run, [[event for event in events if event.seq <= seq]]).state
    except NeedsReplay:  # an event that was declared lost has come after all
        return None
    table = state.table
    bases = {base for wager_id in (*table.live, *table.due) if (base := table.wagers[wager_id].base)}
    state.recall(retired_wagers.find(adjudication, bases - table.wagers.keys()))
    return state
