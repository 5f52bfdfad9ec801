"""The power of a node is cut while table systems report single events: no receipt without its event, none twice.

Web servers store together what waits at the same time (``answer_together``), of streams on either worker: what a node
had prepared when it died, Citus decides when it is back.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from audit.event_store import read
from tests.audit.event_store.test_cluster_nodes import web_server_given
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal
from tests.faults.own_cluster import DATABASE, Cluster
from tests.faults.servers import until
from tests.faults.test_disks import verified
from tests.roles import ACCOUNT, signed_in_as

pytestmark = pytest.mark.faults

STREAMS = 12
STORED, RETRIED = (200, 201), (0, 503)
"""Answers after which the next event is sent, and the same one again; 0 is none."""


@dataclass
class TableSystem:
    """Sends its events one by one, each until it has a receipt; ``others`` are answers that it should not get."""

    url: str
    tenant: Tenant
    events: list[dict[str, Any]]
    receipts: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[int, Any]] = field(default_factory=list)

    def report(self, stop: Flag) -> None:
        while not stop.is_set() and len(self.receipts) < len(self.events):
            status, answer = self._send(self.events[len(self.receipts)])
            if status in STORED:
                self.receipts.append(answer)
                continue
            if status not in RETRIED:
                self.others.append((status, answer))
            stop.wait(0.05)

    def _send(self, event: dict[str, Any]) -> tuple[int, Any]:
        request = urllib.request.Request(
            f"{self.url}/api/v1/streams/{event['stream']}/events",
            data=json.dumps([event]).encode(),
            headers=self.tenant.headers() | {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except (OSError, http.client.HTTPException):
            return 0, None


@contextmanager
def reporting(systems: list[TableSystem]) -> Iterator[None]:
    stop = Flag()
    threads = [Thread(target=each.report, args=(stop,)) for each in systems]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_node_whose_power_is_cut_loses_no_event_that_has_a_receipt(own_cluster: Cluster, tmp_path: Path) -> None:
    cluster = own_cluster
    for node in cluster.nodes:
        node.decide_within_a_second()
    call_command("logkey", "--make", stdout=StringIO())
    tenant = Tenant(tables=("C1",))
    names = [f"s{number}" for number in range(STREAMS)]
    url = signed_in_as(ACCOUNT, cluster.workers[0].url(DATABASE))
    with web_server_given(url, tmp_path / "web") as address:
        systems = [TableSystem(address, tenant, tenant.session(name, 500)) for name in names]

        def have_sent(more: int) -> None:
            goals = [(each, len(each.receipts) + more) for each in systems]
            until(lambda: all(len(each.receipts) >= goal for each, goal in goals), "receipts", timeout_s=120)

        with reporting(systems):
            have_sent(5)
            for node in [*cluster.nodes, *cluster.nodes]:
                node.cut_power()
                node.start()
                have_sent(5)
    connections.close_all()
    assert [each.others for each in systems] == [[]] * STREAMS
    assert {cluster.worker_of(tenant.stream(name).stream_id) for name in names} == {*cluster.workers}
    for each, name in zip(systems, names, strict=True):
        head = read.head_of(tenant.casino.pk, name)
        assert head is not None
        stored = [seq for seq, _envelope in read.whole(head.stream_id)]
        assert stored == list(range(1, len(stored) + 1)), "each once, and none is missing"
        assert [receipt["first_seq"] for receipt in each.receipts] == stored[: len(each.receipts)]
        assert len(stored) <= len(each.receipts) + 1, "but for one that was stored and not answered"
    assert cluster.prepared() == 0
    seal()
    assert verified() == "Everything holds."
