"""The rows of Django's lists, as ``cards`` has those of other tables: cells with the heading of their column.

Where Django draws a mark for yes and no, which in red looks like an error, the word stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from typing import Any

from django.contrib.admin.templatetags.admin_list import results
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist
from django.db.models import ForeignKey
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

from audit.presentation import MISSING

_CELL = re.compile(r'<(t[hd]) class="([^"]*)">(.*)</t[hd]>', re.DOTALL)
_TAG = re.compile("<[^>]*>")  # what Django writes escapes > in attributes; strip_tags would parse each cell
_MARK = re.compile(r'<img src="[^"]*icon-(yes|no|unknown)\.svg"[^>]*>')


def rows_of(listed: ChangeList, headers: Sequence[dict[str, Any]]) -> SafeString:
    """Return the rows of a list, each cell with the heading of its column as ``data-label``.

    The title of a card is the first column that links to the row's page, or the section's ``card_title``.
    ``data-none`` is a cell with nothing in it, which a card on a phone leaves out.
    """
    columns = list(_columns(listed, headers))
    rows = ("".join(write(cell) for write, cell in zip(columns, row, strict=True)) for row in results(listed))
    return mark_safe("\n".join(f'<tr role="row">{row}</tr>' for row in rows))


def _columns(listed: ChangeList, headers: Sequence[dict[str, Any]]) -> Iterable[Callable[[str], str]]:
    """Yield what writes the cells of each column."""
    title = getattr(listed.model_admin, "card_title", "")
    for name, header in zip(listed.list_display, headers, strict=True):
        is_box = "action-checkbox" in str(header.get("class_attrib", ""))
        label = "" if is_box else escape(capfirst(str(header["text"])))
        yield partial(_cell, label=label, is_title=name == title if title else None, may_break=_is_key(listed, name))


def _is_key(listed: ChangeList, name: Any) -> bool:
    """Return whether a column is a foreign key: the name of a casino may take two lines."""
    try:
        return isinstance(name, str) and isinstance(listed.opts.get_field(name), ForeignKey)
    except FieldDoesNotExist:
        return False


def _cell(written: str, *, label: str, is_title: bool | None, may_break: bool) -> str:
    """Return a cell as Django wrote it with what a card needs; ``is_title`` None if the row's heading is the title."""
    found = _CELL.fullmatch(written)
    assert found is not None, written
    tag, css, text = found.groups()
    if "icon-" in text:
        words = {"yes": gettext("yes"), "no": gettext("no"), "unknown": MISSING}
        text = _MARK.sub(lambda mark: words[mark[1]], text)
    if may_break:
        css = css.removesuffix(" nowrap")
    if is_title or (is_title is None and tag == "th"):
        css += " what"
    none = " data-none" if label and _TAG.sub("", text).replace("&nbsp;", "").strip() in ("", MISSING) else ""
    role = "rowheader" if tag == "th" else "cell"
    return f'<{tag} data-label="{label}" role="{role}"{none} class="{css}">{text}</{tag}>'
