"""The money of a coup, judged net when the coup ends. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import pytest

from settlement import State, adjudicate, decode
from settlement.finding import Finding, latest
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play, read

TAPES = {
    "right by one payout: nothing; by several: put right; winnings and stake apart are one payment": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        place w3 field 1000
        place w4 field 1000
        throw 5-6
        pay w1 1000+1000                      ? payout-put-right
        pay w2 900+1000                       ? payout-underpaid
        pay w2 100+0                          ! payout-put-right:w2
        pay w3 1000+0                         ? stake-not-returned
        pay w3 0+1000                         ? payout-put-right
        pay w4 0+1000
        pay w4 600+0
        pay w4 400+0                          ! payout-put-right:w4
        throw 5-6
    """,
    "too much is put right by taking it back": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        throw 5-6
        pay w1 1500+1000
        recover w1 500+0                      ! payout-put-right:w1 ? payout-overpaid
        pay w2 1500+1000
        recover w2 300+0                      ! payout-overpaid:w2 ? payout-put-right
        throw 5-6
    """,
    "each part of a wrong net has its finding": """
        fr-craps
        place w1 field 1000
        throw 5-6
        pay w1 900+900
        pay w1 50+0                           ! payout-underpaid:w1 stake-not-returned:w1
        throw 5-6
    """,
    "paid twice, each time all that was due: that alone, whatever came back": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        place w3 field 1000
        throw 5-6
        pay w1 1000+1000
        pay w1 1000+1000
        recover w1 1000+0                     ! payout-duplicated:w1 ? payout-overpaid stake-not-returned
        pay w2 1000+1000
        pay w2 1000+1000
        recover w2 1000+1000                  ! payout-put-right:w2 ? payout-duplicated
        pay w3 1000+1000
        pay w3 1000+0                         ! payout-overpaid:w3 ? payout-duplicated
        throw 5-6
    """,
    "a net below zero is underpaid": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        throw 5-2                             => w1:lost
        recover w1 100+0                      ! payout-underpaid:w1 ? losing-wager-paid
        throw 5-2
    """,
    "more than the half taken at a zero, and the half said": """
        fr-roulette
        place w1 rouge 300
        place w2 rouge 300
        land 0
        take w1                               ! imprisoned-stake-withdrawn:w1
        zero w1 half
        take w2 150                           ? imprisoned-stake-withdrawn
        land 0
    """,
    "a contract taken up and laid back before the throw is put right": """
        fr-craps
        place w1 win 1000
        take w1
        recover w1 0+1000                     ! act-put-right:w1 ? contract-wager-withdrawn
        throw 5-1
    """,
    "of what he took and gave back in part, the claim stands where he took it: nobody paid": """
        fr-roulette calls collections
        place w1 noir 1000
        call
        +9s take w1                           ! withdrawal-after-no-more-bets:w1
        recover w1 0+500                      ? payout-without-result
        land 1
        take w1 300                           ? withdrawal-of-decided-wager
        take w1 200                           ! withdrawal-of-decided-wager:w1
        recover w1 0+400                      ! act-put-right:w1 ? losing-wager-paid
        call
        land 1
    """,
    "what he took and laid back lies there, and is taken again": """
        fr-roulette calls collections
        place w1 noir 1000
        call
        +9s take w1
        recover w1 0+1000                     ! act-put-right:w1
        land 1
        take w1                               ! withdrawal-of-decided-wager:w1
        call
        land 1                                ? losing-wager-not-collected
    """,
    "nobody takes what lies in the bank": """
        fr-roulette collections
        place w1 noir 1000
        land 1
        sweep w1
        take w1                               ? withdrawal-of-decided-wager act-put-right
        place w2 rouge 1000
        land 0
        sweep w2
        take w2 500                           => w2:awaiting_decision ? imprisoned-stake-withdrawn
        pay w2 0+500                          => w2:refunded_half
        land 1
    """,
    "a settlement of all that is due is right, and tells no winnings from a stake": """
        fr-roulette
        place w1 plein 1000 numbers=3
        place w2 plein 1000 numbers=3
        land 3
        dispute w1
        settle 5 36000 approved_by=chef       ? payout-parts-mixed
        pay w2 30000+1000
        dispute w2
        settle 8 5000 approved_by=chef        ! payout-put-right:w2
        land 3
    """,
    "what was handed back whole leaves an empty spot, which is not swept": """
        fr-roulette collections
        place w1 rouge 1000
        pay w1 0+1000                         ! payout-without-result:w1
        sweep w1                              ? winning-wager-collected
        land 2
    """,
    "swept, handed back, swept again, handed back again: it lies where it lay": """
        fr-craps collections
        place w1 big_6 600
        sweep w1
        pay w1 0+600                          ? payout-without-result
        sweep w1
        pay w1 0+600                          ! act-put-right:w1 ? payout-without-result payout-put-right
        throw 1-1
    """,
    "an undecided wager that was paid: by the net, when the coup ends": """
        fr-craps
        place w1 big_6 1000
        place w2 big_6 1000
        place w3 big_6 1000
        pay w3 1000+1000
        recover w3 1000+1000                  ! payout-put-right:w3 ? payout-without-result
        throw 1-1
        pay w1 1000+1000
        recover w1 1000+0                     ! push-paid:w1
        pay w2 1000+1000
        recover w2 1000+1000                  ! payout-put-right:w2 ? push-paid
        throw 1-1
        pay w3 0+0                            ? push-paid payout-without-result
    """,
    "barred, off or on a voided throw: by the net, but a sweep stands": """
        fr-craps
        place w1 dont_win 1000
        place w2 dont_win 1000
        throw 6-6
        pay w1 1000+1000
        recover w1 1000+1000                  ? barred-number-settled
        pay w2 1000+1000                      ! barred-number-settled:w2
        sweep w1                              ! barred-number-settled:w1
        void slid
        pay w1 1000+1000
        recover w1 1000+1000                  ! payout-put-right:w1 ? void-throw-settled
        throw 1-1
        pay w1 1000+1000
        pay w2 1000+1000
        close
    """,
    "invalid throws and pockets, voided throws: the coup goes on": """
        fr-roulette
        place w1 rouge 1000
        land 3
        pay w1 900+1000
        land 37                               ! invalid-pocket
        pay w1 100+0                          ! payout-put-right:w1 ? payout-underpaid
        close
    """,
    "an invalid throw ends no coup": """
        fr-craps
        place w1 field 1000
        throw 1-1
        throw 7-2                             ! invalid-dice-values ? payout-missing
        void slid
        pay w1 2000+1000
        close                                 ? payout-missing
    """,
    "before the first result there is a coup too, and after the close": """
        fr-craps
        place w1 big_6 1000
        pay w1 1000+1000                      ! payout-without-result:w1
        throw 3-3
        close                                 ? payout-missing
        pay w1 1000+500                       ! payout-overpaid:w1 stake-not-returned:w1
    """,
    "a part taken back is due at once, apart from what plays on": """
        fr-craps
        place w1 big_6 1000
        place w2 big_6 1000
        place w3 big_6 1000
        throw 1-1
        take w1 300
        pay w1 0+300                          ? push-paid payout-without-result stake-not-returned
        take w2 300
        pay w2 0+400                          ! stake-not-returned:w2
        take w3 300                           ? payout-missing
        throw 3-3                             => w1:won
        pay w1 700+700                        ? stake-not-returned
        pay w2 700+700
        pay w3 700+700                        ? stake-not-returned
        close
    """,
    "paid too early, taken back, and withdrawn in the coup in which it was taken back": """
        fr-craps
        place w0 win 100
        throw 2-2
        place w1 right_bet 1000 number=6
        pay w1 0+1000                         ! payout-without-result
        throw 1-1
        recover w1 0+1000
        take w1                               => w1:withdrawn
        throw 1-1
    """,
    "paid too early, taken back in part only, and withdrawn": """
        fr-craps
        place w0 win 100
        throw 2-2
        place w1 right_bet 1000 number=6
        pay w1 0+1000                         ! payout-without-result
        throw 1-1
        recover w1 0+900                      ? stake-not-returned
        take w1                               => w1:withdrawn
        throw 1-1
    """,
    "handed back before the withdrawal is recorded: in one coup the order changes nothing": """
        fr-craps
        place w1 big_6 1000
        place w2 big_6 1000
        place w3 big_6 1000
        throw 1-1
        pay w1 0+1000                         ? push-paid payout-without-result stake-not-returned
        take w1
        pay w2 0+900                          ? stake-not-returned
        take w2
        pay w3 0+1000                         ! push-paid:w3
        throw 1-1
        take w3                               ? stake-not-returned
        close
    """,
    "void and withdrawn: handed back, lifted, kept": """
        fr-craps collections
        place w1 tip 1000                     ! wager-not-permitted:w1
        place w2 tip 1000                     ! wager-not-permitted:w2
        place w3 tip 1000                     ! wager-not-permitted:w3
        place w4 big_6 1000
        throw 1-1
        take w4
        pay w4 0+1100                         ! stake-not-returned:w4
        sweep w1 w2                           ! void-stake-kept:w2 ? winning-wager-collected
        pay w1 0+1000                         ? stake-not-returned
        throw 1-1
        pay w2 0+1000                         ? payout-put-right stake-not-returned
        close
    """,
    "a winner that was swept and paid in full": """
        fr-craps collections
        place w1 field 1000
        place w2 field 1000
        place w3 field 1000
        throw 1-1
        sweep w1 w2 w3                        ! winning-wager-collected:w2
        pay w1 2000+1000
        pay w2 2000+0                         ! stake-not-returned:w2
        pay w3 1000+1000                      ! payout-underpaid:w3 ? winning-wager-collected
        throw 3-4
    """,
    "less than one unit above the exact amount is rounding": """
        fr-craps unit=100
        place w1 right_bet 1000 number=6      # 1166 2/3
        place w2 right_bet 1000 number=6
        place w3 right_bet 1000 number=6
        place w4 right_bet 600 number=6       # 700
        place w5 right_bet 960 number=6       # 1120
        throw 3-3  ! indivisible-stake:w1 indivisible-stake:w2 indivisible-stake:w3 indivisible-stake:w5
        pay w1 1200+1000                      ! rounded-in-players-favour:w1
        pay w2 1266+1000                      ! rounded-in-players-favour:w2
        pay w3 1267+1000                      ! payout-overpaid:w3 ? rounded-in-players-favour
        pay w4 701+600                        ! payout-overpaid:w4 ? rounded-in-players-favour
        pay w5 1200+960                       ! rounded-in-players-favour:w5
        throw 1-1
    """,
    "horn by the net": """
        fr-craps
        place w1 horn 400
        place w2 horn 400
        throw 1-1
        pay w1 2700+400
        recover w1 1100+0                     ! payout-put-right:w1 ? horn-paid-split
        pay w2 2600+400
        pay w2 100+0                          ! horn-paid-split:w2
        throw 3-4
    """,
    "continues_as opens a wager of the same bet and numbers; nothing needs to describe it": """
        fr-craps
        place w1 right_bet 600 number=6 player=Anna
        throw 3-3
        pay w1 700+0 continues_as=w2          => w2:open ? stake-not-returned
        throw 3-3                             => w2:won
        pay w2 700+200 continues_as=w3        => w3:open ? stake-not-returned
        place w3 right_bet 400 number=6       ? wager-id-reused left-up-stake-mismatch
        place w3 right_bet 400 number=6       ! wager-id-reused:w3
        throw 3-4                             => w3:lost
        pay w3 0+0 continues_as=w4            => w4:open ! left-up-stake-mismatch:w4
    """,
    "a lost stake plays on as nothing; what is taken back for it is taken from the player": """
        fr-craps
        place w1 big_6 600
        place w3 big_6 600
        throw 3-4                             => w1:lost w3:lost
        pay w1 0+0 continues_as=w2            => w2:open ! left-up-stake-mismatch:w2
        pay w3 0+0 continues_as=w4            ! left-up-stake-mismatch:w4
        recover w3 0+600                      ! payout-underpaid:w3
        throw 3-3                             => w2:won w4:won
        pay w2 600+600
        pay w4 600+600
        throw 1-1
    """,
    "what continues and is described otherwise is another wager under its id": """
        fr-craps
        place w1 right_bet 600 number=6
        place w9 field 100
        throw 3-3                             => w9:lost
        pay w1 700+0 continues_as=w2
        place w2 right_bet 600 number=8       ! wager-id-reused:w2
        throw 3-3                             => w2:won
        pay w2 700+0 continues_as=w9          ! wager-id-reused:w9 stake-not-returned:w2
        throw 1-1
    """,
    "55-8 D 2°: a wrong bet that continues keeps its marker": """
        fr-craps
        place w1 wrong_bet 1100 number=4 marker=wrong_bet
        throw 3-4                             => w1:won
        pay w1 500+0 continues_as=w2          => w2:open ? wrong-bet-not-marked
        throw 1-2
    """,
    "a line bet that continues starts anew": """
        fr-craps
        place w1 win 1000
        throw 3-4
        pay w1 1000+0 continues_as=w2         => w2:open
        throw 2-2                             => w2:open
        throw 2-2                             => w2:won
        pay w2 1000+1000
        place w3 come 100                     ! come-wager-on-come-out
        close
    """,
    "at roulette it keeps its numbers": """
        fr-roulette
        place w1 cheval 100 numbers=17,20
        place w2 colonne 100 which=1
        land 17
        pay w1 1700+0 continues_as=w3
        land 20                               => w3:won
        pay w3 1700+100
        close
    """,
    "a stake handed back may be staked again; more may not come from nowhere": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        throw 5-6
        pay w1 1000+1000
        place w3 field 1000 left_up_from=w1   ? left-up-stake-mismatch
        pay w2 1000+1000
        place w4 field 1001 left_up_from=w2   ! left-up-stake-mismatch:w4
        throw 3-4
    """,
    "a press is paid out of winnings that were not handed over": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        place w3 field 1000
        place w4 field 1000
        throw 5-6
        pay w1 600+0
        place w5 field 1400 left_up_from=w1   ? payout-underpaid left-up-stake-mismatch
        pay w2 600+0                          ! payout-underpaid:w2
        place w6 field 1300 left_up_from=w2   ? left-up-stake-mismatch
        pay w3 600+0
        place w7 field 1500 left_up_from=w3   ! left-up-stake-mismatch:w7 ? payout-underpaid
        place w8 field 2000 left_up_from=w4   ? payout-missing left-up-stake-mismatch
        throw 5-2                             ? payout-missing
    """,
    "the winnings are missing where only the stake was left up": """
        fr-craps
        place w1 field 1000
        throw 5-6
        place w2 field 1000 left_up_from=w1
        throw 5-2                             ! payout-missing:w1
    """,
    "left up from what was not decided, or was due back, is silent": """
        fr-craps
        place w1 big_6 1000
        place w2 tip 1000                     ! wager-not-permitted:w2
        place w3 big_6 1000
        throw 1-1
        take w3
        place w4 field 9000 left_up_from=w1   ? left-up-stake-mismatch
        place w5 field 9000 left_up_from=w2   ? left-up-stake-mismatch
        place w6 field 9000 left_up_from=w3   ? left-up-stake-mismatch
        place w7 field 1000 left_up_from=w7   ! left-up-stake-mismatch:w7
        throw 3-4                             => w4:lost
    """,
    "a later payment raises nothing of its own, unless it is a new wrong": """
        fr-craps
        place w1 field 1000
        place w2 field 1000
        place w3 field 1000
        place w4 field 1000
        throw 5-6
        pay w1 500+1000                       ! payout-underpaid:w1
        pay w3 1000+1000
        throw 5-2                             ! payout-missing:w2 payout-missing:w4
        pay w1 400+0                          ? payout-underpaid
        pay w2 1000+1000                      ? payout-put-right
        pay w3 1000+1000                      ! payout-duplicated:w3
        pay w4 2000+1000                      ! payout-overpaid:w4
        throw 5-2
        pay w1 100+0
        recover w3 1000+1000                  ? payout-put-right
        close
    """,
    "a lost wager paid a coup later is paid in error": """
        fr-craps
        place w1 field 1000
        throw 5-2                             => w1:lost
        throw 5-2
        pay w1 1000+1000                      ! losing-wager-paid:w1
        throw 5-2
        recover w1 1000+1000                  ? payout-underpaid
        throw 5-2
        recover w1 1000+1000                  ! payout-underpaid:w1
    """,
    "what was paid too early and is taken back when it is due": """
        fr-craps
        place w1 big_6 1000
        throw 1-1
        pay w1 1000+1000                      ! push-paid:w1
        throw 3-3                             => w1:won
        recover w1 1000+1000
        pay w1 1000+1000                      ? payout-underpaid stake-not-returned payout-duplicated
        close                                 ? payout-missing
    """,
    "what was paid too early stays wrong, though what is due is paid, too": """
        fr-craps
        place w1 big_6 1000
        place w2 big_6 1000
        throw 1-1
        pay w1 1000+0                         ! push-paid:w1
        pay w2 1000+1000                      ! push-paid:w2
        take w2                               => w2:withdrawn ? payout-overpaid
        throw 3-3                             => w1:won
        pay w1 900+1000                       ? payout-underpaid
        close
    """,
    "money for a wager that was never placed": """
        fr-craps
        pay ghost 100+100
        recover ghost 100+100                 ! payout-put-right:ghost ? payout-without-result
        pay other 100+0
        pay other 50+0                        ! payout-without-result:other
        recover nobody 10+0                   ! payout-underpaid:nobody
        throw 1-1
        recover other 150+0                   ? payout-underpaid
        throw 1-1
    """,
    "goodwill, tips, disputes": """
        fr-craps
        tip 100 player=Anna
        goodwill 500 player=Anna approved_by=chef    ! goodwill-paid:-
        goodwill 500                                 ! goodwill-paid:-
        dispute player=Anna
        settle 5 100 approved_by=chef                ! goodwill-paid:-
        settle 99 100 approved_by=chef               ! goodwill-paid:-
        dispute ghost
        settle 8 100 approved_by=chef                ! payout-without-result:ghost
        settle 8 0 approved_by=chef                  ! dispute-settled-twice:-
        dispute player=Anna
        settle 11 100 approved_by=Anna               ! goodwill-paid:- approved-by-a-party:-
        goodwill 500 player=Anna approved_by=Anna    ! goodwill-paid:- approved-by-a-party:-
    """,
    "95.17 (2): a buy bet that continues needs its commission, by the placement that describes it": """
        qc-craps
        throw 3-3
        place w1 buy_bet 1000 number=4 marker=buy commission=50
        place w2 buy_bet 1000 number=4 marker=buy commission=50
        throw 2-2
        pay w1 2000+0 continues_as=w3          ! commission-not-renewed:w3
        pay w2 2000+0 continues_as=w4
        place w4 buy_bet 1000 number=4 marker=buy commission=50 => w4:open ? wager-id-reused commission-not-paid
        throw 2-2                              => w3:void w4:won
        pay w4 2000+1000
        close
    """,
    "57-1 al. 8: a payment completed is one payment, and what was announced is its sum": """
        fr-american-roulette announcements
        place w1 plein 100 numbers=17 player=Anna
        place w2 rouge 100 player=Bruno
        place w3 noir 100 player=Anna
        land 17
        announce 17 impair manque noir
        say w1 3500
        pay w1 3000+0
        say w3 100
        pay w3 100+100                        ! payment-order-violated
        pay w1 500+100  ! payout-put-right:w1 ? payment-not-as-announced payment-not-announced payment-order-violated
        land 17
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


def given(tape: str) -> list[list[Finding]]:
    """Return what is given at each line of a tape, as a record takes it: whatever was given before is forgotten."""
    state = State()
    each_line = []
    for line in read(tape):
        each_line.append(state.feed(decode(line.raw)))
        state = State.from_bytes(state.to_bytes())
        state.forget_findings()
    return each_line


def test_a_finding_is_given_when_the_coup_ends_and_again_when_it_is_put_right() -> None:
    *_before, midst, result, late, last = given("""
        fr-craps
        place w1 field 1000
        throw 5-6
        pay w1 900+1000
        throw 5-2
        pay w1 100+0
        throw 5-2
    """)
    assert midst == late == []
    (first,), (second,) = result, last
    assert (first.rule, first.seq, first.put_right_by) == ("payout-underpaid", 4, None)
    assert second.order == first.order
    assert (second.put_right_by, second.difference, second.owed) == (6, 0, None)
    assert latest([first, second]) == [second]
    assert "6" in second.message("en")


def test_each_part_that_a_later_payment_completes_is_put_right() -> None:
    findings = play("""
        fr-craps
        place w1 field 1000
        place w2 field 1000
        throw 5-6
        pay w1 900+900                        ! payout-underpaid:w1 stake-not-returned:w1
        throw 5-2                             ! payout-missing:w2
        pay w1 0+100
        pay w2 1000+0
        throw 5-2
        pay w2 0+1000
        close
    """)
    assert {(each.rule, each.put_right_by) for each in findings} == {
        ("payout-underpaid", None),
        ("stake-not-returned", 7),
        ("payout-missing", 10),
    }


def test_winnings_paid_split_are_put_right_apart_from_the_stake() -> None:
    findings = play("""
        fr-craps
        place w1 horn 400
        throw 1-1
        pay w1 2700+300                       ! horn-paid-split:w1 ? stake-not-returned
        throw 3-4
        recover w1 1100+0                     ! stake-not-returned:w1
        throw 3-4
    """)
    assert {(each.rule, each.put_right_by) for each in findings} == {
        ("horn-paid-split", 6),
        ("stake-not-returned", None),
    }


def test_what_was_paid_too_early_is_put_right_only_by_taking_it_back() -> None:
    tape = """
        fr-craps
        place w1 big_6 1000
        throw 1-1
        pay w1 1000+1000                      ! push-paid:w1
        throw 3-3
        {}pay w1 1000+1000
        close
    """
    assert [each.put_right_by for each in play(tape.format(""))] == [None]
    assert [each.put_right_by for each in play(tape.format("recover w1 1000+1000\n        "))] == [7]


@pytest.mark.parametrize(
    ("settlements", "found"),
    [
        ("settle 6 100 approved_by=chef", {"payout-underpaid": ("info", None)}),
        ("settle 6 99 approved_by=chef", {"payout-underpaid": ("critical", -1)}),
        ("settle 6 100", {"payout-underpaid": ("critical", -100)}),
        (
            "settle 6 100 approved_by=Anna",
            {"payout-underpaid": ("critical", None), "approved-by-a-party": ("major", None)},
        ),
        (
            "settle 6 60 approved_by=chef\nsettle 6 40 approved_by=chef",
            {"payout-underpaid": ("info", None), "dispute-settled-twice": ("major", None)},
        ),
        (
            "settle 6 101 approved_by=chef",
            {"payout-underpaid": ("critical", None), "payout-overpaid": ("critical", 1)},
        ),
        (
            "settle 6 100 approved_by=chef\npay w1 100+0",
            {"payout-underpaid": ("critical", None), "payout-overpaid": ("critical", 100)},
        ),
    ],
)
def test_a_dispute_settled_for_what_the_rules_give_leaves_only_information(
    settlements: str, found: dict[str, tuple[str, int | None]]
) -> None:
    """Severity, and what is owed now: above zero by the player."""
    marks = " ".join(
        f"{rule}:{'w1' if rule.startswith('payout') else '-'}" for rule in found if rule != "payout-underpaid"
    )
    tape = f"""
        fr-craps
        place w1 field 1000 player=Anna
        throw 5-6
        pay w1 900+1000                       ! payout-underpaid:w1
        throw 5-2
        dispute w1 player=Anna
        {settlements}{f" ! {marks}" if marks else ""}
        close
    """
    assert {each.rule: (each.severity, owed(each)) for each in play(tape)} == found
    state: list[Finding] = []
    for findings in given(tape):
        state += findings
    assert {each.rule: (each.severity, owed(each)) for each in latest(state)} == found, "a record knows it, too"


def test_money_given_back_by_the_player_who_is_short_is_one_more_finding() -> None:
    first, second = play("""
        fr-craps
        place w1 field 1000
        throw 5-6
        pay w1 900+1000                       ! payout-underpaid:w1
        throw 5-2
        dispute w1
        settle 6 100 approved_by=chef by=player  ! payout-underpaid:w1
        close
    """)
    assert (owed(first), owed(second), second.caused_by) == (-100, -100, first.ref)


def owed(found: Finding) -> int | None:
    """Return what is owed, in minor units: above zero by the player, below by the bank."""
    if found.owed is None:
        return None
    return found.owed.amount if found.owed.by == "player" else -found.owed.amount


def test_a_claim_that_comes_to_stand_at_a_sweep_has_a_difference() -> None:
    tape = """
        fr-roulette collections
        place w1 noir 1000
        land 0
        sweep w1                              ! winning-wager-collected:w1
        land 2                                ! zero-decision-missing:w1
        land 2
    """
    (sweep,) = [each for each in play(tape) if each.rule == "winning-wager-collected"]
    assert (sweep.difference, owed(sweep)) == (-1000, -1000)  # what the record adds up has a difference


def test_goodwill_that_nobody_approved_is_major() -> None:
    findings = play("""
        fr-craps
        goodwill 500 approved_by=chef         ! goodwill-paid:-
        goodwill 500                          ! goodwill-paid:-
    """)
    assert [each.severity for each in findings] == ["info", "major"]


def test_a_part_handed_back_and_the_rest_lifted_in_one_coup_is_all_that_is_due() -> None:
    events = [
        opener("s", "qc-craps"),
        event("s", 2, "wager.placed", wager="w1", bet="right_bet", number=9, stake=5000),
        event("s", 3, "dice.thrown", faces=[2, 3]),
        event("s", 4, "wager.withdrawn", wager="w1", amount=4500),
        event("s", 5, "payout.made", wager="w1", winnings=0, stake_returned=4500),
        event("s", 6, "wager.withdrawn", wager="w1"),
        event("s", 7, "dice.thrown", faces=[2, 3]),
    ]
    assert adjudicate(events).findings == []
