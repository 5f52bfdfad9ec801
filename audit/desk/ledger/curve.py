"""The curve of a process: the logarithm of its wealth against its sessions, and the line at which it asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 640, 240, 28


@dataclass(frozen=True, slots=True)
class Curve:
    """An SVG path, and what stands beside it: ``level_y`` and ``zero_y`` are heights of lines, in its units."""

    path: str
    level_y: str
    zero_y: str
    top: str
    bottom: str
    sessions: int
    width: int = WIDTH
    height: int = HEIGHT


def curve_of(logs: Sequence[float], level: float) -> Curve:
    """Return the curve of decimal logarithms of wealth, one a session, that begins at 0; ``level`` is where it asks."""
    values = [0.0, *logs]
    low, high = min(*values, level, 0.0), max(*values, level, 1.0)
    span = high - low

    def y(value: float) -> str:
        return f"{MARGIN + (HEIGHT - 2 * MARGIN) * (high - value) / span:.1f}"

    step = (WIDTH - 2 * MARGIN) / max(1, len(values) - 1)
    points = [f"{MARGIN + step * index:.1f},{y(value)}" for index, value in enumerate(values)]
    return Curve(
        path="M" + " L".join(points),
        level_y=y(level),
        zero_y=y(0.0),
        top=f"10^{high:.1f}",
        bottom=f"10^{low:.1f}" if low < 0 else "",
        sessions=len(logs),
    )
