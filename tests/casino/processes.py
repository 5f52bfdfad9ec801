"""What the tests about processes share: who runs on whose data, and waiting until something holds."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

PATIENCE_S = 60


def running_on(data: Path) -> list[psutil.Process]:
    """Return the processes, servers included, that work on ``data``."""
    return [process for process in psutil.process_iter() if _works_on(data, process)]


def _works_on(data: Path, process: psutil.Process) -> bool:
    # Ours have the folder in their environment; servers write over theirs, and have it in their command or stand in it.
    try:
        return process.status() != psutil.STATUS_ZOMBIE and (
            process.environ().get("CABOCHON_DATA") == str(data)
            or any(str(data) in word for word in process.cmdline())
            or Path(process.cwd()).is_relative_to(data)
        )
    except psutil.Error:
        return False


def leader(data: Path, words: str) -> psutil.Process:
    """Return the process on ``data`` whose command holds ``words`` and whose parent's does not."""
    (found,) = [
        process
        for process in running_on(data)
        if words in " ".join(process.cmdline()) and words not in " ".join(process.parent().cmdline())
    ]
    return found


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until ``holds`` says something true."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S} s in vain: {what}"
        time.sleep(0.1)


def is_ready(url: str) -> bool:
    """Whether the web server at ``url`` answers and reaches its record."""
    try:
        with urllib.request.urlopen(f"{url}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def nothing_left_on(data: Path) -> Iterator[None]:
    """End whatever still runs on ``data`` when a test is over, passed or not."""
    try:
        yield
    finally:
        for process in running_on(data):
            with suppress(psutil.Error):
                process.kill()
