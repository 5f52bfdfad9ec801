"""Simulated nights: the same from the same seed, and irregular only as requested."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date

import pytest

from audit.simulation import IRREGULARITIES, RULESET_NAMES, Night, night, play, tables_for
from audit.simulation.posting import in_turn
from settlement import Adjudication, adjudicate, decode
from settlement.catalogue import RULES
from tests.long_forms import in_short

DAY = date(2026, 11, 19)


def played(ruleset: str, seed: int, *irregularities: str, coups: int = 60, day: date = DAY) -> Night:
    return play(
        ruleset, casino="demo", code="T1", gaming_day=day, seed=seed, coups=coups, irregularities=irregularities
    )


def adjudicated(session: Night) -> Adjudication:
    return adjudicate(json.dumps(event) for event in session.events)


@pytest.mark.parametrize("seed", [pytest.param(n, marks=pytest.mark.faults) if n >= 4 else n for n in range(12)])
@pytest.mark.parametrize("ruleset", RULESET_NAMES)
def test_an_orderly_night_has_no_finding_and_leaves_nothing_open(ruleset: str, seed: int) -> None:
    answer = adjudicated(played(ruleset, seed))
    assert [(finding.rule, finding.seq) for finding in answer.findings] == []
    assert len(answer.wagers) > 20
    unfinished = {"open", "awaiting_decision", "imprisoned"}
    assert not [wager for wager in answer.wagers.values() if wager.status in unfinished]
    assert all(
        (wager.winnings_paid, wager.stake_paid) == (wager.winnings_due, wager.stake_due)
        for wager in answer.wagers.values()
        if wager.status not in ("withdrawn", "lost")
    )
    assert answer.unchecked == []


def test_a_seed_gives_the_same_night_to_the_byte_and_another_seed_another() -> None:
    for ruleset in RULESET_NAMES:
        assert json.dumps(played(ruleset, 3).events) == json.dumps(played(ruleset, 3).events)
        assert played(ruleset, 3).events != played(ruleset, 4).events


@pytest.mark.parametrize("day", [date(2026, 3, 28), date(2026, 10, 24)], ids=["spring", "autumn"])
def test_a_night_in_which_the_clocks_are_changed_is_as_orderly(day: date) -> None:
    session = played("fr-american-roulette", 1, coups=1_000, day=day)
    offsets = {event["occurred_at"][-6:] for event in session.events}
    assert offsets == {"+01:00", "+02:00"}, "the night is long enough to see the change"
    assert adjudicated(session).findings == []


CASES = [(name, ruleset) for name, each in IRREGULARITIES.items() for ruleset in sorted(each.rulesets)]


@pytest.mark.parametrize(("name", "ruleset"), in_short(CASES, every=3), ids=lambda value: value)
def test_an_irregularity_meets_its_rule_and_only_its_companions(name: str, ruleset: str) -> None:
    assert any(is_met(name, ruleset, seed) for seed in range(3)), "one of three nights has an occasion"


@pytest.mark.faults
@pytest.mark.parametrize(("name", "ruleset"), CASES, ids=lambda value: value)
def test_an_irregularity_meets_its_rule_and_only_its_companions_in_every_night(name: str, ruleset: str) -> None:
    met = [is_met(name, ruleset, seed) for seed in range(8)]
    assert any(met[:3])
    assert any(met[3:])


def is_met(name: str, ruleset: str, seed: int) -> bool:
    """Check a night for which an irregularity is asked. Return whether it had an occasion for it."""
    session = played(ruleset, seed, name)
    rules = {finding.rule for finding in adjudicated(session).findings}
    assert [*session.missed, *(done for done, _seq in session.irregularities)] == [name]
    if not session.irregularities:
        assert rules == set(), "a night that had no occasion stays orderly"
        return False
    assert name in rules
    assert rules <= {name} | IRREGULARITIES[name].companions
    return True


def test_a_table_without_its_chief_has_it_back_after_one_coup() -> None:
    session = played("fr-american-roulette", 1, "table-without-chief")
    [(_name, seq)] = session.irregularities
    kinds = [event["type"] for event in session.events if event["seq"] >= seq]
    assert kinds[0] == "staff.relieved"
    assert kinds[: kinds.index("staff.assigned")].count("ball.settled") == 1


def test_guests_come_and_go_by_ids_that_the_interface_takes() -> None:
    for name in ("seat-limit-exceeded", "unseated-player-over-limit"):
        session = played("fr-american-roulette", 1, name)
        seated, left = (
            [event["data"]["player"] for event in session.events if event["type"] == kind]
            for kind in ("player.seated", "player.left")
        )
        assert sorted(seated) == sorted(left)
        assert len(seated) >= 7
        assert not [player for player in seated if " " in player]


def test_every_irregularity_is_a_rule() -> None:
    assert set(IRREGULARITIES) <= set(RULES)
    assert "dice-changed-during-point-series" in IRREGULARITIES


def test_the_float_counted_at_the_close_is_what_the_rack_must_hold() -> None:
    # Accounting win = closing + credits + drop − opening − fills. On an orderly night it is what the wagers say, to
    # the cent.
    for ruleset in RULESET_NAMES:
        session = played(ruleset, 5)
        amounts = {"bank.filled": 0, "bank.credited": 0, "buy_in.recorded": 0}
        for event in session.events:
            if event["type"] in amounts:
                amounts[event["type"]] += event["data"]["amount"]
        opening, closing = session.events[0]["data"]["float"], session.events[-1]["data"]["float"]
        brought = opening + amounts["bank.filled"] - amounts["bank.credited"]
        accounted = closing + amounts["buy_in.recorded"] - brought
        commissions = sum(event["data"].get("commission", 0) for event in session.events)
        won_by_house = 0
        taken_back = Counter[str]()
        for event in session.events:
            if event["type"] == "wager.withdrawn":
                taken_back[event["data"]["wager"]] += event["data"].get("amount", 0)
        for wager_id, wager in adjudicated(session).wagers.items():
            if wager.status in ("lost", "refunded_half", "refunded_last_coup", "released"):
                won_by_house += wager.stake - taken_back[wager_id] - wager.stake_due
            won_by_house -= wager.winnings_due
        assert accounted == won_by_house + commissions


def test_players_leave_up_what_won_and_take_back_parts() -> None:
    for ruleset in ("fr-craps", "qc-craps"):
        events = [event for seed in range(4) for event in played(ruleset, seed).events]
        placed = [event["data"] for event in events if "stake" in event["data"]]
        withdrawn = [event["data"] for event in events if event["type"] == "wager.withdrawn"]
        assert any("left_up_from" in wager for wager in placed)
        assert any("amount" in wager for wager in withdrawn)


def test_a_night_gives_each_irregularity_to_one_table_that_can_have_it() -> None:
    nights = night(
        casino="demo",
        gaming_day=DAY,
        seed=1,
        tables=12,
        coups=60,
        irregularities=["dice-changed-during-point-series", "no-more-bets-missing"],
    )
    assert [each.code for each in nights] == tables_for(12)
    assert len({each.stream for each in nights}) == 12
    done = [(name, each.ruleset) for each in nights for name, _seq in each.irregularities]
    assert sorted(name for name, _ruleset in done) == ["dice-changed-during-point-series", "no-more-bets-missing"]
    assert all(ruleset in IRREGULARITIES[name].rulesets for name, ruleset in done)


def test_quebec_nights_are_within_their_law() -> None:
    opener = played("qc-craps", 1).events[0]["data"]
    assert opener["gaming_day"] < "2011-10-13"
    assert opener["currency"] == "CAD"


def test_batches_come_in_the_order_of_the_night_and_of_each_stream() -> None:
    nights = night(casino="demo", gaming_day=DAY, seed=1, tables=7, coups=40)
    sent: dict[str, list[int]] = {}
    streams = []
    for each, events in in_turn(nights, 50):
        assert len(events) <= 50
        sent.setdefault(each.stream, []).extend(event["seq"] for event in events)
        streams.append(each.stream)
    assert sent == {each.stream: [event["seq"] for event in each.events] for each in nights}
    assert streams != sorted(streams), "tables take turns, as on a night"


def test_a_stream_is_posted_in_its_order_whatever_its_clock_says() -> None:
    past_noon = played("fr-american-roulette", 1, coups=2_000)
    set_back = played("fr-craps", 1, "clock-went-back")
    assert set_back.irregularities
    for session, batch in ((past_noon, 1_000), (set_back, 1)):
        sent = [event["seq"] for _each, events in in_turn([session], batch) for event in events]
        assert sent == [event["seq"] for event in session.events]


def test_every_event_is_well_shaped() -> None:
    for ruleset in RULESET_NAMES:
        for event in played(ruleset, 2, *IRREGULARITIES).events:
            decode(json.dumps(event))
