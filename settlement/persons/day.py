"""One gaming day of one casino in one currency: what was kept of its streams, joined.

Joining does not depend on the order of the streams. The kept part of earlier gaming days gives the exchanges of the
24 hours before, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct, field

from settlement.events.envelope import Means
from settlement.persons.exchanges import NOBODY, Exchange
from settlement.persons.opposing import Pair, added
from settlement.persons.stream_money import Play, Rack, StreamMoney


class Person(Struct):
    """The money of one player over a gaming day, in minor units; of ``NOBODY`` that of all who were not named.

    ``bought`` is money for chips and ``cashed`` chips for money, by means; ``cash_staked`` banknotes that were staked
    as they were.
    """

    player: str
    bought: dict[Means, int] = {}
    cashed: dict[Means, int] = {}
    cash_staked: int = 0
    exchanges: int = 0
    play: Play = field(default_factory=Play)

    @property
    def total_bought(self) -> int:
        return sum(self.bought.values())

    @property
    def total_cashed(self) -> int:
        return sum(self.cashed.values())

    @property
    def cash_in(self) -> int:
        """The cash that the casino received from him, staked banknotes included."""
        return self.bought.get("cash", 0) + self.cash_staked

    @property
    def chips_left(self) -> int:
        """The chips that should be with him or on a layout; below zero, he cashed chips that he had from elsewhere."""
        received = self.total_bought + self.cash_staked - self.play.recorded
        return received - self.total_cashed - self.play.tips

    def add(self, exchange: Exchange) -> None:
        """Count one exchange."""
        if exchange.is_stake:
            self.cash_staked += exchange.amount
            return
        sums = self.bought if exchange.direction == "in" else self.cashed
        sums[exchange.means] = sums.get(exchange.means, 0) + exchange.amount
        self.exchanges += 1


class TableRack(Struct, frozen=True):
    """The rack of one session, which event ``closed_by`` counted, 0 if it is still open."""

    money: StreamMoney
    rack: Rack


class DayPair(Struct, frozen=True):
    """Two players over all sessions of the day, and of the last session in which they opposed each other, their pair.

    ``stream`` is that session, "" if they never did.
    """

    total: Pair
    last: Pair
    stream: str


class Day(Struct, kw_only=True):
    """A gaming day. ``exchanges`` and ``earlier`` are in the order of the clock; ``earlier`` has the day of each."""

    casino: str
    gaming_day: str
    currency: str
    parts: list[StreamMoney]
    exchanges: list[Exchange]
    earlier: list[tuple[str, Exchange]]
    persons: dict[str, Person]

    @classmethod
    def of(cls, money: Iterable[StreamMoney], *, casino: str, gaming_day: str, currency: str) -> Day:
        """Join ``money``: streams of other casinos and currencies, and of later days, are left out."""
        ours = [each for each in money if each.casino == casino and each.currency == currency]
        parts = sorted(
            (each for each in ours if each.gaming_day == gaming_day),
            key=lambda each: (_opened(each), each.stream),
        )
        earlier = [
            (each.gaming_day, exchange) for each in ours if each.gaming_day < gaming_day for exchange in each.exchanges
        ]
        exchanges = sorted((exchange for part in parts for exchange in part.exchanges), key=lambda each: each.order)
        persons: dict[str, Person] = {}
        for exchange in exchanges:
            persons.setdefault(exchange.player, Person(exchange.player)).add(exchange)
        for part in parts:
            for player, play in part.players.items():
                person = persons.setdefault(player, Person(player))
                person.play = person.play + play
        return cls(
            casino=casino,
            gaming_day=gaming_day,
            currency=currency,
            parts=parts,
            exchanges=exchanges,
            earlier=sorted(earlier, key=lambda each: each[1].order),
            persons=dict(sorted(persons.items())),
        )

    @property
    def tables(self) -> list[TableRack]:
        """The racks of the day, in the order in which the sessions opened."""
        return [TableRack(part, part.rack) for part in self.parts if part.rack is not None]

    @property
    def float_in_racks(self) -> int:
        """The chips in the racks of the day: as counted at the close, else as they should be now."""
        return sum(each.rack.expected if each.rack.closing is None else each.rack.closing for each in self.tables)

    @property
    def chips_outstanding(self) -> int:
        """By how much the chips outside racks and desks grew through this day; below zero, more came back than left."""
        return sum(person.chips_left for person in self.persons.values())

    @property
    def tips(self) -> int:
        """All tips, apart from every win."""
        return sum(person.play.tips for person in self.persons.values())

    @property
    def unnamed_stakes(self) -> int:
        """What nobody known staked: any player may have played as much more."""
        nobody = self.persons.get(NOBODY)
        return nobody.play.handle + nobody.play.undecided if nobody is not None else 0

    @property
    def shows_all_play(self) -> bool:
        """Whether all that was staked is known: every session is closed, and each observes its wagers."""
        return all(each.money.is_closed and each.money.sees_wagers for each in self.tables)

    def pairs(self) -> list[DayPair]:
        """Return every two players who shared a coup, in order of their ids."""
        by_players: dict[tuple[str, str], list[tuple[StreamMoney, Pair]]] = {}
        for part in self.parts:
            for pair in part.pairs:
                by_players.setdefault((pair.first, pair.second), []).append((part, pair))
        joined = []
        for _players, shared in sorted(by_players.items()):
            last = next(((part, pair) for part, pair in reversed(shared) if pair.last_seq), None)
            total = added(pair for _part, pair in shared)
            joined.append(DayPair(total, total, "") if last is None else DayPair(total, last[1], last[0].stream))
        return joined


def _opened(money: StreamMoney) -> datetime:
    return datetime.fromisoformat(money.opened_at)
