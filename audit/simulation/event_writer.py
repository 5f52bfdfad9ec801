"""Writes the events of a simulated table, keeps its clock, and asks the rules engine what is due.

The croupier pays what the engine computes, so that the law is coded only once. The simulation decides who plays, what
happens and in which order.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from settlement import State, decode
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
            event["actor"] = actor
        event["data"] = data
        self.next_seq = data["through"] + 1 if kind == "events.lost" else self.next_seq + 1
        self.events.append(event)
        self._state.feed(decode(msgspec.json.encode(event)))
        return event

    def place(self, bet: str, stake: int, **data: Any) -> str:
        """Write a wager of ``stake``, in minor units, and return its id."""
        self._wagers += 1
        wager_id = f"w{self._wagers}"
        self.write("wager.placed", wager=wager_id, bet=bet, stake=stake, **data)
        return wager_id

    def pay(self, wager: Wager, *, winnings: int | None = None, stake: int | None = None, **data: Any) -> None:
        """Write a payout of what is due to ``wager``, or of ``winnings`` and ``stake``, in minor units, if given."""
        winnings = wager.winnings_due if winnings is None else winnings
        stake = wager.stake_due if stake is None else stake
        self.paid_out += winnings
        self.write("payout.made", wager=wager.id, winnings=winnings, stake_returned=stake, **data)
