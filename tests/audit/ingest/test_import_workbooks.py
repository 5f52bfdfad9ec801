"""An import of a workbook is the import of its text: no part of it is taken for the whole, and it fills no memory."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from audit.ingest import source_file
from audit.ingest.mapping_file import Source
from audit.models import LoggedStream
from tests.audit.ingest.test_import import CSV, STREAM, TOML, run, stored
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_log")]

HEADER, *ROWS = CSV.splitlines()


@pytest.fixture
def deauville() -> Tenant:
    return Tenant("deauville", tables=("R1",))


def workbook(rows: list[list[Any]], *, epoch: datetime | None = None, sheets: tuple[str, ...] = ("Export",)) -> bytes:
    book = Workbook()
    if epoch is not None:
        book.epoch = epoch
    book.active.title = sheets[0]
    for name in sheets[1:]:
        book.create_sheet(name)
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def cells(row: str) -> list[Any]:
    """Return a row as a spreadsheet keeps it: dates as dates, amounts as numbers, an empty cell as none."""
    table, day, session, time, *rest = row.split(";")
    amounts = [float(each.replace(".", "").replace(",", ".")) if each else None for each in rest[4:6]]
    return [
        table,
        datetime.strptime(day, "%d.%m.%Y"),  # noqa: DTZ007
        int(session),
        datetime.strptime(time, "%d.%m.%Y %H:%M:%S"),  # noqa: DTZ007
        *(int(each) if each.isdigit() else each or None for each in rest[:4]),
        *amounts,
        rest[6] or None,
    ]


IN_BOOK = "deauville.R1.2019-11-19.1"


@pytest.mark.parametrize("epoch", [None, CALENDAR_MAC_1904], ids=["1900", "1904"])
def test_a_workbook_is_the_same_events_as_its_text(tmp_path: Path, deauville: Tenant, epoch: datetime | None) -> None:
    printed, refused = run(tmp_path, deauville.key)
    book = workbook([HEADER.split(";"), *(cells(row) for row in ROWS)], epoch=epoch)
    printed, refused = run(tmp_path, deauville.key, rows=book)
    assert refused == []
    assert "recorded: 1 stream, 7 events" in printed
    for read, text in zip(stored(IN_BOOK), stored(), strict=True):
        assert read | {"stream": STREAM} == text


def test_texts_in_a_workbook_are_read_as_in_a_text(tmp_path: Path, deauville: Tenant) -> None:
    def text(row: str) -> list[str]:
        table, *rest = row.split(";")
        return [table, *(f"{each}\u00a0€" if each[-3:] in (",00", ",50") else each for each in rest)]

    mapping = TOML.replace('ignore = "."', 'ignore = ". €"')
    _, refused = run(tmp_path, deauville.key, rows=workbook([HEADER.split(";"), *map(text, ROWS)]), mapping=mapping)
    assert refused == []
    assert stored()[0]["data"]["float"] == 5_000_000
    assert stored()[-1]["data"]["float"] == 4_967_500


@pytest.mark.parametrize(
    ("row", "column", "cell", "reason"),
    [
        (2, 8, "=12+0.5", "the cell has a formula: replace it by its value"),
        (2, 8, 12.505, "'12.505' has more than 2 decimals"),
        (2, 3, 43788.5, "'43788.5' is not written as %d.%m.%Y %H:%M:%S"),
        (2, 8, "#REF!", "the cell has the error #REF!"),
        (1, 1, datetime(2019, 11, 19, 21), "has a time of day, and is to be a date"),  # noqa: DTZ001
        (2, 3, datetime(2019, 11, 19, 21).time(), "is a time of day without a date"),  # noqa: DTZ001
        (2, 7, datetime(2019, 11, 19), "is neither a text nor a whole number"),  # noqa: DTZ001
        (4, 2, None, "the stream's name needs this column, and it is empty"),
    ],
)
def test_a_cell_without_a_value_of_its_own_refuses_the_session(
    tmp_path: Path, deauville: Tenant, row: int, column: int, cell: Any, reason: str
) -> None:
    table = [HEADER.split(";"), *(cells(each) for each in ROWS)]
    table[row][column] = cell
    _, refused = run(tmp_path, deauville.key, rows=workbook(table))
    assert (refused[0]["row"], refused[0]["column"]) == (row + 1, HEADER.split(";")[column])
    assert reason in refused[0]["reason"]
    assert not LoggedStream.objects.filter(casino=deauville.casino, is_of_desk=False).exists()


def test_a_sheet_is_named_where_a_workbook_has_several(tmp_path: Path, deauville: Tenant) -> None:
    book = workbook([HEADER.split(";"), *(cells(row) for row in ROWS)], sheets=("Export", "Notizen"))
    printed, _ = run(tmp_path, deauville.key, rows=book)
    assert "source.sheet has to name a sheet; it has Export, Notizen" in printed
    for name, answer in (("Eksport", "the workbook has no sheet 'Eksport'"), ("Export", "recorded: 1 stream")):
        mapping = TOML.replace("[source]", f'[source]\nsheet = "{name}"')
        printed, _ = run(tmp_path, deauville.key, rows=book, mapping=mapping)
        assert answer in printed


def test_a_sheet_that_is_hidden_is_a_sheet_and_a_chart_is_none(tmp_path: Path, deauville: Tenant) -> None:
    for sheets, answer in ((1, "source.sheet has to name a sheet; it has Export, Notizen"), (0, "recorded: 1 stream")):
        book = load_workbook(io.BytesIO(workbook([HEADER.split(";"), *(cells(row) for row in ROWS)])))
        book.create_chartsheet("Bild")
        if sheets:
            book.create_sheet("Notizen").sheet_state = "hidden"
        book.save(tmp_path / "book")
        printed, _ = run(tmp_path, deauville.key, rows=(tmp_path / "book").read_bytes())
        assert answer in printed


def rewritten(book: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return a workbook with its sheet changed."""
    copy = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as whole, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as parts:
        for name in whole.namelist():
            content = whole.read(name)
            parts.writestr(name, change(content) if name == "xl/worksheets/sheet1.xml" else content)
    return copy.getvalue()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b'r="5"', b'r="4"', "row 5: the workbook has a row 4 below row 4"),
        (b'r="5"', b'r="90000000"', "row 5: the workbook has a row 90000000 below row 4"),
        (b'r="5"', b'r="99999999999999999999"', "row 5: the workbook has a row 99999999999999999999 below row 4"),
        (b'r="E5"', b'r="D5"', "row 5: the workbook has a cell of this row twice"),
        (b'r="E5"', b'r="E6"', "row 5: the workbook has a cell of this row twice, or in a wrong place"),
        (b'r="E5"', b'r="ABCD5"', "row 5: the workbook cannot be read"),
        (b"<sheetData>", b"<sheetData " + b'a="%s">' % (b"x" * 70_000_000), "too large when it is unpacked"),
    ],
)
def test_a_workbook_of_which_a_part_would_be_dropped_or_that_would_fill_the_memory_is_one_line(
    tmp_path: Path, deauville: Tenant, before: bytes, after: bytes, message: str
) -> None:
    def change(sheet: bytes) -> bytes:
        assert before in sheet
        return sheet.replace(before, after)

    book = workbook([HEADER.split(";"), *(cells(row) for row in ROWS)])
    printed, _ = run(tmp_path, deauville.key, rows=rewritten(book, change))
    assert message in printed
    assert len(printed.splitlines()) == 1
    assert stored(IN_BOOK) == []


def test_texts_of_a_workbook_that_would_fill_the_memory_are_refused(
    tmp_path: Path, deauville: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_file, "MAX_IN_MEMORY", 1_000)
    printed, _ = run(tmp_path, deauville.key, rows=workbook([HEADER.split(";"), *(cells(row) for row in ROWS)]))
    assert (
        "row 1: the workbook is too large when it is unpacked: save its sheet as CSV. Nothing is recorded." in printed
    )


def test_a_workbook_with_a_damaged_byte_is_read_whole_or_is_one_line(tmp_path: Path) -> None:
    book, drawn = workbook([HEADER.split(";"), *(cells(row) for row in ROWS)]), random.Random(1)
    columns, read = HEADER.split(";"), {7: 0, 0: 0}
    for _ in range(200):
        damaged = bytearray(book)
        for _ in range(drawn.choice((1, 1, 3, 10))):
            damaged[drawn.randrange(len(book))] = drawn.randrange(256)
        (tmp_path / "book").write_bytes(damaged)
        try:
            with source_file.rows_of(tmp_path / "book", Source(name="a book", format="xlsx"), columns) as rows:
                count = sum(1 for _ in rows)
        except source_file.UnreadableFile:
            count = 0
        read[count] += 1
    assert min(read.values()) > 10


def test_a_workbook_that_says_a_wrong_size_is_read_to_its_end(tmp_path: Path, deauville: Tenant) -> None:
    book = workbook([HEADER.split(";"), *(cells(row) for row in ROWS)])
    short = rewritten(book, lambda sheet: sheet.replace(b'ref="A1:K8"', b'ref="A1:K5"'))
    assert short != rewritten(book, bytes)
    printed, _ = run(tmp_path, deauville.key, rows=short)
    assert "recorded: 1 stream, 7 events" in printed


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (b"PK\x03\x04 and nothing else", "the workbook cannot be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel, or has a password: save it as .xlsx"),
        (CSV.encode(), "the file is no workbook"),
    ],
)
def test_what_is_no_workbook_is_one_line(tmp_path: Path, deauville: Tenant, rows: bytes, message: str) -> None:
    printed, _ = run(tmp_path, deauville.key, rows=rows, mapping=TOML.replace('format = "csv"', 'format = "xlsx"'))
    assert message in printed
    assert len(printed.splitlines()) == 1


@pytest.mark.parametrize("emptied", [[None] * len(HEADER.split(";")), []], ids=["cells", "no row"])
def test_a_row_whose_cells_were_emptied_refuses_the_session_that_is_open(
    tmp_path: Path, deauville: Tenant, emptied: list[None]
) -> None:
    table = [HEADER.split(";"), *(cells(row) for row in ROWS)]
    table[4] = emptied
    _, refused = run(tmp_path, deauville.key, rows=workbook(table))
    assert "row 5, whose stream is unknown" in refused[0]["reason"]
    assert stored(IN_BOOK) == []
