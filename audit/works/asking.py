"""Asking for long work, and asking it to stop. Both are acts of the log."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog
from django.db import transaction

from audit.log import acts
from audit.models import Casino, Officer, Work, WorkKind
from audit.models.works import OPEN

log = structlog.get_logger(__name__)

RECORDED = ("first_day", "last_day", "name", "readings", "ruleset", "form")
"""What of a request the log keeps beside its kind."""


def ask(kind: WorkKind, officer: Officer, casino: Casino | None, asked: Mapping[str, Any]) -> Work:
    """Ask for a piece of work and return it. ``casino`` None is every house. A worker takes it up soon."""
    with transaction.atomic():
        work = Work.objects.create(kind=kind, officer=officer, casino=casino, asked=dict(asked))
        _record(work, officer, "work.asked", {name: asked[name] for name in RECORDED if asked.get(name)})
        transaction.on_commit(partial(hint, work.pk))
    return work


def stop(work: Work, officer: Officer) -> bool:
    """Ask a piece of work to stop; return whether it was still open. It ends at its next step, or before its first."""
    with transaction.atomic():
        open_still = Work.objects.filter(pk=work.pk, state__in=OPEN, stopped_by=None)
        if not open_still.update(stopped_by=officer):
            return False
        _record(work, officer, "work.stopped", {})
        transaction.on_commit(partial(hint, work.pk))  # what no worker has begun ends at once
    return True


def hint(work_id: int) -> None:
    """Tell the workers of a piece of work, while nobody waits. What a broker loses, the sweep finds."""
    threading.Thread(target=_hand_on, args=(work_id,), name=f"hint {work_id}", daemon=True).start()


def _hand_on(work_id: int) -> None:
    from audit.tasks import do_work  # the tasks know of the work, too

    try:
        do_work.apply_async(kwargs={"work_id": work_id}, retry=False)
    except Exception as error:
        log.warning("hint lost", work=work_id, error=str(error))


def _record(work: Work, officer: Officer, type: str, about: Mapping[str, Any]) -> None:
    acts.record(
        officer.get_username(),
        type,
        casino_id=work.casino_id or acts.INSTALLATION,
        data={"id": work.pk, "kind": work.kind, **about},
    )
