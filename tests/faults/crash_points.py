"""Processes that are killed at a chosen step.

An actor that is to be killed runs in a process of its own, forked from this one. A *step* is whatever leaves something
behind outside that process: a statement, a commit, a copy out of the event store, a message to the broker, the answer.
The process can be killed before or after any of them by SIGKILL, as in a power cut. The code under test does
not notice: the steps are counted in the libraries it calls.

An actor that is not to be killed may run in this process: forking takes longer than most of what an actor does.
"""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import psycopg
import pytest
from django.db import connection

from audit import task_queue
from audit.event_store import bulk_read

Side: TypeAlias = Literal["before", "after"]

SIDES: Sequence[Side] = ("before", "after")

_inherited: list[Any] = []
"""In a child, its parent's connection: kept, so that it is neither used nor closed."""


@dataclass(frozen=True, slots=True, order=True)
class CrashPoint:
    """Where an actor is killed: before or after a step, counted from 1."""

    step: int
    side: Side


@dataclass(slots=True)
class Outcome:
    """The outcome of an actor: whether it was killed, its answer, the streams it sent hints for, its steps by name.

    Steps are counted in a process of its own only.
    """

    killed: bool = False
    answer: Any = None
    hinted: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


def run_here(actor: Callable[[], Any]) -> Outcome:
    """Run ``actor`` in this process to its end. Raise ``AssertionError`` if it fails."""
    outcome = Outcome()

    def hint(task: str, **params: Any) -> None:
        if "stream_id" in params:  # what the workers of webhooks are sent is of no stream
            outcome.hinted.append(params["stream_id"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task_queue, "send_soon", hint)
        try:
            outcome.answer = actor()
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}") from error
    return outcome


def run(actor: Callable[[], Any], die_at: CrashPoint | None = None) -> Outcome:
    """Run ``actor`` in a process of its own, to its end or to ``die_at``."""
    return finish(start(actor, die_at))


def start(actor: Callable[[], Any], die_at: CrashPoint | None = None) -> tuple[int, int]:
    """Start an actor; return its process id and the pipe it reports to."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        gc.disable()  # a collection would touch, and so copy, every page shared with the parent
        os.close(reader)
        _inherited.append(connection.connection)
        connection.connection = None  # two processes must not share a connection
        _run_actor(actor, die_at, writer)
    finally:
        os._exit(1)


def finish(started: tuple[int, int]) -> Outcome:
    """Wait for an actor and return what became of it. Raise ``AssertionError`` if it failed without being killed."""
    child, reader = started
    outcome = Outcome()
    with os.fdopen(reader) as lines:
        for line in lines:
            kind, value = json.loads(line)
            match kind:
                case "hint":
                    outcome.hinted.append(value)
                case "step":
                    outcome.steps.append(value)
                case "answer":
                    outcome.answer = value
                case "failed":
                    raise AssertionError(value)
    _, status = os.waitpid(child, 0)
    outcome.killed = os.WIFSIGNALED(status)
    assert outcome.killed or os.WEXITSTATUS(status) == 0
    return outcome


def _run_actor(actor: Callable[[], Any], die_at: CrashPoint | None, writer: int) -> None:
    report: list[str] = []
    steps = 0

    def add(kind: str, value: Any) -> None:
        report.append(json.dumps([kind, value]) + "\n")

    def send_report() -> None:
        os.write(writer, "".join(report).encode())  # all of it: a pipe takes a whole write, however long

    def die() -> None:
        send_report()
        os.kill(os.getpid(), signal.SIGKILL)

    def hint(task: str, **params: Any) -> None:
        if "stream_id" in params:  # what the workers of webhooks are sent is of no stream
            add("hint", params["stream_id"])

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal steps
            steps += 1
            number = steps
            add("step", name)
            if die_at == CrashPoint(number, "before"):
                die()
            result = function(*args, **kwargs)
            if die_at == CrashPoint(number, "after"):
                die()
            return result

        return step

    psycopg.Cursor.execute = counted("statement", psycopg.Cursor.execute)  # type: ignore[method-assign]
    psycopg.Connection.commit = counted("commit", psycopg.Connection.commit)  # type: ignore[method-assign]
    bulk_read._copy_rows = counted("copy", bulk_read._copy_rows)
    task_queue.send_soon = counted("message", hint)
    try:
        answer = actor()
        counted("answer", lambda: add("answer", answer))()
        send_report()
        os._exit(0)
    except BaseException as error:
        add("failed", f"{type(error).__name__}: {error}")
        send_report()
