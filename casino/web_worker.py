"""The web server's worker process: threads, and a timeout for slow clients.

A thread that waits for the next byte of a body serves nobody else, and gunicorn's own timeout is about workers, not
about clients. ``RECEIVE_S`` after a request began, nothing more is read from its connection: an incomplete head is
dropped, an incomplete body refused. A request that was read in time is answered, however long that takes.
"""

import os
import socket
import time
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

RECEIVE_S = float(os.environ.get("CABOCHON_RECEIVE_S", "20"))
"""Seconds from the first byte of a request to its last. A body of the largest size takes 20 s at 0.5 Mbit/s."""


class Worker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker whose main loop cuts off slow connections."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._started_at: dict[TConn, float] = {}

    def handle(self, conn: TConn) -> Any:
        """Serve one request of a connection, in a thread."""
        self._started_at[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            self._started_at.pop(conn, None)

    def notify(self) -> None:
        """Send the heartbeat to the arbiter, every second, and cut off overdue requests."""
        super().notify()
        overdue = time.monotonic() - RECEIVE_S
        for conn, started_at in list(self._started_at.items()):
            if started_at < overdue:
                self._started_at.pop(conn, None)
                try:
                    conn.sock.shutdown(socket.SHUT_RD)
                except OSError:  # it is closed already
                    continue
