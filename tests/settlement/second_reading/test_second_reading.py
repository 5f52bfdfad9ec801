"""``settlement`` against the second reading of art. 54 and art. 55-8: what is due, over random streams.

``make faults`` plays 100,000 coups and ``make soak`` 900,000 others; ``CABOCHON_FIRST_SEED`` says where their seeds
begin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

import settlement
from tests.settlement.second_reading import craps, roulette
from tests.settlement.second_reading.coups import OPENED_AT, Craps, Roulette, Session, stream
from tests.settlement.second_reading.practice import Due, Events

FIRST_SEED = int(os.environ.get("CABOCHON_FIRST_SEED", "1000000"))
SEEDS_OF_A_CHUNK = 10_000_000
COUPS_OF_A_CHUNK = 12_500

PRACTICE = hasattr(settlement.events, "SpinVoided")
"""Whether the engine judges all of the second edition, which knows more than the first: see ``coups.stream``."""

MOST_SHOWN = 20

VERY_MANY_COUPS = pytest.mark.parametrize(
    "chunk", [pytest.param(n, marks=pytest.mark.faults if n < 8 else pytest.mark.soak) for n in range(80)]
)
"""100,000 coups in ``make faults``, and 900,000 in ``make soak``, each chunk well within a test's timeout."""

Differences = list[tuple[int, str, str, Due | None, Due | None]]
"""Seed, wager, bet, what is due by this reading, what is due by ``settlement``."""


def adjudicated(events: Events) -> dict[str, dict[str, Any]]:
    wagers: dict[str, dict[str, Any]] = settlement.adjudicate(json.dumps(event) for event in events).as_dict()["wagers"]
    return wagers


def read(session: Session) -> dict[str, Due]:
    return craps.read(session.events) if isinstance(session, Craps) else roulette.read(session.events)


def compare(seed: int) -> tuple[Differences, int]:
    """Return where the two differ in the stream of a seed, and its number of coups."""
    session, coups = stream(seed, practice=PRACTICE)
    due = read(session)
    answer = adjudicated(session.events)
    bets = {name: wager["bet"] for name, wager in answer.items()}
    answered = {name: Due(one["status"], one["winnings_due"], one["stake_due"]) for name, one in answer.items()}
    names = sorted(due.keys() | answered.keys())
    differing = [name for name in names if due.get(name) != answered.get(name)]
    return [(seed, name, bets.get(name, "?"), due.get(name), answered.get(name)) for name in differing], coups


@pytest.mark.parametrize("streams", [60, pytest.param(250, marks=pytest.mark.faults)])
def test_what_is_due_is_read_alike(streams: int) -> None:
    differences: Differences = []
    for seed in range(streams):
        differences += compare(seed)[0]
    assert differences[:MOST_SHOWN] == []


@VERY_MANY_COUPS
def test_what_is_due_is_read_alike_over_very_many_coups(chunk: int) -> None:
    assert differences_of(chunk, compare)[:MOST_SHOWN] == []


def differences_of(chunk: int, compare: Callable[[int], tuple[list[Any], int]]) -> list[Any]:
    """Return where the two differ in the streams of a chunk."""
    differences: list[Any] = []
    played = 0
    for seed in count(FIRST_SEED + chunk * SEEDS_OF_A_CHUNK):
        found, of_stream = compare(seed)
        differences += found
        played += of_stream
        if played >= COUPS_OF_A_CHUNK or len(differences) >= MOST_SHOWN:
            break
    return differences


BETS = {
    Roulette: {*roulette.ODDS},
    Craps: {*craps.LINES, *craps.BASE_OF, *craps.ONE_THROW, "big_6", "big_8", "hardway", "right_bet", "wrong_bet"},
}
DECIDED_BY_A_ZERO = {"released", "refunded_half", "refunded_last_coup"}
WAITING_FOR = {Roulette: {"awaiting_decision", "imprisoned"}, Craps: {"open"}}


@pytest.mark.faults
@pytest.mark.parametrize("first, game", [(0, Roulette), (1, Craps)])
def test_the_streams_reach_every_bet_of_the_article_with_every_end(first: int, game: type[Session]) -> None:
    ends: dict[str, set[str]] = {bet: set() for bet in BETS[game]}
    for seed in range(first, 1600, 2):
        session, _ = stream(seed, practice=False)
        for name, due in read(session).items():
            bet = next(event["data"]["bet"] for event in session.events if event["data"].get("wager") == name)
            ends.setdefault(bet, set()).add(due.status)
    for bet in BETS[game]:
        expected = {"won", "lost", "void"}
        expected |= set() if bet in craps.LINES else {"withdrawn"}
        expected |= DECIDED_BY_A_ZERO if bet in roulette.SIMPLE else set()
        assert expected <= ends[bet], bet
    assert set().union(*ends.values()) >= WAITING_FOR[game]


def test_the_streams_of_practice_hold_what_only_practice_judges() -> None:
    held = set()
    for seed in range(200):
        session, _ = stream(seed, practice=True)
        due = read(session)
        called_at = ""
        for event in session.events:
            data = event["data"]
            if event["type"] == "no_more_bets":
                called_at = event["occurred_at"]
            if event["type"] in ("ball.settled", "spin.voided", "dice.thrown", "throw.voided"):
                called_at = ""
            if event["type"] == "wager.placed":
                is_void = due[data["wager"]].status == "void"
                held.add(("numbered late, in time", event["occurred_at"] <= called_at and not is_void))
            if "continues_as" in data:
                held.add(("plays on", data["continues_as"] in due))
            held.add((event["type"], isinstance(session, Roulette)))
    assert held >= {("spin.voided", True), ("throw.voided", False), ("plays on", True)}
    assert ("plays on", False) not in held
    assert ("numbered late, in time", True) in held


def events(game: type[Session], *reported: tuple[str, int, dict[str, Any]]) -> Events:
    """Return a stream of (type, milliseconds, data)."""
    session = game(0, practice=True)
    session.unit, session.params = 1, {}
    session.open()
    for type_, at_ms, data in reported:
        session.put(type_, at_ms, **data)
    assert session.events[0]["occurred_at"] == OPENED_AT.isoformat(timespec="milliseconds")
    return session.events


def rouge(at_ms: int, stake: int = 101) -> tuple[str, int, dict[str, Any]]:
    return ("wager.placed", at_ms, {"wager": "w", "bet": "rouge", "stake": stake, "player": "p1"})


def paid(returned: int, **more: Any) -> tuple[str, int, dict[str, Any]]:
    return ("payout.made", 9000, {"wager": "w", "winnings": 0, "stake_returned": returned, **more})


def decided(choice: str) -> tuple[str, int, dict[str, Any]]:
    return ("zero.decided", 9000, {"wager": "w", "choice": choice})


CALL: tuple[str, int, dict[str, Any]] = ("no_more_bets", 5000, {})
ZERO = ("ball.settled", 9000, {"pocket": "0"})
ONE = ("ball.settled", 9000, {"pocket": "1"})
SPIN_VOIDED = ("spin.voided", 6000, {"announced_by": "croupier", "reason": "mechanical"})

PRACTICE_OF_ART_54 = {
    "late by the clock, numbered before the call": ([rouge(5501), CALL, ONE], Due("void", 0, 101)),
    "near the call": ([CALL, rouge(5500), ONE], Due("won", 101, 101)),
    "in time by the clock, numbered after the call": ([CALL, rouge(4999), ONE], Due("won", 101, 101)),
    "numbered after the result": ([CALL, ONE, rouge(4999)], Due("open", 0, 0)),
    "a voided spin lifts the call": ([CALL, SPIN_VOIDED, rouge(7000), ONE], Due("won", 101, 101)),
    "nothing said": ([rouge(0), ZERO, ONE], Due("released", 0, 101)),
    "half, said by the chips": ([rouge(0), ZERO, paid(50), ONE], Due("refunded_half", 0, 50)),
    "half, rounded up": ([rouge(0), ZERO, paid(51), ONE], Due("refunded_half", 0, 50)),
    "another part is no choice": ([rouge(0), ZERO, paid(25), ONE], Due("released", 0, 101)),
    "a quarter after two zeros": ([rouge(0), ZERO, ZERO, paid(25), ONE], Due("refunded_half", 0, 25)),
    "the last decision counts": ([rouge(0), ZERO, decided("half"), decided("prison"), ONE], Due("released", 0, 101)),
    "no decision after the money": (
        [rouge(0), ZERO, decided("half"), paid(50), decided("prison"), ONE],
        Due("refunded_half", 0, 50),
    ),
}


@pytest.mark.parametrize("case", PRACTICE_OF_ART_54)
def test_practice_of_art_54(case: str) -> None:
    reported, due = PRACTICE_OF_ART_54[case]
    assert roulette.read(events(Roulette, *reported))["w"] == due


def test_a_released_stake_plays_on_under_another_name() -> None:
    reported = [rouge(0), ZERO, ONE, paid(41, continues_as="x"), ONE]
    assert roulette.read(events(Roulette, *reported))["x"] == Due("won", 60, 60)


def throw(*faces: int, **more: Any) -> tuple[str, int, dict[str, Any]]:
    return ("dice.thrown", 9000, {"faces": list(faces), **more})


RIGHT_4 = ("wager.placed", 0, {"wager": "w", "bet": "right_bet", "number": 4, "stake": 7, "player": "p1"})
MOVED_TO_8 = ("wager.moved", 0, {"wager": "w", "number": 8})


def test_practice_of_art_55_8() -> None:
    moved = events(Craps, RIGHT_4, throw(3, 3), MOVED_TO_8, throw(2, 2), throw(4, 4))
    assert craps.read(moved)["w"] == Due("won", 8, 7)  # "7 pour 6"
    not_moved = events(Craps, RIGHT_4, MOVED_TO_8, throw(2, 2))
    assert craps.read(not_moved)["w"] == Due("won", 12, 7)  # "9 pour 5"
    left = events(Craps, RIGHT_4, throw(2, 2), paid(2, continues_as="x"), throw(3, 1))
    assert craps.read(left)["x"] == Due("won", 9, 5)


def test_whether_a_counted_irregular_throw_decides_is_the_open_question() -> None:
    """``settlement`` follows the stickman, who counted it, and says that it was irregular."""
    win = ("wager.placed", 0, {"wager": "w", "bet": "win", "stake": 100, "player": "p1"})
    reported = events(Craps, win, CALL, throw(3, 4, flags=["stacked"]))
    assert craps.read(reported)["w"] == Due("won", 100, 100)
    assert craps.read(reported, stickman_decides=False)["w"] == Due("open", 0, 0)
    answer = settlement.adjudicate(json.dumps(event) for event in reported).as_dict()
    assert answer["wagers"]["w"]["status"] == "won"
    assert "irregular-throw-counted" in {finding["rule"] for finding in answer["findings"]}
