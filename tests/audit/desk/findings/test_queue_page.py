"""A queue: groups by deadline, the sums of each by who loses, what follows from an incident, and nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from audit.desk.findings.filters import newest_days, used_rules
from audit.models import Finding
from tests.audit.casework.test_actions import Desk, client_of
from tests.audit.casework.test_priority import found

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/finding/"


@pytest.mark.superuser
def test_incidents_are_in_groups_by_deadline() -> None:
    desk = Desk()
    late, soon, week = (found(desk, "major", euros=50, hours=hours) for hours in (-1, 2, 150))
    listed = client_of(desk.first).get(LIST, {"queue": "open"}).context["listed"]
    by_title = {str(group.title): [row.finding.pk for row in group.rows] for group in listed.groups}
    assert by_title["Late"] == [late.pk]
    assert by_title["Within 6 hours"] == [soon.pk]
    assert week.pk in by_title["Later"]
    assert listed.sums.count == sum(len(rows) for rows in by_title.values())
    assert [group.is_late for group in listed.groups][:2] == [True, False]


def test_a_list_that_is_sorted_or_is_no_queue_has_no_groups() -> None:
    client = client_of(Desk().first)
    assert client.get(LIST).context["listed"] is None
    assert client.get(LIST, {"queue": "open", "o": "2"}).context["listed"] is None
    assert client.get(LIST, {"queue": "closed"}).context["listed"] is None


@pytest.mark.superuser
@pytest.mark.parametrize(("side", "by"), [("player", "house"), ("bank", "player")])
def test_what_is_owed_to_one_side_is_listed_by_its_amount(side: str, by: str) -> None:
    desk = Desk()

    def owing(severity: str, euros: int, hours: int, by: str) -> Finding:
        owed = {"by": by, "to": "p1" if by == "house" else None, "amount": 100 * euros}
        return found(desk, severity, euros=euros, hours=hours, owed=owed)

    rows = {euros: owing("minor", euros, hours, by) for euros, hours in ((7, -1), (900, 150), (50, 2))}
    owing("major", 4000, 1, {"house": "player", "player": "house"}[by])
    page = client_of(desk.first).get(LIST, {"queue": "open", "owed": side})
    (group,) = page.context["listed"].groups
    listed = [row.finding.pk for row in group.rows if row.finding.pk > desk.findings[-1].pk]
    assert listed == [rows[euros].pk for euros in (900, 50, 7)]
    assert "the largest sum first" in str(group.title)
    overview = client_of(desk.first).get("/admin/").content.decode()
    assert f"{LIST}?queue=open&amp;owed={side}" in overview


def test_an_unknown_side_narrows_nothing() -> None:
    client = client_of(Desk().first)
    queue, narrowed = (client.get(LIST, {"queue": "open", **more}) for more in ({}, {"owed": "nobody"}))
    assert narrowed.context["listed"].sums.count == queue.context["listed"].sums.count > 0


def test_an_empty_queue_says_so_and_what_comes_next() -> None:
    page = client_of(Desk().first).get(LIST, {"queue": "mine"}, headers={"accept-language": "en"}).content.decode()
    assert "Nothing waits in this queue." in page
    assert "replayed as it arrives" in page


def test_an_auditor_has_no_boxes_to_tick() -> None:
    page = client_of(Desk().auditor).get(LIST, {"queue": "open"}).content.decode()
    assert "_selected_action" not in page
    assert 'class="t q"' in page


@pytest.mark.superuser
def test_of_many_consequences_the_first_have_a_line_and_the_others_are_counted() -> None:
    desk = Desk()
    cause = found(desk, "major", euros=50, hours=2)
    of_cause = [found(desk, "minor", rule="payout-missing", case=cause.case).pk for _ in range(8)]
    client = client_of(desk.first)
    listed = client.get(LIST, {"queue": "open"}, headers={"accept-language": "en"})
    (row,) = (row for group in listed.context["listed"].groups for row in group.rows if row.finding.pk == cause.pk)
    assert [each.pk for each in row.consequences.first] == of_cause[:4]
    assert (row.consequences.count, row.consequences.more) == (8, 4)
    assert "and 8 consequences" in listed.content.decode()
    assert "and 4 more" in listed.content.decode()


@pytest.mark.superuser
def test_the_filters_offer_the_rules_and_the_last_days_of_the_officers_own_casinos() -> None:
    desk, other = Desk(), Desk()
    found(desk, "major", rule="payout-missing", gaming_day=date(2031, 1, 2))
    found(other, "major", rule="payout-short", gaming_day=date(2031, 1, 3))
    request = client_of(desk.first).get(LIST).wsgi_request
    own = Finding.objects.filter(casino=desk.tenant.casino)
    assert used_rules(request) == set(own.values_list("rule", flat=True))
    assert newest_days(request) == sorted(set(own.values_list("gaming_day", flat=True)), reverse=True)
    assert newest_days(request)[0] == date(2031, 1, 2)
