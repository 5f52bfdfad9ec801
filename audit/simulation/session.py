"""What every simulated session shares: its opening and closing, its bank, its players, the irregularities asked for."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from audit.simulation.event_writer import Scribe
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

NAMES = "Anna Bruno Chloé Driss Elsa Farid Gaëlle Hugo Inès Jonas Katia Louis Mona Nils Odile Paul".split()

QUIET_COUPS = 3
"""Coups before the first irregularity, so that there is something for it to disturb."""


@dataclass(slots=True)
class Player:
    """Somebody at the table: how boldly he stakes, how often he joins a coup, what he likes."""

    name: str
    seat: str
    boldness: int  # times the smallest orderly stake
    zeal: float  # chance that he stakes on a coup
    habits: list[str]
    colour: str | None = None


@dataclass(slots=True)
class Session:
    """One session of one table, played to its end. The subclasses are the games."""

    casino: str
    code: str
    gaming_day: date
    chance: random.Random
    coups: int
    zone: str
    irregularities: list[str] = field(default_factory=list)
    struck: list[tuple[str, int]] = field(default_factory=list)  # what was done, and the seq it was done at
    coup: int = 0
    players: list[Player] = field(default_factory=list)
    bought: int = 0
    filled: int = 0
    slips: int = 0  # numbered without holes
    scribe: Scribe = field(init=False)

    game: ClassVar[str]
    ruleset: ClassVar[str]
    currency: ClassVar[str] = "EUR"
    opening_float: ClassVar[int] = 5_000_000
    observes: ClassVar[list[str]] = FAMILIES

    def __post_init__(self) -> None:
        # A gaming day begins in the evening; tables do not open at the same minute.
        evening = datetime.combine(self.gaming_day, time(20), ZoneInfo(self.zone))
        self.scribe = Scribe(
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
                self._mind_the_rack()
        self.finish()
        self.close()
        return self.scribe.events

    def open(self) -> None:
        raise NotImplementedError

    def play_coup(self) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """Play until nothing stands any more."""
        raise NotImplementedError

    def strikes(self, name: str) -> bool:
        """Whether the irregularity ``name`` is asked for, its time has come, and it was not done before."""
        if name not in self.irregularities or self.coup <= QUIET_COUPS:
            return False
        self.irregularities.remove(name)
        self.struck.append((name, self.scribe.next_seq))
        return True

    def seat_players(self, names: Iterable[str], habits: list[str]) -> None:
        """Sit players down, each with a buy-in and habits of his own."""
        for number, name in enumerate(names, start=1):
            player = Player(
                name=name,
                seat=f"S{number}",
                boldness=self.chance.choice([1, 1, 2, 2, 4, 10]),
                zeal=self.chance.uniform(0.4, 0.95),
                habits=self.chance.sample(habits, k=min(len(habits), self.chance.randint(3, 6))),
            )
            self.players.append(player)
            self.scribe.write("player.seated", player=name, seat=player.seat)
            self._buy_in(player)

    def opened(self, **data: Any) -> None:
        """Write the opener."""
        self.scribe.write(
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
        """Write the end: everybody leaves, and the rack holds what it must."""
        for player in self.players:
            self.scribe.write("player.left", player=player.name, seat=player.seat)
        self.scribe.write("session.closed", float=max(0, self._rack()))
        if self.strikes("late-event"):
            self.scribe.write("staff.relieved", person="croupier-2", role="croupier")

    def _buy_in(self, player: Player) -> None:
        amount = 10_000 * player.boldness
        self.bought += amount
        means = self.chance.choice(["cash", "cash", "card", "voucher"])
        self.scribe.write("buy_in.recorded", player=player.name, amount=amount, means=means)

    def _rack(self) -> int:
        """Return what the rack holds, in minor units: what it must when nothing stands on the layout."""
        ledger = self.scribe.table.ledger
        house = ledger.collected + ledger.commissions_kept - self.scribe.paid_out
        return self.opening_float + self.filled - self.bought + house

    def _mind_the_rack(self) -> None:
        """Send for chips, or send some back where there are too many."""
        amount = 500_000
        kind = "bank.credited" if self._rack() > self.opening_float else "bank.filled"
        self.filled += amount if kind == "bank.filled" else -amount
        self.slips += 1
        self.scribe.write(kind, amount=amount, slip=f"{self.code}-{self.slips:04}")

    # Irregularities that any table can have

    def trouble_between_coups(self) -> None:
        """Do what is asked for and needs no wager: a lost spool, a clock set back."""
        if self.strikes("events-lost"):
            self.scribe.write("events.lost", through=self.scribe.next_seq + 1, reason="spool_lost")
        if self.strikes("clock-went-back"):
            self.scribe.write("bank.filled", wait_s=-20, amount=0, slip=f"{self.code}-clock")

    def settle(self) -> None:
        """Collect what was lost and pay what is due, as it must be unless something else was asked for."""
        self._collect()
        for wager_id in self.payment_order():
            self._pay(wager_id)

    def payment_order(self) -> list[str]:
        return list(self.scribe.table.due)

    def payment_data(self, wager_id: str) -> dict[str, Any]:
        return {}

    def before_payment(self, wager_id: str, winnings: int) -> None:
        """What happens before a payout is made."""

    def after_payment(self, wager: Wager) -> None:
        """What the player does with what he was paid."""

    def _collect(self) -> None:
        scribe = self.scribe
        lost = list(scribe.table.swept)
        if len(lost) > 1 and self.strikes("losing-wager-not-collected"):
            lost = lost[1:]
        if scribe.table.due and self.strikes("winning-wager-collected"):
            lost = [*lost, next(iter(scribe.table.due))]
        if lost:
            scribe.write("stakes.collected", wagers=lost)
        if lost and self.strikes("losing-wager-paid"):
            scribe.pay(scribe.table.wagers[lost[0]], winnings=500)

    def _pay(self, wager_id: str) -> None:
        scribe = self.scribe
        wager = scribe.table.wagers[wager_id]
        won = wager.status == "won"
        if won and self.strikes("payout-missing"):
            return
        winnings = wager.winnings_due
        if won and self.strikes("payout-overpaid"):
            winnings += 200
        elif won and winnings > 100 and self.strikes("payout-underpaid"):
            winnings -= 100
        stake = wager.stake_due
        if won and self.strikes("stake-not-returned"):
            stake = 0
        if wager.status == "released" and self.strikes("imprisoned-stake-paid-winnings"):
            winnings = wager.stake
        if wager.status == "refunded_half" and self.strikes("half-refund-mismatch"):
            stake = wager.stake
        self.before_payment(wager_id, winnings)
        scribe.pay(wager, winnings=winnings, stake=stake, **self.payment_data(wager_id))
        if won:
            self.after_payment(wager)
        if won and self.strikes("payout-duplicated"):
            self.before_payment(wager_id, winnings)
            scribe.pay(wager, winnings=winnings, stake=stake, **self.payment_data(wager_id))
