"""``python -m casino.web``: the web server. uvicorn serves; here are its processes, and what it leaves to us.

    main process: binds, never listens ─► worker loads casino.asgi, then listens ─► the next one loads
         HUP: new workers load one after the other, then the old ones end; one that cannot load ends none
         TERM: workers take no connection any more, answer what they have, and end

uvicorn's own main process ends a worker before it starts another, and waits for neither: a reload would keep every
client waiting while programs load. It waits for a head for ever, and reads one of any size. Both are mended through
what it documents: its classes ``Config`` and ``Server``, and the setting ``http`` for the protocol class.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import logging.config
import multiprocessing
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from http import HTTPStatus
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from casino import logs

RECEIVE_S = float(os.environ.get("CABOCHON_RECEIVE_S", "20"))
"""Seconds from the head of a request to the end of its body. One of the largest size takes 20 s at 0.5 Mbit/s."""

HEAD_S = min(5.0, RECEIVE_S)
"""Seconds from a connection's beginning, or the first byte of a later request, to the end of its head."""

MAX_HEAD = 65_536
"""Most bytes that are read of a head which does not end."""

LINGER_S = 2.0
"""Seconds in which what is still sent of a body is read and dropped after the answer, so that it can be read.

As long does a worker that stops wait for a last request on each connection, to answer that it is the last.
"""

UNREAD_S = 20
"""Seconds after which a connection whose client takes no byte of an answer is closed."""

GRACE_S = 10
"""Seconds a worker that stops has for the requests that it has taken."""

MAX_FILES = 65_536
"""Open files of a process, as far as its account may: a connection is one, an idle one too."""

MAX_WAITING = 2_000
"""Most connections of a worker that wait for their client, at most half of its open files. Of more, the one that has
waited longest is closed: a client that opens many and sends nothing keeps nobody out."""

SWITCH_S = 0.0005
"""Seconds after which a thread that computes gives the interpreter to another that waits for it.

A request to record events needs it several times, and computes little: beside four threads that make pages it would
wait 5 ms, which Python's own value is, for each of them each time.
"""

HUNG_S = 30.0
"""A worker whose loop has not turned for so long is killed, and another started."""

STARTS_WITHIN_S = 120.0
"""A worker that does not serve after this long never will. Two that start on a busy core take half a minute."""

SHARED_FOLDER = "CABOCHON_SHARED_FOLDER"
"""What ``audit.access.password_hashing`` calls alike: a test compares. Imported, it would load Django into the process
that starts workers, and a reload would start them with the code of before."""

HEARTBEAT_FILE = os.environ.get("CABOCHON_HEARTBEAT_FILE", "")
"""What the supervisor watches, if there is one."""

log = logging.getLogger("casino.web")
_fork = multiprocessing.get_context("fork")


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol, with an end to what is slow, and problem documents for what is no HTTP.

    A timer runs only while something is awaited of the client, so that a request which comes whole costs none.
    ``waiting`` has the connections of this process on which something is awaited, or another request may come, in the
    order of their last sign; no more than ``most_waiting``.
    """

    waiting: ClassVar[dict[Protocol, None]] = {}
    most_waiting: ClassVar[int] = MAX_WAITING

    _timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _is_in_head = _is_in_body = _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_S * 1_000)
        self._await(HEAD_S, "head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, or more than one request; await what is still missing."""
        if self._is_refused:
            return
        super().data_received(data)
        if self._is_refused or self.transport.is_closing():
            return
        if self._is_in_body:
            if self._timer is None:
                self._await(RECEIVE_S, "body")
        elif self._is_in_head or self.cycle is None or self.cycle.response_complete:
            if self._timer is None:
                self._await(HEAD_S, "head")
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is too large.")

    def on_message_begin(self) -> None:
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head, self._is_in_body = False, True
        self._head_bytes = 0
        self._end_wait()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_body = False
        self._end_wait()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_in_body and self.cycle.response_complete:  # before the body has come: drop what comes of it
            self._linger()
        elif self.cycle.response_complete and not self.transport.is_closing():
            self._join_waiting()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP: a problem document in place of uvicorn's text."""
        self._refuse(HTTPStatus.BAD_REQUEST, "This is not HTTP as RFC 9112 has it.")

    def _await(self, seconds: float, what: str) -> None:
        self._join_waiting()
        message = f"The {what} of the request did not arrive in time."
        self._timer = self.loop.call_later(seconds, self._refuse, HTTPStatus.REQUEST_TIMEOUT, message)

    def _join_waiting(self) -> None:
        """Wait as the newest. Close the one that has waited longest if there is no room."""
        self.waiting.pop(self, None)
        if len(self.waiting) >= self.most_waiting:
            longest = next(iter(self.waiting))
            del self.waiting[longest]
            longest.transport.close()
        self.waiting[self] = None

    def _end_wait(self) -> None:
        self.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answer, unless an earlier request of the connection is still being answered, and close.

        Closing what still receives resets the connection, and the client would lose the answer.
        """
        self._is_refused = True
        is_awaited = self._is_in_body and not self.pipeline and not self.cycle.response_started
        if self.cycle is None or self.cycle.response_complete or is_awaited:
            problem = {"type": "about:blank", "title": status.phrase, "status": status.value, "code": "malformed"}
            body = json.dumps({**problem, "detail": detail}).encode()
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/problem+json\r\n"
            self.transport.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            self.transport.write_eof()
        self._linger()

    def _linger(self) -> None:
        """Close after a while in which what still comes is dropped."""
        self._end_wait()
        self._join_waiting()
        self._timer = self.loop.call_later(LINGER_S, self.transport.close)


class Server(uvicorn.Server):
    """uvicorn's server, which beats while its loop turns, and tells clients that it stops before it closes."""

    def __init__(self, config: uvicorn.Config, beat: Any, main_pid: int) -> None:
        super().__init__(config)
        self._beat_at, self._main_pid = beat, main_pid

    async def main_loop(self) -> None:
        gc.collect()
        freeze()
        beating = asyncio.create_task(self._beat())
        await super().main_loop()
        beating.cancel()

    async def _beat(self) -> None:
        while True:
            self._beat_at.value = time.monotonic()
            if HEARTBEAT_FILE:
                with suppress(OSError):
                    Path(HEARTBEAT_FILE).touch()
            if os.getppid() != self._main_pid:
                self.should_exit = True
            await asyncio.sleep(1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no connection any more, answer on each that there is once more, and end."""
        for server in self.servers:
            server.close()
        for each in sockets or []:
            each.close()
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        until = time.monotonic() + LINGER_S
        while self.server_state.connections and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)


def freeze() -> None:
    """Freeze the loaded objects: the garbage collector would traverse all of them every few requests."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def serve(application: str, listener: socket.socket, beat: Any, main_pid: int) -> None:
    """Load the application, and serve it until TERM: what a worker process does."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.path.insert(0, os.getcwd())
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    Protocol.most_waiting = min(MAX_WAITING, files // 2)
    sys.setswitchinterval(SWITCH_S)
    config = uvicorn.Config(
        application, loop="uvloop", http=Protocol, ws="none", lifespan="off", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, timeout_keep_alive=15, timeout_graceful_shutdown=GRACE_S,
        backlog=min(MAX_WAITING, files // 4),
    )  # fmt: skip
    Server(config, beat, main_pid).run(sockets=[listener])


class Worker:
    """A worker process. ``beat`` is when its loop turned last, on the monotonic clock; 0 before it serves."""

    def __init__(self, application: str, listener: socket.socket) -> None:
        self.beat = _fork.Value("d", 0.0, lock=False)
        self.process: ForkProcess = _fork.Process(target=serve, args=(application, listener, self.beat, os.getpid()))
        self.process.start()

    @property
    def is_hung(self) -> bool:
        return bool(self.beat.value) and self.beat.value < time.monotonic() - HUNG_S


class Main:
    """The main process: starts workers, replaces those that die or hang, and stops them."""

    def __init__(self, application: str, listener: socket.socket, workers: int) -> None:
        self.application, self.listener, self.count = application, listener, workers
        self.workers: list[Worker] = []
        self.old: list[Worker] = []
        self.is_stopping = self.is_to_reload = False

    def run(self) -> int:
        """Serve until TERM or INT; return the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "is_stopping", True))
        signal.signal(signal.SIGHUP, lambda *_: setattr(self, "is_to_reload", True))
        while not self.is_stopping:
            if self.is_to_reload:
                self.is_to_reload = False
                self._reload()
            self.old = [each for each in self.old if each.process.is_alive()]
            self.workers = [each for each in self.workers if not self._is_lost(each)]
            if len(self.workers) < self.count and not self.is_stopping:
                if self._started(self.workers):
                    notify("READY=1")
                elif not self.is_stopping and not self.workers:
                    log.critical("No worker starts, and none is left.")
                    break
            time.sleep(0.1)
        self.listener.close()
        self._stop([*self.workers, *self.old])
        return 0 if self.is_stopping else 1

    def _is_lost(self, worker: Worker) -> bool:
        """Return whether a worker has died, or hangs, and then kill it."""
        if worker.process.is_alive() and not worker.is_hung:
            return False
        log.error("Worker %s %s; another is started.", worker.process.pid, "hangs" if worker.is_hung else "has died")
        worker.process.kill()
        worker.process.join()
        return True

    def _started(self, workers: list[Worker]) -> bool:
        """Start a worker, and wait until it serves; another if it is killed meanwhile. Return False if none does."""
        worker = Worker(self.application, self.listener)
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not worker.beat.value:
            if self.is_stopping or (worker.process.exitcode or 0) > 0 or time.monotonic() > deadline:
                worker.process.kill()
                worker.process.join()
                return False
            if worker.process.exitcode is not None:
                worker = Worker(self.application, self.listener)
            time.sleep(0.05)
        workers.append(worker)
        return True

    def _reload(self) -> None:
        """Start new workers one after the other, and then stop the old ones; if one does not start, keep these."""
        new: list[Worker] = []
        while len(new) < self.count:
            if not self._started(new):
                log.critical("The new workers do not start, and the old ones go on.")
                self._stop(new)
                return
        for each in self.workers:
            each.process.terminate()
        self.old += self.workers
        self.workers = new

    def _stop(self, workers: list[Worker]) -> None:
        for each in workers:
            each.process.terminate()
        deadline = time.monotonic() + LINGER_S + GRACE_S + 3
        for each in workers:
            each.process.join(max(0.0, deadline - time.monotonic()))
            each.process.kill()


def bound(address: str) -> socket.socket:
    """Return the socket of ``HOST:PORT``, which does not listen yet, or the one inherited as ``fd://NUMBER``.

    Workers listen once they serve. Until then, and after the last of them, a connection is refused at once: a proxy
    with other web servers asks those, and nobody waits for a program to load.
    """
    if address.startswith("fd://"):
        return socket.socket(fileno=int(address.removeprefix("fd://")))
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    taken = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind((host, int(port)))
    return taken


def notify(state: str) -> None:
    """Tell systemd, if it has started this, what ``sd_notify(3)`` names."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sent:
            sent.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)


def main() -> int:
    """Run the web server. The one argument is the application, ``casino.asgi:application`` unless it is given."""
    logging.config.dictConfig(logs.configuration())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, MAX_FILES)), hard))
    application = sys.argv[1] if len(sys.argv) > 1 else "casino.asgi:application"
    listener = bound(os.environ.get("CABOCHON_BIND", "127.0.0.1:8000"))
    with tempfile.TemporaryDirectory(prefix="cabochon-web-") as folder:
        # What the workers have measured, together; and whose turn it is to hash (``audit.access.password_hashing``).
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = os.environ[SHARED_FOLDER] = folder
        return Main(application, listener, int(os.environ.get("CABOCHON_WEB_WORKERS", "2"))).run()


if __name__ == "__main__":
    sys.exit(main())
