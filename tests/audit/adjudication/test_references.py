"""References of findings: counted for each casino and year, without a gap, and kept by what continues another."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from itertools import product
from string import ascii_uppercase
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.adjudication import replay
from audit.adjudication.replay import advance
from audit.models import Casino, Finding, FindingCounter
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


def named(tenant: Tenant, number: int, year: int = 26) -> str:
    """Return a reference as the casino of a tenant has it."""
    return f"{tenant.casino.reference_code}-{year}-{number:04d}"


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
    for tenant in (first, second):
        assert references(tenant) == [named(tenant, number) for number in (1, 2, 3, 4)]
    assert not set(references(first)) & set(references(second))


def test_the_year_is_that_of_the_gaming_day() -> None:
    tenant = Tenant()
    for name, day in (("old", "2025-12-31"), ("new", "2026-01-01")):
        events = dice_changed_in_mid_series(tenant, name)
        events[0]["data"]["gaming_day"] = day
        assert tenant.post(name, events).status_code == 201
        replayed(tenant.stream(name).stream_id)
    assert references(tenant)[0] == named(tenant, 1, 25)
    assert named(tenant, 1) in references(tenant)


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
    assert sorted({*references(tenant)}) == [named(tenant, 1), named(tenant, 2), named(tenant, 3)], (
        "the correction is one"
    )


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
    assert references(tenant) == [named(tenant, 1), named(tenant, 2), named(tenant, 3)]
    # What never stood stands after all, found again by a run whose findings stand at once.
    corrected(tenant, events, OVERPAID)
    replayed(stream_id)
    for seq in (16, 17, 18):
        approve(tenant.casino, stream_id, seq)
    replayed(stream_id)
    assert reference(of_rule(stream_id, "payout-overpaid")) == named(tenant, 5)
    assert sorted({*references(tenant)}) == [named(tenant, number) for number in (1, 2, 3, 4, 5)]


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
        assert references(tenant) == [named(tenant, 1)]
        transaction.set_rollback(True)
    assert references(tenant) == []
    unstored(stream, range(2, 3))[0].save()
    assert references(tenant) == [named(tenant, 1)]


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
    assert references(tenant) == [named(tenant, number) for number in range(1, 9)]


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
    assert references(tenant) == [named(tenant, 1), named(tenant, 2)]


@pytest.mark.superuser
def test_a_reference_from_before_there_were_numbers_stays_and_is_not_given_again() -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    with without_triggers():
        of_stream = Finding.objects.filter(stream_id=stream_id)
        of_stream.update(year=None, number=None, reference_code="", opened_at=timezone.now() - timedelta(days=1))
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
    for changed in ({"number": 77}, {"year": 2001}, {"number": None, "year": None}, {"reference_code": "ZZZ"}):
        with pytest.raises(IntegrityError, match="does not change"), transaction.atomic():
            Finding.objects.filter(stream_id=stream_id).update(**changed)
    assert references(tenant) == [named(tenant, 1), named(tenant, 2)]


@pytest.mark.superuser
def test_what_was_numbered_without_a_code_stays_without_it_and_so_does_what_continues_it() -> None:
    tenant = Tenant()
    stream_id, events = session(tenant, "s", OVERPAID)
    replayed(stream_id)
    with without_triggers():
        Finding.objects.filter(stream_id=stream_id).update(reference_code="")
    before = references(tenant)
    assert before == ["F-26-0001", "F-26-0002"]
    corrected(tenant, events, PAID_EVEN_MORE)
    replayed(stream_id)
    approve(tenant.casino, stream_id, 16)
    replayed(stream_id)
    assert reference(of_rule(stream_id, "payout-overpaid")) in before
    assert named(tenant, 3) in references(tenant), "a new one has the code"


def test_no_casino_takes_the_code_of_another() -> None:
    codes = ["deauville", "Deauville-2", "D", "d-1", "9", "99"]
    taken = [Casino.objects.create(code=code, name=code).reference_code for code in codes]
    assert taken == ["DEA", "DEB", "DXX", "DXA", "XXX", "XXA"]
    for code in ("DEA", "de", ""):
        with pytest.raises(IntegrityError), transaction.atomic():
            Casino.objects.filter(code="99").update(reference_code=code)
    with pytest.raises(IntegrityError), transaction.atomic():
        Casino.objects.create(code="another", name="Another", reference_code="DEA")


def test_a_casino_gets_a_code_when_all_like_its_own_are_taken() -> None:
    like_its_own = [f"Z{second}{third}" for second, third in product(ascii_uppercase, repeat=2)]
    with transaction.atomic():
        Casino.objects.bulk_create(
            [Casino(code=code.lower(), name="Z", reference_code=code) for code in like_its_own[:-1]]
        )
        new = [Casino.objects.create(code=f"zzz{number}", name="Z").reference_code for number in range(3)]
        assert new == ["ZZZ", "AAA", "AAB"]
        transaction.set_rollback(True)
