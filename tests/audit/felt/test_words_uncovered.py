"""No chip lies on a word or a figure of its felt, whatever the bet: by the coordinates of the drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import pytest

from audit.felt import boule, geometry
from audit.felt.drawing import STYLES
from audit.felt.frames import Frame, Stake
from audit.felt.layouts import felt_of
from settlement.layouts import LAYOUT_37, LAYOUT_38
from settlement.rulesets import RULESETS
from settlement.state import Wager
from tests.audit.felt.test_geometry import roulette_wagers, wager

RADIUS = 15.0
"""Of a chip with its edge."""

WIDTH_OF_A_LETTER, ASCENT, DESCENT = 0.7, 0.76, 0.22
"""In parts of the size of a letter: bold capitals are 0.7 wide on average, and only some letters go below the line."""

BELOW_THE_LINE = re.compile("[gjpqy,]")


@dataclass(frozen=True)
class Text:
    """A text of a drawing, with its box."""

    words: str
    left: float
    top: float
    right: float
    bottom: float

    def is_covered(self, spot: geometry.Spot) -> bool:
        x, y = spot
        return self.left < x + RADIUS and x - RADIUS < self.right and self.top < y + RADIUS and y - RADIUS < self.bottom


def sizes() -> dict[str, float]:
    """Return the sizes of the classes of texts, as the style sheet has them."""
    found = re.findall(
        r"^\.felt (?:\.label)?\.(\w[\w-]*) \{[^}]*font-size: ([\d.]+)px", STYLES.read_text(), re.MULTILINE
    )
    return {name: float(size) for name, size in found}


def texts(element: ElementTree.Element, at: geometry.Spot = (0, 0)) -> Iterator[Text]:
    moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved:
        at = (at[0] + float(moved[1]), at[1] + float(moved[2]))
    if element.tag == "text" and element.text:
        known, classes = sizes(), element.get("class", "").split()
        size = next((known[each] for each in reversed(classes) if each in known), 13)
        width = WIDTH_OF_A_LETTER * size * len(element.text)
        x, y = at[0] + float(element.get("x", 0)), at[1] + float(element.get("y", 0))
        left = {"start": x, "end": x - width}.get(element.get("text-anchor", ""), x - width / 2)
        below = DESCENT * size if BELOW_THE_LINE.search(element.text) else 0
        yield Text(element.text, left, y - ASCENT * size, left + width, y + below)
    for child in element:
        yield from texts(child, at)


def stakes(ruleset: str) -> Iterator[Stake]:
    """Yield a stake of every bet of a ruleset, on each number that it may be placed on, in and out of prison."""
    if ruleset in ("fr-roulette", "fr-american-roulette"):
        for each in roulette_wagers(LAYOUT_37 if ruleset == "fr-roulette" else LAYOUT_38):
            yield Stake(each, "on", None)
        for bet in geometry.CHANCES:
            yield Stake(wager(bet, status="imprisoned"), "jail", None)
        return
    numbers = (None, *(boule.NUMBERS if ruleset == "fr-boule" else geometry.POINTS))
    for bet in RULESETS[ruleset].kinds:
        for number in numbers:
            yield Stake(wager(bet), "on", number)


def frame(**shown: Any) -> Frame:
    given = {"point": None, "result": None, **shown}
    return Frame(**{name: given.get(name) for name in Frame.__dataclass_fields__})


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_no_chip_covers_a_word_of_its_felt(ruleset: str) -> None:
    felt = felt_of(ruleset)
    assert felt is not None
    for language in ("en", "fr"):
        drawn = ElementTree.fromstring(f"<svg>{felt.layout(frame(), language)}</svg>")
        words = list(texts(drawn))
        assert len(words) > 5
        spots = {(each.wager.bet, each.wager.pockets, each.number): felt.spot(each) for each in stakes(ruleset)}
        lying = {which: spot for which, spot in spots.items() if spot is not None}
        assert {bet for bet, _pockets, _number in lying} == set(RULESETS[ruleset].kinds)
        covered = [(which, text.words) for which, spot in lying.items() for text in words if text.is_covered(spot)]
        assert covered == []
        assert all(
            RADIUS < x < geometry.WIDTH - RADIUS and RADIUS < y < felt.height - RADIUS for x, y in lying.values()
        )


def test_a_chip_on_a_word_would_be_found() -> None:
    [text] = texts(ElementTree.fromstring('<g transform="translate(10 20)"><text x="30" y="40">COME</text></g>'))
    assert text.is_covered((40, 55))
    assert not text.is_covered((40, 90))
    assert not text.is_covered((90, 55))
    assert Wager("w1", "plein", 100, 100, 1).bet in RULESETS["fr-roulette"].kinds
