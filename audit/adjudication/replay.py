"""Replay: fold one stream of the event store through the law, from the cursor on, in steps.

    lock the cursor ─► read a step ─► recall wagers ─► fold ─► findings, retired wagers, snapshot, cursor ─► commit
         │                                              │                 in one transaction
         └─ another worker holds it: return             └─ an unknown correction: begin another run

The findings, the wagers and the snapshot of the state are projections: the event store is the truth, and a message to a
worker is only a hint that a stream is dirty. A worker that dies anywhere has committed a whole step or nothing, so the
next one goes on from the cursor and finds the same: replay is idempotent. Two workers never fold one stream at once,
and none waits for a stream that another holds.

A *run* reads the stream from its beginning, step by step. When it comes to the end its findings supersede, in one
transaction, those of an earlier run or an earlier version of the engine: ``audit.adjudication.runs``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit.adjudication import findings, retired_wagers, runs, stream_reader
from audit.adjudication.stream_reader import gc_paused
from audit.event_store import binary_copy, read
from audit.models import Adjudication, AdjudicationRun, RunCause, WhatIf
from audit.models.runs import CURRENT
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


def advance(stream_id: int, what_if: WhatIf | None = None, *, in_pause: bool = False) -> Progress | None:
    """Fold the next step of a stream and commit its findings. Return None if another worker holds the stream.

    ``what_if`` is the what-if run that this is a part of; None is the standing adjudication. A stream that is set aside
    after a failed run is left alone until its pause is over, unless ``in_pause``.
    """
    identity = {"stream_id": stream_id, "engine_version": ENGINE_VERSION, "what_if": what_if}
    going_on = Adjudication.objects.filter(**identity, run__state__in=CURRENT)
    if not going_on.exists() and not _begin_run(identity):
        return None
    with gc_paused(), async_commit():
        # The run is locked, too: whoever waited for its lock sees what became of it meanwhile.
        locked = going_on.select_for_update(skip_locked=True, of=("self", "run")).select_related("run")
        adjudication = locked.first()
        if adjudication is None:
            return None
        run = _run_of(adjudication)
        if run.next_try_at is not None and run.next_try_at > timezone.now() and not in_pause:
            return Progress(folded=0, cursor=adjudication.cursor, behind=False)
        return _step(adjudication, run, what_if.readings if what_if else {})


def _begin_run(identity: Mapping[str, Any]) -> bool:
    """Begin the run of this engine version in a stream; return False if another worker holds the stream.

    In a transaction of its own, so that no worker waits for one that begins the same run.
    """
    with async_commit():
        Adjudication.objects.bulk_create([Adjudication(**identity)], ignore_conflicts=True)
        own = Adjudication.objects.select_for_update(skip_locked=True, of=("self",)).select_related("run")
        adjudication = own.filter(**identity).first()
        if adjudication is None:
            return False
        if adjudication.run is not None and adjudication.run.state in CURRENT:
            return True  # begun by another worker just now
        others = _others_held(adjudication)
        if others is None or (adjudication.run is not None and _is_in_use(others)):
            return False
        runs.begin(adjudication, RunCause.ENGINE if others else RunCause.FIRST)
        _return_to_beginning(adjudication)
    return True


def _others_held(adjudication: Adjudication) -> list[Adjudication] | None:
    """Lock the adjudications of a stream by other engine versions; return None if another worker holds one."""
    others = Adjudication.objects.filter(stream_id=adjudication.stream_id, what_if=adjudication.what_if_id)
    others = others.exclude(pk=adjudication.pk)
    held = list(others.select_for_update(skip_locked=True))
    return held if len(held) == others.count() else None


def _is_in_use(others: Iterable[Adjudication]) -> bool:
    """Return whether workers of another engine version read a stream now: during a deployment both may run.

    Then the version that came first leaves the stream to the other.
    """
    return any(timezone.now() - each.updated_at < read.TAKEN_OVER_AFTER for each in others)


def _run_of(adjudication: Adjudication) -> AdjudicationRun:
    assert adjudication.run is not None, "a step belongs to a run"
    return adjudication.run


@contextmanager
def async_commit() -> Iterator[None]:
    """Open a transaction whose commit does not wait for the disk: what a crash loses of it is replayed."""
    with transaction.atomic():
        binary_copy.execute("select set_config('synchronous_commit', 'off', true)", ())
        yield


def _step(adjudication: Adjudication, run: AdjudicationRun, readings: Mapping[str, Any]) -> Progress | None:
    stream_id = adjudication.stream_id
    last_seq = read.next_seq_of(stream_id) - 1
    pages = stream_reader.pages(
        stream_id, adjudication.next_seq, last_seq, max_events=STEP_EVENTS, max_bytes=STEP_BYTES
    )
    events = [event for page in pages for event in page]
    if not events:
        if adjudication.cursor:
            runs.step_done(run, at_end=True)
        return Progress(folded=0, cursor=adjudication.cursor, behind=False)
    state = stream_reader.resumed_state(
        stream_id,
        bytes(adjudication.state),
        cursor=adjudication.cursor,
        known_through=run.corrections_through,
        readings=readings,
    )
    recalled = retired_wagers.recall(adjudication, state, events)
    try:
        new_findings = fold(state, events)
    except NeedsReplay:
        if not _begin_another_run(adjudication, run):
            return None
        return Progress(folded=len(events), cursor=0, behind=True)
    state.forget_findings()
    findings.add_findings(adjudication, state, new_findings, events)
    retired_wagers.retire(adjudication, state, recalled, through=events[-1].seq)
    _move_cursor(adjudication, state, events[-1])
    behind = adjudication.next_seq <= last_seq
    runs.step_done(run, at_end=not behind)
    adjudication.save()
    return Progress(len(events), adjudication.cursor, behind)


def _begin_another_run(adjudication: Adjudication, run: AdjudicationRun) -> bool:
    """Return to the beginning of the stream, with every correction that is stored by now known beforehand.

    A run that has read nothing yet goes on as the same run. Return False if another version reads the stream now.
    """
    corrections_through = stream_reader.corrections_of(adjudication.stream_id)[-1].seq
    if not adjudication.cursor:
        run.corrections_through = corrections_through
        run.save(update_fields=["corrections_through"])
        return True
    others = _others_held(adjudication)
    if others is None or (not runs.is_newest(run) and _is_in_use(others)):
        return False
    run.retired.all().delete()
    if adjudication.what_if is not None:
        findings.delete_what_if_findings(adjudication.what_if, adjudication.stream_id)
    runs.begin(adjudication, RunCause.CORRECTION, corrections_through=corrections_through)
    _return_to_beginning(adjudication)
    return True


def _return_to_beginning(adjudication: Adjudication) -> None:
    """Save an adjudication as one of a run that has read nothing yet."""
    adjudication.known_ids = {}
    adjudication.cursor = adjudication.events = 0
    adjudication.next_seq = 1
    adjudication.state = b""
    adjudication.closed = False
    adjudication.save()


def fold(state: State, events: Sequence[Event]) -> list[Finding]:
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
