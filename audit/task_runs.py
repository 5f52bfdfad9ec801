"""When each periodic task last ran: the worker notes it, beat begins there, health and metrics show what is late.

A web server may not write it, so that nobody who has taken one over hides that a sweep no longer runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from audit.models import TaskRun

_TASK_RUNS = "select name, extract(epoch from clock_timestamp() - ran_at) from audit_taskrun"

_RUNNING_JOB = """
select extract(epoch from clock_timestamp() - max(heartbeat_at)) from audit_job where state = 'running'
"""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ScheduledTask:
    """A periodic task: the age of its last run, None before the first, and the age from which it is late."""

    name: str
    age_s: float | None
    limit_s: float

    @property
    def is_late(self) -> bool:
        return self.age_s is None or self.age_s > self.limit_s


def note(task: str, kwargs: Mapping[str, Any]) -> None:
    """Note that a task ran, if the schedule has sent it. Raise nothing: what cannot be noted is late."""
    name = kwargs.get("scheduled")
    if not isinstance(name, str) or settings.CELERY_BEAT_SCHEDULE.get(name, {}).get("task") != task:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "insert into audit_taskrun (name, ran_at) values (%s, clock_timestamp())"
                " on conflict (name) do update set ran_at = excluded.ran_at",
                (name,),
            )
    except (DatabaseError, InterfaceError) as error:
        log.warning("run of a task not noted", scheduled=name, error=type(error).__name__)


def note_failure(task: str, error: BaseException) -> None:
    """Count that a task has failed, whoever sent it. Raise nothing."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "insert into audit_taskfailure as known (name, failures, failed_at, error)"
                " values (%s, 1, clock_timestamp(), %s) on conflict (name) do update set"
                " failures = known.failures + 1, failed_at = excluded.failed_at, error = excluded.error",
                (task.removeprefix("audit.tasks."), type(error).__name__[:100]),
            )
    except (DatabaseError, InterfaceError) as failure:
        log.warning("failure of a task not noted", task=task, error=type(failure).__name__)


def ran_at() -> dict[str, datetime]:
    """Return when each periodic task last ran; one that never did is left out."""
    return dict(TaskRun.objects.values_list("name", "ran_at"))


def scheduled_tasks() -> list[ScheduledTask]:
    """Return the periodic tasks with the age of their last run, by name.

    Behind a long job those of its queue wait: while that has heartbeats they are no older than these.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TASK_RUNS)
        ages = {name: float(age) for name, age in cursor.fetchall()}
        cursor.execute(_RUNNING_JOB)
        [(job,)] = cursor.fetchall()
    found: list[ScheduledTask] = []
    for name, entry in sorted(settings.CELERY_BEAT_SCHEDULE.items()):
        queue, age = entry["options"]["queue"], ages.get(name)
        if queue == "night" and job is not None and age is not None:
            age = min(age, float(job))
        limit_s = 2 * float(entry["schedule"]) + float(getattr(settings, f"CABOCHON_{queue.upper()}_STALE_S"))
        found.append(ScheduledTask(name, age, limit_s))
    return found
