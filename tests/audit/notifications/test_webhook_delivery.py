"""Webhooks: signed, in order, at least once; what fails waits, and holds up nobody else."""

from __future__ import annotations

import logging
import random
import time
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from audit.access.database_roles import WEB, WORKER
from audit.event_store import audit_trail
from audit.event_store.audit_trail import COMMAND
from audit.models import DeadLetter, Finding, FindingChange, Role, Webhook, WebhookSecret
from audit.notifications import feed, webhook_delivery, webhooks
from audit.notifications.webhook_delivery import deliver, due, signature
from tests.audit.api.test_reading import overpaid, replayed
from tests.audit.casework.test_actions import hired
from tests.audit.conftest import make_tenant
from tests.audit.notifications.receivers import Handler, Message, Receiver, is_genuine
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant
from tests.roles import acting_as

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("this_machine_may_be_sent_to")]


@pytest.fixture(autouse=True)
def _tries_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_delivery, "QUICK_PAUSE_S", 0.001)


def hooked(tenant: Tenant, receiver: Receiver, *, actor: str | None = COMMAND, **changed: Any) -> tuple[Webhook, str]:
    values: dict[str, Any] = {"name": "duty desk", "url": receiver.url, "severities": ["critical", "major"], **changed}
    return webhooks.create(actor, casino=tenant.casino, **values)


def found(tenant: Tenant, count: int) -> list[int]:
    """Have ``count`` findings stand. Return their seqs, in order."""
    stream = unique_name()
    replayed(tenant, overpaid(stream, tenant))
    first = Finding.objects.get(stream__name=stream)
    rows = []
    for seq in range(101, 100 + count):
        row = Finding.objects.get(pk=first.pk)
        row.pk, row.seq, row.case_id = None, seq, None
        rows.append(row)
    Finding.objects.bulk_create(rows)
    return [first.seq, *(row.seq for row in rows)]


def due_again(webhook: Webhook) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(next_try_at=None)


def failing(*statuses: int) -> Any:
    """Return a behaviour that answers with each of ``statuses`` once, then takes everything."""
    left = list(statuses)

    def answer(handler: Handler, message: Message) -> int:
        return left.pop(0) if left else 200

    return answer


def test_the_signature_is_the_one_of_the_specification() -> None:
    """The vector of the specification's own libraries."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_finding_is_sent_signed_and_once(tenant: Tenant, receiver: Receiver) -> None:
    webhook, secret = hooked(tenant, receiver)
    found(tenant, 1)
    with acting_as(WORKER):
        assert due(timezone.now()) == [webhook.pk]
        assert deliver(webhook.pk) == 1
        assert due(timezone.now()) == []
        assert deliver(webhook.pk) == 0
    [message] = receiver.taken
    assert is_genuine(message, secret)
    content = message.content
    assert (content["type"], content["data"]["cursor"]) == ("finding.opened", "1-1")
    assert content["data"]["finding"]["rule"] == "payout-overpaid"
    assert message.headers["host"] == receiver.url.split("/")[2]
    webhook.refresh_from_db()
    assert (webhook.position, webhook.failures, webhook.leased_until) == (1, 0, None)


def test_a_message_about_a_sandbox_says_so_and_one_about_a_casino_nothing_of_it(
    tenant: Tenant, receiver: Receiver
) -> None:
    sandbox = Tenant(tables=("C1",), is_sandbox=True)
    for each in (sandbox, tenant):
        webhook, _secret = hooked(each, receiver)
        found(each, 1)
        with acting_as(WORKER):
            assert deliver(webhook.pk) == 1
    tried, real = receiver.taken
    assert tried.content["data"]["sandbox"] is True
    assert "sandbox" not in real.content["data"]
    assert sandbox.ask("findings/feed").json()["changes"][0]["sandbox"] is True
    assert "sandbox" not in tenant.ask("findings/feed").json()["changes"][0]


def test_a_forged_message_and_one_that_is_played_again_are_not_genuine(tenant: Tenant, receiver: Receiver) -> None:
    webhook, secret = hooked(tenant, receiver)
    found(tenant, 1)
    deliver(webhook.pk)
    [message] = receiver.taken
    assert is_genuine(message, secret)
    forged = Message(message.headers, message.body.replace(b"critical", b"info"), message.at)
    assert forged.body != message.body
    assert not is_genuine(forged, secret)
    assert not is_genuine(message, webhooks.new_secret())
    renamed = Message(message.headers | {"webhook-id": "msg_other"}, message.body, message.at)
    assert not is_genuine(renamed, secret)
    later = Message(message.headers | {"webhook-timestamp": str(int(message.at) + 60)}, message.body, message.at)
    assert not is_genuine(later, secret)
    assert not is_genuine(message, secret, now=message.at + 3_600)


def test_what_was_known_before_a_webhook_is_not_sent_to_it(tenant: Tenant, receiver: Receiver) -> None:
    found(tenant, 2)
    webhook, _secret = hooked(tenant, receiver)
    assert deliver(webhook.pk) == 0
    seqs = found(tenant, 2)
    deliver(webhook.pk)
    assert [message.seq for message in receiver.taken] == seqs


def test_only_the_severities_that_are_wanted_are_sent(tenant: Tenant, receiver: Receiver) -> None:
    webhook, _secret = hooked(tenant, receiver, severities=["minor"])
    found(tenant, 3)
    assert deliver(webhook.pk) == 0
    webhook.refresh_from_db()
    assert (receiver.came, webhook.position) == ([], 3)


def test_nothing_of_another_casino_is_sent(tenant: Tenant, receiver: Receiver) -> None:
    webhook, _secret = hooked(tenant, receiver)
    found(make_tenant(), 2)
    assert deliver(webhook.pk) == 0
    assert receiver.came == []


def test_order_holds_and_none_is_lost_though_half_of_the_attempts_fail(tenant: Tenant, receiver: Receiver) -> None:
    chance = random.Random(7)
    receiver.behaviour = lambda handler, message: chance.choice([200, 503])
    webhook, secret = hooked(tenant, receiver)
    seqs = found(tenant, 40)
    while due(timezone.now()) or Webhook.objects.get(pk=webhook.pk).next_try_at:
        due_again(webhook)
        deliver(webhook.pk)
    assert [message.seq for message in receiver.taken] == seqs
    assert len(receiver.came) > 55
    assert all(is_genuine(message, secret) for message in receiver.came)
    assert len({message.id for message in receiver.came}) == 40, "an attempt has the id of its message"


def test_a_receiver_that_keeps_failing_waits_longer_and_longer(tenant: Tenant, receiver: Receiver) -> None:
    receiver.behaviour = lambda handler, message: 500
    webhook, _secret = hooked(tenant, receiver)
    found(tenant, 2)
    deliver(webhook.pk)
    webhook.refresh_from_db()
    assert (len(receiver.came), webhook.failures, webhook.error) == (21, 21, "HTTP 500 Internal Server Error")
    assert webhook.next_try_at is not None
    assert due(timezone.now()) == []
    assert deliver(webhook.pk) == 0
    assert len(receiver.came) == 21
    pauses = [webhook_delivery.pause_after(failures).total_seconds() for failures in (21, 23, 26, 60, 1000)]
    for pause, middle in zip(pauses, (2, 8, 64, 3_600, 3_600), strict=True):
        assert middle / 2 <= pause <= middle * 1.5
    assert len({webhook_delivery.pause_after(22) for _ in range(20)}) > 10, "jitter"
    due_again(webhook)
    receiver.behaviour = failing()
    assert deliver(webhook.pk) == 2
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.failing_since, webhook.error) == (0, None, "")


@pytest.mark.superuser  # no role of ours changes when a change became known
def test_after_a_day_of_failures_what_is_as_old_becomes_dead_letters_and_can_be_sent_again(
    tenant: Tenant, receiver: Receiver
) -> None:
    receiver.behaviour = lambda handler, message: 500
    webhook, secret = hooked(tenant, receiver)
    seqs = found(tenant, 3)
    now = timezone.now()
    old = FindingChange.objects.filter(casino=tenant.casino).order_by("id")[:2].values("pk")
    FindingChange.objects.filter(pk__in=list(old.values_list("pk", flat=True))).update(at=now - timedelta(hours=25))
    deliver(webhook.pk)
    assert DeadLetter.objects.count() == 0, "it has not failed for a day"
    Webhook.objects.filter(pk=webhook.pk).update(failing_since=now - timedelta(hours=25), next_try_at=None)
    deliver(webhook.pk)
    letters = list(DeadLetter.objects.filter(webhook=webhook).order_by("change__position"))
    assert [letter.change.finding.seq for letter in letters] == seqs[:2]
    due_again(webhook)
    receiver.behaviour = failing()
    deliver(webhook.pk)
    assert [message.seq for message in receiver.taken] == seqs[2:]
    assert due(timezone.now()) == []
    assert webhooks.send_again("anna", make_tenant().casino.pk, letters) == 0
    assert webhooks.send_again("anna", tenant.casino.pk, letters) == 2
    assert due(timezone.now()) == [webhook.pk]
    with acting_as(WORKER):
        deliver(webhook.pk)
    assert [message.seq for message in receiver.taken[1:]] == seqs[:2]
    assert receiver.taken[1].id == receiver.came[0].id
    assert is_genuine(receiver.taken[1], secret)
    assert webhooks.send_again("anna", tenant.casino.pk, letters) == 0
    assert due(timezone.now()) == []


def test_a_receiver_that_is_gone_is_not_sent_to_any_more(tenant: Tenant, receiver: Receiver) -> None:
    receiver.behaviour = lambda handler, message: 410
    webhook, _secret = hooked(tenant, receiver)
    found(tenant, 1)
    deliver(webhook.pk)
    webhook.refresh_from_db()
    assert (webhook.is_active, len(receiver.came)) == (False, 1)
    assert entries(tenant)[-1].type == "webhook.deactivated"
    assert due(timezone.now()) == []


def entries(tenant: Tenant) -> list[audit_trail.AuditEntry]:
    return list(audit_trail.entries_of(tenant.casino.pk, timezone.now().date()))


def test_both_secrets_sign_for_a_day_after_a_rotation(tenant: Tenant, receiver: Receiver) -> None:
    webhook, before = hooked(tenant, receiver)
    after = webhooks.rotate(COMMAND, webhook)
    found(tenant, 1)
    deliver(webhook.pk)
    assert is_genuine(receiver.taken[0], before)
    assert is_genuine(receiver.taken[0], after)
    WebhookSecret.objects.filter(webhook=webhook, expires_at__isnull=False).update(expires_at=timezone.now())
    found(tenant, 1)
    deliver(webhook.pk)
    assert not is_genuine(receiver.taken[1], before)
    assert is_genuine(receiver.taken[1], after)
    third = webhooks.rotate(COMMAND, webhook)
    assert len({before, after, third}) == 3
    assert [each.type for each in entries(tenant) if each.type.startswith("webhook.")] == [
        "webhook.created",
        "webhook.rotated",
        "webhook.rotated",
    ]


def test_a_secret_is_in_no_log_no_trail_and_read_by_no_web_server(
    tenant: Tenant, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    receiver.behaviour = lambda handler, message: 500
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper").get_username()
    with acting_as(WEB):
        webhook, secret = hooked(tenant, receiver, actor=keeper, url=receiver.url + "?token=in-the-address")
        rotated = webhooks.rotate(keeper, webhook)
        webhooks.request_test(keeper, webhook)
    found(tenant, 1)
    deliver(webhook.pk)
    webhook_delivery.test(webhook.pk)
    known = caplog.text + str(entries(tenant)) + str(vars(Webhook.objects.get(pk=webhook.pk)))
    for each in (secret, rotated):
        assert each not in known
        assert each.removeprefix("whsec_") not in known
    assert "in-the-address" not in caplog.text + str(entries(tenant))


def test_a_test_message_is_sent_once_and_its_result_kept(tenant: Tenant, receiver: Receiver) -> None:
    webhook, secret = hooked(tenant, receiver)
    with acting_as(WORKER):
        webhook_delivery.test(webhook.pk)
        assert receiver.came == [], "nobody has requested it"
    webhooks.request_test(COMMAND, webhook)
    with acting_as(WORKER):
        webhook_delivery.test(webhook.pk)
        webhook_delivery.test(webhook.pk)
    [message] = receiver.taken
    assert is_genuine(message, secret)
    assert message.content["type"] == "webhook.test"
    webhook.refresh_from_db()
    assert (webhook.test_result, webhook.test_requested_at) == ("HTTP 204", None)
    receiver.behaviour = failing(404)
    webhooks.request_test(COMMAND, webhook)
    webhook_delivery.test(webhook.pk)
    webhook.refresh_from_db()
    assert webhook.test_result == "HTTP 404 Not Found"
    assert webhook.failures == 0


def test_a_test_message_of_a_sandbox_says_so(receiver: Receiver) -> None:
    tried = Tenant(is_sandbox=True)
    webhook, _secret = hooked(tried, receiver)
    webhooks.request_test(COMMAND, webhook)
    webhook_delivery.test(webhook.pk)
    [message] = receiver.taken
    assert message.content["data"] == {"casino": tried.code, "sandbox": True}


def test_a_worker_that_died_leaves_a_webhook_for_a_minute_and_one_that_stood_still_writes_nothing(
    tenant: Tenant, receiver: Receiver
) -> None:
    webhook, _secret = hooked(tenant, receiver)
    found(tenant, 2)
    leased = Webhook.objects.filter(pk=webhook.pk)
    leased.update(leased_until=timezone.now() + timedelta(seconds=30))
    assert (due(timezone.now()), deliver(webhook.pk)) == ([], 0)
    # A worker that stood still goes on after another one has taken the webhook over.
    stood_still = webhook_delivery._Run(leased.get(), timezone.now() - timedelta(seconds=90), time.monotonic() + 10)
    with pytest.raises(webhook_delivery.GaveUp):
        stood_still.send_changes()
    stood_still.close()
    webhook.refresh_from_db()
    assert (webhook.position, webhook.leased_until is not None) == (0, True)
    leased.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert len(receiver.came) == 1
    assert deliver(webhook.pk) == 2
    assert receiver.taken[0].id == receiver.taken[1].id, "once more, under the same id"


def test_a_webhook_that_is_inactive_is_sent_nothing_and_goes_on_where_it_was(
    tenant: Tenant, receiver: Receiver
) -> None:
    webhook, _secret = hooked(tenant, receiver)
    values = {"name": "x", "url": receiver.url, "severities": ["critical"]}
    webhooks.change(COMMAND, webhook, **values, is_active=False)
    seqs = found(tenant, 2)
    assert (deliver(webhook.pk), due(timezone.now())) == (0, [])
    webhook.refresh_from_db()
    webhooks.change(COMMAND, webhook, **values, is_active=True)
    assert deliver(webhook.pk) == 2
    assert [message.seq for message in receiver.taken] == seqs


def test_a_casino_has_no_more_than_some_webhooks(tenant: Tenant, receiver: Receiver) -> None:
    for _ in range(10):
        webhook, _secret = hooked(tenant, receiver)
    with pytest.raises(webhooks.TooMany):
        hooked(tenant, receiver)
    webhooks.change(COMMAND, webhook, name="x", url=receiver.url, severities=["critical"], is_active=False)
    hooked(tenant, receiver)
    webhook.refresh_from_db()
    with pytest.raises(webhooks.TooMany):
        webhooks.change(COMMAND, webhook, name="x", url=receiver.url, severities=["critical"], is_active=True)


def test_failing_webhooks_are_tried_few_at_a_time_and_after_the_others(tenant: Tenant, receiver: Receiver) -> None:
    made_up = [hooked(tenant, receiver)[0].pk for _ in range(8)]
    found(tenant, 1)
    Webhook.objects.filter(pk__in=made_up[:6]).update(failures=20)
    listed = due(timezone.now())
    assert listed[:2] == made_up[6:]
    assert len(listed) == 2 + webhook_delivery.FAILING_AT_ONCE


def test_a_message_that_is_too_long_names_its_finding(tenant: Tenant) -> None:
    found(tenant, 1)
    feed.number(tenant.casino.pk)
    change = FindingChange.objects.get(casino=tenant.casino)
    change.finding.evidence = list(range(webhook_delivery.MAX_BODY // 4))
    [document] = feed.documents([change])
    body = webhook_delivery.body_of(document)
    assert len(body) < 2_000
    assert b'"is_shortened":true' in body


def test_what_many_findings_at_once_leave_is_sent_in_order_and_a_turn_ends(
    tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook, _secret = hooked(tenant, receiver)
    seqs = found(tenant, 100)
    a_second_each = SimpleNamespace(monotonic=lambda: time.monotonic() + len(receiver.came), time=time.time)
    monkeypatch.setattr(webhook_delivery, "time", a_second_each)
    turns = 0
    while due(timezone.now()):
        turns += 1
        deliver(webhook.pk)
    assert turns >= 100 / webhook_delivery.RUN_S, "others have their turn"
    assert [message.seq for message in receiver.taken] == seqs
