"""Art. 55-8: every bet of French craps, throw by throw. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

from itertools import product

import pytest

from settlement import State, decode
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play

TAPES = {
    "A 8°, B 5°, B 6°: three bets that one throw decides": """
        fr-craps
        place w1 under_7 1000
        place w2 craps_2 100
        place w3 craps_3 100
        throw 1-2                                     => w1:won w2:lost w3:won
        pay w1 1000+1000
        pay w3 1500+100
        throw 3-4
    """,
    "C 4°: odds on a don’t come win with it": """
        fr-craps
        throw 4-2
        place w1 dont_come 1000
        throw 5-4                                     => w1:open
        place w2 dont_come_odds 1500 base=w1
        throw 3-4                                     => w1:won w2:won
        pay w1 1000+1000
        pay w2 1000+1500                              ? payout-overpaid payout-underpaid
        throw 3-4
    """,
    "A 1°: the win is played on the come-out": """
        fr-craps
        place w1 win 1000
        throw 5-1
        place w2 win 1000             ! line-wager-after-come-out:w2
        place w3 dont_win 1000        ! line-wager-after-come-out:w3
        throw 3-3
        pay w1 1000+1000
        pay w2 0+1000
        place w4 win 1000
    """,
    "A 3°: the come is played after it": """
        fr-craps
        place w1 come 1000            ! come-wager-on-come-out:w1
        throw 5-1
        place w2 come 1000
        throw 5-2
        pay w2 1000+1000
        place w3 dont_come 1000       ! come-wager-on-come-out:w3
    """,
    "after A 4°: the four contracts are not taken back": """
        fr-craps calls
        place w1 win 1000
        take w1                       ! contract-wager-withdrawn:w1
        call
        take w1                       ! contract-wager-withdrawn:w1 withdrawal-after-no-more-bets:w1
        throw 5-1
        take w1 200                   ! contract-wager-withdrawn:w1
        call
        throw 3-3
        pay w1 1000+1000
    """,
    "A 3°, A 4°: a stake that travels is moved to its number": """
        fr-craps
        throw 5-1
        place w1 come 1000
        place w2 dont_come 1000
        throw 2-2
        move w1 4
        throw 1-1                     ! come-not-moved:w2
        move w2 4
        move w2 4                     ? come-moved-to-wrong-number
        place w3 come 1000
        throw 5-4
        move w3 5                     ! come-moved-to-wrong-number:w3
        move ghost 9                  ! come-moved-to-wrong-number:ghost
        throw 1-1
    """,
    "a stream that never moves a stake does not report it": """
        fr-craps
        throw 5-1
        place w1 come 1000
        throw 2-2
        throw 1-1
    """,
    "C: odds need their base, undecided, on its number, of the same kind and player": """
        fr-craps
        place w1 win 1000 player=Anna
        place o1 win_odds 1000 base=w1 player=Anna      ! odds-without-base-wager:o1
        throw 5-1
        place o2 win_odds 1000 base=w1 player=Bruno     => o2:void ! odds-on-anothers-base:o2
        place o3 dont_win_odds 1000 base=w1             ! odds-without-base-wager:o3
        place o4 win_odds 1000 base=ghost               ! odds-without-base-wager:o4
        place o5 win_odds 1000                          ! odds-without-base-wager:o5
        place o6 win_odds 1000 base=w1 player=Anna
        throw 3-3
        pay w1 1000+1000
        pay o6 1200+1000
        place o7 win_odds 1000 base=w1                  ! odds-without-base-wager:o7
    """,
    "C: odds are of the player of their base, by player or by seat": """
        fr-craps seating
        sit Anna seat=S1
        sit Bruno seat=S2
        place w1 win 1000 player=Anna seat=S1
        place w2 win 1000 seat=S2
        throw 5-1
        place o1 win_odds 1000 base=w1 seat=S1          => o1:open ? odds-on-anothers-base
        place o2 win_odds 1000 base=w1 seat=S2          => o2:void ! odds-on-anothers-base:o2
        place o3 win_odds 1000 base=w2 player=Bruno     => o3:open ? odds-on-anothers-base
        place o4 win_odds 1000 base=w2 player=Anna      => o4:void ! odds-on-anothers-base:o4
        place o5 win_odds 1000 base=w2 player=Chloe     => o5:void ! odds-on-anothers-base:o5
        place o6 win_odds 1000 base=w1                  => o6:open ? odds-on-anothers-base
        pay o2 0+1000
        pay o4 0+1000
        pay o5 0+1000
    """,
    "C: a base is of whoever sat in its seat when it was laid, wherever he sits now": """
        fr-craps seating
        sit Anna seat=S1
        place w1 win 1000 seat=S1
        throw 4-4
        leave Anna
        sit Anna seat=S3
        sit Bruno seat=S1
        place o1 win_odds 1000 base=w1 player=Anna      => o1:open ? odds-on-anothers-base
        place o2 win_odds 1000 base=w1 seat=S3          => o2:open ? odds-on-anothers-base
        place o3 win_odds 1000 base=w1 seat=S1          => o3:void ! odds-on-anothers-base:o3
        place o4 win_odds 1000 base=w1 player=Bruno     => o4:void ! odds-on-anothers-base:o4
    """,
    "C: where nobody was known to sit there, a base may be of anybody who does not sit elsewhere": """
        fr-craps
        place w1 win 1000 seat=S1
        throw 4-4
        place o1 win_odds 1000 base=w1 player=Anna      => o1:open ? odds-on-anothers-base
        place o2 win_odds 1000 base=w1 seat=S1          => o2:open ? odds-on-anothers-base
        place o3 win_odds 1000 base=w1 seat=S3          => o3:void ! odds-on-anothers-base:o3
    """,
    "C: odds play the number of their base": """
        fr-craps
        throw 5-1
        place w1 come 1000
        throw 2-2
        place o1 come_odds 1000 base=w1 number=6        => o1:void ! odds-number-mismatch:o1
        place o2 come_odds 1000 base=w1 number=4        => o2:open ? odds-number-mismatch
        pay o1 0+1000
    """,
    "D: a place bet is moved after an indecisive throw, to one of its numbers, before the call": """
        fr-craps calls
        place w1 right_bet 600 number=6
        move w1 8                     ! come-moved-to-wrong-number:w1
        call
        throw 2-2
        move w1 7                     ! come-moved-to-wrong-number:w1
        move w1 8                     ? come-moved-to-wrong-number
        call
        move w1 9                     ! come-moved-to-wrong-number:w1
        throw 2-6                     => w1:won
        pay w1 700+600
        call
        throw 5-5
        move w1 5                     ! come-moved-to-wrong-number:w1
    """,
    "D: a throw that was voided is no indecisive throw, after which a place bet may be moved": """
        fr-craps
        place w1 right_bet 600 number=6
        throw 2-2
        place w2 right_bet 600 number=6
        void slid
        move w2 8                     ! void-throw-settled:w2
        move w1 8
        throw 5-3                     => w1:won w2:open
        pay w1 700+600
    """,
    "D: a place bet that was moved waits for a throw on its new number": """
        fr-craps
        place w1 wrong_bet 600 number=6 marker=wrong_bet
        throw 2-2
        move w1 8
        move w1 9                     ! come-moved-to-wrong-number:w1
        take w1                       ! withdrawal-not-after-indecisive-roll:w1
        pay w1 0+600
    """,
    "C 3°: come odds play on a come-out seven, for nothing is ever off": """
        fr-craps
        throw 5-1
        place w1 come 1000
        throw 2-2
        place o1 come_odds 1000 base=w1 number=4
        throw 3-3
        throw 3-4
        pay o1 2000+1000              ! losing-wager-paid:o1
    """,
    "A 6°, B 1°, C, D: standing bets are taken back after an indecisive throw": """
        fr-craps
        place w1 big_6 1000
        place w2 hardway 1000 number=8
        place w3 right_bet 1000 number=5
        take w1                       ! withdrawal-not-after-indecisive-roll:w1
        void slid
        take w2
        throw 1-1
        take w3 400
        throw 2-3
        pay w3 840+600
    """,
    "A 5°, B 2°: a one-roll bet waits for its throw": """
        fr-craps
        place w1 field 1000
        take w1                       ! one-roll-wager-withdrawn:w1
        take w1
        throw 1-1
    """,
    "B 1°, D: the numbers there are": """
        fr-craps
        place w1 hardway 1000 number=5        ! invalid-wager-number:w1
        place w2 right_bet 1000 number=7      ! invalid-wager-number:w2
        place w3 right_bet 1000               ! invalid-wager-number:w3
        place w4 hardway 1000 number=10
        place w5 right_bet 1000 number=10
    """,
    "D 2°: a wrong bet bears its marker, and plays without": """
        fr-craps
        place w1 wrong_bet 1100 number=4                      ! wrong-bet-not-marked:w1
        place w2 wrong_bet 1100 number=4 marker=wrong_bet
        throw 3-4
        pay w1 500+1100
        pay w2 500+1100
    """,
    "A 2°: the barred 12 settles nothing; the stake plays the next come-out": """
        fr-craps collections
        place w1 dont_win 1000
        throw 6-6
        pay w1 0+1000                 ! barred-number-settled:w1
        sweep w1                      ! barred-number-settled:w1
        throw 1-1
        pay w1 1000+1000
    """,
    "A 4°: a come stake barred stays in its box": """
        fr-craps
        throw 5-1
        place w1 dont_come 1000
        throw 6-6
        pay w1 1000+1000              ! barred-number-settled:w1
        throw 5-4
        pay w1 1000+1000              ! push-paid:w1
        throw 3-4
        pay w1 1000+1000
    """,
    "B 8°: the horn pays four times the whole stake, not a quarter of each": """
        fr-craps
        place w1 horn 1000
        throw 1-1
        pay w1 6750+1000              ! horn-paid-split:w1
        place w2 horn 1000
        throw 1-2
        pay w2 3000+1000              ! horn-paid-split:w2
        place w3 horn 1000
        throw 5-6
        pay w3 3500+1000              ! payout-underpaid:w3
        place w4 horn 1000
        throw 5-6
        pay w4 4000+1000
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


POINTS = [None, 4, 5, 6, 8, 9, 10]

# What becomes of the point: rows are totals, columns the point before, "-" the come-out.
POINT_AFTER = """
         -   4   5   6   8   9  10
     2   -   4   5   6   8   9  10
     3   -   4   5   6   8   9  10
     4   4   -   5   6   8   9  10
     5   5   4   -   6   8   9  10
     6   6   4   5   -   8   9  10
     7   -   -   -   -   -   -   -
     8   8   4   5   6   -   9  10
     9   9   4   5   6   8   -  10
    10  10   4   5   6   8   9   -
    11   -   4   5   6   8   9  10
    12   -   4   5   6   8   9  10
"""


def faces_of(total: int) -> list[int]:
    return [max(1, total - 6), total - max(1, total - 6)]


def at_point(point: int | None) -> State:
    state = State()
    state.feed(decode(opener("s", "fr-craps")))
    if point is not None:
        state.feed(decode(event("s", 2, "dice.thrown", faces=faces_of(point))))
    return state


def test_the_point_after_each_of_36_throws_in_each_of_seven_states() -> None:
    table = {}
    for row in POINT_AFTER.strip().splitlines()[1:]:
        total, *cells = row.split()
        table[int(total)] = [None if cell == "-" else int(cell) for cell in cells]
    for column, point in enumerate(POINTS):
        for first, second in product(range(1, 7), repeat=2):
            state = at_point(point)
            state.feed(decode(event("s", state.last_seq + 1, "dice.thrown", faces=[first, second])))
            assert state.table.point == table[first + second][column], (point, first, second)


# What each throw does to a bet just placed: W wins, L loses, . stands. Hard ways: a double is counted as won.
#                      total  2 3 4 5 6 7 8 9 10 11 12
ON_COME_OUT = """
   win                        L L . . . W . . .  W  L
   dont_win                   W W . . . L . . .  L  .
   field                      W W W L L L L W W  W  W
   big_6                      . . . . W L . . .  .  .
   big_8                      . . . . . L W . .  .  .
   under_7                    W W W W W L L L L  L  L
   over_7                     L L L L L L W W W  W  W
   seven                      L L L L L W L L L  L  L
   eleven                     L L L L L L L L L  W  L
   any_craps                  W W L L L L L L L  L  W
   craps_2                    W L L L L L L L L  L  L
   craps_3                    L W L L L L L L L  L  L
   craps_12                   L L L L L L L L L  L  W
   horn                       W W L L L L L L L  W  W
   hardway/4                  . . L . . L . . .  .  .
   hardway/10                 . . . . . L . . L  .  .
   right_bet/4                . . W . . L . . .  .  .
   right_bet/9                . . . . . L . W .  .  .
   wrong_bet/4                . . L . . W . . .  .  .
   wrong_bet/9                . . . . . W . L .  .  .
"""


@pytest.mark.parametrize("row", ON_COME_OUT.strip().splitlines(), ids=lambda row: row.split()[0])
def test_what_each_total_does_to_each_bet_on_a_come_out(row: str) -> None:
    name, *cells = row.split()
    bet, _, number = name.partition("/")
    data = {"number": int(number)} if number else {}
    for total, cell in zip(range(2, 13), cells, strict=True):
        state = at_point(None)
        state.feed(decode(event("s", 2, "wager.placed", wager="w", bet=bet, stake=6600, **data)))
        # Off the double, so that a hard way's total counts as otherwise formed: 4 as 1-3, 10 as 4-6.
        faces = [1, 3] if total == 4 else [4, 6] if total == 10 else faces_of(total)
        state.feed(decode(event("s", 3, "dice.thrown", faces=faces)))
        expected = {"W": "won", "L": "lost", ".": "open"}[cell]
        assert state.table.wagers["w"].status == expected, (bet, total)


@pytest.mark.parametrize("number", [4, 6, 8, 10])
def test_a_hard_way_wins_by_its_double_alone(number: int) -> None:
    odds = {4: 7, 6: 9, 8: 9, 10: 7}[number]
    for first, second in product(range(1, 7), repeat=2):
        state = at_point(None)
        state.feed(decode(event("s", 2, "wager.placed", wager="w", bet="hardway", stake=100, number=number)))
        state.feed(decode(event("s", 3, "dice.thrown", faces=[first, second])))
        wager = state.table.wagers["w"]
        if first == second == number // 2:
            assert (wager.status, wager.winnings_due) == ("won", odds * 100)
        elif first + second in (7, number):
            assert wager.status == "lost"
        else:
            assert wager.status == "open"
