"""The task queue: background tasks by name, sent to the Celery broker by code that need not import them.

    send ──────────────────────────────► broker ─► worker     now; raises QueueUnavailable
    send_soon ─► pending ─► one thread ─► broker ─► worker     while nobody waits; never raises

A request is answered when its events are stored, whether the broker is there, slow or gone. So a daemon thread of this
process sends what ``send_soon`` takes, and the same task with the same parameters, requested again before it was sent,
is sent once. Streams that are to be replayed share their messages, one a replay worker at most: a message costs more
than to store an event. A task sent soon is only a hint: what the broker or a dying process loses, a sweep finds in the
tables.

Settings route tasks to queues by their names (``CELERY_TASK_ROUTES``); ``audit.tasks`` defines them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, TypeAlias

import structlog
from celery import Celery
from celery.app import app_or_default
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

REPLAY_STREAM = "audit.tasks.replay_stream"
RUN_JOB = "audit.tasks.run_job"
NIGHT_CLOSE = "audit.tasks.night_close"
NIGHT_RECONCILE = "audit.tasks.night_reconcile"
NIGHT_SWEEP = "audit.tasks.night_sweep"
SWEEP_CASES = "audit.tasks.sweep_cases"
MAIL_VIDEO_REQUEST = "audit.tasks.mail_video_request"
NOTIFY_CASINO = "audit.tasks.notify_casino"
NOTIFY_WEBHOOK = "audit.tasks.notify_webhook"
NOTIFY_TEST = "audit.tasks.notify_test"
NOTIFY_ALERTS = "audit.tasks.notify_alerts"

BEAT = "beat"
"""The actor of a run that the schedule started."""

PAUSE_S = 5.0
"""How long nothing is sent after the broker failed."""

GATHER_S = 0.1
"""How long tasks are gathered before they are sent: a table that sends each event by itself is replayed once."""

Param: TypeAlias = int | str
Pending: TypeAlias = tuple[str, tuple[tuple[str, Param], ...]]

log = structlog.get_logger(__name__)

_pending: dict[Pending, Celery] = {}
_changed = threading.Condition()
_sender: threading.Thread | None = None


class QueueUnavailable(Exception):
    """The broker cannot be reached: the task was not sent."""


def send(task: str, **params: Param) -> None:
    """Send a task now. Raise ``QueueUnavailable`` if the broker cannot be reached."""
    try:
        app_or_default().send_task(task, kwargs=params)
    except OperationalError as error:
        raise QueueUnavailable(str(error)) from error


def send_soon(task: str, **params: Param) -> None:
    """Have a task sent by the sender thread, once however often it is requested before its turn."""
    global _sender
    # Celery's current app is the thread's own, so it is taken here and not in the sender.
    app = app_or_default()
    with _changed:
        _pending[task, tuple(sorted(params.items()))] = app
        # A forked process inherits the name of the thread, but not the thread.
        if _sender is None or not _sender.is_alive():
            _sender = threading.Thread(target=_send_pending, name="task-queue", daemon=True)
            _sender.start()
        _changed.notify()


def notify_on_commit(casino_id: int) -> None:
    """Have a casino's changes of findings sent out once this transaction has committed; at once outside of one."""
    transaction.on_commit(partial(send_soon, NOTIFY_CASINO, casino_id=casino_id))


def _send_pending() -> None:
    while True:
        with _changed:
            _changed.wait_for(lambda: _pending)
        time.sleep(GATHER_S)
        with _changed:
            taken = dict(_pending)
            _pending.clear()
        try:
            for app in dict.fromkeys(taken.values()):
                for task, params in _messages([each for each, its_app in taken.items() if its_app is app]):
                    app.send_task(task, kwargs=params, retry=False)
        except Exception as error:
            log.warning("tasks not sent", tasks=len(taken), error=str(error))
            time.sleep(PAUSE_S)


def _messages(pending: list[Pending]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the task and the parameters of each message that is to be sent."""
    streams = [value for task, params in pending if task == REPLAY_STREAM for _, value in params]
    for first in range(min(len(streams), settings.CABOCHON_REPLAY_WORKERS)):
        stream_id, *also = streams[first :: settings.CABOCHON_REPLAY_WORKERS]
        yield REPLAY_STREAM, {"stream_id": stream_id, "also": also} if also else {"stream_id": stream_id}
    yield from ((task, dict(params)) for task, params in pending if task != REPLAY_STREAM)
