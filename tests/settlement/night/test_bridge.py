"""The bridge closes, and every irregularity lands on its line, in its amount, with its sign."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import Event, State, decode
from settlement.finding import Finding, latest
from settlement.night.bridge import Bank, Bridge, Win, in_minor_units
from settlement.state import Table
from settlement.verdicts import as_it_stands
from tests.long_forms import in_short
from tests.settlement.night.racks import bank_of, lines_of, summed
from tests.settlement.streams import event, opener

DAY = date(2026, 11, 19)


def findings_of(table: Table) -> list[Finding]:
    """Return what was found so far, the coup under way as it stands."""
    under_way, amended, _debts = as_it_stands(table)
    return latest([*table.findings, *table.amended, *under_way, *amended])


# One kind after the other

Events = list[tuple[str, dict[str, Any]]]

RED = ("wager.placed", {"wager": "w", "bet": "rouge", "stake": 1000})
SEVENTEEN = ("wager.placed", {"wager": "w", "bet": "plein", "stake": 100, "numbers": ["17"]})
CALL: tuple[str, dict[str, Any]] = ("no_more_bets", {})
WITHDRAWN = ("wager.withdrawn", {"wager": "w"})
BUY = ("wager.placed", {"wager": "w", "bet": "buy_bet", "number": 4, "stake": 1000, "marker": "buy", "commission": 50})
LAY = ("wager.placed", {"wager": "w", "bet": "lay_bet", "number": 4, "stake": 1200, "marker": "lay", "commission": 30})
POINT_SIX = ("dice.thrown", {"faces": [3, 3]})


def ball(pocket: str) -> tuple[str, dict[str, Any]]:
    return "ball.settled", {"pocket": pocket}


def dice(first: int, second: int) -> tuple[str, dict[str, Any]]:
    return "dice.thrown", {"faces": [first, second]}


def paid(winnings: int, stake: int, wager: str = "w") -> tuple[str, dict[str, Any]]:
    return "payout.made", {"wager": wager, "winnings": winnings, "stake_returned": stake}


def answered(choice: str) -> tuple[str, dict[str, Any]]:
    return "zero.decided", {"wager": "w", "choice": choice}


PRISON = [RED, ball("0"), answered("prison")]

# kind, ruleset, events, and then: S, W_adj, payout errors, what the line consists of
KINDS: dict[str, tuple[str, Events, dict[str, Any]]] = {
    "lost": ("fr-roulette", [RED, ball("2")], {"S": 1000, "adj": 1000, "L": 1000}),
    "won and paid": ("fr-roulette", [SEVENTEEN, ball("17"), paid(3500, 100)], {"S": 100, "adj": -3500, "G": 3500}),
    "overpaid": ("fr-roulette", [SEVENTEEN, ball("17"), paid(3600, 100)], {"S": 100, "adj": -3500, "errors": -100}),
    "underpaid": ("fr-roulette", [SEVENTEEN, ball("17"), paid(3400, 100)], {"S": 100, "adj": -3500, "errors": 100}),
    "stake not returned": ("fr-roulette", [RED, ball("1"), paid(1000, 0)], {"S": 1000, "adj": -1000, "errors": 1000}),
    "too much stake returned": (
        "fr-roulette",
        [RED, ball("1"), paid(1000, 1200)],
        {"S": 1000, "adj": -1000, "errors": -200},
    ),
    "not paid": ("fr-roulette", [RED, ball("1"), ball("2")], {"S": 1000, "adj": -1000, "errors": 2000}),
    "paid late": ("fr-roulette", [RED, ball("1"), ball("2"), paid(1000, 1000)], {"S": 1000, "adj": -1000}),
    "paid twice": (
        "fr-roulette",
        [RED, ball("1"), paid(1000, 1000), paid(1000, 1000)],
        {"S": 1000, "adj": -1000, "errors": -2000},
    ),
    "loss paid": ("fr-roulette", [RED, ball("2"), paid(1000, 1000)], {"S": 1000, "adj": 1000, "errors": -2000}),
    "loss given back": ("fr-roulette", [RED, ball("2"), paid(0, 1000)], {"S": 1000, "adj": 1000, "errors": -1000}),
    "paid to nobody": ("fr-roulette", [paid(700, 300, "ghost")], {"S": 0, "adj": 0, "errors": -1000}),
    "paid before it lost": (
        "fr-roulette",
        [RED, paid(0, 1000), ball("2")],
        {"S": 1000, "adj": 1000, "errors": -1000},
    ),
    "won but swept, and paid": (
        "fr-roulette",
        [RED, ball("1"), ("stakes.collected", {"wagers": ["w"]}), paid(1000, 1000)],
        {"S": 1000, "adj": -1000},
    ),
    # By hand: the payout has emptied the spot, so the sweep took nothing, and what came back is the player's to lift.
    "handed out with 100 more, its empty spot swept, released, and all of it recovered": (
        "fr-roulette",
        [
            *(RED, paid(0, 1100), ("stakes.collected", {"wagers": ["w"]}), ball("0"), ball("1")),
            ("payout.recovered", {"wager": "w", "stake": 1100}),
        ],
        {"S": 1000, "adj": 0},
    ),
    "half taken": ("fr-roulette", [RED, ball("0"), answered("half"), paid(0, 500)], {"S": 1000, "adj": 500, "Z": 500}),
    "half refunded whole": (
        "fr-roulette",
        [RED, ball("0"), answered("half"), paid(0, 1000)],
        {"S": 1000, "adj": 500, "errors": -500},
    ),
    "half said, and taken by the player": ("fr-roulette", [RED, ball("0"), answered("half")], {"S": 1000, "adj": 500}),
    "half of the last coup not refunded": (
        "fr-roulette",
        [RED, ("last_coup.announced", {}), ball("0")],
        {"S": 1000, "adj": 500, "errors": 500},
    ),
    "released": ("fr-roulette", [*PRISON, ball("1"), paid(0, 1000)], {"S": 1000, "adj": 0}),
    "released after two zeros": (
        "fr-roulette",
        [*PRISON, ball("0"), answered("prison"), ball("1"), paid(0, 500)],
        {"S": 1000, "adj": 500, "Z": 500},
    ),
    "released with winnings": (
        "fr-roulette",
        [*PRISON, ball("1"), paid(1000, 1000)],
        {"S": 1000, "adj": 0, "errors": -1000},
    ),
    "lost in prison": ("fr-roulette", [*PRISON, ball("2")], {"S": 1000, "adj": 1000, "L": 1000}),
    "last coup": (
        "fr-roulette",
        [*PRISON, ("last_coup.announced", {}), ball("0"), paid(0, 250)],
        {"S": 1000, "adj": 750, "Z": 750},
    ),
    "in prison": ("fr-roulette", PRISON, {"S": 0, "adj": 0, "I": 1000}),
    "open": ("fr-roulette", [RED], {"S": 0, "adj": 0, "U": 1000}),
    "open and paid": ("fr-roulette", [RED, paid(500, 0)], {"S": 0, "adj": 0, "U": 1000, "errors": -500}),
    "withdrawn": ("fr-roulette", [RED, WITHDRAWN, ball("2")], {"S": 0, "adj": 0}),
    "withdrawn and handed back": ("fr-roulette", [RED, WITHDRAWN, paid(0, 1000)], {"S": 0, "adj": 0}),
    "withdrawn and handed back twice over": (
        "fr-roulette",
        [RED, WITHDRAWN, paid(0, 1700)],
        {"S": 0, "adj": 0, "errors": -700},
    ),
    "push paid, then withdrawn": (
        "fr-craps",
        [
            ("wager.placed", {"wager": "w", "bet": "big_6", "stake": 1000}),
            dice(1, 2),
            paid(1000, 1000),
            WITHDRAWN,
        ],
        {"S": 0, "adj": 0, "errors": -1000},  # the stake handed over is the withdrawal
    ),
    # By hand: 500 and 1,600 handed over, of which 1,000 are the withdrawal; 650 are in the rack again: he holds 1,450
    # for his 1,000.
    "paid, withdrawn, paid again, and some of it recovered after the coup": (
        "fr-craps",
        [
            ("wager.placed", {"wager": "w", "bet": "big_6", "stake": 1000}),
            paid(500, 1000),
            WITHDRAWN,
            ("payout.made", {"wager": "w", "winnings": 0, "stake_returned": 600, "continues_as": "w2"}),
            dice(3, 4),
            ("payout.recovered", {"wager": "w", "winnings": 400, "stake": 250}),
        ],
        {"S": 0, "adj": 0, "errors": -450},
    ),
    "part withdrawn": (
        "fr-roulette",
        [RED, ("wager.withdrawn", {"wager": "w", "amount": 400}), ball("2")],
        {"S": 600, "adj": 600, "L": 600},
    ),
    "void": ("fr-roulette", [CALL, RED, ball("2")], {"S": 0, "adj": 0}),
    "void and pushed back": ("fr-roulette", [CALL, RED, ball("1"), paid(0, 1000)], {"S": 0, "adj": 0}),
    "void and paid": ("fr-roulette", [CALL, RED, ball("1"), paid(1000, 1000)], {"S": 0, "adj": 0, "errors": -1000}),
    "void and swept": (
        "fr-roulette",
        [CALL, RED, ball("2"), ("stakes.collected", {"wagers": ["w"]})],
        {"S": 0, "adj": 0, "errors": 1000},
    ),
    "void and swept, and nothing taken back after the coup": (
        "fr-roulette",
        [
            *(CALL, RED, ball("2"), ("stakes.collected", {"wagers": ["w"]}), ball("1")),
            ("payout.recovered", {"wager": "w", "stake": 0}),
        ],
        {"S": 0, "adj": 0, "errors": 1000},
    ),
    "void, of an id that was swept before it was placed": (
        "fr-roulette",
        [("stakes.collected", {"wagers": ["w"]}), CALL, RED, ball("2")],
        {"S": 0, "adj": 0},
    ),
    "void and swept after a voided throw": (
        "fr-craps",
        [
            ("wager.placed", {"wager": "w", "bet": "tip", "stake": 1000}),
            ("throw.voided", {"announced_by": "stickman", "flags": ["slid"]}),
            ("stakes.collected", {"wagers": ["w"]}),
        ],
        {"S": 0, "adj": 0, "errors": 1000},
    ),
    "swept after a voided throw, then lost": (
        "fr-craps",
        [
            ("wager.placed", {"wager": "w", "bet": "big_6", "stake": 1000}),
            ("throw.voided", {"announced_by": "stickman", "flags": ["slid"]}),
            ("stakes.collected", {"wagers": ["w"]}),
            dice(3, 4),
        ],
        {"S": 1000, "adj": 1000, "L": 1000},
    ),
    "void, swept and given back": (
        "fr-roulette",
        [CALL, RED, ball("2"), ("stakes.collected", {"wagers": ["w"]}), paid(0, 1000)],
        {"S": 0, "adj": 0},
    ),
    "pushed": (
        "fr-craps",
        [("wager.placed", {"wager": "w", "bet": "big_6", "stake": 1000}), dice(1, 2)],
        {"S": 0, "adj": 0, "U": 1000},
    ),
    "push paid, then lost": (
        "fr-craps",
        [("wager.placed", {"wager": "w", "bet": "big_6", "stake": 1000}), dice(1, 2), paid(1000, 1000), dice(3, 4)],
        {"S": 1000, "adj": 1000, "errors": -2000},
    ),
    "commission of a win": (
        "qc-craps",
        [POINT_SIX, BUY, dice(2, 2), paid(2000, 1000)],
        {"S": 1000, "adj": -1950, "V": 50, "G": 2000},
    ),
    "commission of a loss": ("qc-craps", [POINT_SIX, LAY, dice(2, 2)], {"S": 1200, "adj": 1230, "V": 30}),
    "commission too small": (
        "qc-craps",
        [POINT_SIX, (BUY[0], BUY[1] | {"commission": 40}), dice(3, 4)],
        {"S": 1000, "adj": 1050, "errors": -10},
    ),
    "commission undue": (
        "qc-craps",
        [POINT_SIX, (BUY[0], BUY[1] | {"bet": "right_bet", "stake": 500, "commission": 25}), dice(3, 4)],
        {"S": 500, "adj": 500, "errors": 25},
    ),
    "commission kept on withdrawal": (
        "qc-craps",
        [POINT_SIX, BUY, dice(1, 2), WITHDRAWN],
        {"S": 0, "adj": 50, "V": 50},
    ),
    "a bet outside the text": (
        "qc-craps",
        [("wager.placed", {"wager": "w", "bet": "any_craps", "stake": 1000}), dice(1, 1), paid(7000, 1000)],
        {"S": 0, "adj": 0, "N": -7000},
    ),
    "a bet outside the text, swept, and winnings taken back": (
        "qc-craps",
        [
            ("wager.placed", {"wager": "w", "bet": "any_craps", "stake": 1000}),
            ("payout.recovered", {"wager": "w", "winnings": 1}),
            ("stakes.collected", {"wagers": ["w"]}),
        ],
        {"S": 0, "adj": 0, "N": 1},
    ),
    "commission of what stands": ("qc-craps", [POINT_SIX, BUY], {"S": 0, "adj": 50, "V": 50, "U": 1000}),
}


def stream_of(ruleset: str, events: Events, **params: Any) -> list[Event]:
    raw = [opener("s", ruleset, params=params, observes=["calls", "collections"])]
    raw += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate(events, start=2)]
    return [decode(each) for each in raw]


def amounts(bridge: Bridge) -> dict[str, int]:
    """Return the letters of the bridge that are not 0, S and W_adj always."""
    by_rules = bridge.adjudicated
    every = {
        "L": by_rules.lost,
        "Z": by_rules.halves,
        "V": by_rules.commissions,
        "G": by_rules.winnings,
        "U": bridge.undecided,
        "I": bridge.imprisoned,
        "N": bridge.unadjudicated,
        "errors": bridge.payout_errors,
    }
    return {"S": bridge.stakes, "adj": by_rules.total} | {letter: amount for letter, amount in every.items() if amount}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_lands_on_its_line(kind: str) -> None:
    ruleset, events, expected = KINDS[kind]
    stream = stream_of(ruleset, events)
    bridge = Bridge.of(bank_of(stream), summed(lines_of(stream)))
    actual = amounts(bridge)
    assert {letter: actual.get(letter, 0) for letter in {*expected, "errors", "U", "I", "N"}} == {
        "errors": 0,
        "U": 0,
        "I": 0,
        "N": 0,
    } | expected
    if "errors" not in expected and "N" not in expected:
        assert bridge.recorded == bridge.adjudicated, "L, Z, V and G each"
    recorded = bridge.recorded.total
    assert bridge.theoretical + bridge.luck + bridge.unadjudicated + bridge.payout_errors == recorded


def test_a_refunded_commission_is_in_no_win() -> None:
    events = [POINT_SIX, BUY, dice(1, 2), WITHDRAWN]
    stream = stream_of("qc-craps", events, commission_refunded_on_withdrawal=True)
    bridge = Bridge.of(bank_of(stream), summed(lines_of(stream)))
    assert amounts(bridge) == {"S": 0, "adj": 0}
    assert bridge.recorded == Win()


def test_a_line_has_the_status_of_its_wager_and_what_is_still_in_play() -> None:
    (line,) = lines_of(stream_of("fr-roulette", [RED]))
    assert (line.wager, line.bet, line.status) == ("w", "rouge", "open")
    assert (line.undecided, line.imprisoned, line.zeros, line.refund) == (1000, 0, 0, 0)
    assert line.present_value == 1000 * Fraction(73, 74)
    assert line.carried == 0, "no draw has touched it yet"
    (line,) = lines_of(stream_of("fr-roulette", PRISON))
    # Before the zero it was worth 73/74 of the stake, 13.51 less than it; prison is charged 13.51 more than the half.
    worth = 1000 * Fraction(18, 37) + Fraction(250, 37)
    assert line.carried == 1000 - worth - Fraction(1000, 74) - (500 - worth)
    (ghost,) = lines_of(stream_of("fr-roulette", [paid(700, 300, "ghost")]))
    assert (ghost.wager, ghost.bet, ghost.status, ghost.decided) == ("ghost", "", "unknown", 0)
    assert ghost.recorded == Win(winnings=1000)


def test_a_prisoner_is_listed_with_its_zeros_its_refund_and_its_present_value() -> None:
    (line,) = lines_of(stream_of("fr-roulette", [*PRISON, ball("0"), answered("prison")]))
    assert (line.imprisoned, line.zeros, line.refund) == (1000, 2, 250)
    assert line.present_value == Fraction(18 * 500 + 125, 37)


# Whole nights

EVERY_IRREGULARITY = sorted(IRREGULARITIES)


def session(ruleset: str, seed: int, *irregularities: str, coups: int = 40) -> list[Event]:
    played = play(
        ruleset, casino="demo", code="T1", gaming_day=DAY, seed=seed, coups=coups, irregularities=irregularities
    )
    return [decode(json.dumps(each)) for each in played.events]


GIVEN_AWAY = {
    # rule: how the two amounts of its finding make the error of the house
    **dict.fromkeys(
        (
            "payout-overpaid",
            "payout-underpaid",
            "stake-not-returned",
            "half-refund-mismatch",
            "last-coup-refund-mismatch",
            "imprisoned-stake-paid-winnings",
            "imprisoned-value-not-halved",
            "horn-paid-split",
            "payout-missing",
            "payout-duplicated",
        ),
        lambda expected, recorded: expected - recorded,
    ),
    **dict.fromkeys(
        (
            "losing-wager-paid",
            "push-paid",
            "barred-number-settled",
            "inactive-wager-settled",
            "payout-without-result",
            "void-throw-settled",
        ),
        lambda _expected, recorded: -(recorded or 0),
    ),
    "commission-amount-mismatch": lambda expected, recorded: recorded - expected,
    "undue-commission": lambda expected, recorded: recorded - expected,
}


def errors_found(table: Table) -> dict[str | None, int]:
    """Return what was given away by wager, as the findings have it: computed by other code than the bridge's."""
    errors: dict[str | None, int] = {}
    for finding in findings_of(table):
        weigh = GIVEN_AWAY.get(finding.rule)
        if weigh is not None:
            given = weigh(finding.expected, finding.recorded)
            # What was paid too early counts towards what is due later: then less of it is owed now.
            if given < 0 and finding.owed is not None and finding.owed.by == "player":
                given = max(given, -finding.owed.amount)
            errors[finding.wager] = errors.get(finding.wager, 0) + given
    return {wager: error for wager, error in errors.items() if error}


NIGHTS = [
    (ruleset, irregularity)
    for ruleset in RULESET_NAMES
    for irregularity in ("none", *EVERY_IRREGULARITY, "all of them")
    if irregularity not in IRREGULARITIES or ruleset in IRREGULARITIES[irregularity].rulesets
]


@pytest.mark.parametrize("seeds", [1, pytest.param(4, marks=pytest.mark.faults)])
@pytest.mark.parametrize(("ruleset", "irregularity"), in_short(NIGHTS, every=3))
def test_the_bridge_closes_on_every_night_and_its_errors_are_those_that_were_found(
    ruleset: str, irregularity: str, seeds: int
) -> None:
    wanted = {"none": [], "all of them": EVERY_IRREGULARITY}.get(irregularity, [irregularity])
    for seed in range(seeds):
        events = session(ruleset, seed, *wanted)
        state = State()
        state.feed_all(events)
        table = state.table
        every = lines_of(events)
        bridge = Bridge.of(bank_of(events), summed(every))
        errors = {line.wager: line.payout_error for line in every if line.payout_error}
        assert errors == errors_found(table)
        printed = dict(bridge.printed())
        assert printed.pop("accounting_win") == bridge.bank.accounting_win == sum(printed.values())


@pytest.mark.parametrize("seeds", [2, pytest.param(6, marks=pytest.mark.faults)])
def test_orderly_nights_have_no_errors_and_leave_nothing_standing(seeds: int) -> None:
    for ruleset in RULESET_NAMES:
        for seed in range(seeds):
            events = session(ruleset, seed)
            bridge = Bridge.of(bank_of(events), summed(lines_of(events)))
            assert (bridge.payout_errors, bridge.undecided, bridge.imprisoned) == (0, 0, 0)
            assert bridge.accounting_variance == 0, "the rack the simulation closes with"


@pytest.mark.parametrize(
    ("field", "more", "variance"),
    [("closing_float", 700, 700), ("drop", -300, -300), ("credits", 500, 500), ("fills", 500, -500)],
)
def test_what_was_counted_or_written_wrong_is_accounting_variance(field: str, more: int, variance: int) -> None:
    events = session("fr-roulette", 1, "payout-overpaid")
    right = bank_of(events)
    wrong = msgspec.structs.replace(right, **{field: getattr(right, field) + more})
    before, after = Bridge.of(right, summed(lines_of(events))), Bridge.of(wrong, summed(lines_of(events)))
    assert after.accounting_variance == variance
    assert after.payout_errors == before.payout_errors == -200
    assert after.luck == before.luck
    assert wrong.accounting_win == (right.accounting_win or 0) + variance


def test_bridges_add_up_and_keep_to_one_currency() -> None:
    bridges = []
    for ruleset, seed in (("fr-craps", 1), ("fr-roulette", 2), ("fr-american-roulette", 3)):
        events = session(ruleset, seed, "payout-underpaid")
        bridges.append(Bridge.of(bank_of(events), summed(lines_of(events))))
    one, two, three = bridges
    whole = one + two + three
    for name in ("theoretical", "luck", "payout_errors", "accounting_variance", "stakes"):
        assert getattr(whole, name) == sum(getattr(each, name) for each in bridges)
    assert whole.bank.accounting_win == sum(each.bank.accounting_win or 0 for each in bridges)
    dollars = Bridge.of(Bank(currency="CAD", opening_float=0), [])
    with pytest.raises(AssertionError, match="two currencies"):
        _ = one + dollars


def test_banks_add_up_field_by_field_and_an_unknown_amount_stays_unknown() -> None:
    one = Bank(
        currency="EUR", opening_float=1, fills=20, credits=300, closing_float=4_000, drop=50_000, buy_ins=600_000
    )
    assert one.accounting_win == 4_000 + 300 + 50_000 - 1 - 20
    assert one + one == Bank(
        currency="EUR", opening_float=2, fills=40, credits=600, closing_float=8_000, drop=100_000, buy_ins=1_200_000
    )
    opened = Bank(currency="EUR", opening_float=7)
    assert (opened.fills, opened.credits, opened.buy_ins) == (0, 0, 0)
    for whole in (one + opened, opened + one):
        assert (whole.opening_float, whole.closing_float, whole.drop) == (8, None, None)


def test_two_bridges_add_up_to_the_bridge_of_all_their_wagers() -> None:
    banks, every = [], []
    for ruleset, events in (
        ("fr-roulette", [*PRISON, (RED[0], RED[1] | {"wager": "v"})]),
        ("qc-craps", [POINT_SIX, BUY]),
    ):
        stream = stream_of(ruleset, events)
        banks.append(bank_of(stream))
        every.append(lines_of(stream))
    one, two = (Bridge.of(bank, summed(each)) for bank, each in zip(banks, every, strict=True))
    assert one + two == Bridge.of(banks[0] + banks[1], summed(every[0] + every[1]))
    assert (one.imprisoned, one.undecided, two.undecided) == (1000, 1000, 1000)
    assert one.carried != 0


def test_a_bridge_is_the_sum_of_its_lines_wherever_a_session_is_cut() -> None:
    signs = set()
    for ruleset in RULESET_NAMES:
        events = session(ruleset, 3, coups=8)
        for cut in (index for index, each in enumerate(events, start=1) if each.is_result):
            lines = lines_of(events[:cut])
            bridge = Bridge.of(bank_of(events), summed(lines))
            assert bridge.theoretical == sum((line.theoretical for line in lines), Fraction(0))
            assert bridge.carried == sum((line.carried for line in lines), Fraction(0))
            assert bridge.adjudicated == Win(*map(sum, zip(*[line.adjudicated for line in lines], strict=True)))
            assert bridge.recorded == Win(*map(sum, zip(*[line.recorded for line in lines], strict=True)))
            signs |= {(line.carried > 0) - (line.carried < 0) for line in lines}
    assert signs == {-1, 0, 1}, "luck that is carried is the house's or the players'"


def test_an_open_session_and_one_without_a_count_have_no_accounting_win() -> None:
    for bank in (
        Bank(currency="EUR", opening_float=10, drop=5),
        Bank(currency="EUR", opening_float=10, closing_float=5),
    ):
        bridge = Bridge.of(bank, [])
        assert bank.accounting_win is bridge.accounting_variance is bridge.hold is None
        assert [name for name, _amount in bridge.printed()] == [
            "theoretical",
            "luck",
            "payout_errors",
            "recorded_win",
        ]


def test_bets_outside_the_text_have_a_line_of_their_own_where_their_money_is_not_zero() -> None:
    outside = ("wager.placed", {"wager": "x", "bet": "any_craps", "stake": 1000})
    played = [outside, BUY, dice(1, 1), paid(7000, 1000, "x")]
    every = lines_of(stream_of("qc-craps", [POINT_SIX, *played]))
    assert [(line.wager, line.payout_error, line.unadjudicated) for line in every] == [("x", 0, -7000), ("w", 0, 0)]
    bridge = Bridge.of(Bank(currency="CAD", opening_float=0), summed(every))
    assert bridge.printed() == [
        ("theoretical", 50),  # the commission, whatever the dice do
        ("luck", 0),
        ("unadjudicated", -7000),
        ("payout_errors", 0),
        ("recorded_win", -6950),
    ]
    assert (bridge + bridge).unadjudicated == -14000


def test_hold_and_edge_have_each_their_own_denominator() -> None:
    stream = stream_of("fr-roulette", [RED, ball("2")])
    bank = Bank(currency="EUR", opening_float=5000, closing_float=2000, drop=4000, buy_ins=4000)
    bridge = Bridge.of(bank, summed(lines_of(stream)))
    assert (bridge.hold, bridge.edge) == (Fraction(1, 4), Fraction(1))


# Rounding


@pytest.mark.parametrize(
    ("exact", "printed"),
    [
        (["1/2", "1/2"], [1, 0]),  # of two equal remainders the earlier
        (["1/4", "3/4"], [0, 1]),
        (["-1/3", "-1/3", "2/3"], [0, 0, 0]),
        (["1/4", "1/4"], [1, 0]),  # a half is rounded up
        (["1/4", "1/5"], [0, 0]),
        (["-1/4", "-1/4"], [0, 0]),
        ([], []),
    ],
)
def test_units_go_to_the_largest_remainders(exact: list[str], printed: list[int]) -> None:
    assert in_minor_units([Fraction(each) for each in exact]) == printed


fractions = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=1925)


@given(st.lists(fractions, max_size=12), st.integers(-(10**6), 10**6))
def test_what_is_printed_keeps_the_sum_and_stays_within_a_unit(parts: list[Fraction], total: int) -> None:
    exact = [*parts, total - sum(parts, Fraction(0))]
    printed = in_minor_units(exact)
    assert sum(printed) == total
    assert all(abs(one - other) < 1 for one, other in zip(printed, exact, strict=True))


def test_the_wagers_of_a_night_are_printed_to_the_sum_of_the_night() -> None:
    events = session("fr-craps", 4)
    every = lines_of(events)
    bridge = Bridge.of(bank_of(events), summed(every))
    printed = in_minor_units([line.theoretical for line in every])
    assert abs(sum(printed) - bridge.theoretical) <= Fraction(1, 2)
