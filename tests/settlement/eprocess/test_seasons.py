"""Frauds hidden in a season are found, and name who or what belongs to them; an orderly season raises nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from audit.simulation.frauds import Fraud
from audit.simulation.season import Season
from audit.simulation.surveillance import FRAUDS
from benchmarks.season import SHORT, Branch, Raised, Short, wrongly
from settlement import adjudicate
from tests.long_forms import in_short

BY = {
    "past-posting": ("player-luck", "player-luck"),
    "collusion": ("offsetting-players", ""),
    "signature": ("wheel-signature", "croupier-displacement"),
    "loaded-dice": ("dice-fairness", "dice-supply"),
    "tilted-wheel": ("wheel-fairness", "wheel"),
    "section": ("player-luck", "player-luck"),  # he stakes with no other croupier, so there is no pair to compare
    "skim": ("accounting-drift", "table-drift"),
    "laundering": ("minimal-play", ""),
    "false-fill": ("fill-unmatched", ""),
    "late-void": ("void-call-bias", "void-call"),
    "runners": ("croupier-luck", "croupier-luck"),
    "dice-slider": ("shooter-fairness", "shooter"),
    "friendly-void": ("void-call-bias", "croupier-voids"),
    "walking-chips": ("chips-pooled", ""),
    "structuring": ("threshold-splitting", ""),
    "closer": ("accounting-drift", "closer-drift"),
}
"""The rule that asks or finds, and the process that tells; "" where none is needed."""


def test_every_fraud_has_a_short_season() -> None:
    assert [short.fraud for short in SHORT] == list(BY)
    assert sorted(BY) == sorted(FRAUDS)


@pytest.mark.parametrize("short", in_short(SHORT, every=4), ids=lambda short: short.fraud)
def test_a_fraud_is_found_and_names_who_belongs_to_it(short: Short) -> None:
    orderly, branch = short.run()
    assert BY[short.fraud] in {(each.rule, each.process) for each in branch.naming()}
    assert orderly.raised == []
    assert float(orderly.ledger.spent) <= 1


def test_whoever_has_no_part_in_a_fraud_is_named_wrongly_once_and_by_what_came_first() -> None:
    season = {"tables": 3, "seed": 1, "coups": 10, "count_errors": 0}
    orderly, branch = Branch.of(Fraud(), season), Branch.of(FRAUDS["section"](begins=2), season)
    orderly.raised = [Raised(3, "player-luck", "player-luck", "p1", "")]
    branch.raised = [
        Raised(1, "minimal-play", "", "p2", ""),  # before it began
        Raised(3, "player-luck", "player-luck", "p1", ""),  # in the orderly season as well
        Raised(4, "player-luck", "pair-luck", "p9004, croupier-r1-2", ""),
        Raised(5, "player-luck", "pair-luck", "p3, croupier-r1-1", ""),
        Raised(6, "minimal-play", "", "p3", ""),
        Raised(6, "table-luck", "table-luck", "R1", ""),
    ]
    assert wrongly(branch, orderly) == [("croupier-r1-2", "pair-luck", 5), ("p3", "pair-luck", 6)]


def touched(season: Season) -> Iterator[tuple[int, str]]:
    """Yield the nights and tables of a season of its first fortnight that its fraud touches."""
    for night in range(14):
        for code in season.codes:
            if season.fraud.touches(season.rota(night), night, code):
                yield night, code


def test_the_runners_of_a_croupier_are_new_each_night_and_have_a_part() -> None:
    season = Season(tables=3, coups=30, fraud=FRAUDS["runners"](1, begins=0))
    for night, code in [*touched(season)][:2]:
        events = season.session(night, code).night.events
        stakers = {each["data"].get("player", "") for each in events if each["type"] == "wager.placed"}
        assert [name for name in stakers if name.startswith("p9")] == [f"p91{night:02}"]
        assert season.fraud.is_named_by(f"p91{night:02}")
    assert not season.fraud.is_named_by("p9001")


def test_a_slid_die_leaves_sevens_as_they_are_and_is_the_shooters_own() -> None:
    season = Season(tables=3, coups=120, fraud=FRAUDS["dice-slider"](1, begins=0))
    events = season.session(0, "C1").night.events
    seats = {each["data"]["seat"]: each["data"]["player"] for each in events if each["type"] == "player.seated"}
    throws = [each["data"] for each in events if each["type"] == "dice.thrown"]
    own = [each["faces"] for each in throws if seats[each["seat"]] == "p9006"]
    others = [each["faces"] for each in throws if seats[each["seat"]] != "p9006"]
    assert {faces[0] for faces in own} == {6}
    assert {faces[1] for faces in own} > {1, 2} or len(own) < 6
    assert {faces[0] for faces in others} == {1, 2, 3, 4, 5, 6}


def test_chips_that_walk_are_cashed_by_runners_and_not_by_their_buyer() -> None:
    season = Season(tables=3, coups=6, fraud=FRAUDS["walking-chips"](begins=0))
    [night] = season.nights(1)
    cashed = {each["data"]["player"]: each["data"]["amount"] for each in night.count if "player" in each["data"]}
    assert [cashed[f"p902{number}"] for number in (1, 2, 3, 4)] == [150_000] * 4
    assert "p9007" not in cashed


def test_a_group_buys_just_under_the_threshold_and_a_friend_cashes() -> None:
    season = Season(tables=3, coups=6, fraud=FRAUDS["structuring"](begins=0))
    [night] = season.nights(1)
    [session] = [each for each in night.sessions if each.code == "R1"]
    bought: Counter[str] = Counter()
    for each in session.night.events:
        if each["type"] == "buy_in.recorded":
            bought[each["data"]["player"]] += each["data"]["amount"]
    assert [bought[f"p901{number}"] for number in (1, 2, 3, 4)] == [195_000] * 4
    cashed = {each["data"]["player"]: each["data"]["amount"] for each in night.count if "player" in each["data"]}
    assert cashed["p9010"] == 4 * 195_000


def test_a_friend_whose_spins_are_void_loses_less() -> None:
    season = Season(tables=3, coups=40, fraud=FRAUDS["friendly-void"](1, begins=0))
    events = season.session(*next(touched(season))).night.events
    assert [each for each in events if each["type"] == "spin.voided"]
    swept = {wager for each in events if each["type"] == "stakes.collected" for wager in each["data"]["wagers"]}
    staked = [each["data"] for each in events if each["type"] == "wager.placed"]
    assert len([each for each in staked if each.get("player") == "p9008"]) >= 20
    assert not [each for each in staked if each.get("player") == "p9008" and each["wager"] in swept]
    assert adjudicate(json.dumps(event) for event in events).findings == []


def test_a_closer_takes_from_the_rack_on_the_nights_that_he_closes() -> None:
    fraud = FRAUDS["closer"](12_300, begins=0)
    season, honest = Season(tables=3, coups=30, fraud=fraud), Season(tables=3, coups=30)
    seen = set()
    for night, code in touched(season):
        season.floats.clear()
        taken, left = season.session(night, code), honest.session(night, code)
        honest.floats.clear()
        closer = next(each["actor"] for each in taken.night.events if each["type"] == "session.closed")
        assert left.closing_float - taken.closing_float == (12_300 if closer == "croupier-r1-1" else 0)
        seen.add(closer == "croupier-r1-1")
    assert seen == {True, False}


def events_of(season: Season, nights: int) -> list[list[dict[str, Any]]]:
    return [played.night.events for night in season.nights(nights) for played in night.sessions]


def test_a_season_is_the_same_from_the_same_seed() -> None:
    first, again, other = (events_of(Season(tables=3, coups=6, seed=seed), 2) for seed in (1, 1, 2))
    assert json.dumps(first) == json.dumps(again)
    assert json.dumps(first) != json.dumps(other)


def test_the_sessions_of_an_orderly_season_break_no_rule_and_observe_everything() -> None:
    for events in events_of(Season(tables=3, coups=30), 1):
        answer = adjudicate(json.dumps(event) for event in events)
        assert (answer.findings, answer.unchecked) == ([], [])


def test_slips_and_floats_run_on_from_night_to_night() -> None:
    season = Season(tables=1, coups=81)
    slips, floats = [], []
    for night in season.nights(2):
        [played] = night.sessions
        slips += [each["data"]["slip"] for each in played.night.events if each["type"].startswith("bank.")]
        floats += [each["data"]["float"] for each in played.night.events if "float" in each["data"]]
    assert slips == [f"R1-{number:06}" for number in range(1, 7)]
    assert floats == [5_000_000] * 4


def test_croupiers_relieve_each_other_and_nobody_is_at_two_tables() -> None:
    season = Season(tables=9, coups=30)
    for night in range(3):
        rota, guests = season.rota(night), season.guests_of(night)
        working = [croupier for pair in rota.values() for croupier in pair]
        seated = [guest.name for table in guests.values() for guest in table]
        assert len(set(working)) == len(working) == 18
        assert len(set(seated)) == len(seated) >= 36
    played = season.session(0, "A1")
    payers = {event["data"]["person"] for event in played.night.events if event["type"] == "staff.assigned"}
    assert payers == {season.rota(0)["A1"][1]}


def test_guests_come_back() -> None:
    season = Season(tables=3)
    visits = [{guest.name for table in season.guests_of(night).values() for guest in table} for night in range(10)]
    assert any(name in visit for name in visits[0] for visit in visits[1:])
    assert len(set.union(*visits)) > 30


def test_who_exchanges_much_is_identified_before_anything_is_due() -> None:
    season = Season(tables=2, coups=20)
    [night] = season.nights(1)
    bought = {player: amount for played in night.sessions for player, amount in played.spent.items()}
    assert {player for player, amount in bought.items() if amount >= 100_000} <= season.identified
    changed = [event["data"] for event in night.count if event["type"] == "cash_desk.recorded"]
    assert {each["player"] for each in changed if each["amount"] >= 100_000} <= season.identified
    assert min(each["amount"] for each in changed) > 0


@pytest.mark.parametrize("name", FRAUDS)
def test_a_fraud_touches_nothing_before_it_begins(name: str) -> None:
    season = Season(tables=3, fraud=FRAUDS[name](begins=3))
    codes = list(season.codes)
    assert not any(season.fraud.touches(season.rota(night), night, code) for night in range(3) for code in codes)
    assert season.fraud.counted(2, season.fraud.code, 9_000) == 9_000
