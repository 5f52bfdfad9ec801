"""Scopes, and the desk held to them: an officer of one casino who is an administrator of another."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit.access.capabilities import Capability, roles_with
from audit.access.scope import Scope, officers_with
from audit.api import view_checks
from audit.desk import page_checks
from audit.models import (
    ApiKey,
    Casino,
    Deadline,
    GamingTable,
    Job,
    JobKind,
    JobState,
    KeyScope,
    Membership,
    NightSubscriber,
    Officer,
    Role,
    WhatIf,
)
from tests.audit.casework.test_actions import Desk, hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db


class TwoCasinos:
    """Somebody who is an officer at one casino and the administrator of another; a third is none of theirs."""

    def __init__(self) -> None:
        self.worked, self.kept, self.foreign = Tenant(), Tenant(), Tenant()
        self.officer = hired(self.worked, Role.OFFICER, "both")
        Membership.objects.create(officer=self.officer, casino=self.kept.casino, role=Role.ADMINISTRATOR)
        self.client = Client()
        self.client.force_login(self.officer)

    def get(self, address: str) -> tuple[int, str]:
        response = self.client.get(f"/admin/audit/{address}")
        return response.status_code, response.content.decode()

    def post(self, address: str, **form: Any) -> int:
        return self.client.post(f"/admin/audit/{address}", form).status_code


@pytest.fixture
def both() -> TwoCasinos:
    return TwoCasinos()


def test_a_scope_is_where_a_role_has_the_capability(both: TwoCasinos) -> None:
    seen = Scope.of(both.officer, Capability.SEE_RECORD)
    kept = Scope.of(both.officer, Capability.KEEP_EQUIPMENT)
    assert list(seen.casinos()) == [both.worked.casino]
    assert list(kept.casinos()) == [both.kept.casino]
    assert not Scope.of(both.officer, Capability.SIGN_NIGHTS)
    assert Scope.of(both.officer, Capability.SEE_RECORD, Capability.KEEP_EQUIPMENT).casino_ids == {
        both.worked.casino.pk,
        both.kept.casino.pk,
    }


def test_somebody_who_has_left_has_no_scope_and_a_superuser_every_casino(both: TwoCasinos) -> None:
    both.officer.is_active = False
    assert not Scope.of(both.officer, *Capability)
    superuser = Officer.objects.create_superuser("root")
    assert Scope.of(superuser, Capability.SIGN_NIGHTS).includes(both.foreign.casino.pk)
    assert Scope.of(superuser, Capability.SIGN_NIGHTS).includes(None)
    superuser.is_active = False
    assert not Scope.of(superuser, Capability.SIGN_NIGHTS)


def test_a_key_has_its_casino_and_its_tables_and_only_for_its_own_scopes() -> None:
    tenant = Tenant()
    table = GamingTable.objects.filter(casino=tenant.casino).first()
    assert table is not None
    key, _secret = ApiKey.make(casino=tenant.casino, name="one table", scopes=[KeyScope.STREAMS_READ])
    key.tables.add(table)
    scope = Scope.of(key, KeyScope.STREAMS_READ)
    assert scope.includes(tenant.casino.pk, table.pk)
    assert not scope.includes(tenant.casino.pk, None), "the count room is of the whole casino"
    assert not Scope.of(key, KeyScope.FINDINGS_READ)
    assert Scope.of(tenant.key, KeyScope.FINDINGS_READ).includes(tenant.casino.pk, None)


def test_no_role_both_keeps_officers_and_works_on_cases_or_approves() -> None:
    keepers = roles_with(Capability.KEEP_OFFICERS, Capability.KEEP_EQUIPMENT)
    assert keepers == {Role.ADMINISTRATOR}
    assert not keepers & roles_with(*(set(Capability) - {Capability.KEEP_OFFICERS, Capability.KEEP_EQUIPMENT}))


def test_officers_with_a_capability_are_active_and_have_it_at_that_casino(both: TwoCasinos) -> None:
    gone = hired(both.worked, Role.SECOND, "gone")
    Officer.objects.filter(pk=gone.pk).update(is_active=False)
    assert list(officers_with(Capability.WORK_CASES, [both.worked.casino.pk])) == [both.officer]
    assert not officers_with(Capability.WORK_CASES, [both.kept.casino.pk]).exists()


def test_keys_of_a_casino_that_is_not_kept_are_neither_seen_nor_revoked(both: TwoCasinos) -> None:
    _status, page = both.get("apikey/")
    assert both.kept.key.prefix in page
    for tenant in (both.worked, both.foreign):
        assert tenant.key.prefix not in page
        assert both.get(f"apikey/{tenant.key.pk}/change/")[0] == 302, "as one that there is not"
        both.post("apikey/", action="revoke", _selected_action=str(tenant.key.pk))
        tenant.key.refresh_from_db()
        assert tenant.key.revoked_at is None
    both.post("apikey/", action="revoke", _selected_action=str(both.kept.key.pk))
    both.kept.key.refresh_from_db()
    assert both.kept.key.revoked_at is not None


def test_tables_are_added_to_kept_casinos_alone(both: TwoCasinos) -> None:
    for tenant, code in ((both.worked, "W9"), (both.foreign, "F9"), (both.kept, "K9")):
        both.post("gamingtable/add/", casino=str(tenant.casino.pk), code=code)
    assert list(GamingTable.objects.filter(code__in=["W9", "F9", "K9"]).values_list("code", flat=True)) == ["K9"]


def test_an_administrator_sets_the_deadlines_of_their_own_casino_alone(both: TwoCasinos) -> None:
    everywhere = Deadline.objects.get(casino=None, severity="critical")
    assert both.post(f"deadline/{everywhere.pk}/change/", hours="999") == 403
    for tenant in (both.worked, both.foreign, both.kept):
        both.post("deadline/add/", casino=str(tenant.casino.pk), severity="critical", hours="7")
    both.post("deadline/add/", casino="", severity="critical", hours="8")
    own = Deadline.objects.exclude(casino=None)
    assert [(each.casino_id, each.hours) for each in own] == [(both.kept.casino.pk, 7)]
    everywhere.refresh_from_db()
    assert everywhere.hours == 24
    assert both.post(f"deadline/{everywhere.pk}/delete/", post="yes") == 403


def test_an_administrator_changes_the_hours_of_their_own_casinos_deadline_and_no_other(both: TwoCasinos) -> None:
    tenants = (both.worked, both.foreign, both.kept)
    own = [Deadline.objects.create(casino=tenant.casino, severity="minor", hours=1) for tenant in tenants]
    answers = [both.post(f"deadline/{deadline.pk}/change/", hours="9") for deadline in own]
    assert answers == [302, 302, 302], "the first two as ones that there are not"
    assert [Deadline.objects.get(pk=deadline.pk).hours for deadline in own] == [1, 1, 9]


def test_nobody_subscribes_to_the_reports_of_a_casino_they_do_not_keep_nor_somebody_without_a_role(
    both: TwoCasinos,
) -> None:
    auditor = hired(both.kept, Role.AUDITOR, "auditor")
    for tenant, officer in ((both.worked, both.officer), (both.kept, both.officer), (both.foreign, auditor)):
        both.post("nightsubscriber/add/", casino=str(tenant.casino.pk), officer=str(officer.pk), language="fr")
    assert not NightSubscriber.objects.exists()
    both.post("nightsubscriber/add/", casino=str(both.kept.casino.pk), officer=str(auditor.pk), language="fr")
    assert NightSubscriber.objects.get().officer == auditor


def what_if_of(tenant: Tenant) -> WhatIf:
    selection = {"casino": tenant.casino.code}
    return WhatIf.objects.create(name="the same", started_by="x", casino=tenant.casino, selection=selection)


def test_the_difference_of_a_kept_casino_is_not_seen(both: TwoCasinos) -> None:
    of_kept, of_worked = (what_if_of(tenant) for tenant in (both.kept, both.worked))
    assert both.get(f"whatif/{of_kept.pk}/difference.csv")[0] == 404
    assert both.get(f"whatif/{of_kept.pk}/change/")[0] == 404
    assert both.get(f"whatif/{of_worked.pk}/difference.csv")[0] == 200


def test_who_sees_no_record_sees_no_what_if_run_of_every_casino(both: TwoCasinos) -> None:
    run = WhatIf.objects.create(name="every casino", started_by="x", selection={})
    assert both.get(f"whatif/{run.pk}/change/")[0] == 200
    keeper = Client()
    keeper.force_login(hired(both.kept, Role.ADMINISTRATOR, "keeper"))
    for page, refused in (("change/", 403), ("history/", 404), ("difference.csv", 403)):
        assert keeper.get(f"/admin/audit/whatif/{run.pk}/{page}").status_code == refused


def test_djangos_history_is_a_page_for_nobody(both: TwoCasinos) -> None:
    run = what_if_of(both.worked)
    own = Job.objects.create(
        kind="export", officer=both.officer, params={"findings": [], "form": "csv", "said": [], "language": "en"}
    )
    assert both.get(f"whatif/{run.pk}/change/")[0] == 200
    for page in (f"whatif/{run.pk}/history/", f"job/{own.pk}/history/", f"casino/{both.worked.casino.pk}/history/"):
        assert both.get(page)[0] == 404


@pytest.mark.parametrize(
    "address",
    in_short(
        [*("casino/", "gamingtable/", "apikey/", "deadline/", "nightsubscriber/", "officer/", "nightreport/"),
         *("finding/", "loggedstream/", "quarantined/", "job/", "whatif/", "gamingtable/add/", "nightsubscriber/add/")],
        every=2,
    ),
)  # fmt: skip
def test_no_page_names_a_casino_in_which_the_officer_has_no_role(both: TwoCasinos, address: str) -> None:
    Casino.objects.filter(pk=both.foreign.casino.pk).update(name="Casino étranger")
    status, page = both.get(address)
    assert status == 200
    assert both.foreign.casino.code not in page
    assert "étranger" not in page


def test_the_file_of_a_job_is_not_handed_out_after_the_officer_has_moved(both: TwoCasinos) -> None:
    desk = Desk()
    second = desk.second
    findings = [finding.pk for finding in desk.findings]
    job = Job.objects.create(
        kind=JobKind.EXPORT,
        officer=second,
        state=JobState.DONE,
        file=b"x",
        file_name="f.csv",
        params={"findings": findings, "form": "csv", "said": [], "language": "en"},
    )
    client = Client()
    client.force_login(second)
    assert client.get(f"/admin/audit/job/{job.pk}/file/").status_code == 200
    second.memberships.get().delete()
    Membership.objects.create(officer=second, casino=both.foreign.casino, role=Role.SECOND)
    assert client.get(f"/admin/audit/job/{job.pk}/file/").status_code == 404


def test_the_project_starts_with_pages_that_demand_a_capability_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*page_checks.check_pages(), *view_checks.check_views()] == []
    monkeypatch.setattr(page_checks, "OPEN_TO_EVERY_OFFICER", frozenset())
    assert {each.id for each in page_checks.check_pages()} == {"audit.E022"}


def test_what_writes_an_account_demands_a_fresh_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_checks, "PROVES_ITSELF", frozenset())
    found = [each for each in page_checks.check_pages() if each.id == "audit.E023"]
    assert [str(each.msg).split()[0] for each in found] == [
        *["sign_in/access_link.py"] * 2, "sign_in/own_password.py",
    ]  # fmt: skip
