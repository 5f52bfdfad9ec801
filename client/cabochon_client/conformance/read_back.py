"""What the record has of a session: read by the interface, whoever has sent it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from cabochon_client.answers import problem_in
from cabochon_client.link import KeyRing, Link

PAGE = 1_000
POLL_S = 0.5


class NotReadable(Exception):
    """The record does not show what is needed; the message says what it answered and what to do."""


@dataclass(frozen=True)
class OwnKey:
    """What the key is. ``tables`` are the codes of those it reports on."""

    casino: str
    is_sandbox: bool
    tables: tuple[str, ...]
    scopes: frozenset[str]


@dataclass(frozen=True)
class Recorded:
    """A session as the record has it. ``adjudication`` is None while no worker has read it."""

    stream: str
    next_seq: int
    is_adjudicated: bool
    events: list[dict[str, Any]]
    batches: list[dict[str, Any]]
    adjudication: dict[str, Any] | None
    findings: list[dict[str, Any]]

    @property
    def observes(self) -> frozenset[str]:
        """The families that the session lists."""
        return frozenset(self.events[0].get("data", {}).get("observes", ())) if self.events else frozenset()


class Reader:
    """Reads what the record has, with the first of the keys that is accepted."""

    def __init__(self, link: Link, ring: KeyRing) -> None:
        self._link, self._ring = link, ring

    def own_key(self) -> OwnKey:
        """Return what the key is. Raise ``NotReadable``."""
        content = self._get("/api/v1/key")
        tables, scopes = content.get("tables"), content.get("scopes")
        if not isinstance(tables, list) or not isinstance(scopes, list):
            raise NotReadable("GET /api/v1/key does not say what the key is: is the record older than this client?")
        return OwnKey(str(content.get("casino")), content.get("sandbox") is True, tuple(tables), frozenset(scopes))

    def streams(self) -> list[str]:
        """Return the names of the newest streams, the newest first."""
        return [str(each["stream"]) for each in self._get("/api/v1/streams")["streams"]]

    def is_closed(self, stream: str) -> bool:
        """Return whether the session has its end."""
        standing = self._get(f"/api/v1/streams/{quote(stream)}")
        last = self._get(f"/api/v1/streams/{quote(stream)}/events?after={max(0, standing['next_seq'] - 2)}")["events"]
        return bool(last) and last[-1]["type"] in ("session.closed", "count.closed")

    def read(self, stream: str, *, timeout_s: float) -> Recorded:
        """Return what the record has of a session, adjudicated to its end if that comes within ``timeout_s``."""
        path = f"/api/v1/streams/{quote(stream)}"
        deadline = time.monotonic() + timeout_s
        standing = self._get(path)
        while standing["adjudicated_through"] < standing["next_seq"] - 1 and time.monotonic() < deadline:
            time.sleep(POLL_S)
            standing = self._get(path)
        is_adjudicated = standing["adjudicated_through"] >= standing["next_seq"] - 1
        return Recorded(
            stream,
            standing["next_seq"],
            is_adjudicated,
            self._all(path, "events", "seq"),
            self._all(path, "batches", "first_seq"),
            self._get(f"{path}/adjudication") if is_adjudicated else None,
            self._findings(stream),
        )

    def _all(self, path: str, what: str, number: str) -> list[dict[str, Any]]:
        """Return every page of a list of a stream, whose rows come by their ``number``."""
        rows: list[dict[str, Any]] = []
        while True:
            after = rows[-1][number] if rows else 0
            page = self._get(f"{path}/{what}?after={after}&limit={PAGE}")[what]
            rows += page
            if len(page) < PAGE:
                return rows

    def _findings(self, stream: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        path: str | None = f"/api/v1/findings?status=standing&stream={quote(stream)}"
        while path is not None:
            page = self._get(path)
            found += page["results"]
            following = page.get("next")
            path = following[following.index("/api/v1/") :] if following else None
        return sorted(found, key=lambda each: (each["seq"], each["rule"]))

    def _get(self, path: str) -> dict[str, Any]:
        answer = self._ring.ask(self._link, "GET", path)
        if answer.status != 200:
            problem = problem_in(answer)
            raise NotReadable(
                f"GET {path.partition('?')[0]}: {answer.status} {problem['code']}: {problem.get('detail')}"
            )
        try:
            content = json.loads(answer.body)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise NotReadable(f"GET {path.partition('?')[0]}: the answer is no JSON object")
        return content
