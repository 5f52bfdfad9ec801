"""A receiver of webhooks on this machine, which verifies what it is sent as its owner would, and can misbehave."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOLERANCE_S = 300


@dataclass(frozen=True)
class Message:
    """A message as it came: headers in lower case, the body's bytes, and when it came."""

    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def content(self) -> Any:
        return json.loads(self.body)

    @property
    def seq(self) -> int:
        seq: int = self.content["data"]["finding"]["seq"]
        return seq


def is_genuine(message: Message, secret: str, *, now: float | None = None) -> bool:
    """Return whether a message is new and signed with a secret, by the text of Standard Webhooks, not by our code."""
    timestamp = int(message.headers["webhook-timestamp"])
    if abs((now or time.time()) - timestamp) > TOLERANCE_S:
        return False
    key = base64.b64decode(secret.split("_", 1)[1])
    signed = b".".join([message.id.encode(), str(timestamp).encode(), message.body])
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    versions = [each.split(",", 1) for each in message.headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(given, expected) for version, given in versions)


Behaviour = Callable[["Handler", Message], int]
"""What a receiver does with a message: returns the status of its answer."""


def takes(handler: Handler, message: Message) -> int:
    return 204


@dataclass
class Receiver:
    """What came, taken or not, and what is done with the next message."""

    url: str = ""
    behaviour: Behaviour = takes
    came: list[Message] = field(default_factory=list)
    taken: list[Message] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = Message({name.lower(): value for name, value in self.headers.items()}, body, time.time())
        self.receiver.came.append(message)
        status = self.receiver.behaviour(self, message)
        if status == 0:  # it has answered by itself
            return
        if 200 <= status < 300:
            self.receiver.taken.append(message)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *args: Any) -> None:  # a sender that cut it off
        return


@contextmanager
def receiving(behaviour: Behaviour = takes, path: str = "/hook") -> Iterator[Receiver]:
    """Run a receiver on a free port of this machine."""
    receiver = Receiver(behaviour=behaviour)
    server = _Server(("127.0.0.1", 0), type("Bound", (Handler,), {"receiver": receiver}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}{path}"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
