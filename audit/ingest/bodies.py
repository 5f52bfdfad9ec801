"""Request bodies: bounded, unzipped, and cut into the bytes of each event.

application/json        [event, …]  or  {"events": [event, …]}
application/x-ndjson    one event a line
Content-Encoding: gzip  either of them, bounded after decompression: a bomb is refused before it grows
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import msgspec
from django.utils.http import parse_header_parameters
from rest_framework.request import Request

from audit.api.problems import Problem

MAX_BYTES = 1024 * 1024
"""Largest body accepted, after decompression."""

MAX_SENT_BYTES = MAX_BYTES + MAX_BYTES // 64
"""Most bytes read of a body: gzip makes what it cannot compress a little larger."""

MAX_EVENTS = 1_000
"""Most events accepted in one request."""

JSON, LINES = "application/json", "application/x-ndjson"

_GZIP = 16 + zlib.MAX_WBITS
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITE = b" \t\r\n"
_WRAPPED = re.compile(rb'\{[ \t\r\n]*"events"[ \t\r\n]*:(.*)\}', re.DOTALL)

_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


@dataclass(frozen=True, slots=True)
class Body:
    """A request's bytes, decompressed, and the events in it; ``pointer`` is where the list of them is.

    ``array`` is that list as JSON, b"" where the events came otherwise. ``places`` are where the events stood in the
    request, where these are not all of them.
    """

    raw: bytes
    events: list[bytes]
    pointer: str
    array: bytes = b""
    places: tuple[int, ...] | None = None

    def place(self, index: int) -> int:
        """Return where an event stood in the request."""
        return self.places[index] if self.places is not None else index


class Malformed(Exception):
    """A body that is no list of events. ``raw`` is what came."""

    def __init__(self, detail: str, raw: bytes) -> None:
        super().__init__(detail)
        self.raw = raw


def read_body(request: Request) -> Body:
    """Return the events of a request. Raise ``Malformed``, or ``Problem`` for what is too large or of another type."""
    media_type = _media_type(request)
    raw = _decompressed(request)
    text = raw.removeprefix(_BYTE_ORDER_MARK).strip(_WHITE)
    if media_type == LINES:
        body = Body(raw, [line for line in text.split(b"\n") if line.strip(_WHITE)], "")
    else:
        body = _cut(raw, text)
    if len(body.events) > MAX_EVENTS:
        raise Problem(413, "too-large", f"A request holds at most {MAX_EVENTS} events, not {len(body.events)}.")
    if not body.events:
        raise Malformed("The body has no event.", raw)
    return body


def _media_type(request: Request) -> str:
    media_type, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if media_type not in (JSON, LINES):
        raise Problem(415, "unsupported-media-type", f"Send {JSON} or {LINES}, not '{media_type}'.")
    if parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise Problem(415, "unsupported-media-type", f"Send UTF-8, not '{parameters['charset']}'.")
    return media_type


def _decompressed(request: Request) -> bytes:
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise Problem(415, "unsupported-media-type", f"Send gzip or no content encoding, not '{encoding}'.")
    raw = _received(request)
    if encoding.endswith("gzip"):
        return _unzipped(raw)
    if len(raw) > MAX_BYTES:
        raise _too_large()
    return raw


def _received(request: Request) -> bytes:
    """Return the body as it came over the wire."""
    length = request.META.get("CONTENT_LENGTH", "")
    if length.isdigit():
        if int(length) > MAX_SENT_BYTES:
            raise _too_large()
        raw: bytes = request.read(MAX_SENT_BYTES)
        if len(raw) < int(length):
            raise Problem(400, "malformed", "The body ends before its announced length.")
        return raw
    if "HTTP_TRANSFER_ENCODING" not in request.META:
        return b""
    # Django reads nothing of a body sent in chunks; a server that knows where they end says so.
    if not request.META.get("wsgi.input_terminated"):
        raise Problem(411, "length-required", "Send the body with its Content-Length.")
    raw = request.META["wsgi.input"].read(MAX_SENT_BYTES + 1)
    if len(raw) > MAX_SENT_BYTES:
        raise _too_large()
    return raw


def _unzipped(raw: bytes) -> bytes:
    """Return what a gzip of one or more members holds. What a bomb would grow to is never in memory."""
    parts: list[bytes] = []
    room = MAX_BYTES + 1
    rest = raw
    while rest:
        unzip = zlib.decompressobj(_GZIP)
        try:
            part = unzip.decompress(rest, room)
        except zlib.error as error:
            raise Malformed(f"The body is no gzip: {error}", raw) from None
        parts.append(part)
        room -= len(part)
        if room <= 0:
            raise _too_large()
        if not unzip.eof:
            raise Malformed("The gzip ends before its end.", raw)
        rest = unzip.unused_data
    return b"".join(parts)


def _cut(raw: bytes, text: bytes) -> Body:
    """Cut a JSON document into its events. A wrapper has one name and no other, so nothing in it is passed over."""
    wrapped = _WRAPPED.fullmatch(text)
    try:
        events = _decode_array(wrapped[1] if wrapped else text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f'The body is neither [event, …] nor {{"events": [event, …]}}: {error}', raw) from None
    array = wrapped[1] if wrapped else text
    return Body(raw, [bytes(event) for event in events], "/events" if wrapped else "", array)


def _too_large() -> Problem:
    return Problem(413, "too-large", f"A request holds at most {MAX_BYTES} bytes after decompression.")
