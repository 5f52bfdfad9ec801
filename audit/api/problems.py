"""Problem documents (RFC 9457, ``application/problem+json``): every error of the API, and the table they come from.

A problem has a ``code`` that never changes, a ``detail`` for people, and, if the fault is in the body, ``errors`` with
a JSON Pointer (RFC 6901) each. Use cases raise exceptions of their own; ``PROBLEMS`` gives the status and code of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import psycopg
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.views import exception_handler as drf_response

from audit.event_store.append import MonthClosed
from audit.event_store.archived import StreamArchived
from audit.event_store.damage import is_damage
from audit.evidence.bundle import Unproven
from audit.ingest.bodies import MalformedBody, TooManyEvents
from audit.ingest.dry_run import TooFarBehind
from audit.ingest.multi_stream import UnnamedStreams
from audit.ingest.opening import GamingDayNotAccepted, TooManyMonths, TooManyStreams
from audit.ingest.record import (
    ClosedByOfficers,
    InvalidEvents,
    KeyNotAllowed,
    NotOpened,
    RecordUnavailable,
    SequenceConflict,
    SequenceGap,
    Unsigned,
)
from audit.ingest.refusals import EventsRefused, Fault
from audit.transparency import epochs
from audit.transparency.proofs import NotSealed, OfSandbox

CONTENT_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Row:
    """The status and code of an exception, the attributes that become members of the document, and its detail."""

    status: int
    code: str
    members: tuple[str, ...] = ()
    detail: str = "{}"


PROBLEMS: Mapping[type[Exception], Row] = {
    MalformedBody: Row(422, "invalid", detail="{} Correct the body and send it again."),
    InvalidEvents: Row(
        422, "invalid", ("index", "seq"), "{} Each of 'errors' says where and why; correct these and send all again."
    ),
    UnnamedStreams: Row(422, "invalid", detail="{} 'errors' lists them; give each its 'stream' and send all again."),
    NotOpened: Row(422, "not-opened", ("index", "seq", "next_seq"), "{} Send that one first, with seq 1."),
    TooManyEvents: Row(413, "too-large", detail="{} Send them in several requests."),
    GamingDayNotAccepted: Row(422, "gaming-day", ("first_day", "last_day")),
    TooManyStreams: Row(409, "too-many-streams", ("limit",)),
    TooManyMonths: Row(409, "too-many-months", ("limit",)),
    KeyNotAllowed: Row(403, "forbidden"),
    SequenceGap: Row(409, "gap", ("next_seq",), "{} Send the events from that number on."),
    SequenceConflict: Row(
        409,
        "conflict",
        ("seq", "stored_digest", "sent_digest"),
        "{} It stays, and no event of this request was stored. Send a correction as a new event (entry.corrected).",
    ),
    ClosedByOfficers: Row(
        409,
        "conflict",
        ("seq", "next_seq", "stored_digest", "sent_digest"),
        "{} That stays, and no event of this request was stored. Number what you still have from 'next_seq' on and send"
        " it: it is recorded as late.",
    ),
    Unsigned: Row(422, "unsigned", ("next_seq", "to_sign")),
    TooFarBehind: Row(409, "behind"),
    RecordUnavailable: Row(503, "unavailable"),
    StreamArchived: Row(410, "archived"),
    MonthClosed: Row(410, "archived"),
    NotSealed: Row(409, "not-sealed", detail="Not provable yet: {}. Ask again in a few seconds."),
    OfSandbox: Row(409, "sandbox", detail="Not provable: {}. Ask for the proof of a stream of a casino."),
    Unproven: Row(
        409, "unproven", detail="The record does not prove this finding: {}. Ask an administrator to verify the record."
    ),
}
"""What use cases raise."""

FRAMEWORK_CODES: Mapping[int, str] = {
    400: "malformed",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    429: "throttled",
}
"""The codes of what Django REST framework raises, by status."""


FAILED = (
    "Something failed here. Nothing of the request was stored. Send it again; if that fails too, tell the operator."
)
"""The detail of a 500."""

FOREIGN_HOST = (
    "The record does not go by the name that the header Host says. Use a name that it goes by, or have the operator add"
    " this one to CABOCHON_ALLOWED_HOSTS of the web servers."
)
"""The detail of a 400 for a host that is not allowed."""

NO_KEY = "The request has no key. Send one in the header 'Authorization: Bearer cab_…'; an administrator makes it."

NOT_FOUND = (
    "Nothing that this key may read is at this address. Check the address; GET /api/v1/key says of which casino and"
    " tables the key is."
)
"""The detail of a 404 that has none of its own: the same whether a thing is missing or another casino's."""


class Problem(exceptions.APIException):
    """A request that cannot be served. ``members`` are further fields of the document, as ``next_seq``.

    A 503 has a ``Retry-After``, of ``RETRY_AFTER_S`` unless it is said.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: list[dict[str, Any]] | None = None,
        retry_after_s: int | None = None,
        **members: Any,
    ):
        super().__init__(detail)
        self.retry_after_s = retry_after_s if retry_after_s is not None or status != 503 else RETRY_AFTER_S
        self.status_code = status
        self.code = code
        self.members = members
        self.errors = errors


def problem_of(error: Exception) -> Problem | None:
    """Return the problem that an exception of a use case becomes, None if ``PROBLEMS`` does not list its type."""
    row = PROBLEMS.get(type(error))
    if row is None:
        return None
    faults = error.faults if isinstance(error, EventsRefused) else ()
    members = {name: getattr(error, name) for name in row.members}
    errors = [_error(fault) for fault in faults]
    detail = row.detail.format(error)
    if isinstance(error, NotOpened | SequenceGap) and (epoch := epochs.current()).number > 1:
        members["epoch"] = epoch.number
        detail += (
            f" The record was restored from a backup (epoch {epoch.number}). If you have receipts for event "
            f"{members['next_seq']} and later ones, they were lost here: send them again from there."
        )
    return Problem(row.status, row.code, detail, errors=errors or None, **members)


def _error(fault: Fault) -> dict[str, Any]:
    index = {} if fault.index is None else {"index": fault.index}
    return {"pointer": fault.pointer, "detail": fault.detail, **index}


DATABASE_ERRORS = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
"""A database that does not answer, or cannot do what it was asked now. The last two come from the bulk reads."""

RETRY_AFTER_S = 2
"""Seconds to wait for a database that is down."""

FULL_RETRY_AFTER_S = 60
"""Seconds to wait while its disk is full."""


DAMAGED_RETRY_AFTER_S = 60
"""Seconds to wait while a page of its disk cannot be read."""


def problem_of_database(error: BaseException) -> Problem | None:
    """Return the problem of a database that is down, or whose disk is full or damaged: 503. None for other errors."""
    if isinstance(error, psycopg.errors.DiskFull) or isinstance(error.__cause__, psycopg.errors.DiskFull):
        detail = (
            "The disk of the record is full. Nothing was stored. Tell the operator, and send the request again later."
        )
        return Problem(503, "storage-full", detail, retry_after_s=FULL_RETRY_AFTER_S)
    if is_damage(error):
        detail = (
            "A page of the record's disk is damaged. Nothing was stored. Tell the operator, and send it again later."
        )
        return Problem(503, "unavailable", detail, retry_after_s=DAMAGED_RETRY_AFTER_S)
    if isinstance(error, DATABASE_ERRORS):
        return Problem(
            503,
            "unavailable",
            "The record cannot be reached now. Send the request again after the time in Retry-After.",
        )
    return None


def document(problem: Problem) -> dict[str, Any]:
    """Return a problem as the object of RFC 9457."""
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
    """Return the response for a problem; its media type does not depend on what the request accepts."""
    wait = {"Retry-After": str(problem.retry_after_s)} if problem.retry_after_s is not None else {}
    return JsonResponse(document(problem), status=problem.status_code, content_type=CONTENT_TYPE, headers=wait)


def handle(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Turn what a view raised into a response; None for an unforeseen exception (``EXCEPTION_HANDLER`` of DRF)."""
    problem = error if isinstance(error, Problem) else problem_of(error)
    if problem is not None:
        return answer(problem)
    if isinstance(error, Http404):  # what Django says in one names models
        error = exceptions.NotFound(NOT_FOUND)
    response = drf_response(error, context)
    if response is None:
        return None
    status = response.status_code
    detail, errors = _framework_detail(error)
    converted = answer(Problem(status, FRAMEWORK_CODES.get(status, "error"), detail, errors=errors))
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in response.headers:
            converted[name] = response.headers[name]
    return converted


def _framework_detail(error: Exception) -> tuple[str, list[dict[str, Any]] | None]:
    """Return the detail of an exception of the framework, and the errors of its query parameters if it has any."""
    if isinstance(error, exceptions.ValidationError) and isinstance(error.detail, dict):
        errors = [
            {"parameter": name, "detail": " ".join(map(str, details))} for name, details in sorted(error.detail.items())
        ]
        return "A parameter has a value that it cannot have. 'errors' says which, and why.", errors
    match error:
        case exceptions.NotAuthenticated():
            return NO_KEY, None
        case exceptions.MethodNotAllowed():
            return "This address does not take this method. The header Allow lists those that it takes.", None
        case exceptions.NotAcceptable():
            return "This address has none of the media types of the header Accept. Leave the header out.", None
        case exceptions.Throttled():
            wait_s: float | None = getattr(error, "wait", None)
            remedy = "" if wait_s is None else f" Wait {math.ceil(wait_s)} s, as Retry-After says."
            return f"The key has sent as many requests as it may for now.{remedy}", None
        case exceptions.APIException():
            return str(error.detail), None
    return str(error), None
