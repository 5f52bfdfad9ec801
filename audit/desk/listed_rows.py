"""The rows of Django's lists, written without asking anew for each cell what its column is.

Django looks up in every cell whether its column is a field, a method or a function, where it leads and which filters
the list has; for 25 rows of 11 columns that is half of the time of a page. Here each column is looked up once, and its
cells are the same. No list of the desk is a form, or a window to choose from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time
from html import escape
from typing import Any

from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.contrib.admin.utils import display_for_field, display_for_value, lookup_field, quote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist
from django.db.models import DateField, Field, ManyToOneRel, Model, TimeField
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.desk.addresses import page_of
from audit.desk.parts import markup
from audit.presentation import MISSING

Cell = Callable[[Model], tuple[Any, bool]]
"""What a cell of a row says, and whether it is a date or a time, which no line breaks."""

_TAG = re.compile("<[^>]*>")  # what Django writes escapes > in attributes; strip_tags would parse each cell
_MARK = re.compile(r'<img src="[^"]*icon-(yes|no|unknown)\.svg"[^>]*>')


def rows_of(listed: ChangeList, headers: Sequence[dict[str, Any]]) -> SafeString:
    """Return the rows of a list, each cell with the heading of its column as ``data-label``, as ``cards`` has them.

    The title of a card is the first column that links to the row's page, or the section's ``card_title``.
    ``data-none`` is a cell with nothing in it, which a card on a phone leaves out.
    Where Django draws a mark for yes and no, which in red looks like an error, the word stands.
    """
    writers = list(_writers(listed, _labels(headers)))
    query = _kept_query(listed)
    return mark_safe("\n".join(_row(listed, row, writers, query) for row in listed.result_list))


def _row(listed: ChangeList, row: Model, writers: Iterable[_Writer], query: str) -> str:
    address = escape(_address(listed, row) + query)
    return f'<tr role="row">{"".join([writer.cell(row, address) for writer in writers])}</tr>'


def _address(listed: ChangeList, row: Model) -> str:
    return page_of(str(listed.opts.model_name), quote(row.pk))


def _labels(headers: Iterable[dict[str, Any]]) -> list[str]:
    """Return the headings of a list's columns, escaped; "" for the boxes."""
    return [
        "" if "action-checkbox" in str(header.get("class_attrib", "")) else escape(capfirst(str(header["text"])))
        for header in headers
    ]


def _kept_query(listed: ChangeList) -> str:
    """Return what the address of each row's page ends with, so that it leads back to this list; "" for nothing."""
    if not listed.preserved_filters or not listed.result_list:
        return ""
    address = _address(listed, listed.result_list[0])
    context: dict[str, Any] = {"preserved_filters": listed.preserved_filters, "opts": listed.opts}
    return add_preserved_filters(context, address).removeprefix(address)


class _Writer:
    """Writes the cells of one column. ``is_first`` of those that link to the row's page: it names the row."""

    def __init__(self, shown: Cell, css: str, label: str, *, is_link: bool, is_first: bool, none: str) -> None:
        self.shown, self.is_link, self.none = shown, is_link, none
        self.tag = "th" if is_first else "td"
        self.has_label = bool(label)
        role = "rowheader" if is_first else "cell"
        self.opening = f'<{self.tag} data-label="{label}" role="{role}"'
        self.css = css

    def cell(self, row: Model, address: str) -> str:
        try:
            shown, is_unbroken = self.shown(row)
        except ObjectDoesNotExist:
            shown, is_unbroken = self.none, False
        text = markup(shown)
        if "icon-" in text:
            text = _in_words(text)
        is_none = self.has_label and _is_nothing(text)
        if self.is_link:
            text = f'<a href="{address}">{text}</a>'
        none, unbroken = " data-none" if is_none else "", " nowrap" if is_unbroken else ""
        return f'{self.opening}{none} class="{self.css}{unbroken}">{text}</{self.tag}>'


def _is_nothing(text: str) -> bool:
    plain = _TAG.sub("", text) if "<" in text else text
    return plain.replace("&nbsp;", "").strip() in ("", MISSING)


def _in_words(text: str) -> str:
    words = {"yes": gettext("yes"), "no": gettext("no"), "unknown": MISSING}
    return _MARK.sub(lambda mark: words[mark[1]], text)


def _writers(listed: ChangeList, labels: Iterable[str]) -> Iterable[_Writer]:
    links, had_link = listed.list_display_links, False
    title = getattr(listed.model_admin, "card_title", "")
    for name, label in zip(listed.list_display, labels, strict=True):
        is_link = links is not None and (name in links if links else not had_link)
        css = "action-checkbox" if name == "action_checkbox" else f"field-{name.__name__ if callable(name) else name}"
        is_first = is_link and not had_link
        if name == title if title else is_first:
            css += " what"
        none = str(listed.model_admin.get_empty_value_display())
        cell = _cell_of(listed, name, none, is_link=is_link)
        yield _Writer(cell, css, label, is_link=is_link, is_first=is_first, none=none)
        had_link = had_link or is_link


def _cell_of(listed: ChangeList, name: Any, none: str, *, is_link: bool) -> Cell:
    """Return how a column is read off a row: of a field, a function, a method of the section, or of the row."""
    field = _field(listed.opts, name)
    if field is not None:
        return _of_field(field, none, is_link=is_link)
    section = listed.model_admin
    if callable(name):
        read = name
    elif name != "__str__" and hasattr(section, name):
        read = getattr(section, name)
    else:
        return lambda row: _of_row(name, row, section, none)
    none, is_boolean = str(getattr(read, "empty_value_display", none)), bool(getattr(read, "boolean", False))
    return lambda row: _shown(read(row), none, is_boolean=is_boolean)


def _field(options: Any, name: Any) -> Any:
    """Return the field of a column that Django shows as a field; None for any other column."""
    if not isinstance(name, str):
        return None
    try:
        field = options.get_field(name)
    except FieldDoesNotExist:
        return None
    return field if isinstance(field, Field) and field.name == name and not field.auto_created else None


def _of_field(field: Any, none: str, *, is_link: bool) -> Cell:
    is_unbroken = isinstance(field, DateField | TimeField)  # the name of a casino may take two lines
    if isinstance(field.remote_field, ManyToOneRel):

        def related(row: Model) -> tuple[Any, bool]:
            value = getattr(row, field.name)
            return (none if value is None else value), is_unbroken

        return related

    def own(row: Model) -> tuple[Any, bool]:
        return display_for_field(getattr(row, field.name), field, none, avoid_link=is_link), is_unbroken

    return own


def _of_row(name: str, row: Model, section: Any, none: str) -> tuple[Any, bool]:
    _field, attribute, value = lookup_field(name, row, section)
    getter = attribute.fget if isinstance(attribute, property) else attribute
    none = str(getattr(attribute, "empty_value_display", none))
    return _shown(value, none, is_boolean=bool(getattr(getter, "boolean", False)))


def _shown(value: Any, none: str, *, is_boolean: bool) -> tuple[Any, bool]:
    if isinstance(value, str) and not is_boolean:
        return (value if value and not value.isspace() else none), False
    return display_for_value(value, none, is_boolean), isinstance(value, date | time)
