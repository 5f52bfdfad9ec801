"""The schedule is code: each task is sent in time, from where it stood, and no row of a table switches one off."""

from __future__ import annotations

import gc
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.db import OperationalError

from audit import heartbeats, task_runs
from audit.access.database_roles import BEAT
from audit.models import Casino, Heartbeat, TaskRun
from audit.reconciliation import schedule
from casino.beat import LOOK_EVERY_S, Scheduler
from casino.celery import app, freeze
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Sent(Scheduler):
    """Beat, which says what it sends and sends nothing."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any], str]] = []
        super().__init__(app=app)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.sent.append((entry.name, entry.kwargs, entry.options["queue"]))

    @property
    def producer(self) -> None:
        """Return nothing: there is no broker."""

    def due(self) -> set[str]:
        """Return the names of what is sent now."""
        self.sent.clear()
        self._heap = None
        while True:
            before = len(self.sent)
            self.tick()
            if len(self.sent) == before:
                return {name for name, _kwargs, _queue in self.sent}


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    TaskRun.objects.all().delete()


def own_night(beat: Sent, tenant: Tenant) -> bool:
    return f"night of {tenant.code}" in beat.due()


def test_what_never_ran_is_sent_at_once_and_then_when_it_is_due() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        beat = Sent()
        assert beat.due() == set(settings.CELERY_BEAT_SCHEDULE)
        assert beat.due() == set()
        clock.shift(timedelta(seconds=61))
        assert {"sweep", "cases"} <= beat.due()
        clock.shift(timedelta(hours=6))
        assert "purge" in beat.due()


def test_beat_begins_where_the_tasks_stood() -> None:
    entry = settings.CELERY_BEAT_SCHEDULE["purge"]
    task_runs.note(entry["task"], entry["kwargs"])
    assert "purge" not in Sent().due()
    TaskRun.objects.update(ran_at=datetime.now(UTC) - timedelta(hours=7))
    assert "purge" in Sent().due()


def test_a_night_is_sent_at_its_cutoff_and_follows_it() -> None:
    tenant = Tenant()
    with time_machine.travel(NOON, tick=False) as clock:
        beat = Sent()
        assert not own_night(beat, tenant)
        clock.move_to(datetime(2026, 11, 21, 4, 59, 59, tzinfo=UTC))
        assert not own_night(beat, tenant)
        clock.move_to(datetime(2026, 11, 21, 5, tzinfo=UTC))
        assert own_night(beat, tenant)
        assert (f"night of {tenant.code}", {"casino_id": tenant.casino.pk}, "night") in beat.sent
        assert not own_night(beat, tenant)
        Casino.objects.filter(pk=tenant.casino.pk).update(cutoff=time(9, 30))
        beat._looked_at -= LOOK_EVERY_S + 1
        clock.move_to(datetime(2026, 11, 21, 8, 29, tzinfo=UTC))
        assert not own_night(beat, tenant)
        clock.move_to(datetime(2026, 11, 21, 8, 30, tzinfo=UTC))
        assert own_night(beat, tenant)


def test_a_casino_that_is_added_or_called_otherwise_has_its_night() -> None:
    beat = Sent()
    tenant = Tenant()
    assert f"night of {tenant.code}" not in beat.schedule
    beat._looked_at -= LOOK_EVERY_S + 1
    beat.due()
    assert f"night of {tenant.code}" in beat.schedule
    Casino.objects.filter(pk=tenant.casino.pk).update(code=f"{tenant.code}-2")
    beat._looked_at -= LOOK_EVERY_S + 1
    beat.due()
    assert f"night of {tenant.code}" not in beat.schedule
    assert f"night of {tenant.code}-2" in beat.schedule


def test_while_the_database_is_away_every_task_is_still_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    beat = Sent()

    def away() -> Any:
        raise OperationalError("the database is away")

    monkeypatch.setattr(schedule, "nights", away)
    monkeypatch.setattr(task_runs, "ran_at", away)
    beat._looked_at -= LOOK_EVERY_S + 1
    assert set(settings.CELERY_BEAT_SCHEDULE) <= beat.due()
    assert f"night of {tenant.code}" in beat.schedule
    assert set(settings.CELERY_BEAT_SCHEDULE) <= Sent().due()


def test_beat_needs_no_right_but_its_own() -> None:
    tenant = Tenant()
    entry = settings.CELERY_BEAT_SCHEDULE["purge"]
    task_runs.note(entry["task"], entry["kwargs"])
    Heartbeat.objects.all().delete()
    heartbeats._written_at.clear()
    with acting_as(BEAT):
        beat = Sent()
        assert "purge" not in beat.due()
        assert f"night of {tenant.code}" in beat.schedule
        heartbeats.write("beat")
    assert Heartbeat.objects.filter(name="beat").exists()


def test_each_task_of_the_schedule_is_one_and_is_told_its_name() -> None:
    app.loader.import_default_modules()
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        assert entry["task"] in app.tasks
        assert entry["kwargs"]["scheduled"] == name
        assert len(name) <= TaskRun._meta.get_field("name").max_length


def test_a_worker_looks_for_no_garbage_in_what_it_has_loaded() -> None:
    before = gc.get_freeze_count()
    freeze()
    try:
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
