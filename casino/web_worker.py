"""The web server's worker process: threads for requests that have arrived, and a timeout for slow clients.

A thread that waits for the next byte of a client serves nobody else, so none waits. The main loop looks at what has
arrived of a request, without taking it, and hands the connection to a thread when its head is complete and its body of
a known length too. Until then the kernel keeps the bytes and wakes the loop once enough have come (``SO_RCVLOWAT``).

    accepted, kept alive ─► nothing or a part has arrived ─► all of it has ─► a thread
                                   │ HEAD_S: 408, closed      │ RECEIVE_S for a body: a thread answers 400
                                   └ more than MAX_WAITING: the oldest is closed

A request like the one before it goes another way: ``web_lane.py``. Its connection stays with the main loop, which takes
its bytes.

Where the length is not known beforehand (chunked), a thread reads; no more than half of the threads do so at once, and
``RECEIVE_S`` after the request began nothing more is read. A request that was read in time is answered, however long
that takes. What gunicorn itself refuses is answered with a problem document, as everything else of the API.
"""

import fcntl
import json
import mmap
import os
import selectors
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from gunicorn import util
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, ThreadWorker
from structlog.contextvars import clear_contextvars

from casino.web_connection import Connection
from casino.web_lane import MAX_REQUEST, Lane, template_of

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

TURN_S = 0.1
"""Seconds between two looks whether it is a worker's turn to load the program."""

MAX_IN_LANE = 512
"""Connections that the lane keeps; each further one is gunicorn's."""

SWEEP_S = 0.25
"""How often the main loop, which may turn thousands of times a second, looks for what is overdue."""

_turn = tempfile.TemporaryFile()  # noqa: SIM115  (open for as long as the process is)
"""Locked by the worker that loads the program. The main process makes it, and a worker that dies lets it go."""


def _takes_turn() -> bool:
    """Take the turn to load the program. Return False if another worker has it."""
    try:
        fcntl.lockf(_turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def write_problem(sock: socket.socket, status: int, reason: str, message: str) -> None:
    """Answer a request that gunicorn refuses: as ``gunicorn.util.write_error``, with a problem document."""
    if status == HTTPStatus.NOT_IMPLEMENTED:  # a transfer coding that the client chose
        code, reason = "malformed", HTTPStatus(status).phrase
    else:
        code = "unavailable" if status == 503 else "failed" if status >= 500 else "malformed"
    detail = message or ("Something failed here. Send the request again." if status >= 500 else reason)
    problem = {"type": "about:blank", "title": reason, "status": status, "code": code, "detail": detail}
    body = json.dumps(problem).encode()
    wait = "Retry-After: 2\r\n" if status == 503 else ""
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
    util.write_nonblock(sock, (head + wait).encode("latin-1") + b"Content-Length: %d\r\n\r\n" % len(body) + body)


util.write_error = write_problem


class Worker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker whose main loop waits for requests, and cuts off slow connections."""

    wsgi: Any  # the application, as ``load_wsgi`` loads it

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: dict[Connection, None] = {}  # the oldest first
        self._lingering: dict[Connection, float] = {}
        self._started_at: dict[Connection, float] = {}
        self._chunked: set[Connection] = set()
        self._held: deque[Connection] = deque()  # chunked, until a thread may read one more
        self._lane: Lane | None = None
        self._in_lane: dict[Connection, None] = {}
        self._usual: dict[socket.socket, Any] = {}  # by thread's connection: what the fast path has said of its request
        self._swept_at = 0.0
        self._serving = mmap.mmap(-1, 1)  # shared with the main process, which made this object before it forked
        self.forked_at = time.monotonic()

    @property
    def is_serving(self) -> bool:
        """Whether the process has loaded the program and takes requests; true from then on."""
        return bool(self._serving[0])

    def load_wsgi(self) -> None:
        """Load the program, one worker after the other: who serves meanwhile has the other cores."""
        while not _takes_turn():
            if not self.alive:
                sys.exit(0)
            self.tmp.notify()  # or the main process would take it for one that hangs
            time.sleep(TURN_S)
        super().load_wsgi()
        self._open_lane()

    def _open_lane(self) -> None:
        """Open the lane to an application that can answer requests together."""
        application, together = self.wsgi, getattr(self.wsgi, "answer_together", None)
        if together is None or self.cfg.is_ssl:
            return
        from audit.api.fast_path import USUAL  # the application has set Django up

        defer = self.method_queue.defer
        self._lane = Lane(
            together,
            leave=lambda waiting: defer(self._to_gunicorn, waiting.connection, waiting.request),
            lose=lambda connection: defer(self._close_in_lane, connection),
            resume=lambda connection: defer(self._resume_in_lane, connection),
        )

        def observed(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
            response = application(environ, start_response)
            if USUAL in environ and "HTTP_EXPECT" not in environ and "HTTP_UPGRADE" not in environ:
                self._usual[environ["gunicorn.socket"]] = environ[USUAL]
            return response

        self.wsgi = observed

    def set_accept_enabled(self, enabled: bool) -> None:
        """Begin or stop to accept connections. A worker that stops takes those that wait, and waits for no more.

        The first worker that begins has the socket listen (``casino.web_reload.listen_late``). Where all workers stop,
        it would keep clients waiting whom nobody answers any more; they, and a proxy above all, are to hear at once
        that they have to ask elsewhere. Where others serve, they have the socket too.
        """
        if enabled:
            for listener in self.sockets:
                listener.listen(self.cfg.backlog)  # again, if another worker has: that changes nothing
        super().set_accept_enabled(enabled)
        if self.alive or enabled:
            return
        for listener in self.sockets:
            while listener.sock is not None and self.nr_conns < self.worker_connections and self.accept(listener):
                pass
            listener.close()

    def accept(self, listener: socket.socket) -> bool:
        """Accept a connection, and wait for its first request. Return False if none was there."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return False
        self.nr_conns += 1
        self.enqueue_req(Connection(self.cfg, client, address, listener.getsockname(), linger=self._linger))
        return True

    def enqueue_req(self, conn: Connection) -> None:
        """Hand a connection to a thread if its request has arrived; wait for the rest of it if not."""
        conn.began_at, conn.wanted = time.monotonic(), 0
        conn.has_head = conn.has_sent_continue = conn.is_whole = False
        conn.head = b""  # what is remembered of a request is never another's
        self._look(conn)

    def _look(self, conn: Connection) -> None:
        """Look at what has arrived of a request that no thread has."""
        lacks = conn.lacks()
        if lacks:
            self._wait(conn, lacks)
        elif self._enters_lane(conn):
            return
        elif conn.is_chunked and len(self._chunked) >= max(1, self.cfg.threads // 2):
            self._held.append(conn)
        else:
            self._serve(conn)

    def _enters_lane(self, conn: Connection) -> bool:
        """Take a request that has arrived into the lane, if its head is known there."""
        if self._lane is None or not self.alive or len(self._in_lane) >= MAX_IN_LANE:
            return False
        if conn.is_http2 or not conn.is_whole or (conn.parser is not None and conn.parser.unreader.buf.getvalue()):
            return False
        try:
            here = conn.sock.recv(MAX_REQUEST + 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return False
        waiting = self._lane.known(conn, here) if len(here) <= MAX_REQUEST else None
        if waiting is None:
            return False
        conn.sock.recv(len(here))
        conn.sock.setblocking(False)
        conn.is_in_lane, conn.has_sent_early = True, False
        conn.lane_until = time.monotonic() + self.cfg.keepalive
        self._in_lane[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_more_in_lane, conn))
        self._lane.add(waiting)
        return True

    def _on_more_in_lane(self, conn: Connection, sock: socket.socket) -> None:
        """Take what a client of the lane has sent: the next request, or something that is gunicorn's."""
        if conn not in self._in_lane or self._lane is None:
            return
        if conn.is_in_lane:  # it does not wait for its answer; the rest stays in the socket until then
            self.poller.unregister(sock)
            conn.has_sent_early = True
            if not conn.is_in_lane:
                self._resume_in_lane(conn)
            return
        try:
            here = sock.recv(MAX_REQUEST)
        except BlockingIOError:
            return
        except OSError:
            here = b""
        if not here:
            self._close_in_lane(conn)
            return
        waiting = self._lane.known(conn, here) if self.alive else None
        if waiting is None:
            self._to_gunicorn(conn, here)
            return
        conn.is_in_lane = True
        conn.lane_until = time.monotonic() + self.cfg.keepalive
        self._lane.add(waiting)

    def _resume_in_lane(self, conn: Connection) -> None:
        """Read again from a client that has sent more before its answer."""
        if conn in self._in_lane and conn.has_sent_early:
            conn.has_sent_early = False
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_more_in_lane, conn))

    def _leave_lane(self, conn: Connection) -> None:
        self._in_lane.pop(conn, None)
        if not conn.has_sent_early:
            self.poller.unregister(conn.sock)
        conn.is_in_lane = conn.has_sent_early = False

    def _to_gunicorn(self, conn: Connection, taken: bytes) -> None:
        """Give a connection to gunicorn with the bytes that were taken of it, as if they had just come."""
        if conn not in self._in_lane:
            return
        if conn.is_being_answered:  # its answers come in the order of its requests
            conn.is_in_lane = True
            self.method_queue.defer(self._to_gunicorn, conn, taken)
            return
        self._leave_lane(conn)
        conn.init()
        conn.parser.unreader.unread(taken)
        self.enqueue_req(conn)

    def _close_in_lane(self, conn: Connection) -> None:
        if conn in self._in_lane:
            self._leave_lane(conn)
            self.nr_conns -= 1
            conn.close()

    def _sweep_lane(self, now: float) -> None:
        """Close idle connections of the lane, as gunicorn does its own; while it is stuck, have gunicorn answer."""
        if self._lane is None:
            return
        for waiting in self._lane.left_waiting():
            self._to_gunicorn(waiting.connection, waiting.request)
        for conn in list(self._in_lane):
            if conn.is_in_lane or conn.is_being_answered or conn.has_sent_early:
                continue
            if not self.alive:  # a request that is on its way is answered, and then no other
                self._leave_lane(conn)
                conn.timeout = now + STOP_KEEPALIVE_LINGER
                self.keepalived_conns.append(conn)
                self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_client_socket_readable, conn))
            elif conn.lane_until < now:
                self._close_in_lane(conn)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Look at all connections once; what is stored together is what one such look has found, or more."""
        super().wait_for_and_dispatch_events(timeout)
        if self._lane is not None:
            self._lane.flush()

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

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Answer what could not be read or failed. What was never a request is logged without the one before it."""
        if req is None:
            clear_contextvars()
        super().handle_error(req, client, addr, exc)

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
        usual = self._usual.pop(conn.sock, None)
        if self._lane is not None and usual is not None and not fs.cancelled() and not fs.exception() and fs.result():
            known = template_of(conn.client[0], conn.head)
            if known is not None and known[0] == conn.last_kind:  # heads that come once would only push out others
                self._lane.learn(known[0], usual)
            conn.last_kind = known and known[0]
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
        now = time.monotonic()
        if self.alive and now < self._swept_at + SWEEP_S:
            return
        self._swept_at = now
        super().notify()
        if not self._serving[0]:
            self._serving[0] = 1
            fcntl.lockf(_turn, fcntl.LOCK_UN)
        if HEARTBEAT_FILE:
            Path(HEARTBEAT_FILE).touch()
        self._sweep_lane(now)
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
