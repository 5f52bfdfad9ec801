"""What the charts have in common: numbers, texts, the opening of a drawing, and its colours on paper."""

from __future__ import annotations

from html import escape

PRINT_STYLES = """
text { font: 400 11px "Libertinus Serif"; fill: #5e645f; }
text.value { fill: #161a17; font-weight: 600; font-size: 12.5px; }
text.name { fill: #161a17; font-weight: 600; font-size: 12px; }
.grid { stroke: #e9e9e2; } .axis { stroke: #d3d4ca; } .step { stroke: #a5aaa3; stroke-dasharray: 2 2; }
.theory { fill: #8a928b; } .luck { fill: #7d9cc0; } .error { fill: #b0471c; } .variance { fill: #d9a53a; }
.win { fill: #0b5d46; } .loss { fill: #7d9cc0; } .unadjudicated { fill: #5d6470; }
.unknown { fill: none; stroke: #5d6470; stroke-dasharray: 4 3; }
.range { fill: #d3d4ca; } .zero { stroke: #d3d4ca; }
.dot { fill: #0b5d46; } .dot.outside { fill: #b0471c; }
.line { fill: none; stroke-width: 1.5; stroke-linejoin: round; } .area { opacity: .13; stroke: none; }
.line.bank { stroke: #0b5d46; } .line.players { stroke: #7d9cc0; }
.area.bank { fill: #0b5d46; } .area.players { fill: #7d9cc0; }
.gr { stroke: #e9e9e2; } .ax { stroke: #d3d4ca; } text.l { fill: #4c534e; } .beyond { fill: #fbf2dc; }
.level { stroke: #d9a53a; stroke-dasharray: 4 3; } .raised { fill: #d9a53a; }
.evidence .line { stroke: #0b5d46; } .evidence .area, .moved { fill: #0b5d46; } .tick { stroke: #a5aaa3; }
.timeline circle { fill: #0b5d46; } .timeline .newest { fill: #d9a53a; } .track { stroke: #d3d4ca; }
.timeline .silent { fill: #fbe7e4; } .timeline text.silent { fill: #b0231c; }
.tall { stroke: #161a17; stroke-width: 2; }
.days .amount { fill: #0b5d46; opacity: .4; } .days .nothing { fill: #d3d4ca; } .days .none { fill: #a5aaa3; }
.days .player { fill: #4a4cc0; } .days .bank { fill: #b0471c; }
"""
"""The colours on paper: those of the light page."""


def n(number: float) -> str:
    """Format a length: two decimals at most, independent of the locale."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def text(x: float, y: float, content: str, kind: str = "", *, anchor: str = "middle") -> str:
    """Draw text whose baseline has its middle, start or end (``anchor``) there."""
    css = f' class="{kind}"' if kind else ""
    return f'<text{css} x="{n(x)}" y="{n(y)}" text-anchor="{anchor}">{escape(content)}</text>'


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{n(x1)}" y1="{n(y1)}" x2="{n(x2)}" y2="{n(y2)}"/>'


def rect(kind: str, x: float, y: float, width: float, height: float, corner: float = 0, *, label: str = "") -> str:
    """Draw a rectangle from its upper left corner, round by ``corner``; ``label`` is read where one points at it."""
    corners = f' rx="{n(corner)}"' if corner else ""
    opening = f'<rect class="{kind}" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}"{corners}'
    return f"{opening}><title>{escape(label)}</title></rect>" if label else f"{opening}/>"


def circle(kind: str, x: float, y: float, radius: float, *, label: str = "") -> str:
    """Draw a dot around its middle; ``label`` is read where one points at it."""
    opening = f'<circle class="{kind}" cx="{n(x)}" cy="{n(y)}" r="{n(radius)}"'
    return f"{opening}><title>{escape(label)}</title></circle>" if label else f"{opening}/>"


def drawing(
    kind: str, width: float, height: float, title: str, description: str, *parts: str, fills: bool = False
) -> str:
    """Return a drawing with its title and its description; ``fills``: it takes the whole box that it is put in."""
    ratio = ' preserveAspectRatio="none"' if fills else ""
    described = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart {kind}" viewBox="0 0 {n(width)} {n(height)}"'
        f'{ratio} role="img">{described}{"".join(parts)}</svg>'
    )


def for_print(svg: str) -> str:
    """Return a drawing with its colours in it, for paper and for files."""
    begin, end = svg.split(">", 1)
    return f"{begin}><style>{PRINT_STYLES}</style>{end}"
