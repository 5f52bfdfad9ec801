"""Request ids: every answer has an ``X-Request-ID``, and every log message of its request has the same.

A caller may send one, of up to 64 characters; otherwise it is made here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import uuid4

from structlog.contextvars import bind_contextvars, clear_contextvars

_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_STREAM = re.compile(r"/api/v1/streams/([A-Za-z0-9._:-]{1,100})(?:/|\Z)")


class RequestIds:
    """A WSGI application in front of every other."""

    def __init__(self, application: Any) -> None:
        """``application`` may have ``answer_together``, too, as ``FastPath`` has."""
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request_id = _request_id(environ)
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        stream = _STREAM.match(environ["PATH_INFO"])
        if stream is not None:
            bind_contextvars(stream=stream[1])

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(status, [*headers, ("X-Request-ID", request_id)], *exc_info)

        response: Iterable[bytes] = self.application(environ, start)
        return response

    def answer_together(self, requests: Sequence[tuple[Any, bytes]]) -> list[Any]:
        """Answer requests together, as ``FastPath.answer_together``, each with its request id."""
        clear_contextvars()
        answers: list[Any] = self.application.answer_together(requests)
        for (usual, _), each in zip(requests, answers, strict=True):
            if each is not None:
                each.headers.append(("X-Request-ID", _request_id(usual.sender)))
        return answers


def _request_id(environ: dict[str, Any]) -> str:
    """Return the id that a request has, or a new one."""
    given = environ.get("HTTP_X_REQUEST_ID", "")
    return given if _GIVEN.fullmatch(given) else uuid4().hex
