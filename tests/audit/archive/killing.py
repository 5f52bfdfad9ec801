"""``manage.py archive``, killed before or after any step that leaves something behind: a file, a name, a statement.

``run`` does it in a process that kills itself by SIGKILL at a step, as a power cut would.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.core.management import CommandError, call_command
from django.db import connections

from audit.archive import files
from audit.event_store import audit_trail, binary_copy

STATEMENTS = ("allow_moves", "begin_to_archive", "stage_month", "swap_month")
"""What changes months, or who may; the first two on a cluster alone, where what ``allow_moves`` does is committed."""


@contextmanager
def dying(die_at: int | str, die: Callable[[], object]) -> Iterator[list[str]]:
    """Call ``die`` at step ``die_at``: by its number from 1, or by its name. Each counts twice: before and after it.

    Yield the names of the steps so far.
    """
    steps: list[str] = []

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            _pass(f"before {name}")
            result = call(*args, **kwargs)
            _pass(f"after {name}")
            return result

        return step

    def _pass(name: str) -> None:
        steps.append(name)
        if die_at in (len(steps), name):
            die()

    execute = binary_copy.execute

    def of_partitions(statement: str, parameters: Any, **options: Any) -> Any:
        name = next((each for each in STATEMENTS if each in statement), None)
        run = counted(name, execute) if name else execute
        return run(statement, parameters, **options)

    with (
        patch.object(files, "write", counted("write", files.write)),
        patch.object(os, "fsync", counted("fsync", os.fsync)),
        patch.object(Path, "rename", counted("rename", Path.rename)),
        patch.object(Path, "unlink", counted("unlink", Path.unlink)),
        patch.object(binary_copy, "execute", of_partitions),
        patch.object(audit_trail, "perform_command", counted("entry", audit_trail.perform_command)),
    ):
        yield steps


class Running:
    """The command in a process of its own, which sends itself a signal at a step."""

    def __init__(self, die_at: int | str, *arguments: str, by: signal.Signals = signal.SIGKILL) -> None:
        self._printed = tempfile.TemporaryFile("w+")  # noqa: SIM115  # as long as the process
        connections.close_all()  # no process may use those of another
        self.process = get_context("fork").Process(target=self._run, args=(die_at, arguments, by))
        self.process.start()

    def _run(self, die_at: int | str, arguments: Sequence[str], by: signal.Signals) -> None:
        def die() -> None:
            self._print(*steps)
            os.kill(os.getpid(), by)

        with dying(die_at, die) as steps:
            try:
                call_command("archive", *arguments, stdout=StringIO())
            except CommandError as error:
                self._print(str(error))
                sys.exit(1)
        self._print(*steps)

    def _print(self, *lines: str) -> None:
        print(*lines, sep="\n", file=self._printed, flush=True)

    def wait(self) -> tuple[int, list[str]]:
        """Wait until the process ends. Return its code, and the steps that it came to, or why it refused."""
        self.process.join()
        self._printed.seek(0)
        code = self.process.exitcode
        assert code is not None
        return code, self._printed.read().splitlines()


def run(die_at: int | str, *arguments: str) -> list[str]:
    """Run the command in a process that kills itself at a step. Return the steps that it came to, none at its end."""
    code, printed = Running(die_at, *arguments).wait()
    assert code in (0, -signal.SIGKILL), printed
    return printed if code else []
