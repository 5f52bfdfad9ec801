"""What the workers do. A task takes ids, and may run any number of times. Queues: settings."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import structlog
from celery import shared_task
from django.conf import settings
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.event_store import read
from audit.ingest import quarantine
from audit.jobs import runner
from audit.models import Casino, NightReport, NightRun
from audit.notifications import mail
from audit.reconciliation import runs, schedule, sessions
from audit.reconciliation.gaming_days import last_ended
from settlement import ENGINE_VERSION

log = structlog.get_logger(__name__)

STEPS_A_TASK = 20
"""Steps after which a task hands on to the next, so that none outlasts the broker's patience."""

SWEPT_AT_ONCE = 1_000


@shared_task(ignore_result=True)
def replay_stream(*, stream_id: int, **kwargs: Any) -> None:
    """Adjudicate what a stream has got since it was last looked at."""
    for _ in range(STEPS_A_TASK):
        progress = advance(stream_id)
        if progress is None or not progress.folded:
            return
        log.info("replayed", stream_id=stream_id, events=progress.folded, cursor=progress.cursor)
    replay_stream.delay(stream_id=stream_id)


@shared_task(ignore_result=True)
def sweep(**kwargs: Any) -> int:
    """Hint at every dirty stream, so that a lost hint delays a finding and never loses it. Return how many."""
    streams = read.dirty_streams(ENGINE_VERSION, limit=SWEPT_AT_ONCE)
    for stream_id in streams:
        replay_stream.delay(stream_id=stream_id)
    return len(streams)


@shared_task(ignore_result=True)
def purge_quarantine(**kwargs: Any) -> int:
    """Let go of the bytes of old refused requests. Return of how many."""
    purged = quarantine.purge(before=timezone.now() - timedelta(days=settings.CABOCHON_QUARANTINE_DAYS))
    log.info("purged", requests=purged)
    return purged


# Long work that officers asked for.


@shared_task(ignore_result=True)
def run_job(*, job_id: int, **kwargs: Any) -> None:
    """Do a piece of work, unless it is done or another worker has it."""
    runner.run(job_id)


@shared_task(ignore_result=True)
def sweep_jobs(**kwargs: Any) -> int:
    """Hint at work that waits, or that a worker left. Return how much."""
    left = runner.abandoned()
    for job_id in left:
        run_job.delay(job_id=job_id)
    return len(left)


# The night. Hints as well: what is to be done is read off the tables, by whoever gets one.

BUSY_AGAIN_S = 10
"""How long a session is left to the worker that adjudicates it."""

MAX_ERROR = 2_000

BEAT = "beat"
"""Who started a run that nobody started by hand."""


@shared_task(ignore_result=True)
def night_reconcile(*, casino_id: int, day: str | None = None, actor: str = BEAT, **kwargs: Any) -> None:
    """Begin or take up the reconciliation of a gaming day; of the last that is over, unless told."""
    casino = Casino.objects.get(pk=casino_id)
    gaming_day = date.fromisoformat(day) if day else last_ended(casino, timezone.now())
    run = runs.begin(casino, gaming_day, actor=actor)
    pending = runs.pending_sessions(run)
    for stream_id, last_seq in pending:
        night_session.delay(run_id=run.pk, stream_id=stream_id, last_seq=last_seq)
    if not pending:
        night_finish.delay(run_id=run.pk)


@shared_task(ignore_result=True)
def night_session(*, run_id: int, stream_id: int, last_seq: int, **kwargs: Any) -> None:
    """Make the figures of one session; whoever makes the last of a run has it finished."""
    try:
        sessions.compute_figures(stream_id, last_seq)
    except sessions.StreamLocked:
        again = {"run_id": run_id, "stream_id": stream_id, "last_seq": last_seq}
        night_session.apply_async(kwargs=again, countdown=BUSY_AGAIN_S)
        return
    except Exception as error:  # an officer sees it on the night's page; the sweep tries again
        NightRun.objects.filter(pk=run_id).update(error=f"{stream_id}: {type(error).__name__}: {error}"[:MAX_ERROR])
        raise
    if not runs.pending_sessions(NightRun.objects.get(pk=run_id)):
        night_finish.delay(run_id=run_id)


@shared_task(ignore_result=True)
def night_finish(*, run_id: int, **kwargs: Any) -> None:
    """Make the reports of a run, and have what is new sent to those who asked for it."""
    for report in runs.finish(NightRun.objects.get(pk=run_id)):
        night_mail.delay(report_id=report.pk)


@shared_task(ignore_result=True)
def night_mail(*, report_id: int, **kwargs: Any) -> int:
    """Send a report to the subscribers of its casino who have not had it. Return how many had it now."""
    return mail.send(NightReport.objects.get(pk=report_id))


@shared_task(ignore_result=True)
def night_sweep(**kwargs: Any) -> int:
    """Hint at every night that is due: missed, interrupted, or changed since it was reported. Return how many."""
    for casino in Casino.objects.all():
        schedule.schedule(casino)
    nights = runs.due(timezone.now())
    for casino, day in nights:
        night_reconcile.delay(casino_id=casino.pk, day=day.isoformat())
    return len(nights)
