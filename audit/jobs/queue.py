"""Enqueueing and stopping background jobs. Both are entries of the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction

from audit import task_queue
from audit.event_store import audit_trail
from audit.models import Casino, Job, JobKind, Officer
from audit.models.jobs import OPEN

AUDITED_PARAMS = ("first_day", "last_day", "name", "readings", "ruleset", "form", "family", "code")
"""The parameters that the audit trail holds of a job."""


def enqueue(kind: JobKind, officer: Officer, casino: Casino | None, params: Mapping[str, Any]) -> Job:
    """Create a job for the workers and return it. ``casino`` None is all casinos."""
    with transaction.atomic():
        job = Job.objects.create(kind=kind, officer=officer, casino=casino, params=dict(params))
        _record(job, officer, "work.asked", {name: params[name] for name in AUDITED_PARAMS if params.get(name)})
        transaction.on_commit(partial(task_queue.send_soon, task_queue.RUN_JOB, job_id=job.pk))
    return job


def stop(job: Job, officer: Officer) -> bool:
    """Stop a job at its next step, or before its first. Return whether it was still open and nobody had stopped it."""
    with transaction.atomic():
        open_jobs = Job.objects.filter(pk=job.pk, state__in=OPEN, stopped_by=None)
        if not open_jobs.update(stopped_by=officer):
            return False
        _record(job, officer, "work.stopped", {})
        # A job that no worker has started ends at once.
        transaction.on_commit(partial(task_queue.send_soon, task_queue.RUN_JOB, job_id=job.pk))
    return True


def _record(job: Job, officer: Officer, type: str, params: Mapping[str, Any]) -> None:
    audit_trail.record(
        officer.get_username(),
        type,
        casino_id=job.casino_id or audit_trail.INSTALLATION,
        data={"id": job.pk, "kind": job.kind, **params},
    )
