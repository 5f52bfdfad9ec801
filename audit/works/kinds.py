"""What long work can be asked for, and how each kind is done.

    kind     asked                                                    what comes of it
    verify   {first_day, last_day}, each optional                     how much was recomputed, what does not hold
    beside   {name, readings, first_day, last_day, ruleset}           the replay of that name
    export   {findings: [id, …], form, said: [words], language}       a file

Each is begun anew by a worker that takes it over, except a replay beside, whose streams go on where they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from django.utils import translation
from django.utils.translation import gettext

from audit.adjudications import beside as besides
from audit.adjudications.beside import Selection
from audit.log import keys, read
from audit.log.verify import Outcome, verify
from audit.models import Beside, LoggedStream, Work, WorkKind, WorkState
from audit.models.log import of_days
from audit.works.files import findings_of, findings_sheet, made

MOST_FAULTS = 200
"""Faults that a page lists; ``manage.py verify`` lists more."""

Tell: TypeAlias = Callable[[int, int], None]
"""Takes how much is done and how much there is to do; ends the work by an exception where it is to stop."""


@dataclass(slots=True)
class Made:
    """What came of a piece of work."""

    state: WorkState = WorkState.DONE
    total: int = 0
    outcome: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    file: bytes | None = None
    file_name: str = ""


def _verified(work: Work, tell: Tell) -> Made:
    """Recompute the record from its stored bytes: of a house its streams, of every house the tree as well."""
    asked = work.asked
    streams = of_days(LoggedStream.objects.order_by("stream_id"), asked)
    if work.casino_id is not None:
        streams = streams.filter(casino_id=work.casino_id)
    wanted = list(streams.values_list("stream_id", flat=True))
    total = sum(read.heads_of(wanted).values())
    is_whole = work.casino_id is None and not any(asked.values())
    outcome = verify(
        keys.verifiers("checkpoint"),
        keys.origin(),
        streams=None if is_whole else wanted,
        with_tree=is_whole,
        progress=lambda so_far: tell(so_far.events, total),
    )
    return Made(total=outcome.events, outcome=_said(outcome))


def _said(outcome: Outcome) -> dict[str, Any]:
    counted = {name: getattr(outcome, name) for name in ("streams", "batches", "events", "leaves", "checkpoints")}
    unlisted = outcome.unlisted + max(0, len(outcome.faults) - MOST_FAULTS)
    return {**counted, "faults": [str(fault) for fault in outcome.faults[:MOST_FAULTS]], "unlisted": unlisted}


def _replayed_beside(work: Work, tell: Tell) -> Made:
    """Replay the streams beside the standing adjudication, one after the other."""
    asked = work.asked
    first, last = (date.fromisoformat(asked[name]) if asked.get(name) else None for name in ("first_day", "last_day"))
    selection = Selection(work.casino.code if work.casino else None, first, last, asked.get("ruleset"))
    beside = besides.begin(
        asked["name"], readings=asked["readings"], selection=selection, actor=work.officer.get_username()
    )
    streams = besides.streams_of(beside)
    for place, stream_id in enumerate(streams):
        tell(place, len(streams))
        besides.replay_one(beside, stream_id, lambda folded, place=place: tell(place, len(streams)))  # type: ignore[misc]
    besides.end(Beside.objects.get(pk=beside.pk))
    return Made(total=len(streams), outcome={"beside": beside.pk, "name": beside.name})


def _exported(work: Work, tell: Tell) -> Made:
    """Make the file that was asked for, in the language of the page it was asked on."""
    asked = work.asked
    ids = asked["findings"]
    with translation.override(asked["language"]):
        sheet = findings_sheet(findings_of(ids), lambda rows: tell(rows, len(ids)))
        title = gettext("Findings")
        name, body = made(sheet, asked["form"], title=title, said=asked["said"], day=work.asked_at.date())
    return Made(total=len(ids), outcome={"bytes": len(body)}, file=body, file_name=name)


KINDS: Mapping[WorkKind, Callable[[Work, Tell], Made]] = {
    WorkKind.VERIFY: _verified,
    WorkKind.BESIDE: _replayed_beside,
    WorkKind.EXPORT: _exported,
}
