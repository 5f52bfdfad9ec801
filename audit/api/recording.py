"""Recording plain requests without Django: those that come at once are stored together, by one commit.

    POST /api/v1/streams/{stream}/events, a JSON array of new events that follow the last stored, a key seen lately
        ─► decode all ─► one round trip to the event store ─► a receipt each

Nothing is refused here. A request that is not plain has no answer, and Django examines it and says what is wrong: a
duplicate, a gap, a fault, a key that is not active or that signs its batches, an exceeded rate limit, a budget that
is used up, a database that does not answer. This exists because Django and its middleware cost several times what the
event store does.

Of the requests that are stored together each has its own receipt, and what one cannot be given here keeps nothing from
the others.

A key that was revoked or restricted is accepted for at most ``KEY_CACHE_S`` after it was looked up.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
import structlog
from django.db import Error, connections
from rest_framework.exceptions import Throttled

from audit import task_queue
from audit.access.client_address import client_address
from audit.access.keys import KEY_CACHE_S
from audit.api.authentication import KeyThrottle
from audit.api.key_lookup import find_key
from audit.api.processor_budget import buckets, of_key
from audit.event_store import binary_copy
from audit.event_store.append import Columns, NewEvent, SingleEvent, append_named, append_singles
from audit.event_store.read import Batch
from audit.ingest.bodies import MAX_EVENTS
from audit.ingest.receipts import receipt
from audit.models import FIRST_SANDBOX_ID, ApiKey, KeyScope
from audit.transparency import signing_keys
from settlement.admission import to_look_at
from settlement.codec import decode_canonical_all, next_seq_after
from settlement.events import OPENERS
from settlement.plain_texts import are_surely_plain

MAX_CACHED_KEYS = 10_000

LOCK_MS = 200
"""How long requests that are stored together wait for a stream that somebody else holds; then each goes by itself."""

COST = 40
"""What a batch costs its key for each second of this thread. Its events are stored, sealed and replayed as well, and a
key that sends all it may is to leave others most of the processors: ``benchmarks.fairness`` measures it."""

log = structlog.get_logger(__name__)

_BEARER = re.compile(r"[Bb]earer (cab_[0-9a-f]{12}_[A-Za-z0-9_-]{43})")
_OPENING = frozenset(OPENERS)
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class CachedKey:
    """A key as it was looked up. ``valid_until`` is on the monotonic clock, in seconds."""

    key_id: int
    casino_id: int
    tables: frozenset[int]
    is_of_sandbox: bool
    valid_until: float


class Plain(NamedTuple):
    """A request to record events: its stream, and what of its environment (WSGI) says who sent it."""

    stream: str
    sender: dict[str, str]


class Answer(NamedTuple):
    """The content of an answer 201, and the headers that are of this answer alone."""

    content: bytes
    rate: list[tuple[bytes, bytes]]


class Recorder:
    """Stores plain requests, and returns their answers."""

    def __init__(self) -> None:
        self._cached_keys: dict[bytes, CachedKey] = {}
        self._rate_limit, self._budgets = KeyThrottle().limit(), buckets()

    def together(self, requests: Sequence[tuple[Plain, bytes]]) -> list[Answer | None]:
        """Store bodies of one event each, and return the answers; None for a request that has to go by itself.

        Nothing was stored of a request without an answer, unless the database was lost meanwhile: sent again by itself
        it is answered as if it had not been here, by the same receipt if it was stored. Raise nothing.
        """
        answers: list[Answer | None] = [None] * len(requests)
        try:
            _limit_waits()
            signing_keys.signer("receipt", datetime.now(UTC))  # raises NoSigningKey
            now = time.monotonic()  # of all: no key ends while the others are looked up
            self._look_up_again({plain.sender.get("HTTP_AUTHORIZATION", "") for plain, _ in requests}, now)
            counted: Counter[int] = Counter()
            prepared = [self._single(plain, body, counted, now) for plain, body in requests]
            singles = {index: single for index, single in enumerate(prepared) if single is not None}
            stored = append_singles(list(singles.values())) if singles else []
        except Exception as error:  # whatever it is, the requests go on by themselves, and each is told its own
            log.warning("requests not stored together", requests=len(requests), error=str(error))
            if isinstance(error, Error) and not binary_copy.sqlstate_of(error):
                connections.close_all()
            return answers
        for index, each in zip(singles, stored, strict=True):
            if each is not None:
                try:
                    answers[index] = self._answer(requests[index][0].stream, *each)
                except Exception as error:  # it is stored: by itself it gets its receipt
                    log.warning("no answer to what was stored", error=str(error))
        return answers

    def _single(self, plain: Plain, body: bytes, counted: Counter[int], now: float) -> SingleEvent | None:
        """Return what is to be stored for a request of one event, None for any other.

        ``counted`` are the requests by key that are to be stored together with it; it is added.
        """
        key = self._key(plain.sender, now)
        if key is None or key.is_of_sandbox:  # a sandbox that is emptied locks its streams in an order of its own
            return None
        if self._rate_limit is not None and self._rate_limit.is_spent(key.key_id, counted[key.key_id]):
            return None
        decoded = columns_of(plain.stream, body)
        if decoded is None or len(decoded[0].seqs) != 1:
            return None
        columns, next_seq = decoded
        counted[key.key_id] += 1
        event = NewEvent(columns.seqs[0], columns.instants[0], columns.envelopes[0])
        return SingleEvent(key.casino_id, plain.stream, key.tables, event, next_seq, key.key_id)

    def alone(self, plain: Plain, body: bytes) -> Answer | None:
        """Store a body of any number of events, and return the answer; None for a request that is Django's.

        Raise nothing. If the events were stored all the same, Django finds them there and gives the same receipt.
        """
        try:
            return self._record(plain, body)
        except Exception as error:  # whatever it is, Django says it in a problem document
            log.warning("request not recorded", error=str(error))
            connections.close_all()
            return None

    def _record(self, plain: Plain, body: bytes) -> Answer | None:
        began_at = time.thread_time()
        key = self._key(plain.sender, time.monotonic())
        if key is None or (self._rate_limit is not None and self._rate_limit.is_spent(key.key_id)):
            return None
        if self._budgets.wait_s(of_key(key.key_id)):
            return None
        decoded = columns_of(plain.stream, body)
        if decoded is None:
            return None
        columns, next_seq = decoded
        signing_keys.signer("receipt", datetime.now(UTC))  # raises NoSigningKey: nothing is stored without a receipt
        stored = append_named(key.casino_id, plain.stream, key.tables, columns, next_seq=next_seq, key_id=key.key_id)
        self._budgets.charge(of_key(key.key_id), COST * (time.thread_time() - began_at))
        return self._answer(plain.stream, *stored) if stored is not None else None

    def _answer(self, stream: str, stream_id: int, batch: Batch) -> Answer:
        """Return the answer to a request that is stored, and count it."""
        task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=stream_id)
        headers = self._rate_limit.count(batch.key_id).headers() if self._rate_limit is not None else {}
        rate = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        return Answer(_encode(receipt(stream, batch, is_of_sandbox=stream_id >= FIRST_SANDBOX_ID)), rate)

    def _look_up_again(self, authorizations: Collection[str], now: float) -> None:
        """Look up the keys among ``authorizations`` that were cached for long enough: all of them at once.

        One that is not valid any more is not cached any more, and is looked up by itself.
        """
        outdated: dict[int, bytes] = {}
        for each in authorizations:
            bearer = _BEARER.fullmatch(each)
            digest = hashlib.sha256(bearer[1].encode()).digest() if bearer is not None else b""
            cached = self._cached_keys.get(digest)
            if cached is not None and now >= cached.valid_until:
                outdated[cached.key_id] = digest
        if not outdated:
            return
        active = ApiKey.still_active(outdated.keys())
        for key_id, digest in outdated.items():
            key = active.get(key_id)
            if key is not None and _may_record(key) and bytes(key.digest) == digest:
                self._cache(digest, key, now)
            else:
                self._cached_keys.pop(digest, None)

    def _cache(self, digest: bytes, key: ApiKey, now: float) -> CachedKey:
        valid_until = (now // KEY_CACHE_S + 1) * KEY_CACHE_S  # all keys end together, and are looked up again at once
        cached = CachedKey(key.pk, key.casino_id, key.own_tables, key.casino.is_sandbox, valid_until)
        self._cached_keys[digest] = cached
        return cached

    def _key(self, sender: dict[str, str], now: float) -> CachedKey | None:
        """Return the key of a request that may record events, None for any other."""
        bearer = _BEARER.fullmatch(sender.get("HTTP_AUTHORIZATION", ""))
        if bearer is None:
            return None
        digest = hashlib.sha256(bearer[1].encode()).digest()
        cached = self._cached_keys.get(digest)
        if cached is not None and now < cached.valid_until:
            return cached
        try:
            key = find_key(bearer[1], client_address(sender))
        except Throttled:
            return None
        if key is None or not _may_record(key):
            self._cached_keys.pop(digest, None)
            return None
        if len(self._cached_keys) >= MAX_CACHED_KEYS:
            self._cached_keys.clear()
        return self._cache(digest, key, now)


def _may_record(key: ApiKey) -> bool:
    """Return whether a key may record events, and does not sign them: those that it signs are Django's to check."""
    return KeyScope.EVENTS_WRITE in key.scopes and key.public_key is None


_limited = threading.local()


def _limit_waits() -> None:
    """Have this thread's connection wait for no stream for long: all who are stored together would wait with it."""
    used = binary_copy.nearest()
    used.ensure_connection()
    if getattr(_limited, "connection", None) is not used.connection:
        with used.cursor() as cursor:
            cursor.execute(f"set lock_timeout = {LOCK_MS}")
        if not used.in_atomic_block:  # a transaction that is rolled back takes the setting with it
            _limited.connection = used.connection


def columns_of(stream: str, body: bytes) -> tuple[Columns, int] | None:
    """Return the events of a body and the number after them.

    None for a body that is not a JSON array of valid, contiguous events of ``stream`` that opens nothing.
    """
    decoded = decode_canonical_all(body) if body[:1] == b"[" else None
    if decoded is None or not 0 < len(decoded[0]) <= MAX_EVENTS:
        return None
    events, envelopes = decoded
    seqs = [event.seq for event in events]
    if seqs != list(range(seqs[0], seqs[0] + len(seqs))) or {event.stream for event in events} != {stream}:
        return None
    if not _OPENING.isdisjoint(map(type, events)) or to_look_at(events) or not are_surely_plain(envelopes):
        return None
    return Columns(seqs, [event.occurred_at for event in events], envelopes), next_seq_after(events[-1])
