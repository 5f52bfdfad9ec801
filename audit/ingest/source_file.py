"""The file of an import, read row by row: CSV, NDJSON, or a sheet of a workbook (XLSX).

Spreadsheets write one table in many ways. A byte order mark, blanks around the names of columns, another separator and
a workbook instead of a text are recognised: no content is another for it. A row with too few or too many fields is not
mended: nobody can say which of its fields is missing. Nor is a text in quotation marks that has whole rows in it, nor a
workbook that has a row or a cell twice.
"""

from __future__ import annotations

import codecs
import csv
import unicodedata
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias
from zipfile import BadZipFile, ZipFile

import msgspec
from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._reader import WorkSheetParser as SheetParser

from audit.ingest.mapping import Row, RowEmptied, RowRefused, UnreadableCell, listed
from audit.ingest.mapping_file import Source
from settlement.spelling import meant

MAX_FIELD = 1024 * 1024
"""Characters of a field of CSV."""

SEPARATORS = ";,\t|"

MAX_SHEET_ROWS = 1_048_576
"""Rows of a sheet, the most that Excel has."""

MAX_IN_MEMORY = 256 * 1024 * 1024
"""Bytes of what a workbook has beside its sheets, its texts above all: that is kept in memory."""

MAX_UNPACKED, MAX_RATIO = 64 * 1024 * 1024, 100
"""Bytes from which a part of a workbook may not be more than so many times what it is packed. Sheets of Excel are 10 to
30 times as large; a file made to fill a memory is 1,000 times as large."""

_WORKBOOK = b"PK\x03\x04"
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks, longer ones first, and the encoding that each says, whatever the mapping says."""

_UNREADABLE = (
    *(AttributeError, BadZipFile, EOFError, IndexError, KeyError, NotImplementedError, OSError),
    *(OverflowError, RuntimeError, SyntaxError, TypeError, ValueError, zlib.error),
)
"""What the library raises of a workbook that is damaged, or none."""

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
    if path.exists() and not path.is_file():  # what was read of a pipe cannot be read a second time
        raise UnreadableFile(1, "this is no regular file: save what comes of it, and import that")
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == _OLD_WORKBOOK:
        raise UnreadableFile(
            1, "the file is a workbook of an old Excel, or has a password: save it as .xlsx, without one"
        )
    if source.format != "ndjson" and magic == _WORKBOOK:
        with path.open("rb") as file, _sheet(file, source.sheet) as cells:
            yield _of_table(_padded(cells), columns)
        return
    if source.format == "xlsx":
        raise UnreadableFile(1, "the file is no workbook (.xlsx)")
    encoding = next((name for mark, name in _MARKS.items() if magic.startswith(mark)), source.encoding)
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
        separator = _separator(first, source.delimiter, columns)
        reader = csv.reader(chain([first], lines), delimiter=separator, strict=True)
        yield from _of_table(((reader.line_num + above, fields) for fields in reader), columns, separator)
    except (UnicodeError, csv.Error) as error:
        row = above + 1 + (0 if reader is None else reader.line_num)
        raise UnreadableFile(row, f"{error}; source.encoding and source.delimiter say how it is written") from None


def _separator(first: str, named: str, columns: Sequence[str]) -> str:
    """Return the separator that finds most columns of the mapping in the first line, in doubt the named one."""

    def found(separator: str) -> int:
        names = {_plain(name) for name in next(csv.reader([first], delimiter=separator), [])}
        return len(names.intersection(map(_plain, columns)))

    candidates: list[str] = [named, *SEPARATORS]
    return max(candidates, key=found)


def _of_table(table: Iterable[tuple[int, Sequence[Any]]], columns: Sequence[str], separator: str = "") -> Rows:
    """Yield the rows of a table whose first row names its columns. ``separator`` is that of a text.

    A line without anything is left out. Of rows whose fields are all empty the first is said, if another row follows.
    """
    names: list[str] = []
    emptied = 0
    for number, fields in table:
        if all(field is None or (isinstance(field, str) and not field.strip()) for field in fields):
            emptied = emptied or (number if names and len(fields) > 1 else 0)
            continue
        if not names:
            names = _names(number, fields, columns)
            continue
        if emptied:
            yield emptied, RowEmptied()
            emptied = 0
        if len(fields) != len(names):
            than = "fewer" if len(fields) < len(names) else "more"
            yield number, RowRefused(f"has {than} fields than the first line has names")
        elif separator and _has_rows_inside(fields, separator):
            yield number, RowRefused("has whole rows in a text in quotation marks: one of these marks stands alone")
        else:
            yield number, dict(zip(names, fields, strict=True))


def _has_rows_inside(fields: Sequence[str], separator: str) -> bool:
    """Return whether a quotation mark that stands alone has taken rows into a text, up to the next one.

    Whatever the columns of the two marks are, the text has then as many separators as a row at least.
    """
    inside = sum(field.count(separator) for field in fields if "\n" in field or "\r" in field)
    return inside >= len(fields) - 1 > 0


def _plain(name: str) -> str:
    """Return a name of a column without what nobody sees of it: blanks around it, marks, accents apart from letters."""
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", seen).strip()


def _names(number: int, fields: Sequence[Any], columns: Sequence[str]) -> list[str]:
    """Return the names of the columns, those of the mapping as it writes them.

    Raise ``UnreadableFile`` if a column of the mapping is missing, or there are two of its name.
    """
    known = {_plain(column): column for column in columns}
    plain = ["" if field is None else _plain(str(field)) for field in fields]
    names = [known.get(name, name) for name in plain]
    there = listed(filter(None, names))
    for column in columns:
        if column not in names:
            hint = meant(column, names)
            missing = f"there is no column '{column}'; the file has {there}"
            raise UnreadableFile(number, missing + (f"; {hint}" if hint else ""))
        if names.count(column) > 1:
            raise UnreadableFile(number, f"two columns are called '{column}'; the file has {there}")
    return names


def _padded(table: Iterable[tuple[int, list[Any]]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield rows of a sheet as long as its first one: a cell has an address, and an empty one is not written."""
    width = 0
    for number, fields in table:
        while fields and fields[-1] is None:
            fields.pop()
        width = width or len(fields)
        yield number, fields + [None] * (width - len(fields))


class _Reader(ExcelReader):  # type: ignore[misc]  # the library has no types
    """Reads a workbook but for its charts, which have no rows; the library cannot read a sheet of one without cells."""

    def read_chartsheet(self, sheet: Any, rel: Any) -> None:
        pass


@contextmanager
def _sheet(file: BinaryIO, name: str) -> Iterator[Iterator[tuple[int, list[Any]]]]:
    """Open a workbook and return the rows of a sheet, the only one if ``name`` is ""."""
    # The library warns of what it leaves out; a date out of range is an error of its cell.
    warnings.filterwarnings("ignore", module="openpyxl")
    try:
        with ZipFile(file) as archive:
            _weigh(archive)
        reader = _Reader(file, read_only=True, keep_links=False)
        reader.read()
    except _UNREADABLE as error:
        raise UnreadableFile(1, f"the workbook cannot be read: {error}") from None
    book = reader.wb
    try:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if (name and name not in sheets) or (not name and len(sheets) != 1):
            reason = f"the workbook has no sheet '{name}'" if name else "source.sheet has to name a sheet"
            raise UnreadableFile(1, f"{reason}; it has {listed(sheets)}")
        yield _cells(book, sheets[name] if name else next(iter(sheets.values())))
    finally:
        book.close()


def _weigh(archive: ZipFile) -> None:
    """Raise ``UnreadableFile`` for a workbook that would fill the memory, by the sizes that its archive declares."""
    parts = archive.infolist()
    kept = sum(part.file_size for part in parts if not part.filename.startswith("xl/worksheets/"))
    swollen = any(part.file_size > max(MAX_UNPACKED, MAX_RATIO * part.compress_size) for part in parts)
    if swollen or kept > MAX_IN_MEMORY:
        raise UnreadableFile(1, "the workbook is too large when it is unpacked: save its sheet as CSV")


def _cells(book: Any, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a sheet with what its cells have, None where there is no cell.

    Raise ``UnreadableFile`` if a row or a cell comes twice, or before another: the library would drop one of the two.
    """
    above = 0
    try:
        with sheet._get_source() as source:
            parser = SheetParser(
                *(source, sheet._shared_strings),
                epoch=book.epoch,
                date_formats=book._date_formats,
                timedelta_formats=book._timedelta_formats,
            )
            for number, cells in parser.parse():
                if not above < number <= MAX_SHEET_ROWS:
                    raise UnreadableFile(above + 1, f"the workbook has a row {number} below row {above}")
                if number > above + 1:
                    yield number - 1, []  # a row without cells
                above = number
                yield number, _row(number, cells)
    except _UNREADABLE as error:
        raise UnreadableFile(above + 1, f"the workbook cannot be read: {error}") from None


def _row(number: int, cells: Iterable[dict[str, Any]]) -> list[Any]:
    row: list[Any] = []
    for cell in cells:
        if cell["row"] != number or cell["column"] <= len(row):
            raise UnreadableFile(number, "the workbook has a cell of this row twice, or in a wrong place")
        row += [None] * (cell["column"] - len(row) - 1)
        row.append(_value(cell["value"], cell["data_type"]))
    return row


def _value(value: Any, kind: str) -> Any:
    """Return what a cell has: None, a text, a whole number, a ``Decimal``, a date, or why it has none of its own."""
    if kind == "f":
        return UnreadableCell("the cell has a formula: replace it by its value")
    if kind == "e":
        return UnreadableCell(f"the cell has the error {value}")
    if isinstance(value, float):
        # Spreadsheets show and keep 15 digits; what is behind them is the noise of binary fractions.
        exact = Decimal(f"{value:.15g}")
        return int(exact) if exact == exact.to_integral_value() else exact
    return value
