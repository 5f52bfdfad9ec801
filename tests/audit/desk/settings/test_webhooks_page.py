"""Webhooks at the desk: created there, the secret shown once; an administrator of the casino alone, with a proof."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.access.database_roles import WEB
from audit.event_store import audit_trail
from audit.event_store.audit_trail import COMMAND
from audit.models import DeadLetter, FindingChange, Role, Webhook, WebhookSecret
from audit.notifications import feed, webhooks
from tests.audit.api.test_reading import overpaid, replayed
from tests.audit.casework.test_actions import hired, sign_in
from tests.audit.conftest import make_tenant
from tests.audit.desk.settings.test_api_keys import keeper
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.long_forms import in_short
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

FORM = {"name": "Duty desk", "url": "https://hooks.example/in", "severities": ["critical", "major"]}


def types(tenant: Tenant) -> list[str]:
    entries = audit_trail.entries_of(tenant.casino.pk, timezone.now().date())
    return [each.type for each in entries if each.type.startswith("webhook.")]


def test_a_webhook_is_created_and_its_secret_shown_once_and_only_a_worker_reads_it(tenant: Tenant) -> None:
    client = keeper(tenant)
    with acting_as(WEB):
        page = client.post(reverse("admin:audit_webhook_add"), {"casino": tenant.casino.pk, **FORM})
        secret = page.context["secret"]
        assert secret in page.content.decode()
        assert "no-store" in page["Cache-Control"]
        webhook = Webhook.objects.get(casino=tenant.casino)
        address = reverse("admin:audit_webhook_change", args=(webhook.pk,))
        for each in (address, "/admin/audit/", reverse("admin:audit_webhook_changelist")):
            answer = client.get(each)
            assert answer.status_code == 200
            assert secret not in answer.content.decode()
        fresh = client.get(address, headers={"accept-language": "en"}).content.decode()
        assert "nothing yet" in fresh
        assert "everything was delivered" not in fresh, "nothing was"
        rotated = client.post(reverse("admin:audit_webhook_rotate", args=(webhook.pk,))).context["secret"]
        assert client.post(reverse("admin:audit_webhook_test", args=(webhook.pk,))).status_code == 302
        changed = client.post(address, {**FORM, "name": "Night desk"})
        assert changed.status_code == 302
    webhook.refresh_from_db()
    assert (webhook.name, webhook.is_active, webhook.test_requested_at is not None) == ("Night desk", False, True)
    secrets = set(WebhookSecret.objects.filter(webhook=webhook).values_list("secret", flat=True))
    assert secrets == {secret, rotated}
    assert types(tenant) == [f"webhook.{verb}" for verb in ("created", "rotated", "tested", "changed")]


@pytest.mark.parametrize(
    "url",
    in_short(
        ["http://hooks.example/", "https://a:b@hooks.example/", "javascript:1"],
        further=["hooks.example", "https://x y/"],
    ),
)
def test_an_address_that_cannot_be_sent_to_is_refused_with_a_reason(tenant: Tenant, url: str) -> None:
    page = keeper(tenant).post(reverse("admin:audit_webhook_add"), {"casino": tenant.casino.pk, **FORM, "url": url})
    assert page.status_code == 200
    assert page.context["form"].errors["url"]
    assert not Webhook.objects.filter(casino=tenant.casino).exists()


def test_a_stale_session_changes_no_address_without_a_proof(tenant: Tenant) -> None:
    client = keeper(tenant)
    webhook, _secret = webhooks.create(COMMAND, casino=tenant.casino, **FORM)
    session = client.session
    session["proved_at"] = 0.0
    session.save()
    sent: list[tuple[str, dict[str, Any]]] = [
        (reverse("admin:audit_webhook_change", args=(webhook.pk,)), {**FORM, "url": "https://thief.example/"}),
        (reverse("admin:audit_webhook_rotate", args=(webhook.pk,)), {}),
        (reverse("admin:audit_webhook_add"), {"casino": tenant.casino.pk, **FORM}),
    ]
    for address, form in sent:
        assert client.post(address, form).status_code == 403
    webhook.refresh_from_db()
    assert (webhook.url, WebhookSecret.objects.filter(webhook=webhook).count()) == (FORM["url"], 1)
    assert Webhook.objects.filter(casino=tenant.casino).count() == 1


@pytest.mark.parametrize(
    "role",
    in_short([Role.SECOND, Role.AUDITOR], further=[Role.OFFICER, Role.DIRECTOR]),
)
def test_nobody_but_an_administrator_of_the_casino_reaches_a_webhook(tenant: Tenant, role: Role) -> None:
    webhook, _secret = webhooks.create(COMMAND, casino=tenant.casino, **FORM)
    other, client = Client(), keeper(make_tenant())
    sign_in(other, hired(tenant, role, "other"))
    for each in (other, client):
        for name in ("change", "rotate", "test"):
            answer = each.post(reverse(f"admin:audit_webhook_{name}", args=(webhook.pk,)), FORM)
            assert answer.status_code in (403, 404)
    assert WebhookSecret.objects.filter(webhook=webhook).count() == 1


def test_a_webhook_that_was_sent_nothing_says_so_and_nothing_is_said_to_be_delivered(tenant: Tenant) -> None:
    webhooks.create(COMMAND, casino=tenant.casino, **FORM)
    client, english = keeper(tenant), {"accept-language": "en"}
    rows = client.get(reverse("admin:audit_webhook_changelist"), headers=english).content.decode()
    assert re.search(r'class="field-last_delivered"[^>]*>nothing yet</td>', rows)
    letters = client.get(reverse("admin:audit_deadletter_changelist"), headers=english).content.decode()
    assert "No failed delivery." in letters
    assert "delivered" not in letters[letters.index('id="changelist"') :]
    form = client.get(reverse("admin:audit_webhook_add"), headers=english).content.decode()
    assert f'<a href="{reverse("admin:audit_webhook_changelist")}">Webhooks</a> › Create a webhook' in form


def test_dead_letters_are_listed_and_sent_again(tenant: Tenant) -> None:
    webhook, _secret = webhooks.create(COMMAND, casino=tenant.casino, **FORM)
    replayed(tenant, overpaid(unique_name(), tenant))
    feed.number(tenant.casino.pk)
    change = FindingChange.objects.get(casino=tenant.casino)
    letter = DeadLetter.objects.create(webhook=webhook, change=change, given_up_at=timezone.now(), error="HTTP 500")
    client = keeper(tenant)
    with acting_as(WEB):
        for address in (reverse("admin:audit_webhook_change", args=(webhook.pk,)), "/admin/audit/deadletter/"):
            page = client.get(address).content.decode()
            assert "payout-overpaid" in page
            assert "HTTP 500" in page
        form = {"action": "send_again", "_selected_action": str(letter.pk)}
        assert keeper(make_tenant()).post("/admin/audit/deadletter/", form).status_code in (200, 302)
        letter.refresh_from_db()
        assert letter.again_at is None, "of another casino"
        assert client.post("/admin/audit/deadletter/", form).status_code == 302
    letter.refresh_from_db()
    assert letter.again_at is not None
    assert types(tenant) == ["webhook.created", "webhook.sent_again"]
