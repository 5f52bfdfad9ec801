"""Webhooks as administrators keep them: created, changed, rotated, tested; each is an entry of the audit trail.

A secret is shown once. Web servers store it and cannot read it again; workers sign with it.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from audit import task_queue
from audit.event_store import audit_trail
from audit.models import Casino, DeadLetter, Webhook, WebhookSecret
from audit.notifications import feed
from audit.notifications.webhook_http import target_of
from audit.projections.feed import address_mark

OVERLAP = timedelta(hours=24)
"""How long a message is signed with the secret before, too, once a webhook has another."""

MOST = 10
"""Webhooks of a casino that are active."""


class TooMany(Exception):
    """The casino has as many active webhooks as it may have."""


def new_secret() -> str:
    """Return a secret as Standard Webhooks writes one: ``whsec_`` and 32 random bytes in base64."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def create(
    actor: str, *, casino: Casino, name: str, url: str, severities: list[str], receives_alerts: bool = False
) -> tuple[Webhook, str]:
    """Create a webhook, which is sent what becomes known from now on. Return it and its secret.

    Raise ``AddressRefused`` for an address that can never be sent to, and ``TooMany``.
    """
    host = target_of(url).host  # the address itself may have a secret in it
    newest = feed.number(casino.pk)
    with transaction.atomic():
        _check_number(casino)
        webhook = Webhook.objects.create(
            casino=casino,
            name=name,
            url=url,
            severities=severities,
            receives_alerts=receives_alerts,
            position=newest,
        )
        secret = new_secret()
        WebhookSecret.objects.create(webhook=webhook, secret=secret)
        data = {"id": webhook.pk, "named": name, "host": host, "address": address_mark(url)}
        data |= {"severities": severities, "alerts": int(receives_alerts)}
        audit_trail.record(actor, "webhook.created", casino_id=casino.pk, data=data)
    return webhook, secret


def change(
    actor: str,
    webhook: Webhook,
    *,
    name: str,
    url: str,
    severities: list[str],
    is_active: bool,
    receives_alerts: bool = False,
) -> None:
    """Change a webhook. One that was inactive goes on after what it was sent last. Raise as ``create`` does."""
    host = target_of(url).host
    with transaction.atomic():
        if is_active and not webhook.is_active:
            _check_number(webhook.casino)
        # It is tried at once: whoever changes an address has mended something.
        Webhook.objects.filter(pk=webhook.pk).update(
            name=name,
            url=url,
            severities=severities,
            receives_alerts=receives_alerts,
            is_active=is_active,
            next_try_at=None,
        )
        data = {"id": webhook.pk, "named": name, "host": host, "address": address_mark(url)}
        data |= {"severities": severities, "active": int(is_active), "alerts": int(receives_alerts)}
        audit_trail.record(actor, "webhook.changed", casino_id=webhook.casino_id, data=data)
        task_queue.notify_on_commit(webhook.casino_id)


def rotate(actor: str, webhook: Webhook) -> str:
    """Give a webhook another secret, and return it. Messages are signed with both until ``OVERLAP`` has passed."""
    secret, now = new_secret(), timezone.now()
    with transaction.atomic():
        before = WebhookSecret.objects.filter(webhook=webhook, expires_at=None)
        before.update(expires_at=now + OVERLAP)
        WebhookSecret.objects.create(webhook=webhook, secret=secret, created_at=now)
        data = {"id": webhook.pk, "named": webhook.name, "until": (now + OVERLAP).isoformat()}
        audit_trail.record(actor, "webhook.rotated", casino_id=webhook.casino_id, data=data)
    return secret


def request_test(actor: str, webhook: Webhook) -> None:
    """Have a worker send a test message; the webhook's page shows what came of it."""
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook.pk).update(test_requested_at=timezone.now())
        data = {"id": webhook.pk, "named": webhook.name}
        audit_trail.record(actor, "webhook.tested", casino_id=webhook.casino_id, data=data)
        task_id = webhook.pk
        transaction.on_commit(lambda: task_queue.send_soon(task_queue.NOTIFY_TEST, webhook_id=task_id))


def send_again(actor: str, casino_id: int, letters: Iterable[DeadLetter]) -> int:
    """Have dead letters of one casino sent again. Return how many; those that were sent already do not count."""
    with transaction.atomic():
        waiting = DeadLetter.objects.filter(pk__in=[letter.pk for letter in letters], sent_at=None)
        waiting = waiting.filter(webhook__casino=casino_id)
        found = list(waiting.order_by("pk").values_list("pk", "webhook_id"))
        if not found:
            return 0
        DeadLetter.objects.filter(pk__in=[pk for pk, _ in found]).update(again_at=timezone.now())
        data = {"letters": [pk for pk, _ in found], "webhooks": sorted({webhook for _, webhook in found})}
        audit_trail.record(actor, "webhook.sent_again", casino_id=casino_id, data=data)
        task_queue.notify_on_commit(casino_id)
    return len(found)


def _check_number(casino: Casino) -> None:
    """Raise ``TooMany`` if a casino has as many active webhooks as it may; two officers at once do not pass by one."""
    Casino.objects.select_for_update().get(pk=casino.pk)
    if Webhook.objects.filter(casino=casino, is_active=True).count() >= MOST:
        raise TooMany
