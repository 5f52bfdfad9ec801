"""Runs of sessions, held against the log: by which engine each session is judged, and whether what that finds stands.

    session.adjudicated, the newest of a session ─► run, why, engine ─┐
    audit_adjudicationrun, the newest of a session ───────────────────┤ the same, and under way or complete, or a fault

``--deep`` adjudicates again what the newest run has found, if that run is of the engine that runs and its findings
stand: whoever says otherwise of a run keeps its session from being judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.utils import timezone

from audit.models import AdjudicationRun
from audit.models.runs import CURRENT
from audit.projections.entries import Entry
from audit.projections.faults import WrongRow
from audit.projections.unread import READ_WITHIN


def wrong_runs(names: Mapping[int, str], adjudicated: Mapping[int, Entry]) -> Iterator[WrongRow]:
    """Yield what does not hold about the newest run of each session; ``adjudicated`` has its newest entry."""
    rows = AdjudicationRun.objects.filter(stream__in=list(adjudicated), what_if=None)
    newest = {run.stream_id: run for run in rows.order_by("stream", "-number").distinct("stream")}
    now = timezone.now()
    for stream_id, entry in adjudicated.items():
        run = newest.get(stream_id)
        if run is None:
            yield WrongRow("run", f"it has no run, and {entry.name} says one", names[stream_id])
            continue
        stated = (entry.number("run"), entry.text("cause"), entry.text("engine"))
        if (run.number, run.cause, run.engine_version) != stated:
            what = f"its newest run is {run.number}, of engine {run.engine_version}, and {entry.name} says another"
            yield WrongRow("run", what, names[stream_id])
        elif run.state not in CURRENT:
            yield WrongRow("run", f"its newest run is {run.state}, and no other has taken its place", names[stream_id])
        elif not run.stands and entry.at + READ_WITHIN < now:
            yield WrongRow("run", "what its newest run finds does not stand, for more than a day", names[stream_id])
