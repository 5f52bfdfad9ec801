"""Delays as curves: an SVG without anything from elsewhere, legible on light and on dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT, COLUMNS = 300, 190, 3
LEFT, RIGHT, TOP, BOTTOM = 34, 12, 34, 30
COLOURS = ("#0072b2", "#d55e00", "#009e73")


def figure(curves: Sequence[tuple[str, np.ndarray]]) -> str:
    """Return a panel for each alternative: which part of its runs has reached wealth 1,000 after how many draws.

    A curve is named "alternative, strength (unit)"; those of one alternative follow each other.
    """
    panels: dict[str, list[tuple[str, np.ndarray]]] = {}
    for name, delays in curves:
        title, _comma, strength = name.rpartition(", ")
        label, _bracket, unit = strength.partition(" (")
        panels.setdefault(f"{title} ({unit}", []).append((label, delays))
    rows = -(-len(panels) // COLUMNS)
    body = [
        f'<g transform="translate({index % COLUMNS * WIDTH},{index // COLUMNS * HEIGHT})">{_panel(title, drawn)}</g>'
        for index, (title, drawn) in enumerate(panels.items())
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH + 20} {rows * HEIGHT}" role="img"'
        ' font-family="sans-serif" font-size="10"><title>Part of the runs that reached wealth 1,000, by draws</title>'
        "<style>text{fill:#222}.axis{stroke:#888;fill:none}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>"
        + "".join(body)
        + "</svg>\n"
    )


def _panel(title: str, curves: Sequence[tuple[str, np.ndarray]]) -> str:
    finite = np.concatenate([delays[np.isfinite(delays)] for _label, delays in curves])
    low, high = (np.log10(finite.min()), np.log10(finite.max()) + 1e-9) if len(finite) else (0.0, 1.0)
    low, high = np.floor(low * 2) / 2, np.ceil(high * 2) / 2
    if low == high:
        high = low + 0.5
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(draws: float) -> float:
        return LEFT + across * (np.log10(draws) - low) / (high - low)

    parts = [f'<text x="{LEFT}" y="12" font-weight="bold">{escape(title)}</text>']
    for part in (0, 0.5, 1):
        y = TOP + down * (1 - part)
        parts.append(f'<path class="axis" stroke-opacity=".4" d="M{LEFT} {y:.1f}h{across}"/>')
        parts.append(f'<text x="{LEFT - 4}" y="{y + 3:.1f}" text-anchor="end">{part:.0%}</text>')
    for power in range(int(np.ceil(low)), int(np.floor(high)) + 1):
        at = x(10.0**power)
        parts.append(f'<path class="axis" stroke-opacity=".4" d="M{at:.1f} {TOP}v{down}"/>')
        parts.append(f'<text x="{at:.1f}" y="{TOP + down + 13}" text-anchor="middle">{10**power:,}</text>')
    for index, (label, delays) in enumerate(curves):
        ends = np.sort(delays[np.isfinite(delays)])
        steps = [f"M{LEFT} {TOP + down}"]
        for rank, draws in enumerate(ends, start=1):
            steps.append(f"H{x(draws):.1f}V{TOP + down * (1 - rank / len(delays)):.1f}")
        colour = COLOURS[index % len(COLOURS)]
        parts.append(f'<path d="{"".join(steps)}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts.append(f'<text x="{LEFT + 88 * index}" y="26" style="fill:{colour}">{escape(label)}</text>')
    return "".join(parts)
