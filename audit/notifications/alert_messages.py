"""Alerts for programs: to the webhooks of a casino that want them, and to the broker's exchange.

    alert opened or ended ──same transaction──► a message for each receiver ──► POST, or the exchange ──► sent
                                                             ▲ growing pauses  │
                                                             └─────────────────┴─ given up after three days

They are no changes of findings and have no position in the feed: a receiver that fails is sent its alerts again apart
from its findings, as mail is. Messages of one webhook go out in their order, each at least once, under one id.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
import structlog
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from kombu import Connection, Exchange, Producer
from kombu.exceptions import KombuError

from audit.casework.escalation import is_due
from audit.event_store.streams import instant
from audit.models import Alert, AlertMessage, Webhook
from audit.notifications import broker_feed, delivery
from audit.notifications.webhook_delivery import headers_of, valid_secrets
from audit.notifications.webhook_http import AddressRefused, NotTaken, Sender

AT_ONCE = 50

log = structlog.get_logger(__name__)


def enqueue(alert: Alert, *, is_of_end: bool) -> None:
    """Have an alert sent to whoever wants it, once the transaction has committed."""
    wanting = Webhook.objects.filter(casino=alert.casino_id, is_active=True, receives_alerts=True).order_by("pk")
    receivers: list[int | None] = [*wanting.values_list("pk", flat=True)]
    if broker_feed.is_published():
        receivers.append(None)
    AlertMessage.objects.bulk_create(
        AlertMessage(alert=alert, webhook_id=receiver, is_of_end=is_of_end) for receiver in receivers
    )


def webhooks_to_send(now: datetime) -> list[int]:
    """Return the active webhooks that are to be sent an alert now."""
    waiting = _due(now).filter(webhook__is_active=True).order_by("webhook")
    return [pk for pk in waiting.values_list("webhook", flat=True).distinct() if pk is not None]


def send(webhook_id: int) -> int:
    """Send a webhook the alerts that it was not sent, until it fails. Return how many it took.

    A message is claimed before it is sent, so that no transaction is open while a receiver is slow.
    """
    webhook = Webhook.objects.filter(pk=webhook_id, is_active=True).first()
    waiting = AlertMessage.objects.filter(webhook=webhook_id, sent_at=None, given_up_at=None)
    taken = 0
    sender: Sender | None = None
    try:
        while webhook is not None and (message := waiting.select_related("alert").order_by("pk").first()) is not None:
            if not delivery.claim(message):
                return taken
            try:
                sender = sender or Sender(webhook.url)
                document, now = document_of(message), timezone.now()
                body = msgspec.json.encode(document)
                headers = headers_of(valid_secrets(webhook, now), message_id_of(message), int(time.time()), body)
                sender.post(body, headers)
            except (NotTaken, AddressRefused) as error:
                delivery.note_failure([message], delivery.NotTaken(str(error)[: delivery.MAX_ERROR]), timezone.now())
                return taken
            AlertMessage.objects.filter(pk=message.pk).update(sent_at=timezone.now(), error="")
            taken += 1
    finally:
        if sender is not None:
            sender.close()
    return taken


def publish() -> int:
    """Publish what the broker's exchange lacks of the alerts. Return how many; what fails is published later."""
    if not broker_feed.is_published():
        return 0
    waiting = list(_due(timezone.now()).filter(webhook=None).select_related("alert").order_by("pk")[:AT_ONCE])
    if not waiting:
        return 0
    published = 0
    broker = Connection(
        settings.CELERY_BROKER_URL,
        connect_timeout=broker_feed.TIMEOUT_S,
        transport_options={
            "confirm_publish": True,
            "read_timeout": broker_feed.TIMEOUT_S,
            "write_timeout": broker_feed.TIMEOUT_S,
        },
    )
    broken: tuple[type[BaseException], ...] = (OSError, KombuError, *broker.connection_errors, *broker.channel_errors)
    try:
        with broker:
            exchange = Exchange(settings.CABOCHON_AMQP_EXCHANGE, type="topic", durable=True)
            producer = Producer(broker, exchange=exchange)
            for message in waiting:
                document = document_of(message)
                producer.publish(
                    msgspec.json.encode(document),
                    routing_key=routing_key(document["data"]["casino"], message.alert.kind),
                    content_type="application/json",
                    content_encoding="utf-8",
                    delivery_mode=2,
                    message_id=message_id_of(message),
                    type=document["type"],
                    timeout=broker_feed.TIMEOUT_S,
                )
                AlertMessage.objects.filter(pk=message.pk).update(sent_at=timezone.now())
                published += 1
    except broken as error:
        log.warning("alerts not published", error=type(error).__name__)
    return published


def document_of(message: AlertMessage) -> dict[str, Any]:
    """Return a message as webhooks and the exchange have it: the alert as it was opened, or as it ended."""
    alert = message.alert
    ended_at = alert.ended_at if message.is_of_end else None
    about: Mapping[str, Any] = {
        "id": alert.pk,
        "kind": alert.kind,
        "table": alert.table.code,
        "since": instant(alert.since),
        "opened_at": instant(alert.opened_at),
        "ended_at": instant(ended_at) if ended_at else None,
        "ended_by": alert.ended_by if message.is_of_end else None,
    }
    return {
        "type": "alert.ended" if message.is_of_end else "alert.opened",
        "timestamp": instant(ended_at or alert.opened_at),
        "data": {"casino": alert.casino.code, "alert": about},
    }


def message_id_of(message: AlertMessage) -> str:
    """Return the id of a message: the same for every receiver, and each time that it is sent."""
    return f"msg_alert_{message.alert_id}_{'ended' if message.is_of_end else 'opened'}"


def routing_key(casino: str, kind: str) -> str:
    """Return ``alerts.<casino>.<kind>``; a dot in the code of the casino becomes a hyphen, for it parts words."""
    return f"alerts.{casino.replace('.', '-')}.{kind}"


def _due(now: datetime) -> QuerySet[AlertMessage]:
    return AlertMessage.objects.filter(is_due(now))
