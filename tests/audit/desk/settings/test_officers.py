"""Who manages officers: superusers all of them, administrators those of their own casinos alone."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts
from audit.desk.audit_trail.words import ACTORS
from audit.event_store import audit_trail
from audit.models import AccountRequest, Membership, Officer, Role
from tests.audit.casework.test_actions import PASSWORD, client_of, hired
from tests.audit.tables import Tenant
from tests.long_forms import in_short

pytestmark = pytest.mark.django_db

LIST = "/admin/audit/officer/"

ACTIONS = ("link", "role", "remove-role", "second-factor", "email", "name", "confirm", "deactivate", "reactivate")


@pytest.fixture
def tenant() -> Tenant:
    return Tenant()


@pytest.fixture
def administrator(tenant: Tenant) -> Officer:
    return hired(tenant, Role.ADMINISTRATOR, "keeper")


def invite(client: Client, name: str, tenant: Tenant | None, role: str = "officer", **values: Any) -> Officer | None:
    """Send the form of an invitation, and return the officer if there is one then."""
    form = {"username": name, "email": "", "casino": tenant.casino.pk if tenant else "", "role": role}
    response = client.post(f"{LIST}add/", {**form, **values})
    assert response.status_code in (200, 302)
    return Officer.objects.filter(username=name).first()


def role_of(officer: Officer) -> str:
    return officer.memberships.get().role


def decide(client: Client, decision: str = "approve") -> int:
    """Approve or decline the request that was proposed last."""
    request = AccountRequest.objects.latest("pk")
    return client.post(f"{LIST}requests/{request.pk}/{decision}/", {"reason": "x"}).status_code


def test_the_list_names_a_role_once_with_its_casinos() -> None:
    first, second, third = Tenant(), Tenant(), Tenant()
    officer = hired(first, Role.SECOND, "both")
    Membership.objects.create(officer=officer, casino=second.casino, role=Role.SECOND)
    Membership.objects.create(officer=officer, casino=third.casino, role=Role.AUDITOR)
    chief = Officer.objects.create_superuser(f"chief-{first.code}")
    page = client_of(chief).get(LIST, {"q": f"both-{first.code}"}).content.decode()
    assert page.count("second officer (") == 1
    [casinos] = re.findall(r"second officer \((.*?)\)", page)
    assert sorted(casinos.split(", ")) == sorted([str(first.casino), str(second.casino)])
    assert f"auditor ({third.casino})" in page


def test_a_row_of_the_list_and_the_page_are_headed_by_the_person(tenant: Tenant, administrator: Officer) -> None:
    officer = hired(tenant, Role.SECOND, "claire")
    Officer.objects.filter(pk=officer.pk).update(first_name="Claire", last_name="Moreau")
    client, english = client_of(administrator), {"accept-language": "en"}
    page = client.get(LIST, {"q": officer.username}, headers=english).content.decode()
    assert re.search(r"<th[^>]*>\s*<a[^>]*>Claire Moreau</a>", page)
    assert "User name" in page
    assert "Superuser status" not in page
    own = client.get(f"{LIST}{officer.pk}/change/", headers=english).content.decode()
    assert "› Claire Moreau</div>" in own
    assert "<dt>Second factor</dt><dd>not yet</dd>" in own
    TOTPDevice.objects.create(user=officer, confirmed=True)
    own = client.get(f"{LIST}{officer.pk}/change/", headers=english).content.decode()
    assert "<dt>Second factor</dt><dd>device</dd>" in own


def test_an_administrator_invites_another_approves_and_the_officer_chooses_the_password(
    tenant: Tenant, administrator: Officer
) -> None:
    client = client_of(administrator)
    response = client.post(
        f"{LIST}add/",
        {"username": f"new-{tenant.code}", "email": "", "casino": tenant.casino.pk, "role": "second"},
    )
    [address] = re.findall(r"http://testserver(/admin/link/[\w-]+/)", response.content.decode())
    officer = Officer.objects.get(username=f"new-{tenant.code}")
    assert (officer.is_staff, officer.is_superuser, officer.has_usable_password()) == (True, False, False)
    other = client_of(hired(tenant, Role.ADMINISTRATOR, "other"))
    assert "second officer, Casino" in other.get(LIST).content.decode(), "it waits on the page of the other"
    assert decide(client) == 302
    assert not officer.memberships.exists(), "nobody approves what they proposed"
    assert decide(other) == 302
    assert role_of(officer) == Role.SECOND
    password = "correct-horse-9"
    Client().post(address, {"new_password1": password, "new_password2": password})
    signed_in = Client()
    assert signed_in.login(username=officer.username, password=password)
    assert signed_in.get("/admin/audit/finding/").status_code == 200
    entries = [
        entry.type
        for entry in audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
        if entry.type.startswith("officer.") and "sign" not in entry.type
    ]
    assert entries == [
        *("officer.invited", "officer.role_proposed", "officer.link_issued", "officer.request_refused"),
        *("officer.role_approved", "officer.link_used"),
    ]


def test_an_administrator_invites_nobody_elsewhere_nobody_without_a_role_and_no_superuser(
    tenant: Tenant, administrator: Officer
) -> None:
    client, other = client_of(administrator), Tenant()
    assert invite(client, "nowhere", None) is None
    assert invite(client, "elsewhere", other) is None
    assert invite(client, "of no role", tenant, "superuser") is None
    grand = {"is_superuser": "on", "password": "x", "password1": "correct-horse-9", "password2": "correct-horse-9"}
    officer = invite(client, f"grand-{tenant.code}", tenant, **grand)
    assert officer is not None
    assert (officer.is_superuser, officer.has_usable_password()) == (False, False)


@pytest.mark.parametrize(
    "name",
    in_short(
        ["KEEPER", "k\u0435eper", "beat", audit_trail.account_name().upper()],
        further=["System", "sign-in", "ke\u0131per"],
    ),
)
def test_nobody_is_invited_under_a_name_that_is_taken_for_another_hand(
    tenant: Tenant, administrator: Officer, name: str
) -> None:
    own = name.lower() in ("beat", "system", "sign-in", audit_trail.account_name().lower())
    sent = name if own else administrator.username.replace("keeper", name)
    assert sent != administrator.username
    assert invite(client_of(administrator), sent, tenant) is None
    assert invite(client_of(administrator), f"another-{tenant.code}", tenant) is not None


@pytest.mark.parametrize("name", ["KEEPER", "keeper", "beat", "System", "SIGN-IN"])
def test_the_database_refuses_such_a_name_where_another_was_invited_at_the_same_instant(
    tenant: Tenant, administrator: Officer, name: str
) -> None:
    sent = administrator.username.replace("keeper", name) if "eeper" in name.lower() else name
    details: dict[str, Any] = {"first_name": "", "last_name": "", "email": "", "is_shown": True}
    with pytest.raises(accounts.AccountRefused, match="already exists"):
        accounts.invite(administrator, username=sent, casino=tenant.casino, role=Role.OFFICER, **details)


def test_no_officer_is_invited_as_what_acts_without_a_person() -> None:
    assert set(ACTORS) == set(Officer.OF_NOBODY)


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
        before = Officer.objects.filter(pk=hidden.pk).values().get()
        assert f"/officer/{hidden.pk}/" not in listed
        for page in ("change", "delete", "history"):
            assert client.get(f"{LIST}{hidden.pk}/{page}/").status_code in (302, 403, 404), (hidden, page)
        for name in ACTIONS:
            form = {"casino": tenant.casino.pk, "role": "director", "reason": "x", "email": "x@example.org"}
            assert client.post(f"{LIST}{hidden.pk}/do/{name}/", form).status_code == 404, (hidden, name)
        client.post(f"{LIST}{hidden.pk}/change/", {"username": "renamed"})
        assert Officer.objects.filter(pk=hidden.pk).values().get() == before
    assert not AccountRequest.objects.exists()
    assert client.get(f"{LIST}{own.pk}/delete/").status_code == 403


def test_nobody_sets_the_password_of_another(tenant: Tenant, administrator: Officer) -> None:
    officer = hired(tenant, Role.OFFICER, "own")
    chief = Officer.objects.create_superuser(f"chief-{tenant.code}")
    before = Officer.objects.get(pk=officer.pk).password
    for client in (client_of(administrator), client_of(chief)):
        taken = {"password1": "taken-over-77", "password2": "taken-over-77", "usable_password": "true"}
        for page in ("password/", "change/", "do/password/", "do/name/"):
            client.post(f"{LIST}{officer.pk}/{page}", {**taken, "password": "taken-over-77"})
            assert Officer.objects.get(pk=officer.pk).password == before, page
        for page in ("add/", f"{officer.pk}/change/"):
            text = client.get(LIST + page).content.decode()
            assert 'name="password' not in text
            assert 'type="password"' not in text, "the proof of the administrator is fresh"


@pytest.mark.parametrize(
    "role",
    in_short([Role.SECOND, Role.AUDITOR], further=[Role.OFFICER, Role.DIRECTOR]),
)
def test_no_other_role_manages_officers(tenant: Tenant, role: Role) -> None:
    client = client_of(hired(tenant, role, "some"))
    own = hired(tenant, Role.OFFICER, "own")
    assert client.get(LIST).status_code == 403
    assert client.post(f"{LIST}add/", {"username": "x"}).status_code == 403
    assert client.post(f"{LIST}{own.pk}/do/deactivate/").status_code == 403
    assert client.post(f"{LIST}requests/1/approve/").status_code == 403


def test_a_superuser_manages_everybody_and_makes_no_superuser(tenant: Tenant) -> None:
    chief = Officer.objects.create_superuser(f"chief-{tenant.code}")
    client = client_of(chief)
    officer = invite(client, f"anywhere-{tenant.code}", tenant, Role.ADMINISTRATOR)
    assert officer is not None
    assert role_of(officer) == Role.ADMINISTRATOR, "the first one of a casino"
    page = client.get(f"{LIST}{officer.pk}/change/").content.decode()
    assert 'name="is_superuser"' not in page
    client.post(f"{LIST}{officer.pk}/change/", {"is_superuser": "on"})
    assert not Officer.objects.get(pk=officer.pk).is_superuser
    assert client.get(f"{LIST}{officer.pk}/delete/").status_code == 403


def test_each_button_of_an_officers_page_does_what_it_names(tenant: Tenant, administrator: Officer) -> None:
    client, other = client_of(administrator), client_of(hired(tenant, Role.ADMINISTRATOR, "other"))
    officer = hired(tenant, Role.OFFICER, "own")

    def press(name: str, **form: Any) -> str:
        sent = {"casino": tenant.casino.pk, "reason": "as agreed", **form}
        response = client.post(f"{LIST}{officer.pk}/do/{name}/", sent, follow=True)
        officer.refresh_from_db()
        return response.content.decode()

    assert "Another administrator must decide" in press("role", role="second")
    assert role_of(officer) == Role.OFFICER
    decide(other)
    assert role_of(officer) == Role.SECOND
    assert "has been changed" in press("role", role="auditor")
    assert role_of(officer) == Role.AUDITOR
    press("name", first_name="Ada", last_name="Lovelace")
    assert officer.get_full_name() == "Ada Lovelace"
    press("email", email="no address")
    assert not AccountRequest.objects.filter(kind="email").exists()
    press("email", email="ada@cabochon.example")
    decide(other)
    officer.refresh_from_db()
    assert officer.email == "ada@cabochon.example"
    press("deactivate")
    assert not officer.is_active
    press("reactivate")
    decide(other, "decline")
    officer.refresh_from_db()
    assert not officer.is_active
    press("remove-role")
    assert not officer.memberships.exists()
    assert client.post(f"{LIST}{officer.pk}/do/role/").status_code == 404, "it is nobody's here any more"


def test_a_form_with_a_casino_that_is_not_kept_or_no_number_does_nothing(
    tenant: Tenant, administrator: Officer
) -> None:
    client, officer = client_of(administrator), hired(tenant, Role.OFFICER, "own")
    for casino in (Tenant().casino.pk, "", "x", "9" * 40, "-1", "\u0661"):
        for name in ("role", "remove-role"):
            form = {"casino": casino, "role": "second", "reason": "x\0y"}
            assert client.post(f"{LIST}{officer.pk}/do/{name}/", form).status_code == 302
    for role in ("", "\0", "second\0", "superuser", "x" * 10_000):
        form = {"casino": tenant.casino.pk, "role": role, "reason": "x"}
        assert client.post(f"{LIST}{officer.pk}/do/role/", form).status_code == 302, role[:9]
    for email in ("", "\0", "a" * 250 + "@cabochon.example"):
        form = {"email": email, "reason": "x"}
        assert client.post(f"{LIST}{officer.pk}/do/email/", form).status_code == 302, email[:9]
    assert role_of(officer) == Role.OFFICER
    assert not AccountRequest.objects.exists()


def test_requests_of_another_casino_are_neither_shown_nor_decided(tenant: Tenant, administrator: Officer) -> None:
    assert invite(client_of(administrator), f"new-{tenant.code}", tenant) is not None
    elsewhere = client_of(hired(Tenant(), Role.ADMINISTRATOR, "elsewhere"))
    assert f"new-{tenant.code}" not in elsewhere.get(LIST).content.decode()
    assert decide(elsewhere) == 404
    assert decide(elsewhere, "decline") == 404
    assert AccountRequest.objects.get().state == "waiting"
    assert client_of(administrator).get(f"{LIST}requests/{AccountRequest.objects.get().pk}/approve/").status_code == 405


def test_a_second_factor_is_reset_by_two_administrators_of_the_officers_casino(
    tenant: Tenant, administrator: Officer
) -> None:
    own = hired(tenant, Role.OFFICER, "own")
    TOTPDevice.objects.create(user=own, confirmed=True, name="phone")
    StaticDevice.objects.create(user=own, name="paper")
    address = f"{LIST}{own.pk}/do/second-factor/"
    assert client_of(own).post(address, {"reason": "x"}).status_code == 403
    client_of(administrator).post(address, {"reason": "lost"})
    client_of(administrator).post(LIST, {"action": "reset_second_factor", "_selected_action": [own.pk], "index": "0"})
    assert TOTPDevice.objects.filter(user=own).exists()
    decide(client_of(hired(tenant, Role.ADMINISTRATOR, "other")))
    assert not TOTPDevice.objects.filter(user=own).exists()
    assert not StaticDevice.objects.filter(user=own).exists()


def test_secrets_of_second_factors_are_on_no_page(tenant: Tenant) -> None:
    chief = client_of(Officer.objects.create_superuser(f"chief-{tenant.code}"))
    for page in ("otp_totp/totpdevice", "otp_static/staticdevice", "auth/group"):
        assert chief.get(f"/admin/{page}/").status_code == 404


def test_another_administrator_confirms_on_the_page_whose_account_it_is(tenant: Tenant, administrator: Officer) -> None:
    other = hired(tenant, Role.ADMINISTRATOR, "other")
    invitation = accounts.invite(
        administrator,
        username="mailed",
        first_name="",
        last_name="",
        email="mailed@cabochon.example",
        casino=tenant.casino,
        role=Role.OFFICER,
        is_shown=False,
    )
    assert invitation.request is not None
    accounts.approve(other, invitation.request.pk)
    assert accounts.choose_password(invitation.token, "correct-horse-9")
    officer = invitation.officer
    page, form = f"{LIST}{officer.pk}/change/", f"{LIST}{officer.pk}/do/confirm/"
    english = {"accept-language": "en"}

    def shown(actor: Officer) -> str:
        return client_of(actor).get(page, headers=english).content.decode()

    assert "not confirmed: The officer has not signed in" in shown(other)
    Officer.objects.filter(pk=officer.pk).update(last_login=timezone.now() + timedelta(seconds=1))
    assert form in shown(other)
    assert form not in shown(administrator)
    answer = client_of(administrator).post(
        form, {"reason": "x", "proof_password": PASSWORD}, headers=english, follow=True
    )
    assert "One of you created the other’s account" in answer.content.decode()
    answer = client_of(other).post(form, {"reason": "met", "proof_password": PASSWORD}, headers=english, follow=True)
    assert "It is confirmed whose account this is." in answer.content.decode()
    assert f"confirmed by {other.username}" in shown(administrator)
    assert form not in shown(other)
