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

import pytest

from tests.casino.processes import ENVIRONMENT, is_ready, nothing_left_on, until
from tests.databases import new_database, server_url
from tests.long_forms import in_short

ROOT = Path(__file__).parent.parent.parent
THREADS = 2
HEAD = b"POST /api/v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


PATIENCE_S = 4.0
"""Seconds after which a client of these tests gives up: fewer than the server waits for slow ones."""


@pytest.fixture(scope="module")
def database(migrated_template: str) -> Iterator[str]:
    """A database for every test of this file: none of them writes anything."""
    yield from new_database(server_url(), template=migrated_template)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[int]:
    """A web server of one worker with two threads that gives a request two seconds to arrive."""
    with web_server(tmp_path_factory.mktemp("hasty"), database, receive_s=2) as port:
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
        command = [sys.executable, "-m", "casino.web"]
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
def patient_port(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[int]:
    """A web server of one worker with two threads that gives a request as long as ours in production do."""
    with web_server(tmp_path_factory.mktemp("patient"), database, receive_s=20) as port:
        yield port


@pytest.mark.parametrize("clients", in_short([200, 40], every=2))
@pytest.mark.parametrize("name", in_short(TRICKLING, every=2))
def test_trickling_clients_delay_neither_health_nor_a_table_system(patient_port: int, name: str, clients: int) -> None:
    slow = [send(patient_port, TRICKLING[name]) for _ in range(clients)]
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
                time.sleep(0.05 * (pieces > 1))  # the server looks meanwhile
            assert connection.recv(4096) == GO_ON
            connection.sendall(body[:4])
            time.sleep(0.05 * (pieces > 1))
            connection.sendall(body[4:])
            received = b""
            while b"\r\n\r\n{" not in received:
                received += connection.recv(4096)
            assert received.startswith(b"HTTP/1.1 401"), "told once"


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
        (b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\nConnection: close\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nConnection: close\r\nX: " + b"a" * 10_000 + b"\r\n\r\n", b"431"),
        (b"POST /api/v1/events HTTP/1.1\r\nTransfer-Encoding: other\r\n\r\n", b"400"),
        (b"GET /api/v1/rules HTTP/1.1\r\nHost: local", b"408"),
    ],
)
def test_what_the_web_server_itself_refuses_is_a_problem_document(
    port: int, request_head: bytes, status: bytes
) -> None:
    head, _, body = answer(send(port, request_head)).partition(b"\r\n\r\n")
    assert head.split()[1] == status
    assert b"content-type: application/problem+json" in head.lower()
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (int(status), "malformed")
    assert head.split(b"\r\n")[0].endswith(problem["title"].encode())


def test_five_hundred_idle_connections_stop_nobody(port: int) -> None:
    idle = [send(port, b"") for _ in range(500)]
    try:
        for _ in range(10):
            live = send(port, b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            live.settimeout(PATIENCE_S)
            assert answer(live).startswith(b"HTTP/1.1 200")
    finally:
        for each in idle:
            each.close()


SECOND = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
LINE = b"POST /api/v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n"

SMUGGLED = {
    "a length and chunks": LINE + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": LINE + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": LINE + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "a list of lengths": LINE + b"Content-Length: 0, 5\r\n\r\n",
    "a signed length": LINE + b"Content-Length: +0\r\n\r\n",
    "a negative length": LINE + b"Content-Length: -1\r\n\r\n",
    "a length in hexadecimal": LINE + b"Content-Length: 0x0\r\n\r\n",
    "a length beyond numbers": LINE + b"Content-Length: 99999999999999999999\r\n\r\n",
    "a coding that only ends so": LINE + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a coding after chunks": LINE + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a space before the colon": LINE + b"Content-Length : 0\r\n\r\n",
    "a folded header": LINE + b"X: a\r\n Content-Length: 0\r\n\r\n",
    "a NUL": LINE + b"X: a\0b\r\n\r\n",
    "a bare carriage return": LINE + b"X: a\rb\r\n\r\n",
    "a chunk of no size": LINE + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n",
    "a chunk of a negative size": LINE + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n[]\r\n0\r\n\r\n",
    "a chunk longer than its size": LINE + b"Transfer-Encoding: chunked\r\n\r\n1\r\n[]\r\n0\r\n\r\n",
    "a chunk of a size beyond numbers": LINE + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n[]",
    "no protocol": b"GET /health/live HTTP/7.7\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", SMUGGLED.values(), ids=SMUGGLED.keys())
def test_what_another_server_might_read_otherwise_is_refused_and_nothing_behind_it_is_read(
    port: int, request_bytes: bytes
) -> None:
    connection = send(port, request_bytes + SECOND)
    connection.settimeout(PATIENCE_S)
    received = answer(connection)
    assert received.startswith(b"HTTP/1.1 4")
    assert received.count(b"HTTP/1.1 ") == 1
    assert b" 200 OK" not in received


def test_two_hosts_are_no_host(port: int) -> None:
    received = answer(send(port, LINE + b"Host: other\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
    assert received.startswith(b"HTTP/1.1 400")


def test_a_header_with_an_underscore_is_not_the_one_with_a_hyphen(port: int) -> None:
    head = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    # No id that the server makes has these letters: it is hexadecimal.
    assert b"x-request-id: xyz\r\n" in answer(send(port, head + b"X-Request-ID: xyz\r\n\r\n"))
    assert b"xyz" not in answer(send(port, head + b"X_Request_ID: xyz\r\n\r\n"))


@pytest.mark.faults
def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_its_chunks(port: int) -> None:
    """After who sends it: nobody reads the body of somebody without a key."""
    for framing in (b"Content-Length: 3000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"):
        connection = send(port, HEAD + framing)
        for _ in range(50):  # more than the length says: what comes after a body is no HTTP
            connection.sendall(b"%x\r\n" % 65_536 + b"x" * 65_536 + b"\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 401")
