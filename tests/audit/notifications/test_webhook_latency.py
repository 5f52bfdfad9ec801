"""From the POST of a table system to its webhook: broker, replay, delivery, and a receiver that fails half the time."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from celery.contrib.testing.worker import start_worker
from django.db import connections

from audit import tasks
from audit.event_store.audit_trail import COMMAND
from audit.models import Webhook
from audit.notifications import webhooks
from casino.celery import app
from casino.embedded.valkey import EmbeddedValkey
from tests.audit.api.test_reading import overpaid
from tests.audit.conftest import make_tenant
from tests.audit.notifications.receivers import Message, Receiver, is_genuine, receiving
from tests.audit.sessions import unique_name
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db(transaction=True)

RATE = 10
"""Findings a second."""

HANGS_S = 15.0
"""How long the receiver of the other casino hangs."""


@pytest.fixture
def workers(tmp_path: Path, settings: Any) -> Iterator[None]:
    """A broker, and a worker of the queues ``replay`` and ``notify``, in threads of this process."""
    settings.CABOCHON_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    settings.CABOCHON_STREAMS_A_DAY = 10_000  # each post is a session of its own
    valkey = EmbeddedValkey(tmp_path)
    before = (
        app.conf.broker_url,
        app.conf.broker_write_url,
        app.conf.broker_read_url,
        app.conf.broker_transport_options,
    )
    with ExitStack() as stack:
        valkey.start()
        stack.callback(valkey.stop)
        url = valkey.url()
        app.conf.broker_url = app.conf.broker_write_url = app.conf.broker_read_url = url
        app.conf.broker_transport_options = {"polling_interval": 0.05}
        app._pool = None
        app.amqp._producer_pool = None
        options = {"pool": "threads", "concurrency": 6, "perform_ping_check": False, "shutdown_timeout": 20}
        stack.enter_context(start_worker(app, queues=["replay", "notify"], **options))
        yield
    names = ("broker_url", "broker_write_url", "broker_read_url", "broker_transport_options")
    for name, value in zip(names, before, strict=True):
        setattr(app.conf, name, value)
    app._pool = None
    app.amqp._producer_pool = None
    connections.close_all()


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def latencies(tenant: Tenant, receiver: Receiver, count: int) -> list[float]:
    """Post ``count`` sessions with a finding each. Return how long each took from the POST to the taken webhook."""
    posted: dict[str, float] = {}
    began = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, began + number / RATE - time.monotonic()))
        stream = unique_name()
        posted[stream] = time.time()
        assert tenant.send(stream, overpaid(stream, tenant)).status_code == 201
    until = time.monotonic() + 30
    while len({stream_of(each) for each in list(receiver.taken)}) < count and time.monotonic() < until:
        time.sleep(0.1)
    taken: dict[str, float] = {}
    for message in receiver.taken:
        taken.setdefault(stream_of(message), message.at)
    assert taken.keys() == posted.keys()
    return [taken[stream] - posted[stream] for stream in posted]


def stream_of(message: Message) -> str:
    return str(message.content["data"]["finding"]["stream"])


def run(count: int) -> dict[str, float]:
    """Send ``count`` webhooks and check them. Return the seconds that they took, by percentile."""
    chance = random.Random(11)
    tenant, neighbour = make_tenant(), make_tenant()
    is_over = threading.Event()
    with receiving() as receiver, receiving() as hanging:
        receiver.behaviour = lambda handler, message: chance.choice([204, 503])
        hanging.behaviour = lambda handler, message: 503 if is_over.wait(HANGS_S) else 200
        values = {"name": "duty", "severities": ["critical"]}
        _webhook, secret = webhooks.create(COMMAND, casino=tenant.casino, url=receiver.url, **values)
        slow, _secret = webhooks.create(COMMAND, casino=neighbour.casino, url=hanging.url, **values)
        stream = unique_name()
        neighbour.send(stream, overpaid(stream, neighbour))
        took = latencies(tenant, receiver, count)
        tasks.notify_sweep()
        is_over.set()  # the worker that waits for it ends before its database does
    positions = [message.content["data"]["cursor"] for message in receiver.taken]
    assert positions == sorted(positions, key=lambda cursor: int(cursor.split("-")[1])), "in order"
    assert all(is_genuine(message, secret) for message in receiver.came)
    assert len(receiver.came) > 1.6 * count
    assert len(hanging.came) >= 1
    assert Webhook.objects.get(pk=slow.pk).position == 0
    known = [datetime.fromisoformat(message.content["timestamp"]).timestamp() for message in receiver.taken]
    since_known = [message.at - at for message, at in zip(receiver.taken, known, strict=True)]
    figures = {name: round(percentile(took, share), 3) for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))}
    figures["p99_since_found"] = round(percentile(since_known, 0.99), 3)
    print(json.dumps({"messages": count, "attempts": len(receiver.came), **figures}))
    return figures


def test_webhooks_come_in_order_though_half_of_the_attempts_fail_and_another_casinos_hangs(workers: None) -> None:
    assert run(10)["p99_since_found"] < HANGS_S, "none waits for the other casino's, however busy the machine is"


@pytest.mark.faults
def test_a_webhook_comes_within_a_second_though_half_of_the_attempts_fail_and_another_casinos_hangs(
    workers: None,
) -> None:
    assert run(60)["p99_since_found"] < 1.0


@pytest.mark.soak
def test_a_thousand_webhooks_come_within_a_second_at_the_99th_percentile(workers: None) -> None:
    assert run(1_000)["p99"] < 1.0
