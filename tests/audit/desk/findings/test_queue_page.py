"""A queue: groups by deadline, the sums of each by who loses, what follows from an incident, and nothing else."""

from __future__ import annotations

import pytest

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


def test_an_empty_queue_says_so_and_what_comes_next() -> None:
    page = client_of(Desk().first).get(LIST, {"queue": "mine"}, headers={"accept-language": "en"}).content.decode()
    assert "Nothing waits in this queue." in page
    assert "replayed as it arrives" in page


def test_an_auditor_has_no_boxes_to_tick() -> None:
    page = client_of(Desk().auditor).get(LIST, {"queue": "open"}).content.decode()
    assert "_selected_action" not in page
    assert 'class="t q"' in page
