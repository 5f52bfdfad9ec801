"""What no table should show: every process goes on, can be stored, and takes what comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import cycle, islice

import msgspec
import pytest

from settlement.eprocess.bets import EVENS, LARGEST, Change, DriftBets, Learner, PairLearner, power
from settlement.eprocess.channels import Fed, of_evening, of_payouts, of_session, of_variance
from settlement.eprocess.ledger import Ledger
from settlement.eprocess.observations import Observation, Observations, Payout
from settlement.eprocess.process import UNIT

Feeding = Callable[[int], Iterable[Fed]]


def both(session: Observations) -> Iterable[Fed]:
    return [*of_session(session), *of_evening([session])]


def spins(*pockets: int, cells: int = 37) -> Feeding:
    def fed(draws: int) -> Iterable[Fed]:
        drawn = [Observation(seq, pocket, None, "c") for seq, pocket in enumerate(islice(cycle(pockets), draws))]
        return both(Observations("s", "T", "W", cells, drawn))

    return fed


def throws(*results: int) -> Feeding:
    def fed(draws: int) -> Iterable[Fed]:
        drawn = [
            Observation(seq, result, None, "c", "p", "S", ("a", "b"))
            for seq, result in enumerate(islice(cycle(results), draws))
        ]
        return both(Observations("s", "T", drawn=drawn, voided=drawn))

    return fed


def luck(*changes: Change) -> Feeding:
    def fed(draws: int) -> Iterable[Fed]:
        drawn = [
            Observation(seq, 0, change, "c", players={"p": change}, late={"p": change})
            for seq, change in enumerate(islice(cycle(changes), draws))
        ]
        return both(Observations("s", "T", "T", -1, drawn))

    return fed


def payouts(*errors: int, croupiers: int = 1) -> Feeding:
    def fed(draws: int) -> Iterable[Fed]:
        paid = enumerate(islice(cycle(errors), draws))
        return of_payouts(Payout(f"s#{seq}", f"c{seq % croupiers}", error) for seq, error in paid)

    return fed


WON = Change(-36, -36, 1)

DEGENERATE: dict[str, Feeding] = {
    "a reader that is stuck on one pocket": spins(17),
    "a loop of all pockets but zero": spins(*range(1, 37)),
    "two pockets in turn": spins(17, 18),
    "one pocket of an American wheel": spins(0, cells=38),
    "one throw": throws(6 * 3 + 2),
    "a double": throws(0),
    "two throws in turn": throws(20, 35),
    "a player who always wins": luck(WON),
    "a player who always loses": luck(Change(1, -36, 1)),
    "a player who wins and loses in turn": luck(WON, Change(1, -36, 1)),
    "every payout is wrong": payouts(100),
    "one of ten croupiers is always wrong": payouts(100, *[0] * 9, croupiers=10),
    "every payout is right": payouts(0),
}


def goes_on(feed: Feeding, draws: int, sessions: int = 1) -> None:
    ledger = Ledger(2026)
    for number in range(sessions):
        ledger.feed(feed(draws), session=str(number))
    again = Ledger.from_bytes(ledger.to_bytes())
    assert again == ledger
    for process in again.processes.values():
        assert 0 <= process.cash <= UNIT
        assert all(0 <= wealth <= LARGEST + UNIT for wealth in process.wealth)
    again.feed(feed(5), session="next")


@pytest.mark.parametrize("draws", [0, 1, 3_000, pytest.param(40_000, marks=pytest.mark.faults)])
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_ledger_goes_on(name: str, draws: int) -> None:
    if name == "one of ten croupiers is always wrong" and draws > 3_000:
        draws = 6_000
    goes_on(DEGENERATE[name], draws)


@pytest.mark.parametrize("name", ["a reader that is stuck on one pocket", "one throw", "a player who always wins"])
def test_a_ledger_goes_on_after_many_such_sessions(name: str) -> None:
    goes_on(DEGENERATE[name], 300, sessions=25)


@pytest.mark.faults
@pytest.mark.parametrize("name", ["a reader that is stuck on one pocket", "one throw", "a player who always wins"])
def test_a_ledger_goes_on_after_a_million_draws_in_one_session(name: str) -> None:
    goes_on(DEGENERATE[name], 1_000_000)


def test_counts_that_always_balance_are_fed_for_ever() -> None:
    ledger = Ledger(2026)
    for number in range(10_050):
        ledger.feed(of_variance("R1", "", "", 0), session=str(number))
    [process] = ledger.processes.values()
    assert process.draws == 10_050
    assert process.evidence <= UNIT


def test_a_bound_of_drift_is_never_less_than_one_unit() -> None:
    bets, memory = DriftBets(1, (1,), 1), [1, 1_000]
    assert bets.settle([UNIT], memory, [7]) == [UNIT * 3 // 2]  # cut off at 1, of which half


def test_beyond_its_bound_wealth_does_not_grow_and_can_be_lost_again() -> None:
    assert power(2 * EVENS, 10**6).of(UNIT) == LARGEST
    assert power(EVENS // 2, 1).of(LARGEST) == LARGEST // 2
    assert power(2 * EVENS, 10**6).of(0) == 0
    learner = Learner((0, 1), (1, 1), 1)
    assert learner.settle([UNIT], [0, 0], [5_000, 0]) == [LARGEST]


@pytest.mark.parametrize("counts", [[4_500, 4_600], [9_000, 2], [4_097, 0], [3_000, 2_000]])
def test_a_long_batch_of_a_learner_is_rounded_against_him_and_by_little(counts: list[int]) -> None:
    prior, before = 3, [11, 7]
    exact = Fraction(1)
    seen = list(before)
    for cell, times in enumerate(counts):
        for _ in range(times):
            exact *= Fraction(2 * (seen[cell] + prior), sum(seen) + 2 * prior)
            seen[cell] += 1
            exact = Fraction(int(exact * 2**400), 2**400) if exact.denominator > 2**4_000 else exact
    [after] = Learner((0, 1), (1, 1), prior).settle([UNIT], list(before), counts)
    [paired] = PairLearner(2, prior).settle([UNIT], [*before, 0, 0], {(0, 0): counts[0], (0, 1): counts[1]})
    wanted = min(Fraction(LARGEST), exact * UNIT)
    for each in (after, paired):
        assert wanted * (1 - Fraction(1, 2**80)) - 2 <= each <= wanted * (1 + Fraction(1, 2**200))


def test_a_state_of_the_largest_wealth_is_stored_to_the_last_digit() -> None:
    ledger = Ledger(2026)
    ledger.feed(DEGENERATE["a reader that is stuck on one pocket"](3_000), session="s")
    process = ledger.processes["wheel 37: W"]
    assert LARGEST in process.wealth
    assert msgspec.json.decode(msgspec.json.encode(process), type=type(process)) == process
