"""One client of the HTTP measurement: a process with one connection and prepared bodies. Standard library only."""

from __future__ import annotations

import json
import socket
import sys
import time


def main() -> None:
    port, key, casino, name, batch, seconds = sys.argv[1:7]
    size = int(batch)
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opener = {
            "stream": name, "seq": 1, "type": "session.opened", "occurred_at": "2026-11-19T20:00:00.000+01:00",
            "data": {"casino": casino, "table": "T1", "gaming_day": "2026-11-19", "game": "craps",
                     "ruleset": "fr-craps", "currency": "EUR", "float": 1, "observes": ["bank"]},
        }  # fmt: skip
        _send(connection, key, name, json.dumps([opener]).encode())
        requests = min(60_000 // size, 20_000)
        bodies = [
            b"[" + b",".join(_wager(name, seq) for seq in range(first, first + size)) + b"]"
            for first in range(2, 2 + size * requests, size)
        ]
        print("ready", flush=True)
        sys.stdin.readline()
        started = time.perf_counter()
        sent = 0
        for body in bodies:
            _send(connection, key, name, body)
            sent += size
            if time.perf_counter() - started > float(seconds):
                break
        print(sent, time.perf_counter() - started, flush=True)


def _wager(name: str, seq: int) -> bytes:
    return (
        f'{{"data":{{"bet":"win","player":"Anna","seat":"S1","stake":1000,"wager":"w{seq}"}},'
        f'"occurred_at":"2026-11-19T20:00:05.123+01:00","seq":{seq},"stream":"{name}","type":"wager.placed","v":1}}'
    ).encode()


def _send(connection: socket.socket, key: str, name: str, body: bytes) -> None:
    """Send a request and read its response. Raise ``SystemExit`` unless it is 201."""
    request = (
        f"POST /api/v1/streams/{name}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(request.encode() + body)
    response = b""
    while b"\r\n\r\n" not in response:
        response += connection.recv(65_536)
    head, _, content = response.partition(b"\r\n\r\n")
    length = next(
        int(each.split(b":")[1]) for each in head.split(b"\r\n") if each.lower().startswith(b"content-length")
    )
    while len(content) < length:
        content += connection.recv(65_536)
    if b" 201 " not in head[:16]:
        raise SystemExit(f"{head[:60]!r} {content[:300]!r}")


if __name__ == "__main__":
    main()
