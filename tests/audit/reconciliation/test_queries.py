"""A night's report costs as many queries with six sessions as with three, and reads no session that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.event_store import binary_copy
from audit.ledger import feeding
from audit.models import Casino, Finding, LoggedStream, NightRun
from audit.reconciliation import runs, sessions
from audit.reconciliation.instants import dated
from audit.transparency import tree
from audit.transparency.integrity_findings import integrity_finding
from tests.audit.reconciliation.played import DAY, MORNING, record
from tests.audit.reconciliation.test_ledger_as_of import played, spins
from tests.audit.reconciliation.test_questions import stream
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def casino(tenant: Tenant) -> Casino:
    return tenant.casino


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Count the queries of Django and of the binary path."""
    binary: list[str] = []
    execute = binary_copy.execute

    def counts(statement: str, parameters: Any, **options: Any) -> list[tuple[Any, ...]]:
        binary.append(statement)
        return execute(statement, parameters, **options)

    with monkeypatch.context() as patched, CaptureQueriesContext(connection) as captured:
        patched.setattr(binary_copy, "execute", counts)
        yield lambda: len(captured) + len(binary)


def night_of(casino: Casino, tables: int, *, day: date = DAY) -> NightRun:
    """Record a night whose sessions are closed and kept, each after one of an earlier day, and begin its run.

    Those of the earlier day are kept, too: the chips of five weeks before are read of what is kept.
    """
    for number in range(tables):
        table = f"{day:%m}-{number}"
        for each in (day - timedelta(days=2), day):
            opened = {"float": 100_000 + (each == day) * 500}  # the opener differs from the closer: a finding each
            played(casino, table, spins(3, number), day=each, **opened)
    for each in (day - timedelta(days=2), day):
        run = runs.begin(casino, each, actor="test")
        for stream_id, last_seq in runs.pending_sessions(run):
            sessions.compute_figures(stream_id, last_seq)
    seal()
    assert feeding.feed_sessions(casino) >= tables
    return run


def test_the_report_of_six_sessions_takes_no_more_queries_than_that_of_three(
    casino: Casino, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    for tables, day in ((3, DAY), (6, DAY - timedelta(days=30))):
        run = night_of(casino, tables, day=day)
        with counted(monkeypatch) as queries:
            (report,) = runs.finish(run, now=MORNING)
            taken.append(queries())
        assert len(report.parsed_content()["sessions"]) == tables
        found = Finding.objects.standing().filter(casino=casino, gaming_day=day)
        assert found.filter(rule="opener-differs-from-closer").count() == tables
    assert taken[1] <= taken[0]


def test_a_night_that_is_kept_reads_no_session_again(casino: Casino, monkeypatch: pytest.MonkeyPatch) -> None:
    run = night_of(casino, 2)

    def breaks(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("read again")

    monkeypatch.setattr("audit.adjudication.stream_reader.arrays_between", breaks)
    (report,) = runs.finish(run, now=MORNING)
    assert [row["draws"] for row in report.parsed_content()["sessions"]] == [3, 3]


def test_a_stream_is_sealed_when_the_tree_has_every_batch_through_the_event(casino: Casino) -> None:
    events = stream(casino, "R1", spins(4))
    first = record(casino, events[:2])
    second = record(casino, stream(casino, "R2", spins(1)))
    seal()
    record(casino, events[2:], next_seq=3)
    size = tree.size()
    assert tree.unsealed({first: 2, second: 2}, size) == set()
    assert tree.unsealed({first: 3, second: 2}, size) == {first}
    assert tree.unsealed({first: 2, second: 2}, 0) == {first, second}
    index = tree.index_of(second, 1)
    assert index is not None
    assert tree.unsealed({second: 2}, index) == {second}
    assert tree.unsealed({second: 2}, index + 1) == set()


@pytest.mark.parametrize("claimed, is_credible", [(timedelta(minutes=50), True), (timedelta(minutes=70), False)])
def test_a_finding_is_at_the_instant_of_its_event_as_far_as_that_is_credible(
    casino: Casino, claimed: timedelta, is_credible: bool
) -> None:
    now = timezone.now()
    events = stream(casino, "R1", spins(2))
    events[1]["occurred_at"] = (now + claimed).isoformat()
    stream_id = record(casino, events)
    opened = LoggedStream.objects.get(pk=stream_id)
    finding = integrity_finding(opened, "count-missing", 2, occurred_at=opened.opened_at, facts={})
    dated([finding])
    assert (finding.occurred_at == now + claimed) == is_credible
    assert is_credible or abs(finding.occurred_at - now) < timedelta(minutes=10)
