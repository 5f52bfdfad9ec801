"""A form that attaches a file may be larger than any other body; what is too large is said to be so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import RequestFactory
from django.test.utils import override_settings

from casino import asgi, errors
from casino.asgi import FILES_AT_ONCE, MAX_BODY, MAX_FILE, TOO_LARGE, Application
from tests.casino.test_web_refusals import scope

ATTACH = "/admin/audit/finding/47/attach/"
CHUNK = b"x" * 65_536


class Django:
    """An application that keeps what it was sent: bytes of the body, and whether that was too large."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, bool]] = []

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        class Response(list[bytes]):
            def close(self) -> None:
                pass

        self.sent.append((len(environ["wsgi.input"].read()), environ[TOO_LARGE]))
        start("200 OK", [])
        return Response([b"answer"])


@pytest.fixture
def django() -> Django:
    return Django()


@pytest.fixture
def application(django: Django) -> Application:
    return Application(django, threads=ThreadPoolExecutor(1), thread=ThreadPoolExecutor(1))


async def post(application: Application, path: str, chunks: int, reads: Callable[[], Any] | None = None) -> None:
    """Post so many chunks; ``reads`` is awaited before each."""
    left = [chunks]

    async def receive() -> dict[str, Any]:
        if reads is not None:
            await reads()
        if not left[0]:
            await asyncio.Event().wait()
        left[0] -= 1
        return {"type": "http.request", "body": CHUNK, "more_body": left[0] > 0}

    async def send(message: dict[str, Any]) -> None:
        pass

    head = scope(path) | {"method": "POST", "headers": [(b"content-length", b"%d" % (chunks * len(CHUNK)))]}
    await application(head, receive, send)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "size", "is_read"),
    [
        (ATTACH, MAX_FILE, True),
        (ATTACH, MAX_FILE + len(CHUNK), False),
        (ATTACH + "x", MAX_BODY + len(CHUNK), False),
        ("/admin/audit/finding/47/case/take/", MAX_BODY, True),
        ("/admin/audit/finding/47/case/take/", MAX_BODY + len(CHUNK), False),
        ("/api/v1/streams/s/events", MAX_BODY + len(CHUNK), False),
    ],
)
def test_only_the_form_of_a_file_is_read_beyond_two_mebibytes(
    application: Application, django: Django, path: str, size: int, is_read: bool
) -> None:
    asyncio.run(post(application, path, size // len(CHUNK)))
    assert django.sent == [(size if is_read else 0, not is_read)]


def test_a_crowd_of_files_is_not_read_at_once(application: Application, django: Django) -> None:
    async def crowd() -> None:
        reading: list[None] = []
        goes_on = asyncio.Event()

        async def reads() -> None:
            reading.append(None)
            await goes_on.wait()

        posts = [asyncio.create_task(post(application, ATTACH, 1, reads)) for _ in range(3 * FILES_AT_ONCE)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(reading) == FILES_AT_ONCE
        await post(application, "/admin/audit/finding/47/case/take/", 1)  # others are not held up
        goes_on.set()
        await asyncio.gather(*posts)

    asyncio.run(crowd())
    assert len(django.sent) == 3 * FILES_AT_ONCE + 1


@override_settings(CABOCHON_ATTACHMENT_MB=7)
def test_a_form_that_is_too_large_is_said_to_be_so() -> None:
    too_large = errors.form_refused(RequestFactory().post("/admin/", **{TOO_LARGE: True}))
    assert too_large.status_code == 413
    assert "a file of a case at most 7 MB" in too_large.content.decode()
    refused = errors.form_refused(RequestFactory().post("/admin/", **{TOO_LARGE: False}))
    assert refused.status_code == 403
    assert asgi.MAX_FILE > asgi.MAX_BODY
