"""How rows of another system become events: a mapping file in TOML, read and applied.

    row {"ART": "EINSATZ", "BETRAG": "12,50", …} ──mapping──► {"type": "wager.placed", "data": {"stake": 1250, …}, …}

One row is one event. The mapping says which column names the stream, which the type of the event, and for each type
where each field comes from (``docs/import.md`` has an example). It decides nothing about the events themselves: what it
writes goes through the same door as what a table system sends.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from string import Formatter
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

MAX_MONEY_DIGITS = 4

Row = Mapping[str, Any]
"""A row by column: of CSV all texts, of NDJSON what JSON has."""


class BadMapping(Exception):
    """The mapping file does not say what a mapping says. ``str()`` says where and what."""


class RowRefused(Exception):
    """A row cannot become an event. ``column`` is the column at fault, "" if it is none alone."""

    def __init__(self, reason: str, column: str = "") -> None:
        super().__init__(reason)
        self.column = column


class Money(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an amount is written: ``digits`` after ``decimal`` are one minor unit; ``ignore`` are characters to drop."""

    digits: int = 2
    decimal: str = "."
    ignore: str = ""


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a field comes from, a column or a constant, and how its text is read. One of the five ways at most.

    ``date`` and ``time`` are formats of ``strptime``; a time has an offset in itself (``%z``) or gets that of ``zone``.
    ``separator`` cuts a list, each item of which is read so.
    """

    column: str = ""
    value: Any = None
    words: dict[str, Any] | None = None
    money: Money | None = None
    date: str = ""
    time: str = ""
    integer: bool = False
    zone: str = ""
    separator: str = ""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: what it is called in the events, and how it is written."""

    name: str
    format: Literal["csv", "ndjson"] = "csv"
    delimiter: str = ","
    encoding: str = "utf-8-sig"


class MappingFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it is written. ``fields`` has the data of each type of event; ``stream`` is a text with {columns}."""

    source: Source
    stream: str
    type: Value
    occurred_at: Value
    fields: dict[str, dict[str, Value]]
    actor: Value | None = None


def read_mapping(text: str) -> MappingFile:
    """Return a mapping from the text of its file. Raise ``BadMapping``."""
    try:
        mapping = msgspec.convert(tomllib.loads(text), MappingFile)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadMapping(str(error)) from None
    named = {"type": mapping.type, "occurred_at": mapping.occurred_at}
    if mapping.actor is not None:
        named["actor"] = mapping.actor
    for event_type, fields in mapping.fields.items():
        named |= {f"fields.{event_type}.{name}": value for name, value in fields.items()}
    for where, value in named.items():
        _check(where, value)
    if not mapping.occurred_at.time:
        raise BadMapping("occurred_at: has no time, the format in which it is written")
    try:
        columns = [name for _, name, _, _ in Formatter().parse(mapping.stream) if name is not None]
    except ValueError as error:
        raise BadMapping(f"stream: {error}") from None
    if not columns or not all(columns):
        raise BadMapping("stream: names no {column}, and every row would be of one stream")
    if len(mapping.source.delimiter) != 1:
        raise BadMapping("source.delimiter: is not one character")
    try:
        "".encode(mapping.source.encoding)
    except LookupError:
        raise BadMapping(f"source.encoding: {mapping.source.encoding} is no encoding") from None
    return mapping


def _check(where: str, value: Value) -> None:
    """Raise ``BadMapping`` for a value that has no source, two of them, or two ways to be read."""
    if bool(value.column) == (value.value is not None):
        raise BadMapping(f"{where}: has to have either a column or a value")
    ways = [value.words is not None, value.money is not None, bool(value.date), bool(value.time), value.integer]
    if sum(ways) > 1 or (value.value is not None and (any(ways) or value.separator)):
        raise BadMapping(f"{where}: is read in more than one way")
    if value.money is not None and (not 0 <= value.money.digits <= MAX_MONEY_DIGITS or len(value.money.decimal) != 1):
        raise BadMapping(f"{where}.money: digits are 0 to {MAX_MONEY_DIGITS}, decimal is one character")
    if value.time and "%z" not in value.time:
        try:
            ZoneInfo(value.zone)
        except (ZoneInfoNotFoundError, ValueError):
            raise BadMapping(f"{where}: the time has no %z, and {value.zone or '(none)'} is no time zone") from None


def event_of(mapping: MappingFile, row: Row, *, seq: int, after: datetime | None) -> dict[str, Any]:
    """Return the event of a row. Raise ``RowRefused``.

    ``after`` is the instant of the event before it in the stream: of the two that an hour set back may mean, a time
    that would lie before it is the second.
    """
    event_type = _read(mapping.type, row)
    if event_type is None:
        raise RowRefused("the column of the event's type is empty", mapping.type.column)
    fields = mapping.fields.get(event_type)
    if fields is None:
        raise RowRefused(f"the mapping has no fields of '{event_type}'", mapping.type.column)
    occurred_at = _read(mapping.occurred_at, row, after)
    if occurred_at is None:
        raise RowRefused("the column of the time is empty", mapping.occurred_at.column)
    data = {name: _read(value, row, after) for name, value in fields.items()}
    event = {
        "v": 1,
        "stream": stream_of(mapping, row),
        "seq": seq,
        "type": event_type,
        "occurred_at": occurred_at,
        "data": {name: value for name, value in data.items() if value is not None},
        "ext": {"backfill": mapping.source.name},
    }
    actor = None if mapping.actor is None else _read(mapping.actor, row)
    return event if actor is None else event | {"actor": actor}


def stream_of(mapping: MappingFile, row: Row) -> str:
    """Return the name of a row's stream. Raise ``RowRefused``."""
    parts = []
    for literal, column, _, _ in Formatter().parse(mapping.stream):
        parts.append(literal)
        if column is not None:
            text = _text(row, column)
            if not text:
                raise RowRefused("the stream's name needs this column, and it is empty", column)
            parts.append(text)
    return "".join(parts)


def _text(row: Row, column: str) -> str:
    """Return the text of a column, without white space around it. Raise ``RowRefused`` if there is no such column."""
    content: Any = row
    for part in [column] if column in row else column.split("."):
        if not isinstance(content, Mapping) or part not in content:
            raise RowRefused("there is no such column", column)
        content = content[part]
    if content is None:
        return ""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, int) and not isinstance(content, bool):
        return str(content)
    raise RowRefused("is neither a text nor a whole number", column)


def _read(value: Value, row: Row, after: datetime | None = None) -> Any:
    """Return the content of a field, None if its column is empty."""
    if not value.column:
        return value.value
    text = _text(row, value.column)
    if not text:
        return None
    if not value.separator:
        return _item(value, text, after)
    return [_item(value, part.strip(), after) for part in text.split(value.separator) if part.strip()]


def _item(value: Value, text: str, after: datetime | None) -> Any:
    if value.words is not None:
        if text not in value.words:
            known = ", ".join(list(value.words)[:12])
            raise RowRefused(f"the mapping has no word '{text}', only {known}", value.column)
        return value.words[text]
    if value.money is not None:
        return _minor_units(value.money, text, value.column)
    if value.date or value.time:
        return _instant(value, text, after)
    if value.integer:
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise RowRefused(f"'{text}' is not a whole number", value.column)
        return int(text)
    return text


def _minor_units(money: Money, text: str, column: str) -> int:
    """Return an amount in minor units, exactly: what has more decimals than these is refused, not rounded."""
    kept = "".join(character for character in text if character not in money.ignore).strip()
    match = re.fullmatch(rf"(-?)([0-9]{{1,15}})(?:{re.escape(money.decimal)}([0-9]+))?", kept)
    if match is None:
        raise RowRefused(f"'{text}' is not an amount such as 12{money.decimal}50", column)
    sign, whole, part = match[1], match[2], (match[3] or "").rstrip("0")
    if len(part) > money.digits:
        raise RowRefused(f"'{text}' has more than {money.digits} decimals", column)
    return int(f"{sign}{whole}{part.ljust(money.digits, '0')}")


def _instant(value: Value, text: str, after: datetime | None) -> str:
    """Return a date or an instant as the contract writes it."""
    try:
        read = datetime.strptime(text, value.date or value.time)  # noqa: DTZ007  (the zone follows)
    except ValueError:
        raise RowRefused(f"'{text}' is not written as {value.date or value.time}", value.column) from None
    if value.date:
        return read.date().isoformat()
    if read.tzinfo is None:
        zone = ZoneInfo(value.zone)
        read = read.replace(tzinfo=zone)
        second = read.replace(fold=1)
        if read.astimezone(ZoneInfo("UTC")).astimezone(zone).replace(tzinfo=None) != read.replace(tzinfo=None):
            raise RowRefused(f"there was no '{text}' in {value.zone}: clocks were put forward", value.column)
        if after is not None and second.utcoffset() != read.utcoffset() and _before(read, after):
            read = second
    return read.isoformat()


def _before(read: datetime, after: datetime) -> bool:
    return read.astimezone(ZoneInfo("UTC")) < after.astimezone(ZoneInfo("UTC")) - timedelta(minutes=1)
