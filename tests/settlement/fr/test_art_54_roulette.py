"""Art. 54: combinations, odds and the zero. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from settlement import State, decode
from settlement.layouts import COLUMNS, DOZENS, LAYOUT_37, LAYOUT_38, RED, SIMPLE_CHANCES, Layout
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play

TAPES = {
    "A: shapes that the layout does not have": """
        fr-roulette
        place w1 cheval 100 numbers=1,3              ! combination-not-permitted:w1
        place w2 cheval 100 numbers=3,4              ! combination-not-permitted:w2
        place w3 cheval 100 numbers=1,1              ! combination-not-permitted:w3
        place w4 transversale 100 numbers=0,1,3      ! combination-not-permitted:w4
        place w5 carre 100 numbers=0,1,2             ! combination-not-permitted:w5
        place w6 plein 100 numbers=00                ! combination-not-permitted:w6
        place w7 plein 100                           ! combination-not-permitted:w7
        place w8 douzaine 100 which=4                ! combination-not-permitted:w8
        place w9 deux_douzaines 100 which=1,3        ! combination-not-permitted:w9
        place w10 deux_colonnes 100 which=2          ! combination-not-permitted:w10
        place w11 cheval 100 numbers=0,3
        place w12 carre 100 numbers=3,2,1,0
        place w13 deux_colonnes 100 which=3,2
        place w14 basket 100 numbers=0,1,2           ! wager-not-permitted:w14
        land 3
        pay w11 1700+100
        pay w12 800+100
        pay w13 50+100
        pay w1 0+100
    """,
    "B: a choice at zero, half or prison": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        place w3 pair 1000
        land 0
        zero w1 half
        pay w1 0+500
        zero w2 prison
        zero w3 prison
        land 1
        pay w1 0+0                                   ! payout-duplicated:w1
        land 2
    """,
    "B 2°: what would win is freed, without winnings; the rest is lost": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        land 0
        zero w1 prison
        zero w2 prison
        land 1
        pay w1 1000+1000                             ! imprisoned-stake-paid-winnings:w1
        pay w2 0+1000                                ! losing-wager-paid:w2
    """,
    "B: half of what stood at each zero; S/2 freed after two": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        land 0
        zero w1 prison
        zero w2 prison
        land 0
        zero w1 prison
        zero w2 half
        pay w2 0+500                                 ! half-refund-mismatch:w2
        land 3
        pay w1 0+1000                                ! imprisoned-value-not-halved:w1
    """,
    "reading release_value = full: the whole stake is freed": """
        fr-roulette release=full
        place w1 rouge 1000
        land 0
        zero w1 prison
        land 0
        zero w1 prison
        land 3
        pay w1 0+1000
    """,
    "B: nobody answered, and the next result came: it goes on as in prison": """
        fr-roulette
        place w1 rouge 1000
        land 0
        pay w1 0+500                                 ! payout-without-result:w1
        land 3                                       ! zero-decision-missing:w1
        pay w1 0+1000
    """,
    "B: the option is of simple chances, at zero": """
        fr-roulette
        place w1 douzaine 1000 which=1
        place w2 rouge 1000
        zero w2 half                                 ! zero-decision-without-zero:w2
        zero ghost half                              ! zero-decision-without-zero:ghost
        zero w1 prison                               ! zero-option-on-multiple-chance:w1
        land 0
        zero w1 prison                               ! zero-option-on-multiple-chance:w1
        zero w2 prison
        zero w2 half                                 ! zero-decision-without-zero:w2
        land 1
        pay w2 0+1000
    """,
    "B 2°: a prisoner is not taken back, nor a stake that waits for the choice": """
        fr-roulette
        place w1 rouge 1000
        take w1
        place w2 rouge 1000
        land 0
        take w2                                      ! imprisoned-stake-withdrawn:w2
        zero w2 prison
        take w2 500                                  ! imprisoned-stake-withdrawn:w2
        land 1
        pay w2 0+1000
    """,
    "last al.: at the last coup the refund is forced": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        land 0
        zero w1 prison
        zero w2 prison
        last
        place w3 pair 1000
        land 0
        zero w3 prison                               ! zero-decision-on-last-coup:w3
        pay w1 0+250
        pay w2 0+500                                 ! last-coup-refund-mismatch:w2
        pay w3 0+500
        close
    """,
    "last al.: one result follows the announcement": """
        fr-roulette
        last
        land 1
        land 2                                       ! result-after-last-coup:-
    """,
    "last al.: nobody stays in prison, nothing stays open": """
        fr-roulette
        place w1 rouge 1000
        land 0
        zero w1 prison
        place w2 rouge 1000
        close                                        ! imprisoned-at-close:w1 wager-left-open:w2
    """,
    "a choice still awaited at the close": """
        fr-roulette
        place w1 rouge 1000
        land 0
        close                                        ! wager-left-open:w1 zero-decision-missing:w1
    """,
    "a fresh stake beside a prisoner on the same chance: one paid, the other freed": """
        fr-roulette
        place w1 rouge 1000
        land 0
        zero w1 prison
        place w2 rouge 600
        land 1
        pay w2 600+600
        pay w1 0+1000
    """,
    "reading zero_rule = half asks nobody": """
        fr-roulette zero=half
        place w1 rouge 1001
        land 0                                       ! indivisible-stake:w1
        zero w1 prison                               ! zero-decision-without-zero:w1
        pay w1 0+500
    """,
    "reading zero_rule = lose takes the stake": """
        fr-roulette zero=lose
        place w1 rouge 1000
        land 0
        pay w1 0+500                                 ! losing-wager-paid:w1
    """,
    "reading payout_unit: halves of odd amounts, always of the initial stake": """
        fr-roulette unit=100
        place w1 rouge 700
        land 0
        zero w1 half                                 ! indivisible-stake:w1
        pay w1 0+300
    """,
    "art. 54 for 37 pockets: no other decides": """
        fr-roulette
        place w1 rouge 1000
        land 00                                      ! invalid-pocket
        land 37                                      ! invalid-pocket
        land 1
        pay w1 1000+1000
    """,
    "57-1 al. 6, by analogy: a call before every result, and no stake after it": """
        fr-roulette calls
        land 1                                       ! no-more-bets-missing
        call
        place w1 rouge 1000                          ! wager-after-no-more-bets:w1
        land 1
        pay w1 0+1000
        place w2 rouge 1000
        call
        take w2                                      ! withdrawal-after-no-more-bets:w2
        land 1
        pay w2 1000+1000
    """,
    "57-1 al. 6, by analogy: where the wheel is seen, the call comes after the launch, and again after a relaunch": """
        fr-roulette calls wheel
        call
        launch clockwise
        land 1                                       ! no-more-bets-missing
        launch clockwise
        call
        chip
        retrieve
        launch clockwise
        place w1 rouge 1000
        call
        land 1
        pay w1 1000+1000
    """,
    "the checks of art. 57-1 on wheel, payment and people are not made here": """
        fr-roulette wheel announcements collections colours seating staff handling
        place w1 rouge 100 player=Anna colour=blue
        spin clockwise by=shooter
        launch clockwise
        land 1
        pay w1 100+100 colour=red
        spin clockwise
        handle chef_de_table
        colour Bruno blue null
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


#  bet             37 pockets   38 pockets
SHAPES = """
   plein           37           38
   cheval          60           62
   transversale    14           15
   carre           23           22
   sixain          11           11
"""


def test_there_are_as_many_shapes_as_the_layouts_have() -> None:
    for row in SHAPES.strip().splitlines():
        bet, on_37, on_38 = row.split()
        assert (len(LAYOUT_37.shapes[bet]), len(LAYOUT_38.shapes[bet])) == (int(on_37), int(on_38)), bet


def test_the_layouts_are_what_they_must_be() -> None:
    assert len(set(LAYOUT_37.wheel)) == 37
    assert len(set(LAYOUT_38.wheel)) == 38
    assert LAYOUT_37.zeros == {"0"}
    assert LAYOUT_38.zeros == {"0", "00"}
    assert len(RED) == 18
    assert all(len(pockets) == 18 for pockets in SIMPLE_CHANCES.values())
    assert frozenset().union(*DOZENS) == frozenset().union(*COLUMNS) == frozenset(map(str, range(1, 37)))
    # Art. 57-1 al. 1: the two zeros are diametrically opposed, red and black alternate.
    assert LAYOUT_38.wheel.index("00") - LAYOUT_38.wheel.index("0") == 19


#  bet              stake on       wins on                odds
PRICES = """
   plein            17             17                     35:1
   plein            0              0                      35:1
   cheval           0-3            0 3                    17:1
   cheval           17-20          17 20                  17:1
   transversale     0-2-3          0 2 3                  11:1
   transversale     34-35-36       34 35 36               11:1
   carre            0-1-2-3        0 1 2 3                8:1
   carre            32-33-35-36    32 33 35 36            8:1
   sixain           31-32-33-34-35-36  31 32 33 34 35 36  5:1
"""


@pytest.mark.parametrize("row", PRICES.strip().splitlines(), ids=lambda row: " ".join(row.split()[:2]))
def test_a_combination_wins_on_its_numbers_alone_at_its_odds(row: str) -> None:
    bet, shape, *winning, odds = row.split()
    pays = int(odds.split(":")[0])
    for pocket in LAYOUT_37.wheel:
        wager = settled(LAYOUT_37, pocket, bet, numbers=shape.split("-"))
        assert wager == (("won", 100 * pays, 100) if pocket in winning else ("lost", 0, 0)), pocket


def settled(layout: Layout, pocket: str, bet: str, **data: object) -> tuple[str, int, int]:
    state = State()
    ruleset = "fr-roulette" if layout is LAYOUT_37 else "fr-american-roulette"
    state.feed(decode(opener("s", ruleset)))
    state.feed(decode(event("s", 2, "wager.placed", wager="w", bet=bet, stake=100, **data)))
    state.feed(decode(event("s", 3, "ball.settled", pocket=pocket)))
    wager = state.table.wagers["w"]
    return wager.status, wager.winnings_due, wager.stake_due
