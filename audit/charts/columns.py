"""Columns: how often each face, or each total, came, beside what chance expects of it.

 31 ┃ 24   29 ┊ 19        a column for what came; gold where it ends outside its band
┈▇┈┈┈▇┈┈┈┈▇┈┈┈▇┈┈         the dotted line is what chance expects, the band where 19 columns in 20 end
 1   2    3   4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.charts.svg import drawing, line, rect, text

WIDTH, HEIGHT = 440, 250
TOP, BOTTOM = 26, 222
"""Where the tallest column, or band, ends, and where all begin."""

LEFT, RIGHT = 8, 432
PART = 0.62
"""The width of a column, of what each has."""


@dataclass(frozen=True, slots=True)
class Column:
    """One face or total: its name, how often it came, what chance expects, where 19 in 20 end, and that in words."""

    name: str
    times: int
    expected: float
    low: float
    high: float
    label: str

    @property
    def is_outside(self) -> bool:
        return not self.low <= self.times <= self.high


def draw_columns(columns: Sequence[Column], *, title: str, description: str) -> str:
    """Draw the ``columns`` from left to right on one scale."""
    most = max([1.0, *(max(each.times, each.high) for each in columns)])
    step = (RIGHT - LEFT) / len(columns)

    def y(times: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * times / most

    parts = []
    for index, each in enumerate(columns):
        begin, middle = LEFT + step * index, LEFT + step * (index + 0.5)
        left = middle - step * PART / 2
        parts.append(rect("band", begin, y(each.high), step, y(each.low) - y(each.high)))
        kind = "bar fits" if each.is_outside else "bar"
        parts.append(rect(kind, left, y(each.times), step * PART, BOTTOM - y(each.times), 2, label=each.label))
        parts.append(line("expected", begin, y(each.expected), begin + step, y(each.expected)))
        parts.append(text(middle, y(max(each.times, each.expected)) - 6, f"{each.times}", "v"))
        parts.append(text(middle, BOTTOM + 18, each.name, "l"))
    parts.append(line("ax", LEFT, BOTTOM, RIGHT, BOTTOM))
    return drawing("columns", WIDTH, HEIGHT, title, description, *parts)
