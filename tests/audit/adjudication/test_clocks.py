"""Clocks ahead of the record: found where an event claims to have occurred after it was received."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from audit.adjudication import replay
from audit.models import Case, Finding
from tests.audit.adjudication.test_replay import replayed, standing
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db(transaction=True)


def stream(tenant: Tenant, *ahead_s: float | None) -> list[dict[str, Any]]:
    """Return a session whose events claim to occur so many seconds from now; None: an integrator's own, far ahead."""
    now = datetime.now(UTC)
    today = tenant.casino.gaming_day_at(now)
    kinds = count(1)
    events = []
    for seconds in ahead_s:
        seq = next(kinds)
        kind, data = "wager.placed", {"wager": f"w{seq}", "bet": "field", "stake": 500}
        if seq == 1:
            opener = tenant.opener("s", gaming_day=today.isoformat(), observes=[])
            kind, data = opener["type"], opener["data"]
        elif seconds is None:
            kind, data = "x.acme.camera", {}
        at = now + timedelta(seconds=9_000 if seconds is None else seconds)
        events.append({"stream": "s", "seq": seq, "type": kind, "occurred_at": at.isoformat(), "data": data})
    return events


def ahead(tenant: Tenant) -> list[int]:
    stream_id = tenant.stream("s").stream_id
    replayed(stream_id)
    return [seq for rule, seq, _wager in standing(stream_id) if rule == "clock-ahead"]


def test_an_event_more_than_two_minutes_ahead_of_its_receipt_is_found_and_says_by_how_much() -> None:
    tenant = Tenant()
    assert tenant.post("s", stream(tenant, -60, 119, 121 + 60)).status_code == 201
    assert ahead(tenant) == [3]
    [finding] = Finding.objects.filter(stream_id=tenant.stream("s").stream_id, rule="clock-ahead")
    assert (finding.severity, finding.evidence, finding.wager) == ("major", [3], "")
    assert 170 <= finding.facts["ahead_s"] <= 181
    received, claimed = (datetime.fromisoformat(each) for each in (finding.expected, finding.recorded))
    assert received.utcoffset() == claimed.utcoffset()
    assert int((claimed - received).total_seconds()) == finding.facts["ahead_s"]
    assert Case.objects.filter(stream_id=finding.stream_id, rule="clock-ahead", seq=3).count() == 1
    assert "s ahead of its receipt" in finding.as_value().message("en")


def test_while_the_clock_stays_ahead_it_is_found_once_however_the_events_came(monkeypatch: pytest.MonkeyPatch) -> None:
    for step, sizes in ((32_000, [9]), (32_000, [1] * 9), (2, [9]), (1, [4, 5]), (3, [2, 7])):
        monkeypatch.setattr(replay, "STEP_EVENTS", step)
        tenant = Tenant()
        events = stream(tenant, -60, 300, None, 300, 310, -30, None, 400, 410)
        for size in sizes:
            assert tenant.post("s", events[:size]).status_code == 201
            del events[:size]
            ahead(tenant)
        assert ahead(tenant) == [2, 8], (step, sizes)


def test_an_integrators_own_clock_does_not_count_and_a_slow_one_is_not_found() -> None:
    tenant = Tenant()
    assert tenant.post("s", stream(tenant, -9_000, None, -8_000, 60)).status_code == 201
    assert ahead(tenant) == []


def test_it_is_found_at_the_opener_and_again_by_every_run() -> None:
    tenant = Tenant()
    correction = {"corrects": 2, "data": {"wager": "w2", "bet": "field", "stake": 600}, "reason": "slip"}
    events = stream(tenant, 500, 500, 500)
    assert tenant.post("s", events[:2]).status_code == 201
    assert ahead(tenant) == [1]
    events[2] |= {"type": "entry.corrected", "data": {**correction, "approved_by": "chef-1"}}
    assert tenant.post("s", events[2:]).status_code == 201
    assert ahead(tenant) == [1]
    found = Finding.objects.filter(stream_id=tenant.stream("s").stream_id, rule="clock-ahead")
    assert [(each.status, each.run.cause) for each in found] == [("standing", "correction")]
