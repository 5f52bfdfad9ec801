"""Posting: every batch is sent until it is stored, unless the API refuses it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from audit.simulation import posting
from audit.simulation.posting import Post, PostRejected

EVENTS: list[dict[str, Any]] = [{"stream": "s", "seq": 1, "type": "no_more_bets"}, {"stream": "s", "seq": 2}]


class _Answers(BaseHTTPRequestHandler):
    """Answers with the next status of the server's list, or closes the connection on None."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        status = self.server.answers.pop(0)  # type: ignore[attr-defined]
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        if status in (429, 503):
            self.send_header("Retry-After", self.server.retry_after)  # type: ignore[attr-defined]
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[Any]:
    server: Any = HTTPServer(("127.0.0.1", 0), _Answers)
    server.answers, server.requests, server.retry_after = [], [], "0"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were to be waited, one after the other: nobody waits them."""
    found: list[float] = []
    monkeypatch.setattr(posting, "time", SimpleNamespace(monotonic=time.monotonic, sleep=found.append))
    return found


def post_to(server: Any) -> Post:
    return Post(f"http://127.0.0.1:{server.server_port}", "cab_x_y")


@pytest.mark.parametrize("answers", [[201], [200], [429, 201], [503, 503, 201], [None, 201]], ids=str)
def test_a_batch_is_sent_until_it_is_stored(server: Any, waits: list[float], answers: list[int | None]) -> None:
    server.answers = list(answers)
    post = post_to(server)
    post.send("s", EVENTS)
    post.close()
    assert len(server.requests) == len(answers)
    path, headers, body = server.requests[-1]
    assert path == "/api/v1/streams/s/events"
    assert headers["Authorization"] == "Bearer cab_x_y"
    assert [json.loads(line) for line in body.splitlines()] == EVENTS
    assert waits == [0.5 if answer is None else 0 for answer in answers[:-1]]
    assert len({sent for _path, _headers, sent in server.requests}) == 1, "every try sends the same bytes"


def test_a_retry_after_that_names_a_date_is_understood(server: Any, waits: list[float]) -> None:
    server.answers, server.retry_after = [503, 201], "Thu, 19 Nov 2026 20:00:00 GMT"
    post = post_to(server)
    post.send("s", EVENTS)
    post.close()
    assert len(server.requests) == 2
    assert waits == [1]


@pytest.mark.parametrize("status", [401, 403, 409, 413, 422])
def test_a_refused_batch_is_not_sent_again(server: Any, status: int) -> None:
    server.answers = [status]
    post = post_to(server)
    with pytest.raises(PostRejected, match=f"s: {status} "):
        post.send("s", EVENTS)
    post.close()
    assert len(server.requests) == 1
