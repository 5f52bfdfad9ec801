"""Request ids: every answer has an ``X-Request-ID``, and every log message of its request has the same.

A caller may send one, of up to 64 characters; otherwise it is made here.
"""

from __future__ import annotations

import re
import secrets

from structlog.contextvars import bind_contextvars, clear_contextvars

_GIVEN = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_STREAM = re.compile(r"/api/v1/streams/([A-Za-z0-9._:-]{1,100})(?:/|\Z)")


def request_id_of(given: bytes) -> bytes:
    """Return the id that a request has, which may be b"", or a new one."""
    return given if _GIVEN.fullmatch(given) else secrets.token_hex(16).encode()


def bind_request(request_id: bytes, path: str) -> None:
    """Have what this thread logs from now on name a request, and no other one."""
    clear_contextvars()
    bind_contextvars(request_id=request_id.decode())
    stream = _STREAM.match(path)
    if stream is not None:
        bind_contextvars(stream=stream[1])
