"""The mapping file of an import: what it may say, and what is wrong with one, with the path of each key.

    [fields."wager.placed"]
    stake = { colum = "Betrag" }      fields."wager.placed".stake.colum: is no key of a field; did you mean 'column'?

Types of events and their fields are keys of the file, too: the contract says which there are. A type of an
integrator's own (``x.…``) has any fields.
"""

from __future__ import annotations

import io
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from string import Formatter
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH

from settlement.events import TYPES
from settlement.spelling import meant

MAX_MONEY_DIGITS = 4

SERIAL: Mapping[str, datetime] = {"serial-1900": WINDOWS_EPOCH, "serial-1904": MAC_EPOCH}
"""The two ways in which spreadsheets count days, by the name that ``date`` or ``time`` has for them."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class BadMapping(Exception):
    """The mapping file does not say what a mapping says. ``str()`` says where and what, a line for each fault."""


class Money(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an amount is written: ``digits`` after ``decimal`` are one minor unit; ``ignore`` are characters to drop."""

    digits: int = 2
    decimal: str = "."
    ignore: str = ""


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a field comes from, a column or a constant, and how its text is read. One of the five ways at most.

    ``date`` and ``time`` are formats of ``strptime``, or one of ``SERIAL``; a time has an offset in itself (``%z``) or
    gets that of ``zone``. ``separator`` cuts a list, each item of which is read so.
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
    format: Literal["csv", "ndjson", "xlsx"] = "csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    sheet: str = ""


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What says in which order the events of a stream happened: the rows themselves, their times, or a number.

    ``column`` has the number. ``counts`` says that the numbers have no gap, in each stream or in the whole file: then a
    missing row is noticed. "" if they may have gaps.
    """

    by: Literal["row", "time", "number"] = "row"
    column: str = ""
    counts: Literal["", "stream", "file"] = ""


class MappingFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it is written. ``fields`` has the data of each type of event; ``stream`` is a text with {columns}.

    ``may_stay_open``: a stream without its last event may be whole.
    """

    source: Source
    stream: str
    type: Value
    occurred_at: Value
    fields: dict[str, dict[str, Value]]
    actor: Value | None = None
    order: Order = Order()
    may_stay_open: bool = False

    def columns(self) -> list[str]:
        """Return the names of the columns that the mapping reads, each once, in the order of the file."""
        values = [self.type, self.occurred_at, *([] if self.actor is None else [self.actor])]
        values += [value for fields in self.fields.values() for value in fields.values()]
        named = [name for _, name, _, _ in Formatter().parse(self.stream) if name is not None]
        return list(dict.fromkeys(name for name in [*named, self.order.column, *(v.column for v in values)] if name))


def read_mapping(text: str) -> MappingFile:
    """Return a mapping from the text of its file. Raise ``BadMapping``."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadMapping(str(error)) from None
    faults = [*_faults_of_part(content, MappingFile, ()), *_faults_of_events(content.get("fields"))]
    if faults:
        raise BadMapping("\n".join(faults))
    mapping = msgspec.convert(content, MappingFile)
    named = {"type": mapping.type, "occurred_at": mapping.occurred_at}
    if mapping.actor is not None:
        named["actor"] = mapping.actor
    for event_type, fields in mapping.fields.items():
        named |= {_path("fields", event_type, name): value for name, value in fields.items()}
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
    if (mapping.order.by == "number") != bool(mapping.order.column):
        raise BadMapping("order: a column says the order if, and only if, it is by 'number'")
    if mapping.order.counts and mapping.order.by != "number":
        raise BadMapping("order.counts: only numbers count")
    if len(mapping.source.delimiter) != 1:
        raise BadMapping("source.delimiter: is not one character")
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=mapping.source.encoding)
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
    if value.money is not None and value.money.decimal in value.money.ignore:
        raise BadMapping(f"{where}.money: decimal is one of the characters to ignore")
    if value.time and "%z" not in value.time:
        try:
            ZoneInfo(value.zone)
        except (ZoneInfoNotFoundError, ValueError):
            raise BadMapping(f"{where}: the time has no %z, and {value.zone or '(none)'} is no time zone") from None


_NAMES: Mapping[type[msgspec.Struct], str] = {
    MappingFile: "a mapping",
    Source: "source",
    Order: "order",
    Value: "a field",
    Money: "money",
}
"""How a message calls a part of the file."""


def _faults_of_part(content: Mapping[str, Any], part: type[msgspec.Struct], path: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with the keys of a part of the file and with the types of their values."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(part)}
    missing = [name for name, field in fields.items() if field.required and name not in content]
    for name, value in content.items():
        if name not in fields:
            unused = [each for each in fields if each not in content]
            yield _unknown((*path, name), f"is no key of {_NAMES[part]}", unused)
        elif (part, name) != (MappingFile, "fields"):
            yield from _faults_of_value(value, fields[name].type, (*path, name))
    for name in missing:
        yield f"{_path(*path)}: has no '{name}'" if path else f"has no '{name}'"


def _faults_of_value(value: object, as_type: Any, path: tuple[str, ...]) -> Iterator[str]:
    part = next((each for each in (as_type, *get_args(as_type)) if each in _NAMES), None)
    if part is not None and isinstance(value, dict):
        yield from _faults_of_part(value, part, path)
        return
    try:
        msgspec.convert(value, as_type)
    except msgspec.ValidationError as error:
        yield f"{_path(*path)}: {str(error).partition(' - at ')[0]}"


def _faults_of_events(by_type: object) -> Iterator[str]:
    """Yield what is wrong with the types of events, with their fields, and with what is said of each."""
    if by_type is None:  # and was said to be missing
        return
    if not isinstance(by_type, dict):
        yield "fields: is no table of types of events"
        return
    for event_type, fields in by_type.items():
        if event_type not in TYPES and not event_type.startswith("x."):
            yield _unknown(("fields", event_type), "is no type of event", TYPES)
        elif not isinstance(fields, dict):
            yield f"{_path('fields', event_type)}: is no table of fields"
        else:
            known = _fields_of(event_type)
            for name, value in fields.items():
                if known is not None and name not in known:
                    unused = [each for each in known if each not in fields]
                    yield _unknown(("fields", event_type, name), f"is no field of '{event_type}'", unused)
                yield from _faults_of_value(value, Value, ("fields", event_type, name))


def _fields_of(event_type: str) -> list[str] | None:
    """Return the names of the fields that a type of event has, None where it has any."""
    if event_type not in TYPES:
        return None
    data = next(field.type for field in msgspec.structs.fields(TYPES[event_type]) if field.name == "data")
    return [field.encode_name for field in msgspec.structs.fields(data)]


def _unknown(path: tuple[str, ...], what: str, known: Collection[str]) -> str:
    hint = meant(path[-1], known)
    return f"{_path(*path)}: {what}" + (f"; {hint}" if hint else "")


def _path(*keys: str) -> str:
    """Return the path of a key as TOML writes it: with dots, and a key that has some in quotation marks."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in keys)
