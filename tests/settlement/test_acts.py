"""Acts that are put right in time, and those that are not. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from settlement import State, adjudicate, decode
from settlement.catalogue.rule import LANGUAGES
from settlement.corrections import changes_in
from settlement.finding import Finding
from tests.settlement.tapes import play, read

COME = """
        fr-craps
        throw 5-1
        place w1 come 1000
        throw 4-5"""

PASSED = """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        throw 3-4 seat=S1
        place w2 win 1000 seat=S2
        place w3 win 1000 seat=S3"""

COLOURS = """
        fr-american-roulette
        colour Anna blue 100
        colour Bruno red 100
        place w1 rouge 100 player=Anna
        land 1"""

TAPES = {
    # A come moved
    "a come moved wrongly, then where the dice sent it": f"""{COME}
        move w1 5
        move w1 9                             ! act-put-right:w1 ? come-moved-to-wrong-number
        throw 1-1
        move w1 9                             ? come-moved-to-wrong-number
    """,
    "a come moved wrongly twice: the last place counts": f"""{COME}
        move w1 5
        move w1 4                             ! come-moved-to-wrong-number:w1
        throw 1-1
        move w1 9                             ? act-put-right
    """,
    "a come moved wrongly twice, then rightly": f"""{COME}
        move w1 5
        move w1 4
        move w1 9                             ! act-put-right:w1
        throw 1-1
    """,
    "a come moved rightly, then wrongly": f"""{COME}
        move w1 9
        move w1 5                             ! come-moved-to-wrong-number:w1
        throw 1-1                             ? come-not-moved
    """,
    "a come moved rightly, wrongly and rightly": f"""{COME}
        move w1 9
        move w1 5
        move w1 9                             ! act-put-right:w1
        close                                 ! wager-left-open
    """,
    "a voided throw is no end for a come": f"""{COME}
        move w1 5
        void slid
        move w1 9                             ! act-put-right:w1 ? void-throw-settled
        throw 1-1
    """,
    "a come put right after the next throw": f"""{COME}
        move w1 5                             ! come-moved-to-wrong-number:w1
        throw 1-1
        move w1 9                             ? act-put-right
    """,
    "a come that was moved long ago is moved, and moved back": f"""{COME}
        move w1 9
        throw 1-1
        move w1 5
        move w1 9                             ! act-put-right:w1
        throw 1-1
    """,
    "a win, and a come that the dice sent nowhere, have no place to be put back to": """
        fr-craps
        place w1 win 1000
        throw 5-1
        place w2 come 1000
        move w1 9                             ! come-moved-to-wrong-number:w1
        move w1 6                             ! come-moved-to-wrong-number:w1
        move w2 6                             ! come-moved-to-wrong-number:w2
        throw 5-1
        pay w1 1000+1000
    """,
    "off and on": """
        fr-craps
        throw 5-1
        place w1 come 1000 player=Anna
        throw 4-5
        move w1 9
        place w2 come 1000 player=Anna
        throw 4-5                             => w1:won w2:open
        pay w1 1000+1000
        throw 1-1                             ? come-not-moved
        move w2 5                             ! come-moved-to-wrong-number:w2
        throw 1-1
    """,
    "off and on: of the same player, on the same side": """
        fr-craps
        throw 5-1
        place w1 come 1000 player=Anna
        place w2 dont_come 1000 player=Anna
        throw 4-5
        move w1 9
        move w2 9
        place w3 come 1000 player=Bruno
        place w4 dont_come 1000 player=Anna
        place w5 dont_come 1000 player=Bruno
        throw 4-5                             => w1:won w2:lost
        pay w1 1000+1000
        throw 1-1                             ! come-not-moved:w3 come-not-moved:w5
    """,
    # A late stake
    "a late stake pushed back before the result": """
        fr-roulette calls
        call
        place w1 rouge 100                    => w1:void
        take w1                               ! act-put-right:w1 ? wager-after-no-more-bets
        land 1
    """,
    "a late stake handed back before the result": """
        fr-roulette calls
        call
        place w1 rouge 100
        pay w1 0+100                          ! act-put-right:w1
        land 1
    """,
    "a late stake taken back in parts, and handed over": """
        fr-roulette calls
        call
        place w1 rouge 100
        take w1 40
        take w1 60                            # what is taken back and what is handed back are one movement
        pay w1 0+100                          ! act-put-right:w1
        land 1
    """,
    "a late stake of which a part is left to play": """
        fr-roulette calls
        call
        place w1 rouge 100                    ! wager-after-no-more-bets:w1
        take w1 40
        land 1
    """,
    "a late stake left to play, swept, paid, or taken back after the result": """
        fr-roulette calls collections
        call
        place w1 rouge 100                    ! wager-after-no-more-bets:w1
        place w2 rouge 100                    ! wager-after-no-more-bets:w2
        place w3 rouge 100                    ! wager-after-no-more-bets:w3
        sweep w2
        take w2
        pay w2 0+100                          ? act-put-right
        pay w3 5+100                          ! payout-overpaid:w3
        land 1
        take w1                               ? act-put-right
    """,
    "a late stake paid by a settlement": """
        fr-roulette calls
        call
        place w1 rouge 100                    ! wager-after-no-more-bets:w1
        dispute w1
        take w1
        settle 4 100 approved_by=chef-1       ! payout-duplicated:w1 ? act-put-right
        land 1
    """,
    "a late stake put right is the cause of nothing": """
        fr-roulette calls
        call
        place w1 rouge 100
        take w1                               ! act-put-right:w1
        land 1
        pay w1 100+100                        ! payout-overpaid:w1
        call
        land 1
    """,
    "a late stake after a voided spin still is late, and may go back": """
        fr-roulette calls
        call
        place w1 rouge 100                    ! wager-after-no-more-bets:w1
        place w2 rouge 100
        spoil foreign_object
        take w2                               ! act-put-right:w2
        call
        land 1
    """,
    "a late stake when the session closes in mid-coup": """
        fr-roulette calls
        call
        place w1 rouge 100                    ! wager-after-no-more-bets:w1
        place w2 rouge 100
        take w2                               ! act-put-right:w2
        close
        take w1                               ? act-put-right
    """,
    "late by the clock, taken back before the call was recorded": """
        fr-roulette calls
        +9s place w1 rouge 100
        +1s take w1                           ? withdrawal-after-no-more-bets
        +0s place w2 rouge 100
        -5s call                              ! act-put-right:w1 clock-went-back wager-after-no-more-bets:w2
        +9s land 1
    """,
    "late in several ways": """
        fr-roulette calls minimum=500
        call
        place w1 rouge 100
        take w1                               ! act-put-right:w1 ? stake-out-of-limits
        place w2 rouge 100                    ! wager-after-no-more-bets:w2 stake-out-of-limits:w2
        land 1
    """,
    # Stakes swept that were not lost
    "swept in play, and laid back where it lay": """
        fr-roulette collections
        place w1 rouge 1000
        sweep w1
        pay w1 0+1000                         ! act-put-right:w1 ? winning-wager-collected payout-without-result
        land 0
        zero w1 prison
        sweep w1
        pay w1 0+1000                         ? act-put-right
        sweep w1                              ! winning-wager-collected:w1
        land 2
    """,
    "swept on a throw that decides nothing for it, and laid back": """
        fr-craps collections
        place w1 dont_win 1000
        place w2 field 1000
        throw 6-6
        pay w2 2000+1000
        sweep w1                              ? barred-number-settled
        pay w1 0+1000                         ! act-put-right:w1
        void slid
        sweep w1
        pay w1 0+1000                         ! act-put-right:w1 ? void-throw-settled
        sweep w1                              ! void-throw-settled:w1
        throw 1-1
        pay w1 1000+1000
    """,
    "swept while it was off, and laid back": """
        qc-craps collections
        place w1 buy_bet 1000 number=6 marker=buy commission=50
        throw 1-2
        sweep w1
        pay w1 0+1000                         ! act-put-right:w1 ? inactive-wager-settled
        throw 3-3
        sweep w1                              ! inactive-wager-settled:w1
        throw 1-2
        pay w1 0+1000                         ? act-put-right
        throw 1-2
    """,
    "at la boule, as at any game": """
        fr-boule collections calls
        place w1 rouge 1000
        sweep w1
        pay w1 0+1000                         ! act-put-right:w1
        call
        place w2 rouge 1000
        take w2                               ! act-put-right:w2
        place w3 rouge 1000                   ! wager-after-no-more-bets:w3
        roll 3
        pay w1 1000+1000
        sweep w3                              ! void-stake-kept:w3
        call
        roll 5
    """,
    # Announcements
    "another number announced, then the right one": """
        fr-american-roulette announcements
        land 17
        announce 20 noir pair passe
        announce 17 noir impair manque        ! act-put-right ? announcement-mismatch
        land 3
        announce 3 rouge impair manque
    """,
    "the last announcement before money moves counts": """
        fr-american-roulette
        place w1 rouge 100
        place w2 noir 100
        land 3
        announce 3 rouge impair manque
        announce 3 noir                       ! announcement-mismatch
        pay w1 100+100
        announce 3 rouge impair manque        ? act-put-right
        place w3 noir 100
        land 3
        announce 3 noir                       ! announcement-mismatch
        sweep w3
        announce 3 rouge impair manque        ? act-put-right
        land 3
        announce 5 noir
        announce 3 noir
        announce 3 rouge impair manque        ! act-put-right
        close
    """,
    "another amount announced, then the right one": """
        fr-american-roulette announcements
        place w1 rouge 100
        place w2 rouge 100
        place w3 rouge 100
        place w4 rouge 100
        place w5 rouge 100
        land 3
        announce 3 rouge impair manque
        say w1 200
        say w1 300
        say w1 100                            ! act-put-right:w1
        pay w1 100+100                        ? payment-not-as-announced
        say w2 200
        pay w2 100+100                        ! payment-not-as-announced:w2
        say w2 100                            ? act-put-right
        say w3 100
        say w3 200
        pay w3 100+100                        ! payment-not-as-announced:w3 ? act-put-right
        say w4 100
        say w4 100                            ? act-put-right
        pay w4 100+100
        say w5 200
        say w5 300                            ? act-put-right
        pay w5 300+100                        ! payout-overpaid:w5
        land 3
        announce 3 rouge impair manque
    """,
    # Dice
    "offered to the wrong seat, then to the right one": f"""{PASSED}
        offer S3                              ? dice-not-offered-clockwise
        offer S2                              ! act-put-right ? dice-not-offered-clockwise
        throw 5-3 seat=S2                     ? throw-by-non-shooter
    """,
    "offered to the wrong seat, which refuses, then to the right one": f"""{PASSED}
        offer S3
        decline S3
        offer S2                              ! act-put-right
        throw 5-3 seat=S2
    """,
    "offered to the wrong seat twice: the last offer counts": f"""{PASSED}
        offer S3
        offer S1                              ! dice-not-offered-clockwise ? act-put-right
        void slid seat=S1
        decline S1
        offer S2                              ? act-put-right
    """,
    "offered to the wrong seat, which throws": f"""{PASSED}
        offer S3                              ! dice-not-offered-clockwise
        throw 5-3 seat=S3
        throw 3-4 seat=S3
        offer S1
    """,
    "passed to another without a seven-out, and given back": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer S1
        place w1 win 1000 seat=S1
        void slid seat=S1
        throw 5-3 seat=S1
        offer S2                              ? dice-passed-without-seven-out
        offer S1                              ! act-put-right ? dice-not-offered-clockwise
        void slid seat=S1
        remove S1 by=chef_de_table            ? shooter-removed-without-repeated-violation
        offer S2
    """,
    "passed to another without a seven-out and out of turn, and given back": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        sit P3 seat=S3
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        offer S3
        offer S1                              ! act-put-right
        throw 5-3 seat=S1
        pay w1 1000+1000
        offer S3                              ! dice-not-offered-clockwise dice-passed-without-seven-out
        close
    """,
    "the first offer to the wrong seat, then to the right one": """
        fr-craps custody seating seats=S1,S2,S3
        sit P1 seat=S1
        sit P2 seat=S2
        offer S2                              ? first-shooter-not-left-of-croupiers
        offer S1                              ! act-put-right
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
    """,
    "dice offered again to who has them": """
        fr-craps custody seating seats=S1,S2
        sit P1 seat=S1
        sit P2 seat=S2
        offer S1
        place w1 win 1000 seat=S1
        throw 5-3 seat=S1
        throw 5-3 seat=S1
        pay w1 1000+1000
        offer S1                              ? dice-not-offered-clockwise dice-passed-without-seven-out
        decline S1
        offer S1                              ! dice-not-offered-clockwise
    """,
    # The marker
    "the point marked wrongly, then rightly": """
        fr-craps marker
        throw 5-1
        mark 8                                ? point-marker-mismatch
        mark 6                                ! act-put-right
        throw 5-3
    """,
    "the point marked rightly, then wrongly": """
        fr-craps marker
        throw 5-1
        mark 6
        mark 8                                ! point-marker-mismatch
        throw 5-3
        mark 6                                ? act-put-right
    """,
    "a voided throw is the next throw for the marker": """
        fr-craps marker
        throw 5-1
        mark 8                                ! point-marker-mismatch
        void slid
        mark 6                                ? act-put-right void-throw-settled
        throw 1-1
    """,
    "the marker at Québec": """
        qc-craps marker day=2005-01-01
        throw 5-1
        mark 8
        mark 6                                ! act-put-right
        throw 1-1
        mark 8                                ! point-marker-mismatch
        void slid
        mark 6
    """,
    # Wheel and ball
    "a ball launched with the wheel, then launched again": """
        fr-american-roulette wheel
        spin clockwise
        launch clockwise
        launch counterclockwise               ! act-put-right ? ball-same-direction-as-wheel
        land 1
        spin counterclockwise
        launch counterclockwise
        launch counterclockwise               ! ball-same-direction-as-wheel
        land 1
        spin clockwise
        launch counterclockwise
        launch clockwise                      ! ball-same-direction-as-wheel
        land 37                               ! invalid-pocket
        launch counterclockwise               ? act-put-right
    """,
    "a wheel that was not reversed: the spin is voided": """
        fr-american-roulette wheel
        spin clockwise
        launch counterclockwise
        land 1
        spin clockwise                        ? wheel-direction-repeated
        launch clockwise                      ? ball-same-direction-as-wheel
        spoil mechanical                      ! act-put-right
        spin counterclockwise
        launch clockwise
        land 1
        spin counterclockwise                 ! wheel-direction-repeated
        launch clockwise
        land 1
        spoil mechanical                      ? act-put-right
    """,
    "a wheel that was not reversed is turned again": """
        fr-american-roulette wheel
        spin clockwise
        launch counterclockwise
        land 1
        spin clockwise                        ? wheel-direction-repeated
        spin counterclockwise                 ! act-put-right
        launch clockwise
        land 1
        spin counterclockwise                 ? wheel-direction-repeated
        launch clockwise
        launch clockwise                      ! act-put-right
        land 1
    """,
    "a spin that was voided is wrong again": """
        fr-american-roulette wheel
        spin clockwise
        launch clockwise
        spoil mechanical
        spin clockwise
        launch clockwise                      ! ball-same-direction-as-wheel
        land 1
    """,
    # Colours
    "paid in another's colour, taken back and paid in his own": f"""{COLOURS}
        pay w1 100+100 colour=red             ? payment-wrong-colour
        recover w1 100+100
        pay w1 100+100 colour=blue            ! act-put-right:w1 payout-put-right:w1
        land 1
    """,
    "paid in another's colour and in his own, and only then taken back": f"""{COLOURS}
        pay w1 100+100 colour=red
        pay w1 100+100 colour=blue
        recover w1 100+100                    ! act-put-right:w1 payout-put-right:w1
        land 1
    """,
    "paid in another's colour, and not all of it taken back": f"""{COLOURS}
        pay w1 100+100 colour=red             ! payment-wrong-colour:w1
        recover w1 50+0
        pay w1 50+0 colour=blue               ! payout-put-right:w1 ? act-put-right
        land 1
    """,
    "paid in another's colour, taken back and paid in another's again": f"""{COLOURS}
        pay w1 100+0 colour=red
        recover w1 100+0
        pay w1 100+100 colour=red             ! payment-wrong-colour:w1 payout-put-right:w1
        land 1
    """,
    "paid in another's colour, and made good after the result": f"""{COLOURS}
        pay w1 100+100 colour=red             ! payment-wrong-colour:w1
        land 1
        recover w1 100+100                    ? act-put-right
        pay w1 100+100 colour=blue            ! payout-put-right:w1 ? act-put-right
        land 1
    """,
    # Limits
    "the stakes of a player on one combination are one": """
        fr-craps maximum=1000
        place w1 win 1000 player=Anna
        place w2 win 1 player=Bruno           ? stake-out-of-limits
        place w3 win 1 player=Anna            ! stake-out-of-limits:w3
        place w4 win 1000                     ? stake-out-of-limits
        place w5 win 1000                     ? stake-out-of-limits
        place w6 dont_win 1000 player=Anna    ? stake-out-of-limits
        throw 1-1
        pay w6 1000+1000
    """,
    "what a player has elsewhere, or no longer, is not counted": """
        fr-roulette minimum=500
        place w1 plein 400 numbers=1 player=Anna     ! stake-out-of-limits:w1
        place w2 plein 400 numbers=2 player=Anna     ! stake-out-of-limits:w2
        place w3 plein 500 numbers=3 player=Anna
        land 3
        pay w3 17500+500
        place w4 plein 400 numbers=3 player=Anna     ! stake-out-of-limits:w4
        close                                        ! wager-left-open:w4
    """,
    "below the minimum, and brought within by another stake": """
        fr-roulette minimum=500 calls
        place w1 rouge 200 player=Anna
        place w2 rouge 200 player=Anna
        place w3 rouge 200 player=Anna        ! act-put-right:w1 act-put-right:w2 ? stake-out-of-limits
        place w4 noir 200 player=Anna         ! stake-out-of-limits:w4
        place w5 passe 200 player=Anna
        take w5                               => w5:withdrawn ! act-put-right:w5
        call
        +9s place w6 noir 300 player=Anna     ! wager-after-no-more-bets:w6 stake-out-of-limits:w6
        land 2
        pay w4 200+200
    """,
    "above the maximum, and brought within before the call": """
        fr-roulette calls maximum=rouge:1000
        place w1 rouge 1500 player=Anna
        take w1 500                           ! act-put-right:w1 ? stake-out-of-limits
        place w2 rouge 1000 player=Anna
        place w3 rouge 1000 player=Anna       ! stake-out-of-limits:w3
        take w2                               => w2:withdrawn ! act-put-right:w2
        place w4 rouge 1001                   ! stake-out-of-limits:w4
        call
        +9s take w4                           ! withdrawal-after-no-more-bets:w4 ? act-put-right
        land 1
        pay w1 1000+1000
        pay w3 1000+1000
        pay w4 1001+1001
    """,
    "above the maximum, and taken back too late by the clock": """
        fr-roulette calls maximum=rouge:1000
        +9s place w1 rouge 1500 player=Anna   ! stake-out-of-limits:w1
        +9s take w1 500
        -5s call                              ! withdrawal-after-no-more-bets:w1 clock-went-back
        +9s land 2
    """,
    "above the maximum with a stake that was late by the clock": """
        fr-roulette calls maximum=rouge:1000
        place w1 rouge 600 player=Anna
        +9s place w2 rouge 600 player=Anna    ! stake-out-of-limits:w2
        +9s place w3 rouge 300 player=Anna    ! stake-out-of-limits:w3
        -13s place w4 rouge 300 player=Anna   ! clock-went-back
        +2s call        ! act-put-right:w4 wager-after-no-more-bets:w2 wager-after-no-more-bets:w3
        +20s land 2
    """,
    "a voided spin lifts the call, and there is time to bring a stake within the limits": """
        fr-roulette calls maximum=rouge:1000
        place w1 rouge 1500 player=Anna
        place w2 rouge 1 player=Bruno
        call
        spoil mechanical
        take w1 500                           ! act-put-right:w1
        call
        +9s take w2 1                         ! withdrawal-after-no-more-bets:w2
        land 1
        pay w1 1000+1000
        pay w2 1+1
        place w3 rouge 1500 player=Anna       ! stake-out-of-limits:w3
        close                                 ! wager-left-open:w3
    """,
    # Corrections in between
    "a wrong act that is corrected is none": """
        fr-craps marker
        throw 5-1
        mark 8                                ? point-marker-mismatch act-put-right
        correct 3 '{"number":6}'              ! entry-corrected
        throw 5-3
    """,
    "what put an act right is corrected": """
        fr-craps marker
        throw 5-1
        mark 8
        mark 6                                ! point-marker-mismatch ? act-put-right
        correct 4 '{"number":5}'              ! entry-corrected
        throw 5-3
    """,
    "what put a late stake right is annulled": """
        fr-roulette calls
        call
        place w1 rouge 100                    ! wager-after-no-more-bets:w1
        take w1
        annul 4                               ! entry-annulled
        land 1
    """,
    "limits without a call hold at the result": """
        fr-roulette maximum=rouge:1000
        place w1 rouge 1500 player=Anna
        call
        take w1 500                           ! act-put-right:w1
        place w2 rouge 1 player=Anna          ! stake-out-of-limits:w2
        land 1
        pay w1 1000+1000
        pay w2 1+1
        place w3 rouge 1500 player=Anna       ! stake-out-of-limits:w3
        land 2
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


# In mid-coup, in any steps, in words


def findings_of(tape: str) -> list[Finding]:
    return adjudicate(line.raw for line in read(tape)).findings


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_what_is_persisted_is_what_the_answer_says_and_asking_changes_nothing(tape: str) -> None:
    events = [decode(line.raw) for line in read(tape)]
    changes = changes_in(events)
    whole, restored = State(changes), State(changes)
    persisted = whole.feed_all(events)
    piecemeal: list[Finding] = []
    retired = {}
    for each in events:
        restored.recall(retired[name] for name in restored.unheld([each]) if name in retired)
        piecemeal += restored.feed(each)
        restored.adjudication()
        restored.forget_findings()
        retired.update({wager.id: wager for wager in restored.retire()})
        restored = State.from_bytes(restored.to_bytes(), changes)
    assert piecemeal == persisted


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_what_is_persisted_stays_in_every_later_answer_with_its_causes(tape: str) -> None:
    events = [decode(line.raw) for line in read(tape)]
    state = State(changes_in(events))
    persisted: list[Finding] = []
    for each in events:
        persisted += state.feed(each)
        answer = state.adjudication().findings
        given = {finding.ref for finding in answer}
        assert {finding.ref for finding in persisted} <= given
        assert all(cause in given for finding in answer for cause in finding.causes)


def test_an_act_that_is_wrong_is_given_in_mid_coup_and_persisted_when_the_coup_ends() -> None:
    state = State()
    *lines, result = read("fr-roulette calls\ncall\nplace w1 rouge 100\nland 1")
    assert [state.feed(decode(line.raw)) for line in lines] == [[], [], []]
    assert [finding.rule for finding in state.adjudication().findings] == ["wager-after-no-more-bets"]
    assert [finding.rule for finding in state.feed(decode(result.raw))] == ["wager-after-no-more-bets"]


def test_it_says_which_act_and_what_stood_first() -> None:
    (come,) = (each for each in findings_of(f"{COME}\nmove w1 5\nmove w1 4\nmove w1 9\nthrow 1-1") if each.wager)
    assert (come.seq, come.evidence, come.severity) == (7, (4, 5, 6, 7), "info")
    assert come.provision == "art. 55-8 A 3°"
    assert come.message("en") == (
        "Wager w1 (come on 9, €10.00): event 5 was irregular (wager moved: 5). Event 7 put it right in time."
    )
    assert come.message("fr") == (
        "Mise w1 (come sur 9, 10,00 €) : l’événement 5 était irrégulier (déplacement d’une mise : 5). L’événement 7 "
        "l’a régularisé à temps."
    ).replace(" €", "\N{NO-BREAK SPACE}€").replace(" :", "\N{NO-BREAK SPACE}:")


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ("land 17\nannounce 20 noir\nannounce 17 noir impair manque", "result announced: 20 noir"),
        ("spin clockwise\nlaunch clockwise\nlaunch counterclockwise", "ball launched: clockwise"),
        ("place w1 rouge 1\ntake w1", "wager placed: €0.01"),
        ("call\nplace w1 rouge 900\ntake w1", "wager placed"),
        ("place w1 rouge 500\nland 1\nsay w1 900\nsay w1 500\npay w1 500+500", "payment announced: €9.00"),
        (
            "colour Anna blue 1\nplace w1 rouge 500 player=Anna\nland 1\npay w1 500+500 colour=red\n"
            "recover w1 500+500\npay w1 500+500 colour=blue",
            "payout: red",
        ),
    ],
)
def test_what_stood_first_is_written_as_it_was(lines: str, first: str) -> None:
    found = findings_of(f"fr-american-roulette wheel calls minimum=100\n{lines}")
    (put_right,) = (each for each in found if each.rule == "act-put-right")
    assert f" was irregular ({first}). " in put_right.message("en")
    for language in LANGUAGES:
        assert "—" not in put_right.message(language) + put_right.remedy(language)


def test_what_was_put_right_cites_what_it_was_at_odds_with() -> None:
    lines = """
        fr-craps collections
        place w2 dont_win 1000
        throw 6-6
        place w1 win 1000
        sweep w2
        pay w2 0+1000                         ! act-put-right:w2
        throw 3-3
        take w1
        recover w1 0+1000                     ! act-put-right:w1
        throw 1-1
    """
    found = {each.wager: each for each in play(lines)}
    assert found["w1"].provisions == ("art. 55-8 A after 4°",)
    assert found["w2"].provisions == ("art. 55-8 A 2°", "art. 55-8 A intro")


def test_one_event_that_puts_several_acts_right_is_one_finding() -> None:
    tape = """
        fr-american-roulette wheel
        spin clockwise
        launch counterclockwise
        land 1
        spin clockwise
        launch clockwise
        spoil mechanical                      ! act-put-right
        launch counterclockwise
        land 1
    """
    (found,) = play(tape)
    assert found.evidence == (2, 5, 6, 7)


def test_a_late_stake_put_right_after_a_loss_is_an_act_after_a_loss() -> None:
    found = findings_of("fr-roulette calls\ncall\nplace w1 rouge 100\nlost 6\ntake w1\nland 1")
    (put_right,) = (each for each in found if each.rule == "act-put-right")
    assert put_right.after_loss
    assert [cause.rule for cause in put_right.causes] == ["events-lost"]


def test_after_the_close_nothing_is_put_right() -> None:
    state = State()
    *lines, late = read("fr-american-roulette\nland 17\nclose\nannounce 20 noir")
    state.feed_all(decode(line.raw) for line in lines)
    assert [finding.rule for finding in state.feed(decode(late.raw))] == ["announcement-mismatch"]
