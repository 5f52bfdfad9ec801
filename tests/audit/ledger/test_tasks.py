"""When a session closes: a hint, and then figures, money and evidence are kept and the ledger is fed."""

from __future__ import annotations

from typing import Any

import pytest

from audit import task_queue, tasks
from audit.adjudication import replay
from audit.ledger import feeding
from audit.models import LedgerBatch, NightReport, SessionFigures, StreamEvidence, StreamMoney
from audit.reconciliation import runs, sessions
from audit.reconciliation.sessions import StreamLocked
from tests.audit.reconciliation.played import DAY, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


def test_replay_of_a_closed_session_hints_at_its_close_and_of_an_open_one_does_not(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(task_queue, "send_soon", lambda task, **params: sent.append((task, params)))
    events = session(tenant.casino, "R1", coups=3)
    stream_id = record(tenant.casino, events[:-1])
    tasks.replay_stream(stream_id=stream_id)
    assert (task_queue.NIGHT_CLOSE, {"stream_id": stream_id}) not in sent
    record(tenant.casino, events[-1:])
    tasks.replay_stream(stream_id=stream_id)
    assert (task_queue.NIGHT_CLOSE, {"stream_id": stream_id}) in sent


def test_at_its_close_a_session_is_kept_and_fed(tenant: Tenant) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "R1", coups=3))
    seal()
    tasks.night_close(stream_id=stream_id)
    for model in (SessionFigures, StreamMoney, StreamEvidence):
        assert model.objects.filter(stream=stream_id).count() == 1  # type: ignore[attr-defined]
    assert LedgerBatch.objects.filter(casino=tenant.casino, kind="draws").count() == 1
    tasks.night_close(stream_id=stream_id)
    assert tasks.night_ledger(casino_id=tenant.casino.pk) == 0


def line_11(report: NightReport) -> list[tuple[str, int, int]]:
    line = next(line for line in report.parsed_content()["lines"] if line["code"] == "chance")
    return [(row["note"], row["expected"], row["found"]) for row in line["rows"] if row["note"].startswith("ledger")]


def test_a_session_that_was_not_fed_yet_is_fed_before_the_report_of_its_night(tenant: Tenant) -> None:
    record(tenant.casino, session(tenant.casino, "R1", coups=3))
    seal()
    run = runs.begin(tenant.casino, DAY, actor="test")
    for stream_id, last_seq in runs.pending_sessions(run):
        sessions.compute_figures(stream_id, last_seq)
    tasks.night_finish(run_id=run.pk)
    assert line_11(NightReport.objects.get(casino=tenant.casino)) == [("ledger", 1, 1)]


def test_a_report_does_not_wait_for_a_ledger_that_cannot_be_fed(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "R1", coups=3))
    seal()

    def broken(*arguments: Any) -> Any:
        raise ValueError("an order that nobody knows")

    monkeypatch.setattr(feeding.order, "next_closes", broken)
    run = runs.begin(tenant.casino, DAY, actor="test")
    sessions.compute_figures(stream_id, run.through[str(stream_id)])
    tasks.night_finish(run_id=run.pk)
    assert line_11(NightReport.objects.get(casino=tenant.casino)) == [("ledger_empty", 1, 0)]


def test_a_session_that_another_worker_adjudicates_is_closed_later(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_id = record(tenant.casino, session(tenant.casino, "R1", coups=3))
    seal()
    again: list[Any] = []
    monkeypatch.setattr(tasks.night_close, "apply_async", lambda kwargs, countdown: again.append(kwargs))
    monkeypatch.setattr(replay, "advance", lambda stream_id, **options: None)
    tasks.night_close(stream_id=stream_id)
    assert again == [{"stream_id": stream_id}]
    assert not LedgerBatch.objects.filter(casino=tenant.casino).exists()


def test_a_ledger_that_meets_a_stream_that_is_held_goes_on_later(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tenant.casino, session(tenant.casino, "R1", coups=3))
    seal()

    def held(stream_id: int, last_seq: int) -> bytes:
        raise StreamLocked(str(stream_id))

    monkeypatch.setattr(sessions, "evidence_of", held)
    assert feeding.feed(tenant.casino) == 0
    monkeypatch.undo()
    assert feeding.feed(tenant.casino) == 2, "the session and its evening"
