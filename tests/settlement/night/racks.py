"""The bridge of a stream, and its bank as the table closed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from settlement import Event
from settlement.corrections import changes_in
from settlement.night.bridge import Bank, LineSum, WagerLine
from settlement.night.figures import SessionProjection


def read(events: Sequence[Event], page: int = 1_000, **options: Any) -> SessionProjection:
    """Return the projection that has read ``events`` page by page."""
    projection = SessionProjection(changes_in(events), **options)
    for first in range(0, len(events), page):
        projection.feed(events[first : first + page])
    return projection


def bank_of(events: Sequence[Event]) -> Bank:
    """Return the bank of a session as its events give it; in the box is what chips were bought for."""
    bank = read(events, follows_luck=False).figures().bridge.bank
    return replace(bank, drop=bank.buy_ins)


def lines_of(events: Sequence[Event]) -> list[WagerLine]:
    """Return the bridge of every wager, and of other money that the house gave."""
    return [line for line, _wager in read(events, follows_luck=False).lines()]


def summed(lines: Iterable[WagerLine]) -> list[LineSum]:
    """Return the sum of ``lines``."""
    whole = LineSum()
    for line in lines:
        whole.add(line, line.recorded.total)
    return [whole]
