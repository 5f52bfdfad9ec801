"""References of findings: counted for each casino and year, without a gap, and kept by what continues another."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.adjudication import replay
from audit.adjudication.replay import advance
from audit.models import Finding, FindingCounter
from audit.presentation import MISSING, reference
from audit.transparency import finding_numbers
from audit.transparency.integrity_findings import integrity_finding, report_tampering
from tests.audit.adjudication.test_what_stands import (
    OVERPAID,
    PAID_EVEN_MORE,
    PAID_RIGHT,
    corrected,
    in_steps_of_three,
    replayed,
    session,
)
from tests.audit.corrections.corrections_desk import approve
from tests.audit.tables import Tenant, dice_changed_in_mid_series
from tests.roles import without_triggers

pytestmark = pytest.mark.django_db


def references(tenant: Tenant) -> list[str]:
    """Return the references of a casino's findings that stand or have stood, in the order in which they were given."""
    found = Finding.objects.stood_once().filter(casino=tenant.casino)
    return [reference(each) for each in found.order_by("year", "number", "pk")]


def of_rule(stream_id: int, rule: str) -> Finding:
    return Finding.objects.standing().get(stream_id=stream_id, rule=rule)


def unstored(stream: Any, seqs: range) -> list[Finding]:
    now = timezone.now()
    return [integrity_finding(stream, "count-missing", seq, occurred_at=now, facts={}) for seq in seqs]


def test_each_casino_counts_from_one_whatever_others_find() -> None:
    first, second = Tenant(), Tenant()
    for round_of_both in range(2):
        for tenant in (first, second):
            stream_id, _events = session(tenant, f"s{round_of_both}", OVERPAID)
            replayed(stream_id)
    assert references(first) == references(second) == [f"F-26-000{number}" for number in (1, 2, 3, 4)]


def test_the_year_is_that_of_the_gaming_day() -> None:
    tenant = Tenant()
    for name, day in (("old", "2025-12-31"), ("new", "2026-01-01")):
        events = dice_changed_in_mid_series(tenant, name)
        events[0]["data"]["gaming_day"] = day
        assert tenant.post(name, events).status_code == 201
        replayed(tenant.stream(name).stream_id)
    assert references(tenant)[0] == "F-25-0001"
    assert "F-26-0001" in references(tenant)


def test_what_a_correction_makes_read_otherwise_keeps_its_reference() -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    before = of_rule(stream_id, "payout-overpaid")
    corrected(tenant, events, PAID_EVEN_MORE)
    replayed(stream_id)
    approve(tenant.casino, stream_id, 16)
    replayed(stream_id)
    after = of_rule(stream_id, "payout-overpaid")
    assert after.pk != before.pk
    assert reference(after) == reference(before)
    assert sorted({*references(tenant)}) == ["F-26-0001", "F-26-0002", "F-26-0003"], "the correction is one"


def test_what_never_stands_takes_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", PAID_RIGHT)
    replayed(stream_id)
    monkeypatch.setattr(replay, "STEP_EVENTS", 3)
    corrected(tenant, events, OVERPAID)
    in_steps_of_three(stream_id, 6)
    corrected(tenant, events, PAID_RIGHT)
    replayed(stream_id)
    left = Finding.objects.get(stream_id=stream_id, rule="payout-overpaid")
    assert (left.number, left.stood_at, reference(left)) == (None, None, MISSING)
    assert references(tenant) == ["F-26-0001", "F-26-0002", "F-26-0003"]
    # What never stood stands after all, found again by a run whose findings stand at once.
    corrected(tenant, events, OVERPAID)
    replayed(stream_id)
    for seq in (16, 17, 18):
        approve(tenant.casino, stream_id, seq)
    replayed(stream_id)
    assert reference(of_rule(stream_id, "payout-overpaid")) == "F-26-0005"
    assert sorted({*references(tenant)}) == [f"F-26-000{number}" for number in (1, 2, 3, 4, 5)]


def test_a_batch_costs_one_update_of_the_counter() -> None:
    tenant = Tenant()
    stream_id, _events = session(tenant, "s", PAID_RIGHT)
    rows = unstored(tenant.stream("s"), range(1, 501))
    assert stream_id
    with transaction.atomic():
        finding_numbers.number(rows[:1])
        before = _writes()
        finding_numbers.number(rows)
        assert _writes() == before + 1
    assert [row.number for row in rows] == [2, *range(3, 502)], "the first was numbered and never stored"


def _writes() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "select n_tup_ins + n_tup_upd from pg_stat_xact_user_tables where relname = 'audit_findingcounter'"
        )
        return int(cursor.fetchone()[0])


def test_a_transaction_that_fails_leaves_no_gap() -> None:
    tenant = Tenant()
    session(tenant, "s", PAID_RIGHT)
    stream = tenant.stream("s")
    with transaction.atomic():
        unstored(stream, range(1, 2))[0].save()
        assert references(tenant) == ["F-26-0001"]
        transaction.set_rollback(True)
    assert references(tenant) == []
    unstored(stream, range(2, 3))[0].save()
    assert references(tenant) == ["F-26-0001"]


@pytest.mark.django_db(transaction=True)
def test_workers_that_find_at_the_same_time_give_each_number_once() -> None:
    tenant = Tenant()
    streams = []
    for name in ("a", "b", "c", "d"):
        stream_id, _events = session(tenant, name, OVERPAID)
        streams.append(stream_id)
    together = Barrier(len(streams))

    def read_through(stream_id: int) -> None:
        with _own_connection():
            together.wait(timeout=30)
            while (progress := advance(stream_id)) is not None and progress.behind:
                pass

    with ThreadPoolExecutor(len(streams)) as workers:
        list(workers.map(read_through, streams))
    assert references(tenant) == [f"F-26-{number:04d}" for number in range(1, 9)]


@contextmanager
def _own_connection() -> Iterator[None]:
    try:
        yield
    finally:
        connection.close()


def test_the_same_report_of_tampering_takes_no_second_number() -> None:
    tenant = Tenant()
    stream_id, _events = session(tenant, "s", PAID_RIGHT)
    for _again in range(3):
        report_tampering(stream_id, 1, expected=b"\1", recorded=b"\2")
    unstored(tenant.stream("s"), range(2, 3))[0].save()
    assert references(tenant) == ["F-26-0001", "F-26-0002"]


@pytest.mark.superuser
def test_a_reference_from_before_there_were_numbers_stays_and_is_not_given_again() -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    with without_triggers():
        of_stream = Finding.objects.filter(stream_id=stream_id)
        of_stream.update(year=None, number=None, opened_at=timezone.now() - timedelta(days=1))
        FindingCounter.objects.filter(casino=tenant.casino).delete()
    before = of_rule(stream_id, "payout-overpaid")
    assert reference(before) == f"F-{before.opened_at:%y}-{before.pk:04d}"
    corrected(tenant, events, PAID_EVEN_MORE)
    replayed(stream_id)
    approve(tenant.casino, stream_id, 16)
    replayed(stream_id)
    after = of_rule(stream_id, "payout-overpaid")
    assert after.pk != before.pk
    assert (after.year, after.number) == (before.opened_at.year, before.pk), "it continues the one that was printed"
    before.refresh_from_db()
    assert before.number is None


@pytest.mark.superuser
def test_the_number_of_what_has_stood_is_never_changed() -> None:
    tenant = Tenant()
    stream_id, _events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    for changed in ({"number": 77}, {"year": 2001}, {"number": None, "year": None}):
        with pytest.raises(IntegrityError, match="does not change"), transaction.atomic():
            Finding.objects.filter(stream_id=stream_id).update(**changed)
    assert references(tenant) == ["F-26-0001", "F-26-0002"]
