"""The Celery application: ``celery -A casino``.

The supervisor watches the heartbeat file of each worker. A worker of short tasks touches it with each task; one of long
tasks with the messages that its main process sends to the broker every two seconds.
"""

import gc
import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

app = Celery("casino")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def set_up_logging(loglevel: int | str | None = None, **kwargs: Any) -> None:
    """Keep the project's logging, under the level of the command line."""
    from casino import logs

    logs.configure(celery_level=loglevel)


@signals.worker_init.connect
def freeze(**kwargs: Any) -> None:
    """Freeze what was loaded before a worker makes its processes: each would look for garbage in all of it."""
    gc.collect()
    gc.freeze()


@signals.task_prerun.connect
def begin_task(task_id: str = "", task: Any = None, **kwargs: Any) -> None:
    """Put the task's id and name into its log messages."""
    import structlog

    from audit import heartbeats

    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(task_id=task_id, task=getattr(task, "name", ""))
    heartbeats.touch()


@signals.task_postrun.connect
def end_task(task: Any = None, state: str = "", kwargs: Any = None, **more: Any) -> None:
    """Note that a periodic task ran to its end."""
    import structlog

    from audit import task_runs

    if state == "SUCCESS":
        task_runs.note(getattr(task, "name", ""), kwargs or {})
    structlog.contextvars.clear_contextvars()


@signals.task_failure.connect
def count_failure(sender: Any = None, exception: BaseException | None = None, **kwargs: Any) -> None:
    """Count a task that has failed, also one whose worker was killed."""
    from audit import task_runs

    task_runs.note_failure(getattr(sender, "name", ""), exception or Exception())


@signals.heartbeat_sent.connect
def touch_of_main_process(**kwargs: Any) -> None:
    """Touch the heartbeat file from the main process of a worker whose tasks are too long to show that it lives."""
    from audit import heartbeats

    if os.environ.get("CABOCHON_PROCESS") == "night":
        heartbeats.touch()
