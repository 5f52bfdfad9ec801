"""Simulated tables of la boule: the employees throw in turn, and one number decides every stake."""

from __future__ import annotations

from typing import Any, ClassVar

from audit.simulation.irregularities import Irregularity
from audit.simulation.played_table import Player
from audit.simulation.session import BallGame
from settlement.fr.art_46_boule import CHANCES, LAYOUT, NUMBERS
from settlement.state import Wager

NAME = "fr-boule"
HERE = frozenset({NAME})

CHIP = 100
"""The value of the smallest chip, in minor units."""

CHIEF = {"person": "chef-1", "role": "chef_de_partie"}
THROWERS = ("croupier-1", "employe-1", "employe-2")
"""Who throws, in the order of their turns."""

TURN = 8
"""Throws of a turn."""


class Boule(BallGame):
    """Art. 45 and 46."""

    game: ClassVar[str] = "boule"
    ruleset: ClassVar[str] = NAME
    letter: ClassVar[str] = "B"
    tables_in_mix: ClassVar[int] = 1
    limited: ClassVar[tuple[str, ...]] = ("plein", "rouge", "noir")
    uncalled: ClassVar[str] = "boule-settled-before-call"
    most_stakes: ClassVar[int] = 3
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "seating", "staff"]
    own_irregularities: ClassVar[tuple[Irregularity, ...]] = (
        Irregularity("thrower-not-rotated", HERE),
        Irregularity("boule-number-invalid", HERE),
        Irregularity("boule-stake-number-invalid", HERE),
        Irregularity("boule-settled-before-call", HERE),
    )

    @property
    def wheel(self) -> list[str]:
        return list(LAYOUT.wheel)

    def open(self) -> None:
        self.specialist = ""  # who throws the whole session, on request
        employees = [{"person": "croupier-1", "role": "croupier"}]
        employees += [{"person": person, "role": "employe"} for person in THROWERS[1:]]
        self.write_opener(staff=[CHIEF, *employees])
        self.seat_players(self.newcomers(5, 9), ["plein", *CHANCES])

    def play_coup(self) -> None:
        self.irregular_between_coups()
        if self.inject("thrower-not-rotated"):
            self.specialist = THROWERS[0]
        first = self.writer.next_seq
        self.take_stakes()
        self._take_back_some(first)
        self.call()
        self.throw()
        self.settle()

    def finish(self) -> None:
        """Do nothing: every throw decides every stake."""

    def stake(self, player: Player, **wait: float) -> None:
        bet = self.chance.choice(player.habits)
        data: dict[str, Any] = {}
        if bet == "plein":
            data["number"] = self.chance.choice(NUMBERS)
            if self.inject("boule-stake-number-invalid"):
                data["number"] = 10
        whose = {} if self.does("player not seen") else {"player": player.name}
        self.place(bet, CHIP * player.boldness * self.chance.randint(1, 3), **whose, **data, **wait)

    def _take_back_some(self, first_seq: int) -> None:
        """Let players lift some of the stakes that they placed since event ``first_seq``."""
        for wager in self.writer.live:
            if wager.placed_by >= first_seq and not wager.left_up_from and self.does("lifted before the call"):
                self.writer.write("wager.withdrawn", wager=wager.id)

    def throw(self) -> None:
        """Write where the ball comes to rest; on request a number first that there is not."""
        number = int(self.coming or self.chance.choice(self.wheel))
        wait_s = self.chance.uniform(4, 9)
        who = {"person": self.specialist or THROWERS[(self.coup - 1) // TURN % len(THROWERS)]}
        if self.inject("boule-number-invalid"):
            self._write_result(wait_s, number=len(NUMBERS) + 1, **who)
            self.writer.write("no_more_bets", actor="croupier-1")
        if self.does("spin void"):
            self.writer.write("boule.voided", actor="croupier-1", reason="foreign_object")
            self.play_again()
        right = {"number": number, **who}
        if self.human is None:
            self._write_result(wait_s, **right)
            return
        other = {"number": self.human.chance.choice(NUMBERS)}
        if self.does("number taken back"):
            self.writer.may_be_undone()
            voids = self.writer.write("boule.settled", wait_s=wait_s, actor="croupier-1", **{**right, **other})["seq"]
            self.writer.write(
                "boule.voided", actor="croupier-1", voids=voids, reason="foreign_object", approved_by="chef-1"
            )
            self.play_again()
        if not self.human.reads("boule.settled", wait_s, right, other):
            self._write_result(wait_s, **right)

    def _write_result(self, wait_s: float, **data: Any) -> None:
        self.writer.write("boule.settled", wait_s=wait_s, actor="croupier-1", **data)

    def unit_of(self, wager: Wager) -> int:
        return CHIP

    def left_up_data(self, wager: Wager, stake: int) -> dict[str, Any] | None:
        if self.coup >= self.coups or not wager.player:
            return None
        return {"player": wager.player} | ({"number": wager.number} if wager.number else {})
