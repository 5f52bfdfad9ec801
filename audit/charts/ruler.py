"""The ruler: a session from end to end, its coups, who dealt, its findings as ticks, and where the page stands in it.

    ▾            ▾ ▾          findings, each a link to its event
▂▃▅▇▇▅▃▂▁▃▅▇▆▅▃▂▁             coups in equal times, each a link to the first of them
[ Baron ][ Fournier  ]        who dealt
16:00   18:00 ┃ 20:00         the hours, and the instant
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from audit.charts.svg import drawing, line, n, rect, text

WIDTH, HEIGHT = 1140, 128
EDGE = 8
TOP, BASE = 20, 62
BAND, BAND_HEIGHT = 72, 22
CLOCK = 116
LETTER = 6.4
"""How wide a letter of a name is, at most nearly always."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A finding: how far along, from 0 to 1; who loses, as a class; where it leads, and what hovering says."""

    share: float
    kind: str
    address: str
    says: str


@dataclass(frozen=True, slots=True)
class Bar:
    """The coups of one of equal times, ``begin`` to ``end`` as shares; ``is_here``: the page stands in it."""

    begin: float
    end: float
    number: int
    address: str
    says: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class Band:
    """Who dealt from ``begin`` to ``end``, as shares. ``short`` is drawn where the name does not fit."""

    begin: float
    end: float
    name: str
    short: str
    is_here: bool


def draw_ruler(
    ticks: Sequence[Tick],
    hours: Sequence[tuple[float, str]],
    bars: Sequence[Bar] = (),
    bands: Sequence[Band] = (),
    *,
    here: float,
    clock: str,
    title: str,
    description: str,
) -> str:
    """Draw a session. ``here`` is where the page stands in it, from 0 to 1, and ``clock`` the instant in words."""
    tallest = max((bar.number for bar in bars), default=1)
    parts = [line("ax", EDGE, BASE, WIDTH - EDGE, BASE)]
    parts += [_bar(bar, tallest) for bar in bars]
    parts += [_band(band) for band in bands]
    label = 7 * len(clock) + 16
    middle = min(max(_x(here), EDGE + label / 2), WIDTH - EDGE - label / 2)
    for share, hour in hours:
        parts.append(line("gr", _x(share), 97, _x(share), 103))
        if abs(_x(share) - middle) > label / 2 + 20:
            parts.append(text(_x(share), CLOCK, hour))
    for tick in ticks:
        at, says = _x(tick.share), escape(tick.says)
        parts.append(
            f'<a href="{escape(tick.address)}" aria-label="{says}"><title>{says}</title>'
            f'<path class="tick {tick.kind}" d="M{n(at - 6)} 5h12l-6 10z"/></a>'
        )
    parts.append(line("here", _x(here), 14, _x(here), 101))
    parts.append(rect("here", middle - label / 2, 101, label, 22, 6))
    parts.append(text(middle, CLOCK, clock, "here"))
    return drawing("ruler", WIDTH, HEIGHT, title, description, *parts).replace('role="img"', 'role="group"', 1)


def _x(share: float) -> float:
    return EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, share))


def _bar(bar: Bar, tallest: int) -> str:
    """Draw coups as a column whose whole height is the link. Keys go from coup to coup by other links."""
    x, width = _x(bar.begin), max(1.0, _x(bar.end) - _x(bar.begin) - 2)
    height, says = max(1.0, (BASE - TOP) * bar.number / tallest), escape(bar.says)
    kind = "coups now" if bar.is_here else "coups"
    return (
        f'<a href="{escape(bar.address)}" tabindex="-1" aria-label="{says}"><title>{says}</title>'
        f"{rect('hit', x, TOP, width, BASE - TOP)}{rect(kind, x, BASE - height, width, height, 1.5)}</a>"
    )


def _band(band: Band) -> str:
    x, width = _x(band.begin), max(1.0, _x(band.end) - _x(band.begin) - 2)
    kind = "band now" if band.is_here else "band"
    fitting = next((each for each in (band.name, band.short) if len(each) * LETTER + 12 <= width), "")
    name = text(x + 8, BAND + 15, fitting, "l now" if band.is_here else "l", anchor="start") if fitting else ""
    return f"<g><title>{escape(band.name)}</title>{rect(kind, x, BAND, width, BAND_HEIGHT, 5)}{name}</g>"
