"""The page of an API key: what is written of it is shown, and nothing of it is changed there."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Officer
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


def test_a_key_that_was_revoked_stays_revoked_whatever_its_page_is_sent(client: Client) -> None:
    tenant = Tenant()
    client.force_login(Officer.objects.create_superuser(f"chief-{tenant.code}"))
    page = reverse("admin:audit_apikey_change", args=(tenant.key.pk,))
    shown = client.get(page)
    assert shown.status_code == 200
    assert not shown.context["adminform"].form.fields
    before = (tenant.key.expires_at, tenant.key.revoked_at, tenant.key.scopes)
    client.post(page, {"expires_at_0": "2036-01-01", "expires_at_1": "00:00", "revoked_at_0": "", "revoked_at_1": ""})
    tenant.key.refresh_from_db()
    assert (tenant.key.expires_at, tenant.key.revoked_at, tenant.key.scopes) == before
