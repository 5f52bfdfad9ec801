"""Celery tasks. Each takes ids and is idempotent: a message is only a hint, and the tables are the truth.

Settings route tasks to queues by name; ``audit.task_queue`` sends them without importing this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from time import monotonic
from typing import Any

import structlog
from celery import shared_task
from django.conf import settings
from django.db import connection
from django.utils import timezone

from audit import heartbeats, task_queue, task_runs
from audit.access import refusals
from audit.adjudication import fairness, replay
from audit.adjudication import runs as adjudication_runs
from audit.casework import escalation
from audit.event_store import read
from audit.ingest import quarantine
from audit.jobs import runner
from audit.ledger import feeding
from audit.models import Casino, LoggedStream, NightReport, NightRun
from audit.notifications import (
    alert_mail,
    alert_messages,
    alerts,
    broker_feed,
    case_mail,
    inbox_mail,
    mail,
    push,
    reopened_mail,
    sighting_mail,
    webhook_delivery,
)
from audit.persons import sightings
from audit.reconciliation import runs, sessions
from audit.reconciliation.gaming_days import last_ended
from audit.register import touched
from audit.simulation import first_run
from settlement import ENGINE_VERSION

log = structlog.get_logger(__name__)

STEPS_A_TASK = 20
"""Steps after which a task sends its successor, so that none outlasts the broker's visibility timeout."""

TASK_S = 0.5
"""Seconds after which a task sends its successor, behind the messages that wait: a heartbeat may be one of them."""

SWEPT_AT_ONCE = 1_000


KILLED_AFTER_S = 60
"""Seconds after the limit of time at which a task that did not stop is killed with its process."""


@shared_task(
    ignore_result=True,
    soft_time_limit=settings.CABOCHON_REPLAY_TASK_S,
    time_limit=settings.CABOCHON_REPLAY_TASK_S + KILLED_AFTER_S,
)
def replay_stream(*, stream_id: int | None, also: Sequence[int] = (), **kwargs: Any) -> None:
    """Put streams into the queue, None for none, and replay step by step what is next there, whichever it is."""
    until = monotonic() + TASK_S
    if stream_id is not None:
        fairness.put([stream_id, *also])
    for _ in range(STEPS_A_TASK):
        fairness.put_newly_sealed()
        turn = fairness.take()
        if turn is None:
            return
        _replay_step(turn)
        heartbeats.beat("replay")
        if monotonic() > until:
            break
    replay_stream.delay(stream_id=None)


def _replay_step(turn: fairness.Turn) -> None:
    """Fold one step of a stream. One that fails is set aside, and stops no other."""
    began_at = replay.processor_s()

    def used_s() -> float:
        return replay.processor_s() - began_at

    with structlog.contextvars.bound_contextvars(stream_id=turn.stream_id):
        try:
            progress = replay.advance(turn.stream_id, is_shared=turn.is_shared)
        except Exception as error:
            log.exception("replay failed", error=type(error).__name__)
            connection.close_if_unusable_or_obsolete()
            adjudication_runs.record_failure(turn.stream_id, ENGINE_VERSION, error)
            fairness.drop(turn, used_s=used_s())  # the sweep puts it back when its pause is over
            return
        if progress is None:  # another process holds it
            fairness.drop(turn, used_s=used_s())
            return
        if progress.folded:
            log.info("replayed", events=progress.folded, cursor=progress.cursor)
        if progress.behind:
            fairness.give_back(turn, used_s=used_s())
        else:
            fairness.done(turn, used_s=used_s())
            if progress.has_closed:
                task_queue.send_soon(task_queue.NIGHT_CLOSE, stream_id=turn.stream_id)


@shared_task(ignore_result=True)
def sweep(**kwargs: Any) -> int:
    """Put every dirty stream into the queue, and wake the workers: a lost hint delays a finding and never loses it.

    A stream that a change of the house register touches is dirty, too.

    Return how many streams. What sign-ins leave behind is swept as well: refusals go to the audit trail, failures are
    forgotten.
    """
    touched.agree()
    streams = read.dirty_streams(ENGINE_VERSION, limit=SWEPT_AT_ONCE)
    fairness.put(streams)
    for stream_id in streams[: settings.CABOCHON_REPLAY_WORKERS]:
        replay_stream.delay(stream_id=stream_id)
    refusals.write_refusals(timezone.now())
    refusals.forget_attempts(timezone.now())
    return len(streams)


@shared_task(ignore_result=True)
def heartbeat(*, process: str, **kwargs: Any) -> None:
    """Say that the workers of a queue, ``replay`` or ``night``, get tasks and reach the database."""
    heartbeats.beat(process, every_s=0)


@shared_task(ignore_result=True)
def purge_quarantine(**kwargs: Any) -> int:
    """Delete the bytes of refused requests after the retention period. Return of how many requests."""
    purged = quarantine.purge(before=timezone.now() - timedelta(days=settings.CABOCHON_QUARANTINE_DAYS))
    log.info("quarantine purged", requests=purged)
    return purged


# Background jobs


@shared_task(ignore_result=True)
def run_job(*, job_id: int, **kwargs: Any) -> None:
    """Run a background job, unless it has ended or another worker holds it."""
    runner.run(job_id)


@shared_task(ignore_result=True)
def sweep_jobs(**kwargs: Any) -> int:
    """Send a task for every job that waits or whose lease has expired. Return how many."""
    abandoned = runner.abandoned()
    for job_id in abandoned:
        run_job.delay(job_id=job_id)
    return len(abandoned)


# The feed of findings: webhooks, and the broker's exchange. These tasks run in threads, on a queue of their own.


@shared_task(ignore_result=True)
def notify_casino(*, casino_id: int, **kwargs: Any) -> None:
    """Send out what became known of a casino's findings: to its webhooks, and to the exchange of the broker."""
    broker_feed.publish(casino_id)
    first, *others = [*webhook_delivery.active(casino_id), None]
    for webhook_id in others:
        if webhook_id is not None:
            notify_webhook.delay(webhook_id=webhook_id)
    if first is not None:
        webhook_delivery.deliver(first)


@shared_task(ignore_result=True)
def notify_webhook(*, webhook_id: int, **kwargs: Any) -> int:
    """Send a webhook what it has not been sent, unless it waits or another worker does. Return how many it took."""
    return webhook_delivery.deliver(webhook_id)


@shared_task(ignore_result=True)
def notify_test(*, webhook_id: int, **kwargs: Any) -> None:
    """Send a webhook the test message that an administrator has requested."""
    webhook_delivery.test(webhook_id)


@shared_task(ignore_result=True)
def notify_sweep(**kwargs: Any) -> int:
    """Send a task for each webhook that has something to send; publish what the broker lacks. Return how many."""
    webhooks = webhook_delivery.due(timezone.now())
    for webhook_id in webhooks:
        notify_webhook.delay(webhook_id=webhook_id)
    for casino_id in broker_feed.behind():
        broker_feed.publish(casino_id)
    return len(webhooks)


@shared_task(ignore_result=True)
def notify_alerts(**kwargs: Any) -> tuple[int, int]:
    """Open and end the alerts of tables that should report; mail, send and publish what was not. Notify browsers.

    Return how many were opened and ended. The task is on the queue of the webhooks: what stands still on the others is
    what an alert may be about.
    """
    now = timezone.now()
    opened, ended = alerts.sweep(now)
    for officer_id, casino_id in alert_mail.officers_to_mail(now):
        notify_alert_mail.delay(officer_id=officer_id, casino_id=casino_id)
    for webhook_id in alert_messages.webhooks_to_send(now):
        notify_alert_webhook.delay(webhook_id=webhook_id)
    alert_messages.publish()
    for subscription_id in push.sweep(now):
        notify_push.delay(subscription_id=subscription_id)
    return opened, ended


@shared_task(ignore_result=True)
def notify_alert_webhook(*, webhook_id: int, **kwargs: Any) -> int:
    """Send a webhook the alerts that it was not sent. Return how many it took."""
    return alert_messages.send(webhook_id)


@shared_task(ignore_result=True)
def notify_push(*, subscription_id: int, **kwargs: Any) -> int:
    """Notify an officer's browser of what it was not. Return how many messages its push service took."""
    return push.send(subscription_id)


@shared_task(ignore_result=True)
def notify_alert_mail(*, officer_id: int, casino_id: int, **kwargs: Any) -> int:
    """Mail an officer the alerts of a casino that they were not mailed. Return how many the message lists."""
    return alert_mail.send(officer_id, casino_id)


# Cases


@shared_task(ignore_result=True)
def mail_video_request(*, request_id: int, **kwargs: Any) -> bool:
    """Mail what an officer asked of a video room. Return False if that was done already."""
    return case_mail.send_video_request(request_id)


@shared_task(ignore_result=True)
def mail_late_cases(*, officer_id: int, casino_id: int, **kwargs: Any) -> int:
    """Mail an officer which cases of a casino are late, in one message. Return how many it lists."""
    return case_mail.send_notices(officer_id, casino_id)


@shared_task(ignore_result=True)
def mail_inbox(*, officer_id: int, casino_id: int, **kwargs: Any) -> int:
    """Mail an officer what waits at a casino, once a gaming day. Return how many lines the message has."""
    return inbox_mail.send(officer_id, casino_id, timezone.now())


@shared_task(ignore_result=True)
def mail_sighting(*, sighting_id: int, **kwargs: Any) -> bool:
    """Mail the officers of a casino that an excluded player is at a table. Return False if that was done already."""
    return sighting_mail.send(sighting_id)


@shared_task(ignore_result=True)
def sweep_cases(**kwargs: Any) -> int:
    """Escalate the cases whose deadline has passed, mail what was not mailed, and look for listed players.

    Return how many were escalated.
    """
    now = timezone.now()
    escalated = escalation.escalate_late(now)
    for request_id in escalation.requests_to_mail(now):
        mail_video_request.delay(request_id=request_id)
    for officer_id, casino_id in escalation.officers_to_mail(now):
        mail_late_cases.delay(officer_id=officer_id, casino_id=casino_id)
    for officer_id, casino_id in inbox_mail.waiting(now):
        mail_inbox.delay(officer_id=officer_id, casino_id=casino_id)
    sightings.sweep(now, task_runs.ran_at().get("cases"))
    for sighting_id in sighting_mail.waiting(now):
        mail_sighting.delay(sighting_id=sighting_id)
    return escalated


# Night reports. These messages are hints too: what is due is read from the tables.

BUSY_AGAIN_S = 10
"""How long a session is left to the worker that holds its stream."""

MAX_ERROR = 2_000


@shared_task(ignore_result=True)
def night_close(*, stream_id: int, **kwargs: Any) -> None:
    """Keep what a closed session gives its night, the money of its players and the ledger, and feed the ledger.

    So the night only has to join. What is not done here, the night and the sweep do.
    """
    stream = LoggedStream.objects.select_related("casino").get(pk=stream_id)
    if stream.table_id is not None and not stream.is_of_sandbox:
        last_seq = read.last_seqs([stream_id])[stream_id]
        try:
            sessions.compute_figures(stream_id, last_seq)
        except sessions.StreamLocked:
            night_close.apply_async(kwargs={"stream_id": stream_id}, countdown=BUSY_AGAIN_S)
            return
        feeding.feed(stream.casino)


@shared_task(ignore_result=True)
def night_reconcile(*, casino_id: int, day: str | None = None, actor: str = task_queue.BEAT, **kwargs: Any) -> None:
    """Start or resume the reconciliation of a gaming day (ISO 8601); None is the last that has ended."""
    casino = Casino.objects.get(pk=casino_id)
    if casino.is_sandbox:  # a task that an operator has scheduled by hand
        return
    gaming_day = date.fromisoformat(day) if day else last_ended(casino, timezone.now())
    run = runs.begin(casino, gaming_day, actor=actor)
    pending = runs.pending_sessions(run)
    for stream_id, last_seq in pending:
        night_session.delay(run_id=run.pk, stream_id=stream_id, last_seq=last_seq)
    if not pending:
        night_finish.delay(run_id=run.pk)


@shared_task(ignore_result=True)
def night_session(*, run_id: int, stream_id: int, last_seq: int, **kwargs: Any) -> None:
    """Compute the figures of one session; the last session of a run finishes the run."""
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
    """Make the reports of a run, and mail each new one to its subscribers.

    The ledger is fed first, because the reports say what its sessions were evidence of.
    """
    run = NightRun.objects.select_related("casino").get(pk=run_id)
    feeding.feed_sessions(run.casino)
    try:
        reports = runs.finish(run)
    except sessions.StreamLocked:  # a count that another worker adjudicates
        night_finish.apply_async(kwargs={"run_id": run_id}, countdown=BUSY_AGAIN_S)
        return
    except Exception as error:  # its transaction has left nothing behind; the sweep, or an officer, tries again
        NightRun.objects.filter(pk=run_id, ended_at=None).update(error=f"{type(error).__name__}: {error}"[:MAX_ERROR])
        raise
    for report in reports:
        night_mail.delay(report_id=report.pk)
    if reports:
        night_ledger.delay(casino_id=reports[0].casino_id)


@shared_task(ignore_result=True)
def night_ledger(*, casino_id: int, **kwargs: Any) -> int:
    """Feed the ledger of a casino with what is known and was not fed. Return how many batches."""
    return feeding.feed(Casino.objects.get(pk=casino_id))


@shared_task(ignore_result=True)
def night_mail(*, report_id: int, **kwargs: Any) -> int:
    """Mail a report to the subscribers of its casino who have not received it, and its change to the officers who had
    signed an earlier version. Return how many mails."""
    report = NightReport.objects.select_related("casino").get(pk=report_id)
    return mail.send(report) + reopened_mail.send(report)


@shared_task(ignore_result=True)
def night_sweep(**kwargs: Any) -> int:
    """Send a task for every night that is due: missed, interrupted, or changed since its report. Return how many.

    The ledger of each casino is fed as well, for what a lost message has left, and the reports are mailed that a mail
    server did not take. A simulated night waits while it, or the night before, is being loaded.
    """
    for casino in Casino.objects.filter(is_sandbox=False):
        night_ledger.delay(casino_id=casino.pk)
    for report in mail.waiting(timezone.now()):
        night_mail.delay(report_id=report.pk)
    nights = [each for each in runs.due(timezone.now()) if not first_run.is_to_wait(*each)]
    for casino, day in nights:
        night_reconcile.delay(casino_id=casino.pk, day=day.isoformat())
    return len(nights)
