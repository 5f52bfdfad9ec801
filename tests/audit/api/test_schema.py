"""The interface against its own document, by a fuzzer: whatever it is sent, it answers as it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from audit.adjudication.replay import advance
from audit.api import key_lookup
from audit.models import LoggedStream
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

# What a valid body is depends on what is recorded: no schema can say that, so a refusal of one is no fault.
UNCHECKED = (
    [schemathesis.checks.positive_data_acceptance] if hasattr(schemathesis.checks, "positive_data_acceptance") else []
)


@pytest.fixture
def interface(tenant: Tenant) -> Iterator[schemathesis.BaseSchema]:
    """The OpenAPI document, for a casino that has a stream with findings and proofs."""
    stream = "deauville.C1"
    tenant.send(stream, tenant.session(stream, 12))
    advance(LoggedStream.objects.get(casino=tenant.casino, name=stream).stream_id)
    seal()
    request_started.disconnect(close_old_connections)
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", WSGIHandler())
    yield schema
    request_started.connect(close_old_connections)


@pytest.mark.parametrize(
    "examples", [1, pytest.param(30, marks=pytest.mark.faults), pytest.param(100, marks=pytest.mark.soak)]
)
def test_every_operation_answers_as_the_document_says(
    interface: schemathesis.BaseSchema, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, examples: int
) -> None:
    monkeypatch.setattr(key_lookup, "MAX_FAILURES", 1_000_000)  # an invalid key gets 401 here, never 429
    operations: list[str] = []
    for found in interface.get_all_operations():
        operation = found.ok()
        operations.append(operation.label)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @settings(
                max_examples=examples,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def answers(case: schemathesis.Case) -> None:
                assume([] not in (case.query or {}).values())  # which is not sent: what was to be wrong is right
                case.call_and_validate(headers=tenant.headers(), excluded_checks=UNCHECKED)

            try:
                answers()
            except Unsatisfiable:  # nothing of this operation can be operations wrongly
                assert mode is GenerationMode.NEGATIVE
    assert len(operations) >= 12
    assert "POST /api/v1/streams/{stream}/events" in operations
