"""How often each key asks: counted here, and with the other web processes through the cache every moment.

To ask the cache at each request would cost more than the request. So a process counts by itself, adds what it counted
to the number all share, and learns that number, every ``SHARED_EVERY_S``: a limit may be overrun by what the processes
together take in in that time. Where the cache cannot be reached each counts for itself.
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
"""How long the cache is left alone when it has failed: to ask it may cost seconds."""

MAX_COUNTED = 10_000
"""Counts that are held before those of minutes gone by are let go."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Count:
    """The requests of a key in a minute: ``shared`` by all as last heard, ``own`` since then."""

    minute: int
    shared: int = 0
    own: int = 0
    shared_at: float = 0.0


class RateCounter:
    """Counts by whoever asks, in periods of the clock. ``name`` is what is counted, for the cache that is shared."""

    def __init__(self, period_s: int, name: str = "rate") -> None:
        self.period_s = period_s
        self.name = name
        self._counts: dict[int | str, _Count] = {}
        self._lock = threading.Lock()
        self._unshared_until = 0.0

    def used(self, whose: int | str) -> int:
        """Return how many there were of ``whose`` in this minute, as far as is known here."""
        count = self._counts.get(whose)
        return count.shared + count.own if count is not None and count.minute == self._minute() else 0

    def add(self, whose: int | str) -> int:
        """Count one, and return how many there were in this minute."""
        minute, now = self._minute(), time.monotonic()
        with self._lock:
            count = self._counts.get(whose)
            if count is None or count.minute != minute:
                if len(self._counts) >= MAX_COUNTED:
                    self._counts = {each: held for each, held in self._counts.items() if held.minute == minute}
                count = self._counts[whose] = _Count(minute)
            count.own += 1
            is_due = now - count.shared_at >= SHARED_EVERY_S and now >= self._unshared_until
            if is_due:
                count.shared_at = now
                told, count.own = count.own, 0
                count.shared += told
        if is_due:
            self._share(whose, count, told)
        return count.shared + count.own

    def left_s(self) -> float:
        """Return how long this minute goes on."""
        return self.period_s - time.time() % self.period_s

    def _minute(self) -> int:
        return int(time.time() // self.period_s)

    def _share(self, whose: int | str, count: _Count, told: int) -> None:
        name = f"{self.name}:{whose}:{count.minute}"
        try:
            cache.add(name, 0, timeout=self.period_s + 1)
            count.shared = int(cache.incr(name, told))
        except Exception as error:
            log.warning("rates not shared", error=str(error))
            self._unshared_until = time.monotonic() + UNSHARED_S


@cache_in_process
def rate_counter(period_s: int) -> RateCounter:
    """Return what this process counts by periods of ``period_s``."""
    return RateCounter(period_s)


def rate_headers(limit: int, used: int, left_s: float) -> dict[str, str]:
    """Return the headers that say how much is left."""
    return {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(max(0, limit - used)),
        "RateLimit-Reset": str(math.ceil(left_s)),
    }
