"""A table system in a process of its own, which may be killed at any instant and started again.

It reports the sessions of many tables, some events of each in turn, and goes on where its spool ends. What it reports
under a number is always the same, so that whoever counts at the record knows what has to be there.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from datetime import UTC, date, datetime, timedelta
from typing import Any

from cabochon_client import Client

CASINO = "harbour"
DAY_VARIABLE = "TABLE_SYSTEM_DAY"
DAY = date.fromisoformat(os.environ.get(DAY_VARIABLE) or datetime.now(UTC).date().isoformat())
"""Of every session. A process gets it from whoever starts it, because midnight may have passed."""
TOGETHER = 20
"""Events that a table reports in one write."""


def stream_name(number: int) -> str:
    return f"{CASINO}.T{number}.{DAY.isoformat()}.1"


def event_at(number: int, seq: int) -> dict[str, Any]:
    """Return what table ``number`` reports under ``seq``, without stream and number."""
    at = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC) + timedelta(milliseconds=seq * 40)
    content: dict[str, Any] = {"occurred_at": at.isoformat()}
    if seq == 1:
        data = {
            "casino": CASINO,
            "table": f"T{number}",
            "gaming_day": DAY.isoformat(),
            "game": "craps",
            "ruleset": "fr-craps",
            "currency": "EUR",
            "float": 5_000_000,
            "observes": ["wagers", "results"],
        }
        return content | {"type": "session.opened", "data": data}
    if seq % 3:
        data = {"wager": f"w{seq}", "bet": "win", "stake": 1_000 + seq, "player": f"p{seq % 40}"}
        return content | {"type": "wager.placed", "data": data}
    if seq % 10 == 0:
        return content | {"type": "x.harbour.note", "data": {"words": f"n° {seq} – “ça roule” 🎲", "\u00e9": [seq]}}
    return content | {"type": "dice.thrown", "data": {"faces": [1 + seq % 6, 1 + seq % 5]}}


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("--spool", "--url", "--key"):
        parser.add_argument(name, required=True)
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--events", type=int, required=True, help="of each session")
    parser.add_argument("--timeout", type=float, default=5.0)
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    with Client(options.spool, options.url, options.key, timeout_s=options.timeout) as client:
        client.start()
        last = dict.fromkeys(range(options.sessions), 0)
        last |= {number: row.next_seq - 1 for number in last if (row := client.spool.session(stream_name(number)))}
        while min(last.values()) < options.events:
            for number in last:
                upto = min(last[number] + TOGETHER, options.events)
                events = [event_at(number, seq) for seq in range(last[number] + 1, upto + 1)]
                if events:
                    client.session(stream_name(number)).extend(events)
                last[number] = upto
        return 0 if client.flush() else 1


if __name__ == "__main__":
    sys.exit(main())
