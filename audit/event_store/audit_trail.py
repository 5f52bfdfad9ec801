"""Acts: what officers and commands did, as events of the same log as what happened at the tables.

Each casino has a stream for its desk, a day at a time; what concerns no casino goes to the installation's own. An act
is appended in the transaction that does it: where one is undone, so is the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from django.db import transaction

from audit.event_store import binary_copy, read
from audit.event_store.append import Entry, append
from audit.transparency import tree

INSTALLATION = 0
"""In place of a casino: what concerns none of them."""

NO_KEY = 0
"""In place of a table system's key."""

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Act:
    """One act as it is recorded. ``data`` is what it was done to; ``reason`` is "" where none was asked for."""

    seq: int
    at: datetime
    actor: str
    type: str
    data: Mapping[str, Any]
    reason: str


def record(actor: str, type: str, *, casino_id: int = INSTALLATION, data: Mapping[str, Any], reason: str = "") -> None:
    """Append an act to the desk's stream of today, UTC. ``data`` holds text, whole numbers, and lists of them."""
    now = datetime.now(UTC)
    with transaction.atomic():
        [(stream_id,)] = binary_copy.execute("select log.open_desk(%b::bigint, %b::date)", (casino_id, now.date()))
        [(seq,)] = binary_copy.execute("select next_seq from log.hold(%b::bigint)", (stream_id,))
        stream = tree.stream_row(stream_id)
        assert stream is not None, "the stream was opened just now"
        envelope = {
            "actor": actor,
            "data": {**data, "reason": reason} if reason else data,
            "occurred_at": tree.instant(now),
            "seq": seq,
            "stream": stream.name,
            "type": type,
            "v": 1,
        }
        append(stream_id, [Entry(seq, now, _encode(envelope))], next_seq=seq + 1, key_id=NO_KEY)


def acts_of(casino_id: int, day: date) -> Iterator[Act]:
    """Yield the acts of a casino's desk on a day, UTC, in order; ``INSTALLATION`` has its own."""
    rows = binary_copy.execute(
        "select stream_id from log.stream where casino_id = %b::bigint and gaming_day = %b::date and is_of_desk",
        (casino_id, day),
    )
    for (stream_id,) in rows:
        for seq, raw in read.whole(stream_id):
            envelope = _decode(raw)
            data = envelope["data"]
            reason = data.pop("reason", "")
            at = datetime.fromisoformat(envelope["occurred_at"])
            yield Act(seq, at, envelope["actor"], envelope["type"], data, reason)
