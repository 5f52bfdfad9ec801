"""The list of findings: a queue's groups by deadline and the sums of each by who loses, and the rows of every list."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.casework import actions
from audit.casework.priority import COMPARED, by_urgency, with_order
from audit.casework.recurrence import came_back
from audit.casework.urgency import urgency_of
from audit.desk.findings.admin import FindingAdmin
from audit.desk.findings.filters import newest_days, used_rules
from audit.desk.findings.grouping import WITHIN
from audit.models import Case, Finding, Officer, Person, Role
from audit.presentation import date_time
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.tables import Tenant

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/finding/"


def test_incidents_are_in_groups_by_deadline(desk: Desk) -> None:
    late, soon, week = (found(desk, "major", euros=50, hours=hours) for hours in (-1, 2, 150))
    listed = client_of(desk.first).get(LIST, {"queue": "open"}).context["listed"]
    by_title = {str(group.title): [row.finding.pk for row in group.rows] for group in listed.groups}
    assert by_title["Late"] == [late.pk]
    assert by_title["Within 6 hours"] == [soon.pk]
    assert week.pk in by_title["Later"]
    assert listed.sums.count == sum(len(rows) for rows in by_title.values())
    assert [group.is_late for group in listed.groups][:2] == [True, False]


def test_a_list_that_is_sorted_or_is_no_queue_is_one_group_without_sums(desk: Desk) -> None:
    client = client_of(desk.first)
    for query in ({}, {"queue": "open", "o": "2"}, {"q": desk.stream.name}):
        listed = client.get(LIST, query).context["listed"]
        assert listed.sums is None
        assert [(group.title, group.is_late) for group in listed.groups] == [("", False)]
    assert client.get(LIST, {"queue": "closed"}).context["listed"].groups == []


@pytest.mark.parametrize(
    ("side", "by"), [("player", "house"), pytest.param("bank", "player", marks=pytest.mark.faults)]
)
def test_what_is_owed_to_one_side_is_listed_by_its_amount(desk: Desk, side: str, by: str) -> None:

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
    assert f"{LIST}?owed={side}" in overview, "closed incidents owe, too"


def test_an_unknown_side_narrows_nothing(desk: Desk) -> None:
    client = client_of(desk.first)
    queue, narrowed = (client.get(LIST, {"queue": "open", **more}) for more in ({}, {"owed": "nobody"}))
    assert narrowed.context["listed"].sums.count == queue.context["listed"].sums.count > 0


def test_an_auditor_has_no_boxes_to_tick(desk: Desk) -> None:
    page = client_of(desk.auditor).get(LIST, {"queue": "open"}).content.decode()
    assert "_selected_action" not in page
    assert 'class="t q"' in page


def test_of_many_consequences_the_first_have_a_line_and_the_others_are_counted(desk: Desk) -> None:
    cause = found(desk, "major", euros=50, hours=2)
    of_cause = [found(desk, "minor", rule="payout-missing", case=cause.case).pk for _ in range(8)]
    client = client_of(desk.first)
    listed = client.get(LIST, {"queue": "open"}, headers={"accept-language": "en"})
    (row,) = (row for group in listed.context["listed"].groups for row in group.rows if row.finding.pk == cause.pk)
    assert [each.pk for each in row.consequences.first] == of_cause[:4]
    assert (row.consequences.count, row.consequences.more) == (8, 4)
    assert "and 8 consequences" in listed.content.decode()
    assert "and 4 more" in listed.content.decode()


def test_what_was_put_right_has_no_amount(desk: Desk) -> None:
    finding = found(desk, "major", rule="payout-overpaid", euros=0)
    row = rows_of(desk, queue="open", o="2")[finding.pk]
    assert (row.stake.amount, row.stake.words, row.without_money) == ("", "put right", "")
    page = client_of(desk.first).get(LIST, {"queue": "open"}, headers={"accept-language": "en"}).content.decode()
    assert "€0.00" not in page


def test_below_a_queue_stands_how_many_incidents_it_has_and_below_a_list_how_many_findings(desk: Desk) -> None:
    cause = found(desk, "major", euros=50)
    found(desk, "minor", rule="payout-missing", case=cause.case)
    client, incidents = client_of(desk.first), len(desk.findings) + 1
    for query, counted in (("?queue=open", f"{incidents} incidents"), ("", f"{incidents + 1} findings")):
        page = client.get(LIST + query, headers={"accept-language": "en"}).content.decode()
        assert counted in page[page.index('class="paginator"') :]


def test_the_filters_offer_the_rules_and_the_last_days_of_the_officers_own_casinos(desk: Desk) -> None:
    other = Desk()
    found(desk, "major", rule="payout-missing", gaming_day=date(2031, 1, 2))
    found(other, "major", rule="payout-short", gaming_day=date(2031, 1, 3))
    request = client_of(desk.first).get(LIST).wsgi_request
    own = Finding.objects.filter(casino=desk.tenant.casino)
    assert used_rules(request) == set(own.values_list("rule", flat=True))
    assert newest_days(request) == sorted(set(own.values_list("gaming_day", flat=True)), reverse=True)
    assert newest_days(request)[0] == date(2031, 1, 2)


def listed(desk: Desk, **query: str) -> Any:
    page = client_of(desk.first).get(LIST, {"queue": "open", **query}, headers={"accept-language": "en"})
    return page.context["listed"]


def shown(desk: Desk, **query: str) -> set[int]:
    """Return the incidents of a queue that are not those with which every desk begins."""
    rows = (row for group in listed(desk, **query).groups for row in group.rows)
    return {row.finding.pk for row in rows} - {finding.pk for finding in desk.findings}


def counts(desk: Desk) -> dict[str, int]:
    return {tab.name: tab.count for tab in client_of(desk.first).get(LIST).context["tabs"]}


def test_patterns_are_a_queue_of_their_own_each_a_group_with_its_incidents(desk: Desk) -> None:
    repeated = {found(desk, "minor", rule="payout-missing", croupier="c-9").pk for _ in range(3)}
    found(desk, "minor", rule="payout-missing", croupier="c-8")
    assert shown(desk, queue="patterns") == repeated
    (group,) = listed(desk, queue="patterns").groups
    assert group.title == "c-9: Payout missing"
    assert [row.alike_words for row in group.rows] == ["and 2 like it"] * 3
    assert counts(desk)["patterns"] == 3
    page = client_of(desk.first).get(LIST, {"queue": "patterns"}).content.decode()
    assert f"{LIST}?rule=payout-missing&amp;croupier=c-9" in page


def lines_of(desk: Desk, **query: str) -> dict[str, list[Any]]:
    """Return the lines of the open queue that are not those with which every desk begins, by group."""
    own = {finding.pk for finding in desk.findings}
    groups = listed(desk, **query).groups
    lines = {str(group.title): [row for row in group.rows if row.finding.pk not in own] for group in groups}
    return {title: rows for title, rows in lines.items() if rows}


def test_a_pattern_is_one_line_of_the_open_queue_with_its_most_urgent_incident_and_its_money(desk: Desk) -> None:
    owed = {"by": "player", "to": None, "amount": 2_000}
    of: dict[str, Any] = {"rule": "payout-overpaid", "croupier": "c-9", "euros": 20, "owed": owed}
    later = [found(desk, "minor", hours=hours, player=f"p-{hours}", **of) for hours in (30, 40, 50, 60, 70, 150)]
    first = found(desk, "minor", hours=2, player="p-1", **of)
    other = found(desk, "minor", hours=2, **{**of, "croupier": "c-8"})
    lines = lines_of(desk)
    assert {title: {row.finding.pk for row in rows} for title, rows in lines.items()} == {
        "Within 6 hours": {first.pk, other.pk}
    }
    row = next(row for row in lines["Within 6 hours"] if row.finding.pk == first.pk)
    assert (row.folded.count, [each.pk for each in row.folded.first]) == (6, [each.pk for each in later[:4]])
    assert (row.stake.side, row.stake.amount, row.stake.words) == ("bank", "€140.00", "overpaid")
    (group,) = (group for group in listed(desk).groups if group.title == "Within 6 hours")
    assert (group.sums.count, group.sums.overpaid) == (8, "€160")
    page = client_of(desk.first).get(LIST, {"queue": "open"}, headers={"accept-language": "en"}).content.decode()
    fold = page.split("and 6 like it")[1].split("</details>")[0]
    assert fold.count("<li>") == 5
    assert "and 2 more" in fold
    assert f"{LIST}?queue=patterns&amp;rule=payout-overpaid&amp;croupier=c-9" in fold
    assert fold.count("€20.00") == 4


def test_a_folded_queue_has_pages_of_lines_and_counts_every_incident(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FindingAdmin.list_per_page == 25
    monkeypatch.setattr(FindingAdmin, "list_per_page", 5)
    for _ in range(6):
        found(desk, "minor", rule="payout-missing", croupier="c-9")
    of_their_own = [found(desk, "minor", rule="payout-missing").pk for _ in range(4)]
    client = client_of(desk.first)
    query = {"queue": "open", "rule": "payout-missing"}
    page = client.get(LIST, query)
    assert page.context["cl"].result_count == page.context["listed"].sums.count == 10
    (group,) = page.context["listed"].groups
    assert len(group.rows) == 5
    assert not page.context["cl"].multi_page
    found(desk, "minor", rule="payout-missing")
    page = client.get(LIST, {**query, "p": "2"})
    assert page.context["cl"].multi_page
    assert [len(group.rows) for group in page.context["listed"].groups] == [1]
    assert client.get(LIST, {**query, "p": "3"}).status_code == 302
    chosen = {"action": "take_selected", "_selected_action": of_their_own[:1], "select_across": "1", "index": "0"}
    client.post(f"{LIST}?queue=open&rule=payout-missing", chosen)
    assert Case.objects.filter(assigned_to=desk.first).count() == 11, "of all incidents, folded or not"


@pytest.mark.parametrize("by", ["deadline", "nothing"])
def test_a_folded_queue_is_in_the_order_in_which_cases_are_taken(desk: Desk, by: str) -> None:
    for hours in (-30, -1, 2, 2, 20, 150):
        for severity, euros in (("minor", 1), ("critical", 5_000), ("major", 50)):
            found(desk, severity, euros=euros, hours=hours)
    own = Finding.objects.filter(case__isnull=False, casino=desk.tenant.casino)
    order = by_urgency(own) if by == "deadline" else with_order(own).order_by(*WITHIN)
    lines = [row.finding for group in listed(desk, by=by).groups for row in group.rows]
    assert [each.pk for each in lines] == [each.pk for each in order]
    assert len(lines) > 18
    columns = ("priority", "due_group", *COMPARED, "has_come_back")
    expected = with_order(own).annotate(has_come_back=came_back()).in_bulk()
    for each in lines:
        urgency = urgency_of(each)
        assert urgency is not None
        found_out = (*(getattr(urgency, field.name) for field in fields(urgency)[:-1]), each.has_come_back)
        assert found_out == tuple(getattr(expected[each.pk], name) for name in columns)


def test_what_is_repeated_has_a_line_each_by_night_and_by_croupier(desk: Desk) -> None:
    rows = {found(desk, "minor", rule="payout-missing", croupier="c-9").pk for _ in range(3)}
    assert shown(desk, by="night") == shown(desk, by="croupier") == rows
    assert len(shown(desk, by="nothing")) == len(shown(desk)) == 1
    closed = Case.objects.filter(findings__in=rows).order_by("pk")[:2]
    Case.objects.filter(pk__in=[case.pk for case in closed]).update(assigned_to=desk.second, state="investigating")
    (row,) = (row for rows in lines_of(desk, queue="unassigned").values() for row in rows)
    assert (row.folded.count, row.alike) == (0, 2), "the others are in another queue"


def test_an_incident_comes_back_once_one_of_its_rule_at_its_table_was_closed_before(desk: Desk) -> None:
    closed, before = (found(desk, "minor", rule="payout-missing") for _ in range(2))
    actions.perform(closed.case_id, desk.first, "take")
    actions.perform(closed.case_id, desk.first, "propose", reason="seen", outcome="explained")
    actions.perform(closed.case_id, desk.second, "approve")
    assert counts(desk)["returned"] == 0, "the other had been opened before"
    again = found(desk, "minor", rule="payout-missing", stood_at=timezone.now())
    found(desk, "minor", rule="payout-underpaid", stood_at=timezone.now())
    assert counts(desk)["returned"] == 1
    assert shown(desk, queue="returned") == {again.pk} != {before.pk}
    assert (
        "came back"
        in client_of(desk.first).get(LIST, {"queue": "returned"}, headers={"accept-language": "en"}).content.decode()
    )


def test_a_queue_is_grouped_by_night_by_croupier_or_not_at_all(desk: Desk) -> None:
    Case.objects.filter(findings__in=desk.findings).update(assigned_to=desk.second, state="investigating")
    Person.objects.create(casino=desk.tenant.casino, code="c-9", kind="croupier", name="Inès Carpentier")
    for croupier, day, number in (("c-9", 2, 1), ("c-8", 3, 3), ("", 3, 1)):
        for _ in range(number):
            found(desk, "minor", rule="payout-missing", croupier=croupier, gaming_day=date(2031, 1, day))

    def groups(by: str) -> list[tuple[str, int]]:
        return [(str(group.title), group.sums.count) for group in listed(desk, queue="unassigned", by=by).groups]

    assert groups("night") == [("Night of Fri 3 Jan 2031", 4), ("Night of Thu 2 Jan 2031", 1)]
    assert groups("croupier")[0] == ("c-8", 3)
    assert {*groups("croupier")[1:]} == {("No croupier", 1), ("Inès Carpentier", 1)}
    assert groups("nothing") == [("", 5)]
    assert groups("what-is-this") == groups("deadline") == [("Later", 5)]
    page = client_of(desk.first).get(LIST, {"queue": "unassigned", "by": "night"})
    assert [choice.is_current for choice in page.context["grouped"]] == [False, True, False, False]


def test_incidents_are_narrowed_by_amount_by_who_loses_by_game_and_by_article(desk: Desk) -> None:
    large = found(desk, "minor", euros=-864, provision="art. 55-8 A 1°").pk
    small = found(desk, "minor", euros=12, provision="art. 55-80").pk
    yen = found(desk, "minor", euros=5, currency="JPY", ruleset="fr-roulette").pk  # ¥500
    none = found(desk, "minor", rule="payout-missing").pk
    assert shown(desk, amount="10") == {large, small, yen}
    assert shown(desk, amount="100") == {large, yen}
    assert shown(desk, amount="1000") == set()
    assert shown(desk, amount="none") == {none}
    assert shown(desk, loses="players") == {large}
    assert shown(desk, loses="house") == {small, yen}
    assert shown(desk, loses="nobody") == {none}
    assert shown(desk, table="fr-roulette") == {yen}
    assert shown(desk, rule="fr-art-55-8") >= {large}
    assert small not in shown(desk, rule="fr-art-55-8")


def test_somebody_is_found_by_an_id_or_by_a_part_of_the_name_where_names_are_seen(desk: Desk) -> None:
    other = Desk()
    for each in (desk, other):
        Person.objects.create(casino=each.tenant.casino, code="p-7", kind="player", name="Bruno Keller")
        Person.objects.create(casino=each.tenant.casino, code="c-9", kind="croupier", name="Ada Keller")
        Person.objects.create(casino=each.tenant.casino, code="p-8", kind="player", name="Player p-7 bis")
    of_player, of_croupier = found(desk, "minor", player="p-7").pk, found(desk, "minor", croupier="c-9").pk
    found(desk, "minor", player="p-8")
    unlisted = found(desk, "minor", player="p-unlisted").pk
    found(other, "minor", player="p-7")
    assert shown(desk, player="keller") == shown(desk, player="p-7") == {of_player}
    assert shown(desk, croupier="Keller") == {of_croupier}
    assert shown(desk, player="p-unlisted") == {unlisted}
    assert shown(desk, player="nobody of this name") == set()
    page = client_of(desk.first).get(LIST, {"queue": "open", "player": "p-7", "amount": "10"}).content.decode()
    assert "<b>Bruno Keller</b>" in page
    assert '<input type="hidden" name="amount" value="10">' in page, "what else is filtered stays"


def test_the_head_says_how_many_findings_the_incidents_fold(desk: Desk) -> None:
    cause = found(desk, "major", euros=50, rule="payout-missing", gaming_day=date(2031, 1, 2))
    for _ in range(4):
        found(desk, "minor", rule="payout-missing", case=cause.case)
    assert listed(desk, day="2031-01-02").sums.words == "1 incident (5 findings)"
    Finding.objects.filter(case=cause.case).exclude(pk=cause.pk).update(
        status="superseded", superseded_at=timezone.now()
    )
    assert listed(desk, day="2031-01-02").sums.words == "1 incident."


def test_a_queue_asks_no_query_for_a_row(desk: Desk, django_assert_max_num_queries: Any) -> None:
    client = client_of(desk.first)
    for _ in range(20):
        found(desk, "minor", rule="payout-missing", croupier="c-9", player="p-7")
    for queue in ("open", "patterns"):
        client.get(LIST, {"queue": queue})  # fills what later pages find in caches
        with django_assert_max_num_queries(16, info=queue):
            client.get(LIST, {"queue": queue})


def rows_of(desk: Desk, **query: str) -> dict[int, Any]:
    """Return the rows of a list that is no queue, by finding, but for those with which every desk begins."""
    page = client_of(desk.first).get(LIST, query, headers={"accept-language": "en"})
    assert page.context["listed"].sums is None
    rows = [row for group in page.context["listed"].groups for row in group.rows]
    return {row.finding.pk: row for row in rows if row.finding.pk not in {each.pk for each in desk.findings}}


@pytest.mark.parametrize(
    "query", [{}, pytest.param({"queue": "open", "o": "-7"}, marks=pytest.mark.faults), {"q": "p-7"}]
)
def test_every_list_has_the_rows_of_a_queue(desk: Desk, query: dict[str, str]) -> None:
    Person.objects.create(casino=desk.tenant.casino, code="p-7", kind="player", name="Bruno Keller")
    owed = {"by": "house", "to": "p-7", "amount": 86_400}
    finding = found(desk, "major", euros=864, hours=2, player="p-7", croupier="c-9", owed=owed)
    page = client_of(desk.first).get(LIST, query, headers={"accept-language": "en"}).content.decode()
    line = next(each for each in page.split("<tr data-row>") if f"/finding/{finding.pk}/change/" in each)
    for shown in (
        "€864.00",
        "owed to Bruno Keller",
        "/croupier/",
        "Craps, France",
        'class="due ',
        " left<",
        'class="sev s',
    ):
        assert shown in line, shown
    assert 'class="st new"' in line
    assert "field-priority" not in page
    assert f'name="_selected_action" value="{finding.pk}"' in line
    assert 'name="action"' in page
    assert "export/csv/" in page


def test_a_list_of_everything_has_a_line_for_a_consequence_and_a_queue_folds_it(desk: Desk) -> None:
    cause = found(desk, "major", euros=50, hours=2)
    causes = [{"rule": cause.rule, "seq": cause.seq, "wager": None}]
    consequence = found(desk, "minor", rule="payout-missing", case=cause.case, causes=causes)
    everything = rows_of(desk)
    assert everything[consequence.pk].cause == "caused by: Paid too much"
    assert everything[cause.pk].cause == ""
    assert everything[cause.pk].consequences.count == 0, "it has a line of its own"
    sorted_queue = rows_of(desk, queue="open", o="2")
    assert sorted_queue.keys() == {cause.pk}
    assert sorted_queue[cause.pk].consequences.count == 1


def test_a_closed_case_says_when_it_was_closed_and_as_what_and_is_never_late(desk: Desk) -> None:
    closed = found(desk, "minor", hours=-1)
    actions.perform(closed.case_id, desk.first, "take")
    actions.perform(closed.case_id, desk.first, "propose", reason="seen", outcome="explained")
    actions.perform(closed.case_id, desk.second, "approve")
    for row in (rows_of(desk)[closed.pk], rows_of(desk, queue="closed")[closed.pk]):
        assert row.due.startswith('<span class="two dim">closed ')
        assert "late" not in row.due
        assert (row.outcome, row.passed_to) == ("explained", "")


@pytest.mark.parametrize(
    ("status", "has_stood", "standing", "words"),
    [
        ("pending", False, "pending", "pending"),
        ("superseded", False, "never", "never stood"),
        ("superseded", True, "superseded", "superseded"),
    ],
)
def test_a_finding_that_does_not_stand_has_a_row_that_says_so(
    desk: Desk, status: str, has_stood: bool, standing: str, words: str
) -> None:
    now, never_stood = timezone.now() + timedelta(seconds=1), not has_stood
    finding = found(desk, "minor", **({} if has_stood else {"status": "pending", "stood_at": None}))
    if status == "superseded":
        Finding.objects.filter(pk=finding.pk).update(status=status, superseded_at=now)
    row = rows_of(desk, standing=standing)[finding.pk]
    assert row.status == words
    assert (row.bars == "", row.due == "", row.state == "") == (never_stood,) * 3
    page = client_of(desk.first).get(LIST, {"standing": standing}, headers={"accept-language": "en"}).content.decode()
    assert f'<span class="tag">{words}</span>' in page


def test_no_list_asks_a_query_for_a_row(desk: Desk) -> None:
    client = client_of(desk.first)

    def queries(query: str) -> int:
        client.get(LIST + query)  # fills what later pages find in caches
        with CaptureQueriesContext(connection) as captured:
            page = client.get(LIST + query)
        assert page.context["listed"].groups
        return len(captured)

    lists = ("", "?q=p-7", "?queue=open&o=2")
    found(desk, "minor", rule="payout-missing", player="p-7")
    few = {query: queries(query) for query in lists}
    for _ in range(8):
        found(desk, "minor", rule="payout-missing", player="p-7")
    assert {query: queries(query) for query in lists} == few


@pytest.fixture(scope=citus.MODULE)
def idle_officer(module_db: None) -> Officer:
    """An officer of a casino where nobody has played."""
    return hired(Tenant(), Role.OFFICER, "first")


@pytest.mark.parametrize(
    ("query", "words", "link"),
    [
        ("queue=open", "Nothing waits. What the tables report is replayed as it arrives", ""),
        ("queue=mine", "You have no open finding.", "?queue=unassigned"),
        ("queue=unassigned", "Every open finding has an officer. What the tables report", ""),
        ("queue=second", "No case waits for a second officer. One appears here as soon as", ""),
        ("queue=overdue", "Nothing is late.", "?queue=open"),
        ("queue=patterns", "A pattern is an error that one croupier has made at least 3 times within 30 days.", ""),
        ("queue=returned", "Nothing has come back. A finding is listed here if", ""),
        ("queue=closed", "No case has been closed yet. A case is closed when a second officer", ""),
        ("", "There is no finding yet. What the tables report is replayed", ""),
        ("queue=open&amount=10", "Nothing matches these filters.", "?queue=open"),
        ("q=nothing+of+this+name", "Nothing matches “nothing of this name”.", "?"),
    ],
)
def test_an_empty_list_says_what_is_so_and_what_comes_next(
    idle_officer: Officer, query: str, words: str, link: str
) -> None:
    page = client_of(idle_officer).get(f"{LIST}?{query}", headers={"accept-language": "en"}).content.decode()
    (empty,) = re.findall(r'<p class="empty dim">(.*?)</p>', page)
    assert words in empty
    assert (f'href="{link}"' in empty) if link else "href" not in empty
    assert 'name="action"' not in page, "nothing can be selected"
    assert "0 findings" not in page


def test_an_empty_queue_says_when_the_last_finding_was_closed_and_which_deadline_is_next(desk: Desk) -> None:
    client = client_of(desk.first)
    due = Case.objects.filter(casino=desk.tenant.casino).earliest("deadline")
    assert f"The next deadline is {date_time(due.deadline, due.casino)}." in in_words(client, "overdue")
    for each in desk.findings:
        case = Case.objects.get(pk=each.case_id)
        if case.state == "new":
            actions.perform(case.pk, desk.first, "take")
            actions.perform(case.pk, desk.first, "propose", reason="seen", outcome="explained")
            actions.perform(case.pk, desk.second, "approve")
    last = Case.objects.filter(casino=desk.tenant.casino).latest("closed_at")
    assert last.closed_at is not None
    assert f"The last finding was closed on {date_time(last.closed_at, last.casino)}." in in_words(client, "open")


def in_words(client: Client, queue: str) -> str:
    page = client.get(LIST, {"queue": queue}, headers={"accept-language": "en"}).content.decode()
    (empty,) = re.findall(r'<p class="empty dim">(.*?)</p>', page)
    return str(empty)


def test_a_filter_takes_several_values_and_each_choice_adds_or_takes_away_its_own(desk: Desk) -> None:
    kinds = (("minor", "payout-missing"), ("major", "payout-underpaid"), ("critical", "payout-overpaid"))
    rows = {rule: found(desk, severity, rule=rule).pk for severity, rule in kinds}
    client = client_of(desk.first)
    answer = client.get(f"{LIST}?rule=payout-missing&rule=payout-underpaid&severity__exact=minor&severity__exact=major")
    listed = {row.finding.pk for group in answer.context["listed"].groups for row in group.rows}
    assert listed == {rows["payout-missing"], rows["payout-underpaid"]}
    assert {each.pk for each in answer.context["cl"].queryset} == listed
    page = answer.content.decode()
    links = re.findall(r'href="(\?[^"]*)"', page.split('id="changelist-filter"')[1].split("</nav>")[0])
    kept = "rule=payout-missing&amp;rule=payout-underpaid"
    assert f"?{kept}&amp;rule=payout-overpaid&amp;severity__exact=minor&amp;severity__exact=major" in links
    assert "?rule=payout-underpaid&amp;severity__exact=minor&amp;severity__exact=major" in links
    assert f"?{kept}&amp;severity__exact=major" in links
    search = page.split('id="changelist-search"')[1].split("</form>")[0]
    assert search.count('name="rule"') == search.count('name="severity__exact"') == 2, "searching keeps them"
    assert client.get(f"{LIST}?severity__exact=worst&table=x&day=never").status_code == 200


def test_no_filter_is_opened_again_by_what_the_browser_remembers(desk: Desk) -> None:
    page = client_of(desk.first).get(LIST, {"queue": "open"}).content.decode()
    filters = page.split('id="changelist-filter"')[1].split("</nav>")[0]
    assert filters.count('<details name="filter"') > 5
    assert "data-filter-title" not in page, "Django's script opens what has it"
