"""Everything that is wrong with the shape of one event, said so that an integrator can put it right.

The codec stops at the first fault, which is enough to refuse. This looks at an event that was refused, field by field:
where each fault is, what was expected, and what was probably meant. Whether an event is refused is the codec's to say:
a field is at fault here only if msgspec, which the codec decodes with, refuses it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, cast, get_args, get_origin

import msgspec
from msgspec import inspect

from settlement.codec import MAX_EVENT_BYTES, ShapeError, escaped
from settlement.events import TYPES, ExtensionEvent
from settlement.events.envelope import MAX_INTEGER, Amount, Currency, Envelope, Stake
from settlement.spelling import meant

LONGEST_QUOTED = 40
"""Characters of what was sent that a message repeats."""

_AMOUNT, _POSITIVE = inspect.type_info(Amount), inspect.type_info(Stake)
_CURRENCY = cast(inspect.StrType, inspect.type_info(Currency))
_NUMBERS = frozenset(("seq", "voids", "corrects", "annuls", "opened", "through"))
"""Fields whose type is that of a stake and whose values are no money."""
_DECIMAL = re.compile(r"(\d{1,12})[.,](\d{1,2})")
_ENVELOPE = {field.encode_name: field for field in msgspec.structs.fields(Envelope)}


def faults_of(raw: bytes) -> list[ShapeError]:
    """Return what is wrong with the shape of the event in ``raw``, in the order in which it was written.

    Empty for an event whose fields are right one by one, and for what is no JSON: the codec's own fault says it then.
    """
    if len(raw) > MAX_EVENT_BYTES:
        return []
    try:
        sent = msgspec.json.decode(raw)
        return list(_faults_of_event(sent))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []


def _faults_of_event(sent: object) -> Iterator[ShapeError]:
    if not isinstance(sent, dict):
        yield ShapeError(f"is {_kind_of(sent)}, and an event is an object")
        return
    name = sent.get("type")
    if "type" not in sent:
        yield ShapeError("has no 'type'")
    elif not isinstance(name, str):
        yield ShapeError(f"is {_kind_of(name)}, and the name of a type of event is expected", "/type")
    elif name.startswith("x."):
        yield from _faults_of_object(sent, ExtensionEvent, "", f"'{name[:LONGEST_QUOTED]}'", also=("type",))
        return
    elif name in TYPES:
        yield from _faults_of_object(sent, TYPES[name], "", f"'{name}'", also=("type",))
        return
    else:
        hint = meant(name, TYPES) or "an integrator's own begin with 'x.'"
        yield ShapeError(f"{_quoted(name)} is no type of event; {hint}", "/type")
    # Of an unknown type the envelope can be read all the same.
    for field, value in sent.items():
        if field in _ENVELOPE:
            yield from _faults_in(value, inspect.type_info(_ENVELOPE[field].type), _ENVELOPE[field].type, f"/{field}")


def _faults_of_object(
    sent: dict[str, Any], struct: type, pointer: str, of: str, *, also: Collection[str] = ()
) -> Iterator[ShapeError]:
    """Yield the faults of an object that is to be a ``struct``. ``of`` names it; it may have ``also``, too."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    missing = [name for name, field in fields.items() if field.required and name not in sent]
    for name, value in sent.items():
        if name in fields:
            field = fields[name]
            yield from _faults_in(value, inspect.type_info(field.type), field.type, f"{pointer}/{name}", of)
        elif name not in also:
            # A name that is missing is meant sooner than one that was given as well.
            hint = meant(name, missing) or meant(name, [each for each in fields if each not in sent])
            yield ShapeError(f"is no field of {of}" + (f"; {hint}" if hint else ""), f"{pointer}/{escaped(name)}")
    for name in missing:
        yield ShapeError(f"has no '{name}', which {of} needs", pointer)


def _faults_in(
    value: object, info: inspect.Type, as_type: object, pointer: str, of: str = "an event"
) -> Iterator[ShapeError]:
    """Yield what is wrong with a value at ``pointer``, which is to be of a type that ``info`` describes."""
    if _fits(value, as_type):
        return
    structs = [each for each in _alternatives(info) if isinstance(each, inspect.StructType)]
    lists = [each for each in _alternatives(info) if isinstance(each, inspect.ListType)]
    if structs and isinstance(value, dict):
        yield from _faults_of_object(value, structs[0].cls, pointer, _part(of, pointer))
    elif lists and isinstance(value, list):
        item_type = _item_type(as_type)
        for index, item in enumerate(value):
            yield from _faults_in(item, lists[0].item_type, item_type, f"{pointer}/{index}", of)
    else:
        yield ShapeError(_refusal(value, info, pointer), pointer)


def _fits(value: object, as_type: object) -> bool:
    """Whether msgspec accepts a value for a type, as the codec does."""
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=cast(Any, as_type))
    except msgspec.ValidationError:
        return False
    return True


def _refusal(value: object, info: inspect.Type, pointer: str) -> str:
    """Return why ``value`` is refused and what is expected in its place."""
    wanted = _alternatives(info)
    for each in wanted:
        if isinstance(each, inspect.LiteralType) and isinstance(value, str):
            words = [word for other in wanted if isinstance(other, inspect.LiteralType) for word in other.values]
            hint = meant(value, [word for word in words if isinstance(word, str)])
            return f"{_quoted(value)} is none of {_listed(words)}" + (f"; {hint}" if hint else "")
    expected = " or ".join(_expected(each) for each in wanted)
    is_amount = _AMOUNT in wanted or (_POSITIVE in wanted and pointer.rsplit("/", 1)[-1] not in _NUMBERS)
    if is_amount and isinstance(value, str | float):
        minor = _in_minor_units(value)
        return f"is {_kind_of(value)}, and an amount is an integer in minor units" + (f": {minor}" if minor else "")
    return f"is {_kind_of(value)}, and {expected} is expected"


def _alternatives(info: inspect.Type) -> list[inspect.Type]:
    """Return the types of a union without that of a field that was not sent, or the one type."""
    if isinstance(info, inspect.Metadata):
        return _alternatives(info.type)
    types = info.types if isinstance(info, inspect.UnionType) else (info,)
    return [each for each in types if not (isinstance(each, inspect.CustomType) and each.cls is msgspec.UnsetType)]


def _expected(info: inspect.Type) -> str:
    match info:
        case inspect.IntType(ge=low, le=int(high)):
            return "an integer" + (f" from {low} on" if low is not None and low > -MAX_INTEGER else f" within ±{high}")
        case inspect.StrType(pattern=str(pattern)) if pattern == _CURRENCY.pattern:
            return "a currency of three capital letters, as EUR,"
        case inspect.StrType(pattern=str(pattern)):
            return f"text that fits {pattern}"
        case inspect.StrType(min_length=int(low), max_length=int(high)):
            return f"text of {low} to {high} characters"
        case inspect.StrType():
            return "text"
        case inspect.BoolType():
            return "true or false"
        case inspect.DateTimeType():
            return "a time with its offset, as 2026-11-21T23:41:07+01:00,"
        case inspect.DateType():
            return "a date, as 2026-11-21,"
        case inspect.LiteralType(values=values):
            return f"one of {_listed(values)}" if len(values) > 1 else _listed(values)
        case inspect.ListType():
            return "a list"
        case inspect.TupleType(item_types=items):
            return f"a list of {len(items)}"
        case inspect.NoneType():
            return "null"
    return "an object"


def _item_type(as_type: object) -> object:
    """Return the type of the items of a list's type, which may be a union of it and of a field that was not sent."""
    for each in (as_type, *get_args(as_type)):
        if get_origin(each) is list:
            return get_args(each)[0]
    raise TypeError(f"{as_type} is no list")


def _kind_of(value: object) -> str:
    """Return what a value is, in words: of text and numbers, which."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _cut(str(value))
        case str():
            return f"the text {_quoted(value)}"
        case list():
            return f"a list of {len(value)}"
    return "an object"


def _in_minor_units(value: object) -> str:
    """Return what an amount with decimals probably is in minor units, "" if it is none."""
    text = str(value) if isinstance(value, float) else value
    match = _DECIMAL.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return ""
    minor = int(match[1]) * 100 + int(match[2].ljust(2, "0"))
    return f"{match[1]}.{match[2].ljust(2, '0')} is {minor} in a currency of two decimals"


def _listed(words: Collection[object]) -> str:
    return ", ".join(f"'{word}'" if isinstance(word, str) else str(word) for word in words)


def _quoted(text: str) -> str:
    return f"'{_cut(text)}'"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}…"


def _part(of: str, pointer: str) -> str:
    """Return how the object at ``pointer`` inside ``of`` is called: its data are spoken of as the event itself."""
    name = pointer.rstrip("0123456789").rstrip("/").rsplit("/", 1)[-1]
    return of if name == "data" else f"'{name}' of {of}"
