"""Lists as files: exactly what a filter leaves, as CSV, XLSX or PDF; each hand-out is an act of the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import typst
from django.http import Http404, HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from audit.reconciliation.forms import Sheet, as_csv, workbook

FORMS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
}

MOST_ROWS = 50_000
"""Rows of a file; an officer who wants more narrows the filter."""

MOST_PRINTED = 1_000
"""Rows of a PDF. Paper is for reading."""

TEMPLATE = Path(__file__).with_name("list.typ")


def handed_out(sheet: Sheet, form: str, *, title: str, said: Sequence[str], day: date) -> HttpResponse:
    """Return a table as a file. ``said`` is what its filter was, in words; ``day`` dates the paper."""
    match form:
        case "csv":
            body = as_csv(sheet, "")
        case "xlsx":
            body = workbook([sheet], "", title)
        case "pdf":
            body = _printed(sheet, title, said, day)
        case _:
            raise Http404
    name = f"{sheet.name}-{day.isoformat()}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(body, content_type=FORMS[form], headers=headers)


def _printed(sheet: Sheet, title: str, said: Sequence[str], day: date) -> bytes:
    left_off = max(0, len(sheet.rows) - MOST_PRINTED)
    data = {
        "lang": get_language() or "en",
        "title": title,
        "said": " · ".join(said),
        "date": [day.year, day.month, day.day],
        "heads": [column.name for column in sheet.columns],
        "rows": [["" if value is None else str(value) for value in row] for row in sheet.rows[:MOST_PRINTED]],
        "count": _("%(rows)d rows") % {"rows": len(sheet.rows)},
        "left_off": _("%(rows)d further rows are in the workbook.") % {"rows": left_off} if left_off else "",
    }
    made: bytes = typst.compile(
        TEMPLATE.read_bytes(),
        format="pdf",
        sys_inputs={"data": json.dumps(data, ensure_ascii=False)},
        ignore_system_fonts=True,
    )
    return made


def words_of(parameters: Any) -> list[str]:
    """Return the parameters of an address as words: what a filter was."""
    return [f"{name} = {value}" for name, values in sorted(parameters.lists()) for value in values if value]
