"""The table that a session is played at: what is there, what people did, and what its game answers to those who ask.

Those are the frauds, the evening of a season and the whims of a human night. They know this much of a session, and the
session (``session``) knows them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar

from audit.simulation.event_writer import EventWriter
from audit.simulation.irregularities import Irregularity
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
class PlayedTable:
    """One table while it is played. Amounts are in minor units.

    ``irregularities`` are those requested and not yet injected.
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
    swept_winner: str = ""  # id of a wager that won, was collected by request, and is not paid
    whims: random.Random | None = None  # the chance of what people do, on a human night
    is_belated: bool = False  # some of it is put right after its coup only
    disturbed: int = 0  # the last coup in which a requested irregularity was done
    habits: list[str] = field(default_factory=list)
    writer: EventWriter = field(init=False)

    game: ClassVar[str]
    ruleset: ClassVar[str]
    letter: ClassVar[str]  # with which the codes of its tables begin
    tables_in_mix: ClassVar[int] = 0  # of a night of all games, whenever its mix is repeated
    limited: ClassVar[tuple[str, ...]] = ()  # the bets with a maximum
    own_irregularities: ClassVar[tuple[Irregularity, ...]] = ()  # which only this game can have
    currency: ClassVar[str] = "EUR"
    opening_float: ClassVar[int] = 5_000_000
    observes: ClassVar[list[str]] = FAMILIES
    reader: ClassVar[str] = "croupier-1"  # who records results
    seats: ClassVar[int] = 9
    pays_in_order: ClassVar[bool] = False
    has_croupiers: ClassVar[bool] = False  # who are known by name
    lets_leave_with_stakes: ClassVar[bool] = True

    # Who sits there

    def free_seats(self) -> list[str]:
        taken = {player.seat for player in self.players}
        return [seat for number in range(1, self.seats + 1) if (seat := f"S{number}") not in taken]

    def let_in(self, seat: str) -> None:
        """Seat a player who was not there."""
        raise NotImplementedError

    def let_go(self, player: Player) -> None:
        self.writer.write("player.left", player=player.name, seat=player.seat)
        self.players.remove(player)

    def change_seat(self, player: Player, seat: str) -> None:
        self.writer.write("player.left", player=player.name, seat=player.seat)
        player.seat = seat
        self.writer.write("player.seated", player=player.name, seat=seat)
        self.players.sort(key=lambda player: int(player.seat[1:]))

    def is_held(self, player: Player) -> bool:
        """Whether ``player`` cannot leave between two coups without more ado."""
        return False

    def buy_in(self, player: Player, chance: random.Random) -> None:
        amount = 10_000 * player.boldness
        self.bought += amount
        self.writer.stacks[player.name] += amount
        means = chance.choice(["cash", "cash", "card", "voucher"])
        self.writer.write("buy_in.recorded", player=player.name, amount=amount, means=means)

    # What the game answers

    def unit_of(self, wager: Wager) -> int:
        """Return by how much a stake on the same chance may grow, in minor units."""
        raise NotImplementedError

    def left_up_data(self, wager: Wager, stake: int) -> dict[str, Any] | None:
        """Return what a wager of ``stake`` is placed with that plays on from ``wager``; None if none can."""
        raise NotImplementedError

    @property
    def wheel(self) -> list[str]:
        """The pockets in the order of the wheel, of a game that has one."""
        raise NotImplementedError

    def void(self, faces: list[int]) -> None:
        """Write a throw that is called void, of a game with dice, and the call of the next one."""
        raise NotImplementedError

    def payment_data(self, wager_id: str) -> dict[str, Any]:
        return {}

    def before_payment(self, wager_id: str, winnings: int) -> None:
        """Called before each payout."""

    def next_slip(self) -> str:
        """Use up a slip, and return its id."""
        raise NotImplementedError
