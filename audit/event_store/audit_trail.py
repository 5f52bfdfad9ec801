"""The audit trail: what officers and commands did, as events of the same log as what happened at the tables.

Each casino has a desk stream for each day, UTC; what concerns no casino goes to the installation's own. An entry is
appended in the transaction of what it records: if that is rolled back, so is the entry.

``record`` appends an entry. ``perform`` also has the database do what the entry says, in the same statement: sign a
night, give a role, set a password. No role of the database can do these in another way.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

import msgspec
from django.db import transaction
from django.utils.functional import Promise

from audit.event_store import binary_copy, read
from audit.event_store.append import NewEvent, append, append_and_apply
from audit.event_store.readable import readable
from audit.event_store.streams import instant, stream_row


class Refused(Exception):
    """What somebody may not do, or not with these values. ``reason`` is for them, in their language."""

    def __init__(self, reason: str | Promise) -> None:
        super().__init__(str(reason))
        self.reason = reason


INSTALLATION = 0
"""The casino id of entries that concern no casino."""

COMMAND = None
"""The actor of a command: the account of the machine."""

NO_KEY = 0
"""The key id of entries: they come from no table system."""

MAX_REASON = 2_000
"""Characters of the reason for a proposal or a decision."""

_OF_TYPE = f"""
select e.seq, e.envelope::text from log.stream s join log.event e using (stream_id)
where s.casino_id = %b::bigint and s.is_of_desk and s.gaming_day between %b::date and %b::date
  and {readable("e.envelope")} ->> 'type' = %b::text
order by s.gaming_day, e.seq
"""

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


def cleaned(reason: str, *, most: int = MAX_REASON) -> str:
    """Return a reason as an entry keeps it: without what JSON or PostgreSQL cannot hold, ``most`` characters of it."""
    return as_typed(reason.encode(errors="ignore").decode().replace("\0", "")).strip()[:most]


def as_typed(text: str) -> str:
    """Return a text of a form as its field has it: the field counts one character for a line break, and sends two."""
    return text.replace("\r\n", "\n")


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
    record_all(actor, type, casino_id=casino_id, datas=[_with_reason(data, reason)])


def record_all(actor: str, type: str, *, casino_id: int, datas: Sequence[Mapping[str, Any]]) -> None:
    """Append an entry for each of ``datas``, at least one, in one batch."""
    with _next_entries(actor, type, casino_id, datas) as (stream_id, entries):
        append(stream_id, entries, next_seq=entries[-1].seq + 1, key_id=NO_KEY)


def perform(
    actor: str | None,
    type: str,
    *,
    casino_id: int = INSTALLATION,
    data: Mapping[str, Any],
    reason: str = "",
    secret: str | None = None,
) -> dict[str, Any]:
    """Append an entry of an officer's and apply it. Return what its function returns, such as a new row's ``id``.

    ``actor`` is the officer's name, or ``COMMAND``. ``secret`` is what the function needs and the log never has: a
    password's hash. Raise ``EntryRefused``: nothing is stored.
    """
    function = "audit_perform_command" if actor is COMMAND else "audit_perform_act"
    named = account_name() if actor is COMMAND else actor
    with _next_entries(named, type, casino_id, [_with_reason(data, reason)]) as (stream_id, [entry]):
        return append_and_apply(stream_id, entry, function=function, secret=secret)


def perform_command(
    type: str,
    *,
    casino_id: int = INSTALLATION,
    data: Mapping[str, Any],
    reason: str = "",
    secret: str | None = None,
) -> dict[str, Any]:
    """Append an entry of a command's and apply it, as ``perform`` does."""
    return perform(COMMAND, type, casino_id=casino_id, data=data, reason=reason, secret=secret)


def account_name() -> str:
    """Return the name of the account that runs this process; its number if the machine has no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def entries_of_type(casino_id: int, type: str, first: date, last: date) -> Iterator[AuditEntry]:
    """Yield the entries of a type of a casino's desk, from a day through another, UTC, in order."""
    for seq, envelope in binary_copy.execute(_OF_TYPE, (casino_id, first, last, type)):
        yield _entry(seq, envelope)


def _with_reason(data: Mapping[str, Any], reason: str) -> Mapping[str, Any]:
    return {**data, "reason": reason} if reason else data


@contextmanager
def _next_entries(
    actor: str, type: str, casino_id: int, datas: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[int, list[NewEvent]]]:
    """Hold the desk stream of today, UTC, in a transaction. Yield its id and the entries that it takes next."""
    now = datetime.now(UTC)
    with transaction.atomic():
        [(stream_id,)] = binary_copy.execute("select log.open_desk(%b::bigint, %b::date)", (casino_id, now.date()))
        [(first,)] = binary_copy.execute("select next_seq from log.hold(%b::bigint)", (stream_id,))
        stream = stream_row(stream_id)
        assert stream is not None, "the stream was opened just now"
        entries: list[NewEvent] = []
        for seq, data in enumerate(datas, start=first):
            envelope = {
                "actor": actor,
                "data": data,
                "occurred_at": instant(now),
                "seq": seq,
                "stream": stream.name,
                "type": type,
                "v": 1,
            }
            entries.append(NewEvent(seq, now, _encode(envelope)))
        yield stream_id, entries


def entries_of(casino_id: int, day: date) -> Iterator[AuditEntry]:
    """Yield the entries of a casino's desk, or of ``INSTALLATION``, on a day, UTC, in order."""
    rows = binary_copy.execute(
        "select stream_id from log.stream where casino_id = %b::bigint and gaming_day = %b::date and is_of_desk",
        (casino_id, day),
    )
    for (stream_id,) in rows:
        for seq, raw in read.whole(stream_id):
            yield _entry(seq, raw)


def _entry(seq: int, raw: bytes | str) -> AuditEntry:
    envelope = _decode(raw)
    data = envelope["data"]
    reason = data.pop("reason", "")
    at = datetime.fromisoformat(envelope["occurred_at"])
    return AuditEntry(seq, at, envelope["actor"], envelope["type"], data, reason)


def address_mark(address: str) -> str:
    """Return by what an entry knows an address, which may have a secret or a person's name in it: its SHA-256."""
    return sha256(address.encode()).hexdigest()
