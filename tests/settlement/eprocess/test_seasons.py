"""Frauds hidden in a season are found, and name who or what belongs to them; an orderly season raises nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit.simulation.frauds import FRAUDS
from audit.simulation.season import Season
from benchmarks.season import SHORT, Short
from settlement import adjudicate

BY = {
    "past-posting": ("player-luck", "player-luck"),
    "collusion": ("offsetting-players", ""),
    "signature": ("wheel-signature", "croupier-displacement"),
    "loaded-dice": ("dice-fairness", "dice-supply"),
    "tilted-wheel": ("wheel-fairness", "wheel"),
    "section": ("player-luck", "pair-luck"),
    "skim": ("accounting-drift", "table-drift"),
    "laundering": ("minimal-play", ""),
    "false-fill": ("fill-unmatched", ""),
    "late-void": ("void-call-bias", "void-call"),
}
"""The rule that asks or finds, and the process that tells; "" where none is needed."""


def test_every_fraud_has_a_short_season() -> None:
    assert [short.fraud for short in SHORT] == list(FRAUDS) == list(BY)


@pytest.mark.parametrize("short", SHORT, ids=lambda short: short.fraud)
def test_a_fraud_is_found_and_names_who_belongs_to_it(short: Short) -> None:
    orderly, branch = short.run()
    assert BY[short.fraud] in {(each.rule, each.process) for each in branch.naming()}
    assert orderly.raised == []
    assert float(orderly.ledger.spent) <= 1


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
