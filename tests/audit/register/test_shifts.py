"""Shifts: which one an instant is in, also in the nights in which clocks change; and what an entry of them touches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from audit.adjudication.replay import advance
from audit.models import AdjudicationRun
from audit.register import in_force, touched
from audit.register.readings import written
from audit.register.shifts import shift_at
from tests.audit.register.register_desk import RegisterDesk, replayed

PARIS = ZoneInfo("Europe/Paris")
DAY = {"early": "14:00", "late": "20:00", "night": "02:00"}

ORDINARY = [
    ("2026-11-19T14:00", "early"),
    ("2026-11-19T19:59:59", "early"),
    ("2026-11-19T20:00", "late"),
    ("2026-11-20T00:00", "late"),
    ("2026-11-20T01:59:59", "late"),
    ("2026-11-20T02:00", "night"),
    ("2026-11-20T13:59", "night"),
]


@pytest.mark.parametrize(("here", "expected"), ORDINARY)
def test_a_shift_goes_on_until_the_next_begins_across_midnight(here: str, expected: str) -> None:
    assert shift_at(DAY, datetime.fromisoformat(here).replace(tzinfo=PARIS), PARIS) == expected


def test_one_shift_is_the_whole_day() -> None:
    at = datetime(2026, 11, 19, 3, tzinfo=UTC)
    assert {shift_at({"all": "14:00"}, at + timedelta(hours=hour), PARIS) for hour in range(24)} == {"all"}


def begun(shifts: dict[str, str], first: datetime, hours: int) -> list[tuple[str, str]]:
    """Return each shift that begins from ``first`` on, in UTC, and when, minute by minute."""
    found: list[tuple[str, str]] = []
    for minute in range(60 * hours):
        at = first + timedelta(minutes=minute)
        shift = shift_at(shifts, at, PARIS)
        if not found or found[-1][1] != shift:
            found.append((f"{at:%H:%M}", shift))
    return found


EVERY_HALF_HOUR = {"a": "01:30", "b": "02:00", "c": "02:30", "d": "03:00", "e": "03:30"}


def test_where_clocks_go_back_a_shift_begins_once_at_the_first_of_the_two_times() -> None:
    # 25 October 2026, 01:00 UTC: 03:00 in Paris is 02:00 again.
    assert begun(EVERY_HALF_HOUR, datetime(2026, 10, 24, 23, 30, tzinfo=UTC), 4) == [
        ("23:30", "a"),
        ("00:00", "b"),
        ("00:30", "c"),
        ("02:00", "d"),
        ("02:30", "e"),
    ]


def test_where_clocks_go_forward_a_time_that_is_skipped_is_over_at_once() -> None:
    # 29 March 2026, 01:00 UTC: 02:00 in Paris is 03:00.
    first = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    assert begun(EVERY_HALF_HOUR, first, 3) == [("00:30", "a"), ("01:00", "d"), ("01:30", "e")]
    assert begun({"a": "01:30", "c": "02:30"}, first, 3) == [("00:30", "a"), ("01:00", "c")]


def test_shifts_are_shown_in_the_order_of_their_times() -> None:
    assert written("shifts", DAY) == "02:00 night, 14:00 early, 20:00 late"
    assert written("shifts", None) == "as if nothing had been decided"


@pytest.mark.django_db
def test_an_entry_of_shifts_touches_no_session_and_none_is_read_again_by_it() -> None:
    desk = RegisterDesk()
    desk.tenant.post("s", [desk.tenant.opener("s")])
    stream = desk.tenant.stream("s")
    replayed(stream.pk)
    run = AdjudicationRun.objects.get(stream=stream)
    entry = desk.decided("shifts", DAY)
    assert not touched.streams_of(entry).exists()
    assert touched.signed_nights(entry) == []
    assert in_force.newest_readings(stream.pk) == {}
    assert in_force.entries_of(stream) == {}
    assert touched.new_entries(stream, 0, 1) == []
    assert touched.agree() == 1
    run.refresh_from_db()
    assert run.register_version == 1
    advance(stream.pk)
    assert AdjudicationRun.objects.get(stream=stream) == run
