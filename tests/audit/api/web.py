"""The web server's application for tests: called as WSGI is, and all of it in the thread of the caller.

So it is in the caller's transaction, and what ends the caller's thread ends a request in the middle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Any

from django.core.handlers.wsgi import WSGIHandler

from casino.asgi import Application


class Inline(Executor):
    """Runs what it is given at once, in the thread that gives it."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)  # Django's connections are those of a thread without a loop
        try:
            done.set_result(function(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        except BaseException as end:  # the process is killed: no other task of its loop runs any more
            raise SystemExit from end
        finally:
            asyncio._set_running_loop(loop)
        return done


class Web:
    """A web server's application in front of ``django``, with nothing cached."""

    def __init__(self, django: Callable[..., Iterable[bytes]] | None = None) -> None:
        inline = Inline()
        self.application = Application(django or WSGIHandler(), threads=inline, thread=inline)
        self.recorder = self.application._recorder
        self.policy = self.application._policy

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Answer a request. It has an ``X-Request-ID``, which is left out."""
        sent: list[dict[str, Any]] = []
        try:
            asyncio.run(self._answer(environ, sent))
        except SystemExit as end:
            raise end.__cause__ or end from None
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in sent[0]["headers"]]
        start_response(f"{sent[0]['status']} as it is", [each for each in headers if each[0] != "x-request-id"])
        return [message.get("body", b"") for message in sent[1:]]

    async def _answer(self, environ: dict[str, Any], sent: list[dict[str, Any]]) -> None:
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))  # of a socket: not to its end
        body = [{"type": "http.request", "body": content, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return body.pop() if body else await asyncio.Future()  # type: ignore[no-any-return]

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.application(scope_of(environ), receive, send)


def scope_of(environ: dict[str, Any]) -> dict[str, Any]:
    """Return the ASGI scope of a request, given its WSGI environment."""
    headers = [
        (name.removeprefix("HTTP_").replace("_", "-").lower().encode(), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")
    ]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": environ["wsgi.url_scheme"],
        "path": environ["PATH_INFO"],
        "raw_path": environ["PATH_INFO"].encode(),
        "query_string": environ["QUERY_STRING"].encode(),
        "server": (environ["SERVER_NAME"], int(environ["SERVER_PORT"])),
        "client": (environ.get("REMOTE_ADDR", "127.0.0.1"), 1),
        "headers": headers,
    }
