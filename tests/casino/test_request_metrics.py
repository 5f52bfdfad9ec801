"""Requests by class of route, status and latency; the processes of a web server together; the line for each request."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from casino import request_metrics
from casino.request_metrics import Measured, route_of


@pytest.mark.parametrize(
    ("method", "path", "route"),
    [
        ("POST", "/api/v1/streams/s/events", "events"),
        ("GET", "/api/v1/streams/s", "api"),
        ("GET", "/api/v1/findings", "api"),
        ("GET", "/admin/audit/finding/", "desk"),
        ("GET", "/health/ready", "health"),
        ("GET", "/metrics", "other"),
        ("PROPFIND", "/nothing/is/here", "other"),
    ],
)
def test_a_request_has_a_class(method: str, path: str, route: str) -> None:
    assert route_of(method, path) == route


def ask(path: str, status: int) -> None:
    """Have a request measured that an application answers with a status."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def nothing(message: Any = None) -> Any:
        return None

    asyncio.run(Measured(answer)({"method": "GET", "path": path}, nothing, nothing))  # type: ignore[arg-type]


def counted(route: str, status: int, name: str = "count", **more: str) -> float:
    registry = CollectorRegistry()
    request_metrics.register(registry)
    labels = {"route": route, "status": str(status), **more}
    return registry.get_sample_value(f"cabochon_request_seconds_{name}", labels) or 0.0


def test_a_request_is_counted_once_by_its_class_its_status_and_how_long_it_took() -> None:
    before = counted("desk", 503), counted("api", 200), counted("api", 200, "bucket", le="5.0")
    ask("/admin/state/", 503)
    ask("/api/v1/findings", 200)
    assert (counted("desk", 503), counted("api", 200)) == (before[0] + 1, before[1] + 1)
    assert counted("api", 200, "bucket", le="5.0") == before[2] + 1


def test_a_line_is_logged_where_it_is_wanted_and_names_no_address_of_the_desk(settings: Any) -> None:
    with capture_logs() as lines:
        ask("/api/v1/findings", 200)
        settings.CABOCHON_ACCESS_LOG = True
        ask("/api/v1/findings", 200)
        ask("/admin/link/a-secret/", 404)
    named = [{key: each[key] for key in ("route", "path", "status") if key in each} for each in lines]
    assert named == [{"route": "api", "path": "/api/v1/findings", "status": 200}, {"route": "desk", "status": 404}]


OBSERVE = "from casino.request_metrics import LATENCY; LATENCY.labels('events', 201).observe(0.02)"
READ = """
from prometheus_client import CollectorRegistry
from casino import request_metrics
registry = CollectorRegistry()
request_metrics.register(registry)
print(registry.get_sample_value("cabochon_request_seconds_count", {"route": "events", "status": "201"}))
"""


def test_whichever_process_is_asked_has_the_requests_of_all(tmp_path: Path) -> None:
    """By files, as ``casino.web`` has its processes write them."""
    environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    shown = [
        subprocess.run([sys.executable, "-c", code], env=environ, check=True, capture_output=True, text=True).stdout
        for code in (OBSERVE, OBSERVE, READ)
    ]
    assert shown[-1] == "2.0\n"
