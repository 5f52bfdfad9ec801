"""Keeps processes running together, and stops them together.

The supervisor starts its services, then its children; it restarts what dies; on SIGINT or SIGTERM it stops the
children first, each with its own grace, and the services last. Nothing it started outlives it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol

GRACE_S = 15
"""How long a child may take to stop before it is killed."""

LOOK_EVERY_S = 0.5

RESTART_AFTER_S = 2.0
"""The pause before a child that died is started again, so that one that cannot run does not spin."""


class Service(Protocol):
    """A server of our own."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def is_running(self) -> bool: ...


@dataclass(slots=True)
class Child:
    """A process of ours: its name, its command, what its environment has besides ours."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    died_at: float = 0.0


@dataclass(slots=True)
class Supervisor:
    services: list[Service]
    children: list[Child]
    logs: Path
    cwd: Path
    stopping: bool = False

    def run(self, welcome: Callable[[], tuple[str, ...]]) -> int:
        """Start everything, run the command of ``welcome`` once, and watch until a signal comes."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask_to_stop)
        self.logs.mkdir(parents=True, exist_ok=True)
        try:
            for service in self.services:
                service.start()
            self._do("manage.py", "migrate", "--verbosity", "0")
            self._do("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
            for child in self.children:
                self._start(child)
            greeting = subprocess.Popen(welcome(), cwd=self.cwd, start_new_session=True)
            self._watch(greeting)
            return 0
        finally:
            self._stop()

    def _do(self, *words: str) -> None:
        if not self.stopping:
            subprocess.run([sys.executable, *words], cwd=self.cwd, check=True, start_new_session=True)

    def _start(self, child: Child) -> None:
        if self.stopping:
            return
        # A session of its own: Ctrl-C reaches the supervisor alone, which then stops its children in order.
        with (self.logs / f"{child.name}.log").open("ab") as log:
            child.process = subprocess.Popen(
                child.command,
                cwd=self.cwd,
                env={**os.environ, **child.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _watch(self, greeting: subprocess.Popen[bytes]) -> None:
        try:
            while not self.stopping:
                for service in self.services:
                    if not service.is_running() and not self.stopping:
                        print("A service has died; it is started again.", file=sys.stderr)
                        service.start()
                for child in self.children:
                    self._restart_if_dead(child)
                time.sleep(LOOK_EVERY_S)
        finally:
            _end(greeting)

    def _restart_if_dead(self, child: Child) -> None:
        if child.process is not None and child.process.poll() is not None:
            print(f"{child.name} has died; see {self.logs / child.name}.log. It is started again.", file=sys.stderr)
            child.process = None
            child.died_at = time.monotonic()
        if child.process is None and time.monotonic() - child.died_at > RESTART_AFTER_S:
            self._start(child)

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def _stop(self) -> None:
        self.stopping = True
        running = [child.process for child in self.children if child.process is not None]
        for process in running:
            if process.poll() is None:
                process.terminate()
        for process in running:
            _end(process)
        for service in reversed(self.services):
            service.stop()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and everything in its session."""
    if process.poll() is None:
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
