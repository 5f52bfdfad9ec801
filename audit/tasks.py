"""What the workers do. A task takes ids, and may run any number of times. Queues: settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import structlog
from celery import shared_task
from django.conf import settings
from django.utils import timezone

from audit.adjudications.replay import advance
from audit.ingest import quarantine
from audit.log import read
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
