"""The spark: how much came, in equal periods of time, without a scale. A small multiple."""

from __future__ import annotations

from collections.abc import Sequence

from audit.charts.svg import drawing, n, rect

WIDTH, HEIGHT, MARGIN = 120, 20, 2


def draw_spark(counts: Sequence[int], *, title: str, description: str, kind: str = "") -> str:
    """Draw counts in order, evenly spaced, over nothing. ``kind`` is a class for what is wrong with them."""
    most, last = max([*counts, 1]), max(1, len(counts) - 1)
    points = [
        (index * WIDTH / last, HEIGHT - MARGIN - count * (HEIGHT - 2 * MARGIN) / most)
        for index, count in enumerate(counts or [0, 0])
    ]
    path = "L".join(f"{n(x)} {n(y)}" for x, y in points)
    return drawing(
        f"spark {kind}".strip(),
        WIDTH,
        HEIGHT,
        title,
        description,
        f'<path class="area" d="M{path}L{WIDTH} {HEIGHT}L0 {HEIGHT}z"/>',
        f'<path class="line" d="M{path}" vector-effect="non-scaling-stroke"/>',
        fills=True,
    )


def draw_column(amount: int | None, most: int, *, title: str, description: str) -> str:
    """Draw the win of one night: a column up from the axis, down where the players won, a frame where it is unknown.

    ``most`` is the longest of the nights that stand beside it.
    """
    height = 30 * abs(amount or 0) / max(most, 1)
    match amount:
        case None:
            column = rect("unknown", 14, 14, 12, 20, 2)
        case int() if amount < 0:
            column = rect("players", 14, 34, 12, max(1, height * 0.36), 2)
        case _:
            column = rect("bank", 14, 34 - height, 12, height, 2)
    axis = '<line class="ax" x1="0" x2="40" y1="34" y2="34"/>'
    return drawing("column", 40, 46, title, description, column, axis)
