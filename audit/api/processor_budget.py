"""Budgets of work: how much processor time of a web process a key, an officer or an address may use.

    request ─► whose? ─► its bucket is empty: 429, with Retry-After
                 └─► answered ─► the processor time that it took leaves the bucket

A bucket fills at ``CABOCHON_PROCESSOR_RATE`` seconds of processor time a second, up to ``CABOCHON_PROCESSOR_BURST_S``.
While a request is answered ``HELD_S`` are held back, and then what it took is charged: so nobody has every thread of a
process. It may be overdrawn, so a request that is begun is always answered. Each web process has its own: what is
shared costs more than it saves.

Of plain requests to record (``recording.py``) batches are on the budget of their key, with ``COST`` times the time that
they take, the database's included, up to ``MOST_CHARGED_S`` each. Single events, stored together with others', have
``CABOCHON_RATE`` as their limit.

A request with an active key is the key's, one of somebody signed in the officer's, any other its address's: nobody who
floods the page to sign in empties the bucket of a table system, or of an officer, at the same address.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.exceptions import Throttled

from audit.access.client_address import UNKNOWN, client_address, network_of
from audit.access.password_hashing import hashed_s
from audit.api.key_lookup import FOUND_KEY, find_key
from audit.api.problems import DATABASE_ERRORS, Problem, answer

HELD_S = 0.25
"""Seconds of work held back while a request is answered."""

MAX_BUCKETS = 10_000
"""Buckets held before those that are full again are dropped."""

UNCOUNTED = ("/health", "/static/")
"""Beginnings of addresses that everybody may ask, and whose answers cost next to nothing."""


@dataclass(slots=True)
class _Bucket:
    left_s: float
    at: float


class Buckets:
    """Token buckets by identity, in seconds of processor time. ``clock`` says the time, in seconds."""

    def __init__(self, *, rate: float, burst_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst_s, self._clock = rate, burst_s, clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def wait_s(self, identity: str) -> float:
        """Return the seconds until the bucket of ``identity`` has something again, 0 if it has now."""
        left_s = self.left_s(identity)
        return 0.0 if left_s > 0 else max(-left_s / self._rate, 1.0)

    def left_s(self, identity: str) -> float:
        """Return the seconds of work in the bucket of ``identity``, below 0 if it is overdrawn."""
        with self._lock:
            return self._left_s(self._buckets.get(identity), self._clock())

    def charge(self, identity: str, used_s: float) -> None:
        """Take ``used_s`` seconds of work out of the bucket of ``identity``."""
        now = self._clock()
        with self._lock:
            left_s = self._left_s(self._buckets.get(identity), now)
            if len(self._buckets) >= MAX_BUCKETS:
                owing = {name: each for name, each in self._buckets.items() if self._left_s(each, now) < self._burst_s}
                self._buckets = owing if len(owing) < MAX_BUCKETS else {}
            self._buckets[identity] = _Bucket(left_s - used_s, now)

    def _left_s(self, bucket: _Bucket | None, now: float) -> float:
        if bucket is None:
            return self._burst_s
        return min(self._burst_s, bucket.left_s + (now - bucket.at) * self._rate)


@lru_cache(maxsize=1)
def _buckets(rate: float, burst_s: float) -> Buckets:
    return Buckets(rate=rate, burst_s=burst_s)


def buckets() -> Buckets:
    """Return the buckets of this process, with the rate and the burst of the settings."""
    return _buckets(settings.CABOCHON_PROCESSOR_RATE, settings.CABOCHON_PROCESSOR_BURST_S)


def of_key(key_id: int) -> str:
    """Return the identity of a key among the ``buckets``."""
    return f"key:{key_id}"


class ProcessorBudget:
    """Middleware, after sessions and authentication, that refuses whoever has used up a budget, by 429."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.processor_s: Callable[[], float] = processor_s
        self.buckets = buckets()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(UNCOUNTED):
            return self.get_response(request)
        whose = identity_of(request)
        if whose is None:
            return self.get_response(request)
        wait_s = math.ceil(self.buckets.wait_s(whose))
        if wait_s:
            return answer(_refusal(wait_s))
        self.buckets.charge(whose, HELD_S)
        began_at = self.processor_s()
        try:
            return self.get_response(request)
        finally:
            self.buckets.charge(whose, self.processor_s() - began_at - HELD_S)


def processor_s() -> float:
    """Return the seconds of processor time that this thread has used, and another at its request."""
    return time.thread_time() + hashed_s()


def identity_of(request: HttpRequest) -> str | None:
    """Return whose budget a request is on: of its active key, of who is signed in, otherwise of its address.

    None if it has no address: all who come over a Unix socket would share one budget.
    """
    address = client_address(request.META)
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer":
        try:
            key = find_key(secret.strip(), address)
        except (Throttled, *DATABASE_ERRORS):  # the view says so
            key = None
        else:
            request.META[FOUND_KEY] = secret.strip(), key  # the view looks it up no second time
        if key is not None:
            return of_key(key.pk)
    elif not request.path_info.startswith("/api/") and request.user.is_authenticated:  # the interface knows no session
        return f"officer:{request.user.pk}"
    return None if address == UNKNOWN else f"address:{network_of(address)}"


def _refusal(wait_s: int) -> Problem:
    detail = (
        "Your requests have used as much of the server's time as one key or address may for now."
        f" Wait {wait_s} s, as Retry-After says, and send the request again."
    )
    return Problem(429, "throttled", detail, retry_after_s=wait_s)
