"""The evidence of a month about a wheel or a set of dice, as a report shows it. Questions are the ledger's."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from audit.models import Casino, NightReport, SessionFigures
from audit.reconciliation import runs
from tests.audit.reconciliation.played import DAY, MORNING, record
from tests.audit.reconciliation.test_questions import stream
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

TELLING = 80
"""Spins of a wheel that stops at 17 every fourth time."""


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


def spins(number: int, first: int = 0) -> list[tuple[str, dict[str, Any]]]:
    pockets = ["17" if each % 4 == 0 else str((each * 7 + first) % 37) for each in range(number)]
    return [("ball.settled", {"pocket": pocket}) for pocket in pockets]


def played(casino: Casino, table: str, following: list[Any], *, day: date = DAY, **opened: Any) -> str:
    events = stream(
        casino, table, [*following, ("session.closed", {"float": 100_000})], gaming_day=day.isoformat(), **opened
    )
    currency = opened.get("currency", "EUR")
    events = [{**event, "stream": f"{event['stream']}.{currency}"} for event in events]
    record(casino, events)
    return str(events[0]["stream"])


def reconcile(casino: Casino, day: date = DAY) -> list[NightReport]:
    return runs.reconcile(casino, day, actor="test", now=MORNING)


def draws_in(report: NightReport, note: str = "wheel") -> dict[str, int]:
    line = next(line for line in report.parsed_content()["lines"] if line["code"] == "chance")
    return {row["table"]: row["found"] for row in line["rows"] if row["note"] == note}


def test_another_currency_is_played_on_the_same_wheel(casino: Casino) -> None:
    played(casino, "R1", spins(TELLING // 2, 2), currency="CAD")
    played(casino, "R1", spins(TELLING // 2, 3))
    dollars, euros = reconcile(casino)
    assert (draws_in(dollars), draws_in(euros)) == ({"R1": TELLING}, {"R1": TELLING})


@pytest.mark.superuser
def test_another_version_of_the_engine_does_not_begin_anew(casino: Casino) -> None:
    yesterday = DAY - timedelta(days=1)
    played(casino, "R1", spins(TELLING // 2, 2), day=yesterday)
    reconcile(casino, yesterday)
    SessionFigures.objects.filter(stream__casino=casino).update(engine_version="before")
    played(casino, "R1", spins(TELLING // 2, 3))
    (report,) = reconcile(casino)
    assert draws_in(report) == {"R1": TELLING}


def test_a_wheel_is_followed_by_its_id_to_another_table_and_two_wheels_at_one_table_are_two(casino: Casino) -> None:
    yesterday = DAY - timedelta(days=1)
    played(casino, "R1", spins(TELLING // 2, 2), day=yesterday, wheel="W7")
    reconcile(casino, yesterday)
    played(casino, "R1", spins(10, 5), wheel="W8")
    played(casino, "R2", spins(TELLING // 2, 3), wheel="W7")
    played(casino, "R3", spins(5, 3))
    (report,) = reconcile(casino)
    assert draws_in(report) == {"W7": TELLING, "W8": 10, "R3": 5}


def test_a_set_of_dice_is_followed_through_a_session_and_over_tables(casino: Casino) -> None:
    sixes = [("dice.thrown", {"faces": [6, 1 + number % 5]}) for number in range(12)]
    change = ("dice.set_introduced", {"dice": ["a", "b", "c", "d", "e", "f"], "decided_by": "chef_de_table",
              "announced": True, "set": "S2"})  # fmt: skip
    unknown = (change[0], {key: value for key, value in change[1].items() if key != "set"})
    craps = {"game": "craps", "ruleset": "fr-craps"}
    played(casino, "C1", [*sixes[:4], change, *sixes[:3], unknown, *sixes[:2]], dice_set="S1", **craps)
    played(casino, "C2", sixes[:5], dice_set="S1", **craps)
    (report,) = reconcile(casino)
    assert draws_in(report, "dice") == {"S1": 9, "S2": 3, "C1": 2}
