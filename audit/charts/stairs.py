"""Amounts that add up through a night, as stairs, under the line from which something is due.

2,000 ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
1,000       ╭──────●──┃
      ╭─────╯         ┃
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from audit.charts.svg import circle, drawing, line, n, rect, text
from audit.charts.waterfall import round_step

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


@dataclass(frozen=True, slots=True)
class Out:
    """What went the other way, as a bar: how far right, from 0 to 1; how much; its text."""

    share: float
    amount: int
    label: str


BAR, TICKS = 6, 5


def draw_stairs(
    steps: Sequence[Step],
    ticks: Sequence[tuple[float, str]],
    *,
    due: tuple[int, str] | None,
    title: str,
    description: str,
    outs: Sequence[Out] = (),
    amount: Callable[[int], str] | None = None,
) -> str:
    """Draw steps in the order of the clock over ``ticks`` of it, and ``outs`` as bars among them.

    ``due`` is an amount with its words, None for none; ``amount`` writes one at the scale's left, None for no scale.
    """
    amounts = [*(each.so_far for each in steps), *(each.amount for each in outs), *([due[0]] if due else [])]
    highest = max(amounts, default=0)
    most = highest * 1.1 or 1

    def y(amount: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * amount / most

    def x(share: float) -> float:
        return LEFT + share * (RIGHT - LEFT)

    parts = []
    if amount is not None and highest:
        for each in range(0, highest + 1, round_step(highest, TICKS)):
            parts += [
                line("gr", LEFT, y(each), RIGHT, y(each)),
                text(LEFT - 8, y(each) + 4, amount(each), anchor="end"),
            ]
    parts.append(line("ax", LEFT, BOTTOM, RIGHT, BOTTOM))
    parts += [text(x(share), BOTTOM + 18, clock) for share, clock in ticks]
    if due is not None:
        parts += [
            rect("beyond", LEFT, TOP, RIGHT - LEFT, y(due[0]) - TOP),
            line("due", LEFT, y(due[0]), RIGHT, y(due[0])),
            text(RIGHT - 4, y(due[0]) - 6, due[1], anchor="end"),
        ]
    path, before = [f"M{n(x(0))} {n(y(0))}"], 0
    dots = []
    labelled = (-float(WIDTH), 0.0)
    for number, step in enumerate(steps):
        path.append(f"L{n(x(step.share))} {n(y(before))}L{n(x(step.share))} {n(y(step.so_far))}")
        before = step.so_far
        kind = "reached" if step.is_due else "step"
        dots.append(circle(kind, x(step.share), y(step.so_far), 4, label=step.label))
        below = y(step.so_far) + 14
        at = below if below < BOTTOM - 4 else y(step.so_far) - 8
        is_apart = abs(x(step.share) - labelled[0]) >= APART_X or abs(at - labelled[1]) >= APART_Y
        if number < LABELLED and is_apart:
            labelled = (x(step.share), at)
            is_right = step.share > 0.75
            anchor, away = ("end", -7) if is_right else ("start", 7)
            dots.append(text(x(step.share) + away, at, step.label, "l", anchor=anchor))
    path.append(f"L{n(x(1))} {n(y(before))}")
    joined = "".join(path)
    parts.append(f'<path class="area" d="{joined}L{n(x(1))} {n(y(0))}z"/><path class="line" d="{joined}"/>')
    parts += [_bar(x(each.share), y(each.amount), each.label) for each in outs]
    return drawing("stairs", WIDTH, HEIGHT, title, description, *parts, *dots)


def _bar(x: float, top: float, label: str) -> str:
    is_right, height = x > WIDTH / 2, max(2.0, BOTTOM - top)
    words = text(x + (-BAR if is_right else BAR), top - 5, label, "l", anchor="end" if is_right else "start")
    return rect("out", x - BAR / 2, top, BAR, height, 2, label=label) + words
