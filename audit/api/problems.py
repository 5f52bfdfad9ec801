"""Errors as the interface says them: RFC 9457, ``application/problem+json``.

A problem has a ``code`` that never changes, a ``detail`` for people, and where the fault is in the body, ``errors``
with a JSON Pointer (RFC 6901) each.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.views import exception_handler as drf_response

CONTENT_TYPE = "application/problem+json"

CODES = {
    400: "malformed",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    429: "throttled",
}
"""The codes of what the framework raises; a ``Problem`` has its own."""


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


def document(problem: Problem) -> dict[str, Any]:
    """Return what a problem says, as the object of RFC 9457."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "code": problem.code,
        "detail": str(problem.detail),
        **problem.members,
    }
    if problem.errors:
        body["errors"] = problem.errors
    return body


def answer(problem: Problem) -> HttpResponse:
    """Return the document of ``problem``, whatever type of answer the request asked for."""
    return JsonResponse(document(problem), status=problem.status_code, content_type=CONTENT_TYPE)


def handle(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Turn what a view raised into a problem document; None for what nobody foresaw."""
    if isinstance(error, Problem):
        return answer(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    response = drf_response(error, context)
    if response is None:
        return None
    detail, errors = _said(error)
    told = answer(Problem(response.status_code, CODES.get(response.status_code, "error"), detail, errors=errors))
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in response.headers:
            told[name] = response.headers[name]
    return told


def _said(error: Exception) -> tuple[str, list[dict[str, Any]] | None]:
    """Return what an exception of the framework says, and which query parameters it is about."""
    if isinstance(error, exceptions.ValidationError) and isinstance(error.detail, dict):
        errors = [
            {"parameter": name, "detail": " ".join(map(str, words))} for name, words in sorted(error.detail.items())
        ]
        return "A parameter has a value that it cannot have.", errors
    return str(error.detail if isinstance(error, exceptions.APIException) else error), None
