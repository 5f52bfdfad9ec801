"""The money of the players of one session: whose each stake is, and sums that are those of the session's bridge."""

from __future__ import annotations

import gc
import json
import weakref
from collections import defaultdict
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from audit.simulation import IRREGULARITIES, RULESET_NAMES, play
from settlement import State, decode, save_wagers
from settlement.corrections import changes_in
from settlement.eprocess.observations import Observations, Recorder
from settlement.eprocess.observations import encode as encode_observations
from settlement.events import BuyInRecorded, Event, PayoutMade, WagerPlaced
from settlement.night.figures import SessionProjection
from settlement.night.figures import encode as encode_figures
from settlement.persons.exchanges import NOBODY
from settlement.persons.session import PersonsProjection
from settlement.persons.stream_money import StreamMoney, encode
from settlement.persons.stream_money import decode as decode_money
from tests.settlement.night.test_figures import night
from tests.settlement.persons.streams_of_money import ALL
from tests.settlement.streams import event, opener


def read(events: list[Event], page: int = 1_000, **options: Any) -> PersonsProjection:
    projection = PersonsProjection(changes_in(events), **options)
    for first in range(0, len(events), page):
        projection.feed(events[first : first + page])
    return projection


def session(*rest: tuple[str, dict[str, Any]], ruleset: str = "fr-roulette", **opened: Any) -> list[Event]:
    first = opener("s", ruleset, **{"observes": ALL, **opened})
    return [
        decode(each) for each in (first, *(event("s", seq, kind, **data) for seq, (kind, data) in enumerate(rest, 2)))
    ]


def placed(wager: str, bet: str = "rouge", stake: int = 1000, **data: Any) -> tuple[str, dict[str, Any]]:
    return "wager.placed", {"wager": wager, "bet": bet, "stake": stake, **data}


def landed(pocket: str) -> tuple[str, dict[str, Any]]:
    return "ball.settled", {"pocket": pocket}


def paid(wager: str, winnings: int, stake: int, **data: Any) -> tuple[str, dict[str, Any]]:
    return "payout.made", {"wager": wager, "winnings": winnings, "stake_returned": stake, **data}


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("page", [1, 7, 1_000])
def test_what_the_players_won_and_lost_is_the_bridge_of_the_session(ruleset: str, page: int) -> None:
    events = night(ruleset, 5, *IRREGULARITIES)
    projection = read(events, page)
    figures, money = projection.figures(), projection.money()
    plays = money.players.values()
    assert sum(play.recorded for play in plays) == figures.bridge.recorded.total
    assert sum(play.adjudicated for play in plays) == figures.bridge.adjudicated.total
    assert sum((play.theoretical for play in plays), Fraction(0)) == figures.bridge.theoretical
    assert sum((play.luck + play.carried for play in plays), Fraction(0)) == figures.luck
    assert sum(play.payout_errors for play in plays) == figures.bridge.payout_errors != 0
    assert sum(play.handle for play in plays) == figures.bridge.stakes
    assert sum(play.wagers for play in plays) == len({e.data.wager for e in events if isinstance(e, WagerPlaced)})
    assert len([player for player in money.players if player != NOBODY]) > 2
    plain = SessionProjection(changes_in(events))
    plain.feed(events)
    assert encode_figures(figures) == encode_figures(plain.figures()), "reading for persons changes no figure"


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_what_is_kept_is_the_same_in_pages_of_any_size_and_reads_back(ruleset: str) -> None:
    events = night(ruleset, 6, *IRREGULARITIES, coups=30)
    encoded = encode(read(events).money())
    assert encode(read(events, 7).money()) == encoded
    assert encode(decode_money(encoded)) == encoded
    assert isinstance(decode_money(encoded), StreamMoney)


@pytest.mark.parametrize("page", [1, 2, 3, 1_000])
@pytest.mark.parametrize("follows_luck", [True, False])
def test_whose_a_stake_is_does_not_depend_on_where_a_page_ends(page: int, follows_luck: bool) -> None:
    """It was left up by one player, and is placed again from the seat of another: it stays the first one's."""
    events = session(
        ("player.seated", {"player": "p2", "seat": "S2"}),
        placed("w1", player="p1"),
        landed("1"),
        paid("w1", 1000, 1000, continues_as="w2"),
        placed("w2", seat="S2", left_up_from="w1"),
        landed("2"),
    )
    plays = read(events, page, follows_luck=follows_luck).money().players
    assert {player: play.wagers for player, play in plays.items()} == {"p1": 2}


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_projection_that_goes_along_with_a_state_has_what_it_has_alone(ruleset: str, step: int) -> None:
    events = night(ruleset, 7, *IRREGULARITIES, coups=30)
    alone = read(events)
    state = State(changes_in(events), {})
    along = PersonsProjection.along(state)
    for first in range(0, len(events), step):
        state.feed_all(events[first : first + step], along.interceptors)
    along.hold()
    state.forget_findings()
    state.retire()
    assert encode_figures(along.figures()) == encode_figures(alone.figures())
    assert encode(along.money()) == encode(alone.money())
    assert encode_observations(along.evidence) == encode_observations(alone.evidence)


def test_a_projection_notes_the_calls_that_voided_a_coup_as_a_recorder_does() -> None:
    events = night("fr-craps", 7, coups=200)
    state, recorder = State(changes_in(events), {}), Recorder()
    state.feed_all(events, recorder.interceptors(state))
    noted = read(events).evidence
    assert noted.void_calls
    assert (noted.void_calls, noted.voided) == (recorder.observations.void_calls, recorder.observations.voided)


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_nothing_of_a_session_is_left_to_the_garbage_collector(ruleset: str) -> None:
    events = night(ruleset, 7, *IRREGULARITIES, coups=30)
    gc.disable()
    try:
        state = State(changes_in(events), {})
        along = PersonsProjection.along(state)
        state.feed_all(events, along.interceptors)
        along.hold()
        assert along.figures().events == len(events)
        held = weakref.ref(state), weakref.ref(along)
        del state, along
        assert [each() for each in held] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_state_that_a_projection_goes_along_with_folds_as_it_does_alone(ruleset: str) -> None:
    events = night(ruleset, 7, *IRREGULARITIES, coups=30)
    alone, watched = State(changes_in(events), {}), State(changes_in(events), {})
    alone.feed_all(events)
    watched.feed_all(events, PersonsProjection.along(watched).interceptors)
    assert watched.adjudication() == alone.adjudication()
    assert watched.new_findings == alone.new_findings
    assert save_wagers(watched.retire()) == save_wagers(alone.retire())
    assert watched.to_bytes() == alone.to_bytes()


@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_a_rack_that_was_counted_right_is_what_slips_wagers_and_buy_ins_give(ruleset: str) -> None:
    rack = read(night(ruleset, 3)).money().rack
    assert rack is not None
    assert rack.closing == rack.expected != rack.opening


@pytest.mark.parametrize("ruleset", ["fr-roulette", "fr-american-roulette"])
def test_each_players_chips_are_what_a_second_person_follows(ruleset: str) -> None:
    """On an orderly night every payout is right: chips bought, less stakes laid, plus what was handed over."""
    events = night(ruleset, 8)
    money = read(events).money()
    owner: dict[str, str] = {}
    won: dict[str, int] = defaultdict(int)
    for each in events:
        match each:
            case WagerPlaced(data=data):
                owner[data.wager] = data.player or NOBODY
                won[owner[data.wager]] -= data.stake
            case PayoutMade(data=data):
                won[owner[data.wager]] += data.winnings + data.stake_returned
        assert each.type != "wager.withdrawn"
    assert {player: -play.recorded for player, play in money.players.items()} == won
    bought = sum(each.data.amount for each in events if isinstance(each, BuyInRecorded))
    assert sum(each.amount for each in money.exchanges) == bought > 0


def test_a_stake_is_whose_seat_it_was_laid_from_then() -> None:
    events = session(
        ("player.seated", {"player": "p1", "seat": "S1"}),
        placed("w1", seat="S1"),
        ("player.left", {"player": "p1"}),
        placed("w2", seat="S1"),
        ("player.seated", {"player": "p2", "seat": "S1"}),
        placed("w3", seat="S1"),
        placed("w4", seat="S1", player="p3"),
        landed("2"),
    )
    plays = read(events).money().players
    assert {player: play.wagers for player, play in plays.items()} == {"p1": 1, NOBODY: 1, "p2": 1, "p3": 1}


def test_a_stake_is_of_the_one_player_of_its_colour() -> None:
    events = session(
        ("colour.assigned", {"player": "p1", "colour": "red", "value": 100}),
        ("colour.assigned", {"player": "p2", "colour": "blue", "value": 100}),
        ("colour.assigned", {"player": "p3", "colour": "blue", "value": 100}),
        placed("w1", colour="red"),
        placed("w2", colour="blue"),
        ("player.left", {"player": "p3"}),
        placed("w3", colour="blue"),
        ruleset="fr-american-roulette",
    )
    plays = read(events).money().players
    assert {player: play.wagers for player, play in plays.items()} == {"p1": 1, NOBODY: 1, "p2": 1}


def test_a_stake_left_up_is_of_whoever_laid_it() -> None:
    events = session(
        ("player.seated", {"player": "p1", "seat": "S1"}),
        placed("w1", seat="S1"),
        landed("1"),
        paid("w1", 1000, 0, continues_as="w2"),
        landed("1"),
        paid("w2", 1000, 0),
        placed("w3", left_up_from="w2"),
        landed("2"),
    )
    for follows_luck in (True, False):
        plays = read(events, follows_luck=follows_luck).money().players
        assert {player: play.recorded for player, play in plays.items()} == {"p1": -1000}


def test_theoretical_win_luck_and_variance_of_a_player_by_hand() -> None:
    events = session(placed("w1", "plein", 3700, numbers=["7"], player="p1"), placed("w2", player="p2"), landed("7"))
    plays = read(events).money().players
    # 3,700 on a number: of 37 pockets one wins 35 × 3,700, the others lose 3,700.
    assert plays["p1"].theoretical == 100
    assert plays["p1"].luck == -35 * 3700 - 100
    mean = Fraction(100)
    assert plays["p1"].variance == Fraction((-35 * 3700 - mean) ** 2 + 36 * (3700 - mean) ** 2, 37)
    # 1,000 on red: 18 win, 18 lose, zero keeps half.
    assert plays["p2"].theoretical == Fraction(500, 37)
    mean = Fraction(500, 37)
    assert plays["p2"].variance == (18 * (-1000 - mean) ** 2 + 18 * (1000 - mean) ** 2 + (500 - mean) ** 2) / 37
    assert read(events, follows_luck=False).money().players["p1"].variance == 0


def test_the_stakes_of_one_player_are_taken_together() -> None:
    both = session(placed("w1", player="p1"), placed("w2", "noir", player="p1"), landed("7"))
    apart = session(placed("w1", player="p1"), placed("w2", "noir", player="p2"), landed("7"))
    plays = read(apart).money().players
    assert read(both).money().players["p1"].variance < plays["p1"].variance / 20
    void = session(placed("w1", player="p1"), landed("99"))
    assert read(void).money().players["p1"].variance == 0, "a pocket that does not exist is no draw"


def test_of_nobody_known_there_is_no_luck_to_speak_of() -> None:
    plays = read(session(placed("w1"), placed("w2", player="p1"), landed("7"))).money().players
    assert plays[NOBODY].variance == 0 < plays["p1"].variance


def test_banknotes_that_stay_on_the_layout_are_received_once() -> None:
    laid = placed("w1", player="p1", medium="cash")
    again = placed("w2", player="p1", medium="cash", left_up_from="w1")
    money = read(session(laid, landed("1"), paid("w1", 1000, 0), again)).money()
    assert [(each.seq, each.amount, each.is_stake) for each in money.exchanges] == [(2, 1000, True)]


def test_money_of_a_bet_that_is_not_adjudicated_is_neither_luck_nor_an_error() -> None:
    events = session(placed("w1", "win", 100, player="p1"), paid("w1", 100, 100), ruleset="qc-craps")
    play = read(events).money().players["p1"]
    assert (play.recorded, play.unadjudicated, play.luck, play.payout_errors) == (-100, -100, 0, 0)


def test_tips_are_apart_and_goodwill_is_the_players() -> None:
    events = session(
        placed("w1", player="p1"),
        landed("1"),
        paid("w1", 1000, 1000),
        ("tip.given", {"player": "p1", "amount": 50}),
        ("tip.given", {"amount": 7}),
        ("goodwill.paid", {"player": "p2", "amount": 300, "reason": "spilt", "approved_by": "chef"}),
        ("dispute.opened", {"player": "p3"}),
        ("dispute.settled", {"opened": 8, "amount": 40, "approved_by": "chef", "by": "player"}),
    )
    plays = read(events).money().players
    assert {player: (play.recorded, play.tips) for player, play in plays.items()} == {
        "p1": (-1000, 50),
        NOBODY: (0, 7),
        "p2": (-300, 0),
        "p3": (40, 0),
    }


@pytest.mark.parametrize(
    ("change", "is_followed"),
    [
        ({}, True),
        ({"observes": ["wagers", "results", "payouts"]}, False),
        ({"observes": ["wagers", "results", "bank"]}, False),
        ({"observes": ["wagers", "payouts", "bank"]}, False),
        ({"observes": ["bank"]}, True),  # a session that lists none of the play observes all of it
        ({"ruleset": "fr-nothing"}, False),
    ],
)
def test_a_rack_is_followed_where_everything_that_moves_chips_is_seen(change: Any, is_followed: bool) -> None:
    rack = read(session(("session.closed", {"float": 1}), **change)).money().rack
    assert rack is not None
    assert rack.is_followed is is_followed


@pytest.mark.parametrize(
    "unusual",
    [
        placed("w1", medium="cash", player="p1"),
        placed("w1", medium="verbal", player="p1"),
        ("events.lost", {"through": 3, "reason": "spool_lost"}),
        placed("w1", "win", player="p1", ruleset="qc-craps"),  # a bet that the text does not speak of
    ],
)
def test_a_rack_is_not_followed_past_what_is_no_chip_or_was_lost(unusual: tuple[str, dict[str, Any]]) -> None:
    kind, data = unusual
    ruleset = data.get("ruleset", "fr-roulette")
    unusual = kind, {name: value for name, value in data.items() if name != "ruleset"}
    rack = read(session(unusual, ruleset=ruleset)).money().rack
    assert rack is not None
    assert not rack.is_followed


def test_a_session_that_was_never_opened_has_no_money() -> None:
    money = PersonsProjection().money()
    assert (money.rack, money.players, money.gaming_day) == (None, {}, "")


def test_the_pass_gives_the_ledger_whose_stakes_they_are_and_who_paid_them() -> None:
    played = play("fr-roulette", casino="demo", code="T1", gaming_day=date(2026, 11, 19), seed=4, coups=12)
    events = played.events
    events[0]["data"]["staff"] = [{"person": "Max", "role": "croupier"}]
    seats = {each["data"]["seat"]: each["data"]["player"] for each in events if each["type"] == "player.seated"}
    whole = evidence_of(events)
    anonymous = []
    for each in events:
        data = dict(each["data"])
        if each["type"] == "wager.placed" and data.get("seat") in seats:
            data.pop("player", None)
        anonymous.append(each | {"data": data})
    assert seats
    assert [draw.players for draw in evidence_of(anonymous).drawn] == [draw.players for draw in whole.drawn]
    assert {payout.croupier for payout in whole.payouts} == {"Max"}
    assert len({payout.coup for payout in whole.payouts}) == len(whole.payouts)
    assert {payout.error for payout in whole.payouts} == {0}


def evidence_of(events: list[dict[str, Any]]) -> Observations:
    projection = PersonsProjection()
    projection.feed([decode(json.dumps(each)) for each in events])
    return projection.evidence
