"""What a process holds for each explanation: together the process, each alone what it would be, counts as they came."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from settlement.eprocess.explanations import CIRCULAR, OF_DICE, best_arc, counts_of, explanations_of, tally_of
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.process import UNIT, Mixture, Process

CELLS = 37
CHANNELS = {"wheel": "pocket", "wheel-displacement": "displacement", "croupier-displacement": "displacement"}
TILTED = [[14 if 20 <= cell < 29 else 9 for cell in range(CELLS)] for _session in range(4)]
EVEN = [[10] * CELLS for _session in range(4)]


def fed(kind: str, sessions: list[list[int]], mixture: Mixture | None = None) -> Process:
    process = Process(kind, "W1", CELLS)
    for number, seen in enumerate(sessions):
        of = mixture or KINDS[kind].mixture(CELLS)
        process.feed(of, {CHANNELS[kind]: seen}, draws=sum(seen), session=f"s{number}")
    return process


@pytest.mark.parametrize("kind", sorted(CIRCULAR))
@pytest.mark.parametrize("sessions", [TILTED, EVEN], ids=["tilted", "even"])
def test_the_explanations_are_the_process_by_their_shares(kind: str, sessions: list[list[int]]) -> None:
    process, mixture = fed(kind, sessions), KINDS[kind].mixture(CELLS)
    alone = {each.name: each.evidence for each in explanations_of(process)}
    shares: dict[str, Fraction] = dict.fromkeys(alone, Fraction(0))
    names = {"ArcBets": {1: "one", 3: "sector", 5: "sector"}, "CellBets": {}, "Learner": {}}
    whole = sum(family.weight for family in mixture.families)
    for family in mixture.families:
        own = getattr(family.bets, "bets", family.bets)
        bets, weight = type(own).__name__, Fraction(family.weight, whole)
        usual = {"ArcBets": "wide", "CellBets": "wave", "Learner": "any"}[bets]
        name = names[bets].get(getattr(own, "width", 0), usual)
        if (kind, name) == ("wheel-displacement", "one"):
            shares["twice"] += weight / CELLS
            weight *= Fraction(CELLS - 1, CELLS)
        shares[name] += weight
    assert sum(shares.values()) == 1
    together = sum(shares[name] * alone[name] for name in alone)
    assert float(together) == pytest.approx(process.evidence / UNIT, rel=1e-9)


def test_an_explanation_has_what_a_process_of_its_gamblers_alone_had() -> None:
    families = KINDS["wheel"].mixture(CELLS).families
    waves = Mixture(*(family for family in families if type(family.bets).__name__ == "CellBets"))
    alone = fed("wheel", TILTED, waves)
    (of_all,) = (each.evidence for each in explanations_of(fed("wheel", TILTED)) if each.name == "wave")
    assert float(of_all) == pytest.approx(alone.evidence / UNIT, rel=1e-9)


@pytest.mark.parametrize("kind", sorted(CIRCULAR))
def test_the_arc_that_fits_best_is_the_one_that_came_more_often(kind: str) -> None:
    arc = best_arc(fed(kind, TILTED))
    assert arc is not None
    assert arc.cells(CELLS) == tuple(range(20, 29))
    last = (36, 1, 2) if kind == "croupier-displacement" else (36, 0, 1)
    over_the_end = [[14 if cell in last else 9 for cell in range(CELLS)]] * 6
    arc = best_arc(fed(kind, over_the_end))
    assert arc is not None
    assert arc.cells(CELLS) == last


@pytest.mark.parametrize("kind", sorted(CIRCULAR))
def test_what_was_counted_is_what_came(kind: str) -> None:
    came = [56 if 20 <= cell < 29 else 36 for cell in range(CELLS)]
    came[0] = 0 if kind == "croupier-displacement" else came[0]  # left out: see below
    assert list(counts_of(fed(kind, TILTED))) == came


def steps_of(spins: list[int]) -> list[int]:
    steps = [0] * CELLS
    for before, pocket in pairwise(spins):
        steps[(pocket - before) % CELLS] += 1
    return steps


def test_fair_spins_that_are_recorded_twice_are_a_question_about_the_wheel_and_none_about_its_croupier() -> None:
    random, kinds = Random(20_261_128), ("wheel-displacement", "croupier-displacement")
    wheel, croupier = (Process(kind, "W1", CELLS) for kind in kinds)
    for process in (wheel, croupier):
        process.begin_year(2026, Fraction(1, 100))
    for number in range(30):
        spins = [random.randrange(CELLS) for _ in range(100)]
        doubled = steps_of([spin for spin in spins for _twice in range(2)])
        for process in (wheel, croupier):
            mixture = KINDS[process.kind].mixture(CELLS)
            process.feed(mixture, {"displacement": doubled}, draws=sum(doubled), session=f"s{number}")
    assert wheel.asks()
    assert explanations_of(wheel)[0].name == "twice"
    assert not croupier.asks()
    assert croupier.highest < 100 * UNIT


def test_the_last_pocket_again_changes_nothing_about_a_croupier() -> None:
    again = fed("croupier-displacement", [[100, *[0] * 36]] * 3)
    assert again.evidence == UNIT


def test_the_largest_explanation_is_the_first() -> None:
    found = explanations_of(fed("wheel", TILTED))
    assert [each.evidence for each in found] == sorted((each.evidence for each in found), reverse=True)
    assert found[0].name == "wide"
    assert found[-1].name in ("one", "any")


@pytest.mark.parametrize("kind", sorted(set(KINDS) - CIRCULAR))
def test_of_any_other_kind_there_are_as_many_as_its_gamblers_bet_on(kind: str) -> None:
    cells = CELLS if kind == "wheel-memory" else 0
    families = KINDS[kind].mixture(cells).families
    bet_on = {(each.channel, type(each.bets).__name__ == "Learner" and each.channel == "face") for each in families}
    process = Process(kind, "s", cells)
    process.wealth = [1] * sum(each.bets.bettors for each in families)
    found = explanations_of(process)
    assert len(found) == (len(bet_on) if len(bet_on) > 1 else 0)
    assert len({each.name for each in found}) == len(found)


def test_the_sevens_of_a_pair_speak_for_sevens() -> None:
    process = Process("dice-pair", "S1")
    channels = {each.channel for each in KINDS["dice-pair"].mixture(0).families}
    seen = {"face": [20] * 6, "double": [10, 50], "seven": [30, 30], "total": [2, 3, 3, 3, 3, 30, 4, 4, 3, 3, 2]}
    seen |= {"after-double": [0, 0, 0], "after-seven": [0, 0], "after-other": [0, 0, 0]}
    assert set(seen) == channels
    process.feed(KINDS["dice-pair"].mixture(0), seen, draws=60, session="s")
    assert explanations_of(process)[0].name in ("seven", "total")
    assert {each.name: each.evidence for each in explanations_of(process)}["seven"] > 100


@pytest.mark.parametrize("process", [Process("player-luck", "p1"), Process("wheel", "W1", CELLS)], ids=["luck", "new"])
def test_a_process_about_no_circle_or_that_has_seen_nothing_has_none(process: Process) -> None:
    assert explanations_of(process) == []
    assert best_arc(process) is None
    assert not counts_of(process)


SEEN = {"face": [9, 11, 10, 8, 12, 10], "total": [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]}


@pytest.mark.parametrize("kind", sorted(OF_DICE))
def test_a_process_of_dice_counts_faces_or_totals_as_they_came_and_knows_their_ways(kind: str) -> None:
    channel = OF_DICE[kind]
    seen, process = SEEN[channel], Process(kind, "S1")
    assert tally_of(process) is None, "it has seen nothing"
    for number in range(2):
        process.feed(KINDS[kind].mixture(0), {channel: seen}, draws=sum(seen), session=f"s{number}")
    tally = tally_of(process)
    assert tally is not None
    assert list(tally.counts) == [2 * times for times in seen]
    assert sum(tally.ways) == {"face": 6, "total": 36}[channel]
    assert tally.ways == tuple(reversed(tally.ways))


@pytest.mark.parametrize("kind", ["shooter", "wheel", "table-luck"])
def test_another_process_counts_neither(kind: str) -> None:
    assert tally_of(Process(kind, "x", wealth=[UNIT])) is None
