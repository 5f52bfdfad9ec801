"""Rates with their intervals, one under the other: all on one scale, with a rule where everybody together is.

Théo Garnier   ┆ ━━━━━━●━━━━━━━━
Nadia Roussel ━┆━━●━━━━━
"""

from __future__ import annotations

from audit.charts.svg import drawing, line, n

WIDTH, HEIGHT = 400, 20
EDGE = 6


def draw_range(
    low: int, high: int, value: int, *, everybody: int, most: int, is_chosen: bool, title: str, description: str
) -> str:
    """Draw the interval from ``low`` to ``high`` and a dot at ``value``, in one unit, on a scale from 0 to ``most``."""

    def x(amount: int) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * min(1.0, amount / max(most, 1))

    middle, chosen = HEIGHT / 2, " chosen" if is_chosen else ""
    return drawing(
        "ranges",
        WIDTH,
        HEIGHT,
        title,
        description,
        line("everybody", x(everybody), 0, x(everybody), HEIGHT),
        f'<rect class="range{chosen}" x="{n(x(low))}" y="{n(middle - 2.5)}" width="{n(max(2.0, x(high) - x(low)))}"'
        ' height="5" rx="2.5"/>',
        f'<circle class="dot{chosen}" cx="{n(x(value))}" cy="{n(middle)}" r="{5.5 if is_chosen else 4.5}"/>',
    )
