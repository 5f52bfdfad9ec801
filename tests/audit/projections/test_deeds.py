"""Complaints, promoted runs, ended processes, requests about accounts, erasures: forged by SQL, and named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from audit.access import accounts
from audit.adjudication import promotion
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.casework import attachments, complaints, information, session_closing
from audit.casework.complaints import Entered
from audit.ledger.equipment import WHEEL, take_apart
from audit.models import LedgerProcess, Person, Role, WhatIf
from audit.persons.directory_file import import_file
from audit.persons.erasure import erase
from audit.projections.accounts import wrong_requests
from audit.projections.attachments import wrong_attachments
from audit.projections.complaints import wrong_complaints
from audit.projections.deeds import wrong_ends, wrong_erasures, wrong_promotions
from audit.projections.faults import WrongRow
from audit.projections.information import wrong_information
from audit.projections.session_closings import wrong_closings
from audit.transparency import kept_findings
from audit.transparency.integrity_findings import integrity_finding
from tests import citus
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.corrections.corrections_desk import replayed
from tests.audit.desk.findings.test_attachments import PDF

pytestmark = [pytest.mark.django_db, pytest.mark.superuser]

TABLES = (
    *("audit_complaint", "audit_complaintanswer", "audit_whatif", "audit_ledgerprocess", "audit_accountrequest"),
    *("audit_erasedperson", "audit_person", "audit_attachment"),
)


class Deeds:
    """A casino in which officers did each of these things once."""

    def __init__(self) -> None:
        self.desk = Desk()
        self.casino = self.desk.tenant.casino
        self.director = hired(self.desk.tenant, Role.DIRECTOR, "director")
        self.keeper = hired(self.desk.tenant, Role.ADMINISTRATOR, "keeper")
        self._complaints()
        self._information()
        self._promotion()
        self._process()
        self._requests()
        self._erasure()
        self._closing()
        self._files()

    def _complaints(self) -> None:
        entered = Entered(self.desk.stream, 3, time(21, 5), "letter", "I was not paid", player="p-1")
        self.complaint = complaints.enter(self.desk.first, entered).pk
        complaints.answer(self.complaint, self.desk.second, "founded", "the camera shows it", amount=1250)
        self.waiting = complaints.enter(self.desk.first, Entered(self.desk.stream, 4, time(22), "cage", "too late")).pk

    def _information(self) -> None:
        stream, rule = self.desk.stream, "wager-near-call"
        integrity_finding(stream, rule, 2, occurred_at=timezone.now(), facts={}).save()
        kept_findings.keep({}, [stream.pk], [rule])
        day = stream.gaming_day
        ids = information.unsigned([self.casino.pk], day, day).values_list("pk", flat=True)
        information.sign(self.desk.first, self.casino.pk, day, information.digest_of(ids))

    def _promotion(self) -> None:
        selection = Selection(self.casino.code, None, None, None, ())
        run = what_if_runs.begin("again", readings={}, selection=selection, actor=self.desk.first.username)
        for stream_id in what_if_runs.streams_of(run):
            what_if_runs.replay_one(run, stream_id)
        what_if_runs.end(run)
        promotion.promote(WhatIf.objects.get(pk=run.pk), self.desk.third)
        self.run = run.pk
        self.other_run = what_if_runs.begin("other", readings={}, selection=selection, actor="x").pk

    def _process(self) -> None:
        values: dict[str, Any] = {
            "casino": self.casino,
            "null": "fair",
            "state": b"",
            "wealth": 1,
            "highest": 1,
            "opening": 1,
            "year": 2026,
            "alpha": "1/1000",
            "first_day": "2026-11-19",
        }
        names = {"wheel-pockets": "w-7", "wheel-sectors": "w-8"}
        self.processes = [
            LedgerProcess.objects.create(name=f"{kind}:{subject}", kind=kind, subject=subject, **values).pk
            for kind, subject in names.items()
        ]
        kind = next(iter(WHEEL))
        LedgerProcess.objects.filter(pk=self.processes[0]).update(kind=kind)
        take_apart(self.director, self.casino, "wheel", "w-7", reason="new bearings")

    def _requests(self) -> None:
        request = accounts.propose_role(
            self.keeper, self.desk.first, self.casino, Role.SECOND, reason="two years with us"
        )
        assert request is not None
        self.request = request.pk
        accounts.approve(self.desk.administrator, request.pk)
        self.declined = accounts.propose_email(self.keeper, self.desk.auditor, "new@example.org", reason="moved").pk
        accounts.decline(self.desk.administrator, self.declined, reason="not known")
        self.open = accounts.propose_factor_reset(self.keeper, self.desk.auditor, reason="lost").pk

    def _erasure(self) -> None:
        raw = b"code,kind,name\np1,player,Ann Somebody\np2,player,Bea Somebody\n"
        import_file(self.casino, raw, actor="keeper", dry_run=False)
        erase(self.keeper, Person.objects.get(casino=self.casino, code="p1"), reason="asked for it")

    def _closing(self) -> None:
        """Have officers close the session, once a first proposal was withdrawn."""
        desk = self.desk
        for is_approved in (False, True):
            closing = session_closing.propose(desk.first, desk.stream, float_minor=4_990_100, reason="it burned out")
            if is_approved:
                session_closing.approve(desk.second, closing, reason="counted again")
            else:
                session_closing.withdraw(desk.first, closing, reason="to be counted again")
        replayed(desk.stream.pk)

    def _files(self) -> None:
        """Attach two files to a case, and erase the second."""
        kept, erased = (attachments.attach(self.desk.first, self.desk.case, f"{name}.pdf", PDF) for name in "ab")
        attachments.erase(self.desk.second, erased, "the court asked")
        self.file, self.erased_file = kept.pk, erased.pk

    def faults(self) -> list[str]:
        own = self.casino.pk
        found: Iterator[WrongRow]
        texts = []
        checks = (
            *(wrong_complaints, wrong_information, wrong_promotions, wrong_ends, wrong_erasures, wrong_closings),
            wrong_attachments,
        )
        for check in checks:
            found = check(own)
            texts += [f"{each.part}: {each.what}" for each in found]
        return texts + [f"{each.part}: {each.what}" for each in wrong_requests() if self._is_own(each.what)]

    def _is_own(self, what: str) -> bool:
        """Return whether a fault is of this test: the log keeps entries of tests that have committed."""
        officers = [self.desk.first.pk, self.desk.auditor.pk]
        requests = [self.request, self.declined, self.open]
        return any(f"officer {pk}" in what for pk in officers) or any(f"request {pk} " in what for pk in requests)


@pytest.fixture(scope=citus.MODULE)
def deeds(_committed_before: None) -> Deeds:
    return Deeds()


def test_what_officers_did_holds(deeds: Deeds) -> None:
    assert deeds.faults() == []


def test_an_id_that_is_entered_again_after_its_erasure_holds(deeds: Deeds) -> None:
    form = {"casino": deeds.casino.pk, "code": "p1", "kind": "player", "name": "New", "card_or_licence": "", "note": ""}
    assert client_of(deeds.keeper).post("/admin/audit/person/add/", form).status_code == 302
    assert deeds.faults() == []


COMPLAINT = {
    "casino_id": "{other}", "seq": "2", "clock": "'20:00'", "wager": "'w2'", "player": "'p-9'", "came": "'mail'",
    "words": "'I was paid'", "entered_by_id": "{second}", "entered_at": "'2020-01-01'", "deadline": "'2030-01-01'",
    "stream_id": "1", "table_id": "{other}",
}  # fmt: skip
ANSWER = {
    "outcome": "'unfounded'", "amount": "1", "paid_seq": "3", "words": "'no'", "answered_by_id": "{first}",
    "answered_at": "'2020-01-01'", "complaint_id": "{waiting}",
}  # fmt: skip
PROMOTED = {
    "promoted_at": "null",
    "promoted_by": "'somebody'",
    "engine_version": "'1'",
    "name": "'x'",
    "casino_id": "null",
}
ENDED = {"ended_at": "'2020-01-01'", "ended_by": "'somebody'", "ended_reason": "'worn'", "name": "'x'"}
REQUEST = {
    "kind": "'email'", "officer_id": "{second}", "casino_id": "null", "role": "'director'", "reason": "'x'",
    "state": "'declined'", "proposed_by_id": "{second}", "proposed_at": "'2020-01-01'", "decided_by_id": "{second}",
    "decided_at": "'2020-01-01'", "is_first": "true",
}  # fmt: skip
ERASED = {
    "casino_id": "{other}", "code": "'p2'", "kind": "'croupier'", "reason": "'x'", "erased_by_id": "{second}",
    "erased_at": "'2020-01-01'",
}  # fmt: skip

FILE = {
    "id": "{other}", "case_id": "{other}", "officer_id": "{second}", "at": "at - interval '1 second'",
    "name": "'c.pdf'", "kind": "'png'", "size": "size + 1", "sha256": "repeat('0', 64)",
    "content": "content || '\\x00'", "erased_at": "now()", "erased_by_id": "{second}",
}  # fmt: skip
ERASED_FILE = {
    **FILE, "content": "'\\x00'", "erased_at": "erased_at - interval '1 second'", "erased_by_id": "{first}",
}  # fmt: skip

ATTACKS = {
    **{
        f"{table}.{column}": f"update audit_{table} set {column} = {value} where id = {{{row}}}"
        for table, row, columns in [
            ("complaint", "complaint", COMPLAINT),
            ("whatif", "run", PROMOTED),
            ("ledgerprocess", "ended", ENDED),
            ("accountrequest", "request", REQUEST),
        ]
        for column, value in columns.items()
    },
    **{
        f"answer.{column}": f"update audit_complaintanswer set {column} = {value} where complaint_id = {{complaint}}"
        for column, value in ANSWER.items()
    },
    **{
        f"erasedperson.{column}": f"update audit_erasedperson set {column} = {value} where casino_id = {{own}}"
        for column, value in ERASED.items()
    },
    **{
        f"{row}.{column}": f"update audit_attachment set {column} = {value} where id = {{{row}}}"
        for row, columns in (("file", FILE), ("erased_file", ERASED_FILE))
        for column, value in columns.items()
    },
    "a file of another content, with its hash": "update audit_attachment set content = '\\x00', size = 1,"
    " sha256 = encode(sha256('\\x00'), 'hex') where id = {file}",
    "a file erased past the code": "update audit_attachment set content = null, name = '', erased_at = now(),"
    " erased_by_id = {second} where id = {file}",
    "an erased file that is back": "update audit_attachment e set content = f.content, erased_at = null,"
    " erased_by_id = null from audit_attachment f where f.id = {file} and e.id = {erased_file}",
    "a file deleted": "delete from audit_attachment where id = {file}",
    "an erased file deleted": "delete from audit_attachment where id = {erased_file}",
    "a file added": "insert into audit_attachment (case_id, officer_id, at, name, kind, size, sha256, content)"
    " select case_id, officer_id, at, name, kind, size, sha256, content from audit_attachment where id = {file}",
    "a complaint deleted": "delete from audit_complaint where id = {waiting}",
    "an answer deleted": "delete from audit_complaintanswer where complaint_id = {complaint}",
    "an answer added": "insert into audit_complaintanswer (outcome, words, answered_at, answered_by_id, complaint_id)"
    " values ('unfounded', 'no', now(), {second}, {waiting})",
    "a complaint added": "insert into audit_complaint (casino_id, table_id, stream_id, seq, clock, wager, player, came,"
    " words, entered_by_id, entered_at, deadline) select casino_id, table_id, stream_id, seq, clock, wager, player,"
    " came, 'more', entered_by_id, entered_at, deadline from audit_complaint where id = {complaint}",
    "a run promoted by nobody": "update audit_whatif set promoted_at = now(), promoted_by = 'x' where id = {other_run}",
    "a promoted run deleted": "delete from audit_whatif where id = {run}",
    "a process ended by nobody": "update audit_ledgerprocess set ended_at = now() where id = {goes_on}",
    "a process ended in somebody's name": "update audit_ledgerprocess set ended_at = now(), ended_by = 'x',"
    " ended_reason = 'y' where id = {goes_on}",
    "a process goes on again": "update audit_ledgerprocess set ended_at = null, ended_by = '', ended_reason = ''"
    " where id = {ended}",
    "an ended process deleted": "delete from audit_ledgerprocess where id = {ended}",
    "a request approved by nobody": "update audit_accountrequest set state = 'approved', decided_by_id = {second},"
    " decided_at = now() where id = {open}",
    "a declined request approved": "update audit_accountrequest set state = 'approved' where id = {declined}",
    "a request deleted": "delete from audit_accountrequest where id = {open}",
    "a decided request deleted": "delete from audit_accountrequest where id = {request}",
    "a request added": "insert into audit_accountrequest (kind, officer_id, casino_id, role, email, reason, state,"
    " proposed_by_id, proposed_at, is_first) select 'reactivation', {auditor}, null, '', '', 'x', 'waiting',"
    " {second}, now(), false",
    "an erasure deleted": "delete from audit_erasedperson where casino_id = {own}",
    "an erasure added": "insert into audit_erasedperson (casino_id, code, kind, reason, erased_by_id, erased_at)"
    " values ({own}, 'p9', 'player', 'x', {second}, now())",
    "an erased name put back": "insert into audit_person (casino_id, code, kind, name, card_or_licence, note)"
    " values ({own}, 'p1', 'player', 'Ann Somebody', '', '')",
}


def test_a_forged_row_is_named(deeds: Deeds) -> None:
    unguarded()
    names = names_of(deeds)
    missed = []
    for what, statement in ATTACKS.items():
        with transaction.atomic():
            forge(statement.format(**names))
            if not deeds.faults():
                missed.append(what)
            transaction.set_rollback(True)
    assert missed == []
    assert deeds.faults() == []


def names_of(deeds: Deeds) -> dict[str, object]:
    """Return what the braces in an attack stand for."""
    desk = deeds.desk
    return {
        "own": deeds.casino.pk, "other": 10**9, "first": desk.first.pk, "second": desk.second.pk,
        "auditor": desk.auditor.pk, "complaint": deeds.complaint, "waiting": deeds.waiting, "run": deeds.run,
        "other_run": deeds.other_run, "ended": deeds.processes[0], "goes_on": deeds.processes[1],
        "file": deeds.file, "erased_file": deeds.erased_file,
        "request": deeds.request, "declined": deeds.declined, "open": deeds.open,
    }  # fmt: skip


def unguarded() -> None:
    """Drop what would stop a superuser: the triggers, checks and unique indexes of the tables attacked."""
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")
        for table in TABLES:
            cursor.execute(f"alter table {table} disable trigger user")
        cursor.execute(
            "select conrelid::regclass::text, conname from pg_constraint"
            " where conrelid = any(%s::regclass[]) and contype in ('c', 'u')",
            [list(TABLES)],
        )
        for table, name in cursor.fetchall():
            cursor.execute(f'alter table {table} drop constraint "{name}" cascade')
        cursor.execute(
            "select indexrelid::regclass::text from pg_index"
            " where indrelid = any(%s::regclass[]) and indisunique and not indisprimary",
            [list(TABLES)],
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"drop index {name}")


def forge(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        cursor.execute(statement)
        assert cursor.rowcount > 0
        cursor.execute("set local session_replication_role = origin")
