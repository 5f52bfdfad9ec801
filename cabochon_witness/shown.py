"""Printed lines, in which text from outside moves no cursor, hides nothing and turns no text."""

from __future__ import annotations

import unicodedata
from typing import TextIO

_NOT_SHOWN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str) -> str:
    """Escape what moves the cursor, hides or turns text (bidi), ends a line, or has no glyph."""
    return "".join(f"\\u{ord(each):04x}" if unicodedata.category(each) in _NOT_SHOWN else each for each in text)


def say(*lines: object, to: TextIO | None = None) -> None:
    """Print lines, to standard output unless it is said."""
    for line in lines:
        print(printable(str(line)), file=to, flush=True)
