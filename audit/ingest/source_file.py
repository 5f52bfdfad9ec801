"""The file of an import, read row by row: CSV, NDJSON, or a sheet of a workbook (XLSX).

Spreadsheets write one table in many ways. A byte order mark, blanks around the names of columns, another separator and
a workbook instead of a text are recognised: no content is another for it. A row with too few or too many fields is not
mended: nobody can say which of its fields is missing.
"""

from __future__ import annotations

import codecs
import csv
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias
from zipfile import BadZipFile

import msgspec
import openpyxl

from audit.ingest.mapping import Row, RowRefused, UnreadableCell
from audit.ingest.mapping_file import Source

MAX_FIELD = 1024 * 1024
"""Characters of a field of CSV."""

SEPARATORS = ";,\t|"

_WORKBOOK = b"PK\x03\x04"
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"

Rows: TypeAlias = Iterator[tuple[int, Row | RowRefused]]
"""Rows with their numbers, the first line being 1; an invalid row as what is wrong with it."""


class UnreadableFile(Exception):
    """The file is not what the mapping says. ``row`` is where."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row}: {reason}")


@contextmanager
def rows_of(path: Path, source: Source, columns: Sequence[str]) -> Iterator[Rows]:
    """Open a file and return its rows.

    ``columns`` are those that the mapping reads. Raise ``UnreadableFile`` here, or from the rows, where nothing that
    follows can be read or a column is missing; ``OSError``.
    """
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == _OLD_WORKBOOK:
        raise UnreadableFile(1, "the file is a workbook of an old Excel: save it as .xlsx")
    if source.format != "ndjson" and magic == _WORKBOOK:
        with path.open("rb") as file, _sheet(file, source.sheet) as cells:
            yield _of_table(_padded(cells), columns)
        return
    if source.format == "xlsx":
        raise UnreadableFile(1, "the file is no workbook (.xlsx)")
    # A byte order mark is none of the first column's name.
    encoding = "utf-8-sig" if codecs.lookup(source.encoding).name == "utf-8" else source.encoding
    with path.open(encoding=encoding, newline="") as text:
        yield _of_csv(text, source, columns) if source.format == "csv" else _of_lines(text)


def _of_lines(text: TextIO) -> Rows:
    number = 0
    try:
        for number, line in enumerate(text, 1):
            if line.strip():
                yield number, _object(line)
    except UnicodeError as error:
        raise UnreadableFile(number + 1, f"{error}; source.encoding says how it is written") from None


def _object(line: str) -> Row | RowRefused:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        return RowRefused(f"is not JSON: {error}")
    return row if isinstance(row, dict) else RowRefused("is not a JSON object")


def _of_csv(text: TextIO, source: Source, columns: Sequence[str]) -> Rows:
    csv.field_size_limit(MAX_FIELD)
    reader, above, first = None, 0, ""
    try:
        lines = iter(text)
        for first in lines:
            if first.strip() and not first.lower().startswith("sep="):  # which Excel writes for itself
                break
            above += 1
        reader = csv.reader(chain([first], lines), delimiter=_separator(first, source.delimiter, columns), strict=True)
        yield from _of_table(((reader.line_num + above, fields) for fields in reader), columns)
    except (UnicodeError, csv.Error) as error:
        row = above + 1 + (0 if reader is None else reader.line_num)
        raise UnreadableFile(row, f"{error}; source.encoding and source.delimiter say how it is written") from None


def _separator(first: str, named: str, columns: Sequence[str]) -> str:
    """Return the separator that finds most columns of the mapping in the first line, in doubt the named one."""

    def found(separator: str) -> int:
        names = {name.strip() for name in next(csv.reader([first], delimiter=separator), [])}
        return len(names.intersection(columns))

    candidates: list[str] = [named, *SEPARATORS]
    return max(candidates, key=found)


def _of_table(table: Iterable[tuple[int, Sequence[Any]]], columns: Sequence[str]) -> Rows:
    """Yield the rows of a table whose first row names its columns. Rows without any content are left out."""
    names: list[str] = []
    for number, fields in table:
        if all(field is None or (isinstance(field, str) and not field.strip()) for field in fields):
            continue
        if not names:
            names = ["" if field is None else str(field).strip() for field in fields]
            _check(number, names, columns)
        elif len(fields) != len(names):
            than = "fewer" if len(fields) < len(names) else "more"
            yield number, RowRefused(f"has {than} fields than the first line has names")
        else:
            yield number, dict(zip(names, fields, strict=True))


def _check(number: int, names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise ``UnreadableFile`` if a column of the mapping is missing, or there are two of its name."""
    there = ", ".join(name for name in names if name)
    for column in columns:
        if column not in names:
            raise UnreadableFile(number, f"there is no column '{column}'; the file has {there}")
        if names.count(column) > 1:
            raise UnreadableFile(number, f"two columns are called '{column}'; the file has {there}")


def _padded(table: Iterable[tuple[int, list[Any]]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield rows of a sheet as long as its first one: a cell has an address, and an empty one is not written."""
    width = 0
    for number, fields in table:
        while fields and fields[-1] is None:
            fields.pop()
        width = width or len(fields)
        yield number, fields + [None] * (width - len(fields))


@contextmanager
def _sheet(file: BinaryIO, name: str) -> Iterator[Iterator[tuple[int, list[Any]]]]:
    """Open a workbook and return the rows of a sheet, the only one if ``name`` is ""."""
    # The library warns of what it leaves out; a date out of range is an error of its cell.
    warnings.filterwarnings("ignore", module="openpyxl")
    try:
        book = openpyxl.load_workbook(file, read_only=True, keep_links=False)
    except (BadZipFile, KeyError, ValueError, SyntaxError, TypeError) as error:  # what the library raises
        raise UnreadableFile(1, f"the workbook cannot be read: {error}") from None
    try:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if (name and name not in sheets) or (not name and len(sheets) != 1):
            listed = ", ".join(sheets)
            reason = f"the workbook has no sheet '{name}'" if name else "source.sheet has to name a sheet"
            raise UnreadableFile(1, f"{reason}; it has {listed}")
        sheet = sheets[name] if name else next(iter(sheets.values()))
        sheet.reset_dimensions()  # a wrong size in the file would cut rows off
        yield _cells(sheet)
    finally:
        book.close()


def _cells(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    number = 0
    try:
        for number, row in enumerate(sheet.rows, 1):
            yield number, [_value(cell) for cell in row]
    except (BadZipFile, KeyError, IndexError, ValueError, SyntaxError, TypeError, EOFError) as error:
        raise UnreadableFile(number + 1, f"the workbook cannot be read: {error}") from None


def _value(cell: Any) -> Any:
    """Return what a cell has: None, a text, a whole number, a ``Decimal``, a date, or why it has none of its own."""
    value = cell.value
    if cell.data_type == "f":
        return UnreadableCell("the cell has a formula: replace it by its value")
    if cell.data_type == "e":
        return UnreadableCell(f"the cell has the error {value}")
    if isinstance(value, float):
        # Spreadsheets show and keep 15 digits; what is behind them is the noise of binary fractions.
        exact = Decimal(f"{value:.15g}")
        return int(exact) if exact == exact.to_integral_value() else exact
    return value
