"""Request ids: every answer has an ``X-Request-ID``, and every log message of its request has the same.

A caller may send one, of up to 64 characters; otherwise it is made here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

from structlog.contextvars import bind_contextvars, clear_contextvars

_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_STREAM = re.compile(r"/api/v1/streams/([A-Za-z0-9._:-]{1,100})(?:/|\Z)")


class RequestIds:
    """A WSGI application in front of every other."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _GIVEN.fullmatch(given) else uuid4().hex
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        stream = _STREAM.match(environ["PATH_INFO"])
        if stream is not None:
            bind_contextvars(stream=stream[1])

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(status, [*headers, ("X-Request-ID", request_id)], *exc_info)

        return self.application(environ, start)
