"""Background jobs: progress, stopping, one worker at a time, and who may see them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.desk.findings import admin as findings_admin
from audit.event_store import audit_trail
from audit.jobs import kinds, runner
from audit.jobs.queue import enqueue, stop
from audit.models import Casino, GamingTable, Job, JobKind, JobState, Officer, Role, WhatIf
from audit.presentation import duration
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.tables import Tenant

LIST = reverse("admin:audit_job_changelist")


@pytest.fixture
def desk(db: None) -> Desk:
    return Desk()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is stored often."""
    monkeypatch.setattr(runner, "REPORT_EVERY_S", 0.01)


@pytest.fixture
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """No progress is stored: no other connection sees what the test's transaction holds."""
    monkeypatch.setattr(runner, "REPORT_EVERY_S", 3_600.0)


def address(job: Job, what: str = "change") -> str:
    return f"{LIST}{job.pk}/{what}/"


def started_job(client: Client, kind: str, **form: str) -> Job:
    answer = client.post(f"{LIST}start/{kind}/", form)
    assert answer.status_code == 302, answer.content[:200]
    return Job.objects.get(pk=int(answer["Location"].split("/")[-3]))


def as_kind(monkeypatch: pytest.MonkeyPatch, done: Callable[[Job, kinds.Progress], kinds.JobResult]) -> None:
    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, JobKind.VERIFY: done})


def test_an_officer_verifies_the_record_of_a_casino(desk: Desk, no_progress: None) -> None:
    client = client_of(desk.auditor)
    job = started_job(client, "verify", casino=desk.tenant.code)
    assert b"Waiting for a worker process." in client.get(address(job)).content
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["faults"]) == (JobState.DONE, [])
    assert job.result["events"] >= job.total == job.done > len(desk.findings)
    page = client.get(address(job)).content.decode()
    assert "Everything verified" not in page, "no leaf of the tree was looked at"
    assert "Events, batches and chains verified" in page
    assert "The Merkle tree and its signatures were not checked" in page
    assert "<dt>leaves</dt>" not in page


@pytest.mark.superuser
def test_a_changed_event_is_named_on_the_page(desk: Desk, no_progress: None) -> None:
    with connection.cursor() as cursor:  # by a superuser, and undone with the test
        cursor.execute("alter event trigger log_no_change disable")
        cursor.execute("alter table log.event disable trigger user")
        cursor.execute(
            "update log.event set envelope = replace(envelope::text, 'T1', 'T2')::json"
            " where stream_id = %s and seq = 1",
            [desk.stream.pk],
        )
    job = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {"first_day": "2026-11-19"})
    runner.run(job.pk)
    page = client_of(desk.first).get(address(job)).content.decode()
    job.refresh_from_db()
    assert any(desk.stream.name in fault for fault in job.result["faults"])
    assert desk.stream.name in page
    assert "Everything verified" not in page


def test_a_verification_of_days_without_events_does_not_say_that_all_is_verified(desk: Desk, no_progress: None) -> None:
    none = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {"last_day": "2026-11-18"})
    runner.run(none.pk)
    none.refresh_from_db()
    assert (none.result["events"], none.result["faults"]) == (0, [])
    for language, says in (("en", "Nothing has been checked yet"), ("fr", "Rien n’a encore été vérifié")):
        page = client_of(desk.first).get(address(none), headers={"accept-language": language}).content.decode()
        assert says in page
        assert "✓" not in page


def test_a_what_if_run_is_started_and_its_difference_opened(desk: Desk, no_progress: None) -> None:
    client = client_of(desk.first)
    name = f"five-{desk.tenant.code}"
    job = started_job(
        client, "what_if", casino=desk.tenant.code, name=name, readings="payout_unit=5", ruleset="fr-craps"
    )
    runner.run(job.pk)
    job.refresh_from_db()
    what_if = WhatIf.objects.get(name=name)
    assert (job.state, job.result["what_if"]) == (JobState.DONE, what_if.pk)
    assert (what_if.readings, what_if.streams) == ({"payout_unit": 5}, 1)
    assert f"/admin/audit/whatif/{what_if.pk}/change/" in client.get(address(job)).content.decode()


def test_a_what_if_run_is_of_the_tables_that_were_chosen(desk: Desk, no_progress: None) -> None:
    client = client_of(desk.first)
    assert desk.stream.table is not None
    own = desk.stream.table.code
    GamingTable.objects.create(casino=desk.tenant.casino, code="elsewhere")
    for tables, streams in ((own, 1), ("elsewhere", 0), (f"elsewhere, {own}", 1)):
        name = f"at {tables}"
        job = started_job(
            client, "what_if", casino=desk.tenant.code, name=name, readings="payout_unit=5", tables=tables
        )
        runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == JobState.DONE, job.error
        what_if = WhatIf.objects.get(name=name)
        assert what_if.streams == streams
        page = client.get(f"/admin/audit/whatif/{what_if.pk}/change/").content.decode()
        assert f"<dd>{', '.join(sorted(tables.split(', ')))}</dd>" in page


def test_a_table_that_the_casino_does_not_have_is_refused(desk: Desk) -> None:
    form = {"casino": desk.tenant.code, "name": "nowhere", "readings": "payout_unit=5", "tables": "T-9"}
    page = client_of(desk.first).post(f"{LIST}start/what_if/", form, follow=True).content.decode()
    assert "has no table “T-9”" in page
    assert not WhatIf.objects.filter(name="nowhere").exists()


def test_a_large_export_is_rendered_by_a_worker_for_the_requester(
    desk: Desk, no_progress: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = client_of(desk.first).post("/admin/audit/finding/export/csv/").content
    monkeypatch.setattr(findings_admin, "MAX_ROWS_AT_ONCE", 1)
    answer = client_of(desk.first).post("/admin/audit/finding/export/csv/")
    job = Job.objects.get(pk=int(answer["Location"].split("/")[-3]))
    assert client_of(desk.first).get(address(job, "file")).status_code == 404
    runner.run(job.pk)
    file = client_of(desk.first).get(address(job, "file"))
    assert file.content == at_once
    assert ".csv" in file["Content-Disposition"]
    for other in (desk.second, desk.auditor, hired(Tenant(), Role.SECOND, "other")):
        assert client_of(other).get(address(job)).status_code in (302, 404)
        assert client_of(other).get(address(job, "file")).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_running_job_is_stopped_by_an_officer_who_may(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    begun = threading.Event()

    def endless(job: Job, report: kinds.Progress) -> kinds.JobResult:
        done = 0
        while True:
            done += 1
            report(done, 1_000_000)
            begun.set()
            threading.Event().wait(0.002)

    as_kind(monkeypatch, endless)
    job = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {})
    worker = threading.Thread(target=_run, args=(job.pk,))
    worker.start()
    assert begun.wait(60)
    while not Job.objects.get(pk=job.pk).done:
        threading.Event().wait(0.01)
    progress = client_of(desk.auditor).get(address(job, "progress")).json()
    assert (progress["state"], progress["total"]) == ("running", 1_000_000)
    assert "per second" in progress["text"]
    assert client_of(desk.auditor).post(address(job, "stop")).status_code == 403
    assert client_of(desk.first).get(address(job, "stop")).status_code == 405
    assert client_of(desk.second).post(address(job, "stop")).status_code == 302
    worker.join(60)
    job.refresh_from_db()
    assert (job.state, job.stopped_by) == (JobState.STOPPED, desk.second)
    assert 0 < job.done < job.total
    entries = [
        (entry.type, entry.actor) for entry in audit_trail.entries_of(desk.tenant.casino.pk, timezone.now().date())
    ]
    assert [each for each in entries if each[0].startswith("work.")] == [
        ("work.asked", desk.first.username),
        ("work.stopped", desk.second.username),
        ("work.ended", desk.first.username),
    ]
    assert not stop(job, desk.first)


def _run(job_id: int) -> None:
    try:
        runner.run(job_id)
    finally:
        connection.close()


def test_a_job_that_no_worker_has_started_is_stopped_before_it_starts(
    desk: Desk, no_progress: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_kind(monkeypatch, lambda job, report: pytest.fail("it was started"))
    job = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {})
    assert stop(job, desk.first)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.STOPPED


def test_a_failed_job_shows_its_error(desk: Desk, no_progress: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(job: Job, report: kinds.Progress) -> kinds.JobResult:
        raise ValueError("the disk <is> full")

    as_kind(monkeypatch, failing)
    job = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {})
    runner.run(job.pk)
    page = client_of(desk.first).get(address(job)).content
    assert b"failed" in page
    assert b"ValueError: the disk &lt;is&gt; full" in page


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_loses_its_job_to_another_and_writes_nothing_after(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    held, go = threading.Event(), threading.Event()
    started: list[str] = []

    def slow(job: Job, report: kinds.Progress) -> kinds.JobResult:
        started.append("slow")
        held.set()
        assert go.wait(60)
        return kinds.JobResult(total=1, result={"by": "slow"})

    as_kind(monkeypatch, slow)
    job = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {})
    with monkeypatch.context() as patch:
        patch.setattr(runner.ProgressReporter, "_store_until_ended", lambda reporter: None)  # no heartbeat
        worker = threading.Thread(target=_run, args=(job.pk,))
        worker.start()
        assert held.wait(60)
    runner.run(job.pk)
    assert started == ["slow"], "its lease holds"
    assert runner.abandoned().count(job.pk) == 0
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - runner.LEASE - timedelta(seconds=1))
    assert job.pk in runner.abandoned()
    as_kind(monkeypatch, lambda job, report: kinds.JobResult(total=2, result={"by": "quick"}))
    runner.run(job.pk)
    go.set()
    worker.join(60)
    job.refresh_from_db()
    assert (job.state, job.result, job.done) == (JobState.DONE, {"by": "quick"}, 2)


def test_nobody_sees_or_stops_a_job_of_another_casino(desk: Desk) -> None:
    job = enqueue(JobKind.VERIFY, desk.first, desk.tenant.casino, {})
    chief = Officer.objects.create_superuser(f"chief-{desk.tenant.code}")
    of_all = enqueue(JobKind.VERIFY, chief, None, {})
    other = client_of(hired(Tenant(), Role.SECOND, "other"))
    for each in (job, of_all):
        for what in ("progress", "file"):
            assert other.get(address(each, what)).status_code == 404
        assert other.post(address(each, "stop")).status_code == 404
        assert str(each.pk) not in _rows(other)
    assert client_of(desk.first).get(address(of_all, "progress")).status_code == 404
    assert client_of(desk.administrator).get(LIST).status_code == 403
    assert client_of(desk.administrator).post(f"{LIST}start/verify/", {"casino": desk.tenant.code}).status_code == 403
    assert Client().post(f"{LIST}start/verify/", {"casino": desk.tenant.code}).status_code == 302
    assert f"/{job.pk}/" in _rows(client_of(desk.auditor))


def _rows(client: Client) -> str:
    page = client.get(LIST).content.decode()
    return page[page.find('id="result_list"') :]


INVALID: list[tuple[str, str, dict[str, str], int]] = [
    ("auditor", "what_if", {"name": "x"}, 403),
    ("first", "verify", {"casino": "another"}, 403),
    ("first", "verify", {"casino": "*"}, 403),
    ("first", "what_if", {"casino": "*", "name": "x"}, 403),
    ("first", "export", {}, 405),
    ("first", "nothing", {}, 405),
    ("first", "verify", {"first_day": "tomorrow"}, 302),
    ("first", "verify", {"last_day": "2026-02-30"}, 302),
    ("first", "what_if", {"name": ""}, 302),
    ("first", "what_if", {"name": "x", "readings": "payout_unit"}, 302),
    ("first", "what_if", {"name": "x", "readings": "no_such_reading=1"}, 302),
    ("first", "what_if", {"name": "x", "ruleset": "uk-roulette"}, 302),
]


def test_an_invalid_request_is_refused(desk: Desk) -> None:
    Casino.objects.get_or_create(code="another", defaults={"name": "Another"})
    before = Job.objects.count()
    wrong = []
    for who, kind, form, status in INVALID:
        client = client_of(getattr(desk, who))
        answer = client.post(f"{LIST}start/{kind}/", {"casino": desk.tenant.code, **form})
        shows_an_error = status != 302 or 'class="error"' in client.get(LIST).content.decode()
        if (answer.status_code, Job.objects.count(), shows_an_error) != (status, before, True):
            wrong.append((who, kind, form, answer.status_code, Job.objects.count() - before, shows_an_error))
    assert wrong == []


def test_a_character_that_no_database_takes_is_left_out_of_a_name(desk: Desk) -> None:
    job = started_job(client_of(desk.first), "what_if", casino=desk.tenant.code, name="x\0")
    assert job.params["name"] == "x"


def test_an_officer_has_a_limited_number_of_open_jobs(desk: Desk) -> None:
    for _ in range(5):
        started_job(client_of(desk.first), "verify", casino=desk.tenant.code)
    answer = client_of(desk.first).post(f"{LIST}start/verify/", {"casino": desk.tenant.code})
    assert answer["Location"] == LIST
    assert Job.objects.filter(officer=desk.first).count() == 5
    started_job(client_of(desk.second), "verify", casino=desk.tenant.code)


def test_a_duration_is_written_in_words() -> None:
    texts = [duration(seconds) for seconds in (0.4, 1, 59, 61, 3_599, 7_300)]
    assert texts == ["0 seconds", "1 second", "59 seconds", "1 minute", "60 minutes", "2 hours"]
