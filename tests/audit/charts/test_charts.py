"""The charts: lengths are those of the amounts, each is valid XML with a title and a description."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from audit.charts.days import DayColumn, draw_days
from audit.charts.interval import draw_interval, draw_luck
from audit.charts.ranges import draw_range, draw_scale_of_ranges
from audit.charts.stairs import Out, Step, draw_stairs
from audit.charts.svg import for_print
from audit.charts.waterfall import BOTTOM, TICKS, TOP, Bar, draw_waterfall, round_step
from audit.charts.win_line import HEIGHT, MARGIN, POINTS, draw_win_line, thinned

SVG = "{http://www.w3.org/2000/svg}"


def waterfall(*amounts: int | None) -> ElementTree.Element:
    """Return the waterfall of amounts of which the first and the last are totals."""
    last = len(amounts) - 1
    bars = [
        Bar("win", f"<{index}>", amount, str(amount), ("a & b",), is_total=index in (0, last))
        for index, amount in enumerate(amounts)
    ]
    return ElementTree.fromstring(draw_waterfall(bars, title="t & t", description="d", tick=str))


def edges(chart: ElementTree.Element) -> list[tuple[float, float]]:
    """Return top and bottom of each bar."""
    rects = chart.findall(f"{SVG}rect")
    return [(float(each.attrib["y"]), float(each.attrib["y"]) + float(each.attrib["height"])) for each in rects]


def test_each_step_begins_where_the_one_before_it_ends() -> None:
    theory, luck, error, win = edges(waterfall(100, 50, -30, 120))
    scale = (BOTTOM - TOP) / 150
    assert theory == pytest.approx((BOTTOM - 100 * scale, BOTTOM), abs=0.02)
    assert luck == pytest.approx((TOP, theory[0]), abs=0.02)
    assert error == pytest.approx((TOP, BOTTOM - 120 * scale), abs=0.02)
    assert win == pytest.approx((BOTTOM - 120 * scale, BOTTOM), abs=0.02)


def test_a_night_that_the_players_won_hangs_below_the_axis() -> None:
    chart = waterfall(100, -300, 0, -200)
    axis = next(float(each.attrib["y1"]) for each in chart.findall(f"{SVG}line") if each.attrib["class"] == "axis")
    theory, luck, _nothing, win = edges(chart)
    assert theory[1] == win[0] == axis
    assert luck == pytest.approx((TOP, BOTTOM), abs=0.02)


def test_an_amount_that_is_not_known_is_an_outline_and_no_step() -> None:
    chart = waterfall(100, 50, None, None)
    kinds = [each.attrib["class"] for each in chart.findall(f"{SVG}rect")]
    assert kinds == ["win", "win", "unknown", "unknown"]
    assert [each.attrib["class"] for each in chart.findall(f"{SVG}line")].count("step") == 2
    assert all(bottom <= BOTTOM for chart in (chart, waterfall(1, -700, None)) for _top, bottom in edges(chart)), (
        "no frame stands over a name"
    )


def test_nothing_at_all_is_drawn_too() -> None:
    assert len(edges(waterfall(0, 0, 0, 0))) == 4


@pytest.mark.parametrize("span", [0, 1, 3, 4, 99, 1_316_131, 10**12])
def test_the_scale_has_few_and_round_steps(span: int) -> None:
    step = round_step(span)
    assert span <= TICKS * step
    assert str(step).rstrip("0") in ("1", "2", "5")


@pytest.mark.parametrize(("value", "is_inside"), [(10, True), (20, True), (9, False), (21, False)])
def test_a_dot_outside_its_interval_is_marked(value: int, *, is_inside: bool) -> None:
    chart = ElementTree.fromstring(draw_interval(10, 20, value, title="t", description="d"))
    (dot,) = chart.findall(f"{SVG}circle")
    assert dot.attrib["class"] == ("dot" if is_inside else "dot outside")
    (bar,) = chart.findall(f"{SVG}rect")
    left, width, x = (float(each) for each in (bar.attrib["x"], bar.attrib["width"], dot.attrib["cx"]))
    assert (left - 0.01 <= x <= left + width + 0.01) == is_inside


def test_a_share_that_is_not_known_has_no_dot_and_one_far_away_stays_in_the_picture() -> None:
    none = ElementTree.fromstring(draw_interval(10, 20, None, title="t", description="d"))
    assert none.findall(f"{SVG}circle") == []
    far = ElementTree.fromstring(draw_interval(10, 20, 900, title="t", description="d"))
    assert float(far.findall(f"{SVG}circle")[0].attrib["cx"]) <= 120


def test_the_win_line_ends_where_the_night_did() -> None:
    chart = ElementTree.fromstring(draw_win_line([5, -5, 10], title="t", description="d"))
    area, line = chart.findall(f"{SVG}path")
    assert (area.attrib["class"], line.attrib["class"]) == ("area bank", "line bank")
    points = line.attrib["d"].lstrip("M").split("L")
    assert points[-1] == f"120 {MARGIN}"
    assert points[2] == f"80 {HEIGHT - MARGIN}"
    lost = ElementTree.fromstring(draw_win_line([-1], title="t", description="d"))
    assert lost.findall(f"{SVG}path")[1].attrib["class"] == "line players"
    assert draw_win_line([], title="t", description="d")


def test_a_long_line_is_thinned_and_keeps_both_ends() -> None:
    points = thinned(range(1_000))
    assert (len(points), points[0], points[-1]) == (POINTS, 0, 999)
    assert thinned([1, 2]) == [1, 2]


def test_a_chart_says_what_it_is_and_its_texts_are_escaped() -> None:
    chart = waterfall(1, 2, 3)
    assert chart.findtext(f"{SVG}title") == "t & t"
    assert chart.findtext(f"{SVG}desc") == "d"
    assert {"<0>", "a & b"} <= {each.text for each in chart.findall(f"{SVG}text")}


def test_on_paper_a_chart_has_colours_of_its_own() -> None:
    drawn = draw_interval(1, 2, 1, title="t", description="d")
    assert "#" not in drawn, "the page's style sheet colours it"
    printed = ElementTree.fromstring(for_print(drawn))
    assert "#0b5d46" in (printed.findtext(f"{SVG}style") or "")


def test_of_steps_too_near_to_the_one_before_hovering_alone_says_what_they_are() -> None:
    steps = [Step(0.1, 100, "€1 R1"), Step(0.102, 110, "€2 R1"), Step(0.9, 120, "€3 R2")]
    stairs = ElementTree.fromstring(draw_stairs(steps, [], due=(20_000, "line"), title="t", description="d"))
    assert [each.text for each in stairs.findall(f"{SVG}text") if each.get("class") == "l"] == ["€1 R1", "€3 R2"]
    assert [each.text for each in stairs.findall(f"{SVG}circle/{SVG}title")] == ["€1 R1", "€2 R1", "€3 R2"]


def test_stairs_have_a_scale_and_what_went_the_other_way_is_a_bar() -> None:
    drawn = draw_stairs(
        [Step(0.1, 90_000, "€900 R1"), Step(0.4, 230_000, "€1,400 R2", is_due=True)],
        [],
        due=(200_000, "line"),
        title="t",
        description="d",
        outs=[Out(0.9, 186_500, "€1,865 cage")],
        amount=lambda minor: f"€{minor // 100:,}",
    )
    stairs = ElementTree.fromstring(drawn)
    texts = [each.text for each in stairs.findall(f"{SVG}text")]
    assert texts[:5] == ["€0", "€500", "€1,000", "€1,500", "€2,000"]
    (bar,) = [each for each in stairs.findall(f"{SVG}rect") if each.get("class") == "out"]
    assert bar.findtext(f"{SVG}title") == "€1,865 cage"
    line = next(each for each in stairs.findall(f"{SVG}line") if each.get("class") == "due")
    assert float(bar.attrib["y"]) > float(line.attrib["y1"]), "less than what is due ends below its line"


def test_a_label_of_a_low_step_does_not_lie_on_the_axis() -> None:
    stairs = ElementTree.fromstring(
        draw_stairs([Step(0.1, 100, "€1 R1")], [], due=(20_000, "line"), title="t", description="d")
    )
    (label,) = [each for each in stairs.findall(f"{SVG}text") if each.get("class") == "l"]
    (dot,) = stairs.findall(f"{SVG}circle")
    assert float(label.attrib["y"]) < float(dot.attrib["cy"])


def test_the_scale_of_ranges_has_round_numbers_where_the_intervals_have_them() -> None:
    drawn = draw_scale_of_ranges(
        everybody=1_400,
        most=11_400,
        tick=lambda each: str(each // 1_000),
        together="all 1.4",
        title="t",
        description="d",
    )
    scale = ElementTree.fromstring(drawn)
    together, *ticks = scale.findall(f"{SVG}text")
    assert together.text == "all 1.4"
    assert [each.text for each in ticks] == ["0", "2", "4", "6", "8", "10"]
    interval = ElementTree.fromstring(
        draw_range(0, 11_400, 10_000, everybody=1_400, most=11_400, is_chosen=False, title="t", description="d")
    )
    (dot,) = interval.findall(f"{SVG}circle")
    assert dot.attrib["cx"] == ticks[-1].attrib["x"]


def test_of_a_month_of_days_a_narrow_screen_keeps_the_numbers_that_an_eye_counts_by() -> None:
    days = ElementTree.fromstring(
        draw_days([DayColumn(number, 1) for number in range(1, 31)], title="t", description="d")
    )
    kept = [each.text for each in days.iter(f"{SVG}text") if each.get("class") != "minor"]
    assert kept == ["1", "5", "10", "15", "20", "25", "30"]


@pytest.mark.parametrize(
    ("luck", "kind"), [(-100, "dot"), (0, "dot"), (100, "dot"), (101, "dot outside"), (9_999, "dot outside")]
)
def test_luck_lies_on_the_side_that_had_it_and_stays_in_the_picture(luck: int, kind: str) -> None:
    chart = ElementTree.fromstring(
        draw_luck(100, luck, value="€1", ends=("player", "rules", "house"), title="t", description="d")
    )
    (dot,) = chart.findall(f"{SVG}circle")
    value, *ends = chart.findall(f"{SVG}text")
    assert (dot.attrib["class"], value.text, [each.text for each in ends]) == (kind, "€1", ["player", "rules", "house"])
    middle = float(ends[1].attrib["x"])
    assert (float(dot.attrib["cx"]) > middle) == (luck > 0)
    assert 0 < float(dot.attrib["cx"]) < 2 * middle
