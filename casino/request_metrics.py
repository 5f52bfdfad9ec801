"""Requests by class of route, status and latency; and, where it is wanted, a line of the log for each.

    request ─► Measured ─► Application ─► the first byte of the answer: one observation, one line

The processes of a web server add to files in ``PROMETHEUS_MULTIPROC_DIR``, which ``casino.web`` makes before it starts
them, so that whichever answers ``/metrics`` has the requests of all. Another web server has its own.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import structlog
from django.conf import settings
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.values import ValueClass

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the histogram's buckets, in seconds."""

ROUTES = (("/api/", "api"), ("/admin/", "desk"), ("/health/", "health"))
"""The class of a request by the beginning of its address; one that records events is ``events``, the rest ``other``."""

LATENCY = Histogram(
    *("cabochon_request_seconds", "Requests by class of route and status: seconds to the beginning of the answer"),
    labelnames=["route", "status"],
    buckets=SECONDS,
    registry=None,
)

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

log = structlog.get_logger(__name__)


def route_of(method: str, path: str) -> str:
    """Return the class of a request."""
    if method == "POST" and path.startswith("/api/v1/streams/"):
        return "events"
    return next((route for beginning, route in ROUTES if path.startswith(beginning)), "other")


def register(registry: CollectorRegistry) -> None:
    """Add the requests of all processes of this web server to what is collected; of this one if it is the only one."""
    if ValueClass.__name__ == "MmapedValue":
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(LATENCY)


class Measured:
    """An ASGI application that measures the requests of another, and logs them with ``CABOCHON_ACCESS_LOG``."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began_at = time.perf_counter()
        method, path = scope["method"], scope["path"]

        async def measured(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                route, status, taken_s = route_of(method, path), message["status"], time.perf_counter() - began_at
                LATENCY.labels(route, status).observe(taken_s)
                if settings.CABOCHON_ACCESS_LOG:
                    # The addresses of the desk name persons, and links to accounts are secrets.
                    at = {"path": path} if path.startswith("/api/") else {}
                    log.info("request", method=method, route=route, **at, status=status, seconds=round(taken_s, 4))
            await send(message)

        await self._application(scope, receive, measured)
