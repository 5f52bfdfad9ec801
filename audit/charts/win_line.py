"""The win line: what the house has won so far, through a night, as a small multiple. The rule is where it began.

     ╭─╮   ╭──
────╯   ╰─╯
"""

from __future__ import annotations

from collections.abc import Sequence

from audit.charts.svg import drawing, line, n

WIDTH, HEIGHT = 120, 44
MARGIN = 2

POINTS = 60
"""Points drawn, at most: as many as a small multiple shows."""


def draw_win_line(won: Sequence[int], *, title: str, description: str) -> str:
    """Draw amounts won so far, in order, evenly spaced; the line begins at nothing won."""
    points = thinned([0, *won])
    low, high = min(points), max(points)
    span = (high - low) or 1

    def y(amount: int) -> float:
        return HEIGHT - MARGIN - (amount - low) * (HEIGHT - 2 * MARGIN) / span

    last = max(1, len(points) - 1)
    path = "L".join(f"{n(index * WIDTH / last)} {n(y(amount))}" for index, amount in enumerate(points))
    winner = "bank" if points[-1] >= 0 else "players"
    base = n(y(0))
    return drawing(
        "win-line",
        WIDTH,
        HEIGHT,
        title,
        description,
        line("zero", 0, y(0), WIDTH, y(0)),
        f'<path class="area {winner}" d="M{path}L{WIDTH} {base}L0 {base}z"/>',
        f'<path class="line {winner}" d="M{path}" vector-effect="non-scaling-stroke"/>',
        fills=True,
    )


def thinned(amounts: Sequence[int]) -> list[int]:
    """Return at most ``POINTS`` of the amounts, evenly spaced, the first and the last among them."""
    if len(amounts) <= POINTS:
        return list(amounts)
    last = len(amounts) - 1
    return [amounts[round(index * last / (POINTS - 1))] for index in range(POINTS)]
