"""What the interface refuses in the texts of new events: characters that are not shown, and change what is.

C0 and C1 controls and DEL move the cursor of a terminal or hide what follows. Controls of the writing direction
(Unicode, bidirectional algorithm) show a text in another order than it is stored in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from settlement.codec import ShapeError, escaped

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# The same in canonical JSON, where C0 is escaped; an escaped backslash or quotation mark is not told apart.
_MAYBE_CONTROL = re.compile(rb"\\[^\"]|\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def are_surely_plain(envelopes: Iterable[bytes]) -> bool:
    """Whether no text in canonical ``envelopes`` has a control: a quick look that says no too often, if at all."""
    together = b"\n".join(envelopes)
    if together.isascii() and b"\\" not in together and b"\x7f" not in together:
        return True
    return _MAYBE_CONTROL.search(together) is None


def refuse_controls(envelope: bytes) -> None:
    """Raise ``ShapeError`` for a control in a text or a name of a field of a canonical event."""
    if not are_surely_plain((envelope,)):
        _refuse_in(msgspec.json.decode(envelope), "")


def _refuse_in(value: object, pointer: str) -> None:
    match value:
        case str() if found := _CONTROL.search(value):
            raise ShapeError(f"has the control character U+{ord(found[0]):04X}, which texts may not have", pointer)
        case dict():
            for key, item in value.items():
                _refuse_in(key, pointer)
                _refuse_in(item, f"{pointer}/{escaped(key)}")
        case list():
            for index, item in enumerate(value):
                _refuse_in(item, f"{pointer}/{index}")
