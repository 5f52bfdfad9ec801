"""One evening of a season at one table: who sits and works there, with which equipment, and where its slips go on.

Guests bring a budget and buy again while it lasts, so that nobody stakes more than he bought or won. Croupiers relieve
each other. At the close the rack is filled up, or emptied, to its usual float. Everything is planned in advance
(``season``); a ``Fraud`` may change what happens.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from audit.simulation.frauds import Fraud
from audit.simulation.plan import Guest, Plan
from audit.simulation.played_table import PlayedTable, Player

COUPS_ON_DUTY = 25
"""Coups after which a croupier is relieved."""

LEAST_STACK = 5_000
"""Chips below which a guest buys again, in minor units, for each unit of his boldness."""

FIRST_BUY_IN = 10_000
"""What he buys at a time, likewise."""


@dataclass(slots=True, kw_only=True)
class Evening(Plan):
    """A plan while it is played: what each guest has spent, and how many sets of dice were introduced."""

    fraud: Fraud
    spent: Counter[str] = field(default_factory=Counter)
    introduced: int = 0

    def begin(self, session: PlayedTable) -> None:
        """Give a session its people and the number of its next slip."""
        session.slips = self.slips
        session.writer.people |= {
            "croupier-1": self.croupiers[0],
            "chef-1": self.chief,
            "stickman-1": self.stickman,
            "employe-1": f"employe-{self.chief.removeprefix('chef-')}",
        }

    def opener(self, equipment: str | None) -> dict[str, Any]:
        """Return what the opener says of people, and of the ``equipment`` that the game is played with."""
        croupier = {"croupier": self.croupiers[0]}
        return croupier | {"wheel": self.wheel} if equipment == "wheel" else croupier

    def next_dice_set(self) -> str:
        """Return the id of the set of dice that is introduced now."""
        self.introduced += 1
        return self.dice_sets[(self.introduced - 1) % len(self.dice_sets)]

    def welcome(self, player: Player) -> None:
        """Let a player have the means and the zeal of the guest he is."""
        guest = next((guest for guest in self.guests if guest.name == player.name), None)
        if guest is None:  # somebody who passes by, and buys in once
            guest = Guest(player.name, 1, FIRST_BUY_IN)
            self.guests.append(guest)
        player.boldness = guest.boldness
        self.spent[guest.name] += FIRST_BUY_IN * guest.boldness
        if not guest.plays:
            player.zeal = 0

    def between_coups(self, session: PlayedTable) -> None:
        """Let croupiers relieve each other, and guests buy again or stop."""
        if session.coup > 1 and session.coup % COUPS_ON_DUTY == 1 and len(self.croupiers) > 1:
            on_duty = self.croupiers.index(session.writer.people["croupier-1"])
            session.writer.write("staff.relieved", person="croupier-1", role="croupier")
            session.writer.people["croupier-1"] = self.croupiers[(on_duty + 1) % len(self.croupiers)]
            session.writer.write("staff.assigned", person="croupier-1", role="croupier")
        budgets = {guest.name: guest.budget for guest in self.guests}
        for player in session.players:
            if session.writer.stacks[player.name] >= LEAST_STACK * player.boldness:
                continue
            amount = FIRST_BUY_IN * player.boldness
            if self.spent[player.name] + amount <= budgets[player.name] or session.is_held(player):
                self.spent[player.name] += amount
                session.buy_in(player, session.chance)
            else:
                player.zeal = 0
        self.fraud.between_coups(session)
