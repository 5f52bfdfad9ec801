"""Amounts that add up through a night, as stairs, under the line from which something is due.

2,000 ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
            ╭──────●
      ╭─────╯
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from audit.charts.svg import drawing, line, n, text

WIDTH, HEIGHT = 600, 260
LEFT, RIGHT, TOP, BOTTOM = 70, 590, 20, 220
LABELLED = 12
APART_X, APART_Y = 84, 13
"""Steps with a label, and how far from the last label the next begins; of the others, hovering says each."""


@dataclass(frozen=True, slots=True)
class Step:
    """One exchange: how far right, from 0 to 1; what it came to so far; its text. ``is_due``: it reached the line."""

    share: float
    so_far: int
    label: str
    is_due: bool = False


def draw_stairs(
    steps: Sequence[Step],
    ticks: Sequence[tuple[float, str]],
    *,
    due: tuple[int, str] | None,
    title: str,
    description: str,
) -> str:
    """Draw steps in the order of the clock over ``ticks`` of it. ``due`` is an amount with its words, None for none."""
    most = max([each.so_far for each in steps] + ([due[0]] if due else []), default=0) * 1.1 or 1

    def y(amount: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * amount / most

    def x(share: float) -> float:
        return LEFT + share * (RIGHT - LEFT)

    parts = [line("ax", LEFT, BOTTOM, RIGHT, BOTTOM)]
    parts += [text(x(share), BOTTOM + 18, clock) for share, clock in ticks]
    if due is not None:
        parts += [
            f'<rect class="beyond" x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{n(y(due[0]) - TOP)}"/>',
            line("due", LEFT, y(due[0]), RIGHT, y(due[0])),
            text(LEFT + 4, y(due[0]) - 6, due[1], anchor="start"),
        ]
    path, before = [f"M{n(x(0))} {n(y(0))}"], 0
    dots = []
    labelled = (-float(WIDTH), 0.0)
    for number, each in enumerate(steps):
        path.append(f"L{n(x(each.share))} {n(y(before))}L{n(x(each.share))} {n(y(each.so_far))}")
        before = each.so_far
        kind = "reached" if each.is_due else "step"
        dots.append(
            f'<circle class="{kind}" cx="{n(x(each.share))}" cy="{n(y(each.so_far))}" r="4">'
            f"<title>{escape(each.label)}</title></circle>"
        )
        is_apart = abs(x(each.share) - labelled[0]) >= APART_X or abs(y(each.so_far) - labelled[1]) >= APART_Y
        if number < LABELLED and is_apart:
            labelled = (x(each.share), y(each.so_far))
            is_right = each.share > 0.75
            anchor, away = ("end", -7) if is_right else ("start", 7)
            dots.append(text(x(each.share) + away, y(each.so_far) + 14, each.label, "l", anchor=anchor))
    path.append(f"L{n(x(1))} {n(y(before))}")
    joined = "".join(path)
    parts.append(f'<path class="area" d="{joined}L{n(x(1))} {n(y(0))}z"/><path class="line" d="{joined}"/>')
    return drawing("stairs", WIDTH, HEIGHT, title, description, *parts, *dots)
