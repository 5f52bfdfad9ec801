"""The order of the queue: by deadline in groups, by severity × money × repetition within a group."""

from __future__ import annotations

import re
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.casework import actions
from audit.casework.priority import by_urgency, reasons, with_priority
from audit.casework.urgency import priority_of
from audit.models import Case, Casino, Finding, ListKind, Person, PersonKind, Role
from audit.persons import listings
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

A_WEEK = 7 * 24


@pytest.fixture(scope=citus.MODULE)
def shared(module_db: None) -> Desk:
    desk = Desk()
    desk.tenant.client = Client()  # one that has answered nothing can be copied
    Finding.objects.filter(casino=desk.tenant.casino).update(status="superseded", superseded_at=timezone.now())
    return desk


@pytest.fixture
def desk(shared: Desk, db: None) -> Desk:
    """A casino whose findings were all superseded."""
    return deepcopy(shared)


def found(
    desk: Desk,
    severity: str,
    *,
    rule: str = "payout-overpaid",
    euros: float | None = None,
    hours: int = A_WEEK,
    **of: Any,
) -> Finding:
    """Store one more standing finding, with ``euros`` of difference that are owed, due in ``hours``.

    Below zero the house owes them, above it a player does, unless ``owed`` says otherwise.
    """
    finding = Finding.objects.get(pk=desk.findings[0].pk)
    finding.pk, finding.case, finding.status, finding.superseded_at = None, None, "standing", None
    finding.year, finding.number = None, None
    finding.wager, finding.rule, finding.severity = f"w{Finding.objects.count()}", rule, severity
    finding.difference = None if euros is None else round(100 * euros)
    finding.croupier, finding.currency = "", "EUR"
    for name, value in of.items():
        setattr(finding, name, value)
    if "owed" not in of:
        by, amount = ("player" if (finding.difference or 0) > 0 else "house"), abs(finding.difference or 0)
        finding.owed = {"by": by, "to": None, "amount": amount} if amount else None
    finding.save(force_insert=True)
    finding.refresh_from_db()
    Case.objects.filter(findings=finding).update(deadline=timezone.now() + timedelta(hours=hours))
    return finding


def priority(finding: Finding) -> int | None:
    [row] = with_priority(Finding.objects.filter(pk=finding.pk))
    return priority_of(row)


@pytest.mark.parametrize(
    ("severity", "euros", "expected"),
    [
        ("critical", 100, 4),
        ("critical", 99.99, 3),
        ("critical", -864, 4),
        ("critical", 10, 3),
        ("critical", 9.99, 2),
        ("critical", None, 3),
        ("major", 100, 3),
        ("major", 12, 2),
        ("major", 2, 1),
        ("minor", None, 1),
        ("minor", 5, 1),
    ],
)
def test_severity_and_money_make_the_priority(desk: Desk, severity: str, euros: float | None, expected: int) -> None:
    assert priority(found(desk, severity, euros=euros)) == expected


def test_information_opens_no_case_however_much_money_was_given_away(desk: Desk) -> None:
    given = [found(desk, "info", rule="goodwill-paid", recorded=minor) for minor in (None, 9_999, 1_000_000)]
    assert [(each.case, priority(each)) for each in given] == [(None, None)] * 3
    replaced = found(desk, "info", rule="dice-replaced-during-point-series-with-cause")
    assert replaced.case is None


@pytest.mark.parametrize("euros", [None, 500])
def test_what_is_for_information_only_has_no_case_no_priority_and_is_not_in_the_queue(
    desk: Desk, euros: float | None
) -> None:
    alike = [found(desk, "info", euros=euros, croupier="c-9") for _ in range(3)]
    assert [(each.case, priority(each)) for each in alike] == [(None, None)] * 3
    [row] = with_priority(Finding.objects.filter(pk=alike[0].pk))
    assert reasons(row) == []
    due = found(desk, "minor")
    standing = Finding.objects.standing().filter(casino=desk.tenant.casino)
    assert by_urgency(standing)[0] == due
    client = client_of(desk.first)
    assert list(client.get("/admin/audit/finding/?queue=open").context["cl"].result_list) == [due]
    assert client.get(f"/admin/audit/finding/{alike[0].pk}/change/").status_code == 200
    assert desk.tenant.get(f"/findings/{alike[0].pk}").json()["priority"] is None
    assert [actions.take_next(desk.first) for _ in range(2)] == [due.case, None]


def test_the_threshold_is_the_casinos_own_in_units_of_the_currency(desk: Desk) -> None:
    Casino.objects.filter(pk=desk.tenant.casino.pk).update(priority_threshold=500)
    assert priority(found(desk, "critical", euros=499)) == 3
    assert priority(found(desk, "critical", euros=500)) == 4
    assert priority(found(desk, "critical", euros=49)) == 2
    yen = {"currency": "JPY"}
    assert priority(found(desk, "critical", difference=500, **yen)) == 4
    assert priority(found(desk, "critical", difference=49, **yen)) == 2


def test_what_is_unfair_has_the_highest_whatever_the_sum(desk: Desk) -> None:
    question = found(desk, "info", rule="wheel-fairness")
    assert priority(question) == 4
    [row] = with_priority(Finding.objects.filter(pk=question.pk))
    assert reasons(row) == ["unfair, whatever the amount"]
    assert priority(found(desk, "critical", rule="wager-after-no-more-bets", euros=1)) == 4


def test_the_third_finding_of_a_rule_by_one_croupier_raises_all_of_them(desk: Desk) -> None:
    alike = [found(desk, "major", euros=20, croupier="c-9") for _ in range(2)]
    others = [
        found(desk, "major", euros=20, croupier="c-8"),
        found(desk, "major", euros=20, rule="payout-underpaid", croupier="c-9"),
        found(desk, "major", euros=20, croupier="c-9", gaming_day=alike[0].gaming_day - timedelta(days=31)),
        *(found(desk, "major", euros=20) for _ in range(3)),
    ]
    assert {priority(each) for each in (*alike, *others)} == {2}
    alike.append(found(desk, "major", euros=20, croupier="c-9", gaming_day=alike[0].gaming_day - timedelta(days=30)))
    assert [priority(each) for each in alike[:2]] == [3, 3]
    [row] = with_priority(Finding.objects.filter(pk=alike[0].pk))
    assert reasons(row) == ["major", "repeated by the same croupier"]
    assert {priority(each) for each in others if each.croupier != "c-9"} == {2}


def test_an_incident_is_as_urgent_as_the_most_severe_and_dearest_of_its_findings(desk: Desk) -> None:
    cause = found(desk, "major", rule="wager-not-permitted")
    consequence = found(
        desk, "critical", euros=300, causes=[{"rule": cause.rule, "seq": cause.seq, "wager": cause.wager}]
    )
    assert consequence.case == cause.case
    assert priority(cause) == 4


def test_the_queue_goes_by_groups_of_deadline_and_by_priority_within_a_group(desk: Desk) -> None:
    small_later = found(desk, "critical", euros=2, hours=30)
    dear_latest = found(desk, "critical", euros=800, hours=60)
    far = found(desk, "critical", euros=9_000, hours=A_WEEK)
    today = found(desk, "minor", hours=10)
    late = found(desk, "minor", hours=-1)
    soon_small, soon_dear = found(desk, "major", euros=1, hours=2), found(desk, "major", euros=700, hours=5)
    expected = [late, soon_dear, soon_small, today, dear_latest, small_later, far]
    standing = Finding.objects.standing().filter(casino=desk.tenant.casino)
    assert list(by_urgency(standing)) == expected
    page = client_of(desk.first).get("/admin/audit/finding/?queue=open")
    assert list(page.context["cl"].result_list) == expected
    taken = [actions.take_next(desk.first) for _ in range(8)]
    assert taken == [*(finding.case for finding in expected), None]


def test_the_list_the_page_and_the_interface_show_the_priority_and_where_it_comes_from(desk: Desk) -> None:
    finding = found(desk, "critical", euros=864)
    client = client_of(desk.first)
    shown = client.get("/admin/audit/finding/?queue=open").content.decode()
    assert 'class="sev s4" title="critical · €100 or more"' in shown
    assert (
        'class="sev s4" title="critical · €100 or more"'
        in client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    )
    answer = desk.tenant.get(f"/findings/{finding.pk}").json()
    assert (answer["severity"], answer["priority"]) == ("critical", 4)
    assert [each["priority"] for each in desk.tenant.get("/findings?status=standing").json()["results"]] == [4]


def test_the_bars_of_a_severity_are_the_rules_and_those_of_a_priority_the_queues(desk: Desk) -> None:
    finding = found(desk, "critical", euros=2)
    shown = client_of(desk.first).get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    head, _, case = shown.partition('<div class="rail stack">')
    assert re.findall(r'class="sev (s\d)" title="([^"]+)"', head) == [("s4", "Severity: Critical")]
    assert ("s2", "critical · a small amount") in re.findall(r'class="sev (s\d)" title="([^"]+)"', case)


def test_a_finding_of_another_casino_makes_no_repetition(desk: Desk) -> None:
    here = found(desk, "major", croupier="c-9")
    elsewhere = Tenant()
    for _ in range(3):
        found(desk, "major", croupier="c-9", casino=elsewhere.casino)
    assert priority(here) == 2
    assert actions.take_next(hired(elsewhere, Role.AUDITOR, "reads")) is None


def test_a_player_on_the_watch_list_raises_the_incidents_that_are_about_him(desk: Desk) -> None:
    casino = desk.tenant.casino
    about = found(desk, "major", player="p1")
    others = [found(desk, "major"), found(desk, "major", player="p2")]
    assert priority(about) == 2
    Person.objects.create(casino=casino, code="p1", kind=PersonKind.PLAYER, name="Anna")
    waiting = listings.propose(
        desk.first, casino, ListKind.WATCH, "p1", reason="bets late", last_day=about.gaming_day.replace(year=2999)
    )
    assert priority(about) == 2, "nobody has approved it"
    listed = listings.approve(desk.second, waiting)
    assert [priority(each) for each in (about, *others)] == [3, 2, 2]
    [row] = with_priority(Finding.objects.filter(pk=about.pk))
    assert reasons(row)[-1] == "player on the watch list"
    listings.approve(desk.third, listings.propose_removal(desk.first, listed, reason="he has stopped"))
    assert priority(about) == 2


def test_a_watch_list_of_another_casino_and_an_exclusion_raise_nothing(desk: Desk) -> None:
    other, about = Desk(), found(desk, "major", player="p1")
    for each, kind in ((other, ListKind.WATCH), (desk, ListKind.EXCLUSION)):
        Person.objects.create(casino=each.tenant.casino, code="p1", kind=PersonKind.PLAYER, name="Anna")
        waiting = listings.propose(each.first, each.tenant.casino, kind, "p1", reason="bets late")
        listings.approve(each.second, waiting)
    assert priority(about) == 2


def test_the_finding_a_case_is_of_is_marked_by_the_database_alone(desk: Desk) -> None:
    cause = found(desk, "major", euros=50)
    consequence = found(desk, "minor", rule="payout-missing", case=cause.case)
    heads = Finding.objects.filter(case=cause.case)
    assert [(each.pk, each.heads_case) for each in heads.order_by("pk")] == [(cause.pk, True), (consequence.pk, False)]
    heads.update(heads_case=True)
    Finding.objects.filter(pk=cause.pk).update(heads_case=False)
    assert [(each.pk, each.heads_case) for each in heads.order_by("pk")] == [(cause.pk, True), (consequence.pk, False)]
