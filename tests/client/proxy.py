"""A proxy that cannot be relied on: it cuts, delays, duplicates and answers in the record's name, by a seed.

client ─► read whole ─► nothing │ cut │ 502 │ 503 │ 429        before the record has the request
                          ▼
                        record, once or twice at the same time
                          ▼
          answer whole │ cut │ half of it │ 502 │ late         after the record has stored it
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

FAULTS = {
    "pass": 0.60,
    "cut before": 0.05,
    "502 before": 0.05,
    "503": 0.03,
    "429": 0.02,
    "duplicate": 0.05,
    "delay": 0.05,
    "cut after": 0.06,
    "half an answer": 0.04,
    "502 after": 0.05,
}
"""What becomes of a request, and how often."""

BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<h1>502</h1>"
NOT_NOW = b"HTTP/1.1 %s\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
DELAY_S = 0.3


class Proxy:
    """A proxy to ``port`` that listens at ``url`` and counts what it did in ``done``."""

    def __init__(self, port: int, seed: int, faults: dict[str, float] = FAULTS) -> None:
        self._to = port
        self._draw = random.Random(seed)
        self._faults = faults
        self._listens = threading.Event()
        self._loop = asyncio.new_event_loop()
        self.done: Counter[str] = Counter()
        self.paths: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**22))
        self.port = server.sockets[0].getsockname()[1]
        self._listens.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    def wait(self) -> None:
        assert self._listens.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _message(reader):
                self.paths.append(request.split(b" ", 2)[1].decode())
                if not await self._answer(request, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Do what is drawn for a request. Return whether the connection is kept."""
        [fault] = self._draw.choices(list(self._faults), weights=list(self._faults.values()))
        self.done[fault] += 1
        match fault:
            case "cut before":
                return False
            case "502 before":
                return await _write(writer, BAD_GATEWAY)
            case "503":
                return await _write(writer, NOT_NOW % b"503 Service Unavailable")
            case "429":
                return await _write(writer, NOT_NOW % b"429 Too Many Requests")
            case "delay":
                await asyncio.sleep(self._draw.random() * DELAY_S)
        copies = 2 if fault == "duplicate" else 1
        answers = await asyncio.gather(*(self._forward(request) for _ in range(copies)), return_exceptions=True)
        answer = answers[self._draw.randrange(copies)]
        if fault == "cut after" or not isinstance(answer, bytes) or not answer:
            return False
        if fault == "502 after":
            return await _write(writer, BAD_GATEWAY)
        if fault == "half an answer":
            await _write(writer, answer[: len(answer) // 2])
            return False
        return await _write(writer, answer)

    async def _forward(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._to, limit=2**22)
        try:
            writer.write(request)
            await writer.drain()
            return await _message(reader)
        finally:
            writer.close()


async def _message(reader: asyncio.StreamReader) -> bytes:
    """Return a whole request or answer with its body, b"" at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return head + (await reader.readexactly(length) if length else b"")


async def _write(writer: asyncio.StreamWriter, content: bytes) -> bool:
    with suppress(OSError):
        writer.write(content)
        await writer.drain()
        return True
    return False


@contextmanager
def proxy(port: int, seed: int, faults: dict[str, float] = FAULTS) -> Iterator[Proxy]:
    """Run a proxy to ``port`` in a thread of its own until the block ends."""
    running = Proxy(port, seed, faults)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    running.wait()
    try:
        yield running
    finally:
        running.stop()
        thread.join(10)
