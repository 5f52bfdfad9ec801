"""Months that were played, counted, worked on and signed to the end: what can go into the archive."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.db import connection

import settlement
from audit.adjudication.replay import advance
from audit.casework import actions
from audit.ledger import feeding
from audit.models import Case, Role
from audit.models.cases import State
from audit.projections.verify import verify_derived
from audit.reconciliation import runs
from audit.reconciliation.versions import add_signoff_exception, missing_signoff_exceptions, sign
from audit.transparency import signing_keys
from audit.transparency.outcome import Outcome
from audit.transparency.verify import verify
from tests.audit.casework.test_actions import hired
from tests.audit.reconciliation.played import buy_ins, count, record, session
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal

MONTH = date(1992, 3, 1)
"""A month that no other test plays in."""

PLAYED = date(1992, 3, 12)


@dataclass
class Years:
    """One casino, its officers, and the sessions that it has played, by stream id."""

    tenant: Tenant = field(default_factory=Tenant)
    streams: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.casino = self.tenant.casino
        self.officer = hired(self.tenant, Role.OFFICER, "olga")
        self.second = hired(self.tenant, Role.SECOND, "sam")
        self.director = hired(self.tenant, Role.DIRECTOR, "dora")

    def play(self, day: date = PLAYED, *, coups: int = 4) -> int:
        """Play a night of one table, count it, read it, feed it, close its cases, sign it. Return the stream's id."""
        code = f"R{day:%Y%m%d}"
        events = self._irregular(code, day, coups)
        stream_id = record(self.casino, events)
        counted = record(self.casino, count(self.casino, {events[0]["stream"]: buy_ins(events)}, day=day))
        self.streams.append(stream_id)
        seal()
        self.adjudicate(stream_id, counted)
        self.finish(day)
        return stream_id

    def _irregular(self, code: str, day: date, coups: int) -> list[dict[str, Any]]:
        """Return a session in which a player is paid too much: what is drawn depends on the casino's code, too."""
        for seed in range(1, 100):
            events = session(self.casino, code, day=day, coups=coups, seed=seed, irregularities=["payout-overpaid"])
            found = settlement.adjudicate(map(json.dumps, events)).findings
            if any(each.rule == "payout-overpaid" for each in found):
                return list(events)
        raise AssertionError("nobody is paid too much")

    def adjudicate(self, *streams: int) -> None:
        """Read streams to their ends."""
        for each in streams:
            while (progress := advance(each)) is not None and progress.behind:
                continue

    def finish(self, day: date) -> None:
        """Feed, reconcile, close every case and sign the night of a day."""
        feeding.feed(self.casino)
        morning = datetime(day.year, day.month, day.day, 8, tzinfo=UTC) + timedelta(days=1)
        reports = runs.reconcile(self.casino, day, actor="beat", now=morning)
        self.close_cases()
        reports = runs.reconcile(self.casino, day, actor="beat", now=morning) or reports
        for report in reports:
            for code in missing_signoff_exceptions(report):
                add_signoff_exception(report, code, f"{code}: explained in the file", officer=self.second)
            sign(report, officer=self.second, now=morning)
            sign(report, officer=self.director, now=morning)
        feeding.feed(self.casino)
        seal()

    def close_cases(self) -> None:
        """Have two officers close every case of the casino."""
        for case in Case.objects.filter(casino=self.casino).exclude(state=State.CLOSED):
            actions.perform(case.pk, self.officer, "take")
            actions.perform(case.pk, self.officer, "propose", reason="the camera shows it", outcome="explained")
            actions.perform(case.pk, self.second, "approve")

    def case(self) -> Case:
        """Return a case of the casino."""
        return Case.objects.filter(casino=self.casino).earliest("pk")


def archived(*arguments: str, **options: Any) -> str:
    """Run ``manage.py archive``; return what it prints."""
    out = StringIO()
    call_command("archive", *arguments, stdout=out, **options)
    return out.getvalue()


def verified(**options: Any) -> Outcome:
    """Verify the log and what follows from it, as ``manage.py verify`` does."""
    outcome = verify(signing_keys.verifiers("checkpoint"), decisions=[None], **options)
    for fault in verify_derived(None, outcome).faults:
        outcome.add(fault)
    return outcome


def stored(stream_id: int) -> int:
    """Return how many events of a stream are in the database."""
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from log.event where stream_id = %s", (stream_id,))
        return int(cursor.fetchone()[0])


def sizes() -> dict[str, int]:
    """Return the bytes of the partitions of events and of batches, of leaves, and of the whole database on the disk."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select coalesce(sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'event\\_%%'), 0)::bigint,"
            " coalesce(sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'batch\\_%%'), 0)::bigint,"
            " pg_total_relation_size('log.leaf'), pg_database_size(current_database())"
            " from pg_class c where c.relnamespace = 'log'::regnamespace and c.relkind = 'r'"
        )
        return dict(zip(("events", "batches", "leaves", "database"), cursor.fetchone(), strict=True))
