"""The scheduler of beat: Celery's own from the database, with a heartbeat."""

from __future__ import annotations

from typing import Any

from django_celery_beat.schedulers import DatabaseScheduler

from audit import heartbeats


class Scheduler(DatabaseScheduler):  # type: ignore[misc]
    """Sends the periodic tasks, and a heartbeat each time that it looks for one that is due."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        pause_s = super().tick(*args, **kwargs)
        heartbeats.beat("beat")
        return float(min(pause_s, heartbeats.WRITE_EVERY_S))
