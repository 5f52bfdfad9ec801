"""What rulesets bring, by name: tables that grow when one is registered, and shrink again when that is undone.

Each table stays in the module that it belongs to, which shows it as a read-only mapping; ``rulesets.register`` fills
them. Nothing else does, so between two registrations they are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_TABLES: list[dict[Any, Any]] = []
_CACHES: list[Callable[[], None]] = []


def table(initial: dict[K, V] | None = None) -> dict[K, V]:
    """Return a table with what every ruleset shares, to be filled by name."""
    created = dict(initial or {})
    _TABLES.append(created)
    return created


def forgets(clear: Callable[[], None]) -> None:
    """Let ``clear`` be called whenever the tables change: what was computed from them is no longer right."""
    _CACHES.append(clear)


def forget() -> None:
    """Forget what was computed from the tables."""
    for clear in _CACHES:
        clear()


@contextmanager
def undone() -> Iterator[None]:
    """Take back, at the end, whatever the tables got meanwhile."""
    before = [dict(created) for created in _TABLES]
    try:
        yield
    finally:
        for created, content in zip(_TABLES, before, strict=True):
            created.clear()
            created.update(content)
        forget()
