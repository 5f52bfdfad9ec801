"""Art. 54: combinations, odds and the zero. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from settlement import State, decode
from settlement.layouts import COLUMNS, DOZENS, LAYOUT_37, LAYOUT_38, RED, SIMPLE_CHANCES, Layout
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play

TAPES = {
    "A, B: a sixain, and the two halves of the numbers": """
        fr-roulette
        place w1 sixain 100 numbers=1,2,3,4,5,6
        place w2 manque 100
        place w3 passe 100
        land 5                                        => w1:won w2:won w3:lost
        pay w1 500+100
        pay w2 100+100
        land 7
    """,
    "A, B: dozens and columns on 38 pockets": """
        fr-american-roulette
        place w1 douzaine 100 which=1
        place w2 deux_douzaines 100 which=1,2
        place w3 deux_colonnes 100 which=1,2
        place w4 manque 100
        land 3                                        => w1:won w2:won w3:lost w4:won
        pay w4 100+100
        pay w1 200+100
        pay w2 50+100
        land 7
    """,
    "A: shapes that the layout does not have": """
        fr-roulette
        place w1 cheval 100 numbers=1,3              => w1:void ! combination-not-permitted:w1
        place w2 cheval 100 numbers=3,4              ! combination-not-permitted:w2
        place w3 cheval 100 numbers=1,1              ! combination-not-permitted:w3
        place w4 transversale 100 numbers=0,1,3      ! combination-not-permitted:w4
        place w5 carre 100 numbers=0,1,2             ! combination-not-permitted:w5
        place w6 plein 100 numbers=00                ! combination-not-permitted:w6
        place w7 plein 100                           ! combination-not-permitted:w7
        place w8 douzaine 100 which=4                ! combination-not-permitted:w8
        place w9 deux_douzaines 100 which=1,3        ! combination-not-permitted:w9
        place w10 deux_colonnes 100 which=2          ! combination-not-permitted:w10
        place w11 cheval 100 numbers=0,3             ? combination-not-permitted
        place w12 carre 100 numbers=3,2,1,0          ? combination-not-permitted
        place w13 deux_colonnes 100 which=3,2        ? combination-not-permitted
        place w14 basket 100 numbers=0,1,2           ! wager-not-permitted:w14
        place w15 carre 100 numbers=2,3,4,5          ! combination-not-permitted:w15    # across the end of a row
        place w16 plein 100 numbers=01               ! combination-not-permitted:w16
        place w17 douzaine 100 numbers=1             ! combination-not-permitted:w17
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
        land 0                                       => w1:awaiting_decision
        zero w1 half                                 => w1:refunded_half ? zero-decision-without-zero
        pay w1 0+500                                 ? half-refund-mismatch
        zero w2 prison                               => w2:imprisoned
        zero w3 prison
        land 1                                       => w2:lost w3:lost ? zero-decision-missing
        pay w1 0+0                                   ? payout-duplicated half-refund-mismatch
        land 2
    """,
    "B 2°: what would win is freed, without winnings; the rest is lost": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        place w3 impair 1000
        land 0
        zero w1 prison
        zero w2 prison
        zero w3 prison
        pay w1 0+400                                 => w1:imprisoned ! payout-without-result:w1 ? push-paid
        land 1                                       => w1:released w2:lost w3:released
        pay w1 1000+1000                             ! payout-overpaid:w1 ? imprisoned-stake-paid-winnings
        pay w2 0+1000                                ! losing-wager-paid:w2
        pay w3 0+1000                      ? imprisoned-stake-paid-winnings imprisoned-value-not-halved
    """,
    "B 2°: freed at another value, and with winnings": """
        fr-roulette
        place w1 rouge 1000
        place w2 rouge 1000
        place w3 rouge 1000
        land 0
        zero w1 prison
        zero w2 prison
        zero w3 prison
        land 1
        pay w1 500+500                ! payout-parts-mixed:w1
        pay w2 500+1000               ! imprisoned-stake-paid-winnings:w2
        pay w3 0+500                  ! imprisoned-value-not-halved:w3
    """,
    "B: half of what stood at each zero; S/2 freed after two": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        place w3 impair 1000
        land 0
        zero w1 prison
        zero w2 prison
        zero w3 prison
        land 0                                       => w1:awaiting_decision
        zero w1 prison
        zero w2 half
        zero w3 prison
        pay w2 0+500                                 ! half-refund-mismatch:w2 ? stake-not-returned
        land 3
        pay w1 0+1000                                ! imprisoned-value-not-halved:w1
        pay w3 0+500                                 ? imprisoned-value-not-halved
    """,
    "B 1°: a half is half, and no winnings": """
        fr-roulette
        place w1 rouge 1000
        land 0
        zero w1 half
        pay w1 500+1000                              ! half-refund-mismatch:w1 payout-overpaid:w1
    """,
    "reading release_value = full: the whole stake is freed": """
        fr-roulette release=full
        place w1 rouge 1000
        land 0
        zero w1 prison
        land 0
        zero w1 prison
        land 3
        pay w1 0+1000                                ? imprisoned-value-not-halved
    """,
    "B: no choice before the next result: it goes on as in prison": """
        fr-roulette
        place w1 rouge 1000
        land 0
        pay w1 0+400                                 ! payout-without-result:w1
        land 0                                       => w1:awaiting_decision ? zero-decision-missing
        zero w1 prison                               ? zero-decision-without-zero
        land 3                                       => w1:released ? zero-decision-missing
        pay w1 0+500
    """,
    "B: a result that cannot be ends no coup, nor the wait for an answer": """
        fr-roulette
        place w1 rouge 1000
        place w2 noir 1000
        land 0
        land 37                                      => w1:awaiting_decision ! invalid-pocket ? zero-decision-missing
        zero w1 half                                 => w1:refunded_half ? zero-decision-without-zero
        pay w1 0+500
        land 3                                       => w2:lost ! zero-decision-missing:w2
    """,
    "B: the option is of simple chances, at zero": """
        fr-roulette
        place w1 douzaine 1000 which=1
        place w2 rouge 1000
        zero w2 half                                 ! zero-decision-without-zero:w2
        zero ghost half                              ! zero-decision-without-zero:ghost
        zero w1 prison                               ! zero-option-on-multiple-chance:w1
        land 0                                       => w1:lost
        zero w1 prison                               ! zero-option-on-multiple-chance:w1
        zero w2 prison                               ? zero-option-on-multiple-chance zero-decision-without-zero
        zero w2 half                                 => w2:refunded_half ? zero-decision-without-zero
        zero w2 prison                               => w2:imprisoned ? zero-decision-without-zero
        land 1
        zero w2 prison                               ! zero-decision-without-zero:w2
        pay w2 0+1000
    """,
    "B 2°: a prisoner is not taken back, nor a stake that waits for the choice": """
        fr-roulette
        place w1 rouge 1000
        take w1                                      => w1:withdrawn ? imprisoned-stake-withdrawn
        place w2 rouge 1000
        land 0
        take w2                                      => w2:awaiting_decision ! imprisoned-stake-withdrawn:w2
        zero w2 prison
        take w2 500                                  => w2:imprisoned ! imprisoned-stake-withdrawn:w2
        land 1
        take w2                                      ? imprisoned-stake-withdrawn
        pay w2 0+1000                                ? withdrawal-of-decided-wager
    """,
    "B: a part taken back before the zero is no part of it": """
        fr-roulette
        place w1 rouge 1000
        take w1 400
        land 0
        zero w1 half
        pay w1 0+750                                 ! half-refund-mismatch:w1
        place w2 rouge 1000
        take w2 400
        land 0
        zero w2 half
        pay w2 0+300                                 ? half-refund-mismatch
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
        place w4 plein 1000 numbers=0
        land 0                                       => w3:refunded_last_coup ? result-after-last-coup
        zero w3 prison                               ! zero-decision-on-last-coup:w3 ? zero-decision-without-zero
        zero w3 half                                 ? zero-decision-on-last-coup
        pay w1 0+250                                 ? last-coup-refund-mismatch
        pay w2 0+500                                 ! last-coup-refund-mismatch:w2 ? half-refund-mismatch
        pay w3 0+500                                 ? last-coup-refund-mismatch half-refund-mismatch
        pay w4 35000+1000
        close                                        ? imprisoned-at-close
    """,
    "last al.: a choice before the last coup is announced is a choice": """
        fr-roulette
        place w1 rouge 1000
        land 0
        zero w1 prison                               ? zero-decision-on-last-coup
        last
        land 1                                       => w1:released
        pay w1 0+1000
    """,
    "last al.: one result follows the announcement": """
        fr-roulette
        land 1                                       ? result-after-last-coup
        last
        land 1                                       ? result-after-last-coup
        land 2                                       ! result-after-last-coup:-
        land 3                                       ! result-after-last-coup:-
    """,
    "last al.: nobody stays in prison, nothing stays open": """
        fr-roulette
        place w1 rouge 1000
        land 0
        zero w1 prison
        place w2 rouge 1000
        close                              ! imprisoned-at-close:w1 wager-left-open:w2 ? zero-decision-missing
    """,
    "a choice still awaited at the close, found once": """
        fr-roulette
        place w1 rouge 1000
        land 0
        close                              ! wager-left-open:w1 zero-decision-missing:w1 ? imprisoned-at-close
        land 1                                       => w1:released ? zero-decision-missing
        pay w1 0+1000
        close                                        ? zero-decision-missing wager-left-open
    """,
    "a fresh stake beside a prisoner on the same chance: one paid, the other freed": """
        fr-roulette
        place w1 rouge 1000
        land 0
        zero w1 prison
        place w2 rouge 600
        land 1                                       => w1:released w2:won
        pay w2 600+600                               ? imprisoned-stake-paid-winnings
        pay w1 0+1000
    """,
    "B 1°: the half that is paid is the choice; anything else is not": """
        fr-roulette collections
        place w1 rouge 1000
        place w2 rouge 1000
        place w3 rouge 1000
        place w4 rouge 75
        place w5 rouge 1000
        place w6 rouge 1000
        land 0
        pay w1 0+500                                 => w1:refunded_half ? payout-without-result
        pay w2 500+500                               => w2:awaiting_decision ! payout-without-result:w2
        pay w3 0+300                                 => w3:awaiting_decision
        pay w3 0+200                                 => w3:refunded_half ! payout-put-right:w3 ? payout-without-result
        pay w4 0+38         => w4:refunded_half ! indivisible-stake:w4 rounded-in-players-favour:w4
        sweep w5                                     ! winning-wager-collected:w5
        sweep w6 w1                                  ? winning-wager-collected
        pay w6 0+500                                 => w6:refunded_half
        land 0                                       ! zero-decision-missing:w5
        pay w2 0+250                                 => w2:refunded_half
        pay w5 0+250
        close                                        ? payout-missing
    """,
    "B: the last choice before the next result counts, while nothing was paid on it": """
        fr-roulette
        place w1 rouge 1001
        place w2 rouge 1000
        place w3 rouge 1000
        place w4 rouge 1000
        place w5 rouge 1000
        place w6 rouge 1000
        land 0
        pay w6 0+400                                 ! payout-without-result:w6
        zero w6 half                                 => w6:awaiting_decision ! zero-decision-without-zero:w6
        zero w1 half                                 => w1:refunded_half ? indivisible-stake
        zero w1 prison                               => w1:imprisoned ? zero-decision-without-zero
        zero w2 prison
        zero w2 half                                 => w2:refunded_half ? zero-decision-without-zero
        pay w2 0+500
        zero w2 half                                 ? zero-decision-without-zero
        zero w2 prison                               => w2:refunded_half ! zero-decision-without-zero:w2
        zero w3 half                                 ? payout-missing
        zero w4 prison
        pay w4 0+500                                 => w4:refunded_half ? payout-without-result
        zero w4 half                                 => w4:refunded_half ? zero-decision-without-zero
        zero w5 half
        pay w5 0+500
        recover w5 0+500                             ! payout-put-right:w5
        zero w5 prison                               => w5:imprisoned ? zero-decision-without-zero
        land 1                                       => w1:released ? payout-missing
        zero w1 half                                 ! zero-decision-without-zero:w1
        pay w1 0+1001
        close
    """,
    "B 1°: «Retirer la moitié de sa mise»: he may take the half that he chose without any event": """
        fr-roulette collections
        place w1 rouge 1000
        place w2 rouge 1000
        place w3 rouge 1000
        place w4 rouge 1000
        place w5 rouge 1000
        land 0
        zero w1 half
        zero w2 half
        sweep w2                                     ? winning-wager-collected
        sweep w3
        zero w3 half                                 ? winning-wager-collected
        zero w4 half
        pay w4 0+300                                 ! half-refund-mismatch:w4
        sweep w5                                     ! winning-wager-collected:w5
        land 1                                       => w5:released ! zero-decision-missing:w5 ? payout-missing
        pay w5 0+1000
        place w6 rouge 1000
        last
        land 0                                       => w6:refunded_last_coup
        close                                        ! payout-missing:w6
    """,
    "B 2°: what is freed is lifted, left, or goes to the cash desk": """
        fr-roulette
        place w1 rouge 1000
        place w2 rouge 1000
        place w3 rouge 1000
        place w4 rouge 1000
        place w5 rouge 1000
        land 0
        zero w1 prison
        zero w2 prison
        zero w3 prison
        zero w4 prison
        zero w5 prison
        land 1
        orphan 1000 wager=w1                         ? orphan-mismatch
        orphan 1000 wager=w1                         ! orphan-mismatch:w1
        orphan 900 wager=w2                          ! orphan-mismatch:w2
        place w6 rouge 600 left_up_from=w3
        orphan 400 wager=w3                          ? orphan-mismatch
        pay w4 0+1000
        orphan 1000 wager=w4                         ! orphan-mismatch:w4
        orphan 50 slip=O-1                           ? orphan-mismatch
        orphan 600 wager=w6                          ! orphan-mismatch:w6
        orphan 600 wager=ghost                       ! orphan-mismatch:ghost
        pay w5 0+900                                 ! imprisoned-value-not-halved:w5
        land 2                                       ? payout-missing
        place w7 rouge 1001 left_up_from=w1          ! left-up-stake-mismatch:w7
        land 2
    """,
    "reading zero_rule = half leaves no choice": """
        fr-american-roulette zero=half
        place w1 rouge 1001
        land 0                                       => w1:refunded_half ! indivisible-stake:w1
        zero w1 prison                               ! zero-decision-without-zero:w1
        pay w1 0+500
        place w3 rouge 1000
        land 0                                       => w3:refunded_half
        last
        place w2 rouge 1000
        land 0                                       => w2:refunded_last_coup ! payout-missing:w3
        pay w2 0+500
    """,
    "reading zero_rule = lose takes the stake, at the last coup too": """
        fr-american-roulette zero=lose
        place w1 rouge 1000
        land 0                                       => w1:lost
        pay w1 0+500                                 ! losing-wager-paid:w1
        last
        place w2 rouge 1000
        land 0                                       => w2:lost
        zero w2 half                                 ! zero-decision-without-zero:w2
    """,
    "reading payout_unit: halves of odd amounts, always of the initial stake": """
        fr-roulette unit=100
        place w1 rouge 700
        place w2 rouge 700
        land 0
        zero w1 half                                 ! indivisible-stake:w1
        zero w2 prison                               ? indivisible-stake
        pay w1 0+300
        land 0
        zero w2 half                                 ! indivisible-stake:w2
        pay w2 0+100
    """,
    "B 2°: «purement et simplement»: a whole stake is freed as it was put down": """
        fr-roulette unit=100
        place w1 rouge 150
        land 0
        zero w1 prison
        land 1                                       => w1:released ! indivisible-stake:w1
        pay w1 0+150                                 ? imprisoned-value-not-halved
    """,
    "after ever so many zeros nothing is left": """
        fr-roulette
        place w1 rouge 1
        land 0
        zero w1 prison
        land 0
        zero w1 prison
        land 1                                       => w1:released ! indivisible-stake:w1
        land 1                                       ? payout-missing
    """,
    "art. 54 for 37 pockets: no other decides": """
        fr-roulette
        place w1 rouge 1000
        land 00                                      => w1:open ! invalid-pocket
        land 37                                      ! invalid-pocket
        land 01                                      ! invalid-pocket
        pay w1 1000+1000                             ! push-paid:w1
        land 0                                       => w1:awaiting_decision ? invalid-pocket
        zero w1 prison
        land 1
        pay w1 0+1000
    """,
    "57-1 al. 6, by analogy: a call before every result, and no stake after it": """
        fr-roulette calls
        land 1                                       ! no-more-bets-missing
        call
        place w1 rouge 1000                          => w1:void ! wager-after-no-more-bets:w1
        land 1                                       ? no-more-bets-missing
        pay w1 0+1000
        place w2 rouge 1000                          ? wager-after-no-more-bets
        call
        take w2                                      => w2:open ! withdrawal-after-no-more-bets:w2
        land 1
        pay w2 1000+1000
        land 1                                       ! no-more-bets-missing
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
        place w1 rouge 1000                          => w1:open ? wager-after-no-more-bets
        call
        land 1                                       ? no-more-bets-missing
        pay w1 1000+1000
    """,
    "57-1 al. 6, by analogy: where the wheel is not seen, a call before the launch will do": """
        fr-roulette calls
        call
        launch clockwise
        land 1                                       ? no-more-bets-missing
    """,
    "the checks of art. 57-1 on wheel, payment and people do not apply here": """
        fr-roulette wheel announcements collections colours seating staff handling seats_at_most=1 ? staffing-invalid
        sit Anna
        sit Bruno                                    ? seat-limit-exceeded
        colour Anna blue 100
        place w1 rouge 100 player=Bruno colour=blue  ? wager-with-foreign-colour
        place w2 noir 100 player=Bruno
        spin clockwise by=shooter                    ? spin-by-non-croupier
        launch clockwise                             ? ball-same-direction-as-wheel stacks-not-rebuilt
        chip
        land 1                                       ? result-after-fallen-chip
        announce 2                                   ? announcement-mismatch
        say w1 500
        pay w1 100+100 colour=red                    ? payment-before-collection payment-not-as-announced
        sweep w2
        spin clockwise                               ? wheel-direction-repeated
        handle chef_de_table                         ? chief-handled-chips
        colour Bruno blue null                       ? colour-shared colour-value-undeclared
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
