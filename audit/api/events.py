"""``POST /streams/{stream}/events`` and ``POST /events``."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.keyed_view import KeyedView
from audit.api.problems import Problem
from audit.api.streams import StreamEventsReading
from audit.ingest import quarantine
from audit.ingest.bodies import Body, Malformed, read_body
from audit.ingest.dry_run import would_record
from audit.ingest.multi_stream import Store, by_stream, store_each
from audit.ingest.record import record
from audit.models import ApiKey, Scope
from settlement.codec import STREAM_NAME

DRY_RUN = OpenApiParameter(
    "dry_run", bool, description="Answer as if, with the findings it would open; store and sign nothing."
)
BODIES = {"application/json": OpenApiTypes.ANY, "application/x-ndjson": OpenApiTypes.STR}


class StreamEvents(StreamEventsReading, KeyedView):
    """The events of one stream: recorded by POST, read by GET."""

    @property
    def parameters(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"dry_run"}) if self.request.method == "POST" else StreamEventsReading.parameters

    @property
    def scope(self) -> str:  # type: ignore[override]
        return Scope.EVENTS_WRITE if self.request.method == "POST" else Scope.STREAMS_READ

    @extend_schema(
        summary="Record events",
        description=(
            "A JSON array, {'events': […]}, or one event a line; gzip accepted; at most 1,000 events and 1 MiB. "
            "2xx means that every event is stored for good, 4xx that none is. Every retry is safe."
        ),
        parameters=[DRY_RUN],
        request=BODIES,
        responses={
            201: OpenApiResponse(OpenApiTypes.OBJECT, "At least one event is new: the receipt."),
            200: OpenApiResponse(OpenApiTypes.OBJECT, "Every event was there: the receipt of the first time."),
            (409, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "gap, or conflict."),
            (422, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "invalid, or not-opened."),
        },
    )
    def post(self, request: Request, stream: str) -> Response:
        if not STREAM_NAME.fullmatch(stream):
            raise Http404
        is_dry = _is_dry(request)
        status, answer = _store(request.auth, is_dry)(stream, _body(request, stream, is_dry))
        return Response(answer, status=status)

    def get_renderers(self) -> list[BaseRenderer]:
        return [JSONRenderer()] if self.request.method == "POST" else super().get_renderers()


class Events(KeyedView):
    """The events of several streams."""

    scope = Scope.EVENTS_WRITE
    parameters = frozenset({"dry_run"})

    @extend_schema(
        summary="Record events of several streams",
        description=(
            "As for one stream. Each stream is stored whole or not at all, whatever becomes of the others: one result "
            "a stream, in the order they first come, with its status and a receipt or a problem."
        ),
        parameters=[DRY_RUN],
        request=BODIES,
        responses={
            201: OpenApiResponse(OpenApiTypes.OBJECT, "Every stream has new events."),
            200: OpenApiResponse(OpenApiTypes.OBJECT, "Every event was there."),
            207: OpenApiResponse(OpenApiTypes.OBJECT, "The streams' statuses differ."),
            (422, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "An event names no stream."),
        },
    )
    def post(self, request: Request) -> Response:
        is_dry = _is_dry(request)
        parts = by_stream(_body(request, "", is_dry))
        answer = store_each(parts, _store(request.auth, is_dry))
        return Response({"results": answer.results}, status=answer.status)


def _is_dry(request: Request) -> bool:
    """Tell whether only an answer is asked for. Raise 422 where that is not said clearly."""
    said = request.query_params.getlist("dry_run") or ["false"]
    if said not in (["true"], ["false"]):
        raise Problem(422, "invalid", "'dry_run' is true or false.")
    return said == ["true"]


def _body(request: Request, stream: str, is_dry: bool) -> Body:
    """Return the body of a request; one that is none is kept, unless the run is dry."""
    try:
        return read_body(request)
    except Malformed as fault:
        if not is_dry:
            quarantine.keep(request.auth, stream, "invalid", str(fault), fault.raw)
        raise Problem(422, "invalid", str(fault), errors=[{"pointer": "", "detail": str(fault)}]) from None


def _store(key: ApiKey, is_dry: bool) -> Store:
    """Return what stores the events of a stream, or does as if."""

    def store(stream: str, body: Body) -> tuple[int, dict[str, Any]]:
        if is_dry:
            return would_record(key, stream, body)
        recorded = record(key, stream, body)
        return (201 if recorded.is_new else 200), recorded.receipt()

    return store
