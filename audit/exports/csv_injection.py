"""CSV injection: text that a spreadsheet would evaluate as a formula when it opens a file."""

from __future__ import annotations

from typing import Any


def guarded(value: Any) -> Any:
    """Return ``value``, with an apostrophe before text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
