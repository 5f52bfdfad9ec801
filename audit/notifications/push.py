"""Browser push: what became known for an officer is sent to the browsers that he lets notify him.

    news_for ─► a message for each browser ──claim──► POST to its push service ─► sent
                          ▲ growing pauses                  │         └─ 404, 410: the browser is subscribed no more
                          └─────────────────────────────────┴─ given up after three days

The address of a push service is what a browser gave: it is looked at, and posted to, as a webhook's. The officer's
rights are looked at when a message is made and again when it is sent.
"""

from __future__ import annotations

from datetime import datetime
from email.utils import parseaddr
from http import HTTPStatus

import msgspec
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit.casework.escalation import is_due
from audit.event_store import audit_trail
from audit.models import PushKey, PushMessage, PushSubscription
from audit.models.officers import is_active_account
from audit.notifications import delivery, push_encryption
from audit.notifications.push_news import content_of, news_for
from audit.notifications.webhook_http import AddressRefused, NotTaken, Sender

TTL_S = 24 * 3600
"""Seconds for which a push service keeps a message for a browser that is closed."""

AT_ONCE = 50
"""Browsers that one sweep has sent to."""

FAILING_AT_ONCE = 4
"""Browsers whose push service has failed that one sweep has tried: it may hang, and must not hold every thread."""

GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
"""The answers by which a push service says that a browser is subscribed no more (RFC 8030)."""


def sweep(now: datetime) -> list[int]:
    """Note what each browser is to be notified of. Return the subscriptions that are to be sent something now."""
    if not PushKey.objects.exists():
        public, private = push_encryption.new_key()
        PushKey.objects.bulk_create([PushKey(pk=1, public=public, private=private)], ignore_conflicts=True)
    active = PushSubscription.objects.filter(is_active_account("officer__")).select_related("officer")
    for each in active.order_by("pk"):
        known = set(each.messages.values_list("kind", "about"))
        new = [
            PushMessage(subscription=each, kind=kind, about=about)
            for kind, about in news_for(each.officer, each.created_at, now)
            if (kind, about) not in known
        ]
        PushMessage.objects.bulk_create(new, ignore_conflicts=True)
    waiting = PushMessage.objects.filter(is_due(now), is_active_account("subscription__officer__"))
    healthy = waiting.filter(failures=0).order_by("subscription").values_list("subscription", flat=True)
    failing = waiting.filter(failures__gt=0).order_by("next_try_at").values_list("subscription", flat=True)
    return list(dict.fromkeys([*healthy.distinct()[:AT_ONCE], *failing[:FAILING_AT_ONCE]]))


def send(subscription_id: int) -> int:
    """Notify a browser of what it was not, until that fails. Return how many messages its push service took."""
    waiting = PushMessage.objects.filter(subscription=subscription_id, sent_at=None, given_up_at=None)
    waiting = waiting.filter(is_active_account("subscription__officer__"))
    taken = 0
    while (message := waiting.select_related("subscription__officer").order_by("pk").first()) is not None:
        if not delivery.claim(message):
            return taken
        now = timezone.now()
        content = content_of(message)
        if content is None:  # closed, signed, or no longer the officer's: nothing is to be said
            PushMessage.objects.filter(pk=message.pk).update(given_up_at=now)
            continue
        try:
            _post(message.subscription, msgspec.json.encode(content), now.timestamp())
        except (NotTaken, AddressRefused) as error:
            if isinstance(error, NotTaken) and error.status in GONE:
                _end(message.subscription, str(error))
            else:
                delivery.note_failure([message], delivery.NotTaken(str(error)[: delivery.MAX_ERROR]), now)
            return taken
        PushMessage.objects.filter(pk=message.pk).update(sent_at=timezone.now(), error="")
        taken += 1
    return taken


def _post(subscription: PushSubscription, text: bytes, now: float) -> None:
    """Send a text to a browser's push service. Raise ``NotTaken`` or ``AddressRefused``."""
    key = PushKey.objects.get()
    contact = f"mailto:{parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}"
    endpoint = subscription.endpoint
    headers = {
        "Authorization": push_encryption.authorization(endpoint, key.private, key.public, contact=contact, now=now),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(TTL_S),
        "Urgency": "high",
    }
    sender = Sender(endpoint)
    try:
        sender.post(push_encryption.encrypted(text, subscription.public_key, subscription.auth), headers)
    finally:
        sender.close()


def _end(subscription: PushSubscription, error: str) -> None:
    """Delete a subscription that its push service does not know any more."""
    with transaction.atomic():
        _number, deleted = PushSubscription.objects.filter(pk=subscription.pk).delete()
        if deleted.get(PushSubscription._meta.label):  # else the officer was first
            mark = audit_trail.address_mark(subscription.endpoint)
            data = {"named": subscription.officer.get_username(), "address": mark, "error": error[: delivery.MAX_ERROR]}
            audit_trail.record("system", "push.ended", data=data)
