"""Running long work: under a lease, telling how far it is, stopping when an officer says so.

    asked for ─► hint to a worker ─► lease taken ─► done step by step ─► ended: done, failed or stopped
                                          │
                     the worker dies: its lease runs out, and the sweep hands the work to another

What the work reads it may read in one long transaction. So a thread with a connection of its own writes down how far it
is, and reads whether somebody asked it to stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from uuid import UUID, uuid4

import structlog
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from audit.event_store import audit_trail
from audit.jobs import kinds
from audit.models import Job, JobKind, JobState

LEASE = timedelta(seconds=30)
"""How long a worker that is no longer seen keeps its work."""

REPORT_EVERY_S = 0.5

MAX_ERROR = 2_000

log = structlog.get_logger(__name__)


class Stopped(Exception):
    """An officer asked for the work to stop, or another worker has taken it."""


class ProgressReporter:
    """Says how far a piece of work is, as its runner, and raises ``Stopped`` where it is to go no further."""

    def __init__(self, job: Job, runner: UUID) -> None:
        self._of_runner = Job.objects.filter(pk=job.pk, runner=runner, state=JobState.RUNNING)
        self._done, self._total = 0, 0
        self._is_stopped = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name=f"work {job.pk}", daemon=True)

    def __enter__(self) -> ProgressReporter:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def tell(self, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` is done; raise ``Stopped`` where that is enough."""
        self._done, self._total = done, total
        if self._is_stopped:
            raise Stopped

    def counts(self) -> dict[str, int]:
        return {"done": self._done, "total": self._total}

    def _tell(self) -> None:
        try:
            while not self._ended.wait(REPORT_EVERY_S):
                self._once()
        finally:
            connection.close()

    def _once(self) -> None:
        try:
            is_held = self._of_runner.update(heartbeat_at=timezone.now(), **self.counts())
            if not is_held or self._of_runner.exclude(stopped_by=None).exists():
                self._is_stopped = True
        except Exception as error:  # the work goes on; what it cannot say, the lease says
            log.warning("progress not told", error=str(error))
            connection.close()


def run(job_id: int) -> None:
    """Do a piece of work to its end, unless it is done or another worker has it."""
    runner = uuid4()
    job = _lease(job_id, runner)
    if job is None:
        return
    with ProgressReporter(job, runner) as watch:
        made = kinds.JobResult(state=JobState.STOPPED) if job.stopped_by_id else _do(job, watch.tell)
    ended = Job.objects.filter(pk=job.pk, runner=runner, state=JobState.RUNNING).update(
        state=made.state,
        ended_at=timezone.now(),
        result=made.result,
        error=made.error[:MAX_ERROR],
        file=made.file,
        file_name=made.file_name,
        **(watch.counts() if made.state != JobState.DONE else {"done": made.total, "total": made.total}),
    )
    if ended:
        about = {"id": job.pk, "kind": job.kind, "state": str(made.state)}
        audit_trail.record(
            job.officer.get_username(), "work.ended", casino_id=job.casino_id or audit_trail.INSTALLATION, data=about
        )


def abandoned() -> list[int]:
    """Return the work that waits for a worker, or was left by one."""
    before = timezone.now() - LEASE
    waits = Q(state=JobState.WAITING, requested_at__lt=before) | Q(state=JobState.RUNNING, heartbeat_at__lt=before)
    return list(Job.objects.filter(waits).order_by("pk").values_list("pk", flat=True))


def _lease(job_id: int, runner: UUID) -> Job | None:
    """Take a piece of work, None where that is not to be."""
    now = timezone.now()
    free = Q(state=JobState.WAITING) | Q(state=JobState.RUNNING, heartbeat_at__lt=now - LEASE)
    taken = Job.objects.filter(free, pk=job_id).update(
        state=JobState.RUNNING, runner=runner, started_at=now, heartbeat_at=now, done=0, total=0
    )
    return Job.objects.select_related("officer", "casino").get(pk=job_id) if taken else None


def _do(job: Job, tell: Callable[[int, int], None]) -> kinds.JobResult:
    try:
        return kinds.KINDS[JobKind(job.kind)](job, tell)
    except Stopped:
        return kinds.JobResult(state=JobState.STOPPED)
    except Exception as error:
        log.exception("work failed", job=job.pk, kind=job.kind)
        return kinds.JobResult(state=JobState.FAILED, error=f"{type(error).__name__}: {error}")
