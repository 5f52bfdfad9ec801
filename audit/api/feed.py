"""The feed of findings: what became known, in pages or as Server-Sent Events.

    GET /findings/feed?after=CURSOR                      a page, and the cursor to go on with
    GET /findings/feed, Accept: text/event-stream        the same as they come; Last-Event-ID goes on after a break

An open stream holds a thread of the web server. So a process has at most ``CABOCHON_FEED_STREAMS`` of them and a casino
half of these; each ends after ``CABOCHON_FEED_STREAM_S``, and the client comes back with the last id.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Generator, Iterator
from threading import Lock
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access.scope import Scope
from audit.api.answer_schemas import CURSOR, ref
from audit.api.keyed_view import KeyedView, key_of
from audit.api.problems import Problem
from audit.api.streams import number, whole
from audit.models import ApiKey, KeyScope
from audit.notifications import feed
from audit.notifications.feed import BadCursor, Cursor, StaleCursor

PAGE, LARGEST_PAGE = 100, 500

POLL_S = 0.2
"""Pause between two looks at the feed while nothing comes."""

HEARTBEAT_S = 10.0
"""How often a silent stream says that it lives, and whether its key still does is looked up."""

NEWEST = "now"

EXAMPLE = {
    "changes": [
        {
            "cursor": "1-4711",
            "type": "finding.opened",
            "at": "2026-11-19T22:04:05.120034Z",
            "casino": "deauville",
            "finding": {"id": 912, "rule": "payout-overpaid", "severity": "critical", "seq": 4, "status": "standing"},
        }
    ],
    "next": "1-4711",
    "more": False,
}

log = structlog.get_logger(__name__)


class _Slots:
    """How many streams this process has open, of each casino."""

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()
        self._lock = Lock()

    def take(self, casino_id: int) -> bool:
        """Return whether one more stream of a casino may open; then it counts until it is given back."""
        most = settings.CABOCHON_FEED_STREAMS
        with self._lock:
            if self._open.total() >= most or self._open[casino_id] >= max(1, most // 2):
                return False
            self._open[casino_id] += 1
            return True

    def give_back(self, casino_id: int) -> None:
        with self._lock:
            self._open[casino_id] -= 1


SLOTS = _Slots()


class EventStreamRenderer(BaseRenderer):
    """Has content negotiation accept ``text/event-stream``; the stream is no response that a renderer writes."""

    media_type = "text/event-stream"
    format = "sse"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        return json.dumps(data).encode()


class FindingsFeed(KeyedView):
    """What became known of the findings of the key's casino, and of its tables if it is limited to some."""

    scope = KeyScope.FINDINGS_READ
    parameters = frozenset({"after", "limit"})
    renderer_classes = (JSONRenderer, EventStreamRenderer)

    @extend_schema(
        summary="The feed of findings",
        description=(
            "Every change of the casino's findings, in the order in which it became known: `finding.opened`, "
            "`finding.amended`, `finding.superseded`, `finding.reinstated`, and of its case `finding.closed` and "
            "`finding.reopened`. The finding is as it is now. None is ever missed: keep `next`, and send it as `after`."
            "\n\nWith `Accept: text/event-stream` the same changes come as Server-Sent Events (`id` is the cursor, "
            "`event` the type, `data` the change), beginning after `Last-Event-ID`, else after `after`. A stream ends "
            "after some minutes; come back with `Last-Event-ID`. 503 `busy`: too many streams are open; read pages."
        ),
        parameters=[
            OpenApiParameter(
                "after",
                {"type": "string", "pattern": f"^({NEWEST}|{CURSOR})$"},
                description="A cursor; `now` for the newest; the beginning unless it is sent.",
            ),
            number("limit", f"Changes of a page; {PAGE} unless sent.", most=LARGEST_PAGE),
            OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER, description="The last id of a stream."),
        ],
        responses={
            (200, "application/json"): OpenApiResponse(ref("FeedPage"), "A page, and the cursor to go on with."),
            (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, "Server-Sent Events."),
        },
        examples=[OpenApiExample("A page", EXAMPLE, response_only=True, media_type="application/json")],
    )
    def get(self, request: Request) -> HttpResponseBase:
        key = key_of(request)
        limit = whole(request, "limit", default=PAGE, least=1, most=LARGEST_PAGE)
        is_stream = request.accepted_renderer.media_type == EventStreamRenderer.media_type
        resumed = request.headers.get("Last-Event-ID", "") if is_stream else ""
        cursor = _cursor(resumed or request.query_params.get("after", ""), feed.number(key.casino_id))
        if is_stream:
            return _stream(request, key, cursor, limit)
        changes, cursor, more = _page(key, cursor, limit)
        return Response({"changes": changes, "next": str(cursor), "more": more})


def _cursor(text: str, newest: int) -> Cursor:
    if text in ("", NEWEST):
        return Cursor.at(newest if text else 0)
    try:
        return Cursor.parse(text, newest=newest)
    except BadCursor:
        raise Problem(
            422, "invalid", "This is not a cursor of the feed. Send 'next' of a page, an 'id' of a stream, or nothing."
        ) from None
    except StaleCursor:
        raise Problem(
            410,
            "cursor-expired",
            "This cursor is of another record, or of this one before it was restored from a backup: positions are "
            "given anew since. Read the feed from its beginning, and compare findings by stream, seq, rule and wager.",
        ) from None


def _page(key: ApiKey, cursor: Cursor, limit: int) -> tuple[list[dict[str, Any]], Cursor, bool]:
    """Return the next changes that a key may see, the cursor after them, and whether there are more."""
    newest = feed.number(key.casino_id)
    scope = Scope.of(key, KeyScope.FINDINGS_READ)
    found = feed.changes(key.casino_id, cursor.position, limit=limit + 1, through=newest, scope=scope)
    shown, more = found[:limit], len(found) > limit
    last = shown[-1].position if more else max(newest, cursor.position)
    return feed.documents(shown), Cursor(cursor.epoch, last or 0), more


def _stream(request: Request, key: ApiKey, cursor: Cursor, limit: int) -> HttpResponseBase:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    content_type = f"{EventStreamRenderer.media_type}; charset=utf-8"
    if request.method == "HEAD":
        return HttpResponse(content_type=content_type, headers=headers)
    if not SLOTS.take(key.casino_id):
        raise Problem(
            503,
            "busy",
            "As many streams are open as this server holds. Read pages of the feed, or come back after Retry-After.",
            retry_after_s=30,
        )
    return StreamingHttpResponse(_Stream(key, cursor, limit), content_type=content_type, headers=headers)


class _Stream:
    """The bytes of a stream. It gives its slot back once, when it is closed, whether or not it was ever read."""

    def __init__(self, key: ApiKey, cursor: Cursor, limit: int) -> None:
        self._casino_id: int | None = key.casino_id
        self._events = _events(key, cursor, limit, ends_at=time.monotonic() + settings.CABOCHON_FEED_STREAM_S)

    def __iter__(self) -> Iterator[bytes]:
        return self._events

    def close(self) -> None:
        self._events.close()
        if self._casino_id is not None:
            SLOTS.give_back(self._casino_id)
            self._casino_id = None


def _events(key: ApiKey, cursor: Cursor, limit: int, *, ends_at: float) -> Generator[bytes, None, None]:
    """Yield the changes after ``cursor`` as they come, until ``ends_at`` of the monotonic clock."""
    yield b"retry: 2000\n\n"
    heard_at = time.monotonic()
    try:
        while time.monotonic() < ends_at:
            changes, cursor, _more = _page(key, cursor, limit)
            for change in changes:
                yield f"id: {change['cursor']}\nevent: {change['type']}\ndata: {json.dumps(change)}\n\n".encode()
            if time.monotonic() - heard_at >= HEARTBEAT_S:
                heard_at = time.monotonic()
                if not key.is_still_active():
                    return
                yield f": alive\nid: {cursor}\n\n".encode()
            if not changes:
                time.sleep(POLL_S)
    except (DatabaseError, InterfaceError) as error:  # the client comes back, and goes on where this ended
        log.warning("feed interrupted", error=type(error).__name__)
