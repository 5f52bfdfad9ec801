"""How rows of another system become events: a mapping file, applied.

    row {"ART": "EINSATZ", "BETRAG": "12,50", …} ──mapping──► {"type": "wager.placed", "data": {"stake": 1250, …}, …}

One row is one event. The mapping says which column names the stream, which the type of the event, and for each type
where each field comes from (``docs/import.md`` has an example; ``mapping_file`` reads it). It decides nothing about the
events themselves: what it writes goes through the same door as what a table system sends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from string import Formatter
from typing import Any
from zoneinfo import ZoneInfo

from audit.ingest.mapping_file import MappingFile, Money, Value
from settlement.spelling import meant

Row = Mapping[str, Any]
"""A row by column: of CSV all texts, of NDJSON what JSON has."""


class RowRefused(Exception):
    """A row cannot become an event. ``column`` is the column at fault, "" if it is none alone."""

    def __init__(self, reason: str, column: str = "") -> None:
        super().__init__(reason)
        self.column = column


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
        hint = meant(event_type, mapping.fields) if isinstance(event_type, str) else ""
        reason = f"the mapping has no fields of '{event_type}'" + (f"; {hint}" if hint else "")
        raise RowRefused(reason, mapping.type.column)
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
