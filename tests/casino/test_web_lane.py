"""The lane of the real web server: clients that send one event after another, on kept connections.

Under the least roles: the server's account is that of the tests, and its database refuses what it may not do.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psutil
import pytest
from casino.web_lane import Lane, template_of

from tests.client.record import CASINO, Record, record

DAY = datetime.now(UTC).date().isoformat()
CLIENTS = 6


class Client:
    """A table system with one connection and one stream, which it opens."""

    def __init__(self, on: Record, name: str) -> None:
        self.record, self.stream = on, f"{CASINO}.lane.{name}"
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
            f" {self.record.key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body

    def send(self, *events: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        """Send a request; return the answer, and keep its receipt."""
        self.connection.sendall(self.request(*events))
        return self.answer()

    def answer(self) -> tuple[int, dict[str, str], Any]:
        first = self.answers.readline()
        if not first:
            raise ConnectionError("closed without an answer")
        headers = dict(line.decode().rstrip().split(": ", 1) for line in iter(self.answers.readline, b"\r\n"))
        content = json.loads(self.answers.read(int(headers["Content-Length"])))
        if first.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            self.receipts.append(content)
            self.seq = content["next_seq"]
        return int(first.split()[1]), headers, content

    def play(self, events: int) -> None:
        for _ in range(events):
            assert self.send(self.event())[0] == 201


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_template: str) -> Iterator[Record]:
    with record(tmp_path_factory.mktemp("lane"), migrated_template) as running:
        yield running


@pytest.fixture
def clients(server: Record, request: pytest.FixtureRequest) -> list[Client]:
    """Clients whose heads the server knows: they are in the lane."""
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
    varying = ("Date", "X-Request-ID", "RateLimit-Remaining", "RateLimit-Reset", "Content-Length")
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
    clients[0].record.query("select pg_sleep(1)")
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


HEAD = b"POST /api/v1/streams/s/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nContent-Length: 2\r\n\r\n"


class _Usual:
    stream = "s"


class _From:
    client = ("192.0.2.1", 1)


def lane() -> Lane:
    opened = Lane(lambda requests: [None] * len(requests), leave=print, lose=print, resume=print)
    known = template_of("192.0.2.1", HEAD)
    assert known is not None
    opened.learn(known[0], _Usual())
    return opened


def test_only_the_length_of_a_head_may_differ() -> None:
    waiting = lane().known(_From(), HEAD + b"[]")
    assert waiting is not None
    assert waiting.body == b"[]"
    longer = lane().known(_From(), HEAD.replace(b": 2\r", b": 4\r") + b"[{}]")
    assert longer is not None
    assert longer.body == b"[{}]"
    for index in range(len(HEAD)):
        other = HEAD[:index] + bytes([HEAD[index] ^ 1]) + HEAD[index + 1 :]
        found = lane().known(_From(), other + b"[]")
        assert found is None, other


@pytest.mark.parametrize(
    "request_bytes",
    [
        HEAD,
        HEAD + b"[",
        HEAD + b"[] ",
        (HEAD + b"[]") * 2,
        HEAD.replace(b"Host: h", b"Host: h\r\nContent-Length: 2") + b"[]",
        HEAD.replace(b"Host: h", b"Host: h\r\nTransfer-Encoding: chunked") + b"[]",
        HEAD[:40],
        b"",
        b"\r\n\r\n[]",
    ],
)
def test_what_is_not_one_whole_request_of_a_known_head_is_gunicorns(request_bytes: bytes) -> None:
    assert lane().known(_From(), request_bytes) is None


def test_a_head_is_known_from_its_address_alone() -> None:
    class Elsewhere:
        client = ("192.0.2.2", 1)

    assert lane().known(Elsewhere(), HEAD + b"[]") is None


def test_a_head_of_another_stream_is_not_learned() -> None:
    opened = Lane(lambda requests: [], leave=print, lose=print, resume=print)
    head = HEAD.replace(b"/s/", b"/t/")
    known = template_of("192.0.2.1", head)
    assert known is not None
    opened.learn(known[0], _Usual())
    assert opened.known(_From(), head + b"[]") is None


def test_a_lane_that_waits_for_the_database_takes_no_more_and_gives_back_what_waits() -> None:
    has_begun, go_on = threading.Event(), threading.Event()
    left: list[Any] = []

    def hang(requests: list[Any]) -> list[None]:
        has_begun.set()
        go_on.wait(30)
        return [None] * len(requests)

    opened = Lane(hang, leave=left.append, lose=print, resume=print)
    known = template_of("192.0.2.1", HEAD)
    assert known is not None
    opened.learn(known[0], _Usual())
    first, second = (opened.known(_From(), HEAD + b"[]") for _ in range(2))
    assert first is not None
    assert second is not None
    opened.add(first)
    opened.flush()
    assert has_begun.wait(30)
    opened.add(second)
    opened.flush()
    assert opened.left_waiting() == [], "not for long enough"
    opened._busy_since = 0.0
    assert opened.left_waiting() == [second]
    assert opened.known(_From(), HEAD + b"[]") is None
    go_on.set()
