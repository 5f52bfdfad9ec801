"""The HTTP of a witness: ``POST /add-checkpoint`` and ``GET /status``. Every request is bounded in every direction.

A connection has a thread; more than ``MAX_CONNECTIONS`` are closed at once. It ends when nothing came for ``IDLE_S``,
and after ``CONNECTION_S`` whatever came, so that nobody holds one by sending a byte now and then.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from cabochon_witness.shown import say
from cabochon_witness.witness import Answer, Witness

MAX_BODY = 64 * 1024
MAX_CONNECTIONS = 32
IDLE_S = 10.0
CONNECTION_S = 60.0
TICK_S = 0.5


class WitnessServer(HTTPServer):
    """The server of a witness. ``tick`` runs as long as it serves: it ends late connections, it looks for silence."""

    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], witness: Witness) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)
        self.witness = witness
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._open: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread, or close it if there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        with self._lock:
            self._open[request] = time.monotonic()
        threading.Thread(target=self._serve, args=(request, client_address), daemon=True).start()

    def _serve(self, request: socket.socket, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except OSError:
            pass  # the client has gone, or its time is over
        finally:
            with self._lock:
                del self._open[request]
            self.shutdown_request(request)
            self._free.release()

    def serve(self) -> None:
        """Serve until ``shutdown``."""
        ticker = threading.Thread(target=self._tick, name="tick", daemon=True)
        ticker.start()
        try:
            self.serve_forever(poll_interval=TICK_S)
        finally:
            self._ended.set()
            ticker.join()

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            now = time.monotonic()
            with self._lock:
                for request, began in self._open.items():
                    if now - began > CONNECTION_S:
                        _end(request)
            self.witness.look_for_silence()


def _end(request: socket.socket) -> None:
    with suppress(OSError):  # it has ended by itself
        request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "cabochon-witness"
    sys_version = ""
    timeout = IDLE_S
    server: WitnessServer

    def do_POST(self) -> None:
        lengths = self.headers.get_all("Content-Length") or []
        is_length = len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdigit() and len(lengths[0]) < 10
        if not is_length or "Transfer-Encoding" in self.headers:
            self._refuse(411, "the length of the body is needed\n")
        elif int(lengths[0]) > MAX_BODY:
            self._refuse(413, f"a body has {MAX_BODY} bytes at most\n")
        else:
            body = self.rfile.read(int(lengths[0]))
            if len(body) != int(lengths[0]):
                self.close_connection = True
            elif self.path != "/add-checkpoint":
                self._answer(Answer(404, "POST /add-checkpoint\n"))
            else:
                self._add_checkpoint(body)

    def _add_checkpoint(self, body: bytes) -> None:
        try:
            answer = self.server.witness.add_checkpoint(body)
        except OSError as error:  # what cannot be remembered is not cosigned
            say(f"ERROR not remembered: {error}", to=sys.stderr)
            answer = Answer(500, "the witness cannot write\n")
        self._answer(answer)

    def do_GET(self) -> None:
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            self._refuse(400, "no body here\n")
        elif self.path == "/status":
            content = json.dumps(self.server.witness.status(), indent=1) + "\n"
            self._answer(Answer(200, content, "application/json"))
        else:
            self._answer(Answer(404, "GET /status\n"))

    def _refuse(self, status: int, body: str) -> None:
        """Answer, and end the connection: what follows on it may be anything."""
        self.close_connection = True
        self._answer(Answer(status, body))

    def _answer(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: alarms and errors are printed where they arise."""
