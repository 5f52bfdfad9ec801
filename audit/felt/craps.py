"""The layout of art. 55-8, and that of the place bets of s. 95.17."""

from __future__ import annotations

from audit.felt import marks, places
from audit.felt.places import CRAPS_HEIGHT, POINTS, PUCK_OFF, QUEBEC_HEIGHT, WIDTH, ZONES, Box

Faces = tuple[int, int] | None

_WORDS = {4: "4", 5: "5", 6: "SIX", 8: "8", 9: "NEUF", 10: "10"}
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
    drawn.append(marks.rectangle(Box(24, 140, 88, 58)))
    drawn += [_point(number) for number in POINTS]
    drawn += [
        marks.puck((box.x + box.width - 17, box.y + 15), str(number), shown=point == number)
        for number, box in ((number, places.point_box(number)) for number in POINTS)
    ]
    drawn.append(marks.puck(PUCK_OFF, "off", shown=point is None, big=True))
    drawn.append(marks.tray(faces, dice_title))
    return "".join(drawn)


def _zone(name: str, box: Box) -> str:
    """Draw a box of art. 55-8 with what is printed in it."""
    across, down = box.middle
    line = marks.rectangle(box)
    if name in _LONG:
        word, what_if = _LONG[name]
        end = marks.text((box.x + box.width - 18, down + 5), what_if, "label dim", anchor="end") if what_if else ""
        return line + marks.text((box.x + 20, down + 7), word, "label big", anchor="start") + end
    if name == "dont_win":
        end = box.x + box.width - 18
        said = marks.text((end, down + 5), "12 coup nul", "label dim", anchor="end")
        word = marks.text((box.x + 20, down + 7), "DON’T WIN", "label big", anchor="start")
        return line + word + said + marks.little_dice((end - 108, down), (6, 6))
    if name == "dont_come":
        return line + marks.text((across, down - 4), "DON’T") + marks.text((across, down + 16), "COME")
    if name in _SIDE:
        word, odds = _SIDE[name]
        what_if = marks.text((box.x + box.width - 14, down + 5), odds, "label dim", anchor="end")
        return line + marks.text((box.x + 16, down + 5), word, anchor="start") + what_if
    if name in _DICE:
        dice, odds = _DICE[name]
        return (
            line
            + marks.little_dice((across, down - 8), dice)
            + marks.text((across, down + 18), odds, "label dim small")
        )
    if name in ("big_6", "big_8"):
        big = marks.text((across, box.y + 26), "BIG", "label dim small")
        return line + big + marks.text((across, box.y + 58), name[-1], "label huge")
    word, odds = {
        "under_7": ("UNDER 7", "1 : 1"),
        "over_7": ("OVER 7", "1 : 1"),
        "eleven": ("ONZE", "15 : 1"),
        "horn": ("HORN", "4 : 1"),
    }[name]
    return line + marks.text((across, down - 3), word) + marks.text((across, down + 16), odds, "label dim small")


def _point(number: int) -> str:
    box = places.point_box(number)
    rear, front = box.y + places.REAR_HEIGHT, box.y + box.height - places.FRONT_HEIGHT
    lines = "".join(
        f'<path class="hair" d="M{marks.n(box.x)} {marks.n(down)}h{marks.n(box.width)}"/>' for down in (rear, front)
    )
    word = marks.text((box.middle[0], (rear + front) / 2 + 9), _WORDS[number], "label huge gold")
    return marks.rectangle(box) + lines + word


def quebec(point: int | None, faces: Faces, *, dice_title: str) -> str:
    """Draw the six numbers of s. 95.17 with a row for each of its bets."""
    drawn = [f'<rect class="cloth" width="{WIDTH}" height="{QUEBEC_HEIGHT}" rx="14"/>']
    for row, word in (("lay_bet", "LAY"), ("buy_bet", "BUY"), ("right_bet", "RIGHT")):
        down = places.quebec_box(4, row).middle[1]
        drawn.append(marks.text((112, down + 5), word, "label", anchor="end"))
        drawn += [marks.rectangle(places.quebec_box(number, row)) for number in POINTS]
    for number in POINTS:
        box = places.quebec_box(number, "number")
        drawn.append(marks.rectangle(box))
        drawn.append(marks.text((box.middle[0], box.middle[1] + 9), number, "label huge gold"))
        drawn.append(marks.puck((box.x + box.width - 20, box.y + 19), str(number), shown=point == number))
    drawn.append(marks.puck((72, 124), "off", shown=point is None, big=True))
    drawn.append(marks.tray(faces, dice_title))
    return "".join(drawn)
