"""What Django's middleware says to a request to record events whose head has a certain kind.

The queue (``recording.py``) answers such a request without Django, and has to answer with the same headers, and only
where Django would not refuse: another host, HTTPS alone, a media type that there is none of. That policy has one place,
the middleware in the settings and the view ``StreamEvents``. So the queue asks them, once for each kind of head, by a
request that stores nothing: everything of it is the real one's but the view, which answers 201 and does no more.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, TypeAlias

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from audit.api.events import StreamEvents
from audit.ingest.bodies import JSON

Headers: TypeAlias = list[tuple[bytes, bytes]]

HEADERS = (
    b"host",
    b"x-forwarded-host",
    b"x-forwarded-port",
    b"x-forwarded-proto",
    b"accept",
    b"accept-language",
    b"origin",
)
"""What of a head, apart from its address, key and body, the answer depends on."""

MAX_KINDS = 100
"""Most kinds of head whose answer is remembered; then they are asked anew."""

_CONTENT = {"recorded": [1]}
_COMPACT = b'{"recorded":[1]}'


class Policy:
    """Asks Django, and remembers."""

    def __init__(self) -> None:
        self._django = WSGIHandler()
        self.known: dict[tuple[Any, ...], Headers | None] = {}

    def ask(self, kind: tuple[Any, ...]) -> Headers | None:
        """Return the headers of the answer to a head of a kind, None if Django answers it itself.

        ``kind`` is the scheme, the server's name and port, and the values of ``HEADERS``, None for none.
        """
        scheme, (name, port), *values = kind
        meta = {
            f"HTTP_{each.decode().upper().replace('-', '_')}": value.decode("latin-1")
            for each, value in zip(HEADERS, values, strict=True)
            if value is not None
        }
        headers = self._ask({"wsgi.url_scheme": scheme, "SERVER_NAME": name, "SERVER_PORT": str(port), **meta})
        if len(self.known) >= MAX_KINDS:
            self.known.clear()
        self.known[kind] = headers
        return headers

    def _ask(self, meta: Mapping[str, Any]) -> Headers | None:
        request = WSGIRequest(
            {
                "REQUEST_METHOD": "POST",
                "PATH_INFO": "/api/v1/streams/any/events",
                "CONTENT_TYPE": JSON,
                "CONTENT_LENGTH": "2",
                "wsgi.input": io.BytesIO(b"[]"),
                **meta,
            }
        )
        request.urlconf = __name__  # which Django's handler looks for
        response = self._django.get_response(request)
        if response.status_code != 201 or not isinstance(response, HttpResponse) or response.content != _COMPACT:
            return None
        return [
            (key.lower().encode("latin-1"), value.encode("latin-1"))
            for key, value in response.items()
            if key != "Content-Length"
        ]


class _Recorded(StreamEvents):
    """The view that records, without key, rate and record."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def get_throttles(self) -> list[BaseThrottle]:
        return []

    def post(self, request: Request, stream: str) -> Response:
        return Response(_CONTENT, status=201)


urlpatterns = [path("api/v1/streams/<str:stream>/events", _Recorded.as_view())]
