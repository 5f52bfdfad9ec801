"""Texts that are written from right to left, and controls of the writing direction, on every page: in one place.

Names, notes and reasons come from officers and table systems. A Hebrew name turns the digits after it round, and a
control (Unicode, bidirectional algorithm) turns the rest of the sentence round. So in the text of every page

    a run from right to left, not isolated yet  ─► between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE
    a control of the writing direction          ─► U+FFFD, which says that there was something
    what is between a pair of isolates already  ─► stays

Attributes, scripts and text areas stay as they are: a tooltip is a text by itself, and what an officer edits is sent
again as it was. ``presentation.isolated`` does the same for a name in a paper or a mail.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from audit.presentation import DIRECTION_CONTROLS, FIRST_STRONG_ISOLATE, POP_ISOLATE

_RIGHT_TO_LEFT = "\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_BETWEEN = "[\\s\u200c\u200d.,'’\"״׳-]*"
"""The characters between two words of one run."""

_TURNING = re.compile(
    f"{FIRST_STRONG_ISOLATE}[^{DIRECTION_CONTROLS}]*{POP_ISOLATE}"
    f"|[{DIRECTION_CONTROLS}]|[{_RIGHT_TO_LEFT}]+(?:{_BETWEEN}[{_RIGHT_TO_LEFT}]+)*"
)

_PARTS = re.compile(r"(<(script|style|textarea)\b.*?</\2\s*>|<!--.*?-->|<[^>]*>)", re.DOTALL | re.IGNORECASE)
"""The parts of a page that are no text."""

# By the bytes, because hardly any page has one: the first bytes of the characters above in UTF-8. They are one set, for
# which ``re`` looks four times as fast as for several beginnings.
_MAY_TURN = re.compile(
    rb"[\xd6-\xe0\xe2\xef\xf0](?:(?<=[\xd6-\xdf])|(?<=\xe0)[\xa0-\xa3]"
    rb"|(?<=\xe2)(?:\x80[\x8f\xaa-\xae]|\x81[\xa6-\xa9])|(?<=\xef)[\xac-\xbb]|(?<=\xf0)[\x90\x9e][\xa0-\xbf])"
)


class WritingDirection:
    """Isolates what is written from right to left in the text of each page, and takes the controls out of it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html") and not response.streaming
        if is_page and _MAY_TURN.search(response.content):
            response.content = in_order(response.content.decode())
        return response


def in_order(page: str) -> str:
    """Return HTML in whose text nothing turns what stands around it."""
    # Every third part is a piece of text; after it comes what is none, and the name of the element if it is whole.
    parts = _PARTS.split(page)
    parts[::3] = [_TURNING.sub(_isolated, text) for text in parts[::3]]
    parts[2::3] = [""] * len(parts[2::3])
    return "".join(parts)


def _isolated(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] == FIRST_STRONG_ISOLATE and len(text) > 1:
        return text
    is_control = len(text) == 1 and re.match(f"[{DIRECTION_CONTROLS}]", text)
    return "\N{REPLACEMENT CHARACTER}" if is_control else f"{FIRST_STRONG_ISOLATE}{text}{POP_ISOLATE}"
