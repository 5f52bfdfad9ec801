"""From which amounts something is due, and what the questions ask from.

Amounts belong to the house register, by currency, in minor units: nothing is converted, so a currency without an
amount is not checked. ``identification_from`` and ``reportable_cash_from`` are the law's. The others are no law: they
and the shares, numbers and times written here keep the questions of clean nights at one a week at most
(``benchmarks.fair_money``).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from msgspec import Struct

IDENTIFICATION_FROM: Mapping[str, int] = MappingProxyType({"EUR": 200_000})
"""2,000 € of exchanges in one *séance*: code monétaire et financier, art. R. 561-10. The text is not among ours."""

REPORTABLE_CASH_FROM: Mapping[str, int] = MappingProxyType({"CAD": 1_000_000})
"""$10,000 in 24 consecutive hours: SOR/2002-184, s. 70 (received in cash) and 71 (paid out). Not among our texts."""

CHIPS_FROM_ELSEWHERE_FROM: Mapping[str, int] = MappingProxyType({"EUR": 500_000, "CAD": 750_000})
"""Chips cashed by somebody who bought and staked nothing: of less, couples cash what the other won every week."""

CHIPS_OUTSTANDING_FROM: Mapping[str, int] = MappingProxyType({"EUR": 1_000_000, "CAD": 1_500_000})
"""Chips that nobody brings back for a month: guests who come twice a year keep less than this every week."""

WINDOW = timedelta(hours=24)
"""Exchanges less than this apart are within 24 consecutive hours; those exactly a day apart are not."""

# The questions

SPLIT_EXCHANGES = 3
SPLIT_PERCENT = 95
"""Splitting is asked about where at least so many exchanges, at two tables or desks or more, stop in the last twentieth
below a threshold: one exchange, or one desk, hides nothing from anybody."""

GROUP_PLAYERS = 3
GROUP_PERCENT = 90
GROUP_WITHIN = timedelta(minutes=10)
"""So many named players who each stop in the last tenth below a threshold, at one desk and within this time."""

NOBODY_PERCENT = 75
NOBODY_WITHIN = timedelta(minutes=10)
"""Of players whom nobody named, exchanges of at least this share of a threshold each, within this time, are one."""

MINIMAL_PLAY_PERCENT = 20
CASHED_PERCENT = 80
"""Minimal play: less than a fifth of the chips bought was staked, and at least four fifths came back to the desk."""

SHARED_COUPS = 60
OPPOSING_PERCENT = 75
"""Opposite stakes are asked about from so many shared coups on, with this share of them opposing. Two players who
choose their sides by chance reach three quarters of 60 coups less than once in 10,000 pairs."""

POOLED_PLAYERS, POOLED_AT_MOST = 3, 8
POOLED_WITHIN = timedelta(minutes=30)
POOLED_LEAST_PERCENT = 5
POOLED_FOREIGN_PERCENT = 50
POOLED_NEAR_PERCENT, POOLED_NEAR_OF_BUYERS_PERCENT = 95, 98
"""Chips are pooled where so many players, each at most this long after the one before him, cash chips that were not
theirs: each for at least a twentieth of the threshold, and half of it at least not chips of nobody known. It comes
within a twentieth of what another should still have, or within a fiftieth where one of them bought chips, too: with
those who play more of the sums are near by chance."""

PLAYED_TIMES = 3
"""Somebody who bought or staked is asked about chips from elsewhere from so many times the amount: couples and friends
share what they win."""

OUTSTANDING_AFTER = timedelta(days=30)


class Thresholds(Struct, frozen=True, kw_only=True):
    """The amounts of one casino's register, in minor units, by currency."""

    identification_from: Mapping[str, int] = IDENTIFICATION_FROM
    reportable_cash_from: Mapping[str, int] = REPORTABLE_CASH_FROM
    chips_from_elsewhere_from: Mapping[str, int] = CHIPS_FROM_ELSEWHERE_FROM
    chips_outstanding_from: Mapping[str, int] = CHIPS_OUTSTANDING_FROM

    @classmethod
    def of(cls, readings: Mapping[str, Mapping[str, int]]) -> Thresholds:
        """Return what the register says, and the law's amounts where it says nothing."""
        return cls(**{name: readings[name] for name in cls.__struct_fields__ if name in readings})

    def play_from(self, currency: str) -> int | None:
        """Return the chips bought from which minimal play is asked about; None: never in this currency."""
        return self.identification_from.get(currency) or self.reportable_cash_from.get(currency)


DEFAULTS = Thresholds()
