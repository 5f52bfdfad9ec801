"""How rows of another system become events: a mapping file, applied.

    row {"ART": "EINSATZ", "BETRAG": "12,50", …} ──mapping──► {"type": "wager.placed", "data": {"stake": 1250, …}, …}

One row is one event. The mapping says which column names the stream, which the type of the event, and for each type
where each field comes from (``docs/import.md`` has an example; ``mapping_file`` reads it). It decides nothing about the
events themselves: what it writes goes through the same door as what a table system sends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from string import Formatter
from typing import Any
from zoneinfo import ZoneInfo

from openpyxl.utils.datetime import from_excel

from audit.ingest.mapping_file import SERIAL, MappingFile, Money, Value
from settlement.spelling import meant

Row = Mapping[str, Any]
"""A row by column: of CSV all texts, of NDJSON what JSON has, of XLSX texts, numbers, dates and ``UnreadableCell``."""


_IS_SERIAL = re.compile(r"[0-9]{1,6}([.,][0-9]{1,15})?").fullmatch


@dataclass(frozen=True, slots=True)
class UnreadableCell:
    """A cell of a workbook without a value of its own, and why."""

    reason: str


NAMES_SHOWN = 30
"""Names that a message lists; the others are counted."""


def listed(names: Iterable[str]) -> str:
    """Return names as a message lists them."""
    first, more = list[str](), 0
    for name in names:
        if len(first) < NAMES_SHOWN:
            first.append(name)
        else:
            more += 1
    return ", ".join(first) + (f" and {more:,} more" if more else "")


class RowRefused(Exception):
    """A row cannot become an event. ``column`` is the column at fault, "" if it is none alone."""

    def __init__(self, reason: str, column: str = "") -> None:
        super().__init__(reason)
        self.column = column


class RowEmptied(RowRefused):
    """A row has no content, and may have had some: of a spreadsheet somebody deletes what is in the cells."""

    def __init__(self) -> None:
        super().__init__("has no content")


def event_of(mapping: MappingFile, row: Row, *, fold: int = 0) -> dict[str, Any]:
    """Return the event of a row, without its number ``seq``. Raise ``RowRefused``.

    ``fold`` is 1 for the second of the two instants that a time may mean when clocks are put back.
    """
    event_type = type_of(mapping, row)
    fields = mapping.fields.get(event_type) if isinstance(event_type, str) else None
    if fields is None:
        hint = meant(event_type, mapping.fields) if isinstance(event_type, str) else ""
        reason = f"the mapping has no fields of '{event_type}'" + (f"; {hint}" if hint else "")
        raise RowRefused(reason, mapping.type.column)
    occurred_at = _read(mapping.occurred_at, row, fold)
    if occurred_at is None:
        raise RowRefused("the column of the time is empty", mapping.occurred_at.column)
    data = {name: _read(value, row, fold) for name, value in fields.items()}
    event = {
        "v": 1,
        "stream": stream_of(mapping, row),
        "type": event_type,
        "occurred_at": occurred_at,
        "data": {name: value for name, value in data.items() if value is not None},
        "ext": {"backfill": mapping.source.name},
    }
    actor = None if mapping.actor is None else _read(mapping.actor, row)
    return event if actor is None else event | {"actor": actor}


def type_of(mapping: MappingFile, row: Row) -> Any:
    """Return the type of a row's event. Raise ``RowRefused``."""
    event_type = _read(mapping.type, row)
    if event_type is None:
        raise RowRefused("the column of the event's type is empty", mapping.type.column)
    return event_type


def comes_twice(mapping: MappingFile, event: Mapping[str, Any]) -> bool:
    """Return whether an event's time is one of the hour that comes twice, when clocks are put back."""
    zone = mapping.occurred_at.zone
    if not zone or "%z" in mapping.occurred_at.time:
        return False
    read = datetime.fromisoformat(event["occurred_at"])
    return read.replace(tzinfo=ZoneInfo(zone), fold=1).utcoffset() != read.utcoffset()


def number_of(mapping: MappingFile, row: Row) -> int:
    """Return the number that orders a row. Raise ``RowRefused``."""
    number = _read(Value(column=mapping.order.column, integer=True), row)
    if number is None:
        raise RowRefused("the column of the order is empty", mapping.order.column)
    return int(number)


def instant_of(mapping: MappingFile, row: Row) -> int:
    """Return the time of a row, in microseconds since 1970. Raise ``RowRefused``."""
    text = _read(mapping.occurred_at, row)
    if text is None:
        raise RowRefused("the column of the time is empty", mapping.occurred_at.column)
    return microseconds(datetime.fromisoformat(text))


def microseconds(instant: datetime) -> int:
    """Return an instant in microseconds since 1970."""
    since = instant - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def stream_of(mapping: MappingFile, row: Row) -> str:
    """Return the name of a row's stream. Raise ``RowRefused``."""
    parts = []
    for literal, column, _, _ in Formatter().parse(mapping.stream):
        parts.append(literal)
        if column is not None:
            content = _content(row, column)
            text = _iso(content) if isinstance(content, datetime) else _text(content, column)
            if not text:
                raise RowRefused("the stream's name needs this column, and it is empty", column)
            parts.append(text)
    return "".join(parts)


def _content(row: Row, column: str) -> Any:
    """Return what a column has. Raise ``RowRefused`` if there is no such column, or a cell has no value of its own."""
    content: Any = row
    for part in [column] if column in row else column.split("."):
        if not isinstance(content, Mapping) or part not in content:
            raise RowRefused(f"there is no such column; the row has {listed(row)}", column)
        content = content[part]
    if isinstance(content, UnreadableCell):
        raise RowRefused(content.reason, column)
    return content


def _text(content: Any, column: str) -> str:
    """Return the text of a column, without white space around it. Raise ``RowRefused`` for what is no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, int) and not isinstance(content, bool):
        return str(content)
    raise RowRefused("is neither a text nor a whole number", column)


def _read(value: Value, row: Row, fold: int = 0) -> Any:
    """Return the content of a field, None if its column is empty."""
    if not value.column:
        return value.value
    content = _content(row, value.column)
    if value.money is not None and isinstance(content, Decimal):
        return _exact(value.money, content, value.column)
    if value.date or value.time:
        if isinstance(content, date | time_of_day):
            return _instant(value, content, fold)
        if isinstance(content, Decimal):
            content = f"{content:f}"
    text = _text(content, value.column)
    if not text:
        return None
    if not value.separator:
        return _item(value, text, fold)
    return [_item(value, part.strip(), fold) for part in text.split(value.separator) if part.strip()]


def _item(value: Value, text: str, fold: int) -> Any:
    if value.words is not None:
        if text not in value.words:
            known = ", ".join(list(value.words)[:12])
            raise RowRefused(f"the mapping has no word '{text}', only {known}", value.column)
        return value.words[text]
    if value.money is not None:
        return _minor_units(value.money, text, value.column)
    if value.date or value.time:
        return _instant(value, _parsed(value, text), fold)
    if value.integer:
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise RowRefused(f"'{text}' is not a whole number", value.column)
        return int(text)
    return text


def _minor_units(money: Money, text: str, column: str) -> int:
    """Return an amount in minor units, exactly: what has more decimals than these is refused, not rounded.

    Characters to drop stand around the amount, or before each three of its digits: `12.50` is not 1250 because dots are
    dropped.
    """
    decimal = re.escape(money.decimal)
    # A spreadsheet writes the blank before a sign of currency, and between thousands, as one that breaks no line.
    ignore = money.ignore + ("\u00a0\u202f" if " " in money.ignore else "")
    dropped = f"[{re.escape(ignore)}]" if ignore else "(?!)"
    whole = rf"[0-9]{{1,15}}|[0-9]{{1,3}}(?:{dropped}[0-9]{{3}}){{1,4}}"
    match = re.fullmatch(rf"{dropped}*(-?){dropped}*(?<![.,'])({whole})(?:{decimal}([0-9]+))?{dropped}*", text)
    if match is None:
        raise RowRefused(f"'{text}' is not an amount such as 12{money.decimal}50", column)
    sign, digits, part = match[1], re.sub(dropped, "", match[2]), (match[3] or "").rstrip("0")
    if len(part) > money.digits:
        raise RowRefused(f"'{text}' has more than {money.digits} decimals", column)
    return int(f"{sign}{digits}{part.ljust(money.digits, '0')}")


def _exact(money: Money, amount: Decimal, column: str) -> int:
    """Return the amount of a cell in minor units, exactly."""
    minor = amount.scaleb(money.digits)
    if minor != minor.to_integral_value():
        raise RowRefused(f"'{amount:f}' has more than {money.digits} decimals", column)
    return int(minor)


def _parsed(value: Value, text: str) -> date | time_of_day:
    """Return the date or the time that a text says in the format of the mapping."""
    written = value.date or value.time
    try:
        if written in SERIAL:
            if not _IS_SERIAL(text):
                raise ValueError
            serial: datetime | time_of_day = from_excel(float(text.replace(",", ".")), SERIAL[written])
            return serial
        return datetime.strptime(text, written)  # noqa: DTZ007  (the zone follows)
    except ValueError:
        hint = f"; a serial date is read as {' or '.join(SERIAL)}" if _IS_SERIAL(text) and written not in SERIAL else ""
        raise RowRefused(f"'{text}' is not written as {written}{hint}", value.column) from None


def _instant(value: Value, read: date | time_of_day, fold: int) -> str:
    """Return a date or an instant as the contract writes it."""
    if not isinstance(read, datetime):
        raise RowRefused(f"'{read}' is a time of day without a date", value.column)
    if value.date:
        if read.time() != time_of_day():
            raise RowRefused(f"'{read}' has a time of day, and is to be a date", value.column)
        return read.date().isoformat()
    if read.tzinfo is None:
        if not value.zone:
            raise RowRefused(f"'{read}' has no offset, and the mapping names no zone for it", value.column)
        zone = ZoneInfo(value.zone)
        read = read.replace(tzinfo=zone, fold=fold)
        if read.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != read.replace(tzinfo=None):
            raise RowRefused(
                f"there was no '{read:%Y-%m-%d %H:%M:%S}' in {value.zone}: clocks were put forward", value.column
            )
    return read.isoformat()


def _iso(moment: datetime) -> str:
    return moment.date().isoformat() if moment.time() == time_of_day() else moment.isoformat()
