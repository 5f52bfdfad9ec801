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

from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.event_store import read
from audit.exports.findings import findings_by_id, findings_sheet
from audit.exports.lists import render_list
from audit.models import Job, JobKind, JobState, LoggedStream, WhatIf
from audit.models.event_store import in_gaming_days
from audit.transparency import signing_keys
from audit.transparency.verify import Outcome, verify

MAX_FAULTS = 200
"""Faults that a page lists; ``manage.py verify`` lists more."""

Progress: TypeAlias = Callable[[int, int], None]
"""Takes how much is done and how much there is to do; ends the work by an exception where it is to stop."""


@dataclass(slots=True)
class JobResult:
    """What came of a piece of work."""

    state: JobState = JobState.DONE
    total: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    file: bytes | None = None
    file_name: str = ""


def _verified(job: Job, tell: Progress) -> JobResult:
    """Recompute the record from its stored bytes: of a house its streams, of every house the tree as well."""
    params = job.params
    streams = in_gaming_days(LoggedStream.objects.order_by("stream_id"), params)
    if job.casino_id is not None:
        streams = streams.filter(casino_id=job.casino_id)
    wanted = list(streams.values_list("stream_id", flat=True))
    total = sum(read.last_seqs(wanted).values())
    is_whole = job.casino_id is None and not any(params.values())
    result = verify(
        signing_keys.verifiers("checkpoint"),
        signing_keys.origin(),
        streams=None if is_whole else wanted,
        with_tree=is_whole,
        progress=lambda so_far: tell(so_far.events, total),
    )
    return JobResult(total=result.events, result=_said(result))


def _said(result: Outcome) -> dict[str, Any]:
    counted = {name: getattr(result, name) for name in ("streams", "batches", "events", "leaves", "checkpoints")}
    unlisted = result.unlisted + max(0, len(result.faults) - MAX_FAULTS)
    return {**counted, "faults": [str(fault) for fault in result.faults[:MAX_FAULTS]], "unlisted": unlisted}


def _replayed_what_if(job: Job, tell: Progress) -> JobResult:
    """Replay the streams beside the standing adjudication, one after the other."""
    params = job.params
    first, last = (date.fromisoformat(params[name]) if params.get(name) else None for name in ("first_day", "last_day"))
    selection = Selection(job.casino.code if job.casino else None, first, last, params.get("ruleset"))
    what_if = what_if_runs.begin(
        params["name"], readings=params["readings"], selection=selection, actor=job.officer.get_username()
    )
    streams = what_if_runs.streams_of(what_if)
    for place, stream_id in enumerate(streams):
        tell(place, len(streams))
        what_if_runs.replay_one(what_if, stream_id, lambda folded, place=place: tell(place, len(streams)))  # type: ignore[misc]
    what_if_runs.end(WhatIf.objects.get(pk=what_if.pk))
    return JobResult(total=len(streams), result={"what_if": what_if.pk, "name": what_if.name})


def _exported(job: Job, tell: Progress) -> JobResult:
    """Make the file that was asked for, in the language of the page it was asked on."""
    params = job.params
    ids = params["findings"]
    with translation.override(params["language"]):
        sheet = findings_sheet(findings_by_id(ids), lambda rows: tell(rows, len(ids)))
        title = gettext("Findings")
        day = job.requested_at.date()
        name, body = render_list(sheet, params["form"], title=title, filters=params["said"], day=day)
    return JobResult(total=len(ids), result={"bytes": len(body)}, file=body, file_name=name)


KINDS: Mapping[JobKind, Callable[[Job, Progress], JobResult]] = {
    JobKind.VERIFY: _verified,
    JobKind.WHAT_IF: _replayed_what_if,
    JobKind.EXPORT: _exported,
}
