"""Tables as CSV and XLSX. The same table gives the same bytes, and no cell is a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
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

JSON = "application/json"

Kind: TypeAlias = Literal["money", "number", "text"]


@dataclass(frozen=True, slots=True)
class Dated:
    """A day or an instant in a cell: ``text`` as an officer reads it, ``iso`` as JSON has it."""

    text: str
    iso: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, what its cells hold, and its name in JSON, "" for the heading.

    ``money`` is in minor units of the sheet's currency, or a text where it is not known; a ``Decimal`` is an amount in
    units of its row's own.
    """

    name: str
    kind: Kind = "text"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table. A cell of None is empty. ``printed`` are the keys of the columns for paper, () for all.

    ``is_of_sandbox``: something in it is of a sandbox, which the file says.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    printed: Sequence[str] = ()
    is_of_sandbox: bool = False


def as_csv(sheet: Sheet, currency: str) -> bytes:
    """Return a table as CSV: UTF-8, CRLF, amounts in units of ``currency`` with a decimal point."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.name for column in sheet.columns])
    for row in sheet.rows:
        writer.writerow(
            [
                _decimal(value, currency) if column.kind == "money" and isinstance(value, int) else guarded(value)
                for column, value in zip(sheet.columns, row, strict=True)
            ]
        )
    return out.getvalue().encode()


def as_json(sheet: Sheet) -> bytes:
    """Return a table as JSON: an array of objects, an amount as text in units of its currency."""
    keys = [column.key or column.name for column in sheet.columns]
    rows = [{key: _in_json(value) for key, value in zip(keys, row, strict=True)} for row in sheet.rows]
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def _in_json(value: Any) -> Any:
    if isinstance(value, Dated):
        return value.iso
    return str(value) if isinstance(value, Decimal) else value


def workbook(sheets: Sequence[Sheet], currency: str, title: str) -> bytes:
    """Return tables as one XLSX workbook. Text is written as text, whatever it begins with."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False}) as book:
        book.set_properties({"title": title, "created": CREATED})
        digits = exponent(currency)
        money = _amounts(book, digits)
        amounts = {digits: money}
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
                    elif isinstance(value, Decimal) and abs(value) < MAX_EXACT:
                        places = max(0, -int(value.as_tuple().exponent))
                        if places not in amounts:
                            amounts[places] = _amounts(book, places)
                        page.write_number(number, index, float(value), amounts[places])
                    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < MAX_EXACT:
                        page.write_number(number, index, value)
                    else:
                        page.write_string(number, index, _cell(str(value)))
            page.autofit()
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a text as a cell holds it; one that is cut ends in an ellipsis."""
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"


def _amounts(book: Any, places: int) -> Any:
    return book.add_format({"num_format": "#,##0" + ("." + "0" * places if places else "")})


def _decimal(minor: int, currency: str) -> str:
    digits = exponent(currency)
    whole, rest = divmod(abs(minor), 10**digits)
    return ("-" if minor < 0 else "") + (f"{whole}.{rest:0{digits}}" if digits else str(whole))
