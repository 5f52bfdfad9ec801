"""Rival explanations: a bar for the evidence of each, in tenfolds from 1, and the level at which a process asks.

an arc of 9 to 18 pockets    ┃▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇┊▇▇ 1,340
a tilt                       ┃▇▇▇▇▇           ┊ 22
one pocket                 ▇▇┃                ┊ 0.6
                           chance           level
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.charts.svg import drawing, line, rect, text

WIDTH = 420
ROW = 24
TOP = 6
LEFT, RIGHT = 196, 340
"""Where the bars may lie: the words are left of them, the amounts right."""

BELOW = 26

NEAR = 64
"""Two lines that are nearer have their words on either side."""


@dataclass(frozen=True, slots=True)
class Rival:
    """One explanation: its words, its evidence as a power of ten, and that in words."""

    words: str
    log: float
    amount: str


def draw_rivals(
    rivals: Sequence[Rival], level: float, *, chance: str, at_level: str, title: str, description: str
) -> str:
    """Draw the ``rivals`` in their order, the first in gold. ``level`` is a power of ten; the words name the lines."""
    lowest = min([0.0, *(max(-3.0, each.log) for each in rivals)])
    highest = max([level, 1.0, *(each.log for each in rivals)])
    span = highest - lowest

    def x(log: float) -> float:
        return LEFT + (RIGHT - LEFT) * (max(lowest, log) - lowest) / span

    bottom = TOP + ROW * len(rivals)
    parts = [line("level", x(level), TOP - 2, x(level), bottom + 4)]
    for number, each in enumerate(rivals):
        y = TOP + ROW * number
        left, right = sorted((x(0), x(each.log)))
        kind = "raised" if not number else "luck" if each.log > 0 else "none"
        parts.append(rect(kind, left, y + 3, max(1.5, right - left), 12, 2))
        parts.append(text(0, y + 13, each.words, "l", anchor="start"))
        parts.append(text(max(right, x(0)) + 7, y + 13, each.amount, "v", anchor="start"))
    parts.append(line("ax", x(0), TOP - 2, x(0), bottom + 4))
    is_near = x(level) - x(0) < NEAR
    parts.append(text(x(0), bottom + 20, chance, anchor="end" if is_near else "middle"))
    parts.append(text(x(level), bottom + 20, at_level, anchor="start" if is_near else "middle"))
    return drawing("rivals", WIDTH, bottom + BELOW, title, description, *parts)
