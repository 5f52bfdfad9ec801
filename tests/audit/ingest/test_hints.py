"""What is stored is announced to the workers: the stream, once what was posted is committed."""

from __future__ import annotations

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from audit import task_queue
from tests import citus
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(bool(citus.COORDINATOR), reason="holds the commit back by a transaction around the test: none is")
def test_the_stream_is_named_to_the_workers_after_the_commit(
    tenant: Tenant,
    stream: str,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, dict[str, int]]] = []
    monkeypatch.setattr(task_queue, "send_soon", lambda task, **arguments: sent.append((task, arguments)))
    with django_capture_on_commit_callbacks(execute=True):
        tenant.send(stream, tenant.session(stream, 3))
        assert sent == [], "a worker may be faster than the commit"
    assert sent == [(task_queue.REPLAY_STREAM, {"stream_id": tenant.stream(stream).stream_id})]
