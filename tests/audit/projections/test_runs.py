"""Runs and snapshots that somebody alters, and what is slipped in between two entries of a session."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection

from audit.models import AdjudicationRun, Finding, RunState
from tests import citus
from tests.audit.corrections.corrections_desk import replayed
from tests.audit.projections.record import Casino, faults
from tests.audit.projections.test_casinos import forge, named_after
from tests.audit.tables import dice_touched_wrongly, touched_for
from tests.audit.transparency.sealed import seal
from tests.long_forms import in_short

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

RUN = "update audit_adjudicationrun set {} where stream_id = {{decided}} and number = 2"
SNAPSHOT = "update audit_adjudication set {} where stream_id = {{decided}}"

ALTERED = {
    "a superseded run deleted": "delete from audit_adjudicationrun where stream_id = {decided} and number = 1",
    "a later version of the register": RUN.format("register_version = register_version + 7"),
    "corrections that it did not know": RUN.format("corrections_through = corrections_through + 1"),
    "an approval that nobody gave": RUN.format("approved = '{{}}'"),
    "a run that goes on": RUN.format("state = 'running'"),
    "a run of another casino": RUN.format("casino_id = {other}"),
}

SNAPSHOTS = {
    "a cursor": SNAPSHOT.format("cursor = cursor - 1"),
    "a cursor at the beginning": SNAPSHOT.format("cursor = 0"),
    "what is remembered": SNAPSHOT.format("state = convert_to(replace(convert_from(state, 'UTF8'), '1', '2'), 'UTF8')"),
    "what cannot be read": SNAPSHOT.format("state = 'x'"),
    "the digest of the readings": SNAPSHOT.format("readings_digest = 'x'"),
    "the engine": SNAPSHOT.format("engine_version = '1'"),
    "a snapshot deleted": "delete from audit_adjudication where stream_id = {decided}",
    "what is remembered to note": SNAPSHOT.format("memory = replace(memory::text, '74727565', '66616c7365')::bytea"),
    "a memory that cannot be read": SNAPSHOT.format("memory = 'x'"),
    "what is noted": "update audit_retiredwagers set notes = notes || notes where run_id = {run}",
    "notes deleted": "update audit_retiredwagers set notes = '' where run_id = {run}",
    "notes that cannot be read": "update audit_retiredwagers set notes = 'x' where run_id = {run}",
    "retired wagers deleted": "delete from audit_retiredwagers where run_id = {run}",
}


class Read:
    """A casino with a session that was read twice, and another."""

    def __init__(self) -> None:
        self.casino, self.other = Casino(), Casino()
        self.decided = self.casino.corrected("decided")
        self.casino.desk.approved(self.decided)
        replayed(self.decided)
        seal()
        run = AdjudicationRun.objects.get(stream=self.decided, number=2)
        self.names = {"decided": self.decided, "other": self.other.casino.pk, "run": run.pk}

    def named_after(self, statement: str, *, deep: bool = False) -> str:
        return named_after(partial(forge, statement, **self.names), deep=deep)


@pytest.fixture(scope=citus.MODULE)
def read(_committed_before: None) -> Read:
    read = Read()
    assert faults(deep=True) == []
    return read


@pytest.mark.parametrize("what", in_short(ALTERED, every=3))
def test_a_run_that_is_altered_is_named(read: Read, what: str) -> None:
    assert f"run of {read.casino.name('decided')}: " in read.named_after(ALTERED[what])


@pytest.mark.parametrize("what", in_short(SNAPSHOTS, every=3))
def test_a_snapshot_that_is_altered_is_named(read: Read, what: str) -> None:
    found = read.named_after(SNAPSHOTS[what], deep=True)
    assert f"session of {read.casino.name('decided')}" in found
    assert "snapshot" in found


FORGED = (
    "insert into audit_finding (seq, rule, wager, ruleset, engine_version, readings_digest, gaming_day, occurred_at,"
    " evidence, expected, recorded, provision, facts, currency, after_loss, opened_at, casino_id, stream_id, table_id,"
    " player, croupier, provisions, causes, difference, owed, run_id, severity, status, stood_at, superseded_at)"
    " select seq, rule, 'w{n}', ruleset, engine_version, readings_digest, gaming_day, occurred_at, evidence, expected,"
    " recorded, provision, facts, currency, after_loss, opened_at, casino_id, stream_id, table_id, player, croupier,"
    " provisions, causes, difference, owed, run_id, 'critical', 'superseded', clock_timestamp(), clock_timestamp()"
    " from audit_finding where stream_id = {stream} order by id limit 1"
)


def test_findings_that_a_worker_takes_over_as_it_reads_anew_are_named() -> None:
    """The entry of its next step is of all that is stored: it says, too, what was stored before it."""
    casino = Casino()
    stream = casino.name("touched")
    events = dice_touched_wrongly(casino.tenant, stream)
    assert casino.tenant.post(stream, events).status_code == 201
    stream_id = casino.tenant.stream(stream).stream_id
    replayed(stream_id)
    seal()
    assert faults() == []
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        for number in range(20):
            cursor.execute(FORGED.format(n=number, stream=stream_id))
        cursor.execute("set local session_replication_role = origin")
    assert casino.tenant.post(stream, [touched_for(events, "examine", seq=9)]).status_code == 201
    replayed(stream_id)
    seal()
    assert AdjudicationRun.objects.filter(stream=stream_id, state=RunState.COMPLETE).exists()
    assert Finding.objects.filter(stream=stream_id).count() >= 20
    assert "what was stored before entry" in " ".join(map(str, faults()))
