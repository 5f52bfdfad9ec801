"""A stake or a part of it is withdrawn, and a payout hands back that amount or another: the finding, and the night.

1,000 are staked on big 6, and all of them withdrawn, or 400: then 600 play on. A part is due back at once, apart from
what plays on. The withdrawal says that he took it; a payout of the same stake is that movement, so less is no fault,
and more is. Counted by hand, of the 1,000:

    held      what the player holds of them at the end
    due       what he should hold
    error     due − held: the line *payout errors* of the night, above zero if the house has it
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from settlement import Event, adjudicate, decode
from settlement.finding import Finding
from tests.settlement.night.racks import lines_of
from tests.settlement.streams import event, opener

STAKE = 1000
OF_MONEY = (
    "stake-not-returned",
    "payout-underpaid",
    "payout-parts-mixed",
    "payout-put-right",
    "payout-overpaid",
    "payout-without-result",
)
OF_OTHER_THINGS = ("withdrawal-not-after-indecisive-roll", "wager-left-open")

Moves = list[tuple[str, dict[str, Any]]]


def took(amount: int = 0) -> tuple[str, dict[str, Any]]:
    return "wager.withdrawn", {"wager": "w", **({"amount": amount} if amount else {})}


def paid(stake: int, winnings: int = 0) -> tuple[str, dict[str, Any]]:
    return "payout.made", {"wager": "w", "winnings": winnings, "stake_returned": stake}


def left_up(stake: int) -> tuple[str, dict[str, Any]]:
    return "wager.placed", {"wager": "x", "bet": "big_8", "stake": stake, "left_up_from": "w"}


def recovered(stake: int) -> tuple[str, dict[str, Any]]:
    return "payout.recovered", {"wager": "w", "stake": stake}


def dice(one: int, other: int) -> tuple[str, dict[str, Any]]:
    return "dice.thrown", {"faces": [one, other]}


UNDECIDED, LOST, WON = dice(1, 2), dice(3, 4), dice(3, 3)

CLOSED = ("session.closed", {"float": 0})
PLACED = ("wager.placed", {"wager": "w", "bet": "big_6", "stake": STAKE})


class Case(NamedTuple):
    """What happens after the stake; ``found``: rule, difference, and whether it was put right later."""

    moves: Moves
    held: int
    due: int
    found: list[tuple[str, int, bool]]


PARTS = {
    "lifted by the player": Case([took(400), LOST], 400, 400, []),
    "handed back": Case([took(400), paid(400), LOST], 400, 400, []),
    "all handed back, though a part still plays": Case(
        [took(400), paid(1000), LOST], 1000, 400, [("stake-not-returned", 600, False)]
    ),
    "all handed back, and the rest taken back again": Case(
        [took(400), paid(1000), recovered(600), LOST], 400, 400, [("payout-put-right", 0, False)]
    ),
    "all handed back, and the rest taken back in the next coup": Case(
        [took(400), paid(1000), UNDECIDED, recovered(600), LOST], 400, 400, [("stake-not-returned", 0, True)]
    ),
    "all handed back, and the rest taken back once it was lost": Case(
        [took(400), paid(1000), LOST, recovered(600)], 400, 400, [("stake-not-returned", 0, True)]
    ),
    "handed back in two parts": Case(
        [took(400), paid(100), paid(300), LOST], 400, 400, [("payout-put-right", 0, False)]
    ),
    "too little handed back": Case([took(400), paid(100), LOST], 400, 400, []),
    "too little handed back, the rest in the next coup": Case(
        [took(400), paid(100), UNDECIDED, paid(300), LOST], 400, 400, []
    ),
    "too little handed back, the rest once it was lost": Case([took(400), paid(100), LOST, paid(300)], 400, 400, []),
    "too little handed back, then too much": Case(
        [took(400), paid(100), UNDECIDED, paid(400), LOST], 500, 400, [("stake-not-returned", 100, False)]
    ),
    "too little handed back, twice": Case([took(400), paid(100), UNDECIDED, paid(200), LOST], 400, 400, []),
    "too little handed back, then another part, which alone is handed back": Case(
        [took(400), paid(100), UNDECIDED, took(200), paid(200), LOST], 600, 600, []
    ),
    "too little handed back, then another part, and all of both": Case(
        [took(400), paid(100), UNDECIDED, took(200), paid(500), LOST], 600, 600, []
    ),
    "too little handed back, then the rest taken, and handed back alone": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(600), LOST], 1000, 1000, []
    ),
    "too little handed back, then the rest taken, and all handed back": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(900), LOST], 1000, 1000, []
    ),
    "too little handed back, then the rest taken, and more than all handed back": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(1000), LOST], 1100, 1000, [("stake-not-returned", 100, False)]
    ),
    "too little handed back, and then won": Case([took(400), paid(100), WON, paid(600, 600)], 1000, 1000, []),
    "too little handed back, made good with what was won": Case(
        [took(400), paid(100), WON, paid(900, 600)], 1000, 1000, []
    ),
    "handed back, and then all of the stake": Case(
        [took(400), paid(400), UNDECIDED, took(), paid(1000), LOST], 1400, 1000, [("stake-not-returned", 400, False)]
    ),
    "handed back, and then the rest": Case([took(400), paid(400), UNDECIDED, took(), paid(600), LOST], 1000, 1000, []),
    "lifted, and then the rest handed back": Case([took(400), UNDECIDED, took(), paid(600), LOST], 1000, 1000, []),
    "both parts handed back together": Case([took(400), UNDECIDED, took(), paid(1000), LOST], 1000, 1000, []),
    "of two parts, the first handed back": Case([took(400), took(200), paid(400), LOST], 600, 600, []),
    "of two parts, the second handed back": Case([took(400), took(200), paid(200), LOST], 600, 600, []),
    "of two parts, each handed back in its coup": Case(
        [took(400), took(200), paid(200), UNDECIDED, paid(400), LOST], 600, 600, []
    ),
    "of two parts, one handed back twice": Case(
        [took(400), took(200), paid(200), UNDECIDED, paid(200), LOST], 600, 600, []
    ),
}

WHOLE = {
    "all of it, lifted by the player": Case([took(), LOST], 1000, 1000, []),
    "all of it, handed back": Case([took(), paid(1000), LOST], 1000, 1000, []),
    "all of it, too little handed back": Case([took(), paid(700), LOST], 1000, 1000, []),
    "all of it, too much handed back": Case(
        [took(), paid(1300), LOST], 1300, 1000, [("stake-not-returned", 300, False)]
    ),
    "all of it, too little handed back before it is recorded": Case([paid(700), took(), LOST], 1000, 1000, []),
    "all of it, too much handed back before it is recorded": Case(
        [paid(1300), took(), LOST], 1300, 1000, [("stake-not-returned", 300, False)]
    ),
    "all of it, handed back in two payments": Case(
        [took(), paid(700), paid(300), LOST], 1000, 1000, [("payout-put-right", 0, False)]
    ),
    "all of it, too little handed back, the rest in the next coup": Case(
        [took(), paid(700), LOST, paid(300)], 1000, 1000, []
    ),
    "all of it, too little handed back, and again": Case([took(), paid(700), LOST, paid(200)], 1000, 1000, []),
    "all of it, too little handed back, then too much": Case(
        [took(), paid(700), LOST, paid(400)], 1100, 1000, [("stake-not-returned", 100, False)]
    ),
    "all of it, too little handed back, and that taken back: the player has lifted it": Case(
        [took(), paid(700), LOST, recovered(700)], 1000, 1000, []
    ),
    "all of it, too much handed back, the rest taken back": Case(
        [took(), paid(1300), LOST, recovered(300)], 1000, 1000, [("stake-not-returned", 0, True)]
    ),
    "all of it, too much handed back, some of the rest taken back": Case(
        [took(), paid(1300), LOST, recovered(200)], 1100, 1000, [("stake-not-returned", 300, False)]
    ),
    "all of it, too much handed back, and more than the rest taken back": Case(
        [took(), paid(1300), LOST, recovered(600)], 1000, 1000, [("stake-not-returned", 0, True)]
    ),
    "all of it, handed back, and some of it taken back": Case(
        [took(), paid(1000), LOST, recovered(300)], 1000, 1000, []
    ),
    "all of it, a part handed back as winnings": Case(
        [took(), paid(700, 300), LOST], 1000, 1000, [("payout-parts-mixed", 0, False)]
    ),
    "all of it, of which winnings were paid before: none of that is the withdrawal": Case(
        [paid(500, 200), took()], 1000, 1000, [("payout-parts-mixed", 0, False)]
    ),
    "all of it, some of which was paid in an earlier coup, and the rest": Case(
        [paid(700), UNDECIDED, took(), paid(300)], 1000, 1000, [("payout-without-result", 0, True)]
    ),
    "all of it, a part plays on, and the rest is handed back": Case(
        [took(), left_up(400), paid(600), LOST], 600, 600, []
    ),
    "all of it, a part plays on, and too little is handed back": Case(
        [took(), left_up(400), paid(500), LOST], 600, 600, []
    ),
    "all of it, a part plays on, and the player lifts the rest": Case([took(), left_up(400), LOST], 600, 600, []),
}

IN_PARTS = {
    "in two parts, lifted by the player": Case([took(400), took(), LOST], 1000, 1000, []),
    "in two parts, both handed back": Case([took(400), took(), paid(1000), LOST], 1000, 1000, []),
    "in two parts, the first handed back": Case([took(400), took(), paid(400), LOST], 1000, 1000, []),
    "in two parts, the second handed back": Case([took(400), took(), paid(600), LOST], 1000, 1000, []),
    "in two parts, too little handed back": Case([took(400), took(), paid(700), LOST], 1000, 1000, []),
    "in two parts, too much handed back": Case(
        [took(400), took(), paid(1300), LOST], 1300, 1000, [("stake-not-returned", 300, False)]
    ),
    "in two coups, too little handed back": Case([took(400), UNDECIDED, took(), paid(700), LOST], 1000, 1000, []),
    "in two coups, too much handed back": Case(
        [took(400), UNDECIDED, took(), paid(1300), LOST], 1300, 1000, [("stake-not-returned", 300, False)]
    ),
    "in two parts, of which one plays on, and the other is handed back": Case(
        [took(400), took(), left_up(400), paid(600), LOST], 600, 600, []
    ),
    "in two parts, of which one plays on and is no part handed back": Case(
        [took(400), took(), left_up(400), paid(500), LOST], 600, 600, []
    ),
    "in two parts, of one a piece plays on, the other piece is handed back, and the player lifts the other part": Case(
        [took(400), took(), left_up(200), paid(400), LOST], 800, 800, []
    ),
    "in two parts, of one a piece plays on, the other is handed back, and the player lifts the other piece": Case(
        [took(400), took(), left_up(200), paid(600), LOST], 800, 800, []
    ),
    "in two parts, of one a piece plays on, and the other piece, which is no part, is handed back": Case(
        [took(400), took(), left_up(100), paid(500), LOST], 900, 900, []
    ),
    "in two parts, more plays on than the other part leaves": Case(
        [took(400), took(), left_up(900), LOST, paid(400)], 400, 100, [("stake-not-returned", 300, False)]
    ),
    "in two parts, one handed back, and in the next coup less than the other": Case(
        [took(400), took(), paid(600), LOST, paid(300)], 1000, 1000, []
    ),
    "in two parts, one handed back, and in the next coup the other": Case(
        [took(400), took(), paid(600), LOST, paid(400)], 1000, 1000, []
    ),
    "one handed back, then too little of the other": Case(
        [took(400), paid(400), UNDECIDED, took(), paid(500), LOST], 1000, 1000, []
    ),
    "one handed back, then too much of the other": Case(
        [took(400), paid(400), UNDECIDED, took(), paid(700), LOST], 1100, 1000, [("stake-not-returned", 100, False)]
    ),
    "too little handed back of one, and the other lifted": Case(
        [took(400), paid(100), UNDECIDED, took(), LOST], 1000, 1000, []
    ),
    "too little handed back of one, the rest when the other is lifted": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(300), LOST], 1000, 1000, []
    ),
    "too little handed back of one, some of the rest when the other is lifted": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(200), LOST], 1000, 1000, []
    ),
    "too little handed back of one, the rest in two coups when the other is lifted": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(200), LOST, paid(100)], 1000, 1000, []
    ),
    "too little handed back of one, never all of the rest when the other is lifted": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(200), LOST, paid(50)], 1000, 1000, []
    ),
    "too little handed back of one, and then of both": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(700), LOST], 1000, 1000, []
    ),
    "too little handed back of one, then of both, and the rest": Case(
        [took(400), paid(100), UNDECIDED, took(), paid(700), LOST, paid(200)], 1000, 1000, []
    ),
    "too little handed back of one, and some of the rest when another is lifted": Case(
        [took(400), paid(100), UNDECIDED, took(200), paid(150), LOST], 600, 600, []
    ),
    "too little handed back of one, and all of it plays on with the other": Case(
        [took(400), paid(100), UNDECIDED, took(), left_up(900), LOST], 100, 100, []
    ),
    "too little handed back of one, and the other plays on": Case(
        [took(400), paid(100), UNDECIDED, took(), left_up(600), LOST], 400, 400, []
    ),
    "one handed back, and more said to play on than the other": Case(
        [took(400), paid(400), UNDECIDED, took(), left_up(1000), LOST], 0, 0, []
    ),
}

CASES = PARTS | WHOLE | IN_PARTS


def stream_of(moves: Moves) -> list[Event]:
    raw = [opener("s", "fr-craps", observes=[])]
    raw += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate([PLACED, *moves], start=2)]
    return [decode(each) for each in raw]


@pytest.mark.parametrize("end", [[], [CLOSED]], ids=["under way", "closed"])
@pytest.mark.parametrize("name", CASES)
def test_finding_night_and_account_agree(name: str, end: Moves) -> None:
    case = CASES[name]
    events = stream_of([*case.moves, *end])
    answer = adjudicate(events)
    money = [each for each in answer.findings if each.rule in OF_MONEY]
    assert [(each.rule, each.difference, each.put_right_by is not None) for each in money] == case.found
    assert {each.rule for each in answer.findings} <= {*OF_MONEY, *OF_OTHER_THINGS}
    assert answer.wagers["w"].debt == case.held - case.due == sum(map(owed, money))
    assert sum(line.payout_error for line in lines_of(events)) == case.due - case.held


def owed(found: Finding) -> int:
    """Return what is owed, in minor units: above zero by the player, below by the bank."""
    if found.owed is None:
        return 0
    return found.owed.amount if found.owed.by == "player" else -found.owed.amount


def test_what_is_said_to_play_on_is_what_was_not_handed_back_before() -> None:
    moves = [took(400), paid(400), UNDECIDED, took()]
    plays_on = ("payout.made", {"wager": "w", "winnings": 0, "stake_returned": 0, "continues_as": "x"})
    assert adjudicate(stream_of([*moves, plays_on])).wagers["x"].stake == 600


def test_a_settlement_counts_what_is_due_of_the_parts() -> None:
    """1,000 withdrawn in two parts and handed back with 300 too much, which the player gives back."""
    moves = [took(400), took(), paid(1000, 300), LOST]
    dispute = ("dispute.opened", {"wager": "w"})
    settled = ("dispute.settled", {"opened": 7, "amount": 300, "approved_by": "chief", "by": "player"})
    found = adjudicate(stream_of([*moves, dispute, settled, CLOSED])).findings
    overpaid = [(each.difference, each.put_right_by, each.severity) for each in found if each.rule == "payout-overpaid"]
    assert overpaid == [(0, 8, "info")]
