"""Instants that a client claims: kept as they are, and no list of findings is ordered by one of the future."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from audit.adjudication.replay import advance
from audit.models import Finding, LoggedStream
from tests.audit.sessions import event
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

FUTURE = "2098-01-01T00:00:00+00:00"


def test_a_conflict_has_the_instant_of_its_receipt_and_keeps_the_claimed_one(tenant: Tenant, stream: str) -> None:
    sent = tenant.session(stream, 3)
    tenant.send(stream, sent)
    before = datetime.now(UTC)
    assert tenant.send(stream, [sent[2] | {"occurred_at": FUTURE}]).status_code == 409
    finding = Finding.objects.get(stream__name=stream, rule="sequence-conflict")
    assert before <= finding.occurred_at <= datetime.now(UTC)
    assert finding.facts["claimed_at"] == "2098-01-01T00:00:00.000000Z"


def test_a_finding_at_an_event_of_the_future_is_listed_under_the_instant_of_its_receipt(
    tenant: Tenant, stream: str
) -> None:
    late = event(stream, 4, "payout.made", wager="w-unknown", winnings=5, stake_returned=0) | {"occurred_at": FUTURE}
    result = event(stream, 5, "dice.thrown", faces=[4, 3]) | {"occurred_at": FUTURE}
    assert tenant.send(stream, [*tenant.session(stream, 3), late, result]).status_code == 201
    received_at = datetime.now(UTC)
    stream_id = LoggedStream.objects.get(name=stream).pk
    advance(stream_id)
    found = Finding.objects.filter(stream_id=stream_id, seq=4)
    assert found.filter(rule="payout-without-result").exists()
    assert {finding.occurred_at <= received_at for finding in found} == {True}
    listed = tenant.ask("findings").json()["results"]
    assert max(each["occurred_at"] for each in listed) <= received_at.isoformat()


def test_a_finding_of_the_past_keeps_the_instant_of_its_table(tenant: Tenant, stream: str) -> None:
    old = event(stream, 3, "payout.made", wager="w-unknown", winnings=5, stake_returned=0)
    result = event(stream, 4, "dice.thrown", faces=[4, 3])
    assert tenant.send(stream, [*tenant.session(stream, 2), old, result]).status_code == 201
    stream_id = LoggedStream.objects.get(name=stream).pk
    advance(stream_id)
    [instant] = set(Finding.objects.filter(stream_id=stream_id, seq=3).values_list("occurred_at", flat=True))
    assert instant.isoformat() == "2026-11-19T19:00:03+00:00"
