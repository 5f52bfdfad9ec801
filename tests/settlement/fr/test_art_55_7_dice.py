"""Art. 55-7: who throws, with which dice, when. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from tests.settlement.tapes import play

TAPES = {
    "an orderly hand raises nothing": """
        fr-craps calls custody marker collections seats=S1,S2,S3
        dice a b c d e f by=opening announced=false
        offer S1
        select S1 a b / c d e f
        place w1 win 1000 seat=S1
        call
        throw 5-3 seat=S1 dice=b,a
        mark 8
        call
        throw 3-4 seat=S1 dice=a,b
        sweep w1
        offer S2
        decline S2
        offer S3
        place w2 dont_win 1000 seat=S3
        call
        throw 1-1 seat=S3
        pay w2 1000+1000
    """,
    "al. 2: the first offer is to the left of the croupiers": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        offer S2                      ! first-shooter-not-left-of-croupiers
        decline S2
        offer S3
    """,
    "al. 2: the first offer passes over empty seats": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        leave P1
        sit P3 seat=S3
        offer S3                      ? first-shooter-not-left-of-croupiers
    """,
    "al. 2: a stake shows that a seat is taken where seating is not reported": """
        fr-craps custody seats=S1,S2,S3
        place w1 big_6 1000 seat=S1
        offer S2                      ? first-shooter-not-left-of-croupiers
        decline S2
        offer S1                      ! act-put-right ? dice-not-offered-clockwise
        decline S1
        offer S3
    """,
    "al. 2: then clockwise, refusals included": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer S1
        decline S1
        offer S3                      ! dice-not-offered-clockwise
        decline S3
        offer S1
        decline S1
        offer S1                      ! dice-not-offered-clockwise
    """,
    "al. 2: the wrong way round passes over those who sit there": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer S1
        decline S1
        offer S2
        decline player=P2
        offer S1                      ! dice-not-offered-clockwise
    """,
    "an offer to a player is one to the seat where he sits": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer player=P1
        place w1 win 1000 player=P1
        throw 2-2 seat=S1             ? shooter-without-line-wager throw-by-non-shooter
        throw 5-6 player=P2           ! throw-by-non-shooter shooter-without-line-wager
        throw 3-4 player=P1
        offer player=P3               ! dice-not-offered-clockwise
    """,
    "al. 7: a shooter who leaves in mid-series is followed by one without a line stake": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer S1
        place w1 win 1000 seat=S1
        throw 2-2
        leave P1
        offer S2                      ? dice-passed-without-seven-out
        throw 2-3                     ? shooter-without-line-wager
        decline S2
        offer S3
        throw 1-1                     ? shooter-without-line-wager
        throw 2-2
        pay w1 1000+1000
        throw 2-2                     ! shooter-without-line-wager
    """,
    "al. 6: the shooter takes the dice": """
        fr-craps custody seating
        sit P1 seat=S1
        dice a b c d e f by=opening
        offer player=P1
        select S1 a b / c d e f       ? dice-selected-by-another
        select S3 a b / c d e f       ! dice-selected-by-another
    """,
    "al. 5: what a shooter can be blamed for, once a throw": """
        fr-craps custody calls
        offer S1
        place w1 win 1000 seat=S1
        call
        +11s throw 2-2 flags=rubbed_or_held    ! dice-rubbed-or-held throw-delayed
        remove S1 by=chef_de_table             ! shooter-removed-without-repeated-violation
    """,
    "al. 5: a delay and dice off the table are two": """
        fr-craps custody calls
        offer S1
        place w1 win 1000 seat=S1
        call
        +11s throw 2-2                         ! throw-delayed
        call
        void off_table broken seat=S1
        remove S1 by=chef_de_table             ? shooter-removed-without-repeated-violation
    """,
    "al. 5: a counted throw with a voiding flag, and stacked dice, are no violation": """
        fr-craps custody
        offer S1
        place w1 win 1000 seat=S1
        throw 2-2 flags=slid                   ! irregular-throw-counted
        void stacked
        void on_chip
        remove S1 by=chef_de_table             ! shooter-removed-without-repeated-violation
    """,
    "without a list of seats no order is owed": """
        fr-craps custody
        offer S7
        decline S7
        offer S2
    """,
    "al. 2: only the seat last offered throws": """
        fr-craps custody
        throw 3-4 seat=S1             ! throw-by-non-shooter shooter-without-line-wager
        offer S1
        place w1 win 1000 seat=S1
        place w2 win 1000 seat=S2
        throw 5-3 seat=S2             ! throw-by-non-shooter
        void slid seat=S2             ! throw-by-non-shooter
        throw 1-2 seat=S1
        throw 1-2
        decline S1
        throw 1-2 seat=S1             ! throw-by-non-shooter
    """,
    "55-8 A 1°: the dice leave with the seven that loses the win, and only then": """
        fr-craps custody
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        offer S2                      ! dice-passed-without-seven-out
        place w2 come 1000 seat=S2
        throw 1-1 seat=S2             ! shooter-without-line-wager
        throw 3-4 seat=S2             ! shooter-without-line-wager
        offer S3
        offer S1
    """,
    "55-8 A 1°: a seven-out passes the dice, at every throw until they are offered": """
        fr-craps custody
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        throw 3-4 seat=S1
        place w2 win 1000 seat=S1
        throw 1-2 seat=S1             ! shooter-kept-dice-after-seven-out
        void slid seat=S1             ! shooter-kept-dice-after-seven-out
        offer S2
        place w3 win 1000 seat=S2
        throw 3-4 seat=S2             # a come-out seven is no seven-out
        pay w3 1000+1000
        place w4 win 1000 seat=S2
        throw 3-4 seat=S2
    """,
    "al. 5: a shooter is removed by the chef de table, after two violations": """
        fr-craps custody
        offer S1
        place w1 win 1000 seat=S1
        void slid seat=S1
        remove S1 by=chef_de_table    ! shooter-removed-without-repeated-violation
        offer S2
        place w2 win 1000 seat=S2
        void slid seat=S2
        void off_table seat=S2
        remove S2 by=stickman         ! shooter-removed-by-wrong-role
        throw 1-1 seat=S2             ! throw-by-non-shooter
        offer S3
    """,
    "al. 7: the successor of a shooter removed in mid-series is excused until the point is resolved": """
        fr-craps custody
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        void slid seat=S1
        void slid seat=S1
        remove S1 by=chef_de_table
        offer S2
        throw 1-1 seat=S2
        throw 4-4 seat=S2
        throw 1-1 seat=S2             ! payout-missing:w1 shooter-without-line-wager:-
    """,
    "al. 7: the shooter has a live stake on one of the lines": """
        fr-craps custody
        offer S1
        place w1 field 1000 seat=S1
        throw 1-1 seat=S1             ! shooter-without-line-wager
        pay w1 2000+1000
        place w2 dont_win 1000 seat=S1
        throw 6-6 seat=S1             # barred, and still live
        throw 6-6 seat=S1
    """,
    "al. 3: every throw comes after its own call": """
        fr-craps calls
        call
        throw 1-1
        throw 1-1                     ! throw-without-no-more-bets
        call
        void slid
        void slid                     ! throw-without-no-more-bets
    """,
    "al. 3: at once, which is read as ten seconds": """
        fr-craps calls
        call
        +10s throw 1-1
        call
        +11s throw 1-1                ! throw-delayed
        call
        +60s void slid
    """,
    "al. 3: a longer delay is a reading of the session": """
        fr-craps calls delay=30
        call
        +30s throw 1-1
        call
        +31s throw 1-1                ! throw-delayed
    """,
    "al. 3: rubbing is a breach by the shooter, and does not void the throw": """
        fr-craps
        place w1 field 1000
        throw 1-1 flags=rubbed_or_held    ! dice-rubbed-or-held
        pay w1 2000+1000
    """,
    "al. 4: no dice are changed while a point stands, whoever decided it": """
        fr-craps custody
        dice a b c d e f by=opening
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        dice g h i j k l by=chef_de_partie    ! dice-changed-during-point-series
        dice m n o p q r by=shooter           ! dice-changed-during-point-series dice-change-not-authorised
        throw 4-4 seat=S1
        pay w1 1000+1000
        dice s t u v w x by=shooter           # before a come-out he may ask
        dice a b c d e f by=chef_de_table
    """,
    "al. 5: dice broken or lost in the throw just voided are replaced, for review": """
        fr-craps custody
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        void broken seat=S1
        dice a b c d e f by=chef_de_table cause=broken    ! dice-replaced-during-point-series-with-cause
        void slid seat=S1
        dice g h i j k l by=chef_de_table cause=broken    ! dice-changed-during-point-series
        void off_table seat=S1
        dice m n o p q r by=chef_de_table                 ! dice-changed-during-point-series
        throw 1-1 seat=S1
        dice s t u v w x by=chef_de_table cause=lost      ! dice-changed-during-point-series
    """,
    "al. 4, 6: the two dice stay the two dice in mid-series": """
        fr-craps custody
        dice a b c d e f by=opening
        offer S1
        place w1 win 1000 seat=S1
        select S1 a b / c d e f
        select S1 c d / a b e f               ? dice-changed-during-point-series
        throw 5-3 seat=S1
        select S1 d c / a b e f               ? dice-changed-during-point-series
        select S1 a c / b d e f               ! dice-changed-during-point-series
        select S1 a / b c d e f               ! dice-selection-not-two
        throw 4-4 seat=S1
        pay w1 1000+1000
        select S1 e f / a b c d
    """,
    "al. 5: for a die broken or lost in the throw just voided another of the box": """
        fr-craps custody
        dice a b c d e f by=opening
        offer S1
        place w1 win 1000 seat=S1
        select S1 a b / c d e f
        throw 5-3 seat=S1
        void off_table seat=S1
        select S1 a c / b d e f               ! dice-replaced-during-point-series-with-cause
        void slid seat=S1
        select S1 a d / b c e f               ! dice-changed-during-point-series
        dice g h i j k l by=chef_de_table     ! dice-changed-during-point-series
        select S1 g h / i j k l
    """,
    "al. 7: a line stake is whose seat it was laid from then": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        place w1 win 1000 seat=S1
        leave P1
        sit P1 seat=S2
        sit P2 seat=S1
        offer player=P2
        throw 5-6                             ! shooter-without-line-wager
        pay w1 1000+1000
        place w2 win 1000 seat=S2
        leave P1
        sit P1 seat=S3
        decline player=P2
        offer player=P1
        throw 5-6                             ? shooter-without-line-wager
    """,
    "without custody the dice are not observed": """
        fr-craps
        throw 5-3
        dice g h i j k l by=croupier announced=false
        throw 3-4 seat=S9
    """,
    "al. 6: decided by a chef, announced, six of them": """
        fr-craps custody
        dice a b c d e f by=croupier              ! dice-change-not-authorised
        dice a b c d e f by=chef_de_table announced=false    ! dice-change-not-announced
        dice a b c d e by=chef_de_partie          ! dice-set-not-six
        dice a b c d e e by=chef_de_partie        ! dice-set-not-six
        dice a b c d e f by=opening announced=false
    """,
    "al. 6: two are taken, four are boxed, and the two are thrown": """
        fr-craps custody
        dice a b c d e f by=opening
        offer S1
        place w1 win 1000 seat=S1
        select S1 a / b c d e f                   ! dice-selection-not-two
        select S1 a a / b c d e f                 ! dice-selection-not-two
        select S1 a z / b c d e f                 ! dice-selection-not-two
        select S1 a b / c d e                     ! dice-remainder-not-boxed
        select S1 a b / c d e f
        throw 1-2 seat=S1 dice=a,c                ! unselected-dice-thrown
        place w2 win 1000 seat=S1
        void slid seat=S1 dice=a,b
    """,
    "al. 2: the stickman touches dice only to examine or pick them up": """
        fr-craps
        touch stickman examine
        touch stickman fell_off_table
        touch stickman habit                      ! dice-touched-without-cause
        touch shooter habit
    """,
    "a throw that cannot be decides nothing": """
        fr-craps
        place w1 field 1000
        throw 7-2                                 ! invalid-dice-values
        throw 5-3 total=9                         ! invalid-dice-values
        pay w1 1000+1000                          ! push-paid:w1
        throw 1-2 total=3
        pay w1 1000+1000
    """,
    "al. 5: a throw that should have been voided was counted": """
        fr-craps
        place w1 field 1000
        throw 1-2 flags=slid                      ! irregular-throw-counted
        pay w1 1000+1000
    """,
    "al. 5: a throw is voided for a cause, by the stickman": """
        fr-craps
        void                                      ! valid-throw-voided
        void rubbed_or_held                       ! valid-throw-voided
        void slid by=croupier                     ! void-not-announced-by-stickman
        void slid
    """,
    "al. 5: a voided throw settles, moves and marks nothing": """
        fr-craps collections
        place w1 field 1000
        void slid
        pay w1 1000+1000                          ! void-throw-settled:w1
        sweep w1                                  ! void-throw-settled:w1
        move w1 6                                 ! void-throw-settled:w1
        mark 6                                    ! void-throw-settled:-
        throw 1-2
        pay w1 1000+1000
    """,
    "al. 5: what was decided before the voided throw is still paid, collected and marked": """
        fr-craps collections
        place w1 field 1000
        place w2 seven 1000
        throw 2-2
        void slid
        pay w1 1000+1000
        sweep w2
        mark 4
    """,
    "55-8 A 1°: the point is marked before the next throw, found once": """
        fr-craps marker
        throw 5-3
        void slid                                 ! point-marker-missing
        throw 1-1
        mark 8
        throw 4-4
        throw 2-2
        mark 4
        throw 1-1
    """,
    "55-8 A 1°: the marker is on the point": """
        fr-craps
        mark 6                                    ! point-marker-mismatch
        throw 5-3
        mark 6                                    ! point-marker-mismatch
        throw 1-1
        mark 8
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


@pytest.mark.parametrize(
    ("by", "severity"), [("chef_de_table", "major"), ("chef_de_partie", "major"), ("shooter", "critical")]
)
def test_al_4_binds_the_shooter_more_than_the_chefs(by: str, severity: str) -> None:
    (found,) = [
        finding
        for finding in play(
            "fr-craps custody\ndice a b c d e f by=opening\noffer S1\nplace w1 win 100 seat=S1\nthrow 2-2\n"
            f"dice g h i j k l by={by} ! dice-changed-during-point-series"
            + (" dice-change-not-authorised" if by == "shooter" else "")
        )
        if finding.rule == "dice-changed-during-point-series"
    ]
    assert found.severity == severity
