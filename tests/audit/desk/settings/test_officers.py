"""Who keeps the people at the desk: superusers all of them, an administrator those of his own houses alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.event_store import audit_trail
from audit.models import Membership, Officer, Role
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/officer/"


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


@pytest.fixture
def administrator(tenant: Tenant) -> Officer:
    return hired(tenant, Role.ADMINISTRATOR, "keeper")


def roles(*given: tuple[Membership | None, Tenant, str]) -> dict[str, Any]:
    """Return the part of a form that says where somebody works."""
    there = sum(membership is not None for membership, _, _ in given)
    said: dict[str, Any] = {"memberships-TOTAL_FORMS": len(given), "memberships-INITIAL_FORMS": there}
    for place, (membership, tenant, role) in enumerate(given):
        said |= {
            f"memberships-{place}-id": membership.pk if membership else "",
            f"memberships-{place}-casino": tenant.casino.pk,
            f"memberships-{place}-role": role,
        }
    return said


def added(client: Client, name: str, *given: tuple[Membership | None, Tenant, str], **said: Any) -> Officer | None:
    password = "correct-horse-9"
    form = {"username": name, "password1": password, "password2": password, "usable_password": "true"}
    answer = client.post(f"{LIST}add/", {**form, **roles(*given), **said})
    assert answer.status_code in (200, 302)
    return Officer.objects.filter(username=name).first()


def test_an_administrator_adds_an_officer_of_his_house(tenant: Tenant, administrator: Officer) -> None:
    client = client_of(administrator)
    officer = added(client, f"new-{tenant.code}", (None, tenant, "officer"))
    assert officer is not None
    assert (officer.role_at(tenant.casino.pk), officer.is_staff, officer.is_superuser) == (Role.OFFICER, True, False)
    done = [
        act.type
        for act in audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
        if act.actor == "keeper-" + tenant.code
    ]
    assert "officer.added" in done
    entered = Client()
    assert entered.login(username=officer.username, password="correct-horse-9")
    assert entered.get("/admin/audit/finding/").status_code == 200


def test_he_makes_nobody_without_a_role_nobody_elsewhere_and_no_superuser(
    tenant: Tenant, administrator: Officer
) -> None:
    client, other = client_of(administrator), Tenant()
    assert added(client, "nowhere") is None
    assert added(client, "elsewhere", (None, other, "officer")) is None
    made = added(client, f"grand-{tenant.code}", (None, tenant, "officer"), is_superuser="on", is_active="on")
    assert made is not None
    assert not made.is_superuser
    form = {"username": made.username, "is_active": "on", "is_superuser": "on"}
    membership = made.memberships.get()
    client.post(f"{LIST}{made.pk}/change/", {**form, **roles((membership, tenant, "second"))})
    made.refresh_from_db()
    assert (made.is_superuser, made.role_at(tenant.casino.pk)) == (False, Role.SECOND)


def test_he_sees_and_changes_neither_himself_nor_others_houses_nor_superusers(
    tenant: Tenant, administrator: Officer
) -> None:
    other = Tenant()
    elsewhere = hired(other, Role.OFFICER, "elsewhere")
    at_both = hired(tenant, Role.OFFICER, "both")
    Membership.objects.create(officer=at_both, casino=other.casino, role=Role.OFFICER)
    chief = Officer.objects.create_superuser(f"chief-{tenant.code}")
    Membership.objects.create(officer=chief, casino=tenant.casino, role=Role.OFFICER)
    own = hired(tenant, Role.OFFICER, "own")
    client = client_of(administrator)
    listed = client.get(LIST).content.decode()
    assert own.username in listed
    for kept in (administrator, elsewhere, at_both, chief):
        assert f"/officer/{kept.pk}/" not in listed
        for page in ("change", "password", "delete", "history"):
            assert client.get(f"{LIST}{kept.pk}/{page}/").status_code in (302, 403, 404), (kept, page)
        password = {"password1": "taken-over-77", "password2": "taken-over-77", "usable_password": "true"}
        client.post(f"{LIST}{kept.pk}/password/", password)
        assert not Client().login(username=kept.username, password="taken-over-77")
        before = kept.is_active
        client.post(f"{LIST}{kept.pk}/change/", {"username": "renamed", **roles()})
        kept.refresh_from_db()
        assert (kept.is_active, kept.username == "renamed") == (before, False)
    assert client.get(f"{LIST}{own.pk}/delete/").status_code == 403


@pytest.mark.parametrize("role", [Role.OFFICER, Role.SECOND, Role.AUDITOR])
def test_nobody_else_keeps_officers(tenant: Tenant, role: Role) -> None:
    client = client_of(hired(tenant, role, "some"))
    assert client.get(LIST).status_code == 403
    assert client.post(f"{LIST}add/", {"username": "x"}).status_code == 403


def test_a_superuser_keeps_everybody(tenant: Tenant) -> None:
    chief = Officer.objects.create_superuser(f"chief-{tenant.code}")
    client = client_of(chief)
    officer = added(client, f"anywhere-{tenant.code}")
    assert officer is not None
    page = client.get(f"{LIST}{officer.pk}/change/").content.decode()
    assert 'name="is_superuser"' in page
    assert client.get(f"{LIST}{officer.pk}/delete/").status_code == 403


def test_a_lost_second_factor_is_taken_away_by_who_keeps_the_officer(tenant: Tenant, administrator: Officer) -> None:
    own, elsewhere = hired(tenant, Role.OFFICER, "own"), hired(Tenant(), Role.OFFICER, "elsewhere")
    for officer in (own, elsewhere):
        TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
        StaticDevice.objects.create(user=officer, name="paper")
    said = {"action": "reset_second_factor", "_selected_action": [own.pk, elsewhere.pk], "index": "0"}
    client_of(own).post(LIST, said)
    assert TOTPDevice.objects.filter(user=own).exists()
    client_of(administrator).post(LIST, said)
    assert not TOTPDevice.objects.filter(user=own).exists()
    assert not StaticDevice.objects.filter(user=own).exists()
    assert TOTPDevice.objects.filter(user=elsewhere).exists()
    taken = [
        act
        for act in audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
        if act.data.get("id") == own.pk
    ]
    assert [act.type for act in taken] == ["officer.second_factor_taken"]


def test_secrets_of_second_factors_are_on_no_page(tenant: Tenant) -> None:
    chief = client_of(Officer.objects.create_superuser(f"chief-{tenant.code}"))
    for page in ("otp_totp/totpdevice", "otp_static/staticdevice", "auth/group"):
        assert chief.get(f"/admin/{page}/").status_code == 404
