"""Webhooks as administrators keep them: created, changed, rotated, tested; each is an entry of the audit trail.

The database does each in one statement with its entry: ``sql/webhooks.sql``. The ``actor`` is the name of an officer
who keeps the casino, or ``COMMAND``; it raises ``EntryRefused`` for any other. A secret is shown once. Web servers hand
it in and cannot read it again; workers sign with it.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import task_queue
from audit.event_store import audit_trail, binary_copy
from audit.event_store.append import EntryRefused
from audit.event_store.audit_trail import address_mark
from audit.models import Casino, DeadLetter, Webhook
from audit.notifications import feed
from audit.notifications.webhook_http import target_of

OVERLAP = timedelta(hours=24)
"""How long a message is signed with the secret before, too, once a webhook has another."""


class TooMany(Exception):
    """The casino has as many active webhooks as it may have."""


def new_secret() -> str:
    """Return a secret as Standard Webhooks writes one: ``whsec_`` and 32 random bytes in base64."""
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def create(
    actor: str | None, *, casino: Casino, name: str, url: str, severities: list[str], receives_alerts: bool = False
) -> tuple[Webhook, str]:
    """Create a webhook, which is sent what becomes known from now on. Return it and its secret.

    Raise ``AddressRefused`` for an address that can never be sent to, and ``TooMany``.
    """
    data = _stated(name, url, severities, receives_alerts=receives_alerts)
    feed.number(casino.pk)
    secret = new_secret()
    [(webhook_id,)] = binary_copy.execute("select audit_next_id('webhook')", ())
    _set(actor, "webhook.created", casino.pk, {"id": webhook_id, **data}, secret={"url": url, "secret": secret})
    return Webhook.objects.select_related("casino").get(pk=webhook_id), secret


def change(
    actor: str | None,
    webhook: Webhook,
    *,
    name: str,
    url: str,
    severities: list[str],
    is_active: bool,
    receives_alerts: bool = False,
) -> None:
    """Change a webhook. One that was inactive goes on after what it was sent last. Raise as ``create`` does."""
    data = _stated(name, url, severities, receives_alerts=receives_alerts)
    with transaction.atomic():
        _set(
            actor,
            "webhook.changed",
            webhook.casino_id,
            {"id": webhook.pk, **data, "active": int(is_active)},
            secret={"url": url},
        )
        task_queue.notify_on_commit(webhook.casino_id)


def rotate(actor: str | None, webhook: Webhook) -> str:
    """Give a webhook another secret, and return it. Messages are signed with both until ``OVERLAP`` has passed."""
    secret = new_secret()
    data = {"id": webhook.pk, "named": webhook.name, "until": (timezone.now() + OVERLAP).isoformat()}
    _set(actor, "webhook.rotated", webhook.casino_id, data, secret={"secret": secret})
    return secret


def request_test(actor: str | None, webhook: Webhook) -> None:
    """Have a worker send a test message; the webhook's page shows what came of it."""
    with transaction.atomic():
        _set(actor, "webhook.tested", webhook.casino_id, {"id": webhook.pk, "named": webhook.name})
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


def _stated(name: str, url: str, severities: list[str], *, receives_alerts: bool) -> dict[str, Any]:
    """Return what the entry of a webhook says. Of an address, which may have a secret in it, the host and a mark."""
    host = target_of(url).host
    stated = {"named": name, "host": host, "address": address_mark(url)}
    return {**stated, "severities": severities, "alerts": int(receives_alerts)}


def _set(
    actor: str | None,
    type: str,
    casino_id: int,
    data: Mapping[str, Any],
    *,
    secret: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Have the database do what an entry says, with what the entry does not say. Raise ``TooMany``."""
    try:
        audit_trail.perform(actor, type, casino_id=casino_id, data=data, secret=json.dumps({**secret}))
    except EntryRefused as refused:
        if refused.code == "too-many":
            raise TooMany from refused
        raise
