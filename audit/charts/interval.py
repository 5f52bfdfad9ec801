"""The interval: a bar where a share falls by chance alone, and a dot where it fell.

━━━━━━━━━┿━━●━━━━━━
"""

from __future__ import annotations

from collections.abc import Callable

from audit.charts.svg import circle, drawing, line, rect, text
from audit.charts.waterfall import round_step

WIDTH, HEIGHT = 120, 14
EDGE = 6
"""Left free at both sides, so that a dot at the end is whole."""


def draw_interval(
    low: int, high: int, value: int | None, *, title: str, description: str, scale: tuple[int, int] | None = None
) -> str:
    """Draw the interval from ``low`` to ``high`` with a dot at ``value``, in one unit; without a dot where it is None.

    ``scale`` is what the width stands for, so that several have the same: by default the interval and as much again. A
    dot beyond it is at its end.
    """
    begin, end = scale if scale is not None else (low - (high - low) // 2, high + (high - low) // 2)
    span = (end - begin) or 1

    def x(amount: int) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, (amount - begin) / span))

    left, right = x(low), max(x(high), x(low) + 2)
    parts = [rect("range", left, 4.5, right - left, 5, 2.5)]
    if begin < 0 < end:
        parts.insert(0, line("zero", x(0), 1, x(0), HEIGHT - 1))
    if value is not None:
        kind = "dot" if low <= value <= high else "dot outside"
        parts.append(circle(kind, x(value), 7, 3.6))
    return drawing("interval", WIDTH, HEIGHT, title, description, *parts)


LUCK_WIDTH, LUCK_HEIGHT, LUCK_EDGE = 400, 62, 60


def draw_luck(wide: int, luck: int, *, value: str, ends: tuple[str, str, str], title: str, description: str) -> str:
    """Draw luck as a dot, ``value`` above it, on the bar from ``-wide`` to ``wide``, in one unit.

    ``ends`` are the words under the bar's beginning, its middle and its end. What is further away is at the edge.
    """

    def x(amount: float) -> float:
        span = LUCK_WIDTH - 2 * LUCK_EDGE
        return min(LUCK_WIDTH - 8.0, max(8.0, LUCK_EDGE + span * (amount + wide) / (2 * wide)))

    kind = "dot" if abs(luck) <= wide else "dot outside"
    edge = 40.0
    return drawing(
        "luck",
        LUCK_WIDTH,
        LUCK_HEIGHT,
        title,
        description,
        rect("range", x(-wide), 25, x(wide) - x(-wide), 6, 3),
        line("zero", x(0), 20, x(0), 36),
        circle(kind, x(luck), 28, 5),
        text(min(LUCK_WIDTH - edge, max(edge, x(luck))), 14, value, "v"),
        *(text(x(at * wide), 52, words) for at, words in zip((-1, 0, 1), ends, strict=True)),
    )


SHARE_WIDTH, SHARE_HEIGHT, SHARE_EDGE, SHARE_TICKS = 420, 74, 26, 6


def draw_share_interval(
    low: int,
    high: int,
    value: int,
    *,
    chance: int,
    value_in_words: str,
    at_chance: str,
    tick: Callable[[int], str],
    title: str,
    description: str,
) -> str:
    """Draw a share as a dot on the bar of its interval, beside the line of what chance gives, on a scale of shares."""
    begin, end = min(low, chance), max(high, chance)
    step = max(1, round_step(end - begin, SHARE_TICKS))
    begin, end = begin // step * step, -(-end // step) * step

    def x(amount: int) -> float:
        return SHARE_EDGE + (SHARE_WIDTH - 2 * SHARE_EDGE) * (amount - begin) / max(end - begin, 1)

    is_left = chance <= value
    return drawing(
        "certain",
        SHARE_WIDTH,
        SHARE_HEIGHT,
        title,
        description,
        line("chance", x(chance), 6, x(chance), 44),
        text(x(chance) + (-6 if is_left else 6), 14, at_chance, "l", anchor="end" if is_left else "start"),
        rect("range", x(low), 29, max(2.0, x(high) - x(low)), 6, 3),
        circle("dot", x(value), 32, 5.5),
        text(x(value), 20 if abs(x(value) - x(chance)) > 12 else 24, value_in_words, "v"),
        *(text(x(amount), 64, tick(amount)) for amount in range(begin, end + 1, step)),
    )
