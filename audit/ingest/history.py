"""Importing a history: the rows of a file become streams, each recorded whole or refused whole.

Rows of another system become events by a mapping; events that a record of Cabochon has exported are taken as they are.

    file ─► rows ─► spool ─► streams, in order ─► proved whole? ─► dry run ─► summary ─► recorded
                      │                               │               │
                      └── rows that cannot be read    └── refused, with the reasons

Nothing is recorded before the whole file is read and judged. A stream is whole if it has its first and its last event,
all of its rows can be read, none comes twice, their order is certain, and no row of unknown stream may be one of its
own. A fault in one row leaves nothing half imported. The numbers are those of the rows in their order: the same file
again is the same events again, and nothing is stored twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, TypeAlias

import msgspec
from django.db import transaction

from audit.event_store import cluster, read
from audit.ingest import opening
from audit.ingest.bodies import Body
from audit.ingest.dry_run import findings_of
from audit.ingest.mapping import Row as SourceRow
from audit.ingest.mapping import (
    RowEmptied,
    RowRefused,
    comes_twice,
    event_of,
    instant_of,
    number_of,
    stream_of,
    type_of,
)
from audit.ingest.mapping_file import MappingFile, Source
from audit.ingest.record import RecordUnavailable, record
from audit.ingest.refusals import EventsRefused
from audit.ingest.spool import ENDS, GOES_ON, OPENS, Row, Spool, Stream
from audit.models import ApiKey

BATCH = 500
"""Events of a batch: below the most that a request may have."""

MAX_EVENTS = 500_000
"""Events of one stream that are kept in memory."""

DOES = {"session.opened": OPENS, "count.opened": OPENS, "session.closed": ENDS, "count.closed": ENDS}

CLOCK_SET_BACK = timedelta(minutes=1)
"""How far a time of the hour that comes twice lies before the row above it, if it is the second one."""

_NOWHERE = -(10**18)
"""The position of a row of unknown stream where numbers have no gap: its number is missing, and that says more."""

EXPORTED = Source(name="", format="ndjson")
"""How a file of exported events is written."""

FoundBy: TypeAlias = tuple[str, str]
"""Severity and rule of a finding."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What was refused: a row, or with ``row`` 0 a stream, and why. ``stream`` is "" if it is unknown."""

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
    """What became of a stream: events that are new, events that were there already, findings, and what was refused."""

    stream: str
    new: int = 0
    known: int = 0
    refused: list[Refused] = field(default_factory=list)
    findings: Counter[FoundBy] = field(default_factory=Counter)


@dataclass(slots=True)
class _Ordered:
    """The events of a stream as JSON, in their order, each with its row."""

    events: list[bytes] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


class _Timed(msgspec.Struct):
    occurred_at: datetime


_decode_time = msgspec.json.Decoder(_Timed).decode
_encode = msgspec.json.Encoder(enc_hook=str).encode  # enc_hook: what a workbook has beside texts and numbers


@dataclass(frozen=True, slots=True)
class History:
    """An import in its three steps: ``read`` the file, ``judge`` its streams, ``record`` those that are whole.

    ``mapping`` is None for exported events.
    """

    key: ApiKey
    mapping: MappingFile | None
    spool: Spool

    def read(self, rows: Iterable[tuple[int, SourceRow | RowRefused]]) -> Iterator[Refused]:
        """Read all rows, and yield those that are refused."""
        for number, row in rows:
            if isinstance(row, RowEmptied):
                if self.mapping is None or self.mapping.order.by == "row":
                    self.spool.add_unknown(number, number)
            elif isinstance(row, RowRefused):
                self.spool.add_unknown(number, self._position_of_unknown(number, None))
                yield Refused("", number, row.column, str(row))
            elif self.mapping is None:
                yield from self._read_exported(number, row)
            else:
                yield from self._read_mapped(self.mapping, number, row)
        self.spool.sort()
        if self.mapping is None:
            self.spool.stand_together()
        else:
            counts = self.mapping.order.counts
            if counts == "file":
                self.spool.find_missing()
            if counts != "stream":
                self.spool.distrust_misplaced()
        self.spool.index_unknown()

    def judge(self) -> Iterator[Outcome]:
        """Do everything but record, and yield what would become of each stream.

        Raise ``RecordUnavailable`` if nothing can be recorded now.
        """
        planned: Counter[date] = Counter()
        for stream in self.spool.streams():
            outcome = Outcome(stream.name)
            ordered = self._proved(stream, outcome.refused)
            if not outcome.refused:
                self._judge(ordered, outcome, planned)
            if not outcome.refused:
                self.spool.take(stream.name)
            yield outcome

    def record(self) -> Iterator[Outcome]:
        """Record the streams that ``judge`` has found whole, each in one transaction; yield what became of each.

        Raise ``RecordUnavailable`` if nothing can be recorded now: the same import again records the rest.
        """
        for stream in self.spool.taken():
            outcome = Outcome(stream.name)
            ordered = self._ordered(stream, [])
            try:
                with transaction.atomic(), cluster.reading_what_it_wrote():
                    self._store(ordered, outcome, is_dry=False)
            except RecordUnavailable:
                raise
            except EventsRefused:  # ``_store`` has said why
                outcome.new = outcome.known = 0
            yield outcome

    def _read_exported(self, number: int, event: SourceRow) -> Iterator[Refused]:
        stream, seq = event.get("stream"), event.get("seq")
        if not isinstance(stream, str):
            self.spool.add_unknown(number, number)
            yield Refused("", number, "stream", "is not the name of a stream", event)
            return
        position = seq if isinstance(seq, int) and not isinstance(seq, bool) and abs(seq) < 2**63 else None
        self.spool.add(stream, Row(number, position, 0, json.dumps(event).encode(), None))

    def _read_mapped(self, mapping: MappingFile, number: int, row: SourceRow) -> Iterator[Refused]:
        try:
            stream = stream_of(mapping, row)
        except RowRefused as refusal:
            self.spool.add_unknown(number, self._position_of_unknown(number, row))
            yield Refused("", number, refusal.column, str(refusal), row)
            return
        event = second = b""
        does, position = GOES_ON, None
        try:
            position = _position(mapping, number, row)
            does = DOES.get(type_of(mapping, row), GOES_ON)
            first = event_of(mapping, row)
            if comes_twice(mapping, first):
                if mapping.order.by == "time":
                    reason = (
                        "is of an hour that comes twice, and cannot say the order: let order.by be 'number' or 'row'"
                    )
                    raise RowRefused(reason, mapping.occurred_at.column)
                second = _encode(event_of(mapping, row, fold=1))
            event = _encode(first)
        except RowRefused as refusal:
            yield Refused(stream, number, refusal.column, str(refusal), row)
        self.spool.add(stream, Row(number, position, hash(_encode(row)), event, second or None), does=does)

    def _position_of_unknown(self, number: int, row: SourceRow | None) -> int | None:
        """Return the position of a row of unknown stream, None if it may be anywhere."""
        if self.mapping is None or self.mapping.order.by == "row":
            return number
        if self.mapping.order.counts:
            return _NOWHERE
        try:
            return _position(self.mapping, number, row or {})
        except RowRefused:
            return None

    def _proved(self, stream: Stream, refused: list[Refused]) -> _Ordered:
        """Return the events of a stream, in their order; add to ``refused`` why it is not proved whole."""

        def refuse(reason: str) -> None:
            refused.append(Refused(stream.name, 0, "", reason))

        if stream.rows > MAX_EVENTS:
            refuse(f"the stream has more than {MAX_EVENTS} events")
            return _Ordered()
        ordered = self._ordered(stream, refused)
        if len(ordered.events) < stream.rows:
            count = stream.rows - len(ordered.events)
            refuse(f"{count} of its {stream.rows} rows are refused, so that none of its events is recorded")
        if self.mapping is not None and stream.opened is None:
            refuse("it has no first event (session.opened, count.opened)")
        elif self.mapping is not None and stream.closed is None and not self.mapping.may_stay_open:
            refuse("it has no last event (session.closed, count.closed), and the mapping does not say may_stay_open")
        unknown = self.spool.unknown_within(stream)
        if unknown is not None:
            number, position = unknown
            refuse(
                f"number {position} is missing in the file, and may be one of its events"
                if number is None
                else f"row {number}, whose stream is unknown, may be one of its events"
            )
        return ordered

    def _ordered(self, stream: Stream, refused: list[Refused]) -> _Ordered:
        """Return the events of a stream in their order; add to ``refused`` what makes the order uncertain."""
        ordered = _Ordered()
        if self.mapping is None:
            for row in self.spool.rows(stream.name):
                ordered.events.append(row.event)
                ordered.rows.append(row.number)
            return ordered
        before: Row | None = None
        after: datetime | None = None
        seen: dict[int, int] = {}
        is_ascending = self.mapping.order.by != "time" or self.spool.is_ascending(stream.name)
        for row in self.spool.rows(stream.name):
            same = seen.setdefault(row.digest, row.number)
            fault = _fault_of_position(stream, row)
            if not fault and same != row.number:
                fault = f"is the same as row {same}"
            fault = fault or _fault_of_order(self.mapping, row, before, is_ascending=is_ascending)
            event = row.event
            if event:
                at = _decode_time(event).occurred_at
                if row.second is not None and after is not None and at < after - CLOCK_SET_BACK:
                    event, at = row.second, _decode_time(row.second).occurred_at
                if not fault and before is not None and after is not None and at < after and not self._may_go_back():
                    fault = f"lies before row {before.number}, above it: order.by says what orders the rows"
                after = at
                ordered.events.append(b'{"seq":%d,' % (len(ordered.events) + 1) + event[1:])
                ordered.rows.append(row.number)
            if fault:
                refused.append(Refused(stream.name, row.number, "", fault))
            before = row
        return ordered

    def _may_go_back(self) -> bool:
        """Return whether a number without a gap says the order, whatever the times say."""
        return self.mapping is not None and bool(self.mapping.order.counts)

    def _judge(self, ordered: _Ordered, outcome: Outcome, planned: Counter[date]) -> None:
        """Record a stream, adjudicate it and roll it back. ``planned`` are the streams that would be opened by day."""
        try:
            with transaction.atomic(), cluster.reading_what_it_wrote():
                day = None
                if read.head_of(self.key.casino_id, outcome.stream) is None:
                    day = _gaming_day(ordered.events[0])
                if day is not None:
                    opening.check_count(self.key, day, opened=-planned[day])
                    months = {(each.year, each.month) for each in planned} - {(day.year, day.month)}
                    opening.check_months(self.key, day, planned=len(months))
                self._store(ordered, outcome, is_dry=True)
                head = read.head_of(self.key.casino_id, outcome.stream)
                if outcome.new and head is not None and head.game is not None:
                    found = findings_of(head.stream_id, max_events=MAX_EVENTS)
                    outcome.findings.update((finding.severity, finding.rule) for finding in found)
                transaction.set_rollback(True)
        except RecordUnavailable:
            raise
        except EventsRefused as refusal:
            outcome.new = outcome.known = 0
            outcome.refused = outcome.refused or [Refused(outcome.stream, 0, "", str(refusal))]
        else:
            if day is not None:
                planned[day] += 1

    def _store(self, ordered: _Ordered, outcome: Outcome, *, is_dry: bool) -> None:
        """Store the batches of a stream. Raise ``EventsRefused``, the faults with their rows in ``outcome``."""
        for low in range(0, len(ordered.events), BATCH):
            events = ordered.events[low : low + BATCH]
            array = b"[" + b",".join(events) + b"]"
            try:
                result = record(self.key, outcome.stream, Body(array, events, "", array), is_dry=is_dry)
            except RecordUnavailable:
                raise
            except EventsRefused as refusal:
                outcome.refused += _of(refusal, outcome.stream, ordered.rows[low : low + BATCH])
                raise
            if result.is_new:
                outcome.new += len(events)
            else:
                outcome.known += len(events)


def _position(mapping: MappingFile, number: int, row: SourceRow) -> int:
    """Return what orders a row. Raise ``RowRefused`` if it does not say."""
    match mapping.order.by:
        case "row":
            return number
        case "number":
            return number_of(mapping, row)
        case "time":
            return instant_of(mapping, row)


def _fault_of_position(stream: Stream, row: Row) -> str:
    """Return why a row does not lie between the first and the last event of its stream, "" if it does."""
    if stream.opened is None or row.position is None:
        return ""
    if row.position < stream.opened:
        return "comes before the first event of its stream"
    if stream.closed is not None and row.position > stream.closed:
        return "comes after the last event of its stream"
    return ""


def _fault_of_order(mapping: MappingFile, row: Row, before: Row | None, *, is_ascending: bool) -> str:
    """Return why it is uncertain that a row comes after the one before it, "" if it is certain."""
    if before is None or row.position is None or before.position is None:
        return ""
    if row.position == before.position:
        if mapping.order.by == "number":
            return f"has the number of row {before.number}"
        return (
            "" if is_ascending else f"has the time of row {before.number}, and the rows of its stream are in no order"
        )
    if mapping.order.counts == "stream" and row.position != before.position + 1:
        return f"number {before.position + 1} is missing before it"
    return ""


def _gaming_day(opener: bytes) -> date | None:
    """Return the gaming day of a first event, None if it has none: the record then says what is wrong with it."""
    try:
        return date.fromisoformat(json.loads(opener)["data"]["gaming_day"])
    except (ValueError, KeyError, TypeError):
        return None


def _of(refusal: EventsRefused, stream: str, rows: list[int]) -> Iterator[Refused]:
    """Yield what the record refuses, each fault with the row of its event."""
    yield Refused(stream, 0, "", str(refusal))
    for fault in refusal.faults:
        row = rows[fault.index] if fault.index is not None else 0
        yield Refused(stream, row, fault.pointer.split("/", 2)[-1], fault.detail)
