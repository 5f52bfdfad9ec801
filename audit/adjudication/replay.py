"""Replay: fold one stream of the event store through the law, from the cursor on, in steps.

    lock the cursor ─► read a step ─► recall wagers ─► fold ─► findings, retired wagers, snapshot, cursor ─► commit
         │                                              │                 in one transaction
         └─ another worker holds it: return             └─ a correction that is unknown, or waits: begin another run

The findings, the wagers and the snapshot of the state are projections: the event store is the truth, and a message to a
worker is only a hint that a stream is dirty. A worker that dies anywhere has committed a whole step or nothing, so the
next one goes on from the cursor and finds the same: replay is idempotent. Two workers never fold one stream at once,
and none waits for a stream that another holds.

A *run* reads the stream from its beginning, step by step. When it comes to the end its findings supersede, in one
transaction, those of an earlier run or an earlier version of the engine: ``audit.adjudication.runs``. It knows the
corrections that were stored when it began, and is complete before the first that it does not know; the next run knows
all that have come by then. Those that turn out to wait for officers are known with the last: one more run, or the same
where it has stored nothing after their entries, reads on without all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import transaction
from django.db.models import BigIntegerField, IntegerField
from django.db.models.expressions import RawSQL
from django.utils import timezone

from audit import heartbeats
from audit.adjudication import clocks, findings, noted, retired_wagers, runs, stream_reader
from audit.adjudication.stream_reader import gc_paused
from audit.event_store import binary_copy, read
from audit.models import (
    Adjudication,
    AdjudicationRun,
    LoggedStream,
    RunCause,
    Verdict,
    WhatIf,
)
from audit.models.runs import CURRENT
from audit.register import in_force
from audit.transparency import kept_findings
from settlement import ENGINE_VERSION, Event, Finding, NeedsReplay, State
from settlement.codec import next_seq_after
from settlement.corrections import Corrections
from settlement.events import EntryAnnulled, EntryCorrected, ExtensionEvent, SessionClosed
from settlement.findings import find
from settlement.interceptors import NOT_INTERCEPTED, Interceptors
from settlement.persons.session import PersonsProjection

STEP_EVENTS = 32_000
"""Most events read for one transaction: enough to be cheap, few enough to lose little to a crash."""

SHARED_STEP_EVENTS = 8_000
"""The same while other casinos have their steps."""

STEP_S = 0.5
"""Seconds of processor time after which a step folds no more, and commits what it has folded.

A casino whose events arrive while another is alone waits until that step ends.
"""

SHARED_STEP_S = 0.1
"""The same while other casinos have their steps. They wait until it ends."""

FIRST_CHUNK = 500
"""Events that a step reads before it folds any. It reads more while it has time left, because the next step reads
again what this one did not fold."""

FIRST_SLICE, MOST_SLICE = 64, 1_024
"""Events folded between two looks at the clock. Each slice is twice the one before: so the bound is kept where an event
costs a millisecond, and the clock costs nothing where it costs microseconds."""

processor_s = time.thread_time
"""The clock of a step: processor time of this thread, in seconds."""

STEP_BYTES = 32 * 1024 * 1024
"""Bytes after which a step takes no more events, however few: the largest are a hundred times the usual."""


_NEWEST_REGISTER = RawSQL(
    "select coalesce(max(e.version), 0) from audit_registerentry e where e.casino_id = audit_adjudicationrun.casino_id",
    (),
    IntegerField(),
)
"""The version of the register of a run's casino, in the statement that locks the run; its SQL is not put together."""

_APPROVED = RawSQL(
    "array(select d.seq from audit_correctiondecision d where d.stream_id = audit_adjudication.stream_id"
    f" and d.verdict = '{Verdict.COUNTERSIGNED.value}' and d.number = 2 order by d.seq)",
    (),
    ArrayField(BigIntegerField()),
)
"""The corrections of a stream that officers have approved, in the same statement."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What one call of ``advance`` did: events folded, the cursor after them, whether more events may be waiting.

    ``has_closed``: it came to the end of a session that is closed.
    """

    folded: int
    cursor: int
    behind: bool
    has_closed: bool = False


@dataclass(frozen=True, slots=True)
class Folded:
    """Events folded on what is stored: the state after them, what they complete, and the retired wagers they mention.

    ``recalled`` has the seq of each such wager's last change before, by its id. ``events`` are those folded, and
    ``projection`` has noted them, if that was asked for.
    """

    state: State
    findings: list[Finding]
    recalled: dict[str, int]
    events: Sequence[Event]
    projection: PersonsProjection | None = None


def advance(
    stream_id: int, what_if: WhatIf | None = None, *, in_pause: bool = False, is_shared: bool = False
) -> Progress | None:
    """Fold the next step of a stream and commit its findings. Return None if another worker holds the stream.

    ``what_if`` is the what-if run that this is a part of; None is the standing adjudication. A stream that is set aside
    after a failed run is left alone until its pause is over, unless ``in_pause``. ``is_shared`` has the step be a short
    one, for the sake of others.
    """
    identity = {"stream_id": stream_id, "engine_version": ENGINE_VERSION, "what_if": what_if}
    most = min(STEP_EVENTS, SHARED_STEP_EVENTS) if is_shared else STEP_EVENTS
    ends_at = processor_s() + (SHARED_STEP_S if is_shared else STEP_S)
    going_on = Adjudication.objects.filter(**identity, run__state__in=CURRENT).select_related("run")
    going_on = going_on.annotate(newest_register=_NEWEST_REGISTER, now_approved=_APPROVED)
    # The run is locked, too: whoever waited for its lock sees what became of it meanwhile.
    locked = going_on.select_for_update(skip_locked=True, of=("self", "run"))

    def step() -> Progress | None:
        with gc_paused(), async_commit():
            adjudication = locked.first()
            if adjudication is None and runs.begin_first(stream_id, ENGINE_VERSION, what_if.pk if what_if else None):
                adjudication = locked.first()
            if adjudication is None:
                return None
            adjudication.what_if = what_if
            run = _run_of(adjudication)
            if run.next_try_at is not None and run.next_try_at > timezone.now() and not in_pause:
                return Progress(folded=0, cursor=adjudication.cursor, behind=False)
            if what_if is None and run.register_version != adjudication.newest_register:
                began = _follow_register(adjudication, run, adjudication.newest_register)
                if began is not None:
                    return began
            if what_if is None and run.approved != adjudication.now_approved:
                began = _follow_approvals(adjudication, run, adjudication.now_approved)
                if began is not None:
                    return began
            return _step(adjudication, run, max_events=most, ends_at=ends_at)

    progress = step()
    if progress is None and not going_on.exists() and _begin_run(identity):
        progress = step()
    return progress


def _begin_run(identity: Mapping[str, Any]) -> bool:
    """Begin the run of this engine version in a stream; return False if another worker holds the stream.

    In a transaction of its own: a step that fails leaves the run, to be set aside.
    """
    what_if: WhatIf | None = identity["what_if"]
    with async_commit():
        if not runs.begins_alone(identity["stream_id"], what_if.pk if what_if else None):
            return False
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
        before = _root_before(adjudication)
        cause = RunCause.ENGINE if others else RunCause.FIRST
        runs.begin(adjudication, cause, corrections_through=stream_reader.newest_change(adjudication.stream_id))
        if others:
            _keep(adjudication, _run_of(adjudication), before)
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


def _step(adjudication: Adjudication, run: AdjudicationRun, *, max_events: int, ends_at: float) -> Progress | None:
    stream_id = adjudication.stream_id
    last_seq = read.next_seq_of(stream_id) - 1
    chunks = stream_reader.chunks(
        stream_id,
        adjudication.next_seq,
        last_seq,
        first=FIRST_CHUNK,
        max_events=max_events,
        max_bytes=STEP_BYTES,
    )
    first = next(chunks, None)
    if first is None:
        if adjudication.cursor:
            before = _root_before(adjudication) if _takes_over(run, at_end=True) else None
            _end_step(adjudication, run, at_end=True, before=before)
        return Progress(folded=0, cursor=adjudication.cursor, behind=False)
    # The findings of a what-if run stand nowhere: it has nothing to complete before it begins anew.
    is_under_way = adjudication.cursor > 0 and run.completed_at is None and adjudication.what_if is None
    known_through = run.corrections_through if is_under_way else None
    to_read = stream_reader.up_to_change(chain([first], chunks), after=known_through)
    is_noted = noted.is_noted(adjudication, run)
    try:
        folded = fold_on(adjudication, run, to_read, is_noted=is_noted, is_over=lambda: processor_s() >= ends_at)
    except NeedsReplay as needed:
        if adjudication.cursor and needed.held and _goes_on_without(adjudication, run, needed.held):
            return Progress(folded=len(first), cursor=adjudication.cursor, behind=True)
        if is_under_way and not needed.held:
            before = _root_before(adjudication) if _takes_over(run, at_end=True) else None
            _end_step(adjudication, run, at_end=True, before=before)
        if not _begin_another_run(adjudication, run, RunCause.CORRECTION, needed.held):
            return None
        return Progress(folded=len(first), cursor=0, behind=True)
    state, events = folded.state, folded.events
    notes, adjudication.memory = b"", b""
    if folded.projection is not None:
        folded.projection.note_findings()
        notes, adjudication.memory = noted.saved_notes(folded.projection), noted.saved_memory(folded.projection)
    state.forget_findings()
    clocks.find_ahead(state.table, stream_id, events)
    # A run that is about to begin anew without some corrections stores nothing that it has found with them.
    found = [] if state.table.found else [*folded.findings, *state.table.findings]
    at_end = next_seq_after(events[-1]) > last_seq
    is_kept = found or state.table.closed_by or _takes_over(run, at_end=at_end)
    before = _root_before(adjudication) if is_kept else None
    findings.add_findings(adjudication, state, found, events)
    state.forget_findings()
    retired_wagers.retire(adjudication, state, folded.recalled, through=events[-1].seq, notes=notes)
    _move_cursor(adjudication, state, events[-1])
    _end_step(adjudication, run, at_end=at_end, before=before)
    adjudication.save()
    return Progress(len(events), adjudication.cursor, not at_end, has_closed=adjudication.closed and at_end)


def _takes_over(run: AdjudicationRun, *, at_end: bool) -> bool:
    """Return whether a step has the findings of a run stand in place of another's."""
    return at_end and not run.stands


def _end_step(adjudication: Adjudication, run: AdjudicationRun, *, at_end: bool, before: str | None) -> None:
    """Note that a step succeeded, and enter what is found into the log.

    ``before`` is the root of what runs had found before the step. It is None if the step changes no finding: then
    nothing is entered, and the newest entry of a session is still what is stored of it.
    """
    runs.step_done(run, at_end=at_end)
    if before is not None:
        _keep(adjudication, run, before)


def _root_before(adjudication: Adjudication) -> str:
    """Return the root of what runs have found in a session, to be entered with that after a change.

    Whatever somebody writes between two entries is no part of the first, and so is not taken over into the second.
    """
    return kept_findings.root_in(adjudication.stream_id) if adjudication.what_if_id is None else ""


def _keep(adjudication: Adjudication, run: AdjudicationRun, before: str) -> None:
    if adjudication.what_if_id is None:
        stream = LoggedStream.objects.get(pk=adjudication.stream_id)
        kept_findings.keep_adjudicated(run, stream, adjudication.cursor, before)


def readings_of(adjudication: Adjudication, run: AdjudicationRun) -> stream_reader.Readings:
    """Return what a run reads by: its version of the house register, and above that the readings of a what-if run."""
    readings = in_force.readings_of(adjudication.stream_id, run.register_version)
    return {**(readings or {}), **adjudication.what_if.readings} if adjudication.what_if is not None else readings


def fold_on(
    adjudication: Adjudication,
    run: AdjudicationRun,
    chunks: Iterable[Sequence[Event]],
    *,
    is_noted: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> Folded:
    """Fold the events after the cursor on the stored state and wagers; nothing is stored.

    They are folded slice by slice, at least one; none after ``is_over`` is true, and no more chunks are read then. Each
    slice is a heartbeat. ``is_noted`` has what its figures need noted on the way.
    Raise ``NeedsReplay`` if a correction among them changes what is folded already.
    """
    readings = readings_of(adjudication, run)
    state = stream_reader.resumed_state(
        adjudication.stream_id,
        bytes(adjudication.state),
        cursor=adjudication.cursor,
        known_through=run.corrections_through,
        readings=readings,
        approved=run.approved,
    )
    projection = noted.along(adjudication, state) if is_noted else None
    interceptors = projection.interceptors if projection is not None else NOT_INTERCEPTED
    recalled: dict[str, int] = {}
    folded: list[Event] = []
    for part in _slices(chunks):
        recalled |= retired_wagers.recall(adjudication, state, part)
        _feed(state, part, interceptors)
        folded += part
        heartbeats.touch()
        if is_over():
            break
    return Folded(state, _found(state), recalled, folded, projection)


def _slices(chunks: Iterable[Sequence[Event]]) -> Iterator[Sequence[Event]]:
    size = FIRST_SLICE
    for events in chunks:
        at = 0
        while at < len(events):
            yield events[at : at + size]
            at, size = at + size, min(2 * size, MOST_SLICE)


def _follow_approvals(adjudication: Adjudication, run: AdjudicationRun, approved: list[int]) -> Progress | None:
    """Have a run read from the beginning with the corrections ``approved`` in effect, and no others that wait.

    Return None if the run goes on: it has read nothing yet.
    """
    if not adjudication.cursor:
        run.approved = approved
        run.save(update_fields=["approved"])
        _return_to_beginning(adjudication)
        return None
    folded = adjudication.events
    if not _begin_another_run(adjudication, run, RunCause.APPROVAL):
        return Progress(folded=0, cursor=adjudication.cursor, behind=False)
    return Progress(folded=folded, cursor=0, behind=True)


def _follow_register(adjudication: Adjudication, run: AdjudicationRun, newest: int) -> Progress | None:
    """Have a run read by the newest version of the register, from the beginning if that says something else.

    Return None if the run goes on: the versions say the same of the stream, or it has read nothing yet.
    """
    before, now = (in_force.readings_of(adjudication.stream_id, version) for version in (run.register_version, newest))
    if before == now or not adjudication.cursor:
        run.register_version = newest
        run.save(update_fields=["register_version"])
        return None
    folded = adjudication.events
    if not _begin_another_run(adjudication, run, RunCause.REGISTER):
        return Progress(folded=0, cursor=adjudication.cursor, behind=False)
    return Progress(folded=folded, cursor=0, behind=True)


def _begin_another_run(
    adjudication: Adjudication, run: AdjudicationRun, cause: RunCause, held: Collection[int] = ()
) -> bool:
    """Return to the beginning of the stream, with every correction that is stored by now known beforehand.

    ``held`` are those that were found to have no effect: with them the same are known as before, so that a run comes to
    its end however many arrive meanwhile. A run that has read nothing yet goes on as the same run. Return False if
    another version reads the stream now.
    """
    corrections_through = run.corrections_through if held else stream_reader.newest_change(adjudication.stream_id)
    if not adjudication.cursor:
        run.corrections_through = corrections_through
        run.save(update_fields=["corrections_through"])
        _return_to_beginning(adjudication, held)
        return True
    others = _others_held(adjudication)
    if others is None or (not runs.is_newest(run) and _is_in_use(others)):
        return False
    run.retired.all().delete()
    if adjudication.what_if is not None:
        findings.delete_what_if_findings(adjudication.what_if, adjudication.stream_id)
    before = _root_before(adjudication)
    runs.begin(adjudication, cause, corrections_through=corrections_through)
    _keep(adjudication, _run_of(adjudication), before)
    _return_to_beginning(adjudication, held)
    return True


def _goes_on_without(adjudication: Adjudication, run: AdjudicationRun, held: Collection[int]) -> bool:
    """Have a run go on from its cursor with the changes ``held`` without effect, and save that.

    Return False if one of those that had an effect until now changes an event that the run has folded.
    """
    state = State.from_bytes(bytes(adjudication.state))
    known = Corrections(stream_reader.corrections_of(adjudication.stream_id, known_through=run.corrections_through))
    if min(map(known.entry_of, set(held) - state.corrections.held)) <= adjudication.cursor:
        return False
    state.table.held = sorted(held)
    adjudication.state = state.to_bytes()
    adjudication.save()
    return True


def _return_to_beginning(adjudication: Adjudication, held: Collection[int] = ()) -> None:
    """Save an adjudication as one of a run that has read nothing yet, but knows which acts have no effect."""
    adjudication.known_ids = {}
    adjudication.cursor = adjudication.events = 0
    adjudication.next_seq = 1
    adjudication.state = State(held=held).to_bytes() if held else b""
    adjudication.memory = b""
    adjudication.closed = False
    adjudication.save()


def fold(state: State, events: Sequence[Event], interceptors: Interceptors = NOT_INTERCEPTED) -> list[Finding]:
    """Fold ``events`` and return the findings they complete, with `late-after-close` for what follows the close.

    ``interceptors`` are those of ``State.feed_all``.
    """
    _feed(state, events, interceptors)
    return _found(state)


def _feed(state: State, events: Sequence[Event], interceptors: Interceptors) -> None:
    first_late = 0 if state.table.closed_by else len(events)
    first_late = next((index for index, event in enumerate(events) if type(event) is SessionClosed), first_late)
    state.feed_all(events[:first_late], interceptors)
    for event in events[first_late:]:
        was_closed = state.table.closed_by
        state.feed_all((event,), interceptors)
        if was_closed and not isinstance(event, EntryCorrected | EntryAnnulled | ExtensionEvent):
            find(state.table, "late-after-close", was_closed, event.seq, closed_seq=was_closed, event_type=event.type)


def _found(state: State) -> list[Finding]:
    """Return the findings since they were last forgotten."""
    # What says more than when it was raised, in this step or in an earlier one, is stored as it reads now.
    revised = {finding.ref: finding for finding in state.revised()}
    return [finding for finding in state.new_findings if finding.ref not in revised] + list(revised.values())


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
