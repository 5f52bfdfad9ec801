"""Tables as CSV and XLSX. The same table gives the same bytes, and no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

import xlsxwriter

from audit.exports.csv_injection import guarded
from settlement.catalogue.sentences import exponent

CSV = "text/csv; charset=utf-8"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

CREATED = datetime(2000, 1, 1)  # noqa: DTZ001  (XLSX stores a creation date; a constant keeps the bytes the same)

MAX_CELL = 32_000
"""Characters of a text cell; XLSX allows 32,767."""

MAX_EXACT = 2**53
"""Integers from here on are written as text: a spreadsheet computes in binary floating point."""

Kind: TypeAlias = Literal["money", "number", "text"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, and what its cells hold. ``money`` is in minor units."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table. A cell of None is empty."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


def as_csv(sheet: Sheet, currency: str) -> bytes:
    """Return a table as CSV: UTF-8, CRLF, amounts in units of ``currency`` with a decimal point."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.name for column in sheet.columns])
    for row in sheet.rows:
        writer.writerow(
            [
                _decimal(value, currency) if column.kind == "money" and value is not None else guarded(value)
                for column, value in zip(sheet.columns, row, strict=True)
            ]
        )
    return out.getvalue().encode()


def workbook(sheets: Sequence[Sheet], currency: str, title: str) -> bytes:
    """Return tables as one XLSX workbook. Text is written as text, whatever it begins with."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False}) as book:
        book.set_properties({"title": title, "created": CREATED})
        digits = exponent(currency)
        money = book.add_format({"num_format": "#,##0" + ("." + "0" * digits if digits else "")})
        bold = book.add_format({"bold": True, "bottom": 1})
        for sheet in sheets:
            page = book.add_worksheet(sheet.name)
            page.freeze_panes(1, 1)
            page.write_row(0, 0, [column.name for column in sheet.columns], bold)
            for number, row in enumerate(sheet.rows, start=1):
                for index, (column, value) in enumerate(zip(sheet.columns, row, strict=True)):
                    if value is None:
                        continue
                    if column.kind == "money" and isinstance(value, int):
                        page.write_number(number, index, value / 10**digits, money)
                    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < MAX_EXACT:
                        page.write_number(number, index, value)
                    else:
                        page.write_string(number, index, str(value)[:MAX_CELL])
            page.autofit()
    return out.getvalue()


def _decimal(minor: int, currency: str) -> str:
    digits = exponent(currency)
    whole, rest = divmod(abs(minor), 10**digits)
    return ("-" if minor < 0 else "") + (f"{whole}.{rest:0{digits}}" if digits else str(whole))
