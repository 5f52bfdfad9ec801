"""The *registre des changes*: what each cash desk and each table exchanged on a gaming day, as data.

There is one register for each cash desk, numbered on its own, so that nobody can slip an entry in (arrêté of 14 May
2007, art. 36; the text is not among ours). It lists the exchanges of those who reached the threshold of identification
in one direction, from their first exchange on, and each exchange of that amount by nobody known.
"""

from __future__ import annotations

from msgspec import Struct

from settlement.persons.day import Day
from settlement.persons.exchanges import NOBODY, Direction, Exchange
from settlement.persons.thresholds import DEFAULTS, Thresholds


class Entry(Struct, frozen=True):
    """One line: its number in its register, and what the player exchanged in this direction on the day so far.

    ``of_day`` is in minor units, over all desks and tables, 0 for nobody known; ``reaches``: this is the exchange by
    which identification became due.
    """

    number: int
    exchange: Exchange
    of_day: int
    reaches: bool


class ExchangeRegister(Struct, frozen=True):
    """The register of one desk or table on a gaming day; both sums are in minor units of the day's currency."""

    where: str
    is_of_desk: bool
    entries: list[Entry]
    into_chips: int
    into_money: int


def exchange_registers(
    day: Day, thresholds: Thresholds = DEFAULTS, *, everybody: bool = False
) -> list[ExchangeRegister]:
    """Return the registers of a day: the cash desks first, each in the order of the clock.

    ``everybody`` lists all exchanges, whatever they come to. Without a threshold in the day's currency all are listed:
    nobody can say whom to leave out.
    """
    threshold = thresholds.identification_from.get(day.currency)
    running: dict[tuple[str, Direction], int] = {}
    lines: list[tuple[Exchange, int, bool]] = []
    reached: set[str] = set()
    for exchange in day.exchanges:
        if exchange.is_stake:
            continue
        before = running.get((exchange.player, exchange.direction), 0) if exchange.player != NOBODY else 0
        total = before + exchange.amount
        running[exchange.player, exchange.direction] = total
        is_reached = threshold is not None and before < threshold <= total
        if is_reached and exchange.player != NOBODY:
            reached.add(exchange.player)
        lines.append((exchange, total if exchange.player != NOBODY else 0, is_reached))
    by_desk: dict[tuple[bool, str], list[Entry]] = {}
    for exchange, total, is_reached in lines:
        if everybody or threshold is None or is_reached or exchange.player in reached:
            entries = by_desk.setdefault((not exchange.is_of_desk, exchange.where), [])
            entries.append(Entry(len(entries) + 1, exchange, total, is_reached))
    return [
        ExchangeRegister(where, not is_of_table, entries, _sum(entries, "in"), _sum(entries, "out"))
        for (is_of_table, where), entries in sorted(by_desk.items())
    ]


def _sum(entries: list[Entry], direction: Direction) -> int:
    return sum(each.exchange.amount for each in entries if each.exchange.direction == direction)
