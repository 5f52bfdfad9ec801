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

from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

import msgspec
import structlog
from django.db import transaction

from audit.adjudications.rows import add_conflict
from audit.api.problems import Problem
from audit.ingest.bodies import Body
from audit.log import read
from audit.log.append import Entry, StreamMoved, append, open_stream
from audit.models import ApiKey, LoggedStream, Quarantined
from settlement.events import (
    OPENERS,
    CountOpened,
    Event,
    SessionOpened,
    ShapeError,
    decode_canonical,
    next_seq_after,
)

log = structlog.get_logger(__name__)

FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2100, 12, 31)
"""The gaming days that the record takes."""

ATTEMPTS = 8
"""How often a request looks again when others append to its stream at the same time."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One event of a request: typed, and as the bytes that will be hashed."""

    index: int
    event: Event
    envelope: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a request: the batch that holds its last event, and whether anything was new."""

    stream: str
    batch: read.Batch
    is_new: bool

    def receipt(self) -> dict[str, Any]:
        """Return what the table system keeps to prove what was accepted."""
        batch = self.batch
        return {
            "stream": self.stream,
            "first_seq": batch.first_seq,
            "last_seq": batch.last_seq,
            "next_seq": batch.next_seq,
            "root": batch.root.hex(),
            "chain": batch.chain.hex(),
            "received_at": batch.received_at.isoformat(),
        }


def record(key: ApiKey, stream: str, body: Body) -> Recorded:
    """Store the events of ``body`` in ``stream``. Raise ``Problem`` where they are refused; then none is stored."""
    sent = _read(key, stream, body)
    for _ in range(ATTEMPTS):
        try:
            return _store(key, stream, sent, body)
        except StreamMoved:
            continue
    raise Problem(503, "unavailable", "Too many requests write to this stream at once; send this one again.")


def _read(key: ApiKey, stream: str, body: Body) -> list[Sent]:
    """Return the events of a body in order of ``seq``, each once."""
    sent: dict[int, Sent] = {}
    faults: list[dict[str, Any]] = []
    twice: Sent | None = None
    for index, raw in enumerate(body.events):
        try:
            event, envelope = decode_canonical(raw)
            if event.stream != stream:
                raise ShapeError(f"is not the stream of the address, '{stream}'", "/stream")
        except ShapeError as fault:
            faults.append({"pointer": f"{body.pointer}/{index}{fault.pointer}", "detail": fault.reason, "index": index})
            continue
        known = sent.setdefault(event.seq, Sent(index, event, envelope))
        if known.envelope != envelope:
            twice = Sent(index, event, envelope)
    if faults:
        quarantine(key, stream, "invalid", faults[0]["detail"], body.raw)
        first = faults[0]["index"]
        raise Problem(
            422,
            "invalid",
            f"{len(faults)} of {len(body.events)} events have a wrong shape; nothing was stored.",
            errors=faults[:100],
            index=first,
            seq=_seq_in(body.events[first]),
        )
    if twice is not None:
        _refuse_conflict(key, stream, twice, sent[twice.event.seq].envelope, body, None)
    return [sent[seq] for seq in sorted(sent)]


def _store(key: ApiKey, stream: str, sent: list[Sent], body: Body) -> Recorded:
    head = read.head_of(key.casino_id, stream)
    next_seq = 1 if head is None else head.next_seq
    if head is not None:
        _require_own(key, head.stream_id)
        _require_same(key, stream, [each for each in sent if each.event.seq < next_seq], head, body)
    new = [each for each in sent if each.event.seq >= next_seq]
    if not new:
        assert head is not None
        batch = read.batch_holding(head.stream_id, sent[-1].event.seq)
        assert batch is not None, "a stored event is in a batch"
        return Recorded(stream, batch, is_new=False)
    if head is None:
        _require_opener(new[0])
    following = _following(new, next_seq)
    with transaction.atomic():
        stream_id = _open(key, stream, new[0], body) if head is None else head.stream_id
        entries = [Entry(each.event.seq, each.event.occurred_at, each.envelope) for each in new]
        batch = append(stream_id, entries, next_seq=following, key_id=key.pk)
        transaction.on_commit(lambda: _hint(stream_id))
    return Recorded(stream, batch, is_new=True)


def _following(new: list[Sent], next_seq: int) -> int:
    """Return the number after ``new``. Raise 409 ``gap`` where they do not follow ``next_seq`` one by one."""
    expected = next_seq
    for each in new:
        if each.event.seq != expected:
            raise Problem(
                409,
                "gap",
                f"The stream takes {next_seq} next; {expected} is missing before {each.event.seq}.",
                next_seq=next_seq,
            )
        expected = next_seq_after(each.event)
    return expected


def _require_own(key: ApiKey, stream_id: int) -> None:
    table_id = LoggedStream.objects.values_list("table_id", flat=True).get(pk=stream_id)
    if table_id is None:
        return
    own = set(key.tables.values_list("pk", flat=True))
    if own and table_id not in own:
        raise Problem(403, "forbidden", "This key does not report on the table of this stream.")


def _require_same(key: ApiKey, stream: str, again: list[Sent], head: read.Head, body: Body) -> None:
    """Raise 409 ``conflict`` where an event that is stored comes again with other content."""
    if not again:
        return
    stored = read.events_at(head.stream_id, [each.event.seq for each in again])
    for each in again:
        if stored.get(each.event.seq) != each.envelope:
            _refuse_conflict(key, stream, each, stored.get(each.event.seq), body, head.stream_id)


def _refuse_conflict(
    key: ApiKey, stream: str, each: Sent, stored: bytes | None, body: Body, stream_id: int | None
) -> None:
    seq = each.event.seq
    sent_digest = sha256(each.envelope).hexdigest()
    stored_digest = None if stored is None else sha256(stored).hexdigest()
    detail = f"Event {seq} is recorded with other content." if stored else f"Event {seq} was declared lost."
    with transaction.atomic():
        quarantine(key, stream, "conflict", detail, body.raw, seq=seq)
        if stream_id is not None:
            add_conflict(stream_id, each.event, stored_digest=stored_digest, sent_digest=sent_digest)
    raise Problem(409, "conflict", detail, seq=seq, stored_digest=stored_digest, sent_digest=sent_digest)


def _require_opener(first: Sent) -> None:
    if not isinstance(first.event, OPENERS):
        raise Problem(
            422,
            "not-opened",
            "The stream is not open: its first event is session.opened or count.opened.",
            index=first.index,
            seq=first.event.seq,
        )


def _open(key: ApiKey, stream: str, opener: Sent, body: Body) -> int:
    """Open the stream that ``opener`` announces, for a casino and a table that are the key's."""
    event = opener.event
    assert isinstance(event, OPENERS)
    data = event.data
    if data.casino != key.casino.code:
        raise Problem(403, "forbidden", f"This key does not report for the casino '{data.casino}'.")
    if not FIRST_DAY <= data.gaming_day <= LAST_DAY:
        fault = {
            "pointer": f"{body.pointer}/{opener.index}/data/gaming_day",
            "detail": f"is not from {FIRST_DAY} to {LAST_DAY}",
            "index": opener.index,
        }
        quarantine(key, stream, "invalid", fault["detail"], body.raw, seq=event.seq)
        raise Problem(
            422, "invalid", "The gaming day is out of range.", errors=[fault], index=opener.index, seq=event.seq
        )
    match event:
        case SessionOpened(data=data):
            table = key.may_report_on(data.table)
            if table is None:
                raise Problem(403, "forbidden", f"This key does not report on the table '{data.table}'.")
            return open_stream(
                casino_id=key.casino_id,
                table_id=table.pk,
                name=stream,
                gaming_day=data.gaming_day,
                game=data.game,
                ruleset=data.ruleset,
                currency=data.currency,
            )
        case CountOpened(data=data):
            return open_stream(
                casino_id=key.casino_id,
                table_id=None,
                name=stream,
                gaming_day=data.gaming_day,
                game=None,
                ruleset=None,
                currency=data.currency,
            )


def quarantine(key: ApiKey, stream: str, code: str, detail: str, raw: bytes, *, seq: int | None = None) -> None:
    """Keep the bytes of a refused request."""
    Quarantined.objects.create(
        casino_id=key.casino_id, key=key, stream=stream, seq=seq, code=code, detail=detail[:2_000], body=raw
    )


class _Numbered(msgspec.Struct):
    seq: int | None = None


_decode_number = msgspec.json.Decoder(_Numbered).decode


def _seq_in(raw: bytes) -> int | None:
    """Return the ``seq`` that a misshapen event gives itself, if it does."""
    try:
        return _decode_number(raw).seq
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _hint(stream_id: int) -> None:
    """Tell the workers that a stream is dirty. Nothing depends on it: the sweep finds what a lost hint leaves."""
    from audit.tasks import replay_stream

    try:
        replay_stream.apply_async(kwargs={"stream_id": stream_id}, retry=False)
    except Exception:
        log.warning("hint lost", stream_id=stream_id, exc_info=True)
