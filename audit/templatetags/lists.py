"""Template filters over Django's own lists and where they stand in the navigation. ``{% load lists %}``."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import islice
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_headers
from django.contrib.admin.views.main import ChangeList
from django.template import Context
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from audit.desk.findings.queue_page import Row
from audit.desk.findings.queue_rows import lines_of
from audit.desk.listed_rows import rows_of
from audit.desk.menu import sections as menu
from audit.desk.menu import tabs
from audit.desk.navigation import Link, Navigation, is_of_several
from audit.desk.parts import markup
from audit.desk.scoped_admin import ScopedAdmin

register = template.Library()


@register.simple_tag
def sections(navigation: Navigation) -> SafeString:
    """Return the links at the left of a page, in groups."""
    return menu(navigation)


@register.simple_tag
def sections_below(navigation: Navigation) -> SafeString:
    """Return the links below a page on a phone."""
    return tabs(navigation)


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
    return f'{opening}<a href="{escape(choice["query_string"])}">{markup(choice["display"])}</a></li>'


@register.inclusion_tag("admin/change_list_results.html")
def rows(listed: ChangeList) -> dict[str, Any]:
    """Show the headings and the rows of a list: as Django's ``result_list``, of which each cell costs less."""
    headers = list(result_headers(listed))
    return {
        "cl": listed,
        "result_headers": headers,
        "num_sorted_fields": sum(bool(each["sortable"] and each["sorted"]) for each in headers),
        "rows": rows_of(listed, headers),
    }


@register.inclusion_tag("admin/audit/parts/empty_list.html", takes_context=True)
def empty_list(context: Context, listed: ChangeList) -> dict[str, Any]:
    """Show what a list says that has no row."""
    section = listed.model_admin
    assert isinstance(section, ScopedAdmin), "each section of the desk is scoped"
    return {"empty": section.emptiness(context["request"], listed)}


@register.simple_tag(takes_context=True)
def queue_lines(context: Context, rows: Iterable[Row]) -> SafeString:
    """Return the lines of a group of the queue."""
    return lines_of(
        rows,
        context.get("preserved_filters") or "",
        can_work_cases=bool(context.get("can_work_cases")),
        of_several=is_of_several(context["request"]),
    )
