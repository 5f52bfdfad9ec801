"""The web server's worker: threads, and no patience with who sends slowly.

A thread that waits for a body's next byte serves nobody else, and gunicorn's own timeout is about workers, not about
clients. What of a request has not come after ``RECEIVE_S`` does not come any more: nothing further is read from its
connection, so a head that is not whole is dropped and a body that is not whole is refused. A request that is being
worked on has been read, and is answered however long it takes.
"""

import os
import socket
import time
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

RECEIVE_S = float(os.environ.get("CABOCHON_RECEIVE_S", "20"))
"""From a request's beginning to its last byte. A body of the largest size takes 20 s at half a megabit a second."""


class Worker(ThreadWorker):  # type: ignore[misc]
    """Threads, watched by the loop that hands them connections."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._begun: dict[TConn, float] = {}

    def handle(self, conn: TConn) -> Any:
        """Serve one request of a connection, in a thread."""
        self._begun[conn] = time.monotonic()
        try:
            return super().handle(conn)
        finally:
            self._begun.pop(conn, None)

    def notify(self) -> None:
        """Tell the arbiter that this worker lives, every second, and end what comes too slowly."""
        super().notify()
        overdue = time.monotonic() - RECEIVE_S
        for conn, begun in list(self._begun.items()):
            if begun < overdue:
                self._begun.pop(conn, None)
                try:
                    conn.sock.shutdown(socket.SHUT_RD)
                except OSError:  # it is gone already
                    continue
