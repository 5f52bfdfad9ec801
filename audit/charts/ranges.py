"""Rates with their intervals, one under the other: all on one scale, with a rule where everybody together is.

Théo Garnier   ┆ ━━━━━━●━━━━━━━━
Nadia Roussel ━┆━━●━━━━━
               0   2   4   6
"""

from __future__ import annotations

from collections.abc import Callable

from audit.charts.svg import circle, drawing, line, rect, text
from audit.charts.waterfall import round_step

WIDTH, HEIGHT = 400, 20
EDGE = 6
SCALE_HEIGHT, EVERYBODY_Y, TICK_Y, TICKS = 36, 14, 30, 6


def _x(amount: int, most: int) -> float:
    return EDGE + (WIDTH - 2 * EDGE) * min(1.0, amount / max(most, 1))


def draw_range(
    low: int, high: int, value: int, *, everybody: int, most: int, is_chosen: bool, title: str, description: str
) -> str:
    """Draw the interval from ``low`` to ``high`` and a dot at ``value``, in one unit, on a scale from 0 to ``most``."""

    def x(amount: int) -> float:
        return _x(amount, most)

    middle, chosen = HEIGHT / 2, " chosen" if is_chosen else ""
    return drawing(
        "ranges",
        WIDTH,
        HEIGHT,
        title,
        description,
        line("everybody", x(everybody), 0, x(everybody), HEIGHT),
        rect(f"range{chosen}", x(low), middle - 2.5, max(2.0, x(high) - x(low)), 5, 2.5),
        circle(f"dot{chosen}", x(value), middle, 5.5 if is_chosen else 4.5),
    )


def draw_scale_of_ranges(
    *, everybody: int, most: int, tick: Callable[[int], str], together: str, title: str, description: str
) -> str:
    """Draw the scale under such intervals: round amounts as ``tick`` writes them, and ``together`` at ``everybody``."""
    at = _x(everybody, most)
    is_right = at > WIDTH / 2
    return drawing(
        "ranges scale",
        WIDTH,
        SCALE_HEIGHT,
        title,
        description,
        line("everybody", at, 0, at, EVERYBODY_Y + 3),
        text(at + (-5 if is_right else 5), EVERYBODY_Y, together, anchor="end" if is_right else "start"),
        *(text(_x(amount, most), TICK_Y, tick(amount)) for amount in range(0, most + 1, round_step(most, TICKS))),
    )
