"""Months: a column for what was found in each, and on it, dashed, what officers closed as mistaken.

      ┌┄┐
 2    │▇│    5
 ▇    │▇│    ▇
Jan   Feb   Mar
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.charts.svg import drawing, line, rect, text

WIDTH, HEIGHT = 760, 178
TOP, BOTTOM = 26, 148
PART = 0.62
"""The width of a column, of what each month has."""

TICKS = 4


@dataclass(frozen=True, slots=True)
class MonthColumn:
    """One month: its short name, what was found, how much of that was mistaken, and all of it in words."""

    name: str
    found: int
    mistaken: int
    label: str


def draw_months(months: Sequence[MonthColumn], *, title: str, description: str) -> str:
    """Draw the ``months`` from left to right, the last one darker: it is not over."""
    most = max([1, *(each.found for each in months)])
    step = WIDTH / max(len(months), 1)

    def y(found: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * found / most

    parts = [line("gr", 0, y(most * each / TICKS), WIDTH, y(most * each / TICKS)) for each in range(1, TICKS + 1)]
    for index, each in enumerate(months):
        middle, wide = step * (index + 0.5), step * PART
        stood = each.found - each.mistaken
        kind = "stood now" if index == len(months) - 1 else "stood"
        if stood:
            parts.append(rect(kind, middle - wide / 2, y(stood), wide, BOTTOM - y(stood), 3, label=each.label))
        if each.mistaken:
            height = y(stood) - y(each.found)
            parts.append(rect("mistaken", middle - wide / 2, y(each.found), wide, height, 3, label=each.label))
        if each.found:
            parts.append(text(middle, y(each.found) - 6, f"{each.found}", "v"))
        parts.append(text(middle, BOTTOM + 20, each.name, "l"))
    parts.append(line("ax", 0, BOTTOM, WIDTH, BOTTOM))
    return drawing("months", WIDTH, HEIGHT, title, description, *parts)
