"""API keys at the desk: made and rotated there, the secret shown once; the page of a key changes nothing of it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from audit.event_store import audit_trail
from audit.models import ApiKey, Casino, GamingTable, KeyScope, Officer, Role
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def test_a_key_that_was_revoked_stays_revoked_whatever_its_page_is_sent(client: Client) -> None:
    tenant = Tenant()
    sign_in(client, Officer.objects.create_superuser(f"chief-{tenant.code}"))
    page = reverse("admin:audit_apikey_change", args=(tenant.key.pk,))
    shown = client.get(page)
    assert shown.status_code == 200
    assert not shown.context["adminform"].form.fields
    before = (tenant.key.expires_at, tenant.key.revoked_at, tenant.key.scopes)
    client.post(page, {"expires_at_0": "2036-01-01", "expires_at_1": "00:00", "revoked_at_0": "", "revoked_at_1": ""})
    tenant.key.refresh_from_db()
    assert (tenant.key.expires_at, tenant.key.revoked_at, tenant.key.scopes) == before


def test_the_page_of_a_key_says_in_words_what_it_may(tenant: Tenant) -> None:
    address = reverse("admin:audit_apikey_change", args=(tenant.key.pk,))
    client = keeper(tenant)
    for language in ("en", "fr"):
        page = client.get(address, headers={"accept-language": language}).content.decode()
        with translation.override(language):
            assert ", ".join(str(KeyScope(each).label) for each in tenant.key.scopes) in page
        assert ", ".join(tenant.key.scopes) not in page


def test_a_table_of_several_casinos_is_offered_with_the_name_of_its_casino(tenant: Tenant) -> None:
    Casino.objects.filter(pk=tenant.casino.pk).update(name="Grand Casino")
    client = Client(headers={"accept-language": "en"})
    Tenant()
    sign_in(client, Officer.objects.create_superuser(f"chief-{tenant.code}"))
    page = client.get(reverse("admin:audit_apikey_add")).content.decode()
    assert f"{tenant.table.code} · Grand Casino" in page
    assert f"{tenant.code} · " not in page
    assert f'<a href="{reverse("admin:audit_apikey_changelist")}">API keys</a> › Create a key' in page


def keeper(tenant: Tenant) -> Client:
    client = Client()
    sign_in(client, hired(tenant, Role.ADMINISTRATOR, "keeper"))
    return client


def test_a_key_is_made_at_the_desk_and_its_secret_is_shown_once_and_kept_nowhere() -> None:
    tenant = Tenant()
    client = keeper(tenant)
    form = {"casino": tenant.casino.pk, "name": "Salle sud", "scopes": ["streams:read"], "days": "30"}
    page = client.post(reverse("admin:audit_apikey_add"), form)
    secret = page.context["secret"]
    key = ApiKey.of_secret(secret)
    assert key is not None
    assert (key.casino, key.name, key.scopes) == (tenant.casino, "Salle sud", ["streams:read"])
    assert key.expires_at is not None
    assert "no-store" in page["Cache-Control"]
    assert secret not in client.get(reverse("admin:audit_apikey_change", args=(key.pk,))).content.decode()
    assert secret not in client.get("/admin/audit/").content.decode()


def test_a_key_is_not_made_for_a_table_of_another_casino_nor_at_one() -> None:
    tenant, other = Tenant(), Tenant()
    client = keeper(tenant)
    count = ApiKey.objects.count()
    form = {"casino": tenant.casino.pk, "name": "new", "scopes": ["streams:read"]}
    foreign = GamingTable.objects.filter(casino=other.casino).values_list("pk", flat=True)[:1]
    client.post(reverse("admin:audit_apikey_add"), {**form, "tables": list(foreign)})
    client.post(reverse("admin:audit_apikey_add"), {**form, "casino": other.casino.pk})
    assert ApiKey.objects.count() == count


def test_a_rotated_key_and_the_one_that_follows_are_both_valid_and_a_revoked_one_is_not_rotated() -> None:
    tenant = Tenant()
    client = keeper(tenant)
    rotate = reverse("admin:audit_apikey_rotate", args=(tenant.key.pk,))
    assert client.get(rotate).status_code == 405
    after = ApiKey.of_secret(client.post(rotate).context["secret"])
    assert after is not None
    assert (after.name, after.scopes) == (tenant.key.name, tenant.key.scopes)
    tenant.key.refresh_from_db()
    assert tenant.key.revoked_at is None
    assert tenant.key.expires_at is not None
    ApiKey.objects.filter(pk=after.pk).update(revoked_at=after.created_at)
    count = ApiKey.objects.count()
    client.post(reverse("admin:audit_apikey_rotate", args=(after.pk,)))
    assert ApiKey.objects.count() == count
    types = [entry.type for entry in audit_trail.entries_of(tenant.casino.pk, after.created_at.date())]
    assert "key.rotated" in types
