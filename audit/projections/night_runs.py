"""Reconciliations of nights, held against the audit trail: the newest one of a day says what need not be read again.

    night.started   who began which run of which day, and the digest of what it reads ─┐
    night.ended     that it has read that ─────────────────────────────────────────────┤ the row, or a fault

Before 1.0 an entry did not say what a run reads, and none said that it ended: of such a run that is taken as stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.models import NightRun
from audit.projections.entries import Entry, entries, is_same_instant
from audit.projections.faults import WrongRow
from audit.reconciliation.runs import through_digest

STARTED, ENDED = TYPES = ("night.started", "night.ended")


def wrong_night_runs(casino_id: int | None) -> Iterator[WrongRow]:
    """Yield what does not hold about the runs of a casino's nights, of every casino for None."""
    started: dict[tuple[int, int], Entry] = {}
    ended: dict[tuple[int, int], Entry] = {}
    says_what: set[int] = set()
    for entry in entries(casino_id, TYPES):
        (started if entry.type == STARTED else ended).setdefault((entry.casino_id, entry.number("run")), entry)
        if entry.text("through"):
            says_what.add(entry.casino_id)
        elif entry.type == STARTED and entry.casino_id in says_what:
            yield WrongRow("night run", f"{entry.name} does not say what run {entry.number('run')} reads")
    runs = NightRun.objects.select_related("casino").order_by("pk")
    for run in runs if casino_id is None else runs.filter(casino=casino_id):
        key = (run.casino_id, run.pk)
        for what in _wrong_run(run, started.pop(key, None), ended.get(key)):
            yield WrongRow("night run", f"run {run.pk} of {run.casino.code}, {run.gaming_day}: {what}")
    for entry in started.values():
        yield WrongRow("night run", f"run {entry.number('run')} is missing, which {entry.name} says was begun")


def _wrong_run(run: NightRun, started: Entry | None, ended: Entry | None) -> Iterator[str]:
    if started is None:
        yield "is stored, and no entry of the audit trail says that it was begun"
        return
    stored = (run.gaming_day.isoformat(), run.started_by)
    if stored != (started.text("gaming_day"), started.actor) or not is_same_instant(run.started_at, started.at):
        yield f"its day, who began it or when is not what {started.name} says"
    through = started.text("through")
    if through and through != through_digest(run):
        yield f"it is said to read other events than {started.name} says"
    if (through or ended) and not is_same_instant(run.ended_at, ended.at if ended else None):
        yield f"it ended at {run.ended_at}, and the audit trail says {ended.at if ended else 'that it goes on'}"
