"""Recording: one request of one stream, stored whole or not at all.

    read every event ─► which are new? ─► contiguous? ─► append ─► receipt
          │                   │                │            │
       invalid            conflict            gap       somebody was faster: look again
    (quarantined)       (quarantined,
                       a finding opens)

A table system that does not know what became of a request sends it again: what is there already is compared, not
stored, and the receipt is that of the batch that holds the last event sent.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec
import structlog
from django.db import transaction

from audit import task_queue
from audit.api.problems import Problem
from audit.event_store import read
from audit.event_store.append import Entry, StreamMoved, append, open_stream
from audit.ingest import quarantine
from audit.ingest.bodies import Body
from audit.ingest.quarantine import Conflict
from audit.ingest.receipts import receipt, unsigned
from audit.models import ApiKey
from audit.transparency import signing_keys
from settlement.codec import ShapeError, decode_canonical, decode_canonical_all, next_seq_after
from settlement.events import OPENERS, Event, EventsLost, SessionOpened

log = structlog.get_logger(__name__)

FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2100, 12, 31)
"""The gaming days that the record takes."""

ATTEMPTS = 8
"""How often a request looks again when others append to its stream at the same time."""

MAX_FAULTS = 100
"""Most faults that one answer lists."""


class Sent(Entry, frozen=True, gc=False):
    """One event of a request: what is appended, typed, and its place there."""

    event: Event
    index: int


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What became of a request: the batch that holds its last event, and whether anything was new."""

    stream: str
    batch: read.Batch
    is_new: bool

    def unsigned(self) -> dict[str, Any]:
        """Return what a receipt says, unsigned."""
        return unsigned(self.stream, self.batch)

    def receipt(self) -> dict[str, Any]:
        """Return what the table system keeps of what was accepted."""
        return receipt(self.stream, self.batch)


def record(key: ApiKey, stream: str, body: Body, *, is_dry: bool = False) -> IngestResult:
    """Store the events of ``body`` in ``stream``. Raise ``Problem`` where they are refused; then none is stored.

    ``is_dry`` asks for no signature: the caller undoes what was stored.
    """
    sent = _read(key, stream, body)
    if not is_dry:
        _check_can_sign()
    for _ in range(ATTEMPTS):
        try:
            return _store(key, stream, sent, body)
        except StreamMoved:
            continue
    raise Problem(503, "unavailable", "Too many requests write to this stream at once; send this one again.")


def _check_can_sign() -> None:
    """Raise 503 where no receipt could be signed here: then nothing is stored."""
    try:
        signing_keys.signer("receipt", datetime.now(UTC))
    except signing_keys.NoSigningKey as error:
        log.error("nothing to sign with", error=str(error))
        raise Problem(503, "unavailable", "No receipt can be signed here now; send the request again.") from None


def _read(key: ApiKey, stream: str, body: Body) -> list[Sent]:
    """Return the events of a body in order of ``seq``, each once."""
    at_once = _read_at_once(stream, body)
    if at_once is not None:
        return at_once
    sent: dict[int, Sent] = {}
    faults: list[tuple[int, ShapeError]] = []
    for index, raw in enumerate(body.events):
        try:
            event, envelope = decode_canonical(raw)
            _check_fits(event, stream)
            entry = Sent(event.seq, event.occurred_at, envelope, event, index)
            if sent.setdefault(event.seq, entry).envelope != envelope:
                raise ShapeError("comes twice in this request, with different contents", "/seq")
        except ShapeError as fault:
            faults.append((index, fault))
    if faults:
        raise _invalid(key, stream, body, faults)
    return [sent[seq] for seq in sorted(sent)]


def _read_at_once(stream: str, body: Body) -> list[Sent] | None:
    """Return the events of a body that has nothing out of the ordinary, None for any other."""
    read_at_once = decode_canonical_all(body.array) if body.array else None
    if read_at_once is None:
        return None
    sent: list[Sent] = []
    last = 0
    for event, envelope in zip(*read_at_once, strict=True):
        seq = event.seq
        if event.stream != stream or seq <= last:
            return None
        sent.append(Sent(seq, event.occurred_at, envelope, event, len(sent)))
        last = seq
    openers = [each.event for each in sent if isinstance(each.event, OPENERS)]
    return None if any(not FIRST_DAY <= event.data.gaming_day <= LAST_DAY for event in openers) else sent


def _check_fits(event: Event, stream: str) -> None:
    """Raise ``ShapeError`` for what is an event, but none that the record can keep in ``stream``."""
    if event.stream != stream:
        raise ShapeError(f"is not the stream of the address, '{stream}'", "/stream")
    if isinstance(event, OPENERS) and not FIRST_DAY <= event.data.gaming_day <= LAST_DAY:
        raise ShapeError(f"is not from {FIRST_DAY} to {LAST_DAY}", "/data/gaming_day")


def _invalid(key: ApiKey, stream: str, body: Body, faults: list[tuple[int, ShapeError]]) -> Problem:
    """Keep a request that has misshapen events, and return the problem that says which."""
    index, fault = faults[0]
    seq = _seq_in(body.events[index])
    quarantine.keep(key, stream, "invalid", str(fault), body.raw, seq=seq)
    return Problem(
        422,
        "invalid",
        f"{len(faults)} of {len(body.events)} events cannot be recorded; none was.",
        errors=[
            {
                "pointer": f"{body.pointer}/{body.place(index)}{fault.pointer}",
                "detail": fault.reason,
                "index": body.place(index),
            }
            for index, fault in faults[:MAX_FAULTS]
        ],
        index=body.place(index),
        seq=seq,
    )


def _store(key: ApiKey, stream: str, sent: list[Sent], body: Body) -> IngestResult:
    head = read.head_of(key.casino_id, stream)
    if head is None:
        return _open(key, stream, sent, body)
    if head.is_of_desk:
        raise Problem(403, "forbidden", "The desk writes this stream, and no table system.")
    if not key.reports_on(head.table_id):
        raise Problem(403, "forbidden", "This key does not report on the table of this stream.")
    first_new = bisect_left(sent, head.next_seq, key=attrgetter("seq"))
    new = sent[first_new:]
    _compare(key, stream, sent[:first_new], head, body)
    if new:
        return _append(key, stream, head.stream_id, new, next_seq=head.next_seq)
    batch = read.batch_holding(head.stream_id, sent[-1].seq)
    assert batch is not None, "a stored event is in a batch"
    return IngestResult(stream, batch, is_new=False)


def _open(key: ApiKey, stream: str, sent: list[Sent], body: Body) -> IngestResult:
    """Open the stream that the first event announces, for a casino and a table that are the key's."""
    opener = sent[0].event
    if not isinstance(opener, OPENERS):
        detail = "The stream is not open: its first event is session.opened or count.opened."
        raise Problem(422, "not-opened", detail, index=body.place(sent[0].index), seq=opener.seq, next_seq=1)
    data = opener.data
    if data.casino != key.casino.code:
        raise Problem(403, "forbidden", f"This key does not report for the casino '{data.casino}'.")
    table_id = game = ruleset = None
    if isinstance(opener, SessionOpened):
        table_id, game, ruleset = key.registered(opener.data.table), opener.data.game, opener.data.ruleset
        if table_id is None:
            raise Problem(403, "forbidden", f"The table '{opener.data.table}' is not registered for this key.")
    elif not key.reports_on(None):
        raise Problem(403, "forbidden", "This key reports on tables, not on the count room.")
    with transaction.atomic():
        stream_id = open_stream(
            casino_id=key.casino_id,
            table_id=table_id,
            name=stream,
            gaming_day=data.gaming_day,
            game=game,
            ruleset=ruleset,
            currency=data.currency,
        )
        return _append(key, stream, stream_id, sent, next_seq=1)


def _append(key: ApiKey, stream: str, stream_id: int, new: list[Sent], *, next_seq: int) -> IngestResult:
    batch = append(stream_id, new, next_seq=_following(new, next_seq), key_id=key.pk)
    transaction.on_commit(partial(task_queue.send_soon, task_queue.REPLAY_STREAM, stream_id=stream_id))
    return IngestResult(stream, batch, is_new=True)


def _following(new: list[Sent], next_seq: int) -> int:
    """Return the number after ``new``. Raise 409 ``gap`` where they do not follow ``next_seq`` one by one."""
    first, last = new[0], new[-1]
    in_a_row = first.seq == next_seq and last.seq - first.seq == len(new) - 1
    if in_a_row and not any(type(each.event) is EventsLost for each in new):
        return last.seq + 1
    expected = next_seq
    for each in new:
        if each.seq != expected:
            detail = f"The stream takes {next_seq} next; {expected} is missing before {each.seq}."
            if each.seq < expected:
                detail = f"The stream takes {next_seq} next; {each.seq} is declared lost by an event before it."
            raise Problem(409, "gap", detail, next_seq=next_seq)
        expected = next_seq_after(each.event)
    return expected


def _compare(key: ApiKey, stream: str, again: list[Sent], head: read.Head, body: Body) -> None:
    """Raise 409 ``conflict`` where a stored event comes with other content, ``gap`` where it was declared lost."""
    if not again:
        return
    stored = read.events_at(head.stream_id, [each.seq for each in again])
    conflicts = [
        Conflict(each.event, stored=stored[each.seq], sent=each.envelope, raw=body.events[each.index])
        for each in again
        if stored.get(each.seq, each.envelope) != each.envelope
    ]
    if conflicts:
        quarantine.keep_conflicts(key, stream, head.stream_id, conflicts)
        first = conflicts[0]
        raise Problem(
            409,
            "conflict",
            f"Event {first.event.seq} is recorded with other content.",
            seq=first.event.seq,
            stored_digest=first.stored_digest,
            sent_digest=first.sent_digest,
        )
    lost = [each for each in again if each.seq not in stored]
    if lost:
        detail = f"The stream takes {head.next_seq} next; {lost[0].seq} was declared lost."
        quarantine.keep(key, stream, "declared-lost", detail, body.raw, seq=lost[0].seq)
        raise Problem(409, "gap", detail, next_seq=head.next_seq)


class _Numbered(msgspec.Struct):
    seq: int | None = None


_decode_number = msgspec.json.Decoder(_Numbered).decode


def _seq_in(raw: bytes) -> int | None:
    """Return the ``seq`` that a misshapen event gives itself, if it does and a column can hold it."""
    try:
        seq = _decode_number(raw).seq
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return seq if seq is not None and abs(seq) < 2**63 else None
