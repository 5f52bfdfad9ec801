"""Posting a night to the interface, as table systems do: one open line, every batch sent until it is stored."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from audit.simulation.nights import Night

PATIENCE_S = 120
"""How long one batch is tried before the posting gives up."""

AGAIN = frozenset({429, 503})


class PostRejected(Exception):
    """The interface refused a batch for good. The message holds its answer."""


class Post:
    """A line to the interface at ``url``, with ``key``."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        line = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._line = line(address.hostname or "localhost", address.port, timeout=30)
        self._prefix = address.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}

    def send(self, stream: str, events: Sequence[dict[str, Any]]) -> None:
        """Send events until they are stored. Raise ``PostRejected`` where they never will be."""
        body = b"".join(
            json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for event in events
        )
        deadline = time.monotonic() + PATIENCE_S
        while True:
            status, said, retry_after_s = self._try(stream, body)
            if status in (200, 201):
                return
            if status not in AGAIN or time.monotonic() > deadline:
                raise PostRejected(f"{stream}: {status} {said}")
            time.sleep(retry_after_s)

    def _try(self, stream: str, body: bytes) -> tuple[int, str, float]:
        """Return the status, what was said, and how long to wait; a line that broke counts as 503."""
        try:
            self._line.request("POST", f"{self._prefix}/api/v1/streams/{stream}/events", body, self._headers)
            answer = self._line.getresponse()
            said = answer.read().decode("utf-8", "replace")
            return answer.status, said, _wait_s(answer.headers.get("Retry-After"))
        except (OSError, http.client.HTTPException) as error:
            self._line.close()
            return 503, str(error), 0.5

    def close(self) -> None:
        self._line.close()


def _wait_s(retry_after: str | None) -> float:
    """Return the seconds of a ``Retry-After``. One that names a date instead is asked again in a second."""
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else 1.0


def in_turn(nights: Sequence[Night], batch: int) -> Iterator[tuple[Night, list[dict[str, Any]]]]:
    """Yield the batches of every night in the order in which they happened, so that the posting looks live.

    A stream's own batches never change places, whatever its clock says. The Québec tables' day is years before the
    others': what counts is the hour of the evening.
    """
    batches: list[tuple[float, int, Night, list[dict[str, Any]]]] = []
    for place, night in enumerate(nights):
        opened = datetime.fromisoformat(night.events[0]["occurred_at"])
        evening = opened.replace(hour=0, minute=0, second=0, microsecond=0)
        latest_s = 0.0
        for start in range(0, len(night.events), batch):
            events = night.events[start : start + batch]
            elapsed = datetime.fromisoformat(events[0]["occurred_at"]) - evening
            latest_s = max(latest_s, elapsed.total_seconds())
            batches.append((latest_s, place, night, events))
    for _elapsed_s, _place, night, events in sorted(batches, key=lambda each: each[:2]):
        yield night, events
