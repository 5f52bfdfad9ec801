"""Checkpoints by time: a row of dots for the log, one for each witness, and a band where a witness is silent.

The log
●●●●●●●●●●●●●●●●●●●◉
Authority
●●●●●●▒▒ silent since 16:12 ▒▒
15:00     16:00     17:00

The names stand above the rows, so that the whole of it fits a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from audit.charts.svg import circle, drawing, line, rect, text

WIDTH, ROW, TOP = 700, 58, 6
LEFT, RIGHT = 6, 692
LONGEST_NAME = 48
BAND = 26
HALF_LABEL, HALF_CLOCK = 0.22, 0.05
"""Half of the room that the words of a band need, as a share of the time; that of a clock."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A checkpoint or a cosignature: how far right, from 0 to 1, and its words."""

    share: float
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """The log, or a witness: its marks in the order of time, and since which share it is silent, with the words."""

    name: str
    marks: Sequence[Mark]
    silent: tuple[float, str] | None = None
    is_log: bool = False


def draw_timeline(rows: Sequence[Row], ticks: Sequence[tuple[float, str]], *, title: str, description: str) -> str:
    """Draw rows one below the other over ``ticks`` of the clock. The newest mark of the log stands out."""
    bottom = TOP + ROW * max(len(rows), 1)
    parts = []
    for share, clock in ticks:
        x, anchor = _x(share), "start" if share < HALF_CLOCK else "end" if share > 1 - HALF_CLOCK else "middle"
        parts += [line("gr", x, TOP, x, bottom + 4), text(x, bottom + 22, clock, anchor=anchor)]
    for number, row in enumerate(rows):
        parts += _row(row, TOP + ROW * number + ROW - BAND / 2)
    return drawing("timeline", WIDTH, bottom + 30, title, description, *parts)


def _x(share: float) -> float:
    return LEFT + min(max(share, 0.0), 1.0) * (RIGHT - LEFT)


def _row(row: Row, y: float) -> list[str]:
    name = row.name if len(row.name) <= LONGEST_NAME else f"{row.name[: LONGEST_NAME - 1]}…"
    parts = [
        f"<g><title>{escape(row.name)}</title>{text(LEFT, y - BAND / 2 - 7, name, 'l', anchor='start')}</g>",
        line("track", LEFT, y, RIGHT, y),
    ]
    if row.silent is not None:
        since, words = row.silent
        x, middle = _x(since), min(max((min(max(since, 0.0), 1.0) + 1) / 2, HALF_LABEL), 1 - HALF_LABEL)
        parts += [
            rect("silent", x, y - BAND / 2, max(RIGHT - x, 3), BAND, 3),
            text(_x(middle), y + 6, words, "silent"),
        ]
    for index, mark in enumerate(row.marks):
        is_newest = row.is_log and index == len(row.marks) - 1
        kind, radius = ("newest", 5) if is_newest else ("sealed" if row.is_log else "witness", 3.5)
        parts.append(circle(kind, _x(mark.share), y, radius, label=mark.label))
    return parts
