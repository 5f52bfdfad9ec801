"""The kinds of background job: their parameters, what each does, and its result.

    kind      params                                                  result
    verify    {first_day, last_day}, each optional                    how much was recomputed, the faults
    what_if   {name, readings, first_day, last_day, ruleset, tables}  the what-if run of that name
    export    {findings: [id, …], form, said: [text], language}       a file
    subject   {family, code}                                          a file

A worker that takes over a job starts it again, except a what-if run, whose streams go on from their cursors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from django.utils import timezone, translation
from django.utils.translation import gettext

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.event_store import read
from audit.exports.findings import NOWHERE, findings_by_id, findings_sheet
from audit.exports.lists import render_list
from audit.exports.subject import subject_file
from audit.models import Job, JobKind, JobState, LoggedStream, WhatIf
from audit.models.event_store import in_gaming_days
from audit.projections.verify import verify_derived
from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome, Phase
from audit.transparency.verify import one_snapshot, verify

MAX_OF_A_PART = 20
"""Faults of each part that a page lists; ``manage.py verify`` lists more."""

COUNTED = ("streams", "batches", "events", "leaves", "checkpoints")
"""What a verification counts, by the names of ``Outcome``."""


class Progress(Protocol):
    """Called with how much is done and how much there is in all; raises to stop the job.

    ``so_far`` says more, by kind: it is kept as ``so_far`` of the result while the job runs.
    """

    def __call__(self, done: int, total: int, so_far: Mapping[str, Any] | None = None) -> None: ...


@dataclass(slots=True)
class JobResult:
    """How a job ended. ``total`` is how much there was to do, ``file`` the content of an export."""

    state: JobState = JobState.DONE
    total: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    file: bytes | None = None
    file_name: str = ""


def _verify(job: Job, report: Progress) -> JobResult:
    """Recompute the record from its stored bytes, a casino's or all with the tree, and hold the tables against it."""
    params = job.params
    streams = in_gaming_days(LoggedStream.objects.order_by("stream_id"), params)
    if job.casino_id is not None:
        streams = streams.filter(casino_id=job.casino_id)
    stream_ids = list(streams.values_list("stream_id", flat=True))
    total = sum(read.last_seqs(stream_ids).values())
    is_whole = _is_whole(job)

    def report_phase(outcome: Outcome) -> None:
        counts = {name: getattr(outcome, name) for name in COUNTED}
        report(outcome.events, total, {"phase": str(outcome.phase), **counts})

    with one_snapshot():
        result = verify(
            signing_keys.verifiers("checkpoint"),
            streams=None if is_whole else stream_ids,
            with_tree=is_whole,
            decisions=[job.casino_id],
            progress=report_phase,
        )
        result.phase = Phase.TABLES
        report_phase(result)
        for fault in verify_derived(job.casino_id, result).faults:
            result.add(fault)
    return JobResult(total=result.events, result=_as_json(result))


def phases_of(job: Job) -> Sequence[Phase]:
    """Return the phases that a verification has: the tree and its signatures are of all casinos and all days."""
    return [each for each in Phase if _is_whole(job) or each not in (Phase.SIGNATURES, Phase.TREE)]


def _is_whole(job: Job) -> bool:
    return job.casino_id is None and not any(job.params.values())


def _as_json(result: Outcome) -> dict[str, Any]:
    counts = {name: getattr(result, name) for name in COUNTED}
    listed = [str(fault) for fault in result.listed(of_a_part=MAX_OF_A_PART)]
    unlisted = sum(result.counts.values()) - len(listed)
    return {**counts, "faults": listed, "unlisted": unlisted, "parts": dict(sorted(result.counts.items()))}


def _what_if(job: Job, report: Progress) -> JobResult:
    """Replay the streams of a what-if run, one after the other."""
    params = job.params
    first, last = (date.fromisoformat(params[name]) if params.get(name) else None for name in ("first_day", "last_day"))
    selection = Selection(
        job.casino.code if job.casino else None, first, last, params.get("ruleset"), tuple(params.get("tables", ()))
    )
    what_if = what_if_runs.begin(
        params["name"], readings=params["readings"], selection=selection, actor=job.officer.get_username()
    )
    streams = what_if_runs.streams_of(what_if)
    for completed, stream_id in enumerate(streams):
        report(completed, len(streams))

        def report_step(folded: int, completed: int = completed) -> None:
            report(completed, len(streams))

        what_if_runs.replay_one(what_if, stream_id, report_step)
    what_if_runs.end(WhatIf.objects.get(pk=what_if.pk))
    return JobResult(total=len(streams), result={"what_if": what_if.pk, "name": what_if.name})


def _export(job: Job, report: Progress) -> JobResult:
    """Render the file, in the language of the page on which it was requested.

    It has the findings of casinos whose record the officer may see at this moment, which is later than the request.
    """
    params = job.params
    scope, names = (Scope.of(job.officer, each) for each in (Capability.SEE_RECORD, Capability.SEE_NAMES))
    ids = params["findings"]
    names = NOWHERE if params["form"] == "json" else names  # JSON has ids alone, whoever asks
    with translation.override(params["language"]):
        sheet = findings_sheet(findings_by_id(ids, scope, names=names), lambda rows: report(rows, len(ids)))
        title = gettext("Findings")
        day = job.requested_at.date()
        name, body = render_list(sheet, params["form"], title=title, filters=params["said"], day=day)
    return JobResult(total=len(ids), result={"bytes": len(body)}, file=body, file_name=name)


def _subject(job: Job, report: Progress) -> JobResult:
    """Gather what the record of a casino holds of one id, for an officer who may see names there at this moment."""
    casino = job.casino
    seen = (Scope.of(job.officer, each) for each in (Capability.SEE_RECORD, Capability.SEE_NAMES))
    if casino is None or not all(scope.includes(casino.pk) for scope in seen):
        return JobResult(state=JobState.FAILED, error="The officer may not see names at this casino any more.")
    params = job.params
    name, body = subject_file(casino, params["family"], params["code"], at=timezone.now(), report=report)
    return JobResult(total=1, result={"bytes": len(body)}, file=body, file_name=name)


KINDS: Mapping[JobKind, Callable[[Job, Progress], JobResult]] = {
    JobKind.VERIFY: _verify,
    JobKind.WHAT_IF: _what_if,
    JobKind.EXPORT: _export,
    JobKind.SUBJECT: _subject,
}
