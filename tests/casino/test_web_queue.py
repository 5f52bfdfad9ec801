"""The queue of the real web server: clients that send one event after another, on kept connections.

Under the least roles: the server's account is that of the tests, and its database refuses what it may not do.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import psutil
import pytest
from django.utils.datastructures import CaseInsensitiveMapping

from audit.api.recording import KEY_CACHE_S, Answer, Plain
from casino import asgi
from casino.asgi import Queue
from casino.web import LINGER_S
from tests.casino.processes import runs, until
from tests.client.record import CASINO, Record, record

DAY = datetime.now(UTC).date().isoformat()
CLIENTS = 6


class Client:
    """A table system with one connection and one stream, which it opens."""

    def __init__(self, on: Record, name: str, key: str = "") -> None:
        self.record, self.stream, self.key = on, f"{CASINO}.queue.{name}", key or on.key
        self.seq = 1
        self.receipts: list[dict[str, Any]] = []
        self.connect()
        opener = {
            "casino": CASINO, "table": "T1", "gaming_day": DAY, "game": "craps", "ruleset": "fr-craps",
            "currency": "EUR", "float": 1, "observes": [],
        }  # fmt: skip
        assert self.send(self.event("session.opened", **opener))[0] == 201

    def connect(self) -> None:
        self.connection = socket.create_connection(("127.0.0.1", self.record.port), timeout=30)
        self.answers = self.connection.makefile("rb")

    def event(self, type: str = "no_more_bets", **data: Any) -> dict[str, Any]:
        """Return the next event."""
        occurred_at = f"{DAY}T12:00:00+00:00"
        return {"stream": self.stream, "seq": self.seq, "type": type, "occurred_at": occurred_at, "data": data}

    def request(self, *events: dict[str, Any]) -> bytes:
        body = json.dumps(events).encode()
        return (
            f"POST /api/v1/streams/{self.stream}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer"
            f" {self.key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body

    def send(self, *events: dict[str, Any]) -> tuple[int, Mapping[str, str], Any]:
        """Send a request; return the answer, and keep its receipt."""
        self.connection.sendall(self.request(*events))
        return self.answer()

    def answer(self) -> tuple[int, Mapping[str, str], Any]:
        first = self.answers.readline()
        if not first:
            raise ConnectionError("closed without an answer")
        lines = iter(self.answers.readline, b"\r\n")
        headers = CaseInsensitiveMapping(line.decode().rstrip().split(": ", 1) for line in lines)
        raw = self.answers.read(int(headers["Content-Length"]))
        if len(raw) < int(headers["Content-Length"]):
            raise ConnectionError("closed in the middle of an answer")
        content = json.loads(raw)
        if first.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            self.receipts.append(content)
            self.seq = content["next_seq"]
        return int(first.split()[1]), headers, content

    def play(self, events: int) -> None:
        for _ in range(events):
            assert self.send(self.event())[0] == 201


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[Record]:
    with record(
        tmp_path_factory.mktemp("queue"),
        migrated_template,
        CABOCHON_RATE="1000000/min",
        CABOCHON_PROCESSOR_BURST_S="1e9",
    ) as running:
        yield running


@pytest.fixture
def clients(server: Record, request: pytest.FixtureRequest) -> list[Client]:
    """Clients whose keys and heads the server knows."""
    connected = [Client(server, f"{request.node.name[:60]}.{number}") for number in range(CLIENTS)]
    for each in connected:
        each.play(4)
    return connected


def at_once(clients: list[Client], events: int) -> None:
    """Have every client send so many events, all of them at the same time."""
    threads = [threading.Thread(target=each.play, args=(events,)) for each in clients]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def transactions(on: Record, streams: list[str]) -> tuple[int, int]:
    """Return how many batches streams have, and how many transactions have stored them."""
    counts = "select count(*), count(distinct b.xmin::text) from log.batch b join log.stream s using (stream_id)"
    [(batches, stored_by)] = on.query(f"{counts} where s.name = any(%s)", streams)
    return batches, stored_by


def test_what_comes_at_once_is_stored_together_and_each_has_its_own_receipt(
    server: Record, clients: list[Client]
) -> None:
    at_once(clients, 40)
    batches, stored_by = transactions(server, [each.stream for each in clients])
    assert batches == CLIENTS * 45
    assert stored_by < batches, "some were stored in one transaction"
    for each in clients:
        assert [receipt["first_seq"] for receipt in each.receipts] == list(range(1, 46))
        assert {receipt["stream"] for receipt in each.receipts} == {each.stream}
        assert [seq for seq, _ in server.stored(each.stream)] == list(range(1, 46))


def test_its_answers_have_the_headers_of_any_other(clients: list[Client]) -> None:
    client = clients[0]
    _, together, _ = client.send(client.event())
    first, second = client.event(), {**client.event(), "seq": client.seq + 1}
    _, alone, _ = client.send(first, second)  # two events go another way
    varying = ("date", "x-request-id", "ratelimit-remaining", "ratelimit-reset", "content-length")
    assert together.keys() == alone.keys()
    assert {name: value for name, value in together.items() if name not in varying} == {
        name: value for name, value in alone.items() if name not in varying
    }
    assert together["X-Request-ID"] != alone["X-Request-ID"]


def test_what_is_refused_is_refused_in_its_turn_and_the_next_one_is_stored(clients: list[Client]) -> None:
    bad, *good = clients
    thread = threading.Thread(target=at_once, args=(good, 30))
    thread.start()
    for _ in range(10):
        gap = {**bad.event(), "seq": bad.seq + 1}
        status, _, problem = bad.send(gap)
        assert (status, problem["code"], problem["next_seq"]) == (409, "gap", bad.seq)
        bad.play(3)
    thread.join()
    assert [len(each.receipts) for each in clients] == [35, *[35] * len(good)]


def test_a_request_in_pieces_and_several_in_one_piece_are_answered_in_order(clients: list[Client]) -> None:
    client = clients[0]
    for cut in (1, 30, 200, -1):
        request = client.request(client.event())
        client.connection.sendall(request[:cut])
        clients[1].play(2)  # the server has seen the part by then
        client.connection.sendall(request[cut:])
        assert client.answer()[0] == 201
        client.play(3)
    seq = client.seq
    several = [{**client.event(), "seq": seq + number} for number in range(5)]
    client.connection.sendall(b"".join(client.request(each) for each in several))
    assert [client.answer()[2]["first_seq"] for _ in several] == list(range(seq, seq + 5))
    client.play(3)
    for each in [{**client.event(), "seq": client.seq + number} for number in range(5)]:
        client.connection.sendall(client.request(each))  # none waits for its answer
    assert [client.answer()[0] for _ in range(5)] == [201] * 5


def test_another_head_on_the_same_connection_is_another_request(server: Record, clients: list[Client]) -> None:
    client, other = clients[:2]
    body = json.dumps([other.event()]).encode()
    head = client.request(client.event()).partition(b"Authorization")[0]
    client.connection.sendall(
        head + b"Authorization: Bearer cab_" + b"0" * 12 + b"_" + b"x" * 43
        + b"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )  # fmt: skip
    assert client.answer()[0] == 401
    client.stream, own = other.stream, client.stream
    client.seq, seq = other.seq, client.seq
    client.play(1)
    client.stream, client.seq = own, seq
    client.play(2)
    assert len(server.stored(other.stream)) == 6


def test_a_server_that_is_killed_has_stored_all_it_has_answered_and_the_same_again_is_the_same_receipt(
    server: Record, clients: list[Client]
) -> None:
    unanswered: dict[str, dict[str, Any]] = {}

    def play_on(client: Client) -> None:
        while client.stream not in unanswered:
            event = client.event()
            try:
                client.send(event)
            except OSError:
                unanswered[client.stream] = event

    threads = [threading.Thread(target=play_on, args=(each,)) for each in clients]
    for each in threads:
        each.start()
    clients[0].record.query("select pg_sleep(0.3)")
    server.kill("web")
    for each in threads:
        each.join()
    server.start_web()
    for client in clients:
        received = {receipt["first_seq"]: receipt for receipt in client.receipts}
        stored = [seq for seq, _ in server.stored(client.stream)]
        assert stored == list(range(1, len(stored) + 1))
        assert set(received) <= set(stored), "no receipt without a commit"
        client.connect()
        last = unanswered[client.stream]
        status, _, receipt = client.send(last)
        assert (status, receipt["first_seq"]) == (200 if last["seq"] in stored else 201, last["seq"])
        assert client.send(last)[2] == receipt
        seq = max(received)
        [event] = [json.loads(envelope) for number, envelope in server.stored(client.stream) if number == seq]
        assert client.send(event)[2] == received[seq]


def test_a_server_that_ends_answers_what_it_has(server: Record, clients: list[Client]) -> None:
    closed: list[int] = []

    def play_on(client: Client) -> None:
        try:
            while True:
                client.play(1)
        except OSError:
            closed.append(client.seq)

    threads = [threading.Thread(target=play_on, args=(each,)) for each in clients]
    for each in threads:
        each.start()
    process = server.processes.pop("web")
    psutil.Process(process.pid).terminate()
    assert process.wait(60) == 0
    for each in threads:
        each.join()
    server.start_web()
    for client in clients:
        assert len(server.stored(client.stream)) == len(client.receipts), "what is stored was answered"


def test_a_key_that_is_revoked_is_refused_within_a_second(server: Record) -> None:
    key = server.spare_key
    client = Client(server, "revoked", key)
    client.play(3)
    server.query("update audit_apikey set revoked_at = now() where prefix = %s returning id", key.split("_")[1])
    revoked_at = time.monotonic()
    while client.send(client.event())[0] == 201:
        assert time.monotonic() < revoked_at + 3 * KEY_CACHE_S, "a second, and what a busy machine takes"
    assert client.send(client.event())[0] == 401


def test_a_database_that_cuts_every_connection_under_load_loses_nothing_that_was_acknowledged(
    server: Record, clients: list[Client]
) -> None:
    """As when PostgreSQL is restarted: what is refused meanwhile (503) is sent again."""
    refused: list[int] = []

    def play_on(client: Client) -> None:
        goal = client.seq + 60
        while client.seq < goal:
            status, _, _ = client.send(client.event())
            if status not in (200, 201):
                refused.append(status)

    threads = [threading.Thread(target=play_on, args=(each,)) for each in clients]
    for each in threads:
        each.start()
    while any(each.is_alive() for each in threads):
        server.query(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        time.sleep(0.3)
    assert set(refused) <= {503}
    for client in clients:
        assert [seq for seq, _ in server.stored(client.stream)] == list(range(1, client.seq))
        last = client.receipts[-1]
        [event] = [json.loads(raw) for seq, raw in server.stored(client.stream) if seq == client.seq - 1]
        assert client.send(event)[2] == last


@pytest.mark.faults
def test_a_reload_under_load_loses_no_request_and_does_not_cut_a_held_stream_at_once(
    server: Record, clients: list[Client]
) -> None:
    stream = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    stream.sendall(
        f"GET /api/v1/findings/feed?after=now HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {server.key}\r\n"
        "Accept: text/event-stream\r\n\r\n".encode()
    )
    received = b""
    while b"retry: 2000" not in received:
        received += stream.recv(4096)
    main = psutil.Process(server.processes["web"].pid)
    [old] = main.children()
    is_over = threading.Event()
    failed: list[str] = []

    def play_on(client: Client) -> None:
        while not is_over.is_set():
            try:
                status, headers, _ = client.send(client.event())
            except OSError as error:
                failed.append(repr(error))
                return
            if status != 201:
                failed.append(str(status))
            if headers.get("Connection") == "close":
                client.connect()

    threads = [threading.Thread(target=play_on, args=(each,)) for each in clients]
    for each in threads:
        each.start()
    main.send_signal(signal.SIGHUP)
    until(lambda: len(main.children()) == 2, "a new worker beside the old")
    until(lambda: _takes_no_connection(old, server.port), "the old one to take no connection")
    stream.settimeout(0.5)
    held_until = time.monotonic() + LINGER_S + 2
    while time.monotonic() < held_until:
        with suppress(TimeoutError):
            assert stream.recv(4096), "cut at once"
    until(lambda: not runs(old), "the end of the old one")
    is_over.set()
    for each in threads:
        each.join()
    assert failed == []
    stream.settimeout(30)
    while stream.recv(4096):
        pass
    for client in clients:
        assert len(server.stored(client.stream)) == len(client.receipts), "what is stored was answered"


def _takes_no_connection(process: psutil.Process, port: int) -> bool:
    return not any(
        each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in process.net_connections("tcp")
    )


def test_a_queue_that_waits_for_the_database_takes_no_more_and_gives_back_what_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asgi, "STUCK_S", 0.2)
    has_begun, go_on = threading.Event(), threading.Event()
    answered = Answer(b"", [])

    def hang(requests: list[Any]) -> list[Answer | None]:
        has_begun.set()
        go_on.wait(30)
        return [answered] * len(requests)

    async def play() -> None:
        with ThreadPoolExecutor(1) as thread:
            queue, plain = Queue(hang, thread), Plain("s", {})
            first = asyncio.create_task(queue.put(plain, b"[]"))
            await asyncio.to_thread(has_begun.wait, 30)
            second = asyncio.create_task(queue.put(plain, b"[]"))
            assert await second is None, "given back"
            assert await queue.put(plain, b"[]") is None, "not taken"
            go_on.set()
            assert await first is answered
            assert await queue.put(plain, b"[]") is answered, "taken again"

    asyncio.run(play())


def test_what_fails_all_at_once_is_left_to_django() -> None:
    def fail(requests: list[Any]) -> list[Answer | None]:
        raise RuntimeError

    async def play() -> None:
        with ThreadPoolExecutor(1) as thread:
            queue = Queue(fail, thread)
            assert await asyncio.gather(*[queue.put(Plain("s", {}), b"[]") for _ in range(3)]) == [None] * 3

    asyncio.run(play())


@pytest.mark.parametrize(("gather_s", "sizes"), [(60.0, [3, 3, 3]), (0.0, [3, 1, 2])], ids=["in time", "late"])
def test_what_comes_again_waits_for_the_others_of_the_last_time(
    monkeypatch: pytest.MonkeyPatch, gather_s: float, sizes: list[int]
) -> None:
    monkeypatch.setattr(asgi, "GATHER_S", gather_s)
    stored, release = list[int](), threading.Event()

    def store(requests: list[Any]) -> list[Answer | None]:
        stored.append(len(requests))
        if stored == [3, 1]:
            release.wait(30)
        return [Answer(b"", [])] * len(requests)

    async def play() -> None:
        with ThreadPoolExecutor(1) as thread:
            queue = Queue(store, thread)

            async def send() -> Answer | None:
                return await queue.put(Plain("s", {}), b"[]")

            await asyncio.gather(send(), send(), send())
            first = asyncio.create_task(send())
            for _ in range(1_000):  # turns of the loop, in which the first would be taken
                await asyncio.sleep(0)
            while gather_s == 0.0 and len(stored) < 2:
                await asyncio.sleep(0.001)
            others = [asyncio.create_task(send()) for _ in range(2)]
            await asyncio.sleep(0)
            release.set()
            await asyncio.gather(first, *others)
            if gather_s:
                await asyncio.gather(send(), send(), send())

    asyncio.run(play())
    assert stored == sizes
