"""Art. 55-8, French craps, read a second time: what is due to each wager of a stream.

Slow and simple on purpose. Each branch quotes the sentence that it obeys; art. 55-7 is quoted where a throw or a stake
is not valid, and practice where no sentence says it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.settlement.second_reading import practice
from tests.settlement.second_reading.book import Book
from tests.settlement.second_reading.practice import Due, Events, late_seqs, parameter, take_back

POINTS = (4, 5, 6, 8, 9, 10)

LINES = ("win", "dont_win", "come", "dont_come")

BASE_OF = {"win_odds": "win", "dont_win_odds": "dont_win", "come_odds": "come", "dont_come_odds": "dont_come"}

# "Ils doivent rouler et non glisser et, pour être valables, être immobilisés à plat sur le tapis. En cas de dés cassés,
# superposés, à cheval ou arrêtés sur un jeton ou tombés de la table, et chaque fois que le lancer n'a pas été régulier,
# le stickman annonce "Coup nul"." (art. 55-7). Rubbing or holding the dice is of the player's hand, not of the throw.
#
# The text is open where the stickman does not announce it and counts such a throw. "Le stickman annonce": no throw is
# void until he has. "Pour être valables": dice that do not lie flat show nothing, whatever he says. ``read`` takes
# either.
NOT_A_VALID_THROW = {
    *("wrong_direction", "short_of_far_end", "no_wall_contact", "slid", "broken", "stacked", "straddling", "on_chip"),
    "off_table",
}

# What one throw decides, and wins: the totals with which it wins.
ONE_THROW = {
    "field": (
        2,
        3,
        4,
        9,
        10,
        11,
        12,
    ),  # "le total des dés forme 2, 3, 4, 9, 10, 11 ou 12 et perd pour tout autre total"
    "under_7": (2, 3, 4, 5, 6),  # "inférieur à 7 et perd si ce total est égal ou supérieur à 7"
    "over_7": (8, 9, 10, 11, 12),  # "supérieur à 7 et perd si ce total est égal ou inférieur à 7"
    "seven": (7,),  # "gagne si le 7 sort et perd avec tout autre total"
    "eleven": (11,),  # "gagne si le 11 sort et perd avec tout autre total"
    "any_craps": (2, 3, 12),  # "gagne si le 2, le 3 ou le 12 sort et perd avec tout autre total"
    "craps_2": (2,),  # "gagne si le 2 sort et perd avec tout autre total"
    "craps_3": (3,),  # "gagne si le 3 sort et perd avec tout autre total"
    "craps_12": (12,),  # "gagne si le 12 sort et perd avec tout autre total"
    "horn": (2, 3, 11, 12),  # "gagne si 2, 3, 12 ou 11 sort et perd avec tout autre total"
}


@dataclass
class Wager(practice.Wager):
    player: str | None = None
    number: int | None = None
    """The point of a line bet or of its odds, once known; the number of a hard way or a place bet."""
    base: str | None = None
    throws: int = 0


def read(events: Events, *, stickman_decides: bool = True) -> dict[str, Due]:
    """Return what each wager of a stream has come to.

    ``stickman_decides``: an irregular throw that he counted plays; else it decides nothing.
    """
    book = Book(table(events, stickman_decides=stickman_decides))
    book.enter(events)
    book.end_coup()
    return book.due()


def table(events: Events, *, stickman_decides: bool = True) -> Table:
    """Return the table that the stream opens."""
    throws = [event for event in events if event["type"] == "dice.thrown"]
    valid = {event["seq"] for event in throws if is_valid(event["data"], stickman_decides=stickman_decides)}
    # "A voided throw or spin lifts the call": so does a throw that shows no faces of dice, and decides nothing.
    lift_the_call = {event["seq"] for event in events if event["type"] in ("dice.thrown", "throw.voided")}
    return Table(unit=parameter(events, "payout_unit", 1), late=late_seqs(events, lift_the_call), valid=valid)


def is_valid(data: dict[str, Any], *, stickman_decides: bool) -> bool:
    """Return whether a counted throw decides: two dice with six faces each, thrown regularly."""
    is_irregular = bool(NOT_A_VALID_THROW & set(data.get("flags", [])))
    return all(1 <= face <= 6 for face in data["faces"]) and (stickman_decides or not is_irregular)


class Table:
    """One table, event by event."""

    def __init__(self, *, unit: int, late: set[int], valid: set[int]) -> None:
        self.unit = unit
        self.late = late
        self.valid = valid
        self.wagers: dict[str, Wager] = {}
        self.point: int | None = None
        self.players: dict[str, str] = {}
        """Who sits in each seat."""

    def is_result(self, event: dict[str, Any]) -> bool:
        return event["seq"] in self.valid

    def read_from_chips(self, book: Book) -> None:
        """Nothing is read from the chips at craps."""

    def note_held(self, book: Book) -> None:
        """See ``roulette``."""

    def apply(self, event: dict[str, Any], book: Book) -> None:
        data = event["data"]
        is_late = event["seq"] in self.late
        match event["type"]:
            case "wager.placed":
                self.place(data, is_late=is_late)
            case "wager.withdrawn":
                self.withdraw(data, is_late=is_late)
            case "wager.moved":
                self.move(data, is_late=is_late)
            case "dice.thrown":
                if event["seq"] in self.valid:
                    self.throw(*data["faces"])
            case "player.seated" if "seat" in data:
                self.players[data["seat"]] = data["player"]
            case "player.left":
                self.players = {seat: player for seat, player in self.players.items() if player != data["player"]}

    def place(self, data: dict[str, Any], *, is_late: bool) -> None:
        if data["wager"] in self.wagers:
            return
        wager = Wager(data["bet"], data["stake"], player=self.player_of(data), number=self.number_of(data))
        wager.base = data.get("base")
        # "Aucune mise ne peut être déposée après le "Rien ne va plus"." (art. 55-7)
        if is_late or not self.is_permitted(data):
            wager.status = "void"
            wager.stake_due = wager.stake
        self.wagers[data["wager"]] = wager

    def player_of(self, data: dict[str, Any]) -> str | None:
        # Account: "A stake belongs to whoever sat in its seat when it was laid; that is resolved once".
        return data.get("player", self.players.get(data.get("seat", "")))

    def number_of(self, data: dict[str, Any]) -> int | None:
        if data["bet"] in BASE_OF:
            base = self.wagers.get(data.get("base", ""))
            # Odds with another number than the base's are void, and are still known by the number that was said.
            return data.get("number", base.number if base else None)
        return data.get("number") if data["bet"] not in LINES else None

    def is_permitted(self, data: dict[str, Any]) -> bool:
        # "Les joueurs ne peuvent faire usage que des quatre catégories de chances suivantes"
        match data["bet"]:
            case "win" | "dont_win":
                return self.point is None  # "qui se joue au premier jet"
            case "come" | "dont_come":
                return self.point is not None  # "à n'importe quel moment de la série après le premier jet"
            case "big_6" | "big_8":
                return True  # "qui se joue à n'importe quel moment de la partie"
            case "hardway":
                return data.get("number") in (4, 6, 8, 10)  # "qui se jouent sur les totaux 4, 6, 8 ou 10"
            case "win_odds" | "dont_win_odds" | "come_odds" | "dont_come_odds":
                return self.has_base(data)
            case "right_bet" | "wrong_bet":
                # "qui peuvent se jouer à tout moment sur les numéros 4, 5, 6, 8, 9 ou 10"
                return data.get("number") in POINTS
            case bet:
                return bet in ONE_THROW  # "qui se joue à n'importe quel moment de la partie"

    def has_base(self, data: dict[str, Any]) -> bool:
        # "Les chances associées, qui ne peuvent être jouées que si la chance simple correspondante, dont le point doit
        # être connu, a déjà été engagée"
        base = self.wagers.get(data.get("base", ""))
        if base is None or base.bet != BASE_OF[data["bet"]] or base.status != "open" or base.number is None:
            return False
        # Practice: odds on another player's base, or with another number than the base's, are void.
        return base.player == self.player_of(data) and data.get("number", base.number) == base.number

    def withdraw(self, data: dict[str, Any], *, is_late: bool) -> None:
        wager = self.wagers.get(data["wager"])
        if wager is None or wager.status != "open" or is_late:
            return
        if wager.bet in LINES:
            # "Les mises placées sur win, don't win, come ou don't come ne peuvent être retirées et doivent jouer
            # jusqu'à ce qu'elles aient gagné ou perdu ;"
            return
        # "La mise peut rester ou être retirée sur les coups non décisifs" (A 6°, 7°), "pouvant être retirées après les
        # coups non décisifs" (B 1°), "peuvent toujours être retirées après un jet non décisif" (C), "peuvent être
        # retirés en cas de coup non décisif" (D): a throw that decided it would have closed it.
        take_back(wager, data.get("amount", wager.stake))

    def move(self, data: dict[str, Any], *, is_late: bool) -> None:
        # A come stake is moved by what the dice say. A place bet may be taken down "en cas de coup non décisif" and put
        # on another number; practice: "wager.moved of a place bet after an indecisive throw is the move".
        wager = self.wagers.get(data["wager"])
        if wager is None or wager.status != "open" or wager.bet not in ("right_bet", "wrong_bet") or is_late:
            return
        if wager.throws > 0 and data["number"] in POINTS:
            wager.number = data["number"]

    def throw(self, one: int, other: int) -> None:
        total = one + other
        for wager in self.wagers.values():
            if wager.status == "open":
                wager.throws += 1
                self.play(wager, total, is_double=one == other)
        # "Pour tout autre total, le résultat est suspendu et le nombre sorti devient le point." It stands until "le
        # point se répète" or "le 7 sort".
        if self.point is None and total in POINTS:
            self.point = total
        elif total in (self.point, 7):
            self.point = None

    def play(self, wager: Wager, total: int, *, is_double: bool) -> None:
        match wager.bet:
            case "win" | "come":
                self.play_win(wager, total)
            case "dont_win" | "dont_come":
                self.play_dont_win(wager, total)
            case "big_6":
                # "Cette chance gagne avec un 6 formé de n'importe quelle façon et perd si le 7 sort."
                self.decide(wager, has_won=total == 6, has_lost=total == 7)
            case "big_8":
                # "Cette chance gagne avec un 8 formé de n'importe quelle façon ou perd si le 7 sort."
                self.decide(wager, has_won=total == 8, has_lost=total == 7)
            case "hardway":
                # "Ces chances gagnent si le double choisi sort et perdent avec le 7 ou si le total du nombre est formé
                # autrement que par les doubles."
                is_number = total == wager.number
                self.decide(
                    wager, has_won=is_number and is_double, has_lost=total == 7 or (is_number and not is_double)
                )
            case "win_odds" | "come_odds" | "right_bet":
                # "Cette chance gagne avec le point, perd avec le 7 et fait coup nul avec tout autre total." Right bet:
                # "gagne si le point correspondant sort avant un 7, perd avec le 7 ou fait coup nul".
                self.decide(wager, has_won=total == wager.number, has_lost=total == 7)
            case "dont_win_odds" | "dont_come_odds" | "wrong_bet":
                # "Cette chance gagne avec le 7, perd avec le point et fait coup nul avec tout autre total." Wrong bet:
                # "gagne si le 7 sort avant le point correspondant, perd si c'est ce point qui sort ou fait coup nul".
                self.decide(wager, has_won=total == 7, has_lost=total == wager.number)
            case bet:
                wins = total in ONE_THROW[bet]
                self.decide(wager, has_won=wins, has_lost=not wins, total=total)

    def play_win(self, wager: Wager, total: int) -> None:
        if wager.number is None:
            # "Cette chance gagne avec 7 ou 11, perd avec 2, 3 ou 12. Pour tout autre total, le résultat est suspendu et
            # le nombre sorti devient le point." Come: "au cours du jet qui suit immédiatement le dépôt"; "pour tout
            # autre total, la mise est placée sur la case portant le numéro sorti".
            self.decide(wager, has_won=total in (7, 11), has_lost=total in (2, 3, 12))
            if total in POINTS:
                wager.number = total
        else:
            # "La mise sur win est ensuite gagnante si le point se répète, perdante si le 7 sort ou en attente pour
            # tout autre chiffre." Come: "elle gagne si le point où elle est déposée sort, perd avec le 7 ou reste en
            # attente avec tout autre numéro".
            self.decide(wager, has_won=total == wager.number, has_lost=total == 7)

    def play_dont_win(self, wager: Wager, total: int) -> None:
        if wager.number is None:
            # "Cette chance gagne avec 2 ou 3, perd avec 7 ou 11 et fait coup nul avec 12." A coup nul decides nothing,
            # and the stake must "jouer jusqu'à ce qu'elles aient gagné ou perdu": it plays the next throw.
            self.decide(wager, has_won=total in (2, 3), has_lost=total in (7, 11))
            if total in POINTS:
                wager.number = total
        else:
            # "La mise sur don't win est ensuite gagnante si le 7 sort et perdante si le point se répète ;" Don't come:
            # "gagne si le 7 sort ou perd si le point sur lequel elle est placée sort".
            self.decide(wager, has_won=total == 7, has_lost=total == wager.number)

    def decide(self, wager: Wager, *, has_won: bool, has_lost: bool, total: int | None = None) -> None:
        if has_won:
            times, for_each = odds(wager, total)
            wager.status = "won"
            wager.owe(winnings=Fraction(wager.stake * times, for_each), stake=wager.stake, unit=self.unit)
        elif has_lost:
            wager.status = "lost"

    def play_on(self, wager: Wager, name: str, stake: int) -> None:
        # Practice: "a wager of the same bet and numbers that plays on with the stake that was not handed back".
        number = None if wager.bet in LINES else wager.number
        on = Wager(wager.bet, stake, player=wager.player, number=number, base=wager.base)
        # It is laid anew: a come that has won by the point has no series to be laid in.
        if not self.is_permitted({"bet": on.bet, "number": number, "base": on.base or "", "player": on.player}):
            on.status, on.stake_due = "void", stake
        self.wagers[name] = on

    def is_alike(self, wager: Wager, data: dict[str, Any]) -> bool:
        return (data["bet"], data.get("number", wager.number)) == (wager.bet, wager.number)


def odds(wager: Wager, total: int | None) -> tuple[int, int]:
    """Return what a winning wager is paid: so many times, for each so many."""
    match wager.bet:
        case "field":
            # "Elle se paie double si le 2 ou le 12 sort et à égalité pour les autres points ;"
            return (2, 1) if total in (2, 12) else (1, 1)
        case "hardway":
            # "Le double 2 et le double 5 sont payés 7 fois la mise, le double 3 et le double 4, 9 fois la mise ;"
            return (7, 1) if wager.number in (4, 10) else (9, 1)
        case "seven" | "horn":
            return (4, 1)  # "Le jeu du 7 qui se paie 4 fois la mise." "Le horn qui se paie 4 fois la mise."
        case "eleven" | "craps_3":
            return (15, 1)  # "Le jeu du 11 qui se paie 15 fois la mise." "Le craps 3 qui se paie 15 fois la mise."
        case "any_craps":
            return (7, 1)  # "L'any craps qui se paie 7 fois la mise."
        case "craps_2" | "craps_12":
            return (30, 1)  # "Le craps 2 qui se paie 30 fois la mise." "Le craps 12 qui se paie 30 fois la mise."
        case "win_odds" | "come_odds" | "dont_win_odds" | "dont_come_odds" | "right_bet" | "wrong_bet":
            return BY_NUMBER[wager.bet][wager.number or 0]
        case _:
            return (1, 1)  # "Les chances simples qui, toutes, se paient à égalité"


_WITH_THE_POINT = {4: (2, 1), 10: (2, 1), 5: (3, 2), 9: (3, 2), 6: (6, 5), 8: (6, 5)}
_AGAINST_THE_POINT = {4: (1, 2), 10: (1, 2), 5: (2, 3), 9: (2, 3), 6: (5, 6), 8: (5, 6)}

BY_NUMBER = {
    # "La mise est payée 2 pour 1 si le point est 4 ou 10, 3 pour 2 s'il est 5 ou 9 et 6 pour 5 s'il est 6 ou 8 ;"
    "win_odds": _WITH_THE_POINT,
    "come_odds": _WITH_THE_POINT,  # "est payée comme la chance associée du win"
    # "La mise est payée 1 pour 2 si le point est 4 ou 10, 2 pour 3 s'il est 5 ou 9 et 5 pour 6 s'il est 6 ou 8."
    "dont_win_odds": _AGAINST_THE_POINT,
    "dont_come_odds": _AGAINST_THE_POINT,  # "est payée comme la chance associée du don't win"
    # "La mise est payée 7 pour 6 si le point est 6 ou 8, 7 pour 5 s'il est 5 ou 9 et 9 pour 5 s'il est 4 ou 10."
    "right_bet": {6: (7, 6), 8: (7, 6), 5: (7, 5), 9: (7, 5), 4: (9, 5), 10: (9, 5)},
    # "La mise est payée 4 pour 5 si le point est 6 ou 8,5 pour 8 s'il est 5 ou 9 et 5 pour 11 s'il est 4 ou 10."
    "wrong_bet": {6: (4, 5), 8: (4, 5), 5: (5, 8), 9: (5, 8), 4: (5, 11), 10: (5, 11)},
}
