"""The geometry of the layouts, in units of the drawing: boxes, and the spot of a stake.

Art. 54 and art. 57-1 share the grid of 36 numbers; art. 55-8 has the craps layout of French casinos, s. 95.17 the six
numbers of the place bets alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from settlement.state import Wager

WIDTH = 1130
ROULETTE_HEIGHT, CRAPS_HEIGHT = 368, 372
"""A stake in prison lies on the lower line of its box: there is room for it, and for its ring, below."""
EMPTY_ROULETTE_HEIGHT = 344

Spot: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the layout."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Spot:
        return self.x + self.width / 2, self.y + self.height / 2


# Roulette

LEFT, TOP, CELL_WIDTH, CELL_HEIGHT = 92, 20, 61, 72
"""A cell has room for its number above a chip, and for the chips on its lines."""
BOTTOM = TOP + 3 * CELL_HEIGHT
RIGHT = LEFT + 12 * CELL_WIDTH
DOZEN_HEIGHT, CHANCE_HEIGHT = 44, 62
ZERO_WIDTH = LEFT - 24
FIGURE, ON_FIGURE, COLUMN_LABEL = 31, 47, 30
"""How far down a cell the line of its number is, where a stake on the number lies, and the line of “2 : 1”."""
WHEEL: Spot = (RIGHT + CELL_WIDTH + 107, TOP + 2 * CELL_HEIGHT + 16)

CHANCES = ("manque", "pair", "rouge", "noir", "impair", "passe")
"""As they lie from left to right."""


def number_box(pocket: str, *, has_double_zero: bool) -> Box:
    """Return the box of a number, zeros included."""
    match pocket:
        case "00":
            return Box(24, TOP, ZERO_WIDTH, CELL_HEIGHT * 1.5)
        case "0" if has_double_zero:
            return Box(24, TOP + CELL_HEIGHT * 1.5, ZERO_WIDTH, CELL_HEIGHT * 1.5)
        case "0":
            return Box(24, TOP, ZERO_WIDTH, CELL_HEIGHT * 3)
        case _:
            row, column = divmod(int(pocket) - 1, 3)
            return Box(LEFT + row * CELL_WIDTH, TOP + (2 - column) * CELL_HEIGHT, CELL_WIDTH, CELL_HEIGHT)


def dozen_box(which: int) -> Box:
    return Box(LEFT + (which - 1) * 4 * CELL_WIDTH, BOTTOM, 4 * CELL_WIDTH, DOZEN_HEIGHT)


def column_box(which: int) -> Box:
    return Box(RIGHT, TOP + (3 - which) * CELL_HEIGHT, CELL_WIDTH, CELL_HEIGHT)


def chance_box(chance: str) -> Box:
    width = 2 * CELL_WIDTH
    return Box(LEFT + CHANCES.index(chance) * width, BOTTOM + DOZEN_HEIGHT, width, CHANCE_HEIGHT)


def roulette_spot(wager: Wager, *, has_double_zero: bool) -> Spot | None:
    """Return the spot of a stake of art. 54 or 57-1, None if they have no such bet."""
    return _roulette_spot(
        wager.bet, wager.pockets, tuple(wager.which), wager.status == "imprisoned", has_double_zero=has_double_zero
    )


@lru_cache(maxsize=4096)  # a page draws the same stake at every event
def _roulette_spot(
    bet: str, pockets: tuple[str, ...], dozens: tuple[int, ...], is_imprisoned: bool, *, has_double_zero: bool
) -> Spot | None:
    if bet in CHANCES:
        box = chance_box(bet)
        # Art. 54 B: a stake in prison is put on the line of its box.
        return (box.middle[0], box.y + box.height) if is_imprisoned else (box.middle[0], box.y + 40)
    if bet in ("douzaine", "deux_douzaines") and dozens:
        boxes = [dozen_box(which) for which in dozens]
        return sum(box.middle[0] for box in boxes) / len(boxes), boxes[0].middle[1]
    if bet in ("colonne", "deux_colonnes") and dozens:
        boxes = [column_box(which) for which in dozens]
        down = sum(box.middle[1] for box in boxes) / len(boxes)
        return boxes[0].middle[0], down if len(boxes) > 1 else boxes[0].y + ON_FIGURE
    if not pockets:
        return None
    return _spot_on_numbers(bet, pockets, has_double_zero=has_double_zero)


def _spot_on_numbers(bet: str, pockets: tuple[str, ...], *, has_double_zero: bool) -> Spot:
    boxes = [number_box(pocket, has_double_zero=has_double_zero) for pocket in pockets]
    inside = [box for pocket, box in zip(pockets, boxes, strict=True) if pocket not in ("0", "00")]
    if len(pockets) == 1:
        return boxes[0].middle[0], boxes[0].y + (ON_FIGURE if inside else boxes[0].height / 2 + ON_FIGURE - FIGURE)
    if not inside:  # 0-00, on the line between them
        return boxes[0].middle[0], TOP + CELL_HEIGHT * 1.5
    across, down = _mean(inside)
    if len(inside) < len(pockets):  # with a zero: on the line before the first row, or at its foot
        if has_double_zero and pockets in (("0", "2"), ("00", "2")):  # 2 touches both: clear of where they meet
            down += CELL_HEIGHT / 4 if pockets[0] == "0" else -CELL_HEIGHT / 4
        return LEFT, BOTTOM if bet == "carre" else down
    if bet in ("transversale", "sixain"):
        return across, BOTTOM
    return across, down


def _mean(boxes: list[Box]) -> Spot:
    return sum(box.middle[0] for box in boxes) / len(boxes), sum(box.middle[1] for box in boxes) / len(boxes)


# Craps

POINTS = (4, 5, 6, 8, 9, 10)
_POINT_LEFT, _POINT_TOP, POINT_WIDTH, POINT_HEIGHT = 196, 22, 86, 118
REAR_HEIGHT, FRONT_HEIGHT = 30, 34

ZONES: Mapping[str, Box] = {
    "under_7": Box(24, 22, 88, 59),
    "over_7": Box(24, 81, 88, 59),
    "dont_come": Box(112, 22, 84, 118),
    "come": Box(112, 140, 600, 58),
    "field": Box(112, 198, 600, 62),
    "dont_win": Box(112, 260, 600, 42),
    "win": Box(24, 302, 688, 48),
    "big_6": Box(24, 198, 44, 104),
    "big_8": Box(68, 198, 44, 104),
    "seven": Box(730, 22, 250, 34),
    "hardway_6": Box(730, 56, 125, 58),
    "hardway_8": Box(855, 56, 125, 58),
    "hardway_4": Box(730, 114, 125, 58),
    "hardway_10": Box(855, 114, 125, 58),
    "craps_2": Box(730, 172, 83, 54),
    "craps_3": Box(813, 172, 84, 54),
    "craps_12": Box(897, 172, 83, 54),
    "eleven": Box(730, 226, 125, 48),
    "horn": Box(855, 226, 125, 48),
    "any_craps": Box(730, 274, 250, 34),
}
"""The boxes of art. 55-8, apart from those of the numbers."""

TRAY: Spot = (1056, 86)
PUCK_OFF: Spot = (68, 169)

_ON_THE_LINE = {"win": (250, 326), "win_odds": (290, 342), "dont_win": (420, 281), "dont_win_odds": (460, 290)}
NUMERAL = 78
"""How far down the box of a number the line of the number is: below the stakes that came to it."""


def point_box(number: int) -> Box:
    return Box(_POINT_LEFT + POINTS.index(number) * POINT_WIDTH, _POINT_TOP, POINT_WIDTH, POINT_HEIGHT)


def craps_spot(wager: Wager, number: int | None) -> Spot | None:
    """Return the spot of a stake of art. 55-8, None if it has no such bet.

    ``number`` is the number it is placed on; odds have that of the wager they belong to.
    """
    bet = wager.bet
    if bet in _ON_THE_LINE:
        return _ON_THE_LINE[bet]
    if bet == "hardway":
        box = ZONES.get(f"hardway_{number}")
        return (box.middle[0] + 40, box.middle[1]) if box is not None else None
    if number in POINTS and number is not None and bet not in ("big_6", "big_8"):
        return _on_number(point_box(number), bet)
    match bet:
        case "come" | "field":
            box = ZONES[bet]
            return box.x + box.width * 0.36, box.middle[1]
        case "big_6" | "big_8":
            return ZONES[bet].middle[0], ZONES[bet].y + 82
        case "seven" | "any_craps":
            return ZONES[bet].middle
        case "dont_come":
            return ZONES[bet].middle[0], ZONES[bet].y + 96
        case "under_7" | "over_7":
            return ZONES[bet].x + 24, ZONES[bet].y + 40
        case "eleven" | "horn":
            return ZONES[bet].middle[0] + 36, ZONES[bet].middle[1]
        case _ if bet in ZONES:
            return ZONES[bet].middle[0] + 26, ZONES[bet].middle[1]
    return None


def _on_number(box: Box, bet: str) -> Spot | None:
    """Return the spot of a bet in a number's box: bets against it at the rear, bets for it at the front."""
    across = box.middle[0]
    rear, front = box.y + REAR_HEIGHT / 2, box.y + box.height - FRONT_HEIGHT / 2
    came = rear + REAR_HEIGHT
    match bet:
        case "come":
            return across - 10, came
        case "come_odds":
            return across + 10, came
        case "dont_come":
            return across - 28, rear
        case "dont_come_odds":
            return across - 12, rear + 1
        case "wrong_bet":
            return across + 4, rear
        case "right_bet":
            return across, front
    return None


# The place bets of s. 95.17

QUEBEC_HEIGHT = 300
_QUEBEC_ROWS = {"lay_bet": (22, 64), "number": (86, 76), "buy_bet": (162, 58), "right_bet": (220, 58)}


def quebec_box(number: int, row: str) -> Box:
    """Return the box of a number in the row of a bet, or of the numbers themselves."""
    top, height = _QUEBEC_ROWS[row]
    return Box(130 + POINTS.index(number) * 138, top, 138, height)


def quebec_spot(wager: Wager, number: int | None) -> Spot | None:
    """Return the spot of a stake of s. 95.17, None if it has no such bet."""
    if number not in POINTS or number is None or wager.bet not in _QUEBEC_ROWS:
        return None
    return quebec_box(number, wager.bet).middle
