"""Streams of money for tests: a session or a count room from lines of text, and the day that they make.

    20:08 buy Aline 50000 cash        a buy-in at a table; - for nobody
    20:08 in Aline 50000 cash cage-1  chips bought at a cash desk
    00:47 out Aline 186500 cash cage-1

Times before noon are of the next morning.
"""

from __future__ import annotations

from typing import Any

from settlement import decode
from settlement.corrections import changes_in
from settlement.events import Event
from settlement.persons.cash_desk import CashDesk
from settlement.persons.day import Day
from settlement.persons.session import PersonsProjection
from settlement.persons.stream_money import StreamMoney
from tests.settlement.streams import event, opener

ALL = ["wagers", "results", "payouts", "decisions", "bank", "collections"]
DAY = "2026-11-19"


def instant(clock: str, day: str = DAY) -> str:
    """Return a clock time of a gaming day, as its table sends it: before noon it is the next morning."""
    date = int(day[-2:]) + (clock < "12")
    return f"{day[:-2]}{date:02}T{clock if clock.count(':') == 2 else clock + ':00'}+01:00"


def table(stream: str, lines: str = "", *, day: str = DAY, close: int | None = 0, **opened: Any) -> list[Event]:
    """Return a session of buy-ins, closed with ``close`` in the rack, None if it stays open."""
    options = {"ruleset": "fr-roulette", "table": stream, "gaming_day": day, "observes": ALL, **opened}
    events = [opener(stream, options.pop("ruleset"), **options)]
    for line in lines.strip().splitlines():
        clock, verb, player, amount, means = line.split()
        assert verb == "buy"
        data = {"amount": int(amount), "means": means} | ({} if player == "-" else {"player": player})
        events.append(event(stream, len(events) + 1, "buy_in.recorded", at=instant(clock, day), **data))
    if close is not None:
        events.append(event(stream, len(events) + 1, "session.closed", at=instant("05:00", day), float=close))
    return [decode(each) for each in events]


def count_room(stream: str, lines: str = "", *, day: str = DAY, currency: str = "EUR") -> list[Event]:
    """Return the cash desks of a day, in one stream."""
    opened = {"casino": "demo", "gaming_day": day, "currency": currency}
    events = [event(stream, 1, "count.opened", at=instant("15:00", day), **opened)]
    for line in lines.strip().splitlines():
        clock, direction, player, amount, means, *desk = line.split()
        data = {"direction": direction, "amount": int(amount), "means": means}
        raw = event(
            stream,
            len(events) + 1,
            "cash_desk.recorded",
            at=instant(clock, day),
            **data | ({} if player == "-" else {"player": player}),
        )
        events.append(raw.replace(b'"data"', f'"actor": "{desk[0]}", "data"'.encode(), 1) if desk else raw)
    return [decode(each) for each in events]


def money_of(events: list[Event], *, page: int = 1_000, **options: Any) -> StreamMoney:
    """Return what is kept of a stream, read in pages."""
    fold: PersonsProjection | CashDesk
    fold = (
        CashDesk(changes_in(events))
        if events[0].type == "count.opened"
        else PersonsProjection(changes_in(events), **options)
    )
    for first in range(0, len(events), page):
        fold.feed(events[first : first + page])
    return fold.money()


def day_of(*streams: list[Event], day: str = DAY, currency: str = "EUR") -> Day:
    return Day.of(map(money_of, streams), casino="demo", gaming_day=day, currency=currency)
