"""Clients that record events: one process with so many connections, each of which waits for its receipt.

Standard library only. A request that is answered by anything but 201 ends the process.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time


def main() -> None:
    port, casino, run, count, seconds, events = sys.argv[1:7]
    of_clients = enumerate(keys()[: int(count)])
    clients = [Client(int(port), casino, f"{run}-{number}", key, int(events)) for number, key in of_clients]
    for client in clients:
        client.open()
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "go":
            print(json.dumps(measured(clients, float(seconds))), flush=True)


def keys() -> list[str]:
    """Return the keys of the clients, one each: a line of the standard input."""
    return sys.stdin.readline().split()


class Client:
    """One table: a connection of its own, a key of its own, and the next ``events``, which one request brings."""

    def __init__(self, port: int, casino: str, name: str, key: str, events: int) -> None:
        self.casino, self.name, self.events = casino, name, events
        self.head = (
            f"POST /api/v1/streams/{name}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )
        self.seq = 1
        self.sent_at = 0.0
        self.answer = b""
        self.port = port

    def connect(self) -> None:
        """Open the connection; anew before each measurement, because a server closes what has been idle."""
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def open(self) -> None:
        """Open the stream, on a connection that does not wait for those of the clients before it."""
        self.connect()
        self._send(
            f'[{{"stream":"{self.name}","seq":1,"type":"session.opened","occurred_at":"2026-11-19T20:00:00.000+01:00",'
            f'"data":{{"casino":"{self.casino}","table":"T1","gaming_day":"2026-11-19","game":"craps",'
            '"ruleset":"fr-craps","currency":"EUR","float":1,"observes":["bank"]}}]'
        )
        while not self.receive():
            pass

    def send(self) -> None:
        """Send the next events."""
        self._send(f"[{','.join(map(self._event, range(self.seq, self.seq + self.events)))}]")

    def _event(self, seq: int) -> str:
        return (
            f'{{"data":{{"bet":"win","player":"Anna","seat":"S1","stake":1000,"wager":"w{seq}"}},"occurred_at":'
            f'"2026-11-19T20:00:05.123+01:00","seq":{seq},"stream":"{self.name}","type":"wager.placed","v":1}}'
        )

    def _send(self, body: str) -> None:
        self.sent_at = time.perf_counter()
        self.socket.sendall(f"{self.head}{len(body)}\r\n\r\n{body}".encode())

    def receive(self) -> float | None:
        """Read what has come; return the seconds from request to receipt once it is whole."""
        received = self.socket.recv(65_536)
        if not received:
            raise SystemExit("the server has closed a connection")
        self.answer += received
        head, _, content = self.answer.partition(b"\r\n\r\n")
        if not content.endswith(b"}"):
            return None
        if b" 201 " not in head[:16] or f'"first_seq":{self.seq},'.encode() not in content:
            raise SystemExit(f"{head[:60]!r} {content[:300]!r}")
        self.answer = b""
        self.seq = json.loads(content)["next_seq"]
        return time.perf_counter() - self.sent_at


def measured(clients: list[Client], seconds: float) -> list[float]:
    """Have every client send one event after another; return the seconds that each request took."""
    took: list[float] = []
    selector = selectors.DefaultSelector()
    for client in clients:
        client.socket.close()
        client.connect()
        selector.register(client.socket, selectors.EVENT_READ, client)
    end = time.perf_counter() + seconds
    for client in clients:
        client.send()
    waiting = len(clients)
    while waiting:
        for ready, _ in selector.select():
            client = ready.data
            answered_after = client.receive()
            if answered_after is None:
                continue
            took.append(answered_after)
            if time.perf_counter() < end:
                client.send()
            else:
                waiting -= 1
    selector.close()
    return took


if __name__ == "__main__":
    main()
