"""The scheduler of beat: the periodic tasks are code, and no row of a table switches one off.

    settings.CELERY_BEAT_SCHEDULE ─► every so many seconds; the worker notes each that has run: ``audit_taskrun``
    the cutoff of each casino ─────► once a gaming day, its night

Beat begins where the tasks stood: one that never ran, or is overdue, is sent at once. A night that beat has missed is
found by the task ``nights``.
"""

from __future__ import annotations

import time as clock
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from celery import beat
from celery.schedules import BaseSchedule, schedstate
from django.db import DatabaseError, InterfaceError, connection

from audit import heartbeats, task_runs
from audit.reconciliation import schedule

LOOK_EVERY_S = 60.0
"""How often the cutoffs of the casinos are read again."""

NEVER = datetime(2000, 1, 1, tzinfo=UTC)

log = structlog.get_logger(__name__)


class AtCutoff(BaseSchedule):
    """Once a day, when a casino's clock shows ``at``."""

    def __init__(self, at: time, time_zone: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.at, self.time_zone = at, ZoneInfo(time_zone)

    def is_due(self, last_run_at: datetime) -> schedstate:
        now = datetime.now(UTC)
        last, following = schedule.cutoffs_around(self.at, self.time_zone, now)
        return schedstate(last_run_at < last, (following - now).total_seconds())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AtCutoff) and (self.at, self.time_zone) == (other.at, other.time_zone)

    def __hash__(self) -> int:
        return hash((self.at, self.time_zone))


class Scheduler(beat.Scheduler):
    """Sends the periodic tasks, and a heartbeat each time that it looks for one that is due."""

    data: dict[str, Any]  # the entries, by name
    _looked_at = float("-inf")

    def setup_schedule(self) -> None:
        self.merge_inplace(self.app.conf.beat_schedule)
        ran_at = self._read(task_runs.ran_at) or {}
        for name, entry in self.data.items():
            entry.last_run_at = ran_at.get(name, NEVER)
        self._follow_cutoffs()

    def tick(self, *args: Any, **kwargs: Any) -> float:
        if clock.monotonic() - self._looked_at > LOOK_EVERY_S:
            self._follow_cutoffs()
        pause_s = super().tick(*args, **kwargs)
        heartbeats.beat("beat")
        return float(min(pause_s, heartbeats.WRITE_EVERY_S))

    def _follow_cutoffs(self) -> None:
        """Have an entry for the night of each casino, at its cutoff. While the database is away the nights stay."""
        self._looked_at = clock.monotonic()
        nights = self._read(schedule.nights)
        if nights is None:
            return
        wanted = {f"night of {night.code}": night for night in nights}
        for name in [each for each in self.data if each.startswith("night of ") and each not in wanted]:
            del self.data[name]
        for name, night in wanted.items():
            at = AtCutoff(night.cutoff, night.time_zone)
            if name not in self.data or self.data[name].schedule != at:
                kwargs, options = {"casino_id": night.casino_id}, {"queue": "night"}
                self.data[name] = self.Entry(
                    name=name, task=schedule.TASK, schedule=at, kwargs=kwargs, options=options, app=self.app
                )

    @staticmethod
    def _read(query: Any) -> Any:
        """Return what a query gives, None if the database does not answer."""
        try:
            return query()
        except (DatabaseError, InterfaceError) as error:
            log.warning("schedule not read", error=type(error).__name__)
            connection.close_if_unusable_or_obsolete()
            return None
