"""The answer to a client that asks for too much: it waits a second, and no thread waits with it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from casino import asgi, web
from casino.asgi import Application


def django(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """Refuse what asks for ``/much``, and answer the rest."""

    class Response(list[bytes]):
        def close(self) -> None:
            pass

    start("429 Too Many Requests" if environ["PATH_INFO"] == "/much" else "200 OK", [])
    return Response([b"answer"])


def scope(path: str) -> dict[str, Any]:
    return {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": [],
        "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
        "root_path": "", "http_version": "1.1",
    }  # fmt: skip


class Client:
    """A client that sends a request without a body, and goes when it is told to."""

    def __init__(self, application: Application, path: str) -> None:
        self.statuses: list[int] = []
        self.is_gone = asyncio.Event()
        self._has_sent = False
        self.answered = asyncio.create_task(application(scope(path), self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if not self._has_sent:
            self._has_sent = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.is_gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])


@pytest.fixture
def application() -> Application:
    return Application(django, threads=ThreadPoolExecutor(1), thread=ThreadPoolExecutor(1))


def test_a_refusal_waits_while_the_only_thread_answers_others(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi, "REFUSED_S", 600.0)

    async def both() -> None:
        refused = Client(application, "/much")
        for _ in range(3):
            other = Client(application, "/page")
            await other.answered
            assert other.statuses == [200]
        assert refused.statuses == []
        refused.is_gone.set()
        await refused.answered  # it waits no longer for a client that has gone

    asyncio.run(both())


def test_a_refusal_comes_once_its_time_is_over(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "REFUSED_S", 0.05)

    async def alone() -> float:
        began_at = asyncio.get_running_loop().time()
        refused = Client(application, "/much")
        await refused.answered
        assert refused.statuses == [429]
        return asyncio.get_running_loop().time() - began_at

    assert asyncio.run(alone()) >= 0.05


def test_a_thread_of_the_server_that_computes_gives_way_soon() -> None:
    program = (
        "import sys, casino.web as web\n"
        "class Server:\n"
        "    def __init__(self, *given): pass\n"
        "    def run(self, sockets): print(sys.getswitchinterval())\n"
        "web.Server = Server\n"
        "web.serve('casino.asgi:application', None, None, 0)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(ended.stdout) == pytest.approx(web.SWITCH_S)
