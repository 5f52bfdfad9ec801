"""The web server's lane: requests that look like the one before them, gathered while the database stores others.

A table system that sends each event by itself sends the same head again and again; only its ``Content-Length`` differs.
A head whose request the fast path answered is remembered by its bytes, per client address. What comes with the same
bytes says the same, so that it is neither parsed again nor given to a thread of its own:

    its bytes ─► waiting ─► one thread takes all that wait ─► one commit ─► an answer each ─► the next that wait
        │                          └ what cannot be answered so ─► gunicorn, with its bytes, as if it had just come
        └ another head, a part, more than one request ─► gunicorn

The lane never refuses. A head that gunicorn had to be given is remembered no longer, until the fast path has answered
it again: a stream of which every request is refused, or that somebody holds, delays the others once. While the lane
waits for the database for more than ``STUCK_S``, what else comes goes to gunicorn's threads.

First come, first served: of those that wait, the oldest ``MAX_TOGETHER`` are taken.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from gunicorn import SERVER

MAX_TOGETHER = 64
"""Most requests that are stored together: a few milliseconds of work."""

MAX_HEADS = 4_096
"""Heads that are remembered; then the oldest is forgotten."""

MAX_REQUEST = 16_384
"""Largest request, in bytes with its head, that the lane reads."""

STUCK_S = 1.0
"""After this long in the database the lane takes no more requests."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,6})[ \t]*\r\n", re.IGNORECASE)


class Waiting(NamedTuple):
    """A request that waits: its connection, its bytes, its body, and what is known of its head."""

    connection: Any
    request: bytes
    body: bytes
    template: tuple[str, bytes]
    usual: Any


def template_of(address: str, head: bytes) -> tuple[tuple[str, bytes], int] | None:
    """Return what heads of one kind have in common, and the length of the body. None if the head does not say it."""
    length = _LENGTH.search(head)
    if length is None:
        return None
    return (address, head[: length.start(1)] + b"\n" + head[length.end(1) :]), int(length[1])


class Lane:
    """The heads that are known, the requests that wait, and the thread that answers them.

    ``answer`` answers requests together. ``leave`` is called in the thread for a request that gunicorn has to answer,
    ``lose`` for a connection that takes no answer, ``resume`` for one on which more came before its answer.
    """

    def __init__(
        self,
        answer: Callable[[list[tuple[Any, bytes]]], list[Any]],
        *,
        leave: Callable[[Waiting], None],
        lose: Callable[[Any], None],
        resume: Callable[[Any], None],
    ) -> None:
        self._answer, self._leave, self._lose, self._resume = answer, leave, lose, resume
        self._heads: dict[tuple[str, bytes], Any] = {}
        self._gathered: list[Waiting] = []
        self._queue: SimpleQueue[Waiting] = SimpleQueue()
        self._busy_since: float | None = None
        self._date = (0, "")
        self._thread: threading.Thread | None = None

    def learn(self, template: tuple[str, bytes], usual: Any) -> None:
        """Remember the head of a request that the fast path answered."""
        if not template[1].startswith(f"POST /api/v1/streams/{usual.stream}/events HTTP/1.1\r\n".encode()):
            return
        if len(self._heads) >= MAX_HEADS:
            self._heads.pop(next(iter(self._heads)), None)
        self._heads[template] = usual

    def forget(self, template: tuple[str, bytes]) -> None:
        """Leave the next request with such a head to gunicorn."""
        self._heads.pop(template, None)

    def known(self, connection: Any, request: bytes) -> Waiting | None:
        """Return a request, if these bytes are one, whole, whose head is known, and the lane answers now."""
        if self.is_stuck:
            return None
        head_end = request.find(b"\r\n\r\n") + 4
        known = template_of(connection.client[0], request[:head_end]) if head_end > 3 else None
        if known is None or head_end + known[1] != len(request):
            return None
        usual = self._heads.get(known[0])
        return None if usual is None else Waiting(connection, request, request[head_end:], known[0], usual)

    def add(self, waiting: Waiting) -> None:
        """Have a request wait for ``flush``."""
        self._gathered.append(waiting)

    def flush(self) -> None:
        """Hand on what has come: all that one look at the connections has found is stored together."""
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lane", daemon=True)
                self._thread.start()
            for each in gathered:
                self._queue.put(each)

    @property
    def is_stuck(self) -> bool:
        """Whether what was taken last has waited for the database for too long."""
        since = self._busy_since
        return since is not None and since < time.monotonic() - STUCK_S

    def left_waiting(self) -> list[Waiting]:
        """Return what waits behind requests that are stuck: it is the caller's now."""
        left: list[Waiting] = []
        while self.is_stuck:
            try:
                left.append(self._queue.get_nowait())
            except Empty:
                break
        return left

    def _run(self) -> None:
        while True:
            taken = [self._queue.get()]
            while len(taken) < MAX_TOGETHER:
                try:
                    taken.append(self._queue.get_nowait())
                except Empty:
                    break
            self._serve(taken)

    def _serve(self, taken: list[Waiting]) -> None:
        self._busy_since = time.monotonic()
        try:
            answers = self._answer([(each.usual, each.body) for each in taken])
        except Exception:  # it never should: the requests are answered all the same
            answers = [None] * len(taken)
        self._busy_since = None
        for each, answer in zip(taken, answers, strict=True):
            if answer is None:
                self.forget(each.template)
                self._leave(each)
            else:
                self._send(each.connection, answer)

    def _send(self, connection: Any, answer: Any) -> None:
        """Send an answer as gunicorn would. One that the client does not take at once ends the connection."""
        lines = [f"HTTP/1.1 201 Created\r\nServer: {SERVER}\r\nDate: {self._http_date()}\r\nConnection: keep-alive\r\n"]
        lines += [f"{name}: {value}\r\n" for name, value in answer.headers]
        content = "".join(lines).encode("latin-1") + b"\r\n" + answer.content
        connection.is_being_answered = True  # until this is sent nobody else answers, whatever comes
        connection.is_in_lane = False  # before its client can send the next one, which may wait at once
        try:
            is_sent = connection.sock.send(content, socket.MSG_DONTWAIT) == len(content)
        except OSError:
            is_sent = False
        connection.is_being_answered = False
        if not is_sent:
            self._lose(connection)
        elif connection.has_sent_early:
            self._resume(connection)

    def _http_date(self) -> str:
        now = int(time.time())
        if self._date[0] != now:
            self._date = now, formatdate(now, usegmt=True)
        return self._date[1]
