"""The archive of a log on a Citus cluster. What is archived stays so there: each test has a log of its own."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from audit.archive import months
from audit.archive.files import BadArchive
from audit.event_store import cluster, read
from audit.event_store.append import MonthClosed
from audit.event_store.archived import StreamArchived
from audit.models import ArchivedMonth
from tests import citus
from tests.audit.archive.years import MONTH, PLAYED, Years, stored, verified
from tests.audit.event_store.test_cluster import APPEND_ONLY, cluster_moves, refused, shard, superuser_at, worker_of
from tests.audit.event_store.test_cluster_changes import drain, rebalance, replace
from tests.audit.reconciliation.played import record, session
from tests.audit.transparency.sealed import seal

pytestmark = [
    citus.ON_A_CLUSTER,
    pytest.mark.superuser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("own_log"),
]


NEXT = date(1992, 4, 12)
"""A day of the month after it."""


def seqs(stream_id: int) -> list[int]:
    return [seq for seq, _envelope in read.whole(stream_id)]


def may_make_tables() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "select bool_or(has_schema_privilege('cabochon_owner', each, 'create'))"
            " from unnest(array['log', 'log_node']) each"
        )
        return bool(cursor.fetchone()[0])


def test_a_month_goes_into_the_archive_comes_back_and_goes_again_and_everything_holds_at_each_step(
    years: Years,
) -> None:
    stream_id = years.play(PLAYED)
    before = seqs(stream_id)
    other = years.play(NEXT)
    assert len(before) > 20
    assert verified().faults == []
    assert months.why_it_stays(MONTH) == []
    for takes_out in (months.archive, months.detach):
        assert takes_out(MONTH).state == "archived"
        assert stored(stream_id) == 0
        with pytest.raises(StreamArchived):
            seqs(stream_id)
        seal()
        assert verified().faults == []
        _no_shard_takes_or_loses_an_event(stream_id, is_here=False)
        assert months.attach(MONTH).state == "attached"
        assert seqs(stream_id) == before
        seal()
        assert verified().faults == []
        _no_shard_takes_or_loses_an_event(stream_id, is_here=True)
    assert not may_make_tables()
    assert len(seqs(other)) > 20
    assert verified().faults == []


def _no_shard_takes_or_loses_an_event(stream_id: int, *, is_here: bool) -> None:
    """On the worker itself, by a superuser; and every shard of every node has its triggers, and says so."""
    assert cluster.unprotected() == []
    name, _host, _port = shard(f"event_{MONTH:%Y%m}", stream_id)
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


def test_an_archived_month_takes_no_more_events(years: Years) -> None:
    years.play(PLAYED)
    months.archive(MONTH)
    with pytest.raises(MonthClosed):
        record(years.casino, session(years.casino, "R9", day=PLAYED, coups=1))


def test_a_swap_that_has_to_wait_too_long_leaves_the_month_as_it_was(years: Years) -> None:
    stream_id = years.play(PLAYED)
    before = seqs(stream_id)
    with superuser_at(citus.COORDINATOR) as other, other.transaction():
        other.execute(f"lock table log.event_{MONTH:%Y%m} in access share mode")
        with pytest.raises(months.ArchiveRefused, match="the database refused"):
            months.archive(MONTH)
    assert seqs(stream_id) == before
    assert not ArchivedMonth.objects.filter(month=MONTH).exists()
    assert not may_make_tables()
    assert verified().faults == []


def test_a_file_that_was_altered_is_not_attached(years: Years, folder: Path) -> None:
    stream_id = years.play(PLAYED)
    before = seqs(stream_id)
    months.archive(MONTH)
    altered = folder / f"cabochon-{MONTH:%Y-%m}.ndjson.gz"
    whole = altered.read_bytes()
    altered.write_bytes(whole[:-20])
    with pytest.raises(BadArchive):
        months.attach(MONTH)
    assert stored(stream_id) == 0
    altered.write_bytes(whole)
    months.attach(MONTH)
    assert seqs(stream_id) == before
    assert months.why_not_destroyed(MONTH) == ["the month is attached: detach it first"]


def test_two_officers_destroy_a_month_and_every_hash_stays(years: Years, folder: Path) -> None:
    stream_id = years.play(PLAYED)
    months.archive(MONTH)
    row = months.destroy(MONTH, [years.second, years.director], "its retention is over")
    assert (row.state, list(folder.glob("*.gz"))) == ("destroyed", [])
    with pytest.raises(StreamArchived, match="destroyed under entry"):
        seqs(stream_id)
    seal()
    assert verified().faults == []


def test_a_month_whose_shards_move_comes_back_goes_again_and_is_destroyed(years: Years, folder: Path) -> None:
    stream_id = years.play(PLAYED)
    before = seqs(stream_id)
    for step, is_here in ((months.archive, False), (months.attach, True), (months.detach, False)):
        step(MONTH)
        with superuser_at(citus.COORDINATOR) as coordinator:
            source = shard("event", stream_id)[1:]
            workers = [(str(at.hostname), int(at.port or 0)) for at in map(urlsplit, citus.nodes()[1:])]
            [target] = [worker for worker in workers if worker != source]
            cluster_moves(coordinator, stream_id, source, target)
        assert shard("event", stream_id)[1:] == target
        assert stored(stream_id) == (len(before) if is_here else 0)
        _no_shard_takes_or_loses_an_event(stream_id, is_here=is_here)
        seal()
        assert verified().faults == []
    months.destroy(MONTH, [years.second, years.director], "its retention is over")
    seal()
    assert verified().faults == []


def test_a_worker_that_is_new_takes_what_is_left_of_archived_months(years: Years) -> None:
    stream_id = years.play(PLAYED)
    before = seqs(stream_id)
    other = years.play(NEXT)
    of_other = seqs(other)
    for month in (MONTH, NEXT.replace(day=1)):
        months.archive(month)
    months.attach(NEXT.replace(day=1))
    node = citus.nodes()[-1]
    with superuser_at(citus.COORDINATOR) as coordinator:
        drain(coordinator, node)
        months.attach(MONTH)
        replace(coordinator, node)
        with pytest.raises(months.ArchiveRefused, match=r"run manage\.py distribute"):
            months.detach(MONTH)
        assert seqs(stream_id) == before
        citus.manage(citus.ROOT, citus.database_of(citus.COORDINATOR, connection.settings_dict["NAME"]), "distribute")
        rebalance(coordinator, node)
    _no_shard_takes_or_loses_an_event(stream_id, is_here=True)
    months.detach(MONTH)
    _no_shard_takes_or_loses_an_event(stream_id, is_here=False)
    seal()
    assert verified().faults == []
    months.attach(MONTH)
    assert (seqs(stream_id), seqs(other)) == (before, of_other)
    assert not may_make_tables()
    assert verified().faults == []
