"""Findings by month with what was mistaken on top, and a share with its interval: to scale, each said in words."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from audit.charts.interval import draw_share_interval
from audit.charts.months import MonthColumn, draw_months
from audit.charts.share import draw_parts
from audit.charts.stairs import Step, draw_stairs

MONTHS = [
    MonthColumn("Sep", 4, 0, "Sep 2026: 4"),
    MonthColumn("Oct", 5, 1, "Oct 2026: 5, closed as mistaken: 1"),
    MonthColumn("Nov", 0, 0, "Nov 2026: 0"),
]


def heights(svg: str, kind: str) -> list[float]:
    return [float(height) for height in re.findall(rf'<rect class="{kind}"[^>]* height="([\d.]+)"', svg)]


def test_what_stood_and_what_was_mistaken_are_on_one_scale() -> None:
    svg = draw_months(MONTHS, title="Payout missing", description="by month")
    first, second = heights(svg, "stood")
    (mistaken,) = heights(svg, "mistaken")
    assert first == second, "four stood in both"
    assert mistaken == pytest.approx(first / 4)
    assert re.findall(r'<text class="v"[^>]*>(\d+)</text>', svg) == ["4", "5"]
    assert re.findall(r'<text class="l"[^>]*>(\w+)</text>', svg) == ["Sep", "Oct", "Nov"]
    assert "<title>Oct 2026: 5, closed as mistaken: 1</title>" in svg


def test_the_month_that_is_not_over_is_darker() -> None:
    svg = draw_months([MONTHS[0], MonthColumn("Oct", 2, 0, "Oct")], title="t", description="d")
    assert len(heights(svg, "stood now")) == 1


def test_no_month_with_a_finding_is_an_empty_drawing_with_its_words() -> None:
    svg = draw_months([MONTHS[2]], title="Payout missing", description="Nov 2026: 0")
    assert heights(svg, "stood") == heights(svg, "mistaken") == []
    assert "<desc>Nov 2026: 0</desc>" in svg


@pytest.mark.parametrize(("low", "chance", "high"), [(246_500, 243_000, 357_900), (100_000, 300_000, 400_000)])
def test_a_share_lies_on_its_interval_beside_what_chance_gives(low: int, chance: int, high: int) -> None:
    value = (low + high) // 2
    svg = draw_share_interval(
        low,
        high,
        value,
        chance=chance,
        value_in_words="30.0%",
        at_chance="chance: 24.3%",
        tick=lambda amount: f"{amount / 10_000:.1f}%",
        title="How certain",
        description="in words",
    )
    left, width = (float(each) for each in re.findall(r'class="range" x="([\d.]+)" y="29" width="([\d.]+)"', svg)[0])
    dot = float(re.findall(r'class="dot" cx="([\d.]+)"', svg)[0])
    line = float(re.findall(r'class="chance" x1="([\d.]+)"', svg)[0])
    assert left < dot < left + width
    assert (line < left) is (chance < low)
    assert ">30.0%<" in svg
    assert ">chance: 24.3%<" in svg


def test_the_errors_of_a_bar_are_seen_however_few_they_are() -> None:
    def widths(svg: str) -> list[float]:
        return [float(width) for width in re.findall(r'width="([\d.]+)" height="8"/>', svg)]

    assert widths(draw_parts(1_000, 1, 1_000)) == [100, 3]
    assert widths(draw_parts(500, 250, 1_000)) == [50, 25]
    assert widths(draw_parts(0, 0, 1_000)) == [0, 0]


def test_the_labels_of_steps_that_are_near_do_not_lie_on_each_other() -> None:
    steps = [Step(0.04 + 0.01 * number, 10_000 * (number + 1), "€100 R1", False) for number in range(3)]
    svg = draw_stairs(steps, [], due=(200_000, "due"), title="t", description="d")
    labels = [(float(x), float(y)) for x, y in re.findall(r'<text class="l" x="([\d.]+)" y="([\d.]+)"', svg)]
    assert labels
    for first, second in pairwise(labels):
        assert abs(first[0] - second[0]) >= 84 or abs(first[1] - second[1]) >= 13
