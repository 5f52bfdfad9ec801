"""Simulated craps of Québec, with its place bets: right, buy and lay."""

from __future__ import annotations

from typing import Any, ClassVar

from audit.simulation.craps_tables import MAX_FINISH_COUPS, VOIDS, Craps, orderly_stake
from audit.simulation.played_table import Player
from audit.simulation.session import NEAR_CALL_S
from settlement.craps import POINT_NUMBERS
from settlement.money import EVEN, five_per_cent
from settlement.qc.s_95_17_place_bets import LAY_BET
from settlement.state import Wager


class QuebecCraps(Craps):
    """S. 95.17: right, buy and lay bets."""

    ruleset: ClassVar[str] = "qc-craps"
    letter: ClassVar[str] = "Q"
    tables_in_mix: ClassVar[int] = 1
    currency: ClassVar[str] = "CAD"
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "marker", "seating"]

    def open(self) -> None:
        self.write_opener()
        self.seat_players(self.newcomers(4, 8), ["right_bet", "buy_bet", "lay_bet"])

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
            elif wager.working and self.does("switched off"):
                self.writer.write("wager.switched", wager=wager.id, working=False)
        self.call()
        self._switch_near_the_call()
        if self.chance.random() < 0.02:
            flags = [self.chance.choice(VOIDS)]
            self.writer.write("throw.voided", announced_by="stickman", flags=flags)
            self.writer.write("no_more_bets", actor="stickman-1")
        self._pay_inactive()
        self.throw()

    def _switch_near_the_call(self) -> None:
        before, last = (event["type"] for event in self.writer.events[-2:])
        switchable = [wager for wager in self.writer.live if wager.bet in ("right_bet", "buy_bet")]
        if switchable and before != last == "no_more_bets" and self.does("switched near the call"):
            wager = switchable[0]
            self.writer.write("wager.switched", wager=wager.id, working=not wager.working, wait_s=NEAR_CALL_S)

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
        self.place(bet, stake, player=player.name, seat=player.seat, **data)

    def left_up_data(self, wager: Wager, stake: int) -> dict[str, Any] | None:
        data = super().left_up_data(wager, stake)
        return None if data is None else data | _commission(wager.bet, wager.number or 0, stake)

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
