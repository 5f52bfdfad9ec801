"""When a batch was received never goes back between leaves, whatever the clock of the database's host does."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from pytest_django import Settings

from audit.event_store import binary_copy
from audit.transparency import signing_keys, tree
from tests.audit.tables import Tenant
from tests.audit.transparency.forger import rebuild, unguard
from tests.audit.transparency.sealed import seal, several_streams, verified

pytestmark = [pytest.mark.usefixtures("own_database"), pytest.mark.superuser]

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _own_export_folder(settings: Settings, tmp_path: Path) -> None:
    settings.CABOCHON_CHECKPOINTS = [str(tmp_path / "checkpoints")]


def set_clock(ahead: timedelta) -> None:
    """Set the clock of the database's host by as much, as far as ``log.append`` sees it, for this transaction."""
    with connection.cursor() as cursor:
        unguard(cursor)
        cursor.execute(
            "select pg_get_functiondef(p.oid) from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
            " where p.proname = 'append' and n.nspname = 'log'"
        )
        [source] = cursor.fetchone()
        offset = ahead.total_seconds()
        cursor.execute("insert into log_guard.maintenance (reason) values ('a clock')")
        cursor.execute(
            re.sub(
                r"clock_timestamp\(\)( \+ interval '-?[0-9.]+ seconds')?",
                f"clock_timestamp() + interval '{offset} seconds'",
                source,
            )
        )


def received() -> list[datetime]:
    rows = binary_copy.execute(
        "select b.received_at from log.leaf join log.batch b using (stream_id, first_seq) order by log_index", ()
    )
    return [at for (at,) in rows]


def test_leaves_are_in_the_order_in_which_batches_were_received(tenant: Tenant) -> None:
    seal()
    before = tree.size()
    names = [f"s{number}-{tenant.code}" for number in (3, 1, 2)]
    for part in range(3):
        for name in names:
            assert tenant.send(name, tenant.session(name, 3)[part : part + 1]).status_code == 201
    seal()
    new = received()[before:]
    assert new == sorted(new)
    assert verified().faults == []


def test_a_clock_that_is_set_back_dates_nothing_back(tenant: Tenant) -> None:
    """An hour and a half, while a session goes on and others open: all of it holds, and is sealed at once."""
    seal()
    [name] = several_streams(tenant, sizes=[[2]])
    before = tree.size()
    set_clock(timedelta(hours=-1.5))
    assert tenant.send(name, tenant.session(name, 4)[2:]).status_code == 201
    several_streams(tenant, sizes=[[1, 2], [3]])
    assert tree.size() == before + 4, "none waits"
    dates = received()
    assert dates == sorted(dates)
    assert verified().faults == []


def test_what_was_not_sealed_when_the_clock_was_set_back_waits_and_holds(tenant: Tenant) -> None:
    """The sequencer was away; one stream goes on, which is ahead of the clock now, and another opens."""
    seal()
    ahead, other = f"ahead-{tenant.code}", f"other-{tenant.code}"
    set_clock(HOUR)
    assert tenant.send(ahead, tenant.session(ahead, 2)).status_code == 201
    set_clock(timedelta())
    assert tenant.send(ahead, tenant.session(ahead, 4)[2:]).status_code == 201
    assert tenant.send(other, tenant.session(other, 2)).status_code == 201
    seal()
    assert tree.index_of(tenant.stream(other).stream_id, 1) is not None
    assert tree.indexes_of(tenant.stream(ahead).stream_id) == {}, "until the clock is there again"
    assert verified().faults == []
    rows = binary_copy.execute(
        "select received_at from log.batch where stream_id = %b::bigint order by first_seq",
        (tenant.stream(ahead).stream_id,),
    )
    assert rows[0] == rows[1], "a stream's own order is kept"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("received_at - interval '2 hours'", "its batch was received at"),
        ("received_at - interval '5 minutes'", "it was received before the batch before it"),
    ],
)
def test_a_leaf_that_was_sealed_although_it_is_dated_back_is_found(tenant: Tenant, change: str, what: str) -> None:
    """By a superuser with the log's key, who makes all hashes anew."""
    seal()
    [_first, name] = several_streams(tenant, sizes=[[2, 1], [2, 2]])
    assert verified().faults == []
    stream_id = tenant.stream(name).stream_id
    with connection.cursor() as cursor:
        unguard(cursor)
        cursor.execute(
            f"update log.batch set received_at = {change} where stream_id = %s and first_seq = 3", [stream_id]
        )
        cursor.execute(
            "update log.stream_head h set received_at = b.received_at from log.batch b"
            " where h.stream_id = b.stream_id and b.stream_id = %s and b.first_seq = 3",
            [stream_id],
        )
        newest = "select max(b.received_at) from log.leaf join log.batch b using (stream_id, first_seq)"
        cursor.execute(f"update log.clock set received_at = ({newest})")
        rebuild(cursor, stream_id)
    faults = verified().faults
    assert any(what in fault.what for fault in faults), faults


def test_nobody_sets_the_log_s_clock_back(tenant: Tenant) -> None:
    for statement in (
        "update log.clock set received_at = received_at - interval '1 microsecond'",
        "update log.clock set since = since + 1",
        "delete from log.clock",
        "truncate log.clock",
    ):
        with pytest.raises(DatabaseError, match="not allowed"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_key_that_is_rotated_after_the_clock_was_set_back_gives_no_batch_another_receipt(
    tenant: Tenant, is_sealed: bool
) -> None:
    name = f"s-{tenant.code}"
    events = tenant.session(name, 3)
    set_clock(HOUR)
    receipt = tenant.send(name, events).json()
    set_clock(timedelta())
    if is_sealed:
        seal()
    for _ in range(2):
        signing_keys.create("receipt", reason="stolen", at_once=True)
    again = tenant.send(name, events)
    assert (again.status_code, again.json()) == (200, receipt)
