"""The waterfall: from one total by steps to another. Each step begins where the one before it ends.

 9,902   +3,061    +330     −50    13,244
  ████    ░░░░╌╌╌╌╌▔▔▔▔╌╌╌╌▁▁▁▁╌╌╌╌ ████
  ████╌╌╌╌                          ████
──────────────────────────────────────────
 theory   luck    errors  variance   win
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from audit.charts.svg import drawing, line, rect, text

WIDTH, HEIGHT = 690, 250
LEFT, RIGHT = 64, 682
TOP, BOTTOM = 30, 190
"""The plot: lengths of the drawing, whose width is that of the page's card."""

GAP = 28
LEAST = 2.5
"""The height of a bar too small to be seen."""

UNKNOWN = 16
"""The height of the frame of what is not known."""

TICKS = 3
NAME_Y, REMARK_Y, REMARK_STEP = 210, 226, 14


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: ``kind`` is its colour, ``amount`` its height (None: not known), ``value`` how the amount is written.

    A total stands on the axis; any other bar is a step from where the one before it ended. ``remarks`` are short lines.
    """

    kind: str
    name: str
    amount: int | None
    value: str
    remarks: tuple[str, ...] = ()
    is_total: bool = False


def draw_waterfall(bars: Sequence[Bar], *, title: str, description: str, tick: Callable[[int], str]) -> str:
    """Draw bars from left to right. ``tick`` writes an amount at the scale's left."""
    ends = _ends(bars)
    low, high = min(0, *(min(each) for each in ends)), max(0, *(max(each) for each in ends))
    span = (high - low) or 1

    def y(amount: float) -> float:
        return BOTTOM - (amount - low) * (BOTTOM - TOP) / span

    width = (RIGHT - LEFT - GAP * len(bars)) / len(bars)
    lefts = [LEFT + GAP / 2 + number * (width + GAP) for number in range(len(bars))]
    parts = [_scale(low, high, y, tick), line("axis", LEFT, y(0), RIGHT, y(0))]
    for bar, (begin, end), x, following in zip(bars, ends, lefts, [*lefts[1:], None], strict=True):
        parts.append(_bar(bar, x, width, y(begin), y(end)))
        if following is not None and bar.amount is not None:
            parts.append(line("step", x + width, y(end), following, y(end)))
    return drawing("waterfall", WIDTH, HEIGHT, title, description, *parts)


def _ends(bars: Sequence[Bar]) -> list[tuple[int, int]]:
    """Return where each bar begins and ends; a bar that is not known ends where it begins."""
    ends, reached = [], 0
    for bar in bars:
        begin = 0 if bar.is_total and bar.amount is not None else reached
        reached = begin + (bar.amount or 0)
        ends.append((begin, reached))
    return ends


def _bar(bar: Bar, x: float, width: float, begin: float, end: float) -> str:
    top, bottom = min(begin, end), max(begin, end)
    centre = x + width / 2
    if bar.amount is None:
        bottom = min(bottom + UNKNOWN / 2, BOTTOM)  # above the names
        top = bottom - UNKNOWN
    elif bottom - top < LEAST:
        top, bottom = (top + bottom - LEAST) / 2, (top + bottom + LEAST) / 2
    kind = bar.kind if bar.amount is not None else "unknown"
    shape = rect(kind, x, top, width, bottom - top, min(3.0, (bottom - top) / 2))
    remarks = [text(centre, REMARK_Y + REMARK_STEP * index, remark) for index, remark in enumerate(bar.remarks)]
    return "".join([shape, text(centre, top - 8, bar.value, "value"), text(centre, NAME_Y, bar.name, "name"), *remarks])


def _scale(low: int, high: int, y: Callable[[float], float], tick: Callable[[int], str]) -> str:
    """Draw at most ``TICKS`` round amounts with their lines; the axis is the line of 0."""
    step = round_step(high - low)
    amounts = range(-(-low // step) * step, high + 1, step)
    return "".join(
        line("grid", LEFT, y(amount), RIGHT, y(amount)) + text(LEFT - 8, y(amount) + 4, tick(amount), anchor="end")
        for amount in amounts
        if amount
    )


def round_step(span: int, ticks: int = TICKS) -> int:
    """Return 1, 2 or 5 times a power of ten that fits at most ``ticks`` times into ``span``."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if span <= ticks * step * factor:
                return step * factor
        step *= 10
