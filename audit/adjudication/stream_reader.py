"""Reading a stream of the event store as decoded events, with its corrections.

An ``entry.corrected`` takes effect on an event before it, so whoever folds a stream has to know its corrections
before the first event. Replay, the drawing of a table, reconciliation, evidence and the desk all read through here:

    corrections_of ──► State(corrections) ◄── pages        state_at: the state after an event
                   └─► Corrections        ◄── pages        corrected_events: every event as its corrections leave it

``known_through`` is the last event whose correction counts: what was known at that time. None counts every correction
that is stored now.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from types import MappingProxyType
from typing import Any

from audit.event_store import read
from audit.event_store.bulk_read import arrays_between
from settlement import Event, State, decode
from settlement.codec import decode_stored
from settlement.corrections import Corrections
from settlement.events import EntryCorrected

NO_READINGS: Mapping[str, Any] = MappingProxyType({})


def corrections_of(stream_id: int, *, known_through: int | None = None) -> list[EntryCorrected]:
    """Return the corrections of a stream in order of ``seq``, up to ``known_through``."""
    return [
        event
        for event in map(decode, read.corrections_of(stream_id))
        if isinstance(event, EntryCorrected) and (known_through is None or event.seq <= known_through)
    ]


def pages(
    stream_id: int, first_seq: int, last_seq: int, *, max_events: int | None = None, max_bytes: int | None = None
) -> Generator[list[Event], None, None]:
    """Yield the events from ``first_seq`` to ``last_seq``, both included, up to 1,000 at a time, in order.

    The server gathers the next page while the caller folds this one. About ``max_events`` are read, fewer where numbers
    were declared lost; the page that reaches ``max_bytes`` is the last.
    Close the generator (``contextlib.closing``) where the loop may end early.
    """
    if first_seq > last_seq:
        return
    arrays = arrays_between(stream_id, first_seq, last_seq, max_events=max_events)
    size = 0
    try:
        for array in arrays:
            yield decode_stored(array)
            size += len(array)
            if max_bytes is not None and size >= max_bytes:
                break
    finally:
        for _ in arrays:  # the connection takes no other command until the answer is read to its end
            continue


def corrected_events(stream_id: int, last_seq: int) -> Iterator[Event]:
    """Yield the events through ``last_seq``, each with the data that the corrections through ``last_seq`` leave it."""
    corrections = Corrections(corrections_of(stream_id, known_through=last_seq))
    with closing(pages(stream_id, 1, last_seq)) as all_pages:
        for page in all_pages:
            yield from map(corrections.corrected, page)


def state_at(stream_id: int, seq: int, *, known_through: int | None = None) -> State:
    """Return the state after the last event that is not after ``seq``; an empty state if there is no such event.

    Events after ``known_through`` are left out. The state holds every wager and no finding.
    """
    last_seq = min(seq, read.next_seq_of(stream_id) - 1)
    if known_through is not None:
        last_seq = min(last_seq, known_through)
    # After the last number: a correction that arrives in between is then known, and its event is not read.
    state = State(corrections_of(stream_id, known_through=known_through))
    with closing(pages(stream_id, 1, last_seq)) as all_pages:
        for page in all_pages:
            state.feed_all(page)
            state.forget_findings()
    return state


def resumed_state(
    stream_id: int, saved: bytes, *, cursor: int, known_through: int, readings: Mapping[str, Any] = NO_READINGS
) -> State:
    """Return the state to fold on from after event ``cursor``, given the ``saved`` state at that event.

    ``cursor`` 0 is the beginning, without a saved state. ``known_through`` is the last correction that was known when
    the fold began, 0 for none; those that the fold has still before it are read again.
    """
    if not cursor:
        return State(corrections_of(stream_id, known_through=known_through) if known_through else (), readings)
    state = State.from_bytes(saved, readings=readings)
    if cursor >= known_through:
        return state
    announced = map(decode, read.events_at(stream_id, state.announced).values())
    corrections = [event for event in announced if isinstance(event, EntryCorrected)]
    targets = [seq for seq in State(corrections).corrects if seq <= cursor]
    corrected = read.events_at(stream_id, targets)
    return State.from_bytes(saved, corrections, readings, corrected=map(decode, corrected.values()))


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector while a stream is folded: events have no cycles, and looking costs a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
