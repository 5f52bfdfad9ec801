"""The days of a month as columns: how much was done on each, and how much of it is marked.

▅ ▆ ▅ ▃ _ ▆ ▇
1 2 3 4 5 6 7
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.charts.svg import drawing, rect, text

WIDTH, HEIGHT, BASE = 525, 64, 46
GAP = 5
MARK, MARKS = 5, 6
"""The height of one mark, and how many are drawn one above the other."""

NUMBERED = 5
"""On a narrow screen the first day and every fifth keep their number; the others' are of the class ``minor``."""


@dataclass(frozen=True, slots=True)
class DayColumn:
    """One day: its number, its height in any unit, and the classes of its marks, from the lowest."""

    number: int
    amount: int
    marks: Sequence[str] = ()
    says: str = ""


def draw_days(days: Sequence[DayColumn], *, title: str, description: str) -> str:
    """Draw the days of a month in order. A day without an amount is a line."""
    most = max((day.amount for day in days), default=0) or 1
    step = WIDTH / max(len(days), 1)
    parts = []
    for index, day in enumerate(days):
        x, width = index * step, step - GAP
        height = max(2.0, (BASE - 4) * day.amount / most) if day.amount else 2.0
        kind = "amount" if day.amount else "nothing"
        column = rect(kind, x, BASE - height, width, height, 2)
        marks = "".join(
            rect(mark, x, BASE - 5 - MARK * level, width, 4, 1) for level, mark in enumerate(day.marks[:MARKS])
        )
        is_minor = day.number > 1 and day.number % NUMBERED
        label = text(x + width / 2, HEIGHT - 4, str(day.number), "minor" if is_minor else "")
        parts.append(f"<g>{column}{marks}{label}</g>")
    return drawing("days", WIDTH, HEIGHT, title, description, *parts)
