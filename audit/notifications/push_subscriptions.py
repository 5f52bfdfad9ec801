"""Browsers that an officer lets notify him: subscribed and ended, each by an entry of the installation's trail.

The database does both, for the officer's own browsers alone: ``sql/push.sql``. It raises ``EntryRefused`` otherwise.
"""

from __future__ import annotations

import json

from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.models import Officer, PushKey, PushSubscription
from audit.notifications.push_encryption import are_keys
from audit.notifications.webhook_http import AddressRefused, target_of

MOST = 10
"""Browsers of one officer."""


class NotSubscribed(Exception):
    """What the browser gave is no subscription, or there are ``MOST`` already (``is_too_many``)."""

    def __init__(self, *, is_too_many: bool = False) -> None:
        super().__init__()
        self.is_too_many = is_too_many


def public_key() -> str:
    """Return the key that a browser is to be given, "" until a worker has made it."""
    return PushKey.objects.values_list("public", flat=True).first() or ""


def of_officer(officer: Officer) -> list[PushSubscription]:
    """Return an officer's own, the oldest first, without what encrypts to them."""
    return list(PushSubscription.objects.filter(officer=officer).defer("auth"))


def subscribe(officer: Officer, *, endpoint: str, public_key: str, auth: str, language: str, browser: str) -> None:
    """Have a browser notify an officer, and no other any more. Raise ``NotSubscribed``."""
    try:
        host = target_of(endpoint).host
    except AddressRefused:
        raise NotSubscribed from None
    if not are_keys(public_key, auth):
        raise NotSubscribed
    secret = {
        "endpoint": endpoint,
        "public_key": public_key,
        "auth": auth,
        "language": language,
        "browser": browser,
    }
    mark = audit_trail.address_mark
    data = {"named": officer.get_username(), "host": host, "address": mark(endpoint), "public_key": mark(public_key)}
    try:
        audit_trail.perform(officer.get_username(), "push.subscribed", data=data, secret=json.dumps(secret))
    except EntryRefused as refused:
        raise NotSubscribed(is_too_many=refused.code == "too-many") from refused


def end(officer: Officer, subscription: PushSubscription) -> None:
    """Notify an officer in a browser no more."""
    data = {"named": officer.get_username(), "address": audit_trail.address_mark(subscription.endpoint)}
    audit_trail.perform(officer.get_username(), "push.ended", data=data)
