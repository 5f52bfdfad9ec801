"""The dumbbell: one number before and after, on the scale of the largest of a list. A small multiple."""

from __future__ import annotations

from audit.charts.svg import n

WIDTH, HEIGHT, MARGIN = 200, 18, 8


def draw_dumbbell(before: int, after: int, most: int) -> str:
    """Draw an empty circle at ``before`` and a full one at ``after``, with a line between them; its class says which
    way: "fewer", "more" or "same".
    """
    left, right = (MARGIN + (WIDTH - 2 * MARGIN) * number / max(most, 1) for number in (before, after))
    kind = "same" if before == after else "more" if after > before else "fewer"
    middle = HEIGHT / 2
    return (
        f'<svg class="chart dumbbell {kind}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
        f'<line x1="{n(left)}" x2="{n(right)}" y1="{n(middle)}" y2="{n(middle)}"/>'
        f'<circle class="before" cx="{n(left)}" cy="{n(middle)}" r="4.5"/>'
        f'<circle class="after" cx="{n(right)}" cy="{n(middle)}" r="5"/></svg>'
    )
