"""Answers put together from the tables: what the engine would answer if it had kept everything."""

from __future__ import annotations

from audit.adjudication import retired_wagers
from audit.models import Adjudication
from audit.models import Finding as FindingRow
from settlement import ENGINE_VERSION, State
from settlement import Adjudication as Answer
from settlement.catalogue import RULES
from settlement.state import Wager

INTEGRITY_RULES = [name for name, rule in RULES.items() if rule.raised_by == "record"]
"""Rules that the engine does not know of: their findings are read by themselves."""


def standing(stream_id: int) -> Adjudication | None:
    """Return the standing adjudication of a stream, None before its first step."""
    return Adjudication.objects.filter(stream_id=stream_id, engine_version=ENGINE_VERSION, what_if=None).first()


def answer_of(adjudication: Adjudication) -> Answer:
    """Return the whole answer to a stream, as far as it is adjudicated."""
    state = State.from_bytes(bytes(adjudication.state))
    in_play = state.table.wagers.copy()
    state.table.wagers.clear()
    state.recall(retired_wagers.retired(adjudication))
    state.table.wagers.update(in_play)
    in_order = sorted(state.table.wagers.values(), key=lambda wager: wager.placed_by)
    state.table.wagers = {wager.id: wager for wager in in_order}
    found = FindingRow.objects.filter(
        stream_id=adjudication.stream_id, engine_version=adjudication.engine_version, run=adjudication.run
    ).exclude(rule__in=INTEGRITY_RULES)
    state.table.findings = [row.as_value() for row in found]
    return state.adjudication()


def wager_of(stream_id: int, wager_id: str) -> Wager | None:
    """Return one wager as the standing adjudication has it, None where it has none of that id."""
    adjudication = standing(stream_id)
    if adjudication is None or not adjudication.state:
        return None
    in_play = State.from_bytes(bytes(adjudication.state)).table.wagers.get(wager_id)
    if in_play is not None:
        return in_play
    return next(iter(retired_wagers.find(adjudication, {wager_id})), None)
