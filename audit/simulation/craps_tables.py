"""Simulated craps: the French table, with dice in custody, and the Québec one, with its place bets."""

from __future__ import annotations

from typing import Any, ClassVar

from audit.simulation.session import PLAYERS, Player, Session
from settlement.craps import POINT_NUMBERS
from settlement.fr.art_55_8_wagers import BASE_OF
from settlement.money import EVEN, five_per_cent
from settlement.qc.s_95_17_place_bets import LAY_BET
from settlement.state import Wager

# The smallest stake whose winnings are a whole number of euros, in cents; by number if the odds depend on it.
ORDERLY: dict[str, dict[int, int] | int] = {
    "right_bet": {4: 500, 5: 500, 6: 600, 8: 600, 9: 500, 10: 500},
    "wrong_bet": {4: 1100, 5: 800, 6: 500, 8: 500, 9: 800, 10: 1100},
    "buy_bet": {4: 1000, 5: 1000, 6: 1000, 8: 1000, 9: 1000, 10: 1000},
    "lay_bet": {4: 1200, 5: 1200, 6: 1200, 8: 1200, 9: 1200, 10: 1200},
    "win_odds": {4: 500, 5: 1000, 6: 500, 8: 500, 9: 1000, 10: 500},
    "come_odds": {4: 500, 5: 1000, 6: 500, 8: 500, 9: 1000, 10: 500},
    "dont_win_odds": {4: 1000, 5: 1500, 6: 600, 8: 600, 9: 1500, 10: 1000},
    "dont_come_odds": {4: 1000, 5: 1500, 6: 600, 8: 600, 9: 1500, 10: 1000},
}
SMALLEST = 500

ONE_ROLL = ["field", "under_7", "over_7", "seven", "eleven", "any_craps", "craps_2", "craps_3", "craps_12", "horn"]
STANDING = ["big_6", "big_8", "hardway", "right_bet", "wrong_bet"]
LEFT_UP = ["hardway", "right_bet", "buy_bet", "lay_bet"]
LINE = ["win", "dont_win"]
COME = ["come", "dont_come"]

VOIDS = ["off_table", "straddling", "no_wall_contact", "stacked", "on_chip"]

MAX_FINISH_COUPS = 2_000


def orderly_stake(bet: str, number: int | None, boldness: int) -> int:
    """Return a stake, in minor units, whose winnings are a whole number of euros."""
    units = ORDERLY.get(bet, SMALLEST)
    return (units if isinstance(units, int) else units[number or 4]) * boldness


class _Craps(Session):
    """What both craps tables do: throw, mark the point, collect, pay."""

    game: ClassVar[str] = "craps"

    def throw(self, **data: Any) -> None:
        """Throw the dice, then do what the throw requires: move come bets, mark the point, settle."""
        writer = self.writer
        flags = ["slid"] if self.inject("irregular-throw-counted") else None
        faces = [self.chance.randint(1, 6), self.chance.randint(1, 6)]
        if "barred-number-settled" in self.irregularities and self._can_be_barred():
            faces = [6, 6]
        if flags:
            data["flags"] = flags
        wait_s = 25.0 if self.inject("throw-delayed") else self.chance.uniform(1, 6)
        writer.write("dice.thrown", wait_s=wait_s, actor="stickman-1", faces=faces, **data)
        table = writer.table
        for wager_id in list(table.travelling):
            number = table.wagers[wager_id].number
            assert number is not None
            wrong = self.inject("come-moved-to-wrong-number")
            writer.write("wager.moved", wager=wager_id, number=10 if wrong and number != 10 else 4 if wrong else number)
        if table.point is not None and not table.point_marked and not self.inject("point-marker-missing"):
            other = self.inject("point-marker-mismatch")
            writer.write("point.marked", number=_another(table.point) if other else table.point)
        if table.dice.seven_out and self.inject("shooter-kept-dice-after-seven-out"):
            self.settle()
            self.call()
            writer.write("dice.thrown", actor="stickman-1", faces=[1, 2], **data)
        barred = [wager for wager in writer.live if wager.barred_by and wager.barred_by == table.last_result]
        if barred and self.inject("barred-number-settled"):
            writer.pay(barred[0], winnings=barred[0].standing, stake=barred[0].standing)
        pushed = [wager for wager in writer.live if not wager.barred_by and wager.off_by != table.last_result]
        if pushed and self.inject("push-paid"):
            writer.pay(pushed[0], winnings=pushed[0].standing, stake=pushed[0].standing)
        self.settle()

    def _can_be_barred(self) -> bool:
        return any(wager.bet in ("dont_win", "dont_come") and wager.number is None for wager in self.writer.live)

    def call(self) -> None:
        """Write ``no_more_bets``, unless its absence was requested."""
        if not self.inject("throw-without-no-more-bets"):
            self.writer.write("no_more_bets", actor="stickman-1")
            if self.inject("wager-after-no-more-bets"):
                self._late_stake()

    def _late_stake(self) -> None:
        player = self.chance.choice(self.players)
        bet = "field" if self.ruleset == "fr-craps" else "right_bet"
        number = {} if bet == "field" else {"number": 6}
        self.writer.place(bet, 600, player=player.name, seat=player.seat, **number)

    def take_back_some(self) -> None:
        """Let players withdraw some of the wagers that may be withdrawn and have seen a throw."""
        table = self.writer.table
        for wager in self.writer.live:
            free = wager.bet in STANDING or wager.bet in BASE_OF or wager.bet in ("buy_bet", "lay_bet")
            if free and wager.throws_before < table.throws and self.chance.random() < 0.04:
                self._take_back(wager)

    def _take_back(self, wager: Wager) -> None:
        """Withdraw a wager, or a part of it that leaves a stake with whole winnings."""
        unit = orderly_stake(wager.bet, wager.number, 1)
        units = wager.standing // unit
        part: dict[str, Any] = (
            {"amount": unit * self.chance.randrange(1, units)} if units > 1 and self.chance.random() < 0.5 else {}
        )
        self.writer.write("wager.withdrawn", wager=wager.id, **part)

    def take_back_all(self) -> None:
        table = self.writer.table
        for wager in self.writer.live:
            contract = wager.bet in LINE or wager.bet in COME
            if not contract and wager.throws_before < table.throws:
                self.writer.write("wager.withdrawn", wager=wager.id)

    def after_payment(self, wager: Wager) -> None:
        """Sometimes leave up a wager that won: place a new one on the same number."""
        if wager.bet not in LEFT_UP or self.coup >= self.coups or self.chance.random() >= 0.3:
            return
        player = next(player for player in self.players if player.name == wager.player)
        self.leave_up(player, wager)

    def leave_up(self, player: Player, wager: Wager) -> None:
        data = {"number": wager.number, "left_up_from": wager.id}
        self.writer.place(wager.bet, wager.standing, player=player.name, seat=player.seat, **data)

    def has_live(self, player: Player, bet: str) -> bool:
        return any(wager.player == player.name and wager.bet == bet for wager in self.writer.live)


def _another(number: int) -> int:
    return POINT_NUMBERS[(POINT_NUMBERS.index(number) + 1) % len(POINT_NUMBERS)]


class FrenchCraps(_Craps):
    """Art. 55-7 and 55-8."""

    ruleset: ClassVar[str] = "fr-craps"
    lots = 0  # sets of dice introduced so far
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "custody", "marker", "seating", "staff"]

    def open(self) -> None:
        names = self.chance.sample(PLAYERS, k=self.chance.randint(4, 7))
        self.write_opener(
            seats=[f"S{number}" for number in range(1, len(names) + 1)],
            staff=[
                {"person": "chef-1", "role": "chef_de_table"},
                {"person": "croupier-1", "role": "croupier"},
                {"person": "stickman-1", "role": "stickman"},
            ],
        )
        self.seat_players(names, [*LINE, *COME, *ONE_ROLL, *STANDING])
        self._introduce_dice("opening")
        self._offer(0)
        self._select()

    def play_coup(self) -> None:
        self.irregular_between_coups()
        table = self.writer.table
        if table.dice.seven_out:
            self._pass_dice()
        elif table.point is None and self.coup % 25 == 0:
            self._introduce_dice("chef_de_table")
            self._select()
        self._irregular_dice()
        self.take_back_some()
        self._shooter_stakes()
        for player in self.players:
            if self.chance.random() < player.zeal:
                self._stake(player)
        self.call()
        if self.chance.random() < 0.03 or self.inject("void-throw-settled"):
            self._void()
        self.throw(seat=self._shooter().seat, dice=list(table.dice.selected))

    def finish(self) -> None:
        """Throw on, with only the shooter's line wager, until no wager is live at a come-out."""
        for _ in range(MAX_FINISH_COUPS):
            self.take_back_all()
            if not self.writer.live:
                return
            if self.writer.table.dice.seven_out:
                self._pass_dice()
            self._shooter_stakes()
            self.call()
            self.throw(seat=self._shooter().seat, dice=list(self.writer.table.dice.selected))
        raise AssertionError("a table without new wagers comes to an end")

    # Dice

    def _shooter(self) -> Player:
        return next(player for player in self.players if player.seat == self.writer.table.dice.shooter)

    def _introduce_dice(self, decided_by: str) -> None:
        lot = chr(ord("A") + self.lots % 26)
        self.lots += 1
        dice = [f"{lot}{number}" for number in range(1, 7)]
        self.writer.write("dice.set_introduced", dice=dice, decided_by=decided_by, announced=True)

    def _select(self) -> None:
        dice = list(self.writer.table.dice.dice)
        chosen = self.chance.sample(dice, k=2)
        boxed = [die for die in dice if die not in chosen]
        self.writer.write("dice.selected", seat=self._shooter().seat, dice=chosen, boxed=boxed)

    def _offer(self, index: int) -> None:
        self.writer.write("dice.offered", seat=self.players[index % len(self.players)].seat)

    def _pass_dice(self) -> None:
        """Offer the dice clockwise until a player takes them."""
        index = self.players.index(self._shooter()) + 1
        if len(self.players) > 2 and self.inject("dice-not-offered-clockwise"):
            index += 1
        self._offer(index)
        while self.chance.random() < 0.1:
            self.writer.write("dice.declined", seat=self._shooter().seat)
            index += 1
            self._offer(index)

    def _irregular_dice(self) -> None:
        table = self.writer.table
        if table.point is not None and self.inject("dice-changed-during-point-series"):
            self._introduce_dice("chef_de_table")
            self._select()
        if table.dice.throws and not table.dice.seven_out and self.inject("dice-passed-without-seven-out"):
            # At a come-out, so that the next shooter can place a line wager. Otherwise it is tried again later.
            if table.point is None:
                self._offer(self.players.index(self._shooter()) + 1)
            else:
                self.irregularities.append(self.injected.pop()[0])

    def _void(self) -> None:
        writer = self.writer
        writer.write(
            "throw.voided",
            announced_by="stickman",
            flags=[self.chance.choice(VOIDS)],
            faces=[self.chance.randint(1, 6), self.chance.randint(1, 6)],
            seat=self._shooter().seat,
            dice=list(writer.table.dice.selected),
        )
        if any(name == "void-throw-settled" for name, seq in self.injected[-1:] if seq == writer.next_seq - 1):
            writer.pay(writer.live[-1], winnings=writer.live[-1].standing)
        writer.write("no_more_bets", actor="stickman-1")

    # Stakes

    def _shooter_stakes(self) -> None:
        shooter = self._shooter()
        at_line = any(wager.seat == shooter.seat and wager.bet in LINE for wager in self.writer.live)
        if self.writer.table.point is None and not at_line:
            bet = "dont_win" if "dont_win" in shooter.habits and "win" not in shooter.habits else "win"
            self._place(shooter, bet)

    def _stake(self, player: Player) -> None:
        point = self.writer.table.point
        bases = [wager for wager in self.writer.live if wager.player == player.name and self._can_carry(wager)]
        if bases and self.chance.random() < 0.5:
            self._odds(player, bases[0])
            return
        bet = self.chance.choice(player.habits)
        if bet in LINE and point is not None:
            bet = "come" if bet == "win" else "dont_come"
        elif bet in COME and point is None:
            bet = "win" if bet == "come" else "dont_win"
        if bet not in ONE_ROLL and self.has_live(player, bet):
            return
        if point is not None and self.inject("line-wager-after-come-out"):
            bet = "win"
        self._place(player, bet)

    def _place(self, player: Player, bet: str) -> None:
        data: dict[str, Any] = {}
        if bet == "hardway":
            data["number"] = self.chance.choice([4, 6, 8, 10])
        elif bet in ("right_bet", "wrong_bet"):
            data["number"] = self.chance.choice(POINT_NUMBERS)
        if bet == "wrong_bet":
            data["marker"] = "wrong_bet"
        stake = orderly_stake(bet, data.get("number"), player.boldness)
        self.writer.place(bet, stake, player=player.name, seat=player.seat, **data)

    def _can_carry(self, wager: Wager) -> bool:
        carried = any(other.base == wager.id for other in self.writer.live)
        return wager.bet in BASE_OF.values() and wager.number is not None and not carried

    def _odds(self, player: Player, base: Wager) -> None:
        bet = f"{base.bet}_odds"
        stake = orderly_stake(bet, base.number, player.boldness)
        named = "w0" if self.inject("odds-without-base-wager") else base.id
        number = {"number": base.number} if base.bet in COME else {}
        self.writer.place(bet, stake, player=player.name, seat=player.seat, base=named, **number)


class QuebecCraps(_Craps):
    """S. 95.17: right, buy and lay bets."""

    ruleset: ClassVar[str] = "qc-craps"
    currency: ClassVar[str] = "CAD"
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "marker", "seating"]

    def open(self) -> None:
        self.write_opener()
        self.seat_players(self.chance.sample(PLAYERS, k=self.chance.randint(4, 8)), ["right_bet", "buy_bet", "lay_bet"])

    def play_coup(self) -> None:
        self.irregular_between_coups()
        self.take_back_some()
        for player in self.players:
            if self.chance.random() < player.zeal * 0.6:
                self._stake(player)
        for wager in self.writer.live:
            off = wager.bet in ("right_bet", "buy_bet") and self.writer.table.point is None and not wager.working
            if off and self.chance.random() < 0.1:
                self.writer.write("wager.switched", wager=wager.id, working=True)
        self.call()
        if self.chance.random() < 0.02:
            flags = [self.chance.choice(VOIDS)]
            self.writer.write("throw.voided", announced_by="stickman", flags=flags)
            self.writer.write("no_more_bets", actor="stickman-1")
        self._pay_inactive()
        self.throw()

    def finish(self) -> None:
        for _ in range(MAX_FINISH_COUPS):
            self.take_back_all()
            if not self.writer.live:
                return
            self.call()
            self.throw()
        raise AssertionError("a table without new wagers comes to an end")

    def _pay_inactive(self) -> None:
        table = self.writer.table
        off = [wager for wager in self.writer.live if wager.off_by and wager.off_by == table.last_result]
        if off and not table.voided_by and self.inject("inactive-wager-settled"):
            self.writer.pay(off[0], winnings=off[0].standing, stake=off[0].standing)

    def _stake(self, player: Player) -> None:
        bet = self.chance.choice(player.habits)
        if self.has_live(player, bet):
            return
        number = self.chance.choice(POINT_NUMBERS)
        stake = orderly_stake(bet, number, player.boldness)
        data: dict[str, Any] = {"number": number, **_commission(bet, number, stake)}
        if bet != "right_bet":
            if self.inject("commission-amount-mismatch"):
                data["commission"] += 100
            elif self.inject("commission-not-paid"):
                del data["commission"]
        self.writer.place(bet, stake, player=player.name, seat=player.seat, **data)

    def leave_up(self, player: Player, wager: Wager) -> None:
        number, stake = wager.number, wager.standing
        assert number is not None
        data = {"number": number, "left_up_from": wager.id, **_commission(wager.bet, number, stake)}
        self.writer.place(wager.bet, stake, player=player.name, seat=player.seat, **data)


def _commission(bet: str, number: int, stake: int) -> dict[str, Any]:
    """Return the commission and the marker of a buy or lay bet; a right bet has neither."""
    if bet == "right_bet":
        return {}
    base = EVEN if bet == "buy_bet" else LAY_BET[number]
    return {"commission": five_per_cent(stake, base, "ceil"), "marker": bet.removesuffix("_bet")}
