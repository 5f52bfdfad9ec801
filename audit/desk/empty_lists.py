"""What a list says that has no row: what is so and what comes next, never a bare “0 rows”.

ScopedAdmin.when_empty       what a section says of its whole list
ScopedAdmin.when_empty_of    what it says of a list that is narrowed by one parameter, as “answered=no”
ScopedAdmin.emptiness        chooses; any other list that is narrowed says so, with the way back to all of it
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class Empty:
    """What an empty list says, and the title and address of a link to what comes next, both "" for none."""

    words: str
    more: str = ""
    address: str = ""


def nothing_matches(query: str, address: str = "?") -> Empty:
    """Return what a narrowed list says that has no row: ``query`` is what was searched, ``address`` that of the list
    without its filters."""
    words = _("Nothing matches “%(query)s”.") % {"query": query} if query else _("Nothing matches these filters.")
    return Empty(words, _("Clear all filters"), address)
