"""A process as a whole is a supermartingale, can be stopped anywhere, and asks once a year."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from settlement.eprocess.bets import CellBets, Change, staked_cells
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Family, Mixture, Process, cash_left, part_staked
from settlement.eprocess.turns import Thrown
from tests.settlement.eprocess import by_hand


def fed(process: Process, mixture: Mixture, **seen: Any) -> Process:
    process.feed(mixture, seen, draws=1, session="s")
    return process


def copy(process: Process) -> Process:
    return msgspec.json.decode(msgspec.json.encode(process), type=Process)


def one(cell: int, cells: int) -> list[int]:
    return [int(each == cell) for each in range(cells)]


@settings(max_examples=6, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=5))
def test_over_the_faces_of_a_die_the_mean_evidence_is_at_most_what_it_was(batches: list[list[int]]) -> None:
    mixture, process = KINDS["die"].mixture(0), Process("die", "d")
    for batch in batches:
        process.feed(mixture, {"face": [batch.count(face) for face in range(6)]}, draws=len(batch), session="s")
    total = sum(fed(copy(process), mixture, face=one(face, 6)).evidence for face in range(6))
    assert 6 * process.evidence * (1 - Fraction(1, 2**50)) < total <= 6 * process.evidence


@pytest.mark.parametrize("cells", [9, 37, 38])
def test_over_the_pockets_of_a_wheel_the_mean_evidence_is_at_most_what_it_was(cells: int) -> None:
    mixture, process = KINDS["wheel"].mixture(cells), Process("wheel", "w", cells)
    process.feed(mixture, {"pocket": [9, 7, 3, *range(cells - 3)]}, draws=1, session="s")
    total = sum(fed(copy(process), mixture, pocket=one(pocket, cells)).evidence for pocket in range(cells))
    assert cells * process.evidence * (1 - Fraction(1, 2**50)) < total <= cells * process.evidence


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_shares_of_a_mixture_are_at_most_all(kind: str) -> None:
    for cells in (9, 37, 38):
        shares = KINDS[kind].mixture(cells).shares
        assert UNIT - 10_000 <= sum(shares) <= UNIT
        assert min(shares) > UNIT >> 20


def test_before_anything_is_seen_wealth_is_one_and_stays_one() -> None:
    mixture, process = KINDS["dice-pair"].mixture(0), Process("dice-pair", "d")
    assert process.evidence == UNIT
    for _ in range(30):
        fed(process, mixture)
    assert process.evidence == UNIT
    assert process.highest == UNIT


def test_the_cash_is_staked_by_the_schedule_and_never_all_of_it() -> None:
    mixture, process = KINDS["table-luck"].mixture(0), Process("table-luck", "t")
    for batch in range(1, 400):
        fed(process, mixture)
        assert 0 <= process.cash - UNIT * by_hand.cash_after(batch) < 100_000
    assert process.cash > 0


@pytest.mark.parametrize("of_year", [100, 365])
def test_the_gamblers_of_each_session_have_half_of_what_either_schedule_gives(of_year: int) -> None:
    left = [cash_left(batches, of_year) for batches in range(of_year + 1)]
    staked = [before - after for before, after in pairwise(left)]
    early = [Fraction(7, 8), *(Fraction(1, 4 * batch * (batch + 1)) for batch in range(2, of_year + 1))]
    assert all(2 * each == alone + Fraction(1, of_year) for each, alone in zip(staked, early, strict=True))
    assert left[0] == 1
    assert part_staked(1, of_year) == staked[0]
    assert 0 < cash_left(10_000, of_year) < left[-1] < Fraction(1, 800)


def compared(own: list[int], others: list[int], on: int, percent: int) -> Fraction:
    """Return what a turn is worth to a gambler, over the mean of it and the one turn of the others."""

    def worth(turn: list[int]) -> Fraction:
        odds = [each >> 54 for each in staked_cells((6, 30), (on,), percent)]
        return prod((Fraction(odds[cell], 1024) for cell in turn), start=Fraction(1))

    return 2 * worth(own) / (worth(own) + worth(others))


OTHERS = [1, 0, 1, 1]


def evidence_by_hand(batches: list[list[int]]) -> Fraction:
    """Return the wealth of the shooter's mixture: gamblers on other throws and on sevens, two and one ninth of it.

    The rest is bet on faces, of which it sees none. Each batch is a turn, compared with one of the others.
    """
    wealth = [Fraction(0)] * 11
    rows = [(on, percent) for on in (1, 0) for percent in (5, 10, 20, 40, 80)]
    for number, batch in enumerate(batches, start=1):
        staked = by_hand.cash_after(number - 1, 100) - by_hand.cash_after(number, 100)
        for index, (on, percent) in enumerate(rows):
            wealth[index] += staked * Fraction(2 if on else 1, 45)
            fair = prod((by_hand.staked((6, 30), (on,), percent, cell) for cell in batch), start=Fraction(1))
            wealth[index] *= min(fair, compared(batch, OTHERS, on, percent))
        wealth[-1] += staked * Fraction(2, 3)
    return by_hand.cash_after(len(batches), 100) + sum(wealth)


def turn(cells: list[int]) -> tuple[int, int]:
    return cells.count(0), cells.count(1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), max_size=20), min_size=1, max_size=8))
def test_the_evidence_is_that_of_the_formulas(batches: list[list[int]]) -> None:
    mixture, process = KINDS["shooter"].mixture(0), Process("shooter", "p")
    highest = Fraction(1)
    for number, batch in enumerate(batches, start=1):
        seen = Thrown(list(turn(batch)), [([turn(batch)], [(turn(batch), 1), (turn(OTHERS), 1)])])
        process.feed(mixture, {"seven": seen}, draws=len(batch), session="s")
        exact = evidence_by_hand(batches[:number])
        highest = max(highest, exact)
        assert 0 <= exact - Fraction(process.evidence, UNIT) <= exact / 2**50
    assert 0 <= highest - Fraction(process.highest, UNIT) <= highest / 2**50
    assert process.draws == sum(map(len, batches))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=20), max_size=8), st.integers(0, 8))
def test_a_process_that_is_saved_anywhere_goes_on_as_if_it_had_not_been(batches: list[list[int]], stop: int) -> None:
    mixture = KINDS["die"].mixture(0)
    straight, saved = Process("die", "d"), Process("die", "d")
    for each in (straight, saved):
        each.begin_year(2026, Fraction(1, 50))
    for number, batch in enumerate(batches):
        if number == stop:
            saved = copy(saved)
        for each in (straight, saved):
            each.feed(mixture, {"face": [batch.count(face) for face in range(6)]}, draws=len(batch), session="s")
    assert saved == straight


ALL_IN = Mixture(Family("coin", 1, CellBets((1, 1), (staked_cells((1, 1), (0,), 100),))))
"""A gambler who stakes everything on heads: what he has doubles, or is gone. He gets 7/16 + 1/730 at first."""


def toss(process: Process, *sides: int) -> list[str]:
    """Feed tosses, one each batch, and return the sessions of the questions."""
    found = []
    for number, side in enumerate(sides, start=1):
        crossing = process.feed(ALL_IN, {"coin": one(side, 2)}, draws=1, session=f"s{number}")
        found += [crossing.session] if crossing else []
    return found


def test_a_process_asks_when_it_reaches_one_over_alpha_and_not_before() -> None:
    after_a_head = 1 + Fraction(7, 16) + Fraction(1, 730)
    process = Process("k", "s")
    process.begin_year(2026, 1 / after_a_head + Fraction(1, 10**30))
    assert toss(process, 0) == ["s1"]
    process = Process("k", "s")
    process.begin_year(2026, 1 / after_a_head - Fraction(1, 10**9))
    assert toss(process, 0) == []
    assert not process.asks()


def test_a_question_stays_although_wealth_falls_and_is_asked_once_a_year() -> None:
    process = Process("k", "s")
    process.begin_year(2026, Fraction(1, 2))
    assert toss(process, 0, 0, 1, 0, 0, 0, 0) == ["s2"]
    assert process.asks()
    assert process.crossings[0].draws == 2
    # After two heads: (7/16 + 1/730) × 4, (1/48 + 1/730) × 2, and what is left.
    assert process.crossings[0].evidence == 2
    assert process.highest > process.crossings[0].evidence * UNIT


def test_a_process_without_a_level_never_asks() -> None:
    process = Process("k", "s")
    assert toss(process, 0, 0, 0, 0, 0, 0) == []


def test_a_new_year_keeps_the_wealth_and_measures_from_it() -> None:
    process = Process("k", "s")
    process.begin_year(2026, Fraction(1, 4))
    assert toss(process, 0, 0, 0) == ["s3"]
    wealth, highest = process.evidence, process.highest
    process.begin_year(2027, Fraction(1, 4))
    assert (process.evidence, process.highest, process.opening) == (wealth, highest, wealth)
    assert process.e_value == 1
    assert not process.asks()
    assert toss(process, 0) == []
    assert process.e_value < 2
    assert toss(process, 0, 0) == ["s2"]
    assert [(each.year, each.session) for each in process.crossings] == [(2026, "s3"), (2027, "s2")]


def test_a_gambler_who_is_ruined_comes_in_again() -> None:
    process = Process("k", "s")
    toss(process, 1, 1, 1)
    low = process.evidence
    assert low == process.cash > 0
    toss(process, 0)
    assert process.evidence > low


def test_a_channel_that_is_missing_leaves_its_gamblers_alone() -> None:
    mixture, process = KINDS["void-call"].mixture(0), Process("void-call", "t")
    fed(process, mixture, seven=[0, 5])
    before = list(process.wealth)
    cash = process.cash
    fed(process, mixture, luck=[Change(5, -5, 5)])
    part = part_staked(2, 365)
    added = [(cash * part.numerator // part.denominator) * share >> 128 for share in mixture.shares]
    unchanged = sum(family.bets.bettors for family in mixture.families if family.channel != "luck")
    assert process.wealth[:unchanged] == [b + a for b, a in zip(before, added, strict=True)][:unchanged]
    assert process.wealth[unchanged:] != [b + a for b, a in zip(before, added, strict=True)][unchanged:]
