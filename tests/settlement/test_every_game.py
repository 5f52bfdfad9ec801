"""The rules of every game, and that every rule there is has a tape. Tapes: see ``tests.settlement.tapes``."""

from __future__ import annotations

import msgspec
import pytest

from settlement import State, adjudicate, decode
from settlement.catalogue import RULES
from settlement.table import Table
from tests.settlement.fr import (
    test_art_54_roulette,
    test_art_55_7_dice,
    test_art_55_8_wagers,
    test_art_57_1_american_roulette,
)
from tests.settlement.qc import test_s_95_17_place_bets
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play, raised_by, read

TAPES = {
    "a wager's id is used once": """
        fr-craps
        place w1 field 1000
        place w1 seven 5000                   ! wager-id-reused:w1
        throw 1-2
        pay w1 1000+1000
    """,
    "stakes have limits, and play all the same": """
        fr-craps minimum=500 maximum=2000
        place w1 win 499                      ! stake-out-of-limits:w1
        place w2 win 2001                     ! stake-out-of-limits:w2
        place w3 win 500
        place w4 field 9000
        throw 3-4
        pay w1 499+499
        pay w2 2001+2001
        pay w3 500+500
    """,
    "stakes are chips or plaques": """
        fr-craps
        place w1 win 1000 medium=cash         ! non-chip-stake:w1
        place w2 win 1000 medium=verbal       ! non-chip-stake:w2
        place w3 win 1000 medium=credit       ! non-chip-stake:w3
        place w4 win 1000 medium=plaques
    """,
    "what is due is paid, to the cent, once, before the next result": """
        fr-craps
        place w1 field 1000
        place w2 over_7 1000
        place w3 eleven 1000
        place w4 any_craps 1000
        place w5 seven 1000
        throw 5-6
        pay w1 1001+1000                      ! payout-overpaid:w1
        pay w2 999+1000                       ! payout-underpaid:w2
        pay w3 15000+0                        ! stake-not-returned:w3
        pay w4 0+0                            ! losing-wager-paid:w4
        pay w4 0+0                            ! payout-duplicated:w4
        pay w1 1000+1000                      ! payout-duplicated:w1
        throw 1-1
    """,
    "a payout missing is told once, and may still come": """
        fr-craps
        place w1 field 1000
        throw 5-6
        throw 5-6                             ! payout-missing:w1
        throw 5-6
        pay w1 1000+1000
        pay w1 1000+1000                      ! payout-duplicated:w1
    """,
    "a payout for nothing decided": """
        fr-craps
        place w1 big_6 1000
        pay w1 1000+1000                      ! payout-without-result:w1
        pay ghost 1+1                         ! payout-without-result:ghost
        throw 1-1
        pay w1 1000+1000                      ! push-paid:w1
        throw 3-3
        pay w1 1000+1000
    """,
    "a void or withdrawn stake goes back, and wins nothing": """
        fr-craps
        place w1 tip 1000                     ! wager-not-permitted:w1
        take w1
        pay w1 1000+1000                      ! payout-overpaid:w1
        place w2 big_6 1000
        throw 1-1
        take w2
        take w2
        take ghost
        pay w2 500+0                          ! payout-overpaid:w2
        close
    """,
    "lost stakes are collected before the next result, others never": """
        fr-craps collections
        place w1 field 1000
        place w2 seven 1000
        place w3 eleven 1000
        throw 1-1
        sweep w2 w1 ghost                     ! winning-wager-collected:w1 winning-wager-collected:ghost
        pay w1 2000+1000
        throw 1-1                             ! losing-wager-not-collected:w3
        throw 1-1
    """,
    "without the family nobody saw the collection": """
        fr-craps
        place w1 field 1000
        place w2 seven 1000
        throw 1-1
        sweep w1
        pay w1 2000+1000
        throw 1-1
    """,
    "without calls, the call closes nothing": """
        fr-craps
        call
        place w1 field 1000
        take w1                               ! one-roll-wager-withdrawn:w1
        throw 1-1
    """,
    "55-7 al. 7: no stake and no withdrawal after the call; a voided throw opens the betting": """
        fr-craps calls
        place w1 big_6 1000
        call
        throw 1-1
        call
        place w2 field 1000                   ! wager-after-no-more-bets:w2
        take w1                               ! withdrawal-after-no-more-bets:w1
        void slid
        place w3 field 1000
        take w1
        call
        throw 1-1
        pay w3 2000+1000
        pay w2 0+1000
    """,
    "a decided wager is not taken back": """
        fr-craps
        place w1 field 1000
        throw 1-1
        take w1                               ! withdrawal-of-decided-wager:w1
        pay w1 2000+1000
    """,
    "a part taken back leaves the rest standing": """
        fr-craps
        place w1 big_6 1000
        throw 1-1
        take w1 300
        take w1 0
        throw 3-3
        pay w1 1000+1000                      ! payout-overpaid:w1 stake-not-returned:w1
    """,
    "what is left up after a win is a new wager": """
        fr-craps
        place w1 big_6 1000
        throw 3-3
        pay w1 1000+1000
        place w2 big_6 1000 left_up_from=w1
        throw 3-3
        pay w2 1000+1000
    """,
    "reading payout_unit: what does not divide is floored, and reported": """
        fr-craps unit=100
        place w1 right_bet 1000 number=6
        throw 3-3                             ! indivisible-stake:w1
        pay w1 1100+1000
    """,
    "a stake left open at the close": """
        fr-craps
        place w1 win 1000
        close                                 ! wager-left-open:w1
        throw 3-4                             # and what comes after is adjudicated as usual
        pay w1 1000+1000
    """,
    "an instrument outside its days": """
        qc-craps day=2011-10-13               ! ruleset-not-in-force
        place w1 right_bet 600 number=6
    """,
    "the last day of an instrument is a day of it": """
        qc-craps day=2011-10-12
        place w1 right_bet 600 number=6
    """,
    "no such rules": """
        nevada-craps                          ! unknown-ruleset
        throw 9-9
        pay ghost 1+1
    """,
    "rules of another game": """
        fr-craps game=french_roulette         ! unknown-ruleset
        throw 9-9
    """,
    "numbers missing, each gap once": """
        fr-craps
        @4 throw 1-1                          ! sequence-gap
        @9 throw 1-1                          ! sequence-gap
    """,
    "a declared loss is no gap": """
        fr-craps
        lost 5                                ! events-lost
        throw 1-1
        @9 throw 1-1                          ! sequence-gap
    """,
    "a correction of nothing, or of another shape, changes nothing": """
        fr-craps
        place w1 field 1000
        correct 7 '{"faces":[1,1]}'           ! correction-without-effect
        correct 2 '{"faces":[1,1]}'           ! correction-without-effect
        correct 2 '{"wager":"w1","bet":"field","stake":2000}'
        throw 1-2
        pay w1 2000+2000
    """,
    "the last correction counts": """
        fr-craps
        place w1 field 1000
        correct 2 '{"wager":"w1","bet":"field","stake":2000}'
        correct 2 '{"wager":"w1","bet":"seven","stake":500}'
        throw 3-4
        pay w1 2000+500
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


def test_a_clock_may_step_back_two_seconds_and_no_more() -> None:
    def at(*moments: str) -> list[str]:
        stream = [opener("s", "fr-craps")] + [
            event("s", seq, "no_more_bets", at=f"2010-11-19T{moment}") for seq, moment in enumerate(moments, start=2)
        ]
        return [f"{found.rule} {found.seq}" for found in adjudicate(stream).findings]

    assert at("20:00:10+01:00", "20:00:08+01:00") == []
    assert at("20:00:10+01:00", "20:00:07.999+01:00") == ["clock-went-back 3"]
    assert at("20:00:10+01:00", "19:00:11Z", "21:00:12+02:00") == []
    assert at("20:00:10+01:00", "19:00:05Z", "20:00:04+01:00") == ["clock-went-back 3"], "each beside the one before"


def test_a_second_opener_is_ignored() -> None:
    stream = [opener("s", "fr-craps"), opener("s", "qc-craps").replace(b'"seq": 1', b'"seq": 2')]
    answer = adjudicate([*stream, event("s", 3, "wager.placed", wager="w", bet="win", stake=1)])
    assert answer.ruleset == "fr-craps"
    assert answer.findings == []


def test_a_stream_that_does_not_begin_with_its_opener_is_not_adjudicated() -> None:
    answer = adjudicate([event("s", 1, "dice.thrown", faces=[9, 9]), event("s", 2, "dice.thrown", faces=[9, 9])])
    assert [(found.rule, found.seq) for found in answer.findings] == [("unknown-ruleset", 1)]


def test_a_count_room_is_no_unknown_game() -> None:
    count = event("s", 1, "count.opened", casino="demo", gaming_day="2010-11-19", currency="EUR")
    answer = adjudicate([count, event("s", 2, "count.closed")])
    assert answer.findings == []
    assert answer.ruleset is None


def test_of_two_contents_of_one_number_the_first_counts() -> None:
    first = event("s", 2, "wager.placed", wager="w", bet="field", stake=100)
    second = event("s", 2, "wager.placed", wager="w", bet="field", stake=900)
    answer = adjudicate([opener("s", "fr-craps"), first, second, first])
    assert answer.wagers["w"].stake == 100
    assert [(found.rule, found.seq) for found in answer.findings] == [("sequence-conflict", 2)]


def test_after_a_loss_later_findings_say_so_and_earlier_ones_do_not() -> None:
    stream = [line.raw for line in read("fr-craps\nthrow 9-9  ! x\nlost 5  ! x\nthrow 9-9  ! x")]
    flags = [(found.rule, found.after_loss) for found in adjudicate(stream).findings]
    assert flags == [("invalid-dice-values", False), ("events-lost", False), ("invalid-dice-values", True)]


def test_the_regret_of_a_contract_at_once_is_minor() -> None:
    tape = "fr-craps calls\nplace w1 win 100\ntake w1  ! contract-wager-withdrawn\n"
    (found,) = play(tape)
    assert found.severity == "minor"
    later = play(tape + "call\ntake w1  ! contract-wager-withdrawn withdrawal-after-no-more-bets")
    assert [each.severity for each in later if each.rule == "contract-wager-withdrawn"] == ["minor", "critical"]


def test_corrections_are_listed_with_who_approved_them() -> None:
    tape = """
        fr-craps
        place w1 field 1000
        correct 2 '{"wager":"w1","bet":"field","stake":2000}'
    """
    answer = adjudicate(line.raw for line in read(tape))
    assert answer.corrections == [{"seq": 3, "corrects": 2, "reason": "slip", "approved_by": "chef-1"}]


def test_a_correction_may_itself_be_corrected() -> None:
    wrong = '{"wager":"w1","bet":"field","stake":3000}'
    right = '{"wager":"w1","bet":"field","stake":2000}'
    inner = f'{{"corrects":2,"data":{right},"reason":"slip","approved_by":"chef-1"}}'
    tape = f"fr-craps\nplace w1 field 1000\ncorrect 2 '{wrong}'\ncorrect 3 '{inner}'"
    answer = adjudicate(line.raw for line in read(tape))
    assert answer.wagers["w1"].stake == 2000
    assert answer.findings == []


def test_an_engine_fault_would_unbalance_the_ledger() -> None:
    # Only a fault can raise this rule, so one is put into a saved state: a centime that came from nowhere.
    state = State()
    for line in read("fr-craps\nplace w1 field 1000\nthrow 1-1\npay w1 2000+1000"):
        state.feed(decode(line.raw))
    table = msgspec.msgpack.decode(state.to_bytes(), type=Table)
    table.ledger.returned += 1
    faulty = State.from_bytes(msgspec.msgpack.encode(table))
    found = faulty.feed(decode(event("s", 5, "session.closed", float=0)))
    assert [(each.rule, each.recorded) for each in found] == [("ledger-imbalance", -1)]
    assert [each.rule for each in state.feed(decode(event("s", 5, "session.closed", float=0)))] == []


EVERY_TAPE = [
    tape
    for module in (
        test_art_54_roulette,
        test_art_55_7_dice,
        test_art_55_8_wagers,
        test_art_57_1_american_roulette,
        test_s_95_17_place_bets,
    )
    for tape in module.TAPES.values()
] + list(TAPES.values())


def test_every_rule_of_the_engine_has_a_tape_that_raises_it() -> None:
    raised = set().union(*(raised_by(tape) for tape in EVERY_TAPE))
    of_the_engine = {name for name, rule in RULES.items() if rule.raised_by == "engine"}
    # These two have tests of their own above: one needs instants, the other a fault.
    assert of_the_engine - raised == {"clock-went-back", "ledger-imbalance"}
    assert raised <= set(RULES)
