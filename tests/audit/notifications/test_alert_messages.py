"""Alerts for programs: webhooks that want them; apart from the findings, and at least once. ``test_broker_feed`` has
those on the broker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from audit import tasks
from audit.access.database_roles import WORKER
from audit.event_store.audit_trail import COMMAND
from audit.models import AlertMessage, Webhook
from audit.notifications import alert_messages, alerts, delivery, webhooks
from tests.audit.notifications.receivers import Receiver, is_genuine
from tests.audit.notifications.test_alerts import MINUTES, Floor, after
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("this_machine_may_be_sent_to")]


@pytest.fixture
def floor() -> Floor:
    return Floor()


def hooked(floor: Floor, receiver: Receiver, *, alerts: bool = True, name: str = "floor") -> tuple[Webhook, str]:
    return webhooks.create(
        COMMAND, casino=floor.casino, name=name, url=receiver.url, severities=["info"], receives_alerts=alerts
    )


def fall_silent(floor: Floor) -> None:
    """Have a table fall silent, and the sweep notice it, as a worker."""
    floor.opens()
    with acting_as(WORKER):
        assert alerts.sweep(after(MINUTES + 1)) == (1, 0)


def later(webhook: Webhook) -> None:
    """Let the pause of a webhook's alerts be over."""
    AlertMessage.objects.filter(webhook=webhook).update(next_try_at=timezone.now() - timedelta(seconds=1))


def test_an_alert_is_sent_signed_when_it_is_opened_and_when_it_has_ended(floor: Floor, receiver: Receiver) -> None:
    webhook, secret = hooked(floor, receiver)
    fall_silent(floor)
    assert alert_messages.webhooks_to_send(timezone.now()) == [webhook.pk]
    with acting_as(WORKER):
        assert alert_messages.send(webhook.pk) == 1
        assert alert_messages.send(webhook.pk) == 0
    floor.goes_on(2)
    with acting_as(WORKER):
        assert alerts.sweep(timezone.now()) == (0, 1)
        assert alert_messages.send(webhook.pk) == 1
    opened, ended = receiver.taken
    assert is_genuine(opened, secret)
    assert is_genuine(ended, secret)
    assert [each.content["type"] for each in (opened, ended)] == ["alert.opened", "alert.ended"]
    alert = opened.content["data"]["alert"]
    assert (alert["kind"], alert["table"], alert["ended_at"]) == ("table-silent", "T1", None)
    assert opened.content["data"]["casino"] == floor.casino.code
    assert opened.content["timestamp"] == alert["opened_at"]
    assert ended.content["data"]["alert"]["ended_by"] == "events"
    assert ended.content["timestamp"] == ended.content["data"]["alert"]["ended_at"]
    assert opened.headers["webhook-id"] != ended.headers["webhook-id"]
    assert alert_messages.webhooks_to_send(timezone.now()) == []


def test_who_wants_findings_alone_is_sent_no_alert(floor: Floor, receiver: Receiver) -> None:
    hooked(floor, receiver, alerts=False)
    hooked(Floor(), receiver)
    inactive, _secret = hooked(floor, receiver, name="inactive")
    Webhook.objects.filter(pk=inactive.pk).update(is_active=False)
    fall_silent(floor)
    assert not AlertMessage.objects.exists()


def test_a_receiver_that_refuses_is_sent_the_same_message_later_and_in_order(floor: Floor, receiver: Receiver) -> None:
    webhook, _secret = hooked(floor, receiver)
    receiver.behaviour = lambda handler, message: 503
    fall_silent(floor)
    floor.goes_on(2)
    alerts.sweep(timezone.now())
    with acting_as(WORKER):
        assert alert_messages.send(webhook.pk) == 0
        assert alert_messages.send(webhook.pk) == 0  # it waits
    assert alert_messages.webhooks_to_send(after(0.2)) == [webhook.pk]  # for the end, which goes behind the beginning
    first = AlertMessage.objects.filter(webhook=webhook).order_by("pk")[0]
    assert (first.failures, "503" in first.error) == (1, True)
    receiver.behaviour = lambda handler, message: 204
    later(webhook)
    with acting_as(WORKER):
        assert alert_messages.send(webhook.pk) == 2
    ids = [each.headers["webhook-id"] for each in receiver.taken]
    assert ids == [f"msg_alert_{first.alert_id}_opened", f"msg_alert_{first.alert_id}_ended"]


def test_a_receiver_that_refuses_for_three_days_is_given_up(floor: Floor, receiver: Receiver) -> None:
    webhook, _secret = hooked(floor, receiver)
    receiver.behaviour = lambda handler, message: 500
    fall_silent(floor)
    alert_messages.send(webhook.pk)
    AlertMessage.objects.update(failing_since=timezone.now() - timedelta(days=3))
    later(webhook)
    alert_messages.send(webhook.pk)
    assert AlertMessage.objects.get().given_up_at is not None
    later(webhook)
    assert alert_messages.webhooks_to_send(timezone.now()) == []


def test_a_message_that_another_worker_has_claimed_is_left_to_it(floor: Floor, receiver: Receiver) -> None:
    webhook, _secret = hooked(floor, receiver)
    fall_silent(floor)
    message = AlertMessage.objects.select_related("alert").get()
    assert delivery.claim(message)
    assert alert_messages.send(webhook.pk) == 0
    assert receiver.taken == []
    later(webhook)  # the worker died
    assert alert_messages.send(webhook.pk) == 1


def test_the_findings_of_a_webhook_know_nothing_of_its_alerts(floor: Floor, receiver: Receiver) -> None:
    webhook, _secret = hooked(floor, receiver)
    fall_silent(floor)
    webhook.refresh_from_db()
    assert (webhook.position, webhook.failures) == (0, 0)
    assert floor.tenant.ask("findings/feed").json()["changes"] == []


def test_the_sweep_sends_a_task_for_each_webhook(
    floor: Floor, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook, _secret = hooked(floor, receiver)
    fall_silent(floor)
    sent: list[int] = []
    monkeypatch.setattr(tasks.notify_alert_webhook, "delay", lambda webhook_id: sent.append(webhook_id))
    with acting_as(WORKER):
        tasks.notify_alerts()
        tasks.notify_alert_webhook(webhook_id=webhook.pk)
    assert sent == [webhook.pk]
    assert [each.content["type"] for each in receiver.taken][:1] == ["alert.opened"]
