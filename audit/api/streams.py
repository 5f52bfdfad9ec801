"""Reading streams: where a stream stands, its adjudication, the table at an event."""

from __future__ import annotations

from datetime import date

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit import monitoring
from audit.access.scope import Scope
from audit.adjudication.equipment import equipment_of
from audit.adjudication.preview import TooManyEvents, Unsettled
from audit.adjudication.results import answer_of, standing
from audit.api.answer_schemas import ref
from audit.api.keyed_view import KeyedView, key_of
from audit.api.problems import Problem
from audit.event_store import read
from audit.event_store.streams import instant
from audit.felt import table_at
from audit.models import ApiKey, Finding, KeyScope, LoggedStream, RunState
from settlement.codec import STREAM_NAME
from settlement.events.envelope import MAX_INTEGER


def number(
    name: str, description: str, *, least: int = 1, most: int = MAX_INTEGER, required: bool = False
) -> OpenApiParameter:
    """Return a query parameter that ``whole`` reads."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return OpenApiParameter(name, schema, required=required, description=description)


def check_name(stream: str) -> None:
    """Raise 404 for what is not the name of a stream: no stream of that name can ever be opened."""
    if not STREAM_NAME.fullmatch(stream):
        raise Problem(404, "not-found", "A stream's name is 1 to 100 of A-Z a-z 0-9 . _ : -. Use one of that form.")


def stream_of(key: ApiKey, name: str) -> LoggedStream:
    """Return a stream of the key's casino. Raise 404 if there is none, 403 if the key does not report on its table."""
    check_name(name)
    streams = LoggedStream.objects.select_related("casino", "table")
    stream = streams.filter(casino_id=key.casino_id, name=name, is_of_desk=False).first()
    if stream is None:
        kind = "sandbox" if key.casino.is_sandbox else "casino"
        detail = (
            f"The {kind} of this key, '{key.casino.code}', has no stream '{name}'. Open it with session.opened or"
            f" count.opened as event 1, by POST to /api/v1/streams/{name}/events; or use a key of the casino that has"
            " it."
        )
        raise Problem(404, "not-found", detail)
    if not key.reports_on(stream.table_id):
        detail = (
            "This key does not report on the table of this stream. Use one that does: GET /api/v1/key says which tables"
            " a key has, and 'createkey --table' makes one."
        )
        raise Problem(403, "forbidden", detail)
    return stream


class StreamStanding(KeyedView):
    """Where a stream stands: how a client finds out, after a crash, what to send next."""

    scope = KeyScope.STREAMS_READ

    @extend_schema(summary="Where a stream stands", responses={200: ref("Standing")})
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(key_of(request), stream)
        head = read.head_of(logged.casino_id, logged.name)
        assert head is not None, "an opened stream has a head"
        adjudication = standing(logged.stream_id)
        severities = list(Finding.objects.standing().filter(stream=logged).values_list("severity", flat=True))
        adjudicated = (
            adjudication is not None
            and adjudication.next_seq >= head.next_seq
            and adjudication.run is not None
            and adjudication.run.state == RunState.COMPLETE
        )
        return Response(
            {
                "stream": logged.name,
                "casino": logged.casino.code,
                "sandbox": logged.is_of_sandbox,
                "table": logged.table.code if logged.table else None,
                "next_seq": head.next_seq,
                "chain": head.chain.hex(),
                "gaming_day": logged.gaming_day.isoformat(),
                "game": logged.game,
                "ruleset": logged.ruleset,
                "equipment": equipment_of(logged.stream_id),
                "adjudicated_through": adjudication.next_seq - 1 if adjudication else 0,
                "closed": bool(adjudication and adjudication.closed),
                "verdict": ("irregular" if severities else "regular") if adjudicated else "pending",
                "findings": {name: severities.count(name) for name in sorted(set(severities))},
            }
        )


MAX_STREAMS, MAX_BATCHES = 100, 1_000


class Streams(KeyedView):
    """The streams that the key may read, those opened last first."""

    scope = KeyScope.STREAMS_READ
    parameters = frozenset({"gaming_day", "limit"})

    @extend_schema(
        operation_id="streams_list",
        summary="The newest streams",
        parameters=[
            OpenApiParameter("gaming_day", OpenApiTypes.DATE, description="Those of one gaming day."),
            number("limit", f"{MAX_STREAMS} unless told.", most=MAX_STREAMS),
        ],
        responses={200: ref("StreamList")},
    )
    def get(self, request: Request) -> Response:
        streams = Scope.of(key_of(request), KeyScope.STREAMS_READ).rows(
            LoggedStream.objects.select_related("table").filter(is_of_desk=False)
        )
        if given := request.query_params.get("gaming_day"):
            try:
                streams = streams.filter(gaming_day=date.fromisoformat(given))
            except ValueError:
                raise Problem(422, "invalid", "'gaming_day' is a date, as 2026-11-19.") from None
        limit = whole(request, "limit", default=MAX_STREAMS, least=1, most=MAX_STREAMS)
        newest = list(streams.order_by("-opened_at", "-stream_id")[: limit + 1])
        return Response(
            {
                "streams": [
                    {
                        "stream": each.name,
                        "table": each.table.code if each.table else None,
                        "gaming_day": each.gaming_day.isoformat(),
                        "opened_at": instant(each.opened_at),
                    }
                    for each in newest[:limit]
                ],
                "more": len(newest) > limit,
            }
        )


class StreamBatches(KeyedView):
    """The accepted requests of a stream: when each was received, and by which key it was sent."""

    scope = KeyScope.STREAMS_READ
    parameters = frozenset({"after", "limit"})

    @extend_schema(
        summary="The accepted requests of a stream",
        parameters=[
            number("after", "Those that begin after this seq; 0 for the beginning.", least=0),
            number("limit", "100 unless told.", most=MAX_BATCHES),
        ],
        responses={200: ref("BatchList")},
    )
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(key_of(request), stream)
        after = whole(request, "after", default=0, least=0, most=MAX_INTEGER)
        limit = whole(request, "limit", default=100, least=1, most=MAX_BATCHES)
        found = read.batches_after(logged.stream_id, after, limit=limit + 1)
        return Response(
            {
                "batches": [
                    {
                        "first_seq": batch.first_seq,
                        "last_seq": batch.last_seq,
                        "next_seq": batch.next_seq,
                        "count": batch.count,
                        "received_at": instant(batch.received_at),
                        "key": prefix,
                    }
                    for batch, prefix in found[:limit]
                ],
                "more": len(found) > limit,
            }
        )


class StreamAdjudication(KeyedView):
    """The adjudication (section 6 of the event contract), as far as the stream is adjudicated."""

    scope = KeyScope.FINDINGS_READ

    @extend_schema(summary="The adjudication of a stream", responses={200: ref("Adjudication")})
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(key_of(request), stream)
        adjudication = standing(logged.stream_id)
        if adjudication is None or not adjudication.state:
            raise Problem(404, "not-found", "No event of this stream is adjudicated yet. Ask again in a few seconds.")
        return Response(answer_of(adjudication).as_dict())


STATEMENT_S = 5.0
"""The limit of time of each query of the table at an instant."""

BEHIND_RETRY_AFTER_S = 10
"""Seconds in which replay folds a few hundred thousand events."""


class StreamTable(KeyedView):
    """The table just after an event: wagers, point, last result."""

    scope = KeyScope.STREAMS_READ
    parameters = frozenset({"at"})

    @extend_schema(
        summary="The table at an instant",
        parameters=[number("at", "The seq after which; the last event's unless told.")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, stream: str) -> Response:
        logged = stream_of(key_of(request), stream)
        if logged.table_id is None:
            raise Problem(404, "not-found", "This stream is a count and has no table. Name the stream of a session.")
        at = whole(request, "at", default=MAX_INTEGER, least=1, most=MAX_INTEGER)
        try:
            with monitoring.statement_limit(STATEMENT_S):
                table = table_at(logged.stream_id, at)
        except Unsettled:
            detail = "The stream is not adjudicated to this event yet. Ask again after the time in Retry-After."
            raise Problem(503, "behind", detail, retry_after_s=BEHIND_RETRY_AFTER_S) from None
        except TooManyEvents as error:
            most = error.count - 1
            detail = (
                f"This event comes after more than {most} events, and before those adjudicated last. "
                f"Ask for one of the first {most}, or leave 'at' out for the newest."
            )
            raise Problem(409, "too-long", detail) from None
        if table is None:
            raise Problem(404, "not-found", "The session has not begun at this event. Ask for a later one in 'at'.")
        return Response({"stream": logged.name, **table})


def whole(request: Request, name: str, *, default: int, least: int, most: int) -> int:
    """Return a query parameter as a whole number, ``default`` if it is missing. Raise 422 for anything else."""
    given = request.query_params.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 20 and least <= int(given) <= most):
        raise Problem(422, "invalid", f"'{name}' is a whole number from {least} to {most}.")
    return int(given)
