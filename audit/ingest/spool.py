"""The rows of an import, kept in a temporary file until all of them are read: SQLite sorts what memory cannot hold.

    row        stream, position, number, event      every row that names its stream, "" as event if it cannot be one
    unknown    position, number                     rows of which nobody can say to which stream they belong
    stream     name, opened, closed              between which positions its events lie

``position`` orders the rows of a stream; the mapping says what it is. A row of unknown stream may belong to every
stream that has begun and has not ended at its position, and none of these is whole.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

OPENS, GOES_ON, ENDS = 1, 0, 2
"""What an event does to its stream."""

_BEGIN = """
    pragma journal_mode = off;
    pragma synchronous = off;
    create table row (stream text, position integer, number integer, does integer, digest integer, event, second);
    create table unknown (position integer, number integer);
"""

_SORT = """
    create index row_stream on row (stream, position, number);
    create table stream as select stream as name, count(*) as rows, min(number) as first, max(number) as last,
        min(case does when 1 then position end) as opened, min(case does when 2 then position end) as closed
        from row group by stream;
    create index stream_name on stream (name);
    create index stream_first on stream (first);
    create table taken (name text);
"""

_MISPLACED = """
    from row join stream on stream.name = row.stream
    where stream.opened is null or row.position < stream.opened or row.position > stream.closed
"""

_MISSING = """
    insert into unknown (position) select position + 1
    from (select position, lead(position) over (order by position) as following from row where position is not null)
    where following > position + 1
"""

_TOGETHER = """
    update stream set opened = first, closed = (select min(first) from stream as next where next.first > stream.last)
"""


class SpoolFull(Exception):
    """The temporary file cannot grow."""


class Row(NamedTuple):
    """A row of a stream. ``event`` is JSON without ``seq``, b"" if the row was refused; ``second`` as in ``event``,
    for the second of the instants that its time may mean, None if it has one. ``digest`` is that of the whole row."""

    number: int
    position: int | None
    digest: int
    event: bytes
    second: bytes | None


class Stream(NamedTuple):
    """A stream and between which positions its events lie; ``closed`` is None if it goes on to the end of the file."""

    name: str
    rows: int
    opened: int | None
    closed: int | None


@dataclass(frozen=True, slots=True)
class Spool:
    """The rows of one import."""

    database: sqlite3.Connection

    def add(self, stream: str, row: Row, *, does: int = GOES_ON) -> None:
        """Keep a row that names its stream."""
        self.database.execute(
            "insert into row (stream, position, number, does, digest, event, second) values (?, ?, ?, ?, ?, ?, ?)",
            (stream, row.position, row.number, does, row.digest, row.event, row.second),
        )

    def add_unknown(self, number: int, position: int | None) -> None:
        """Keep the position of a row that names no stream, None if it has none either."""
        self.database.execute("insert into unknown (position, number) values (?, ?)", (position, number))

    def sort(self) -> None:
        """Sort the rows into streams, once all of them are here."""
        self.database.executescript(_SORT)

    def distrust_misplaced(self) -> None:
        """Take rows before the first event of their stream, or after its last, for rows of unknown stream.

        They may be of another one, and have a wrong name.
        """
        self.database.execute(f"insert into unknown (position, number) select row.position, row.number {_MISPLACED}")

    def find_missing(self) -> None:
        """Take each gap in the positions of the file for a row of unknown stream."""
        self.database.execute(_MISSING)

    def stand_together(self) -> None:
        """Take streams for such whose rows stand together: each lies between its first row and the next stream."""
        self.database.executescript(_TOGETHER)

    def index_unknown(self) -> None:
        """Make ready for ``unknown_within``."""
        self.database.execute("create index unknown_position on unknown (position)")

    def unknown_within(self, stream: Stream) -> tuple[int | None, int | None] | None:
        """Return row and position of a row of unknown stream that may belong to a stream, None if there is none.

        The row is None for a position of which no row is in the file.
        """
        found: tuple[int | None, int | None] | None = self.database.execute(
            "select number, position from unknown where position is null or position between ? and ? limit 1",
            (stream.opened, 2**63 - 1 if stream.closed is None else stream.closed),
        ).fetchone()
        return found

    def streams(self) -> Iterator[Stream]:
        """Yield the streams, in the order of their first rows."""
        for each in self.database.execute("select name, rows, opened, closed from stream order by first"):
            yield Stream(*each)

    def take(self, stream: str) -> None:
        """Keep that a stream is to be recorded."""
        self.database.execute("insert into taken (name) values (?)", (stream,))

    def taken(self) -> Iterator[Stream]:
        """Yield the streams that are to be recorded, in the order in which they were taken."""
        for each in self.database.execute(
            "select name, rows, opened, closed from taken join stream using (name) order by taken.rowid"
        ):
            yield Stream(*each)

    def is_ascending(self, stream: str) -> bool:
        """Return whether the rows of a stream stand in the file in their order."""
        numbers = [
            number
            for [number] in self.database.execute(
                "select number from row where stream = ? order by position, number", (stream,)
            )
        ]
        return numbers == sorted(numbers)

    def rows(self, stream: str) -> Iterator[Row]:
        """Yield the rows of a stream, in their order."""
        rows = self.database.execute(
            "select number, position, digest, event, second from row where stream = ? order by position, number",
            (stream,),
        )
        yield from map(Row._make, rows)

    def count(self) -> int:
        """Return how many rows there are."""
        [[count]] = self.database.execute("select (select count(*) from row) + (select count(*) from unknown)")
        return int(count)


@contextmanager
def spool() -> Iterator[Spool]:
    """Return an empty spool, in the folder for temporary files (``TMPDIR``). Raise ``SpoolFull`` from within."""
    with tempfile.TemporaryDirectory(prefix="cabochon-import-") as folder:
        database = sqlite3.connect(Path(folder) / "rows", isolation_level=None)
        try:
            database.executescript(_BEGIN)
            database.execute("begin")
            yield Spool(database)
        except sqlite3.OperationalError as error:
            raise SpoolFull(f"{folder}: {error}") from None
        finally:
            database.close()
