"""The layout of art. 55-8, and that of the place bets of s. 95.17."""

from __future__ import annotations

import re

from audit.charts.svg import n
from audit.felt import geometry, shapes
from audit.felt.frames import Frame, Stake
from audit.felt.geometry import CRAPS_HEIGHT, POINTS, PUCK_OFF, QUEBEC_HEIGHT, WIDTH, ZONES, Box, Spot
from audit.felt.layouts import Felt
from settlement.catalogue.rule import Wording

Faces = tuple[int, int] | None

_NUMERALS = {4: "4", 5: "5", 6: "SIX", 8: "8", 9: "NEUF", 10: "10"}
_LONG = {"come": ("COME", ""), "field": ("FIELD", "2 · 3 · 4 · 9 · 10 · 11 · 12"), "win": ("WIN", "")}
_SIDE = {"seven": ("SEPT", "4 : 1"), "any_craps": ("ANY CRAPS", "7 : 1")}
_DICE: dict[str, tuple[tuple[int, ...], str]] = {
    "hardway_4": ((2, 2), "7 : 1"),
    "hardway_6": ((3, 3), "9 : 1"),
    "hardway_8": ((4, 4), "9 : 1"),
    "hardway_10": ((5, 5), "7 : 1"),
    "craps_2": ((1, 1), "30 : 1"),
    "craps_3": ((1, 2), "15 : 1"),
    "craps_12": ((6, 6), "30 : 1"),
}


def layout(point: int | None, faces: Faces, *, dice_title: str) -> str:
    """Draw the layout of art. 55-8 with the cabochon on the point and the dice of the last throw."""
    drawn = [f'<rect class="cloth" width="{WIDTH}" height="{CRAPS_HEIGHT}" rx="14"/>']
    drawn += [_zone(name, box) for name, box in ZONES.items()]
    drawn.append(shapes.rectangle(Box(24, 140, 88, 58)))
    drawn += [_point(number) for number in POINTS]
    drawn += [
        shapes.puck((box.x + box.width - 14, box.y + 15), str(number), shown=point == number)
        for number, box in ((number, geometry.point_box(number)) for number in POINTS)
    ]
    drawn.append(shapes.puck(PUCK_OFF, "off", shown=point is None, big=True))
    drawn.append(shapes.tray(faces, dice_title))
    return "".join(drawn)


def _zone(name: str, box: Box) -> str:
    """Draw a box of art. 55-8 with what is printed in it."""
    across, down = box.middle
    line = shapes.rectangle(box)
    if name in _LONG:
        label, numbers = _LONG[name]
        note = shapes.text((box.x + box.width - 18, down + 5), numbers, "label dim", anchor="end") if numbers else ""
        return line + shapes.text((box.x + 20, down + 7), label, "label big", anchor="start") + note
    if name == "dont_win":
        end = box.x + box.width - 18
        note = shapes.text((end, down + 5), "12 coup nul", "label dim", anchor="end")
        title = shapes.text((box.x + 20, down + 7), "DON’T WIN", "label big", anchor="start")
        return line + title + note + shapes.little_dice((end - 108, down), (6, 6))
    if name == "dont_come":
        return line + shapes.text((across, down - 26), "DON’T") + shapes.text((across, down - 6), "COME")
    if name in _SIDE:
        label, odds = _SIDE[name]
        note = shapes.text((box.x + box.width - 14, down + 5), odds, "label dim", anchor="end")
        return line + shapes.text((box.x + 16, down + 5), label, anchor="start") + note
    if name in _DICE:
        dice, odds = _DICE[name]
        across -= 0 if name.startswith("hardway") else 16  # its box is narrow, and a stake lies at the right
        return (
            line
            + shapes.little_dice((across, down - 8), dice)
            + shapes.text((across, down + 18), odds, "label dim small")
        )
    if name in ("big_6", "big_8"):
        big = shapes.text((across, box.y + 26), "BIG", "label dim small")
        return line + big + shapes.text((across, box.y + 58), name[-1], "label huge")
    label, odds = {
        "under_7": ("UNDER 7", "1 : 1"),
        "over_7": ("OVER 7", "1 : 1"),
        "eleven": ("ONZE", "15 : 1"),
        "horn": ("HORN", "4 : 1"),
    }[name]
    if name in ("under_7", "over_7"):
        title = shapes.text((across, box.y + 18), label)
        return line + title + shapes.text((box.x + 64, box.y + 44), odds, "label dim small")
    left = across - 22
    return line + shapes.text((left, down - 3), label) + shapes.text((left, down + 16), odds, "label dim small")


def _point(number: int) -> str:
    box = geometry.point_box(number)
    rear, front = box.y + geometry.REAR_HEIGHT, box.y + box.height - geometry.FRONT_HEIGHT
    lines = "".join(f'<path class="hair" d="M{n(box.x)} {n(down)}h{n(box.width)}"/>' for down in (rear, front))
    label = shapes.text((box.middle[0], box.y + geometry.NUMERAL), _NUMERALS[number], "label huge gold")
    return shapes.rectangle(box) + lines + label


def quebec(point: int | None, faces: Faces, *, dice_title: str) -> str:
    """Draw the six numbers of s. 95.17 with a row for each of its bets."""
    drawn = [f'<rect class="cloth" width="{WIDTH}" height="{QUEBEC_HEIGHT}" rx="14"/>']
    for row, label in (("lay_bet", "LAY"), ("buy_bet", "BUY"), ("right_bet", "RIGHT")):
        down = geometry.quebec_box(4, row).middle[1]
        drawn.append(shapes.text((112, down + 5), label, "label", anchor="end"))
        drawn += [shapes.rectangle(geometry.quebec_box(number, row)) for number in POINTS]
    for number in POINTS:
        box = geometry.quebec_box(number, "number")
        drawn.append(shapes.rectangle(box))
        drawn.append(shapes.text((box.middle[0], box.middle[1] + 9), number, "label huge gold"))
        drawn.append(shapes.puck((box.x + box.width - 20, box.y + 19), str(number), shown=point == number))
    drawn.append(shapes.puck((72, 124), "off", shown=point is None, big=True))
    drawn.append(shapes.tray(faces, dice_title))
    return "".join(drawn)


_DICE_TITLE = Wording("Dice of the last throw", "Dés du dernier lancer")


def _french(frame: Frame, language: str) -> str:
    return layout(frame.point, _faces(frame), dice_title=_dice_title(language))


def _quebec(frame: Frame, language: str) -> str:
    return quebec(frame.point, _faces(frame), dice_title=_dice_title(language))


def _faces(frame: Frame) -> Faces:
    """Return the faces of a result "3-4"; None before the first throw."""
    faces = re.fullmatch(r"(-?\d+)-(-?\d+)", frame.result or "")
    return (int(faces[1]), int(faces[2])) if faces else None


def _dice_title(language: str) -> str:
    return _DICE_TITLE.in_language("fr" if language == "fr" else "en")


def _french_spot(stake: Stake) -> Spot | None:
    return geometry.craps_spot(stake.wager, stake.number)


def _quebec_spot(stake: Stake) -> Spot | None:
    return geometry.quebec_spot(stake.wager, stake.number)


FRENCH = Felt(title=Wording("Craps layout", "Tapis du craps"), height=CRAPS_HEIGHT, layout=_french, spot=_french_spot)
QUEBEC = Felt(
    title=Wording("Québec place bets", "Paris sur les numéros (Québec)"),
    height=QUEBEC_HEIGHT,
    layout=_quebec,
    spot=_quebec_spot,
)
