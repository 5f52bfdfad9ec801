"""The share: a short bar beside an amount of a list, on the scale of the largest. A small multiple."""

from __future__ import annotations

from collections.abc import Sequence

from audit.charts.svg import n

WIDTH, HEIGHT = 100, 8


def draw_share(amount: int, most: int, *, kind: str) -> str:
    """Draw a bar as long as ``amount`` is of ``most``; ``kind`` is the class of its colour."""
    width = max(2.0, WIDTH * amount / max(most, 1)) if amount else 0.0
    return (
        f'<svg class="chart share" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" width="{n(width)}" height="{HEIGHT}"/></svg>'
    )


def draw_parts(amount: int, part: int, most: int) -> str:
    """Draw a bar as long as ``amount`` is of ``most``; its first ``part``, if there is any, stands out."""
    width = max(2.0, WIDTH * amount / max(most, 1)) if amount else 0.0
    first = min(width, max(3.0, WIDTH * part / max(most, 1))) if part else 0.0
    return (
        f'<svg class="chart share" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="dealt" width="{n(width)}" height="{HEIGHT}"/>'
        f'<rect class="bank" width="{n(first)}" height="{HEIGHT}"/></svg>'
    )


def draw_split(parts: Sequence[tuple[str, int]]) -> str:
    """Draw one bar cut into parts as wide as their numbers, in order; each is the class of its colour and a number."""
    whole, left, drawn = max(sum(number for _kind, number in parts), 1), 0, []
    for kind, number in parts:
        width = max(0.5, WIDTH * number / whole - 0.6)
        drawn.append(
            f'<rect class="{kind}" x="{n(WIDTH * left / whole)}" width="{n(width)}" height="{HEIGHT}" rx="1"/>'
        )
        left += number
    return (
        f'<svg class="chart split" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(drawn)}</svg>"
    )
