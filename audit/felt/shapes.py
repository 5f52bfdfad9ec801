"""The SVG shapes that layouts are drawn with: boxes, text, dice, chips. No scripts and no styles, only classes."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from audit.charts.svg import n
from audit.felt.geometry import TRAY, Box, Spot
from settlement.layouts import Layout

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}


def colour(layout: Layout, pocket: str, other: str) -> str:
    """Return the class of a pocket's colour, ``other`` for one that is neither red nor black."""
    return {"r": "red", "n": "black"}.get(layout.colour_of(pocket), other)


def at(spot: Spot) -> str:
    return f'transform="translate({n(spot[0])} {n(spot[1])})"'


def text(spot: Spot, content: str | int, kind: str = "label", *, anchor: str = "middle") -> str:
    """Draw text whose baseline has its middle, start or end (``anchor``) at a spot."""
    placed = "" if anchor == "middle" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{n(spot[0])}" y="{n(spot[1])}"{placed}>{escape(str(content))}</text>'


def rectangle(box: Box, kind: str = "line") -> str:
    return f'<rect class="{kind}" x="{n(box.x)}" y="{n(box.y)}" width="{n(box.width)}" height="{n(box.height)}"/>'


def little_dice(spot: Spot, faces: Iterable[int]) -> str:
    """Draw dice as they are printed on the layout, side by side around a spot."""
    drawn = []
    shown = list(faces)
    for index, face in enumerate(shown):
        x = spot[0] + (index - (len(shown) - 1) / 2) * 19
        pips = "".join(f'<circle cx="{n(a * 4)}" cy="{n(b * 4)}" r="1.5"/>' for a, b in PIPS[face])
        drawn.append(
            f'<g class="printed-die" {at((x, spot[1]))}><rect x="-8" y="-8" width="16" height="16" rx="3"/>{pips}</g>'
        )
    return "".join(drawn)


def die(spot: Spot, index: int, face: int | None) -> str:
    """Draw a die of the tray with all its faces, of which the one thrown is shown."""
    faces = []
    for value, pips in PIPS.items():
        shown = " data-on" if value == face else ""
        circles = "".join(f'<circle cx="{a * 14}" cy="{b * 14}" r="5"/>' for a, b in pips)
        faces.append(f'<g class="face" data-die="{index}" data-face="{value}"{_flag(shown)}>{circles}</g>')
    return f'<g class="die" {at(spot)}><rect x="-26" y="-26" width="52" height="52" rx="10"/>{"".join(faces)}</g>'


def _flag(shown: str) -> str:
    return f'{shown}=""' if shown else ""


def tray(faces: tuple[int, int] | None, title: str) -> str:
    """Draw the tray with the dice of the last throw; before the first throw they are blank."""
    first, second = faces or (None, None)
    total = "" if faces is None else str(sum(faces))
    return (
        f'<g class="tray" {at(TRAY)}><title>{escape(title)}</title>'
        f'<rect class="tray-bed" x="-60" y="-52" width="120" height="178" rx="12"/>'
        f"{text((0, -32), 'DÉS', 'label dim small')}{die((0, 10), 0, first)}{die((0, 74), 1, second)}</g>"
        f'<text class="outcome" data-role="outcome" x="1056" y="252">{total}</text>'
    )


def puck(spot: Spot, where: str, *, shown: bool, big: bool = False) -> str:
    """Draw the marker of the point, the cabochon, at one of its spots. ``where`` is a number, or "off"."""
    on = ' data-on=""' if shown else ""
    label = "OFF" if where == "off" else "ON"
    radius, stone = (20, 14) if big else (13, 9)
    return (
        f'<g class="puck {label.lower()}" data-puck="{where}"{on} {at(spot)}>'
        f'<circle r="{radius}"/><circle class="stone" r="{stone}"/><text y="3.5">{label}</text></g>'
    )


def chip(spot: Spot, key: str, *, colour: int, amount: str, title: str, state: str, disputed: bool) -> str:
    """Draw a chip. ``colour`` is its player's, 0 to 13, each with an edge of its own; ``key`` identifies the chip."""
    flag = ' data-disputed=""' if disputed else ""
    return (
        f'<g class="chip player-{colour}" data-chip="{escape(key)}" data-state="{state}"{flag} {at(spot)}>'
        f"<title>{escape(title)}</title>"
        '<circle class="halo" r="20"/><circle class="body" r="14.5"/><circle class="edge" r="12.4"/>'
        '<circle class="face-of" r="9.6"/>'
        f'<text class="amount" y="3.4">{escape(amount)}</text>'
        '<path class="bars" d="M-9 -12v24M-3 -14v28M3 -14v28M9 -12v24"/></g>'
    )
