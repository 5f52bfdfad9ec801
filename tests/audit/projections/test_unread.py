"""A session that nobody reads, because somebody says that it was read: ``verify`` names it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction

from audit.adjudication import replay
from audit.models import Adjudication, LeafCursor
from audit.tasks import sweep
from tests.audit.projections.forgers import unguarded
from tests.audit.projections.record import Casino, faults, of_a_session
from tests.audit.tables import dice_changed_in_mid_series
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

READ = (
    "insert into audit_adjudication (stream_id, engine_version, ruleset, readings_digest, known_ids, cursor, next_seq,"
    " events, state, closed, updated_at)"
    " select {stream}, '1', '', '', '{{}}', {last}, {last} + 1, {last}, '', true, now()"
)
"""Says of a session that another version of the engine has read it to its end."""


def unread(casino: Casino, name: str, *, closed: bool = True) -> int:
    """Record a session with findings that nobody has read yet. Return its stream's id."""
    stream = casino.name(name)
    events = dice_changed_in_mid_series(casino.tenant, stream)
    events = of_a_session(casino.tenant.opener(stream), events, closed=closed)
    assert casino.tenant.post(stream, events).status_code == 201
    seal()
    return casino.tenant.stream(stream).stream_id


def last_of(stream_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute("select next_seq - 1 from log.stream_head where stream_id = %s", [stream_id])
        return int(cursor.fetchone()[0])


def execute(statement: str) -> None:
    unguarded()
    with connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0, statement


def test_a_session_that_is_said_to_be_read_and_was_not_is_named() -> None:
    stream_id = unread(Casino(), "closed")
    execute(READ.format(stream=stream_id, last=last_of(stream_id)))
    assert ["no entry says so" in str(fault) for fault in faults()] == [True]


def test_a_session_that_is_said_to_be_read_beyond_its_end_is_named() -> None:
    casino = Casino()
    stream_id = casino.played("open", closed=False)
    seal()
    assert faults() == []
    execute(f"update audit_adjudication set next_seq = next_seq + 100 where stream_id = {stream_id}")
    assert ["ends at event" in str(fault) for fault in faults()] == [True]


def test_a_session_that_nobody_has_read_for_a_day_is_named() -> None:
    stream_id = unread(Casino(), "closed")
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=23)):
        assert faults() == []
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=25)):
        assert ["nobody has adjudicated it" in str(fault) for fault in faults()] == [True]
        replay.advance(stream_id)
        assert faults() == []


def test_a_session_that_is_being_read_anew_is_not_overdue() -> None:
    casino = Casino()
    stream_id = casino.played("closed")
    with time_machine.travel(datetime.now(UTC) + timedelta(days=3)):
        adjudication = Adjudication.objects.select_related("run").get(stream=stream_id)
        assert adjudication.run is not None
        with transaction.atomic():
            assert replay._begin_another_run(adjudication, adjudication.run, replay.RunCause.REGISTER)
        seal()
        assert faults() == []


def test_an_open_session_that_was_read_and_in_which_nothing_was_found_needs_no_entry() -> None:
    casino = Casino()
    stream = casino.name("quiet")
    assert casino.tenant.post(stream, [casino.tenant.opener(stream)]).status_code == 201
    replay.advance(casino.tenant.stream(stream).stream_id)
    seal()
    assert faults() == []


def test_a_session_is_read_whatever_somebody_says_of_the_leaves() -> None:
    """The cursor over the leaves is a hint: the sweep asks each session how far it was read."""
    stream_id = unread(Casino(), "closed")
    LeafCursor.objects.update_or_create(id=1, defaults={"next_leaf": 2**40})
    sweep()
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from audit_waitingstream where stream_id = %s", [stream_id])
        assert cursor.fetchone() == (1,)
