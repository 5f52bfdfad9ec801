"""Charts as SVG, written on the server: one function a chart, the same for page, print and PDF.

A chart knows nothing of money or of nights: its texts are ready, its numbers are lengths. Colours are classes, which
the page's style sheet fills in by its tokens and ``for_print`` by colours of its own. Each has a title and a
description; the page that shows it has its numbers as a table.
"""

from __future__ import annotations

from audit.charts.evidence import draw_evidence, draw_evidence_line
from audit.charts.interval import draw_interval
from audit.charts.svg import for_print
from audit.charts.waterfall import Bar, draw_waterfall
from audit.charts.win_line import draw_win_line

__all__ = [
    "Bar",
    "draw_evidence",
    "draw_evidence_line",
    "draw_interval",
    "draw_waterfall",
    "draw_win_line",
    "for_print",
]
