"""The space of sandboxes in the log: what is in it, what is not, and that nothing else can ever be deleted."""

from __future__ import annotations

from datetime import date

import psycopg
import pytest
from django.db import Error, connection, transaction

from audit.access import sandboxes
from audit.adjudication.replay import advance
from audit.event_store.append import open_stream
from audit.models import FIRST_SANDBOX_ID, Casino, Finding, LoggedStream, Quarantined
from audit.transparency.verify import verify
from tests import citus
from tests.audit.event_store.test_immutability import APPEND_ONLY, refused, superuser  # noqa: F401
from tests.audit.tables import Tenant, dice_touched_wrongly

OTHER_SPACE = "ES403"


@pytest.fixture
def sandbox(db: None) -> Tenant:
    return Tenant("try-out", tables=("T1", "C1"), is_sandbox=True)


def rows(statement: str, *values: object) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def test_a_stream_of_a_sandbox_is_apart_and_never_waits_for_a_seal(sandbox: Tenant, stream: str) -> None:
    assert sandbox.send(stream, sandbox.session(stream, 5)).status_code == 201
    assert sandbox.send(stream, sandbox.session(stream, 8)).status_code == 201
    logged = sandbox.stream(stream)
    assert logged.is_of_sandbox
    assert logged.stream_id >= FIRST_SANDBOX_ID
    for table, count in (("event", 8), ("batch", 2)):
        partition = f"select tableoid::regclass::text, count(*) from log.{table} where stream_id = %s group by 1"
        [(stored_in, found)] = rows(partition, logged.pk)
        assert (citus.table_of(str(stored_in)), found) == (f"log.{table}_sandbox", count)
    assert rows("select count(*) from log.outbox where stream_id = %s", logged.pk) == [(0,)]


def test_a_stream_of_a_casino_waits_for_its_seal(tenant: Tenant, stream: str) -> None:
    assert tenant.send(stream, tenant.session(stream, 5)).status_code == 201
    assert rows("select count(*) from log.outbox where stream_id = %s", tenant.stream(stream).pk) == [(1,)]


@pytest.mark.parametrize("is_of_sandbox", [False, True])
def test_the_database_opens_no_stream_in_the_other_space(db: None, is_of_sandbox: bool) -> None:
    tenant = Tenant("other", is_sandbox=not is_of_sandbox)
    opened = {"name": "s", "gaming_day": date(2026, 11, 19), "game": None, "ruleset": None, "currency": "EUR"}
    with pytest.raises(Error) as error, transaction.atomic():
        open_stream(casino_id=tenant.casino.pk, table_id=None, is_of_sandbox=is_of_sandbox, **opened)  # type: ignore[arg-type]
    assert isinstance(error.value.__cause__, psycopg.Error)
    assert error.value.__cause__.sqlstate == OTHER_SPACE


def test_emptying_takes_what_was_recorded_and_found_and_leaves_the_entry(sandbox: Tenant, stream: str) -> None:
    assert sandbox.send(stream, dice_touched_wrongly(sandbox, stream)).status_code == 201
    assert sandbox.send(stream, [{"stream": stream}]).status_code == 422
    advance(sandbox.stream(stream).pk)
    assert Finding.objects.standing().filter(casino=sandbox.casino).exists()
    assert Quarantined.objects.filter(casino=sandbox.casino).exists()
    before = sandbox.stream(stream).pk
    emptied = sandboxes.empty(sandbox.casino, reason="second try")
    assert (emptied.streams, emptied.events) == (1, 8)
    assert emptied.findings >= 1
    for table in ("audit_finding", "audit_adjudicationrun", "audit_quarantined"):
        assert rows(f"select count(*) from {table} where casino_id = %s", sandbox.casino.pk) == [(0,)], table
    for table in ("log.event", "log.batch", "log.stream", "log.stream_head", "audit_adjudication"):
        assert rows(f"select count(*) from {table} where stream_id = %s", before) == [(0,)], table
    entries = rows(
        "select e.envelope ->> 'type', e.envelope -> 'data' ->> 'reason' from log.event e"
        " join log.stream s using (stream_id) where s.casino_id = %s and s.is_of_desk",
        sandbox.casino.pk,
    )
    assert entries == [("sandbox.emptied", "second try")]
    # The same name begins anew, under an id that no row of a worker can still have.
    assert sandbox.send(stream, sandbox.session(stream, 3)).json()["first_seq"] == 1
    assert sandbox.stream(stream).pk > before


def test_a_casino_cannot_be_emptied(tenant: Tenant, sandbox: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 5))
    with pytest.raises(sandboxes.NotEmptied, match="not a sandbox"):
        sandboxes.empty(tenant.casino)
    lying = Casino.objects.get(pk=tenant.casino.pk)
    lying.is_sandbox = True
    with pytest.raises(sandboxes.NotEmptied, match="does not know"):
        sandboxes.empty(lying)
    assert LoggedStream.objects.filter(casino=tenant.casino, name=stream).exists()


@pytest.mark.superuser
def test_whether_a_casino_is_a_sandbox_never_changes(tenant: Tenant, sandbox: Tenant, superuser: None) -> None:  # noqa: F811
    for each in (tenant, sandbox):
        statement = f"update audit_casino set is_sandbox = not is_sandbox where id = {each.casino.pk}"
        assert refused(statement) == "23514"
        assert refused(statement, before="set local session_replication_role = replica") == "23514"


@pytest.mark.superuser
def test_nobody_deletes_in_a_sandbox_but_by_emptying_it(sandbox: Tenant, stream: str, superuser: None) -> None:  # noqa: F811
    sandbox.send(stream, sandbox.session(stream, 5))
    stream_id = sandbox.stream(stream).pk
    for role in ("cabochon_owner", None):
        for table in ("event", "event_sandbox", "batch", "batch_sandbox", "stream", "stream_head"):
            statement = f"delete from log.{table} where stream_id = {stream_id}"
            assert refused(statement, role=role) == APPEND_ONLY, (table, role)
            off = "set local session_replication_role = replica"
            assert refused(statement, before=off) == APPEND_ONLY, table
            assert refused(f"truncate log.{table} cascade", role=role) == APPEND_ONLY, table
        update = f"update log.event set occurred_at = now() where stream_id = {stream_id}"
        assert refused(update, role=role) == APPEND_ONLY


@pytest.mark.superuser
def test_no_emptying_reaches_another_casino(sandbox: Tenant, tenant: Tenant, stream: str, superuser: None) -> None:  # noqa: F811
    """Not even with the row that opens it written by hand, for the casino itself or for another sandbox."""
    tenant.send(stream, tenant.session(stream, 5))
    other = Tenant("try-out-2", tables=("C1",), is_sandbox=True)
    other.send(stream, other.session(stream, 5))
    for casino in (sandbox.casino.pk, tenant.casino.pk):
        opened = f"insert into log.emptied (casino_id, streams, events, last_number) values ({casino}, 0, 0, 0)"
        for untouched in (tenant, other):
            for table in ("event", "batch", "stream", "stream_head"):
                statement = f"delete from log.{table} where stream_id = {untouched.stream(stream).pk}"
                assert refused(statement, before=opened) == APPEND_ONLY, (table, casino)
    assert refused(f"select log.empty_sandbox({tenant.casino.pk})") == "ES403"
    for role in ("cabochon_web", "cabochon_worker", "cabochon_operator"):
        assert refused(f"select log.empty_sandbox({sandbox.casino.pk})", role=role) == "42501"


def test_a_verified_log_stays_so_with_a_sandbox_and_without_it(sandbox: Tenant, tenant: Tenant, stream: str) -> None:
    tenant.send(stream, tenant.session(stream, 5))
    before = verify([], with_tree=False)
    sandbox.send(stream, sandbox.session(stream, 5))
    joined = verify([], with_tree=False)
    assert (joined.faults, joined.events) == (before.faults, before.events)
    sandboxes.empty(sandbox.casino)
    assert verify([], with_tree=False).faults == before.faults
