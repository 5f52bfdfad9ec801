"""Statements that are compiled once: each officer's own, and at every moment anew."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import QuerySet
from django.test import Client

from audit.desk.prepared import prepared
from audit.models import Case, Casino, Finding, Role
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


def test_words_come_back_as_they_were() -> None:
    words = 'it\'s \\ 5 % of "all" %s {} \N{EURO SIGN}'
    Casino.objects.create(code="worded", name=words)
    found = prepared("named", words, lambda _now: Casino.objects.filter(name=words).values_list("code", "name"))
    assert found == [("worded", words)]


def test_a_query_that_can_find_nothing_reads_no_rows(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert prepared("nobody's findings", None, lambda _now: Finding.objects.none().values_list("pk")) == []
