"""The transitions of runs and findings: the database allows those of the tables, and no other."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.adjudication.transitions import FINDING_TRANSITIONS, RUN_TRANSITIONS
from audit.management.commands.diagrams import STANDING, with_diagrams
from audit.models import AdjudicationRun, Case, Finding, FindingStatus, LoggedStream, RunState
from audit.transparency.integrity_findings import integrity_finding
from tests.audit.tables import Tenant

pytestmark = pytest.mark.django_db

MOMENT = timezone.now() + timedelta(hours=1)

RUN_FIELDS: dict[str, dict[str, Any]] = {
    "running": {},
    "complete": {"completed_at": MOMENT},
    "failed": {"failed_at": MOMENT, "next_try_at": MOMENT},
    "superseded": {"ended_at": MOMENT},
}
FINDING_FIELDS: dict[str, dict[str, Any]] = {
    "pending": {"stood_at": None, "superseded_at": None},
    "standing": {"stood_at": MOMENT, "superseded_at": None},
    "superseded": {"superseded_at": MOMENT},
}


@pytest.fixture
def stream() -> LoggedStream:
    tenant = Tenant()
    assert tenant.post("s", [tenant.opener("s")]).status_code == 201
    return tenant.stream("s")


def run_of(stream: LoggedStream) -> AdjudicationRun:
    return AdjudicationRun.objects.create(stream=stream, casino_id=stream.casino_id, engine_version="1")


def finding_of(stream: LoggedStream, status: str, run: AdjudicationRun) -> Finding:
    finding = integrity_finding(stream, "payout-overpaid", 1, occurred_at=MOMENT, facts={})
    finding.run, finding.status = run, status
    for name, value in FINDING_FIELDS[status].items():
        setattr(finding, name, value)
    finding.save()
    return finding


def is_done(change: Any) -> bool:
    """Return whether the database lets a change through; it is taken back if not."""
    try:
        with transaction.atomic():
            change()
    except IntegrityError:
        return False
    return True


def way_to(state: RunState) -> list[RunState]:
    return [state] if state == RunState.RUNNING else [RunState.RUNNING, state]


@pytest.mark.parametrize("source, target", list(product([None, *RunState], RunState)))
def test_a_run_changes_its_state_by_the_table_alone(
    stream: LoggedStream, source: RunState | None, target: RunState
) -> None:
    wanted = source == target or (source, target) in {(each.source, each.target) for each in RUN_TRANSITIONS}
    row = AdjudicationRun(stream=stream, casino_id=stream.casino_id, engine_version="1")
    states = [target] if source is None else [*way_to(source), target]

    def changed() -> None:
        for state in states:
            row.state, row.next_try_at, row.ended_at = state, None, None
            for name, value in RUN_FIELDS[state].items():
                setattr(row, name, value)
            row.save()

    assert is_done(changed) is wanted


@pytest.mark.parametrize("source, target", list(product([None, *FindingStatus], FindingStatus)))
def test_a_finding_changes_its_status_by_the_table_alone(
    stream: LoggedStream, source: FindingStatus | None, target: FindingStatus
) -> None:
    wanted = source == target or (source, target) in {(each.source, each.target) for each in FINDING_TRANSITIONS}
    run = run_of(stream)

    def changed() -> None:
        if source is None:
            finding_of(stream, target, run)
            return
        first = FindingStatus.PENDING if source == FindingStatus.PENDING else FindingStatus.STANDING
        finding = finding_of(stream, first, run)
        for status in (source, target):
            fields = {**FINDING_FIELDS[status], "status": status}
            if finding.case_id is not None or finding.status == FindingStatus.STANDING:
                fields.pop("stood_at", None)
            Finding.objects.filter(pk=finding.pk).update(**fields)

    if source == FindingStatus.SUPERSEDED and target == FindingStatus.PENDING:
        assert not wanted
    assert is_done(changed) is wanted


def test_a_case_opens_when_a_pending_finding_comes_to_stand_and_its_deadline_runs_from_then(
    stream: LoggedStream,
) -> None:
    finding = finding_of(stream, "pending", run_of(stream))
    assert not Case.objects.filter(stream_id=stream.pk).exists()
    Finding.objects.filter(pk=finding.pk).update(status="standing", stood_at=MOMENT)
    case = Case.objects.get(stream_id=stream.pk)
    assert (case.opened_at, case.deadline > MOMENT) == (MOMENT, True)
    finding.refresh_from_db()
    assert finding.case == case


def test_a_pending_finding_that_is_superseded_has_no_case(stream: LoggedStream) -> None:
    finding = finding_of(stream, "pending", run_of(stream))
    Finding.objects.filter(pk=finding.pk).update(status="superseded", superseded_at=MOMENT)
    assert not Case.objects.filter(stream_id=stream.pk).exists()


@pytest.mark.superuser
@pytest.mark.parametrize(
    "status, wrong",
    [
        ("pending", {"superseded_at": MOMENT}),
        ("standing", {"stood_at": None}),
        ("standing", {"superseded_at": MOMENT}),
        ("standing", {"case": None, "stood_at": None}),
    ],
)
def test_the_fields_of_a_finding_agree_with_its_status(
    stream: LoggedStream, status: str, wrong: dict[str, Any]
) -> None:
    finding = finding_of(stream, status, run_of(stream))
    assert not is_done(lambda: Finding.objects.filter(pk=finding.pk).update(**wrong))


def test_one_run_of_a_stream_is_under_way(stream: LoggedStream) -> None:
    run_of(stream)
    assert not is_done(lambda: run_of(stream))


def test_the_diagrams_on_the_page_are_generated_from_the_tables() -> None:
    page = (Path(__file__).parents[3] / STANDING).read_text()
    assert with_diagrams(STANDING, page) == page
    for each in (*RUN_TRANSITIONS, *FINDING_TRANSITIONS):
        assert f"--> {each.target.value}: {each.when}" in page
