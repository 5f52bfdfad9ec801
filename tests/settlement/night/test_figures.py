"""A session read once: the same figures however its events come in, and every one of them right."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import Event, State
from settlement import decode as decode_event
from settlement.events import EntryCorrected
from settlement.night.bridge import Bridge, wager_lines
from settlement.night.figures import SessionProjection, decode, encode
from tests.settlement.night.racks import counted
from tests.settlement.streams import event, opener
from tests.settlement.test_properties import quick, streams

DAY = date(2026, 11, 19)


def night(ruleset: str, seed: int, *irregularities: str, coups: int = 60) -> list[Event]:
    played = play(
        ruleset, casino="demo", code="T1", gaming_day=DAY, seed=seed, coups=coups, irregularities=irregularities
    )
    return [decode_event(json.dumps(each)) for each in played.events]


def read(events: list[Event], page: int = 1_000, **options: Any) -> SessionProjection:
    projection = SessionProjection((each for each in events if isinstance(each, EntryCorrected)), **options)
    for first in range(0, len(events), page):
        projection.feed(events[first : first + page])
    return projection


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_the_figures_are_those_of_the_whole_session_at_once(ruleset: str) -> None:
    events = night(ruleset, 5, *IRREGULARITIES)
    state, rack = counted(events)
    table = state.table
    figures = read(events).figures()
    whole = Bridge.of(figures.bridge.bank, wager_lines(table.open_session(), table.wagers.values(), table.findings))
    assert figures.bridge == whole
    assert figures.luck == figures.bridge.luck + figures.bridge.carried
    bank = figures.bridge.bank
    assert (bank.opening_float, bank.fills, bank.credits, bank.buy_ins) == (
        rack.opening,
        rack.fills,
        rack.credits,
        rack.box,
    )
    assert sum(error.amount for error in figures.errors) == figures.bridge.payout_errors != 0
    assert sum((bet.theoretical for bet in figures.bets.values()), Fraction(0)) == figures.bridge.theoretical
    assert sum(bet.recorded for bet in figures.bets.values()) == figures.bridge.recorded.total


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("page", [1, 7, 100])
def test_pages_of_any_size_give_the_same_bytes(ruleset: str, page: int) -> None:
    events = night(ruleset, 6, *IRREGULARITIES, coups=30)
    encoded = encode(read(events).figures())
    assert encode(read(events, page).figures()) == encoded
    assert encode(decode(encoded)) == encoded


@quick
@given(streams(), st.integers(1, 12))
def test_on_any_stream_pages_give_the_bridge_of_the_whole(stream: list[bytes], page: int) -> None:
    events = [decode_event(raw) for raw in stream]
    projection, state = read(events, page), State()
    state.feed_all(events)
    table = state.table
    whole = wager_lines(table.open_session(), table.wagers.values(), table.findings)
    assert [line for line, _wager in projection.lines()] == whole
    figures = projection.figures()
    assert figures.luck == figures.bridge.luck + figures.bridge.carried
    assert encode(figures) == encode(read(events).figures())


def test_without_luck_the_lines_are_the_same() -> None:
    events = night("fr-roulette", 7, "payout-overpaid")
    with_luck = [line for line, _wager in read(events).lines()]
    assert [line for line, _wager in read(events, follows_luck=False).lines()] == with_luck


def stream_of(*events: tuple[str, dict[str, Any]], **opened: Any) -> list[Event]:
    raw = [opener("s", "fr-roulette", **opened)]
    raw += [event("s", seq, kind, **data) for seq, (kind, data) in enumerate(events, start=2)]
    return [decode_event(each) for each in raw]


def test_a_corrected_slip_and_a_corrected_pocket_are_read_as_corrected() -> None:
    events = stream_of(
        ("bank.filled", {"amount": 500, "slip": "7"}),
        ("ball.settled", {"pocket": "17"}),
        ("session.closed", {"float": 900}),
        ("entry.corrected", {"corrects": 2, "data": {"amount": 400, "slip": "8"}, "reason": "r", "approved_by": "c"}),
        ("entry.corrected", {"corrects": 3, "data": {"pocket": "18"}, "reason": "r", "approved_by": "c"}),
        ("entry.corrected", {"corrects": 4, "data": {"float": 800}, "reason": "r", "approved_by": "c"}),
    )
    figures = read(events).figures()
    assert (figures.bridge.bank.fills, figures.bridge.bank.closing_float) == (400, 800)
    assert [(slip.slip, slip.amount) for slip in figures.slips] == [("8", 400)]
    assert figures.draws == [[3, "18"]]


def test_errors_are_laid_to_who_paid() -> None:
    placed = [("wager.placed", {"wager": f"w{n}", "bet": "rouge", "stake": 1000}) for n in range(3)]
    staff = [{"person": "Max", "role": "croupier"}]
    paid = [("payout.made", {"wager": f"w{n}", "winnings": 1000 + 50 * n, "stake_returned": 1000}) for n in range(3)]
    figures = read(stream_of(*placed, ("ball.settled", {"pocket": "1"}), *paid, staff=staff)).figures()
    assert figures.croupiers["Max"].payouts == 3
    assert (figures.croupiers["Max"].for_house, figures.croupiers["Max"].for_player) == (0, 2)
    assert [(error.wager, error.amount, error.croupier) for error in figures.errors] == [
        ("w1", -50, "Max"),
        ("w2", -100, "Max"),
    ]


def test_a_session_under_no_known_ruleset_has_a_bank_and_no_win() -> None:
    figures = read([decode_event(opener("s", "no-such", float=700))]).figures()
    assert not figures.is_adjudicated
    assert figures.bridge.stakes == 0
    assert figures.bridge.bank.opening_float == 700
