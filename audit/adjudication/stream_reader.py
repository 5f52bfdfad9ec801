"""Reading a stream of the event store as decoded events, with its corrections.

A correction or an annulment takes effect on an event before it, so whoever folds a stream has to know them before the
first event. Replay, the drawing of a table, reconciliation, evidence and the desk all read through here:

    corrections_of ──► State(corrections) ◄── pages        state_at: the state after an event
                   └─► Corrections        ◄── pages        corrected_events: every event as its corrections leave it

``known_through`` is the last event whose correction counts: what was known at that time. None counts every correction
that is stored now.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeAlias

import msgspec

from audit.event_store import read
from audit.event_store.bulk_read import arrays_between
from audit.models import Adjudication
from settlement import ENGINE_VERSION, Event, State
from settlement.codec import decode_one_stored, decode_stored, next_seq_after
from settlement.corrections import Change, Corrections, changes_in

Readings: TypeAlias = Mapping[str, Any] | None
"""What the house register says of a stream; None: it is read without a register, by its own parameters."""


MOST_AT_ONCE = 4_000
"""Events that a chunk has at most, unless the first is larger."""


class _Held(msgspec.Struct):
    held: list[int] = []
    found: list[int] = []


_decode_held = msgspec.json.Decoder(_Held).decode


def corrections_of(stream_id: int, *, known_through: int | None = None) -> list[Change]:
    """Return the changes of a stream on its earlier events in order of ``seq``, up to ``known_through``."""
    changes = changes_in(map(decode_one_stored, read.corrections_of(stream_id)))
    return [change for change in changes if known_through is None or change.seq <= known_through]


def newest_change(stream_id: int) -> int:
    """Return the number of the last change to an earlier event that is stored, 0 if there is none."""
    known = corrections_of(stream_id)
    return known[-1].seq if known else 0


def held_by(saved: bytes) -> frozenset[int]:
    """Return the changes without effect of a saved state, by seq; none of b""."""
    if not saved:
        return frozenset()
    table = _decode_held(saved)
    return frozenset((*table.held, *table.found))


def held_in(stream_id: int, changes: Iterable[Change]) -> frozenset[int]:
    """Return those of ``changes``, of a stream, that have no effect by the standing adjudication, by seq.

    One that replay has not come to has none either, unless it was approved: whether it waits is not known yet.
    """
    standing = Adjudication.objects.filter(stream_id=stream_id, engine_version=ENGINE_VERSION, what_if=None)
    row = standing.values_list("state", "cursor", "run__approved").first()
    saved, cursor, approved = row or (b"", 0, [])
    held = held_by(bytes(saved))
    if approved is None and cursor:  # of a run from before there were approvals: every change took effect
        return held
    unread = {change.seq for change in changes if change.seq > cursor}
    return held | (unread - set(approved or ()))


def corrections_in_effect(stream_id: int, *, known_through: int | None = None) -> Corrections:
    """Return the changes of a stream, up to ``known_through``, with those held that have no effect."""
    changes = corrections_of(stream_id, known_through=known_through)
    return Corrections(changes, held_in(stream_id, changes) if changes else ())


def pages(
    stream_id: int, first_seq: int, last_seq: int, *, max_events: int | None = None, max_bytes: int | None = None
) -> Generator[list[Event], None, None]:
    """Yield the events from ``first_seq`` to ``last_seq``, both included, up to 1,000 at a time, in order.

    The server gathers the next page while the caller folds this one. About ``max_events`` are read, fewer where numbers
    were declared lost; the page that reaches ``max_bytes`` is the last.
    Close the generator (``contextlib.closing``) where the loop may end early.
    """
    arrays = _arrays(stream_id, first_seq, last_seq, max_events=max_events, max_bytes=max_bytes)
    with closing(arrays):
        yield from map(decode_stored, arrays)


def chunks(
    stream_id: int, first_seq: int, last_seq: int, *, first: int, max_events: int, max_bytes: int
) -> Iterator[list[Event]]:
    """Yield the same events in chunks: of about ``first`` events, then of twice as many as before.

    Each is read when the caller asks for it, so that a caller who stops has read little in vain. Between two chunks the
    connection takes other commands.
    """
    size = first
    while first_seq <= last_seq and max_events > 0 and max_bytes > 0:
        size = min(size, max_events)
        arrays = list(_arrays(stream_id, first_seq, last_seq, max_events=size, max_bytes=max_bytes))
        events = [event for array in arrays for event in decode_stored(array)]
        if not events:
            return
        yield events
        first_seq = next_seq_after(events[-1])
        max_events -= size
        max_bytes -= sum(map(len, arrays))
        size = min(2 * size, MOST_AT_ONCE)


def _arrays(
    stream_id: int, first_seq: int, last_seq: int, *, max_events: int | None, max_bytes: int | None
) -> Generator[bytes, None, None]:
    if first_seq > last_seq:
        return
    arrays = arrays_between(stream_id, first_seq, last_seq, max_events=max_events)
    size = 0
    try:
        for array in arrays:
            yield array
            size += len(array)
            if max_bytes is not None and size >= max_bytes:
                break
    finally:
        for _ in arrays:  # the connection takes no other command until the answer is read to its end
            continue


def up_to_change(chunks: Iterable[Sequence[Event]], *, after: int | None) -> Iterator[Sequence[Event]]:
    """Yield events up to the first change to an earlier one that comes after number ``after``; None: all of them.

    If that leaves no event at all, yield the first chunk as it is.
    """
    has_any = False
    for events in chunks:
        unknown = [each.seq for each in changes_in(events) if after is not None and each.seq > after]
        before = [event for event in events if event.seq < unknown[0]] if unknown else events
        if before or not has_any:
            yield before or events
        if unknown:
            return
        has_any = True


def corrected_events(stream_id: int, last_seq: int) -> Iterator[Event]:
    """Yield the events through ``last_seq`` as the corrections up to there leave them, annulled ones left out."""
    corrections = corrections_in_effect(stream_id, known_through=last_seq)
    with closing(pages(stream_id, 1, last_seq)) as all_pages:
        for page in all_pages:
            yield from (corrections.corrected(event) for event in page if not corrections.removed_by(event))


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector while a stream is folded or added up: nothing has cycles; looking costs a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@gc_paused()
def state_at(stream_id: int, seq: int, *, known_through: int | None = None, readings: Readings = None) -> State:
    """Return the state after the last event that is not after ``seq``; an empty state if there is no such event.

    ``readings`` are those of the register. Events after ``known_through`` are left out. The state holds every wager and
    no finding.
    """
    last_seq = min(seq, read.next_seq_of(stream_id) - 1)
    if known_through is not None:
        last_seq = min(last_seq, known_through)
    # After the last number: a correction that arrives in between is then known, and its event is not read.
    known = corrections_of(stream_id, known_through=known_through)
    state = State(known, readings, held=held_in(stream_id, known) if known else (), compares=False)
    with closing(pages(stream_id, 1, last_seq)) as all_pages:
        for page in all_pages:
            state.feed_all(page)
            state.forget_findings()
    return state


def resumed_state(
    stream_id: int,
    saved: bytes,
    *,
    cursor: int,
    known_through: int,
    readings: Readings = None,
    approved: Collection[int] | None = None,
) -> State:
    """Return the state to fold on from after event ``cursor``, given the ``saved`` state at that event.

    ``cursor`` 0 is the beginning; a saved state says there which changes have no effect. ``known_through`` is the last
    change that was known when the fold began, 0 for none; those that the fold has still before it are read again.
    ``approved`` are the changes that officers approved; None: each has its effect.
    """
    changes: list[Change] = []
    if cursor < known_through:
        changes = corrections_of(stream_id, known_through=known_through)
    if not saved:
        return State(changes, readings, approved)
    return State.from_bytes(saved, changes, readings, approved)
