"""Failed runs: a stream whose replay fails is set aside, stops nothing else, and goes on when it can."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import DataError, OperationalError, connection
from django.utils import timezone

from audit.adjudication import replay, runs
from audit.adjudication.replay import advance
from audit.event_store import audit_trail, read
from audit.ingest.record import RecordUnavailable
from audit.models import AdjudicationRun, Finding, WaitingStream
from audit.tasks import replay_stream, sweep
from settlement import ENGINE_VERSION
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


@pytest.fixture
def tenant() -> Tenant:
    tenant = Tenant()
    assert tenant.post("s", dice_changed_in_mid_series(tenant, "s")).status_code == 201
    return tenant


@pytest.fixture
def hinted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The streams that a task is sent for."""
    sent: list[int] = []
    monkeypatch.setattr(replay_stream, "delay", lambda *, stream_id: sent.append(stream_id))
    return sent


def fails_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Have the next step of any stream raise ``error``: in our code, or as a limit of time does, anywhere."""

    def folds(*args: Any) -> None:
        raise error

    monkeypatch.setattr(replay, "_feed", folds)


def run_of(tenant: Tenant) -> AdjudicationRun:
    return AdjudicationRun.objects.get(stream_id=tenant.stream("s").stream_id, superseded_by=None)


def is_dirty(tenant: Tenant) -> bool:
    return tenant.stream("s").stream_id in read.dirty_streams(ENGINE_VERSION, limit=1_000_000)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("stake by nothing"), SoftTimeLimitExceeded(), DataError("value too long")]
)
def test_a_stream_whose_replay_raises_is_set_aside_with_its_reason(
    tenant: Tenant, hinted: list[int], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    stream_id = tenant.stream("s").stream_id
    fails_with(monkeypatch, error)
    before = timezone.now()
    replay_stream(stream_id=stream_id)
    run = run_of(tenant)
    assert (run.state, run.tries, run.error_type) == ("failed", 1, type(error).__name__)
    assert "Traceback" not in run.error
    assert run.failed_at is not None
    assert run.next_try_at is not None
    assert before + MINUTE <= run.next_try_at <= timezone.now() + MINUTE
    assert not is_dirty(tenant)
    sweep()
    assert stream_id not in hinted


def test_the_pauses_grow_to_a_day(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        advance(tenant.stream("s").stream_id)
    pauses = []
    now = timezone.now()
    for _ in range(6):
        runs.record_failure(tenant.stream("s").stream_id, ENGINE_VERSION, ZeroDivisionError(), now=now)
        next_try_at = run_of(tenant).next_try_at
        assert next_try_at is not None
        pauses.append((next_try_at - now) // MINUTE)
    assert pauses == [1, 5, 30, 120, 1_440, 1_440]
    assert run_of(tenant).failed_at == now


def test_a_stream_that_is_set_aside_is_left_alone_by_hints_and_stops_no_other(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = tenant.stream("s").stream_id
    fails_with(monkeypatch, ZeroDivisionError())
    replay_stream(stream_id=stream_id)
    monkeypatch.undo()
    replay_stream(stream_id=stream_id)  # a hint, because another event has arrived
    assert run_of(tenant).tries == 1
    assert run_of(tenant).state == "failed"
    other = dice_changed_in_mid_series(tenant, "other")
    assert tenant.post("other", other).status_code == 201
    replay_stream(stream_id=tenant.stream("other").stream_id)
    assert Finding.objects.standing().filter(stream__name="other", casino=tenant.casino).count() == 2


def test_when_the_pause_is_over_the_sweep_finds_the_stream_and_success_clears_the_failure(
    tenant: Tenant, hinted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = tenant.stream("s").stream_id
    fails_with(monkeypatch, ZeroDivisionError())
    replay_stream(stream_id=stream_id)
    monkeypatch.undo()
    monkeypatch.setattr(replay_stream, "delay", lambda *, stream_id: hinted.append(stream_id))
    AdjudicationRun.objects.filter(pk=run_of(tenant).pk).update(next_try_at=timezone.now())
    assert is_dirty(tenant)
    sweep()
    assert WaitingStream.objects.filter(stream_id=stream_id).exists()
    advance(stream_id)
    run = run_of(tenant)
    assert (run.state, run.tries, run.error, run.error_type) == ("complete", 0, "", "")
    assert (run.failed_at, run.next_try_at) == (None, None)
    assert Finding.objects.standing().filter(stream_id=stream_id).count() == 2


def test_a_complete_run_that_fails_on_later_events_keeps_its_findings_and_is_complete_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = tenant.stream("s").stream_id
    replay_stream(stream_id=stream_id)
    again = [
        ("payout.made", {"wager": "w2", "winnings": 1, "stake_returned": 0}),
        ("dice.thrown", {"faces": [1, 2], "seat": "S1", "dice": ["g", "h"]}),
    ]
    events = dice_changed_in_mid_series(tenant, "s")
    assert tenant.post("s", numbered(events[0], *[("x", {})] * 12, *again)[13:]).status_code == 201
    fails_with(monkeypatch, ZeroDivisionError())
    replay_stream(stream_id=stream_id)
    assert run_of(tenant).state == "failed"
    assert Finding.objects.standing().filter(stream_id=stream_id).count() == 2
    assert tenant.get("/streams/s").json()["verdict"] == "pending"
    monkeypatch.undo()
    assert advance(stream_id, in_pause=True) is not None
    assert run_of(tenant).state == "complete"
    assert Finding.objects.standing().filter(stream_id=stream_id).count() == 3


def test_a_failed_run_is_overtaken_by_the_version_that_mends_it(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = tenant.stream("s").stream_id
    replay_stream(stream_id=stream_id)
    fails_with(monkeypatch, ZeroDivisionError())
    monkeypatch.setattr(replay, "ENGINE_VERSION", "next")
    with pytest.raises(ZeroDivisionError):
        advance(stream_id)
    assert runs.record_failure(stream_id, "next", ZeroDivisionError())
    monkeypatch.undo()
    monkeypatch.setattr(replay, "ENGINE_VERSION", "mended")
    advance(stream_id)
    states = AdjudicationRun.objects.filter(stream_id=stream_id).order_by("number")
    assert list(states.values_list("state", flat=True)) == ["superseded", "superseded", "complete"]
    standing = Finding.objects.standing().filter(stream_id=stream_id)
    assert set(standing.values_list("engine_version", flat=True)) == {"mended"}


def test_an_error_of_the_database_sets_a_stream_aside_the_second_time(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = tenant.stream("s").stream_id
    fails_with(monkeypatch, OperationalError("the connection is lost"))
    replay_stream(stream_id=stream_id)
    assert (run_of(tenant).state, run_of(tenant).tries) == ("running", 1)
    assert is_dirty(tenant)
    replay_stream(stream_id=stream_id)
    assert (run_of(tenant).state, run_of(tenant).tries) == ("failed", 2)


def test_a_statement_over_its_limit_sets_the_stream_aside_at_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = tenant.stream("s").stream_id

    def folds(*args: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("set local statement_timeout = '1ms'")
            cursor.execute("select pg_sleep(10)")

    monkeypatch.setattr(replay, "_feed", folds)
    replay_stream(stream_id=stream_id)
    assert run_of(tenant).state == "failed"
    assert "statement timeout" in run_of(tenant).error


def test_the_reason_of_a_failure_is_stored_without_nul_and_cut(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, ValueError("a\0b" * 5_000))
    replay_stream(stream_id=tenant.stream("s").stream_id)
    error = run_of(tenant).error
    assert (len(error), "\0" in error) == (runs.MAX_ERROR, False)


def test_a_dry_run_of_a_stream_that_is_set_aside_answers_instead_of_waiting_for_ever(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(monkeypatch, ZeroDivisionError())
    replay_stream(stream_id=tenant.stream("s").stream_id)
    again = [("payout.made", {"wager": "w2", "winnings": 1, "stake_returned": 0})]
    events = dice_changed_in_mid_series(tenant, "s")
    later = numbered(events[0], *[("x", {})] * 12, *again)[13:]
    answer = tenant.client.post(
        "/api/v1/streams/s/events?dry_run=true",
        later,
        content_type="application/json",
        headers={"authorization": f"Bearer {tenant.secret}"},
    )
    assert answer.status_code == 503, RecordUnavailable.__doc__


def test_trying_again_is_an_entry_of_the_audit_trail_and_ends_the_pause(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_with(monkeypatch, ZeroDivisionError())
    replay_stream(stream_id=tenant.stream("s").stream_id)
    run = run_of(tenant)
    assert runs.try_again(run, "anna")
    assert is_dirty(tenant)
    [entry] = [
        each
        for each in audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
        if each.type == "run.tried_again"
    ]
    assert (entry.actor, entry.data["stream"], entry.data["tries"]) == ("anna", "s", 1)
    monkeypatch.undo()
    replay_stream(stream_id=run.stream_id)
    assert not runs.try_again(run, "anna"), "it has not failed any more"


@pytest.fixture
def full_disk(tenant: Tenant) -> Iterator[None]:
    """A disk without space for findings, as PostgreSQL reports it, until the fixture ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "create function full_disk() returns trigger language plpgsql as $$ begin"
            " raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$"
        )
        cursor.execute("create trigger full_disk before insert on audit_finding execute function full_disk()")
    yield
    with connection.cursor() as cursor:
        cursor.execute("drop trigger if exists full_disk on audit_finding")
        cursor.execute("drop function full_disk()")


@pytest.mark.superuser
@pytest.mark.usefixtures("full_disk")
def test_a_stream_met_by_a_full_disk_completes_when_there_is_space_again(tenant: Tenant) -> None:
    stream_id = tenant.stream("s").stream_id
    with pytest.raises(OperationalError) as refused:
        advance(stream_id)
    assert isinstance(refused.value.__cause__, psycopg.errors.DiskFull)
    for _ in range(3):
        replay_stream(stream_id=stream_id)
    assert run_of(tenant).state == "failed"
    with connection.cursor() as cursor:
        cursor.execute("drop trigger full_disk on audit_finding")
    AdjudicationRun.objects.filter(stream_id=stream_id).update(next_try_at=timezone.now())
    assert is_dirty(tenant)
    replay_stream(stream_id=stream_id)
    assert run_of(tenant).state == "complete"
    assert Finding.objects.standing().filter(stream_id=stream_id).count() == 2
