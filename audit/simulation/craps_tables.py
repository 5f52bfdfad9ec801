"""Simulated craps: what every craps table does, and the French one, with dice in custody."""

from __future__ import annotations

from typing import Any, ClassVar

from audit.simulation.human import FEWEST_PLAYERS
from audit.simulation.played_table import Player
from audit.simulation.session import NEAR_CALL_S, Session
from settlement.craps import POINT_NUMBERS
from settlement.fr.art_55_8_wagers import BASE_OF
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


class Craps(Session):
    """What both craps tables do: throw, mark the point, collect, pay."""

    game: ClassVar[str] = "craps"
    reader: ClassVar[str] = "stickman-1"
    seats: ClassVar[int] = 8

    def throw(self, **data: Any) -> None:
        """Throw the dice, then do what the throw requires: move come bets, mark the point, settle."""
        writer = self.writer
        flags = ["slid"] if self.inject("irregular-throw-counted") else None
        faces = [self.chance.randint(1, 6), self.chance.randint(1, 6)]
        if "barred-number-settled" in self.irregularities and self._can_be_barred():
            faces = [6, 6]
        if flags:
            data["flags"] = flags
        if self.evening is not None:
            faces = self.evening.fraud.faces(self, faces)
        wait_s = 25.0 if self.inject("throw-delayed") else self.chance.uniform(1, 6)
        self._throw_dice(wait_s, faces, data)
        table = writer.table
        for wager_id in list(table.travelling):
            number = table.wagers[wager_id].number
            assert number is not None
            wrong = self.inject("come-moved-to-wrong-number")
            right = {"wager": wager_id, "number": number}
            if self.human is not None and self.human.marks(
                "wager.moved", right, {"number": _another(number)}, "move misread"
            ):
                continue
            writer.write("wager.moved", wager=wager_id, number=10 if wrong and number != 10 else 4 if wrong else number)
        if table.point is not None and not table.point_marked and not self.inject("point-marker-missing"):
            other = self.inject("point-marker-mismatch")
            right, wrong_number = {"number": table.point}, {"number": _another(table.point)}
            if self.human is None or not self.human.marks("point.marked", right, wrong_number, "marker misread"):
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

    def _throw_dice(self, wait_s: float, faces: list[int], data: dict[str, Any]) -> None:
        writer = self.writer
        if self.does("thrower not seen"):
            data = {name: value for name, value in data.items() if name == "flags"}
        if self.human is not None:
            other = [self.human.chance.randint(1, 6), self.human.chance.randint(1, 6)]
            if self.does("counted and void"):
                # A throw that one of its flags voids never counted: calling it void takes nothing from anybody.
                void = {**data, "faces": other, "flags": [self.human.chance.choice(VOIDS)]}
                writer.may_be_undone()
                voids = writer.write("dice.thrown", wait_s=wait_s, actor="stickman-1", **void)["seq"]
                writer.write("throw.voided", announced_by="stickman", voids=voids, **void)
                self.call()
            elif self.human.reads("dice.thrown", wait_s, {"faces": faces, **data}, {"faces": other}):
                return
        writer.write("dice.thrown", wait_s=wait_s, actor="stickman-1", faces=faces, **data)

    def _can_be_barred(self) -> bool:
        return any(wager.bet in ("dont_win", "dont_come") and wager.number is None for wager in self.writer.live)

    def call(self) -> None:
        """Write ``no_more_bets``, unless its absence was requested."""
        if not self.inject("throw-without-no-more-bets"):
            if self.human is not None and self.does("placed near the call"):
                self._late_stake()
                self.writer.write("no_more_bets", actor="stickman-1", wait_s=-NEAR_CALL_S)
            else:
                self.writer.write("no_more_bets", actor="stickman-1")
            if self.inject("wager-after-no-more-bets"):
                self._late_stake()
            elif self.inject("wager-near-call"):
                self._late_stake(wait_s=NEAR_CALL_S)
            elif self.does("taken back near the call"):
                self._take_back_near_the_call(NEAR_CALL_S)
            elif self.human is not None and self.does("taken back, numbered after the call"):
                self._take_back_near_the_call(-self.human.chance.uniform(0.1, 0.9))
            elif self.human is not None and self.does("numbered after the call"):
                self._late_stake(wait_s=-self.human.chance.uniform(0.1, 0.9))

        if self.does("called twice"):
            self.writer.write("no_more_bets", actor="stickman-1")

    def place(self, bet: str, stake: int, **data: Any) -> None:
        if self.does("player not seen"):
            data = {name: value for name, value in data.items() if name != "player"}
        elif self.does("seat not seen"):
            data = {name: value for name, value in data.items() if name != "seat"}
        super().place(bet, stake, **data)

    def _late_stake(self, **wait: float) -> None:
        player = self.chance.choice(self.players)
        bet = "field" if self.ruleset == "fr-craps" else "right_bet"
        number = {} if bet == "field" else {"number": 6}
        self.writer.place(bet, 600, player=player.name, seat=player.seat, **number, **wait)

    def take_back_some(self) -> None:
        """Let players withdraw some of the wagers that may be withdrawn and have seen a throw."""
        table = self.writer.table
        for wager in self.writer.live:
            free = wager.bet in STANDING or wager.bet in BASE_OF or wager.bet in ("buy_bet", "lay_bet")
            if free and wager.throws_before < table.throws and self.chance.random() < 0.04:
                self._take_back(wager)
            elif free and wager.throws_before < table.throws:
                self._move_place_bet(wager)

    def _take_back(self, wager: Wager) -> None:
        """Withdraw a wager, or a part of it that leaves a stake with whole winnings."""
        unit = orderly_stake(wager.bet, wager.number, 1)
        standing = wager.standing  # what is left of it: parts may have been handed back before
        units = standing // unit
        part: dict[str, Any] = (
            {"amount": unit * self.chance.randrange(1, units)} if units > 1 and self.chance.random() < 0.5 else {}
        )
        self.writer.write("wager.withdrawn", wager=wager.id, **part)
        if self.does("taken back and handed over"):
            self.writer.pay(wager, winnings=0, stake=part.get("amount", standing))

    def _move_place_bet(self, wager: Wager) -> None:
        """Art. 55-8 D: after an indecisive throw a place bet may go to another number, of the same unit."""
        if self.ruleset != "fr-craps" or wager.bet != "right_bet" or not self.does("place bet moved"):
            return
        alike = [number for number in POINT_NUMBERS if number in (6, 8)] if wager.number in (6, 8) else [4, 5, 9, 10]
        assert self.human is not None
        self.writer.write("wager.moved", wager=wager.id, number=self.human.chance.choice(alike))

    def _take_back_near_the_call(self, wait_s: float) -> None:
        table = self.writer.table
        free = [wager for wager in self.writer.live if wager.bet in STANDING and wager.throws_before < table.throws]
        if free:
            self.writer.write("wager.withdrawn", wager=free[0].id, wait_s=wait_s)

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
        player = next((player for player in self.players if player.name == wager.player), None)
        if player is not None:
            self.leave_up(player, wager)

    def leave_up(self, player: Player, wager: Wager) -> None:
        data = {"number": wager.number, "left_up_from": wager.id}
        self.writer.place(wager.bet, wager.standing, player=player.name, seat=player.seat, **data)

    def unit_of(self, wager: Wager) -> int:
        return orderly_stake(wager.bet, wager.number, 1)

    def left_up_data(self, wager: Wager, stake: int) -> dict[str, Any] | None:
        is_there = any(player.name == wager.player for player in self.players)
        if wager.bet not in LEFT_UP or self.coup >= self.coups or not is_there:
            return None
        seat = {"seat": wager.seat} if wager.seat else {}
        return {"player": wager.player, **seat, "number": wager.number}

    def has_live(self, player: Player, bet: str) -> bool:
        return any(wager.player == player.name and wager.bet == bet for wager in self.writer.live)


def _another(number: int) -> int:
    return POINT_NUMBERS[(POINT_NUMBERS.index(number) + 1) % len(POINT_NUMBERS)]


class FrenchCraps(Craps):
    """Art. 55-7 and 55-8."""

    ruleset: ClassVar[str] = "fr-craps"
    letter: ClassVar[str] = "C"
    tables_in_mix: ClassVar[int] = 2
    limited: ClassVar[tuple[str, ...]] = ("win", "dont_win")
    has_croupiers: ClassVar[bool] = True
    lots = 0  # sets of dice introduced so far
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "custody", "marker", "seating", "staff"]

    def open(self) -> None:
        names = self.newcomers(4, 7)
        taken: list[int] = []
        if self.human is not None:
            taken = sorted(self.human.chance.sample(range(1, self.seats + 1), k=len(names)))
        self.write_opener(
            seats=[f"S{number}" for number in range(1, (self.seats if taken else len(names)) + 1)],
            staff=[
                {"person": "chef-1", "role": "chef_de_table"},
                {"person": "croupier-1", "role": "croupier"},
                {"person": "stickman-1", "role": "stickman"},
            ],
        )
        self.seat_players(names, [*LINE, *COME, *ONE_ROLL, *STANDING], taken)
        self._introduce_dice("opening")
        self._offer(0)
        self._select()

    def play_coup(self) -> None:
        self.irregular_between_coups()
        table = self.writer.table
        if table.dice.seven_out:
            self._pass_dice()
        elif table.point is not None and self.human is not None and self._gives_dice_up():
            pass
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
        elif self.writer.table.point is not None and self.does("die broken"):
            self._break_a_die()
        self.throw(seat=self._shooter().seat, dice=list(self.writer.table.dice.selected))

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

    def is_held(self, player: Player) -> bool:
        return player.seat == self.writer.table.dice.shooter

    # Dice

    def _gives_dice_up(self) -> bool:
        """Let the shooter give the dice up, or leave, in the midst of a series. Return whether he did."""
        shooter = self._shooter()
        index = self.players.index(shooter)
        if len(self.players) > FEWEST_PLAYERS and self.does("shooter leaves"):
            self.let_go(shooter)
            self._offer(index)
        elif self.does("shooter gives up"):
            self.writer.write("dice.declined", seat=shooter.seat, player=shooter.name)
            self._offer(index + 1)
        else:
            return False
        return True

    def _shooter(self) -> Player:
        return next(player for player in self.players if player.seat == self.writer.table.dice.shooter)

    def _introduce_dice(self, decided_by: str, **cause: Any) -> None:
        lot = chr(ord("A") + self.lots % 26)
        self.lots += 1
        dice = [f"{lot}{number}" for number in range(1, 7)]
        if self.evening is not None:
            cause["set"] = self.evening.next_dice_set()
        self.writer.write("dice.set_introduced", dice=dice, decided_by=decided_by, announced=True, **cause)

    def _select(self, seat: str = "") -> None:
        """Let the shooter, or whoever sits at ``seat``, take two of the six dice."""
        dice = list(self.writer.table.dice.dice)
        chosen = self.chance.sample(dice, k=2)
        boxed = [die for die in dice if die not in chosen]
        self.writer.write("dice.selected", seat=seat or self._shooter().seat, dice=chosen, boxed=boxed)

    def _offer(self, index: int) -> None:
        player = self._at(index)
        turn: dict[str, Any] = {"player": player.name} if self.does("offered by name") else {"seat": player.seat}
        self.writer.write("dice.offered", **turn)

    def _at(self, index: int) -> Player:
        return self.players[index % len(self.players)]

    def _pass_dice(self) -> None:
        """Offer the dice clockwise until a player takes them."""
        index = self.players.index(self._shooter()) + 1
        if len(self.players) > 2 and self.inject("dice-not-offered-clockwise"):
            index += 1
        self._offer(index)
        if self.does("everybody declines"):
            for _ in range(len(self.players) - 1):
                self.writer.write("dice.declined", seat=self._shooter().seat)
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
        if table.point is None and self.inject("dice-selected-by-another"):
            self._select(self._at(self.players.index(self._shooter()) + 1).seat)
        if table.dice.throws and not table.dice.seven_out and self.inject("dice-passed-without-seven-out"):
            # At a come-out, so that the next shooter can place a line wager. Otherwise it is tried again later.
            if table.point is None:
                self._offer(self.players.index(self._shooter()) + 1)
            else:
                self.irregularities.append(self.injected.pop()[0])

    def void(self, faces: list[int]) -> None:
        self._write_void([self.chance.choice(VOIDS)], faces)
        self.writer.write("no_more_bets", actor="stickman-1")

    def _write_void(self, flags: list[str], faces: list[int]) -> None:
        self.writer.write(
            "throw.voided",
            announced_by="stickman",
            flags=flags,
            faces=faces,
            seat=self._shooter().seat,
            dice=list(self.writer.table.dice.selected),
        )

    def _void(self) -> None:
        writer = self.writer
        self._write_void(
            [self.chance.choice(VOIDS)],
            [self.chance.randint(1, 6), self.chance.randint(1, 6)],
        )
        if any(name == "void-throw-settled" for name, seq in self.injected[-1:] if seq == writer.next_seq - 1):
            writer.pay(writer.live[-1], winnings=writer.live[-1].standing)
        writer.write("no_more_bets", actor="stickman-1")

    def _break_a_die(self) -> None:
        """Art. 55-7 al. 5: «En cas de dés cassés» the throw is void; the game goes on with another set."""
        dice = list(self.writer.table.dice.selected)
        seat = self._shooter().seat
        self.writer.write("throw.voided", announced_by="stickman", flags=["broken"], seat=seat, dice=dice)
        self._introduce_dice("chef_de_table", cause="broken")
        self._select()
        self.call()

    # Stakes

    def _shooter_stakes(self) -> None:
        shooter = self._shooter()
        live = [wager for wager in self.writer.live if wager.bet in LINE]
        at_line = any(wager.seat == shooter.seat or wager.player == shooter.name for wager in live)
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
        if bet in ("right_bet", "wrong_bet") and self.does("odd stake"):
            stake += 100
        self.place(bet, stake, player=player.name, seat=player.seat, **data)

    def _can_carry(self, wager: Wager) -> bool:
        carried = any(other.base == wager.id for other in self.writer.live)
        return wager.bet in BASE_OF.values() and wager.number is not None and not carried

    def _odds(self, player: Player, base: Wager) -> None:
        bet = f"{base.bet}_odds"
        stake = orderly_stake(bet, base.number, player.boldness)
        named, number = base.id, base.number
        others = [
            each
            for each in self.writer.live
            if each.player not in (None, player.name) and (each.bet, each.number) == (base.bet, number)
        ]
        if self.inject("odds-without-base-wager"):
            named = "w0"
        elif others and self.inject("odds-on-anothers-base"):
            named = others[0].id
        elif base.bet in COME and number is not None and self.inject("odds-number-mismatch"):
            number = _another(number)
        on_number = {"number": number} if base.bet in COME else {}
        self.writer.place(bet, stake, player=player.name, seat=player.seat, base=named, **on_number)
