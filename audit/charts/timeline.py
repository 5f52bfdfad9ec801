"""Checkpoints by time: a row of dots for the log, one for each witness, and a band where a witness is silent.

The log   ●●●●●●●●●●●●●●●●●●●◉
Authority ●●●●●●●●●●●●●●●●●●●●
Group     ●●●●●●▒▒▒ silent since 16:12 ▒▒
          15:00     16:00     17:00
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from audit.charts.svg import drawing, line, n, text

WIDTH, ROW, TOP = 700, 34, 18
LEFT, RIGHT = 150, 690
LONGEST_NAME = 22
BAND = 20
HALF_LABEL = 0.16
"""Half of the room that the words of a band need, as a share of the time."""


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
        parts += [line("gr", _x(share), TOP - 8, _x(share), bottom), text(_x(share), bottom + 16, clock)]
    for number, row in enumerate(rows):
        parts += _row(row, TOP + ROW * number + ROW / 2)
    return drawing("timeline", WIDTH, bottom + 24, title, description, *parts)


def _x(share: float) -> float:
    return LEFT + min(max(share, 0.0), 1.0) * (RIGHT - LEFT)


def _row(row: Row, y: float) -> list[str]:
    name = row.name if len(row.name) <= LONGEST_NAME else f"{row.name[: LONGEST_NAME - 1]}…"
    parts = [
        f"<g><title>{escape(row.name)}</title>{text(0, y + 4, name, 'l', anchor='start')}</g>",
        line("track", LEFT, y, RIGHT, y),
    ]
    if row.silent is not None:
        since, words = row.silent
        x, middle = _x(since), min(max((min(max(since, 0.0), 1.0) + 1) / 2, HALF_LABEL), 1 - HALF_LABEL)
        parts += [
            f'<rect class="silent" x="{n(x)}" y="{n(y - BAND / 2)}" width="{n(max(RIGHT - x, 3))}" height="{BAND}"'
            ' rx="3"/>',
            text(_x(middle), y + 4, words, "silent"),
        ]
    for index, mark in enumerate(row.marks):
        is_newest = row.is_log and index == len(row.marks) - 1
        kind, radius = ("newest", 5) if is_newest else ("sealed" if row.is_log else "witness", 3.5)
        parts.append(
            f'<circle class="{kind}" cx="{n(_x(mark.share))}" cy="{n(y)}" r="{radius}">'
            f"<title>{escape(mark.label)}</title></circle>"
        )
    return parts
