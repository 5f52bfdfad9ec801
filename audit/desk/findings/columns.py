"""The columns of the findings list: its headings, and by what it is sorted.

``audit.exports.findings.COLUMNS`` defines what may be sorted, for list and file alike.
``audit.desk.findings.queue_rows`` writes a row of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.templatetags.admin_list import result_headers
from django.contrib.admin.views.main import ChangeList
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from audit.exports.findings import COLUMNS
from audit.models import Finding

SHOWN = ("priority", "severity", "title", "money", "deadline", "state", "table", "occurred", "wager", "officer")
"""What a list may be sorted by, in this order: an address, and so a saved view, has the number of one."""

HEADINGS: Mapping[str, Promise] = {
    "priority": _("Priority"),
    "title": _("Finding"),
    "money": _("Money"),
    "table": _("Table"),
    "croupier": _("Croupier"),
    "occurred": _("Happened"),
    "deadline": _("Deadline"),
    "state": _("Officer, state"),
}
"""The headings over the rows, in order, by what sorts them."""

UNSORTED = ("priority", "croupier")
"""Headings that sort nothing: over the bars there is no room for a word, and no list is in the order of croupiers."""


def headings_of(listed: ChangeList, *, are_sorting: bool) -> Iterator[dict[str, Any]]:
    """Yield the headings of a list as Django's ``result_headers`` does, without links where they are not sorting."""
    headers = zip(listed.list_display, result_headers(listed), strict=True) if are_sorting else ()
    by_name = {getattr(column, "__name__", column): header for column, header in headers}
    for name, text in HEADINGS.items():
        header = by_name.get(name, _UNSORTED) if name not in UNSORTED else _UNSORTED
        yield {**header, "text": text, "class_attrib": _classes(name, header), "is_hidden": name == "priority"}


_UNSORTED: Mapping[str, Any] = {"sortable": False}


def _classes(name: str, header: Mapping[str, Any]) -> str:
    css = ["num"] if name == "money" else []
    if header.get("sorted"):
        css += ["sorted", "ascending" if header["ascending"] else "descending"]
    return format_html(' class="{}"', " ".join(css)) if css else ""


def _column(name: str) -> Callable[[Finding], Any]:
    """Return a column for ``ModelAdmin.list_display``, with the heading and the order that it has in a file."""
    column = COLUMNS[name]

    @admin.display(description=column.heading, ordering=column.ordering or None)
    def cell(finding: Finding) -> Any:
        return column.cell(finding)

    cell.__name__ = name
    return cell


LIST_COLUMNS: Mapping[str, Callable[[Finding], Any]] = {name: _column(name) for name in SHOWN}
