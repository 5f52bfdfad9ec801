"""Posts a night to the API as a table system does: over one connection, each batch until it is stored."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from audit.simulation.nights import Night

RETRY_FOR_S = 120
"""How long a batch is retried before posting stops."""

RETRIED = frozenset({429, 503})


class PostRejected(Exception):
    """The API refused a batch, or could not store it for ``RETRY_FOR_S``. The message has its status and body."""


class Post:
    """A connection to the API at ``url``, with an API key."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        connection = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._connection = connection(address.hostname or "localhost", address.port, timeout=30)
        self._prefix = address.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}

    def send(self, stream: str, events: Sequence[dict[str, Any]]) -> None:
        """Send events until they are stored. Raise ``PostRejected`` if the API refuses them or keeps failing."""
        body = b"".join(
            json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for event in events
        )
        deadline = time.monotonic() + RETRY_FOR_S
        while True:
            status, content, retry_after_s = self._try(stream, body)
            if status in (200, 201):
                return
            if status not in RETRIED or time.monotonic() > deadline:
                raise PostRejected(f"{stream}: {status} {content}")
            time.sleep(retry_after_s)

    def _try(self, stream: str, body: bytes) -> tuple[int, str, float]:
        """Return status, body and seconds until a retry; 503 and the error if the connection breaks."""
        try:
            self._connection.request("POST", f"{self._prefix}/api/v1/streams/{stream}/events", body, self._headers)
            answer = self._connection.getresponse()
            content = answer.read().decode("utf-8", "replace")
            return answer.status, content, _wait_s(answer.headers.get("Retry-After"))
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            return 503, str(error), 0.5

    def close(self) -> None:
        self._connection.close()


def _wait_s(retry_after: str | None) -> float:
    """Return the seconds of a ``Retry-After`` header; 1 if it is absent or a date."""
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else 1.0


def in_turn(nights: Sequence[Night], batch: int) -> Iterator[tuple[Night, list[dict[str, Any]]]]:
    """Yield the batches of every night in the order in which they happened, so that posting looks live.

    Batches of one stream keep their order, whatever its clock says. Streams are compared by the time since midnight,
    because the gaming day of the Québec tables is years before the others'.
    """
    batches: list[tuple[float, int, Night, list[dict[str, Any]]]] = []
    for index, night in enumerate(nights):
        opened = datetime.fromisoformat(night.events[0]["occurred_at"])
        evening = opened.replace(hour=0, minute=0, second=0, microsecond=0)
        latest_s = 0.0
        for start in range(0, len(night.events), batch):
            events = night.events[start : start + batch]
            elapsed = datetime.fromisoformat(events[0]["occurred_at"]) - evening
            latest_s = max(latest_s, elapsed.total_seconds())
            batches.append((latest_s, index, night, events))
    for _elapsed_s, _index, night, events in sorted(batches, key=lambda each: each[:2]):
        yield night, events
