"""The layouts, the wheels and the odds, written from the articles."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

WHEELS = {
    "fr-roulette": (
        "0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26"
    ).split(),
    "fr-american-roulette": (
        "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 00 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2"
    ).split(),
}
RED = {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}
SIMPLE = {
    "rouge": RED,
    "noir": set(range(1, 37)) - RED,
    "pair": set(range(2, 37, 2)),
    "impair": set(range(1, 37, 2)),
    "manque": set(range(1, 19)),
    "passe": set(range(19, 37)),
}
ORDER = (
    "colonne deux_colonnes passe impair noir rouge pair manque douzaine deux_douzaines "
    "transversale sixain carre cheval plein"
).split()
"""In this order the bets of one player are paid (art. 57-1 al. 9)."""

ONE_ROLL = {
    "field": {2, 3, 4, 9, 10, 11, 12},
    "under_7": {2, 3, 4, 5, 6},
    "over_7": {8, 9, 10, 11, 12},
    "seven": {7},
    "eleven": {11},
    "any_craps": {2, 3, 12},
    "craps_2": {2},
    "craps_3": {3},
    "craps_12": {12},
    "horn": {2, 3, 11, 12},
}
PRICES = {"seven": 4, "eleven": 15, "any_craps": 7, "craps_2": 30, "craps_3": 15, "craps_12": 30, "horn": 4}
ON_NUMBER = {  # odds on 4 and 10, on 5 and 9, on 6 and 8
    "right_bet": ((9, 5), (7, 5), (7, 6)),
    "wrong_bet": ((5, 11), (5, 8), (4, 5)),
    "win_odds": ((2, 1), (3, 2), (6, 5)),
    "buy_bet": ((2, 1), (3, 2), (6, 5)),
    "lay_bet": ((1, 2), (2, 3), (5, 6)),
}
CONTRACTS = ("win", "dont_win", "come")


@dataclass(frozen=True)
class Spot:
    """A place on a roulette layout: the bet, the fields that say where, the pockets that win, the odds to one half."""

    bet: str
    fields: tuple[tuple[str, Any], ...]
    pockets: frozenset[str]
    halves: int


@dataclass(slots=True)
class Wager:
    """A stake that lies; ``spot`` at roulette, ``number`` at craps."""

    name: str
    bet: str
    stake: int
    player: str
    spot: Spot | None = None
    number: int | None = None
    zeros: int = 0
    throws: int = 0
    void: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def spot(bet: str, numbers: list[int | str]) -> Spot:
    """Return a multiple chance that names its numbers."""
    price = {"plein": 35, "cheval": 17, "transversale": 11, "carre": 8, "sixain": 5}[bet]
    texts = [str(number) for number in numbers]
    return Spot(bet, (("numbers", texts),), frozenset(texts), 2 * price)


def plein(pocket: str) -> Spot:
    """Return the single number of ``pocket``."""
    return spot("plein", [pocket])


def drawn_spot(rng: Random) -> Spot:
    """Return a place that both layouts have, the simple chances more often than the others."""
    row = 3 * rng.randrange(11) + 1
    match rng.choices(range(8), (30, 24, 14, 8, 8, 6, 8, 2))[0]:
        case 0:
            bet = rng.choice(list(SIMPLE))
            return Spot(bet, (), frozenset(map(str, SIMPLE[bet])), 2)
        case 1:
            return plein(str(rng.randrange(37)))
        case 2:
            first = row + rng.randrange(3)
            step = 3 if rng.random() < 0.5 or first == row + 2 else 1
            return spot("cheval", [first, first + step])
        case 3:
            return spot("transversale", [row, row + 1, row + 2])
        case 4:
            first = row + rng.randrange(2)
            return spot("carre", [first, first + 1, first + 3, first + 4])
        case 5:
            return spot("sixain", list(range(row, row + 6)))
        case 6:
            return dozens(rng.choice(("douzaine", "colonne")), [rng.randint(1, 3)], 4)
        case _:
            first = rng.randint(1, 2)
            return dozens(rng.choice(("deux_douzaines", "deux_colonnes")), [first, first + 1], 1)


def dozens(bet: str, which: list[int], halves: int) -> Spot:
    """Return dozens or columns."""
    at = (lambda n: (n - 1) // 12 + 1) if "douzaine" in bet else (lambda n: (n - 1) % 3 + 1)
    return Spot(bet, (("which", which),), frozenset(str(n) for n in range(1, 37) if at(n) in which), halves)


def sector(wheel: list[str], centre: int, width: int = 9) -> list[str]:
    """Return ``width`` neighbouring pockets of a wheel."""
    return [wheel[(centre + step - width // 2) % len(wheel)] for step in range(width)]


def decided(wager: Wager, faces: tuple[int, int], point: int | None, *, off: bool = False) -> str:
    """Return ``won``, ``lost``, ``stays`` or ``moves``; ``off``: no right or buy bet works on this throw."""
    total, bet = sum(faces), wager.bet
    if bet in ONE_ROLL:
        return "won" if total in ONE_ROLL[bet] else "lost"
    if off and bet in ("right_bet", "buy_bet"):
        return "stays"
    if bet == "hardway":
        if total == wager.number:
            return "won" if faces[0] == faces[1] else "lost"
        return "lost" if total == 7 else "stays"
    number = point if bet in ("win", "dont_win") else wager.number
    against = bet in ("dont_win", "wrong_bet", "lay_bet")
    if number is None:  # the first throw of a line or come wager
        if total in (7, 11):
            return "lost" if against else "won"
        if total in (2, 3, 12):
            return "stays" if against and total == 12 else "won" if against else "lost"
        return "moves"
    if total in (7, number):
        return "won" if (total == 7) == against else "lost"
    return "stays"


def winnings(wager: Wager, total: int = 0) -> int:
    """Return what a won wager is paid beside its stake, floored to the minor unit."""
    if wager.spot:
        return wager.stake * wager.spot.halves // 2
    if wager.bet == "field":
        return wager.stake * (2 if total in (2, 12) else 1)
    if wager.bet == "hardway":
        return wager.stake * (7 if wager.number in (4, 10) else 9)
    if wager.bet in ON_NUMBER:
        up, down = ON_NUMBER[wager.bet][{4: 0, 10: 0, 5: 1, 9: 1}.get(wager.number or 0, 2)]
        return wager.stake * up // down
    return wager.stake * PRICES.get(wager.bet, 1)
