"""All processes of a casino at once: a dot each, by how far its evidence is on the way to its own level.

          ●                      ┊   ●  R3
      ● ● ●            ●  F. Amrani
  ●  ●●●●●●●  ● ●      │         ┊   │
──────────┼──────┼─────┼─────────┼───────
for chance  nothing yet     ½    its level
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from audit.charts.svg import circle, drawing, line, rect, text

DotKind = Literal["quiet", "near", "raised"]

WIDTH, HEIGHT = 620, 260
LEFT, RIGHT, TOP, BOTTOM = 12, 608, 22, 222
"""The plot."""

LOW, HIGH = -0.75, 1.15
"""The way that is drawn, 1 at the level of each; what is further on stands at the end."""

RADIUS, STEP = 3.4, 8.4
NAMED = 6
"""Dots with a name, at most: the first of those that raised a question or are near the threshold."""

NAME_STEP = 26
NAME_GAP, CHARACTER = 10, 6.2
"""Between a dot and its name; and how wide a character of a name is, about."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One process: the logarithm of its evidence over that of its level, and what it is called if it is not quiet."""

    way: float
    kind: DotKind = "quiet"
    name: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """What is written below and above: about chance, at the beginning, at the level, before and after it."""

    chance: str
    nothing: str
    level: str
    near: str
    raised: str


def draw_dots(dots: Sequence[Dot], words: Words, *, title: str, description: str) -> str:
    """Draw processes. Where more stand in one place than there is room for, a dot stands for several."""
    ways = [(0.0, words.nothing), (0.25, "¼"), (0.5, "½"), (0.75, "¾"), (1.0, words.level)]
    parts = [rect("beyond", _x(1), TOP - 14, RIGHT - _x(1), BOTTOM - TOP + 14)]
    for way, name in ways:
        parts += [line("level" if way == 1 else "gr", _x(way), TOP - 14, _x(way), BOTTOM)]
        parts += [text(_x(way), BOTTOM + 20, name)]
    parts += [
        text(_x(LOW / 2), BOTTOM + 20, words.chance),
        text(_x(1) - 6, TOP - 2, words.near, anchor="end"),
        text(_x(1) + 6, TOP - 2, words.raised, anchor="start"),
        line("ax", LEFT, BOTTOM, RIGHT, BOTTOM),
    ]
    return drawing("dots", WIDTH, HEIGHT, title, description, *parts, *_quiet(dots), *_named(dots))


def _x(way: float) -> float:
    return LEFT + (RIGHT - LEFT) * (min(max(way, LOW), HIGH) - LOW) / (HIGH - LOW)


def _quiet(dots: Sequence[Dot]) -> list[str]:
    columns = Counter(round((_x(each.way) - LEFT) / STEP) for each in dots if each.kind == "quiet")
    named = min(NAMED, len(dots) - sum(columns.values()))
    room = int((BOTTOM - TOP - NAME_STEP * named) / STEP)  # below the names
    of_each = -(-max(columns.values(), default=1) // room)
    return [
        circle("quiet", LEFT + column * STEP, BOTTOM - STEP * (row + 0.5), RADIUS)
        for column, number in sorted(columns.items())
        for row in range(-(-number // of_each))
    ]


def _named(dots: Sequence[Dot]) -> list[str]:
    """Draw what is not quiet on stems of their own height, so that no name is written over another."""
    parts: list[str] = []
    others = sorted((each for each in dots if each.kind != "quiet"), key=lambda each: -each.way)
    for number, each in enumerate(others):
        x, y = _x(each.way), TOP + 18 + NAME_STEP * (number % NAMED)
        parts += [line(f"stem {each.kind}", x, y, x, BOTTOM), circle(each.kind, x, y, 5, label=each.name)]
        if number < NAMED:
            parts.append(_name(x, y + 4, each.name))
    return parts


def _name(x: float, y: float, name: str) -> str:
    """Write the name of a dot at its left, and before the level, whose line would strike it; at its right where the
    left has no room."""
    if x < WIDTH / 3:
        return text(x + NAME_GAP, y, _cut(name, _x(1) - x), "l", anchor="start")
    end = min(x, _x(1)) - NAME_GAP
    return text(end, y, _cut(name, end - LEFT), "l", anchor="end")


def _cut(name: str, room: float) -> str:
    longest = int(room / CHARACTER)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
