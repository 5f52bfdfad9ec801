"""The express way in: a request that is as it should be, from the socket to the log without a detour.

    POST /api/v1/streams/{stream}/events, a JSON array of new events that follow the last, a key seen a moment ago
        ─► read at once ─► one round trip to the log ─► receipt

Everything else takes the ordinary way, where it is looked at closely and told what is wrong: another address, another
form, a duplicate, a gap, a fault, a key not seen yet, a rate that is spent, a database that does not answer. The
express way never refuses. It stands in front of Django because Django's own way costs several times what the log does.

A key that was revoked or limited anew is taken on for ``KEY_CACHE_S`` after it was looked up.
"""

from __future__ import annotations

import hashlib
import io
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.http.request import validate_host
from rest_framework.exceptions import Throttled

from audit import task_queue
from audit.api.authentication import KeyThrottle
from audit.api.key_lookup import find_key
from audit.api.rate_limit import rate_counter, rate_headers
from audit.event_store.append import Columns, append_named
from audit.ingest.bodies import MAX_BYTES, MAX_EVENTS
from audit.ingest.receipts import receipt
from audit.models import Scope
from audit.transparency import signing_keys
from settlement.codec import decode_canonical_all, next_seq_after
from settlement.events import OPENERS

KEY_CACHE_S = 1.0
"""How long a key is taken for what it was when it was looked up."""

MAX_CACHED_KEYS = 10_000

log = structlog.get_logger(__name__)

_ADDRESS = re.compile(r"/api/v1/streams/([A-Za-z0-9._:-]{1,100})/events")
_BEARER = re.compile(r"[Bb]earer (cab_[0-9a-f]{12}_[A-Za-z0-9_-]{43})")
_OPENING = frozenset(OPENERS)
_encode = msgspec.json.Encoder().encode

HEADERS = [
    ("Content-Type", "application/json"),
    ("Vary", "Accept, origin"),
    ("Allow", "GET, POST, HEAD, OPTIONS"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
]


@dataclass(frozen=True, slots=True)
class CachedKey:
    """A key as it was looked up, until when it is taken for that."""

    key_id: int
    casino_id: int
    tables: frozenset[int]
    until: float


class FastPath:
    """A WSGI application in front of another, which answers whatever this one does not."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application
        self._cached_keys: dict[bytes, CachedKey] = {}
        self._hosts: set[str] = set()
        self._throttle = KeyThrottle()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        place = _ADDRESS.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "POST" else None
        if place is None or not self._is_plain(environ):
            return self.application(environ, start_response)
        length = int(environ["CONTENT_LENGTH"])
        body = environ["wsgi.input"].read(length)
        try:
            answer = self._record(environ, place[1], body) if len(body) == length else None
        except (DatabaseError, signing_keys.NoSigningKey) as error:
            # If it was stored all the same, the ordinary way finds it there and gives the same receipt.
            log.warning("not by the express way", error=str(error))
            connection.close()
            answer = None
        if answer is None:
            environ["wsgi.input"] = io.BytesIO(body)
            return self.application(environ, start_response)
        content, headers = answer
        start_response("201 Created", [*HEADERS, ("Content-Length", str(len(content))), *headers.items()])
        return [content]

    def _is_plain(self, environ: dict[str, Any]) -> bool:
        """Tell whether a request is of the form that is known here, from where it may come."""
        length = environ.get("CONTENT_LENGTH", "")
        return (
            environ.get("CONTENT_TYPE") == "application/json"
            and not environ.get("QUERY_STRING")
            and any(kind in environ.get("HTTP_ACCEPT", "*/*") for kind in ("*/*", "application/json"))
            and "HTTP_CONTENT_ENCODING" not in environ
            and "HTTP_TRANSFER_ENCODING" not in environ
            and length.isdigit()
            and 0 < int(length) <= MAX_BYTES
            and not settings.SECURE_SSL_REDIRECT
            and self._is_own_host(environ.get("HTTP_HOST", ""))
        )

    def _is_own_host(self, host: str) -> bool:
        if host in self._hosts:
            return True
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if not validate_host(name.lower(), settings.ALLOWED_HOSTS):
            return False
        if len(self._hosts) < 100:
            self._hosts.add(host)
        return True

    def _record(self, environ: dict[str, Any], stream: str, body: bytes) -> tuple[bytes, dict[str, str]] | None:
        """Store a body and return the answer to it, None where it has to be looked at."""
        trusted = self._key(environ.get("HTTP_AUTHORIZATION", ""), environ.get("REMOTE_ADDR", ""))
        rates = rate_counter(self._throttle.duration)
        if trusted is None or rates.used(trusted.key_id) >= self._throttle.num_requests:
            return None
        found = columns_of(stream, body)
        if found is None:
            return None
        columns, next_seq = found
        signing_keys.signer(
            "receipt", datetime.now(UTC)
        )  # raises where nothing could be signed: then nothing is stored
        stored = append_named(
            trusted.casino_id, stream, trusted.tables, columns, next_seq=next_seq, key_id=trusted.key_id
        )
        if stored is None:
            return None
        stream_id, batch = stored
        task_queue.send_soon(task_queue.REPLAY_STREAM, stream_id=stream_id)
        used = rates.add(trusted.key_id)
        content = _encode(receipt(stream, batch))
        return content, rate_headers(self._throttle.num_requests, used, rates.left_s())

    def _key(self, authorization: str, address: str) -> CachedKey | None:
        """Return the key of a request that may record events, None for any other."""
        shape = _BEARER.fullmatch(authorization)
        if shape is None:
            return None
        digest = hashlib.sha256(shape[1].encode()).digest()
        now = time.monotonic()
        trusted = self._cached_keys.get(digest)
        if trusted is not None and now < trusted.until:
            return trusted
        try:
            key = find_key(shape[1], address)
        except Throttled:
            return None
        if key is None or Scope.EVENTS_WRITE not in key.scopes:
            self._cached_keys.pop(digest, None)
            return None
        if len(self._cached_keys) >= MAX_CACHED_KEYS:
            self._cached_keys.clear()
        trusted = self._cached_keys[digest] = CachedKey(key.pk, key.casino_id, key.own_tables, now + KEY_CACHE_S)
        return trusted


def columns_of(stream: str, body: bytes) -> tuple[Columns, int] | None:
    """Return the events of a body and the number after them, None where they are not plainly new ones of ``stream``."""
    read = decode_canonical_all(body) if body[:1] == b"[" else None
    if read is None or not 0 < len(read[0]) <= MAX_EVENTS:
        return None
    events, envelopes = read
    seqs = [event.seq for event in events]
    if seqs != list(range(seqs[0], seqs[0] + len(seqs))) or {event.stream for event in events} != {stream}:
        return None
    if not _OPENING.isdisjoint(map(type, events)):
        return None
    return Columns(seqs, [event.occurred_at for event in events], envelopes), next_seq_after(events[-1])
