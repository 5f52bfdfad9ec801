"""What all simulated sessions share: opening and closing, bank, players, settlement, and requested irregularities."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from audit.simulation.event_writer import EventWriter
from settlement.state import Wager

FAMILIES = [
    "announcements",
    "bank",
    "calls",
    "collections",
    "colours",
    "custody",
    "handling",
    "marker",
    "seating",
    "staff",
    "wheel",
]

PLAYERS = "p0107 p0112 p0139 p0174 p0203 p0256 p0281 p0318 p0345 p0360 p0412 p0427 p0453 p0488 p0506 p0571".split()
"""Ids, as events use them. ``people`` has the names."""

QUIET_COUPS = 3
"""Coups before the first irregularity, so that there is something for it to disturb."""


@dataclass(slots=True)
class Player:
    """A player: how much he stakes, how often he joins a coup, and the bets he chooses from."""

    name: str
    seat: str
    boldness: int  # a factor of the smallest stake
    zeal: float  # the probability that he stakes on a coup
    habits: list[str]
    colour: str | None = None


@dataclass(slots=True)
class Session:
    """One session of one table, played to its end. The subclasses are the games.

    ``irregularities`` are those requested and not yet injected. Amounts are in minor units.
    """

    casino: str
    code: str
    gaming_day: date
    chance: random.Random
    coups: int
    zone: str
    irregularities: list[str] = field(default_factory=list)
    injected: list[tuple[str, int]] = field(default_factory=list)  # name and seq
    coup: int = 0
    players: list[Player] = field(default_factory=list)
    bought: int = 0
    filled: int = 0
    slips: int = 0  # numbered without gaps
    writer: EventWriter = field(init=False)

    game: ClassVar[str]
    ruleset: ClassVar[str]
    currency: ClassVar[str] = "EUR"
    opening_float: ClassVar[int] = 5_000_000
    observes: ClassVar[list[str]] = FAMILIES

    def __post_init__(self) -> None:
        # A gaming day begins in the evening; tables do not open at the same minute.
        evening = datetime.combine(self.gaming_day, time(20), ZoneInfo(self.zone))
        self.writer = EventWriter(
            stream=f"{self.casino}.{self.code}.{self.gaming_day}.1",
            start=evening + timedelta(seconds=self.chance.randrange(1800)),
            chance=self.chance,
        )

    def play(self) -> list[dict[str, Any]]:
        """Play the session and return its events."""
        self.open()
        while self.coup < self.coups:
            self.coup += 1
            self.play_coup()
            if self.coup % 40 == 0:
                self._balance_rack()
        self.finish()
        self.close()
        return self.writer.events

    def open(self) -> None:
        raise NotImplementedError

    def play_coup(self) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """Play until no wager is live."""
        raise NotImplementedError

    def inject(self, name: str) -> bool:
        """Return whether to do the irregularity ``name`` now, and record that it is done.

        True once: the first time after ``QUIET_COUPS`` coups, if it was requested.
        """
        if name not in self.irregularities or self.coup <= QUIET_COUPS:
            return False
        self.irregularities.remove(name)
        self.injected.append((name, self.writer.next_seq))
        return True

    def seat_players(self, names: Iterable[str], habits: list[str]) -> None:
        """Seat players, each with a buy-in and habits of their own."""
        for number, name in enumerate(names, start=1):
            player = Player(
                name=name,
                seat=f"S{number}",
                boldness=self.chance.choice([1, 1, 2, 2, 4, 10]),
                zeal=self.chance.uniform(0.4, 0.95),
                habits=self.chance.sample(habits, k=min(len(habits), self.chance.randint(3, 6))),
            )
            self.players.append(player)
            self.writer.write("player.seated", player=name, seat=player.seat)
            self._buy_in(player)

    def write_opener(self, **data: Any) -> None:
        """Write ``session.opened``."""
        self.writer.write(
            "session.opened",
            casino=self.casino,
            table=self.code,
            gaming_day=self.gaming_day.isoformat(),
            game=self.game,
            ruleset=self.ruleset,
            currency=self.currency,
            float=self.opening_float,
            minimum=100,
            observes=self.observes,
            params={"maximum": dict.fromkeys(("win", "dont_win", "plein", "rouge", "noir"), 1000000)},
            **data,
        )

    def close(self) -> None:
        """Write the end of the session: everybody leaves, and the rack is counted."""
        for player in self.players:
            self.writer.write("player.left", player=player.name, seat=player.seat)
        self.writer.write("session.closed", float=max(0, self._rack()))
        if self.inject("late-event"):
            self.writer.write("staff.relieved", person="croupier-2", role="croupier")

    def _buy_in(self, player: Player) -> None:
        amount = 10_000 * player.boldness
        self.bought += amount
        means = self.chance.choice(["cash", "cash", "card", "voucher"])
        self.writer.write("buy_in.recorded", player=player.name, amount=amount, means=means)

    def _rack(self) -> int:
        """Return what the rack must hold when no wager is live, in minor units."""
        ledger = self.writer.table.ledger
        house = ledger.collected + ledger.commissions_kept - self.writer.paid_out
        return self.opening_float + self.filled - self.bought + house

    def _balance_rack(self) -> None:
        """Write a fill or, if the rack holds more than at the opening, a credit."""
        amount = 500_000
        kind = "bank.credited" if self._rack() > self.opening_float else "bank.filled"
        self.filled += amount if kind == "bank.filled" else -amount
        self.slips += 1
        self.writer.write(kind, amount=amount, slip=f"{self.code}-{self.slips:04}")

    # Irregularities that any table can have

    def irregular_between_coups(self) -> None:
        """Inject the irregularities that need no wager: lost events, a clock set back."""
        if self.inject("events-lost"):
            self.writer.write("events.lost", through=self.writer.next_seq + 1, reason="spool_lost")
        if self.inject("clock-went-back"):
            self.writer.write("bank.filled", wait_s=-20, amount=0, slip=f"{self.code}-clock")

    def settle(self) -> None:
        """Collect what was lost and pay what is due, correctly unless an irregularity was requested."""
        self._collect()
        for wager_id in self.payment_order():
            self._pay(wager_id)

    def payment_order(self) -> list[str]:
        return list(self.writer.table.due)

    def payment_data(self, wager_id: str) -> dict[str, Any]:
        return {}

    def before_payment(self, wager_id: str, winnings: int) -> None:
        """Called before each payout."""

    def after_payment(self, wager: Wager) -> None:
        """Called after a winning wager is paid."""

    def _collect(self) -> None:
        writer = self.writer
        lost = list(writer.table.swept)
        if len(lost) > 1 and self.inject("losing-wager-not-collected"):
            lost = lost[1:]
        if writer.table.due and self.inject("winning-wager-collected"):
            lost = [*lost, next(iter(writer.table.due))]
        if lost:
            writer.write("stakes.collected", wagers=lost)
        if lost and self.inject("losing-wager-paid"):
            writer.pay(writer.table.wagers[lost[0]], winnings=500)

    def _pay(self, wager_id: str) -> None:
        writer = self.writer
        wager = writer.table.wagers[wager_id]
        won = wager.status == "won"
        if won and self.inject("payout-missing"):
            return
        winnings = wager.winnings_due
        if won and self.inject("payout-overpaid"):
            winnings += 200
        elif won and winnings > 100 and self.inject("payout-underpaid"):
            winnings -= 100
        stake = wager.stake_due
        if won and self.inject("stake-not-returned"):
            stake = 0
        if wager.status == "released" and self.inject("imprisoned-stake-paid-winnings"):
            winnings = wager.stake
        if wager.status == "refunded_half" and self.inject("half-refund-mismatch"):
            stake = wager.stake
        self.before_payment(wager_id, winnings)
        writer.pay(wager, winnings=winnings, stake=stake, **self.payment_data(wager_id))
        if won:
            self.after_payment(wager)
        if won and self.inject("payout-duplicated"):
            self.before_payment(wager_id, winnings)
            writer.pay(wager, winnings=winnings, stake=stake, **self.payment_data(wager_id))
