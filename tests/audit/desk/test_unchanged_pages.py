"""What the pages of the desk keep: a change is on the next page, an officer's answer is their own, on noted tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

from audit.access import accounts
from audit.casework import actions
from audit.corrections import decisions
from audit.desk import prepared as prepared_statements
from audit.desk import unchanged
from audit.desk.findings import folding
from audit.desk.overview import nights
from audit.desk.record import latest
from audit.models import NOTED, Finding, LoggedStream, Membership, NightReport, Officer, Person, Role
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
from tests.databases import address_of

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.django_db(transaction=True)]

LIST = "/admin/audit/finding/"
OPEN = f"{LIST}?queue=open"


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    unchanged.forget()
    yield
    unchanged.forget()


def commit_elsewhere(statement: str, *parameters: Any) -> None:
    """Commit a statement of a superuser's, on a connection of another process."""
    with psycopg.connect(address_of(connection.settings_dict["NAME"]), autocommit=True) as other:
        other.execute(statement, parameters)  # type: ignore[call-overload]


def commit_past_triggers(statement: str, *parameters: Any) -> None:
    """Commit what no code of ours may do, past the triggers that guard rows, not past those that note a change."""
    with psycopg.connect(address_of(connection.settings_dict["NAME"])) as other:
        guards = other.execute(
            "select format('alter table %%s %%%%s trigger %%I', tgrelid::regclass, tgname), tgenabled from pg_trigger"
            " where tgrelid = any (%s::regclass[]) and not tgisinternal and tgname <> 'note_change'",
            (list(NOTED),),
        ).fetchall()
        for guard, _enabled in guards:
            other.execute(guard % "disable")
        other.execute(statement, parameters)  # type: ignore[call-overload]
        for guard, enabled in guards:
            other.execute(guard % {"O": "enable", "A": "enable always", "R": "enable replica", "D": "disable"}[enabled])


# What is on the pages


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


def fresh_of(shown: Callable[[], Any]) -> Any:
    """Return what a process shows that has just begun."""
    unchanged.forget()
    return shown()


def on_the_next_page(shown: Callable[[], Any], change: Callable[[], object]) -> tuple[Any, Any]:
    """Return what a process shows before and after a change, which it shows at once, as one that has just begun."""
    before = shown()
    assert shown() == before
    change()
    after = shown()
    assert shown() == after
    assert after == fresh_of(shown)
    return before, after


def test_a_case_that_is_taken_and_closed_is_so_on_the_next_page() -> None:
    desk = Desk()
    first, third = client_of(desk.first), client_of(desk.third)
    case = desk.case.pk
    number = len(desk.findings)

    def shown() -> Any:
        return [queue(first), first_page(first), queue(third), first_page(third)]

    before, after = on_the_next_page(shown, lambda: actions.perform(case, desk.first, "take"))
    assert (before[0]["tabs"]["mine"], after[0]["tabs"]["mine"], after[2]["tabs"]["mine"]) == (0, 1, 0)
    assert after[2]["tabs"]["unassigned"] == number - 1
    _, after = on_the_next_page(
        shown, lambda: actions.perform(case, desk.first, "propose", reason="x", outcome="confirmed")
    )
    assert after[0]["tabs"]["second"] == 1
    assert [each["navigation"]["counts"]["To approve"] for each in after[2:]] == [1, 1]
    before, after = on_the_next_page(shown, lambda: actions.perform(case, desk.second, "approve"))
    assert (before[1]["navigation"]["open"], after[1]["navigation"]["open"]) == (number, number - 1)
    assert after[0]["tabs"]["closed"] == 1
    assert [each["navigation"]["counts"]["To approve"] for each in after[2:]] == [0, 0]
    assert desk.findings[0].pk not in after[1]["lines"]


@pytest.mark.faults
def test_a_case_that_is_assigned_by_another_officer_is_among_ones_own_on_the_next_page() -> None:
    desk = Desk()
    client = client_of(desk.first)
    _, after = on_the_next_page(
        lambda: queue(client, f"{LIST}?queue=mine"),
        lambda: actions.perform(desk.case.pk, desk.second, "assign", assignee=desk.first),
    )
    assert after["tabs"]["mine"] == 1
    assert [row for _title, rows in after["groups"] for row in rows] == [desk.findings[0].pk]


def test_what_an_officer_does_by_the_desk_is_on_the_page_that_it_leads_to() -> None:
    desk = Desk()
    client = client_of(desk.first)
    assert queue(client)["tabs"]["mine"] == 0
    address = f"{LIST}{desk.findings[0].pk}/case/take/"
    assert client.post(address).status_code == 302
    assert queue(client)["tabs"]["mine"] == 1
    chosen = [finding.pk for finding in desk.findings]
    sent = {"action": "take_selected", "_selected_action": chosen, "index": "0"}
    answer = client.post(LIST, sent, follow=True)
    assert {tab.name: tab.count for tab in answer.context["tabs"]}["mine"] == len(chosen)


def test_new_findings_and_those_that_stand_no_more_are_on_the_next_page() -> None:
    desk = Desk()
    client = client_of(desk.first)

    def play() -> None:
        assert desk.tenant.post("another", dice_changed_in_mid_series(desk.tenant, "another")).status_code == 201
        replayed(desk.tenant.stream("another").stream_id)

    def supersede() -> None:
        commit_elsewhere(
            "update audit_finding set status = 'superseded', superseded_at = now() where stream_id = %s",
            desk.stream.pk,
        )

    def shown() -> Any:
        return [queue(client), first_page(client)]

    before, after = on_the_next_page(shown, play)
    assert after[0]["tabs"]["open"] == 2 * before[0]["tabs"]["open"] > 0
    assert len(after[1]["lines"]) == 2 * len(before[1]["lines"])
    assert before[1]["losses"] != after[1]["losses"]
    before, after = on_the_next_page(shown, supersede)
    assert 2 * after[0]["tabs"]["open"] == before[0]["tabs"]["open"]
    assert 2 * len(after[1]["lines"]) == len(before[1]["lines"])


@pytest.mark.faults
def test_the_priority_of_an_incident_by_a_casinos_new_threshold_is_on_the_next_page() -> None:
    desk = Desk()
    client = client_of(desk.first)
    threshold = "update audit_casino set priority_threshold = %s"
    commit_elsewhere(threshold, 1_000_000)

    def priorities() -> Any:
        groups = context(client, OPEN)["listed"].groups
        lines = context(client, "/admin/")["overview"]["lines"]
        return [
            [row.finding.priority for group in groups for row in group.rows],
            [line.finding.pk for line in lines],
        ]

    before, after = on_the_next_page(priorities, lambda: commit_elsewhere(threshold, 1))
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

    before, after = on_the_next_page(lambda: first_page(client), reconcile)
    assert (before["nights"], before["navigation"]["nights"]) == ([], 0)
    (report,) = NightReport.objects.filter(casino=tenant.casino)
    assert [pk for pk, _state, _win in after["nights"]] == [report.pk]
    assert after["navigation"]["nights"] == 1
    opened = "update audit_nightreport set state = 'open' where id = %s"
    _, after = on_the_next_page(lambda: first_page(client), lambda: commit_past_triggers(opened, report.pk))
    assert (after["nights"][0][1], after["navigation"]["nights"]) == ("open", 0)


@pytest.mark.faults
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

    before, after = on_the_next_page(shown, lambda: desk.session("t"))
    second = desk.tenant.stream("t").stream_id
    assert ([len(each["newest"]) for each in before[::2]], [len(each["newest"]) for each in after[::2]]) == (
        [1, 1],
        [2, 2],
    )
    assert (before[0]["waiting"], after[0]["waiting"]) == ("1", "2")
    _, after = on_the_next_page(shown, decide(desk.second, first))
    assert [each["navigation"]["counts"][approve[1]] for each in after] == [1, 1, 2, 2]
    _, after = on_the_next_page(shown, lambda: desk.refused(second))
    assert after[2]["waiting"] == "1"
    assert [waits for _pk, _title, _night, waits in after[0]["newest"]] == [False, True]
    _, after = on_the_next_page(shown, decide(desk.other, first))
    replayed(first)
    assert shown() == fresh_of(shown)
    assert shown()[0]["waiting"] == ""


def neighbours(client: Client, address: str) -> tuple[int, int, str, str]:
    found = context(client, address)["neighbours"]
    return found.position, found.of, found.previous, found.next


@pytest.mark.faults
def test_the_neighbours_of_a_proposal_are_those_that_wait_when_the_page_is_requested() -> None:
    desk = Desk()
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
        _, after = on_the_next_page(shown, lambda finding=finding: propose(finding))
        assert after[1] == number
    _, after = on_the_next_page(shown, lambda: actions.perform(others[0].case_id, desk.first, "comment", reason="x"))
    assert after[1] == len(others) + 1
    _, after = on_the_next_page(shown, lambda: actions.perform(others[0].case_id, desk.third, "approve"))
    assert after[1] == len(others)
    assert reverse("admin:approve_closing", args=(others[0].pk,)) not in after


def test_the_neighbours_of_a_correction_are_those_that_wait_when_the_page_is_requested() -> None:
    desk = CorrectionsDesk()
    one, other = desk.session("s"), desk.session("t")
    address = reverse("admin:audit_correction_change", args=(finding_of(one).pk,))
    client = client_of(desk.second)
    before, after = on_the_next_page(lambda: neighbours(client, address), lambda: desk.refused(other))
    assert (before[1], after[1]) == (2, 1)


def test_an_entry_of_the_register_that_is_proposed_or_decided_is_counted_on_the_next_page() -> None:
    desk = RegisterDesk()
    client = client_of(desk.other)

    def to_approve() -> int:
        return int(navigated(context(client, "/admin/approve/"))["counts"]["To approve"])

    added: list[int] = []
    before, after = on_the_next_page(to_approve, lambda: added.append(desk.proposed("payout_unit", 100).pk))
    assert (before, after) == (0, 1)
    _, after = on_the_next_page(to_approve, lambda: entries.decline(desk.other, added[0], reason="not here"))
    assert after == 0


@pytest.mark.faults
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

    before, after = on_the_next_page(to_approve, propose)
    assert (before, after) == ([0, 0], [1, 1])
    _, after = on_the_next_page(to_approve, lambda: accounts.decline(other, requests[0], reason="not yet"))
    assert after == [0, 0]


@pytest.mark.faults
@pytest.mark.superuser
def test_a_name_of_the_directory_that_is_changed_is_found_on_the_next_page() -> None:
    """A queue that is narrowed to somebody by a part of their name: whom it means, the directory says."""
    desk = Desk()
    finding = found(desk, "minor", croupier="c-9").pk
    person = Person.objects.create(casino=desk.tenant.casino, code="c-9", kind="croupier", name="Ada Keller")
    client = client_of(desk.first)

    def of_keller() -> set[int]:
        return {pk for _title, rows in queue(client, f"{OPEN}&croupier=keller")["groups"] for pk in rows}

    rename = "update audit_person set name = %s where id = %s"
    before, after = on_the_next_page(of_keller, lambda: commit_elsewhere(rename, "Ada Byron", person.pk))
    assert (before, after) == ({finding}, set())
    before, after = on_the_next_page(of_keller, lambda: commit_elsewhere(rename, "Ada Keller", person.pk))
    assert (before, after) == (set(), {finding})


@pytest.mark.faults
@pytest.mark.superuser
@pytest.mark.parametrize("narrowed", ["player", "q"])
def test_somebody_who_is_erased_from_the_directory_is_found_by_no_name_on_the_next_page(narrowed: str) -> None:
    desk = Desk()
    finding = found(desk, "minor", player="p-9").pk
    person = Person.objects.create(casino=desk.tenant.casino, code="p-9", kind="player", name="Bruno Keller")
    client = client_of(desk.first)

    def of_keller() -> set[int]:
        return {pk for _title, rows in queue(client, f"{OPEN}&{narrowed}=keller")["groups"] for pk in rows}

    before, after = on_the_next_page(
        of_keller, lambda: commit_elsewhere("delete from audit_person where id = %s", person.pk)
    )
    assert (before, after) == ({finding}, set())


# Officers


def test_the_answer_of_one_officer_is_never_anothers() -> None:
    here, there = Desk(), Desk()
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
    for officer, before in zip(people, found, strict=False):
        unchanged.forget()
        client = client_of(officer)
        assert [queue(client), first_page(client)] == before


def test_who_is_given_another_role_or_loses_one_sees_what_it_shows_on_the_next_page() -> None:
    here, there = Desk(), Desk()
    here.proposed_by(here.second)
    officer = hired(here.tenant, Role.AUDITOR, "moving")
    client = client_of(officer)

    def shown() -> Any:
        found = queue(client)
        return found["tabs"]["open"], found["navigation"]["counts"].get("To approve")

    own, both = len(here.findings), len(here.findings) + len(there.findings)
    assert shown() == shown() == (own, None)
    role = "update audit_officer_casinos set role = %s where officer_id = %s"
    commit_elsewhere(role, Role.SECOND, officer.pk)
    assert shown() == shown() == (own, 1)
    Membership.objects.create(officer=officer, casino=there.tenant.casino, role=Role.AUDITOR)
    assert shown() == shown() == (both, 1)
    commit_elsewhere("delete from audit_officer_casinos where casino_id = %s", here.tenant.casino.pk)
    assert shown() == shown() == (len(there.findings), None)
    commit_elsewhere("delete from audit_officer_casinos where officer_id = %s", officer.pk)
    assert client.get(OPEN).status_code == 403
    assert not navigated(client.get("/admin/").context)["open"]


@pytest.mark.faults
def test_what_is_chosen_in_a_session_is_what_its_own_pages_show() -> None:
    here, there = Desk(), Desk()
    officer = hired(here.tenant, Role.OFFICER, "of-both")
    Membership.objects.create(officer=officer, casino=there.tenant.casino, role=Role.OFFICER)
    client, other = client_of(officer), client_of(officer)
    own, both = len(here.findings), len(here.findings) + len(there.findings)

    def shown(client: Client) -> tuple[int, int, int]:
        return queue(client)["tabs"]["open"], first_page(client)["navigation"]["open"], len(first_page(client)["lines"])

    assert shown(client) == shown(other) == (both, both, both)
    client.post("/admin/casino/", {"casino": here.tenant.casino.pk})
    assert (shown(client), shown(other)) == ((own, own, own), (both, both, both))
    client.post("/admin/casino/", {"casino": ""})
    assert shown(client) == shown(other) == (both, both, both)


@pytest.mark.faults
def test_a_casino_that_becomes_a_sandbox_is_on_no_page_of_several_casinos() -> None:
    """None may: the database forbids it. Who lets it, as a superuser, does it by a statement that is noted as well."""
    here, there = Desk(), Desk()
    client = client_of(Officer.objects.create_superuser("root-of-sandboxes", password=None))

    def shown() -> tuple[int, int]:
        return queue(client)["tabs"]["open"], len(first_page(client)["lines"])

    def become() -> None:
        commit_past_triggers("update audit_casino set is_sandbox = true where id = %s", there.tenant.casino.pk)

    before, after = on_the_next_page(shown, become)
    number = len(here.findings)
    assert (before, after) == ((2 * number, 2 * number), (number, number))


# Tables


@dataclass
class Kept:
    """An answer that a page asked for: its key, its statements, and the tables that it says it reads."""

    key: Any
    statements: list[tuple[str, Any]] = field(default_factory=list)
    tables: Collection[str] = ()


@contextmanager
def kept_by_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Kept]]:
    """Collect what is asked for to be kept, with the statements of each."""
    found: list[Kept] = []
    current: list[Kept] = []
    planned_execute = prepared_statements._PlannedCursor.execute
    real = unchanged.while_unchanged

    def collecting(request: HttpRequest, key: Any, ask: Callable[[], Any], **options: Any) -> Any:
        def observed() -> Any:
            each = Kept(key)
            found.append(each)
            current.append(each)
            try:
                answer, each.tables = ask()
            finally:
                current.pop()
            return answer, each.tables

        return real(request, key, observed, **options)

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        if current:
            current[-1].statements.append((query, params))
        return planned_execute(self, query, params, **options)

    def wrapped(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
        if current:
            current[-1].statements.append((sql, params))
        return execute(sql, params, *rest)

    with monkeypatch.context() as patch, connection.execute_wrapper(wrapped):
        for module in (prepared_statements, folding, nights, latest):
            patch.setattr(module, "while_unchanged", collecting)
        patch.setattr(prepared_statements._PlannedCursor, "execute", execute)
        yield found


def relations(plan: Any) -> Iterator[str]:
    """Yield the tables of the desk that a plan reads."""
    if plan.get("Schema") == "public" and plan.get("Relation Name", "").startswith("audit_"):
        yield plan["Relation Name"]
    for each in plan.get("Plans", ()):
        yield from relations(each)


def read_by(statement: str, parameters: Any) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"explain (format json, verbose) {statement}", parameters)
        ((found,),) = cursor.fetchall()
    plan = json.loads(found) if isinstance(found, str) else found
    return set(relations(plan[0]["Plan"]))


ADDRESSES = (
    "/admin/",
    *(f"{LIST}?queue={name}" for name in ("open", "mine", "unassigned", "second", "overdue", "patterns", "returned")),
    *(f"{OPEN}&by={name}" for name in ("deadline", "night", "croupier", "nothing")),
    *(f"{OPEN}&{more}" for more in ("loses=players", "amount=10", "severity__exact=major", "month=2026-11")),
    f"{LIST}?queue=patterns&by=deadline",
    *(f"{LIST}{more}" for more in ("", "?severity__exact=major", "?month=2026-11", "?loses=house", "?table=fr-craps")),
    "/admin/approve/",
)


LONG = ("first", "auditor", "administrator", "superuser", "chosen")


@pytest.mark.parametrize("role", ["second", *(pytest.param(each, marks=pytest.mark.faults) for each in LONG)])
def test_each_answer_names_every_table_that_its_statements_read(monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    desk, _other = Desk(), Desk()
    desk.proposed_by(desk.third)
    officer = getattr(desk, role, None)
    if officer is None:
        officer = Officer.objects.create_superuser(f"root-{role}", password=None)
    client = client_of(officer)
    if role == "chosen":
        client.post("/admin/casino/", {"casino": desk.tenant.casino.pk})
    closing = reverse("admin:approve_closing", args=(desk.findings[0].pk,))
    with kept_by_pages(monkeypatch) as found:
        for address in (*ADDRESSES, closing, reverse("admin:record_state")):
            client.get(address)
    for each in found:
        assert each.statements or not each.tables, each.key
        read = set().union(*(read_by(*statement) for statement in each.statements))
        assert read <= set(each.tables) or not set(each.tables) <= set(NOTED), (each.key, each.statements)
        assert read <= set(NOTED) or not set(each.tables) <= set(NOTED), each.key
    if role in ("second", "superuser"):
        keys = {key[0] if isinstance(key, tuple) else key for key in (each.key for each in found)}
        assert keys == {
            *("waits", "queues", "folded", "the 60 most urgent", "owed by open incidents"),
            *("last nights", "closings in order", "corrections in order", "corrections", "number of findings"),
        }


@pytest.mark.parametrize(
    "address", ["/admin/", *(pytest.param(each, marks=pytest.mark.faults) for each in (OPEN, "closing"))]
)
def test_a_page_that_is_requested_again_asks_for_nothing_that_is_kept(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    desk = Desk()
    desk.proposed_by(desk.third)
    client = client_of(desk.second)
    if address == "closing":
        address = reverse("admin:approve_closing", args=(desk.findings[0].pk,))
    with kept_by_pages(monkeypatch) as found:
        assert client.get(address).status_code == 200
        assert found
        found.clear()
        assert client.get(address).status_code == 200
        assert [each.key for each in found] == []
        Person.objects.create(casino=desk.tenant.casino, code="p1", name="Ada", kind="player")
        assert client.get(address).status_code == 200
        assert [each.key for each in found] == []


@pytest.mark.faults
@pytest.mark.parametrize("address", ["/admin/", OPEN, "record"])
def test_what_pages_keep_is_not_changed_by_those_who_show_it(address: str) -> None:
    """The same page four times: what it is made of is as it was read."""
    desk = CorrectionsDesk()
    desk.session("s")
    client = client_of(desk.second)
    shown = {"/admin/": first_page, OPEN: queue, "record": record}[address]
    assert shown(client) == shown(client) == shown(client) == fresh_of(lambda: shown(client))


@pytest.mark.faults
def test_pages_that_are_kept_are_in_the_language_of_each_request() -> None:
    desk = Desk()
    client = client_of(desk.first)
    for address in ("/admin/", OPEN):
        pages = [client.get(address, headers={"accept-language": each}).content.decode() for each in ("en", "fr", "en")]
        assert "Overview" in pages[0]
        assert "Overview" not in pages[1]
        assert "Overview" in pages[2]
