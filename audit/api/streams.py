"""Reading streams: where one stands, its events, its adjudication."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit.adjudication.results import answer_of, standing
from audit.api.keyed_view import KeyedView
from audit.api.problems import Problem
from audit.event_store import read
from audit.felt import table_at
from audit.models import ApiKey, Finding, LoggedStream, Scope
from settlement.codec import STREAM_NAME

MAX_LIMIT = 1_000


def stream_of(key: ApiKey, name: str) -> LoggedStream:
    """Return a stream of the key. Raise 404 where its casino has none of that name, 403 for a table not the key's."""
    stream = None
    if STREAM_NAME.fullmatch(name):
        streams = LoggedStream.objects.select_related("casino", "table")
        stream = streams.filter(casino_id=key.casino_id, name=name, is_of_desk=False).first()
    if stream is None:
        raise Http404
    if not key.reports_on(stream.table_id):
        raise Problem(403, "forbidden", "This key does not report on the table of this stream.")
    return stream


class EventLines(BaseRenderer):
    """Stored events, one a line."""

    media_type = "application/x-ndjson"
    format = "ndjson"
    charset = None

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return b"".join(envelope + b"\n" for envelope in data)


class EventList(JSONRenderer):
    """Stored events, as one JSON document. Their bytes go out as they are: what a reader hashes is what was hashed."""

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        return msgspec.json.encode({"events": [msgspec.Raw(envelope) for envelope in data]})


class StreamStanding(KeyedView):
    """Where a stream stands: what a client asks after a crash."""

    scope = Scope.STREAMS_READ

    @extend_schema(summary="Where a stream stands", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(request.auth, stream)
        head = read.head_of(logged.casino_id, logged.name)
        assert head is not None, "an opened stream has a head"
        adjudication = standing(logged.stream_id)
        severities = list(Finding.objects.filter(stream=logged, superseded_at=None).values_list("severity", flat=True))
        adjudicated = (
            adjudication is not None
            and adjudication.next_seq >= head.next_seq
            and adjudication.completed_run == adjudication.run
        )
        return Response(
            {
                "stream": logged.name,
                "casino": logged.casino.code,
                "table": logged.table.code if logged.table else None,
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

    renderer_classes = (EventList, EventLines)
    parameters = frozenset({"after", "limit"})

    @extend_schema(
        summary="Read events",
        parameters=[
            OpenApiParameter("after", int, description="The seq to read on from, 0 for the beginning."),
            OpenApiParameter("limit", int, description=f"At most {MAX_LIMIT}, 100 unless told."),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(request.auth, stream)
        after = whole(request, "after", default=0, least=0, most=2**53 - 1)
        limit = whole(request, "limit", default=100, least=1, most=MAX_LIMIT)
        return Response([envelope for _, envelope in read.slice_of(logged.stream_id, after=after, limit=limit)])


class StreamAdjudication(KeyedView):
    """The object of section 6 of the event contract, as far as the stream is adjudicated."""

    scope = Scope.FINDINGS_READ

    @extend_schema(summary="The adjudication of a stream", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(request.auth, stream)
        adjudication = standing(logged.stream_id)
        if adjudication is None or not adjudication.state:
            raise Http404
        return Response(answer_of(adjudication).as_dict())


class StreamTable(KeyedView):
    """The table at an instant: what stood, the point, the last result."""

    parameters = frozenset({"at"})

    @extend_schema(
        summary="The table at an instant",
        parameters=[OpenApiParameter("at", int, description="The seq after which; the last event's unless told.")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(request.auth, stream)
        if logged.table_id is None:
            raise Http404
        at = whole(request, "at", default=2**53 - 1, least=1, most=2**53 - 1)
        found = table_at(logged.stream_id, at)
        if found is None:
            raise Http404
        return Response({"stream": logged.name, **found})


def whole(request: Request, name: str, *, default: int, least: int, most: int) -> int:
    """Return a query parameter that is a whole number, ``default`` where it is not given. Raise 422 for any other."""
    given = request.query_params.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 20 and least <= int(given) <= most):
        raise Problem(422, "invalid", f"'{name}' is a whole number from {least} to {most}.")
    return int(given)
