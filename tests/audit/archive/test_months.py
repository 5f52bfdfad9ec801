"""A month into the archive and back: what is proved, what stays, what is said of it."""

from __future__ import annotations

import io
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from audit.adjudication.replay import advance
from audit.archive import conditions, months
from audit.casework import actions
from audit.event_store import audit_trail, read
from audit.event_store.append import MonthClosed
from audit.event_store.archived import StreamArchived
from audit.models import ArchivedMonth, Finding, Job, JobKind, LoggedStream, Officer
from tests.audit.archive.years import MONTH, PLAYED, Years, archived, sizes, stored, verified
from tests.audit.casework.test_actions import client_of
from tests.audit.reconciliation.played import record, session
from tests.audit.tables import numbered
from tests.audit.transparency.sealed import seal
from tests.roles import without_triggers

pytestmark = pytest.mark.superuser


def test_a_month_goes_into_the_archive_comes_back_and_goes_again_and_everything_holds_at_each_step(
    played: Years, folder: Path
) -> None:
    [stream_id] = played.streams
    before, held = stored(stream_id), sizes()
    assert before > 20
    assert verified().faults == []
    assert archived("--before", "1992-04", "--dry-run") == "1992-03 can be archived.\n"
    assert stored(stream_id) == before
    assert "archived in cabochon-1992-03.ndjson.gz" in archived("--before", "1992-04")
    assert stored(stream_id) == 0
    left = sizes()
    assert left["events"] < held["events"]
    seal()
    outcome = verified()
    assert outcome.faults == []
    assert [(each.month.name, each.month.where) for each in outcome.archived.values()] == [
        ("1992-03", "archived in cabochon-1992-03.ndjson.gz")
    ]
    assert "is attached" in archived("--attach", "1992-03")
    assert stored(stream_id) == before
    assert left["events"] < sizes()["events"] < held["events"]
    seal()
    assert verified().faults == []
    assert "in the archive alone" in archived("--detach", "1992-03")
    assert stored(stream_id) == 0
    seal()
    assert verified().faults == []
    assert ArchivedMonth.objects.get(month=MONTH).state == "archived"


def test_what_the_archive_keeps_here_is_batches_leaves_findings_and_the_audit_trail(played: Years) -> None:
    [stream_id] = played.streams
    findings = Finding.objects.filter(stream=stream_id).count()
    archived("--before", "1992-04")
    assert findings == Finding.objects.filter(stream=stream_id).count() > 0
    assert read.batch_holding(stream_id, 1) is not None
    assert Finding.objects.filter(stream=stream_id, case__state="closed").exists()


# What is said of it


def test_whoever_reads_an_archived_stream_is_told_where_it_is_and_not_that_it_is_empty(played: Years) -> None:
    [stream_id] = played.streams
    name = LoggedStream.objects.get(pk=stream_id).name
    archived("--before", "1992-04")
    for reads in (
        lambda: read.slice_of(stream_id, limit=5),
        lambda: read.before(stream_id, seq=5, limit=5),
        lambda: list(read.whole(stream_id)),
        lambda: read.events_at(stream_id, [1]),
        lambda: read.ends_of(stream_id),
        lambda: read.count_from(stream_id, 1, limit=5),
        lambda: read.last_of_type_in([stream_id], "session.closed"),
    ):
        with pytest.raises(StreamArchived, match=r"archived in cabochon-1992-03.*--attach"):
            reads()
    answer = played.tenant.get(f"streams/{name}/events")
    assert (answer.status_code, answer.json()["code"]) == (410, "archived")
    proof = played.tenant.get(f"log/inclusion?stream={name}&seq=1")
    assert (proof.status_code, proof.json()["code"]) == (410, "archived")
    finding = Finding.objects.filter(stream=stream_id).earliest("pk")
    with pytest.raises(CommandError, match="archived in cabochon"):
        call_command("evidence", "--finding", str(finding.pk))
    with pytest.raises(CommandError, match="archived in cabochon"):
        call_command("replay", "--stream", name, "--casino", played.casino.code)
    printed = StringIO()
    call_command("verify", "--stream", name, "--casino", played.casino.code, stdout=printed)
    assert "1992-03 is archived in cabochon-1992-03.ndjson.gz: 1 stream" in printed.getvalue()


def test_the_desk_shows_a_finding_of_an_archived_session_with_its_case_and_says_where_the_events_are(
    played: Years,
) -> None:
    [stream_id] = played.streams
    finding = Finding.objects.filter(stream=stream_id, case__isnull=False).earliest("pk")
    archived("--before", "1992-04")
    client = client_of(played.second)
    page = client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert "cabochon-1992-03.ndjson.gz" in page
    assert "Place a legal hold" in page
    table = client.get(f"/admin/audit/loggedstream/{stream_id}/change/")
    assert table.status_code == 410
    assert "cabochon-1992-03.ndjson.gz" in table.content.decode()
    archived("--attach", "1992-03")
    assert client.get(f"/admin/audit/loggedstream/{stream_id}/change/").status_code == 200
    page = client.get(f"/admin/audit/finding/{finding.pk}/change/").content.decode()
    assert "cabochon-1992-03" not in page


def test_an_archived_stream_takes_no_more_events_nor_does_its_month_while_it_is_attached(played: Years) -> None:
    events = session(played.casino, f"R{PLAYED:%Y%m%d}", day=PLAYED, coups=4, irregularities=["payout-overpaid"])
    [stream_id] = played.streams
    head = read.next_seq_of(stream_id)
    late = numbered(events[0], *[("no_more_bets", {})] * (head - 1))[-1]
    for step in ("--before", "--attach"):
        archived(step, "1992-04" if step == "--before" else "1992-03")
        with pytest.raises(MonthClosed), transaction.atomic():
            record(played.casino, [late])
        with pytest.raises(MonthClosed), transaction.atomic():
            record(played.casino, session(played.casino, "R9", day=PLAYED, coups=1))
    assert read.next_seq_of(stream_id) == head
    sent = played.tenant.post(str(events[0]["stream"]), [late])
    assert (sent.status_code, sent.json()["code"]) == (410, "archived")


def test_nothing_waits_for_an_archived_stream_of_another_version_of_the_engine(played: Years) -> None:
    [stream_id] = played.streams
    archived("--before", "1992-04")
    assert stream_id not in read.dirty_streams("another version", limit=10_000)
    archived("--attach", "1992-03")
    assert stream_id not in read.dirty_streams("another version", limit=10_000), "it is there to be read"


# What keeps a month here


def reasons(played: Years) -> list[str]:
    """Return why the month stays, as the dry run says; the command itself changes nothing then."""
    printed = [
        line.removeprefix("1992-03 stays: ") for line in archived("--before", "1992-04", "--dry-run").splitlines()
    ]
    if printed != ["1992-03 can be archived."]:
        with pytest.raises(CommandError, match="1 month stayed"):
            archived("--before", "1992-04")
    assert not ArchivedMonth.objects.exists()
    return printed


def test_an_open_session_an_unsigned_night_an_unfed_ledger_and_unsealed_batches_keep_a_month(played: Years) -> None:
    day = PLAYED.replace(day=14)
    opened = session(played.casino, "R14", day=day, coups=2)[:-1]
    name = opened[0]["stream"]
    stream_id = record(played.casino, opened)
    found = reasons(played)
    assert f"not sealed: {name}" in found
    assert f"session open: {name}" in found
    assert f"not read to its end: {name}" in found
    assert f"night unsigned: {day} of {played.casino.code}, which has no report" in found
    seal()
    advance(stream_id)
    found = reasons(played)
    assert f"session open: {name}" in found
    assert f"not fed to the ledger: {name}" in found
    assert not any(each.startswith(("not sealed", "not read")) for each in found)


def test_an_open_case_and_a_running_verification_keep_a_month(played: Years) -> None:
    case = played.case()
    assert reasons(played) == ["1992-03 can be archived."]
    actions.perform(case.pk, played.second, "reopen", reason="another camera")
    assert reasons(played) == [f"case open: {case.pk}, {case}"]
    played.close_cases()
    job = Job.objects.create(kind=JobKind.VERIFY, officer=played.second)
    assert reasons(played) == [f"running: the {job}"]


def test_a_month_that_is_not_over_stays() -> None:
    from django.utils import timezone

    this_month = timezone.now().date().replace(day=1)
    assert conditions.reasons_to_stay(this_month, 0, 1) == ["the month is not over"]


def test_a_legal_hold_keeps_a_month_here_and_a_file_from_being_destroyed_until_another_officer_lifts_it(
    played: Years, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = played.case()
    actions.perform(case.pk, played.second, "hold", reason="the prosecutor asked")
    assert reasons(played) == [f"legal hold: on case {case.pk}, {case}"]
    with pytest.raises(actions.ActionRefused, match="Another officer must lift it"):
        actions.perform(case.pk, played.second, "lift_hold", reason="settled")
    with pytest.raises(actions.ActionRefused, match="Your role"):
        actions.perform(case.pk, played.officer, "lift_hold", reason="settled")
    actions.perform(case.pk, played.director, "lift_hold", reason="settled")
    with pytest.raises(actions.ActionRefused, match="not under legal hold"):
        actions.perform(case.pk, played.director, "lift_hold", reason="settled")
    archived("--before", "1992-04")
    actions.perform(case.pk, played.director, "hold", reason="an appeal")
    with pytest.raises(CommandError, match=f"legal hold: on case {case.pk}"):
        destroyed(monkeypatch, played.second, played.director)
    assert verified().faults == []


# Destruction


def destroyed(
    monkeypatch: pytest.MonkeyPatch, *officers: Officer, passwords: str = "x\nx\n", reason: str = "ten years are over"
) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(passwords))
    named = [argument for officer in officers for argument in ("--officer", officer.username)]
    return archived("--destroy", "1992-03", *named, "--reason", reason)


def test_two_officers_destroy_a_file_after_its_retention_and_the_hashes_stay(
    played: Years, folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    [stream_id] = played.streams
    with pytest.raises(CommandError, match="not in the archive"):
        destroyed(monkeypatch, played.second, played.director)
    archived("--before", "1992-04")
    path = folder / "cabochon-1992-03.ndjson.gz"
    settings.CABOCHON_RETENTION_YEARS = 50
    with pytest.raises(CommandError, match="it is kept until 2042-04-01: 50 years"):
        destroyed(monkeypatch, played.second, played.director)
    settings.CABOCHON_RETENTION_YEARS = 10
    with pytest.raises(CommandError, match="Name two officers"):
        destroyed(monkeypatch, played.second, played.second)
    with pytest.raises(CommandError, match="password is wrong"):
        destroyed(monkeypatch, played.second, played.director, passwords="x\nwrong\n")
    with pytest.raises(CommandError, match="may not sign nights"):
        destroyed(monkeypatch, played.second, played.officer)
    with pytest.raises(CommandError, match="Give --reason"):
        destroyed(monkeypatch, played.second, played.director, reason=" ")
    assert path.exists()
    archived("--attach", "1992-03")
    with pytest.raises(CommandError, match="detach it first"):
        destroyed(monkeypatch, played.second, played.director)
    archived("--detach", "1992-03")

    printed = destroyed(monkeypatch, played.second, played.director)
    assert not path.exists()
    assert (folder / "cabochon-1992-03.note").exists()
    row = ArchivedMonth.objects.get(month=MONTH)
    where = f"destroyed under entry {row.entry_seq} of {row.entry_stream}"
    assert where in printed
    seal()
    outcome = verified()
    assert outcome.faults == []
    assert [each.month.where for each in outcome.archived.values()] == [where]
    with pytest.raises(StreamArchived, match="destroyed under entry"):
        read.slice_of(stream_id, limit=1)
    with pytest.raises(CommandError, match="is destroyed, and not archived"):
        archived("--attach", "1992-03")
    assert where in archived("--destroy", "1992-03"), "again, it has nothing to do"


def test_a_copy_that_is_left_of_a_destroyed_file_is_a_fault(
    played: Years, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archived("--before", "1992-04")
    path = folder / "cabochon-1992-03.ndjson.gz"
    copy = path.read_bytes()
    destroyed(monkeypatch, played.second, played.director)
    (tmp_path / path.name).write_bytes(copy)
    with pytest.raises(CommandError, match="is there, and 1992-03 was destroyed under entry"):
        call_command("verify", "--archive", str(tmp_path), stdout=StringIO())


# Verification of what was done by hand


def test_a_month_that_was_taken_away_by_hand_is_missing(played: Years) -> None:
    [stream_id] = played.streams
    drop_by_hand()
    assert stored(stream_id) == 0
    whats = [str(fault) for fault in verified().faults]
    assert any("events are missing" in what for what in whats), whats


def drop_by_hand() -> None:
    with connection.cursor() as cursor:
        cursor.execute("insert into log_guard.maintenance (reason) values ('by hand')")
        cursor.execute("select log.stage_month(%s)", (MONTH,))
        cursor.execute("alter table log.event detach partition log.event_199203")
        cursor.execute("drop table log.event_199203")
        cursor.execute("alter table log.event_199203_next rename to event_199203")
        low, high = months.range_of(MONTH)
        cursor.execute(f"alter table log.event attach partition log.event_199203 for values from ({low}) to ({high})")


FORGED_NOTE = "cabochon.localhost/log\narchive 1992-03\n\n— cabochon.localhost/log AAAA\n"


def forged_row(played: Years, **more: Any) -> dict[str, Any]:
    low, high = months.range_of(MONTH)
    row = {"month": MONTH, "low": low, "high": high, "state": "archived", "file": "cabochon-1992-03.ndjson.gz"}
    row |= {"digest": "0" * 64, "batches": 2, "events": 135, "note": FORGED_NOTE}
    row |= {"archived_at": played.officer.date_joined, "entry_stream": "desk:1992-04-01", "entry_seq": 1}
    return row | more


@pytest.mark.parametrize("state", ["archived", "destroyed"])
def test_a_row_without_an_entry_excuses_nothing(played: Years, state: str) -> None:
    drop_by_hand()
    destroyed_at = played.officer.date_joined if state == "destroyed" else None
    ArchivedMonth.objects.create(**forged_row(played, state=state, destroyed_at=destroyed_at))
    whats = [str(fault) for fault in verified().faults]
    assert any(f"1992-03 is said to be {state}, and no entry says so" in what for what in whats), whats


def test_an_entry_of_destruction_without_the_key_of_checkpoints_is_forged(
    played: Years, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A superuser of the database writes the entry with its row, and has not the key."""
    archived("--before", "1992-04")
    monkeypatch.setattr("audit.archive.notes.sign_destruction", lambda *args, **kwargs: FORGED_NOTE)
    destroyed(monkeypatch, played.second, played.director)
    seal()
    whats = [str(fault) for fault in verified().faults]
    assert any("is said to be destroyed" in what for what in whats), whats


def test_a_row_that_was_altered_is_not_what_its_entry_says(played: Years) -> None:
    archived("--before", "1992-04")
    seal()
    further = {"high": ArchivedMonth.objects.get(month=MONTH).high + 1}
    for change in ({"file": "elsewhere.gz"}, {"digest": "0" * 64}, {"events": 1}, {"state": "attached"}, further):
        before = ArchivedMonth.objects.filter(month=MONTH).values(*change).get()
        with without_triggers():
            ArchivedMonth.objects.filter(month=MONTH).update(**change)
        assert any(fault.part == "archive" for fault in verified().faults), change
        ArchivedMonth.objects.filter(month=MONTH).update(**before)
    assert verified().faults == []
    ArchivedMonth.objects.all().delete()
    assert any("is not in the table" in str(fault) for fault in verified().faults)


def test_the_partition_of_an_archived_month_takes_no_row_by_hand(played: Years) -> None:
    [stream_id] = played.streams
    archived("--before", "1992-04")
    insert = "insert into log.event (stream_id, seq, occurred_at, envelope) values (%s, 1, now(), '{}')"
    refused = pytest.raises(DatabaseError, match="archived, it takes no more events")
    with without_triggers(), connection.cursor() as cursor, refused, transaction.atomic():
        cursor.execute(insert, (stream_id,))


@pytest.mark.parametrize(
    ("error", "is_undecided"),
    [
        (psycopg.OperationalError("the connection is lost"), True),
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.LockNotAvailable(), False),
        (psycopg.errors.RaiseException(), False),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_month_is_said_to_stay_only_where_the_database_has_refused(
    played: Years, monkeypatch: pytest.MonkeyPatch, error: psycopg.Error, is_undecided: bool
) -> None:

    def fails(*args: object, **others: object) -> None:
        raise DatabaseError from error

    monkeypatch.setattr(audit_trail, "perform_command", fails)
    with pytest.raises(CommandError) as refused:
        archived("--before", "1992-04")
    assert ("Run the same again" in str(refused.value)) == is_undecided
    assert not ArchivedMonth.objects.exists()
