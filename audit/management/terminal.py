"""The output of commands: text from outside moves no cursor, hides nothing and turns no text, and is no markup.

    a command ─► stdout, stderr, Console ─► audit.evidence.verify.printable ─► the terminal

Colours are ours: they are added behind it. A foreign text may begin a new line; where one could pass for a line of the
command, as a fault of ``verify`` could, the command escapes it itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import rich.console
from django.core.management import base
from django.core.management.base import OutputWrapper
from rich.segment import Segment

from audit.evidence.verify import printable

_LINES = re.compile(r"[^\n\t]+")


def shown(text: str) -> str:
    """Return a text of several lines as it may be written to a terminal."""
    return _LINES.sub(lambda part: part[0] if part[0].isprintable() else printable(part[0]), text)


class Output(OutputWrapper):
    """Django's output of a command, escaped before it is coloured."""

    def write(  # type: ignore[override]  # as Django has it
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        super().write(shown(str(msg)), style_func, ending)


class BaseCommand(base.BaseCommand):
    """Django's command, whose output and errors are escaped."""

    def __init__(self, stdout: Any = None, stderr: Any = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        self.stdout, self.stderr = Output(stdout or sys.stdout), Output(stderr or sys.stderr)
        self.stderr.style_func = self.style.ERROR


class Console(rich.console.Console):
    """rich's console: what is printed is escaped, and is no markup."""

    def __init__(self, *, file: Any = None, **options: Any) -> None:
        # Past the output of a command, which would escape the colours, too.
        super().__init__(file=getattr(file, "_out", file), markup=False, emoji=False, **options)

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        for text, style, control in super().render(*args, **options):
            yield Segment(text if control else shown(text), style, control)
