"""The feed and the alerts on RabbitMQ: each once or more, by casino and severity, and again if the broker was away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kombu import Connection, Exchange, Queue

from audit.access.database_roles import WORKER
from audit.models import AlertMessage, PublishedFeed, TaskFailure
from audit.notifications import alert_messages, broker_feed, feed
from audit.notifications.broker_feed import behind, publish, routing_key
from tests.audit.api.test_reading import overpaid, replayed
from tests.audit.conftest import make_tenant
from tests.audit.notifications.test_alert_messages import fall_silent
from tests.audit.notifications.test_alerts import Floor
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = pytest.mark.django_db


@pytest.fixture
def rabbitmq(rabbitmq_of_the_module: str, settings: Any) -> Iterator[str]:
    settings.CELERY_BROKER_URL = rabbitmq_of_the_module
    settings.CABOCHON_AMQP_EXCHANGE = f"findings-{unique_name()[-8:]}"
    yield rabbitmq_of_the_module
    with Connection(rabbitmq_of_the_module) as broker:
        Exchange(settings.CABOCHON_AMQP_EXCHANGE, channel=broker.default_channel).delete()


def bound(broker: Connection, exchange: str, key: str) -> Any:
    """Return a queue of the test's own, bound to an exchange."""
    topic = Exchange(exchange, type="topic", durable=True)
    queue = Queue(f"test-{unique_name()[-8:]}", topic, routing_key=key, auto_delete=True)(broker.default_channel)
    queue.declare()
    return queue


def test_each_change_is_published_by_casino_and_severity(rabbitmq: str, settings: Any, tenant: Tenant) -> None:
    neighbour = make_tenant()
    with Connection(rabbitmq) as broker:
        ours = bound(broker, settings.CABOCHON_AMQP_EXCHANGE, f"findings.{tenant.code}.critical")
        every = bound(broker, settings.CABOCHON_AMQP_EXCHANGE, "findings.#")
        minor = bound(broker, settings.CABOCHON_AMQP_EXCHANGE, "findings.*.minor")
        replayed(tenant, overpaid(unique_name(), tenant))
        replayed(neighbour, overpaid(unique_name(), neighbour))
        for each in (tenant, neighbour):
            feed.number(each.casino.pk)
        assert {tenant.casino.pk, neighbour.casino.pk} <= set(behind())
        with acting_as(WORKER):
            assert [publish(each.casino.pk) for each in (tenant, tenant, neighbour)] == [1, 0, 1]
        message = ours.get()
        content = json.loads(message.body)
        assert (content["type"], content["data"]["casino"]) == ("finding.opened", tenant.code)
        assert message.properties["message_id"] == f"msg_{tenant.code}_1-1"
        assert message.properties["delivery_mode"] == 2
        assert ours.get() is None
        assert [every.get() is not None for _ in range(3)] == [True, True, False]
        assert minor.get() is None
    assert not {tenant.casino.pk, neighbour.casino.pk} & set(behind())


def test_what_is_of_a_sandbox_reaches_no_queue_for_casinos_and_says_what_it_is(rabbitmq: str, settings: Any) -> None:
    sandbox = Tenant(tables=("C1",), is_sandbox=True)
    with Connection(rabbitmq) as broker:
        casinos = bound(broker, settings.CABOCHON_AMQP_EXCHANGE, "findings.#")
        tried = bound(broker, settings.CABOCHON_AMQP_EXCHANGE, f"sandbox.{sandbox.code}.critical")
        replayed(sandbox, overpaid(unique_name(), sandbox))
        feed.number(sandbox.casino.pk)
        with acting_as(WORKER):
            assert publish(sandbox.casino.pk) == 1
        assert casinos.get() is None
        assert json.loads(tried.get().body)["data"]["sandbox"] is True


@pytest.fixture
def away(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A RabbitMQ that does not answer, and a client that does not wait for it for long."""
    settings.CELERY_BROKER_URL, settings.CABOCHON_AMQP_EXCHANGE = "amqp://guest:guest@127.0.0.1:9//", "findings"
    monkeypatch.setattr(broker_feed, "TIMEOUT_S", 0.1)
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda seconds: None)  # kombu would try again after 2 s


@pytest.mark.usefixtures("away")
def test_a_broker_that_is_away_is_published_to_later(tenant: Tenant) -> None:
    replayed(tenant, overpaid(unique_name(), tenant))
    assert publish(tenant.casino.pk) == 0
    assert tenant.casino.pk in behind()
    assert not PublishedFeed.objects.filter(casino=tenant.casino, position__gt=0).exists()
    assert TaskFailure.objects.get(name="feed").error == "OperationalError", "which the desk and the health check name"


@pytest.mark.parametrize("url, exchange", [("redis://127.0.0.1/0", "findings"), ("amqp://127.0.0.1//", "")])
def test_without_rabbitmq_or_an_exchange_nothing_is_published(
    settings: Any, tenant: Tenant, url: str, exchange: str
) -> None:
    settings.CELERY_BROKER_URL, settings.CABOCHON_AMQP_EXCHANGE = url, exchange
    replayed(tenant, overpaid(unique_name(), tenant))
    assert (publish(tenant.casino.pk), behind(), broker_feed.is_published()) == (0, [], False)


def test_a_dot_in_a_casinos_code_parts_no_word() -> None:
    assert routing_key("fr.nord", "critical") == "findings.fr-nord.critical"


# Alerts


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_an_alert_is_published_apart_from_findings(rabbitmq: str, settings: Any, floor: Floor) -> None:
    with Connection(rabbitmq) as broker:
        exchange = settings.CABOCHON_AMQP_EXCHANGE
        findings = bound(broker, exchange, "findings.#")
        silent = bound(broker, exchange, f"alerts.{floor.casino.code}.table-silent")
        behind = bound(broker, exchange, "alerts.*.feed-behind")
        fall_silent(floor)
        with acting_as(WORKER):
            assert [alert_messages.publish(), alert_messages.publish()] == [1, 0]
        message = silent.get()
        assert json.loads(message.body)["type"] == message.properties["type"] == "alert.opened"
        assert message.properties["delivery_mode"] == 2
        assert (findings.get(), behind.get(), silent.get()) == (None, None, None)


@pytest.mark.usefixtures("away")
def test_a_broker_that_is_away_gets_the_alert_later(floor: Floor) -> None:
    fall_silent(floor)
    assert alert_messages.publish() == 0
    assert AlertMessage.objects.filter(webhook=None, sent_at=None).count() == 1
