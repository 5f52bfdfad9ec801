"""Reading streams: where one stands, its events, its adjudication."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.problems import Problem
from audit.api.views import KeyedView
from audit.log import read
from audit.models import Adjudication, ApiKey, Finding, LoggedStream, Scope
from settlement import ENGINE_VERSION, State

MAX_LIMIT = 1_000


def stream_of(key: ApiKey, name: str) -> LoggedStream:
    """Return a stream of the key's casino. Raise 404 for any other, and for one of another casino alike."""
    stream = LoggedStream.objects.filter(casino_id=key.casino_id, name=name).first()
    if stream is None:
        raise Http404
    return stream


class StreamStanding(KeyedView):
    """Where a stream stands: what a client asks after a crash."""

    scope = Scope.STREAMS_READ

    @extend_schema(summary="Where a stream stands", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(request.auth, stream)
        head = read.head_of(logged.casino_id, logged.name)
        assert head is not None, "an opened stream has a head"
        adjudication = Adjudication.objects.filter(stream=logged, engine_version=ENGINE_VERSION).first()
        severities = list(Finding.objects.filter(stream=logged, superseded_at=None).values_list("severity", flat=True))
        adjudicated = adjudication is not None and adjudication.next_seq >= head.next_seq
        return Response(
            {
                "stream": logged.name,
                "next_seq": head.next_seq,
                "chain": head.chain.hex(),
                "gaming_day": logged.gaming_day.isoformat(),
                "game": logged.game,
                "ruleset": logged.ruleset,
                "adjudicated_through": adjudication.next_seq - 1 if adjudication else 0,
                "closed": bool(adjudication and adjudication.closed),
                "verdict": ("irregular" if severities else "regular") if adjudicated else "pending",
                "findings": {name: severities.count(name) for name in sorted(set(severities))},
            }
        )


class StreamEventsReading(KeyedView):
    """The stored events of a stream, in order."""

    @extend_schema(
        summary="Read events",
        parameters=[
            OpenApiParameter("after", int, description="The seq to read on from, 0 for the beginning."),
            OpenApiParameter("limit", int, description=f"At most {MAX_LIMIT}, 100 unless told."),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, stream: str) -> HttpResponse:
        logged = stream_of(request.auth, stream)
        after = _whole(request, "after", default=0, least=0, most=2**53 - 1)
        limit = _whole(request, "limit", default=100, least=1, most=MAX_LIMIT)
        envelopes = [raw for _, raw in read.slice_of(logged.stream_id, after=after, limit=limit)]
        if "application/x-ndjson" in request.META.get("HTTP_ACCEPT", ""):
            return HttpResponse(b"".join(raw + b"\n" for raw in envelopes), content_type="application/x-ndjson")
        # The stored bytes go out as they are: what a reader hashes is what was hashed.
        listed = msgspec.json.encode({"events": [msgspec.Raw(raw) for raw in envelopes]})
        return HttpResponse(listed, content_type="application/json")


class StreamAdjudication(KeyedView):
    """The object of section 6 of the event contract, as far as the stream is adjudicated."""

    scope = Scope.FINDINGS_READ

    @extend_schema(summary="The adjudication of a stream", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(request.auth, stream)
        adjudication = Adjudication.objects.filter(stream=logged, engine_version=ENGINE_VERSION).first()
        if adjudication is None or not adjudication.state:
            raise Http404
        answer: dict[str, Any] = State.from_bytes(bytes(adjudication.state)).adjudication().as_dict()
        return Response(answer)


def _whole(request: Request, name: str, *, default: int, least: int, most: int) -> int:
    given = request.query_params.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 20 and least <= int(given) <= most):
        raise Problem(422, "invalid", f"'{name}' is a whole number from {least} to {most}.")
    return int(given)
