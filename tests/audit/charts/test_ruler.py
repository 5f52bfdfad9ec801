"""The ruler of a session: every coup and finding leads somewhere, and the names of croupiers fit their time."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from audit.charts.ruler import Band, Bar, Tick, draw_ruler

SVG = "{http://www.w3.org/2000/svg}"


def drawn(here: float = 0.5) -> ET.Element:
    return ET.fromstring(
        draw_ruler(
            [Tick(0.25, "player", "?at=7", "Payout <missing>")],
            [(0.0, "20:00"), (0.5, "21:00"), (1.0, "22:00")],
            [Bar(0.0, 0.1, 4, "?at=3", "4 coups", is_here=False), Bar(0.5, 0.6, 8, "?at=9", "8 coups", is_here=True)],
            [Band(0.0, 0.5, "Élise Baron", "ÉB", is_here=False), Band(0.5, 0.53, "Luc Fournier", "LF", is_here=True)],
            here=here,
            clock="21:00 CET",
            title="The session",
            description="8 coups",
        )
    )


def test_coups_and_findings_are_links_and_the_highest_column_is_the_time_with_most_coups() -> None:
    svg = drawn()
    assert [each.get("href") for each in svg.iter(f"{SVG}a")] == ["?at=3", "?at=9", "?at=7"]
    columns = [each for each in svg.iter(f"{SVG}rect") if (each.get("class") or "").startswith("coups")]
    heights = [float(each.get("height") or 0) for each in columns]
    assert heights[1] == 2 * heights[0]
    assert [each.get("class") for each in columns] == ["coups", "coups now"]


def test_a_name_that_does_not_fit_is_short_and_the_whole_of_it_is_on_hovering() -> None:
    svg = drawn()
    shown = [each.text for each in svg.iter(f"{SVG}text")]
    assert "Élise Baron" in shown
    assert "LF" in shown
    assert "Luc Fournier" not in shown
    assert "Luc Fournier" in [each.text for each in svg.iter(f"{SVG}title")]


def test_the_instant_stays_on_the_drawing_and_hides_the_hour_under_it() -> None:
    assert "21:00" not in [each.text for each in drawn().iter(f"{SVG}text")]
    for here in (0.0, 1.0):
        [label] = [each for each in drawn(here).iter(f"{SVG}rect") if each.get("class") == "here"]
        left = float(label.get("x") or 0)
        assert left >= 0
        assert left + float(label.get("width") or 0) <= 1140
