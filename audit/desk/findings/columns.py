"""The columns of the findings list on screen. ``audit.exports.findings.COLUMNS`` defines them for list and file alike;
here is how a cell looks on screen where it is more than its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit.casework.priority import reasons
from audit.exports.findings import COLUMNS
from audit.models import Finding
from audit.models.cases import State
from audit.presentation import MISSING, countdown, date_time

SHOWN = ("priority", "severity", "title", "money", "deadline", "state", "table", "occurred", "wager", "officer")
"""Columns of the list, in order."""


def _severity(finding: Finding) -> str:
    return _mark("severity", finding.severity, COLUMNS["severity"].cell(finding))


@lru_cache(maxsize=2_000)
def _mark(kind: str, css_class: str, words: str) -> SafeString:
    return format_html('<span class="{} {}">{}</span>', kind, css_class, words)


def _priority(finding: Finding) -> str:
    """Return four bars, as many of them filled as the priority is high. What it comes from is on hovering."""
    priority = COLUMNS["priority"].cell(finding)
    if priority is None:
        return MISSING
    return _bars(priority, " · ".join(reasons(finding)))


@lru_cache(maxsize=500)
def _bars(priority: int, title: str) -> SafeString:
    text = '<span class="priority p{}" title="{}"><i></i><i></i><i></i><i></i><b class="visually-hidden">{}</b></span>'
    return format_html(text, priority, title, priority)


def _occurred(finding: Finding) -> str:
    return date_time(finding.occurred_at, finding.casino)


def _state(finding: Finding) -> str:
    state = finding.case.state if finding.case else ""
    return _mark("state", state, COLUMNS["state"].cell(finding) or MISSING)


def _deadline(finding: Finding) -> str:
    if finding.case is None or finding.case.state == State.CLOSED:
        return MISSING
    left = countdown(finding.case.deadline)
    return _mark("due", left.css_class, left.text)


ON_SCREEN: Mapping[str, Callable[[Finding], str]] = MappingProxyType(
    {"priority": _priority, "severity": _severity, "occurred": _occurred, "state": _state, "deadline": _deadline}
)
"""Cells that look different on screen; every other cell is the text that an export has."""


def _list_column(name: str) -> Callable[[Finding], str]:
    """Return a column for ``ModelAdmin.list_display``: its heading and order are those of ``COLUMNS``."""
    column, on_screen = COLUMNS[name], ON_SCREEN.get(name)

    @admin.display(description=column.heading, ordering=column.ordering or None)
    def cell(finding: Finding) -> str:
        return on_screen(finding) if on_screen is not None else str(column.cell(finding) or MISSING)

    cell.__name__ = name  # Django derives the CSS class of the cell from it
    return cell


LIST_COLUMNS: Mapping[str, Callable[[Finding], str]] = MappingProxyType({name: _list_column(name) for name in SHOWN})
