"""What the record holds of one id, as a file: who may have it, what is in it, and who else is not."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import time

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.adjudication.replay import advance
from audit.casework import actions, complaints
from audit.casework.complaints import Entered
from audit.event_store import audit_trail, read
from audit.event_store.append import NewEvent, append
from audit.exports.subject import subject_file
from audit.jobs import runner
from audit.models import Finding, Job, JobKind, JobState, LoggedStream, Person, Role
from audit.persons.erasure import erase
from tests.audit.casework.test_actions import client_of, hired
from tests.audit.tables import Tenant, numbered

pytestmark = pytest.mark.django_db

CODE, OTHER = "p0412", "p0777"


class Played:
    """A session in which two players play, the first with a finding, a case and a complaint."""

    def __init__(self) -> None:
        self.tenant = Tenant()
        self.casino = self.tenant.casino
        self.officer = hired(self.tenant, Role.OFFICER, "officer")
        self.keeper = hired(self.tenant, Role.ADMINISTRATOR, "keeper")
        stream = f"held-{self.tenant.code}"
        first = self.tenant.opener(stream, observes=[], croupier="croupier-3")
        events = numbered(
            first,
            ("wager.placed", {"wager": "w1", "bet": "right_bet", "number": 6, "stake": 600, "player": CODE}),
            ("wager.placed", {"wager": "w2", "bet": "win", "stake": 900, "player": OTHER}),
            ("dice.thrown", {"faces": [2, 4]}),
            ("payout.made", {"wager": "w1", "winnings": 900, "stake_returned": 600}),
            ("dice.thrown", {"faces": [1, 2]}),
            ("x.acme.seen", {"who": [CODE, OTHER], "note": f"{OTHER}."}),
            ("x.acme.seen", {"who": [OTHER]}),
        )
        assert self.tenant.post(stream, events).status_code == 201, self.tenant.post(stream, events).content
        self.stream = self.tenant.stream(stream)
        while (progress := advance(self.stream.pk)) is not None and progress.behind:
            pass
        self.finding = Finding.objects.filter(stream=self.stream, player=CODE, status="standing")[0]
        actions.perform(self.finding.case_id, self.officer, "take")
        actions.perform(self.finding.case_id, self.officer, "comment", reason=f"{OTHER} stood beside {CODE}")
        about = Entered(self.stream, 3, time(20), "letter", f"{OTHER} was paid, I was not", player=CODE)
        complaints.enter(self.officer, about)
        complaints.enter(self.officer, Entered(self.stream, 3, time(20), "letter", "mine", player=OTHER))
        self.person = Person.objects.create(casino=self.casino, code=CODE, kind="player", name="Ann Somebody")
        Person.objects.create(casino=self.casino, code=OTHER, kind="player", name="Bea Other")

    def address(self, role: str = "player", code: str = CODE) -> str:
        return reverse("admin:audit_person_subject", args=(role, self.casino.pk, code))

    def made(self, role: str = "player", code: str = CODE) -> Job:
        """Have the file made by the page; return its job."""
        assert client_of(self.officer).get(self.address(role, code)).status_code == 200
        answer = client_of(self.officer).post(self.address(role, code))
        job = Job.objects.get(pk=int(answer["Location"].split("/")[-3]))
        runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == JobState.DONE, job.error
        return job

    def files(self, job: Job) -> dict[str, str]:
        answer = client_of(self.officer).get(reverse("admin:audit_job_file", args=(job.pk,)))
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist()}

    def entries(self, type: str) -> list[audit_trail.AuditEntry]:
        found = audit_trail.entries_of(self.casino.pk, self.person_day())
        return [each for each in found if each.type == type]

    def person_day(self):  # type: ignore[no-untyped-def]
        return Job.objects.latest("pk").requested_at.date()


@pytest.fixture
def played() -> Played:
    return Played()


def test_the_file_has_all_of_one_player_and_nobody_else_by_id(played: Played) -> None:
    files = played.files(played.made())
    assert json.loads(files["subject.json"])["directory"]["name"] == "Ann Somebody"
    events = [json.loads(line) for line in files["events.ndjson"].splitlines()]
    # Its wager, what was paid for it, and the integrator's event that names it.
    assert [each["seq"] for each in events] == [2, 5, 7]
    assert events[2]["data"] == {"who": [CODE, "other-player-1"], "note": "other-player-1."}
    found = list(csv.DictReader(io.StringIO(files["findings.csv"])))
    assert {each["rule"] for each in found} >= {played.finding.rule}
    assert "other-player-1 stood beside p0412" in files["actions.csv"]
    [complaint] = csv.DictReader(io.StringIO(files["complaints.csv"]))
    assert complaint["words"] == "other-player-1 was paid, I was not"
    assert "complaint.entered" in files["trail.csv"]
    whole = "".join(files.values())
    for text in (OTHER, "Bea", played.officer.get_username()):
        assert text not in whole, text


def test_somebody_of_the_staff_has_another_file(played: Played) -> None:
    files = played.files(played.made("croupier", "croupier-3"))
    events = [json.loads(line) for line in files["events.ndjson"].splitlines()]
    assert [each["type"] for each in events] == ["session.opened"]
    assert CODE not in "".join(files.values())
    assert OTHER not in "".join(files.values())
    assert len(files["complaints.csv"].splitlines()) == 1


def test_that_it_was_made_and_taken_is_in_the_trail(played: Played) -> None:
    played.files(job := played.made())
    [requested] = [each for each in played.entries("work.asked") if each.data["kind"] == "subject"]
    assert (requested.actor, requested.data["code"], requested.data["family"]) == (
        played.officer.username,
        CODE,
        "player",
    )
    [taken] = played.entries("export.taken")
    assert taken.data["id"] == job.pk


@pytest.mark.parametrize(
    ("body", "type"),
    [
        ('{"type": "case.taken", "data": {"note": "\\u0000", "player": "p0412"}}', "unreadable"),
        ('{"type": "case.taken", "data": ' + 3_000 * "[" + '"p0412"' + 3_000 * "]" + "}", "unreadable"),
        ('{"type": "case.taken", "player": "p0412"}', "unreadable"),
        ('{"type": "case.taken", "data": ["p0412"]}', "case.taken"),
        ('["p0412"]', "unreadable"),
    ],
)
def test_an_entry_that_nobody_can_read_is_named_and_spoils_no_file(played: Played, body: str, type: str) -> None:
    desk = LoggedStream.objects.filter(casino=played.casino, is_of_desk=True).latest("gaming_day")
    seq = read.next_seq_of(desk.pk)
    append(desk.pk, [NewEvent(seq, timezone.now(), body.encode())], next_seq=seq + 1, key_id=audit_trail.NO_KEY)
    _name, content = subject_file(played.casino, "player", CODE, at=timezone.now())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("trail.csv").decode("utf-8-sig"))))
    named = f"unreadable: {desk.name}:{seq}" if type == "unreadable" else type
    assert named in {row["type"] for row in rows}
    assert "complaint.entered" in {row["type"] for row in rows}


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.ADMINISTRATOR])
def test_who_may_see_no_names_has_no_file_made(played: Played, role: Role) -> None:
    client = client_of(hired(played.tenant, role, "other"))
    assert client.get(played.address()).status_code == 403
    assert client.post(played.address()).status_code == 403
    assert not Job.objects.filter(kind=JobKind.SUBJECT).exists()
    assert client_of(hired(Tenant(), Role.OFFICER, "foreign")).post(played.address()).status_code == 404


def test_the_file_is_of_who_had_it_made_and_goes_with_the_right_to_see_names(played: Played) -> None:
    job = played.made()
    address = reverse("admin:audit_job_file", args=(job.pk,))
    colleague = hired(played.tenant, Role.DIRECTOR, "colleague")
    assert client_of(colleague).get(address).status_code == 404
    played.officer.memberships.get(casino=played.casino).delete()
    assert client_of(played.officer).get(address).status_code in (403, 404)


def test_an_erasure_takes_the_file_with_it(played: Played) -> None:
    job = played.made()
    erase(played.keeper, played.person, reason="asked for it")
    job.refresh_from_db()
    assert job.file is None
    later = played.files(played.made())
    assert json.loads(later["subject.json"])["directory"] is None
    assert len(json.loads(later["subject.json"])["erased"]) == 1
    assert "Ann Somebody" not in "".join(later.values())
