"""The phases of a verification that runs: those that it has, what each counts, and no share where none is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from audit.desk.jobs.progress import phases, progress_text
from audit.jobs import runner
from audit.jobs.queue import enqueue
from audit.models import Job, JobKind, JobState, Officer
from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome, Phase
from audit.transparency.verify import verify
from tests.audit.casework.test_actions import sign_in
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import several_streams

pytestmark = pytest.mark.django_db


def running(**about: object) -> Job:
    officer, _ = Officer.objects.get_or_create(username="chief", is_superuser=True, is_staff=True)
    values = {"kind": JobKind.VERIFY, "state": JobState.RUNNING, "started_at": timezone.now(), "officer": officer}
    return Job.objects.create(**{**values, **about})


def states(job: Job) -> list[tuple[str, str, str]]:
    with translation.override("en"):
        return [(each.label, each.state, each.text) for each in phases(job)]


def test_the_whole_record_has_five_phases_and_counts_what_it_has_read() -> None:
    so_far = {"phase": "tree", "checkpoints": 1_200, "leaves": 20_000}
    job = running(done=7, total=7, result={"so_far": so_far})
    assert states(job) == [
        ("Events, batches, chains", "done", "7 events"),
        ("Decisions", "done", ""),
        ("Signatures of the log", "done", "1,200 checkpoints"),
        ("Tree", "now", "20,000 leaves"),
        ("Tables from the log", "next", "not yet"),
    ]
    assert [(each.done, each.total) for each in phases(job)] == [(7, 7), *[(0, 0)] * 4], "of events alone is a share"
    with translation.override("en"):
        assert progress_text(job) == "7 of 7 events", "nothing is foretold of the phases that follow"


def test_a_part_of_the_record_has_no_tree_and_what_reports_nothing_yet_is_at_its_events() -> None:
    job = running(params={"first_day": "2026-11-01"}, done=1, total=9)
    assert [(label, state) for label, state, _ in states(job)] == [
        ("Events, batches, chains", "now"),
        ("Decisions", "next"),
        ("Tables from the log", "next"),
    ]
    assert states(running(result={"so_far": {"phase": "another version's"}}))[0][1] == "now"
    assert states(running(state=JobState.WAITING)) == []
    assert states(running(kind=JobKind.EXPORT)) == []


def test_a_part_that_reports_a_phase_which_it_has_not_is_at_its_events() -> None:
    job = running(params={"first_day": "2026-11-01"}, result={"so_far": {"phase": "tree"}})
    assert [state for _label, state, _text in states(job)] == ["now", "next", "next"]


def test_a_verification_names_its_phases_in_their_order() -> None:
    several_streams(Tenant(tables=("C1",)), sizes=[[1, 2], [1]])
    seen: list[tuple[Phase, int, int]] = []

    def note(outcome: Outcome) -> None:
        seen.append((outcome.phase, outcome.checkpoints, outcome.leaves))

    verify(signing_keys.verifiers("checkpoint"), decisions=[None], progress=note)
    assert list(dict.fromkeys(phase for phase, _, _ in seen)) == [
        Phase.EVENTS,
        Phase.DECISIONS,
        Phase.SIGNATURES,
        Phase.TREE,
    ]
    at_tree = [each for each in seen if each[0] == Phase.TREE]
    assert at_tree[0][1] > 0, "signatures come first"
    assert at_tree[0][2] == 0 < at_tree[-1][2]
    apart: list[Phase] = []
    verify([], streams=[], with_tree=False, progress=lambda outcome: apart.append(outcome.phase))
    assert set(apart) == {Phase.DECISIONS}, "nothing of signatures and of the tree"


def test_the_job_stores_what_it_is_at_and_ends_with_its_result_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = Tenant(tables=("C1",))
    several_streams(tenant, sizes=[[2]])
    job = enqueue(JobKind.VERIFY, Officer.objects.create_superuser("chief"), tenant.casino, {})
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, runner=(runner_id := uuid4()))
    reporter = runner.ProgressReporter(job, runner_id)
    reporter.report(1, 2, {"phase": "tree", "leaves": 9})
    reporter._store()
    job.refresh_from_db()
    assert (job.done, job.total, job.result) == (1, 2, {"so_far": {"phase": "tree", "leaves": 9}})
    Job.objects.filter(pk=job.pk).update(state=JobState.WAITING, runner=None)
    reports: list[Mapping[str, Any] | None] = []

    def noted(self: runner.ProgressReporter, done: int, total: int, so_far: Mapping[str, Any] | None = None) -> None:
        reports.append(so_far)

    monkeypatch.setattr(runner.ProgressReporter, "report", noted)
    runner.run(job.pk)
    job.refresh_from_db()
    assert list(dict.fromkeys(each["phase"] for each in reports if each)) == ["events", "decisions", "tables"]
    assert job.state == JobState.DONE
    assert "so_far" not in job.result
    assert job.result["events"] >= 2


def test_the_pages_show_the_phases_and_the_script_fetches_them() -> None:
    job = running(done=610, total=1_000, result={"so_far": {"phase": "decisions"}})
    desk = Client()
    sign_in(desk, job.officer)
    english = {"accept-language": "en"}
    for address in (reverse("admin:record_state"), reverse("admin:audit_job_change", args=(job.pk,))):
        shown = desk.get(address, headers=english).content.decode()
        assert shown.count("<progress") == 5, address
        assert '<li class="now"><progress max="1" value="0" aria-label="Decisions">' in shown
    fetched = desk.get(reverse("admin:audit_job_progress", args=(job.pk,)), headers=english).json()
    assert [each["state"] for each in fetched["phases"]] == ["done", "now", "next", "next", "next"]
    assert fetched["phases"][0]["text"] == "610 events"
