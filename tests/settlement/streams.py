"""Streams for tests of the law: an opener and events, as the bytes a table system sends."""

from __future__ import annotations

import json
from typing import Any

from settlement import RULESETS

GAMES = {
    "fr-craps": "craps",
    "qc-craps": "craps",
    "fr-roulette": "french_roulette",
    "fr-american-roulette": "american_roulette",
}


def opener(stream: str, ruleset: str, **data: Any) -> bytes:
    """Return a session's first event, on a day within every law, observing nothing unless told."""
    return event(
        stream,
        1,
        "session.opened",
        **{
            "casino": "demo",
            "table": "T1",
            "gaming_day": "2010-11-19",
            "game": RULESETS[ruleset].game if ruleset in RULESETS else "craps",
            "ruleset": ruleset,
            "currency": "EUR",
            "float": 5_000_000,
            "observes": [],
        }
        | data,
    )


def event(stream: str, seq: int, kind: str, *, at: str | None = None, **data: Any) -> bytes:
    """Return one event; it happens ``seq`` seconds after eight in the evening unless told."""
    occurred_at = at or f"2010-11-19T{20 + seq // 3600:02}:{seq // 60 % 60:02}:{seq % 60:02}+01:00"
    return json.dumps({"stream": stream, "seq": seq, "type": kind, "occurred_at": occurred_at, "data": data}).encode()
