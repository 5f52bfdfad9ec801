"""Incidents: which finding names another as its cause, and which does not."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from settlement import Finding, State, adjudicate, decode
from settlement.finding import Fact, FindingRef
from settlement.incidents import causes_of as causes_in
from settlement.incidents import remember
from settlement.state import Table
from tests.settlement.streams import event, opener
from tests.settlement.tapes import read


def findings_of(tape: str) -> list[Finding]:
    return adjudicate(line.raw for line in read(tape)).findings


def incidents(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return ``findings`` by incident, in order: each is a finding that holds by itself and its consequences.

    A consequence whose cause is not among ``findings`` heads an incident of its own.
    """
    heads: dict[FindingRef, list[Finding]] = {}
    head_of: dict[FindingRef, FindingRef] = {}
    for finding in sorted(findings, key=lambda each: (bool(each.causes), each.order)):
        cause = finding.caused_by
        head = head_of.get(cause, finding.ref) if cause is not None else finding.ref
        head_of.setdefault(finding.ref, head)
        heads.setdefault(head, []).append(finding)
    return sorted(heads.values(), key=lambda incident: incident[0].order)


def causes_of(tape: str) -> dict[tuple[str, int], tuple[str, int] | None]:
    """Return the cause of each finding of ``tape``, both as rule and seq."""
    causes = {(each.rule, each.seq): each.caused_by for each in findings_of(tape)}
    return {finding: (cause.rule, cause.seq) if cause else None for finding, cause in causes.items()}


VOID = {
    "late": ("fr-roulette calls", ["call", "place w1 rouge 100"], "wager-after-no-more-bets"),
    "not permitted": ("fr-roulette", ["place w1 win 100"], "wager-not-permitted"),
    "no combination": ("fr-roulette", ["place w1 cheval 100 numbers=1,9"], "combination-not-permitted"),
}


@pytest.mark.parametrize("opening, placing, cause", VOID.values(), ids=VOID)
def test_money_of_a_void_wager_is_a_consequence_of_what_made_it_void(
    opening: str, placing: list[str], cause: str
) -> None:
    causes = causes_of("\n".join([opening, *placing, "land 1", "pay w1 100+100", "call", "land 4"]))
    seq = 1 + len(placing)
    assert causes[(cause, seq)] is None
    assert causes[("payout-overpaid", seq + 2)] == (cause, seq)


def test_a_commission_that_was_not_paid_is_the_cause_of_what_was_paid() -> None:
    causes = causes_of("""
        qc-craps day=2005-01-01
        place w1 lay_bet 1000 number=4 marker=lay
        throw 3-4
        pay w1 500+1000
        throw 1-1
    """)
    assert causes[("payout-overpaid", 4)] == ("commission-not-paid", 2)


def test_odds_without_a_base_are_the_cause_of_what_was_paid() -> None:
    causes = causes_of("""
        fr-craps
        place w1 win_odds 1000 base=w0
        throw 3-4
        pay w1 500+1000
        throw 1-1
    """)
    assert causes[("payout-overpaid", 4)] == ("odds-without-base-wager", 2)


def test_a_void_wager_may_have_two_causes_and_the_earliest_is_named() -> None:
    late_and_illegal = """
        fr-roulette calls
        call
        place w1 cheval 100 numbers=1,9
        land 1
        pay w1 1700+100
        call
        land 4
    """
    paid = next(each for each in findings_of(late_and_illegal) if each.rule == "payout-overpaid")
    assert [cause.rule for cause in paid.causes] == ["combination-not-permitted", "wager-after-no-more-bets"]
    assert paid.caused_by == FindingRef("combination-not-permitted", 3, "w1")


def test_another_wager_and_a_fault_that_voids_nothing_are_no_cause() -> None:
    causes = causes_of("""
        fr-roulette minimum=500
        place w1 rouge 100
        place w2 win 100
        land 1
        pay w1 300+100
        land 4
    """)
    assert causes == {
        ("stake-out-of-limits", 2): None,
        ("wager-not-permitted", 3): None,
        ("stake-out-of-limits", 3): None,
        ("payout-overpaid", 5): None,
    }


def test_dice_kept_over_three_throws_are_one_incident_each_time() -> None:
    causes = causes_of("""
        fr-craps custody
        offer S1
        place w1 win 100 seat=S1
        throw 2-2 seat=S1
        throw 3-4 seat=S1
        place w2 win 100 seat=S1
        throw 2-2 seat=S1
        void short_of_far_end seat=S1
        throw 3-4 seat=S1
        place w3 win 100 seat=S1
        throw 2-2 seat=S1
    """)
    kept = "shooter-kept-dice-after-seven-out"
    # Event 9 is itself the second seven-out: what follows it is another irregularity.
    assert {seq: cause for (rule, seq), cause in causes.items() if rule == kept} == {
        7: None,
        8: (kept, 7),
        9: (kept, 7),
        11: None,
    }


def test_payments_before_collection_name_the_first_of_their_coup() -> None:
    causes = causes_of("""
        fr-american-roulette collections
        place w1 rouge 100
        place w2 noir 100
        place w3 impair 100
        land 1
        pay w1 100+100
        pay w3 100+100
        sweep w2
        place w4 rouge 100
        place w5 noir 100
        land 3
        pay w4 100+100
        sweep w5
        land 4
    """)
    early = "payment-before-collection"
    assert {seq: cause for (rule, seq), cause in causes.items() if rule == early} == {
        6: None,
        7: (early, 6),
        12: None,
    }


def test_an_order_violated_where_payments_were_mixed_is_a_consequence_of_that() -> None:
    causes = causes_of("""
        fr-american-roulette
        place w1 plein 100 numbers=1 player=a
        place w2 rouge 100 player=b
        place w3 rouge 100 player=a
        place w4 passe 100 player=b
        land 1
        pay w1 3500+100
        pay w2 100+100
        pay w3 100+100
        land 20
        pay w4 100+100
        land 3
    """)
    assert causes[("payments-interleaved", 9)] is None
    assert causes[("payment-order-violated", 9)] == ("payments-interleaved", 9)


def test_an_order_violated_alone_is_its_own_cause() -> None:
    causes = causes_of("""
        fr-american-roulette
        place w1 plein 100 numbers=1 player=a
        place w3 rouge 100 player=a
        land 1
        pay w1 3500+100
        pay w3 100+100
        land 3
    """)
    assert causes == {("payment-order-violated", 6): None}


def test_what_follows_a_lawful_void_throw_names_the_first_of_it() -> None:
    tape = """
        fr-craps collections
        place w1 field 100
        place w2 field 100
        void broken
        sweep w1
        sweep w2
    """
    assert causes_of(tape) == {
        ("void-throw-settled", 5): None,
        ("void-throw-settled", 6): ("void-throw-settled", 5),
    }
    first, second = findings_of(tape)
    assert second.caused_by == FindingRef("void-throw-settled", 5, "w1")
    assert first.consequences == (second.ref,)


PAID_AND_SWEPT = """
    fr-craps collections
    place w1 field 100
    place w2 field 100
    place w3 field 100
    void broken
    pay w1 100+100
    sweep w2
    mark 6
    pay w3 100+100
"""


@pytest.mark.parametrize("ending", ["", "throw 1-1", "close"])
def test_what_is_found_at_once_names_a_payout_before_it_that_is_judged_later(ending: str) -> None:
    voided = "void-throw-settled"
    causes = causes_of(PAID_AND_SWEPT + ending)
    assert {seq: cause for (rule, seq), cause in causes.items() if rule == voided} == {
        6: None,
        7: (voided, 6),
        8: (voided, 6),
        9: (voided, 6),
    }


def test_a_payout_that_was_taken_back_is_not_the_first_on_a_void_throw() -> None:
    voided = "void-throw-settled"
    causes = causes_of(PAID_AND_SWEPT + "recover w1 100+100\nthrow 1-1")
    assert {seq: cause for (rule, seq), cause in causes.items() if rule == voided} == {
        7: None,
        8: (voided, 7),
        9: (voided, 7),
    }


def test_the_cause_is_given_anew_when_the_coup_ends_even_of_what_was_stored() -> None:
    events = [decode(line.raw) for line in read(PAID_AND_SWEPT + "throw 1-1")]
    state = State()
    stored: dict[FindingRef, Finding] = {}
    for each in events:
        stored |= {finding.ref: finding for finding in state.feed(each)}
        state.forget_findings()
        state = State.from_bytes(state.to_bytes())
    whole = {
        each.ref: each.causes for each in adjudicate(line.raw for line in read(PAID_AND_SWEPT + "throw 1-1")).findings
    }
    assert {ref: finding.causes for ref, finding in stored.items()} == whole
    assert state.table.found_at_once == []


def test_of_two_payouts_the_first_by_its_last_movement_is_the_cause() -> None:
    voided = "void-throw-settled"
    causes = causes_of("""
        fr-craps
        place w1 field 100
        place w2 field 100
        void broken
        pay w1 100+100
        pay w2 100+100
        recover w1 50+0
        throw 1-1
    """)
    assert causes[(voided, 6)] is None
    assert causes[(voided, 7)] == (voided, 6)


def raised_by(tape: str) -> list[tuple[str | None, int]]:
    """Return the wager and the seq of each finding of ``tape`` in the order in which replay raises and numbers them."""
    state = State()
    state.feed_all([decode(line.raw) for line in read(tape)])
    return [(each.wager, each.seq) for each in state.new_findings]


def test_findings_of_one_coup_are_raised_in_the_order_of_the_first_thing_that_is_judged() -> None:
    """So their references follow the events: the last movement of money, or the sweep where that came before."""
    opening = "fr-craps collections\nplace w1 field 100\nplace w2 field 100\n"
    orders = {
        "void broken\npay w1 100+100\npay w2 100+100\nrecover w1 50+0\nthrow 1-1": [("w2", 6), ("w1", 7)],
        "throw 1-1\npay w2 100+100\nsweep w1\npay w2 50+0\nthrow 3-4": [("w1", 6), ("w1", 8), ("w2", 7)],
        "throw 1-1\nsweep w1\npay w2 150+100\npay w1 150+100\nthrow 3-4": [("w1", 7), ("w2", 6)],
        "throw 1-1\npay w1 150+100\npay w2 150+100\nsweep w1\nthrow 3-4": [("w1", 5), ("w2", 6)],
    }
    assert {coup: raised_by(opening + coup) for coup in orders} == orders


def test_each_void_throw_of_a_coup_has_its_own_first() -> None:
    voided = "void-throw-settled"
    causes = causes_of("""
        fr-craps collections
        place w1 field 100
        place w2 field 100
        void
        pay w1 100+100
        void broken
        sweep w2
        mark 6
        throw 1-1
    """)
    assert causes[(voided, 5)] == ("valid-throw-voided", 4)
    assert causes[(voided, 7)] is None
    assert causes[(voided, 8)] == (voided, 7)


def test_of_two_pockets_that_do_not_exist_the_one_before_the_payment_is_its_cause() -> None:
    causes = causes_of("""
        fr-roulette collections
        place w1 rouge 100
        place w2 rouge 100
        land 77
        pay w1 100+100
        land 78
        sweep w2
        land 3
    """)
    assert causes[("push-paid", 5)] == ("invalid-pocket", 4)
    assert causes[("winning-wager-collected", 7)] == ("invalid-pocket", 6)


def test_what_follows_a_throw_that_was_voided_wrongly_names_that() -> None:
    causes = causes_of("""
        fr-craps collections
        place w1 field 100
        place w2 field 100
        void
        sweep w1
        sweep w2
        void off_table
        sweep w1
    """)
    assert causes == {
        ("valid-throw-voided", 4): None,
        ("void-throw-settled", 5): ("valid-throw-voided", 4),
        ("void-throw-settled", 6): ("valid-throw-voided", 4),
        ("void-throw-settled", 8): ("void-throw-settled", 5),  # of the same wager
    }


def test_what_follows_a_sweep_on_a_void_throw_names_the_sweep() -> None:
    causes = causes_of("""
        fr-craps collections
        place w1 field 100
        place w2 field 100
        void slid
        pay w1 100+100
        sweep w2
        mark 6
        sweep w1
        throw 1-1
    """)
    assert causes[("void-throw-settled", 5)] is None
    assert {cause for (_rule, seq), cause in causes.items() if seq in (6, 7, 8)} == {("void-throw-settled", 5)}


def test_the_marker_on_a_void_throw_follows_the_sweep_before_it() -> None:
    causes = causes_of("""
        fr-craps collections
        place w1 field 100
        void slid
        sweep w1
        mark 6
        throw 1-1
    """)
    assert causes[("void-throw-settled", 5)] == ("void-throw-settled", 4)


def test_what_follows_a_pocket_that_does_not_exist_names_it() -> None:
    causes = causes_of("""
        fr-roulette collections
        place w1 rouge 100
        place w2 noir 100
        land 77
        sweep w2
        place w3 noir 100
        sweep w3
    """)
    assert causes[("winning-wager-collected", 5)] == ("invalid-pocket", 4)
    assert causes[("winning-wager-collected", 7)] is None  # placed after it


def test_a_good_result_ends_what_a_pocket_that_does_not_exist_explains() -> None:
    causes = causes_of("""
        fr-craps collections
        place w1 big_6 100
        throw 7-7
        throw 1-1
        sweep w1
    """)
    assert causes[("winning-wager-collected", 5)] is None


def test_everything_after_a_loss_names_the_loss() -> None:
    tape = """
        fr-roulette calls
        place w1 rouge 100
        lost 5
        call
        place w2 rouge 100
        land 1
        pay w2 100+100
        lost 12
        place w9 win 100
    """
    findings = findings_of(tape)
    assert {each.caused_by for each in findings if each.after_loss} == {FindingRef("events-lost", 3)}
    paid = next(each for each in findings if each.rule == "payout-overpaid")
    assert [cause.rule for cause in paid.causes] == ["events-lost", "wager-after-no-more-bets"]
    assert [incident[0].rule for incident in incidents(findings)] == ["events-lost"]


def test_what_comes_before_a_gap_has_no_cause_and_the_gap_is_one() -> None:
    causes = causes_of("""
        fr-roulette
        place w1 win 100
        @7 place w2 win 100
    """)
    assert causes == {
        ("wager-not-permitted", 2): None,
        ("sequence-gap", 7): None,
        ("wager-not-permitted", 7): ("sequence-gap", 7),
    }


def test_an_incident_is_a_cause_and_its_consequences() -> None:
    findings = findings_of("""
        fr-roulette collections
        place w1 rouge 100
        place w2 win 100
        place w3 cheval 100 numbers=1,9
        land 1
        pay w3 1700+100
        pay w1 300+100
        pay w2 100+100
        land 4
    """)
    given = [[(each.rule, each.wager) for each in incident] for incident in incidents(findings)]
    assert given == [
        [("wager-not-permitted", "w2"), ("payout-overpaid", "w2")],
        [("combination-not-permitted", "w3"), ("payout-overpaid", "w3")],
        [("payout-overpaid", "w1")],
    ]


def test_a_cause_is_never_later_than_its_consequence() -> None:
    table = Table()
    facts: dict[str, Fact] = {"voided_seq": 4}
    remember(table, FindingRef("void-throw-settled", 6, "w2"), None, facts)
    assert causes_now(table, 5, facts) == (), "a payout that is judged when the coup ends"
    remember(table, FindingRef("void-throw-settled", 5, "w1"), None, facts)
    assert causes_now(table, 7, facts) == (FindingRef("void-throw-settled", 5, "w1"),)
    assert causes_now(table, 7, {"voided_seq": 3}) == ()


def causes_now(table: Table, seq: int, facts: dict[str, Fact]) -> tuple[FindingRef, ...]:
    return causes_in(table, "void-throw-settled", seq, None, facts)


TAPE_CUT = """
    fr-craps custody collections
    offer S1
    place w1 win 100 seat=S1
    place w2 rouge 100
    throw 2-2 seat=S1
    throw 3-4 seat=S1
    pay w2 100+100
    throw 1-1 seat=S1
    throw 1-1 seat=S1
    void seat=S1
    sweep w3
    place w4 big_6 100
    sweep w4
    lost 20
    sweep w4
    throw 1-2 seat=S1
"""


def test_causes_survive_a_saved_state_and_wagers_out_of_memory() -> None:
    events = [decode(line.raw) for line in read(TAPE_CUT)]
    whole = State()
    expected = msgspec.json.encode(whole.feed_all(events))
    assert b"valid-throw-voided" in expected
    assert b'"causes":[[' in expected
    for cut in range(1, len(events)):
        first = State()
        found = first.feed_all(events[:cut])
        retired = {wager.id: wager for wager in first.retire()}
        first.forget_findings()
        second = State.from_bytes(first.to_bytes())
        second.recall(retired[name] for name in second.unheld(events[cut:]) if name in retired)
        found += second.feed_all(events[cut:])
        assert msgspec.json.encode(found) == expected, cut


def test_an_answer_names_causes_and_consequences() -> None:
    lines = [
        opener("s", "fr-roulette"),
        event("s", 2, "wager.placed", wager="w1", bet="win", stake=100),
        event("s", 3, "ball.settled", pocket="1"),
        event("s", 4, "payout.made", wager="w1", winnings=100, stake_returned=100),
        event("s", 5, "ball.settled", pocket="1"),
    ]
    cause, consequence = adjudicate(lines).as_dict()["findings"]
    assert cause["caused_by"] is None
    assert cause["causes"] == []
    assert cause["consequences"] == [{"rule": "payout-overpaid", "seq": 4, "wager": "w1"}]
    assert consequence["caused_by"] == {"rule": "wager-not-permitted", "seq": 2, "wager": "w1"}
    assert consequence["causes"] == [consequence["caused_by"]]
    assert consequence["consequences"] == []
