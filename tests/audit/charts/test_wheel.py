"""The wheel and the rival explanations: where a bar ends, what is marked, what is said."""

from __future__ import annotations

import re
from math import hypot
from xml.etree import ElementTree

import pytest

from audit.charts.rivals import Rival, draw_rivals
from audit.charts.wheel import FOOT, MIDDLE, TIP, Pocket, draw_wheel

POCKETS = [Pocket(str(index), "rn"[index % 2], times, f"{index}: {times}") for index, times in enumerate([4, 8, 2, 6])]


def wheel(pockets: list[Pocket] = POCKETS, best: tuple[int, ...] = (1,)) -> str:
    return draw_wheel(pockets, best, expected=5.0, band=(3.0, 7.0), middle=("40%", "<b>"), title="t", description="d")


def lengths(svg: str) -> list[float]:
    """Return how far out the bars end."""
    ends = re.findall(r'class="bar[ \w]*" d="M([\d.]+) ([\d.]+)A', svg)
    return [hypot(float(x) - MIDDLE, float(y) - MIDDLE) for x, y in ends]


def test_a_bar_is_as_long_as_its_pocket_came_and_the_longest_ends_at_the_tip() -> None:
    assert lengths(wheel()) == pytest.approx([FOOT + (TIP - FOOT) * times / 8 for times in (4, 8, 2, 6)], abs=0.02)


def test_what_fits_best_is_marked_and_the_others_are_pale() -> None:
    svg = wheel(best=(1, 2))
    assert svg.count('class="bar fits"') == svg.count('class="best"') == 2
    assert svg.count(" pale") == 2
    assert " pale" not in wheel(best=())


def test_nothing_that_came_is_drawn_too_and_texts_are_escaped() -> None:
    svg = wheel([Pocket("<0>", "z", 0, "<none>")] * 37, ())
    ElementTree.fromstring(svg)
    assert "&lt;none&gt;" in svg
    assert "&lt;b&gt;" in svg
    assert lengths(svg) == pytest.approx([FOOT] * 37, abs=0.02)


def test_bars_begin_at_chance_and_what_is_below_it_goes_the_other_way() -> None:
    rivals = [Rival("a", 3.0, "1,000"), Rival("b", 1.0, "10"), Rival("c", -1.0, "0.1")]
    svg = draw_rivals(rivals, 2.0, chance="chance", at_level="level", title="t", description="d")
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="\d+" width="([\d.]+)"', svg)
    (axis,) = re.findall(r'<line class="ax" x1="([\d.]+)"', svg)
    (level,) = re.findall(r'<line class="level" x1="([\d.]+)"', svg)
    assert [kind for kind, _x, _width in bars] == ["raised", "luck", "none"]
    assert [float(x) for _kind, x, _width in bars[:2]] == [float(axis)] * 2
    assert float(bars[2][1]) + float(bars[2][2]) == pytest.approx(float(axis), abs=0.02)
    widths = [float(width) for _kind, _x, width in bars]
    assert widths == pytest.approx([3 * widths[1], widths[1], widths[1]], abs=0.05)
    assert float(level) - float(axis) == pytest.approx(2 * widths[1], abs=0.05)


def test_evidence_of_nothing_is_drawn_too() -> None:
    rivals = [Rival("a", 0.0, "1"), Rival("b", -400.0, "0")]
    ElementTree.fromstring(draw_rivals(rivals, 0.5, chance="c", at_level="l", title="t", description="d"))
