"""How a webhook does, in words: for its page, for its list, and for the settings, which register no model."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.translation import gettext

from audit.models import Webhook
from audit.presentation import date_time


@dataclass(frozen=True, slots=True)
class WebhookLine:
    """A webhook in the settings. ``tag`` is that of its state."""

    webhook: Webhook
    receiver: str
    state: str
    tag: str


def webhook_line(webhook: Webhook) -> WebhookLine:
    """Return a webhook as the settings show it."""
    return WebhookLine(webhook, receiver_of(webhook), *state_of(webhook))


def state_of(webhook: Webhook) -> tuple[str, str]:
    """Return how a webhook does, in words, and the tag of it: "", "warn" or "bad"."""
    if not webhook.is_active:
        return gettext("inactive"), ""
    if webhook.failing_since is not None and webhook.failures:
        since = date_time(webhook.failing_since, webhook.casino)
        return gettext("failing since %(since)s: %(error)s") % {"since": since, "error": webhook.error}, "bad"
    return gettext("active"), ""


def receiver_of(webhook: Webhook) -> str:
    """Return the host of a webhook. The rest of an address may be a secret of the receiver's."""
    return urlsplit(webhook.url).hostname or ""
