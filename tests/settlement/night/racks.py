"""What the rack really holds: chips followed by hand over a stream, without the bridge and without its sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from settlement import Event, State
from settlement.events import (
    BankCredited,
    BankFilled,
    BuyInRecorded,
    PayoutMade,
    SessionOpened,
    StakesCollected,
    WagerPlaced,
    WagerWithdrawn,
)
from settlement.night.bridge import Bank
from settlement.state import Table


class Rack:
    """Chips of one table: in the rack, and on the layout by wager. What a payout gives comes from there, then here.

    A payout of a stake that was withdrawn before speaks of the chips that the player already has back.
    """

    def __init__(self) -> None:
        self.opening = self.chips = self.fills = self.credits = self.box = 0
        self.layout: dict[str, int] = defaultdict(int)
        self.back: dict[str, int] = defaultdict(int)
        self.swept: set[str] = set()

    def watch(self, event: Event, table: Table, standing_before: int) -> None:
        """Move the chips that ``event`` moves; ``table`` is as it is after it."""
        match event:
            case SessionOpened():
                self.opening = self.chips = event.data.float
            case BankFilled():
                self.fills += event.data.amount
                self.chips += event.data.amount
            case BankCredited():
                self.credits += event.data.amount
                self.chips -= event.data.amount
            case BuyInRecorded():
                self.box += event.data.amount
                self.chips -= event.data.amount
            case WagerPlaced() if table.wagers[event.data.wager].placed_by == event.seq:
                self.layout[event.data.wager] = event.data.stake
                self.chips += table.wagers[event.data.wager].commission
            case WagerWithdrawn() if event.data.wager in table.wagers:
                self._take_back(table, event.data.wager, standing_before)
            case StakesCollected() if table.open_session().collections:
                self.swept.update(table.wagers.keys() & set(event.data.wagers))
            case PayoutMade():
                wager = table.wagers.get(event.data.wager)
                pile = self.back if wager is not None and wager.status == "withdrawn" else self.layout
                moved = min(pile[event.data.wager], event.data.stake_returned)
                pile[event.data.wager] -= moved
                self.chips -= event.data.winnings + event.data.stake_returned - moved

    def _take_back(self, table: Table, wager_id: str, standing_before: int) -> None:
        wager = table.wagers[wager_id]
        back = standing_before - wager.standing
        self.back[wager_id] += back
        self.chips -= max(0, back - self.layout[wager_id])
        self.layout[wager_id] = max(0, self.layout[wager_id] - back)
        gone = back and wager.status == "withdrawn"
        if gone and wager.commission and table.open_session().commission_refunded_on_withdrawal:
            self.chips -= wager.commission

    def clear(self, table: Table) -> None:
        """Bring into the rack what the house keeps of the stakes that are decided; push back what never played."""
        for wager_id, wager in table.wagers.items():
            if wager.undecided or wager.status == "withdrawn":
                continue
            touched = wager.stake_paid or wager_id in self.swept
            if wager.status != "void" or touched:
                self.chips += self.layout.pop(wager_id, 0)


def counted(events: Sequence[Event], state: State | None = None) -> tuple[State, Rack]:
    """Play ``events`` and follow every chip; return where the law and the rack stand at the end."""
    state = state or State()
    rack = Rack()
    for event in events:
        named = state.table.wagers.get(getattr(event.data, "wager", ""))
        before = named.standing if named is not None else 0
        state.feed(event)
        if state.table.session is not None:
            rack.watch(event, state.table, before)
    rack.clear(state.table)
    return state, rack


def bank_of(rack: Rack, currency: str) -> Bank:
    """Return the bank as it would be counted, to the chip."""
    return Bank(
        currency=currency,
        opening_float=rack.opening,
        fills=rack.fills,
        credits=rack.credits,
        closing_float=rack.chips,
        drop=rack.box,
        buy_ins=rack.box,
    )
