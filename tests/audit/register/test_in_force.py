"""What the register says of a stream: the particular before the general, of equals the later, by gaming day."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from audit.models import LoggedStream
from audit.register import in_force
from audit.register.in_force import Place
from tests.audit.register.register_desk import PLAYED, RegisterDesk

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> RegisterDesk:
    return RegisterDesk()


def value_at(
    desk: RegisterDesk, reading: str, *, table: str = "T1", ruleset: str = "fr-craps", day: date = PLAYED
) -> Any:
    where = Place(desk.casino.pk, desk.table(table).pk, ruleset, day)
    entry = in_force.deciding(where, in_force.approved(desk.casino.pk)).get(reading)
    return entry.value if entry is not None else None


def test_nothing_is_said_until_an_entry_is_approved(desk: RegisterDesk) -> None:
    desk.proposed("payout_unit", 100)
    assert value_at(desk, "payout_unit") is None
    assert in_force.newest_version(desk.casino.pk) == 0


def test_a_table_goes_before_the_casino_and_a_ruleset_before_every_one(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 5, table=desk.table("T1"), ruleset="fr-craps")
    desk.decided("payout_unit", 4, table=desk.table("T1"))
    desk.decided("payout_unit", 3, ruleset="fr-craps")
    desk.decided("payout_unit", 2)
    assert value_at(desk, "payout_unit") == 5
    assert value_at(desk, "payout_unit", ruleset="fr-roulette") == 4
    assert value_at(desk, "payout_unit", table="T2") == 3
    assert value_at(desk, "payout_unit", table="T2", ruleset="fr-roulette") == 2


def test_of_overlapping_days_the_entry_approved_last_decides_and_the_earlier_one_before_and_after_it(
    desk: RegisterDesk,
) -> None:
    desk.decided("payout_unit", 100)
    desk.decided("payout_unit", 500, first_day=date(2026, 11, 18), last_day=date(2026, 11, 20))
    days = [date(2026, 11, day) for day in (17, 18, 20, 21)]
    assert [value_at(desk, "payout_unit", day=day) for day in days] == [100, 500, 500, 100]
    desk.decided("payout_unit", 200, first_day=date(2026, 11, 20))
    assert [value_at(desk, "payout_unit", day=day) for day in days] == [100, 500, 200, 200]


def test_an_entry_without_a_value_takes_back_what_is_as_particular_and_leaves_the_general(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    desk.decided("payout_unit", 500, table=desk.table("T1"))
    desk.decided("payout_unit", None, table=desk.table("T1"), first_day=PLAYED)
    assert value_at(desk, "payout_unit", day=date(2026, 11, 18)) == 500
    assert value_at(desk, "payout_unit") == 100
    desk.decided("payout_unit", None, first_day=PLAYED)
    assert value_at(desk, "payout_unit") is None


def test_a_reading_says_nothing_to_a_ruleset_that_it_is_not_of(desk: RegisterDesk) -> None:
    desk.decided("throw_delay_s", 20)
    assert value_at(desk, "throw_delay_s") == 20
    assert value_at(desk, "throw_delay_s", ruleset="fr-roulette") is None


def test_a_casino_says_nothing_of_another(desk: RegisterDesk) -> None:
    desk.decided("payout_unit", 100)
    assert value_at(RegisterDesk(), "payout_unit") is None


def test_what_a_version_says_of_a_stream_never_changes(desk: RegisterDesk) -> None:
    desk.tenant.post("s", [desk.tenant.opener("s")])
    stream: LoggedStream = desk.tenant.stream("s")
    by_version = {0: dict(in_force.readings_of(stream.pk, 0) or {})}
    for version, value in enumerate((100, 500, None, 200), start=1):
        desk.decided("payout_unit", value)
        by_version[version] = dict(in_force.readings_of(stream.pk, version) or {})
    assert by_version == {0: {}, 1: {"payout_unit": 100}, 2: {"payout_unit": 500}, 3: {}, 4: {"payout_unit": 200}}
    assert {each: dict(in_force.readings_of(stream.pk, each) or {}) for each in by_version} == by_version
    assert in_force.newest_readings(stream.pk) == by_version[4]
    assert in_force.readings_of(stream.pk, None) is None


def test_facts_that_the_engine_does_not_read_are_said_and_not_given_to_it(desk: RegisterDesk) -> None:
    desk.tenant.post("s", [desk.tenant.opener("s")])
    stream = desk.tenant.stream("s")
    entry = desk.decided("still_played_by", "the director", ruleset="fr-craps")
    assert in_force.newest_readings(stream.pk) == {}
    assert in_force.entries_of(stream)["still_played_by"] == entry


def test_digests_tell_readings_apart_and_nothing_has_none() -> None:
    assert in_force.digest_of({}) == in_force.digest_of(None) == ""
    assert in_force.digest_of({"payout_unit": 1}) != in_force.digest_of({"payout_unit": 2})
