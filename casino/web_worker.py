"""The web server's worker process: threads for requests that have arrived, and a timeout for slow clients.

A thread that waits for the next byte of a client serves nobody else, so none waits. The main loop looks at what has
arrived of a request, without taking it, and hands the connection to a thread when its head is complete and its body of
a known length too. Until then the kernel keeps the bytes and wakes the loop once enough have come (``SO_RCVLOWAT``).

    accepted, kept alive ─► nothing or a part has arrived ─► all of it has ─► a thread
                                   │ HEAD_S: 408, closed      │ RECEIVE_S for a body: a thread answers 400
                                   └ more than MAX_WAITING: the oldest is closed

Where the length is not known beforehand (chunked), a thread reads; no more than half of the threads do so at once, and
``RECEIVE_S`` after the request began nothing more is read. A request that was read in time is answered, however long
that takes. What gunicorn itself refuses is answered with a problem document, as everything else of the API.
"""

import array
import fcntl
import json
import mmap
import os
import re
import selectors
import socket
import termios
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from gunicorn import util
from gunicorn.workers.gthread import TConn, ThreadWorker

RECEIVE_S = float(os.environ.get("CABOCHON_RECEIVE_S", "20"))
"""Seconds from the first byte of a request to its last. A body of the largest size takes 20 s at 0.5 Mbit/s."""

HEARTBEAT_FILE = os.environ.get("CABOCHON_HEARTBEAT_FILE", "")
"""What the supervisor watches, if there is one."""

HEAD_S = min(5.0, RECEIVE_S)
"""Seconds from a connection's beginning, or the first byte of a later request, to the end of its head."""

LINGER_S = 2.0
"""Seconds for which what a client still sends is read and dropped after the answer, so that it can read the answer.

As long does a worker that stops wait for the request on a connection that has been opened.
"""

DRAIN_S = 5.0
"""Seconds in which a body that has arrived is dropped, if nobody has read it."""

MAX_WAITING = 512
"""Connections whose requests have not arrived; beyond that the oldest is closed. Below gunicorn's 1,000 in all."""

MAX_HEAD = 65_536
MAX_BODY = 1024 * 1024 + 1024 * 1024 // 64
"""Largest body that is waited for; a larger one is refused by its announced length, without being read."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_CONTINUE = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)


def write_problem(sock: socket.socket, status: int, reason: str, message: str) -> None:
    """Answer a request that gunicorn refuses: as ``gunicorn.util.write_error``, with a problem document."""
    code = "unavailable" if status == 503 else "failed" if status >= 500 else "malformed"
    detail = message or ("Something failed here. Send the request again." if status >= 500 else reason)
    problem = {"type": "about:blank", "title": reason, "status": status, "code": code, "detail": detail}
    body = json.dumps(problem).encode()
    wait = "Retry-After: 2\r\n" if status == 503 else ""
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
    util.write_nonblock(sock, (head + wait).encode("latin-1") + b"Content-Length: %d\r\n\r\n" % len(body) + body)


util.write_error = write_problem


class Connection(TConn):  # type: ignore[misc]
    """A connection: when it began to wait for a request, and what it waits for."""

    def __init__(self, *args: Any, linger: Callable[[TConn], None]) -> None:
        super().__init__(*args)
        self.data_ready = True  # a thread never waits for the first byte
        self.began_at = time.monotonic()
        self.wanted = 0  # bytes that the socket has to hold
        self.has_head = False
        self.is_chunked = False
        self.is_whole = False  # all that it says of its length is in the socket, and none of it is refused unread
        self.has_sent_continue = False
        self._linger = linger

    def close(self, graceful: bool = False) -> None:
        """Close the connection; gracefully without holding up the main loop, which calls this."""
        if graceful:
            self._linger(self)
        else:
            super().close()

    def lacks(self) -> int:
        """Return how many bytes the socket has to hold until the request is whole, 0 if there is nothing to wait for.

        The bytes stay in the socket. Nothing is waited for if the client has sent its last byte, either.
        """
        if self.is_http2 or self.sock.family not in (socket.AF_INET, socket.AF_INET6):
            return 0
        taken: bytes = self.parser.unreader.buf.getvalue() if self.parser is not None else b""
        try:
            here = self.sock.recv(MAX_HEAD, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 1 if not taken else self._lacks(taken, 0)
        except OSError:
            return 0
        if not here:
            return 0
        available = array.array("i", [0])
        fcntl.ioctl(self.sock, termios.FIONREAD, available)
        return 0 if available[0] < self.wanted else self._lacks(taken + here, available[0])

    def _lacks(self, known: bytes, available: int) -> int:
        head_end = known.find(b"\r\n\r\n")
        if head_end < 0:
            return 0 if len(known) >= MAX_HEAD else available + 1
        head = known[: head_end + 2]
        self.has_head = True
        self.is_chunked = _CHUNKED.search(head) is not None
        length = _LENGTH.search(head)
        self.is_whole = not self.is_chunked and (length is None or int(length[1]) <= MAX_BODY)
        if self.is_chunked or length is None or int(length[1]) > MAX_BODY:
            return 0
        taken = max(0, len(known) - min(available, MAX_HEAD))
        whole = head_end + 4 + int(length[1]) - taken
        if whole <= available:
            return 0
        if not self.has_sent_continue and _CONTINUE.search(head):
            self.has_sent_continue = True
            self.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return whole


class Worker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker whose main loop waits for requests, and cuts off slow connections."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: dict[Connection, None] = {}  # the oldest first
        self._lingering: dict[Connection, float] = {}
        self._started_at: dict[Connection, float] = {}
        self._chunked: set[Connection] = set()
        self._held: deque[Connection] = deque()  # chunked, until a thread may read one more
        self._serving = mmap.mmap(-1, 1)  # shared with the main process, which made this object before it forked
        self.forked_at = time.monotonic()

    @property
    def is_serving(self) -> bool:
        """Whether the process has loaded the program and takes requests; true from then on."""
        return bool(self._serving[0])

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, and wait for its first request."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        self.nr_conns += 1
        self.enqueue_req(Connection(self.cfg, client, address, listener.getsockname(), linger=self._linger))

    def enqueue_req(self, conn: Connection) -> None:
        """Hand a connection to a thread if its request has arrived; wait for the rest of it if not."""
        conn.began_at, conn.wanted = time.monotonic(), 0
        conn.has_head = conn.has_sent_continue = conn.is_whole = False
        self._look(conn)

    def _look(self, conn: Connection) -> None:
        """Look at what has arrived of a request that no thread has."""
        lacks = conn.lacks()
        if lacks:
            self._wait(conn, lacks)
        elif conn.is_chunked and len(self._chunked) >= max(1, self.cfg.threads // 2):
            self._held.append(conn)
        else:
            self._serve(conn)

    def _wait(self, conn: Connection, lacks: int) -> None:
        """Have the loop look at a connection again when its socket holds ``lacks`` bytes."""
        conn.wanted = lacks
        conn.sock.setblocking(False)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, lacks)
        self._waiting[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_more, conn))
        if len(self._waiting) > MAX_WAITING:
            self._drop(next(iter(self._waiting)))

    def _on_more(self, conn: Connection, sock: socket.socket) -> None:
        self._stop_waiting(conn)
        self._look(conn)

    def _stop_waiting(self, conn: Connection) -> None:
        self._waiting.pop(conn, None)
        self.poller.unregister(conn.sock)
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)

    def _serve(self, conn: Connection) -> None:
        if conn.is_chunked:
            self._chunked.add(conn)
        super().enqueue_req(conn)

    def _drop(self, conn: Connection) -> None:
        self._stop_waiting(conn)
        self.nr_conns -= 1
        conn.close()

    def _refuse(self, conn: Connection, status: int, message: str) -> None:
        """Answer a request without a thread, and close the connection."""
        self.nr_conns -= 1
        try:
            write_problem(conn.sock, status, HTTPStatus(status).phrase, message)
        except OSError:
            conn.close()
        else:
            conn.close(graceful=True)

    def handle(self, conn: Connection) -> Any:
        """Serve one request of a connection, in a thread."""
        self._started_at[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            self._started_at.pop(conn, None)
            self._chunked.discard(conn)

    def finish_request(self, conn: Connection, fs: Any) -> None:
        """Keep or close the connection of a request that was served; let a held one have its turn."""
        super().finish_request(conn, fs)
        if self._held:
            self._look(self._held.popleft())

    def _keepalive_after(self, conn: Connection, keepalive: bool) -> bool:
        """Return whether the connection can be used again: not if a body that nobody wanted is still to come.

        The answer has announced that it can. So a request that is whole is given the time that a busy machine takes.
        """
        wait_s = DRAIN_S if conn.is_whole else 0.01
        return bool(keepalive and conn.parser.finish_body(deadline=time.monotonic() + wait_s))

    def _linger(self, conn: Connection) -> None:
        """Close a connection when its client has, or after ``LINGER_S``; the answer would be lost with unread bytes."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_rest, conn))
        except (OSError, ValueError, KeyError):
            util.close(conn.sock)
            return
        self._lingering[conn] = time.monotonic() + LINGER_S
        if len(self._lingering) > MAX_WAITING:
            self._end_linger(next(iter(self._lingering)))

    def _on_rest(self, conn: Connection, sock: socket.socket) -> None:
        try:
            if conn.sock.recv(65_536):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._end_linger(conn)

    def _end_linger(self, conn: Connection) -> None:
        self._lingering.pop(conn, None)
        self.poller.unregister(conn.sock)
        util.close(conn.sock)

    def notify(self) -> None:
        """Send the heartbeat to the arbiter, every second, and cut off what is overdue."""
        super().notify()
        self._serving[0] = 1
        if HEARTBEAT_FILE:
            Path(HEARTBEAT_FILE).touch()
        now = time.monotonic()
        for conn in list(self._waiting):
            if conn.has_head and conn.began_at < now - RECEIVE_S:
                self._stop_waiting(conn)
                self._shut(conn)
                self._serve(conn)  # which reads what has come, and answers that it is not all
            elif not conn.has_head and conn.began_at < now - (HEAD_S if self.alive else LINGER_S):
                self._stop_waiting(conn)
                self._refuse(conn, 408, "The head of the request did not arrive in time.")
        while self._held and self._held[0].began_at < now - RECEIVE_S:
            conn = self._held.popleft()
            self._refuse(conn, 503, "Too many requests of unknown length arrive; send this one with Content-Length.")
        for conn, started_at in list(self._started_at.items()):
            if started_at < now - RECEIVE_S:
                self._started_at.pop(conn, None)
                self._shut(conn)
        for conn, until in list(self._lingering.items()):
            if until < now:
                self._end_linger(conn)

    @staticmethod
    def _shut(conn: Connection) -> None:
        """Have the next read of a connection find its end."""
        try:
            conn.sock.shutdown(socket.SHUT_RD)
        except OSError:  # it is closed already
            return
