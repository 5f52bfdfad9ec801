"""``POST /streams/{stream}/events``."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.problems import Problem
from audit.api.streams import StreamEventsReading
from audit.api.views import KeyedView
from audit.ingest import quarantine
from audit.ingest.bodies import Malformed, read_body
from audit.ingest.record import record
from audit.models import ApiKey, Scope
from settlement.wire import STREAM_NAME


class StreamEvents(StreamEventsReading, KeyedView):
    """The events of one stream: recorded by POST, read by GET."""

    @property
    def scope(self) -> str:  # type: ignore[override]
        return Scope.EVENTS_WRITE if self.request.method == "POST" else Scope.STREAMS_READ

    @extend_schema(
        summary="Record events",
        description=(
            "A JSON array, {'events': […]}, or one event a line; gzip accepted; at most 1,000 events and 1 MiB. "
            "2xx means that every event is stored for good, 4xx that none is. Every retry is safe."
        ),
        request={"application/json": OpenApiTypes.ANY, "application/x-ndjson": OpenApiTypes.STR},
        responses={
            201: OpenApiResponse(OpenApiTypes.OBJECT, "At least one event is new: the receipt."),
            200: OpenApiResponse(OpenApiTypes.OBJECT, "Every event was there: the receipt of the first time."),
            (409, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "gap, or conflict."),
            (422, "application/problem+json"): OpenApiResponse(OpenApiTypes.OBJECT, "invalid, or not-opened."),
        },
    )
    def post(self, request: Request, stream: str) -> Response:
        key: ApiKey = request.auth
        if not STREAM_NAME.fullmatch(stream):
            raise Http404
        try:
            body = read_body(request)
        except Malformed as fault:
            quarantine.keep(key, stream, "invalid", str(fault), fault.raw)
            raise Problem(422, "invalid", str(fault), errors=[{"pointer": "", "detail": str(fault)}]) from None
        recorded = record(key, stream, body)
        return Response(recorded.receipt(), status=201 if recorded.is_new else 200)

    def get_renderers(self) -> list[BaseRenderer]:
        return [JSONRenderer()] if self.request.method == "POST" else super().get_renderers()
