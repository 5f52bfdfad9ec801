"""Runs of sessions, held against the log: by which engine each session is judged, and whether what that finds stands.

    session.adjudicated, the newest of a session ─► run, why, engine ─┐
    audit_judging_run of a session ───────────────────────────────────┤ the same, and its findings stand, or a fault
    session.adjudicated, the newest of each run ──────────────────────┤ there is one, and it says the same, or a fault
    numbers from 1 on, without a gap ─────────────────────────────────┘

``--deep`` adjudicates again what the judging run has found, if its engine is the one that runs and its findings
stand: whoever says otherwise of a run keeps its session from being judged. Which run judges is asked of the function
that replay asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from django.db.models import Q
from django.utils import timezone

from audit.event_store import binary_copy
from audit.models import FIRST_SANDBOX_ID, Adjudication, AdjudicationRun, RunState
from audit.projections.entries import Entry
from audit.projections.faults import WrongRow
from audit.projections.unread import READ_WITHIN
from audit.register import in_force

_JUDGING = "select s, audit_judging_run(s, null) from unnest(%b::bigint[]) s"


def wrong_runs(
    casino_id: int | None,
    ids: Mapping[int, tuple[str, int]],
    adjudicated: Mapping[int, Entry],
    by_run: Mapping[int, Mapping[int, Entry]],
) -> Iterator[WrongRow]:
    """Yield what does not hold about the runs of the sessions of a casino, of every casino for None.

    ``ids`` has the name and casino of each session, ``adjudicated`` its newest entry, ``by_run`` that of each of its
    runs by number.
    """
    judging = judging_runs(ids)
    now = timezone.now()
    for stream_id, entry in adjudicated.items():
        run = judging.get(stream_id)
        name = ids[stream_id][0]
        if run is None:
            yield WrongRow("run", f"no run judges it, and {entry.name} says one", name)
            continue
        stated = (entry.number("run"), entry.text("cause"), entry.text("engine"))
        if (run.number, run.cause, run.engine_version) != stated:
            what = f"run {run.number} judges it, of engine {run.engine_version}, and {entry.name} says another"
            yield WrongRow("run", what, name)
        elif not run.stands and entry.at + READ_WITHIN < now:
            yield WrongRow("run", "what its run finds does not stand, for more than a day", name)
    runs: dict[int, list[AdjudicationRun]] = {}
    standing = AdjudicationRun.objects.filter(stream__lt=FIRST_SANDBOX_ID, what_if=None).order_by("stream", "number")
    for row in standing if casino_id is None else standing.filter(Q(casino=casino_id) | Q(stream__in=ids)):
        runs.setdefault(row.stream_id, []).append(row)
    snapshots = _snapshots()
    for stream_id, (name, of_casino) in ids.items():
        of_stream = runs.pop(stream_id, [])
        judge = judging.get(stream_id)
        for what in _wrong(of_stream, judge, of_casino, by_run.get(stream_id, {})):
            yield WrongRow("run", what, name)
        read_by = [] if judge is None else snapshots.get(judge.pk, [])
        if judge is not None and read_by != [(stream_id, judge.engine_version)]:
            yield WrongRow("session", f"run {judge.number} judges it, and has {len(read_by)} snapshots of it", name)
    for stream_id, of_none in runs.items():
        yield WrongRow("run", f"{len(of_none)} runs are stored of stream {stream_id}, which is no session")


def _snapshots() -> dict[int, list[tuple[int, str]]]:
    """Return the session and engine of each snapshot of the standing adjudication, by its run."""
    found: dict[int, list[tuple[int, str]]] = {}
    rows = Adjudication.objects.filter(what_if=None).exclude(run=None)
    for run, stream_id, engine in rows.order_by("pk").values_list("run", "stream", "engine_version"):
        if run is not None:
            found.setdefault(run, []).append((stream_id, engine))
    return found


def _wrong(
    runs: Collection[AdjudicationRun], judge: AdjudicationRun | None, casino_id: int, stated: Mapping[int, Entry]
) -> Iterator[str]:
    """Yield what does not hold about the runs of a session, in the order of their numbers."""
    numbers = [run.number for run in runs]
    if numbers != list(range(1, len(runs) + 1)) or not {*stated} <= {*numbers}:
        missing = sorted({*range(1, len(runs) + 1), *stated} - {*numbers})
        yield f"its runs are {_listed(numbers)}" + (f", and {_listed(missing)} is missing" if missing else "")
    for run in runs:
        altered = [what for what, holds in _compared(run, judge, casino_id, stated.get(run.number)) if not holds]
        if altered:
            yield f"run {run.number} is not what the log says: {', '.join(altered)}"


def _compared(
    run: AdjudicationRun, judge: AdjudicationRun | None, casino_id: int, entry: Entry | None
) -> Iterator[tuple[str, bool]]:
    yield "casino_id", run.casino_id == casino_id
    yield "state", _is_possible(run, judge)
    if entry is None:
        return
    yield "cause", run.cause == entry.text("cause")
    yield "engine_version", run.engine_version == entry.text("engine")
    if not entry.number("last_seq"):  # until it has read something a run may be begun anew, as the same run
        return
    yield "register_version", _reads_as(run, entry.number("register"))
    yield "corrections_through", run.corrections_through == entry.number("corrections_through")
    yield "approved", entry.data.get("approved", run.approved) == run.approved


def _is_possible(run: AdjudicationRun, judge: AdjudicationRun | None) -> bool:
    """Whether a run may be in its state: the newest judges, one before it is complete or superseded."""
    match run.state:
        case RunState.RUNNING:
            return run == judge and run.completed_at is None
        case RunState.FAILED:
            return run == judge and None not in (run.failed_at, run.next_try_at)
        case RunState.COMPLETE:
            is_replaced = run != judge and (judge is None or judge.completed_at is not None)
            return run.completed_at is not None and not is_replaced
        case _:
            return judge is not None and run.number < judge.number


def _reads_as(run: AdjudicationRun, stated: int) -> bool:
    """Whether a run reads by the version that an entry says, or by a later one that says the same of the session."""
    version = run.register_version or 0
    if version == stated:
        return True
    if not stated < version <= in_force.newest_version(run.casino_id):
        return False
    return in_force.readings_of(run.stream_id, version) == in_force.readings_of(run.stream_id, stated)


def _listed(numbers: Collection[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def judging_runs(stream_ids: Collection[int]) -> dict[int, AdjudicationRun]:
    """Return the run that judges each stream, by stream; those that none judges are left out."""
    rows = binary_copy.execute(_JUDGING, (sorted(stream_ids),))
    judges = {pk: stream_id for stream_id, pk in rows if pk is not None}
    return {judges[pk]: run for pk, run in AdjudicationRun.objects.in_bulk([*judges]).items()}
