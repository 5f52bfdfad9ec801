"""Events from bytes and back: reading, refusing, and the canonical form that is hashed.

Reading is one pass of msgspec over the bytes. What a type cannot say (the stream's name, exact numbers in a
correction, the character NUL) is looked at after it, each by the cheapest test that lets the usual event pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from settlement.events import DATA_OF, Data, EntryCorrected, Envelope, Event, EventsLost
from settlement.events.envelope import MAX_INTEGER
from settlement.events.session import EventsLostData

MAX_EVENT_BYTES = 32 * 1024
"""Largest event accepted, in bytes as sent."""

MAX_DEPTH = 32
"""Deepest nesting accepted: far more than any event needs, far less than any reader's stack."""

FIRST_YEAR, LAST_YEAR = 2, 9998
"""Years of ``occurred_at``: those whose every instant can be said in every offset. A table's clock may be far out."""

STREAM_NAME = re.compile(r"[A-Za-z0-9._:-]{1,100}")


class ShapeError(ValueError):
    """An event whose shape is not the contract's.

    ``pointer`` is the JSON Pointer (RFC 6901) of the fault inside the event, ``""`` for the whole of it;
    ``reason`` says what is wrong there.
    """

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer or 'event'}: {reason}")
        self.reason = reason
        self.pointer = pointer


# The fast path: shape of every field, but neither the stream's name nor what `checked` looks at.
decode_fast = msgspec.json.Decoder(Event).decode

_decode_array = msgspec.json.Decoder(list[Event]).decode

_CHECKED = frozenset((EventsLost, EntryCorrected))
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')

_decode_any = msgspec.json.Decoder().decode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_encode_lines = msgspec.json.Encoder(order="sorted").encode_lines


def decode(raw: bytes | str) -> Event:
    """Return the event that ``raw`` is the JSON of. Raise ``ShapeError`` where it is none."""
    raw = in_bytes(raw)
    if len(raw) > MAX_EVENT_BYTES:
        raise ShapeError(f"is larger than {MAX_EVENT_BYTES} bytes")
    try:
        event: Event = decode_fast(raw)
    except msgspec.ValidationError as error:
        raise _shape_error(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ShapeError(f"is not valid JSON: {error}") from None
    return checked(event, raw)


def in_bytes(raw: bytes | str) -> bytes:
    """Return ``raw`` in UTF-8. Raise ``ShapeError`` for half a character, which UTF-8 cannot write."""
    try:
        return raw.encode() if isinstance(raw, str) else raw
    except UnicodeEncodeError:
        raise ShapeError("is not valid Unicode") from None


def decode_all(lines: Iterable[bytes]) -> list[Event]:
    """Return the events that ``lines`` are the JSON of: ``decode`` for many events of one stream, in half the time.

    Raise ``ShapeError`` at the first that is none.
    """
    events: list[Event] = []
    append = events.append
    fast = decode_fast
    stream = None
    for raw in lines:
        try:
            event = fast(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            event = decode(raw)
        # What `checked` looks at, each by the cheapest test that lets the usual event pass.
        if (
            event.stream != stream
            or type(event) in _CHECKED
            or not FIRST_YEAR <= event.occurred_at.year <= LAST_YEAR
            or len(raw) > MAX_EVENT_BYTES
            or b"u0000" in raw
        ):
            event = decode(raw)
            stream = event.stream
        append(event)
    return events


def decode_stored(array: bytes) -> list[Event]:
    """Return the events that a JSON array is of, each of which was ``checked`` when it was accepted."""
    return _decode_array(array)


def checked(event: Event, raw: bytes) -> Event:
    """Return ``event`` if what a type cannot say about its shape holds too. Raise ``ShapeError`` otherwise."""
    if not STREAM_NAME.fullmatch(event.stream):
        raise ShapeError("is not a stream's name (1 to 100 of A-Z a-z 0-9 . _ : -)", "/stream")
    if not FIRST_YEAR <= event.occurred_at.year <= LAST_YEAR:
        raise ShapeError(f"is not of the years {FIRST_YEAR} to {LAST_YEAR}", "/occurred_at")
    # A new case here belongs into _CHECKED too.
    match event:
        case EventsLost(seq=seq, data=data):
            _refuse_backward_loss(seq, data)
        case EntryCorrected(data=data):
            _refuse_inexact(data.data, "/data/data")
    if b"u0000" in raw:
        _refuse_nul(_decode_any(raw), "")
    return event


def canonical(raw: bytes) -> bytes:
    """Return the canonical form (RFC 8785) of the event in ``raw``: what is hashed, stored and compared.

    Everything stays as it was sent, ``occurred_at`` with its own offset included; ``v`` and ``data`` are written out
    where they were left to their defaults. Raise ``ShapeError`` for what ``decode`` refuses and for a name that is
    given twice in one object, which readers understand differently (RFC 7493, section 2.3).
    """
    return decode_canonical(raw)[1]


def decode_canonical(raw: bytes) -> tuple[Event, bytes]:
    """Return the event in ``raw`` and its canonical form: ``decode`` and ``canonical`` in one reading."""
    event = decode(raw)
    envelope = _decode_any(raw)
    defaulted = ("v" not in envelope) + ("data" not in envelope)
    envelope.setdefault("v", 1)
    envelope.setdefault("data", {})
    # Keys are ASCII and numbers integers by now: sorting bytes and writing digits is all that RFC 8785 asks.
    written: bytes = _encode_sorted(envelope)
    # As many names as were written: none came twice. Escapes, and space before a colon, would spoil the count.
    if raw.count(b'":') != written.count(b'":') - defaulted or b"\\u" in raw or _SPACED_COLON.search(raw):
        _refuse_doubles(raw)
    return event, written


def decode_canonical_all(array: bytes) -> tuple[list[Event], list[bytes]] | None:
    """Return the events that a JSON array is of, and their canonical forms: ``decode_canonical`` for many, at once.

    None where the array is none, or where any of them has to be looked at by itself.
    """
    try:
        events, envelopes = _decode_array(array), _decode_any(array)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    unsaid = 0
    for envelope in envelopes:
        if "v" not in envelope:
            envelope["v"] = 1
            unsaid += 1
        if "data" not in envelope:
            envelope["data"] = {}
            unsaid += 1
    together = _encode_lines(envelopes)
    written = together.splitlines()  # a string's own ends of line are escaped
    # Nothing is longer written than read, numbers being whole: what is as long, brackets and commas aside, has left
    # nothing out, no name that came twice and no space. Anything else is looked at as in ``decode_canonical``.
    is_whole = not unsaid and len(array) == len(together) + 1 and b"\\" not in array
    if not is_whole and (
        array.count(b'":') != together.count(b'":') - unsaid or b"\\u" in array or _SPACED_COLON.search(array)
    ):
        return None
    # What spaces there are may all be in the largest.
    spaces = len(array) + unsaid * len(b'"data":{},') - len(together)
    if max(map(len, written), default=0) + max(0, spaces) > MAX_EVENT_BYTES:
        return None
    if not _CHECKED.isdisjoint(map(type, events)):
        return None
    if any(not FIRST_YEAR <= year <= LAST_YEAR for year in {event.occurred_at.year for event in events}):
        return None
    return (events, written) if all(map(STREAM_NAME.fullmatch, {event.stream for event in events})) else None


def next_seq_after(event: Event) -> int:
    """Return the number that follows ``event`` in its stream: after a declared loss, the first that is not lost."""
    if isinstance(event, EventsLost):
        return max(event.seq, event.data.through) + 1
    return event.seq + 1


def read_data(event: Envelope, data: Mapping[str, Any]) -> Data:
    """Return ``data`` as what ``event`` should have said. Raise ``ShapeError`` where it has another shape."""
    try:
        right = msgspec.convert(data, DATA_OF[type(event)])
    except msgspec.ValidationError as error:
        raise _shape_error(error) from None
    if isinstance(event, EventsLost):
        _refuse_backward_loss(event.seq, right)
    return right


_POINTED = re.compile(r"(?P<reason>.*?)(?: - at `(?:key in )?\$?(?P<path>[^`]*)`)?\Z", re.DOTALL)


def _shape_error(error: msgspec.ValidationError) -> ShapeError:
    """Say what msgspec says, with its path (``$.data.faces[0]``) as a JSON Pointer (``/data/faces/0``)."""
    match = _POINTED.match(str(error))
    assert match is not None
    # msgspec does not name the key of a mapping's bad value: "[...]". Point at the mapping.
    path = re.sub(r"\[(\d+)\]", r".\1", (match["path"] or "").replace("[...]", ""))
    return ShapeError(match["reason"].replace("`", "'"), path.replace(".", "/"))


def _refuse_backward_loss(seq: int, data: Data) -> None:
    """Raise ``ShapeError`` for a loss that ends before it begins."""
    assert isinstance(data, EventsLostData)
    if data.through < seq:
        raise ShapeError("is below the event's own seq", "/data/through")


def _refuse_inexact(value: object, pointer: str) -> None:
    """Raise ``ShapeError`` for a number that is no exact integer, anywhere in ``value``, and for bottomless nesting."""
    if pointer.count("/") > MAX_DEPTH:
        raise ShapeError(f"is nested deeper than {MAX_DEPTH} levels", "/data/data")
    match value:
        case float():
            raise ShapeError("is no integer", pointer)
        case int() if abs(value) > MAX_INTEGER:
            raise ShapeError(f"is beyond {MAX_INTEGER}", pointer)
        case dict():
            for key, item in value.items():
                if not key.isascii():
                    raise ShapeError("is no field of any event", f"{pointer}/{_escaped(key)}")
                _refuse_inexact(item, f"{pointer}/{_escaped(key)}")
        case list():
            for index, item in enumerate(value):
                _refuse_inexact(item, f"{pointer}/{index}")


def _refuse_nul(value: object, pointer: str) -> None:
    """Raise ``ShapeError`` for the character NUL, which no text column can hold, anywhere in ``value``."""
    match value:
        case str() if "\0" in value:
            raise ShapeError("has the character NUL", pointer)
        case dict():
            for key, item in value.items():
                _refuse_nul(key, pointer)
                _refuse_nul(item, f"{pointer}/{_escaped(key)}")
        case list():
            for index, item in enumerate(value):
                _refuse_nul(item, f"{pointer}/{index}")


def _refuse_doubles(raw: bytes) -> None:
    """Raise ``ShapeError`` for an object in ``raw`` that gives one name twice."""
    # The standard library's reader is the one that shows a document's names before they are merged.
    import json

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        named: dict[str, object] = {}
        for name, value in pairs:
            if name in named:
                raise ShapeError(f"gives the name '{name}' twice")
            named[name] = value
        return named

    json.loads(raw, object_pairs_hook=unique)


def _escaped(name: str) -> str:
    """Return ``name`` as one reference token of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
