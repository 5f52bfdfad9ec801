"""Importing a history: the rows of a file become streams, each recorded whole or refused whole.

Rows of another system become events by a mapping; events that a record of Cabochon has exported are taken as they are.

    file ─► rows ─► events of a stream ─► the door that table systems use ─► recorded │ refused, with the reasons
                     until its last event

A stream is kept back until its last event (``session.closed``, ``count.closed``) or the end of the file, so that what
is wrong in one row leaves nothing half imported. The numbers are those of the rows in the file's order: the same file
again is the same events again, and nothing is stored twice.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

import msgspec
from django.db import transaction

from audit.event_store import cluster
from audit.ingest.bodies import Body
from audit.ingest.mapping import Row, RowRefused, event_of, stream_of
from audit.ingest.mapping_file import MappingFile, Source
from audit.ingest.record import RecordUnavailable, record
from audit.ingest.refusals import EventsRefused
from audit.models import ApiKey

BATCH = 500
"""Events of a batch: below the most that a request may have."""

MAX_EVENTS = 500_000
"""Events of one stream that are kept in memory."""

MAX_FIELD = 1024 * 1024
"""Characters of a field of CSV."""

LAST = frozenset({"session.closed", "count.closed"})

EXPORTED = Source(name="", format="ndjson", encoding="utf-8")
"""How a file of exported events is written."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What was refused: a row, or with ``row`` 0 a stream, and why."""

    stream: str
    row: int
    column: str
    reason: str
    content: Any = None

    def as_dict(self) -> dict[str, Any]:
        about = {"stream": self.stream, "row": self.row, "column": self.column, "reason": self.reason}
        return about | ({} if self.content is None else {"content": self.content})


@dataclass(slots=True)
class Outcome:
    """What became of a stream: events that are new, events that were there already, and what was refused."""

    stream: str
    new: int = 0
    known: int = 0
    refused: list[Refused] = field(default_factory=list)


@dataclass(slots=True)
class _Pending:
    """The rows of a stream that has not ended."""

    events: list[dict[str, Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    after: datetime | None = None
    is_done: bool = False


class UnreadableFile(Exception):
    """The file is not what the mapping says. ``row`` is where."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row}: {reason}")


def rows_of(file: TextIO, source: Source) -> Iterator[tuple[int, Row | RowRefused]]:
    """Yield the rows of a file with their numbers, the first line being 1; an invalid row as what is wrong with it.

    Raise ``UnreadableFile`` where nothing that follows can be read.
    """
    number = 0
    try:
        if source.format == "csv":
            csv.field_size_limit(MAX_FIELD)
            reader = csv.DictReader(file, delimiter=source.delimiter, strict=True)
            for row in reader:
                number = reader.line_num
                if None in row:
                    yield number, RowRefused("has more fields than the first line has names")
                elif None in row.values():
                    yield number, RowRefused("has fewer fields than the first line has names")
                else:
                    yield number, row
            return
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, _object(line)
    except (UnicodeError, csv.Error) as error:
        raise UnreadableFile(
            number + 1, f"{error}; source.encoding and source.delimiter say how it is written"
        ) from None


def _object(line: str) -> Row | RowRefused:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        return RowRefused(f"is not JSON: {error}")
    return row if isinstance(row, dict) else RowRefused("is not a JSON object")


def import_rows(
    key: ApiKey, mapping: MappingFile, rows: Iterable[tuple[int, Row | RowRefused]], *, is_dry: bool
) -> Iterator[Outcome]:
    """Record the streams of rows, each in one transaction, and yield what became of each.

    ``is_dry`` rolls each back. Raise ``RecordUnavailable`` if nothing can be recorded now.
    """
    pending: dict[str, _Pending] = {}
    for number, row in rows:
        if isinstance(row, RowRefused):
            yield Outcome("", refused=[Refused("", number, row.column, str(row))])
            continue
        try:
            stream = stream_of(mapping, row)
        except RowRefused as refusal:
            yield Outcome("", refused=[Refused("", number, refusal.column, str(refusal), row)])
            continue
        of_stream = pending.setdefault(stream, _Pending())
        if of_stream.is_done:
            yield Outcome(
                stream, refused=[Refused(stream, number, "", "comes after the last event of its stream", row)]
            )
            continue
        _add(mapping, of_stream, stream, number, row)
        if of_stream.events and of_stream.events[-1]["type"] in LAST and not of_stream.refused:
            yield _record(key, stream, of_stream, is_dry=is_dry)
            pending[stream] = _Pending(is_done=True)
    for stream, of_stream in pending.items():
        if not of_stream.is_done:
            yield _record(key, stream, of_stream, is_dry=is_dry)


def import_events(key: ApiKey, rows: Iterable[tuple[int, Row | RowRefused]], *, is_dry: bool) -> Iterator[Outcome]:
    """Record exported events, unchanged and under their own numbers, and yield what became of each stream.

    The events of a stream stand together, in their order: a stream is recorded at the first event of another one or at
    the end of the file, because corrections follow its last event. ``is_dry`` and errors as in ``import_rows``.
    """
    stream, pending = "", _Pending()
    for number, row in rows:
        named = None if isinstance(row, RowRefused) else row.get("stream")
        if isinstance(named, str) and named != stream:
            if stream or pending.refused:
                yield _record(key, stream, pending, is_dry=is_dry)
            stream, pending = named, _Pending()
        if isinstance(row, RowRefused):
            pending.refused.append(Refused(stream, number, row.column, str(row)))
        elif not isinstance(named, str):
            pending.refused.append(Refused(stream, number, "stream", "is not the name of a stream", row))
        elif len(pending.events) >= MAX_EVENTS:
            pending.refused.append(Refused(stream, number, "", f"the stream has more than {MAX_EVENTS} events"))
        else:
            pending.events.append(dict(row))
            pending.rows.append(number)
    if stream or pending.refused:
        yield _record(key, stream, pending, is_dry=is_dry)


def _add(mapping: MappingFile, pending: _Pending, stream: str, number: int, row: Row) -> None:
    try:
        if len(pending.events) >= MAX_EVENTS:
            raise RowRefused(f"the stream has more than {MAX_EVENTS} events")
        event = event_of(mapping, row, seq=len(pending.events) + 1, after=pending.after)
    except RowRefused as refusal:
        pending.refused.append(Refused(stream, number, refusal.column, str(refusal), row))
        return
    pending.events.append(event)
    pending.rows.append(number)
    pending.after = datetime.fromisoformat(event["occurred_at"])


def _record(key: ApiKey, stream: str, pending: _Pending, *, is_dry: bool) -> Outcome:
    """Record a stream in one transaction: all of its batches, or nothing."""
    outcome = Outcome(stream, refused=pending.refused)
    if pending.refused:
        reason = f"{len(pending.refused)} of its rows are refused, so that none of its events is recorded"
        outcome.refused.append(Refused(stream, 0, "", reason))
        return outcome
    try:
        with transaction.atomic(), cluster.reading_what_it_wrote():
            for low in range(0, len(pending.events), BATCH):
                events = [json.dumps(event).encode() for event in pending.events[low : low + BATCH]]
                rows = pending.rows[low : low + BATCH]
                body = Body(b"[" + b",".join(events) + b"]", events, "", b"[" + b",".join(events) + b"]")
                try:
                    result = record(key, stream, body, is_dry=is_dry)
                except RecordUnavailable:
                    raise
                except EventsRefused as refusal:
                    outcome.refused += _of(refusal, stream, rows)
                    raise
                if result.is_new:
                    outcome.new += len(events)
                else:
                    outcome.known += len(events)
            transaction.set_rollback(is_dry)
    except RecordUnavailable:
        raise
    except EventsRefused:
        outcome.new = outcome.known = 0
    return outcome


def _of(refusal: EventsRefused, stream: str, rows: list[int]) -> Iterator[Refused]:
    """Yield what the door refused, each fault with the row of its event."""
    yield Refused(stream, 0, "", str(refusal))
    for fault in refusal.faults:
        row = rows[fault.index] if fault.index is not None else 0
        yield Refused(stream, row, fault.pointer.split("/", 2)[-1], fault.detail)
