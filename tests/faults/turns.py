"""Actors that take turns: several threads, of which one runs at a time, as far as it is told, and fails as it is told.

    a schedule ──"go on for n steps, then be killed"──► an actor in a thread with a connection of its own
        ▲                                                             │
        └────────────── "I stand before step n + 1", or "done" ◄──────┘

A *step* is a statement, a commit, a copy out of the event store, or a message to the broker, as in ``crash_points``.
An actor that stands keeps its transaction and its locks. Another that waits for such a lock would wait for ever: its
wait is limited (``LOCK_TIMEOUT_MS``), and since nobody else runs, what it waits for is always one that stands.

What can become of a step:

    killed      the process is gone, before the step or after it: its connection ends, and nothing of it runs again
    cut         the connection ends, before the step or after it; after it, the answer is lost
    timeout     PostgreSQL cancels the statement (``statement_timeout``), in whatever transaction it is
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import psycopg
import pytest
from django.db import connection, connections

from audit import task_queue
from audit.event_store import bulk_read

Fault: TypeAlias = Literal["", "killed before", "killed after", "cut before", "cut after", "timeout"]

FAULTS: Sequence[Fault] = ("killed before", "killed after", "cut before", "cut after", "timeout")

LOCK_TIMEOUT_MS = 15
"""Of every connection of the test: one that the code under test opens in the midst of a request waits no longer."""

STUCK_S = 120.0
"""Seconds after which the harness itself is at fault."""

_local = threading.local()


class Killed(BaseException):
    """The process of an actor is gone. Nothing in the code under test may catch it."""


@dataclass(slots=True)
class Actor:
    """One run of a function in a thread: ``answer`` is what it returned, None if it was killed or failed.

    ``failed`` is how it failed by itself, "" if it did not.
    """

    name: str
    function: Callable[[], Any]
    budget: int = 0
    fault: Fault = ""
    at: str = ""
    is_done: bool = False
    was_killed: bool = False
    answer: Any = None
    failed: str = ""


class Stage:
    """A thread for one actor at a time, with its own connection to the database."""

    def __init__(self, hints: list[int], trace: list[str]) -> None:
        self.hints, self.trace = hints, trace
        self.actor: Actor | None = None
        self._go, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def begin(self, actor: Actor) -> None:
        assert self.actor is None, "one actor at a time"
        self.actor = actor

    def go_on(self, steps: int, fault: Fault = "", *, at: str = "") -> Actor:
        """Let the actor do ``steps`` steps, at least one; the last of them has the fault. Return the actor.

        A step with the name ``at`` is the last.
        """
        actor = self.actor
        assert actor is not None
        actor.budget, actor.fault, actor.at = steps, fault, at
        self._go.release()
        assert self._stands.acquire(timeout=STUCK_S), f"{actor.name} waits for something that is no lock"
        if actor.is_done:
            self.actor = None
        return actor

    def close(self) -> None:
        self._is_closing = True
        self._go.release()
        self._thread.join(STUCK_S)
        assert not self._thread.is_alive(), "an actor waits for something that is no lock"

    def _run(self) -> None:
        while True:
            self._go.acquire()
            if self._is_closing:
                connection.close()
                _killer().close()
                return
            actor = self.actor
            assert actor is not None
            _local.stage = self
            try:
                actor.answer = actor.function()
            except Killed:
                actor.was_killed = True
            except Exception as error:
                actor.failed = f"{type(error).__name__}: {error}"
            _local.stage = None
            if actor.was_killed or actor.failed or _is_cut():  # as after every request and task
                _forget_connection()
            actor.is_done = True
            self.trace.append(f"{actor.name} ends")
            self._stands.release()

    def step(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Do one step of the actor, or what becomes of it."""
        actor = self.actor
        assert actor is not None
        if actor.budget == 0:
            self._stands.release()
            self._go.acquire()
        actor.budget = 0 if name == actor.at else actor.budget - 1
        fault = actor.fault if actor.budget == 0 else ""
        self.trace.append(f"{actor.name}: {name} {fault}".rstrip())
        _local.stage = None  # what a fault does to the connection is no step
        try:
            return self._do(fault, name, function, *args, **kwargs)
        finally:
            _local.stage = self

    def _do(self, fault: Fault, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        match fault:
            case "killed before":
                _end_connection()
                raise Killed
            case "cut before":
                _end_connection(is_noticed_later=True)
                return function(*args, **kwargs)  # which finds out
            case "timeout" if name == "statement":
                _time_out()
        result = function(*args, **kwargs)
        match fault:
            case "killed after":
                _end_connection()
                raise Killed
            case "cut after" if name != "message":
                _end_connection()
                raise psycopg.OperationalError("server closed the connection unexpectedly")
        return result


def _end_connection(*, is_noticed_later: bool = False) -> None:
    """End the server's process for this thread's connection, and wait until it has released what it held.

    ``is_noticed_later``: the next statement finds out.
    """
    pgconn = connection.connection.pgconn if connection.connection is not None else None
    if pgconn is None or pgconn.status != psycopg.pq.ConnStatus.OK:
        return
    _killer().execute("select pg_terminate_backend(%s)", (pgconn.backend_pid,))
    # A process of the server closes its socket after it has released its locks.
    with socket.socket(fileno=os.dup(pgconn.socket)) as end:
        end.settimeout(STUCK_S)
        with suppress(ConnectionError):
            while end.recv(8192):
                pass
    if not is_noticed_later:
        connection.connection.close()


def _killer() -> psycopg.Connection[Any]:
    """Return this thread's connection for ending the other one."""
    killer: psycopg.Connection[Any] | None = getattr(_local, "killer", None)
    if killer is None:
        killer = _local.killer = psycopg.connect(**_parameters(), autocommit=True)
    return killer


def _parameters() -> dict[str, Any]:
    names = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password", "NAME": "dbname"}
    return {name: connection.settings_dict[key] for key, name in names.items() if connection.settings_dict.get(key)}


def _time_out() -> None:
    """Have PostgreSQL cancel a statement, in the transaction in which it is, if any."""
    raw = connection.connection
    before = raw.execute("show statement_timeout").fetchone()[0]
    raw.execute("set statement_timeout = 1")
    try:
        raw.execute("select pg_sleep(5)")
    finally:
        if raw.autocommit:  # else it is rolled back with the transaction that failed
            raw.execute(f"set statement_timeout = '{before}'")


def _is_cut() -> bool:
    return connection.connection is None or connection.connection.closed or not connection.is_usable()


def _forget_connection() -> None:
    """Close this thread's connection; the next actor has another, as a new process does."""
    with suppress(Exception):
        connection.close()
    with suppress(AttributeError):
        del connections["default"]


@contextmanager
def uncounted() -> Iterator[None]:
    """What an actor does in this block are no steps."""
    stage, _local.stage = getattr(_local, "stage", None), None
    try:
        yield
    finally:
        _local.stage = stage


@contextmanager
def taking_turns() -> Iterator[None]:
    """Have every step of an actor in a stage's thread be one that can be told what becomes of it."""

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            stage = getattr(_local, "stage", None)
            if stage is None:
                return function(*args, **kwargs)
            return stage.step(name, function, *args, **kwargs)

        return step

    def hint(task: str, **params: Any) -> None:
        stage = getattr(_local, "stage", None)
        if stage is not None:
            stage.step("message", stage.hints.append, params["stream_id"])

    options = connection.settings_dict["OPTIONS"]
    waits = f"{options.get('options', '')} -c lock_timeout={LOCK_TIMEOUT_MS}".strip()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, "OPTIONS", options | {"options": waits})
        patch.setattr(psycopg.Cursor, "execute", counted("statement", psycopg.Cursor.execute))
        patch.setattr(psycopg.Connection, "commit", counted("commit", psycopg.Connection.commit))
        patch.setattr(bulk_read, "_copy_rows", counted("copy", bulk_read._copy_rows))
        patch.setattr(task_queue, "send_soon", hint)
        yield
