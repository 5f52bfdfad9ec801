"""The recorded win of a session as its wagers were decided: what the small multiples of a night draw."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from operator import itemgetter

from settlement.night.bridge import WagerLine
from settlement.state import Wager

WINS_NOTED = 100_000
"""Wagers of a session whose win is followed; one of more has no line of it."""


def when(wager: Wager | None) -> int:
    """Return the event that decided a wager, the last that changed one that stands; 0 for money apart from wagers."""
    return wager.decided_by or wager.changed_by if wager is not None else 0


def recorded_win(line: WagerLine, wager: Wager | None) -> tuple[int, int]:
    """Return the event of a line, and what the house won by it as it was recorded, in minor units."""
    return when(wager), line.recorded.total


def won_so_far(wins: Iterable[tuple[int, int]]) -> list[int]:
    """Return the sums so far of ``wins``, which are as ``recorded_win`` gives them, in the order of the events."""
    return list(accumulate(amount for _seq, amount in sorted(wins, key=itemgetter(0))))
