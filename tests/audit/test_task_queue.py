"""The task queue: a task by its name, once, from one thread, by the app of whoever requested it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from celery import Celery
from kombu.exceptions import OperationalError
from pytest_django import Settings

from audit import task_queue, tasks
from casino.celery import app


class RecordingApp(Celery):
    """An app that notes what it sends, and from which thread."""

    def __init__(self, name: str) -> None:
        super().__init__(name, set_as_current=False, fixups=[])
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.threads: set[str] = set()
        self.error: Exception | None = None
        self.was_called = threading.Condition()

    def send_task(self, name: str, *args: Any, kwargs: dict[str, Any], **options: Any) -> None:
        with self.was_called:
            self.threads.add(threading.current_thread().name)
            self.was_called.notify_all()
            if self.error is not None:
                raise self.error
            self.sent.append((name, kwargs))

    def wait_for(self, condition: Callable[[], bool]) -> None:
        with self.was_called:
            assert self.was_called.wait_for(condition, timeout=10)


@pytest.fixture
def recording() -> Iterator[RecordingApp]:
    """Make an app the current one of this thread alone."""
    recorder = RecordingApp("recorder")
    recorder.set_current()
    yield recorder
    app.set_current()


def test_a_task_is_sent_by_the_app_that_was_current_where_it_was_requested(recording: RecordingApp) -> None:
    task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=7)
    recording.wait_for(lambda: bool(recording.sent))
    assert recording.sent == [("audit.tasks.replay_stream", {"stream_id": 7})]
    assert recording.threads == {"task-queue"}


def test_a_task_requested_again_before_its_turn_is_sent_once(
    recording: RecordingApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_queue, "GATHER_S", 0.5)
    for stream_id in (1, 2, 1, 1):
        task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=stream_id)
    task_queue.send_soon(task_queue.RUN_JOB, job_id=1)
    recording.wait_for(lambda: len(recording.sent) >= 3)
    assert recording.sent == [
        ("audit.tasks.replay_stream", {"stream_id": 1}),
        ("audit.tasks.replay_stream", {"stream_id": 2}),
        ("audit.tasks.run_job", {"job_id": 1}),
    ]


def test_many_streams_to_be_replayed_share_one_message_a_worker(
    recording: RecordingApp, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(task_queue, "GATHER_S", 0.5)
    settings.CABOCHON_REPLAY_WORKERS = 3
    for stream_id in range(1, 9):
        task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=stream_id)
    task_queue.send_soon(task_queue.NIGHT_CLOSE, stream_id=1)
    recording.wait_for(lambda: len(recording.sent) >= 4)
    assert recording.sent == [
        ("audit.tasks.replay_stream", {"stream_id": 1, "also": [4, 7]}),
        ("audit.tasks.replay_stream", {"stream_id": 2, "also": [5, 8]}),
        ("audit.tasks.replay_stream", {"stream_id": 3, "also": [6]}),
        ("audit.tasks.night_close", {"stream_id": 1}),
    ]


def test_the_sender_goes_on_after_a_broker_that_failed(
    recording: RecordingApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_queue, "PAUSE_S", 0.0)
    recording.error = OperationalError("no broker")
    task_queue.send_soon(task_queue.RUN_JOB, job_id=1)
    recording.wait_for(lambda: bool(recording.threads))
    recording.error = None
    task_queue.send_soon(task_queue.RUN_JOB, job_id=2)
    recording.wait_for(lambda: bool(recording.sent))
    assert recording.sent == [("audit.tasks.run_job", {"job_id": 2})]


def test_a_task_sent_now_raises_if_the_broker_is_gone(recording: RecordingApp) -> None:
    recording.error = OperationalError("no broker")
    with pytest.raises(task_queue.QueueUnavailable):
        task_queue.send(task_queue.NIGHT_RECONCILE, casino_id=1)
    recording.error = None
    task_queue.send(task_queue.NIGHT_RECONCILE, casino_id=1)
    assert recording.sent == [("audit.tasks.night_reconcile", {"casino_id": 1})]


@pytest.mark.parametrize("name", [task_queue.REPLAY_STREAM, task_queue.RUN_JOB, task_queue.NIGHT_RECONCILE])
def test_every_name_is_that_of_a_task(name: str) -> None:
    assert getattr(tasks, name.rpartition(".")[2]).name == name
