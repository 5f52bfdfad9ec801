"""S. 95.17: right, buy and lay bets. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from tests.settlement.tapes import play

TAPES = {
    "(2), (3): the commission is paid before the bet is accepted": """
        qc-craps
        place w1 buy_bet 1000 number=4 marker=buy                  ! commission-not-paid:w1
        place w2 lay_bet 1200 number=4 marker=lay                  ! commission-not-paid:w2
        place w3 buy_bet 1000 number=4 marker=buy commission=0     ! commission-not-paid:w3
        place w4 buy_bet 1000 number=4 marker=buy commission=50
        place w5 lay_bet 1200 number=4 marker=lay commission=30
    """,
    "(2), (3): 5 % of the wager, or of what it can win, to the smallest unit that is at least that": """
        qc-craps
        place w1 buy_bet 1000 number=4 marker=buy commission=49    ! commission-amount-mismatch:w1
        place w2 buy_bet 1010 number=4 marker=buy commission=51
        place w3 lay_bet 1000 number=6 marker=lay commission=42
        place w4 lay_bet 1000 number=6 marker=lay commission=41    ! commission-amount-mismatch:w4
        throw 2-4
        throw 3-4
        pay w4 0+1                                                 ! losing-wager-paid:w4
    """,
    "reading commission_rounding: floor and nearest, a half up": """
        qc-craps rounding=nearest
        place w1 buy_bet 1010 number=4 marker=buy commission=51
        place w2 buy_bet 1009 number=4 marker=buy commission=50
    """,
    "reading commission_rounding: floor": """
        qc-craps rounding=floor
        place w1 buy_bet 1019 number=4 marker=buy commission=50
        place w2 buy_bet 1020 number=4 marker=buy commission=50    ! commission-amount-mismatch:w2
    """,
    "(1): a right bet costs no commission": """
        qc-craps
        place w1 right_bet 600 number=6 commission=30              ! undue-commission:w1
        throw 3-3
        throw 4-2
        pay w1 700+600
    """,
    "(2), (3): each bears its chip": """
        qc-craps
        place w1 buy_bet 1000 number=4 commission=50               ! wager-marker-missing:w1
        place w2 lay_bet 1200 number=4 commission=30 marker=buy    ! wager-marker-missing:w2
    """,
    "(2): a buy bet left up after a win is a new wager, with a new commission": """
        qc-craps
        throw 3-3
        place w1 buy_bet 1000 number=4 marker=buy commission=50
        throw 2-2
        pay w1 2000+1000
        place w2 buy_bet 1000 number=4 marker=buy left_up_from=w1  ! commission-not-renewed:w2
        place w3 buy_bet 1000 number=4 marker=buy left_up_from=w9  ! commission-not-paid:w3 left-up-stake-mismatch:w3
        place w4 buy_bet 1000 number=4 marker=buy left_up_from=w1 commission=50
    """,
    "(1), (2): off on the come-out, seven included; a lay bet plays": """
        qc-craps collections
        place w1 right_bet 600 number=6
        place w2 buy_bet 1000 number=6 marker=buy commission=50
        place w3 lay_bet 1200 number=6 marker=lay commission=50
        throw 3-4
        pay w3 1000+1200
        pay w1 700+600                                             ! inactive-wager-settled:w1
        sweep w2                                                   ! inactive-wager-settled:w2
        throw 3-3
        throw 3-3
        pay w1 700+600
        pay w2 1200+1000
    """,
    "(1): on, if the player switched it on, until he says otherwise": """
        qc-craps
        place w1 right_bet 600 number=6 working=true
        place w2 right_bet 600 number=8
        switch w2 on
        throw 4-4
        pay w2 700+600
        throw 4-4
        throw 3-3                                                  => w1:won
        pay w1 700+600
    """,
    "(1): a switch holds through the series that follow, until he switches it off": """
        qc-craps
        throw 4-4
        place w1 right_bet 600 number=6
        place w2 right_bet 600 number=6
        switch w1 on
        switch w2 on
        throw 4-4
        switch w2 off
        throw 3-4                                                  => w1:lost w2:open
        pay w2 0+600                                               ! inactive-wager-settled:w2
    """,
    "(1): switched half a second after the call, it counts for this throw": """
        qc-craps calls
        place w1 right_bet 600 number=6
        call
        +500ms switch w1 on                                        ! wager-near-call:w1 ? working-call-late
        throw 4-2                                                  => w1:won
        pay w1 700+600
    """,
    "(1): switched after the call and numbered before it, it counts from the next throw": """
        qc-craps calls
        place w1 right_bet 600 number=6
        +5s switch w1 on
        -501ms call                                                ! working-call-late:w1
        +3s throw 4-2                                              => w1:open
        call
        throw 4-2                                                  => w1:won
        pay w1 700+600
    """,
    "(2): a commission in whole dollars, if the house reads it so": """
        qc-craps commission_unit=100 rounding=floor
        throw 2-4
        place w1 buy_bet 2500 number=4 commission=100 marker=buy
        place w2 buy_bet 2500 number=4 commission=125 marker=buy   ! commission-amount-mismatch:w2
    """,
    "(1): switched after the call, it counts from the next throw": """
        qc-craps calls
        place w1 right_bet 600 number=6
        call
        switch w1 on                                               ! working-call-late:w1
        throw 1-1
        call
        throw 3-3
        pay w1 700+600
    """,
    "a lay bet has no come-out to be switched on": """
        qc-craps calls
        place w1 lay_bet 1200 number=6 marker=lay commission=50
        call
        switch w1 off
        throw 3-4
        pay w1 1000+1200
    """,
    "the numbers there are; any other bet is not adjudicated": """
        qc-craps
        place w1 right_bet 600 number=7                            ! invalid-wager-number:w1
        place w2 win 600                                           => w2:out_of_scope ? wager-not-permitted
    """,
    "of the rules of the dice, those on voided throws, values and the marker alone": """
        qc-craps custody calls marker
        throw 5-3 seat=S1 flags=rubbed_or_held
        throw 1-1                                                  ! point-marker-missing
        throw 9-9                                                  ! invalid-dice-values
        throw 1-1 flags=slid                                       ! irregular-throw-counted
        void                                                       ! valid-throw-voided
        dice a b c by=croupier announced=false
        offer S3
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)
