"""Reading the body of a request: media type, length, gzip, all bounded.

``Content-Encoding: gzip`` is bounded after decompression: a gzip bomb is refused before it grows.
"""

from __future__ import annotations

import zlib

from django.utils.http import parse_header_parameters
from rest_framework.request import Request

from audit.api.problems import Problem
from audit.ingest.bodies import JSON, NDJSON, Body, MalformedBody, events_in

MAX_BYTES = 1024 * 1024
"""Largest body accepted, after decompression."""

MAX_SENT_BYTES = MAX_BYTES + MAX_BYTES // 64
"""Most bytes read of a body: gzip makes what it cannot compress a little larger."""

_GZIP = 16 + zlib.MAX_WBITS


def read_body(request: Request) -> Body:
    """Return the events of a request. Raise ``EventsRefused``, or ``Problem`` for a wrong type, length or encoding."""
    media_type = _media_type(request)
    return events_in(_decompressed(request), media_type)


def _media_type(request: Request) -> str:
    media_type, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if media_type not in (JSON, NDJSON):
        raise Problem(415, "unsupported-media-type", f"Send {JSON} or {NDJSON}, not '{media_type}'.")
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
            raise Problem(400, "malformed", "The body ends before its Content-Length. Send it again, whole.")
        return raw
    return b""


def _unzipped(raw: bytes) -> bytes:
    """Return the content of a gzip of one or more members, reading no more than ``MAX_BYTES`` of it into memory."""
    parts: list[bytes] = []
    space_left = MAX_BYTES + 1
    rest = raw
    while rest:
        unzip = zlib.decompressobj(_GZIP)
        try:
            part = unzip.decompress(rest, space_left)
        except zlib.error as error:
            raise MalformedBody(f"The body is not gzip, which Content-Encoding announces: {error}.", raw) from None
        parts.append(part)
        space_left -= len(part)
        if space_left <= 0:
            raise _too_large()
        if not unzip.eof:
            raise MalformedBody("The gzip of the body is cut short.", raw)
        rest = unzip.unused_data
    return b"".join(parts)


def _too_large() -> Problem:
    return Problem(
        413,
        "too-large",
        f"A request holds at most {MAX_BYTES} bytes after decompression. Send its events in several requests.",
    )
