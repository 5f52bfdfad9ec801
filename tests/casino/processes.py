"""For tests about processes: their environment, which of them use a data folder, and waiting for a condition."""

from __future__ import annotations

import os
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

TIMEOUT_S = 60

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", "SPT_NOENV": "1"}
"""What a process needs of the environment of the tests. See ``tests/settings.py`` for ``SPT_NOENV``."""


def running_on(data: Path) -> list[psutil.Process]:
    """Return the processes, servers included, that use ``data``."""
    return [process for process in psutil.process_iter() if _uses(data, process)]


def _uses(data: Path, process: psutil.Process) -> bool:
    # Ours have the folder in their environment; servers overwrite theirs, and have it in their command or as their cwd.
    try:
        return runs(process) and (
            process.environ().get("CABOCHON_DATA") == str(data)
            or any(str(data) in argument for argument in process.cmdline())
            or Path(process.cwd()).is_relative_to(data)
        )
    except psutil.Error:
        return False


def runs(process: psutil.Process) -> bool:
    """Whether ``process`` still does something: a process that ended may be listed until its parent has noticed."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def leader(data: Path, command: str) -> psutil.Process:
    """Return the process on ``data`` whose command or title contains ``command`` and whose parent's does not."""
    (process,) = [process for process in running_on(data) if _leads(command, process)]
    return process


def _leads(command: str, process: psutil.Process) -> bool:
    try:
        parent = process.parent()
        return command in " ".join(process.cmdline()) and (parent is None or command not in " ".join(parent.cmdline()))
    except psutil.NoSuchProcess:  # ended since the processes were listed
        return False


def until(condition: Callable[[], object], what: str, *, timeout_s: float = TIMEOUT_S) -> None:
    """Wait until ``condition`` is true. Fail after ``timeout_s``, naming ``what`` did not come."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited {timeout_s} s in vain: {what}"
        time.sleep(0.1)


def is_ready(url: str) -> bool:
    """Whether the web server at ``url`` answers and can store what it is sent."""
    try:
        with urllib.request.urlopen(f"{url}/health/accepts", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def nothing_left_on(data: Path) -> Iterator[None]:
    """Kill whatever still uses ``data`` when a test is over, passed or not."""
    try:
        yield
    finally:
        for process in running_on(data):
            with suppress(psutil.Error):
                process.kill()
