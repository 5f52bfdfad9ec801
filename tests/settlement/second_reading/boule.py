"""Art. 46, la boule, read a second time: what is due to each wager of a stream, and streams of it."""

from __future__ import annotations

from typing import Any

from tests.settlement.second_reading.book import Book
from tests.settlement.second_reading.coups import Session
from tests.settlement.second_reading.practice import Events, Wager, late_seqs, parameter, take_back

# "Les appareils à neuf numéros".
NUMBERS = range(1, 10)

# "Une chance simple (rouge, noir, pair, impair, passe ou manque)". Which numbers they are is custom. "Lorsque le numéro
# 5 est sortant, la totalité des mises sur les chances simples est perdante": it is in none.
SIMPLE = {
    "rouge": [1, 3, 6, 8],
    "noir": [2, 4, 7, 9],
    "pair": [2, 4, 6, 8],
    "impair": [1, 3, 7, 9],
    "manque": [1, 2, 3, 4],
    "passe": [6, 7, 8, 9],
}


def table(events: Events) -> Table:
    """Return the table that the stream opens."""
    ends_betting = {event["seq"] for event in events if event["type"] in ("boule.settled", "boule.voided")}
    return Table(unit=parameter(events, "payout_unit", 1), late=late_seqs(events, ends_betting))


class Table:
    """One table, event by event."""

    def __init__(self, *, unit: int, late: set[int]) -> None:
        self.unit = unit
        self.late = late
        self.wagers: dict[str, Wager] = {}
        self.on: dict[str, list[int]] = {}
        """The numbers on which each wager wins."""

    def is_result(self, event: dict[str, Any]) -> bool:
        return event["type"] == "boule.settled" and event["data"]["number"] in NUMBERS

    def read_from_chips(self, book: Book) -> None:
        """Nothing is read from the chips at la boule."""

    def note_held(self, book: Book) -> None:
        """See ``roulette``."""

    def apply(self, event: dict[str, Any], book: Book) -> None:
        data, is_late = event["data"], event["seq"] in self.late
        wager = self.wagers.get(data.get("wager", ""))
        match event["type"]:
            case "wager.placed" if wager is None:
                self.place(data["wager"], data["bet"], data["stake"], self.covered(data), is_late=is_late)
            case "wager.withdrawn" if wager is not None and wager.status == "open" and not is_late:
                take_back(wager, data.get("amount", wager.stake))
            case "boule.settled" if self.is_result(event):
                self.come_out(data["number"])

    def place(self, name: str, bet: str, stake: int, on: list[int], *, is_late: bool = False) -> None:
        # "Il ne peut être fait usage que des deux combinaisons suivantes". Practice: what is late was never in play.
        wager = self.wagers[name] = Wager(bet, stake)
        self.on[name] = on
        if is_late or not on:
            wager.status = "void"
            wager.stake_due = stake

    def come_out(self, number: int) -> None:
        for name, wager in self.wagers.items():
            if wager.status == "open" and number in self.on[name]:
                wager.status = "won"
                # "Un numéro plein qui rapporte sept fois la mise", "une chance simple … qui rapporte une fois la mise".
                times = 7 if wager.bet == "plein" else 1
                wager.owe(winnings=wager.stake * times, stake=wager.stake, unit=self.unit)
            elif wager.status == "open":
                wager.status = "lost"

    def play_on(self, wager: Wager, name: str, stake: int) -> None:
        source = next(known for known, one in self.wagers.items() if one is wager)
        self.place(name, wager.bet, stake, self.on[source])

    def is_alike(self, wager: Wager, data: dict[str, Any]) -> bool:
        name = next(known for known, one in self.wagers.items() if one is wager)
        return bool(data["bet"] == wager.bet and self.covered(data) == self.on[name])

    def covered(self, data: dict[str, Any]) -> list[int]:
        """Return the numbers that a wager covers, none where it is no combination of the article."""
        if data["bet"] == "plein":
            return [number for number in NUMBERS if number == data.get("number")]
        return SIMPLE.get(data["bet"], [])


class Boule(Session):
    """A session of la boule that is being written."""

    game = "boule"
    ruleset = "fr-boule"

    def any_bet(self) -> dict[str, Any]:
        if self.chance(4):
            return self.rng.choice([{"bet": "cheval"}, {"bet": "plein", "number": 10}, {"bet": "plein"}])
        if self.chance(40):
            return {"bet": "plein", "number": self.rng.choice(NUMBERS)}
        return {"bet": self.rng.choice(list(SIMPLE))}

    def void(self) -> None:
        self.put("boule.voided", self.clock_ms, reason="ball_left_apparatus")

    def no_result(self) -> None:
        self.put("boule.settled", self.clock_ms, number=10)

    def result(self) -> None:
        self.put("boule.settled", self.clock_ms, number=self.rng.choice(NUMBERS))

    def left_lying(self) -> None:
        number = self.rng.choice(NUMBERS)
        wager = self.place_alone({"bet": "plein", "number": number})
        self.put("boule.settled", self.clock_ms, number=number)
        self.continue_as_another(wager, wager["stake"] * 7, wager["stake"])
