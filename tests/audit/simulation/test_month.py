"""The month that ``make run`` shows: any night of it by itself, what is hidden in it, and where each casino is."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from audit.reconciliation.slips import series_of
from audit.simulation.month import (
    EARLIER_RULES,
    FRAUDS_BEGIN,
    SHOWN,
    VENUES,
    MonthNight,
    codes_of,
    nights_of,
    play,
    season_of,
)

LAST = date(2026, 11, 21)
DEAUVILLE, ENGHIEN, ABROAD = VENUES


def _play(back: int, venue: object = DEAUVILLE, *, tables: int = 3) -> MonthNight:
    assert venue in VENUES
    chosen = next(each for each in VENUES if each == venue)
    return play(chosen, LAST - timedelta(days=back), LAST, tables=tables, number=30)


def test_a_night_is_the_same_whichever_was_played_before() -> None:
    season = season_of(DEAUVILLE, LAST, tables=3, number=30)
    season.alone(3)
    sessions, count = season.alone(29)
    night = _play(0)
    assert [session.events for session in sessions] == [session.events for session in night.sessions]
    assert night.count is not None
    assert count.events == night.count.events


def test_racks_close_with_what_they_opened_with_and_slips_of_two_nights_are_apart() -> None:
    slips = Counter[str]()
    for back in (0, 1):
        for session in _play(back).sessions:
            by_type = {event["type"]: event["data"] for event in session.events}
            assert by_type["session.opened"]["float"] == by_type["session.closed"]["float"]
            own = {
                event["data"]["slip"]
                for event in session.events
                if event["data"].get("slip", "").startswith(session.code)
            }
            numbers = sorted(series_of(slip)[1] or 0 for slip in own if not slip.endswith("clock"))
            assert numbers == list(range(1, len(numbers) + 1)), "none is missing"
            slips.update(own)
    assert set(slips.values()) == {1}


def test_the_newest_nights_come_first_and_quebec_after_two() -> None:
    order = list(nights_of(LAST, tables=9, number=4))
    days = [(venue.code, day.isoformat()) for venue, day in order[:5]]
    assert days == [
        ("deauville", "2026-11-21"),
        ("enghien", "2026-11-21"),
        ("deauville", "2026-11-20"),
        ("enghien", "2026-11-20"),
        ("charlevoix", "2010-11-21"),
    ]
    assert len(order) == 2 * 4 + 1


def test_the_last_night_has_errors_that_nobody_put_right() -> None:
    names = {name for session in _play(0, tables=9).sessions for name, _seq in session.irregularities}
    assert SHOWN in names
    assert len(names) > 1


@pytest.mark.parametrize(("venue", "player"), [(DEAUVILLE, True), (ENGHIEN, False)])
def test_the_late_player_comes_to_deauville_alone(venue: object, player: bool) -> None:
    back = 29 - FRAUDS_BEGIN
    events = [event for session in _play(back, venue).sessions for event in session.events]
    assert any(event["data"].get("player") == "p9001" for event in events) is player
    before = [event for session in _play(back + 1, venue).sessions for event in session.events]
    assert not any(event["data"].get("player") == "p9001" for event in before)


def test_the_aimed_spins_fall_near_the_same_distance() -> None:
    season = season_of(DEAUVILLE, LAST, tables=9, number=30)
    fraud = season.fraud
    assert "croupier-r1-1" in fraud.suspects
    found = {(night, code): fraud.at(season.rota(night), night, code) for night in range(30) for code in season.codes}
    touched = [at for at, each in found.items() if each.name]
    by_name = Counter(found[at].name for at in touched)
    assert by_name["signature"] >= 5
    assert by_name["past-posting"] >= 10
    assert all(night >= FRAUDS_BEGIN for night, _code in touched)


def test_banknotes_are_missing_from_a_box_at_enghien() -> None:
    season = season_of(ENGHIEN, LAST, tables=3, number=30)
    session = season.session(FRAUDS_BEGIN, "R1")
    counted = {
        event["data"]["session"]: event["data"]["amount"]
        for event in season.count(FRAUDS_BEGIN, [session])
        if event["type"] == "drop.counted"
    }
    assert counted == {session.night.stream: session.bought - 40_000}


def test_quebec_plays_under_the_text_of_its_year() -> None:
    (day,) = (day for venue, day in nights_of(LAST, tables=9, number=2) if venue == ABROAD)
    night = play(ABROAD, day, LAST, tables=9, number=2)
    assert {event["data"]["gaming_day"] for event in night.sessions[0].events if "gaming_day" in event["data"]} == {
        "2010-11-21"
    }
    assert [session.ruleset for session in night.sessions] == [EARLIER_RULES]
    assert codes_of(ABROAD, 9) == [session.code for session in night.sessions]
    assert night.count is None
