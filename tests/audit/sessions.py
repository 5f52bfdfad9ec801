"""Events for the tests of the record: one stream, in order, as a table system sends them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

Event = dict[str, Any]


def unique_name() -> str:
    """Return a stream's name that no other test has: no test deletes an event."""
    return f"deauville.C1.{uuid4().hex}"


def event(stream: str, seq: int, type: str = "no_more_bets", **data: Any) -> Event:
    return {
        "stream": stream,
        "seq": seq,
        "type": type,
        "occurred_at": f"2026-11-19T20:{seq // 60 % 60:02}:{seq % 60:02}+01:00",
        "data": data,
    }


def opener(stream: str, *, casino: str, seq: int = 1, **changed: Any) -> Event:
    data = {
        "casino": casino,
        "table": "C1",
        "gaming_day": "2026-11-19",
        "game": "craps",
        "ruleset": "fr-craps",
        "currency": "EUR",
        "float": 5_000_000,
        "observes": ["calls"],
    }
    return event(stream, seq, "session.opened", **(data | changed))


def wagers(stream: str, first: int, last: int) -> list[Event]:
    return [
        event(stream, seq, "wager.placed", wager=f"w{seq}", bet="win", stake=1_000 + seq)
        for seq in range(first, last + 1)
    ]


def session(stream: str, *, casino: str, last: int) -> list[Event]:
    """Return an opener and wagers up to ``last``."""
    return [opener(stream, casino=casino), *wagers(stream, 2, last)]


def as_lines(events: Iterable[Event]) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in events)


def written(each: Event) -> bytes:
    """Return the canonical form of an event of plain ASCII, as RFC 8785 writes it, by the standard library alone."""
    return json.dumps({"v": 1, "data": {}} | each, sort_keys=True, separators=(",", ":")).encode()
