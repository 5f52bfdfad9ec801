"""Processes that die at a step of their choice.

An actor runs in a process of its own, forked from this one. A *step* is whatever leaves something behind outside that
process: a statement, a commit, a copy out of the log, a message to the broker, the answer. Before or after any of them
the process can be killed, by SIGKILL, as a plug is pulled. Nothing in the code knows of it: the steps are counted in
the libraries it calls.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import psycopg
from django.db import connections

from audit import task_queue
from audit.event_store import bulk_read

Side: TypeAlias = Literal["before", "after"]


@dataclass(frozen=True, slots=True, order=True)
class CrashPoint:
    """Where an actor dies: before or after its so-manieth step, counted from 1."""

    step: int
    side: Side


@dataclass(slots=True)
class Outcome:
    """What came of an actor: whether it died, its answer, the streams it told the broker of, its steps by name."""

    died: bool = True
    answer: Any = None
    hinted: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


def run(actor: Callable[[], Any], die_at: CrashPoint | None = None) -> Outcome:
    """Run ``actor`` in a process of its own, to its end or to ``die_at``."""
    return finish(start(actor, die_at))


def start(actor: Callable[[], Any], die_at: CrashPoint | None = None) -> tuple[int, int]:
    """Start an actor; return its process and where it tells what it does."""
    connections.close_all()  # two processes must not speak on one connection
    told, tells = os.pipe()
    child = os.fork()
    if child:
        os.close(tells)
        return child, told
    os.close(told)
    try:
        _act(actor, die_at, tells)
    finally:
        os._exit(1)


def finish(started: tuple[int, int]) -> Outcome:
    """Wait for an actor and return what came of it. Raise ``AssertionError`` where it failed without dying."""
    child, told = started
    outcome = Outcome()
    with os.fdopen(told) as lines:
        for line in lines:
            name, what = json.loads(line)
            match name:
                case "hint":
                    outcome.hinted.append(what)
                case "step":
                    outcome.steps.append(what)
                case "answer":
                    outcome.answer = what
                case "failed":
                    raise AssertionError(what)
    _, status = os.waitpid(child, 0)
    outcome.died = os.WIFSIGNALED(status)
    assert outcome.died or os.WEXITSTATUS(status) == 0
    return outcome


def _act(actor: Callable[[], Any], die_at: CrashPoint | None, tells: int) -> None:
    steps = 0

    def tell(name: str, what: Any) -> None:
        os.write(tells, json.dumps([name, what]).encode() + b"\n")

    def stepping(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal steps
            steps += 1
            here = steps
            tell("step", name)
            if die_at == CrashPoint(here, "before"):
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*args, **kwargs)
            if die_at == CrashPoint(here, "after"):
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return step

    psycopg.Cursor.execute = stepping("statement", psycopg.Cursor.execute)  # type: ignore[method-assign]
    psycopg.Connection.commit = stepping("commit", psycopg.Connection.commit)  # type: ignore[method-assign]
    bulk_read._copied = stepping("copy", bulk_read._copied)
    task_queue.send_soon = stepping("message", lambda task, stream_id: tell("hint", stream_id))
    try:
        answer = actor()
        stepping("answer", lambda: tell("answer", answer))()
        os._exit(0)
    except BaseException as error:
        tell("failed", f"{type(error).__name__}: {error}")
