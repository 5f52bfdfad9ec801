"""``manage.py archive``, killed before or after any step that leaves something behind: a file, a name, a statement.

``main`` kills its own process by SIGKILL at step ``DIE_AT``, as a power cut would.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.core.management import call_command

from audit.archive import files
from audit.event_store import audit_trail, binary_copy


@contextmanager
def dying(die_at: int, die: Callable[[], object]) -> Iterator[list[str]]:
    """Call ``die`` before step ``die_at``, counted from 1, each step counting twice: before it and after it.

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
        if len(steps) == die_at:
            die()

    execute = binary_copy.execute

    def of_partitions(statement: str, parameters: Any, **options: Any) -> Any:
        name = next((each for each in ("stage_month", "swap_month") if each in statement), None)
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


def main() -> None:
    """Run the command that the arguments name; Django is set up."""
    with dying(int(os.environ["DIE_AT"]), lambda: os.kill(os.getpid(), signal.SIGKILL)):
        call_command("archive", *sys.argv[1:])
