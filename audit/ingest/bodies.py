"""Request bodies: a decompressed body cut into the bytes of each event.

application/json        [event, …]  or  {"events": [event, …]}
application/x-ndjson    one event a line
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from audit.ingest.refusals import EventsRefused, Fault
from settlement.spelling import likely_word

MAX_EVENTS = 1_000
"""Most events accepted in one request."""

JSON, NDJSON = "application/json", "application/x-ndjson"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITE_SPACE = b" \t\r\n"
_WRAPPED = re.compile(rb'\{[ \t\r\n]*"events"[ \t\r\n]*:(.*)\}', re.DOTALL)

_WANTED = '[event, …] or {"events": [event, …]}'

_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


@dataclass(frozen=True, slots=True)
class Body:
    """The events of a request, or those of one of its streams.

    ``pointer`` is the JSON Pointer of the list of events in the request. ``array`` is that list as JSON, b"" if the
    events came as lines. ``indexes`` are the events' indexes in the request, None if these are all of them.
    """

    raw: bytes
    events: list[bytes]
    pointer: str
    array: bytes = b""
    indexes: tuple[int, ...] | None = None

    def index_in_request(self, index: int) -> int:
        """Return the index in the request of the event at ``index`` here."""
        return self.indexes[index] if self.indexes is not None else index


class MalformedBody(EventsRefused):
    """The body is not a list of events. ``raw`` is the body as it came."""

    def __init__(self, detail: str, raw: bytes) -> None:
        super().__init__(detail)
        self.raw = raw
        self.faults = (Fault("", detail),)


class TooManyEvents(EventsRefused):
    """The body has more than ``MAX_EVENTS`` events."""

    def __init__(self, count: int) -> None:
        super().__init__(f"A request holds at most {MAX_EVENTS} events, not {count}.")


def events_in(raw: bytes, media_type: str) -> Body:
    """Return the events of a decompressed body. Raise ``MalformedBody`` or ``TooManyEvents``."""
    text = raw.removeprefix(_BYTE_ORDER_MARK).strip(_WHITE_SPACE)
    if media_type == NDJSON:
        body = Body(raw, [line for line in text.split(b"\n") if line.strip(_WHITE_SPACE)], "")
    else:
        body = _events_in_json(raw, text)
    if len(body.events) > MAX_EVENTS:
        raise TooManyEvents(len(body.events))
    if not body.events:
        raise MalformedBody("The body has no event.", raw)
    return body


def _events_in_json(raw: bytes, text: bytes) -> Body:
    """Cut a JSON document into its events. A wrapper has the one name "events", so nothing in it is ignored."""
    wrapped = _WRAPPED.fullmatch(text)
    array = wrapped[1] if wrapped else text
    try:
        events = _decode_array(array)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBody(_why_no_list(text, error), raw) from None
    return Body(raw, [bytes(event) for event in events], "/events" if wrapped else "", array)


def _why_no_list(text: bytes, error: Exception) -> str:
    """Return why a JSON document is no list of events, and what was probably meant."""
    if not text:
        return f"The body is empty, and {_WANTED} is expected."
    if not text.startswith(b"{"):
        return f"The body is not {_WANTED}: {error}."
    try:
        names = list(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as inside:
        first = text.partition(b"\n")[0].strip(_WHITE_SPACE)
        if first != text and _is_object(first):
            return f"The body has one event a line: send it as {NDJSON}."
        return f"The body is not {_WANTED}: {inside}."
    if "type" in names or "seq" in names:
        return f"The body is one event, and {_WANTED} is expected: put it into a list."
    if "events" in names:
        others = len(names) > 1
        return (
            f"The body has {'names beside' if others else 'no list of events as'} 'events', and {_WANTED} is expected."
        )
    meant = "; did you mean 'events'?" if any(likely_word(name, ["events"]) for name in names) else "."
    return f"The body is an object without 'events', and {_WANTED} is expected{meant}"


def _is_object(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
