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

from audit.log import acts
from audit.models import Work, WorkKind, WorkState
from audit.works import kinds

LEASE = timedelta(seconds=30)
"""How long a worker that is no longer seen keeps its work."""

TOLD_EVERY_S = 0.5

MOST_TROUBLE = 2_000

log = structlog.get_logger(__name__)


class Stopped(Exception):
    """An officer asked for the work to stop, or another worker has taken it."""


class Watch:
    """Says how far a piece of work is, as its runner, and raises ``Stopped`` where it is to go no further."""

    def __init__(self, work: Work, runner: UUID) -> None:
        self._of_runner = Work.objects.filter(pk=work.pk, runner=runner, state=WorkState.RUNNING)
        self._done, self._total = 0, 0
        self._is_stopped = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name=f"work {work.pk}", daemon=True)

    def __enter__(self) -> Watch:
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
            while not self._ended.wait(TOLD_EVERY_S):
                self._once()
        finally:
            connection.close()

    def _once(self) -> None:
        try:
            is_held = self._of_runner.update(seen_at=timezone.now(), **self.counts())
            if not is_held or self._of_runner.exclude(stopped_by=None).exists():
                self._is_stopped = True
        except Exception as error:  # the work goes on; what it cannot say, the lease says
            log.warning("progress not told", error=str(error))
            connection.close()


def run(work_id: int) -> None:
    """Do a piece of work to its end, unless it is done or another worker has it."""
    runner = uuid4()
    work = _lease(work_id, runner)
    if work is None:
        return
    with Watch(work, runner) as watch:
        made = kinds.Made(state=WorkState.STOPPED) if work.stopped_by_id else _do(work, watch.tell)
    ended = Work.objects.filter(pk=work.pk, runner=runner, state=WorkState.RUNNING).update(
        state=made.state,
        ended_at=timezone.now(),
        outcome=made.outcome,
        trouble=made.trouble[:MOST_TROUBLE],
        file=made.file,
        file_name=made.file_name,
        **(watch.counts() if made.state != WorkState.DONE else {"done": made.total, "total": made.total}),
    )
    if ended:
        about = {"id": work.pk, "kind": work.kind, "state": str(made.state)}
        acts.record(
            work.officer.get_username(), "work.ended", casino_id=work.casino_id or acts.INSTALLATION, data=about
        )


def abandoned() -> list[int]:
    """Return the work that waits for a worker, or was left by one."""
    before = timezone.now() - LEASE
    waits = Q(state=WorkState.WAITING, asked_at__lt=before) | Q(state=WorkState.RUNNING, seen_at__lt=before)
    return list(Work.objects.filter(waits).order_by("pk").values_list("pk", flat=True))


def _lease(work_id: int, runner: UUID) -> Work | None:
    """Take a piece of work, None where that is not to be."""
    now = timezone.now()
    free = Q(state=WorkState.WAITING) | Q(state=WorkState.RUNNING, seen_at__lt=now - LEASE)
    taken = Work.objects.filter(free, pk=work_id).update(
        state=WorkState.RUNNING, runner=runner, begun_at=now, seen_at=now, done=0, total=0
    )
    return Work.objects.select_related("officer", "casino").get(pk=work_id) if taken else None


def _do(work: Work, tell: Callable[[int, int], None]) -> kinds.Made:
    try:
        return kinds.KINDS[WorkKind(work.kind)](work, tell)
    except Stopped:
        return kinds.Made(state=WorkState.STOPPED)
    except Exception as error:
        log.exception("work failed", work=work.pk, kind=work.kind)
        return kinds.Made(state=WorkState.FAILED, trouble=f"{type(error).__name__}: {error}")
