"""Corrections, annulments and voided results: how grave each is, what it hides, what waits for its approval."""

from __future__ import annotations

import json
from collections import Counter
from itertools import cycle
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from settlement import Event, Finding, NeedsReplay, State, adjudicate, decode
from settlement.comparison import MOST_AWAKE, OF_CHANGES
from settlement.corrections import Corrections, changes_in
from settlement.finding import HIDING
from settlement.streams import fold
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play, read
from tests.settlement.test_properties import envelope, quick, streams

RED = '{"wager":"w1","bet":"rouge","stake":200}'

TAPES = {
    "in its coup, before money moved: for information": """
        fr-roulette
        place w1 rouge 100
        land 2                                       => w1:won
        correct 3 '{"pocket":"3"}'                   ! entry-corrected
        pay w1 100+100
        land 5
    """,
    "a pocket read twice never happened": """
        fr-roulette
        place w1 rouge 100
        land 3                                       => w1:won
        land 2                                       => w1:won
        annul 4                                      ! entry-annulled
        pay w1 100+100                               ? payout-missing
        close
    """,
    "a change on a change, on an annulled event, on what is not there": f"""
        fr-roulette
        place w1 rouge 100
        correct 2 '{RED}'                            ! entry-corrected
        annul 99                                     ! correction-without-effect
        correct 3 '{{}}'                             ! correction-without-effect
        place w2 noir 100
        annul 6                                      ! entry-annulled
        annul 6                                      ! correction-without-effect
        correct 6 '{RED}'                            ! correction-without-effect
        annul 1                                      ! correction-without-effect
        annul 99                                     ! correction-without-effect
        annul 12                                     ! correction-without-effect
        land 3                                       => w1:won
        pay w1 200+200
        land 3
    """,
    "the opening is corrected after an annulment of it came to nothing": """
        fr-roulette
        annul 1                                      ! correction-without-effect
        land 3
    """,
    "a throw just counted is called void": """
        fr-craps calls
        place w1 field 100
        call
        throw 1-1                                    => w1:open
        void slid voids=4                            ! entry-annulled
        place w2 field 100                           ? wager-after-no-more-bets
        call
        throw 2-3                                    => w1:lost w2:lost
    """,
    "bets are open again after the result that was void, before it was called so": """
        fr-craps calls
        place w1 field 100
        call
        throw 1-1
        place w2 field 100                           ? wager-after-no-more-bets
        void slid voids=4                            ! entry-annulled
        call
        throw 2-3                                    => w1:lost w2:lost
    """,
    "after money moved on it that is an annulment": """
        fr-craps
        place w1 field 100
        throw 1-1
        pay w1 200+100                               ! payout-without-result ? entry-annulled
        void slid voids=3                            ! entry-annulled
    """,
    "of the last counted throw only": """
        fr-craps
        place w1 field 100
        throw 1-1                                    => w1:won
        pay w1 200+100
        throw 1-2
        void slid voids=3                            ! correction-without-effect
        void slid voids=2                            ! correction-without-effect
        throw 3-4
    """,
    "a spin is voided: betting reopens in the same coup": """
        fr-american-roulette calls wheel
        assign c chef_de_table
        spin clockwise
        launch counterclockwise
        call
        spoil ball_left_wheel
        place w1 rouge 100                           ? wager-after-no-more-bets
        spin clockwise                               ? wheel-direction-repeated
        launch counterclockwise
        call
        land 3                                       => w1:won
        pay w1 100+100
        spin counterclockwise
    """,
    "a spin just counted is voided": """
        fr-roulette
        place w1 rouge 100
        land 2                                       => w1:open
        spoil ball_left_wheel voids=3                ! entry-annulled
        land 3                                       => w1:won
        pay w1 100+100
        land 3
    """,
    "a spin just counted is voided, and it is all the same to everybody": """
        fr-roulette
        land 2
        spoil ball_left_wheel voids=2                ? entry-annulled
        place w1 rouge 100
        land 3                                       => w1:won
        pay w1 100+100
        land 3
    """,
    "a throw that one of its flags voids never counted": """
        fr-craps
        place w1 field 100
        throw 1-1 flags=slid                         ? irregular-throw-counted
        void slid voids=3                            ? entry-annulled valid-throw-voided
        throw 2-3                                    => w1:lost
    """,
    "annulling the last correction brings back what was corrected": """
        fr-roulette
        place w1 rouge 100
        land 3                                       => w1:won
        correct 3 '{"pocket":"2"}'                   ! entry-corrected
        annul 4                                      ! entry-annulled
        pay w1 100+100                               ? losing-wager-paid
        land 2
    """,
    "of several corrections the last is annulled, then the one before": """
        fr-roulette
        place w1 plein 100 numbers=3
        land 3                                       => w1:won
        correct 3 '{"pocket":"2"}'                   ! entry-corrected
        correct 3 '{"pocket":"4"}'                   ! entry-corrected
        annul 4                                      ! correction-without-effect
        annul 5                                      ! entry-annulled
        annul 5                                      ! correction-without-effect
        annul 4                                      ! entry-annulled
        pay w1 3500+100
        land 2
    """,
    "what was corrected is annulled after that": """
        fr-roulette
        place w1 rouge 100
        land 3                                       => w1:open
        correct 3 '{"pocket":"5"}'                   ! entry-corrected
        annul 3                                      ! entry-annulled
        correct 3 '{"pocket":"7"}'                   ! correction-without-effect
        land 2
    """,
    "an annulment is not annulled": """
        fr-roulette
        place w1 rouge 100
        land 2                                       => w1:open
        annul 3                                      ! entry-annulled
        annul 4                                      ! correction-without-effect
        land 3                                       => w1:won
        pay w1 100+100
        land 2
    """,
    "what was done under the entry is put down to its correction": """
        fr-craps
        place w1 win 500
        throw 5-2                                    => w1:open
        place w2 win 500                             ! line-wager-after-come-out
        correct 3 '{"faces":[5,3]}'                  ! entry-corrected
        pay w2 0+500
        throw 4-4                                    => w1:won w2:void
        pay w1 500+500
        throw 3-4
    """,
    "after the correction it is not": """
        fr-craps
        place w1 win 500
        throw 5-2                                    => w1:open
        correct 3 '{"faces":[5,3]}'                  ! entry-corrected
        place w2 win 500                             ! line-wager-after-come-out
        pay w2 0+500
        throw 4-4                                    => w1:won w2:void
        pay w1 500+500
        throw 3-4
    """,
    "what was done on a spin that is void is put down to its voiding, though nobody's outcome is another": """
        fr-craps
        throw 2-2
        mark 4                                       ! point-marker-mismatch
        void slid voids=2                            ! entry-annulled
        throw 3-4
    """,
}


@pytest.mark.parametrize("tape", TAPES.values(), ids=TAPES)
def test_tape(tape: str) -> None:
    play(tape)


def stream_of(ruleset: str, *rest: tuple[str, dict[str, Any]]) -> list[bytes]:
    return [opener("s", ruleset), *(event("s", seq, kind, **data) for seq, (kind, data) in enumerate(rest, start=2))]


def corrected(target: int, *, by: str = "chef", **data: Any) -> tuple[str, dict[str, Any]]:
    return "entry.corrected", {"corrects": target, "data": data, "reason": "misread", "approved_by": by}


def annulled(target: int) -> tuple[str, dict[str, Any]]:
    return "entry.annulled", {"annuls": target, "reason": "twice", "approved_by": "chef"}


def placed(wager: str, bet: str = "rouge", stake: int = 1000) -> tuple[str, dict[str, Any]]:
    return "wager.placed", {"wager": wager, "bet": bet, "stake": stake}


def ball(pocket: str) -> tuple[str, dict[str, Any]]:
    return "ball.settled", {"pocket": pocket}


def paid(wager: str, winnings: int = 1000, stake: int = 1000) -> tuple[str, dict[str, Any]]:
    return "payout.made", {"wager": wager, "winnings": winnings, "stake_returned": stake}


CLOSED: tuple[str, dict[str, Any]] = ("session.closed", {"float": 0})
SWEPT: tuple[str, dict[str, Any]] = ("stakes.collected", {"wagers": ["b"]})

# fmt: off
SEVERITIES = {
    "at once": ("info", placed("a"), ball("3"), corrected(3, pocket="5")),
    "of the wager, before the result": ("info", placed("a"), corrected(2, wager="a", bet="rouge", stake=500)),
    "of the wager, after the result": ("major", placed("a"), ball("3"), corrected(2, wager="a", bet="noir", stake=500)),
    "after the next result": ("major", placed("a"), ball("2"), ball("3"), corrected(3, pocket="5")),
    "of the payment itself": ("info", placed("a"), ball("3"), paid("a", 900), corrected(4, **paid("a")[1])),
    "after it was paid": ("major", placed("a"), ball("3"), paid("a"), corrected(3, pocket="5")),
    "after an invalid pocket, which ends no coup": ("info", ball("2"), ball("99"), corrected(2, pocket="5")),
    "of a wager, after another's money": (
        "info", placed("b"), ball("2"), placed("a"), paid("b"), corrected(4, wager="a", bet="noir", stake=1)
    ),
    "of a result, after money of the coup before": (
        "info", placed("b"), ball("3"), placed("a"), ball("3"), paid("b"), corrected(5, pocket="5")
    ),
    "after a sweep": ("major", placed("b"), ball("2"), SWEPT, corrected(3, pocket="4")),
    "after the close": ("critical", placed("a"), ball("3"), paid("a"), CLOSED, corrected(3, pocket="5")),
    "of the close": ("critical", CLOSED, corrected(2, float=5)),
    "of the opener": ("critical", corrected(1, **json.loads(opener("s", "fr-roulette"))["data"])),
    "an annulment at once": ("major", placed("a"), ball("3"), annulled(3)),
    "an annulment that is all the same to everybody": ("info", ball("3"), placed("a"), annulled(2)),
    "an annulment of a payment": ("info", placed("a"), ball("3"), paid("a"), annulled(4)),
    "an annulment after it was paid": ("critical", placed("a"), ball("3"), paid("a"), annulled(3)),
    "of a result, paid in a coup that has ended": (
        "critical", placed("a"), ball("3"), paid("a"), ball("3"), corrected(3, pocket="2")
    ),
    "of a result, paid two coups later": (
        "critical", placed("a"), ball("3"), ball("3"), paid("a"), ball("3"), corrected(3, pocket="2")
    ),
    "of a result, after another's money": (
        "info", placed("b"), ball("2"), placed("a"), ball("3"), paid("b"), corrected(5, pocket="2")
    ),
    "to another outcome, after it was paid": ("critical", placed("a"), ball("3"), paid("a"), corrected(3, pocket="2")),
    "an annulment after the close": ("critical", placed("a"), ball("3"), paid("a"), CLOSED, annulled(3)),
    "an annulment of the close": ("critical", CLOSED, annulled(2)),
}
# fmt: on


def of_changes(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule in HIDING]


@pytest.mark.parametrize("name", SEVERITIES)
@pytest.mark.parametrize("approved", [None, ()])
def test_how_grave_an_act_is(name: str, approved: tuple[int, ...] | None) -> None:
    severity, *rest = SEVERITIES[name]
    stream = stream_of("fr-roulette", *rest)
    (finding,) = of_changes(adjudicate(stream, approved=approved).findings)
    assert finding.severity == severity
    waits = approved is not None and severity != "info"
    assert ("two officers" in finding.message("en")) is waits
    assert ("deux agents" in finding.message("fr")) is waits
    answer = adjudicate(stream, approved=approved)
    assert bool(answer.corrections) is not waits
    without = adjudicate(stream[:-1])
    assert (answer.wagers == without.wagers) or not waits


@pytest.mark.parametrize(("actor", "severity"), [("chef", "critical"), ("croupier", "info")])
def test_who_approves_himself_where_an_outcome_changes(actor: str, severity: str) -> None:
    stream = stream_of("fr-roulette", placed("a"), ball("2"), corrected(3, pocket="3"))
    stream[-1] = json.dumps(json.loads(stream[-1]) | {"actor": actor}).encode()
    (finding,) = of_changes(adjudicate(stream).findings)
    assert finding.severity == severity
    (finding,) = of_changes(adjudicate(stream, approved=()).findings)
    assert finding.severity == severity
    # No wager turns out otherwise: the same colour.
    stream[-1] = stream[-1].replace(b'"pocket": "3"', b'"pocket": "4"')
    assert [each.severity for each in of_changes(adjudicate(stream).findings)] == ["info"]


def test_what_a_correction_hides_even_after_it() -> None:
    stream = stream_of("fr-roulette", placed("a"), ball("2"), corrected(3, pocket="3"), paid("a"), ball("5"))
    answer = adjudicate(stream)
    (finding,) = answer.findings
    assert [(each.rule, each.wager) for each in finding.hides] == [("losing-wager-paid", "a")]
    assert "without the correction: 1." in finding.message("en")
    waiting = adjudicate(
        [*stream[:2], *stream_of("fr-roulette", placed("a"), ball("2"), CLOSED, corrected(3, pocket="3"))[2:]]
    )
    assert waiting.findings[-1].hides == ()


def test_an_approved_act_counts_and_the_other_waits() -> None:
    rest = (placed("a"), ball("2"), CLOSED, corrected(3, pocket="3"), corrected(3, pocket="5"))
    stream = stream_of("fr-roulette", *rest)
    answer = adjudicate(stream, approved=[5])
    assert answer.corrections == [{"seq": 5, "corrects": 3, "reason": "misread", "approved_by": "chef"}]
    assert ["officers" in finding.message("en") for finding in of_changes(answer.findings)] == [False, True]
    assert answer.wagers["a"].status == "won"
    assert adjudicate(stream, approved=[]).wagers["a"].status == "lost"


def test_a_state_says_which_acts_are_held() -> None:
    stream = [decode(raw) for raw in stream_of("fr-roulette", placed("a"), ball("2"), CLOSED, corrected(3, pocket="3"))]
    with pytest.raises(NeedsReplay) as unknown:
        State(approved=()).feed_all(stream)
    assert unknown.value.held == frozenset()
    with pytest.raises(NeedsReplay) as known:
        State(changes_in(stream), approved=()).feed_all(stream)
    assert known.value.held == {5}
    state = State(changes_in(stream), approved=(), held=known.value.held)
    for each in stream:  # saved and restored at every event
        state.feed(each)
        state = State.from_bytes(state.to_bytes(), changes_in(stream), approved=())
    assert state.adjudication().as_dict() == adjudicate(stream, approved=()).as_dict()


def test_what_an_act_hides_is_told_as_it_becomes_known() -> None:
    stream = [
        decode(raw)
        for raw in stream_of("fr-roulette", placed("a"), ball("2"), corrected(3, pocket="3"), paid("a"), ball("5"))
    ]
    state = State(changes_in(stream))
    (finding,) = state.feed_all(stream[:4])
    assert finding.hides == ()
    state.forget_findings()
    assert state.revised() == []
    state = State.from_bytes(state.to_bytes())
    state.feed_all(stream[4:])
    (finding,) = state.revised()
    assert [each.rule for each in finding.hides] == ["losing-wager-paid"]
    assert state.revised() == []


def test_the_comparisons_are_bounded_and_say_so() -> None:
    rest: list[tuple[str, dict[str, Any]]] = [("player.seated", {"player": f"P{number}"}) for number in range(40)]
    rest += [annulled(seq) for seq in range(2, 42)]
    events = [decode(raw) for raw in stream_of("fr-american-roulette", *rest)]
    state = fold(events)
    going = [difference for difference in state.table.differences.values() if difference.table is not None]
    assert len(going) == MOST_AWAKE
    given = [finding.facts.get("compared_through") for finding in of_changes(state.adjudication().findings)]
    assert [through is None for through in given].count(True) == MOST_AWAKE


def test_a_comparison_ends_where_both_are_the_same_again_and_wakes() -> None:
    rest = [placed("a"), ball("2"), corrected(3, pocket="4"), placed("b"), ball("5"), paid("b"), ball("5")]
    events = [decode(raw) for raw in stream_of("fr-roulette", *rest)]
    state = fold(events)
    assert [difference.table for difference in state.table.differences.values()] == [None]
    rest[2] = corrected(3, pocket="3")
    events = [decode(raw) for raw in stream_of("fr-roulette", *rest, paid("a"), ball("5"))]
    state = fold(events[:-2])
    (difference,) = state.table.differences.values()
    assert difference.table is None
    assert [wager.id for wager in difference.apart] == ["a"]
    state.feed_all(events[-2:])  # the money of a coup is judged when the coup ends
    (finding,) = of_changes(state.adjudication().findings)
    assert "losing-wager-paid" in [each.rule for each in finding.hides]


class Wagers(dict[str, Any]):
    """The wagers of a table, by id, that count how often somebody goes through all of them."""

    walks = 0

    def keys(self) -> Any:
        self.walks += 1
        return super().keys()

    def values(self) -> Any:
        self.walks += 1
        return super().values()

    def __iter__(self) -> Any:
        self.walks += 1
        return super().__iter__()


class Apart(list[Any]):
    """The wagers that a comparison keeps, which count how often somebody goes through them."""

    walks = 0

    def __iter__(self) -> Any:
        self.walks += 1
        return super().__iter__()


def test_an_event_costs_a_comparison_the_wagers_that_it_mentions_and_not_all_on_the_table() -> None:
    rest = [placed("a"), *[placed(f"w{each}") for each in range(20)], corrected(2, wager="a", bet="rouge", stake=500)]
    events = [decode(raw) for raw in stream_of("fr-roulette", *rest)]
    known = changes_in(events)
    state = State(known)
    state.feed_all(events[:10])
    (there,) = [each.table for each in state._comparisons.others.values()]
    there.wagers = counted = Wagers(there.wagers)
    state.feed_all(events[10:-1])
    assert len(there.wagers) == 21
    assert counted.walks == 0
    assert state.from_bytes(state.to_bytes(), known).feed_all(events[-1:]), "and it is compared"


def test_an_event_about_another_wager_costs_a_comparison_that_has_ended_nothing() -> None:
    rest = [placed("a"), ball("2"), corrected(3, pocket="3"), ball("5")]
    events = [decode(raw) for raw in stream_of("fr-roulette", *rest, placed("b"), placed("c"), paid("a"))]
    state = State(changes_in(events))
    state.feed_all(events[:5])
    (difference,) = state.table.differences.values()
    assert (difference.table, len(difference.apart)) == (None, 1)
    difference.apart = counted = Apart(difference.apart)
    state.feed_all(events[5:7])
    assert counted.walks == 0
    state.feed_all(events[7:])
    assert difference.table is not None, "an event about its wager wakes it"


def test_what_an_annulment_hides_is_said_in_the_midst_of_the_coup_as_the_money_stands() -> None:
    stream = stream_of("fr-roulette", ("payout.recovered", {"wager": "w0", "winnings": 100}), annulled(2))
    for approved in (None, ()):
        [change] = adjudicate(stream, approved=approved).findings
        assert [each.written() for each in change.hides] == ["2 payout-underpaid w0"]
    # What a record keeps has the money of ended coups only.
    assert [change.hides for change in fold([decode(raw) for raw in stream]).findings(under_way=False)] == [()]


@pytest.mark.parametrize("results", [1, 3])
def test_a_wager_that_is_nowhere_without_its_placement_is_not_lost_there(results: int) -> None:
    rest = [placed("a"), ball("2"), annulled(2), *[ball("2")] * results, paid("a", 100, 50), ball("2")]
    for approved, hidden in ((), "losing-wager-paid"), (None, "losing-wager-paid"):
        [change] = of_changes(adjudicate(stream_of("fr-roulette", *rest), approved=approved).findings)
        hides = [each.rule for each in change.hides if each.seq == 5 + results]
        assert hides == [hidden], approved


def test_a_wrong_net_that_stands_with_and_without_a_correction_is_not_hidden() -> None:
    rest = [placed("a"), ball("3"), paid("a", 900), corrected(4, **paid("a", 800)[1])]
    [net, change] = adjudicate(stream_of("fr-roulette", *rest)).findings
    assert (net.rule, change.hides) == ("payout-underpaid", ())
    [change] = adjudicate(stream_of("fr-roulette", *rest[:-1], corrected(4, **paid("a")[1]))).findings
    assert [each.written() for each in change.hides] == ["4 payout-underpaid a"]


def test_what_plays_on_only_by_a_correction_can_be_taken_back() -> None:
    stream = stream_of(
        "qc-craps",
        ("wager.placed", {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 600}),
        ("dice.thrown", {"faces": [2, 2]}),
        ("dice.thrown", {"faces": [2, 3]}),
        corrected(4, faces=[3, 3]),
        ("payout.made", {"wager": "w1", "winnings": 700, "stake_returned": 0, "continues_as": "w2"}),
        ("dice.thrown", {"faces": [2, 3]}),
        ("wager.withdrawn", {"wager": "w2"}),
        ("dice.thrown", {"faces": [2, 3]}),
    )
    answer = adjudicate(stream)
    assert answer.wagers["w2"].status == "withdrawn"
    [change] = of_changes(answer.findings)
    assert [each.rule for each in change.hides] == ["push-paid"]
    assert [each.rule for each in answer.findings] == ["entry-corrected"]


@st.composite
def acted_on_streams(draw: st.DrawFn, often: int = 10) -> list[Event]:
    """A stream with a few corrections and annulments in it: after about one event in ``often``."""
    raw = draw(streams())
    events: list[Event] = []
    for each in raw:
        seq = len(events) + 1
        content = json.loads(each)
        events.append(decode(envelope(seq, content["type"], content["data"], seq)))
        if draw(st.integers(0, often - 1)) == 0:
            target = draw(st.integers(1, seq))
            donor = draw(
                st.sampled_from([event for event in raw if json.loads(event)["type"] == events[target - 1].type] or raw)
            )
            fields: dict[str, Any] = {"reason": "slip", "approved_by": "chef"}
            if draw(st.booleans()):
                fields |= {"annuls": target}
            else:
                fields |= {"corrects": target, "data": json.loads(donor)["data"]}
            kind = "entry.annulled" if "annuls" in fields else "entry.corrected"
            events.append(decode(envelope(seq + 1, kind, fields, seq + 1)))
    return events


PAID_BACK_BY_A_STRANGER = [
    decode(raw) for raw in stream_of("fr-roulette", ("payout.recovered", {"wager": "w0", "winnings": 100}), annulled(2))
]


@quick
@example(PAID_BACK_BY_A_STRANGER, False)
@given(acted_on_streams(), st.booleans())
def test_what_is_hidden_is_what_another_fold_without_the_act_finds(events: list[Event], all_approved: bool) -> None:
    state = fold(events, approved=None if all_approved else ())
    held = state.corrections.held
    here = Counter(finding.ref for finding in state.adjudication().findings if finding.rule not in OF_CHANGES)
    for finding in of_changes(state.adjudication().findings):
        if "compared_through" in finding.facts:
            continue
        other = State(compares=False)
        other.corrections = Corrections(changes_in(events), held).without(finding.seq)
        other._without = finding.seq
        other.feed_all(events)
        there = Counter(each.ref for each in other.adjudication().findings if each.rule not in OF_CHANGES)
        hidden = here - there if finding.facts["waits"] else there - here
        assert list(finding.hides) == sorted(hidden.elements(), key=lambda each: each.order)


@quick
@given(acted_on_streams(), st.integers(1, 9), st.booleans())
def test_a_stream_with_acts_is_folded_alike_in_pages_saved_and_retired(
    events: list[Event], page: int, all_approved: bool
) -> None:
    approved = None if all_approved else ()
    whole = fold(events, approved=approved)
    changes, held = changes_in(events), whole.corrections.held
    state = State(changes, approved=approved, held=held)
    retired: dict[str, Any] = {}
    given: dict[Any, Finding] = {}
    for low in range(0, len(events), page):
        some = events[low : low + page]
        state.recall(retired.pop(wager) for wager in sorted(state.unheld(some) & retired.keys()))
        for finding in state.feed_all(some):
            given[finding.ref] = finding
        state.forget_findings()
        retired |= {wager.id: wager for wager in state.retire()}
        given |= {finding.ref: finding for finding in state.revised()}
        state = State.from_bytes(state.to_bytes(), changes, approved=approved)
    # A record keeps of money what ended coups say.
    wanted = {finding.ref: finding for finding in of_changes(whole.findings(under_way=False))}
    assert {ref: finding for ref, finding in given.items() if ref.rule in HIDING} == wanted


def test_the_opening_keeps_its_correction_after_a_vain_annulment() -> None:
    right = json.loads(opener("s", "fr-craps"))["data"]
    answer = adjudicate(stream_of("fr-roulette", annulled(1), corrected(1, **right)))
    assert answer.ruleset == "fr-craps"
    assert [finding.rule for finding in answer.findings] == ["correction-without-effect", "entry-corrected"]


def test_a_voiding_after_money_moved_waits_and_the_throw_counts() -> None:
    lines = [line.raw for line in read(TAPES["after money moved on it that is an annulment"])]
    assert [finding.severity for finding in of_changes(adjudicate(lines).findings)] == ["critical"]
    assert adjudicate(lines).wagers["w1"].status == "open"
    waiting = adjudicate(lines, approved=())
    assert waiting.wagers["w1"].status == "won"
    assert [finding.rule for finding in waiting.findings] == ["entry-annulled"]


GRAVE_BY_ANOTHER = [
    decode(raw)
    for raw in stream_of(
        "fr-roulette",
        placed("w1"),
        placed("w2"),
        ball("77"),  # no pocket: it counts only as correction 6 leaves it, which comes after money moved, and waits
        paid("w1"),
        corrected(4, pocket="7"),
        corrected(3, wager="w2", bet="noir", stake=1000),  # in its coup, unless 6 is approved: that has ended it
        ball("5"),
    )
]


def in_steps(
    events: list[Event], sizes: list[int], approved: tuple[int, ...] | None, *, retires: bool = False
) -> State:
    """Return the state after a stream that is folded in steps of ``sizes``, saved after each, and again if need be.

    ``retires``: what nothing is pending on is stored between the steps.
    """
    known = changes_in(events)
    held: frozenset[int] = frozenset()
    while True:
        state = State(known, approved=approved, held=held)
        remaining, steps = events, cycle(sizes)
        retired: dict[str, Any] = {}
        try:
            while remaining:
                size = next(steps)
                state.recall(retired.pop(each) for each in sorted(state.unheld(remaining[:size]) & retired.keys()))
                state.feed_all(remaining[:size])
                if retires:
                    retired |= {wager.id: wager for wager in state.retire()}
                state = State.from_bytes(state.to_bytes(), known, approved=approved)
                remaining = remaining[size:]
        except NeedsReplay as needed:
            held = needed.held
        else:
            return state


@pytest.mark.parametrize("size", range(1, 9))
def test_a_change_that_is_grave_by_another_that_waits_waits_with_it(size: int) -> None:
    assert fold(GRAVE_BY_ANOTHER, approved=()).corrections.held == {6, 7}
    assert in_steps(GRAVE_BY_ANOTHER, [size], ()).corrections.held == {6, 7}


@pytest.mark.parametrize("size", range(1, 9))
def test_a_change_that_only_another_that_waits_would_make_light_waits(size: int) -> None:
    events = [
        decode(raw)
        for raw in stream_of(
            "fr-roulette", placed("w1"), placed("w2"), ball("7"), paid("w1"), annulled(4), annulled(3), ball("5")
        )
    ]
    assert fold(events, approved=()).corrections.held == {6, 7}
    assert in_steps(events, [size], ()).corrections.held == {6, 7}


@pytest.mark.parametrize("size", range(1, 11))
def test_what_is_grave_in_the_second_reading_alone_has_every_change_without_approval_wait(size: int) -> None:
    events = [
        decode(raw)
        for raw in stream_of(
            "fr-roulette",
            *(placed("w1"), placed("w2"), ball("7"), paid("w1"), annulled(4), annulled(3)),  # 7 waits once 6 does
            *(placed("w3"), corrected(8, wager="w3", bet="noir", stake=1000), placed("w4")),
            *(corrected(10, wager="w4", bet="noir", stake=1000), ball("5")),
        )
    ]
    assert fold(events[:6] + events[7:], approved=()).corrections.held == {6}, "9 and 11 are for information"
    assert fold(events, approved=()).corrections.held == {6, 7, 9, 11}
    assert fold(events, approved=(9,)).corrections.held == {6, 7, 11}
    assert in_steps(events, [size], ()).corrections.held == {6, 7, 9, 11}


@quick
@example(GRAVE_BY_ANOTHER, [1], [])
@given(acted_on_streams(often=3), st.lists(st.integers(1, 9), min_size=1, max_size=4), st.lists(st.integers(0, 9)))
def test_in_whatever_steps_a_stream_is_folded_the_same_changes_wait(
    events: list[Event], sizes: list[int], chosen: list[int]
) -> None:
    seqs = [change.seq for change in changes_in(events)]
    approved = tuple(seqs[index] for index in chosen if index < len(seqs))
    whole, stepwise = fold(events, approved=approved), in_steps(events, sizes, approved)
    assert stepwise.corrections.held == whole.corrections.held
    assert stepwise.adjudication() == whole.adjudication()
