"""Which draws of a session speak most for what a process asks, by its kind."""

from __future__ import annotations

import pytest

from audit.desk.ledger.coups import _clearest
from audit.models import LedgerProcess
from settlement.eprocess.bets import Change
from settlement.eprocess.explanations import Arc
from settlement.eprocess.observations import Observation, Observations


def change(amount: int) -> Change:
    return Change(amount, -100, 100)


def seqs(kind: str, subject: str, session: Observations, arc: Arc | None = None, variant: int = 0) -> list[int]:
    process = LedgerProcess(kind=kind, subject=subject, variant=variant)
    return [draw.seq for _before, draw in _clearest(process, session, arc)]


WHEEL = Observations(
    session="s",
    table="R1",
    wheel="W1",
    cells=37,
    drawn=[
        Observation(2, 5, croupier="ann"),
        Observation(3, 6, croupier="ann"),
        Observation(4, 7, croupier="bob"),
        Observation(5, 20, croupier="bob"),
        Observation(6, 22, croupier="ann"),
    ],
)


def test_of_a_wheel_the_middle_of_the_arc_comes_first() -> None:
    assert seqs("wheel", "W1", WHEEL, Arc(5, 3), 37) == [3, 2, 4]
    assert seqs("wheel", "W1", WHEEL, Arc(36, 2), 37) == []
    assert seqs("wheel", "W1", WHEEL, None, 37) == [], "a state that cannot be read says nothing"


@pytest.mark.parametrize(
    ("kind", "subject", "expected"),
    [("wheel-displacement", "W1", [3, 4, 6]), ("croupier-displacement", "ann, W1", [3, 6])],
)
def test_of_steps_each_has_the_pocket_before_it_and_a_hand_its_own_alone(
    kind: str, subject: str, expected: list[int]
) -> None:
    assert seqs(kind, subject, WHEEL, Arc(1, 2), 37) == expected
    process = LedgerProcess(kind=kind, subject=subject, variant=37)
    for before, draw in _clearest(process, WHEEL, Arc(1, 2)):
        assert before is not None
        assert (draw.result - before.result) % 37 in (1, 2)


LUCK = Observations(
    session="s",
    table="R1",
    drawn=[
        Observation(2, 1, change(5), "ann", players={"p1": change(-3), "p2": change(8)}),
        Observation(3, 1, change(-40), "bob", players={"p1": change(-40)}, late={"p1": change(-40)}),
        Observation(4, 1, None, "ann"),
        Observation(5, 1, change(20), "ann", players={"p1": change(20)}),
    ],
    voided=[Observation(7, 3, change(1)), Observation(8, 3), Observation(9, 3, change(-30))],
    corrected=[4, 5],
)


@pytest.mark.parametrize(
    ("kind", "subject", "expected"),
    [
        ("table-luck", "R1", [3, 5, 2]),
        ("player-luck", "p1", [3, 5, 2]),
        ("player-luck", "p2", [2]),
        ("late-luck", "p1", [3]),
        ("corrected-luck", "p1", [5]),
        ("pair-luck", "p1, ann", [5, 2]),
        ("croupier-luck", "ann", [5, 2]),
        ("void-call", "R1", [9, 7, 8]),
        ("payout-rate", "ann", []),
        ("wheel-memory", "W1", []),
    ],
)
def test_of_luck_what_changed_most_comes_first(kind: str, subject: str, expected: list[int]) -> None:
    assert seqs(kind, subject, LUCK) == expected
