"""An import takes no part for the whole: a stream that is not proved whole is not recorded, whatever its file is."""

from __future__ import annotations

import io
import os
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from audit.ingest import history, spool
from audit.ingest.record import record
from audit.ingest.refusals import EventsRefused
from audit.models import LoggedStream
from tests.audit.ingest.test_import import CSV, STREAM, TOML, run, stored
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_log")]

HEADER, *ROWS = CSV.splitlines()
OTHER = STREAM[:-1] + "2"
BY_TIME = 'order = { by = "time" }\n' + TOML
BY_NUMBER = 'order = { by = "number", column = "Lfd" }\n' + TOML


@pytest.fixture
def deauville() -> Tenant:
    return Tenant("deauville", tables=("R1",))


def of_session(number: int, rows: list[str]) -> list[str]:
    return [row.replace(";1;19", f";{number};19") for row in rows]


def file_of(rows: list[str], header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


def changed(row: int, change: Callable[[str], str]) -> str:
    """Return the example with one of its rows changed, the first being 0."""
    return file_of([*ROWS[:row], change(ROWS[row]), *ROWS[row + 1 :]])


# A row that ends early, and an empty cell in a column of the stream's name.


def test_a_row_that_ends_early_refuses_the_session_that_is_open_and_the_mended_file_is_recorded(
    tmp_path: Path, deauville: Tenant
) -> None:
    before = of_session(2, [row.replace("19.11.2019 2", "19.11.2019 1") for row in ROWS])
    printed, refused = run(tmp_path, deauville.key, rows=file_of([*before, *ROWS[:3], ROWS[3].rstrip(";"), *ROWS[4:]]))
    assert "recorded: 1 stream, 7 events; 1 stream refused; 1 row of unknown stream" in printed
    assert (refused[0]["row"], refused[0]["reason"]) == (12, "has fewer fields than the first line has names")
    assert (refused[1]["stream"], refused[1]["reason"]) == (
        STREAM,
        "row 12, whose stream is unknown, may be one of its events",
    )
    assert (len(stored(OTHER)), stored()) == (7, [])
    printed, refused = run(tmp_path, deauville.key, rows=file_of([*before, *ROWS]))
    assert printed.splitlines()[-1] == "recorded: 2 streams, 14 events, 7 of them there already"
    assert len(stored()) == 7


def test_a_merged_cell_refuses_the_session_that_is_open(tmp_path: Path, deauville: Tenant) -> None:
    printed, refused = run(tmp_path, deauville.key, rows=changed(3, lambda row: row.replace(";1;19", ";;19")))
    assert (refused[0]["row"], refused[0]["column"]) == (5, "Sitzung")
    assert "would be imported: 0 streams, 0 events; 1 stream refused; 1 row of unknown stream" in printed
    assert "refused: row 5, column Sitzung: the stream's name needs this column, and it is empty" in printed
    assert stored() == []


def test_a_row_of_sums_after_the_last_event_is_refused_and_leaves_the_session_whole(
    tmp_path: Path, deauville: Tenant
) -> None:
    printed, refused = run(tmp_path, deauville.key, rows=file_of([*ROWS, "Summe;;;;;;;;99.675,00;;"]))
    assert [each["row"] for each in refused] == [9]
    assert "recorded: 1 stream, 7 events; 1 row of unknown stream" in printed


def test_a_session_without_its_last_event_is_recorded_only_if_the_mapping_says_that_it_may_be(
    tmp_path: Path, deauville: Tenant
) -> None:
    _, refused = run(tmp_path, deauville.key, rows=file_of(ROWS[:-1]))
    assert "it has no last event (session.closed, count.closed)" in refused[0]["reason"]
    assert stored() == []
    run(tmp_path, deauville.key, rows=file_of(ROWS[:-1]), mapping="may_stay_open = true\n" + TOML)
    assert len(stored()) == 6


# Rows in another order.


def test_rows_in_another_order_are_refused(tmp_path: Path, deauville: Tenant) -> None:
    _, refused = run(tmp_path, deauville.key, rows=file_of([ROWS[0], ROWS[4], ROWS[3], ROWS[1], ROWS[2], *ROWS[5:]]))
    assert (refused[0]["row"], refused[0]["reason"]) == (
        4,
        "lies before row 3, above it: order.by says what orders the rows",
    )
    assert stored() == []


def test_rows_are_ordered_by_their_time_if_the_mapping_says_so(tmp_path: Path, deauville: Tenant) -> None:
    run(tmp_path, deauville.key, rows=file_of([ROWS[4], ROWS[6], *reversed(ROWS[:4]), ROWS[5]]), mapping=BY_TIME)
    assert [event["seq"] for event in stored()] == [1, 2, 3, 4, 5, 6, 7]
    assert stored()[1]["data"]["wager"] == "w1"


def test_rows_of_one_time_say_no_order_unless_they_stand_in_order(tmp_path: Path, deauville: Tenant) -> None:
    rows = [ROWS[0], ROWS[1], ROWS[2].replace("21:04:20", "21:04:10"), *ROWS[3:]]
    _, refused = run(tmp_path, deauville.key, rows=file_of(rows[::-1]), mapping=BY_TIME)
    assert refused[0]["reason"] == "has the time of row 6, and the rows of its stream are in no order"
    assert stored() == []
    run(tmp_path, deauville.key, rows=file_of(rows), mapping=BY_TIME)
    assert len(stored()) == 7


def test_rows_are_ordered_by_a_number_whatever_their_times_if_no_number_may_be_missing(
    tmp_path: Path, deauville: Tenant
) -> None:
    late = [ROWS[0], ROWS[1].replace("21:04:10", "21:04:30"), *ROWS[2:]]
    numbered = [f"{row};{number}" for number, row in enumerate(late, 1)]
    counted = BY_NUMBER.replace('"Lfd" }', '"Lfd", counts = "stream" }')
    rows = file_of(numbered[::-1], HEADER + ";Lfd")
    _, refused = run(tmp_path, deauville.key, rows=rows, mapping=BY_NUMBER)
    assert "lies before row 7" in refused[0]["reason"]
    run(tmp_path, deauville.key, rows=rows, mapping=counted)
    assert [event["data"].get("wager") for event in stored()][:3] == [None, "w1", "w2"]


def test_a_row_that_comes_twice_refuses_its_session(tmp_path: Path, deauville: Tenant) -> None:
    _, refused = run(tmp_path, deauville.key, rows=file_of([*ROWS[:2], ROWS[1], *ROWS[2:]]))
    assert (refused[0]["row"], refused[0]["reason"]) == (4, "is the same as row 3")
    assert stored() == []


def test_the_second_of_an_hour_that_comes_twice_follows_from_the_rows_above(tmp_path: Path, deauville: Tenant) -> None:
    times = ["02:30:00", "02:50:00", "02:10:00", "02:20:00", "02:30:00", "02:40:00", "03:10:00"]
    rows = [
        ";".join([*row.split(";")[:3], f"27.10.2019 {time}", *row.split(";")[4:]])
        for row, time in zip(ROWS, times, strict=True)
    ]
    run(tmp_path, deauville.key, rows=file_of(rows))
    assert [event["occurred_at"][11:] for event in stored()] == [
        "02:30:00+02:00",
        "02:50:00+02:00",
        "02:10:00+01:00",
        "02:20:00+01:00",
        "02:30:00+01:00",
        "02:40:00+01:00",
        "03:10:00+01:00",
    ]
    _, refused = run(tmp_path, deauville.key, rows=file_of(rows), mapping=BY_TIME)
    assert "is of an hour that comes twice" in refused[0]["reason"]


# How spreadsheets write.


def quoted(text: str, separator: str) -> str:
    return "".join(
        separator.join(f'"{cell}"' if separator in cell else cell for cell in line.split(";")) + "\n"
        for line in text.splitlines()
    )


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param("\ufeff" + CSV, id="byte order mark"),
        pytest.param(CSV.replace(HEADER, HEADER.replace(";", " ; ")), id="blanks around the names of columns"),
        pytest.param(quoted(CSV, ","), id="commas"),
        pytest.param(quoted(CSV, "\t"), id="tabs"),
        pytest.param(quoted("\ufeff" + CSV, "|").replace("\n", "\r\n"), id="bars, and line ends of Windows"),
        pytest.param("sep=;\n" + CSV, id="a line that names the separator"),
        pytest.param("\n" + CSV.replace("\n", "\n\n") + ";;;;;;;;;;\n", id="blank lines"),
        pytest.param(CSV.replace("\n", "\r"), id="line ends of an old Mac"),
        pytest.param(("\ufeff" + CSV).encode("utf-16-le"), id="Unicode text of Excel"),
        pytest.param(("\ufeff" + CSV).encode("utf-16-be"), id="the same, the other byte first"),
        pytest.param(CSV.replace("Tisch", "Ti\u200bsch\u00a0"), id="marks that nobody sees in the name of a column"),
    ],
)
def test_what_spreadsheets_make_of_a_table_is_recognised(tmp_path: Path, deauville: Tenant, rows: str | bytes) -> None:
    printed, refused = run(tmp_path, deauville.key, rows=rows)
    assert refused == []
    assert "recorded: 1 stream, 7 events" in printed


def test_a_byte_order_mark_says_the_encoding_whatever_the_mapping_says(tmp_path: Path, deauville: Tenant) -> None:
    mapping = TOML.replace('encoding = "utf-8"', 'encoding = "cp1252"')
    assert mapping != TOML
    _, refused = run(tmp_path, deauville.key, rows="\ufeff" + CSV, mapping=mapping)
    assert refused == []
    assert len(stored()) == 7


def test_accents_that_stand_apart_from_their_letters_are_the_same_name(tmp_path: Path, deauville: Tenant) -> None:
    rows = CSV.replace("Zurueck", unicodedata.normalize("NFD", "Zurück"))
    _, refused = run(tmp_path, deauville.key, rows=rows, mapping=TOML.replace("Zurueck", "Zurück"))
    assert refused == []
    assert len(stored()) == 7


def test_a_quotation_mark_that_stands_alone_refuses_the_session_whose_rows_it_takes(
    tmp_path: Path, deauville: Tenant
) -> None:
    """In a column that the mapping does not read the rows up to the next mark would be gone without a word."""
    header, remarks = f"Anfang;{HEADER};Bemerkung", ["", "", '"laut', "", 'sagt: nein"', "", ""]
    for rows in (
        [f";{row};{remark}" for row, remark in zip(ROWS, remarks, strict=True)],
        [f";{ROWS[0]};", f'"a;{ROWS[1]};', f'b";{ROWS[2]};', *(f";{row};" for row in ROWS[3:])],
        [f";{ROWS[0]};", f';{ROWS[1]};"a', f'"b;{ROWS[2]};', *(f";{row};" for row in ROWS[3:])],
    ):
        run(tmp_path, deauville.key, rows=file_of(rows, header))
        assert stored() == []
    rows = [f';{row};"zwei\nZeilen; kurz"' for row in ROWS]
    _, refused = run(tmp_path, deauville.key, rows=file_of(rows, header))
    assert refused == []
    assert len(stored()) == 7


def test_a_row_whose_cells_were_emptied_refuses_the_session_that_is_open(tmp_path: Path, deauville: Tenant) -> None:
    """Where something counts the rows, or says their order, it is noticed as any other row that is missing."""
    emptied = ";" * (len(HEADER.split(";")) - 1)
    after = of_session(2, [row.replace("19.11.2019 2", "19.11.2019 1") for row in ROWS])
    _, refused = run(tmp_path, deauville.key, rows=file_of([*after, emptied, *ROWS[:3], emptied, *ROWS[4:], emptied]))
    assert [(each["stream"], each["reason"]) for each in refused] == [
        (STREAM, "row 13, whose stream is unknown, may be one of its events")
    ]
    assert (len(stored()), len(stored(OTHER))) == (0, 7)


def test_what_cannot_be_read_twice_is_no_file_to_import(tmp_path: Path, deauville: Tenant) -> None:
    """Of a pipe the first look would take some rows away, and the rest would be taken for the whole."""
    os.mkfifo(tmp_path / "pipe")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(TOML)
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(CommandError, match="no regular file"):
            call_command(
                "import", str(path), mapping=mapping, key=deauville.key.prefix, yes=True, refused=tmp_path / "refused"
            )


def test_the_number_of_a_row_is_that_of_its_line(tmp_path: Path, deauville: Tenant) -> None:
    _, refused = run(tmp_path, deauville.key, rows="\ufeffsep=;\n\n" + CSV.replace("12,50;;p", "zwölf;;p"))
    assert refused[0]["row"] == 5


def test_amounts_whose_comma_became_a_dot_are_refused_and_not_a_hundred_times_as_much(
    tmp_path: Path, deauville: Tenant
) -> None:
    _, refused = run(tmp_path, deauville.key, rows=CSV.replace(",", ".").replace(";", ","))
    assert refused[0]["reason"] == "'50.000.00' is not an amount such as 12,50"
    assert {each["column"] for each in refused if each["row"]} == {"Betrag", "Zurueck"} - {"Zurueck"}
    assert stored() == []


def test_a_column_that_is_missing_is_told_with_those_that_are_there(tmp_path: Path, deauville: Tenant) -> None:
    printed, _ = run(tmp_path, deauville.key, rows=CSV.replace("Tisch;", "Table;"))
    there = "Table, Tag, Sitzung, Zeit, Art, Nr, Wette, Zahlen, Betrag, Zurueck, Spieler"
    assert f"row 1: there is no column 'Tisch'; the file has {there}. Nothing is recorded." in printed
    printed, _ = run(tmp_path, deauville.key, rows=CSV.replace("Tag;", "Tisch;"))
    assert "two columns are called 'Tisch'" in printed
    many = ";".join(f"c{number}" for number in range(5_000))
    printed, _ = run(tmp_path, deauville.key, rows=CSV.replace("Tisch;", f"tish;{many};"))
    assert "Tag" not in printed
    assert " and 4,981 more; did you mean 'tish'?" in printed
    assert stored() == []


@pytest.mark.parametrize("rows", ["", HEADER + "\n", "\ufeff", "\n\n"])
def test_a_file_without_a_row_is_an_error(tmp_path: Path, deauville: Tenant, rows: str) -> None:
    printed, _ = run(tmp_path, deauville.key, rows=rows)
    assert printed == f"{tmp_path / 'rows'} has no rows to import."
    assert list(tmp_path.glob("*.refused.ndjson")) == []


SERIAL = TOML.replace('time = "%d.%m.%Y %H:%M:%S"', 'time = "serial-1904"').replace(
    'date = "%d.%m.%Y"', 'date = "serial-1904"'
)


def test_serial_dates_of_a_spreadsheet_are_read_in_the_system_that_the_mapping_names(
    tmp_path: Path, deauville: Tenant
) -> None:
    def serial(row: str) -> str:
        day, time = row.split(";")[1], row.split(";")[3]
        since = datetime.strptime(time, "%d.%m.%Y %H:%M:%S") - datetime(1904, 1, 1)  # noqa: DTZ007,DTZ001
        number = f"{since / timedelta(days=1):.10f}".replace(".", ",")
        return row.replace(time, number).replace(day, str(since.days))

    rows = file_of([serial(row) for row in ROWS])
    _, refused = run(tmp_path, deauville.key, rows=rows)
    assert refused[0]["reason"] == (
        "'42326,8750000000' is not written as %d.%m.%Y %H:%M:%S; a serial date is read as serial-1900 or serial-1904"
    )
    run(tmp_path, deauville.key, rows=rows, mapping=SERIAL)
    events = stored("deauville.R1.42326.1")
    assert events[0]["data"]["gaming_day"] == "2019-11-19"
    assert [event["occurred_at"][:19] for event in events][:2] == ["2019-11-19T21:00:00", "2019-11-19T21:04:10"]


# A summary before anything is recorded.


def test_nothing_is_recorded_before_somebody_agrees(
    tmp_path: Path, deauville: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    printed, _ = run(tmp_path, deauville.key, yes=False)
    assert printed == "Nobody can be asked here whether to record: add --yes, or --dry-run to look first."
    monkeypatch.setattr("sys.stdin", _Terminal())
    for answer, count in (("", 0), ("n", 0), ("y", 7)):
        questions: list[str] = []
        monkeypatch.setattr(
            "builtins.input", lambda text, answer=answer, questions=questions: questions.append(text) or answer
        )
        printed, _ = run(tmp_path, deauville.key, yes=False)
        assert questions == ["Record 1 stream, 7 events? They stay for good. [y/N] "]
        assert printed.splitlines()[-1] == ("recorded: 1 stream, 7 events" if count else "Nothing is recorded.")
        assert len(stored()) == count


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_summary_names_streams_that_a_key_may_not_open_before_any_is_recorded(
    tmp_path: Path, deauville: Tenant, settings: Any
) -> None:
    settings.CABOCHON_STREAMS_A_DAY = 2
    rows = [row for number in (1, 2, 3) for row in of_session(number, ROWS)]
    printed, refused = run(tmp_path, deauville.key, rows=file_of(rows), dry_run=True)
    assert "would be imported: 2 streams, 14 events; 1 stream refused" in printed
    assert (refused[0]["stream"], "may open no more" in refused[0]["reason"]) == (STREAM[:-1] + "3", True)


def test_the_summary_names_streams_of_more_months_than_a_key_may_open(
    tmp_path: Path, deauville: Tenant, settings: Any
) -> None:
    settings.CABOCHON_MONTHS_A_DAY = 1
    rows = [row.replace("11.2019", f"{month}.1994") for month in ("05", "06") for row in ROWS]
    printed, refused = run(tmp_path, deauville.key, rows=file_of(rows), dry_run=True)
    assert "would be imported: 1 stream, 7 events; 1 stream refused" in printed
    assert (refused[0]["stream"], "1994-06 would be a new one" in refused[0]["reason"]) == (
        STREAM.replace("11.2019", "06.1994"),
        True,
    )


def test_a_stream_that_is_refused_only_when_it_is_recorded_says_why(
    tmp_path: Path, deauville: Tenant, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agreed(_: str) -> str:
        settings.CABOCHON_STREAMS_A_DAY = 0  # others have opened them meanwhile
        return "y"

    monkeypatch.setattr("sys.stdin", _Terminal())
    monkeypatch.setattr("builtins.input", agreed)
    printed, refused = run(tmp_path, deauville.key, yes=False)
    assert "recorded: 0 streams, 0 events; 1 stream refused" in printed
    assert [(each["stream"], each["row"], each["column"]) for each in refused] == [(STREAM, 0, "")]
    assert "may open no more" in refused[0]["reason"]
    assert stored() == []


def test_of_a_stream_whose_second_batch_is_refused_nothing_is_recorded_and_nothing_counted(
    tmp_path: Path, deauville: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = 0

    def second_is_refused(*sent: Any, is_dry: bool) -> Any:
        nonlocal recorded
        recorded += not is_dry
        if recorded == 2:
            raise EventsRefused("others have closed it meanwhile")
        return record(*sent, is_dry=is_dry)

    monkeypatch.setattr(history, "BATCH", 2)
    monkeypatch.setattr(history, "record", second_is_refused)
    printed, refused = run(tmp_path, deauville.key)
    assert "recorded: 0 streams, 0 events; 1 stream refused" in printed
    assert [each["reason"] for each in refused] == ["others have closed it meanwhile"]
    assert stored() == []


def test_a_long_list_of_refusals_is_shown_in_part_and_kept_in_whole(tmp_path: Path, deauville: Tenant) -> None:
    printed, refused = run(tmp_path, deauville.key, rows=file_of([*ROWS, *["Summe;;;;;;;;;;"] * 30]))
    assert len(refused) == 30
    assert sum(line.startswith("refused: row") for line in printed.splitlines()) == 20
    assert f"refused: 10 more, in {tmp_path / 'rows.refused.ndjson'}" in printed


def test_a_temporary_file_that_cannot_grow_is_one_line(
    tmp_path: Path, deauville: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "_BEGIN", "pragma max_page_count = 8;" + spool._BEGIN)
    printed, _ = run(tmp_path, deauville.key, rows=file_of(ROWS * 20))
    assert "database or disk is full. Name a folder with more room in TMPDIR, and run it again." in printed
    assert len(printed.splitlines()) == 1
    assert stored() == []


# Every row of a file, garbled, dropped, doubled and swapped: never a stream with a hole.

SHORT = [ROWS[0], ROWS[1], ROWS[3], ROWS[4], ROWS[6]]


def interleaved() -> list[list[str]]:
    """Return two sessions at one time, row by row."""
    both = [row.split(";") for pair in zip(SHORT, of_session(2, SHORT), strict=True) for row in pair]
    return [[*row[:3], f"19.11.2019 21:{minute:02}:00", *row[4:]] for minute, row in enumerate(both)]


def damages(rows: list[list[str]]) -> Iterator[tuple[str, list[list[str]]]]:
    for at, row in enumerate(rows):
        before, after = rows[:at], rows[at + 1 :]
        yield f"row {at} dropped", before + after
        yield f"row {at} doubled", [*before, row, row, *after]
        yield f"row {at} doubled at the end", [*rows, row]
        if after:
            yield f"row {at} swapped", [*before, after[0], row, *after[1:]]
        yield f"row {at} cut", [*before, row[:5], *after]
        yield f"row {at} longer", [*before, [*row, ""], *after]
        garbled = [
            (0, "9"),
            (1, ""),
            (2, "9"),
            (3, "#"),
            (4, "#"),
            (8, "#"),
            *((at, "7") for at in range(11, len(row))),
        ]
        for column, content in garbled:
            if row[column] not in ("", content):
                yield (
                    f"row {at}, column {column} '{content}'",
                    [*before, [*row[:column], content, *row[column + 1 :]], *after],
                )


@pytest.mark.parametrize("every", [15, pytest.param(1, marks=pytest.mark.faults)])
@pytest.mark.parametrize("order", in_short(["row", "time", "stream", "file"], every=4))
def test_no_damage_to_a_row_leaves_a_stream_with_a_hole(
    tmp_path: Path, deauville: Tenant, order: str, every: int
) -> None:
    """Of every fifth damage one at least is of each kind."""
    rows, header, mapping = interleaved(), HEADER, BY_TIME if order == "time" else TOML
    if order in ("stream", "file"):
        rows = [[*row, str(at // 2 + 1 if order == "stream" else at + 1)] for at, row in enumerate(rows)]
        header, mapping = HEADER + ";Lfd", BY_NUMBER.replace('"Lfd" }', f'"Lfd", counts = "{order}" }}')
    whole = _recorded(tmp_path, deauville, _text(header, rows), mapping)
    assert [len(events) for events in whole] == [5, 5]
    holes, refused = [], 0
    for damage, damaged in islice(damages(rows), None, None, every):
        recorded = _recorded(tmp_path, deauville, _text(header, damaged), mapping)
        refused += [] in recorded
        if any(events not in ([], unharmed) for events, unharmed in zip(recorded, whole, strict=True)):
            holes.append(damage)
    if order in ("row", "time"):  # where nothing counts the rows, nobody misses one that is not the first or the last
        assert [hole for hole in holes if "dropped" not in hole] == []
        assert {f"row {at} dropped" for at in (0, 1, 8, 9)}.isdisjoint(holes)
    else:
        assert holes == []
    assert refused > 75 // every


def _text(header: str, rows: list[list[str]]) -> str:
    return file_of([";".join(row) for row in rows], header)


def _recorded(folder: Path, tenant: Tenant, rows: str, mapping: str) -> list[list[dict[str, Any]]]:
    """Return what an import records of both sessions, and take it back."""
    with transaction.atomic():
        run(folder, tenant.key, rows=rows, mapping=mapping)
        names = LoggedStream.objects.filter(casino=tenant.casino, is_of_desk=False).values_list("name", flat=True)
        assert set(names) <= {STREAM, OTHER}
        recorded = [stored(STREAM), stored(OTHER)]
        transaction.set_rollback(True)
    return recorded
