"""The ruler: a session from end to end, where the page stands in it, and its findings as ticks that are links.

▾      ▾ ▾
──┴──────────┃─────────
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from audit.charts.svg import drawing, line, n, text

WIDTH, HEIGHT, BASE = 1000, 62, 34
EDGE = 20


@dataclass(frozen=True, slots=True)
class Tick:
    """A finding: how far along, from 0 to 1; who loses, as a class; where it leads, and what hovering says."""

    share: float
    kind: str
    address: str
    says: str


def draw_ruler(
    ticks: Sequence[Tick], hours: Sequence[tuple[float, str]], *, here: float, title: str, description: str
) -> str:
    """Draw a session with its hours. ``here`` is where the page stands in it, from 0 to 1."""

    def x(share: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, share))

    parts = [line("ax", EDGE, BASE, WIDTH - EDGE, BASE)]
    parts += [
        line("gr", x(share), BASE, x(share), BASE + 6) + text(x(share), BASE + 22, clock) for share, clock in hours
    ]
    for tick in ticks:
        at, says = x(tick.share), escape(tick.says)
        parts.append(
            f'<a href="{escape(tick.address)}" aria-label="{says}"><title>{says}</title>'
            f'<path class="tick {tick.kind}" d="M{n(at - 6)} 10h12l-6 10z"/></a>'
        )
    parts.append(line("here", x(here), 6, x(here), BASE + 8))
    return drawing("ruler", WIDTH, HEIGHT, title, description, *parts).replace('role="img"', 'role="group"', 1)
