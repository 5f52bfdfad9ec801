"""Tables whose rows are cards on a phone: each cell has the heading of its column, each part says what it is.

    <td>3 s ago</td>   in the column “Last used”   ─►   <td data-label="Last used" role="cell">3 s ago</td>

Below 760 px ``shell.css`` lays a row out as a block, and some browsers then forget that it is one: the roles say it.
The title of a card is the cell of the class ``what``, or the first one; it has no label. Neither has a cell under a
heading that is only read out, or over a whole row. A cell may bring a ``data-label`` of its own, "" for none.

Django's lists have the same parts from ``listed_rows``, which knows each column when it writes a cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from django.utils.safestring import SafeString, mark_safe

ROLES: Mapping[str, str] = {
    "table": "table",
    "thead": "rowgroup",
    "tbody": "rowgroup",
    "tfoot": "rowgroup",
    "tr": "row",
}
"""What each part of a table is; a cell is a heading of its column, of its row, or a cell."""

_PART = re.compile(r"<(table|thead|tbody|tfoot|tr)\b")
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(t[hd])\b([^>]*)>(.*?)</\1>", re.DOTALL)
_TAG = re.compile("<[^>]*>")
_SPAN = re.compile(r'colspan="(\d+)"')
_TITLE = re.compile(r'class="(?:[^"]* )?what[" ]')


def as_cards(table: str) -> SafeString:
    """Return a table that a template wrote, with a ``thead`` and every end tag, as one whose rows can be cards."""
    head, end, body = table.partition("</thead>")
    labels = [label for cell in _CELL.finditer(head) for label in [_label(cell[3])] * _width(cell[2])]
    head = _CELL.sub(r'<\1\2 role="columnheader">\3</\1>', head).replace('<table class="', '<table class="cards ', 1)
    body = _ROW.sub(lambda row: _card(row[0], labels), body)
    return mark_safe(_PART.sub(lambda part: f'{part[0]} role="{ROLES[part[1]]}"', head + end + body))


def _label(heading: str) -> str:
    """Return a heading as the value of an attribute; "" for one that is only read out."""
    if heading.startswith('<span class="vh">'):
        return ""
    return " ".join(_TAG.sub("", heading).split()).replace('"', "&quot;")


def _width(attributes: str) -> int:
    span = _SPAN.search(attributes)
    return int(span[1]) if span else 1


def _card(row: str, labels: Sequence[str]) -> str:
    cells = list(_CELL.finditer(row))
    title = next((number for number, cell in enumerate(cells) if _TITLE.search(cell[2])), 0)
    written, column, before = [], 0, 0
    for number, cell in enumerate(cells):
        tag, attributes, content = cell.groups()
        if number != title and "data-label" not in attributes:
            attributes += f' data-label="{labels[column]}"'
        if number != title and not content.strip():
            attributes += " data-none"
        role = "rowheader" if tag == "th" else "cell"
        written += [row[before : cell.start()], f'<{tag}{attributes} role="{role}">{content}</{tag}>']
        column, before = column + _width(cell[2]), cell.end()
    return "".join([*written, row[before:]])
