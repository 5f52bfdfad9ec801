"""The supervisor: starts, restarts and stops the processes of a deployment on one machine.

    lock ─► services ─► preparations ─► children ─► watch ─► children, then services, stop

It restarts what dies, and what stands still: a child with a stall limit touches its heartbeat file while it works
(``CABOCHON_HEARTBEAT_FILE``), and one whose file is too old is killed. Logs are a folder that only their user can read,
rotated by size. On SIGINT, SIGTERM or SIGHUP (a terminal that closes) it stops the children first, with a grace
period, and the services last, so that nothing it started outlives it. If it is killed by SIGKILL, the next supervisor
reads the list of children that it left and ends them before it starts its own.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol, TextIO

GRACE_S = 15.0
"""How long a child may take to stop before it is killed."""

POLL_INTERVAL_S = 0.5

RESTART_DELAY_S = 2.0
"""The pause before a child that died is started again, so that one that cannot run does not restart in a busy loop."""


LOG_BYTES = 10 * 1024 * 1024
"""The size from which a log is rotated."""

LOGS_KEPT = 5
"""Rotated logs of each child that are kept, ``name.log.1`` the newest."""

START_STALLS = 3
"""How many times its stall limit a child has for its first heartbeat: it has to start."""

MISSED_POLLS_S = 10.0
"""A gap between two polls, after which the machine slept, and no child is to blame for an old heartbeat."""


class AlreadyRunning(RuntimeError):
    """Another supervisor uses this data folder."""


class PreparationFailed(RuntimeError):
    """A preparation failed; its output is on the terminal."""


class Service(Protocol):
    """An embedded server, which daemonizes: it is no child of the supervisor."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def is_running(self) -> bool: ...


@dataclass(slots=True)
class Child:
    """A child process: its name, its command, and environment variables in addition to the supervisor's.

    ``is_restarted`` is False for a process that ends by itself; its output goes to the terminal instead of a log.
    ``stall_s`` is how old its heartbeat file may be before it is killed and started again; None has no such file.
    ``listener`` is a socket that it inherits. The supervisor keeps it open while another such child is started, so
    that nobody else takes the port and whoever connects meanwhile waits instead of being refused.
    """

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    is_restarted: bool = True
    stall_s: float | None = None
    listener: socket.socket | None = None
    process: subprocess.Popen[bytes] | None = None
    died_at: float = 0.0
    watched_since: float = 0.0  # on the clock of files


@dataclass(slots=True)
class Supervisor:
    """Supervises ``services`` and ``children``, after the commands in ``preparations`` have succeeded.

    ``data`` holds the lock, the list of children and their logs; commands run in ``cwd``.
    """

    services: list[Service]
    preparations: list[tuple[str, ...]]
    children: list[Child]
    data: Path
    cwd: Path
    is_stopping: bool = False

    def run(self) -> None:
        """Start everything and watch it until a signal comes. Raise ``AlreadyRunning`` or ``PreparationFailed``."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._request_stop)
        for folder in (self._logs, self._heartbeats):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
        with (self.data / "lock").open("w") as lock:
            _lock(lock)
            _end_leftovers(self._list)
            try:
                self._start_everything()
                self._watch()
            finally:
                self._stop_everything()

    @property
    def _logs(self) -> Path:
        return self.data / "logs"

    @property
    def _heartbeats(self) -> Path:
        return self.data / "heartbeats"

    @property
    def _list(self) -> Path:
        return self.data / "processes"

    def _start_everything(self) -> None:
        for service in self.services:
            if not self.is_stopping:
                service.start()
        for command in self.preparations:
            if not self.is_stopping:
                self._prepare(command)
        for child in self.children:
            if not self.is_stopping:
                self._start(child)

    def _prepare(self, command: tuple[str, ...]) -> None:
        done = subprocess.run(command, cwd=self.cwd, stdin=subprocess.DEVNULL, start_new_session=True, check=False)
        if done.returncode:
            raise PreparationFailed(f"{' '.join(command[1:])} failed.")

    def _start(self, child: Child) -> None:
        output = None
        if child.is_restarted:
            with _going_on(f"the log of {child.name}"):
                output = (self._logs / f"{child.name}.log").open("ab")
        heartbeat = {"CABOCHON_HEARTBEAT_FILE": str(self._heartbeats / child.name)} if child.stall_s else {}
        child.watched_since = time.time()
        # A session of its own: Ctrl-C reaches the supervisor alone, which then stops its children in order.
        child.process = subprocess.Popen(
            child.command,
            cwd=self.cwd,
            env={**os.environ, **heartbeat, **child.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=() if child.listener is None else (child.listener.fileno(),),
        )
        if output is not None:
            output.close()
        self._write_list()

    def _write_list(self) -> None:
        """Write the list of children, whole or not at all: on a full disk the last one stays."""
        pids = [each.process.pid for each in self.children if each.process is not None]
        written = self._list.with_name(f"{self._list.name}.new")
        with _going_on("the list of processes"):
            written.write_text("".join(f"{pid}\n" for pid in pids))
            written.replace(self._list)

    def _watch(self) -> None:
        polled_at = time.time()
        while not self.is_stopping:
            for service in self.services:
                self._restart_if_gone(service)
            if time.time() - polled_at > MISSED_POLLS_S:
                for child in self.children:
                    child.watched_since = time.time()
            polled_at = time.time()
            for child in self.children:
                self._kill_if_stalled(child)
                self._restart_if_dead(child)
                with _going_on(f"the log of {child.name}"):
                    rotate(self._logs / f"{child.name}.log")
            time.sleep(POLL_INTERVAL_S)

    def _kill_if_stalled(self, child: Child) -> None:
        """Kill a child that has not touched its heartbeat file in time; then it is one that died."""
        if child.process is None or child.stall_s is None or child.process.poll() is not None:
            return
        file = self._heartbeats / child.name
        moved_at = file.stat().st_mtime if file.exists() else 0.0
        has_begun = moved_at > child.watched_since
        still_s = time.time() - max(child.watched_since, moved_at)
        if still_s > child.stall_s * (1 if has_begun else START_STALLS):
            print(f"{child.name} has stood still for {still_s:.0f} s; it is killed.", file=sys.stderr)
            _kill_group(child.process.pid)
            child.process.wait()

    def _restart_if_gone(self, service: Service) -> None:
        if service.is_running() or self.is_stopping:
            return
        print(f"{type(service).__name__} has died; it is started again.", file=sys.stderr)
        try:
            service.start()
        except (RuntimeError, OSError) as error:
            # The next poll tries again; the processes that need the service retry, too.
            print(error, file=sys.stderr)

    def _restart_if_dead(self, child: Child) -> None:
        if child.process is not None and child.process.poll() is not None and child.is_restarted:
            print(f"{child.name} has died; see {self._logs / child.name}.log. It is started again.", file=sys.stderr)
            _kill_group(child.process.pid)  # its own children
            child.process = None
            child.died_at = time.monotonic()
        if child.process is None and time.monotonic() - child.died_at > RESTART_DELAY_S and not self.is_stopping:
            self._start(child)

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def _stop_everything(self) -> None:
        self.is_stopping = True
        with suppress(OSError):  # the terminal may be gone
            print("\nStopping …", flush=True)
        running = [child.process for child in self.children if child.process is not None]
        for process in running:
            if process.poll() is None:
                process.terminate()
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
            _kill_group(process.pid)
            process.wait()
        with _going_on("the list of processes"):
            self._list.unlink(missing_ok=True)
        for service in reversed(self.services):
            service.stop()


@contextmanager
def _going_on(what: str) -> Iterator[None]:
    """Report an error of a file that the supervisor can do without: a full disk must not stop what it supervises."""
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            print(f"Could not write {what}: {error.strerror}.", file=sys.stderr)


def rotate(log: Path, *, most_bytes: int = LOG_BYTES, kept: int = LOGS_KEPT) -> None:
    """Begin a log anew if it is too large. The process that writes it keeps it open, so its content is copied away."""
    if not log.exists() or log.stat().st_size < most_bytes:
        return
    copy = log.with_name(f"{log.name}.new")
    try:
        shutil.copyfile(log, copy)
    except OSError:  # the older logs stay where they are
        with suppress(OSError):
            copy.unlink(missing_ok=True)
        raise
    for number in range(kept - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.rename(log.with_name(f"{log.name}.{number + 1}"))
    copy.rename(log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)


def _lock(file: TextIO) -> None:
    """Lock ``file`` until this process ends. Raise ``AlreadyRunning`` if another process has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise AlreadyRunning("It is running already, from another terminal, on the same data.") from error


def _end_leftovers(processes: Path) -> None:
    """End the children of a supervisor that was killed. A pid that was reused by another program is skipped."""
    if not processes.exists():
        return
    left = [group for group in map(int, processes.read_text().split()) if _is_ours(group)]
    for group in left:
        os.kill(group, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while any(_is_ours(group) for group in left) and time.monotonic() < deadline:
        time.sleep(0.1)
    for group in left:
        _kill_group(group)
    processes.unlink()


def _is_ours(pid: int) -> bool:
    """Whether a process leads a session of its own and runs a command of this project."""
    try:
        if os.getpgid(pid) != pid:
            return False
    except ProcessLookupError:
        return False
    command = _command(pid)
    return "casino" in command or "manage.py" in command


def _command(pid: int) -> str:
    """Return the command line of a process, or an empty string if it has ended."""
    if Path("/proc/self").exists():
        with suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        return ""
    return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
