"""The content of a report is stored and signed: its keys, its order and its bytes are an interface."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest

from audit.models import Casino, NightReport
from audit.reconciliation import runs
from audit.reconciliation.content import digest
from tests.audit.reconciliation.played import DAY, MORNING, Events, buy_ins, count, inserted, record, session

pytestmark = pytest.mark.django_db

PINNED = [
    (
        "12a0dcdbd111850a0dd4d98894fa8720041453d1863b45cbc5e2245aac7ef9fb",
        "1f40640b60520c6bffd8c6f0f67cc54ffed449227aaacd04e10fac91f5768c1d",
    ),
    (
        "bb56f287aef91b26de9e90ee0c8db9c480dcda7db62233ba1a8e53e64a1be993",
        "ecdcbf9c19e897c7f8207ec0589123c201e02fc92945373166842a5cb5b2ef5a",
    ),
]
"""Of both versions of ``eventful_night``: the digest, and the SHA-256 of the whole content, as release 0.1.0 computes
them. ``without_record_numbers`` says what is left out."""


def eventful_night(casino: Casino) -> list[NightReport]:
    """Reconcile a night with something to say on every line, then again after a recount and a late fill.

    Return both versions.
    """
    yesterday = session(casino, "R1", day=DAY - timedelta(days=1), seed=5)
    overpaid = session(casino, "R1", irregularities=["payout-overpaid"], coups=45, float=7_000_000)
    for index, slip in enumerate(["F-001", "F-004", "F-001"], start=6):
        overpaid = inserted(overpaid, index, "bank.filled", {"amount": 500, "slip": slip})
    errors = ["payout-overpaid", "payout-underpaid"]
    craps = session(casino, "C1", ruleset="fr-craps", seed=3, coups=60, irregularities=errors)
    american = session(casino, "A1", ruleset="fr-american-roulette", seed=4, coups=30)
    left_open = session(casino, "R2", seed=6)
    while left_open[-1]["type"] != "wager.placed":
        left_open.pop()
    unobserved = session(casino, "C2", ruleset="fr-craps", seed=8, irregularities=["events-lost"], observes=["calls"])
    sessions = [overpaid, craps, american, left_open, unobserved]
    for events in (yesterday, *sessions):
        record(casino, events)
    drops = {events[0]["stream"]: buy_ins(events) for events in (overpaid, craps, american)}
    drops[craps[0]["stream"]] += 12_345
    counted = count(casino, drops | {"elsewhere.X1": 500})
    record(casino, counted)
    (first,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    recount = {"session": craps[0]["stream"], "amount": drops[craps[0]["stream"]] - 45, "counted_by": ["Ida", "Max"]}
    correction = {"corrects": 3, "data": recount, "reason": "recounted", "approved_by": "Ida"}
    record(casino, [following(counted, "entry.corrected", correction)])
    record(casino, [following(american, "bank.filled", {"amount": 900, "slip": "late-1"})])
    (second,) = runs.reconcile(casino, DAY, actor="test", now=MORNING)
    return [first, second]


def following(events: Events, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return one more event of a stream."""
    event = {**events[-1], "seq": events[-1]["seq"] + 1, "type": kind, "data": data}
    event.pop("actor", None)
    return event


def without_record_numbers(report: NightReport) -> dict[str, Any]:
    """Return a report's content with the numbers that depend on the database and the release taken out.

    Streams are numbered in their order, the engine's version and the tree are left out.
    """
    content = json.loads(bytes(report.content))
    del content["engine_version"], content["watermark"], content["version"]
    ids = sorted({each["stream_id"] for each in content["sessions"]})
    for each in (*content["sessions"], *content["errors"], *content["standing"], content["worst"]):
        each["stream_id"] = ids.index(each["stream_id"])
    return dict(content)


def test_the_same_night_has_the_digest_that_it_always_had(db: None) -> None:
    casino = Casino.objects.create(code="pinned", name="Pinned")
    reports = eventful_night(casino)
    contents = [without_record_numbers(report) for report in reports]
    assert [(digest(content), sha256(canonical(content)).hexdigest()) for content in contents] == PINNED
    assert [bytes(report.content) for report in reports] == [canonical(report.parsed_content()) for report in reports]


def canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
