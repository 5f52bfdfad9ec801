"""Batches that could not be read or fed: kept with their error, and tried again after growing pauses.

    a batch raises ─► set aside ─► tried again after 1 min, 5 min, 30 min, 2 h, each day ─► fed, and no longer here

The others go on. ``/metrics``, ``/health/ready`` and the page of questions name what is set aside. A batch that is fed
later has a later place in the order. That place is fixed in advance only where the failure does not depend on the
draws: docs/ledger-mathematics.md, step 5.
"""

from __future__ import annotations

from datetime import datetime

import structlog
from django.db.models import QuerySet
from django.utils import timezone

from audit.adjudication.runs import PAUSES, is_passing
from audit.models import Casino, LedgerBatch, LedgerSetAside

MAX_ERROR = 500

log = structlog.get_logger(__name__)


def error_of(failure: Exception) -> str:
    """Return why a batch is set aside. Raise a ``failure`` that may be gone at once."""
    if is_passing(failure):
        raise failure
    log.error("set aside by the ledger", exc_info=failure)
    return f"{type(failure).__name__}: {failure}".replace("\0", "")[:MAX_ERROR]


def of_casino(casino: Casino) -> QuerySet[LedgerSetAside]:
    """Return what is set aside of a casino, in the order in which it was."""
    return LedgerSetAside.objects.filter(casino=casino).select_related("stream", "casino").order_by("pk")


def latest_try(now: datetime) -> datetime:
    """Return until when a batch may wait that is set aside now: no pause is longer."""
    return now + PAUSES[-1]


def due(casino: Casino) -> list[LedgerSetAside]:
    """Return what is set aside of a casino and is to be tried again now.

    So is what waits longer than any pause: somebody has written that, or the clock was wrong.
    """
    now = timezone.now()
    return list(of_casino(casino).exclude(next_try_at__gt=now, next_try_at__lte=latest_try(now)))


def keep(batch: LedgerBatch) -> None:
    """Set a batch aside, or count one more try. The caller holds the cursor of the casino."""
    row = _of(batch).first() or LedgerSetAside(
        casino=batch.casino,
        kind=batch.kind,
        gaming_day=batch.gaming_day,
        currency=batch.currency,
        stream=batch.stream,
        last_seq=batch.last_seq,
        log_index=batch.log_index,
    )
    row.content, row.error = batch.content, batch.error
    row.tries += 1
    row.next_try_at = timezone.now() + PAUSES[min(row.tries, len(PAUSES)) - 1]
    row.save()


def end(batch: LedgerBatch) -> None:
    """Note that a batch is fed: it is set aside no more."""
    _of(batch).delete()


def _of(batch: LedgerBatch) -> QuerySet[LedgerSetAside]:
    same = LedgerSetAside.objects.filter(casino=batch.casino_id, kind=batch.kind)
    if batch.stream_id is not None:
        return same.filter(stream=batch.stream_id)
    return same.filter(stream=None, gaming_day=batch.gaming_day, currency=batch.currency)
