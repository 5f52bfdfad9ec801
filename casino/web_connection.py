"""A connection of the web server, and what of its request has arrived: ``web_worker.py`` waits for the rest of it."""

import array
import fcntl
import re
import socket
import termios
import time
from collections.abc import Callable
from typing import Any

from gunicorn.workers.gthread import TConn

MAX_HEAD = 65_536
MAX_BODY = 1024 * 1024 + 1024 * 1024 // 64
"""Largest body that is waited for; a larger one is refused by its announced length, without being read."""

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_CONTINUE = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)


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
        self.head = b""  # of the request that arrived last, if all of it was seen at once
        self.last_kind: Any = None  # the kind of head that the fast path answered before
        self.is_in_lane = False
        self.is_being_answered = False
        self.has_sent_early = False  # more, before the answer: nothing is read meanwhile
        self.lane_until = 0.0
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
        self.head = known[: head_end + 4]
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
