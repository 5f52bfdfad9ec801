"""Art. 57-1: the course of American roulette. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from tests.settlement.tapes import play

EVERYTHING = "announcements calls collections colours handling seating staff wheel"

TAPES = {
    "an orderly coup raises nothing": f"""
        fr-american-roulette {EVERYTHING} staff=chef_de_table,croupier
        sit Anna
        colour Anna blue 100 from=chef_de_table
        stacks
        spin clockwise by=croupier
        launch counterclockwise by=croupier
        place w1 rouge 100 player=Anna colour=blue
        place w2 plein 100 player=Anna colour=blue numbers=1
        place w3 noir 100 player=Anna colour=blue
        call
        land 1
        announce 1 impair manque rouge
        sweep w3
        say w1 100
        pay w1 100+100 colour=blue
        say w2 3500
        pay w2 3500+100 colour=blue
        stacks
        spin counterclockwise
        launch clockwise
        call
        land 00
        announce 00
    """,
    "al. 1: 38 pockets, and art. 54's combinations on them": """
        fr-american-roulette
        place w1 cheval 100 numbers=0,00
        place w2 cheval 100 numbers=0,3               ! combination-not-permitted:w2
        place w3 carre 100 numbers=0,1,2,3            ! combination-not-permitted:w3
        place w4 transversale 100 numbers=0,00,2
        place w5 sixain 100 numbers=0,00,1,2,3        ! combination-not-permitted:w5
        place w6 rouge 100
        land 37                                       ! invalid-pocket
        land 00
        pay w1 1700+100
        pay w4 1100+100
        pay w6 0+50                                   ! losing-wager-paid:w6
    """,
    "reading zero_rule = choice: a double zero gives the choice that a zero gives": """
        fr-american-roulette zero=choice
        place w1 rouge 1000
        land 00
        zero w1 prison
        land 0
        zero w1 half
        pay w1 0+250
    """,
    "al. 6: each time against the coup before, and the ball against the wheel": """
        fr-american-roulette wheel
        spin clockwise
        launch clockwise                              ! ball-same-direction-as-wheel
        land 1
        spin clockwise                                ! wheel-direction-repeated
        launch counterclockwise
        land 1
        spin counterclockwise
        launch clockwise
    """,
    "al. 6: the wheel is turned and the ball launched, each time": """
        fr-american-roulette wheel
        spin clockwise
        launch counterclockwise
        land 1
        launch clockwise
        land 2                                        ! wheel-not-spun:-
        spin counterclockwise
        land 3                                        ! ball-not-launched:-
        land 4                                        ! wheel-not-spun ball-not-launched
    """,
    "al. 6: a session may open while the wheel runs for its first coup": """
        fr-american-roulette wheel
        land 1                                        ? wheel-not-spun ball-not-launched
        land 2                                        ! wheel-not-spun ball-not-launched
    """,
    "al. 6: a first coup of which the wheel was seen is judged": """
        fr-american-roulette wheel
        launch clockwise
        land 1                                        ! wheel-not-spun
    """,
    "al. 6: after a void spin the wheel turns on, and the ball is launched again": """
        fr-american-roulette wheel
        spin clockwise
        launch counterclockwise
        spoil ball_left_wheel
        launch counterclockwise
        land 1                                        ? wheel-not-spun
        spin counterclockwise
        launch clockwise
        spoil ball_left_wheel
        land 2                                        ! ball-not-launched
    """,
    "al. 6: a pocket that does not exist is no result, and takes no turn of the wheel away": """
        fr-american-roulette wheel
        spin clockwise
        launch counterclockwise
        land 37                                       ! invalid-pocket
        land 17                                       ? wheel-not-spun ball-not-launched
    """,
    "al. 6: without the family nobody asks for the wheel": """
        fr-american-roulette
        land 1
        spin clockwise
        land 2                                        ? wheel-not-spun ball-not-launched
    """,
    "al. 6: a chip fell: the same coup, launched again": """
        fr-american-roulette wheel calls
        spin clockwise
        launch counterclockwise
        land 1                                        ! no-more-bets-missing
        spin counterclockwise
        launch clockwise
        call
        chip
        retrieve
        spin counterclockwise
        launch clockwise
        place w1 rouge 100
        land 1                                        ! no-more-bets-missing
        pay w1 100+100
        spin clockwise
        launch counterclockwise
        call
        chip
        land 2                                        ! result-after-fallen-chip
        spin counterclockwise
        launch clockwise
        chip
        launch clockwise
        call
        land 2                                        ! result-after-fallen-chip
    """,
    "al. 6: the call comes after the launch": """
        fr-american-roulette wheel calls
        spin clockwise
        call
        launch counterclockwise
        land 1                                        ! no-more-bets-missing
    """,
    "al. 6: no stake after the call": """
        fr-american-roulette calls
        call
        place w1 rouge 100                            ! wager-after-no-more-bets:w1
        land 1
        place w2 rouge 100
    """,
    "al. 6: alone, the croupier rebuilds the piles before he launches": """
        fr-american-roulette handling staff=chef_de_table,croupier
        launch clockwise                              ? stacks-not-rebuilt
        land 1
        launch clockwise                              ! stacks-not-rebuilt
        land 1
        stacks
        launch clockwise
        land 1
        assign p9 employe
        launch clockwise
        land 1
        relieve p9 employe
        launch clockwise                              ! stacks-not-rebuilt
    """,
    "al. 6: the croupier turns and launches": """
        fr-american-roulette
        spin clockwise by=chef_de_table               ! spin-by-non-croupier
        launch counterclockwise by=employe            ! spin-by-non-croupier
        land 1
        spin counterclockwise
    """,
    "al. 7: number and simple chances are announced, none on the zeros": """
        fr-american-roulette
        land 1
        announce 1 manque impair rouge
        announce 1 manque rouge                       ! announcement-mismatch
        land 1
        announce 2 pair manque noir                   ! announcement-mismatch
        land 00
        announce 00 pair                              ! announcement-mismatch
        land 00
        announce 00
    """,
    "al. 7: announced before the first payout, found once": """
        fr-american-roulette announcements
        place w1 rouge 100
        place w2 impair 100
        land 1
        say w1 100
        say w2 100
        pay w2 100+100                                ! result-not-announced:-
        pay w1 100+100
        spin clockwise
        land 2
        spin counterclockwise                         ! result-not-announced:-
    """,
    "al. 8: the lost stakes are collected first": """
        fr-american-roulette collections
        place w1 rouge 100
        place w2 noir 100
        place w3 pair 100
        land 1
        pay w1 100+100                                ! payment-before-collection:-
        sweep w2
        land 2                                        ! losing-wager-not-collected:w3
    """,
    "al. 8: a loser that is swept after a payment, when others had been swept before": """
        fr-american-roulette collections
        place w1 rouge 100 player=Anna
        place w2 noir 100
        place w3 pair 100
        place w4 manque 100 player=Bruno
        place w5 passe 100
        land 1
        sweep w2
        pay w1 100+100                                ! payment-before-collection:-
        pay w4 100+100                                ! payment-before-collection:-
        sweep w3 w5
        place w6 rouge 100
        place w7 noir 100
        land 3
        sweep w7
        pay w6 100+100                                ? payment-before-collection
    """,
    "al. 8: a loser that nobody sweeps is another matter": """
        fr-american-roulette collections
        place w1 rouge 100
        place w2 noir 100
        place w3 pair 100
        land 1
        sweep w2
        pay w1 100+100                                ? payment-before-collection
        land 2                                        ! losing-wager-not-collected:w3
        sweep w3
    """,
    "al. 8: player by player": """
        fr-american-roulette
        place w1 rouge 100 player=Anna
        place w2 rouge 100 player=Bruno
        place w3 plein 100 player=Anna numbers=1
        land 1
        pay w1 100+100
        pay w2 100+100
        pay w3 3500+100                               ! payments-interleaved:-
        place w4 rouge 100 player=Bruno
        place w5 rouge 100 player=Anna
        land 1
        pay w4 100+100
        pay w5 100+100
    """,
    "al. 8: each payment is announced, and made as announced": """
        fr-american-roulette announcements
        place w1 rouge 100
        place w2 impair 100
        land 1
        announce 1 manque impair rouge
        pay w1 100+100                                ! payment-not-announced:w1
        say w2 300
        pay w2 100+100                                ! payment-not-as-announced:w2
    """,
    "al. 8: a stake that is handed back is no payment of a winning combination": """
        fr-american-roulette announcements collections
        place w1 plein 200 player=Anna numbers=1
        place w2 rouge 200 player=Anna
        place w3 rouge 200 player=Bruno
        place w4 noir 200 player=Bruno
        place w5 douzaine 200 player=Anna which=1
        take w2 100
        pay w2 0+100                                  ? payment-not-announced
        take w5
        land 1
        pay w5 0+200                                  ? result-not-announced payment-before-collection
        announce 1 manque impair rouge
        sweep w4
        say w2 100
        pay w2 100+100                                ? payment-order-violated payments-interleaved
        say w3 200
        pay w3 200+200
        pay w1 0+200                                  ! payment-not-announced:w1 payments-interleaved
        pay w1 7000+0
    """,
    "al. 8, 9: what makes good a payment of an earlier coup has no order among those of this one": """
        fr-american-roulette announcements collections
        place w1 plein 100 player=Anna numbers=1
        place w2 rouge 100 player=Anna
        land 1
        announce 1 manque impair rouge
        say w2 100
        pay w2 100+100
        say w1 3500
        pay w1 3400+100                               ! payment-not-as-announced:w1 payout-underpaid:w1
        place w3 rouge 100 player=Anna
        place w4 plein 100 player=Bruno numbers=3
        place w5 noir 100 player=Bruno
        land 3
        pay w1 50+0                                   ? result-not-announced payment-before-collection
        announce 3 manque impair rouge
        sweep w5
        say w4 3500
        pay w4 3500+100
        pay w1 50+0                                   ? payments-interleaved payment-not-announced
        say w3 100
        pay w3 100+100
        land 4                                        ? payment-not-as-announced payout-overpaid
    """,
    "al. 9: the order of payment, within one player": """
        fr-american-roulette
        place w1 plein 100 player=Anna numbers=1
        place w2 cheval 100 player=Anna numbers=1,2
        place w3 colonne 100 player=Bruno which=1
        place w4 sixain 100 player=Bruno numbers=1,2,3,4,5,6
        place w5 transversale 100 player=Bruno numbers=1,2,3
        land 1
        pay w1 3500+100
        pay w2 1700+100                               ! payment-order-violated:-
        pay w3 200+100
        pay w4 500+100
        pay w5 1100+100
    """,
    "al. 9: in the player's own colour": """
        fr-american-roulette
        colour Anna blue 100
        place w1 rouge 100 player=Anna
        place w2 impair 100 player=Anna
        place w3 rouge 100 player=Bruno
        land 1
        pay w2 100+100 colour=red                     ! payment-wrong-colour:w2
        pay w1 100+100 colour=blue
        pay w3 100+100 colour=red                     # Bruno has no colour of his own to be wrong about
    """,
    "al. 8: the wheel waits until the winners are paid": """
        fr-american-roulette wheel
        place w1 rouge 100
        spin clockwise
        launch counterclockwise
        land 1
        spin counterclockwise                         ! spin-before-payments-complete:-
        launch clockwise
        pay w1 100+100
        land 2
        spin clockwise
    """,
    "al. 3: seven players, fourteen at a double table": """
        fr-american-roulette seating seats_at_most=2
        sit Anna
        sit Bruno
        leave Bruno
        sit Chloe
        sit Driss                                     ! seat-limit-exceeded
    """,
    "al. 2: ten colours": """
        fr-american-roulette colours
        colour p1 c1 100
        colour p2 c2 100
        colour p3 c3 100
        colour p4 c4 100
        colour p5 c5 100
        colour p6 c6 100
        colour p7 c7 100
        colour p8 c8 100
        colour p9 c9 100
        colour p10 c10 100
        colour p10 c10 100
        colour p11 c11 100                            ! colour-limit-exceeded
        leave p11
        leave p1
        colour p12 c12 100
    """,
    "al. 2: a colour is one player's, at one declared value, until he leaves": """
        fr-american-roulette
        colour Anna blue 100
        colour Anna blue 200                          ! colour-value-changed
        colour Bruno blue 200                         ! colour-shared
        colour Chloe pink null                        ! colour-value-undeclared
        colour Chloe pink 500
        place w1 rouge 100 player=Chloe colour=blue   ! wager-with-foreign-colour:w1
        place w2 rouge 100 player=Anna colour=blue
        leave Chloe
        colour Driss pink 100
    """,
    "al. 4, al. 5: the staff, and the chef de table who touches no chips": """
        fr-american-roulette staff staff=chef_de_table,croupier,croupier    ? staffing-invalid
        handle croupier
        handle chef_de_table                          ? chief-handled-chips
        land 1                                        ! staffing-invalid
        handle chef_de_table                          ! chief-handled-chips
        colour Anna blue 100 from=croupier            ! marker-not-from-chief
        close
        handle chef_de_table                          ? chief-handled-chips
    """,
    "al. 4: a coup without a chef de table, reported once until there is one": """
        fr-american-roulette staff staff=chef_de_table,croupier
        relieve p0 chef_de_table
        assign p7 chef_de_table
        land 1                                        ? table-without-chief
        relieve p7 chef_de_table
        land 1                                        ! table-without-chief
        land 1                                        ? table-without-chief
        assign p8 croupier
        land 1                                        ! staffing-invalid ? table-without-chief
        assign p8 chef_de_table
        land 1
        relieve p8 chef_de_table
        land 1                                        ! table-without-chief
    """,
    "al. 4: a coup without a croupier, reported once until there is one": """
        fr-american-roulette staff staff=chef_de_table,croupier
        land 1
        relieve p1 croupier
        land 1                                        ! table-without-croupier ? staffing-invalid
        land 1                                        ? table-without-croupier
        assign p8 croupier
        land 1
        relieve p8 croupier
        land 1                                        ! table-without-croupier
    """,
    "al. 4: one croupier and at most one employé, throughout": """
        fr-american-roulette staff staff=chef_de_table,croupier
        assign p8 croupier
        relieve p1 croupier
        land 1                                        ? staffing-invalid
        assign p9 croupier
        land 1                                        ! staffing-invalid
        land 1                                        ? staffing-invalid
        relieve p8 croupier
        land 1
        assign p6 employe
        assign p7 employe
        land 1                                        ! staffing-invalid
    """,
    "al. 4: staff that is named after the opening and before the first coup": """
        fr-american-roulette staff                    ? staffing-invalid
        assign p0 chef_de_table
        assign p1 croupier
        land 1                                        ? table-without-croupier table-without-chief staffing-invalid
    """,
    "al. 9: a stake in colour chips is paid in them": """
        fr-american-roulette colours
        colour Anna blue 100
        place w1 rouge 100 player=Anna colour=blue
        place w2 impair 100 player=Anna colour=blue
        place w3 manque 100 player=Anna
        land 1
        pay w2 100+100                                ! payment-without-colour:w2
        pay w1 90+100 colour=blue
        pay w1 10+0                                   ! payout-put-right:w1 ? payment-without-colour
        pay w3 100+100                                ? payment-without-colour    # laid in other chips
        place w5 noir 100 player=Anna colour=blue
        land 1
        pay w5 100+100                                ! losing-wager-paid:w5 ? payment-without-colour
        place w4 noir 100 player=Anna colour=blue
        take w4
        pay w4 0+100                                  ? payment-without-colour    # no payment
    """,
    "al. 9: whoever moves takes his stakes along, and whoever sits down later inherits none": """
        fr-american-roulette seating
        sit Anna seat=S1
        place w1 plein 100 numbers=3 seat=S1
        leave Anna
        sit Anna seat=S2
        sit Bruno seat=S1
        place w2 colonne 100 which=3 player=Bruno
        place w3 colonne 100 which=3 seat=S2
        land 3
        pay w2 200+100
        pay w1 3500+100                               ? payments-interleaved payment-order-violated
        pay w3 200+100                                ! payment-order-violated
    """,
    "al. 3: who stakes from behind a full table is one too many, once": """
        fr-american-roulette seating seats_at_most=2
        sit Anna
        place w1 rouge 1000 player=Chloe              ? unseated-player-over-limit
        sit Bruno
        place w2 rouge 1000 player=Bruno
        place w3 rouge 1000 player=Chloe              ! unseated-player-over-limit:w3
        place w4 rouge 1000 player=Chloe              ? unseated-player-over-limit
        place w5 rouge 1000                           ? unseated-player-over-limit
        leave Anna
        sit Chloe
        leave Chloe
        sit Anna
        place w6 rouge 1000 player=Chloe              ! unseated-player-over-limit:w6
    """,
    "al. 2: a stake is in a colour that somebody has, of a whole number of its chips": """
        fr-american-roulette colours
        colour Anna blue 500
        place w1 rouge 1000 player=Anna colour=blue
        place w2 rouge 750 player=Anna colour=blue    ! stake-not-multiple-of-colour-value:w2
        place w3 rouge 750 colour=blue                ! stake-not-multiple-of-colour-value:w3
        place w4 rouge 750                            ? stake-not-multiple-of-colour-value
        place w5 rouge 1000 player=Bruno colour=mauve ! wager-with-unassigned-colour:w5
        leave Anna
        place w6 rouge 1000 player=Anna colour=blue   ! wager-with-unassigned-colour:w6
    """,
    "al. 9: the order of payments holds where only the seat is known": """
        fr-american-roulette seating
        sit Anna seat=S1
        place w1 plein 100 numbers=3 seat=S1
        place w2 colonne 100 which=3 player=Anna
        place w3 plein 100 numbers=3 seat=S2
        place w4 colonne 100 which=3 seat=S3
        land 3
        pay w1 3500+100
        pay w2 200+100                                ! payment-order-violated
        pay w3 3500+100
        pay w4 200+100                                ? payment-order-violated
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


@pytest.mark.parametrize(("double", "limit"), [("false", 7), ("true", 14)])
def test_al_3_a_double_table_seats_twice_seven(double: str, limit: int) -> None:
    seated = "\n".join(f"sit p{number}" for number in range(limit))
    play(f"fr-american-roulette seating double_table={double}\n{seated}\nsit one-more  ! seat-limit-exceeded")


def test_seats_have_no_limit_at_craps_even_if_the_session_sets_one() -> None:
    play("fr-craps seating seats_at_most=1\nsit Anna\nsit Bruno\nsit Chloe")


@pytest.mark.parametrize(
    "staff",
    ["croupier", "chef_de_table", "chef_de_table,chef_de_table,croupier", "chef_de_table,croupier,employe,employe"],
)
def test_al_4_one_chef_one_croupier_and_perhaps_an_employe(staff: str) -> None:
    play(f"fr-american-roulette staff staff={staff}  ! staffing-invalid")
    play("fr-american-roulette staff staff=chef_de_table,croupier,employe")
