"""Findings, held against the log.

    session.adjudicated, the newest of a session ─► the root of what runs have found there ─┐
    findings.kept, the newest of a session and its rules ─► the root of the others ─────────┤ the same, or a fault
    audit_finding, session by session ─► leaves ────────────────────────────────────────────┘

Every step of a replay that changes a finding enters the new root in its own transaction, so rows and newest entry agree
at every instant. An entry says what was stored, and the law whether that was right: ``deep`` adjudicates each session
again from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import F
from django.utils import timezone

from audit.adjudication import clocks, noted, replay, stream_reader
from audit.adjudication.findings import as_row, instants_of
from audit.event_store import archived, binary_copy, read
from audit.models import (
    FIRST_SANDBOX_ID,
    Adjudication,
    AdjudicationRun,
    Finding,
    FindingStatus,
    LoggedStream,
    WitnessState,
)
from audit.projections.entries import Entry, entries
from audit.projections.faults import WrongRow
from audit.projections.figures import wrong_figures
from audit.projections.runs import judging_runs, wrong_runs
from audit.projections.snapshots import Read, wrong_snapshot
from audit.projections.unread import READ_WITHIN, unread_sessions
from audit.transparency.kept_findings import ADJUDICATED, KEPT, KeptRow, root_of, rows_of
from settlement import ENGINE_VERSION, State
from settlement import Finding as Found
from settlement.codec import next_seq_after
from settlement.corrections import changes_in
from settlement.interceptors import NOT_INTERCEPTED
from settlement.persons.session import PersonsProjection
from settlement.streams import with_held

TAMPERED = "log-tampered"
"""The finding of the sequencer, which may not write into the log: verification itself says whether it is right."""


NOTHING = root_of([])


@dataclass(slots=True)
class _Kept:
    """What the log keeps of one session: of what runs found, and of others by their rules, the newest entry of each.

    ``unfollowed`` are the entries that were not made of what the one before had left.
    """

    adjudicated: Entry | None = None
    by_run: dict[int, Entry] = field(default_factory=dict)
    unfollowed: list[Entry] = field(default_factory=list)
    others: dict[frozenset[str], Entry] = field(default_factory=dict)

    def keep_adjudicated(self, entry: Entry) -> None:
        """Take an entry in place of the earlier one. Those before 1.0 do not say what was stored before."""
        left = NOTHING if self.adjudicated is None else self.adjudicated.text("root")
        if entry.data.get("before", left) != left:
            self.unfollowed.append(entry)
        self.adjudicated = self.by_run[entry.number("run")] = entry

    def keep_others(self, entry: Entry) -> None:
        """Take an entry in place of the earlier ones of its rules: a later version may enter more rules together."""
        stated = entry.data.get("rules", [])
        rules = frozenset(map(str, stated)) if isinstance(stated, list) else frozenset()
        self.others = {each: kept for each, kept in self.others.items() if not each <= rules} | {rules: entry}


@dataclass(slots=True)
class Figures:
    """How much was held against the log: rows, sessions adjudicated again, those that are in an archive and were not,
    those that were not for another reason, by name, casinos, tables and roles of which no entry says what they are, and
    batches that came just after their key had ended.
    """

    findings: int = 0
    again: int = 0
    away: int = 0
    unstated: int = 0
    late_batches: int = 0
    passed_over: dict[str, str] = field(default_factory=dict)


def wrong_findings(
    casino_id: int | None,
    tampered: frozenset[tuple[str, int]],
    figures: Figures,
    *,
    deep: bool = False,
    progress: Callable[[Figures], None] = lambda figures: None,
) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino's findings, every casino's for None.

    ``tampered`` are the batches that verification found altered, as session and first number. ``progress`` is called
    after each session; the events of one are in memory, and no more.
    """
    kept = _kept(casino_id)
    ids = _stream_ids(casino_id)
    adjudicated = {each: own.adjudicated for each, own in _of_ids(ids, kept) if own.adjudicated is not None}
    by_run = {each: own.by_run for each, own in _of_ids(ids, kept)}
    yield from wrong_runs(casino_id, ids, adjudicated, by_run)
    yield from unread_sessions(ids, adjudicated)
    yield from _superseded_elsewhere(casino_id)
    is_refused = WitnessState.objects.exclude(refused_at=None).exists()
    for stream_id, rows in _by_stream(casino_id, ids):
        if stream_id not in ids:
            figures.findings += len(rows)
            yield from _of_no_session(stream_id, rows)
            continue
        name, of_casino = ids[stream_id]
        of_stream = kept.get((of_casino, name), _Kept())
        figures.findings += len(rows)
        of_runs = [row for row in rows if row.is_of_run]
        yield from _of_runs(stream_id, name, of_runs, of_stream, figures, deep=deep)
        others = [row for row in rows if not row.is_of_run and row.rule != TAMPERED]
        yield from _of_others(name, others, of_stream)
        if not is_refused:  # a witness's refusal is such a finding, too
            yield from _of_sequencer(name, [row for row in rows if row.rule == TAMPERED], tampered)
        progress(figures)


def _superseded_elsewhere(casino_id: int | None) -> Iterator[WrongRow]:
    """Name the findings that a run of another session, or of a what-if, is said to supersede.

    The root of a session has the number of a run alone, which another session's may have, too.
    """
    found = Finding.objects.filter(stream__lt=FIRST_SANDBOX_ID).exclude(superseded_by_run=None)
    elsewhere = found.exclude(superseded_by_run__stream=F("stream"), superseded_by_run__what_if=None)
    rows = elsewhere if casino_id is None else elsewhere.filter(casino=casino_id)
    for rule, name, seq in rows.order_by("pk").values_list("rule", "stream__name", "seq"):
        yield WrongRow("finding", f"{rule} is said to be superseded by a run that is not of its session", name, seq)


def _of_ids(ids: Mapping[int, tuple[str, int]], kept: Mapping[tuple[int, str], _Kept]) -> Iterator[tuple[int, _Kept]]:
    return ((stream_id, kept.get((casino, name), _Kept())) for stream_id, (name, casino) in ids.items())


def _kept(casino_id: int | None) -> dict[tuple[int, str], _Kept]:
    kept: dict[tuple[int, str], _Kept] = {}
    for entry in entries(casino_id, (ADJUDICATED, KEPT)):
        of_stream = kept.setdefault((entry.casino_id, entry.text("stream")), _Kept())
        if entry.type == ADJUDICATED:
            of_stream.keep_adjudicated(entry)
            continue
        of_stream.keep_others(entry)
    return kept


def _stream_ids(casino_id: int | None) -> dict[int, tuple[str, int]]:
    """Return the sessions and counts of a casino that have a batch: name and casino, by stream id."""
    rows = binary_copy.execute(
        "select s.stream_id, s.name, s.casino_id"
        " from log.stream s join log.batch b on b.stream_id = s.stream_id and b.first_seq = 1"
        " where not s.is_of_desk and s.stream_id < %b::bigint and (%b::bigint is null or s.casino_id = %b::bigint)",
        (FIRST_SANDBOX_ID, casino_id, casino_id),
    )
    return {stream_id: (name, of_casino) for stream_id, name, of_casino in rows}


def _by_stream(casino_id: int | None, ids: Mapping[int, tuple[str, int]]) -> Iterator[tuple[int, list[KeptRow]]]:
    """Yield the rows of each session, and the sessions without any: one session's rows at a time are in memory."""
    found = Finding.objects.filter(stream__lt=FIRST_SANDBOX_ID)  # the log keeps none of a sandbox's
    if casino_id is not None:
        found = found.filter(casino=casino_id)
    without = set(ids)
    for stream_id, rows in groupby(rows_of(found), key=attrgetter("stream_id")):
        without.discard(stream_id)
        yield stream_id, list(rows)
    for stream_id in sorted(without):
        yield stream_id, []


def _of_no_session(stream_id: int, rows: list[KeptRow]) -> Iterator[WrongRow]:
    """Name the findings of a stream that officers' entries are in, or that has no first batch. The sequencer may find
    that such a stream was altered; verification names that itself."""
    stream = LoggedStream.objects.filter(pk=stream_id).first()
    name = stream.name if stream is not None else f"stream {stream_id}"
    for row in rows:
        if row.rule != TAMPERED:
            yield WrongRow("finding", f"{row.rule} is stored of a stream that is no session", name, row.seq)


# What runs found


def _of_runs(
    stream_id: int, name: str, rows: list[KeptRow], kept: _Kept, figures: Figures, *, deep: bool
) -> Iterator[WrongRow]:
    entry = kept.adjudicated
    for each in kept.unfollowed:
        what = f"what was stored before {each.name} is not what the entry before it says: somebody had changed it"
        yield WrongRow("finding", what, name)
    if entry is not None and root_of(rows) != entry.text("root"):
        yield from _differences(name, rows, entry)
    elif entry is None:
        for row in rows:
            yield WrongRow("finding", f"{row.rule} is stored, and no entry says so", name, row.seq)
    if deep:
        yield from _judged_again(stream_id, name, entry, figures)


def _judged_again(stream_id: int, name: str, entry: Entry | None, figures: Figures) -> Iterator[WrongRow]:
    """Adjudicate a session again. Where that is not done, ``figures`` has why; it is a fault where nothing excuses it.

    The log excuses a session that its newest entry has of another engine, one in an archive, and for a day after its
    entry one that is being read anew. ``unread_sessions`` has the sessions that no entry says to be read.
    """
    run = judging_runs([stream_id]).get(stream_id)
    if archived.month_of(stream_id) is not None:
        figures.away += 1
    elif (why := _why_not_judged(run)) is None:
        assert run is not None, "no run is a reason"
        figures.again += 1
        try:
            found, has_read = again(stream_id, run)
            yield from wrong_snapshot(name, run, has_read)
            yield from _against_the_law(stream_id, name, found)
            yield from wrong_figures(LoggedStream.objects.get(pk=stream_id), run, has_read.projection)
        except (msgspec.DecodeError, ObjectDoesNotExist) as error:  # no row of one session ends the reading of others
            yield WrongRow("session", f"its snapshot, or what is kept of it, cannot be read: {error}", name)
    else:
        figures.passed_over[name] = why
        if entry is not None and entry.text("engine") == ENGINE_VERSION and entry.at + READ_WITHIN < timezone.now():
            yield WrongRow("session", f"it was adjudicated, and is not adjudicated again: {why}", name)


def _why_not_judged(run: AdjudicationRun | None) -> str | None:
    if run is None:
        return "no run judges it"
    if run.engine_version != ENGINE_VERSION:
        return f"engine {run.engine_version} judged it"
    return None if run.stands else "its run is to replace another, and has not read it to its end"


def _differences(name: str, rows: list[KeptRow], entry: Entry) -> Iterator[WrongRow]:
    """Name the rows that are not what an entry says; by their marks, where the entry has them."""
    stated = _stated(entry)
    if len(stated) != entry.number("findings"):
        yield WrongRow("finding", f"what is stored has not the root that {entry.name} says, of {len(rows)} rows", name)
        return
    named = False
    for row in rows:
        if row.text in stated:
            del stated[row.text]
        else:
            named = True
            other = next((text for text in stated if _same_place(text, row)), None)
            if other is None:
                yield WrongRow("finding", f"{row.rule} is stored, and {entry.name} does not say so", name, row.seq)
            else:
                del stated[other]
                yield WrongRow("finding", f"{row.rule} is not what {entry.name} says", name, row.seq)
    for text in stated:
        named = True
        seq, rule, *_ = text.split(" ")
        yield WrongRow("finding", f"{rule} is missing, which {entry.name} says", name, int(seq))
    if not named:
        yield WrongRow("finding", f"what is stored has not the root that {entry.name} says", name)


def _stated(entry: Entry) -> dict[str, None]:
    rows = entry.data.get("rows", [])
    return dict.fromkeys(str(text) for text in rows) if isinstance(rows, list) else {}


def _same_place(text: str, row: KeptRow) -> bool:
    seq, rule, _status, _mark, *wager = text.split(" ")
    return (seq, rule, " ".join(wager)) == (str(row.seq), row.rule, row.wager)


def _against_the_law(stream_id: int, name: str, found: dict[tuple[int, str, str], Found]) -> Iterator[WrongRow]:
    """Name the rows that stand and say something else than ``found``, what the law finds in the session."""
    instants = instants_of(stream_id, list(found.values()))
    standing = Finding.objects.filter(stream=stream_id).of_runs().standing()
    for row in standing.order_by("seq", "rule", "wager", "pk"):
        finding = found.pop((row.seq, row.rule, row.wager), None)
        if finding is None:
            yield WrongRow("finding", f"{row.rule} stands, and the law does not find it", name, row.seq)
            continue
        content: dict[str, Any] = {**as_row(finding), "occurred_at": instants[finding.seq]}
        altered = [each for each, value in content.items() if getattr(row, each) != value]
        if altered:
            what = f"{row.rule} does not say what the law finds: {', '.join(altered)}"
            yield WrongRow("finding", what, name, row.seq)
    for seq, rule, _wager in found:
        yield WrongRow("finding", f"{rule} does not stand, and the law finds it", name, seq)


@stream_reader.gc_paused()
def again(stream_id: int, run: AdjudicationRun) -> tuple[dict[tuple[int, str, str], Found], Read]:
    """Return what the law finds in a session as far as ``run`` has read it, by number, rule and wager.

    With it what was read. By the corrections, approvals and readings that the run knows; nothing is stored.
    """
    adjudication = Adjudication.objects.filter(run=run).select_related("what_if").first()
    cursor = adjudication.cursor if adjudication is not None else 0
    last = min(cursor, read.next_seq_of(stream_id))  # a cursor beyond is a fault, and not a number to read to
    if adjudication is None or not cursor:
        return {}, Read(State(), 0, 1)
    with closing(stream_reader.pages(stream_id, 1, last)) as pages:
        # Read to the end before anything else is queried: the connection answers one statement at a time.
        events = [event for page in pages for event in page]
    known, readings = changes_in(events), replay.readings_of(adjudication, run)
    is_noted = noted.has_table(stream_id)

    def folded(held: frozenset[int]) -> tuple[dict[tuple[int, str, str], Found], Read]:
        state = State(known, readings, run.approved, held=held)
        projection = PersonsProjection.along(state) if is_noted else None
        found = _found(stream_id, state, events, projection)
        return found, Read(state, events[-1].seq, next_seq_after(events[-1]), projection)

    return with_held(known, folded)


def _found(
    stream_id: int, state: State, events: list[Any], projection: PersonsProjection | None
) -> dict[tuple[int, str, str], Found]:
    found: dict[tuple[int, str, str], Found] = {}
    interceptors = projection.interceptors if projection is not None else NOT_INTERCEPTED
    for event_page in _pages(events):
        raised = replay.fold(state, event_page, interceptors)
        if projection is not None:
            projection.hold()
        state.forget_findings()
        clocks.find_ahead(state.table, stream_id, event_page)
        for finding in (*raised, *state.table.findings):
            found[finding.seq, finding.rule, finding.wager or ""] = finding
        state.forget_findings()
    return found


def _pages(events: list[Any]) -> Iterator[list[Any]]:
    for at in range(0, len(events), replay.STEP_EVENTS):
        yield events[at : at + replay.STEP_EVENTS]


# What nights, the ledger and ingestion found


def _of_others(name: str, rows: list[KeptRow], kept: _Kept) -> Iterator[WrongRow]:
    covered: set[str] = set()
    for rules, entry in kept.others.items():
        covered.update(rules)
        of_entry = [row for row in rows if row.rule in rules]
        if root_of(of_entry) != entry.text("root"):
            yield from _differences(name, of_entry, entry)
    for row in rows:
        if row.rule not in covered:
            yield WrongRow("finding", f"{row.rule} is stored, and no entry says so", name, row.seq)


def _of_sequencer(name: str, rows: list[KeptRow], tampered: frozenset[tuple[str, int]]) -> Iterator[WrongRow]:
    for row in rows:
        if row.status != FindingStatus.STANDING:
            yield WrongRow("finding", f"{row.rule} is superseded, which nothing does", name, row.seq)
        elif (name, row.seq) not in tampered:
            yield WrongRow("finding", f"{row.rule} stands, and the batch is what was accepted", name, row.seq)
