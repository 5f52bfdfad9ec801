"""A list as a file: exactly the rows that a filter selects, as CSV, XLSX or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from django.utils.translation import gettext, ngettext

from audit.exports.pdf import PDF, render_pdf
from audit.exports.sheets import CSV, JSON, XLSX, Sheet, as_csv, as_json, workbook
from audit.presentation import language

FORMATS = {"csv": CSV, "xlsx": XLSX, "pdf": PDF, "json": JSON}
"""Media type by the format's name, which is also the file's extension."""

MAX_PRINTED = 1_000
"""Rows of a PDF, which is for reading; CSV and XLSX have all."""

TEMPLATE = Path(__file__).with_name("list.typ")


def render_list(sheet: Sheet, format: str, *, title: str, filters: Sequence[str], day: date) -> tuple[str, bytes]:
    """Return the name and the bytes of a table as a file.

    ``format`` is a key of ``FORMATS``; ``filters`` describe the selection, each as text; ``day`` dates the file. A list
    has amounts in several currencies, so none of its columns is ``money``. A file with something of a sandbox is named
    so, and what has a title says it.
    """
    name = f"{sheet.name}-{day.isoformat()}.{format}"
    if sheet.is_of_sandbox:
        name, title = f"sandbox-{name}", gettext("%(name)s (sandbox)") % {"name": title}
    match format:
        case "csv":
            return name, as_csv(sheet, "")
        case "xlsx":
            return name, workbook([sheet], "", title)
        case "json":
            return name, as_json(sheet)
        case _:
            return name, render_pdf(TEMPLATE, _pdf_data(sheet, title, filters, day))


def _pdf_data(sheet: Sheet, title: str, filters: Sequence[str], day: date) -> dict[str, Any]:
    places = [index for index, column in enumerate(sheet.columns) if not sheet.printed or column.key in sheet.printed]
    return {
        "lang": language(),
        "title": title,
        "filters": " · ".join(filters),
        "date": [day.year, day.month, day.day],
        "headings": [sheet.columns[index].name for index in places],
        "rows": [["" if row[at] is None else str(row[at]) for at in places] for row in sheet.rows[:MAX_PRINTED]],
        "count": ngettext("%(rows)d row", "%(rows)d rows", len(sheet.rows)) % {"rows": len(sheet.rows)},
        "omitted": omitted(len(sheet.rows) - MAX_PRINTED),
    }


def omitted(rows: int) -> str:
    """Return that so many rows are not on the paper; "" if it has all."""
    if rows <= 0:
        return ""
    words = ngettext("%(rows)d further row is in the workbook.", "%(rows)d further rows are in the workbook.", rows)
    return words % {"rows": rows}
