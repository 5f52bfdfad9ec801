"""The ASGI application: plain requests to record events wait in a queue and are stored together; all else is Django's.

    head, body in time ─┬─ plain, one event ──► waits ─► one thread takes all that wait ─► one commit ─► an answer each
                        ├─ plain, more events ──► a thread ─► one commit
                        └─ anything else, or without an answer from these ──► a thread ─► Django (WSGI)

Whether a request is plain is decided by its head and never refuses it: ``audit.api.recording`` stores it, or has no
answer, and then Django has one. The headers of an answer are those that Django's middleware gives to such a head
(``audit.api.policy``). Each of the threads keeps its connection to the database, so there are as many as threads.

First come, first served: of those that wait, the oldest ``MAX_TOGETHER`` are taken. While these wait for the database
for more than ``STUCK_S``, what else comes goes to the other threads.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any

from asgiref.wsgi import WsgiToAsgiInstance
from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
_django = get_wsgi_application()

from audit.api.policy import HEADERS, Headers, Policy  # noqa: E402  (Django is set up now)
from audit.api.problems import Problem, answer  # noqa: E402
from audit.api.recording import Answer, Plain, Recorder  # noqa: E402
from audit.api.request_body import MAX_BYTES  # noqa: E402
from audit.desk.page_checks import check_pages  # noqa: E402
from audit.ingest.bodies import JSON  # noqa: E402
from casino.request_ids import bind_request, request_id_of  # noqa: E402
from casino.request_metrics import Measured, Receive, Scope, Send  # noqa: E402

REFUSED_S = 1.0
"""How long a client that has asked for too much waits for that answer, unless it goes. No thread waits with it.

It may come back after as long, and refusals to one that comes back at once would cost as much as answers.
"""

SEND_S = 20.0
"""How long a client may take nothing of a stream before it is closed."""

MAX_BODY = 2 * 1024 * 1024
"""Most bytes that are read of a body, twice what the API takes: Django refuses it by its length, or by this one's."""

MAX_FILE = (settings.CABOCHON_ATTACHMENT_MB + 1) * 1024 * 1024
"""Most bytes that are read of the form with a file of a case: of one a little too large, the page says so."""

FILES_AT_ONCE = 4
"""Such forms that a process reads and answers at once; further ones wait unread, so that no crowd fills the memory."""

TOO_LARGE = "cabochon.too_large"
"""What the environment says of a request whose body was not read, because it is too long."""

MAX_TARGET = 4_094
"""Most bytes of a request's target."""

MAX_FIELD = 8_190
"""Most bytes of one header."""

MAX_TOGETHER = 64
"""Most requests that are stored together: a few milliseconds of work."""

GATHER_S = 0.002
"""How long fewer requests than were stored the last time wait for more: a commit costs several times an event."""

MAX_SINGLE = 16_384
"""Largest body, in bytes, that is looked at as one event."""

STUCK_S = 1.0
"""After this long in the database the queue takes no more requests."""

_ADDRESS = re.compile(r"/api/v1/streams/([A-Za-z0-9._:-]{1,100})/events")
_ATTACHES = re.compile(r"/admin/audit/finding/[0-9]+/attach/")
_JSON = JSON.encode()
_NOT_PLAIN = frozenset({b"cookie", b"content-encoding", b"cabochon-signature"})


class Queue:
    """Requests that wait, and the task that has them stored, all that wait at a time."""

    def __init__(self, store: Callable[[list[tuple[Plain, bytes]]], list[Answer | None]], thread: Executor) -> None:
        self._store, self._thread = store, thread
        self._waiting: deque[tuple[tuple[Plain, bytes], asyncio.Future[Answer | None]]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._is_stuck = False
        self._enough = 0
        self._gathered: asyncio.Future[None] | None = None

    async def put(self, plain: Plain, body: bytes) -> Answer | None:
        """Have a request stored; return its answer, None if it is Django's."""
        if self._is_stuck:
            return None
        loop = asyncio.get_running_loop()
        waits: asyncio.Future[Answer | None] = loop.create_future()
        self._waiting.append(((plain, body), waits))
        if self._gathered is not None and len(self._waiting) >= self._enough:
            _answer(self._gathered, None)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run())
        return await waits

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            taken = [self._waiting.popleft() for _ in range(min(MAX_TOGETHER, len(self._waiting)))]
            stuck = loop.call_later(STUCK_S, self._leave)
            try:
                answers = await loop.run_in_executor(self._thread, self._store, [request for request, _ in taken])
            except Exception:  # it never should: the requests are answered all the same
                answers = [None] * len(taken)
            stuck.cancel()
            self._is_stuck = False
            for (_, waits), each in zip(taken, answers, strict=True):
                _answer(waits, each)
            if len(self._waiting) < len(taken):
                self._enough, self._gathered = len(taken), loop.create_future()
                late = loop.call_later(GATHER_S, _answer, self._gathered, None)
                await self._gathered
                late.cancel()

    def _leave(self) -> None:
        """Leave what waits, and what comes, to the other threads."""
        self._is_stuck = True
        while self._waiting:
            _answer(self._waiting.popleft()[1], None)


def _answer(waits: asyncio.Future[Any], given: Answer | None) -> None:
    if not waits.done():  # nobody waits any more if the server has stopped
        waits.set_result(given)


class Application:
    """The application: ``django`` is WSGI's, ``threads`` run it, and one ``thread`` stores what waits."""

    def __init__(self, django: Callable[..., Iterable[bytes]], *, threads: Executor, thread: Executor) -> None:
        self._django, self._threads = django, threads
        self._recorder, self._policy = Recorder(), Policy()
        self._queue = Queue(self._recorder.together, thread)
        self._files = asyncio.Semaphore(FILES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A name with an underscore would be taken for the one with a hyphen: a proxy drops only the latter.
        scope["headers"] = headers = [each for each in scope["headers"] if b"_" not in each[0]]
        heads = dict(headers)
        request_id = request_id_of(heads.get(b"x-request-id", b""))
        if (refusal := _refusal(scope, headers)) is not None:
            await _send(send, *_whole(refusal), request_id)
            return
        if scope["method"] == "POST" and _ATTACHES.fullmatch(scope["path"]):
            async with self._files:
                await self._answer(scope, heads, receive, send, request_id, MAX_FILE)
        else:
            await self._answer(scope, heads, receive, send, request_id, MAX_BODY)

    async def _answer(
        self, scope: Scope, heads: dict[bytes, bytes], receive: Receive, send: Send, request_id: bytes, most: int
    ) -> None:
        """Read the body of a request, at most ``most`` bytes, and answer it."""
        try:
            body = await _body(receive, heads.get(b"content-length", b"0"), most)
        except ConnectionError:
            return
        match = _ADDRESS.fullmatch(scope["path"]) if scope["method"] == "POST" else None
        if match is not None and _is_plain(scope, heads, body) and len(heads) == len(scope["headers"]):
            recorded = await self._record(scope, match[1], heads, body)
            if recorded is not None:
                await send({"type": "http.response.start", "status": 201, "headers": [
                    *recorded[0], *recorded[1].rate, (b"content-length", b"%d" % len(recorded[1].content)),
                    (b"x-request-id", request_id),
                ]})  # fmt: skip
                await send({"type": "http.response.body", "body": recorded[1].content})
                return
        await self._leave_to_django(scope, body, receive, send, request_id)

    async def _record(
        self, scope: Scope, stream: str, heads: dict[bytes, bytes], body: bytes
    ) -> tuple[Headers, Answer] | None:
        """Return the headers and the rest of the answer to a plain request; None if Django has one."""
        loop = asyncio.get_running_loop()
        kind = (scope["scheme"], scope["server"], *map(heads.get, HEADERS))
        try:
            headers = self._policy.known[kind]
        except KeyError:
            headers = await loop.run_in_executor(self._threads, self._policy.ask, kind)
        if headers is None:
            return None
        sender = {
            "REMOTE_ADDR": (scope["client"] or ("",))[0],
            "HTTP_AUTHORIZATION": heads.get(b"authorization", b"").decode("latin-1"),
        }
        if b"x-forwarded-for" in heads:
            sender["HTTP_X_FORWARDED_FOR"] = heads[b"x-forwarded-for"].decode("latin-1")
        plain = Plain(stream, sender)
        if len(body) <= MAX_SINGLE and body.count(b'"seq"') == 1:
            recorded = await self._queue.put(plain, body)
        else:
            recorded = await loop.run_in_executor(self._threads, self._recorder.alone, plain, body)
        return None if recorded is None else (headers, recorded)

    async def _leave_to_django(
        self, scope: Scope, body: bytes, receive: Receive, send: Send, request_id: bytes
    ) -> None:
        loop = asyncio.get_running_loop()
        is_gone = threading.Event()

        async def watch() -> None:
            if (await receive())["type"] == "http.disconnect":
                is_gone.set()

        def send_now(message: dict[str, Any]) -> None:
            if is_gone.is_set():
                raise ConnectionError("the client has gone")
            asyncio.run_coroutine_threadsafe(send(message), loop).result(SEND_S)  # type: ignore[arg-type]

        watching = loop.create_task(watch())
        try:
            answered = partial(self._answer_by_django, scope, body, request_id, send_now)
            whole = await loop.run_in_executor(self._threads, answered)
            if whole is not None:
                if whole[0] == HTTPStatus.TOO_MANY_REQUESTS:
                    await asyncio.wait([watching], timeout=REFUSED_S)
                await _send(send, *whole, request_id)
        finally:
            is_gone.set()
            watching.cancel()

    def _answer_by_django(
        self, scope: Scope, body: bytes, request_id: bytes, send_now: Callable[[dict[str, Any]], None]
    ) -> tuple[int, list[tuple[str, str]], bytes] | None:
        """Have Django answer, in a thread. Return its answer, None if it is a stream, which has been sent."""
        bind_request(request_id, scope["path"])
        environ = environ_of(scope, body)
        if environ is None:
            return _whole(Problem(400, "malformed", "The head of the request cannot be read."))
        started: list[Any] = []
        response: Any = self._django(environ, lambda status, headers, *_: started.extend((status, headers)))
        try:
            status, headers = int(started[0][:3]), started[1]
            if not getattr(response, "streaming", False) or response.has_header("Content-Length"):
                return status, headers, b"".join(response)
            send_now(_start(status, headers, request_id))
            for chunk in response:
                send_now({"type": "http.response.body", "body": chunk, "more_body": True})
            send_now({"type": "http.response.body", "body": b""})
            return None
        finally:
            response.close()


def _is_plain(scope: Scope, heads: dict[bytes, bytes], body: bytes) -> bool:
    return (
        heads.get(b"content-type") == _JSON
        and not scope["query_string"]
        and 0 < len(body) <= MAX_BYTES
        and len(body) == int(heads.get(b"content-length", len(body)))
        and _NOT_PLAIN.isdisjoint(heads)
    )


def _refusal(scope: Scope, headers: list[tuple[bytes, bytes]]) -> Problem | None:
    """Return why the head of a request is refused, None if it is not."""
    if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_TARGET:
        return Problem(414, "malformed", f"The target of a request has at most {MAX_TARGET} bytes.")
    if max([len(value) for _, value in headers], default=0) > MAX_FIELD:
        return Problem(431, "malformed", f"A header has at most {MAX_FIELD} bytes.")
    return None


async def _body(receive: Receive, length: bytes, most: int) -> bytes:
    """Return the body of a request, b"" of one that is too long by its own account. The server sees to the time.

    Raise ``ConnectionError`` if the client goes.
    """
    if not length.isdigit() or len(length) > 9 or int(length) > most:
        return b""
    body = bytearray()
    while len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        body += message["body"]
        if not message.get("more_body"):
            break
    return bytes(body)


def environ_of(scope: Scope, body: bytes) -> dict[str, Any] | None:
    """Return the WSGI environment of a request whose body has been read; None for a head that has none."""
    adapter = WsgiToAsgiInstance(None)  # type: ignore[no-untyped-call]
    adapter.scope = scope
    try:
        environ: dict[str, Any] = adapter.build_environ(scope, io.BytesIO(body))  # type: ignore[no-untyped-call]
    except ValueError:  # a hundred headers of one name, or a query that is not ASCII
        return None
    if environ.pop("HTTP_TRANSFER_ENCODING", None) is not None:
        environ["CONTENT_LENGTH"] = str(len(body))
    environ[TOO_LARGE] = environ.get("CONTENT_LENGTH", "").isdigit() and int(environ["CONTENT_LENGTH"]) > len(body)
    return environ


def _whole(refusal: Problem) -> tuple[int, list[tuple[str, str]], bytes]:
    response = answer(refusal)
    return response.status_code, [*response.items(), ("Content-Length", str(len(response.content)))], response.content


async def _send(send: Send, status: int, headers: Iterable[tuple[str, str]], content: bytes, request_id: bytes) -> None:
    await send(_start(status, headers, request_id))
    await send({"type": "http.response.body", "body": content})


def _start(status: int, headers: Iterable[tuple[str, str]], request_id: bytes) -> dict[str, Any]:
    """Return the message that begins an answer."""
    sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": [*sent, (b"x-request-id", request_id)]}


if faults := check_pages():
    raise SystemExit("\n".join(map(str, faults)))  # a page that anybody could see is not served

application = Measured(
    Application(
        _django,
        threads=ThreadPoolExecutor(int(os.environ.get("CABOCHON_WEB_THREADS", "4")), "web"),
        thread=ThreadPoolExecutor(1, "queue"),
    )
)
