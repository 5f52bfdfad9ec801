"""A person is erased: every table of the database, every page and every file has the id from then on, and no name."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import time
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.db import DatabaseError, connection, transaction
from django.urls import reverse

from audit.access.database_roles import OPERATOR, WEB, WORKER
from audit.casework import actions
from audit.casework.actions import ActionRefused
from audit.casework.complaints import Entered, enter
from audit.event_store import audit_trail
from audit.evidence.export import export
from audit.jobs import kinds, runner
from audit.jobs.queue import enqueue
from audit.models import (
    ErasedPerson,
    Finding,
    Job,
    JobKind,
    JobState,
    NightSubscriber,
    Person,
    Quarantined,
    Role,
    SavedView,
)
from audit.notifications.mail import send
from audit.persons.directory_file import import_file
from audit.persons.erasure import ErasureRefused, erase
from audit.projections.verify import verify_derived
from audit.reconciliation.versions import add_signoff_exception, missing_signoff_exceptions, sign
from tests.audit.casework.test_actions import Desk, client_of, hired
from tests.audit.desk.persons.test_names_on_pages import NamedNight
from tests.audit.reconciliation.played import MORNING
from tests.audit.tables import Tenant
from tests.audit.transparency.sealed import seal, verified
from tests.roles import acting_as

pytestmark = pytest.mark.django_db

NAME, CARD, NOTE = "Zébulon Quintefeuille", "KARTE-99881", "prefers the corner seat"
LIST = reverse("admin:audit_person_changelist")
REASON = "Art. 17 GDPR, letter of 3 December"


def words_in(text: str) -> set[str]:
    """Return what of the person a text has, in whatever letters and as JSON in ASCII."""
    sought, folded = (*NAME.split(), CARD, NOTE), text.casefold()
    return {word for word in sought if word.casefold() in folded or json.dumps(word)[1:-1].casefold() in folded}


def readable(raw: bytes) -> str:
    """Return bytes as text, of a ZIP the text of its files."""
    if raw[:4] == b"PK\3\4":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "\n".join(readable(archive.read(name)) for name in archive.namelist())
    return raw.decode("utf-8", "replace")


def every_table() -> Iterator[tuple[str, str]]:
    """Yield every table of the database with its rows as text: what pg_dump writes, with bytes decoded."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace"
            " where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1"
        )
        for (table,) in cursor.fetchall():
            with connection.cursor() as rows:
                rows.execute(f"select t::text from {table} t")
                text = "\n".join(row for (row,) in rows.fetchall())
            bodies = [readable(bytes.fromhex(found)) for found in re.findall(r"\\x((?:[0-9a-f]{2}){8,})", text)]
            yield table, "\n".join([text, *bodies])


def tables_with_the_name() -> dict[str, set[str]]:
    found = {table: words for table, text in every_table() if (words := words_in(text))}
    sessions = str([each.get_decoded() for each in Session.objects.all()])
    return found | ({"sessions": words_in(sessions)} if words_in(sessions) else {})


class Lived:
    """A player with all that leaves a trace: findings and cases, a complaint, a signed night, exports, refusals."""

    def __init__(self) -> None:
        self.night = NamedNight()
        self.casino = self.night.casino
        self.officer = hired(self.night.tenant, Role.OFFICER, "officer")
        self.second = hired(self.night.tenant, Role.SECOND, "second")
        self.director = hired(self.night.tenant, Role.DIRECTOR, "director")
        self.keeper = hired(self.night.tenant, Role.ADMINISTRATOR, "keeper")
        self.finding = Finding.objects.filter(stream_id=self.night.stream_id, rule="colour-shared", status="standing")[
            0
        ]
        self.person = Person.objects.get(casino=self.casino, code=self.finding.facts["owner"])
        self.code = self.person.code
        self.client = client_of(self.officer)
        change = {"kind": "player", "name": NAME, "card_or_licence": CARD, "note": NOTE}
        assert client_of(self.keeper).post(f"{LIST}{self.person.pk}/change/", change).status_code == 302
        self.person.refresh_from_db()
        assert self.person.name == NAME

    def live(self) -> None:
        self._cases()
        self._sign()
        self._exports()
        self._refused()
        subscriber = hired(self.night.tenant, Role.OFFICER, "subscriber")
        subscriber.email = "s@example.org"
        subscriber.save()
        row = NightSubscriber.objects.create(casino=self.casino, officer=subscriber, language="fr")
        data = {"id": row.pk, **row.stated()}
        audit_trail.record("keeper", "nightsubscriber.added", casino_id=self.casino.pk, data=data)
        for address in self.pages():
            self.client.get(address)
        view = {"name": "one player", "query": "q=quintefeuille", "shared": "on"}
        self.client.post(reverse("admin:audit_view_save"), view)
        seal()

    def _cases(self) -> None:
        actions.perform(self.finding.case_id, self.officer, "take")
        actions.perform(self.finding.case_id, self.officer, "comment", reason=f"{self.code} left at 22:00")
        actions.perform(self.finding.case_id, self.officer, "propose", reason="seen on video", outcome="confirmed")
        actions.perform(self.finding.case_id, self.second, "approve")
        form = {
            "table": str(self.finding.table_id),
            "day": f"{self.finding.gaming_day:%Y-%m-%d}",
            "clock": "22:00",
            "came": "letter",
            "player": NAME,
            "words": "I was not paid",
        }
        self.client.post(reverse("admin:audit_complaint_add"), form)

    def _sign(self) -> None:
        report = self.night.report
        for code in missing_signoff_exceptions(report):
            add_signoff_exception(report, code, "known", officer=self.officer)
        sign(report, officer=self.second, now=MORNING)
        sign(report, officer=self.director, now=MORNING)

    def _exports(self) -> None:
        params = {"findings": [self.finding.pk], "form": "xlsx", "said": [f"search: {NAME}"], "language": "en"}
        self.export = enqueue(JobKind.EXPORT, self.officer, None, params)
        self.held = enqueue(JobKind.SUBJECT, self.officer, self.casino, {"family": "player", "code": self.code})
        other = {"findings": [self.finding.pk], "form": "json", "said": [], "language": "en"}
        self.of_ids = enqueue(JobKind.EXPORT, self.officer, None, other)
        for job in (self.export, self.held, self.of_ids):
            runner.run(job.pk)
            job.refresh_from_db()
            assert (job.state, bool(job.file)) == (JobState.DONE, True), job.error
        self.client.post(f"/admin/audit/finding/export/csv/?q={NAME}")
        self.client.post(f"{LIST}export/xlsx/?q={NAME}")
        export(self.finding, actor="test")

    def _refused(self) -> None:
        for named in (json.dumps({"player": NAME}), json.dumps({"player": NAME.upper()}, ensure_ascii=False)):
            self.night.tenant.send("refused", f'[{{"stream": "refused", "seq": 1, "data": {named}}}]'.encode())

    def pages(self) -> list[str]:
        return [
            *self.night.pages().values(),
            "/admin/",
            LIST,
            f"{LIST}?q={self.code}",
            "/admin/audit/finding/",
            reverse("admin:audit_finding_change", args=(self.finding.pk,)),
            reverse("admin:audit_person_player", args=(self.casino.pk, self.code)),
            reverse("admin:audit_person_money", args=(self.casino.pk, "2026-11-19", self.code)),
            reverse("admin:audit_complaint_changelist"),
            reverse("admin:audit_job_changelist"),
        ]

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield what an officer who may see names can download, as text."""
        for form in ("csv", "xlsx", "json"):
            listed = self.client.post(f"/admin/audit/finding/export/{form}/?rule=colour-shared")
            yield f"findings.{form}", readable(listed.content)
        for name in ("xlsx", "json"):
            address = reverse("admin:audit_nightreport_file", args=(self.night.report.pk, "all", name))
            yield f"night.{name}", readable(self.client.get(address).content)
        yield "directory", readable(client_of(self.keeper).post(f"{LIST}export/csv/").content)
        yield "evidence", readable(export(self.finding, actor="test").raw)
        mail.outbox.clear()
        send(self.night.report)
        yield "mails", str([(each.subject, each.body) for each in mail.outbox])


@pytest.fixture
def lived() -> Lived:
    lived = Lived()
    lived.live()
    return lived


@pytest.mark.superuser
def test_an_erased_person_is_an_id_in_every_table_page_and_file(lived: Lived) -> None:
    before = tables_with_the_name()
    assert {"public.audit_person", "public.audit_job", "public.audit_quarantined", "public.audit_savedview"} <= set(
        before
    )
    assert words_in(lived.client.get(lived.pages()[-4]).content.decode())
    assert any(words_in(text) for _name, text in lived.files())
    page = client_of(lived.keeper).get(f"{LIST}{lived.person.pk}/delete/").content.decode()
    assert lived.code in page
    assert client_of(lived.keeper).post(f"{LIST}{lived.person.pk}/delete/", {"reason": REASON}).status_code == 302
    assert tables_with_the_name() == {}
    for address in lived.pages():
        assert not words_in(lived.client.get(address).content.decode()), address
    for name, text in lived.files():
        assert not words_in(text), name
    assert not words_in(lived.client.get(f"{LIST}?q={lived.code}").content.decode())
    seal()
    assert tables_with_the_name() == {}, "and what was looked at since holds no name either"
    for job in (lived.export, lived.held, lived.of_ids):
        job.refresh_from_db()
    assert (lived.export.file, lived.held.file) == (None, None)
    assert lived.export.params["said"] == []
    assert lived.of_ids.file, "it never held a name"
    assert Quarantined.objects.filter(casino=lived.casino, stream="refused").exclude(body=b"").count() == 0
    row = ErasedPerson.objects.get(casino=lived.casino)
    assert (row.code, row.reason, row.erased_by) == (lived.code, REASON, lived.keeper)
    found = verified(decisions=[lived.casino.pk])
    assert verify_derived(lived.casino.pk, found, deep=True).faults == [], "the record holds"


def test_a_worker_that_has_read_the_name_stores_no_file_with_it(lived: Lived, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "REPORT_EVERY_S", 3_600.0)
    was = kinds.KINDS[JobKind.EXPORT]

    def erased_meanwhile(job: Job, report: kinds.Progress) -> kinds.JobResult:
        done = was(job, report)
        erase(lived.keeper, lived.person, reason=REASON)
        return done

    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, JobKind.EXPORT: erased_meanwhile})
    params = {"findings": [lived.finding.pk], "form": "csv", "said": [], "language": "en"}
    job = enqueue(JobKind.EXPORT, lived.officer, None, params)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.file) == (JobState.WAITING, None)
    monkeypatch.setattr(kinds, "KINDS", {**kinds.KINDS, JobKind.EXPORT: was})
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE
    assert not words_in(readable(bytes(job.file or b"")))


REFUSED: dict[str, str] = {
    "no reason": "  ",
    "the name": f"{NAME} asked for it",
    "a part of the name in capitals": "QUINTEFEUILLE asked",
    "the card": f"holder of {CARD}",
}


@pytest.mark.parametrize("reason", REFUSED.values(), ids=REFUSED)
def test_a_reason_that_is_missing_or_names_the_person_is_refused(reason: str) -> None:
    tenant = Tenant()
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    person = Person.objects.create(
        casino=tenant.casino, code="p1", kind="player", name=NAME, card_or_licence=CARD, note=NOTE
    )
    with pytest.raises(ErasureRefused):
        erase(keeper, person, reason=reason)
    page = client_of(keeper).post(f"{LIST}{person.pk}/delete/", {"reason": reason})
    assert page.status_code == 200
    assert Person.objects.filter(pk=person.pk).exists()


def test_a_name_is_seen_in_a_reason_with_half_a_character_in_it() -> None:
    tenant = Tenant()
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    person = Person.objects.create(casino=tenant.casino, code="p1", kind="player", name=NAME)
    with pytest.raises(ErasureRefused):
        erase(keeper, person, reason="Quinte\ud800feuille asked")


@pytest.mark.parametrize("role", [each for each in Role if each != Role.ADMINISTRATOR])
def test_only_who_keeps_the_directory_erases(role: Role) -> None:
    tenant = Tenant()
    person = Person.objects.create(casino=tenant.casino, code="p1", kind="player", name=NAME)
    other = hired(tenant, role, "other")
    with pytest.raises(ErasureRefused):
        erase(other, person, reason=REASON)
    assert client_of(other).post(f"{LIST}{person.pk}/delete/", {"reason": REASON}).status_code in (302, 403, 404)
    assert Person.objects.filter(pk=person.pk).exists()
    assert not ErasedPerson.objects.filter(casino=tenant.casino).exists()


@pytest.mark.parametrize("role", [WEB, WORKER, OPERATOR])
def test_no_role_deletes_from_the_directory_in_another_way(role: str) -> None:
    tenant = Tenant()
    person = Person.objects.create(casino=tenant.casino, code="p1", kind="player", name=NAME)
    with pytest.raises(DatabaseError), transaction.atomic(), acting_as(role):
        person.delete()
    with pytest.raises(DatabaseError), transaction.atomic(), acting_as(role), connection.cursor() as cursor:
        cursor.execute("insert into audit_erasedperson (casino_id, code) values (1, 'x')")


def test_an_id_that_was_erased_is_not_taken_from_a_file_and_may_be_entered_by_hand() -> None:
    tenant = Tenant()
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    person = Person.objects.create(casino=tenant.casino, code="p1", kind="player", name=NAME)
    erase(keeper, person, reason=REASON)
    old = f"code,kind,name\np1,player,{NAME}\np1,croupier,Ida\n".encode()
    report = import_file(tenant.casino, old, actor="keeper", dry_run=False)
    assert (report.added, [each.line for each in report.refused]) == (["p1"], [2])
    assert not Person.objects.filter(casino=tenant.casino, name=NAME).exists()
    form: dict[str, Any] = {"casino": tenant.casino.pk, "code": "p1", "kind": "player", "name": "Somebody Else"}
    assert client_of(keeper).post(f"{LIST}add/", {**form, "card_or_licence": "", "note": ""}).status_code == 302
    again = import_file(tenant.casino, b"code,kind,name\np1,player,Somebody Elsewhere\n", actor="keeper", dry_run=False)
    assert again.changed == ["p1"]


def test_saved_views_of_others_stay() -> None:
    tenant = Tenant()
    keeper = hired(tenant, Role.ADMINISTRATOR, "keeper")
    person = Person.objects.create(casino=tenant.casino, code="p1", kind="player", name="Ann Lee")
    kept = [
        SavedView.objects.create(officer=keeper, name=name, query=query)
        for name, query in [("open", "queue=open"), ("planned", "q=p1"), ("table", "q=annex&table=3")]
    ]
    SavedView.objects.create(officer=keeper, name="hers", query="q=Ann+Le")
    SavedView.objects.create(officer=keeper, name="Lee", query="queue=open")
    assert erase(keeper, person, reason=REASON).views == 2
    assert list(SavedView.objects.filter(officer=keeper).order_by("pk")) == kept


def test_a_complaint_names_an_id_and_never_a_name() -> None:
    desk = Desk()
    with pytest.raises(ActionRefused):
        enter(desk.first, Entered(desk.stream, 1, time(22), "letter", "unpaid", player="Jean Dupont"))
    assert enter(desk.first, Entered(desk.stream, 1, time(22), "letter", "unpaid", player="p-1")).player == "p-1"
