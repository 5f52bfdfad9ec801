"""Template filters over Django's own lists and where they stand in the navigation. ``{% load lists %}``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from django import template
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.desk.navigation import Link, Navigation
from audit.presentation import MISSING

register = template.Library()

_CELL = re.compile("<t[dh]")
_TAG = re.compile("<[^>]*>")  # what Django writes escapes > in attributes; strip_tags would parse each cell
_MARK = re.compile(r'<img src="[^"]*icon-(yes|no|unknown)\.svg"[^>]*>')


@register.filter
def leading_to(navigation: Navigation, title: object) -> list[Link]:
    """Return the links of the navigation that lead to a page, without one that has its title."""
    return [link for link in navigation.path if capfirst(str(link.title)) != str(title)]


@register.filter
def chosen(choices: Iterable[dict[str, Any]]) -> list[Any]:
    """Return what of a filter is chosen, where that is not its first choice: all."""
    return [each["display"] for each in islice(choices, 1, None) if each["selected"]]


@register.filter
def as_links(choices: Iterable[dict[str, Any]]) -> SafeString:
    """Return the choices of a filter, of which a list of findings has some hundred and forty, as items with a link."""
    return mark_safe("".join(_choice(each) for each in choices))


def _choice(choice: dict[str, Any]) -> str:
    opening = '<li class="selected">' if choice["selected"] else "<li>"
    return f'{opening}<a href="{escape(choice["query_string"])}">{conditional_escape(choice["display"])}</a></li>'


@register.filter
def labels(headers: Iterable[dict[str, Any]]) -> list[str]:
    """Return the headings of a list's columns, escaped, for the cells of a card on a phone; "" for the boxes."""
    return [
        "" if "action-checkbox" in str(header.get("class_attrib", "")) else escape(capfirst(str(header["text"])))
        for header in headers
    ]


@register.filter
def under(cells: Iterable[SafeString], labels: Iterable[str]) -> SafeString:
    """Return the cells of a row of Django's list, each with the heading of its column as ``data-label``.

    ``data-none`` is a cell with nothing in it, which a card on a phone leaves out.
    Where Django draws a mark for yes and no, which in red looks like an error, the word stands.
    """
    return mark_safe("".join(_cell(drawn, label) for drawn, label in zip(cells, labels, strict=True)))


def _cell(drawn: str, label: str) -> str:
    if "icon-" in drawn:
        words = {"yes": gettext("yes"), "no": gettext("no"), "unknown": MISSING}
        drawn = _MARK.sub(lambda mark: words[mark[1]], drawn)
    assert _CELL.match(drawn), drawn
    is_none = bool(label) and _TAG.sub("", drawn).replace("&nbsp;", "").strip() in ("", MISSING)
    return f'{drawn[:3]} data-label="{label}"{" data-none" * is_none}{drawn[3:]}'
