"""The charts of the first page: where a dot is, how labels keep apart, what a spark and a column draw."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from audit.charts.heat import tint
from audit.charts.scatter import BOTTOM, LABELLED, LEFT, RIGHT, STEP, Dot, Span, draw_scatter
from audit.charts.share import draw_split
from audit.charts.spark import HEIGHT, draw_column, draw_spark

SVG = "{http://www.w3.org/2000/svg}"
SPANS = (Span("Late", 0.2, "crit"), Span("Later", 1.0))
TICKS = ((1.0, "€1"), (10.0, "€10"), (100.0, "€100"))


def scatter(*dots: Dot) -> ElementTree.Element:
    return ElementTree.fromstring(
        draw_scatter(dots, SPANS, TICKS, none="none", title="What waits", description="a < b")
    )


def dot(share: float, amount: float | None, label: str = "Anna", kind: str = "player") -> Dot:
    return Dot(share, amount, kind, "" if amount is None else f"€{amount:g}", label)


def test_a_dot_is_the_higher_the_more_money_and_the_further_right_the_more_time() -> None:
    circles = scatter(dot(0, 1), dot(0.5, 10), dot(1, 100), dot(0.5, None)).findall(f"{SVG}circle")
    across, down = ([float(each.attrib[name]) for each in circles] for name in ("cx", "cy"))
    assert across == [LEFT, (LEFT + RIGHT) / 2, RIGHT, (LEFT + RIGHT) / 2]
    assert down[0] > down[1] > down[2]
    assert down[0] - down[1] == pytest.approx(down[1] - down[2]), "each tenfold is as high as the others"
    assert down[3] == BOTTOM, "what concerns no money is on the axis"


def test_labels_are_escaped_and_none_is_written_over_another() -> None:
    drawn = scatter(*(dot(0.5, 50, "<Anna & Co>") for _ in range(LABELLED + 3)))
    labels = [each for each in drawn.findall(f"{SVG}text") if each.find(f"{SVG}tspan") is not None]
    assert sorted(each.attrib["text-anchor"] for each in labels) == ["end", "start"], "one at each side of a row"
    assert "".join(labels[0].itertext()) == "€50 <Anna & Co>"
    assert len(drawn.findall(f"{SVG}circle")) == LABELLED + 3


def test_no_dot_is_drawn_over_a_label() -> None:
    drawn = scatter(dot(0.5, 12.3, "Anna"), dot(0.52, 10, "Bruno"), dot(0.48, 10, "Chloé"))
    labels = [each for each in drawn.findall(f"{SVG}text") if each.find(f"{SVG}tspan") is not None]
    assert labels
    for label in labels:
        begin = float(label.attrib["x"])
        end = begin + (1 if label.attrib["text-anchor"] == "start" else -1) * 6 * len("".join(label.itertext()))
        for each in drawn.findall(f"{SVG}circle"):
            across, down = float(each.attrib["cx"]), float(each.attrib["cy"])
            is_in_its_width = min(begin, end) < across < max(begin, end)
            assert not is_in_its_width or abs(down - float(label.attrib["y"]) + 4) >= 10


def test_a_dot_that_would_lie_on_another_stands_beside_it_in_its_period() -> None:
    owed, overpaid = dot(0.19, 8, "Bruno"), dot(0.19, 8, "Anna", "bank")
    circles = scatter(owed, overpaid, dot(0.19, 80), dot(0.19, None), dot(0.19, None)).findall(f"{SVG}circle")
    across = [float(each.attrib["cx"]) for each in circles]
    end_of_late = LEFT + 0.2 * (RIGHT - LEFT)
    assert across[0] == pytest.approx(LEFT + 0.19 * (RIGHT - LEFT), abs=0.1)
    assert across[1] == pytest.approx(across[0] - STEP), "to the right it would no longer be late"
    assert across[2:] == [across[0]] * 3, "what is higher, and what has no money, is where it is"
    assert max(across) <= end_of_late
    labels = [each for each in scatter(owed, overpaid).findall(f"{SVG}text") if each.find(f"{SVG}tspan") is not None]
    assert [("".join(each.itertext()), each.attrib["text-anchor"]) for each in labels] == [
        ("€8 Bruno", "start"),
        ("€8 Anna", "end"),
    ]


def test_where_a_period_has_no_room_a_dot_stays_where_it_is() -> None:
    circles = scatter(*(dot(0.1, 50) for _ in range(40))).findall(f"{SVG}circle")
    across = [float(each.attrib["cx"]) for each in circles]
    assert LEFT <= min(across) <= max(across) <= LEFT + 0.2 * (RIGHT - LEFT)
    assert len(set(across)) == 9
    assert across[-1] == across[0]


def test_a_chart_without_dots_has_its_axes_and_its_description() -> None:
    drawn = scatter()
    assert [each.text for each in drawn.findall(f"{SVG}desc")] == ["a < b"]
    assert {each.text for each in drawn.findall(f"{SVG}text")} == {"Late", "Later", "€1", "€10", "€100", "none"}


@pytest.mark.parametrize(("counts", "highest"), [([], 18.0), ([0, 0, 0], 18.0), ([0, 4, 8], 2.0)])
def test_a_spark_is_flat_where_nothing_came_and_fills_its_height_otherwise(counts: list[int], highest: float) -> None:
    path = ElementTree.fromstring(draw_spark(counts, title="R1", description="")).findall(f"{SVG}path")[1]
    heights = [float(point.split()[1]) for point in re.split("[ML]", path.attrib["d"]) if point]
    assert min(heights) == highest
    assert max(heights) <= HEIGHT


@pytest.mark.parametrize(
    ("amount", "kind", "y"), [(100, "bank", 4.0), (50, "bank", 19.0), (-100, "players", 34.0), (None, "unknown", 14.0)]
)
def test_a_night_is_a_column_up_or_down_and_a_frame_where_it_is_not_counted(
    amount: int | None, kind: str, y: float
) -> None:
    column = ElementTree.fromstring(draw_column(amount, 100, title="Thu 19", description="")).find(f"{SVG}rect")
    assert column is not None
    assert (column.attrib["class"], float(column.attrib["y"])) == (kind, y)


@pytest.mark.parametrize(
    ("count", "most", "expected"), [(0, 9, 0), (1, 1, 1), (1, 9, 1), (9, 9, 5), (5, 5, 5), (4, 9, 2)]
)
def test_the_tints_go_from_the_rarest_to_the_most_frequent(count: int, most: int, expected: int) -> None:
    assert tint(count, most) == expected


def test_the_parts_of_a_bar_are_as_wide_as_their_numbers_and_stand_side_by_side() -> None:
    drawn = draw_split([("checked", 3), ("defines", 1)])
    assert ElementTree.fromstring(drawn) is not None
    assert re.findall(r'class="(\w+)" x="([\d.]+)" width="([\d.]+)"', drawn) == [
        ("checked", "0", "74.4"),
        ("defines", "75", "24.4"),
    ]
    assert "<rect" not in draw_split([])
