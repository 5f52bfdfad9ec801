"""Slow clients against the real web server: its threads come free, and other clients are served."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from casino.web_connection import Connection
from casino.web_worker import Worker
from gunicorn.config import Config
from gunicorn.workers.gthread import ThreadWorker
from structlog.contextvars import bound_contextvars, get_contextvars

from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, until
from tests.databases import new_database, server_url

ROOT = Path(__file__).parent.parent.parent
THREADS = 2
HEAD = b"POST /api/v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


PATIENCE_S = 4.0
"""Seconds after which a client of these tests gives up: fewer than the server waits for slow ones."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[int]:
    """A web server of one worker with two threads that gives a request two seconds to arrive."""
    yield from of_all_tests(tmp_path_factory.mktemp("hasty"), migrated_template, receive_s=2)


def of_all_tests(data: Path, template: str, *, receive_s: int) -> Iterator[int]:
    """Run a web server on a database of its own for every test of this file: none of them writes anything."""
    for url in new_database(server_url(), template=template):
        with web_server(data, url, receive_s=receive_s) as port:
            yield port


@contextmanager
def web_server(data: Path, url: str, *, receive_s: int) -> Iterator[int]:
    """Run a web server on a database; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    environment = {
        **ENVIRONMENT,
        "CABOCHON_DATA": str(data),
        "DATABASE_URL": url,
        "CELERY_BROKER_URL": "memory://",
        "CABOCHON_BIND": f"127.0.0.1:{port}",
        "CABOCHON_WEB_WORKERS": "1",
        "CABOCHON_WEB_THREADS": str(THREADS),
        "CABOCHON_RECEIVE_S": str(receive_s),
    }
    with nothing_left_on(data):
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


TRICKLING = {
    "nothing": b"",
    "heads": HEAD,
    "bodies": HEAD + b"Content-Length: 100\r\nAuthorization: Bearer x\r\n\r\n[{",
    "chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n[1,",
    "large bodies": HEAD + b"Content-Length: 9000000\r\n\r\n[",
    "heads after a request": b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea",
}


@pytest.fixture(scope="module")
def patient_port(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[int]:
    """A web server of one worker with two threads that gives a request as long as ours in production do."""
    yield from of_all_tests(tmp_path_factory.mktemp("patient"), migrated_template, receive_s=20)


@pytest.mark.parametrize("clients", [40, 200])
@pytest.mark.parametrize("beginning", TRICKLING.values(), ids=TRICKLING.keys())
def test_trickling_clients_delay_neither_health_nor_a_table_system(
    patient_port: int, beginning: bytes, clients: int
) -> None:
    slow = [send(patient_port, beginning) for _ in range(clients)]
    trickle = threading.Event()

    def drip() -> None:
        while not trickle.wait(0.5):
            for connection in slow:
                with suppress(OSError):
                    connection.send(b"x", socket.MSG_DONTWAIT)

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        for _ in range(5):
            live = send(patient_port, b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            live.settimeout(PATIENCE_S)
            assert answer(live).startswith(b"HTTP/1.1 200")
            body = b'[{"stream":"s"}]'
            head = HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            table = send(patient_port, head + body)
            table.settimeout(PATIENCE_S)
            assert answer(table).startswith(b"HTTP/1.1 401")
    finally:
        trickle.set()
        dripping.join()
        for connection in slow:
            connection.close()


def test_a_head_and_a_body_in_pieces_are_read_and_their_connection_is_kept(port: int) -> None:
    body = b'[{"stream":"s"}]'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(2):
            for at in range(0, len(request), 40):
                connection.sendall(request[at : at + 40])
                time.sleep(0.02)
            received = b""
            while b"\r\n\r\n{" not in received:
                received += connection.recv(4096)
            assert received.startswith(b"HTTP/1.1 401")
        connection.sendall(request * 3)  # in one piece: three requests, three answers
        while received.count(b"HTTP/1.1 401") < 4:
            received += connection.recv(4096)


GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_a_client_that_asks_whether_to_continue_is_told_so(port: int, pieces: int) -> None:
    """Told once: whether its head arrives at once, after the server has first looked, or in two pieces after that."""
    body = b'[{"stream":"s"}]'
    head = HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        for _ in range(2):
            for piece in {1: [head], 2: [b"", head], 3: [b"", head[:70], head[70:]]}[pieces]:
                connection.sendall(piece)
                time.sleep(0.2 * (pieces > 1))  # the server looks meanwhile
            assert connection.recv(4096) == GO_ON
            connection.sendall(body[:4])
            time.sleep(0.2 * (pieces > 1))
            connection.sendall(body[4:])
            received = b""
            while b"\r\n\r\n{" not in received:
                received += connection.recv(4096)
            assert received.removeprefix(GO_ON).startswith(b"HTTP/1.1 401")  # gunicorn says it once more


def test_a_large_body_that_arrives_in_time_is_read(port: int) -> None:
    body = b"[" + b" " * 1_000_000 + b"]"
    connection = send(port, HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
    connection.sendall(body)
    assert answer(connection).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "request_head, status",
    [
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"GET /api/v1/rules HTTP/1.1\r\nBad Header: 1\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 10_000 + b"\r\n\r\n", b"431"),
        (b"POST /api/v1/events HTTP/1.1\r\nTransfer-Encoding: other\r\n\r\n", b"501"),
        (b"GET /api/v1/rules HTTP/1.1\r\nHost: local", b"408"),
    ],
)
def test_what_the_web_server_itself_refuses_is_a_problem_document(
    port: int, request_head: bytes, status: bytes
) -> None:
    head, _, body = answer(send(port, request_head)).partition(b"\r\n\r\n")
    assert head.split()[1] == status
    assert b"Content-Type: application/problem+json" in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (int(status), "malformed")
    assert head.split(b"\r\n")[0].endswith(problem["title"].encode())


def test_what_was_no_request_is_logged_without_the_request_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    logged_with: list[dict[str, Any]] = []
    monkeypatch.setattr(ThreadWorker, "handle_error", lambda *_: logged_with.append(get_contextvars()))
    worker = object.__new__(Worker)
    with bound_contextvars(request_id="before"), socket.socket() as client:
        worker.handle_error(object(), client, None, ValueError())  # a request that failed
        worker.handle_error(None, client, None, ValueError())
    assert logged_with == [{"request_id": "before"}, {}]


class _Parser:
    """Stands for gunicorn's: notes how long it is given to drop the rest of a body."""

    given_s = 0.0

    def finish_body(self, *, deadline: float) -> bool:
        self.given_s = deadline - time.monotonic()
        return self.given_s > 0


@pytest.mark.parametrize(
    ("request_bytes", "is_whole"),
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", True),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]", True),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n[]", False),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n", False),
    ],
)
def test_a_connection_of_a_whole_request_is_kept_however_busy_the_machine_is(
    request_bytes: bytes, is_whole: bool
) -> None:
    """The answer has promised it: a client that sends its next request on it would otherwise lose it."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        taken, address = listener.accept()
        with taken:
            connection = Connection(Config(), taken, address, listener.getsockname(), linger=lambda each: None)
            client.sendall(request_bytes)
            taken.recv(1, socket.MSG_PEEK)
            assert connection.lacks() == 0
            assert connection.is_whole == is_whole
            connection.parser = parser = _Parser()
            assert Worker._keepalive_after(None, connection, True)  # type: ignore[arg-type]
            assert parser.given_s > 1 if is_whole else parser.given_s < 0.1
            assert not Worker._keepalive_after(None, connection, False)  # type: ignore[arg-type]
