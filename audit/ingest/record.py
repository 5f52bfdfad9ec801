"""Recording: the events of one stream from one request, stored whole or not at all; idempotent.

    decode ─► which are new? ─► admitted? ─► contiguous? ─► append ─► receipt
      │             │               │             │            │
   invalid      conflict         invalid         gap       another request was faster: look again
 (quarantined) (quarantined,  (quarantined)
               a finding opens)

A table system that does not know what became of a request sends it again. An event that is stored already is compared,
not stored again, and the receipt is that of the batch that holds the last event sent. A table system that signs its
batches is asked for a signature over what would be stored, and not over what is there already. Whether persons are
opaque ids, bets in small letters and texts without controls is asked of new events only.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

import msgspec
import structlog
from django.db import transaction

from audit import task_queue
from audit.casework import session_closing
from audit.event_store import batch_signatures, cluster, merkle, read, streams
from audit.event_store.append import NewEvent, UnexpectedSeq, append, open_stream
from audit.ingest import opening, quarantine
from audit.ingest.bodies import Body
from audit.ingest.quarantine import Conflict
from audit.ingest.receipts import receipt, unsigned
from audit.ingest.refusals import EventsRefused, Fault
from audit.models import ApiKey
from audit.transparency import signing_keys
from settlement import diagnosis
from settlement.admission import refuse_unless_admitted, to_look_at
from settlement.codec import ShapeError, decode_canonical, decode_canonical_all, next_seq_after
from settlement.events import OPENERS, Event, EventsLost, SessionOpened
from settlement.plain_texts import are_surely_plain, refuse_controls

log = structlog.get_logger(__name__)

FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2100, 12, 31)
"""The gaming days that are accepted."""

ATTEMPTS = 8
"""How often a request looks again when others append to its stream at the same time."""

MAX_FAULTS = 20
"""Most faults that one refusal lists, of all its events together."""


class InvalidEvents(EventsRefused):
    """Events do not have the shape of the contract. ``index`` and ``seq`` are those of the first that does not.

    ``faults`` are the first ``MAX_FAULTS``. ``seq`` is None if that event has none that can be read.
    """

    def __init__(self, faults: list[Fault], invalid: int, count: int, *, index: int, seq: int | None) -> None:
        super().__init__(f"{invalid} of {count} events cannot be recorded; none was.")
        self.faults = tuple(faults)
        self.index = index
        self.seq = seq


class NotOpened(EventsRefused):
    """The stream is not open, and the first event does not open it."""

    next_seq = 1

    def __init__(self, *, index: int, seq: int) -> None:
        super().__init__("The stream is not open: its first event is session.opened or count.opened.")
        self.index = index
        self.seq = seq


class KeyNotAllowed(EventsRefused):
    """The key does not report for the casino, on the table, or on the stream."""


class SequenceGap(EventsRefused):
    """The events do not follow those that are stored. ``next_seq`` is the number the stream takes next."""

    def __init__(self, detail: str, next_seq: int) -> None:
        super().__init__(f"The stream takes {next_seq} next; {detail}.")
        self.next_seq = next_seq


class SequenceConflict(EventsRefused):
    """An event is stored with other content. The digests are SHA-256 of both canonical forms, in hex."""

    def __init__(self, conflict: Conflict) -> None:
        self.seq = conflict.event.seq
        self.stored_digest = conflict.stored_digest
        self.sent_digest = conflict.sent_digest
        super().__init__(f"Event {self.seq} is recorded with other content.")


class ClosedByOfficers(EventsRefused):
    """The number of the event is that of the closing that two officers recorded while nothing came from the table.

    The table system contradicts nothing: its event is kept in quarantine, and no finding is opened. ``next_seq`` is the
    number that the stream takes next.
    """

    def __init__(self, conflict: Conflict, next_seq: int) -> None:
        self.seq = conflict.event.seq
        self.stored_digest = conflict.stored_digest
        self.sent_digest = conflict.sent_digest
        self.next_seq = next_seq
        super().__init__(
            f"Two officers closed this session at the desk with event {self.seq}, because nothing more had come."
        )


class Unsigned(EventsRefused):
    """The key has to sign its batches, and this one has no signature, or not over what would be stored.

    ``next_seq`` is the number that the stream takes next, and ``to_sign`` the text that the signature has to be over.
    """

    def __init__(self, reason: str, to_sign: bytes, next_seq: int) -> None:
        super().__init__(
            f"{reason}. This key signs: send in the header Cabochon-Signature, in base64, the Ed25519 signature over"
            f" the events from {next_seq} on, as 'to_sign' has them; compute that text yourself and compare."
        )
        self.to_sign = to_sign.decode()
        self.next_seq = next_seq


class RecordUnavailable(EventsRefused):
    """Nothing can be stored now; the same request can succeed later."""


class SentEvent(NewEvent, frozen=True, gc=False):
    """One event of a request: what is appended, the decoded event, and its index in the body."""

    event: Event
    index: int


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What became of a request: the batch that holds its last event, and whether any event was new."""

    stream: str
    batch: read.Batch
    is_new: bool
    is_of_sandbox: bool

    def unsigned(self) -> dict[str, Any]:
        """Return the receipt without its signature."""
        return unsigned(self.stream, self.batch, is_of_sandbox=self.is_of_sandbox)

    def receipt(self) -> dict[str, Any]:
        """Return the signed receipt, for the table system to keep."""
        return receipt(self.stream, self.batch, is_of_sandbox=self.is_of_sandbox)


def record(key: ApiKey, stream: str, body: Body, *, signature: str | None = None, is_dry: bool = False) -> IngestResult:
    """Store the events of ``body`` in ``stream``. Raise ``EventsRefused`` if they are refused; then none is stored.

    ``signature`` is the table system's as it was sent, None if none was. ``is_dry`` skips the check for a signing key:
    the caller rolls back what was stored.
    """
    sent = _decoded(key, stream, body)
    if not is_dry:
        _check_can_sign()
    for _ in range(ATTEMPTS):
        try:
            return _store(key, stream, sent, body, signature)
        except UnexpectedSeq:
            continue
    raise RecordUnavailable("Too many requests write to this stream at once; send this one again.")


def _check_can_sign() -> None:
    """Raise ``RecordUnavailable`` if no receipt could be signed: nothing is stored without one."""
    try:
        signing_keys.signer("receipt", datetime.now(UTC))
    except signing_keys.NoSigningKey as error:
        log.error("no key to sign receipts with", error=str(error))
        raise RecordUnavailable(
            "No receipt can be signed here now. Send the request again; if that goes on, tell the operator."
        ) from None


def _decoded(key: ApiKey, stream: str, body: Body) -> list[SentEvent]:
    """Return the events of a body in order of ``seq``, each once. Raise ``InvalidEvents``."""
    sent_in_order = _decoded_in_order(stream, body)
    if sent_in_order is not None:
        return sent_in_order
    sent: dict[int, SentEvent] = {}
    faults: list[tuple[int, ShapeError]] = []
    for index, raw in enumerate(body.events):
        try:
            event, envelope = decode_canonical(raw)
            _check_belongs(event, stream)
            entry = SentEvent(event.seq, event.occurred_at, envelope, event, index)
            if sent.setdefault(event.seq, entry).envelope != envelope:
                raise ShapeError("comes twice in this request, with different contents", "/seq")
        except ShapeError as fault:
            faults.append((index, fault))
    if faults:
        raise _invalid(key, stream, body, faults)
    return [sent[seq] for seq in sorted(sent)]


def _decoded_in_order(stream: str, body: Body) -> list[SentEvent] | None:
    """Return the events of a body if they are valid, of one stream and ascending; None for any other body."""
    decoded = decode_canonical_all(body.array) if body.array else None
    if decoded is None:
        return None
    sent: list[SentEvent] = []
    last = 0
    for event, envelope in zip(*decoded, strict=True):
        seq = event.seq
        if event.stream != stream or seq <= last:
            return None
        sent.append(SentEvent(seq, event.occurred_at, envelope, event, len(sent)))
        last = seq
    openers = [each.event for each in sent if isinstance(each.event, OPENERS)]
    return None if any(not FIRST_DAY <= event.data.gaming_day <= LAST_DAY for event in openers) else sent


def _check_belongs(event: Event, stream: str) -> None:
    """Raise ``ShapeError`` for a valid event that cannot be stored in ``stream``."""
    if event.stream != stream:
        raise ShapeError(f"is not the stream of the address, '{stream}'", "/stream")
    if isinstance(event, OPENERS) and not FIRST_DAY <= event.data.gaming_day <= LAST_DAY:
        raise ShapeError(f"is not from {FIRST_DAY} to {LAST_DAY}", "/data/gaming_day")


def _invalid(key: ApiKey, stream: str, body: Body, faults: list[tuple[int, ShapeError]]) -> InvalidEvents:
    """Quarantine a request that has invalid events, and return the refusal that lists them."""
    first_index, first_fault = faults[0]
    seq = _seq_in(body.events[first_index])
    quarantine.keep(key, stream, "invalid", str(first_fault), body.raw, seq=seq)
    return InvalidEvents(
        _listed(body, faults), len(faults), len(body.events), index=body.index_in_request(first_index), seq=seq
    )


def _listed(body: Body, faults: list[tuple[int, ShapeError]]) -> list[Fault]:
    """Return the first ``MAX_FAULTS`` faults of a body: of each event all that its shape has, else its one."""
    listed: list[Fault] = []
    for index, fault in faults:
        in_request = body.index_in_request(index)
        for each in diagnosis.faults_of(body.events[index]) or [fault]:
            listed.append(Fault(f"{body.pointer}/{in_request}{each.pointer}", each.reason, in_request))
        if len(listed) >= MAX_FAULTS:
            break
    return listed[:MAX_FAULTS]


def _store(key: ApiKey, stream: str, sent: list[SentEvent], body: Body, signature: str | None) -> IngestResult:
    """Store what is new of ``sent``. Raise ``EventsRefused``, or ``UnexpectedSeq`` if another request was faster."""
    head = read.head_of(key.casino_id, stream)
    if head is None:
        return _open(key, stream, sent, body, signature)
    if head.is_of_desk:
        raise KeyNotAllowed("The desk writes this stream, and no table system. Send to a stream of another name.")
    if not key.reports_on(head.table_id):
        raise KeyNotAllowed(
            "This key does not report on the table of this stream. Use one that does; GET /api/v1/key says which tables"
            " a key has."
        )
    first_new = bisect_left(sent, head.next_seq, key=attrgetter("seq"))
    new = sent[first_new:]
    _compare(key, stream, sent[:first_new], head, body)
    _check_admitted(key, stream, new, head.ruleset, body)
    if new:
        return _append(key, stream, head.stream_id, new, signature, next_seq=head.next_seq)
    batch = read.batch_holding(head.stream_id, sent[-1].seq)
    assert batch is not None, "a stored event is in a batch"
    return IngestResult(stream, batch, is_new=False, is_of_sandbox=key.casino.is_sandbox)


def _open(key: ApiKey, stream: str, sent: list[SentEvent], body: Body, signature: str | None) -> IngestResult:
    """Open the stream that the first event announces, if its casino and table are the key's."""
    opener = sent[0].event
    if not isinstance(opener, OPENERS):
        raise NotOpened(index=body.index_in_request(sent[0].index), seq=opener.seq)
    data = opener.data
    if data.casino != key.casino.code:
        raise KeyNotAllowed(_another_casino(key, data.casino))
    table_id = game = ruleset = None
    if isinstance(opener, SessionOpened):
        table_id, game, ruleset = key.registered(opener.data.table), opener.data.game, opener.data.ruleset
        if table_id is None:
            raise KeyNotAllowed(
                f"The table '{opener.data.table}' is not one of this key. Use a key that has it, or have the operator"
                f" register it: manage.py createkey --casino {key.casino.code} --table {opener.data.table}."
            )
    elif not key.reports_on(None):
        raise KeyNotAllowed(
            "This key is of certain tables, and a count is of the whole casino. Use a key of every table."
        )
    try:
        opening.check_day(key, data.gaming_day)
    except opening.GamingDayNotAccepted as refusal:
        quarantine.keep(key, stream, "gaming-day", str(refusal), body.raw, seq=opener.seq)
        raise
    _check_admitted(key, stream, sent, ruleset, body)
    opening.check_months(key, data.gaming_day)
    opening.check_count(key, data.gaming_day, opened=0)
    is_distributed = cluster.is_distributed()
    with transaction.atomic():
        if is_distributed:  # whose nodes do not count, for this role, what another has just written
            streams.hold_day(data.gaming_day)
            opening.check_count(key, data.gaming_day, opened=0)
        stream_id = open_stream(
            casino_id=key.casino_id,
            table_id=table_id,
            name=stream,
            gaming_day=data.gaming_day,
            game=game,
            ruleset=ruleset,
            currency=data.currency,
            is_of_sandbox=key.casino.is_sandbox,
        )
        result = _append(key, stream, stream_id, sent, signature, next_seq=1)
        # Streams of one day are opened one after the other, so that no two requests take the last place.
        if not is_distributed:
            opening.check_count(key, data.gaming_day, opened=1)
        return result


def _another_casino(key: ApiKey, named: str) -> str:
    """Return the refusal of a stream of another casino than the key's; only the key's own is spelt out."""
    kind = "sandbox" if key.casino.is_sandbox else "casino"
    return (
        f"This key does not report for the casino '{named}': it is of the {kind} '{key.casino.code}'. Name that one in"
        f" 'casino', or use a key of '{named}'."
    )


def _check_admitted(key: ApiKey, stream: str, new: list[SentEvent], ruleset: str | None, body: Body) -> None:
    """Raise ``InvalidEvents`` if a new event names a person or a bet in capitals, or has a control in a text."""
    is_plain = are_surely_plain(each.envelope for each in new)
    dubious = to_look_at([each.event for each in new]) if is_plain else range(len(new))
    faults: list[tuple[int, ShapeError]] = []
    for each in map(new.__getitem__, dubious):
        try:
            refuse_unless_admitted(each.event, ruleset, is_of_sandbox=key.casino.is_sandbox)
            refuse_controls(each.envelope)
        except ShapeError as fault:
            faults.append((each.index, fault))
    if faults:
        raise _invalid(key, stream, body, sorted(faults, key=itemgetter(0)))


def _append(
    key: ApiKey, stream: str, stream_id: int, new: list[SentEvent], signature: str | None, *, next_seq: int
) -> IngestResult:
    following = _following(new, next_seq)
    signed = _checked(key, stream, new, signature) if key.public_key is not None else None
    batch = append(stream_id, new, next_seq=following, key_id=key.pk, signature=signed)
    transaction.on_commit(partial(task_queue.send_soon, task_queue.REPLAY_STREAM, stream_id=stream_id))
    return IngestResult(stream, batch, is_new=True, is_of_sandbox=key.casino.is_sandbox)


def _checked(key: ApiKey, stream: str, new: list[SentEvent], signature: str | None) -> bytes:
    """Return the signature over a batch of ``new``. Raise ``Unsigned`` if there is none, or another."""
    root = merkle.root(merkle.leaves(each.envelope for each in new))
    content = batch_signatures.signed_content(key.prefix, stream, first_seq=new[0].seq, count=len(new), root=root)
    if signature is None:
        raise Unsigned("The request has no signature", content, new[0].seq)
    decoded = batch_signatures.decoded(signature, batch_signatures.SIGNATURE_BYTES)
    if decoded is None:
        raise Unsigned("The signature is not 64 bytes in base64", content, new[0].seq)
    assert key.public_key is not None, "only a key that signs comes here"
    if not batch_signatures.is_signed(bytes(key.public_key), decoded, content):
        raise Unsigned("The signature is not over these events by the public key of this API key", content, new[0].seq)
    return decoded


def _following(new: list[SentEvent], next_seq: int) -> int:
    """Return the number after ``new``. Raise ``SequenceGap`` if they do not follow ``next_seq`` one by one."""
    first, last = new[0], new[-1]
    is_contiguous = first.seq == next_seq and last.seq - first.seq == len(new) - 1
    if is_contiguous and not any(type(each.event) is EventsLost for each in new):
        return last.seq + 1
    expected = next_seq
    for each in new:
        if each.seq < expected:
            raise SequenceGap(f"{each.seq} is declared lost by an event before it", next_seq)
        if each.seq > expected:
            raise SequenceGap(f"{expected} is missing before {each.seq}", next_seq)
        expected = next_seq_after(each.event)
    return expected


def _compare(key: ApiKey, stream: str, duplicates: list[SentEvent], head: read.StreamHead, body: Body) -> None:
    """Compare events that the stream has passed with what is stored under their numbers.

    Raise ``SequenceConflict`` for other content, ``ClosedByOfficers`` for other content than theirs, ``SequenceGap``
    for a number that was declared lost.
    """
    if not duplicates:
        return
    stored = read.events_at(head.stream_id, [each.seq for each in duplicates])
    conflicts = [
        Conflict(each.event, stored=stored[each.seq], sent=each.envelope, raw=body.events[each.index])
        for each in duplicates
        if stored.get(each.seq, each.envelope) != each.envelope
    ]
    if conflicts:
        closing = session_closing.closed_at(head.stream_id)
        if conflicts[0].event.seq == closing:  # the sender does not know of it, so what follows has its number wrong
            closed = ClosedByOfficers(conflicts[0], head.next_seq)
            quarantine.keep(key, stream, "conflict", str(closed), body.raw, seq=closing)
            raise closed
        quarantine.keep_conflicts(key, stream, head.stream_id, conflicts)
        raise SequenceConflict(conflicts[0])
    lost = next((each.seq for each in duplicates if each.seq not in stored), None)
    if lost is not None:
        refusal = SequenceGap(f"{lost} was declared lost", head.next_seq)
        quarantine.keep(key, stream, "declared-lost", str(refusal), body.raw, seq=lost)
        raise refusal


class _Numbered(msgspec.Struct):
    seq: int | None = None


_decode_number = msgspec.json.Decoder(_Numbered).decode


def _seq_in(raw: bytes) -> int | None:
    """Return the ``seq`` in an invalid event, None if it has none that fits a bigint column."""
    try:
        seq = _decode_number(raw).seq
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return seq if seq is not None and abs(seq) < 2**63 else None
