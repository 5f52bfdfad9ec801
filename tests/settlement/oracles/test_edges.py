"""The house's exact edge on every bet, computed from the engine itself, against the published figures.

Every throw and every pocket is played through ``State``; what is left undecided becomes an unknown of a linear
equation over fractions. A slip in one odds entry, one losing total or one barred number moves an edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

from settlement import State, decode
from settlement.layouts import LAYOUT_37, LAYOUT_38, Layout
from settlement.state import Wager
from tests.settlement.streams import event, opener

STAKE = 26_400
"""Divides by 2, 3, 5, 6, 8, 11 and their odds, so that no winnings are rounded."""

THROWS = list(product(range(1, 7), repeat=2))


def after(state: State, kind: str, **data: Any) -> State:
    """Return the state after one more event; ``state`` stays as it was."""
    child = State.from_bytes(state.to_bytes())
    child.feed(decode(event(child.table.stream, child.last_seq + 1, kind, **data)))
    return child


def started(ruleset: str, **data: Any) -> State:
    state = State()
    state.feed(decode(opener("s", ruleset, **data)))
    return state


def returned(wager: Wager) -> Fraction:
    """What a decided wager gives back, in stakes: winnings and stake."""
    return Fraction(wager.winnings_due + wager.stake_due, wager.stake)


def solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Return the solution of a linear system by elimination, exactly."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next(row for row in range(column, size) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(size):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [value - factor * held for value, held in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


def value_at_craps(state: State, wager_id: str) -> Fraction:
    """Return what a wager is worth, in stakes, when the dice are thrown until it is decided."""
    index_of: dict[tuple[Any, ...], int] = {}
    equations: list[tuple[list[tuple[int, Fraction]], Fraction]] = []
    waiting = [state]

    def place_of(state: State) -> int:
        wager = state.table.wagers[wager_id]
        key = (state.table.point, wager.number, wager.working)
        if key not in index_of:
            index_of[key] = len(index_of)
            waiting.append(state)
        return index_of[key]

    waiting.clear()
    start = place_of(state)
    while waiting:
        here = waiting.pop(0)
        sure, terms = Fraction(0), []
        for faces in THROWS:
            then = after(here, "dice.thrown", faces=list(faces))
            wager = then.table.wagers[wager_id]
            if wager.undecided:
                terms.append((place_of(then), Fraction(1, 36)))
            else:
                sure += returned(wager) / 36
        equations.append((terms, sure))
    matrix = [[Fraction(int(row == column)) for column in range(len(index_of))] for row in range(len(index_of))]
    for row, (terms, _sure) in enumerate(equations):
        for column, chance in terms:
            matrix[row][column] -= chance
    return solve(matrix, [sure for _terms, sure in equations])[start]


def with_point(ruleset: str, point: int) -> State:
    return after(
        started(ruleset), "dice.thrown", faces=[1, 3] if point == 4 else [point - 3, 3] if point < 10 else [5, 5]
    )


def placed(state: State, bet: str, **data: Any) -> State:
    state = after(state, "wager.placed", wager="w", bet=bet, stake=STAKE, **data)
    assert state.table.wagers["w"].status == "open", [finding.rule for finding in state.table.findings]
    return state


#  bet          number   edge
CRAPS = """
   win          -        7/495
   dont_win     -        27/1925
   come         -        7/495
   dont_come    -        27/1925
   field        -        1/18
   big_6        -        1/11
   big_8        -        1/11
   under_7      -        1/6
   over_7       -        1/6
   hardway      4        1/9
   hardway      10       1/9
   hardway      6        1/11
   hardway      8        1/11
   seven        -        1/6
   eleven       -        1/9
   any_craps    -        1/9
   craps_2      -        5/36
   craps_12     -        5/36
   craps_3      -        1/9
   horn         -        1/6
   right_bet    4        1/15
   right_bet    10       1/15
   right_bet    5        1/25
   right_bet    9        1/25
   right_bet    6        1/66
   right_bet    8        1/66
   wrong_bet    4        1/33
   wrong_bet    10       1/33
   wrong_bet    5        1/40
   wrong_bet    9        1/40
   wrong_bet    6        1/55
   wrong_bet    8        1/55
"""


@pytest.mark.parametrize("row", CRAPS.strip().splitlines(), ids=lambda row: " ".join(row.split()))
def test_french_craps(row: str) -> None:
    bet, number, edge = row.split()
    state = with_point("fr-craps", 6) if bet in ("come", "dont_come") else started("fr-craps")
    data = {} if number == "-" else {"number": int(number)}
    if bet == "wrong_bet":
        data["marker"] = "wrong_bet"
    assert 1 - value_at_craps(placed(state, bet, **data), "w") == Fraction(edge)


@pytest.mark.parametrize("point", [4, 5, 6, 8, 9, 10])
@pytest.mark.parametrize("bet", ["win", "dont_win", "come", "dont_come"])
def test_odds_are_true_odds(bet: str, point: int) -> None:
    state = started("fr-craps")
    if bet.endswith("come"):
        state = after(state, "dice.thrown", faces=[4, 4])
    state = after(state, "wager.placed", wager="base", bet=bet, stake=STAKE)
    faces = [1, 3] if point == 4 else [point - 3, 3] if point < 10 else [5, 5]
    state = after(state, "dice.thrown", faces=faces)
    state = placed(state, f"{bet}_odds", base="base")
    assert value_at_craps(state, "w") == 1


#  bet          number   edge, the commission counted
QUEBEC = """
   right_bet    4        1/15
   right_bet    5        1/25
   right_bet    6        1/66
   right_bet    8        1/66
   right_bet    9        1/25
   right_bet    10       1/15
   buy_bet      4        1/20
   buy_bet      5        1/20
   buy_bet      6        1/20
   buy_bet      8        1/20
   buy_bet      9        1/20
   buy_bet      10       1/20
   lay_bet      4        1/40
   lay_bet      5        1/30
   lay_bet      6        1/24
   lay_bet      8        1/24
   lay_bet      9        1/30
   lay_bet      10       1/40
"""


@pytest.mark.parametrize("row", QUEBEC.strip().splitlines(), ids=lambda row: " ".join(row.split()))
def test_quebec_place_bets(row: str) -> None:
    bet, number, edge = row.split()
    data: dict[str, Any] = {"number": int(number)}
    if bet != "right_bet":
        base = STAKE if bet == "buy_bet" else STAKE * {4: 1, 10: 1, 5: 2, 9: 2, 6: 5, 8: 5}[int(number)]
        per = 1 if bet == "buy_bet" else {4: 2, 10: 2, 5: 3, 9: 3, 6: 6, 8: 6}[int(number)]
        data |= {"marker": bet.removesuffix("_bet"), "commission": base // per // 20}
    state = placed(started("qc-craps"), bet, **data)
    assert not state.table.findings
    commission = Fraction(data.get("commission", 0), STAKE)
    assert 1 + commission - value_at_craps(state, "w") == Fraction(edge)


def pockets_of(layout: Layout) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield every bet of a layout in every legal shape."""
    for bet, shapes in layout.shapes.items():
        for numbers in shapes.values():
            yield bet, {"numbers": list(numbers)}
    for bet in ("douzaine", "colonne"):
        for which in (1, 2, 3):
            yield bet, {"which": [which]}
    for bet in ("deux_douzaines", "deux_colonnes"):
        for which in ([1, 2], [2, 3]):
            yield bet, {"which": which}


def value_at_roulette(state: State, layout: Layout) -> Fraction:
    """Return what the wager is worth, in stakes, where every pocket decides it."""
    total = Fraction(0)
    for pocket in layout.wheel:
        wager = after(state, "ball.settled", pocket=pocket).table.wagers["w"]
        assert not wager.undecided
        total += returned(wager)
    return total / len(layout.wheel)


@pytest.mark.parametrize(
    ("ruleset", "layout", "edge"), [("fr-roulette", LAYOUT_37, "1/37"), ("fr-american-roulette", LAYOUT_38, "1/19")]
)
def test_every_multiple_chance_in_every_shape(ruleset: str, layout: Layout, edge: str) -> None:
    shapes = list(pockets_of(layout))
    assert len(shapes) > 150
    for bet, data in shapes:
        state = placed(started(ruleset), bet, **data)
        assert 1 - value_at_roulette(state, layout) == Fraction(edge), (bet, data)


SIMPLE = ["pair", "impair", "manque", "passe", "rouge", "noir"]


def value_of_simple_chance(ruleset: str, layout: Layout, choice: str | None, bet: str, **params: Any) -> Fraction:
    """Return what a simple chance is worth when every zero is answered by ``choice``; None if there is no choice."""
    state = placed(started(ruleset, params=params), bet)
    total = Fraction(0)
    for pocket in layout.wheel:
        then = after(state, "ball.settled", pocket=pocket)
        if then.table.wagers["w"].status == "awaiting_decision":
            then = after(then, "zero.decided", wager="w", choice=choice)
        wager = then.table.wagers["w"]
        total += returned(wager) if not wager.undecided else value_of_prisoner(then, layout)
    return total / len(layout.wheel)


def value_of_prisoner(state: State, layout: Layout) -> Fraction:
    """Return what a stake in prison is worth, the k-th zero always answered by prison.

    Each zero multiplies by the same factor what is released after it, which is checked for six zeros on end; so the
    value V of a prisoner is V = freed + zeros/pockets × factor × V.
    """
    freed: list[Fraction] = []
    for _ in range(6):
        outcomes = [after(state, "ball.settled", pocket=pocket) for pocket in layout.wheel]
        ended = [each.table.wagers["w"] for each in outcomes if not each.table.wagers["w"].undecided]
        assert len(ended) == 36
        freed.append(sum((returned(wager) for wager in ended), Fraction(0)) / len(layout.wheel))
        again = next(each for each in outcomes if each.table.wagers["w"].undecided)
        state = after(again, "zero.decided", wager="w", choice="prison")
    factors = {later / earlier for earlier, later in pairwise(freed)}
    assert len(factors) == 1
    zeros = Fraction(len(layout.zeros), len(layout.wheel))
    return freed[0] / (1 - zeros * factors.pop())


#  ruleset                zero_rule   answer   release    edge
ZEROS = """
   fr-roulette            choice      half     halving    1/74
   fr-roulette            choice      prison   halving    1/73
   fr-roulette            choice      prison   full       1/74
   fr-american-roulette   lose        -        halving    1/19
   fr-american-roulette   half        -        halving    1/38
   fr-american-roulette   choice      half     halving    1/38
   fr-american-roulette   choice      prison   halving    1/37
"""


@pytest.mark.parametrize("bet", SIMPLE)
@pytest.mark.parametrize("row", ZEROS.strip().splitlines(), ids=lambda row: " ".join(row.split()))
def test_simple_chances(row: str, bet: str) -> None:
    ruleset, zero_rule, answer, release, edge = row.split()
    layout = LAYOUT_37 if ruleset == "fr-roulette" else LAYOUT_38
    choice = None if answer == "-" else answer
    value = value_of_simple_chance(ruleset, layout, choice, bet, zero_rule=zero_rule, release_value=release)
    assert 1 - value == Fraction(edge)
