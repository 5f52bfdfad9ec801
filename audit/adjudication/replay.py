"""Replay: fold one stream of the event store through the law, from the cursor on, in steps.

    lock the cursor ─► read a step ─► recall wagers ─► fold ─► findings, retired wagers, snapshot, cursor ─► commit
         │                                              │                 in one transaction
         └─ another worker holds it: return             └─ an unknown correction: begin another run

The findings, the wagers and the snapshot of the state are projections: the event store is the truth, and a message to a
worker is only a hint that a stream is dirty. A worker that dies anywhere has committed a whole step or nothing, so the
next one goes on from the cursor and finds the same: replay is idempotent. Two workers never fold one stream at once,
and none waits for a stream that another holds.

A *run* reads the stream from its beginning, step by step. When it comes to the end its findings supersede, in one
transaction, those of an earlier run or an earlier version of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from audit.adjudication import findings, retired_wagers, stream_reader
from audit.adjudication.stream_reader import gc_paused
from audit.event_store import binary_copy, read
from audit.models import Adjudication, WhatIf
from settlement import ENGINE_VERSION, Event, Finding, NeedsReplay, State
from settlement.codec import next_seq_after
from settlement.events import EntryCorrected, SessionClosed
from settlement.state import find

STEP_EVENTS = 32_000
"""Events folded in one transaction: enough to be cheap, few enough to lose little to a crash."""

STEP_BYTES = 32 * 1024 * 1024
"""Bytes after which a step takes no more events, however few: the largest are a hundred times the usual."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What one call of ``advance`` did: events folded, the cursor after them, whether more events may be waiting."""

    folded: int
    cursor: int
    behind: bool


def advance(stream_id: int, what_if: WhatIf | None = None) -> Progress | None:
    """Fold the next step of a stream and commit its findings. Return None if another worker holds the stream.

    ``what_if`` is the what-if run that this is a part of; None is the standing adjudication.
    """
    identity = {"stream_id": stream_id, "engine_version": ENGINE_VERSION, "what_if": what_if}
    if not Adjudication.objects.filter(**identity).exists():
        with async_commit():  # in a transaction of its own: no worker waits for one that creates the same cursor
            Adjudication.objects.bulk_create([Adjudication(**identity)], ignore_conflicts=True)
    with gc_paused(), async_commit():
        adjudication = Adjudication.objects.select_for_update(skip_locked=True).filter(**identity).first()
        if adjudication is None:
            return None
        return _step(adjudication, what_if.readings if what_if else {})


@contextmanager
def async_commit() -> Iterator[None]:
    """Open a transaction whose commit does not wait for the disk: what a crash loses of it is replayed."""
    with transaction.atomic():
        binary_copy.execute("select set_config('synchronous_commit', 'off', true)", ())
        yield


def _step(adjudication: Adjudication, readings: Mapping[str, Any]) -> Progress:
    stream_id = adjudication.stream_id
    last_seq = read.next_seq_of(stream_id) - 1
    step_end = min(last_seq, adjudication.next_seq + STEP_EVENTS - 1)
    pages = stream_reader.pages(stream_id, adjudication.next_seq, step_end, max_bytes=STEP_BYTES)
    events = [event for page in pages for event in page]
    if not events:
        if _complete(adjudication):
            adjudication.save()
        return Progress(folded=0, cursor=adjudication.cursor, behind=False)
    if adjudication.cursor == 0 and adjudication.what_if_id is None:
        adjudication.replaces = findings.has_standing_run(stream_id)
    state = stream_reader.resumed_state(
        stream_id,
        bytes(adjudication.state),
        cursor=adjudication.cursor,
        known_through=adjudication.corrected_through,
        readings=readings,
    )
    recalled = retired_wagers.recall(adjudication, state, events)
    try:
        new_findings = _fold(state, events)
    except NeedsReplay:
        _begin_another_run(adjudication)
        return Progress(folded=len(events), cursor=0, behind=True)
    state.forget_findings()
    findings.add_findings(adjudication, state, new_findings, events)
    retired_wagers.retire(adjudication, state, recalled, through=events[-1].seq)
    _move_cursor(adjudication, state, events[-1])
    behind = adjudication.next_seq <= last_seq
    if not behind:
        _complete(adjudication)
    adjudication.save()
    return Progress(len(events), adjudication.cursor, behind)


def _begin_another_run(adjudication: Adjudication) -> None:
    """Return to the beginning of the stream, with every correction that is stored by now known beforehand."""
    adjudication.retired.filter(run=adjudication.run).delete()
    if adjudication.what_if is not None:
        findings.delete_what_if_findings(adjudication.what_if, adjudication.stream_id)
    adjudication.run += 1
    adjudication.known_ids = {}
    adjudication.corrected_through = stream_reader.corrections_of(adjudication.stream_id)[-1].seq
    adjudication.cursor = adjudication.events = 0
    adjudication.next_seq = 1
    adjudication.state = b""
    adjudication.save()


def _complete(adjudication: Adjudication) -> bool:
    """Mark this run as complete, and the first time promote its findings. Return whether anything changed."""
    if adjudication.completed_run == adjudication.run or not adjudication.cursor:
        return False
    if adjudication.replaces:
        findings.promote_run(adjudication)
    adjudication.completed_run = adjudication.run
    adjudication.replaces = False
    return True


def _fold(state: State, events: Sequence[Event]) -> list[Finding]:
    """Fold ``events`` and return the findings they complete, with `late-after-close` for what follows the close."""
    first_late = 0 if state.table.closed_by else len(events)
    first_late = next((index for index, event in enumerate(events) if type(event) is SessionClosed), first_late)
    state.feed_all(events[:first_late])
    for event in events[first_late:]:
        was_closed = state.table.closed_by
        state.feed(event)
        if was_closed and not isinstance(event, EntryCorrected):
            find(state.table, "late-after-close", was_closed, event.seq, closed_seq=was_closed, event_type=event.type)
    return list(state.table.findings)


def _move_cursor(adjudication: Adjudication, state: State, last: Event) -> None:
    """Set the cursor after the last event of a step, with a snapshot of the state."""
    table = state.table
    adjudication.cursor = last.seq
    adjudication.next_seq = next_seq_after(last)
    adjudication.events = table.events
    adjudication.ruleset = findings.known_ruleset(state)
    adjudication.readings_digest = state.readings_digest
    adjudication.closed = bool(table.closed_by)
    adjudication.state = state.to_bytes()
