"""Recording and reading events: ``/streams/{stream}/events`` and ``/events``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.answer_schemas import ref
from audit.api.keyed_view import KeyedView, key_of
from audit.api.problems import Problem, document, problem_of
from audit.api.request_body import read_body
from audit.api.schema import EVENTS
from audit.api.streams import check_name, number, stream_of, whole
from audit.event_store import read
from audit.ingest import quarantine
from audit.ingest.bodies import Body, MalformedBody
from audit.ingest.dry_run import dry_record
from audit.ingest.multi_stream import by_stream, store_each
from audit.ingest.record import record
from audit.ingest.refusals import EventsRefused
from audit.models import ApiKey, KeyScope

DRY_RUN = OpenApiParameter(
    "dry_run",
    bool,
    description="Answer as if, with the findings it would open; store and sign nothing. "
    "Needs the scope findings:read too, and counts in the rate limit as many requests as it has events.",
)
SIGNATURE = OpenApiParameter(
    "Cabochon-Signature",
    {"type": "string", "pattern": "^[A-Za-z0-9+/]{86}==$"},
    OpenApiParameter.HEADER,
    description="Of a key with a public key: base64 of the Ed25519 signature over 'cabochon-batch/v1', a line feed, "
    "and canonical JSON of count, first_seq, key (the prefix of the API key), root and stream of what is new.",
)
BODIES = {"application/json": EVENTS, "application/x-ndjson": OpenApiTypes.STR}

RECEIPT = {"oneOf": [ref("Receipt"), ref("DryRunResult")]}
"""A receipt; of a dry run, what it would be."""

MAX_LIMIT = 1_000


class EventList(JSONRenderer):
    """Stored events as one JSON document. Their bytes are not encoded again: they are the bytes that were hashed."""

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return msgspec.json.encode({"events": [msgspec.Raw(envelope) for envelope in data]})


class EventLines(BaseRenderer):
    """Stored events, one a line."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = None

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return b"".join(envelope + b"\n" for envelope in data)


class StreamEvents(KeyedView):
    """The events of one stream: recorded by POST, read by GET."""

    renderer_classes = (EventList, EventLines)

    @property
    def is_recording(self) -> bool:
        return self.request.method == "POST"

    @property
    def parameters(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"dry_run"}) if self.is_recording else frozenset({"after", "limit"})

    @property
    def scope(self) -> str:  # type: ignore[override]
        return KeyScope.EVENTS_WRITE if self.is_recording else KeyScope.STREAMS_READ

    def get_renderers(self) -> list[BaseRenderer]:
        return [JSONRenderer()] if self.is_recording else super().get_renderers()

    @extend_schema(
        summary="Read events",
        description=(
            "A page of the stored events, which can be sent again as it is. While there are more, the header `Link` "
            'has the address of the next page (`rel="next"`).'
        ),
        parameters=[
            number("after", "The seq to read on from, 0 for the beginning.", least=0),
            number("limit", "100 unless told.", most=MAX_LIMIT),
        ],
        responses={
            (200, "application/json"): OpenApiResponse(ref("StoredEvents"), "The stored events, in order."),
            (200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR, "The same, one a line."),
        },
    )
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(key_of(request), stream)
        after = whole(request, "after", default=0, least=0, most=2**53 - 1)
        limit = whole(request, "limit", default=100, least=1, most=MAX_LIMIT)
        found = read.slice_of(logged.stream_id, after=after, limit=limit + 1)
        shown, more = found[:limit], len(found) > limit
        following = {"Link": f'<{request.path}?after={shown[-1][0]}&limit={limit}>; rel="next"'} if more else None
        return Response([envelope for _, envelope in shown], headers=following)

    @extend_schema(
        summary="Record events",
        description=(
            "A JSON array, {'events': […]}, or one event a line; gzip accepted; at most 1,000 events and 1 MiB. "
            "2xx means that every event is stored for good, 4xx that none is. Every retry is safe. A stream is opened "
            "for a gaming day from 40 days ago to 2 days ahead, or an earlier one with the scope events:backfill. "
            "Persons are opaque ids (1 to 40 of A-Z a-z 0-9 . _ : -): a new event that names one is refused."
        ),
        parameters=[DRY_RUN, SIGNATURE],
        request=BODIES,
        responses={
            201: OpenApiResponse(RECEIPT, "At least one event is new: the receipt."),
            200: OpenApiResponse(RECEIPT, "Every event was there: the receipt of the first time."),
            (409, "application/problem+json"): OpenApiResponse(
                OpenApiTypes.OBJECT, "gap, conflict, too-many-streams, or too-many-months."
            ),
            (422, "application/problem+json"): OpenApiResponse(
                OpenApiTypes.OBJECT, "invalid, not-opened, gaming-day, or unsigned."
            ),
        },
    )
    def post(self, request: Request, stream: str) -> Response:
        check_name(stream)
        is_dry = _is_dry(request)
        body = _body(request, stream, is_dry)
        if is_dry:
            self.count_more(request, len(body.events) - 1)
        status, receipt = _recorder(key_of(request), is_dry, _signature(request))(stream, body)
        return Response(receipt, status=status)


class Events(KeyedView):
    """The events of several streams."""

    scope = KeyScope.EVENTS_WRITE
    parameters = frozenset({"dry_run"})

    @extend_schema(
        summary="Record events of several streams",
        description=(
            "As for one stream. Each stream is stored whole or not at all, whatever becomes of the others: one result "
            "a stream, in the order they first come, with its status and a receipt or a problem. A key that signs its "
            "batches sends each stream to its own address: here its new events are 'unsigned'."
        ),
        parameters=[DRY_RUN],
        request=BODIES,
        responses={
            201: OpenApiResponse(ref("StreamResults"), "Every stream has new events."),
            200: OpenApiResponse(ref("StreamResults"), "Every event was there."),
            207: OpenApiResponse(ref("StreamResults"), "The streams' statuses differ."),
            (422, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "An event names no stream."),
            **{
                (status, "application/json"): OpenApiResponse(ref("StreamResults"), "Every stream has this status.")
                for status in (403, 409, 422)
            },
            (403, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "The key may not do this."),
        },
    )
    def post(self, request: Request) -> Response:
        is_dry = _is_dry(request)
        body = _body(request, "", is_dry)
        if is_dry:
            self.count_more(request, len(body.events) - 1)
        bodies = by_stream(body)
        results: list[dict[str, Any]] = []
        for name, outcome in store_each(bodies, _recorder(key_of(request), is_dry)):
            if isinstance(outcome, EventsRefused):
                problem = problem_of(outcome)
                assert problem is not None, "every refusal is in the table of problems"
                results.append({"stream": name, "status": problem.status_code, "problem": document(problem)})
            else:
                status, receipt = outcome
                results.append({"stream": name, "status": status, "receipt": receipt})
        statuses = {result["status"] for result in results}
        return Response({"results": results}, status=statuses.pop() if len(statuses) == 1 else 207)


def _is_dry(request: Request) -> bool:
    """Return whether the request is a dry run.

    Raise 422 for a value that is neither true nor false, 403 for a key that reads no findings, which a dry run shows.
    """
    values = request.query_params.getlist("dry_run") or ["false"]
    if values not in (["true"], ["false"]):
        raise Problem(422, "invalid", "'dry_run' is true or false.")
    is_dry = values == ["true"]
    if is_dry and KeyScope.FINDINGS_READ not in key_of(request).scopes:
        raise Problem(403, "forbidden", f"A dry run shows findings: use a key with the scope {KeyScope.FINDINGS_READ}.")
    return is_dry


def _body(request: Request, stream: str, is_dry: bool) -> Body:
    """Return the events of a request. A malformed body is put into quarantine, unless the run is dry."""
    try:
        return read_body(request)
    except MalformedBody as malformed:
        if not is_dry:
            quarantine.keep(key_of(request), stream, "invalid", str(malformed), malformed.raw)
        raise


def _signature(request: Request) -> str | None:
    """Return the table system's signature as it was sent, None if none was."""
    return request.headers.get("Cabochon-Signature")


def _recorder(
    key: ApiKey, is_dry: bool, signature: str | None = None
) -> Callable[[str, Body], tuple[int, dict[str, Any]]]:
    """Return the function that records the events of a stream and returns the status and the receipt."""

    def store(stream: str, body: Body) -> tuple[int, dict[str, Any]]:
        if is_dry:
            dry = dry_record(key, stream, body, signature)
            return (201 if dry.ingested.is_new else 200), dry.as_dict()
        ingested = record(key, stream, body, signature=signature)
        return (201 if ingested.is_new else 200), ingested.receipt()

    return store
