"""What is stored is announced to the workers: the stream, once what was posted is committed."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection

from audit import task_queue
from tests.audit.tables import Tenant
from tests.databases import address_of

pytestmark = pytest.mark.django_db


def test_the_stream_is_named_to_the_workers_after_the_commit(
    committed_tenant: Tenant, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may be faster than the commit: when it is told of the stream, another connection sees the events."""
    sent: list[tuple[str, dict[str, int]]] = []
    seen: list[tuple[int, ...]] = []

    def noted(task: str, **arguments: int) -> None:
        sent.append((task, arguments))
        with psycopg.connect(address_of(connection.settings_dict["NAME"])) as other:
            statement = "select e.seq from log.event e where e.stream_id = %s order by e.seq"
            seen.append(tuple(seq for (seq,) in other.execute(statement, (arguments["stream_id"],))))

    monkeypatch.setattr(task_queue, "send_soon", noted)
    committed_tenant.send(stream, committed_tenant.session(stream, 3))
    assert sent == [(task_queue.REPLAY_STREAM, {"stream_id": committed_tenant.stream(stream).stream_id})]
    assert seen == [(1, 2, 3)]
