r"""Events that PostgreSQL keeps and cannot read, and instants that no calendar has.

A column of type ``json`` keeps any text that is JSON. Its operators (``->>``) refuse one with ``\u0000``, which is no
character of a text, or with half of a pair of surrogates. A role that may append can store such a body past the
interface; a statement that reads other events with it would then fail for good, and so would all that rests on it. So
each statement passes such a body by, the sequencer does not seal it, and verification names it.
"""

from __future__ import annotations

import re

from audit.calendar import CALENDAR

_UNREADABLE = r"(^|[^\\])(\\\\)*\\u(0000|d[89a-f])"
r"""In a body: an escape of the character 0 or of a surrogate, with no backslash before it that is meant itself."""


_ESCAPES_NOTHING = r"position('\' in {}::text) = 0"
"""One character, which PostgreSQL finds in a fifth of the time of two."""

_search_unreadable = re.compile(_UNREADABLE.encode(), re.IGNORECASE).search


def holds_unreadable(bodies: bytes) -> bool:
    """Whether the database cannot read one of ``bodies``, JSON of one or of several together."""
    return rb"\u" in bodies and _search_unreadable(bodies) is not None


def readable(body: str) -> str:
    r"""Return the SQL of a ``json`` expression that is null where its operators would fail.

    Canonical JSON never escapes a pair of surrogates, so one that is whole counts as unreadable, too.
    """
    return f"(case when {is_readable(body)} then {body} end)"


def is_readable(body: str) -> str:
    r"""Return the SQL of whether a ``json`` expression can be read. Few bodies have a ``\``, so few are searched."""
    return rf"({_ESCAPES_NOTHING.format(body)} or {body}::text !~* '{_UNREADABLE}')"


def is_of_type(body: str, kind: str) -> str:
    r"""Return the SQL of whether a ``json`` expression is an event of the type ``kind``; null if it cannot be read.

    Only a body that has the name of the type, or an escape that may spell it, is parsed.
    """
    may_be = f"(position('{kind}' in {body}::text) > 0 or not {_ESCAPES_NOTHING.format(body)})"
    return f"({may_be} and {readable(body)} ->> 'type' = '{kind}')"


def is_dated(instant: str) -> str:
    """Return the SQL of whether a ``timestamptz`` expression is one that every page can show: of ``CALENDAR``."""
    first, last = (each.isoformat() for each in CALENDAR)
    return f"({instant} between '{first}' and '{last}')"
