"""Counts in what a command prints: “1 stream”, “2,000 streams”."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return ``number`` with its noun. ``plural`` is where it is not the singular with an s."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"
