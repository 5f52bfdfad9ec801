"""Running background jobs: under a lease, with heartbeat and progress, until they end or an officer stops them.

    enqueued ─► hint to a worker ─► lease taken ─► run step by step ─► ended: done, failed or stopped
                                         │
                    the worker dies: its lease expires, and the sweep gives the job to another

A job may read in one long transaction, in which it can neither store its progress nor see that it was stopped. So a
thread with a connection of its own does both, and extends the lease (heartbeat).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from audit.event_store import audit_trail
from audit.jobs import kinds
from audit.models import Job, JobKind, JobState

LEASE = timedelta(seconds=30)
"""How long a worker without a heartbeat keeps its job."""

REPORT_EVERY_S = 0.5

MAX_TRIES = 5
"""How often a job is begun: one whose workers all died would go on to end them for ever."""

MAX_ERROR = 2_000
"""Characters of an error that are stored."""

log = structlog.get_logger(__name__)


class Stopped(Exception):
    """An officer has stopped the job, or another worker has taken it."""


class ProgressReporter:
    """Stores the progress of a job for its runner while a ``with`` block runs it."""

    def __init__(self, job: Job, runner: UUID) -> None:
        self._held_job = Job.objects.filter(pk=job.pk, runner=runner, state=JobState.RUNNING)
        self._done, self._total = 0, 0
        self._so_far: Mapping[str, Any] | None = None
        self._is_stopped = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._store_until_ended, name=f"job {job.pk}", daemon=True)

    def __enter__(self) -> ProgressReporter:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def report(self, done: int, total: int, so_far: Mapping[str, Any] | None = None) -> None:
        """Note that ``done`` of ``total`` is done. Raise ``Stopped`` if the job is to go no further."""
        self._done, self._total, self._so_far = done, total, so_far
        if self._is_stopped:
            raise Stopped

    def counts(self) -> dict[str, int]:
        """Return what was reported last, by the names of the model's fields."""
        return {"done": self._done, "total": self._total}

    def _store_until_ended(self) -> None:
        try:
            while not self._ended.wait(REPORT_EVERY_S):
                self._store()
        finally:
            connection.close()

    def _store(self) -> None:
        result = {} if self._so_far is None else {"so_far": dict(self._so_far)}
        try:
            is_held = self._held_job.update(heartbeat_at=timezone.now(), result=result, **self.counts())
            if not is_held or self._held_job.exclude(stopped_by=None).exists():
                self._is_stopped = True
        except Exception as error:  # the job goes on; if this lasts, its lease expires
            log.warning("progress not stored", error=str(error))
            connection.close()


def run(job_id: int) -> None:
    """Run a job to its end, unless it has ended or another worker holds it."""
    runner = uuid4()
    job = _lease(job_id, runner)
    if job is None:
        return
    with ProgressReporter(job, runner) as reporter:
        outcome = kinds.JobResult(state=JobState.STOPPED) if job.stopped_by_id else _run(job, reporter.report)
    is_done = outcome.state == JobState.DONE
    was_held = Job.objects.filter(pk=job.pk, runner=runner, state=JobState.RUNNING).update(
        state=outcome.state,
        ended_at=timezone.now(),
        result=outcome.result,
        error=outcome.error[:MAX_ERROR],
        file=outcome.file,
        file_name=outcome.file_name,
        **({"done": outcome.total, "total": outcome.total} if is_done else reporter.counts()),
    )
    if was_held:
        audit_trail.record(
            job.officer.get_username(),
            "work.ended",
            casino_id=job.casino_id or audit_trail.INSTALLATION,
            data={"id": job.pk, "kind": job.kind, "state": str(outcome.state)},
        )


def abandoned() -> list[int]:
    """Return the ids of jobs that no worker has started in time, or whose lease has expired."""
    before = timezone.now() - LEASE
    waiting = Q(state=JobState.WAITING, requested_at__lt=before)
    expired = Q(state=JobState.RUNNING, heartbeat_at__lt=before)
    return list(Job.objects.filter(waiting | expired).order_by("pk").values_list("pk", flat=True))


def _lease(job_id: int, runner: UUID) -> Job | None:
    """Take the lease of a job and return the job, or None if it has ended or another worker holds it."""
    now = timezone.now()
    free = Q(state=JobState.WAITING) | Q(state=JobState.RUNNING, heartbeat_at__lt=now - LEASE)
    is_leased = Job.objects.filter(free, pk=job_id).update(
        state=JobState.RUNNING,
        runner=runner,
        started_at=now,
        heartbeat_at=now,
        done=0,
        total=0,
        result={},
        tries=F("tries") + 1,
    )
    return Job.objects.select_related("officer", "casino").get(pk=job_id) if is_leased else None


def _run(job: Job, report: kinds.Progress) -> kinds.JobResult:
    if job.tries > MAX_TRIES:
        error = f"WorkerLost: {MAX_TRIES} workers began it and none ended it"
        return kinds.JobResult(state=JobState.FAILED, error=error)
    try:
        return kinds.KINDS[JobKind(job.kind)](job, report)
    except Stopped:
        return kinds.JobResult(state=JobState.STOPPED)
    except Exception as error:
        log.exception("job failed", job=job.pk, kind=job.kind)
        return kinds.JobResult(state=JobState.FAILED, error=f"{type(error).__name__}: {error}")
