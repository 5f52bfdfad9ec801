"""Slow clients against the real web server: its threads come free, and other clients are served."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, until

ROOT = Path(__file__).parent.parent.parent
THREADS = 2
HEAD = b"POST /api/v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def port(tmp_path: Path, migrated_url: str) -> Iterator[int]:
    """A web server of one worker with two threads that gives a request two seconds to arrive."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    environment = {
        **ENVIRONMENT,
        "CABOCHON_DATA": str(tmp_path),
        "DATABASE_URL": migrated_url,
        "CELERY_BROKER_URL": "memory://",
        "CABOCHON_BIND": f"127.0.0.1:{port}",
        "CABOCHON_WEB_WORKERS": "1",
        "CABOCHON_WEB_THREADS": str(THREADS),
        "CABOCHON_RECEIVE_S": "2",
    }
    with nothing_left_on(tmp_path):
        command = [sys.executable, "-m", "gunicorn", "casino.wsgi", "--config", "casino/gunicorn.py"]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as server:
            until(lambda: is_ready(f"http://localhost:{port}"), "the web server")
            yield port
            server.terminate()


def send(port: int, beginning: bytes) -> socket.socket:
    """Send the beginning of a request; return the open connection."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(beginning)
    return connection


def answer(connection: socket.socket) -> bytes:
    with connection:
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_slow_heads_and_bodies_are_cut_off_and_delay_no_other_client(port: int) -> None:
    slow = [send(port, HEAD + b"Content-Length: 100\r\nAuthorization: Bearer x\r\n\r\n[{"), send(port, HEAD)]
    slow += [send(port, b"GET / HT"), send(port, HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n[1,")]
    assert len(slow) > THREADS
    # As soon as the server has cut the slow clients off, not when they choose to end.
    until(lambda: is_ready(f"http://localhost:{port}"), "an answer to another client")
    answers = [answer(connection) for connection in slow]
    assert all(each == b"" or each.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")) for each in answers), answers
    assert not any(b" 200 " in each[:20] or b" 201 " in each[:20] for each in answers)


def test_a_body_that_arrives_in_pieces_in_time_is_read_to_its_end(port: int) -> None:
    body = b'[{"stream":"s"}]'
    connection = send(port, HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:5])
    connection.sendall(body[5:])
    assert answer(connection).startswith(b"HTTP/1.1 401")
