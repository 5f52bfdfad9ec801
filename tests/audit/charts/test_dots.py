"""Processes as dots: names that no line strikes, and that stay within the drawing."""

from __future__ import annotations

import re

import pytest

from audit.charts.dots import CHARACTER, LEFT, RIGHT, Dot, Words, _x, draw_dots

WORDS = Words("chance", "nothing", "level", "near", "asked")


def name_of(way: float, name: str) -> tuple[float, str, str]:
    """Return where the name of a dot is written, which of its ends is there, and what is written."""
    svg = draw_dots([Dot(way, "raised", name)], WORDS, title="t", description="d")
    ((x, anchor, written),) = re.findall(
        r'<text class="l" x="([\d.]+)" y="[^"]+" text-anchor="(\w+)">(.*?)</text>', svg
    )
    assert f"<title>{name}</title>" in svg, "whole on hovering"
    return float(x), anchor, written


@pytest.mark.parametrize("way", [0.4, 0.89, 0.99, 1.0, 1.02, 1.1, 9.0])
def test_a_name_ends_before_its_dot_and_before_the_level(way: float) -> None:
    x, anchor, written = name_of(way, "Pascale Perrin")
    assert (anchor, written) == ("end", "Pascale Perrin")
    assert x <= min(_x(way), _x(1)) - 9.9


@pytest.mark.parametrize("way", [-3.0, -0.2, 0.1, 0.3, 0.7, 1.0, 4.0])
def test_a_long_name_is_cut_to_the_room_that_there_is(way: float) -> None:
    x, anchor, written = name_of(way, "Marie-Antoinette de la Rochefoucauld, " * 5)
    assert written.endswith("…")
    wide = len(written) * CHARACTER
    begin = x if anchor == "start" else x - wide
    assert begin >= LEFT
    assert begin + wide <= RIGHT


@pytest.mark.parametrize("named", [0, 1, 2, 6, 9])
def test_no_quiet_dot_lies_on_a_name(named: int) -> None:
    dots = [Dot(0.0)] * 500 + [Dot(1.1, "raised", "Pascale Perrin")] * named
    svg = draw_dots(dots, WORDS, title="t", description="d")
    names = [float(y) for y in re.findall(r'<text class="l" x="[^"]+" y="([^"]+)"', svg)]
    quiet = [float(y) for y in re.findall(r'<circle class="quiet" cx="[^"]+" cy="([^"]+)"', svg)]
    assert len(names) == min(named, 6)
    assert quiet
    assert min(quiet) - 3.4 > max(names, default=0)
