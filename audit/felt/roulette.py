"""The layouts of art. 54 and art. 57-1, and their wheels."""

from __future__ import annotations

from math import cos, pi, sin

from audit.felt import marks, places
from audit.felt.places import CELL_HEIGHT, LEFT, ROULETTE_HEIGHT, TOP, WHEEL, WIDTH, Box
from settlement.layouts import RED, Layout

RADIUS = 92

_CHANCE_WORDS = {"manque": "MANQUE  1 – 18", "passe": "PASSE  19 – 36", "pair": "PAIR", "impair": "IMPAIR"}
_DOZEN_WORDS = ("12ᵖ", "12ᵐ", "12ᵈ")


def layout(of: Layout, pocket: str | None) -> str:
    """Draw the layout and the wheel, with the pocket in which the ball rests, if it rests."""
    has_double_zero = "00" in of.zeros
    numbers = [_number(each, pocket, has_double_zero=has_double_zero) for each in sorted(of.wheel, key=int)]
    dozens = [_dozen(which) for which in (1, 2, 3)]
    columns = [_column(which) for which in (1, 2, 3)]
    chances = [_chance(each) for each in places.CHANCES]
    wheel = f'<g class="wheel" {marks.at(WHEEL)}>{_wheel(of, pocket)}</g>'
    return "".join([_cloth(), *numbers, *columns, *dozens, *chances, wheel])


def _cloth() -> str:
    return f'<rect class="cloth" width="{WIDTH}" height="{ROULETTE_HEIGHT}" rx="14"/>'


def _hit(pocket: str, rests_in: str | None) -> str:
    return ' data-hit=""' if pocket == rests_in else ""


def _number(pocket: str, rests_in: str | None, *, has_double_zero: bool) -> str:
    box = places.number_box(pocket, has_double_zero=has_double_zero)
    across, down = box.middle
    shape = f'<g class="number {_colour(pocket)}" data-pocket="{pocket}"{_hit(pocket, rests_in)}>'
    if pocket in ("0", "00"):
        word = marks.text((across + 4, down + 8), pocket, "figure")
        return f'{shape}<path class="line" d="{_zero(box)}"/>{word}</g>'
    oval = f'<ellipse cx="{marks.n(across)}" cy="{marks.n(down)}" rx="21" ry="22"/>'
    return f"{shape}{marks.rectangle(box)}{oval}{marks.text((across, down + 7), pocket, 'figure')}</g>"


def _colour(pocket: str) -> str:
    if pocket in ("0", "00"):
        return "zero"
    return "red" if pocket in RED else "black"


def _zero(box: Box) -> str:
    """Return the outline of a zero: its box, round at the far end."""
    if box.height > CELL_HEIGHT * 2:
        half = CELL_HEIGHT * 1.5
        return f"M{LEFT} {TOP}H64q-40 0 -40 {half}q0 {half} 40 {half}H{LEFT}z"
    length, side = LEFT - 44, box.height - 40
    return f"M{LEFT} {marks.n(box.y)}h-{length}q-20 0 -20 20v{marks.n(side)}q0 20 20 20h{length}z"


def _dozen(which: int) -> str:
    box = places.dozen_box(which)
    down = box.middle[1] + 5
    word = _DOZEN_WORDS[which - 1]
    return (
        marks.rectangle(box) + marks.text((box.x + 22, down), word) + marks.text((box.x + box.width - 26, down), word)
    )


def _column(which: int) -> str:
    box = places.column_box(which)
    return marks.rectangle(box) + marks.text((box.middle[0], box.middle[1] + 5), "2 : 1", "label dim")


def _chance(chance: str) -> str:
    box = places.chance_box(chance)
    across = box.middle[0]
    if chance in _CHANCE_WORDS:
        return marks.rectangle(box) + marks.text((across, box.y + 19), _CHANCE_WORDS[chance], "label small")
    half = box.height / 2 - 8
    colour = "red" if chance == "rouge" else "black"
    diamond = f"M{marks.n(across)} {marks.n(box.y + 8)}l46 {half}l-46 {half}l-46 -{half}z"
    return f'{marks.rectangle(box)}<path class="diamond {colour}" d="{diamond}"/>'


def _wheel(of: Layout, rests_in: str | None) -> str:
    pockets = [_pocket(pocket, place, len(of.wheel), rests_in) for place, pocket in enumerate(of.wheel)]
    rim = f'<circle class="rim" r="{RADIUS + 9}"/><circle class="bed" r="{RADIUS}"/>'
    said = marks.text((0, 9), rests_in or "", "outcome").replace("<text ", '<text data-role="outcome" ', 1)
    cone = f'<circle class="cone" r="{marks.n(RADIUS * 0.62)}"/><circle class="hub" r="{marks.n(RADIUS * 0.24)}"/>'
    return f"{rim}{''.join(pockets)}{cone}{said}"


def _pocket(pocket: str, place: int, count: int, rests_in: str | None) -> str:
    """Draw one pocket of the wheel, its number, and the ball that may rest in it."""

    def on(radius: float, angle: float) -> str:
        return f"{marks.n(radius * cos(angle))} {marks.n(radius * sin(angle))}"

    begin, end = (2 * pi * (place + side) / count - pi / 2 for side in (-0.5, 0.5))
    middle = (begin + end) / 2
    inner = RADIUS * 0.62
    arc = (
        f"M{on(RADIUS, begin)}A{RADIUS} {RADIUS} 0 0 1 {on(RADIUS, end)}"
        f"L{on(inner, end)}A{marks.n(inner)} {marks.n(inner)} 0 0 0 {on(inner, begin)}z"
    )
    turned = f"translate({on(RADIUS * 0.885, middle)}) rotate({marks.n(middle * 180 / pi + 90)})"
    ball_x, ball_y = on(RADIUS * 0.7, middle).split()
    hit = _hit(pocket, rests_in)
    return (
        f'<path class="pocket {_colour(pocket)}" data-pocket="{pocket}"{hit} d="{arc}"/>'
        f'<text class="pocket-figure" transform="{turned}">{pocket}</text>'
        f'<circle class="ball" data-pocket="{pocket}"{hit} cx="{ball_x}" cy="{ball_y}" r="4.6"/>'
    )
