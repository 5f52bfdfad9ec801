"""A line of what an officer should know before deciding, as both pages of a second officer show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """Something the officer should know: ``mark`` is a word or a number before it, ``kind`` the colour of that."""

    mark: str
    kind: str
    title: str
    detail: str = ""
    address: str = ""
    is_quoted: bool = False
