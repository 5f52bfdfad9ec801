"""penny-ante, written by others, prices roulette: every pocket × every legal shape must be worth the same.

What is left out: a stake across two dozens or two columns, which penny-ante does not know (`test_edges` enumerates
it), and what a zero does to a simple chance at the French table, where art. 54 gives the player a choice.
"""

from __future__ import annotations

from typing import Any

import pytest
from penny_ante.bet import Bet, BetType
from penny_ante.wheel import Wheel

from settlement import State, decode
from settlement.layouts import LAYOUT_37, LAYOUT_38, RED, SIMPLE_CHANCES, Layout
from tests.settlement.streams import event, opener

STAKE = 100

INSIDE = {
    "plein": BetType.STRAIGHT_UP,
    "cheval": BetType.SPLIT,
    "transversale": BetType.STREET,
    "carre": BetType.CORNER,
    "sixain": BetType.SIX_LINE,
}
OUTSIDE = {
    "pair": BetType.EVEN,
    "impair": BetType.ODD,
    "manque": BetType.LOW,
    "passe": BetType.HIGH,
    "rouge": BetType.RED,
    "noir": BetType.BLACK,
}
DOZENS = (BetType.FIRST_DOZEN, BetType.SECOND_DOZEN, BetType.THIRD_DOZEN)
COLUMNS = (BetType.FIRST_COLUMN, BetType.SECOND_COLUMN, BetType.THIRD_COLUMN)


def stakes(layout: Layout) -> list[tuple[str, dict[str, Any], Bet]]:
    """Return every legal shape of a layout, as ours and as theirs."""
    inside = [
        (bet, {"numbers": list(numbers)}, Bet(kind, list(numbers), STAKE))
        for bet, kind in INSIDE.items()
        for numbers in layout.shapes[bet].values()
    ]
    outside = [(bet, {}, Bet(kind, [], STAKE)) for bet, kind in OUTSIDE.items()]
    twelves = [
        (bet, {"which": [which]}, Bet(kind, [], STAKE))
        for bet, kinds in (("douzaine", DOZENS), ("colonne", COLUMNS))
        for which, kind in enumerate(kinds, start=1)
    ]
    return [*inside, *outside, *twelves]


#  layout       ruleset                wheel        stakes on it
@pytest.mark.parametrize(
    ("layout", "ruleset", "wheel", "shapes"),
    [
        (LAYOUT_37, "fr-roulette", "EUROPEAN", 37 + 60 + 14 + 23 + 11 + 6 + 6),
        (LAYOUT_38, "fr-american-roulette", "AMERICAN", 38 + 62 + 15 + 22 + 11 + 6 + 6),
    ],
)
def test_every_pocket_pays_every_shape_the_same(layout: Layout, ruleset: str, wheel: str, shapes: int) -> None:
    their_wheel = Wheel(wheel)
    spaces = {space.value: space for space in their_wheel.spaces}
    assert tuple(space.value for space in their_wheel.spaces) == layout.wheel, "the order of the wheel itself"
    both = stakes(layout)
    assert len(both) == shapes
    for pocket in layout.wheel:
        state = State()
        state.feed(decode(opener("s", ruleset)))
        for number, (bet, data, _theirs) in enumerate(both, start=2):
            state.feed(decode(event("s", number, "wager.placed", wager=f"w{number}", bet=bet, stake=STAKE, **data)))
        state.feed(decode(event("s", len(both) + 2, "ball.settled", pocket=pocket)))
        assert not state.table.findings
        for number, (bet, data, their_bet) in enumerate(both, start=2):
            wager = state.table.wagers[f"w{number}"]
            if wager.status == "awaiting_decision":  # art. 54 B gives the player a choice that theirs does not know
                assert bet in OUTSIDE, (bet, data)
                continue
            assert wager.winnings_due + wager.stake_due == their_bet.calculate_payout(spaces[pocket]), (bet, data)


def test_the_colours_of_the_wheel_are_theirs() -> None:
    for space in Wheel("AMERICAN").spaces:
        colour = "RED" if space.value in RED else "BLACK" if space.value in SIMPLE_CHANCES["noir"] else "GREEN"
        assert space.color == colour
