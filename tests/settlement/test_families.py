"""What a table does not see it is not blamed for: each rule that takes an absence for a fact, with and without it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from settlement import adjudicate
from settlement.catalogue import RULES
from settlement.families import AFTER_A_ZERO, HEEDS, OF_UNDECIDED_WAGERS, OF_UNKNOWN_WAGERS, PLAY, families_of, observed
from settlement.rulesets import RULESETS
from tests.settlement.streams import event, opener
from tests.settlement.tapes import play, read

ALL = "wagers results decisions payouts"

# Ruleset, other families, the family that is missing, and lines after the opener. The last raises.
SILENT: dict[str, tuple[str, str, str, str]] = {
    "payout-missing": ("fr-craps", "", "payouts", "place w1 field 100\nthrow 1-2\nthrow 3-4 ! payout-missing"),
    "payout-without-result": ("fr-craps", "", "results", "place w1 win 100\npay w1 100+100 ! payout-without-result"),
    "payout-without-result, unknown": ("fr-craps", "", "wagers", "pay w9 100+100 ! payout-without-result"),
    "push-paid": ("fr-craps", "", "results", "place w1 win 100\nthrow 2-2\npay w1 100+100 ! push-paid"),
    "barred": ("fr-craps", "", "results", "place w1 dont_win 100\nthrow 6-6\npay w1 1+1 ! barred-number-settled"),
    "inactive": (
        "qc-craps",
        "",
        "results",
        "place w1 right_bet 600 number=6\nthrow 3-3\npay w1 700+600 ! inactive-wager-settled",
    ),
    "voided": ("fr-craps", "", "results", "place w1 win 100\nvoid slid\npay w1 1+1 ! void-throw-settled"),
    "voided, unknown": ("fr-craps", "", "wagers", "void slid\nmove w9 4 ! void-throw-settled"),
    "swept, unknown": ("fr-craps", "collections", "wagers", "sweep w9 ! winning-wager-collected"),
    "swept, undecided": (
        "fr-craps",
        "collections",
        "results",
        "place w1 win 100\nsweep w1 ! winning-wager-collected",
    ),
    "left open": ("fr-craps", "", "results", "place w1 win 100\nclose ! wager-left-open"),
    "no zero": ("fr-roulette", "", "results", "place w1 rouge 100\nzero w1 half ! zero-decision-without-zero"),
    "no zero, unknown": ("fr-roulette", "", "wagers", "zero w9 half ! zero-decision-without-zero"),
    "announced": ("fr-american-roulette", "", "results", "announce 3 rouge ! announcement-mismatch"),
    "come": ("fr-craps", "", "results", "place w1 come 100 ! come-wager-on-come-out"),
    "line": ("fr-craps", "", "results", "throw 2-2\nplace w1 win 100 ! line-wager-after-come-out"),
    "odds, no point": (
        "fr-craps",
        "",
        "results",
        "place w1 win 100\nplace o1 win_odds 100 base=w1 ! odds-without-base-wager",
    ),
    "odds, unknown": ("fr-craps", "", "wagers", "throw 2-2\nplace o1 win_odds 100 base=w9 ! odds-without-base-wager"),
    "withdrawn": (
        "fr-craps",
        "",
        "results",
        "place w1 right_bet 600 number=6\ntake w1 ! withdrawal-not-after-indecisive-roll",
    ),
    "marker": ("fr-craps", "marker", "results", "mark 4 ! point-marker-mismatch"),
    "moved": ("fr-craps", "", "results", "place w1 win 100\nmove w1 4 ! come-moved-to-wrong-number"),
    "moved, unknown": ("fr-craps", "", "wagers", "move w9 4 ! come-moved-to-wrong-number"),
    "not moved": (
        "fr-craps",
        "",
        "wagers",
        "throw 2-2\nplace w1 come 100\nplace w2 come 100\nthrow 1-2\nplace w3 come 100\nthrow 2-3\n"
        "move w3 5\nthrow 2-4\nplace w4 come 100\nthrow 4-5\nthrow 1-1 ! come-not-moved",
    ),
    "dice changed": (
        "fr-craps",
        "custody",
        "results",
        "throw 2-2\ndice a b c d e f by=chef_de_table ! dice-changed-during-point-series",
    ),
    "dice passed": (
        "fr-craps",
        "custody seats=S1,S2",
        "results",
        "place w1 win 100 seat=S1\noffer S1\nthrow 2-2 seat=S1\noffer S2 ! dice-passed-without-seven-out",
    ),
    "removed": (
        "fr-craps",
        "custody",
        "results",
        "offer S1\nremove S1 by=chef_de_table ! shooter-removed-without-repeated-violation",
    ),
    "late": ("fr-craps", "calls", "results", "call\n+9s place w1 win 100 ! wager-after-no-more-bets"),
    "near": ("fr-craps", "calls", "results", "call\n+400ms place w1 win 100 ! wager-near-call"),
    "numbered before the call": (
        "fr-craps",
        "calls",
        "results",
        "+9s place w1 win 100\n-5s call ! wager-after-no-more-bets clock-went-back",
    ),
    "withdrawn late": (
        "fr-roulette",
        "calls",
        "results",
        "place w1 rouge 100\ncall\n+9s take w1 ! withdrawal-after-no-more-bets",
    ),
    "shooter": (
        "fr-craps",
        "custody seats=S1,S2",
        "wagers",
        "offer S1\nthrow 2-2 seat=S1 ! shooter-without-line-wager",
    ),
    "unseated": (
        "fr-american-roulette",
        "seating seats_at_most=1",
        "wagers",
        "sit P1\nplace w1 rouge 100 player=P2 ! unseated-player-over-limit",
    ),
    "no choice": ("fr-roulette", "", "decisions", "place w1 rouge 100\nland 0\nland 1 ! zero-decision-missing"),
    "prisoner withdrawn": (
        "fr-roulette",
        "",
        "decisions",
        "place w1 rouge 100\nland 0\ntake w1 ! imprisoned-stake-withdrawn",
    ),
    "spun early": (
        "fr-american-roulette",
        "wheel",
        "payouts",
        "place w1 rouge 100\nland 1\nspin clockwise ! spin-before-payments-complete",
    ),
}


def tape(ruleset: str, families: str, lines: str) -> str:
    return f"{ruleset} {families}\n{lines}"


@pytest.mark.parametrize("name", SILENT)
def test_a_rule_that_heeds_an_absence_needs_its_family(name: str) -> None:
    ruleset, others, missing, lines = SILENT[name]
    play(tape(ruleset, f"{ALL} {others}", lines))
    play(tape(ruleset, others, lines))  # one that lists none of the four observes all four
    silenced = " ".join(family for family in ALL.split() if family != missing)
    raised = lines.rpartition("!")[2].split()
    answer = findings(tape(ruleset, f"{silenced} {others}", lines.partition("!")[0]))
    assert not answer & (set(raised) - {"clock-went-back"})


def findings(text: str) -> set[str]:
    return {finding.rule for finding in adjudicate([line.raw for line in read(text)]).findings}


def test_every_rule_that_heeds_an_absence_is_tried() -> None:
    tried = {rule for *_rest, lines in SILENT.values() for rule in lines.rpartition("!")[2].split()}
    of_more_families = {"working-call-late", "imprisoned-at-close", "losing-wager-not-collected"}
    assert HEEDS.keys() | OF_UNKNOWN_WAGERS | OF_UNDECIDED_WAGERS | AFTER_A_ZERO <= tried | of_more_families


ZERO = "place w1 rouge 100\nland 0\n"


@pytest.mark.parametrize(
    ("rule", "others", "lines"),
    [
        ("wager-left-open", "", f"{ZERO}close"),
        ("imprisoned-at-close", "", f"{ZERO}land 0\nzero w1 prison\nclose"),
        ("losing-wager-not-collected", "collections", f"{ZERO}land 2\nland 4"),
        ("winning-wager-collected", "collections", f"{ZERO}sweep w1\nclose"),
    ],
)
def test_after_a_zero_the_half_may_have_been_taken_unseen(rule: str, others: str, lines: str) -> None:
    for seen in ("decisions payouts", "decisions", "payouts"):
        assert rule in findings(tape("fr-roulette", f"wagers results {seen} {others}", lines)), seen
    assert rule not in findings(tape("fr-roulette", f"wagers results {others}", lines))


def test_a_stake_that_is_in_play_unseen_is_settled_as_far_as_it_is_seen() -> None:
    play("""
        fr-craps wagers payouts
        place w1 come 100                     => w1:open
        place w2 win 100                      => w2:open
        place o1 win_odds 100 base=w2         => o1:open
        place o2 dont_win_odds 100 base=w2    => o2:void ! odds-without-base-wager:o2
        place o3 win_odds 100 base=w2 number=6
        throw 3-3                             => o1:open o3:won w2:open
        pay o3 120+100
        place w3 win 100                      => w3:open
        throw 3-4                             => o1:open w2:lost
    """)


def test_a_rule_on_what_came_is_not_silent() -> None:
    play("""
        fr-craps wagers
        place w1 field 100
        throw 1-2
        pay w1 101+100        ! payout-overpaid
        throw 7-2             ! invalid-dice-values
    """)


@pytest.mark.parametrize(
    ("ruleset", "listed", "unchecked"),
    [
        ("fr-roulette", ["results", "wheel"], ["calls", "collections", "decisions", "payouts", "wagers"]),
        ("fr-roulette", ["wagers", "results", "collections"], ["calls", "decisions", "payouts"]),
        ("fr-roulette", [], ["calls", "collections"]),
        ("fr-craps", ["results"], ["calls", "collections", "custody", "marker", "payouts", "wagers"]),
        ("qc-craps", ["payouts", "calls"], ["collections", "marker", "results", "wagers"]),
    ],
)
def test_what_is_missing_is_named(ruleset: str, listed: list[str], unchecked: list[str]) -> None:
    assert adjudicate([opener("s", ruleset, observes=listed)]).unchecked == unchecked


def test_the_families_of_a_rule_are_known() -> None:
    assert observed(["calls"]) == PLAY | {"calls"}
    assert observed(["payouts", "calls"]) == {"payouts", "calls"}
    assert families_of(RULES["spin-before-payments-complete"]) == {"wheel", "payouts"}
    assert families_of(RULES["payout-overpaid"]) == frozenset()
    assert all(PLAY - {"decisions"} <= ruleset.families for ruleset in RULESETS.values())
    assert HEEDS.keys() <= RULES.keys()


# Events of an integrator's own


def test_an_own_event_stands_between_no_two_events() -> None:
    play("""
        fr-craps calls custody marker seats=S1,S2
        +60s offer S1
        place w1 win 100 seat=S1
        call
        +30s own a
        -29s throw 2-2 seat=S1     # neither delayed nor back in time
        own b                      # bears no finding, whatever it follows
        mark 4
        call
        throw 3-4 seat=S1
        -20s own c
        +20s offer S2
    """)
    play("""
        fr-craps
        own a
        close
        own b
    """)


def test_an_own_event_has_its_number_and_opens_no_stream() -> None:
    own = event("s", 4, "x.acme.camera", bet="Win")
    answer = adjudicate([opener("s", "fr-craps"), event("s", 2, "no_more_bets"), own])
    assert [(finding.rule, finding.seq) for finding in answer.findings] == [("sequence-gap", 4)]
    assert answer.events == 3
    answer = adjudicate([event("s", 1, "x.acme.camera"), opener("s", "fr-craps").replace(b'"seq": 1', b'"seq": 2')])
    assert [(finding.rule, finding.seq) for finding in answer.findings] == [("unknown-ruleset", 1)]


def test_an_own_field_changes_no_answer() -> None:
    plain = [opener("s", "fr-craps"), event("s", 2, "wager.placed", wager="w1", bet="field", stake=100)]
    plain += [event("s", 3, "dice.thrown", faces=[1, 2]), event("s", 4, "dice.thrown", faces=[1, 2])]
    with_ext = [json.dumps(json.loads(raw) | {"ext": {"bet": "Win", "player": "Zoé"}}) for raw in plain]
    assert adjudicate(with_ext).as_dict() == adjudicate(plain).as_dict()
    assert [finding.rule for finding in adjudicate(plain).findings] == ["payout-missing"]


def test_an_own_event_may_be_corrected() -> None:
    correction: dict[str, Any] = {"corrects": 2, "data": {"frames": [9]}, "reason": "slip", "approved_by": "chef-1"}
    answer = adjudicate(
        [opener("s", "fr-craps"), event("s", 2, "x.acme.camera"), event("s", 3, "entry.corrected", **correction)]
    )
    assert "correction-without-effect" not in {finding.rule for finding in answer.findings}
    assert [each["corrects"] for each in answer.corrections] == [2]


# Equipment and staff


def test_a_croupier_of_the_opening_is_one_of_the_staff() -> None:
    chief = [{"person": "C1", "role": "chef_de_table"}]
    staffed = {"observes": ["staff"], "wheel": "W-0431", "dice_set": "D-7"}
    right = opener("s", "fr-american-roulette", staff=chief, croupier="K1", **staffed)
    assert adjudicate([right]).findings == []
    both = [*chief, {"person": "K1", "role": "croupier"}]
    assert adjudicate([opener("s", "fr-american-roulette", staff=both, croupier="K1", **staffed)]).findings == []
    [two] = adjudicate([opener("s", "fr-american-roulette", staff=both, croupier="K2", **staffed)]).findings
    assert two.rule == "staffing-invalid"
    [none] = adjudicate([opener("s", "fr-american-roulette", staff=chief, **staffed)]).findings
    assert none.rule == "staffing-invalid"


# Bets outside s. 95.17


def test_a_bet_outside_the_section_is_not_adjudicated() -> None:
    play("""
        qc-craps calls collections minimum=500
        place p win 100 medium=verbal player=P1     => p:out_of_scope
        call
        +9s place q the_moon 100
        throw 3-4
        sweep p
        pay p 100+100
        pay p 100+100
        take q
        switch q on
        place q right_bet 600 number=6              ! wager-id-reused:q
        place q2 any_craps 100
        place q3 win 100
        close
    """)
    lines = [opener("s", "qc-craps"), event("s", 2, "wager.placed", wager="p", bet="win", stake=100)]
    answer = adjudicate([*lines, event("s", 3, "payout.made", wager="p", winnings=5, stake_returned=100)])
    outcome = answer.wagers["p"]
    assert (outcome.status, outcome.winnings_due, outcome.stake_due) == ("out_of_scope", 0, 0)
    assert (outcome.winnings_paid, outcome.stake_paid, outcome.decided_by) == (5, 100, None)
    assert answer.unchecked == ["bet:win", "calls", "collections", "marker"]
