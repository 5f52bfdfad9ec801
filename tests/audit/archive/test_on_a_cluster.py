"""The archive of a log on a Citus cluster. What is archived stays so there: each test has a month of its own."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from django.db import connection

from audit.archive import months
from audit.archive.conditions import first_of_next
from audit.archive.files import BadArchive
from audit.event_store import cluster, read
from audit.event_store.append import MonthClosed
from audit.event_store.archived import StreamArchived
from audit.models import ArchivedMonth
from tests import citus
from tests.audit.archive.years import Years, stored
from tests.audit.event_store.test_cluster import APPEND_ONLY, faults_of, refused, shard, superuser_at, worker_of
from tests.audit.reconciliation.played import record, session
from tests.audit.transparency.sealed import seal

pytestmark = [citus.ON_A_CLUSTER, pytest.mark.superuser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def month(db: None) -> date:
    """The first day of a month in which nobody has played, nor in the one after it."""
    with connection.cursor() as cursor:
        cursor.execute("select max(gaming_day) from log.stream where gaming_day between '2000-01-01' and '2019-01-01'")
        newest = cursor.fetchone()[0] or date(2000, 1, 1)
    return first_of_next(first_of_next(newest.replace(day=1)))


def seqs(stream_id: int) -> list[int]:
    return [seq for seq, _envelope in read.whole(stream_id)]


def may_make_tables() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select has_schema_privilege('cabochon_owner', 'log', 'create')")
        return bool(cursor.fetchone()[0])


def test_a_month_goes_into_the_archive_comes_back_and_goes_again_and_everything_holds_at_each_step(
    years: Years, month: date
) -> None:
    stream_id = years.play(month.replace(day=12))
    before = seqs(stream_id)
    other = years.play(first_of_next(month).replace(day=12))
    assert len(before) > 20
    assert faults_of(stream_id) == []
    assert months.why_it_stays(month) == []
    for takes_out in (months.archive, months.detach):
        assert takes_out(month).state == "archived"
        assert stored(stream_id) == 0
        with pytest.raises(StreamArchived):
            seqs(stream_id)
        seal()
        assert faults_of(stream_id) == []
        _no_shard_takes_or_loses_an_event(stream_id, month, is_here=False)
        assert months.attach(month).state == "attached"
        assert seqs(stream_id) == before
        seal()
        assert faults_of(stream_id) == []
        _no_shard_takes_or_loses_an_event(stream_id, month, is_here=True)
    assert not may_make_tables()
    assert len(seqs(other)) > 20
    assert faults_of(other) == []


def _no_shard_takes_or_loses_an_event(stream_id: int, month: date, *, is_here: bool) -> None:
    """On the worker itself, by a superuser; and every shard of every node has its triggers, and says so."""
    assert cluster.unprotected() == []
    name, _host, _port = shard(f"event_{month:%Y%m}", stream_id)
    with worker_of(stream_id) as worker:
        for change in (f"update {name} set seq = seq", f"delete from {name}") if is_here else ():
            assert refused(worker, f"{change} where stream_id = {stream_id}") == APPEND_ONLY
        assert refused(worker, f"truncate {name}") == APPEND_ONLY
        row = f"values ({stream_id}, 9999, now(), '{{}}')"
        assert refused(worker, f"insert into {name} (stream_id, seq, occurred_at, envelope) {row}") == "ES410"
        worker.execute("set session_replication_role = replica")
        assert refused(worker, f"insert into {name} (stream_id, seq, occurred_at, envelope) {row}") == "ES410"
        for (trigger,) in worker.execute(
            "select tgenabled from pg_trigger where tgrelid = %s::regclass and not tgisinternal", (name,)
        ).fetchall():
            assert trigger == "A"


def test_an_archived_month_takes_no_more_events(years: Years, month: date) -> None:
    years.play(month.replace(day=12))
    months.archive(month)
    with pytest.raises(MonthClosed):
        record(years.casino, session(years.casino, "R9", day=month.replace(day=12), coups=1))


def test_a_swap_that_has_to_wait_too_long_leaves_the_month_as_it_was(years: Years, month: date) -> None:
    stream_id = years.play(month.replace(day=12))
    before = seqs(stream_id)
    with superuser_at(citus.COORDINATOR) as other, other.transaction():
        other.execute(f"lock table log.event_{month:%Y%m} in access share mode")
        with pytest.raises(months.ArchiveRefused, match="the database refused"):
            months.archive(month)
    assert seqs(stream_id) == before
    assert not ArchivedMonth.objects.filter(month=month).exists()
    assert not may_make_tables()
    assert faults_of(stream_id) == []


def test_a_file_that_was_altered_is_not_attached(years: Years, folder: Path, month: date) -> None:
    stream_id = years.play(month.replace(day=12))
    before = seqs(stream_id)
    months.archive(month)
    altered = folder / f"cabochon-{month:%Y-%m}.ndjson.gz"
    whole = altered.read_bytes()
    altered.write_bytes(whole[:-20])
    with pytest.raises(BadArchive):
        months.attach(month)
    assert stored(stream_id) == 0
    altered.write_bytes(whole)
    months.attach(month)
    assert seqs(stream_id) == before
    assert months.why_not_destroyed(month) == ["the month is attached: detach it first"]


def test_two_officers_destroy_a_month_and_every_hash_stays(years: Years, folder: Path, month: date) -> None:
    stream_id = years.play(month.replace(day=12))
    months.archive(month)
    row = months.destroy(month, [years.second, years.director], "its retention is over")
    assert (row.state, list(folder.glob("*.gz"))) == ("destroyed", [])
    with pytest.raises(StreamArchived, match="destroyed under entry"):
        seqs(stream_id)
    seal()
    assert faults_of(stream_id) == []
