"""Who manages officers: superusers all of them, administrators those of their own casinos alone."""

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
    """Return the part of the form that has an officer's roles, each with the membership it changes, if any."""
    existing = sum(membership is not None for membership, _, _ in given)
    form: dict[str, Any] = {"memberships-TOTAL_FORMS": len(given), "memberships-INITIAL_FORMS": existing}
    for index, (membership, tenant, role) in enumerate(given):
        form |= {
            f"memberships-{index}-id": membership.pk if membership else "",
            f"memberships-{index}-casino": tenant.casino.pk,
            f"memberships-{index}-role": role,
        }
    return form


def add(client: Client, name: str, *given: tuple[Membership | None, Tenant, str], **values: Any) -> Officer | None:
    password = "correct-horse-9"
    form = {"username": name, "password1": password, "password2": password, "usable_password": "true"}
    response = client.post(f"{LIST}add/", {**form, **roles(*given), **values})
    assert response.status_code in (200, 302)
    return Officer.objects.filter(username=name).first()


def role_of(officer: Officer) -> str:
    return officer.memberships.get().role


def test_an_administrator_adds_an_officer_at_their_own_casino(tenant: Tenant, administrator: Officer) -> None:
    client = client_of(administrator)
    officer = add(client, f"new-{tenant.code}", (None, tenant, "officer"))
    assert officer is not None
    assert (role_of(officer), officer.is_staff, officer.is_superuser) == (Role.OFFICER, True, False)
    entries = [
        entry.type
        for entry in audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
        if entry.actor == administrator.username
    ]
    assert "officer.added" in entries
    signed_in = Client()
    assert signed_in.login(username=officer.username, password="correct-horse-9")
    assert signed_in.get("/admin/audit/finding/").status_code == 200


def test_an_administrator_adds_nobody_without_a_role_nobody_elsewhere_and_no_superuser(
    tenant: Tenant, administrator: Officer
) -> None:
    client, other = client_of(administrator), Tenant()
    assert add(client, "nowhere") is None
    assert add(client, "elsewhere", (None, other, "officer")) is None
    officer = add(client, f"grand-{tenant.code}", (None, tenant, "officer"), is_superuser="on", is_active="on")
    assert officer is not None
    assert not officer.is_superuser
    form = {"username": officer.username, "is_active": "on", "is_superuser": "on"}
    membership = officer.memberships.get()
    client.post(f"{LIST}{officer.pk}/change/", {**form, **roles((membership, tenant, "second"))})
    officer.refresh_from_db()
    assert (officer.is_superuser, role_of(officer)) == (False, Role.SECOND)


def test_an_administrator_manages_neither_themselves_nor_officers_of_other_casinos_nor_superusers(
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
    for hidden in (administrator, elsewhere, at_both, chief):
        assert f"/officer/{hidden.pk}/" not in listed
        for page in ("change", "password", "delete", "history"):
            assert client.get(f"{LIST}{hidden.pk}/{page}/").status_code in (302, 403, 404), (hidden, page)
        password = {"password1": "taken-over-77", "password2": "taken-over-77", "usable_password": "true"}
        client.post(f"{LIST}{hidden.pk}/password/", password)
        assert not Client().login(username=hidden.username, password="taken-over-77")
        before = hidden.is_active
        client.post(f"{LIST}{hidden.pk}/change/", {"username": "renamed", **roles()})
        hidden.refresh_from_db()
        assert (hidden.is_active, hidden.username == "renamed") == (before, False)
    assert client.get(f"{LIST}{own.pk}/delete/").status_code == 403


@pytest.mark.parametrize("role", [Role.OFFICER, Role.SECOND, Role.AUDITOR])
def test_no_other_role_manages_officers(tenant: Tenant, role: Role) -> None:
    client = client_of(hired(tenant, role, "some"))
    assert client.get(LIST).status_code == 403
    assert client.post(f"{LIST}add/", {"username": "x"}).status_code == 403


def test_a_superuser_manages_everybody(tenant: Tenant) -> None:
    chief = Officer.objects.create_superuser(f"chief-{tenant.code}")
    client = client_of(chief)
    officer = add(client, f"anywhere-{tenant.code}")
    assert officer is not None
    page = client.get(f"{LIST}{officer.pk}/change/").content.decode()
    assert 'name="is_superuser"' in page
    assert client.get(f"{LIST}{officer.pk}/delete/").status_code == 403


def test_a_second_factor_is_reset_by_an_administrator_of_the_officers_casino(
    tenant: Tenant, administrator: Officer
) -> None:
    own, elsewhere = hired(tenant, Role.OFFICER, "own"), hired(Tenant(), Role.OFFICER, "elsewhere")
    for officer in (own, elsewhere):
        TOTPDevice.objects.create(user=officer, confirmed=True, name="phone")
        StaticDevice.objects.create(user=officer, name="paper")
    form = {"action": "reset_second_factor", "_selected_action": [own.pk, elsewhere.pk], "index": "0"}
    client_of(own).post(LIST, form)
    assert TOTPDevice.objects.filter(user=own).exists()
    client_of(administrator).post(LIST, form)
    assert not TOTPDevice.objects.filter(user=own).exists()
    assert not StaticDevice.objects.filter(user=own).exists()
    assert TOTPDevice.objects.filter(user=elsewhere).exists()
    entries = [
        entry
        for entry in audit_trail.entries_of(audit_trail.INSTALLATION, timezone.now().date())
        if entry.data.get("id") == own.pk
    ]
    assert [entry.type for entry in entries] == ["officer.second_factor_taken"]


def test_secrets_of_second_factors_are_on_no_page(tenant: Tenant) -> None:
    chief = client_of(Officer.objects.create_superuser(f"chief-{tenant.code}"))
    for page in ("otp_totp/totpdevice", "otp_static/staticdevice", "auth/group"):
        assert chief.get(f"/admin/{page}/").status_code == 404
