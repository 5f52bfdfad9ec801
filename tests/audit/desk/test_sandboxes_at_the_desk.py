"""What is of a sandbox at the desk: on no page of several casinos, and wherever it is shown, marked as that."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from copy import deepcopy

import pytest
from django.contrib import admin
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.access.scope import Scope
from audit.adjudication.replay import advance
from audit.exports.findings import findings_by_id, findings_sheet
from audit.models import Casino, Finding, GamingTable, Membership, Officer, Person, PersonKind, Role
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant, dice_changed_in_mid_series

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

NOTE = "This is a sandbox for trying out a table system."
TABLE = "TRIED9"


@pytest.fixture(scope=citus.MODULE)
def shared_sandbox(module_db: None) -> Tenant:
    """A sandbox with a session that was irregular, at a table of a name that nothing else has."""
    tenant = Tenant("tried-here", tables=(TABLE,), is_sandbox=True)
    events = dice_changed_in_mid_series(tenant, "tried-session")
    events[0]["data"]["table"] = TABLE
    assert tenant.post("tried-session", events).status_code == 201
    while (progress := advance(tenant.stream("tried-session").pk)) is not None and progress.behind:
        pass
    tenant.client = Client()  # one that has answered nothing can be copied
    return tenant


@pytest.fixture
def sandbox(shared_sandbox: Tenant, db: None) -> Tenant:
    return deepcopy(shared_sandbox)


@pytest.fixture
def client(sandbox: Tenant, desk: Desk) -> Client:
    """Who sees every casino and every sandbox."""
    return client_of(Officer.objects.create_superuser("root-of-sandboxes", password=None))


def chosen(client: Client, casino: Casino) -> None:
    client.post("/admin/casino/", {"casino": casino.pk})


def exported(client: Client, format: str) -> HttpResponse:
    return client.post(f"/admin/audit/finding/export/{format}/?status=standing")  # type: ignore[return-value]


def pages_of(tenant: Tenant) -> list[str]:
    """Return the address of each page that shows something of one casino's record, whichever is chosen."""
    finding = Finding.objects.standing().filter(casino=tenant.casino).order_by("pk")[0]
    stream = finding.stream_id
    person = Person.objects.create(casino=tenant.casino, code="anna", name="Anna", kind=PersonKind.PLAYER)
    return [
        reverse("admin:audit_finding_change", args=(finding.pk,)),
        reverse("admin:audit_loggedstream_change", args=(stream,)),
        f"/admin/audit/loggedstream/{stream}/table/",
        f"/admin/audit/loggedstream/{stream}/coverage/",
        reverse("admin:audit_person_player", args=(tenant.casino.pk, "Anna")),
        reverse("admin:audit_person_subject", args=("player", tenant.casino.pk, "Anna")),
        reverse("admin:audit_person_change", args=(person.pk,)),
        reverse("admin:audit_gamingtable_change", args=(tenant.table.pk,)),
        reverse("admin:audit_casino_change", args=(tenant.casino.pk,)),
    ]


def test_a_page_of_a_sandbox_says_so_whichever_casino_is_chosen(sandbox: Tenant, desk: Desk, client: Client) -> None:
    for chosen_one in (None, desk.tenant.casino):
        if chosen_one is not None:
            chosen(client, chosen_one)
            Person.objects.all().delete()
        for address in pages_of(sandbox):
            page = client.get(address, follow=True)
            assert page.status_code == 200, address
            assert NOTE in page.content.decode(), address
    for address in pages_of(desk.tenant):
        page = client.get(address, follow=True)
        assert page.status_code == 200, address
        assert NOTE not in page.content.decode(), address


def test_nothing_of_a_sandbox_is_on_a_page_of_several_casinos(sandbox: Tenant, client: Client) -> None:
    finding = Finding.objects.standing().filter(casino=sandbox.casino).order_by("pk")[0]
    for address in (
        "/admin/",
        "/admin/audit/finding/?status=standing",
        "/admin/audit/finding/?queue=open",
        "/admin/audit/finding/?group=rule",
        "/admin/audit/loggedstream/",
        "/admin/audit/gamingtable/",
        "/admin/audit/nightreport/",
        "/admin/audit/person/",
        "/admin/rules/",
        "/admin/approve/",
        f"/admin/search/?q={TABLE}",
        "/admin/search/?q=tried-session",
    ):
        page = client.get(address, follow=True)
        assert page.status_code == 200, address
        shown = page.content.decode()
        assert f"/finding/{finding.pk}/change" not in shown, address
        assert f"/loggedstream/{finding.stream_id}/" not in shown, address
        assert not re.search(rf"table={sandbox.table.pk}\b", shown), address


def test_the_filters_of_a_list_offer_nothing_that_a_sandbox_alone_has(sandbox: Tenant) -> None:
    both = hired(sandbox, Role.OFFICER, "both")
    Membership.objects.create(officer=both, casino=Tenant().casino, role=Role.OFFICER)
    client = client_of(both)
    finding = Finding.objects.standing().filter(casino=sandbox.casino).order_by("pk")[0]
    assert f"rule={finding.rule}" not in client.get("/admin/audit/finding/").content.decode()
    chosen(client, sandbox.casino)
    assert f"rule={finding.rule}" in client.get("/admin/audit/finding/").content.decode()


def test_the_search_in_a_sandbox_finds_what_is_there(sandbox: Tenant, client: Client) -> None:
    chosen(client, sandbox.casino)
    assert f"table={sandbox.table.pk}" in client.get("/admin/search/", {"q": TABLE}).content.decode()


def test_how_often_a_rule_found_something_counts_no_sandbox(sandbox: Tenant, desk: Desk, client: Client) -> None:
    finding = Finding.objects.standing().filter(casino=sandbox.casino).order_by("pk")[0]
    ours = Finding.objects.standing().filter(casino=desk.tenant.casino, rule=finding.rule).count()
    page = client.get(f"/admin/rules/{finding.rule}/", follow=True)
    assert page.status_code == 200
    assert TABLE not in page.content.decode()
    assert ours


def test_a_file_of_a_sandboxs_findings_says_so_in_its_name_its_title_and_each_row(
    sandbox: Tenant, desk: Desk, client: Client
) -> None:
    chosen(client, sandbox.casino)
    for format in ("csv", "xlsx", "json", "pdf"):
        assert 'filename="sandbox-findings-' in exported(client, format).headers["Content-Disposition"], format
    rows = list(csv.DictReader(io.StringIO(exported(client, "csv").content.decode())))
    assert {row["casino"] for row in rows} == {"tried-here (sandbox)"}
    assert {row["casino"] for row in json.loads(exported(client, "json").content)} == {"tried-here (sandbox)"}
    book = zipfile.ZipFile(io.BytesIO(exported(client, "xlsx").content))
    assert "Findings (sandbox)" in book.read("docProps/core.xml").decode()

    chosen(client, desk.tenant.casino)
    answer = exported(client, "csv")
    assert 'filename="findings-' in answer.headers["Content-Disposition"]
    assert {row["casino"] for row in csv.DictReader(io.StringIO(answer.content.decode()))} == {desk.tenant.code}


def test_a_file_of_a_sandboxs_people_says_so(sandbox: Tenant, desk: Desk, client: Client) -> None:
    for casino in (sandbox.casino, desk.tenant.casino):
        Person.objects.create(casino=casino, code="anna", name="Anna", kind=PersonKind.PLAYER)
    for casino, name in ((sandbox.casino, "sandbox-persons-"), (desk.tenant.casino, "persons-")):
        chosen(client, casino)
        answer = client.post("/admin/audit/person/export/csv/")
        assert f'filename="{name}' in answer.headers["Content-Disposition"]


def test_a_file_that_a_job_renders_says_so(sandbox: Tenant, desk: Desk) -> None:
    ids = list(Finding.objects.standing().filter(casino=sandbox.casino).values_list("pk", flat=True))
    ours = [each.pk for each in desk.findings]
    assert findings_sheet(findings_by_id([*ours, *ids], Scope(None))).is_of_sandbox
    assert not findings_sheet(findings_by_id(ours, Scope(None))).is_of_sandbox


def test_the_evidence_of_a_sandboxs_finding_is_refused(sandbox: Tenant, client: Client) -> None:
    finding = Finding.objects.standing().filter(casino=sandbox.casino).order_by("pk")[0]
    page = client.get(reverse("admin:audit_finding_change", args=(finding.pk,))).content.decode()
    answer = client.post(reverse("admin:audit_finding_evidence", args=(finding.pk,)), follow=True)
    assert "zip" not in answer.headers["Content-Type"]
    assert NOTE in page


def test_every_list_opens_with_a_casino_chosen(desk: Desk) -> None:
    root = Officer.objects.create_superuser("root-of-lists", password=None)
    client = client_of(root)
    chosen(client, desk.tenant.casino)
    lists = [reverse(f"admin:audit_{model._meta.model_name}_changelist") for model in admin.site._registry]
    assert len(lists) > 15
    for address in lists:
        assert client.get(address).status_code == 200, address


def test_what_is_of_a_sandbox_is_listed_to_who_has_chosen_it_and_to_nobody_else(desk: Desk) -> None:
    sandbox = Casino.objects.create(code="tried", name="Tried here", is_sandbox=True)
    table = GamingTable.objects.create(casino=sandbox, code="S1")
    client = client_of(Officer.objects.create_superuser("root-of-sandboxes", password=None))
    tables = reverse("admin:audit_gamingtable_changelist")

    def shown() -> set[int]:
        return {each.pk for each in client.get(tables).context["cl"].result_list}

    assert shown()
    assert table.pk not in shown()
    chosen(client, sandbox)
    assert shown() == {table.pk}
    chosen(client, desk.tenant.casino)
    assert table.pk not in shown()
