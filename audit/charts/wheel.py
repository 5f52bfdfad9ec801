"""The wheel: its pockets in their order, outside of each a bar of how often it came, and what fits best in gold.

▁▂▃▅▇▇▅▃▁   bars from the ring outwards; the dotted ring is what chance expects, the band where 19 bars in 20 end
0 32 15 …   pockets; those that fit best are bright
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from math import cos, pi, sin

from audit.charts.svg import drawing, n, text

SIZE = 440
MIDDLE = SIZE / 2
INNER, OUTER = 108.0, 134.0
"""Between these radii are the pockets."""

FOOT, TIP = 140.0, 196.0
"""From the one a bar grows; the longest ends at the other."""

EDGE = 212.0
GAP = 0.06
"""What is left free at each side of a bar, of the width of its pocket."""


@dataclass(frozen=True, slots=True)
class Pocket:
    """One place around the wheel: its name, its colour ("r", "n" or "z"), how often it came, and that in words."""

    name: str
    colour: str
    times: int
    label: str


def draw_wheel(
    pockets: Sequence[Pocket],
    best: Collection[int],
    *,
    expected: float,
    band: tuple[float, float],
    middle: Sequence[str],
    title: str,
    description: str,
) -> str:
    """Draw the ``pockets`` clockwise from the top; ``best`` are the indexes of what fits best, next to each other.

    ``expected`` is what chance expects of each, ``band`` where 19 in 20 lie. ``middle`` are lines of text, the first
    is larger.
    """
    most = max([*(pocket.times for pocket in pockets), band[1], 1])
    turn = 2 * pi / len(pockets)

    def radius(times: float) -> float:
        return FOOT + (TIP - FOOT) * max(0.0, times) / most

    low, high = radius(band[0]), radius(band[1])
    parts = []
    for index in sorted(best):
        parts.append(f'<path class="best" d="{_ring(index, turn, INNER - 4, EDGE, 0)}"/>')
    parts.append(
        f'<circle class="band" cx="{n(MIDDLE)}" cy="{n(MIDDLE)}" r="{n((low + high) / 2)}" fill="none"'
        f' stroke-width="{n(high - low)}"/>'
    )
    for index, pocket in enumerate(pockets):
        kind = "bar fits" if index in best else "bar"
        parts.append(
            f'<path class="{kind}" d="{_ring(index, turn, FOOT, radius(pocket.times), GAP)}">'
            f"<title>{escape(pocket.label)}</title></path>"
        )
        pale = "" if index in best or not best else " pale"
        parts.append(f'<path class="pocket {pocket.colour}{pale}" d="{_ring(index, turn, INNER, OUTER, 0)}"/>')
        angle = index * turn
        x, y = _at(angle, (INNER + OUTER) / 2)
        parts.append(
            f'<text class="pn" transform="translate({n(x)} {n(y)}) rotate({n(angle * 180 / pi)})" y="3.5"'
            f' text-anchor="middle">{escape(pocket.name)}</text>'
        )
    parts.append(f'<circle class="expected" cx="{n(MIDDLE)}" cy="{n(MIDDLE)}" r="{n(radius(expected))}" fill="none"/>')
    for number, words in enumerate(middle):
        parts.append(text(MIDDLE, MIDDLE - 4 + 19 * number, words, "v large" if not number else "l"))
    return drawing("wheel", SIZE, SIZE, title, description, *parts)


def _at(angle: float, radius: float) -> tuple[float, float]:
    """Return the point at an angle from the top, clockwise."""
    return MIDDLE + radius * sin(angle), MIDDLE - radius * cos(angle)


def _ring(index: int, turn: float, inner: float, outer: float, gap: float) -> str:
    """Return the outline of a piece of a ring, as wide as one pocket less the gap at each side."""
    begin, end = (index - 0.5 + gap) * turn, (index + 0.5 - gap) * turn
    a, b, c, d = _at(begin, outer), _at(end, outer), _at(end, inner), _at(begin, inner)
    return (
        f"M{n(a[0])} {n(a[1])}A{n(outer)} {n(outer)} 0 0 1 {n(b[0])} {n(b[1])}"
        f"L{n(c[0])} {n(c[1])}A{n(inner)} {n(inner)} 0 0 0 {n(d[0])} {n(d[1])}z"
    )
