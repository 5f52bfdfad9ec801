"""The scatter of what waits: each dot an incident, by the time that is left and by the money, on a scale of tenfolds.

€1,000 ┤          ●            the further left, the sooner it is due; those left of the first rule are late
  €100 ┤   ●            ●●     one that would lie on another stands beside it
  none ┼───○──────┬──────○──   without money
         late   six hours
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import log10

from audit.charts.svg import circle, drawing, line, n, rect, text

WIDTH, HEIGHT = 650, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 640, 14, 254
ONE = 228
"""Where one unit of money is; below it is what concerns none."""

LABELLED = 9
"""Dots with a label, the largest sums first; more would be written over one another."""

LINE = 13
"""The height of a line of labels."""

CLEAR = 10
"""How far up or down a dot is that a label does not touch: half a dot, and half the height of its letters."""

NEAR = 9
"""Two dots that are nearer than this, across and down, hide one another."""

STEP = 13
"""How far apart dots are that would otherwise lie on one another."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One incident: how far right, from 0 to 1; its money, None for none; ``kind`` is the class of its colour."""

    share: float
    amount: float | None
    kind: str
    amount_text: str
    label: str


@dataclass(frozen=True, slots=True)
class Span:
    """A period of time below the chart, which ends at a share of its width; ``kind`` is the class of its name."""

    title: str
    end: float
    kind: str = ""


def draw_scatter(
    dots: Sequence[Dot],
    spans: Sequence[Span],
    ticks: Sequence[tuple[float, str]],
    *,
    none: str,
    title: str,
    description: str,
) -> str:
    """Draw incidents over ``spans``, which cover the width in order. ``ticks`` are amounts with their texts, rising."""
    highest = max([each.amount or 1 for each in dots] + [amount for amount, _text in ticks], default=1)
    per_tenfold = (ONE - TOP - 10) / max(1.0, log10(max(highest, 1)))

    def y(amount: float | None) -> float:
        return BOTTOM if amount is None else ONE - log10(max(amount, 1)) * per_tenfold

    def x(share: float) -> float:
        return LEFT + share * (RIGHT - LEFT)

    parts = []
    for index, (begin, span) in enumerate(zip([0.0, *(each.end for each in spans)], spans, strict=False)):
        if index == 0:
            parts.append(rect("late", x(0), TOP, x(span.end) - x(0), BOTTOM - TOP))
        parts.append(text(x((begin + span.end) / 2), BOTTOM + 22, span.title, f"l {span.kind}".strip()))
    parts += [line("split", x(first.end), TOP, x(first.end), BOTTOM) for first, _next in pairwise(spans)]
    for amount, words in ticks:
        parts.append(line("gr", LEFT, y(amount), RIGHT, y(amount)))
        parts.append(text(LEFT - 7, y(amount) + 4, words, anchor="end"))
    parts += [line("ax", LEFT, BOTTOM, RIGHT, BOTTOM), text(LEFT - 7, BOTTOM + 4, none, anchor="end")]
    edges = [x(each) for each in (0.0, *(span.end for span in spans[:-1]), 1.0)]
    drawn: list[tuple[float, float, Dot]] = []
    for each in dots:
        across, down = x(each.share), y(each.amount)
        drawn.append((_shifted(drawn, across, down, edges) if each.amount is not None else across, down, each))
    parts += [_dot(across, down, each) for across, down, each in drawn]
    parts += _labels(drawn)
    return drawing("scatter", WIDTH, HEIGHT, title, description, *parts)


def _shifted(drawn: Sequence[tuple[float, float, Dot]], x: float, y: float, edges: Sequence[float]) -> float:
    """Return where across a dot is that lies on no other: at ``x``, or as near to it as its period has room.

    ``edges`` are those of the periods. Where there is no room it stays where it is.
    """
    taken = [across for across, down, dot in drawn if dot.amount is not None and abs(down - y) < NEAR]
    low, high = next(((low, high) for low, high in pairwise(edges) if low <= x < high), edges[-2:])
    steps = range(1, 1 + int((high - low) // STEP))
    for each in (x, *(x + side * STEP * number for number in steps for side in (1, -1))):
        if low <= each <= high and all(abs(each - across) >= NEAR for across in taken):
            return each
    return x


def _dot(x: float, y: float, dot: Dot) -> str:
    size = 5 if dot.amount is None else 6
    return circle(dot.kind, x, y, size, label=f"{dot.amount_text} {dot.label}".strip())


def _labels(drawn: Sequence[tuple[float, float, Dot]]) -> list[str]:
    """Return the labels of the largest sums, each at the side where there is room; none over another."""
    taken: list[tuple[float, float, float]] = []
    parts: list[str] = []
    with_money = [each for each in drawn if each[2].amount is not None]
    for x, y, dot in sorted(with_money, key=lambda each: -(each[2].amount or 0)):
        if len(parts) == LABELLED:
            break
        width = 6.4 * len(f"{dot.amount_text} {dot.label}")
        for anchor, low in (("start", x + 11), ("end", x - 11 - width)):
            is_free = all(abs(y - row) >= LINE or low + width < left or low > right for row, left, right in taken)
            is_free &= not any(abs(y - row) < CLEAR and low - 6 < across < low + width + 6 for across, row, _ in drawn)
            if is_free and low >= LEFT and low + width <= RIGHT + 8:
                taken.append((y, low, low + width))
                at = x + 11 if anchor == "start" else x - 11
                parts.append(
                    f'<text class="l" x="{n(at)}" y="{n(y + 4)}" text-anchor="{anchor}" aria-hidden="true">'
                    f'<tspan class="sum">{escape(dot.amount_text)}</tspan> {escape(dot.label)}</text>'
                )
                break
    return parts
