"""The layout of art. 46, and the apparatus of la boule."""

from __future__ import annotations

from math import cos, pi, sin

from audit.charts.svg import n
from audit.felt import shapes
from audit.felt.frames import Frame, Stake
from audit.felt.geometry import WIDTH, Box, Spot
from audit.felt.layouts import Felt
from settlement.catalogue.rule import Wording
from settlement.fr.art_46_boule import LAYOUT, NUMBERS

HEIGHT = 320

LEFT, TOP, CELL, ROW = 24, 22, 92, 92
FIGURE, ON_FIGURE = 38, 60
"""How far down its box the line of a number is, and where a stake on the number lies."""
_COLUMNS = (LEFT, LEFT + 2 * CELL + 40, LEFT + 5 * CELL + 80)
"""Where the three parts begin: manque and its side, the numbers, passe and its side."""

NUMBER_BOXES = {
    number: Box(_COLUMNS[1] + (number - 1) % 3 * CELL, TOP + (number - 1) // 3 * ROW, CELL, ROW) for number in NUMBERS
}
CHANCE_BOXES = {
    bet: Box(_COLUMNS[side], TOP + row * ROW, 2 * CELL, ROW)
    for side, bets in ((0, ("manque", "pair", "rouge")), (2, ("passe", "impair", "noir")))
    for row, bet in enumerate(bets)
}

LABELS = {"manque": "MANQUE  1 – 4", "passe": "PASSE  6 – 9", "pair": "PAIR", "impair": "IMPAIR"}

APPARATUS: Spot = (973, 160)
RADIUS = 128
CUPS = 2 * len(NUMBERS)
"""The cups of the apparatus: each number has two, opposite each other."""


def _colour(number: int) -> str:
    return shapes.colour(LAYOUT, str(number), "yellow")


def _hit(number: int, result: str | None) -> str:
    return ' data-hit=""' if str(number) == result else ""


def _number(number: int, result: str | None) -> str:
    box = NUMBER_BOXES[number]
    across, down = box.middle
    oval = f'<ellipse cx="{n(across)}" cy="{n(down)}" rx="30" ry="36"/>'
    return (
        f'<g class="number {_colour(number)}" data-pocket="{number}"{_hit(number, result)}>'
        f"{shapes.rectangle(box)}{oval}{shapes.text((across, box.y + FIGURE), number, 'figure')}</g>"
    )


def _chance(bet: str) -> str:
    box = CHANCE_BOXES[bet]
    across, _down = box.middle
    if bet in LABELS:
        return shapes.rectangle(box) + shapes.text((across, box.y + 24), LABELS[bet], "label small")
    colour = "red" if bet == "rouge" else "black"
    diamond = f"M{n(across)} {n(box.y + 10)}l60 {n(ROW / 2 - 10)}l-60 {n(ROW / 2 - 10)}l-60 -{n(ROW / 2 - 10)}z"
    return f'{shapes.rectangle(box)}<path class="diamond {colour}" d="{diamond}"/>'


def _cup(index: int, result: str | None) -> str:
    """Draw one cup of the apparatus, its number beside it, and the ball that may rest in it."""
    number = NUMBERS[index % len(NUMBERS)]
    angle = 2 * pi * index / CUPS - pi / 2
    x, y = RADIUS * 0.62 * cos(angle), RADIUS * 0.62 * sin(angle)
    label_x, label_y = RADIUS * 0.86 * cos(angle), RADIUS * 0.86 * sin(angle)
    hit = _hit(number, result)
    ball = (
        ""
        if index >= len(NUMBERS)
        else (f'<circle class="ball" data-pocket="{number}"{hit} cx="{n(x)}" cy="{n(y)}" r="8"/>')
    )
    return (
        f'<circle class="pocket {_colour(number)}" data-pocket="{number}"{hit} cx="{n(x)}" cy="{n(y)}" r="12"/>'
        f'<text class="pocket-figure" x="{n(label_x)}" y="{n(label_y + 4)}">{number}</text>{ball}'
    )


def _apparatus(result: str | None) -> str:
    cups = "".join(_cup(index, result) for index in range(CUPS))
    outcome = shapes.text((0, 9), result or "", "outcome").replace("<text ", '<text data-role="outcome" ', 1)
    return (
        f'<g class="wheel" {shapes.at(APPARATUS)}><circle class="rim" r="{RADIUS + 9}"/>'
        f'<circle class="bed" r="{RADIUS}"/>{cups}<circle class="cone" r="{n(RADIUS * 0.36)}"/>{outcome}</g>'
    )


def _layout(frame: Frame, language: str) -> str:
    numbers = [_number(number, frame.result) for number in NUMBERS]
    cloth = f'<rect class="cloth" width="{WIDTH}" height="{HEIGHT}" rx="14"/>'
    return "".join([cloth, *numbers, *(_chance(bet) for bet in CHANCE_BOXES), _apparatus(frame.result)])


def _spot(stake: Stake) -> Spot | None:
    bet = stake.wager.bet
    if bet in CHANCE_BOXES:
        across, down = CHANCE_BOXES[bet].middle
        return across, down + 20
    box = NUMBER_BOXES.get(stake.number or 0)
    return (box.middle[0], box.y + ON_FIGURE) if bet == "plein" and box is not None else None


FELT = Felt(
    title=Wording("Layout of la boule", "Tapis de la boule"),
    height=HEIGHT,
    layout=_layout,
    spot=_spot,
)
