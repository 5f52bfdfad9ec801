"""The schedule: a casino's night is reconciled at its cutoff, in its time zone. An administrator sets it at the desk.

django-celery-beat keeps the schedule in the database. A casino's entry is created with the casino and follows its
cutoff and time zone; what an operator changes by hand stays until one of them changes.
"""

from __future__ import annotations

import json
from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from audit.models import Casino

TASK = "audit.tasks.night_reconcile"


@receiver(post_save, sender=Casino)
def _follow(sender: type[Casino], instance: Casino, raw: bool = False, **kwargs: Any) -> None:
    if not raw and not instance.is_sandbox:  # a sandbox has no nights
        schedule(instance)


def schedule(casino: Casino) -> PeriodicTask:
    """Return the periodic task of a casino, created or updated if its cutoff or time zone has changed."""
    casino.refresh_from_db(fields=["cutoff"])
    at = f"{casino.cutoff:%H:%M} {casino.time_zone}"
    task = PeriodicTask.objects.filter(name=task_name(casino)).first()
    if task is not None and task.description == at:
        return task
    crontab, _is_new = CrontabSchedule.objects.get_or_create(
        minute=str(casino.cutoff.minute),
        hour=str(casino.cutoff.hour),
        day_of_week="*",
        day_of_month="*",
        month_of_year="*",
        timezone=casino.time_zone,
    )
    task, _is_new = PeriodicTask.objects.update_or_create(
        name=task_name(casino),
        defaults={
            "task": TASK,
            "crontab": crontab,
            "kwargs": json.dumps({"casino_id": casino.pk}),
            "queue": "night",
            "description": at,
        },
    )
    return task


def task_name(casino: Casino) -> str:
    return f"night of {casino.code}"
