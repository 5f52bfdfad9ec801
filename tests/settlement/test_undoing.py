"""Undoing a result that counted: how grave it is, whose outcome is another, and what was true at the time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement import Event, Finding, State, adjudicate, decode
from settlement.comparison import MOST_AWAKE, OF_CHANGES
from settlement.corrections import Corrections, changes_in
from settlement.finding import HIDING
from settlement.streams import fold
from tests.settlement.streams import event, opener
from tests.settlement.test_corrections import in_steps
from tests.settlement.test_properties import quick

Given = tuple[str, dict[str, Any]]

MINUS = "\N{MINUS SIGN}"


def stream_of(ruleset: str, *rest: Given, opened: dict[str, Any] | None = None) -> list[bytes]:
    """Return a stream; ``actor`` among the data is the envelope's, ``after`` is its second since the opening."""
    lines = [json.loads(opener("s", ruleset, **(opened or {})))]
    for seq, (kind, data) in enumerate(rest, start=2):
        envelope = {name: data[name] for name in ("actor",) if name in data}
        second = data.get("after", seq)
        fields = {name: value for name, value in data.items() if name not in ("actor", "after")}
        at = f"2010-11-19T20:{second // 60:02}:{second % 60:02}+01:00"
        lines.append(json.loads(event("s", seq, kind, at=at, **fields)) | envelope)
    return [json.dumps(line).encode() for line in lines]


def placed(wager: str, bet: str = "plein", stake: int = 1000, **data: Any) -> Given:
    return "wager.placed", {"wager": wager, "bet": bet, "stake": stake, **data}


def ball(pocket: str, **data: Any) -> Given:
    return "ball.settled", {"pocket": pocket, **data}


def paid(wager: str, winnings: int, stake: int = 1000) -> Given:
    return "payout.made", {"wager": wager, "winnings": winnings, "stake_returned": stake}


def corrected(target: int, data: dict[str, Any], **also: Any) -> Given:
    return "entry.corrected", {"corrects": target, "data": data, "reason": "misread", "approved_by": "chef", **also}


def annulled(target: int, **also: Any) -> Given:
    return "entry.annulled", {"annuls": target, "reason": "misread", "approved_by": "chef", **also}


def voided(target: int, **also: Any) -> Given:
    return "spin.voided", {"announced_by": "croupier", "reason": "unsure", "voids": target, **also}


def announced(pocket: str, *chances: str) -> Given:
    return "result.announced", {"pocket": pocket, "chances": list(chances)}


ON_NINE = placed("a", numbers=["9"], player="P1")
ON_TEN = placed("d", numbers=["10"], player="P2")
TO_TEN = {"pocket": "10"}


def of_changes(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule in HIDING]


# fmt: off
UNDOING = {
    "a slip of the hand": ("info", ON_NINE, ball("9"), corrected(3, TO_TEN)),
    "ten seconds after": ("info", ON_NINE, ball("9"), corrected(3, TO_TEN, after=13)),
    "eleven seconds after": ("major", ON_NINE, ball("9"), corrected(3, TO_TEN, after=14)),
    "by a clock before the result": ("major", ON_NINE, ball("9", after=5), corrected(3, TO_TEN, after=4)),
    "after it was announced": (
        "critical", ON_NINE, ball("9"), announced("9", "rouge", "impair", "manque"), corrected(3, TO_TEN)
    ),
    "after an announcement that is annulled": (
        "critical", ON_NINE, ball("9"), announced("9"), annulled(4), corrected(3, TO_TEN)
    ),
    "after the announcement of the result before": (
        "info", ball("9"), announced("9", "rouge", "impair", "manque"), ON_NINE, ball("9"), corrected(5, TO_TEN)
    ),
    "after money moved": ("critical", ON_NINE, ball("9"), paid("a", 35000), corrected(3, TO_TEN)),
    "after money that is annulled": (
        "critical", ON_NINE, ball("9"), paid("a", 35000), annulled(4), corrected(3, TO_TEN)
    ),
    "after a settlement": (
        "critical",
        ON_NINE, ball("9"), ("dispute.opened", {"wager": "a"}),
        ("dispute.settled", {"opened": 4, "amount": 36000, "approved_by": "chef"}), corrected(3, TO_TEN),
    ),
    "after a settlement that nobody approved": (
        "info",
        ON_NINE, ball("9"), ("dispute.opened", {"wager": "a"}), ("dispute.settled", {"opened": 4, "amount": 36000}),
        corrected(3, TO_TEN),
    ),
    "after a stake went to the cash desk": (
        "critical",
        placed("a", "noir"), ball("0"), ball("2"), ("orphan.recorded", {"wager": "a", "amount": 1000}),
        corrected(4, {"pocket": "3"}),
    ),
    "approved by who recorded it": ("critical", ON_NINE, ball("9"), corrected(3, TO_TEN, actor="chef")),
    "approved by another": ("info", ON_NINE, ball("9"), corrected(3, TO_TEN, actor="croupier")),
    "late, and approved by who recorded it": (
        "critical", ON_NINE, ball("9"), corrected(3, TO_TEN, after=40, actor="chef")
    ),
    "an annulment is no slip": ("major", ON_NINE, ball("9"), annulled(3)),
    "an annulment by one alone": ("critical", ON_NINE, ball("9"), annulled(3, actor="chef")),
    "a voiding that nobody approved": ("critical", ON_NINE, ball("9"), voided(3)),
    "a voiding that another approved": ("major", ON_NINE, ball("9"), voided(3, approved_by="chef", actor="croupier")),
    "a voiding by one alone": ("critical", ON_NINE, ball("9"), voided(3, approved_by="chef", actor="chef")),
    "it changes nobody's outcome": ("info", ON_TEN, ball("9"), corrected(3, {"pocket": "8"}, after=40, actor="chef")),
    "what never counted": ("info", ON_NINE, ball("77"), corrected(3, {"pocket": "9"}, after=40)),
    "what counted is none any more": ("major", ON_NINE, ball("9"), corrected(3, {"pocket": "77"}, after=40)),
    "no result": ("info", ON_NINE, corrected(2, ON_TEN[1] | {"wager": "a"}, after=40)),
}
# fmt: on


@pytest.mark.parametrize("name", UNDOING)
@pytest.mark.parametrize("approved", [None, ()])
def test_how_grave_undoing_a_result_is(name: str, approved: tuple[int, ...] | None) -> None:
    severity, *rest = UNDOING[name]
    answer = adjudicate(stream_of("fr-roulette", *rest), approved=approved)
    finding = of_changes(answer.findings)[-1]
    assert finding.severity == severity
    waits = approved is not None and severity != "info"
    assert (finding.facts["waits"] == "waits") is waits
    without = adjudicate(stream_of("fr-roulette", *rest[:-1]))
    assert (answer.wagers == without.wagers) or not waits


@pytest.mark.parametrize(("slip", "severity"), [(30, "info"), (25, "major"), (None, "major")])
def test_the_register_says_how_long_a_slip_of_the_hand_may_take(slip: int | None, severity: str) -> None:
    register = {} if slip is None else {"result_slip_s": slip}
    stream = stream_of("fr-roulette", ON_NINE, ball("9"), corrected(3, TO_TEN, after=30))
    [finding] = adjudicate(stream, readings=register).findings
    assert finding.severity == severity


def test_a_voiding_of_a_result_that_changes_nobodys_outcome_is_no_finding() -> None:
    assert adjudicate(stream_of("fr-roulette", ball("9"), voided(2))).findings == []


def test_a_throw_called_void_that_had_decided_something_waits_for_two_officers() -> None:
    thrown = "dice.thrown", {"faces": [1, 1]}
    coup_nul = "throw.voided", {"announced_by": "stickman", "flags": ["on_chip"], "voids": 3}
    stream = stream_of("fr-craps", placed("a", "field"), thrown, coup_nul)
    [finding] = adjudicate(stream).findings
    assert (finding.rule, finding.severity) == ("entry-annulled", "critical")
    assert "the result 1-1" in finding.message("en") or "(result 1-1)" in finding.message("en")
    assert adjudicate(stream).wagers["a"].status == "open"
    assert adjudicate(stream, approved=()).wagers["a"].status == "won"


def test_it_says_what_changed_whose_money_and_how_much() -> None:
    [finding] = adjudicate(stream_of("fr-roulette", ON_NINE, ON_TEN, ball("9"), corrected(4, TO_TEN))).findings
    given = finding.as_dict()
    assert given["outcomes"] == [
        {"wager": "a", "player": "P1", "was": "won", "now": "lost", "before": 35000, "after": -1000},
        {"wager": "d", "player": "P2", "was": "lost", "now": "won", "before": -1000, "after": 35000},
    ]
    assert given["outcomes_sum"] == {"wagers": 2, "before": 34000, "after": 34000}
    assert finding.message("en").startswith(
        "Event 4 (ball at rest) was corrected: pocket 10 in place of 9 (reason given: “misread”), approved by chef. "
        "Outcomes that change: P1 (wager a): a loss of €10.00 in place of a win of €350.00; P2 (wager d): a win of "
        "€350.00 in place of a loss of €10.00."
    )
    assert "numéro 10 au lieu de 9" in finding.message("fr")
    assert "P1 (mise a)\xa0: une perte de 10,00\xa0€ au lieu d’un gain de 350,00\xa0€" in finding.message("fr")
    assert MINUS not in finding.message("en") + finding.message("fr")


def test_a_result_taken_away_is_named_with_what_makes_it_grave() -> None:
    [finding] = adjudicate(
        stream_of("fr-roulette", placed("a", stake=10000, numbers=["17"]), ball("17"), voided(3))
    ).findings
    assert finding.message("en").startswith(
        "Event 3 (result 17) no longer counts (reason given: “unsure”). Critical, because nobody but its author "
        "approved it. Outcomes that change: unknown player (wager a): a stake still in play in place of a win of "
        "€3,500.00; together €3,500.00 in favour of the house."
    )
    assert finding.remedy("en") == "Find out from the croupier, who announced it, why event 3 was voided."
    assert (
        finding.remedy("fr") == "Établir auprès du croupier, auteur de l’annonce, pourquoi l’événement 3 a été annulé."
    )


def test_at_most_fifty_outcomes_are_given_and_the_sums_are_of_all() -> None:
    wagers = [placed(f"w{number:02}", "rouge", 100 + number) for number in range(60)]
    [finding] = adjudicate(stream_of("fr-roulette", *wagers, ball("3"), corrected(62, {"pocket": "2"}))).findings
    total = sum(100 + number for number in range(60))
    assert len(finding.outcomes) == 50
    assert finding.outcomes_sum == {"wagers": 60, "before": total, "after": -total}
    assert [outcome.wager for outcome in finding.outcomes[:2]] == ["w59", "w58"]


def test_a_point_that_is_another_changes_an_outcome_to_come() -> None:
    four = "dice.thrown", {"faces": [1, 3]}
    stream = stream_of("fr-craps", placed("a", "win"), four, corrected(3, {"faces": [3, 3]}, after=60))
    [finding] = adjudicate(stream).findings
    assert (finding.severity, finding.outcomes, finding.outcomes_sum) == ("major", (), None)


TO_AND_FRO = stream_of(
    "fr-roulette", ON_NINE, ball("9"), corrected(3, {"pocket": "3"}, after=60), corrected(3, {"pocket": "4"}, after=61)
)


def test_two_corrections_do_not_hide_what_both_take_away() -> None:
    first, second = of_changes(adjudicate(TO_AND_FRO).findings)
    assert (first.severity, [outcome.player for outcome in first.outcomes]) == ("major", ["P1"])
    assert (second.severity, second.outcomes) == ("info", ())  # it lost by the correction before
    assert "3 in place of 9" in first.message("en")
    assert "4 in place of 3" in second.message("en")


def test_what_waits_is_shown_with_what_it_would_do() -> None:
    stream = stream_of("fr-roulette", ON_NINE, ball("9"), voided(3), ball("3"))
    in_effect, waiting = (of_changes(adjudicate(stream, approved=each).findings)[0] for each in (None, ()))
    assert in_effect.outcomes == waiting.outcomes
    assert in_effect.facts["result"] == waiting.facts["result"] == "9"


def test_a_change_whose_comparison_was_given_up_is_excused_by_nothing() -> None:
    rest = [ON_TEN, ball("3"), *(placed(f"w{number}") for number in range(MOST_AWAKE))]
    rest += [corrected(3, {"pocket": "5"}), *(annulled(seq) for seq in range(4, 4 + MOST_AWAKE))]
    finding = of_changes(adjudicate(stream_of("fr-roulette", *rest)).findings)[0]
    assert finding.facts["compared_through"] == 3 + MOST_AWAKE - 1
    assert (finding.severity, finding.outcomes) == ("major", ())


@pytest.mark.parametrize("size", range(1, 8))
def test_outcomes_of_wagers_that_were_stored_meanwhile_are_known(size: int) -> None:
    rest = [ON_NINE, ball("9"), paid("a", 35000), *[ball("3")] * 12, corrected(3, TO_TEN, after=40)]
    events = [decode(raw) for raw in stream_of("fr-roulette", *rest)]
    whole = fold(events)
    stepwise = in_steps(events, [size], None, retires=True)
    (wanted,) = of_changes(whole.findings())
    assert wanted.outcomes_sum == {"wagers": 1, "before": 35000, "after": -1000}
    assert of_changes(stepwise.findings())[-1:] == [wanted]


# What was true at the time


def test_what_was_done_under_the_entry_is_a_consequence_of_its_correction() -> None:
    calls = {"observes": ["announcements"]}
    rest = [
        placed("a", "noir", 100),
        ball("17"),
        announced("17", "noir", "impair", "manque"),
        corrected(3, {"pocket": "20"}),
        announced("20", "noir", "pair", "passe"),
    ]
    findings = adjudicate(stream_of("fr-american-roulette", *rest, opened=calls)).findings
    change = of_changes(findings)[0]
    [announcement] = [finding for finding in findings if finding.facts.get("first_seq") == 4]
    assert (announcement.severity, announcement.caused_by) == ("info", change.ref)
    assert announcement.ref in change.consequences
    assert [hidden.seq for hidden in change.hides] == [6]


def test_money_is_judged_by_what_stands() -> None:
    rest = [ON_NINE, ON_TEN, ball("9"), paid("a", 35000), corrected(4, TO_TEN), ball("4")]
    findings = adjudicate(stream_of("fr-roulette", *rest)).findings
    assert [(each.rule, each.wager, each.severity) for each in findings if each.rule not in HIDING] == [
        ("losing-wager-paid", "a", "critical"),
        ("payout-missing", "d", "critical"),
    ]


def test_a_sweep_that_was_right_under_the_entry_accuses_nobody() -> None:
    swept = "stakes.collected", {"wagers": ["a"]}
    opened = {"observes": ["collections"]}
    rest = [ON_NINE, ball("10"), swept, corrected(3, {"pocket": "9"}), ball("4"), paid("a", 35000)]
    for until in range(4, len(rest) + 1):
        findings = adjudicate(stream_of("fr-roulette", *rest[:until], opened=opened)).findings
        change = of_changes(findings)[0]
        [sweep] = [finding for finding in findings if finding.rule == "winning-wager-collected"]
        assert (sweep.severity, sweep.caused_by, sweep.owed) == ("info", change.ref, None)
    assert sweep.put_right_by == 7


def test_what_an_act_under_the_entry_comes_to_owe_is_no_information() -> None:
    swept = "stakes.collected", {"wagers": ["a"]}
    rest = [placed("a", "noir"), ball("3"), swept, corrected(3, {"pocket": "0"}), ball("4"), ball("5")]
    findings = adjudicate(stream_of("fr-roulette", *rest, opened={"observes": ["collections"]})).findings
    [sweep] = [finding for finding in findings if finding.rule == "winning-wager-collected"]
    assert (sweep.severity, sweep.caused_by) == ("critical", of_changes(findings)[0].ref)
    assert sweep.owed is not None
    assert (sweep.owed.by, sweep.owed.amount, sweep.difference) == ("house", 1000, -1000)


def test_a_stake_left_without_an_owner_under_the_entry_is_no_mismatch() -> None:
    orphan = "orphan.recorded", {"wager": "a", "amount": 1000}
    rest = [placed("a", "noir"), ball("0"), ball("2"), orphan, corrected(4, {"pocket": "3"})]
    findings = adjudicate(stream_of("fr-roulette", *rest)).findings
    [mismatch] = [finding for finding in findings if finding.rule == "orphan-mismatch"]
    assert (mismatch.severity, mismatch.caused_by) == ("info", of_changes(findings)[0].ref)


def test_an_integrators_own_event_may_be_corrected() -> None:
    own = "x.acme.camera", {"frames": 3, "lens": "wide"}
    [finding] = adjudicate(stream_of("fr-roulette", own, corrected(2, {"frames": 4, "gain": [1, 2]}))).findings
    assert "frames 4 in place of 3, lens wide left out, gain 1, 2 added" in finding.message("en")


def test_while_the_correction_waits_the_act_was_right() -> None:
    rest = [
        placed("a", "plein", 100, numbers=["17"]),
        ball("17"),
        announced("17", "noir", "impair", "manque"),
        corrected(3, {"pocket": "20"}),
    ]
    stream = stream_of("fr-american-roulette", *rest, opened={"observes": ["announcements"]})
    assert [finding.rule for finding in adjudicate(stream, approved=()).findings] == ["entry-corrected"]


# A remedy that cannot work is never given

# fmt: off
WITHOUT_EFFECT = {
    "Have the table name the event that was meant (change of event 99).": (annulled(99),),
    "Have the data that were meant sent again, whole (change of event 2).": (
        ball("9"), corrected(2, {"faces": [1, 1]})
    ),
    "Have the original event corrected once more (change of event 3).": (
        ball("9"), corrected(2, {"pocket": "8"}), corrected(3, {"pocket": "7"})
    ),
    "Establish from the footage what was meant: the annulment stands (change of event 2).": (
        ball("9"), annulled(2), corrected(2, {"pocket": "8"})
    ),
    "Nothing needs to be annulled: file it (change of event 3).": (
        ball("9"), corrected(2, {"faces": [1, 1]}), annulled(3)
    ),
    "Have the opening corrected, if anything in it is wrong (change of event 1).": (annulled(1),),
    "Have the result annulled, if it never was one (change of event 2).": (ball("9"), ball("8"), voided(2)),
}
# fmt: on


@pytest.mark.parametrize("remedy", WITHOUT_EFFECT)
def test_what_to_do_about_a_change_that_changes_nothing(remedy: str) -> None:
    findings = adjudicate(stream_of("fr-roulette", *WITHOUT_EFFECT[remedy])).findings
    finding = [each for each in findings if each.rule == "correction-without-effect"][-1]
    assert finding.remedy("en") == remedy
    assert finding.remedy("fr") != remedy


# However a result is undone


NUMBERS = st.sampled_from([4, 5, 6])
AMOUNTS = st.sampled_from([0, 100, 200])
PLAY = "place place call result result show pay sweep take move correct correct annul void undo".split()


@st.composite
def undone_streams(draw: st.DrawFn) -> list[Event]:
    """A short session in which results are corrected, annulled and voided amid bets, calls, marks and money."""
    ruleset = draw(st.sampled_from(["fr-craps", "fr-roulette", "fr-american-roulette"]))
    is_craps = ruleset == "fr-craps"
    by = {"reason": "misread", "approved_by": "chef"}
    rest: list[Given] = []
    of: dict[str, list[Any]] = {"wagers": [], "results": [], "corrections": []}

    def one(name: str) -> Any:
        return draw(st.sampled_from(of[name][-3:])) if of[name] else 99

    def faces() -> dict[str, Any]:
        thrown = {"faces": [draw(st.integers(1, 6)), draw(st.integers(1, 6))]}
        return thrown if is_craps else {"pocket": draw(st.sampled_from("0 1 2 3 77".split()))}

    coup_nul = "throw.voided", {"announced_by": "stickman", "flags": ["slid"]}
    events: dict[str, Callable[[], Given]] = {
        "place": lambda: placed(
            f"w{len(of['wagers'])}", draw(st.sampled_from(["win", "come"] if is_craps else ["rouge", "noir"])), 100
        ),
        "call": lambda: ("no_more_bets", {}),
        "result": lambda: ("dice.thrown" if is_craps else "ball.settled", faces()),
        "show": lambda: ("point.marked", {"number": draw(NUMBERS)}) if is_craps else announced("3", "rouge"),
        "pay": lambda: paid(one("wagers"), draw(AMOUNTS), draw(AMOUNTS)),
        "sweep": lambda: ("stakes.collected", {"wagers": [one("wagers")]}),
        "take": lambda: ("wager.withdrawn", {"wager": one("wagers")}),
        "move": lambda: ("wager.moved", {"wager": one("wagers"), "number": draw(NUMBERS)}),
        "correct": lambda: ("entry.corrected", {"corrects": one("results"), "data": faces(), **by}),
        "annul": lambda: ("entry.annulled", {"annuls": one("results"), **by}),
        "undo": lambda: ("entry.annulled", {"annuls": one("corrections"), **by}),
        "void": lambda: (coup_nul[0], {**coup_nul[1], "voids": one("results")}) if is_craps else voided(one("results")),
    }
    kept = {"result": "results", "correct": "corrections"}
    needed = ("pay", "sweep", "take", "move")
    for kind in draw(st.lists(st.sampled_from(PLAY), min_size=3, max_size=20)):
        if (kind in needed and not of["wagers"]) or (kind == "move" and not is_craps):
            continue
        rest.append(events[kind]())
        if kind == "place":
            of["wagers"].append(rest[-1][1]["wager"])
        elif kind in kept:
            of[kept[kind]].append(len(rest) + 1)
    observes = draw(st.sampled_from([[], ["calls"], ["calls", "announcements", "collections", "marker"]]))
    return [decode(raw) for raw in stream_of(ruleset, *rest, opened={"observes": observes})]


@quick
@given(undone_streams(), st.booleans())
def test_every_cause_is_found_and_what_is_hidden_is_what_stands_without_it(events: list[Event], approved: bool) -> None:
    state = fold(events, approved=None if approved else ())
    findings = state.adjudication().findings
    refs = Counter(finding.ref for finding in findings if finding.rule not in OF_CHANGES)
    assert {cause for finding in findings for cause in finding.causes} <= {finding.ref for finding in findings}
    for change in of_changes(findings):
        other = State(compares=False)
        other.corrections = Corrections(changes_in(events), state.corrections.held).without(change.seq)
        other._without = change.seq
        other.feed_all(events)
        there = Counter(each.ref for each in other.adjudication().findings if each.rule not in OF_CHANGES)
        hidden = refs - there if change.facts["waits"] else there - refs
        assert list(change.hides) == sorted(hidden.elements(), key=lambda each: each.order)


@quick
@given(undone_streams(), st.lists(st.integers(1, 7), min_size=1, max_size=3), st.booleans())
def test_what_undoing_does_is_the_same_in_whatever_steps(
    events: list[Event], sizes: list[int], all_approved: bool
) -> None:
    approved = None if all_approved else ()
    whole = fold(events, approved=approved).findings(under_way=False)
    stepwise = in_steps(events, sizes, approved, retires=True).findings(under_way=False)
    assert sorted(whole, key=lambda each: each.order) == sorted(stepwise, key=lambda each: each.order)
