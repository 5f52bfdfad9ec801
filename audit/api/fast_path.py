"""The fast path: a WSGI application in front of Django that answers the usual request to record events.

    POST /api/v1/streams/{stream}/events, a JSON array of new events that follow the last stored, a key seen lately
        ─► decode all ─► one round trip to the event store ─► receipt

Every other request goes to Django, which examines it and says what is wrong: another address or media type, a
duplicate, a gap, a fault, a key not cached or that signs its batches, an exceeded rate limit, a database that does not
answer. The fast path itself never refuses. It exists because Django and its middleware cost several times what the
event store does.

Requests of one event each that wait at the same time are answered together (``answer_together``): one round trip and
one commit for all of them. Each has its own receipt, and what one cannot be given here keeps nothing from the others.

Host, transport, content and header policy are Django's alone. The fast path learns them: it answers a request only
after Django answered one with the same ``POLICY_HEADERS`` by 201, and then with the headers of that answer.

A key that was revoked or restricted is still accepted for ``KEY_CACHE_S`` after it was looked up.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import msgspec
import structlog
from django.db import Error, connections
from rest_framework.exceptions import Throttled

from audit import task_queue
from audit.access.client_address import client_address
from audit.api.authentication import KeyThrottle
from audit.api.key_lookup import find_key
from audit.api.request_body import MAX_BYTES
from audit.event_store import binary_copy
from audit.event_store.append import Columns, NewEvent, SingleEvent, append_named, append_singles
from audit.event_store.read import Batch
from audit.ingest.bodies import JSON, MAX_EVENTS
from audit.ingest.receipts import receipt
from audit.models import FIRST_SANDBOX_ID, ApiKey, KeyScope
from audit.transparency import signing_keys
from settlement.admission import are_surely_admitted
from settlement.codec import decode_canonical_all, next_seq_after
from settlement.events import OPENERS

KEY_CACHE_S = 1.0
"""How long a key is used as it was when it was looked up."""

MAX_CACHED_KEYS = 10_000

POLICY_HEADERS = (
    "wsgi.url_scheme",
    "SERVER_NAME",
    "SERVER_PORT",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_ORIGIN",
)
"""What of a request, apart from its address, key and body, Django's answer depends on."""

MAX_LEARNED = 100
"""Most combinations of ``POLICY_HEADERS`` whose answer is remembered; then they are learned anew."""

Headers: TypeAlias = list[tuple[str, str]]
Application: TypeAlias = Callable[..., Iterable[bytes]]

USUAL = "cabochon.usual"
"""Where in the environment of a request that was answered here is what of its head the next one may have in common."""

LOCK_MS = 200
"""How long requests that are stored together wait for a stream that somebody else holds; then each goes by itself."""

log = structlog.get_logger(__name__)

_ADDRESS = re.compile(r"/api/v1/streams/([A-Za-z0-9._:-]{1,100})/events")
_BEARER = re.compile(r"[Bb]earer (cab_[0-9a-f]{12}_[A-Za-z0-9_-]{43})")
_OPENING = frozenset(OPENERS)
_OF_ONE_ANSWER = ("Content-Length", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
_OF_SENDER = ("HTTP_AUTHORIZATION", "REMOTE_ADDR", "HTTP_X_FORWARDED_FOR", "HTTP_X_REQUEST_ID")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class CachedKey:
    """A key as it was looked up. ``valid_until`` is on the monotonic clock, in seconds."""

    key_id: int
    casino_id: int
    tables: frozenset[int]
    is_of_sandbox: bool
    valid_until: float


@dataclass(frozen=True, slots=True)
class Usual:
    """What a request that the fast path answered has in common with every other whose head has the same bytes.

    ``sender`` is what of the environment says who sent it.
    """

    stream: str
    policy: tuple[str | None, ...]
    sender: dict[str, Any]


class Answer(NamedTuple):
    """The headers and the content of an answer 201."""

    headers: Headers
    content: bytes


class FastPath:
    """A WSGI application in front of another, which answers everything that this one does not."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._cached_keys: dict[bytes, CachedKey] = {}
        self._learned: dict[tuple[str | None, ...], Headers] = {}
        self._rate_limit = KeyThrottle().limit()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        address = _ADDRESS.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "POST" else None
        if address is None or not _is_usual(environ):
            return self.application(environ, start_response)
        policy = tuple(map(environ.get, POLICY_HEADERS))
        headers = self._learned.get(policy)
        if headers is None:
            return self._learn(policy, environ, start_response)
        length = int(environ["CONTENT_LENGTH"])
        body = environ["wsgi.input"].read(length)
        try:
            answer = self._record(environ, address[1], body) if len(body) == length else None
        except Exception as error:  # whatever it is, Django says it in a problem document
            # If the events were stored all the same, Django finds them there and gives the same receipt.
            log.warning("fast path failed", error=str(error))
            connections.close_all()
            answer = None
        if answer is None:
            environ["wsgi.input"] = io.BytesIO(body)
            return self.application(environ, start_response)
        content, rate_headers = answer
        sender = {name: environ[name] for name in _OF_SENDER if name in environ}
        environ[USUAL] = Usual(address[1], policy, sender)
        start_response("201 Created", [*headers, ("Content-Length", str(len(content))), *rate_headers.items()])
        return [content]

    def answer_together(self, requests: Sequence[tuple[Usual, bytes]]) -> list[Answer | None]:
        """Store bodies of one event each, and return the answers; None for a request that has to go by itself.

        Nothing was stored of a request without an answer, unless the database was lost meanwhile: sent again by itself
        it is answered as if it had not been here, by the same receipt if it was stored. Raise nothing.
        """
        answers: list[Answer | None] = [None] * len(requests)
        try:
            _limit_waits()
            signing_keys.signer("receipt", datetime.now(UTC))  # raises NoSigningKey
            self._look_up_again({usual.sender.get("HTTP_AUTHORIZATION", "") for usual, _ in requests})
            headers = [self._learned.get(usual.policy) for usual, _ in requests]
            counted: Counter[int] = Counter()
            prepared = [self._single(usual, body, counted) for usual, body in requests]
            singles = {
                index: single
                for index, single in enumerate(prepared)
                if single is not None and headers[index] is not None
            }
            stored = append_singles(list(singles.values())) if singles else []
        except Exception as error:  # whatever it is, the requests go on by themselves, and each is told its own
            log.warning("requests not stored together", requests=len(requests), error=str(error))
            if isinstance(error, Error) and not binary_copy.sqlstate_of(error):
                connections.close_all()
            return answers
        for index, each in zip(singles, stored, strict=True):
            if each is not None:
                try:
                    answers[index] = self._answer(requests[index][0], headers[index] or [], *each)
                except Exception as error:  # it is stored: by itself it gets its receipt
                    log.warning("no answer to what was stored", error=str(error))
        return answers

    def _single(self, usual: Usual, body: bytes, counted: Counter[int]) -> SingleEvent | None:
        """Return what is to be stored for a request of one event, None for any other.

        ``counted`` are the requests by key that are to be stored together with it; it is added.
        """
        key = self._key(usual.sender)
        if key is None or key.is_of_sandbox:  # a sandbox that is emptied locks its streams in an order of its own
            return None
        if self._rate_limit is not None and self._rate_limit.is_spent(key.key_id, counted[key.key_id]):
            return None
        decoded = columns_of(usual.stream, body)
        if decoded is None or len(decoded[0].seqs) != 1:
            return None
        columns, next_seq = decoded
        counted[key.key_id] += 1
        event = NewEvent(columns.seqs[0], columns.instants[0], columns.envelopes[0])
        return SingleEvent(key.casino_id, usual.stream, key.tables, event, next_seq, key.key_id)

    def _answer(self, usual: Usual, headers: Headers, stream_id: int, batch: Batch) -> Answer:
        """Return the answer to a request that is stored, and count it."""
        task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=stream_id)
        rate_headers = self._rate_limit.count(batch.key_id).headers() if self._rate_limit is not None else {}
        content = _encode(receipt(usual.stream, batch, is_of_sandbox=False))
        length = ("Content-Length", str(len(content)))
        return Answer([*headers, length, *rate_headers.items()], content)

    def _learn(
        self, policy: tuple[str | None, ...], environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Have Django answer, and remember the headers of an answer that the fast path could have given."""
        started: list[tuple[str, Headers]] = []

        def start(status: str, headers: Headers, *exc_info: Any) -> Any:
            started.append((status, headers))
            return start_response(status, headers, *exc_info)

        response = self.application(environ, start)
        try:
            content = b"".join(response)
        finally:
            if hasattr(response, "close"):
                response.close()
        status, headers = started[-1]
        if status.startswith("201 ") and content == _encode(msgspec.json.decode(content)):
            if len(self._learned) >= MAX_LEARNED:
                self._learned.clear()
            self._learned[policy] = [(name, value) for name, value in headers if name not in _OF_ONE_ANSWER]
        return [content]

    def _record(self, environ: dict[str, Any], stream: str, body: bytes) -> tuple[bytes, dict[str, str]] | None:
        """Store a body and return the answer and its rate headers, None if Django has to examine the request."""
        key = self._key(environ)
        if key is None or (self._rate_limit is not None and self._rate_limit.is_spent(key.key_id)):
            return None
        decoded = columns_of(stream, body)
        if decoded is None:
            return None
        columns, next_seq = decoded
        signing_keys.signer("receipt", datetime.now(UTC))  # raises NoSigningKey: nothing is stored without a receipt
        stored = append_named(key.casino_id, stream, key.tables, columns, next_seq=next_seq, key_id=key.key_id)
        if stored is None:
            return None
        stream_id, batch = stored
        task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=stream_id)
        rate_headers = self._rate_limit.count(key.key_id).headers() if self._rate_limit is not None else {}
        return _encode(receipt(stream, batch, is_of_sandbox=stream_id >= FIRST_SANDBOX_ID)), rate_headers

    def _look_up_again(self, authorizations: Collection[str]) -> None:
        """Look up the keys among ``authorizations`` that were cached for long enough: all of them at once.

        One that is not valid any more is not cached any more, and is looked up by itself.
        """
        now = time.monotonic()
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
        valid_until = now + KEY_CACHE_S
        cached = CachedKey(key.pk, key.casino_id, key.own_tables, key.casino.is_sandbox, valid_until)
        self._cached_keys[digest] = cached
        return cached

    def _key(self, environ: dict[str, Any]) -> CachedKey | None:
        """Return the key of a request that may record events, None for any other."""
        bearer = _BEARER.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
        if bearer is None:
            return None
        digest = hashlib.sha256(bearer[1].encode()).digest()
        now = time.monotonic()
        cached = self._cached_keys.get(digest)
        if cached is not None and now < cached.valid_until:
            return cached
        try:
            key = find_key(bearer[1], client_address(environ))
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
        _limited.connection = used.connection


def _is_usual(environ: dict[str, Any]) -> bool:
    """Return whether a request has a body that the fast path reads, and nothing that it does not know."""
    length = environ.get("CONTENT_LENGTH", "")
    return (
        environ.get("CONTENT_TYPE") == JSON
        and not environ.get("QUERY_STRING")
        and "HTTP_COOKIE" not in environ
        and "HTTP_CONTENT_ENCODING" not in environ
        and "HTTP_TRANSFER_ENCODING" not in environ
        and length.isdigit()
        and 0 < int(length) <= MAX_BYTES
    )


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
    if not _OPENING.isdisjoint(map(type, events)) or not are_surely_admitted(events):
        return None
    return Columns(seqs, [event.occurred_at for event in events], envelopes), next_seq_after(events[-1])
