"""Statements that are compiled once: each officer's own, at every moment anew; what the first page counts by them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import QuerySet
from django.test import Client

from audit.desk.overview import waits
from audit.desk.prepared import planned, prepared, prepared_rows, written
from audit.models import Case, Finding, Role
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def waiting(client: Client) -> int:
    """Return how many incidents the navigation counts beside *Findings*."""
    page = client.get("/admin/", headers={"accept-language": "en"}).content.decode()
    menu = page[page.index('id="menu"') : page.index("</aside>")]
    counted = re.search(r"Findings(?:<b[^>]*>(\d+)</b>)?</a>", menu)
    assert counted is not None
    return int(counted[1] or 0)


def test_a_statement_is_built_once_and_asks_about_the_moment_at_which_it_runs(desk: Desk) -> None:
    built: list[datetime] = []

    def soon(now: datetime) -> QuerySet[Any]:
        built.append(now)
        due = Case.objects.filter(pk=desk.case.pk, deadline__gte=now, deadline__lt=now + timedelta(hours=1))
        return due.values_list("pk")

    found = []
    for left in (timedelta(hours=2), timedelta(minutes=30), timedelta(hours=-1)):
        with time_machine.travel(desk.case.deadline - left, tick=False):
            found.append(prepared("due soon", desk.case.pk, soon))
    assert found == [[], [(desk.case.pk,)], []]
    assert len(built) == 1


def test_each_officer_has_statements_of_their_own(desk: Desk) -> None:
    other = Tenant()
    own = Finding.objects.filter(casino=desk.tenant.casino, heads_case=True, status="standing").count()
    assert own > 0
    assert waiting(client_of(desk.first)) == own
    assert waiting(client_of(hired(other, Role.OFFICER, "elsewhere"))) == 0
    both = hired(desk.tenant, Role.OFFICER, "both")
    assert waiting(client_of(both)) == own
    both.memberships.all().delete()
    hired_there = type(both).objects.get(pk=both.pk)
    hired_there.memberships.create(casino=other.casino, role=Role.OFFICER)
    assert waiting(client_of(hired_there)) == 0, "who has another role is asked for anew"


def test_how_many_are_late_counts_those_that_are_not_drawn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "DOTS", 1)
    deadlines = Case.objects.filter(casino=desk.tenant.casino).values_list("deadline", flat=True)
    assert len(deadlines) > 1
    with time_machine.travel(max(deadlines) + timedelta(minutes=1), tick=False):
        page = client_of(desk.first).get("/admin/", headers={"accept-language": "en"}).content.decode()
    assert f"{len(deadlines)} are past their deadline." in page


def test_constants_are_written_into_a_statement_and_what_varies_is_not() -> None:
    moment = datetime(2026, 11, 19, 23, 41, tzinfo=UTC)
    sql, others = written(
        "select %s, %s, '100 %%', %s::timestamptz, %s, any_of(%s)", ["it's 5 %", 7, moment, "%s", [-1]]
    )
    assert sql == "select 'it''s 5 %%', 7, '100 %%', %s::timestamptz, '%%s', any_of(%s)"
    assert others == [moment, [-1]]


def test_what_a_statement_is_written_with_comes_back_as_it_was() -> None:
    words = 'it\'s \\ 5 % of "all" %s {} \N{EURO SIGN}'
    sql, others = written("select %s::text, %s::timestamptz", [words, datetime(2026, 11, 19, 23, 41, tzinfo=UTC)])
    assert planned(sql, others) == [(words, others[0])]


def test_rows_are_read_whole_by_a_statement_that_is_built_once_for_each_key(desk: Desk) -> None:
    other = Tenant()
    built: list[int] = []

    def of(casino_id: int) -> list[Finding]:
        def build(_now: datetime) -> QuerySet[Finding]:
            built.append(casino_id)
            rows = Finding.objects.filter(casino=casino_id).select_related("casino").defer("facts")
            return rows.order_by("-pk")[:2]

        return prepared_rows("newest of a casino", casino_id, build)

    expected = list(Finding.objects.filter(casino=desk.tenant.casino).order_by("-pk")[:2])
    assert len(expected) == 2
    for _ in range(2):
        found = of(desk.tenant.casino.pk)
        assert [each.pk for each in found] == [each.pk for each in expected]
        assert [each.casino for each in found] == [desk.tenant.casino] * 2
        assert [each.get_deferred_fields() for each in found] == [{"facts"}] * 2
        assert of(other.casino.pk) == []
    assert built == [desk.tenant.casino.pk, other.casino.pk]


def test_a_query_that_can_find_nothing_reads_no_rows() -> None:
    assert prepared_rows("nobody's findings", None, lambda _now: Finding.objects.none()) == []
