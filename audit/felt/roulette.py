"""The layouts of art. 54 and art. 57-1, and their wheels."""

from __future__ import annotations

from math import cos, pi, sin

from audit.charts.svg import n
from audit.felt import geometry, shapes
from audit.felt.frames import Frame, Stake
from audit.felt.geometry import (
    CELL_HEIGHT,
    COLUMN_LABEL,
    EMPTY_ROULETTE_HEIGHT,
    FIGURE,
    LEFT,
    ROULETTE_HEIGHT,
    TOP,
    WHEEL,
    WIDTH,
    Box,
    Spot,
)
from audit.felt.layouts import Felt
from settlement.catalogue.rule import Wording
from settlement.layouts import LAYOUT_37, LAYOUT_38, Layout

RADIUS = 92

_CHANCE_LABELS = {"manque": "MANQUE  1 – 18", "passe": "PASSE  19 – 36", "pair": "PAIR", "impair": "IMPAIR"}
_DOZEN_LABELS = ("12ᵖ", "12ᵐ", "12ᵈ")


def layout(wheel_layout: Layout, pocket: str | None, *, height: int = ROULETTE_HEIGHT) -> str:
    """Draw the layout and the wheel. ``pocket`` is the one in which the ball rests, None if it does not."""
    has_double_zero = "00" in wheel_layout.zeros
    numbers = [_number(each, pocket, has_double_zero=has_double_zero) for each in sorted(wheel_layout.wheel, key=int)]
    dozens = [_dozen(which) for which in (1, 2, 3)]
    columns = [_column(which) for which in (1, 2, 3)]
    chances = [_chance(each) for each in geometry.CHANCES]
    wheel = f'<g class="wheel" {shapes.at(WHEEL)}>{_wheel(wheel_layout, pocket)}</g>'
    return "".join([_cloth(height), *numbers, *columns, *dozens, *chances, wheel])


def empty_table() -> str:
    """Return the SVG of the table of art. 54 with nothing on it, as ``static/audit/table.svg`` has it: an ornament."""
    box = f"0 0 {WIDTH} {EMPTY_ROULETTE_HEIGHT}"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" class="felt fr-roulette">'
    return f"{opening}{layout(LAYOUT_37, None, height=EMPTY_ROULETTE_HEIGHT)}</svg>"


def _cloth(height: int) -> str:
    return f'<rect class="cloth" width="{WIDTH}" height="{height}" rx="14"/>'


def _hit(pocket: str, rests_in: str | None) -> str:
    return ' data-hit=""' if pocket == rests_in else ""


def _number(pocket: str, rests_in: str | None, *, has_double_zero: bool) -> str:
    box = geometry.number_box(pocket, has_double_zero=has_double_zero)
    across, down = box.middle
    shape = f'<g class="number {_colour(pocket)}" data-pocket="{pocket}"{_hit(pocket, rests_in)}>'
    if pocket in ("0", "00"):
        figure = shapes.text((across + 4, down), pocket, "figure")
        return f'{shape}<path class="line" d="{_zero(box)}"/>{figure}</g>'
    oval = f'<ellipse cx="{n(across)}" cy="{n(down)}" rx="21" ry="29"/>'
    figure = shapes.text((across, box.y + FIGURE), pocket, "figure")
    return f"{shape}{shapes.rectangle(box)}{oval}{figure}</g>"


def _colour(pocket: str) -> str:
    return shapes.colour(LAYOUT_38, pocket, "zero")  # which has every pocket of the other layout


def _zero(box: Box) -> str:
    """Return the outline of a zero: its box, round at the far end."""
    if box.height > CELL_HEIGHT * 2:
        half = CELL_HEIGHT * 1.5
        return f"M{LEFT} {TOP}H64q-40 0 -40 {half}q0 {half} 40 {half}H{LEFT}z"
    length, side = LEFT - 44, box.height - 40
    return f"M{LEFT} {n(box.y)}h-{length}q-20 0 -20 20v{n(side)}q0 20 20 20h{length}z"


def _dozen(which: int) -> str:
    box = geometry.dozen_box(which)
    down = box.middle[1] + 5
    label = _DOZEN_LABELS[which - 1]
    return (
        shapes.rectangle(box)
        + shapes.text((box.x + 34, down), label)
        + shapes.text((box.x + box.width - 34, down), label)
    )


def _column(which: int) -> str:
    box = geometry.column_box(which)
    return shapes.rectangle(box) + shapes.text((box.middle[0], box.y + COLUMN_LABEL), "2 : 1", "label dim")


def _chance(chance: str) -> str:
    box = geometry.chance_box(chance)
    across = box.middle[0]
    if chance in _CHANCE_LABELS:
        return shapes.rectangle(box) + shapes.text((across, box.y + 19), _CHANCE_LABELS[chance], "label small")
    half = box.height / 2 - 8
    colour = "red" if chance == "rouge" else "black"
    diamond = f"M{n(across)} {n(box.y + 8)}l46 {half}l-46 {half}l-46 -{half}z"
    return f'{shapes.rectangle(box)}<path class="diamond {colour}" d="{diamond}"/>'


def _wheel(wheel_layout: Layout, rests_in: str | None) -> str:
    pockets = [
        _pocket(pocket, index, len(wheel_layout.wheel), rests_in) for index, pocket in enumerate(wheel_layout.wheel)
    ]
    rim = f'<circle class="rim" r="{RADIUS + 9}"/><circle class="bed" r="{RADIUS}"/>'
    outcome = shapes.text((0, 9), rests_in or "", "outcome").replace("<text ", '<text data-role="outcome" ', 1)
    cone = f'<circle class="cone" r="{n(RADIUS * 0.62)}"/><circle class="hub" r="{n(RADIUS * 0.24)}"/>'
    return f"{rim}{''.join(pockets)}{cone}{outcome}"


def _pocket(pocket: str, index: int, count: int, rests_in: str | None) -> str:
    """Draw one pocket of the wheel, its number, and the ball that may rest in it."""

    def on(radius: float, angle: float) -> str:
        return f"{n(radius * cos(angle))} {n(radius * sin(angle))}"

    begin, end = (2 * pi * (index + side) / count - pi / 2 for side in (-0.5, 0.5))
    middle = (begin + end) / 2
    inner = RADIUS * 0.62
    arc = (
        f"M{on(RADIUS, begin)}A{RADIUS} {RADIUS} 0 0 1 {on(RADIUS, end)}"
        f"L{on(inner, end)}A{n(inner)} {n(inner)} 0 0 0 {on(inner, begin)}z"
    )
    turned = f"translate({on(RADIUS * 0.885, middle)}) rotate({n(middle * 180 / pi + 90)})"
    ball_x, ball_y = on(RADIUS * 0.7, middle).split()
    hit = _hit(pocket, rests_in)
    return (
        f'<path class="pocket {_colour(pocket)}" data-pocket="{pocket}"{hit} d="{arc}"/>'
        f'<text class="pocket-figure" transform="{turned}">{pocket}</text>'
        f'<circle class="ball" data-pocket="{pocket}"{hit} cx="{ball_x}" cy="{ball_y}" r="4.6"/>'
    )


def _on_37(frame: Frame, language: str) -> str:
    return layout(LAYOUT_37, frame.result)


def _on_38(frame: Frame, language: str) -> str:
    return layout(LAYOUT_38, frame.result)


def _spot_on_37(stake: Stake) -> Spot | None:
    return geometry.roulette_spot(stake.wager, has_double_zero=False)


def _spot_on_38(stake: Stake) -> Spot | None:
    return geometry.roulette_spot(stake.wager, has_double_zero=True)


FRENCH = Felt(
    title=Wording("French roulette layout", "Tapis de la roulette française"),
    height=ROULETTE_HEIGHT,
    layout=_on_37,
    spot=_spot_on_37,
)
AMERICAN = Felt(
    title=Wording("American roulette layout", "Tapis de la roulette américaine"),
    height=ROULETTE_HEIGHT,
    layout=_on_38,
    spot=_spot_on_38,
)
