"""The simulator of two coins."""

from __future__ import annotations

from typing import Any, ClassVar

from two_coins.ruleset import BETS, NAME

from audit.simulation.irregularities import Irregularity
from audit.simulation.session import PLAYERS, Session
from settlement.state import Wager


class TwoCoins(Session):
    """A table of two coins."""

    game: ClassVar[str] = "two_coins"
    ruleset: ClassVar[str] = NAME
    letter: ClassVar[str] = "T"
    observes: ClassVar[list[str]] = ["bank", "calls", "collections", "seating"]
    own_irregularities: ClassVar[tuple[Irregularity, ...]] = (
        Irregularity("coins-tossed-before-call", frozenset({NAME})),
    )

    def open(self) -> None:
        self.write_opener()
        self.seat_players(self.chance.sample(PLAYERS, k=4), list(BETS))

    def play_coup(self) -> None:
        self.irregular_between_coups()
        for player in self.players:
            if self.chance.random() < player.zeal:
                self.place(self.chance.choice(player.habits), 1000 * player.boldness, player=player.name)
        if not self.inject("coins-tossed-before-call"):
            self.writer.write("no_more_bets", actor="croupier-1")
        first, second = self.chance.choices(["pile", "face"], k=2)
        self.writer.write("coins.tossed", actor="croupier-1", first=first, second=second)
        self.settle()

    def finish(self) -> None:
        """Do nothing: every toss decides every stake."""

    def unit_of(self, wager: Wager) -> int:
        return 1000

    def left_up_data(self, wager: Wager, stake: int) -> dict[str, Any] | None:
        return {"player": wager.player} if self.coup < self.coups and wager.player else None
