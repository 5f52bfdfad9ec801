"""Replay: one stream of the log through the law, from where it stopped.

    lock the cursor ─► read what follows it ─► fold ─► findings, outcomes, state, cursor ─► commit
         │                                              in one transaction
         └─ another worker holds it: leave it to that worker

A message to a worker is only a hint that a stream is dirty; the tables are the truth. A worker that dies anywhere has
committed a whole step or nothing, so the next one takes up at the cursor and finds the same things. Two workers never
fold one stream at once, and none waits for a stream that another holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from audit.adjudications import rows
from audit.log import read
from audit.models import Adjudication, LoggedStream
from settlement import ENGINE_VERSION, Event, Finding, NeedsReplay, State, decode
from settlement.events import EntryCorrected
from settlement.table import find
from settlement.wire import decode_all, next_seq_after

STEP_EVENTS = 5_000
"""Events folded in one transaction: enough to be cheap, few enough to lose little to a crash."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What one call of ``advance`` did. ``behind`` says that more of the stream may be waiting."""

    folded: int
    cursor: int
    behind: bool


def advance(stream_id: int) -> Progress | None:
    """Fold the next step of a stream and commit what it found. Return None where another worker has the stream."""
    Adjudication.objects.get_or_create(stream_id=stream_id, engine_version=ENGINE_VERSION)
    with transaction.atomic():
        adjudication = (
            Adjudication.objects.select_for_update(skip_locked=True)
            .filter(stream_id=stream_id, engine_version=ENGINE_VERSION)
            .first()
        )
        if adjudication is None:
            return None
        page = read.slice_of(stream_id, after=adjudication.cursor, limit=STEP_EVENTS)
        if not page:
            return Progress(folded=0, cursor=adjudication.cursor, behind=False)
        state = State.from_bytes(bytes(adjudication.state)) if adjudication.state else State()
        events = decode_all(raw for _, raw in page)
        try:
            found = _fold(state, events)
        except NeedsReplay:
            return _from_the_beginning(adjudication)
        rows.add_findings(_stream(stream_id), state, found, events)
        rows.write_outcomes(stream_id, state, since=adjudication.cursor)
        _save(adjudication, state, events[-1])
        return Progress(len(events), adjudication.cursor, behind=len(page) == STEP_EVENTS)


def _from_the_beginning(adjudication: Adjudication) -> Progress:
    """Fold the whole stream anew: a correction has changed what was folded before it."""
    stream_id = adjudication.stream_id
    corrections = [decode(raw) for raw in read.corrections_of(stream_id)]
    state = State(event for event in corrections if isinstance(event, EntryCorrected))
    stream = _stream(stream_id)
    kept: set[int] = set()
    folded = after = 0
    while page := read.slice_of(stream_id, after=after, limit=STEP_EVENTS):
        events = decode_all(raw for _, raw in page)
        kept |= rows.add_findings(stream, state, _fold(state, events), events)
        folded += len(events)
        after = events[-1].seq
    rows.supersede_findings(stream_id, state, kept)
    rows.write_outcomes(stream_id, state, since=0)
    _save(adjudication, state, events[-1])
    return Progress(folded, adjudication.cursor, behind=True)


def _fold(state: State, events: Iterable[Event]) -> list[Finding]:
    """Feed ``events`` and return what they complete, with what the record itself finds in them."""
    found: list[Finding] = []
    for event in events:
        was_closed = state.table.closed_by
        found += state.feed(event)
        if was_closed and not isinstance(event, EntryCorrected):
            find(state.table, "late-after-close", was_closed, event.seq, closed_seq=was_closed, event_type=event.type)
            found.append(state.table.findings[-1])
    return found


def _stream(stream_id: int) -> LoggedStream:
    return LoggedStream.objects.select_related("casino", "table").get(pk=stream_id)


def _save(adjudication: Adjudication, state: State, last: Event) -> None:
    table = state.table
    adjudication.cursor = last.seq
    adjudication.next_seq = next_seq_after(last)
    adjudication.events = table.events
    adjudication.ruleset = rows.known_ruleset(state)
    adjudication.readings_digest = state.readings_digest
    adjudication.closed = bool(table.closed_by)
    adjudication.state = state.to_bytes()
    adjudication.save()
