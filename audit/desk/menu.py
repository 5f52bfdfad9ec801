"""The navigation as a page shows it, written without a template, which would look up two hundred names for it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from audit.desk.icons import icon
from audit.desk.navigation import Link, Navigation

HOT = ' class="hot"'
CURRENT = ' aria-current="page"'
WITHIN = ' aria-current="true"'
"""Of a tab whose section the open page is in: its own link is behind the last tab."""


def sections(navigation: Navigation) -> SafeString:
    """Return the groups of links at the left of a page."""
    return mark_safe("".join(_group(navigation)))


def tabs(navigation: Navigation) -> SafeString:
    """Return the links below a page on a phone."""
    path = navigation.path
    return mark_safe("".join(_tab(link, leads_here=link in path) for link in navigation.tabs))


def _group(navigation: Navigation) -> Iterable[str]:
    for number, (title, links) in enumerate(navigation.groups):
        if title:
            yield f"<h2>{escape(str(title))}</h2>"
        elif number:
            yield "<hr>"
        yield f"<ul>{''.join([_item(link) for link in links])}</ul>\n"


def _item(link: Link) -> str:
    hot = HOT if link.is_late else ""
    waits = f"<b{hot}>{link.count}</b>" if link.count else ""
    below = "".join([f"<li>{_opening(child, 'n sub')}{_title(child)}</a></li>" for child in link.children])
    below = f"<ul>{below}</ul>" if below else ""
    return f'<li data-go="{link.icon}">{_opening(link, "n")}{icon(link.icon)}{_title(link)}{waits}</a>{below}</li>'


def _opening(link: Link, css: str) -> str:
    current = CURRENT if link.is_current else ""
    return f'<a class="{css}" href="{escape(link.address)}"{current}>'


def _title(link: Link) -> str:
    return escape(capfirst(str(link.title)))


def _tab(link: Link, *, leads_here: bool) -> str:
    late = f"<b>{link.count}</b>" if link.is_late else ""
    current = CURRENT if link.is_current else WITHIN if leads_here else ""
    title = escape(str(link.short or link.title))
    return f'<a href="{escape(link.address)}"{current}>{icon(link.icon)}{title}{late}</a>'
