"""The codec: events from bytes, refused if they are not well-shaped, and their canonical form, which is hashed.

Decoding is one pass of msgspec over the bytes. Checks after it cover what a type cannot express (the stream's name,
exact numbers in a correction, the character NUL), each by the cheapest test that lets a usual event pass.

``decode`` reads what comes in: a person who is no opaque id is refused. ``decode_stored`` reads what was accepted
before, names included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Union, cast

import msgspec
from msgspec import UNSET

from settlement import registries
from settlement.events import (
    DATA_OF,
    TYPES,
    ContractEvent,
    Data,
    EntryCorrected,
    Envelope,
    Event,
    EventsLost,
    ExtensionEvent,
)
from settlement.events.envelope import MAX_INTEGER
from settlement.events.extension import EXTENSION_TYPE, MAX_TYPE
from settlement.events.session import EventsLostData
from settlement.persons.opaque_ids import NAMES_A_PLAYER, NOT_OPAQUE, PERSONS_OF, is_opaque, pointer_to_name

MAX_EVENT_BYTES = 32 * 1024
"""Largest event accepted, in bytes as sent."""

MAX_EXT_BYTES = 4096
"""Largest ``ext`` of an envelope, in bytes of its canonical form."""

MAX_DEPTH = 32
"""Deepest nesting accepted: far more than any event needs, far less than any reader's stack."""

FIRST_YEAR, LAST_YEAR = 2, 9998
"""Years of ``occurred_at``: every instant of them exists in every offset. A table's clock may be far out."""

PAGE = 300
"""Events that ``decode_all`` decodes and looks at together: few enough to be in the processor's cache all the while."""

STREAM_NAME = re.compile(r"[A-Za-z0-9._:-]{1,100}")

LAST_SORTED = "\uffff"
"""Last character of a name that UTF-8, which we sort by, and UTF-16 (RFC 8785) have in the same order."""


class ShapeError(ValueError):
    """An event whose shape is not the contract's.

    ``pointer`` is the JSON Pointer (RFC 6901) of the fault inside the event, "" for the event as a whole; ``reason``
    is what is wrong there, in English.
    """

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer or 'event'}: {reason}")
        self.reason = reason
        self.pointer = pointer


# The fast path: checks the shape of every field, but nothing that `checked` does. It knows no types of integrators.
decode_fast = msgspec.json.Decoder(ContractEvent).decode

_decode_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_extension: Callable[[bytes | msgspec.Raw], Event] = msgspec.json.Decoder(ExtensionEvent).decode


@cache
def _array_decoder() -> Callable[[bytes], list[Event]]:
    """Return what decodes an array of events of the contract and of the rulesets that are registered now."""
    return msgspec.json.Decoder(list[Union[tuple(TYPES.values())]]).decode  # type: ignore[misc]  # noqa: UP007


registries.forgets(_array_decoder.cache_clear)

_CHECKED = frozenset((EventsLost, EntryCorrected, ExtensionEvent))
_LOOKED_AT = _CHECKED | (PERSONS_OF.keys() - NAMES_A_PLAYER)
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')
_CANONICAL_BEGIN = (b'[{"actor', b'[{"data"')
_INSTANT, _AFTER_INSTANT = b',"occurred_at":"', b'","seq":'

_decode_any = msgspec.json.Decoder().decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_encode_lines = msgspec.json.Encoder(order="sorted").encode_lines


def decode(raw: bytes | str) -> Event:
    """Return the event in ``raw``, which is JSON.

    Raise ``ShapeError`` if it is not a well-shaped event, or if a person in it is not an opaque id.
    """
    event = _well_shaped(in_bytes(raw))
    refuse_names(event)
    return event


def refuse_names(event: Event) -> None:
    """Raise ``ShapeError`` if a person in ``event`` is not an opaque id."""
    pointer = pointer_to_name(event)
    if pointer is not None:
        raise ShapeError(NOT_OPAQUE, pointer)


def _well_shaped(raw: bytes) -> Event:
    if len(raw) > MAX_EVENT_BYTES:
        raise ShapeError(f"is larger than {MAX_EVENT_BYTES} bytes")
    try:
        event = _decode_any_type(raw)
    except msgspec.ValidationError as error:
        raise _shape_error(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ShapeError(f"is not valid JSON: {error}") from None
    return checked(event, raw)


class _Typed(msgspec.Struct):
    type: object = None


_decode_type = msgspec.json.Decoder(_Typed).decode


def _decode_any_type(raw: bytes | msgspec.Raw) -> Event:
    """Decode an event of the contract or of an integrator. Raise ``ShapeError``, or as msgspec does."""
    try:
        event: Event = decode_fast(raw)
        return event
    except msgspec.ValidationError as error:
        if not str(error).endswith("`$.type`"):
            raise
    event_type = _decode_type(raw).type
    if not isinstance(event_type, str):
        raise ShapeError("is not text", "/type")
    if event_type in TYPES:
        return cast(Event, msgspec.json.decode(raw, type=TYPES[event_type]))  # of a ruleset's own
    if not event_type.startswith("x."):
        raise ShapeError(f"'{event_type[:MAX_TYPE]}' is no type of event; an integrator's own begin with 'x.'", "/type")
    if len(event_type) > MAX_TYPE or not EXTENSION_TYPE.fullmatch(event_type):
        raise ShapeError(f"is not 'x.' and parts of a-z 0-9 - with dots between, at most {MAX_TYPE} in all", "/type")
    return _decode_extension(raw)


def in_bytes(raw: bytes | str) -> bytes:
    """Return ``raw`` in UTF-8. Raise ``ShapeError`` for a lone surrogate, which UTF-8 cannot encode."""
    try:
        return raw.encode() if isinstance(raw, str) else raw
    except UnicodeEncodeError:
        raise ShapeError("is not valid Unicode") from None


def decode_all(lines: Iterable[bytes]) -> list[Event]:
    """Return the event in each of ``lines``: ``decode`` for many events, in a third of the time.

    Raise ``ShapeError`` for the first that is not well-shaped.
    """
    raws = list(lines)
    events: list[Event] = []
    for first in range(0, len(raws), PAGE):
        events += _decode_page(raws[first : first + PAGE])
    return events


def _decode_page(raws: list[bytes]) -> list[Event]:
    try:
        events = _decode_most(raws)
    except ShapeError:  # another before it may be ill-shaped
        return [decode(raw) for raw in raws]
    return events if _need_no_check(events, raws) else [decode(raw) for raw in raws]


def _decode_most(raws: list[bytes]) -> list[Event]:
    """Return the event in each of ``raws``: in full where it is rare, else as far as its type goes."""
    try:
        events: list[Event] = list(map(decode_fast, raws))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        events = list(map(_decode_fast_or_fully, raws))
    rare = [index for index, event in enumerate(events) if type(event) in _LOOKED_AT or event.ext is not UNSET]
    for index in rare:
        events[index] = decode(raws[index])
    return events


def _decode_fast_or_fully(raw: bytes) -> Event:
    try:
        event: Event = decode_fast(raw)
        return event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode(raw)


def _need_no_check(events: list[Event], raws: list[bytes]) -> bool:
    """Whether ``decode`` has nothing to add to ``events``, read from ``raws`` by ``_decode_most``.

    Each value is looked at once, in however many events it is.
    """
    persons: set[object] = {event.actor for event in events}
    persons |= {event.data.player for event in events if type(event) in NAMES_A_PLAYER}  # type: ignore[union-attr]
    together = b"".join(raws)
    return (
        _are_of_known_years_and_streams(events)
        and all(map(is_opaque, persons))
        and max(map(len, raws), default=0) <= MAX_EVENT_BYTES
        and not (b"\\" in together and b"u0000" in together)  # a single character is found 50 times as fast
    )


def _are_of_known_years_and_streams(events: list[Event]) -> bool:
    years = {event.occurred_at.year for event in events}
    streams = {event.stream for event in events}
    return all(FIRST_YEAR <= year <= LAST_YEAR for year in years) and all(map(STREAM_NAME.fullmatch, streams))


def decode_stored(array: bytes) -> list[Event]:
    """Return the events in a JSON ``array`` from the event store: each was ``checked`` when it was accepted."""
    try:
        return _array_decoder()(array)
    except msgspec.ValidationError:  # one of them is of a type of an integrator's own
        return [_decode_any_type(raw) for raw in _decode_raws(array)]


def decode_one_stored(envelope: bytes) -> Event:
    """Return one event from the event store: see ``decode_stored``."""
    return _decode_any_type(envelope)


def checked(event: Event, raw: bytes) -> Event:
    """Return ``event``. Raise ``ShapeError`` if it breaks a rule on shape that its type does not express."""
    if not STREAM_NAME.fullmatch(event.stream):
        raise ShapeError("is not a stream's name (1 to 100 of A-Z a-z 0-9 . _ : -)", "/stream")
    if not FIRST_YEAR <= event.occurred_at.year <= LAST_YEAR:
        raise ShapeError(f"is not of the years {FIRST_YEAR} to {LAST_YEAR}", "/occurred_at")
    # A new case here belongs in _CHECKED too.
    match event:
        case EventsLost(seq=seq, data=data):
            _refuse_backward_loss(seq, data)
        case EntryCorrected(data=data):
            _refuse_inexact(data.data, "/data/data", "/data/data")
        case ExtensionEvent(data=data):
            _refuse_inexact(data, "/data", "/data", is_own=True)
    if event.ext is not UNSET:
        _refuse_inexact(event.ext, "/ext", "/ext", is_own=True)
        size = len(_encode_sorted(event.ext))
        if size > MAX_EXT_BYTES:
            raise ShapeError(f"is {size} bytes in canonical form, more than {MAX_EXT_BYTES}", "/ext")
    if b"u0000" in raw:
        _refuse_nul(_decode_any(raw), "")
    return event


def canonical(raw: bytes) -> bytes:
    """Return the canonical form (RFC 8785) of the event in ``raw``: what is hashed, stored and compared.

    All content is as sent, ``occurred_at`` with its own offset; ``v`` and ``data`` are added if they were left out.
    Raise ``ShapeError`` for what is not well-shaped, and for a name that is given twice in one object, which readers
    understand differently (RFC 7493, section 2.3). Persons may have any form: a stored event is compared by this.
    """
    return decode_canonical(raw)[1]


def decode_canonical(raw: bytes) -> tuple[Event, bytes]:
    """Return the event in ``raw`` and its canonical form, in one pass. Raise as ``canonical``."""
    event = _well_shaped(raw)
    envelope = _decode_any(raw)
    added = ("v" not in envelope) + ("data" not in envelope)
    envelope.setdefault("v", 1)
    envelope.setdefault("data", {})
    # Names have no character beyond U+FFFF and numbers are integers by now, so RFC 8785 asks for no more than sorting.
    encoded: bytes = _encode_sorted(envelope)
    # If no name came twice, there are as many names as before. Escapes and space before a colon distort the count.
    if raw.count(b'":') != encoded.count(b'":') - added or b"\\u" in raw or _SPACED_COLON.search(raw):
        _refuse_duplicate_names(raw)
    return event, encoded


def decode_canonical_all(array: bytes) -> tuple[list[Event], list[bytes]] | None:
    """Return the events in a JSON ``array`` and their canonical forms: ``decode_canonical`` for many, in one pass.

    None if ``array`` is not valid JSON, or if any of its events needs a check of its own: decode them one by one then.
    """
    if b'"ext"' in array:  # or an escape stands for one of its letters: then the count of names below says so
        return None
    try:
        events = _array_decoder()(array)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not _CHECKED.isdisjoint(map(type, events)) or not _are_of_known_years_and_streams(events):
        return None
    encoded = _as_sent(events, array)
    if encoded is None:
        encoded = _encoded(array)
    elif max(map(len, encoded), default=0) > MAX_EVENT_BYTES:
        return None
    return None if encoded is None else (events, encoded)


def _as_sent(events: list[Event], array: bytes) -> list[bytes] | None:
    """Return the canonical forms of ``events`` if ``array``, that they are from, consists of these; None if not.

    An event has no field that its type has not. So its type encodes it as it was sent, if that was canonical and said
    no default: but for the instant, which every sender writes in his own way. That of the first event is taken for that
    of all; then every byte is compared.
    """
    if array[:8] not in _CANONICAL_BEGIN or b"\\" in array:
        return None
    together = _encode_lines(events)
    (is_in_ms, zone), (_, own_zone) = _way_of_writing(array), _way_of_writing(together)
    if zone != own_zone or is_in_ms:
        together = together.replace((b"000" if is_in_ms else b"") + own_zone, zone)
    encoded = together.splitlines()  # line ends inside strings are escaped
    if is_in_ms:
        for index, event in enumerate(events):
            if not event.occurred_at.microsecond:
                encoded[index] = encoded[index].replace(own_zone, b".000" + zone)
    return encoded if array == b"[%b]" % b",".join(encoded) else None


def _way_of_writing(events: bytes) -> tuple[bool, bytes]:
    """Return whether the first instant in ``events`` has milliseconds, and its zone with what comes after it."""
    written = events[events.find(_INSTANT) + len(_INSTANT) :][: len("2026-11-19T20:00:00.000000+01:00") + 1]
    text, _, _ = written.partition(b'"')
    fraction = len(text[19:]) - len(text[19:].lstrip(b".0123456789"))
    return fraction == len(".000"), text[19 + fraction :] + _AFTER_INSTANT


def _encoded(array: bytes) -> list[bytes] | None:
    """Return the canonical form of each event in ``array``; None if a name may be there twice, or one is too large."""
    try:
        envelopes = _decode_any(array)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    added = 0
    for envelope in envelopes:
        if "v" not in envelope:
            envelope["v"] = 1
            added += 1
        if "data" not in envelope:
            envelope["data"] = {}
            added += 1
    together = _encode_lines(envelopes)
    encoded = together.splitlines()  # line ends inside strings are escaped
    # Numbers are integers, so encoding never makes anything longer. If it made nothing shorter either, brackets and
    # commas aside, no name came twice and there was no space. Otherwise count as in ``decode_canonical``.
    is_same_length = not added and len(array) == len(together) + 1 and b"\\" not in array
    if not is_same_length and (
        array.count(b'":') != together.count(b'":') - added or b"\\u" in array or _SPACED_COLON.search(array)
    ):
        return None
    # All the spaces may be in the largest event.
    spaces = len(array) + added * len(b'"data":{},') - len(together)
    return encoded if max(map(len, encoded), default=0) + max(0, spaces) <= MAX_EVENT_BYTES else None


def next_seq_after(event: Event) -> int:
    """Return the seq that follows ``event`` in its stream: after a declared loss, the first that is not lost."""
    if isinstance(event, EventsLost):
        return max(event.seq, event.data.through) + 1
    return event.seq + 1


def read_data(event: Envelope, data: Mapping[str, Any]) -> Data | dict[str, Any]:
    """Return ``data`` as data of ``event``'s type. Raise ``ShapeError`` if it has another shape."""
    if isinstance(event, ExtensionEvent):
        return dict(data)
    try:
        right = msgspec.convert(data, DATA_OF[type(event)])
    except msgspec.ValidationError as error:
        raise _shape_error(error) from None
    if isinstance(event, EventsLost):
        _refuse_backward_loss(event.seq, right)
    return right


_POINTED = re.compile(r"(?P<reason>.*?)(?: - at `(?:key in )?\$?(?P<path>[^`]*)`)?\Z", re.DOTALL)


def _shape_error(error: msgspec.ValidationError) -> ShapeError:
    """Return msgspec's error, with its path (``$.data.faces[0]``) as a JSON Pointer (``/data/faces/0``)."""
    match = _POINTED.match(str(error))
    assert match is not None
    # For a bad value in a mapping msgspec gives "[...]" in place of the key: point at the mapping.
    path = re.sub(r"\[(\d+)\]", r".\1", (match["path"] or "").replace("[...]", ""))
    return ShapeError(match["reason"].replace("`", "'"), path.replace(".", "/"))


def _refuse_backward_loss(seq: int, data: Data) -> None:
    """Raise ``ShapeError`` for a loss that ends before it begins."""
    assert isinstance(data, EventsLostData)
    if data.through < seq:
        raise ShapeError("is below the event's own seq", "/data/through")


def _refuse_inexact(value: object, pointer: str, root: str, *, is_own: bool = False) -> None:
    """Raise ``ShapeError`` for a number in ``value`` that is not an exact integer, and for nesting that is too deep.

    ``root`` is where free data begin. ``is_own``: they are an integrator's, and may have names that no event has.
    """
    if pointer.count("/") > MAX_DEPTH:
        raise ShapeError(f"is nested deeper than {MAX_DEPTH} levels", root)
    match value:
        case float():
            raise ShapeError("is no integer: give a fraction as text, or in a smaller unit", pointer)
        case int() if abs(value) > MAX_INTEGER:
            raise ShapeError(f"is beyond {MAX_INTEGER}", pointer)
        case dict():
            for key, item in value.items():
                within = f"{pointer}/{escaped(key)}"
                if not is_own and not key.isascii():
                    raise ShapeError("is no field of any event", within)
                if max(key, default="") > LAST_SORTED:
                    raise ShapeError("is a name with a character beyond U+FFFF, which readers sort differently", within)
                _refuse_inexact(item, within, root, is_own=is_own)
        case list():
            for index, item in enumerate(value):
                _refuse_inexact(item, f"{pointer}/{index}", root, is_own=is_own)


def _refuse_nul(value: object, pointer: str) -> None:
    """Raise ``ShapeError`` for the character NUL anywhere in ``value``: PostgreSQL cannot store it as text."""
    match value:
        case str() if "\0" in value:
            raise ShapeError("has the character NUL", pointer)
        case dict():
            for key, item in value.items():
                _refuse_nul(key, pointer)
                _refuse_nul(item, f"{pointer}/{escaped(key)}")
        case list():
            for index, item in enumerate(value):
                _refuse_nul(item, f"{pointer}/{index}")


def _refuse_duplicate_names(raw: bytes) -> None:
    """Raise ``ShapeError`` for an object in ``raw`` that gives one name twice."""
    # Only the standard library's parser shows the names of an object before they are merged.
    import json

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        named: dict[str, object] = {}
        for name, value in pairs:
            if name in named:
                raise ShapeError(f"gives the name '{name}' twice")
            named[name] = value
        return named

    json.loads(raw, object_pairs_hook=unique)


def escaped(name: str) -> str:
    """Return ``name`` as one reference token of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
