"""Concurrent requests, and a broker that is gone: what is answered is stored, once, and without delay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from django.db import connection

from audit.event_store import read
from audit.tasks import replay_stream
from casino.celery import app
from tests.audit.sessions import written
from tests.audit.tables import Tenant


def all_at_once(count: int, action: Callable[[int], None]) -> None:
    """Run ``action`` in ``count`` threads that start together, each with a connection of its own."""
    together = Barrier(count)

    def run(number: int) -> None:
        together.wait()
        try:
            action(number)
        finally:
            connection.close()

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_eight_table_systems_that_send_one_session_store_it_once(committed_tenant: Tenant, stream: str) -> None:
    tenant = committed_tenant
    sent = tenant.session(stream, 200)
    statuses: Counter[int] = Counter()
    receipts: dict[int, set[bytes]] = {}

    def send(_: int) -> None:
        for first in range(0, 200, 20):
            answer = tenant.send(stream, sent[first : first + 20])
            statuses[answer.status_code] += 1
            if answer.status_code in (200, 201):
                receipts.setdefault(first, set()).add(answer.content)

    all_at_once(8, send)
    assert statuses[201] == 10
    assert set(statuses) == {200, 201}
    assert [len(receipts[first]) for first in range(0, 200, 20)] == [1] * 10
    head = read.head_of(tenant.casino.pk, stream)
    assert [raw for _, raw in read.slice_of(head.stream_id, limit=500)] == [written(each) for each in sent]


def test_of_two_contents_sent_concurrently_one_is_stored_and_the_other_conflicts(
    committed_tenant: Tenant, stream: str
) -> None:
    tenant = committed_tenant
    tenant.send(stream, tenant.session(stream, 1))
    statuses: list[int] = []

    def send(number: int) -> None:
        sent = tenant.session(stream, 3)[1:]
        sent[0]["data"]["stake"] = 1 + number
        statuses.append(tenant.send(stream, sent).status_code)

    all_at_once(4, send)
    assert sorted(statuses) == [201, 409, 409, 409]


def test_streams_opened_concurrently_in_one_month_all_open(committed_tenant: Tenant, stream: str) -> None:
    tenant = committed_tenant
    statuses: list[int] = []

    def send(number: int) -> None:
        name = f"{stream}.{number}"
        sent = tenant.session(name, 2)
        sent[0]["data"]["gaming_day"] = f"2003-0{1 + number % 2}-0{1 + number}"
        statuses.append(tenant.send(name, sent).status_code)

    all_at_once(8, send)
    assert statuses == [201] * 8


def test_one_name_sent_concurrently_for_two_days_is_one_stream(committed_tenant: Tenant, stream: str) -> None:
    tenant = committed_tenant
    statuses: list[int] = []

    def send(number: int) -> None:
        sent = tenant.session(stream, 2)
        sent[0]["data"]["gaming_day"] = f"2004-01-0{1 + number}"
        statuses.append(tenant.send(stream, sent).status_code)

    all_at_once(4, send)
    assert sorted(statuses) == [201, 409, 409, 409]


def test_a_replay_task_is_sent_for_a_stream_that_is_dirty(committed_tenant: Tenant, stream: str) -> None:
    committed_tenant.send(stream, committed_tenant.session(stream, 1))
    head = read.head_of(committed_tenant.casino.pk, stream)
    hinted: set[int] = set()
    with app.connection_for_read() as reading, reading.SimpleQueue("replay") as queue:
        while head.stream_id not in hinted:
            message = queue.get(timeout=10)
            message.ack()
            if message.headers["task"] == replay_stream.name:
                arguments = message.payload[1]
                hinted |= {arguments["stream_id"], *arguments.get("also", ())}


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("redis://127.0.0.1:1/0", marks=pytest.mark.faults),
        pytest.param("amqp://127.0.0.1:1//", marks=pytest.mark.faults),
        "redis://10.255.255.1:6379/0",  # which neither answers nor refuses
    ],
)
def test_a_broker_that_is_gone_fails_no_request_and_is_waited_for_by_none(
    committed_tenant: Tenant, stream: str, url: str
) -> None:
    database = {name: connection.settings_dict[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
    events = committed_tenant.session(stream, 20)
    task = {"database": database, "key": committed_tenant.secret, "stream": stream, "events": events}
    sent = subprocess.run(
        [sys.executable, "-m", "tests.audit.ingest.sending"],
        input=json.dumps(task),
        env=os.environ | {"CELERY_BROKER_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(sent.stdout.splitlines()[-1])
    assert answer["statuses"] == [201] * 20
    assert answer["connecting"] == ["task-queue"], "the thread that sends while nobody waits, and no other"
