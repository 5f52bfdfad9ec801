"""PyPI's craps, a second table written by others: the line, come, and the odds on both, over 20,000 throws;
2,000 in the short form.

What it brings is held off, for it is old and plays by other rules:

* Importing it empties its folder of logs, so the import is given a folder of its own.
* Its money is in floats; stakes here are such that every amount is whole.
* Come-out: its odds on a come stake rest while there is no point, and never work again; in the French text nothing is
  ever off. Such odds are compared up to the next come-out and no further.
* Its come bet with no point up is taken for a line bet; A 3° allows none there, and none is made.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from settlement import State, decode
from tests.settlement.streams import event, opener

THROWS = [1_000, pytest.param(2_000, marks=pytest.mark.faults), pytest.param(20_000, marks=pytest.mark.soak)]
STAKE = 6_600


@pytest.fixture(scope="module")
def craps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("craps")))
        yield importlib.import_module("craps")


class Tables:
    """Our table and theirs, side by side: a wager here and the bet there, by the name of the bet."""

    def __init__(self, craps: ModuleType) -> None:
        self.craps = craps
        self.ours = State()
        self.ours.feed(decode(opener("s", "fr-craps")))
        self.theirs = craps.Game(loglevel=100)
        self.theirs.allow_credit_rail = True
        self.up: dict[str, tuple[str, Any]] = {}
        self.placed = 0
        self.compared: dict[str, int] = {}

    def feed(self, kind: str, **data: Any) -> None:
        self.ours.feed(decode(event("s", self.ours.last_seq + 1, kind, at="2010-11-19T20:00:00+01:00", **data)))

    def put_up(self, bet: str, their_bet: Any, **data: Any) -> None:
        self.placed += 1
        wager = f"w{self.placed}"
        self.feed("wager.placed", wager=wager, bet=bet, stake=STAKE, **data)
        assert self.ours.table.wagers[wager].status == "open"
        self.theirs.bet(their_bet)
        assert their_bet in self.theirs.bets
        self.up[bet] = (wager, their_bet)

    def put_up_what_is_down(self) -> None:
        theirs = self.craps
        point = self.ours.table.point
        if point is None:
            if "win" not in self.up:
                self.put_up("win", theirs.PassBet(STAKE))
            return
        if "come" not in self.up:
            self.put_up("come", theirs.ComeBet(STAKE))
        for base in ("win", "come"):
            if base not in self.up or f"{base}_odds" in self.up:
                continue
            number = self.ours.table.wagers[self.up[base][0]].number
            if number is not None:
                odds = theirs.LineOddsBet(STAKE) if base == "win" else theirs.PointOddsBet(STAKE, number)
                self.put_up(f"{base}_odds", odds, base=self.up[base][0])

    def throw(self, faces: tuple[int, int]) -> None:
        if self.ours.table.point is None:
            self.up.pop("come_odds", None)
        self.theirs.roll(self.craps.Roll(self.theirs, override=faces))
        self.feed("dice.thrown", faces=list(faces))
        assert self.theirs.puck == self.ours.table.point
        for bet, (wager_id, their_bet) in list(self.up.items()):
            wager = self.ours.table.wagers[wager_id]
            assert their_bet.settled == (wager.status != "open"), (bet, faces)
            if not their_bet.settled:
                continue
            assert round(their_bet.payout) == wager.winnings_due + wager.stake_due, (bet, faces)
            self.compared[bet] = self.compared.get(bet, 0) + 1
            del self.up[bet]
        self.theirs.bets = self.theirs.unsettled_bets


@pytest.mark.parametrize("throws", THROWS)
def test_every_decision_is_the_same(craps: ModuleType, throws: int) -> None:
    dice = random.Random(20260102)
    tables = Tables(craps)
    for _ in range(throws):
        tables.put_up_what_is_down()
        tables.throw((dice.randint(1, 6), dice.randint(1, 6)))
    assert set(tables.compared) == {"win", "come", "win_odds", "come_odds"}
    assert min(tables.compared.values()) > throws // 20
