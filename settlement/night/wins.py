"""The recorded win of a session as its wagers were decided: what the small multiples of a night draw."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from settlement.night.bridge import WagerLine
from settlement.state import Wager

WINS_NOTED = 100_000
"""Wagers of a session whose win is followed; one of more has no line of it."""


def recorded_win(line: WagerLine, wager: Wager | None) -> tuple[int, int]:
    """Return the event that decided a wager, 0 for other money that the house gave, and the recorded win, minor units.

    Of a wager that stands, the event that changed it last.
    """
    return (wager.decided_by or wager.changed_by if wager is not None else 0), line.recorded.total


def won_so_far(wins: Iterable[tuple[int, int]]) -> list[int]:
    """Return the sums of what ``recorded_win`` gave, so far, in the order of the events."""
    return list(accumulate(amount for _seq, amount in sorted(wins, key=lambda win: win[0])))
