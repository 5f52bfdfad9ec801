"""A month: every night's newest version, what later versions changed, what differs, and who paid wrong, as tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone, translation

from audit.models import Casino, NightReport, Person, PersonKind
from audit.reconciliation import runs
from audit.reconciliation.month import Month, around, croupier_rows, month_of, sheets
from tests import citus
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record, session
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db

MISCOUNTED = 12_345


@pytest.fixture(scope=citus.MODULE)
def versions(module_db: None) -> list[int]:
    """The ids of the reports of a night, reconciled without one of its counts and again with it, which differs."""
    casino = Casino.objects.create(code="month", name="Month")
    orderly = session(casino, "R1")
    wrong = session(casino, "C1", ruleset="fr-craps", seed=3, coups=30, irregularities=["payout-overpaid"])
    for events in (orderly, wrong):
        record(casino, events)
    drops = {orderly[0]["stream"]: buy_ins(orderly), wrong[0]["stream"]: buy_ins(wrong) + MISCOUNTED}
    counted = count(casino, drops)
    record(casino, counted[:2])
    seal()
    (before,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    record(casino, counted[2:], next_seq=3)
    seal()
    (after,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return [before.pk, after.pk]


@pytest.fixture
def reports(versions: list[int], db: None) -> list[NightReport]:
    return [NightReport.objects.get(pk=pk) for pk in versions]


@pytest.fixture
def month(reports: list[NightReport]) -> Month:
    return month_of(reports[0].casino, DAY.replace(day=1), "EUR")


def as_rows(month: Month, name: str, **options: Any) -> list[dict[str, Any]]:
    """Return the rows of one table by the keys of its columns."""
    with translation.override("en"):
        sheet = next(each for each in sheets(month, **options) if each.name == name)
    return [dict(zip([column.key for column in sheet.columns], row, strict=True)) for row in sheet.rows]


def test_the_newest_version_counts_and_every_change_names_its_version(month: Month, reports: list[NightReport]) -> None:
    before, after = reports
    assert month.reports == {DAY: after}
    assert month.counted == month.reported == [DAY]
    assert len(month.missing) == 29
    assert month.adjustments == [{**row, "day": str(DAY), "version": 2, "report": after.pk} for row in after.sheet]
    assert month.adjustments, "the second version changes the first"
    assert before.pk != after.pk


def test_what_differs_is_listed_with_its_day_and_report(month: Month, reports: list[NightReport]) -> None:
    assert {(row["day"], row["report"]) for row in month.exceptions} == {(str(DAY), reports[1].pk)}
    assert {row["verdict"] for row in month.exceptions} == {"differs"}


def test_wins_and_bridge_are_in_its_tables(month: Month) -> None:
    wins = {row["table"]: row for row in as_rows(month, "win")}
    assert set(wins) == {"C1", "R1"}
    for table, row in wins.items():
        assert row[str(DAY)] == row["total"] == month.table_total(table)
    (bridge,) = as_rows(month, "bridge")
    assert bridge["accounting_variance"] == MISCOUNTED == month.total("accounting_variance")
    assert (bridge["version"], bridge["state"]) == (2, "provisional")
    assert {row["line"] for row in as_rows(month, "exceptions")}
    assert {row["version"] for row in as_rows(month, "adjustments")} == {2}


def test_the_version_is_a_number_and_amounts_have_their_currency(month: Month) -> None:
    with translation.override("en"):
        by_name = {sheet.name: {column.key: column for column in sheet.columns} for sheet in sheets(month)}
    assert list(by_name) == ["win", "bridge", "adjustments", "exceptions", "croupiers"]
    assert by_name["bridge"]["version"].kind == "number"
    assert [by_name["bridge"][key].name for key in ("version", "state")] == ["Version", "State"]
    assert by_name["win"]["total"].kind == by_name["win"][str(DAY)].kind == "money"
    assert by_name["exceptions"]["note"].kind == "text"


def test_croupiers_have_their_names_for_who_may_see_them_and_always_their_ids(month: Month) -> None:
    code = next(iter(month.croupiers))
    Person.objects.create(casino=month.casino, code=code, kind=PersonKind.CROUPIER, name="Ada Moreau")
    other = Casino.objects.create(code="other", name="Other")
    Person.objects.create(casino=other, code=code, kind=PersonKind.CROUPIER, name="Somebody else")
    (row, *_rest) = croupier_rows(month, with_names=True)
    assert (row["croupier_id"], row["croupier"]) == (code, f"Ada Moreau ({code})")
    assert croupier_rows(month)[0]["croupier"] == code
    assert as_rows(month, "croupiers", with_names=True)[0]["croupier"] == f"Ada Moreau ({code})"
    assert as_rows(month, "croupiers")[0]["croupier"] == code


def test_no_month_that_is_still_to_come_is_offered() -> None:
    this = timezone.now().date().replace(day=1)
    before = (this - timedelta(days=1)).replace(day=1)
    assert around(this)[1:] == [this]
    assert around(before)[1:] == [before, this]
