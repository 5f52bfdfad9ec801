"""Errors as the interface says them: RFC 9457, ``application/problem+json``.

A problem has a ``code`` that never changes, a ``detail`` for people, and where the fault is in the body, ``errors``
with a JSON Pointer (RFC 6901) each.
"""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_response

CONTENT_TYPE = "application/problem+json"

CODES = {
    400: "malformed",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    413: "too-large",
    415: "unsupported-media-type",
    429: "throttled",
    503: "unavailable",
}


class Problem(exceptions.APIException):
    """A request that cannot be done. ``members`` are further fields of the answer, as ``next_seq``."""

    def __init__(
        self, status: int, code: str, detail: str, *, errors: list[dict[str, Any]] | None = None, **members: Any
    ):
        super().__init__(detail)
        self.status_code = status
        self.code = code
        self.members = members
        self.errors = errors

    def body(self) -> dict[str, Any]:
        return _body(self.status_code, self.code, str(self.detail), self.errors, **self.members)


def problem_response(problem: Problem) -> Response:
    """Return the answer that says ``problem``."""
    return Response(problem.body(), status=problem.status_code, content_type=CONTENT_TYPE)


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn what a view raised into a problem document; None, and so 500, for what nobody foresaw."""
    if isinstance(error, Problem):
        return problem_response(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    response = drf_response(error, context)
    if response is None:
        return None
    detail = error.detail if isinstance(error, exceptions.APIException) else str(error)
    body = _body(response.status_code, CODES.get(response.status_code, "error"), str(detail), None)
    if isinstance(error, exceptions.Throttled) and error.wait is not None:
        response["Retry-After"] = str(math.ceil(error.wait))
    response.data = body
    response.content_type = CONTENT_TYPE
    return response


def _body(status: int, code: str, detail: str, errors: list[dict[str, Any]] | None, **members: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        **members,
    }
    if errors:
        body["errors"] = errors
    return body
