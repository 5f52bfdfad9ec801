"""The evidence of a process: heights are logarithms, a level is drawn over its own year, labels are escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from audit.charts.evidence import (
    BOTTOM,
    LEFT,
    MARGIN,
    RIGHT,
    SMALL_HEIGHT,
    TOP,
    Level,
    Session,
    draw_evidence,
    draw_evidence_line,
)
from audit.charts.svg import for_print

SVG = "{http://www.w3.org/2000/svg}"


def drawn(sessions: list[Session], levels: list[Level]) -> ElementTree.Element:
    return ElementTree.fromstring(
        for_print(draw_evidence(sessions, levels, title="t & t", description="d", tick=lambda power: f"10^{power}"))
    )


def of_class(chart: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in chart.iter() if each.attrib.get("class") == name]


def test_equal_factors_are_equal_steps_and_evidence_begins_at_one() -> None:
    chart = drawn([Session(1.0, "1 Nov"), Session(2.0, "2 Nov"), Session(1.0, "3 Nov")], [Level(0, 3.0, "level")])
    [path] = of_class(chart, "line")
    heights = [float(step.split("V")[1]) for step in path.attrib["d"].split("H")[1:]]
    begin = float(path.attrib["d"].split("H")[0].split()[1])
    assert heights[1] - heights[0] == pytest.approx(heights[0] - begin, abs=0.02)
    assert heights[2] == heights[0]
    [axis] = of_class(chart, "ax")
    assert float(axis.attrib["y1"]) == begin


def test_a_level_is_drawn_over_the_sessions_of_its_own_year() -> None:
    chart = drawn([Session(0.1, "30 Dec"), Session(0.2, "2 Jan")], [Level(0, 2.0, "one"), Level(1, 2.5, "other")])
    middle = (LEFT + RIGHT) / 2
    ends = [(float(each.attrib["x1"]), float(each.attrib["x2"])) for each in of_class(chart, "level")]
    assert ends == [(LEFT, middle), (middle, RIGHT)]
    heights = [float(each.attrib["y1"]) for each in of_class(chart, "level")]
    assert TOP < heights[1] < heights[0] < BOTTOM


def test_the_days_below_run_from_old_to_new_whatever_was_fed_late() -> None:
    chart = drawn(
        [Session(0.1, "1 Nov"), Session(0.2, "3 Nov"), Session(0.3, "2 Nov", is_late=True), Session(0.4, "4 Nov")],
        [Level(0, 2.0, "level")],
    )
    written = [each.text for each in chart.iter(f"{SVG}text") if each.text and each.text.endswith("Nov")]
    assert written == ["1 Nov", "3 Nov", "4 Nov"]
    assert len(of_class(chart, "tick")) == 4


def test_each_session_is_a_tick_and_what_moved_it_or_raised_is_marked() -> None:
    chart = drawn(
        [Session(0.1, "1 Nov"), Session(1.1, "2 <b>", "× 10"), Session(2.0, "3 & 4", "× 8", is_raised=True)],
        [Level(0, 2.0, "<level>")],
    )
    assert (len(of_class(chart, "tick")), len(of_class(chart, "tall"))) == (1, 2)
    assert len(of_class(chart, "moved")) == 1
    [raised] = of_class(chart, "raised")
    assert raised.findtext(f"{SVG}title") == "3 & 4"
    assert {"× 10", "× 8", "<level>"} <= {each.text for each in chart.iter(f"{SVG}text")}


@pytest.mark.parametrize("logs", [[], [-40.0], [0.0, 0.0], [300.0, -2.0]])
def test_any_evidence_fits_into_the_drawing(logs: list[float]) -> None:
    chart = drawn([Session(each, "day") for each in logs], [Level(0, 3.0, "level")])
    [path] = of_class(chart, "line")
    heights = [float(step.split("V")[1]) for step in path.attrib["d"].split("H")[1:]]
    assert all(TOP - 0.01 <= each <= BOTTOM + 0.01 for each in heights)
    assert 1 <= len(of_class(chart, "gr")) <= 14
    small = ElementTree.fromstring(draw_evidence_line(logs, 3.0, is_raised=False, title="t", description="d"))
    [line] = of_class(small, "line")
    points = [float(point.split()[1]) for point in line.attrib["d"][1:].split("L")]
    assert all(MARGIN - 0.01 <= each <= SMALL_HEIGHT - MARGIN + 0.01 for each in points)
