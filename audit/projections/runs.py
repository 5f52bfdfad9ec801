"""Runs of sessions, held against the log: by which engine each session is judged, and whether what that finds stands.

    session.adjudicated, the newest of a session ─► run, why, engine ─┐
    audit_judging_run of a session ───────────────────────────────────┤ the same, and its findings stand, or a fault

``--deep`` adjudicates again what the judging run has found, if that run is of the engine that runs and its findings
stand: whoever says otherwise of a run keeps its session from being judged. Which run judges is asked of the function
that replay asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from django.utils import timezone

from audit.event_store import binary_copy
from audit.models import AdjudicationRun
from audit.projections.entries import Entry
from audit.projections.faults import WrongRow
from audit.projections.unread import READ_WITHIN

_JUDGING = "select audit_judging_run(s, null) from unnest(%b::bigint[]) s"


def wrong_runs(names: Mapping[int, str], adjudicated: Mapping[int, Entry]) -> Iterator[WrongRow]:
    """Yield what does not hold about the newest run of each session; ``adjudicated`` has its newest entry."""
    judging = judging_runs(adjudicated)
    now = timezone.now()
    for stream_id, entry in adjudicated.items():
        run = judging.get(stream_id)
        if run is None:
            yield WrongRow("run", f"no run judges it, and {entry.name} says one", names[stream_id])
            continue
        stated = (entry.number("run"), entry.text("cause"), entry.text("engine"))
        if (run.number, run.cause, run.engine_version) != stated:
            what = f"run {run.number} judges it, of engine {run.engine_version}, and {entry.name} says another"
            yield WrongRow("run", what, names[stream_id])
        elif not run.stands and entry.at + READ_WITHIN < now:
            yield WrongRow("run", "what its run finds does not stand, for more than a day", names[stream_id])


def judging_runs(stream_ids: Collection[int]) -> dict[int, AdjudicationRun]:
    """Return the run that judges each stream, by stream; those that none judges are left out."""
    rows = binary_copy.execute(_JUDGING, (sorted(stream_ids),))
    by_pk = AdjudicationRun.objects.in_bulk([pk for (pk,) in rows if pk is not None])
    return {run.stream_id: run for run in by_pk.values()}
