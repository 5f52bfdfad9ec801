"""Writes the events of a simulated table, keeps its clock, and asks the rules engine what is due.

The croupier pays what the engine computes, so that the law is coded only once. The simulation decides who plays, what
happens and in which order.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from settlement import State, decode
from settlement.arrival import NeedsReplay
from settlement.corrections import changes_in
from settlement.state import Table, Wager


class EventWriter:
    """Writes the stream of one session."""

    def __init__(self, *, stream: str, start: datetime, chance: random.Random) -> None:
        self.stream = stream
        # In UTC: adding to a local time goes wrong on the night of a change between summer and winter time.
        self._zone = start.tzinfo
        self._now = start.astimezone(UTC)
        self.chance = chance
        self.events: list[dict[str, Any]] = []
        self.next_seq = 1
        self._state = State()
        self._wagers = 0
        self.paid_out = 0  # recorded winnings, in minor units
        self.stacks: Counter[str] = Counter()  # the chips of each player, in minor units, less those he came with
        self.people: dict[str, str] = {}  # who stands at this table under each id of the simulation's staff
        self._mark = (b"", 0)  # the state as saved last, and how many events were written then

    @property
    def table(self) -> Table:
        """The table as the law sees it after the last event."""
        return self._state.table

    @property
    def live(self) -> list[Wager]:
        """The undecided wagers, in order of placement."""
        return [self.table.wagers[wager_id] for wager_id in self.table.live]

    def write(self, kind: str, *, actor: str | None = None, wait_s: float | None = None, **data: Any) -> dict[str, Any]:
        """Write an event that happens ``wait_s`` after the last one; 0.8 to 3 s, at random, if None."""
        self._now += timedelta(milliseconds=int(1000 * (self.chance.uniform(0.8, 3.0) if wait_s is None else wait_s)))
        event: dict[str, Any] = {
            "stream": self.stream,
            "seq": self.next_seq,
            "type": kind,
            "v": 1,
            "occurred_at": self._now.astimezone(self._zone).isoformat(timespec="milliseconds"),
        }
        if actor is not None:
            event["actor"] = self.people.get(actor, actor)
        event["data"] = self._renamed(data) if self.people else data
        self.next_seq = data["through"] + 1 if kind == "events.lost" else self.next_seq + 1
        self.events.append(event)
        self._feed(event)
        return event

    def _renamed(self, data: dict[str, Any]) -> dict[str, Any]:
        renamed = {**data}
        for name in ("person", "approved_by"):
            if name in data:
                renamed[name] = self.people.get(data[name], data[name])
        if "staff" in data:
            renamed["staff"] = [self._renamed(member) for member in data["staff"]]
        return renamed

    def let_pass(self, seconds: float) -> None:
        """Let time pass without an event."""
        self._now += timedelta(milliseconds=int(1000 * seconds))

    def may_be_undone(self) -> None:
        """Save the state: an event from here on may be corrected, annulled or voided, until this is called again."""
        self._mark = (self._state.to_bytes(), len(self.events))

    def _feed(self, event: dict[str, Any]) -> None:
        try:
            self._state.feed(decode(msgspec.json.encode(event)))
        except NeedsReplay:
            saved, first = self._mark
            again = [decode(msgspec.json.encode(each)) for each in self.events[first:]]
            changes = changes_in(again)
            self._state = State.from_bytes(saved, changes, compares=False) if saved else State(changes, compares=False)
            self._state.feed_all(again)

    @property
    def next_wager(self) -> str:
        """The id of the next wager."""
        return f"w{self._wagers + 1}"

    def take_name(self) -> None:
        """Use up ``next_wager``, which an event other than a placement has opened."""
        self._wagers += 1

    def place(self, bet: str, stake: int, **data: Any) -> str:
        """Write a wager of ``stake``, in minor units, and return its id."""
        self._wagers += 1
        wager_id = f"w{self._wagers}"
        if "left_up_from" not in data:
            self.stacks[data.get("player", "")] -= stake + data.get("commission", 0)
        self.write("wager.placed", wager=wager_id, bet=bet, stake=stake, **data)
        return wager_id

    def pay(self, wager: Wager, *, winnings: int | None = None, stake: int | None = None, **data: Any) -> None:
        """Write a payout of what is due to ``wager``, or of ``winnings`` and ``stake``, in minor units, if given."""
        winnings = wager.winnings_due if winnings is None else winnings
        stake = wager.stake_due if stake is None else stake
        self.paid_out += winnings
        self.stacks[wager.player or ""] += winnings + stake
        self.write("payout.made", wager=wager.id, winnings=winnings, stake_returned=stake, **data)

    def recover(self, wager: Wager, *, winnings: int = 0, stake: int = 0, **data: Any) -> None:
        """Write what is taken back from the player, in minor units."""
        self.paid_out -= winnings
        self.stacks[wager.player or ""] -= winnings + stake
        self.write("payout.recovered", wager=wager.id, winnings=winnings, stake=stake, **data)
