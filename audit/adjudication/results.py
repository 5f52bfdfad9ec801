"""The adjudication of a stream, put together from the projections: what the engine would answer in one run."""

from __future__ import annotations

from django.db.models import QuerySet

from audit.adjudication import retired_wagers
from audit.adjudication.stream_reader import Readings
from audit.corrections.decisions import approved_in
from audit.models import Adjudication, FindingStatus
from audit.models import Finding as FindingRow
from audit.register import in_force
from settlement import ENGINE_VERSION, State
from settlement import Adjudication as AdjudicationResult
from settlement.catalogue import RULES
from settlement.law_coverage.session import SessionSentence
from settlement.state import Wager

RAISED_BY_RECORD = [name for name, rule in RULES.items() if rule.raised_by == "record"]
"""Rules that the record raises, and not the engine: replay itself raises one of them, with its run."""


def standing(stream_id: int) -> Adjudication | None:
    """Return the standing adjudication of a stream, or None before its first step."""
    return _standing(stream_id).select_related("run").first()


def standing_readings(stream_id: int) -> Readings:
    """Return the readings that the standing adjudication of a stream reads by; before its first step, the newest."""
    found = _standing(stream_id).exclude(run=None).values_list("run__register_version").first()
    if found is None:
        return in_force.newest_readings(stream_id)
    return in_force.readings_of(stream_id, found[0])


def standing_approvals(stream_id: int) -> list[int] | None:
    """Return the corrections that the standing adjudication of a stream takes for approved, by seq; None for all.

    Before its first step, those that officers have approved by now.
    """
    found = _standing(stream_id).exclude(run=None).values_list("run__approved").first()
    if found is None:
        return approved_in(stream_id)
    approved: list[int] | None = found[0]
    return approved


def _standing(stream_id: int) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(stream_id=stream_id, engine_version=ENGINE_VERSION, what_if=None)


def answer_of(adjudication: Adjudication) -> AdjudicationResult:
    """Return the adjudication of a stream (section 6 of the event contract), as far as its cursor."""
    state = State.from_bytes(bytes(adjudication.state))
    in_play = state.table.wagers.copy()
    state.table.wagers.clear()
    state.recall(retired_wagers.retired(adjudication))
    state.table.wagers.update(in_play)
    in_order = sorted(state.table.wagers.values(), key=lambda wager: wager.placed_by)
    state.table.wagers = {wager.id: wager for wager in in_order}
    of_run = FindingRow.objects.filter(stream_id=adjudication.stream_id, run=adjudication.run_id).of_runs()
    # What reads otherwise since a later step is superseded by its own run.
    engine_findings = of_run.exclude(rule__in=RAISED_BY_RECORD).exclude(status=FindingStatus.SUPERSEDED)
    state.table.findings = [row.as_value() for row in engine_findings]
    return state.adjudication()


def coverage_of(adjudication: Adjudication) -> tuple[SessionSentence, ...]:
    """Return what of the law was checked in a session, sentence by sentence; nothing before the first step."""
    return State.from_bytes(bytes(adjudication.state)).adjudication().coverage() if adjudication.state else ()


def wager_of(stream_id: int, wager_id: str) -> Wager | None:
    """Return a wager of the standing adjudication, or None if it has none of that id."""
    adjudication = standing(stream_id)
    if adjudication is None or not adjudication.state:
        return None
    in_play = State.from_bytes(bytes(adjudication.state)).table.wagers.get(wager_id)
    if in_play is not None:
        return in_play
    return next(iter(retired_wagers.find(adjudication, {wager_id})), None)
