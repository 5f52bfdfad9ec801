"""The value process: no draw moves an expectation, and its luck is what the bridge calls luck."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from audit.simulation import RULESET_NAMES, play
from settlement import Event, State, decode
from settlement.eprocess.observations import Recorder
from settlement.night.bridge import Bank, Bridge, wager_line
from settlement.night.chances import Outlook, Readings
from settlement.night.roulette import layout_of
from settlement.night.value import commission_due, luck_carried, present_value, theoretical_win
from settlement.state import Table
from tests.settlement.night.by_definition import after, every_draw
from tests.settlement.night.racks import summed
from tests.settlement.night.simple_chance import edge_of_a_simple_chance
from tests.settlement.streams import event, opener
from tests.settlement.test_properties import quick, streams

DAY = date(2026, 11, 19)


def night(ruleset: str, seed: int, coups: int = 60) -> list[Event]:
    session = play(ruleset, casino="demo", code="T1", gaming_day=DAY, seed=seed, coups=coups)
    return [decode(json.dumps(each)) for each in session.events]


def position(table: Table) -> Fraction:
    """Return the house's position less its charges: what the value process says is luck."""
    session = table.open_session()
    total = Fraction(0)
    for wager in table.wagers.values():
        line = wager_line(session, wager)
        total += line.luck + line.carried
    return total


def outlook(table: Table) -> Outlook:
    return Recorder().look(table).table


def variance(ahead: Outlook) -> Fraction:
    return Fraction(ahead.squares, ahead.per)


def recorded(events: list[Event]) -> tuple[State, Recorder]:
    state, recorder = State(), Recorder()
    state.feed_all(events, recorder.interceptors(state))
    return state, recorder


@pytest.mark.parametrize("coups", [8, pytest.param(25, marks=pytest.mark.faults)])
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_over_every_outcome_the_engine_can_give_the_mean_is_nothing_and_the_variance_is_the_outlook_s(
    ruleset: str, coups: int
) -> None:
    # Every draw of a night is played in every way through the engine, and the position taken after each.
    state = State()
    seen = 0
    for each in night(ruleset, 3, coups=coups):
        if each.is_result:
            before = position(state.table)
            changes = [position(after(state, drawn)) - before for drawn in every_draw(each, ruleset)]
            assert sum(changes) == 0
            ahead = outlook(state.table)
            assert sum(change**2 for change in changes) / len(changes) == variance(ahead)
            seen += bool(ahead.squares)
        state.feed(each)
    assert seen >= coups // 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_the_luck_of_the_draws_is_the_luck_of_the_bridge(ruleset: str, seed: int) -> None:
    state, process = recorded(night(ruleset, seed))
    table = state.table
    lines = [wager_line(table.open_session(), wager) for wager in table.wagers.values()]
    bridge = Bridge.of(Bank(currency="EUR", opening_float=0), summed(lines))
    assert process.luck == bridge.luck
    assert bridge.carried == 0
    assert process.variance > 0
    assert len(process.observations.drawn) >= 55


@quick
@given(streams())
def test_on_any_stream_luck_is_all_that_no_decision_charged(stream: list[bytes]) -> None:
    state, process = recorded([decode(raw) for raw in stream])
    assert process.luck == position(state.table)


def test_what_cannot_have_been_drawn_is_no_draw() -> None:
    for ruleset, kind, impossible in (
        ("fr-craps", "ball.settled", {"pocket": "17"}),
        ("fr-craps", "dice.thrown", {"faces": [0, 7]}),
        ("fr-roulette", "dice.thrown", {"faces": [3, 4]}),
        ("fr-roulette", "ball.settled", {"pocket": "00"}),
        ("no-such", "dice.thrown", {"faces": [3, 4]}),
        ("no-such", "ball.settled", {"pocket": "17"}),
    ):
        state, process = recorded([decode(opener("s", ruleset)), decode(event("s", 2, kind, **impossible))])
        assert (process.observations.drawn, process.luck, process.variance) == ([], 0, 0), (ruleset, kind)
        assert state.table.events == 2


def test_a_throw_that_breaks_another_rule_is_a_draw() -> None:
    state, process = recorded(
        [
            decode(opener("s", "fr-craps", observes=["custody"])),
            decode(event("s", 2, "wager.placed", wager="w", bet="big_6", stake=1100)),
            decode(event("s", 3, "dice.thrown", faces=[3, 4], dice=["a", "b"])),
        ]
    )
    assert [finding.rule for finding in state.table.findings] == ["unselected-dice-thrown"]
    assert process.luck == 1100 * Fraction(10, 11)


# What a choice costs


def fed(ruleset: str, *events: tuple[str, dict[str, Any]], **params: Any) -> Table:
    state = State()
    state.feed(decode(opener("s", ruleset, params=params)))
    for seq, (kind, data) in enumerate(events, start=2):
        state.feed(decode(event("s", seq, kind, **data)))
    return state.table


def imprisoned(zeros: int) -> list[tuple[str, dict[str, Any]]]:
    zero = [("ball.settled", {"pocket": "0"}), ("zero.decided", {"wager": "w", "choice": "prison"})]
    return [("wager.placed", {"wager": "w", "bet": "noir", "stake": 2**20}), *zero * zeros]


@pytest.mark.parametrize("ruleset", ["fr-roulette", "fr-american-roulette"])
@pytest.mark.parametrize("release", ["halving", "full"])
def test_a_player_who_always_chooses_prison_is_charged_the_edge_of_prison(ruleset: str, release: str) -> None:
    # Σ over k of the chance that just k zeros come, times what those k choices are charged. Each further zero divides
    # what is left by 37 or 19 and, while the stake is halved, by 2: after 12 nothing of it is seen.
    params = {"zero_rule": "choice", "release_value": release}
    wheel = layout_of(ruleset).wheel
    zero = Fraction(len(layout_of(ruleset).zeros), len(wheel))
    expected = Fraction(0)
    for zeros in range(12):
        ended = [*imprisoned(zeros), ("ball.settled", {"pocket": "1"})]
        table = fed(ruleset, *ended, **params)
        assert table.wagers["w"].status == "lost"
        expected += zero**zeros * (1 - zero) * theoretical_win(table.open_session(), table.wagers["w"])
    readings = Readings(ruleset, zero_rule="choice", release_value=release)
    edge = edge_of_a_simple_chance(readings, "prison")
    assert abs(expected / 2**20 - edge) < Fraction(1, 10**12)


def test_a_prisoner_has_a_present_value_and_what_it_is_worth_less_than_the_half_was_charged() -> None:
    table = fed("fr-roulette", *imprisoned(1))
    session, wager = table.open_session(), table.wagers["w"]
    assert present_value(session, wager) == 2**20 * (Fraction(18, 37) + Fraction(1, 37) / 4)
    assert theoretical_win(session, wager) == 0, "undecided: in no win yet"
    freed = fed("fr-roulette", *imprisoned(1), ("ball.settled", {"pocket": "2"}))
    charged = theoretical_win(freed.open_session(), freed.wagers["w"])
    assert charged == 2**20 * (Fraction(1, 74) + Fraction(1, 148))


BUY = {"wager": "w", "bet": "buy_bet", "number": 4, "stake": 1010, "marker": "buy", "commission": 44}
LAY = {"wager": "w", "bet": "lay_bet", "number": 4, "stake": 1010, "marker": "lay", "commission": 44}
WITHDRAWN = ("wager.withdrawn", {"wager": "w"})


@pytest.mark.parametrize(
    ("data", "rounding", "due"),
    [
        (BUY, "ceil", 51),  # 5 % of 1010 is 50.5
        (BUY, "nearest", 51),
        (BUY, "floor", 50),
        (LAY, "ceil", 26),  # 5 % of the 505 it can win is 25.25
        (LAY, "nearest", 25),
        (LAY, "floor", 25),
        (BUY | {"bet": "right_bet"}, "ceil", 0),
        (BUY | {"number": 7}, "ceil", 44),  # void: the commission stays paid
    ],
)
def test_a_commission_is_due_as_the_section_and_the_session_say(data: dict[str, Any], rounding: str, due: int) -> None:
    table = fed("qc-craps", ("wager.placed", data), commission_rounding=rounding)
    assert commission_due(table.open_session(), table.wagers["w"]) == due


def test_a_commission_is_rounded_to_the_unit_of_the_session() -> None:
    table = fed("qc-craps", ("wager.placed", BUY), commission_rounding="ceil", commission_unit=25)
    assert commission_due(table.open_session(), table.wagers["w"]) == 75


@pytest.mark.parametrize(("refunded", "due"), [(True, 0), (False, 51)])
def test_a_withdrawn_commission_is_due_unless_the_session_refunds_it(refunded: bool, due: int) -> None:
    events = [("wager.placed", BUY), ("dice.thrown", {"faces": [1, 2]}), WITHDRAWN]
    table = fed("qc-craps", *events, commission_refunded_on_withdrawal=refunded)
    assert table.wagers["w"].status == "withdrawn"
    assert commission_due(table.open_session(), table.wagers["w"]) == due
    standing = fed("qc-craps", *events[:2], commission_refunded_on_withdrawal=True)
    assert commission_due(standing.open_session(), standing.wagers["w"]) == 51


# A stake of 2²⁰ on black is charged 1/74 of itself; its first prison costs 1/148 more than the half.
ONE_PRISON = 2**20 * (Fraction(1, 74) + Fraction(1, 148))
ZERO = ("ball.settled", {"pocket": "0"})
LAST_COUP: tuple[str, dict[str, Any]] = ("last_coup.announced", {})


@pytest.mark.parametrize(
    ("status", "events"),
    [
        ("refunded_half", [ZERO, ("zero.decided", {"wager": "w", "choice": "half"})]),
        ("refunded_last_coup", [LAST_COUP, ZERO]),
        ("released", [("ball.settled", {"pocket": "2"})]),
        ("lost", [("ball.settled", {"pocket": "1"})]),
    ],
)
def test_only_the_choice_of_prison_is_charged_and_not_how_it_ended(
    status: str, events: list[tuple[str, dict[str, Any]]]
) -> None:
    table = fed("fr-roulette", *imprisoned(1), *events)
    assert table.wagers["w"].status == status
    assert theoretical_win(table.open_session(), table.wagers["w"]) == ONE_PRISON


def test_while_the_player_has_not_chosen_his_stake_is_worth_the_half() -> None:
    table = fed("fr-roulette", *imprisoned(1), ZERO)
    session, wager = table.open_session(), table.wagers["w"]
    assert wager.status == "awaiting_decision"
    assert present_value(session, wager) == 2**18
    assert luck_carried(session, wager) == 2**20 - 2**18 - ONE_PRISON


def test_breakage_is_expected_and_is_no_luck() -> None:
    # 5 on the six at 7 to 6 wins 5, not 5⅚: 6 ways in 11 lose 5, 5 win 5.
    table = fed(
        "fr-craps",
        ("wager.placed", {"wager": "w", "bet": "right_bet", "stake": 5, "number": 6}),
        ("dice.thrown", {"faces": [3, 3]}),
    )
    assert theoretical_win(table.open_session(), table.wagers["w"]) == Fraction(6 * 5 - 5 * 5, 11)


def test_a_wager_that_is_off_has_no_luck_in_a_come_out() -> None:
    placed = ("wager.placed", {"wager": "w", "bet": "right_bet", "stake": 600, "number": 6})
    assert outlook(fed("qc-craps", placed)).squares == 0
    assert outlook(fed("qc-craps", placed, ("dice.thrown", {"faces": [2, 2]}))).squares > 0
    working = (placed[0], placed[1] | {"working": True})
    assert outlook(fed("qc-craps", working)).squares > 0


def test_a_payout_that_the_unit_rounds_down_is_drawn_as_it_is_paid() -> None:
    # 1,999 at evens in units of 5 wins 1,995 on 18 pockets; a zero gives back the half, 999, as 995.
    red = ("wager.placed", {"wager": "r", "bet": "rouge", "stake": 1999})
    ahead = outlook(fed("fr-roulette", red, payout_unit=5))
    worth = Fraction(18 * (1999 + 1995) + 995, 37)
    assert sum(ahead.changes) == 0
    assert variance(ahead) == Fraction(18 * (1999 + 1995) ** 2 + 995**2, 37) - worth**2


def test_stakes_of_one_coup_are_added_before_they_are_squared() -> None:
    red = ("wager.placed", {"wager": "r", "bet": "rouge", "stake": 3700})
    black = ("wager.placed", {"wager": "b", "bet": "noir", "stake": 3700})
    alone = variance(outlook(fed("fr-roulette", red)))
    hedged = variance(outlook(fed("fr-roulette", red, black)))
    twice = variance(outlook(fed("fr-roulette", red, (red[0], red[1] | {"wager": "r2"}))))
    assert twice == 4 * alone
    # Only a zero is left: both stakes lose a half, 1 in 37.
    assert hedged == 3700**2 * (Fraction(1, 37) - Fraction(1, 37) ** 2)
