"""S. 95.17, the place bets of Québec, read a second time. See ``craps`` for what the two games share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.settlement.second_reading import practice
from tests.settlement.second_reading.book import Book
from tests.settlement.second_reading.craps import POINTS, is_valid
from tests.settlement.second_reading.practice import Events, late_seqs, parameter, take_back

ODDS = {
    # "7 to 6 if the number selected is 6 or 8, at odds of 7 to 5 if … 5 or 9, and at odds of 9 to 5 if … 4 or 10"
    "right_bet": {6: (7, 6), 8: (7, 6), 5: (7, 5), 9: (7, 5), 4: (9, 5), 10: (9, 5)},
    # "6 to 5 if the number selected is 6 or 8, at odds of 3 to 2 if … 5 or 9, and at odds of 2 to 1 if … 4 or 10"
    "buy_bet": {6: (6, 5), 8: (6, 5), 5: (3, 2), 9: (3, 2), 4: (2, 1), 10: (2, 1)},
    # "5 to 6 if the number selected is 6 or 8, at odds of 2 to 3 if … 5 or 9, and at odds of 1 to 2 if … 4 or 10"
    "lay_bet": {6: (5, 6), 8: (5, 6), 5: (2, 3), 9: (2, 3), 4: (1, 2), 10: (1, 2)},
}


@dataclass
class Wager(practice.Wager):
    number: int = 0
    is_working: bool = False


def table(events: Events) -> Table:
    """Return the table that the stream opens."""
    throws = [event for event in events if event["type"] == "dice.thrown"]
    valid = {event["seq"] for event in throws if is_valid(event["data"], stickman_decides=True)}
    # "A voided throw or spin lifts the call": so does a throw that shows no faces of dice, and decides nothing.
    lift_the_call = {event["seq"] for event in events if event["type"] in ("dice.thrown", "throw.voided")}
    return Table(unit=parameter(events, "payout_unit", 1), late=late_seqs(events, lift_the_call), valid=valid)


class Table:
    """One table, event by event."""

    def __init__(self, *, unit: int, late: set[int], valid: set[int]) -> None:
        self.unit = unit
        self.late = late
        self.valid = valid
        self.wagers: dict[str, Wager] = {}
        self.point: int | None = None
        self.switched: list[tuple[Wager, bool]] = []
        """What was said after the call."""

    def is_result(self, event: dict[str, Any]) -> bool:
        return event["seq"] in self.valid

    def read_from_chips(self, book: Book) -> None:
        """Nothing is read from the chips at craps."""

    def note_held(self, book: Book) -> None:
        """See ``roulette``."""

    def apply(self, event: dict[str, Any], book: Book) -> None:
        data = event["data"]
        wager = self.wagers.get(data.get("wager", ""))
        is_late = event["seq"] in self.late
        match event["type"]:
            case "wager.placed" if wager is None:
                self.place(data, is_late=is_late)
            case "wager.withdrawn" if wager is not None and wager.status == "open" and not is_late:
                # "which may be withdrawn in the event of an inconclusive roll"
                take_back(wager, data.get("amount", wager.stake))
            case "wager.switched" if wager is not None and is_late:
                # "A late wager.switched counts from the next throw."
                self.switched.append((wager, data["working"]))
            case "wager.switched" if wager is not None:
                wager.is_working = data["working"]
            case "dice.thrown" | "throw.voided":
                if self.is_result(event):
                    self.throw(sum(data["faces"]))
                # One that is void was the throw for which it came too late.
                for switched, is_working in self.switched:
                    switched.is_working = is_working
                self.switched = []

    def place(self, data: dict[str, Any], *, is_late: bool) -> None:
        wager = Wager(data["bet"], data["stake"], number=data.get("number", 0), is_working=data.get("working", False))
        # "The wager is only accepted after the player has paid a commission"
        is_accepted = wager.bet == "right_bet" or "commission" in data
        if is_late or not is_accepted or wager.number not in POINTS:
            wager.status = "void"
            wager.stake_due = wager.stake
        self.wagers[data["wager"]] = wager

    def throw(self, total: int) -> None:
        is_come_out = self.point is None
        for wager in self.wagers.values():
            # "is not active during a come out roll unless otherwise indicated by the player"
            is_off = is_come_out and not wager.is_working and wager.bet != "lay_bet"
            if wager.status == "open" and not is_off:
                self.play(wager, total)
        if is_come_out and total in POINTS:
            self.point = total
        elif total in (self.point, 7):
            self.point = None

    def play(self, wager: Wager, total: int) -> None:
        wins, loses = (7, wager.number) if wager.bet == "lay_bet" else (wager.number, 7)
        if total == wins:
            wager.status = "won"
            times, for_each = ODDS[wager.bet][wager.number]
            wager.owe(winnings=Fraction(wager.stake * times, for_each), stake=wager.stake, unit=self.unit)
        elif total == loses:
            wager.status = "lost"

    def play_on(self, wager: Wager, name: str, stake: int) -> None:
        # "Only accepted after the player has paid a commission": again, for a buy or a lay.
        self.place({"wager": name, "bet": wager.bet, "stake": stake, "number": wager.number}, is_late=False)

    def is_alike(self, wager: Wager, data: dict[str, Any]) -> bool:
        return (data["bet"], data.get("number", wager.number)) == (wager.bet, wager.number)
