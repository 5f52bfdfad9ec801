"""The feed on the broker: a durable topic exchange, where the broker is RabbitMQ. Routing key: casino and severity.

    findings.deauville.critical    a message for each change, persistent, confirmed by the broker
    sandbox.tried.critical         the same of a sandbox, which nobody gets who has bound what is of casinos

A consumer binds a queue of its own; without a queue the broker drops a message, and the feed has it still. The outbox
is the feed: a casino's position moves on when the broker has confirmed, so a message comes at least once.
"""

from __future__ import annotations

import structlog
from django.conf import settings
from django.db import connection, transaction
from kombu import Connection, Exchange, Producer
from kombu.exceptions import KombuError

from audit import task_runs
from audit.models import PublishedFeed
from audit.notifications import feed
from audit.notifications.webhook_delivery import body_of, message_id_of

AT_ONCE = 200
TIMEOUT_S = 5.0

_BEHIND = """
select c.id from audit_casino c left join audit_publishedfeed p on p.casino_id = c.id
where (select max(position) from audit_findingchange f where f.casino_id = c.id) > coalesce(p.position, 0)
order by c.id
"""

log = structlog.get_logger(__name__)


def is_published() -> bool:
    """Return whether there is an exchange: the broker is RabbitMQ, and the setting names one."""
    return bool(settings.CABOCHON_AMQP_EXCHANGE) and settings.CELERY_BROKER_URL.startswith(("amqp://", "amqps://"))


def behind() -> list[int]:
    """Return the casinos with changes that are not on the exchange; none where there is no exchange."""
    if not is_published():
        return []
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND)
        return [casino_id for (casino_id,) in cursor.fetchall()]


def publish(casino_id: int) -> int:
    """Publish what the exchange lacks of a casino's changes. Return how many; what fails, the sweep publishes."""
    if not is_published():
        return 0
    newest, published = feed.number(casino_id), 0
    broker = Connection(
        settings.CELERY_BROKER_URL,
        connect_timeout=TIMEOUT_S,
        transport_options={"confirm_publish": True, "read_timeout": TIMEOUT_S, "write_timeout": TIMEOUT_S},
    )
    broken: tuple[type[BaseException], ...] = (OSError, KombuError, *broker.connection_errors, *broker.channel_errors)
    try:
        with broker:
            producer = Producer(broker, exchange=Exchange(settings.CABOCHON_AMQP_EXCHANGE, type="topic", durable=True))
            while count := _publish_next(producer, casino_id, newest):
                published += count
    except broken as error:
        log.warning("feed not published", casino=casino_id, error=type(error).__name__)
        task_runs.note_failure("feed", error)
    return published


def _publish_next(producer: Producer, casino_id: int, newest: int) -> int:
    """Publish the next changes, and keep that they are. One worker at a time: the others find nothing to do."""
    with transaction.atomic():
        PublishedFeed.objects.get_or_create(casino_id=casino_id, defaults={"position": _beginning(casino_id)})
        state = PublishedFeed.objects.select_for_update(skip_locked=True).filter(casino=casino_id).first()
        if state is None:
            return 0
        found = feed.changes(casino_id, state.position, limit=AT_ONCE, through=newest)
        for change, document in zip(found, feed.documents(found), strict=True):
            producer.publish(
                body_of(document),
                routing_key=routing_key(
                    document["casino"], change.finding.severity, is_of_sandbox="sandbox" in document
                ),
                content_type="application/json",
                content_encoding="utf-8",
                delivery_mode=2,
                message_id=message_id_of(document),
                type=document["type"],
                timeout=TIMEOUT_S,
            )
        if found:
            PublishedFeed.objects.filter(casino=casino_id).update(position=found[-1].position)
    return len(found)


def _beginning(casino_id: int) -> int:
    """Return where the exchange begins: with what became known in the last minute, not with years of findings."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select coalesce(max(position), 0) from audit_findingchange"
            " where casino_id = %s and position is not null and at < clock_timestamp() - interval '1 minute'",
            [casino_id],
        )
        return int(cursor.fetchone()[0])


def routing_key(casino: str, severity: str, *, is_of_sandbox: bool = False) -> str:
    """Return ``findings.<casino>.<severity>``, or ``sandbox.<casino>.<severity>``.

    A dot in the code of the casino becomes a hyphen, for it parts words.
    """
    return f"{'sandbox' if is_of_sandbox else 'findings'}.{casino.replace('.', '-')}.{severity}"
