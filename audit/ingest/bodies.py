"""Request bodies: bounded, unzipped, and cut into the bytes of each event.

application/json        [event, …]  or  {"events": [event, …]}
application/x-ndjson    one event a line
Content-Encoding: gzip  either of them, bounded after decompression: a bomb is refused before it grows
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

import msgspec
from rest_framework.parsers import BaseParser

from audit.api.problems import Problem

MAX_BYTES = 1024 * 1024
"""Largest body accepted, after decompression."""

MAX_EVENTS = 1_000
"""Most events accepted in one request."""

Context: TypeAlias = Mapping[str, Any] | None

_GZIP = 16 + zlib.MAX_WBITS
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Body:
    """A request's bytes, decompressed, and the events in it; ``pointer`` is where the list of them is."""

    raw: bytes
    events: list[bytes]
    pointer: str


class Malformed(Exception):
    """A body that is no list of events. ``raw`` is what there is of it."""

    def __init__(self, detail: str, raw: bytes) -> None:
        super().__init__(detail)
        self.raw = raw


class _Listed(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]


_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_object = msgspec.json.Decoder(_Listed).decode


class EventsJSONParser(BaseParser):
    """A JSON array of events, or an object that holds one."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Body:
        raw = _read(stream, parser_context)
        inside = raw.lstrip(b" \t\r\n")[:1] == b"{"
        try:
            listed = _decode_object(raw).events if inside else _decode_array(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(f"The body is no list of events: {error}", raw) from None
        return _counted(Body(raw, [bytes(event) for event in listed], "/events" if inside else ""))


class EventsLinesParser(BaseParser):
    """One event a line."""

    media_type = "application/x-ndjson"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Body:
        raw = _read(stream, parser_context)
        return _counted(Body(raw, [line for line in raw.split(b"\n") if line.strip()], ""))


def _counted(body: Body) -> Body:
    if len(body.events) > MAX_EVENTS:
        raise Problem(
            413, "too-large", f"A request holds at most {MAX_EVENTS} events; this one has {len(body.events)}."
        )
    if not body.events:
        raise Malformed("The body has no event.", body.raw)
    return body


def _read(stream: IO[bytes], context: Context) -> bytes:
    request = (context or {})["request"]
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if encoding in ("", "identity"):
        raw = stream.read(MAX_BYTES + 1)
    elif encoding in ("gzip", "x-gzip"):
        raw = _unzipped(stream)
    else:
        raise Problem(
            415, "unsupported-media-type", f"The content encoding '{encoding}' is not known; send gzip or none."
        )
    if len(raw) > MAX_BYTES:
        raise Problem(413, "too-large", f"A request holds at most {MAX_BYTES} bytes after decompression.")
    return raw


def _unzipped(stream: IO[bytes]) -> bytes:
    """Return at most one byte more than is accepted: what a bomb would grow to is never in memory."""
    unzip = zlib.decompressobj(_GZIP)
    parts: list[bytes] = []
    room = MAX_BYTES + 1
    try:
        while room > 0 and not unzip.eof and (chunk := unzip.unconsumed_tail or stream.read(_CHUNK)):
            part = unzip.decompress(chunk, room)
            room -= len(part)
            parts.append(part)
    except zlib.error as error:
        raise Malformed(f"The body is no gzip: {error}", b"".join(parts)) from None
    if room > 0 and not unzip.eof:
        raise Malformed("The gzip ends before its end.", b"".join(parts))
    return b"".join(parts)
