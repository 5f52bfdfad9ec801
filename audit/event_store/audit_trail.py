"""The audit trail: what officers and commands did, as events of the same log as what happened at the tables.

Each casino has a desk stream for each day, UTC; what concerns no casino goes to the installation's own. An entry is
appended in the transaction of what it records: if that is rolled back, so is the entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from django.db import transaction

from audit.event_store import binary_copy, read
from audit.event_store.append import NewEvent, append
from audit.event_store.streams import instant, stream_row

INSTALLATION = 0
"""The casino id of entries that concern no casino."""

NO_KEY = 0
"""The key id of entries: they come from no table system."""

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry of the audit trail. ``type`` is the event's; ``data`` says what it is about; ``reason`` may be ""."""

    seq: int
    at: datetime
    actor: str
    type: str
    data: Mapping[str, Any]
    reason: str


def record(actor: str, type: str, *, casino_id: int = INSTALLATION, data: Mapping[str, Any], reason: str = "") -> None:
    """Append an entry to the desk stream of today, UTC. ``data`` holds text, integers, and lists of them."""
    now = datetime.now(UTC)
    with transaction.atomic():
        [(stream_id,)] = binary_copy.execute("select log.open_desk(%b::bigint, %b::date)", (casino_id, now.date()))
        [(seq,)] = binary_copy.execute("select next_seq from log.hold(%b::bigint)", (stream_id,))
        stream = stream_row(stream_id)
        assert stream is not None, "the stream was opened just now"
        envelope = {
            "actor": actor,
            "data": {**data, "reason": reason} if reason else data,
            "occurred_at": instant(now),
            "seq": seq,
            "stream": stream.name,
            "type": type,
            "v": 1,
        }
        append(stream_id, [NewEvent(seq, now, _encode(envelope))], next_seq=seq + 1, key_id=NO_KEY)


def entries_of(casino_id: int, day: date) -> Iterator[AuditEntry]:
    """Yield the entries of a casino's desk, or of ``INSTALLATION``, on a day, UTC, in order."""
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
            yield AuditEntry(seq, at, envelope["actor"], envelope["type"], data, reason)
