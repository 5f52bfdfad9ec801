"""What all simulated sessions share: opening and closing, bank, players, settlement, and requested irregularities."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from audit.simulation.evening import Evening
from audit.simulation.event_writer import EventWriter
from audit.simulation.human import Human
from audit.simulation.played_table import PlayedTable, Player
from settlement.rulesets import RULESETS
from settlement.state import Wager

PLAYERS = "p0107 p0112 p0139 p0174 p0203 p0256 p0281 p0318 p0345 p0360 p0412 p0427 p0453 p0488 p0506 p0571".split()
"""Ids, as events use them. ``people`` has the names."""

GUESTS = "p0813 p0826 p0841 p0859 p0877".split()
"""Ids of players who come for a moment, on request."""

NEAR_CALL_S = 0.3
"""How long after the call a stake is placed that is near it; the reading ``call_tolerance_ms`` is half a second."""

QUIET_COUPS = 3
"""Coups before the first irregularity, so that there is something for it to disturb."""


@dataclass(slots=True)
class Session(PlayedTable):
    """One session of one table, played to its end. The subclasses are the games."""

    evening: Evening | None = None  # who and what is at the table, if it is one of a season
    human: Human | None = field(init=False)

    def __post_init__(self) -> None:
        # A gaming day begins in the evening; tables do not open at the same minute.
        evening = datetime.combine(self.gaming_day, time(20), ZoneInfo(self.zone))
        self.writer = EventWriter(
            stream=f"{self.casino}.{self.code}.{self.gaming_day}.1",
            start=evening + timedelta(seconds=self.chance.randrange(1800)),
            chance=self.chance,
        )
        if self.evening is not None:
            self.evening.begin(self)
        self.human = None if self.whims is None else Human(self, self.whims, is_belated=self.is_belated)

    def play(self) -> list[dict[str, Any]]:
        """Play the session and return its events."""
        self.open()
        while self.coup < self.coups:
            self.coup += 1
            if self.evening is not None:
                self.evening.between_coups(self)
            if self.human is not None:
                self.human.between_coups()
            self.play_coup()
            if self.coup % 40 == 0:
                self._balance_rack()
        self.finish()
        if self.human is not None:
            self.human.settle_disputes()
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
        self.disturbed = self.coup
        return True

    def does(self, deed: str) -> bool:
        """Return whether people do ``deed`` now, which only a human night has."""
        return self.human is not None and self.human.does(deed)

    def seat_players(self, names: Iterable[str], habits: list[str], seats: Iterable[int] = ()) -> None:
        """Seat players, each with a buy-in and habits of their own, from the first seat on or at ``seats``."""
        self.habits = habits
        numbers = list(seats) or range(1, self.seats + 1)
        for number, name in zip(numbers, names, strict=False):
            self._seat(name, f"S{number}", self.chance)

    def _seat(self, name: str, seat: str, chance: random.Random) -> Player:
        player = Player(
            name=name,
            seat=seat,
            boldness=chance.choice([1, 1, 2, 2, 4, 10]),
            zeal=chance.uniform(0.4, 0.95),
            habits=chance.sample(self.habits, k=min(len(self.habits), chance.randint(3, 6))),
        )
        if self.evening is not None:
            self.evening.welcome(player)
        self.players.append(player)
        self.writer.write("player.seated", player=name, seat=player.seat)
        self.buy_in(player, self.chance)
        return player

    # People who come and go

    def let_in(self, seat: str) -> None:
        """Seat a player who was not there."""
        assert self.whims is not None
        there = {player.name for player in self.players}
        names = PLAYERS if self.evening is None else self.evening.passers
        self._seat(self.whims.choice([name for name in names if name not in there]), seat, self.whims)
        self.players.sort(key=lambda player: int(player.seat[1:]))

    def place(self, bet: str, stake: int, **data: Any) -> None:
        """Write a wager of ``stake``, in minor units; on a human night it may be misread first."""
        if self.human is None or not self.human.places(bet, stake, data):
            self.writer.place(bet, stake, **data)

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
            float=self.float_at_opening,
            minimum=100,
            observes=self.observes,
            params={"maximum": dict.fromkeys(self.limited, 1_000_000)},
            **({} if self.evening is None else self.evening.opener(RULESETS[self.ruleset].equipment)),
            **data,
        )

    def close(self) -> None:
        """Write the end of the session: everybody leaves, and the rack is counted."""
        for player in self.players:
            self.writer.write("player.left", player=player.name, seat=player.seat)
        missing, closes = 0, None
        if self.evening is not None:
            closes = "croupier-1"  # whoever is on duty
            missing = self.evening.fraud.missing_from_rack
            self._move_chips(self.opening_float - self._rack())
        self.writer.write("session.closed", actor=closes, float=max(0, self._rack() - missing))
        if self.inject("late-event"):
            self.writer.write("staff.relieved", person="croupier-2", role="croupier")

    def _rack(self) -> int:
        """Return what the rack must hold when no wager is live, in minor units."""
        ledger = self.writer.table.ledger
        house = ledger.collected + ledger.commissions_kept - self.writer.paid_out
        return self.float_at_opening + self.filled - self.bought + house

    def _balance_rack(self) -> None:
        """Write a fill or, if the rack holds more than at the opening, a credit."""
        self._move_chips(-500_000 if self._rack() > self.float_at_opening else 500_000)

    def _move_chips(self, amount: int) -> None:
        """Write a fill of ``amount``, in minor units, or a credit if it is below 0."""
        kind = "bank.filled" if amount >= 0 else "bank.credited"
        self.filled += amount
        data: dict[str, Any] = {"amount": abs(amount), "slip": self.next_slip()}
        self.writer.write(kind, **data)
        if self.human is not None:
            self.human.fills(kind, data)

    @property
    def float_at_opening(self) -> int:
        """The chips in the rack at the opening, in minor units."""
        return self.opening_float if self.evening is None else self.evening.float_at_opening

    def next_slip(self) -> str:
        """Use up a slip: its number runs on over the evenings of a season's series, else within the gaming day."""
        self.slips += 1
        if self.evening is not None:
            return f"{self.code}-{self.evening.series}{self.slips:06}"
        return f"{self.code}-{self.gaming_day:%y%m%d}-{self.slips:04}"

    def newcomers(self, fewest: int, most: int) -> list[str]:
        """Return who sits down at the opening."""
        if self.evening is not None:
            return [guest.name for guest in self.evening.guests[:most]]
        return self.chance.sample(PLAYERS, k=self.chance.randint(fewest, most))

    # Irregularities that any table can have

    def irregular_between_coups(self) -> None:
        """Inject the irregularities that need no wager: lost events, a clock set back."""
        if self.inject("events-lost"):
            self.writer.write("events.lost", through=self.writer.next_seq + 1, reason="spool_lost")
        if self.inject("clock-went-back"):
            self.writer.write("bank.filled", wait_s=-20, amount=0, slip=f"{self.code}-clock")

    def settle(self) -> None:
        """Collect what was lost and pay what is due, correctly unless an irregularity was requested."""
        sweeps_late = not self.pays_in_order and self.does("swept late")
        if not sweeps_late:
            self._collect()
        for wager_id in self.payment_order():
            self._pay(wager_id)
        if sweeps_late:
            self._collect()
        if self.human is not None:
            self.human.put_right()

    def payment_order(self) -> list[str]:
        return list(self.writer.table.due)

    def after_payment(self, wager: Wager) -> None:
        """Called after a winning wager is paid."""

    def _collect(self) -> None:
        writer = self.writer
        lost = list(writer.table.swept)
        if len(lost) > 1 and self.inject("losing-wager-not-collected"):
            lost = lost[1:]
        if writer.table.due and self.inject("winning-wager-collected"):
            self.swept_winner = next(iter(writer.table.due))
            lost = [*lost, self.swept_winner]
        swept = [*lost, *self._swept_by_whim()]
        if len(swept) > 1 and self.does("swept in two"):
            writer.write("stakes.collected", wagers=swept[:1])
            del swept[0]
        if swept:
            writer.write("stakes.collected", wagers=swept)
        if lost and self.inject("losing-wager-paid"):
            writer.pay(writer.table.wagers[lost[0]], winnings=500)
        elif lost and self.human is not None and not self.pays_in_order and self.does("loser paid and recovered"):
            self.human.pay_a_loser(writer.table.wagers[lost[-1]])

    def _swept_by_whim(self) -> list[str]:
        """Return stakes that are swept although they are not lost: halves, and winners that are paid all the same."""
        if self.human is None:
            return []
        swept, self.human.swept_halves = self.human.swept_halves, []
        won = [each for each in self.writer.table.due if self.writer.table.wagers[each].status == "won"]
        return [*swept, won[0]] if won and self.does("winner swept and paid") else swept

    def _pay(self, wager_id: str) -> None:
        writer = self.writer
        wager = writer.table.wagers[wager_id]
        won = wager.status == "won"
        # A winner that was swept by mistake is paid in full: nothing else is to go wrong with it.
        is_plain = won and wager_id not in writer.table.taken
        if wager_id == self.swept_winner or (is_plain and self.inject("payout-missing")):
            return
        winnings = wager.winnings_due
        if is_plain and self.inject("payout-overpaid"):
            winnings += 200
        elif is_plain and winnings > 100 and self.inject("payout-underpaid"):
            winnings -= 100
        stake = wager.stake_due
        keeps_stake = is_plain and self.inject("stake-not-returned")
        if keeps_stake:
            stake = 0
        if wager.status == "released" and self.inject("imprisoned-stake-paid-winnings"):
            winnings = wager.stake
        if wager.status == "refunded_half" and self.inject("half-refund-mismatch"):
            stake = wager.stake
        if self.human is not None and (
            (won and self.human.pays(wager)) or (wager.status == "released" and self.human.releases(wager))
        ):
            return
        self.before_payment(wager_id, winnings)
        writer.pay(wager, winnings=winnings, stake=stake, **self.payment_data(wager_id))
        if self.human is not None:
            self.human.tip(wager)
        if won and not keeps_stake:
            self.after_payment(wager)
        if won and self.inject("payout-duplicated"):
            self.before_payment(wager_id, winnings)
            writer.pay(wager, winnings=winnings, stake=stake, **self.payment_data(wager_id))


class BallGame(Session):
    """A game that a ball decides: its stakes before the call, and what people do around it."""

    uncalled: ClassVar[str]  # the irregularity of a result that nobody called
    most_stakes: ClassVar[int]  # of one player on a coup
    coming: str = ""  # the next pocket, where a fraud of the season may know it in advance

    def stake(self, player: Player, **wait: float) -> None:
        """Place one stake of ``player``."""
        raise NotImplementedError

    def take_stakes(self) -> None:
        for player in self.players:
            if self.chance.random() < player.zeal:
                for _ in range(self.chance.randint(1, self.most_stakes)):
                    self.stake(player)

    def call(self) -> None:
        if self.evening is not None:
            self.coming = self.evening.fraud.pocket(self, self.chance.choice(self.wheel))
            self.evening.fraud.before_the_call(self, self.coming)
        if self.inject(self.uncalled):
            return
        if self.does("placed near the call"):
            self.stake(self.players[-1])
            self.writer.write("no_more_bets", actor="croupier-1", wait_s=-NEAR_CALL_S)
        else:
            self.writer.write("no_more_bets", actor="croupier-1")
        if self.inject("wager-after-no-more-bets"):
            self.stake(self.players[0])
        elif self.inject("wager-near-call"):
            self.stake(self.players[0], wait_s=NEAR_CALL_S)
        elif self.human is not None and self.does("numbered after the call"):
            self.stake(self.players[-1], wait_s=-self.human.chance.uniform(0.1, 0.9))
        elif self.does("called twice"):
            self.writer.write("no_more_bets", actor="croupier-1")

    def play_again(self) -> None:
        """Play the coup on after a void result: betting is open again."""
        if self.does("staked after a void spin"):
            self.take_stakes()
        self.call()
