"""Something that answers as a record would, or pretends to: for answers that a healthy record does not give."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cabochon_client import merkle
from cabochon_client.events import canonical, canonical_json
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KEY_ID = b"\x01\x02\x03\x04"
Script = Callable[["Pretender", list[dict[str, Any]]], "Reply | None"]


@dataclass
class Reply:
    """A status, a problem or another body, and headers."""

    status: int
    content: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    type: str = "application/problem+json"


@dataclass
class Pretender:
    """A record in memory. ``script`` may answer in its place; ``sent`` has each request that recorded events."""

    script: Script | None = None
    origin: str = "harbour.example/log"
    streams: dict[str, list[bytes]] = field(default_factory=dict)
    sent: list[list[dict[str, Any]]] = field(default_factory=list)
    keys_used: list[str] = field(default_factory=list)
    date: str | None = None
    inclusion: Reply = field(default_factory=lambda: Reply(409, {"code": "not-sealed"}))
    private: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    url: str = ""

    def keys(self) -> dict[str, Any]:
        public = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        key = {"id": KEY_ID.hex(), "name": f"{self.origin}/receipts", "purpose": "receipt"}
        return {"origin": self.origin, "keys": [{**key, "public_key": base64.b64encode(public).decode()}]}

    def record(self, stream: str, events: list[dict[str, Any]]) -> Reply:
        """Store what follows; refuse a gap."""
        stored = self.streams.setdefault(stream, [])
        if events[0]["seq"] > len(stored) + 1:
            return Reply(409, {"code": "gap", "next_seq": len(stored) + 1, "detail": "a gap"})
        new = events[len(stored) + 1 - events[0]["seq"] :]
        stored += [canonical(each) for each in new]
        return Reply(201, self.receipt(stream, events), type="application/json")

    def receipt(self, stream: str, events: list[dict[str, Any]]) -> dict[str, Any]:
        last = events[-1]["seq"]
        content = {
            "stream": stream,
            "first_seq": events[0]["seq"],
            "last_seq": last,
            "next_seq": last + 1,
            "root": merkle.root([merkle.leaf(canonical(each)) for each in events]).hex(),
            "chain": "00",
            "received_at": "2026-11-19T20:00:00.000000Z",
        }
        signature = KEY_ID + self.private.sign(b"cabochon-receipt/v1\n" + canonical_json(content))
        return {**content, "signature": base64.b64encode(signature).decode()}


@contextmanager
def pretender(script: Script | None = None) -> Iterator[Pretender]:
    """Run a pretender until the block ends."""
    record = Pretender(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def date_time_string(self, timestamp: float | None = None) -> str:
            return record.date or super().date_time_string()

        def do_GET(self) -> None:
            if self.path == "/api/v1/log/key":
                return self._send(Reply(200, record.keys(), type="application/json"))
            stream = self.path.rpartition("/")[2]
            if self.path.startswith("/api/v1/streams/") and stream in record.streams:
                next_seq = len(record.streams[stream]) + 1
                return self._send(Reply(200, {"next_seq": next_seq}, type="application/json"))
            is_proof = self.path.startswith("/api/v1/log/inclusion")
            return self._send(record.inclusion if is_proof else Reply(404, {"code": "not-found"}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            events: list[dict[str, Any]] = json.loads(body)
            record.sent.append(events)
            record.keys_used.append(self.headers["Authorization"].removeprefix("Bearer "))
            reply = record.script(record, events) if record.script else None
            self._send(reply or record.record(self.path.split("/")[4], events))

        def _send(self, reply: Reply) -> None:
            content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    record.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield record
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
