"""More connections than a web server has files: those whose clients send nothing keep nobody out.

The application is a line of ASGI; the server is ours, one worker with 256 open files.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.casino.processes import ENVIRONMENT, until

ROOT = Path(__file__).parents[2]
FILES = 256
IDLE = 600
IDLE_IN_SHORT = 300
PATIENCE_S = 4.0
"""Seconds after which a client gives up: fewer than the server waits for one that sends nothing."""

APPLICATION = """
async def application(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"one"})
"""
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
IN_BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1234"


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "waiting_application.py").write_text(APPLICATION)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    environment = {
        **ENVIRONMENT,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
        "CABOCHON_BIND": f"127.0.0.1:{port}",
        "CABOCHON_WEB_WORKERS": "1",
    }
    limited = ["prlimit", f"--nofile={FILES}:{FILES}", sys.executable, "-m", "casino.web"]
    with subprocess.Popen([*limited, "waiting_application:application"], cwd=tmp_path, env=environment) as server:
        try:
            until(lambda: asks(port), "an answer")
            yield port
        finally:
            server.terminate()


def connected(port: int, beginning: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    with suppress(ConnectionError):  # it may be closed by now: others came after it
        connection.sendall(beginning)
    return connection


def is_answered(connection: socket.socket) -> bool:
    """Ask once, and return whether there is an answer."""
    received = b""
    with suppress(OSError):
        connection.sendall(REQUEST)
        while not received.endswith(b"one") and (part := connection.recv(65_536)):
            received += part
    return received.startswith(b"HTTP/1.1 200")


def asks(port: int) -> bool:
    try:
        with connected(port, b"") as connection:
            return is_answered(connection)
    except OSError:
        return False


WAITING = {
    "nothing": b"",
    "a head": REQUEST[:9],
    "an answer": REQUEST,
    "a body": IN_BODY,
    "no HTTP": b"NONSENSE\r\n\r\n",
}


@pytest.mark.parametrize(
    "beginning, number",
    [pytest.param(beginning, IDLE, id=name, marks=[pytest.mark.faults]) for name, beginning in WAITING.items()]
    + [pytest.param(b"", IDLE_IN_SHORT, id="nothing, in short")],
)
def test_more_connections_that_wait_than_files_stop_nobody(port: int, beginning: bytes, number: int) -> None:
    with ExitStack() as opened:
        for _ in range(number):
            opened.enter_context(connected(port, beginning))
        for _ in range(5):
            own = opened.enter_context(connected(port, b""))
            assert is_answered(own)
            assert is_answered(own), "it is kept: others have waited longer"


@pytest.mark.faults
def test_who_has_waited_longest_is_closed_and_nobody_while_there_is_room(port: int) -> None:
    with ExitStack() as opened:
        kept = [opened.enter_context(connected(port, b"")) for _ in range(FILES // 2 - 8)]
        assert all(is_answered(each) for each in kept)
        assert all(is_answered(each) for each in kept), "there is room for these"
        used = kept[0]
        for number in range(IDLE):
            opened.enter_context(connected(port, b""))
            if number % 50 == 0:
                assert is_answered(used), "who has asked since then has not waited longest"
        assert kept[1].recv(65_536) == b""
