"""One line of the table of what verification proves: columns, what is proved of them, and by which check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["held", "recomputed", "not held"]


@dataclass(frozen=True, slots=True)
class Line:
    """Columns of a table, what is proved of them, and by which check, or why they are not held and what follows."""

    columns: tuple[str, ...]
    state: State
    why: str


def held(by: Callable[..., object], columns: str) -> Line:
    """Return columns that a check holds, names with a space between."""
    return Line(tuple(columns.split()), "held", _name_of(by))


def recomputed(by: Callable[..., object], columns: str, source: str = "the events") -> Line:
    """Return columns that a check computes again, from ``source``."""
    return Line(tuple(columns.split()), "recomputed", f"{_name_of(by)}, from {source}")


def not_held(why: str, columns: str) -> Line:
    """Return columns that no check holds, and why."""
    return Line(tuple(columns.split()), "not held", why)


def _name_of(check: Callable[..., object]) -> str:
    return f"`{check.__module__.replace('.', '/')}.py: {check.__name__}`"
