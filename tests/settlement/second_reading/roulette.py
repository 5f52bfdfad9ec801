"""Art. 54, French roulette with one zero, read a second time: what is due to each wager of a stream.

Slow and simple on purpose. Each branch quotes the sentence that it obeys. What no sentence of the article says (the
clock, what is read from the chips) is quoted from the practice and says so.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.settlement.second_reading import practice
from tests.settlement.second_reading.book import Book
from tests.settlement.second_reading.chips import Chips
from tests.settlement.second_reading.practice import Due, Events, late_seqs, parameter, take_back

# "Le numéro sortant": the zero and thirty-six numbers; at art. 57-1 "un zéro et un double zéro", which is 37 here.
POCKETS = {
    "fr-roulette": {str(number): number for number in range(37)},
    "fr-american-roulette": {**{str(number): number for number in range(37)}, "00": 37},
}
ZEROS = (0, 37)

# The colours of the wheel.
RED = [1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36]

SIMPLE = {
    # "Mise sur pair ou impair (numéros pairs ou impairs)". The zero is none of them: it has its own paragraphs.
    "pair": [number for number in range(1, 37) if number % 2 == 0],
    "impair": [number for number in range(1, 37) if number % 2 == 1],
    # "Mise sur manque (numéros 1 à 18) ou passe (numéros 19 à 36)"
    "manque": list(range(1, 19)),
    "passe": list(range(19, 37)),
    # "Mise sur rouge (numéros rouges) ou noir (numéros noirs)"
    "rouge": RED,
    "noir": [number for number in range(1, 37) if number not in RED],
}

# Winnings for a stake: (times, for each).
ODDS = {
    "plein": (35, 1),  # "Mise sur un numéro plein qui rapporte 35 fois la mise."
    "cheval": (17, 1),  # "Mise à cheval sur deux numéros qui rapporte 17 fois la mise."
    "transversale": (11, 1),  # "Mise sur une transversale (trois numéros) qui rapporte 11 fois la mise."
    "carre": (8, 1),  # "Mise sur un carré (quatre numéros comprenant éventuellement le zéro) qui rapporte 8 fois"
    "sixain": (5, 1),  # "Mise sur un sixain (six numéros) qui rapporte 5"
    "douzaine": (2, 1),  # "Mise sur une douzaine ou une colonne qui rapporte 2"
    "colonne": (2, 1),
    "deux_douzaines": (1, 2),  # "Mise à cheval sur deux douzaines ou colonnes (vingt-quatre numéros) qui rapporte 1/2"
    "deux_colonnes": (1, 2),
    "pair": (1, 1),  # "Mise sur pair ou impair 1 fois la mise."
    "impair": (1, 1),
    "manque": (1, 1),  # "Mise sur manque ou passe 1 fois la mise."
    "passe": (1, 1),
    "rouge": (1, 1),  # "Mise sur rouge ou noir 1 fois la mise."
    "noir": (1, 1),
}


@dataclass
class Wager(practice.Wager):
    covers: list[int] = field(default_factory=list)
    zeros: int = 0
    """How often the zero came out while it was in play."""
    may_choose: bool = False
    """Whether the zero has come out, and no result since."""
    at_zero: Chips = field(default_factory=Chips)
    """The movements of its chips before the zero came out."""

    @property
    def half(self) -> Fraction:
        """The half after the first zero, the quarter after the second, and so on."""
        return Fraction(self.stake, 2**self.zeros)


def read(events: Events) -> dict[str, Due]:
    """Return what each wager of a stream has come to."""
    book = Book(table(events))
    book.enter(events)
    book.end_coup()
    return book.due()


def table(events: Events) -> Table:
    """Return the table that the stream opens."""
    ruleset = events[0]["data"]["ruleset"]
    pockets = POCKETS[ruleset]
    return Table(
        unit=parameter(events, "payout_unit", 1),
        release_value=parameter(events, "release_value", "halving"),
        # Art. 57-1 says nothing of the zero: a reading of the table decides.
        zero_rule=parameter(events, "zero_rule", "lose") if ruleset == "fr-american-roulette" else "choice",
        late=late_seqs(events, {event["seq"] for event in events if _ends_betting(event)}),
        pockets=pockets,
    )


def _ends_betting(event: dict[str, Any]) -> bool:
    # Account: "`chip.fell_in_wheel`, a voided throw or spin lift the call at once." So does a pocket that the wheel
    # does not have.
    return event["type"] in ("ball.settled", "spin.voided", "chip.fell_in_wheel")


class Table:
    """One table, event by event."""

    def __init__(
        self, *, unit: int, release_value: str, zero_rule: str, late: set[int], pockets: dict[str, int]
    ) -> None:
        self.unit = unit
        self.zero_rule = zero_rule
        self.pockets = pockets
        self.combinations = combinations(has_double_zero="00" in pockets)
        self.release_value = release_value
        self.late = late
        self.wagers: dict[str, Wager] = {}
        self.is_last_coup = False

    def is_result(self, event: dict[str, Any]) -> bool:
        return event["type"] == "ball.settled" and event["data"]["pocket"] in self.pockets

    def apply(self, event: dict[str, Any], book: Book) -> None:
        data = event["data"]
        is_late = event["seq"] in self.late
        match event["type"]:
            case "wager.placed":
                self.place(data, is_late=is_late)
            case "wager.withdrawn":
                self.withdraw(data, is_late=is_late)
            case "last_coup.announced":
                self.is_last_coup = True
            case "ball.settled":
                # A pocket that the wheel does not have is no result: no number came out.
                if data["pocket"] in self.pockets:
                    self.come_out(self.pockets[data["pocket"]])
            case "zero.decided":
                self.choose(data, book)

    def place(self, data: dict[str, Any], *, is_late: bool) -> None:
        if data["wager"] in self.wagers:
            return
        covers = self.covered(data)
        wager = Wager(data["bet"], data["stake"], covers=covers)
        self.wagers[data["wager"]] = wager
        # "Les joueurs ne peuvent faire usage que des combinaisons suivantes". Practice: what is late was never in play.
        if not covers or is_late:
            wager.status = "void"
            wager.stake_due = wager.stake

    def withdraw(self, data: dict[str, Any], *, is_late: bool) -> None:
        wager = self.wagers.get(data["wager"])
        # The article gives one way out after a zero, "retirer la moitié de sa mise": a choice, and no withdrawal.
        if wager is None or wager.status != "open" or is_late:
            return
        take_back(wager, data.get("amount", wager.stake))

    def come_out(self, number: int) -> None:
        for wager in self.wagers.values():
            if wager.status == "awaiting_decision":
                # Practice: "No payout, no decision by the next result: it is in prison."
                wager.status = "imprisoned"
            wager.may_choose = False
            is_zero = number in ZEROS and self.zero_rule != "lose"
            if wager.status == "open" and (not is_zero or wager.bet not in SIMPLE):
                self.decide(wager, has_won=number in wager.covers)
            elif wager.status == "imprisoned" and not is_zero:
                self.release(wager, should_win=number in wager.covers)
            elif wager.status in ("open", "imprisoned"):
                self.zero(wager)

    def decide(self, wager: Wager, *, has_won: bool) -> None:
        if has_won:
            times, for_each = ODDS[wager.bet]
            wager.status = "won"
            # "Dans les deux cas le joueur conserve sa mise."
            wager.owe(winnings=Fraction(wager.stake * times, for_each), stake=wager.stake, unit=self.unit)
        else:
            wager.status = "lost"

    def release(self, wager: Wager, *, should_win: bool) -> None:
        # "Lorsque le joueur a adopté cette solution et que le numéro sortant n'est pas le zéro, …
        if should_win:
            # … les mises placées "en prison" qui devraient gagner reprennent purement et simplement leur liberté.
            wager.status = "released"
            wager.owe(stake=self.worth(wager), unit=self.unit)
        else:
            # Les autres sont définitivement perdues."
            wager.status = "lost"

    def worth(self, wager: Wager) -> Fraction | int:
        """Return what a stake in prison is worth when it is released."""
        if wager.zeros == 1 or self.release_value == "full":
            return wager.stake
        # "La valeur initiale de sa mise est considérée comme ayant perdu 50 p. 100 de sa valeur à chaque sortie du
        # zéro", when it "sort une seconde fois, une troisième fois, etc.": whole after the first zero, then a half.
        return wager.half * 2

    def zero(self, wager: Wager) -> None:
        # "Dans le cas où le numéro sortant est le zéro, deux solutions s'offrent au joueur qui a misé sur une chance
        # simple". "Si le zéro sort une seconde fois, une troisième fois, etc., le même choix est laissé au joueur".
        wager.zeros += 1
        if self.is_last_coup:
            # "Lorsque le zéro sort au dernier coup de la séance, le joueur est tenu d'accepter le remboursement de la
            # moitié, du quart, du huitième, etc., de sa mise initiale suivant qu'il s'agit de la première, seconde,
            # troisième sortie du zéro."
            wager.status = "refunded_last_coup"
            wager.owe(stake=wager.half, unit=self.unit)
        elif self.zero_rule == "half":
            self.refund_half(wager)
        else:
            wager.status = "awaiting_decision"
            wager.may_choose = True

    def note_held(self, book: Book) -> None:
        for name, wager in self.wagers.items():
            if wager.may_choose:
                wager.at_zero = replace(book.accounts[name])

    def choose(self, data: dict[str, Any], book: Book) -> None:
        wager = self.wagers.get(data["wager"])
        # Practice: "The last decision before the next result counts, while nothing has been paid on it."
        if wager is None or not wager.may_choose or self.has_been_paid(wager, book.accounts[data["wager"]]):
            return
        if data["choice"] == "half":
            # "1° Retirer la moitié de sa mise, l'autre moitié étant versée à la caisse de la table ;"
            self.refund_half(wager)
            wager.is_chosen_half = True
        else:
            # "2° Laisser la totalité de la mise "en prison"."
            wager.status = "imprisoned"
            wager.is_chosen_half = False
            wager.owe(unit=self.unit)

    def refund_half(self, wager: Wager) -> None:
        wager.status = "refunded_half"
        wager.owe(stake=wager.half, unit=self.unit)

    def read_from_chips(self, book: Book) -> None:
        """Read the choice from the chips when the coup of a zero ends.

        Account: "Exactly S/2^k lifted or handed out, net, at the end of the coup of a zero, is the choice *half*,
        whatever went to and fro before." Practice: floored to the unit; "a half rounded up … is the choice too",
        and so is the half as it is.
        """
        for name, wager in self.wagers.items():
            is_held = wager.may_choose and wager.status in ("awaiting_decision", "imprisoned")
            chips = book.accounts[name]
            if is_held and self.is_half_taken(wager, chips):
                self.refund_half(wager)
                wager.is_chosen_half = True
                chips.handed_back += chips.laid_back - wager.at_zero.laid_back
                chips.laid_back = wager.at_zero.laid_back

    def is_half_taken(self, wager: Wager, chips: Chips) -> bool:
        halves = {wager.half // self.unit * self.unit, -(-wager.half // self.unit) * self.unit, wager.half}
        return bool((halves - {0}) & self.taken_at_zero(wager, chips))

    def taken_at_zero(self, wager: Wager, chips: Chips) -> set[int]:
        """Return what may have been taken of the stake since the zero; nothing if any other money moved."""
        if chips.money != wager.at_zero.money:
            return set()
        laid_back = chips.laid_back - wager.at_zero.laid_back
        net, lifted = chips.net - wager.at_zero.net + laid_back, chips.lifted - wager.at_zero.lifted
        handed_back = chips.handed_back - wager.at_zero.handed_back + laid_back
        return {net + lifted, net + max(0, lifted - handed_back)}

    def has_been_paid(self, wager: Wager, chips: Chips) -> bool:
        is_paid = (chips.money, chips.net) != (wager.at_zero.money, wager.at_zero.net)
        return is_paid or self.is_half_taken(wager, chips)

    def play_on(self, wager: Wager, name: str, stake: int) -> None:
        # Practice: "a wager of the same bet and numbers that plays on with the stake that was not handed back".
        self.wagers[name] = Wager(wager.bet, stake, covers=wager.covers)

    def is_alike(self, wager: Wager, data: dict[str, Any]) -> bool:
        return bool(data["bet"] == wager.bet and self.covered(data) == wager.covers)

    def covered(self, data: dict[str, Any]) -> list[int]:
        """Return the numbers that a wager covers, none where it is no combination of the article."""
        bet = data["bet"]
        if bet in SIMPLE:
            return SIMPLE[bet]
        if bet in ("douzaine", "colonne", "deux_douzaines", "deux_colonnes"):
            return covered_which(bet, sorted(data.get("which", [])))
        numbers = sorted(self.pockets[pocket] for pocket in data.get("numbers", []) if pocket in self.pockets)
        is_whole = len(numbers) == len(data.get("numbers", []))
        return numbers if is_whole and numbers in self.combinations.get(bet, []) else []


def covered_which(bet: str, which: list[int]) -> list[int]:
    dozens = {1: range(1, 13), 2: range(13, 25), 3: range(25, 37)}
    columns = {1: range(1, 37, 3), 2: range(2, 37, 3), 3: range(3, 37, 3)}
    of_the_cloth = dozens if "douzaine" in bet else columns
    # "À cheval sur deux" is on the line between two that lie side by side, as it is for two numbers.
    lawful = [[1, 2], [2, 3]] if bet.startswith("deux_") else [[1], [2], [3]]
    return [number for one in which for number in of_the_cloth[one]] if which in lawful else []


def _rows() -> list[list[int]]:
    return [[first, first + 1, first + 2] for first in range(1, 37, 3)]


def combinations(*, has_double_zero: bool) -> dict[str, list[list[int]]]:
    """Return what lies together on the cloth. With two zeros above 1, 2 and 3, the double zero (37) is beside 3."""
    rows = _rows()
    across = [[row[i], row[i + 1]] for row in rows for i in (0, 1)]
    along = [[number, number + 3] for number in range(1, 34)]
    corners = [[row[i], row[i + 1], row[i] + 3, row[i + 1] + 3] for row in rows[:-1] for i in (0, 1)]
    at_zero = {
        "cheval": [[0, 1], [0, 2], [0, 3]],
        # The zero with the two numbers that it meets at a corner.
        "transversale": [[0, 1, 2], [0, 2, 3]],
        # "Quatre numéros comprenant éventuellement le zéro".
        "carre": [[0, 1, 2, 3]],
    }
    at_two_zeros = {
        "cheval": [[0, 37], [0, 1], [0, 2], [2, 37], [3, 37]],
        "transversale": [[0, 1, 2], [2, 3, 37], [0, 2, 37]],
        "carre": [],
    }
    zeros = at_two_zeros if has_double_zero else at_zero
    return {
        "plein": [[number] for number in range(38 if has_double_zero else 37)],
        "cheval": [*zeros["cheval"], *across, *along],
        # "Transversale (trois numéros)": a row of the cloth.
        "transversale": [*zeros["transversale"], *rows],
        "carre": [*zeros["carre"], *corners],
        "sixain": [[*upper, *lower] for upper, lower in itertools.pairwise(rows)],
    }
