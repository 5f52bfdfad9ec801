"""Entries that somebody hides, moves or dates back: the log says what happened, and in which order.

Each is of SQL, by a superuser with every guard off, who sees to it that all that is sealed stays as it was.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import time_machine
from django.db import connection

from audit.event_store import audit_trail, merkle
from audit.models import FIRST_SANDBOX_ID, Role
from audit.projections.takeover import keep_settings
from tests.audit.casework.test_actions import hired
from tests.audit.projections.forgers import unguarded
from tests.audit.projections.record import Casino, faults
from tests.audit.tables import Tenant
from tests.audit.transparency.forger import unguard
from tests.audit.transparency.sealed import seal

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

ROLE = "insert into audit_officer_casinos (officer_id, casino_id, role) values ({officer}, {casino}, 'director')"


def execute(statement: str, *params: object) -> None:
    unguarded()
    with connection.cursor() as cursor:
        unguard(cursor)
        cursor.execute("set local session_replication_role = replica")
        cursor.execute(statement, params)
        assert cursor.rowcount > 0, statement
        cursor.execute("set local session_replication_role = origin")


def unchecked() -> None:
    """Drop the constraints by which the id of a stream says its day, and that it is none of a sandbox."""
    with connection.cursor() as cursor:
        unguard(cursor)
        cursor.execute("select conname from pg_constraint where conrelid = 'log.stream'::regclass and contype = 'c'")
        for (name,) in cursor.fetchall():
            cursor.execute(f'alter table log.stream drop constraint "{name}"')


def hide(casino_id: int, day: str, envelope: bytes) -> None:
    """Store an entry in a stream of officers' entries among the streams of sandboxes, which is never sealed."""
    stream_id = FIRST_SANDBOX_ID + 7
    root = merkle.root([merkle.leaf(envelope)])
    chain = merkle.chain(merkle.NO_CHAIN, root, first_seq=1, count=1)
    unchecked()
    with connection.cursor() as cursor:
        for statement, params in (
            (
                "insert into log.stream (stream_id, casino_id, name, gaming_day, currency, is_of_desk)"
                " values (%s, %s, %s, %s, '', true)",
                [stream_id, casino_id, f"desk:{day}", day],
            ),
            ("insert into log.stream_head (stream_id, next_seq, chain) values (%s, 2, %s)", [stream_id, chain]),
            (
                "insert into log.batch (stream_id, first_seq, last_seq, next_seq, count, root, chain, key_id)"
                " values (%s, 1, 1, 2, 1, %s, %s, 0)",
                [stream_id, root, chain],
            ),
            (
                "insert into log.event (stream_id, seq, occurred_at, envelope) values (%s, 1, %s, %s)",
                [stream_id, f"{day} 12:00+00", envelope.decode()],
            ),
        ):
            cursor.execute(statement, params)


def test_an_entry_among_the_streams_of_sandboxes_proves_nothing_and_is_named() -> None:
    """There nobody verifies it, and it can be deleted when it has served."""
    casino = Casino()
    stranger = hired(Tenant(), Role.AUDITOR, "stranger")
    keep_settings()
    seal()
    assert faults() == []
    entry = {
        "actor": "ada",
        "data": {"officer": stranger.get_username(), "role": "director"},
        "occurred_at": "2026-11-20T12:00:00.000000Z",
        "seq": 1,
        "stream": "desk:2026-11-20",
        "type": "membership.given",
        "v": 1,
    }
    hide(casino.casino.pk, "2026-11-20", msgspec.json.encode(entry, order="sorted"))
    execute(ROLE.format(officer=stranger.pk, casino=casino.casino.pk))
    found = " ".join(map(str, faults()))
    assert "desk:2026-11-20: is among those of sandboxes" in found
    assert f"{stranger.get_username()} is director at {casino.tenant.code}, and no entry says so" in found


def test_a_session_of_a_casino_among_the_streams_of_sandboxes_is_named() -> None:
    casino = Casino()
    unchecked()
    execute(
        "insert into log.stream (stream_id, casino_id, table_id, name, gaming_day, game, ruleset, currency, is_of_desk)"
        " values (%s, %s, %s, 'hidden', '2026-11-20', 'craps', 'casino-craps', 'EUR', false)",
        *(FIRST_SANDBOX_ID + 7, casino.casino.pk, casino.tenant.table.pk),
    )
    assert "stream of hidden: is among those of sandboxes, and is none of a sandbox's" in map(str, faults())


def test_entries_that_are_put_into_another_order_are_named() -> None:
    """A role that was taken away on the second day is given again, if the second day comes before the first."""
    casino = Casino()
    officer = casino.auditor
    with time_machine.travel(datetime.now(UTC) + timedelta(days=1), tick=True):
        audit_trail.record(
            "ada", "membership.removed", casino_id=casino.casino.pk, data={"officer": officer.get_username()}
        )
        tomorrow = datetime.now(UTC).date()
    seal()
    assert "and entry" in " ".join(map(str, faults())), "the role that was taken away stands"
    unchecked()
    execute(
        "update log.stream set gaming_day = '2020-01-02' where casino_id = %s and is_of_desk and gaming_day = %s",
        *(casino.casino.pk, tomorrow),
    )
    found = [str(fault) for fault in faults()]
    assert f"stream of desk:{tomorrow}: is not of the day that its name says" in found


@pytest.mark.parametrize("days", [-40, 4])
def test_an_entry_of_another_day_than_that_on_which_it_was_written_is_named(days: int) -> None:
    """Whoever has taken over a web server, or the database, may write an entry: but only as of now."""
    casino = Casino()
    with time_machine.travel(datetime.now(UTC) + timedelta(days=days), tick=True):
        audit_trail.record("ada", "night.closed", casino_id=casino.casino.pk, data={"gaming_day": "2026-10-01"})
    seal()
    assert any("its entries are dated days from when they were received" in str(fault) for fault in faults())


def test_an_entry_of_a_host_whose_clock_is_wrong_by_a_day_holds() -> None:
    casino = Casino()
    with time_machine.travel(datetime.now(UTC) - timedelta(hours=26), tick=True):
        audit_trail.record("ada", "case.viewed", casino_id=casino.casino.pk, data={"case": 1})
    seal()
    assert faults() == []
