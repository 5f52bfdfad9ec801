"""Who goes from table to table because of what was drawn asks no more often than his level says.

He plays one piece straight up at up to ``TABLES`` fair wheels. He stops where he is far ahead and goes on where he is
not; then the tables close in whatever order suits him. Fed by table, in the order in which they close, his process
reaches 1/α many times as often: the worst order shows first the table at which he stopped because he was ahead, and
the first batch of a year has the largest stake. Fed as one evening it does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from itertools import permutations

import pytest

from settlement.eprocess.bets import Change
from settlement.eprocess.channels import of_evening
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.observations import Observation, Observations
from settlement.eprocess.process import UNIT, Process

TABLES, COUPS = 12, 150
WEALTH = 8
"""1/α. A high level, so that few evenings tell."""

WON, LOST = Change(-36, -36, 1), Change(1, -36, 1)

Fed = list[list[Observations]]
"""The sessions of an evening, by batch."""


def wealth_after(batches: Fed) -> int:
    """Return the most that the process of the player ever had."""
    process, mixture = Process("player-luck", "p"), KINDS["player-luck"].mixture(0)
    for sessions in batches:
        for fed in of_evening(sessions):
            if fed.kind == "player-luck":
                process.feed(mixture, fed.seen, draws=fed.draws, session="")
    return process.highest


@cache
def would_ask(won: int, played: int) -> bool:
    """Return whether a lone session with so many coups won would be a question by itself."""
    drawn = [Observation(seq, 0, players={"p": WON if seq < won else LOST}) for seq in range(played)]
    return wealth_after([[Observations("s", "T", "W", 37, drawn)]]) >= WEALTH * UNIT


def evening(chance: random.Random) -> list[Observations]:
    """Play at fair wheels until one of them alone would be a question, and return the sessions."""
    sessions: list[Observations] = []
    for table in range(TABLES):
        drawn: list[Observation] = []
        won = 0
        while len(drawn) < COUPS:
            wins = chance.randrange(37) == 0
            won += wins
            drawn.append(Observation(len(drawn), 0, players={"p": WON if wins else LOST}))
            if wins and would_ask(won, len(drawn)):
                break
        sessions.append(Observations(f"s{table}", f"T{table}", f"W{table}", 37, drawn))
        if len(drawn) < COUPS or would_ask(won, len(drawn)):
            break
    return sessions


@cache
def level_of(batches: Callable[[list[Observations]], Fed], evenings: int) -> tuple[float, float]:
    """Return how often the player's process reached 1/α, and the standard deviation of that at the level."""
    chance = random.Random(20261128)
    questions = sum(wealth_after(batches(evening(chance))) >= WEALTH * UNIT for _ in range(evenings))
    return questions / evenings, (1 / WEALTH * (1 - 1 / WEALTH) / evenings) ** 0.5


def by_close(sessions: list[Observations]) -> Fed:
    return [[each] for each in reversed(sessions)]


def as_one(sessions: list[Observations]) -> Fed:
    return [sessions]


@pytest.mark.parametrize("evenings", [150, pytest.param(1_500, marks=pytest.mark.faults)])
def test_fed_as_one_evening_a_moving_player_is_asked_about_as_rarely_as_his_level_says(evenings: int) -> None:
    share, deviation = level_of(as_one, evenings)
    assert share <= 1 / WEALTH + 3 * deviation


@pytest.mark.parametrize("evenings", [150, pytest.param(1_500, marks=pytest.mark.faults)])
def test_fed_by_close_he_would_be_asked_about_far_more_often(evenings: int) -> None:
    (share, deviation), (as_one_evening, _) = level_of(by_close, evenings), level_of(as_one, evenings)
    assert share > 4 * as_one_evening + deviation


def test_the_order_in_which_tables_close_changes_nothing() -> None:
    sessions = evening(random.Random(3))[:4]
    assert len(sessions) > 2
    assert len({wealth_after([list(order)]) for order in permutations(sessions)}) == 1
