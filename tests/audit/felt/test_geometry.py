"""Every stake has a spot of its own on its layout: the one that its combination has on the cloth."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.felt import craps, drawing, geometry, roulette
from audit.felt.drawing import standalone
from settlement.layouts import DOZEN_SHAPES, LAYOUT_37, LAYOUT_38, SIMPLE_CHANCES, Layout
from settlement.rulesets import RULESETS
from settlement.state import Wager

OF_A_CHIP = 3 + 22
"""How far down a chip reaches from its spot: that of the second player there, with its ring."""


def wager(bet: str, **fields: object) -> Wager:
    built = Wager("w1", bet, 100, 100, 1)
    for name, value in fields.items():
        setattr(built, name, value)
    return built


def roulette_wagers(layout: Layout) -> list[Wager]:
    """Return a wager of every legal shape of a layout."""
    inside = [wager(bet, pockets=shape) for bet, shapes in layout.shapes.items() for shape in shapes.values()]
    chances = [wager(bet) for bet in SIMPLE_CHANCES]
    twelves = []
    for bet, (_, takes) in DOZEN_SHAPES.items():
        twelves += [wager(bet, which=tuple(range(first, first + takes))) for first in range(1, 5 - takes)]
    return inside + chances + twelves


@pytest.mark.parametrize(("layout", "double"), [(LAYOUT_37, False), (LAYOUT_38, True)])
def test_every_shape_of_a_roulette_has_a_spot_of_its_own_on_the_cloth(layout: Layout, double: bool) -> None:
    wagers = roulette_wagers(layout)
    spots = [geometry.roulette_spot(each, has_double_zero=double) for each in wagers]
    assert None not in spots
    assert {each.bet for each in wagers} == set(RULESETS["fr-roulette"].kinds)
    by_spot: dict[object, list[Wager]] = {}
    for each, spot in zip(wagers, spots, strict=True):
        by_spot.setdefault(spot, []).append(each)
    assert [shared for shared in by_spot.values() if len(shared) > 1] == []
    assert all(0 < spot[0] < geometry.WIDTH and 0 < spot[1] < geometry.ROULETTE_HEIGHT for spot in spots if spot)


def test_a_stake_on_several_numbers_touches_each_of_them_and_no_other() -> None:
    for layout, double in ((LAYOUT_37, False), (LAYOUT_38, True)):
        for bet in ("cheval", "carre"):
            for pockets in layout.shapes[bet].values():
                spot = geometry.roulette_spot(wager(bet, pockets=pockets), has_double_zero=double)
                assert spot is not None
                touched = {each for each in layout.wheel if is_at(spot, each, double=double)}
                if bet == "carre" and "0" in pockets:  # the first four lie at the foot of the line before the row
                    assert {"0", "1"} == touched
                else:
                    assert touched == set(pockets)


def is_at(spot: tuple[float, float], pocket: str, *, double: bool) -> bool:
    box = geometry.number_box(pocket, has_double_zero=double)
    across = box.x <= spot[0] <= box.x + box.width
    return across and box.y <= spot[1] <= box.y + box.height


def test_a_stake_in_prison_lies_on_the_line_of_its_box() -> None:
    for chance in SIMPLE_CHANCES:
        free = geometry.roulette_spot(wager(chance), has_double_zero=False)
        barred = geometry.roulette_spot(wager(chance, status="imprisoned"), has_double_zero=False)
        box = geometry.chance_box(chance)
        assert barred == (box.middle[0], box.y + box.height)
        assert barred[1] + OF_A_CHIP < geometry.ROULETTE_HEIGHT, "all of it is on the cloth"
        assert free is not None
        assert box.y < free[1] < box.y + box.height


def test_every_bet_of_the_craps_rulesets_has_a_spot_of_its_own() -> None:
    for ruleset, spot_of in (("fr-craps", geometry.craps_spot), ("qc-craps", geometry.quebec_spot)):
        spots = {}
        for bet in RULESETS[ruleset].kinds:
            numbers: tuple[int | None, ...] = (None,)
            if bet == "hardway":
                numbers = (4, 6, 8, 10)
            elif bet in ("come", "dont_come"):
                numbers = (None, *geometry.POINTS)
            elif bet not in geometry.ZONES and not bet.startswith(("win", "dont_win")):
                numbers = geometry.POINTS
            for number in numbers:
                spot = spot_of(wager(bet), number)
                assert spot is not None, (bet, number)
                assert spots.setdefault(spot, (bet, number)) == (bet, number)


def test_bets_for_a_number_lie_before_it_and_bets_against_it_behind() -> None:
    for number in geometry.POINTS:
        box = geometry.point_box(number)
        rear, front = box.y + geometry.REAR_HEIGHT, box.y + box.height - geometry.FRONT_HEIGHT
        for bet in ("dont_come", "dont_come_odds", "wrong_bet"):
            assert geometry.craps_spot(wager(bet), number)[1] < rear
        assert geometry.craps_spot(wager("right_bet"), number)[1] > front
        for bet in ("come", "come_odds"):
            assert rear < geometry.craps_spot(wager(bet), number)[1] < front


def test_the_layouts_are_drawn_without_scripts_or_styles_and_show_the_state() -> None:
    drawn = {
        "37": roulette.layout(LAYOUT_37, "17"),
        "38": roulette.layout(LAYOUT_38, "00"),
        "craps": craps.layout(8, (3, 5), dice_title="<dice>"),
        "québec": craps.quebec(None, None, dice_title="dice"),
    }
    for svg in drawn.values():
        tree = ElementTree.fromstring(f"<svg>{svg}</svg>")
        assert {element.tag for element in tree.iter()} <= set("svg g rect path text title circle ellipse".split())
        assert not any(re.match("on|style|href", name) for each in tree.iter() for name in each.attrib)
    assert set(re.findall(r'data-pocket="(\d+)" data-hit=""', drawn["38"])) == {"00"}
    assert re.findall(r'data-puck="(\w+)" data-on=""', drawn["craps"]) == ["8"]
    assert re.findall(r'data-die="(\d)" data-face="(\d)" data-on=""', drawn["craps"]) == [("0", "3"), ("1", "5")]
    assert re.findall(r'data-puck="(\w+)" data-on=""', drawn["québec"]) == ["off"]
    assert standalone("<svg a='b'><g/></svg>").startswith("<svg a='b'><style>")


def test_the_table_beside_the_sign_in_is_the_one_that_is_drawn() -> None:
    page = Path(drawing.__file__).parents[1] / "static" / "audit" / "table.svg"
    assert page.read_text() == drawing.standalone(roulette.empty_table()) + "\n"
