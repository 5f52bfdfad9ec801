"""Asking for long work, and asking it to stop. Both are acts of the log."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog
from django.db import transaction

from audit.event_store import audit_trail
from audit.models import Casino, Job, JobKind, Officer
from audit.models.jobs import OPEN

log = structlog.get_logger(__name__)

AUDITED_PARAMS = ("first_day", "last_day", "name", "readings", "ruleset", "form")
"""What of a request the log keeps beside its kind."""


def ask(kind: JobKind, officer: Officer, casino: Casino | None, params: Mapping[str, Any]) -> Job:
    """Ask for a piece of work and return it. ``casino`` None is every house. A worker takes it up soon."""
    with transaction.atomic():
        job = Job.objects.create(kind=kind, officer=officer, casino=casino, params=dict(params))
        _record(job, officer, "work.asked", {name: params[name] for name in AUDITED_PARAMS if params.get(name)})
        transaction.on_commit(partial(hint, job.pk))
    return job


def stop(job: Job, officer: Officer) -> bool:
    """Ask a piece of work to stop; return whether it was still open. It ends at its next step, or before its first."""
    with transaction.atomic():
        open_still = Job.objects.filter(pk=job.pk, state__in=OPEN, stopped_by=None)
        if not open_still.update(stopped_by=officer):
            return False
        _record(job, officer, "work.stopped", {})
        transaction.on_commit(partial(hint, job.pk))  # what no worker has begun ends at once
    return True


def hint(job_id: int) -> None:
    """Tell the workers of a piece of work, while nobody waits. What a broker loses, the sweep finds."""
    threading.Thread(target=_hand_on, args=(job_id,), name=f"hint {job_id}", daemon=True).start()


def _hand_on(job_id: int) -> None:
    from audit.tasks import run_job  # the tasks know of the work, too

    try:
        run_job.apply_async(kwargs={"job_id": job_id}, retry=False)
    except Exception as error:
        log.warning("hint lost", job=job_id, error=str(error))


def _record(job: Job, officer: Officer, type: str, about: Mapping[str, Any]) -> None:
    audit_trail.record(
        officer.get_username(),
        type,
        casino_id=job.casino_id or audit_trail.INSTALLATION,
        data={"id": job.pk, "kind": job.kind, **about},
    )
