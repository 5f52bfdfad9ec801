"""What rulesets bring, by name: tables that grow when one is registered, and shrink again when that is undone.

Each table stays in the module that it belongs to, which shows it as a read-only mapping; ``rulesets.register`` fills
them. Nothing else does, so between two registrations they are constants.

No entry takes the place of another: what one ruleset brings changes nothing of what another has brought.
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
    """Return a table with what every ruleset shares, to be filled by ``add`` and ``share``."""
    created = dict(initial or {})
    _TABLES.append(created)
    return created


def add(entries: dict[K, V], key: K, value: V, what: str) -> None:
    """Add an entry. Raise ``ValueError`` if there is one of that key; its message names ``what`` it is, as "a
    ruleset"."""
    if key in entries:
        raise ValueError(f"there is {what} {_shown(key)} already")
    entries[key] = value


def share(entries: dict[K, V], key: K, value: V, what: str) -> None:
    """Add an entry that several rulesets may bring. Raise ``ValueError`` if there is another one of that key."""
    if entries.setdefault(key, value) != value:
        raise ValueError(f"there is {what} {_shown(key)} already, which is not the same")


def _shown(key: object) -> str:
    return " of ".join(repr(part) for part in reversed(key)) if isinstance(key, tuple) else repr(key)


def forgets(clear: Callable[[], None]) -> None:
    """Let ``clear`` be called whenever the tables change: what was computed from them is no longer right."""
    _CACHES.append(clear)


@contextmanager
def changed() -> Iterator[None]:
    """Let the tables change: all of it, or where that raises, nothing."""
    before = [dict(created) for created in _TABLES]
    try:
        yield
    except BaseException:
        _restore(before)
        raise
    finally:
        _forget()


@contextmanager
def undone() -> Iterator[None]:
    """Take back, at the end, whatever the tables got meanwhile."""
    before = [dict(created) for created in _TABLES]
    try:
        yield
    finally:
        _restore(before)
        _forget()


def _restore(before: list[dict[Any, Any]]) -> None:
    for created, content in zip(_TABLES, before, strict=True):
        created.clear()
        created.update(content)


def _forget() -> None:
    for clear in _CACHES:
        clear()
