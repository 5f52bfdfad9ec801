"""The numbers on the pages of the desk after each change, as they are counted here from the rows themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.access import accounts, sandboxes
from audit.casework import actions
from audit.casework.urgency import priority_of
from audit.corrections import decisions
from audit.desk.overview import waits
from audit.models import Case, Finding, LoggedStream, Membership, NightReport, Officer, Person, Role
from audit.models.cases import State
from audit.presentation import money
from audit.reconciliation import runs
from audit.register import entries
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.casework.test_priority import found
from tests.audit.corrections.corrections_desk import CORRECTION, CorrectionsDesk, finding_of, replayed
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, session
from tests.audit.reconciliation.played import record as record_events
from tests.audit.register.register_desk import RegisterDesk
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

LIST = "/admin/audit/finding/"
OPEN = f"{LIST}?queue=open"


def execute(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def execute_past_triggers(table: str, statement: str, *parameters: Any) -> None:
    """Execute as a superuser what no code of ours may do to a table."""
    execute("set constraints all immediate")
    execute(f"alter table {table} disable trigger user")
    execute(statement, *parameters)
    execute(f"alter table {table} enable trigger user")


def context(client: Client, address: str) -> Any:
    page = client.get(address, headers={"accept-language": "en"})
    assert page.status_code == 200, address
    return page.context


def navigated(found: Any) -> dict[str, Any]:
    navigation = found["navigation"]
    return {
        "open": navigation.waits,
        "late": navigation.late,
        "nights": navigation.nights,
        "counts": {str(link.title): link.count for _title, links in navigation.groups for link in links},
    }


def queue(client: Client, address: str = OPEN) -> dict[str, Any]:
    """Return what a queue shows: its tabs, its groups with their lines, and the navigation."""
    found = context(client, address)
    listed = found["listed"]
    return {
        "tabs": {tab.name: tab.count for tab in found["tabs"]},
        "groups": [(str(each.title), [row.finding.pk for row in each.rows]) for each in listed.groups],
        "sums": [str(listed.sums.words), *(str(each.sums.words) for each in listed.groups)],
        "navigation": navigated(found),
    }


def first_page(client: Client) -> dict[str, Any]:
    found = context(client, "/admin/")
    overview = found["overview"]
    return {
        "lines": [line.finding.pk for line in overview["lines"]],
        "losses": [(loss.side, loss.amount, loss.count, loss.since) for loss in overview["losses"]],
        "nights": [(night.report.pk, night.report.state, str(night.win)) for night in overview["last"].nights],
        "croupiers": [(str(row.name), row.cells) for row in overview["last"].rows],
        "navigation": navigated(found),
    }


def record(client: Client) -> dict[str, Any]:
    found = context(client, reverse("admin:record_state"))
    return {
        "waiting": found["corrections_waiting"],
        "newest": [(each.row.pk, each.title, each.night, each.waits) for each in found["newest_corrections"]],
        "navigation": navigated(found),
    }


def around(shown: Callable[[], Any], change: Callable[[], object]) -> tuple[Any, Any]:
    """Return what is shown before and after a change."""
    return shown(), then(change, shown)


def then(change: Callable[[], object], shown: Callable[[], Any]) -> Any:
    """Return what is shown after one more change, having been shown before."""
    change()
    return shown()


# Counted by hand


def numbers(client: Client) -> dict[str, Any]:
    """Return the numbers that the queue and the first page show."""
    listed, overview = context(client, OPEN), context(client, "/admin/")
    navigation, sums = overview["navigation"], listed["listed"].sums
    losses = overview["overview"]["losses"]
    return {
        **{tab.name: tab.count for tab in listed["tabs"]},
        "in the navigation": (navigation.waits, navigation.late),
        "of the list": (sums.count, sums.findings) if sums is not None else (0, 0),
        "owed by the list": dict(sums.owed) if sums is not None else {},
        "lost": {loss.side: (loss.amount, loss.count) for loss in losses},
    }


def by_hand(officer: Officer) -> dict[str, Any]:
    """Return the same numbers, each counted in Python from all rows of the officer's casinos."""
    own = set(officer.roles_by_casino)
    standing = [
        each
        for each in Finding.objects.select_related("case", "casino")
        if each.status == "standing" and each.casino_id in own and not each.casino.is_sandbox
    ]
    heads = [each for each in standing if each.heads_case]
    is_open = [each for each in heads if each.case is not None and each.case.state != State.CLOSED]
    now = timezone.now()

    def alike(one: Finding) -> int:
        return sum(
            (one.casino_id, one.rule, one.croupier) == (each.casino_id, each.rule, each.croupier)
            and abs((one.gaming_day - each.gaming_day).days) <= 30
            and one.case_id != each.case_id
            for each in standing
        )

    def has_come_back(one: Finding) -> bool:
        return one.table_id is not None and any(
            (one.casino_id, one.rule, one.table_id) == (each.casino_id, each.rule, each.table_id)
            and each.case_id != one.case_id
            and each.case is not None
            and each.case.state == State.CLOSED
            and each.case.closed_at < case_of(one).opened_at
            for each in standing
        )

    of_open = [each for each in standing if each.case is not None and each.case.state != State.CLOSED]
    claims = [each for each in of_open if each.owed and each.difference is not None and each.severity != "info"]
    owed: Counter[tuple[str, str]] = Counter()
    owing: dict[str, set[int | None]] = {"player": set(), "bank": set()}
    for each in claims:
        side = "player" if each.owed["by"] == "house" else "bank"
        owed[side, each.currency] += each.owed["amount"]
        owing[side].add(each.case_id)
    late = sum(case_of(each).deadline < now for each in is_open)
    return {
        "open": len(is_open),
        "mine": sum(case_of(each).assigned_to_id == officer.pk for each in is_open),
        "unassigned": sum(case_of(each).state == State.NEW for each in is_open),
        "second": sum(case_of(each).state == State.SECOND for each in is_open),
        "overdue": late,
        "patterns": sum(bool(each.croupier) and alike(each) >= 2 for each in is_open),
        "returned": sum(map(has_come_back, is_open)),
        "closed": len(heads) - len(is_open),
        "in the navigation": (len(is_open), late),
        "of the list": (len(is_open), len(of_open)),
        "owed by the list": dict(owed),
        "lost": {side: (money(owed[side, "EUR"], "EUR"), len(owing[side])) for side in owing if owing[side]},
    }


def case_of(finding: Finding) -> Case:
    assert finding.case is not None
    return finding.case


def test_each_number_is_as_counted_by_hand_after_every_change(desk: Desk) -> None:
    officer = desk.second
    client = client_of(officer)
    casino, finding = desk.tenant.casino, desk.findings[0]

    def perform(name: str, by: Officer, **options: Any) -> Callable[[], object]:
        return lambda: actions.perform(finding.case_id, by, name, **options)

    def play(tenant: Tenant, stream: str) -> None:
        events = dice_changed_in_mid_series(tenant, stream)
        assert tenant.post(stream, events).status_code == 201
        replayed(tenant.stream(stream).stream_id)

    sandbox = Tenant(f"try-{desk.tenant.code}"[:40], is_sandbox=True)
    Membership.objects.create(officer=officer, casino=sandbox.casino, role=Role.SECOND)
    cause = {"rule": finding.rule, "seq": finding.seq, "wager": finding.wager}
    repeated = {"rule": "payout-missing", "croupier": "c-1"}
    changes: Sequence[tuple[str, Callable[[], object]]] = (
        ("taken", perform("take", officer)),
        ("proposed", perform("propose", officer, reason="x", outcome="confirmed")),
        ("sent back", perform("send_back", desk.third, reason="which camera?")),
        ("proposed again", perform("propose", officer, reason="x", outcome="confirmed")),
        ("closed", perform("approve", desk.third)),
        ("found in another session", lambda: play(desk.tenant, "another")),
        ("reopened", perform("reopen", desk.third, reason="another camera")),
        ("released", perform("release", desk.third)),
        ("assigned", perform("assign", desk.third, assignee=officer)),
        ("owed to a player", lambda: found(desk, "major", euros=-180, **repeated)),
        ("owed to the house", lambda: found(desk, "minor", euros=5, **repeated)),
        ("repeated, and late", lambda: found(desk, "critical", euros=-20, hours=-1, **repeated)),
        ("for information", lambda: found(desk, "info", rule="act-put-right", euros=-1)),
        ("a consequence", lambda: found(desk, "minor", rule="losing-wager-paid", euros=3, causes=[cause])),
        ("a consequence superseded", lambda: _supersede(rule="losing-wager-paid")),
        ("one of a pattern superseded", lambda: _supersede(rule="payout-missing", difference=500)),
        ("a session superseded", lambda: _supersede(stream_id=desk.stream.pk, croupier="")),
    )
    before = numbers(client)
    assert before == by_hand(officer)
    for name, change in changes:
        change()
        after = numbers(client)
        assert after == by_hand(officer), name
        assert after != before or name == "for information", f"{name}: no number changed"
        before = after
    for change in (lambda: play(sandbox, "tried"), lambda: sandboxes.empty(sandbox.casino)):
        change()
        assert numbers(client) == by_hand(officer) == before
    assert casino.pk != sandbox.casino.pk


def _supersede(**of: Any) -> None:
    assert Finding.objects.standing().filter(**of).update(status="superseded", superseded_at=timezone.now())


# One kind of page after another


def test_a_case_that_is_taken_and_closed_is_so_on_the_next_page(desk: Desk) -> None:
    first, third = client_of(desk.first), client_of(desk.third)
    case = desk.case.pk
    number = len(desk.findings)

    def shown() -> Any:
        return [queue(first), first_page(first), queue(third), first_page(third)]

    before, after = around(shown, lambda: actions.perform(case, desk.first, "take"))
    assert (before[0]["tabs"]["mine"], after[0]["tabs"]["mine"], after[2]["tabs"]["mine"]) == (0, 1, 0)
    assert after[2]["tabs"]["unassigned"] == number - 1
    after = then(lambda: actions.perform(case, desk.first, "propose", reason="x", outcome="confirmed"), shown)
    assert after[0]["tabs"]["second"] == 1
    assert [each["navigation"]["counts"]["To approve"] for each in after[2:]] == [1, 1]
    before, after = around(shown, lambda: actions.perform(case, desk.second, "approve"))
    assert (before[1]["navigation"]["open"], after[1]["navigation"]["open"]) == (number, number - 1)
    assert after[0]["tabs"]["closed"] == 1
    assert [each["navigation"]["counts"]["To approve"] for each in after[2:]] == [0, 0]
    assert desk.findings[0].pk not in after[1]["lines"]


def test_a_case_that_is_assigned_by_another_officer_is_among_ones_own_on_the_next_page(desk: Desk) -> None:
    client = client_of(desk.first)
    _, after = around(
        lambda: queue(client, f"{LIST}?queue=mine"),
        lambda: actions.perform(desk.case.pk, desk.second, "assign", assignee=desk.first),
    )
    assert after["tabs"]["mine"] == 1
    assert [row for _title, rows in after["groups"] for row in rows] == [desk.findings[0].pk]


def test_what_an_officer_does_by_the_desk_is_on_the_page_that_it_leads_to(desk: Desk) -> None:
    client = client_of(desk.first)
    assert queue(client)["tabs"]["mine"] == 0
    address = f"{LIST}{desk.findings[0].pk}/case/take/"
    assert client.post(address).status_code == 302
    assert queue(client)["tabs"]["mine"] == 1
    chosen = [finding.pk for finding in desk.findings]
    sent = {"action": "take_selected", "_selected_action": chosen, "index": "0"}
    answer = client.post(LIST, sent, follow=True)
    assert {tab.name: tab.count for tab in answer.context["tabs"]}["mine"] == len(chosen)


def test_new_findings_and_those_that_stand_no_more_are_on_the_next_page(desk: Desk) -> None:
    client = client_of(desk.first)

    def play() -> None:
        assert desk.tenant.post("another", dice_changed_in_mid_series(desk.tenant, "another")).status_code == 201
        replayed(desk.tenant.stream("another").stream_id)

    def supersede() -> None:
        execute(
            "update audit_finding set status = 'superseded', superseded_at = clock_timestamp() where stream_id = %s",
            desk.stream.pk,
        )

    def shown() -> Any:
        return [queue(client), first_page(client)]

    before, after = around(shown, play)
    assert after[0]["tabs"]["open"] == 2 * before[0]["tabs"]["open"] > 0
    assert len(after[1]["lines"]) == 2 * len(before[1]["lines"])
    assert before[1]["losses"] != after[1]["losses"]
    before, after = around(shown, supersede)
    assert 2 * after[0]["tabs"]["open"] == before[0]["tabs"]["open"]
    assert 2 * len(after[1]["lines"]) == len(before[1]["lines"])


def test_the_priority_of_an_incident_by_a_casinos_new_threshold_is_on_the_next_page(desk: Desk) -> None:
    client = client_of(desk.first)
    threshold = "update audit_casino set priority_threshold = %s"
    execute(threshold, 1_000_000)

    def priorities() -> Any:
        groups = context(client, OPEN)["listed"].groups
        lines = context(client, "/admin/")["overview"]["lines"]
        return [
            [priority_of(row.finding) for group in groups for row in group.rows],
            [line.finding.pk for line in lines],
        ]

    before, after = around(priorities, lambda: execute(threshold, 1))
    assert before[0] != after[0]


def test_a_night_that_is_reconciled_is_on_the_next_page() -> None:
    tenant = Tenant()
    client = client_of(hired(tenant, Role.DIRECTOR, "director"))
    events = session(tenant.casino, "R1")
    record_events(tenant.casino, events)
    record_events(tenant.casino, count(tenant.casino, {events[0]["stream"]: buy_ins(events)}))
    seal()

    def reconcile() -> None:
        runs.reconcile(tenant.casino, DAY, actor="test", now=MORNING)

    before, after = around(lambda: first_page(client), reconcile)
    assert (before["nights"], before["navigation"]["nights"]) == ([], 0)
    (report,) = NightReport.objects.filter(casino=tenant.casino)
    assert [pk for pk, _state, _win in after["nights"]] == [report.pk]
    assert after["navigation"]["nights"] == 1
    opened = "update audit_nightreport set state = 'open' where id = %s"
    after = then(lambda: execute_past_triggers("audit_nightreport", opened, report.pk), lambda: first_page(client))
    assert (after["nights"][0][1], after["navigation"]["nights"]) == ("open", 0)


def test_a_correction_that_comes_is_countersigned_or_refused_is_so_on_the_next_page() -> None:
    desk = CorrectionsDesk()
    client, other = client_of(desk.second), client_of(desk.other)
    first = desk.session("s")
    approve = "Record and proofs", "To approve"

    def shown() -> Any:
        return [record(client), first_page(client), record(other), first_page(other)]

    def decide(officer: Officer, stream_id: int) -> Callable[[], object]:
        stream = LoggedStream.objects.get(pk=stream_id)
        return lambda: decisions.countersign(officer, stream, CORRECTION, reason="seen on video")

    before, after = around(shown, lambda: desk.session("t"))
    second = desk.tenant.stream("t").stream_id
    assert ([len(each["newest"]) for each in before[::2]], [len(each["newest"]) for each in after[::2]]) == (
        [1, 1],
        [2, 2],
    )
    assert (before[0]["waiting"], after[0]["waiting"]) == ("1", "2")
    after = then(decide(desk.second, first), shown)
    assert [each["navigation"]["counts"][approve[1]] for each in after] == [1, 1, 2, 2]
    after = then(lambda: desk.refused(second), shown)
    assert after[2]["waiting"] == "1"
    assert [waits for _pk, _title, _night, waits in after[0]["newest"]] == [False, True]
    after = then(decide(desk.other, first), shown)
    replayed(first)
    assert shown()[0]["waiting"] == ""


def neighbours(client: Client, address: str) -> tuple[int, int, str, str]:
    found = context(client, address)["neighbours"]
    return found.position, found.of, found.previous, found.next


def test_the_neighbours_of_a_proposal_are_those_that_wait_when_the_page_is_requested(desk: Desk) -> None:
    case, *others = desk.findings[:3]
    client = client_of(desk.third)
    address = reverse("admin:approve_closing", args=(case.pk,))

    def propose(finding: Finding) -> None:
        actions.perform(finding.case_id, desk.second, "take")
        actions.perform(finding.case_id, desk.second, "propose", reason="x", outcome="confirmed")

    def shown() -> Any:
        return neighbours(client, address)

    propose(case)
    assert shown() == (1, 1, "", "")
    for number, finding in enumerate(others, start=2):
        after = then(lambda finding=finding: propose(finding), shown)
        assert after[1] == number
    after = then(lambda: actions.perform(others[0].case_id, desk.first, "comment", reason="x"), shown)
    assert after[1] == len(others) + 1
    after = then(lambda: actions.perform(others[0].case_id, desk.third, "approve"), shown)
    assert after[1] == len(others)
    assert reverse("admin:approve_closing", args=(others[0].pk,)) not in after


def test_the_neighbours_of_a_correction_are_those_that_wait_when_the_page_is_requested() -> None:
    desk = CorrectionsDesk()
    one, other = desk.session("s"), desk.session("t")
    address = reverse("admin:audit_correction_change", args=(finding_of(one).pk,))
    client = client_of(desk.second)
    before, after = around(lambda: neighbours(client, address), lambda: desk.refused(other))
    assert (before[1], after[1]) == (2, 1)


def test_an_entry_of_the_register_that_is_proposed_or_decided_is_counted_on_the_next_page() -> None:
    desk = RegisterDesk()
    client = client_of(desk.other)

    def to_approve() -> int:
        return int(navigated(context(client, "/admin/approve/"))["counts"]["To approve"])

    added: list[int] = []
    before, after = around(to_approve, lambda: added.append(desk.proposed("payout_unit", 100).pk))
    assert (before, after) == (0, 1)
    after = then(lambda: entries.decline(desk.other, added[0], reason="not here"), to_approve)
    assert after == 0


def test_a_request_about_an_account_is_counted_on_the_next_page() -> None:
    tenant = Tenant()
    one, other = (hired(tenant, Role.ADMINISTRATOR, name) for name in ("one", "other"))
    root = Officer.objects.create_superuser("root-of-requests", password=None)
    officer = hired(tenant, Role.OFFICER, "promoted")
    clients = [client_of(other), client_of(root)]

    def to_approve() -> list[int]:
        return [navigated(context(each, "/admin/approve/"))["counts"]["To approve"] for each in clients]

    requests: list[int] = []

    def propose() -> None:
        request = accounts.propose_role(one, officer, tenant.casino, Role.SECOND, reason="x")
        assert request is not None
        requests.append(request.pk)

    before, after = around(to_approve, propose)
    assert (before, after) == ([0, 0], [1, 1])
    after = then(lambda: accounts.decline(other, requests[0], reason="not yet"), to_approve)
    assert after == [0, 0]


def test_a_name_of_the_directory_that_is_changed_is_found_on_the_next_page(desk: Desk) -> None:
    """A queue that is narrowed to somebody by a part of their name: whom it means, the directory says."""
    finding = found(desk, "minor", croupier="c-9").pk
    person = Person.objects.create(casino=desk.tenant.casino, code="c-9", kind="croupier", name="Ada Keller")
    client = client_of(desk.first)

    def of_keller() -> set[int]:
        return {pk for _title, rows in queue(client, f"{OPEN}&croupier=keller")["groups"] for pk in rows}

    rename = "update audit_person set name = %s where id = %s"
    before, after = around(of_keller, lambda: execute(rename, "Ada Byron", person.pk))
    assert (before, after) == ({finding}, set())
    before, after = around(of_keller, lambda: execute(rename, "Ada Keller", person.pk))
    assert (before, after) == (set(), {finding})


@pytest.mark.parametrize("narrowed", ["player", pytest.param("q", marks=pytest.mark.faults)])
def test_somebody_who_is_erased_from_the_directory_is_found_by_no_name_on_the_next_page(
    desk: Desk, narrowed: str
) -> None:
    finding = found(desk, "minor", player="p-9").pk
    person = Person.objects.create(casino=desk.tenant.casino, code="p-9", kind="player", name="Bruno Keller")
    client = client_of(desk.first)

    def of_keller() -> set[int]:
        return {pk for _title, rows in queue(client, f"{OPEN}&{narrowed}=keller")["groups"] for pk in rows}

    before, after = around(of_keller, lambda: execute("delete from audit_person where id = %s", person.pk))
    assert (before, after) == ({finding}, set())


def test_how_many_are_late_counts_those_that_are_not_drawn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "DOTS", 1)
    late = Case.objects.filter(casino=desk.tenant.casino).update(deadline=timezone.now())
    assert late > 1
    page = client_of(desk.first).get("/admin/", headers={"accept-language": "en"}).content.decode()
    assert f"{late} are past their deadline." in page


# Officers


@pytest.mark.faults
def test_the_answer_of_one_officer_is_never_anothers(desk: Desk) -> None:
    here, there = desk, Desk()
    actions.perform(here.case.pk, here.first, "take")
    people = [here.first, here.second, there.first, Officer.objects.create_superuser("root-of-both", password=None)]
    found = []
    for officer in people * 2:
        client = client_of(officer)
        found.append([queue(client), first_page(client)])
    assert found[:4] == found[4:]
    assert [each[0]["tabs"]["mine"] for each in found[:4]] == [1, 0, 0, 0]
    assert [each[0]["tabs"]["open"] for each in found[:4]] == [
        len(here.findings),
        len(here.findings),
        len(there.findings),
        len(here.findings) + len(there.findings),
    ]
    own = {finding.pk for finding in there.findings}
    assert set(found[2][1]["lines"]) <= own
    assert not set(found[0][1]["lines"]) & own


def test_who_is_given_another_role_or_loses_one_sees_what_it_shows_on_the_next_page(desk: Desk) -> None:
    here, there = desk, Desk()
    here.proposed_by(here.second)
    officer = hired(here.tenant, Role.AUDITOR, "moving")
    client = client_of(officer)

    def shown() -> Any:
        found = queue(client)
        return found["tabs"]["open"], found["navigation"]["counts"].get("To approve")

    own, both = len(here.findings), len(here.findings) + len(there.findings)
    assert shown() == (own, None)
    role = "update audit_officer_casinos set role = %s where officer_id = %s"
    execute(role, Role.SECOND, officer.pk)
    assert shown() == (own, 1)
    Membership.objects.create(officer=officer, casino=there.tenant.casino, role=Role.AUDITOR)
    assert shown() == (both, 1)
    execute("delete from audit_officer_casinos where casino_id = %s", here.tenant.casino.pk)
    assert shown() == (len(there.findings), None)
    execute("delete from audit_officer_casinos where officer_id = %s", officer.pk)
    assert client.get(OPEN).status_code == 403
    assert not navigated(client.get("/admin/").context)["open"]


def test_what_is_chosen_in_a_session_is_what_its_own_pages_show(desk: Desk) -> None:
    here, there = desk, Desk()
    officer = hired(here.tenant, Role.OFFICER, "of-both")
    Membership.objects.create(officer=officer, casino=there.tenant.casino, role=Role.OFFICER)
    client, other = client_of(officer), client_of(officer)
    own, both = len(here.findings), len(here.findings) + len(there.findings)

    def shown(client: Client) -> tuple[int, int, int]:
        first = first_page(client)
        return queue(client)["tabs"]["open"], first["navigation"]["open"], len(first["lines"])

    assert shown(client) == shown(other) == (both, both, both)
    client.post("/admin/casino/", {"casino": here.tenant.casino.pk})
    assert (shown(client), shown(other)) == ((own, own, own), (both, both, both))
    client.post("/admin/casino/", {"casino": ""})
    assert shown(client) == shown(other) == (both, both, both)


def test_a_casino_that_becomes_a_sandbox_is_on_no_page_of_several_casinos(desk: Desk) -> None:
    """None may: the database forbids it. Who lets it, as a superuser, sees it gone at once."""
    here, there = desk, Desk()
    client = client_of(Officer.objects.create_superuser("root-of-sandboxes", password=None))

    def shown() -> tuple[int, int]:
        return queue(client)["tabs"]["open"], len(first_page(client)["lines"])

    def become() -> None:
        execute_past_triggers(
            "audit_casino", "update audit_casino set is_sandbox = true where id = %s", there.tenant.casino.pk
        )

    before, after = around(shown, become)
    number = len(here.findings)
    assert (before, after) == ((2 * number, 2 * number), (number, number))
