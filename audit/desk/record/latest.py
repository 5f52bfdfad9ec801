"""The newest rows of every list of the record, as the lists themselves show them to the officer.

Each section gives its own rows, as far as the officer may see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from audit.access.capabilities import Capability
from audit.corrections import waiting
from audit.desk.jobs.progress import PhaseLine, percentage, phase_of, phases, progress_text
from audit.desk.scoped_admin import scope_of
from audit.desk.sessions import session_of, table_name
from audit.models import Correction, FailedRun, Job, JobKind, JobState, Quarantined
from audit.models.jobs import OPEN
from audit.presentation import count, date_time, day, duration, finding_title, local, officer_name
from audit.transparency.outcome import Phase

SHOWN = 4
"""Rows of each list on the page."""


@dataclass(frozen=True, slots=True)
class JobLine:
    """A verification or an export: when it was requested and by whom, and in words what came of it.

    ``tag`` is the colour of ``found``: "ok", "bad", or "" where nothing is known yet. ``has_failed`` says that it broke
    off before it had read everything, which says nothing of what is stored; ``error`` is why.
    """

    pk: int
    requested: str
    casino: str
    officer: str
    took: str
    found: str
    tag: str
    file: str
    has_failed: bool
    error: str


@dataclass(frozen=True, slots=True)
class Running:
    """A verification that has not ended: how far it is, as its own page has it; ``of`` is its casino."""

    job: Job
    of: str
    text: str
    percentage: str
    phases: list[PhaseLine]


@dataclass(frozen=True, slots=True)
class Refused:
    """A request in quarantine, and until which day its bytes are kept; "" where they were deleted."""

    row: Quarantined
    session: str
    came: str
    kept_until: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction that took more than its table, and whether it waits for officers."""

    row: Correction
    title: str
    night: str
    table: str
    waits: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """A stream that cannot be judged, since when, when it is tried again, and whether the officer may try it now."""

    run: FailedRun
    since: str
    next_try: str
    may_try_again: bool


def verifications(request: HttpRequest) -> tuple[list[JobLine], JobLine | None]:
    """Return the newest verifications that officers requested, and the newest of all that ended.

    It may be behind many that wait. One that was stopped says nothing.
    """
    ended = (JobState.DONE, JobState.FAILED)
    newest = _newest(request, JobKind.VERIFY)
    last = next((job for job in newest if job.state in ended), None)
    if last is None and len(newest) == SHOWN:
        last = _all_jobs(request, JobKind.VERIFY).filter(state__in=ended).order_by("-requested_at").first()
    return [_line(job) for job in newest], _line(last) if last else None


def running(request: HttpRequest) -> Running | None:
    """Return the verification that a worker runs, the newest of several; else the newest that waits for one."""
    going_on = _all_jobs(request, JobKind.VERIFY).filter(state__in=OPEN)
    job = going_on.order_by("state", "-requested_at").first()  # in the order of the alphabet: running, waiting
    if job is None:
        return None
    has_share = job.state == JobState.RUNNING and job.total and phase_of(job) == Phase.EVENTS
    done = percentage(job) if has_share else ""
    return Running(job, str(job.casino or gettext("all casinos")), progress_text(job), done, phases(job))


def exports(request: HttpRequest) -> list[JobLine]:
    """Return the newest exports."""
    return [_line(job) for job in _newest(request, JobKind.EXPORT)]


def refused(request: HttpRequest) -> tuple[int, list[Refused]]:
    """Return how many requests are in quarantine, and the newest of them."""
    rows = _rows(request, Quarantined).select_related("casino").defer("body")
    shown = list(rows.order_by("-received_at")[:SHOWN])
    return _number(request, Quarantined, shown), [_refused(row) for row in shown]


def _refused(row: Quarantined) -> Refused:
    ends = local(row.received_at + timedelta(days=settings.CABOCHON_QUARANTINE_DAYS), row.casino)
    kept_until = "" if row.purged_at else day(ends.date())
    return Refused(row, session_of(row), date_time(row.received_at, row.casino), kept_until)


def corrected(request: HttpRequest) -> tuple[int, list[Corrected]]:
    """Return how many corrections wait for officers, and the newest of all."""
    rows = _rows(request, Correction)
    waits = frozenset(waiting.waiting(rows).values_list("pk", flat=True))
    shown = rows.select_related("stream", "table").order_by("-pk")[:SHOWN]
    return len(waits), [
        Corrected(row, finding_title(row.rule), day(row.stream.gaming_day), _table(row), row.pk in waits)
        for row in shown
    ]


def failed(request: HttpRequest) -> tuple[int, list[Failed]]:
    """Return how many streams cannot be judged, and those of them that wait longest."""
    scope = scope_of(request, Capability.WORK_CASES)
    shown = list(_rows(request, FailedRun).order_by("failed_at")[:SHOWN])
    return _number(request, FailedRun, shown), [
        Failed(
            run,
            date_time(run.failed_at, run.casino) if run.failed_at else "",
            date_time(run.next_try_at, run.casino) if run.next_try_at else "",
            scope.includes(run.casino_id),
        )
        for run in shown
    ]


def _table(row: Correction) -> str:
    return table_name(row.table.code if row.table is not None else "")


def _rows(request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
    return admin.site.get_model_admin(model).get_queryset(request)


def _number(request: HttpRequest, model: type[Model], shown: Sequence[Model]) -> int:
    """Return how many rows a list has, of which the first ``SHOWN`` are shown."""
    return len(shown) if len(shown) < SHOWN else _rows(request, model).count()


def _newest(request: HttpRequest, kind: JobKind) -> list[Job]:
    return list(_all_jobs(request, kind).order_by("-requested_at")[:SHOWN])


def _all_jobs(request: HttpRequest, kind: JobKind) -> QuerySet[Job]:
    rows: QuerySet[Job] = _rows(request, Job).filter(kind=kind).select_related("casino", "officer")
    return rows


def _line(job: Job) -> JobLine:
    found, tag = _found(job)
    return JobLine(
        job.pk,
        date_time(job.requested_at, job.casino),
        str(job.casino or gettext("all casinos")),
        officer_name(job.officer),
        duration((job.ended_at - job.started_at).total_seconds()) if job.started_at and job.ended_at else "",
        found,
        tag,
        job.file_name,
        job.state == JobState.FAILED,
        job.error,
    )


def _found(job: Job) -> tuple[str, str]:
    """Return in words what a job found or made, and the colour of it."""
    if job.state != JobState.DONE:
        return str(JobState(job.state).label), "bad" if job.state == JobState.FAILED else ""
    if job.kind != JobKind.VERIFY:
        return str(JobState.DONE.label), "ok"
    faults = len(job.result.get("faults", ())) + job.result.get("unlisted", 0)
    if faults:
        return ngettext("%(number)s fault", "%(number)s faults", faults) % {"number": count(faults)}, "bad"
    events = job.result.get("events", 0)
    if not events:
        return gettext("nothing to check"), ""
    text = ngettext("%(number)s event, no fault", "%(number)s events, no fault", events)
    return text % {"number": count(events)}, "ok"
