"""What the fairness tests of a month have found through a day, kept in the cache, so that a night adds its own draws.

What is kept is named by everything that it was computed from: the figures of every session of the month until then, in
order, the level and the engine's version. Where one of them changes, the name is another and the month is read again
from the last day before that. It is signed, because a cache is no record: what somebody else put there is not taken.
Without it a report is the same, and later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from itertools import groupby
from typing import Any

import structlog
from django.core import signing
from django.core.cache import cache

from settlement import ENGINE_VERSION

log = structlog.get_logger(__name__)

KEPT_FOR_S = 40 * 24 * 3600
"""Seconds: longer than a month, and the days in which its nights are still restated."""

_SALT = "audit.reconciliation.month_tests"


class MonthTests:
    """What is kept of one month. ``sessions`` are the gaming days and the figures' primary keys, in order."""

    def __init__(self, casino_id: int, alpha: Fraction, sessions: Sequence[tuple[date, int]]) -> None:
        self._names: dict[int, str] = {0: ""}
        digest = hashlib.sha256(f"{casino_id} {alpha} {ENGINE_VERSION}".encode())
        number = 0
        for day, of_day in groupby(sessions, key=lambda session: session[0]):
            for _day, figures in of_day:
                digest.update(f" {day} {figures}".encode())
                number += 1
            self._names[number] = f"month-tests:{digest.hexdigest()}"

    def newest(self) -> tuple[int, Any]:
        """Return of how many sessions, from the first, the tests are kept, and what was kept; 0 and [] of none."""
        for number in sorted(self._names, reverse=True)[:-1]:
            name = self._names[number]
            try:
                stored = cache.get(name)
                if stored is not None:
                    return number, signing.loads(stored, salt=f"{_SALT}:{name}")
            except Exception as error:  # no cache, or not what was put there: the month is read again
                log.warning("month tests not taken", error=f"{type(error).__name__}: {error}")
        return 0, []

    def keep(self, tests: list[Any]) -> None:
        """Keep the tests of all sessions, as plain data."""
        name = self._names[max(self._names)]
        if name:
            try:
                cache.set(name, signing.dumps(tests, salt=f"{_SALT}:{name}", compress=True), KEPT_FOR_S)
            except Exception as error:  # a report does not wait for a cache
                log.warning("month tests not kept", error=f"{type(error).__name__}: {error}")
