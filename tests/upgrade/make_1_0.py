"""How the record of the baseline of 1.0 was made. It ran once, on the commit that brought it, and is not run again.

    DATABASE_URL=postgres://…/an_empty_database python -m tests.upgrade.make_1_0

The server was PostgreSQL 15, whose dumps 18 loads, too; ``pg_dump`` of the same version is found on the path or named
by ``PG_DUMP``. Everything was made by the ways that a deployment uses: events come by the interface and are replayed,
sealed, counted, reconciled; officers sign nights and work on cases. What is kept is beside it: ``record-1.0.sql.xz``,
``record-1.0.json.xz``, ``evidence-1.0.zip``, ``keys-1.0/`` and the file of the month that is in the archive,
``archive-1.0/``.
"""

# ruff: noqa: E402 - Django is set up before its models are imported

from __future__ import annotations

import base64
import json
import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

from tests.upgrade.files import archive_of, ask, bundle_of, dumped, environment, keys_of, path_of

VERSION = "1.0"
DATA = Path(tempfile.mkdtemp(prefix="record-"))
KEYS = keys_of(VERSION)
for folder in (KEYS, archive_of(VERSION)):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
(DATA / "keys").symlink_to(KEYS)
os.environ.update(environment(os.environ["DATABASE_URL"], DATA))

import django

django.setup()

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from audit.access import keys
from audit.adjudication import promotion, what_if
from audit.adjudication.replay import advance
from audit.casework import actions, complaints
from audit.corrections import decisions
from audit.event_store import audit_trail
from audit.jobs import runner
from audit.jobs.queue import enqueue
from audit.ledger import feeding
from audit.models import (
    Case,
    Casino,
    Finding,
    GamingTable,
    JobKind,
    KeyScope,
    LoggedStream,
    Membership,
    NightReport,
    NightSubscriber,
    Officer,
    Person,
    Role,
    SavedView,
    WhatIf,
)
from audit.models.cases import State
from audit.notifications import webhooks
from audit.persons.erasure import erase
from audit.reconciliation import runs
from audit.reconciliation.versions import add_signoff_exception, missing_signoff_exceptions, sign
from audit.register import entries
from audit.register.entries import Proposal
from audit.simulation import play

Events = list[dict[str, Any]]

ARCHIVED, FIRST, SECOND = date(2026, 8, 12), date(2026, 11, 4), date(2026, 11, 5)
PASSWORD = "a password of the record"
RULESETS = {"C": "fr-craps", "R": "fr-roulette", "A": "fr-american-roulette"}
WRONG = {
    "C1": ["payout-overpaid", "dice-changed-during-point-series", "losing-wager-paid"],
    "R1": ["payout-underpaid", "payout-missing", "wager-after-no-more-bets"],
    "A1": ["payout-duplicated", "announcement-mismatch", "events-lost"],
}


class Tenant:
    """A casino with its tables, a key, and what is sent with it. One that ``signs`` signs every batch."""

    def __init__(self, code: str, name: str, tables: Sequence[str], *, signs: bool = False, **more: Any) -> None:
        self.casino = Casino.objects.create(code=code, name=name, time_zone="Europe/Paris", **more)
        self.tables = {each: GamingTable.objects.create(casino=self.casino, code=each) for each in tables}
        self.private = Ed25519PrivateKey.generate() if signs else None
        public_key = self.private.public_key().public_bytes_raw() if self.private else None
        self.key, self.secret = keys.make(
            "fanny", casino=self.casino, name="tables", scopes=list(KeyScope.values), public_key=public_key
        )
        self.client = Client(SERVER_NAME="localhost")

    def played(self, table: str, day: date, *, seed: int = 7, coups: int = 10, wrong: Sequence[str] = ()) -> Events:
        played = play(
            RULESETS[table[0]],
            casino=self.casino.code,
            code=table,
            gaming_day=day,
            seed=seed,
            coups=coups,
            irregularities=wrong,
        )
        return played.events

    def send(self, events: Events, *, batch: int = 60, expect: int = 201) -> None:
        for start in range(0, len(events), batch):
            part = events[start : start + batch]
            headers = {"Authorization": f"Bearer {self.secret}"}
            if self.private is not None:
                headers["Cabochon-Signature"] = base64.b64encode(self.private.sign(self._to_sign(part))).decode()
            answer = self.client.post(
                f"/api/v1/streams/{events[0]['stream']}/events",
                json.dumps(part),
                content_type="application/json",
                headers=headers,
            )
            assert answer.status_code == expect, answer.content

    def _to_sign(self, events: Events) -> bytes:
        leaves = [sha256(b"\0" + _canonical({"v": 1, **each})).digest() for each in events]
        content = {"stream": events[0]["stream"], "first_seq": events[0]["seq"], "count": len(events)}
        return b"cabochon-batch/v1\n" + _canonical({**content, "root": _root(leaves).hex(), "key": self.key.prefix})

    def get(self, path: str) -> bytes:
        answer = self.client.get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {self.secret}"})
        assert answer.status_code == 200, answer.content
        return answer.content

    def count(self, day: date, drops: dict[str, int]) -> Events:
        """Return a count of a gaming day, in euros."""
        opened = {"casino": self.casino.code, "gaming_day": day.isoformat(), "currency": "EUR"}
        entered: list[tuple[str, dict[str, Any]]] = [("count.opened", opened)]
        entered += [
            ("drop.counted", {"session": session, "amount": amount, "counted_by": ["Ida", "Max"]})
            for session, amount in drops.items()
        ]
        entered += [("count.closed", {})]
        morning = datetime(day.year, day.month, day.day, 6, tzinfo=UTC) + timedelta(days=1)
        return [
            {
                "stream": f"{self.casino.code}.count.{day}",
                "seq": seq,
                "type": kind,
                "occurred_at": (morning + timedelta(seconds=seq)).isoformat(),
                "data": data,
            }
            for seq, (kind, data) in enumerate(entered, start=1)
        ]

    def night(self, day: date, sessions: Sequence[Events], *, off: int = 0) -> NightReport:
        """Send sessions and their count, ``off`` minor units wrong, and reconcile them."""
        for events in sessions:
            self.send(events)
        self.send(self.count(day, {events[0]["stream"]: _bought(events) + off for events in sessions}))
        return self.reconcile(day)

    def reconcile(self, day: date) -> NightReport:
        seal()
        feeding.feed(self.casino)
        morning = datetime(day.year, day.month, day.day, 8, tzinfo=UTC) + timedelta(days=1)
        [report, *_] = runs.reconcile(self.casino, day, actor="manage.py reconcile", now=morning)
        return report


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return sha256(b"\x01" + _root(leaves[:split]) + _root(leaves[split:])).digest()


def _bought(events: Events) -> int:
    return sum(event["data"]["amount"] for event in events if event["type"] == "buy_in.recorded")


def replay() -> None:
    for stream in LoggedStream.objects.filter(is_of_desk=False).order_by("pk"):
        while (progress := advance(stream.pk)) is not None and progress.behind:
            continue


def seal() -> None:
    replay()
    call_command("sequence", "--once", stdout=StringIO())


class Staff:
    """Everybody at the desks, by name and role."""

    def __init__(self, *casinos: Casino) -> None:
        self.fanny = Officer.objects.create_superuser("fanny", password=PASSWORD)
        self.ada = self._hire("ada", Role.OFFICER, casinos)
        self.bela = self._hire("bela", Role.SECOND, casinos)
        self.clara = self._hire("clara", Role.SECOND, casinos)
        self.dora = self._hire("dora", Role.DIRECTOR, casinos)
        self.emil = self._hire("emil", Role.ADMINISTRATOR, casinos)
        self._hire("gero", Role.AUDITOR, casinos[:1])

    def _hire(self, name: str, role: Role, casinos: Sequence[Casino]) -> Officer:
        officer = Officer.objects.create_user(name, f"{name}@cabochon.example", password=PASSWORD, is_staff=True)
        for casino in casinos:
            Membership.objects.create(officer=officer, casino=casino, role=role)
        return officer

    def sign(self, report: NightReport, *officers: Officer) -> None:
        for code in missing_signoff_exceptions(report):
            add_signoff_exception(report, code, f"Seen, and closed in spite of it: {code}.", officer=officers[0])
        for officer in officers:
            sign(report, officer=officer)

    def close(self, case: Case, outcome: str = "explained") -> None:
        actions.perform(case.pk, self.ada, "take")
        actions.perform(case.pk, self.ada, "propose", outcome=outcome, reason="Camera 4, 20:14.")
        actions.perform(case.pk, self.bela, "approve")


def an_archived_month(tenant: Tenant, staff: Staff) -> None:
    """A month that was played, closed and signed to its end, and is in the archive."""
    report = tenant.night(ARCHIVED, [tenant.played("R1", ARCHIVED, wrong=["payout-overpaid"], coups=6)])
    for case in Case.objects.filter(casino=tenant.casino):
        staff.close(case)
    report = tenant.reconcile(ARCHIVED) or report
    staff.sign(report, staff.bela, staff.dora)
    feeding.feed(tenant.casino)
    seal()
    call_command("archive", "--before", "2026-09", stdout=StringIO())


def nights(deauville: Tenant, staff: Staff) -> Events:
    """A night that is signed, one with a count that is wrong, and a session that goes on. Return this."""
    staff.sign(
        deauville.night(FIRST, [deauville.played(table, FIRST, wrong=WRONG[table]) for table in WRONG]), staff.bela
    )
    staff.sign(deauville.night(SECOND, [deauville.played("R1", SECOND)], off=12_300), staff.clara, staff.dora)
    left = deauville.played("C1", SECOND, seed=8, wrong=["payout-overpaid"])[:-1]
    deauville.send(left)
    replay()
    return left


def decided_corrections(deauville: Tenant, staff: Staff) -> None:
    """Two corrections after money moved: one approved by two, one refused."""
    for number, seq in enumerate((1, 2), start=1):
        events = deauville.played("C1", SECOND, seed=20 + number, wrong=["payout-overpaid"])
        events = [{**each, "stream": f"deauville.C1.corrected.{number}"} for each in events]
        deauville.send(events)
        replay()
        stream = LoggedStream.objects.get(name=events[0]["stream"])
        finding = Finding.objects.standing().filter(stream=stream, rule="payout-overpaid")[0]
        entry = next(each for each in events if each["seq"] == finding.seq)
        data = {"corrects": finding.seq, "data": {**entry["data"], "winnings": finding.expected}}
        data |= {"reason": "The film shows the right payout.", "approved_by": "chef-1"}
        last = events[-1]["seq"] + 1
        deauville.send([{**events[-1], "seq": last, "type": "entry.corrected", "data": data}])
        replay()
        if seq == 1:
            decisions.countersign(staff.ada, stream, last, reason="seen on video")
            decisions.countersign(staff.bela, stream, last, reason="seen on video")
        else:
            decisions.refuse(staff.dora, stream, last, reason="the video shows otherwise")
        replay()


def casework(deauville: Tenant, staff: Staff) -> None:
    """Cases in every state, a legal hold, a complaint that is answered."""
    cases = iter(Case.objects.filter(casino=deauville.casino, state=State.NEW, findings__status="standing").distinct())
    next(cases)  # stays new
    taken = next(cases)
    actions.perform(taken.pk, staff.ada, "take")
    actions.perform(taken.pk, staff.ada, "comment", reason="Asked for the film of camera 4. – é, 骰")
    staff.close(next(cases), "confirmed")
    reopened = next(cases)
    staff.close(reopened, "mistaken")
    actions.perform(reopened.pk, staff.clara, "reopen", reason="It happened again.")
    proposed = next(cases)
    actions.perform(proposed.pk, staff.ada, "take")
    actions.perform(proposed.pk, staff.ada, "propose", outcome="confirmed", reason="Seen.")
    actions.perform(taken.pk, staff.bela, "hold", reason="a lawsuit")
    stream = LoggedStream.objects.filter(casino=deauville.casino, table__isnull=False).latest("pk")
    clock = timezone.now().time().replace(second=0, microsecond=0)
    entered = complaints.enter(staff.ada, complaints.Entered(stream, 4, clock, "letter", "I was not paid"))
    complaints.answer(entered.pk, staff.bela, "unfounded", "the camera shows it")


def register(deauville: Tenant, staff: Staff) -> None:
    def proposed(reading: str, value: Any) -> int:
        proposal = Proposal(reading=reading, value=value, first_day=date(2027, 1, 1), reason="a custom")
        return int(entries.propose(staff.bela, deauville.casino, proposal).pk)

    entries.approve(staff.dora, proposed("payout_unit", 100), reason="chips of 1 euro")
    entries.decline(staff.dora, proposed("payout_unit", 200), reason="there are no such chips")
    proposed("seat_limit", 6)


def persons(deauville: Tenant, staff: Staff) -> None:
    for code, name in (("p1", "Zébulon Quintefeuille"), ("p2", "Anna Roche")):
        Person.objects.create(casino=deauville.casino, code=code, kind="player", name=name)
    erase(staff.emil, Person.objects.get(casino=deauville.casino, code="p1"), reason="Art. 17 GDPR")


def notifications(deauville: Tenant, staff: Staff) -> None:
    hook, _secret = webhooks.create(
        staff.emil.username,
        casino=deauville.casino,
        name="the group",
        url="https://hooks.example/cabochon",
        severities=["critical", "major"],
    )
    webhooks.rotate(staff.emil.username, hook)
    NightSubscriber.objects.create(casino=deauville.casino, officer=staff.clara, language="fr")
    SavedView.objects.create(officer=staff.bela, name="Dice", query="rule=throw-delayed", is_shared=True)
    call_command("signon", add=["deauville", "auditor", "inspectors"], stdout=StringIO())


def jobs(deauville: Tenant, staff: Staff) -> None:
    found = Finding.objects.standing().filter(casino=deauville.casino).order_by("pk")
    export = {"findings": [each.pk for each in found], "form": "csv", "said": [], "language": "fr"}
    run = {"name": "chips of five", "readings": {"payout_unit": 500}, "ruleset": "fr-craps"}
    for job in (
        enqueue(JobKind.EXPORT, staff.ada, deauville.casino, export),
        enqueue(JobKind.WHAT_IF, staff.bela, deauville.casino, run),
        enqueue(JobKind.VERIFY, staff.fanny, None, {}),
    ):
        runner.run(job.pk)
    again = what_if.begin("again", readings={}, selection=what_if.Selection(casino="deauville"), actor="bela")
    for stream_id in what_if.streams_of(again):
        what_if.replay_one(again, stream_id)
    what_if.end(again)
    promotion.promote(WhatIf.objects.get(pk=again.pk), staff.clara)
    replay()


def make() -> tuple[str, bytes]:
    """Make the record. Return a secret of an API key, and the evidence of a finding as it was handed out."""
    call_command("migrate", verbosity=0)
    call_command("logkey", "--make", "--quiet")
    deauville = Tenant("deauville", "Casino de Deauville", ["C1", "R1", "A1"])
    honfleur = Tenant("honfleur", "Casino de Honfleur – l’Été", ["R1"], signs=True)
    sandbox = Tenant("deauville-sandbox", "For the vendor", ["R1"], is_sandbox=True)
    staff = Staff(deauville.casino, honfleur.casino, sandbox.casino)
    an_archived_month(honfleur, staff)
    notifications(deauville, staff)
    register(deauville, staff)
    nights(deauville, staff)
    decided_corrections(deauville, staff)
    casework(deauville, staff)
    persons(deauville, staff)
    honfleur.send(honfleur.played("R1", SECOND, wrong=["payout-overpaid"]))
    sandbox.send(sandbox.played("R1", SECOND, coups=3))
    deauville.send([{"stream": "deauville.x", "seq": 1, "type": "dice.thrown", "data": {}}], expect=422)
    seal()
    jobs(deauville, staff)
    audit_trail.record("fanny", "log.noted", data={"text": "the end of 1.0"})
    seal()
    shown = Finding.objects.filter(rule="payout-overpaid", status="standing").exclude(casino=sandbox.casino)
    finding = shown.exclude(stream__gaming_day=ARCHIVED).order_by("stream_id", "seq", "pk")[0]
    bundle = next(each for each in (deauville, honfleur) if each.casino.pk == finding.casino_id).get(
        f"findings/{finding.pk}/bundle"
    )
    seal()
    return deauville.secret, bundle


def main() -> None:
    secret, bundle = make()
    database_url = os.environ["DATABASE_URL"]
    bundle_of(VERSION).write_bytes(bundle)
    answers = ask("record", "verify", "deploy", database_url=database_url, data=DATA)
    answers["secret"] = secret
    assert answers["verify"]["holds"], answers["verify"]["lines"]
    content = json.dumps(answers, ensure_ascii=False, indent=1).encode()
    path_of(VERSION, "json.xz").write_bytes(lzma.compress(content, preset=9))
    path_of(VERSION, "sql.xz").write_bytes(lzma.compress(dumped(database_url).encode(), preset=9))
    for path in (DATA / "archive").iterdir():
        shutil.copy(path, archive_of(VERSION))
    shutil.rmtree(DATA)
    sys.stdout.write(f"{path_of(VERSION, 'sql.xz').stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
