"""Rate limits: requests of a key (or failures of an address) in a period of the clock.

A process counts in memory. Asking the cache at each request would cost more than the request, so every
``SHARED_EVERY_S`` it adds what it counted to the total that all web processes share, and reads that total. A limit may
be exceeded by what the processes together accept in that time. If the cache cannot be reached, each counts alone.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from functools import cache as cache_in_process

import structlog
from django.core.cache import cache

SHARED_EVERY_S = 0.25

UNSHARED_S = 30.0
"""How long the cache is not used after it failed: each attempt may cost seconds."""

MAX_COUNTS = 10_000
"""Counts held in memory before those of earlier periods are dropped."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Count:
    """Requests in one period: ``shared`` by all processes as last read, ``own`` since then."""

    period: int
    shared: int = 0
    own: int = 0
    shared_at: float = 0.0


class RateCounter:
    """Counts by identity in periods of ``period_s`` seconds. ``name`` separates the counters in the shared cache."""

    def __init__(self, period_s: int, name: str = "rate") -> None:
        self.period_s = period_s
        self.name = name
        self._counts: dict[int | str, _Count] = {}
        self._lock = threading.Lock()
        self._unshared_until = 0.0

    def used(self, identity: int | str) -> int:
        """Return the count of ``identity`` in this period, as far as this process knows it."""
        count = self._counts.get(identity)
        return count.shared + count.own if count is not None and count.period == self._period() else 0

    def add(self, identity: int | str, number: int = 1) -> int:
        """Count one, or ``number``, and return the count in this period."""
        period, now = self._period(), time.monotonic()
        with self._lock:
            count = self._counts.get(identity)
            if count is None or count.period != period:
                if len(self._counts) >= MAX_COUNTS:
                    self._counts = {each: held for each, held in self._counts.items() if held.period == period}
                count = self._counts[identity] = _Count(period)
            count.own += number
            is_due = now - count.shared_at >= SHARED_EVERY_S and now >= self._unshared_until
            if is_due:
                count.shared_at = now
                increment, count.own = count.own, 0
                count.shared += increment
        if is_due:
            self._share(identity, count, increment)
        return count.shared + count.own

    def left_s(self) -> float:
        """Return the seconds until the next period."""
        return self.period_s - time.time() % self.period_s

    def _period(self) -> int:
        return int(time.time() // self.period_s)

    def _share(self, identity: int | str, count: _Count, increment: int) -> None:
        name = f"{self.name}:{identity}:{count.period}"
        try:
            cache.add(name, 0, timeout=self.period_s + 1)
            count.shared = int(cache.incr(name, increment))
        except Exception as error:
            log.warning("rates not shared", error=str(error))
            self._unshared_until = time.monotonic() + UNSHARED_S


@cache_in_process
def rate_counter(period_s: int) -> RateCounter:
    """Return this process's counter of keys' requests in periods of ``period_s``."""
    return RateCounter(period_s)


@dataclass(frozen=True, slots=True)
class Usage:
    """A key's requests in this period, after one was counted."""

    limit: int
    used: int
    left_s: float

    @property
    def is_exceeded(self) -> bool:
        return self.used > self.limit

    def headers(self) -> dict[str, str]:
        """Return the headers ``RateLimit-Limit``, ``-Remaining`` and ``-Reset`` (in seconds)."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "RateLimit-Reset": str(math.ceil(self.left_s)),
        }


@dataclass(frozen=True, slots=True)
class RateLimit:
    """So many requests of a key in a period: the limit that the views and ``recording`` share."""

    requests: int
    period_s: int

    def is_spent(self, key_id: int, uncounted: int = 0) -> bool:
        """Return whether another request of a key would exceed the limit, without counting one.

        ``uncounted`` are requests of the key that are admitted already and not counted yet.
        """
        return rate_counter(self.period_s).used(key_id) + uncounted >= self.requests

    def count(self, key_id: int, requests: int = 1) -> Usage:
        """Count a request of a key, or one that costs as much as ``requests``."""
        counter = rate_counter(self.period_s)
        return Usage(self.requests, counter.add(key_id, requests), counter.left_s())
