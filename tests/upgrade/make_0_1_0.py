"""How the record of 0.1.0 was made. It ran once, on commit f862c75 at version 0.1.0, and can only be run there.

    DATABASE_URL=postgres://…/an_empty_database python -m tests.upgrade.make_0_1_0

The server was PostgreSQL 15, whose dumps 18 loads, too; ``pg_dump`` of the same version is found on the path or named
by ``PG_DUMP``. Everything was made by the ways that a deployment uses: events come by the interface and are replayed,
sealed, counted, reconciled; officers sign nights and work on cases. What is kept:

    record-0.1.0.sql.xz     the database, as INSERTs
    record-0.1.0.json.xz    what 0.1.0 answers about it (``answers.py``), and a secret of an API key of it
    evidence-0.1.0.zip      the evidence of a finding, as 0.1.0 handed it out
    keys/                   the private keys that sign for this log; they guard nothing
"""

# ruff: noqa: E402 - Django is set up before its models are imported

from __future__ import annotations

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

from tests.upgrade.files import ANSWERS, BUNDLE, DUMP, KEYS, ask, environment

DATA = Path(tempfile.mkdtemp(prefix="record-"))
os.environ.update(environment(os.environ["DATABASE_URL"], DATA))

import django

django.setup()

from audit.adjudications.replay import advance
from audit.cases import work
from audit.log import keys
from audit.works import runner
from audit.works.asking import ask as ask_for
from audit.works.asking import stop
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from audit.models import (
    ApiKey,
    Case,
    Casino,
    Deadline,
    Finding,
    GamingTable,
    LoggedStream,
    Membership,
    NightDelivery,
    NightReport,
    NightSubscriber,
    Officer,
    Role,
    SavedView,
    Scope,
    Work,
    WorkKind,
    WorkState,
)
from audit.reconciliation import mail, runs
from audit.reconciliation.versions import NotSigned, missing_reservations, reserve, sign
from audit.simulation import play

Events = list[dict[str, Any]]

FIRST, SECOND, THIRD = date(2026, 10, 30), date(2026, 10, 31), date(2026, 11, 1)
BATCH = 40
PASSWORD = "a password of the record"

WRONG = {
    "C1": ["payout-overpaid", "dice-changed-during-point-series", "throw-delayed", "losing-wager-paid"],
    "R1": ["payout-underpaid", "payout-missing", "no-more-bets-missing", "wager-after-no-more-bets"],
    "A1": ["payout-duplicated", "wheel-direction-repeated", "announcement-mismatch", "events-lost"],
    "Q1": ["commission-amount-mismatch", "payout-overpaid"],
}
RULESETS = {"C": "fr-craps", "R": "fr-roulette", "A": "fr-american-roulette", "Q": "qc-craps"}


class House:
    """A casino with its tables, a key, and what is sent with it."""

    def __init__(self, code: str, name: str, tables: Sequence[str]) -> None:
        self.casino = Casino.objects.create(code=code, name=name, time_zone="Europe/Paris")
        registered = {table: GamingTable.objects.create(casino=self.casino, code=table) for table in tables}
        self.key, self.secret = ApiKey.make(casino=self.casino, name="tables", scopes=list(Scope.values))
        limited, _secret = ApiKey.make(casino=self.casino, name="one table", scopes=[Scope.EVENTS_WRITE])
        limited.tables.set([registered[tables[0]]])
        revoked, _secret = ApiKey.make(casino=self.casino, name="revoked", scopes=[Scope.STREAMS_READ])
        ApiKey.objects.filter(pk=revoked.pk).update(revoked_at=timezone.now())
        self.client = Client(SERVER_NAME="localhost")

    def played(self, table: str, day: date, *, wrong: Sequence[str] = (), coups: int = 12) -> Events:
        return play(
            RULESETS[table[0]],
            casino=self.casino.code,
            code=table,
            gaming_day=day,
            seed=7,
            coups=coups,
            irregularities=wrong,
        ).events

    def send(self, events: Events, *, expect: int = 201) -> None:
        """Send events of one stream in batches, as the table system does."""
        for start in range(0, len(events), BATCH):
            answer = self.client.post(
                f"/api/v1/streams/{events[0]['stream']}/events",
                "\n".join(map(json.dumps, events[start : start + BATCH])),
                content_type="application/x-ndjson",
                headers={"Authorization": f"Bearer {self.secret}"},
            )
            assert answer.status_code == expect, answer.content

    def get(self, path: str) -> bytes:
        answer = self.client.get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {self.secret}"})
        assert answer.status_code == 200, answer.content
        return answer.content

    def count(self, day: date, drops: dict[str, int], *, closed: bool = True) -> Events:
        """Return a count of a gaming day, in euros."""
        opened = {"casino": self.casino.code, "gaming_day": day.isoformat(), "currency": "EUR"}
        made: list[tuple[str, dict[str, Any]]] = [("count.opened", opened)]
        made += [
            ("drop.counted", {"session": session, "amount": amount, "counted_by": ["Ida", "Max"]})
            for session, amount in drops.items()
        ]
        made += [("count.closed", {})] if closed else []
        morning = datetime(day.year, day.month, day.day, 6, tzinfo=UTC) + timedelta(days=1)
        return [
            {
                "stream": f"{self.casino.code}.count.{day}",
                "seq": seq,
                "type": kind,
                "occurred_at": (morning + timedelta(seconds=seq)).isoformat(),
                "data": data,
            }
            for seq, (kind, data) in enumerate(made, start=1)
        ]

    def reconcile(self, day: date) -> NightReport:
        seal()
        (report,) = runs.reconcile(self.casino, day, actor="manage.py reconcile")
        return report


def replay() -> None:
    for stream in LoggedStream.objects.filter(is_of_desk=False).order_by("pk"):
        while (progress := advance(stream.pk)) is not None and progress.behind:
            continue


def seal() -> None:
    replay()
    call_command("sequence", "--once", stdout=StringIO())


def buy_ins(events: Events) -> int:
    return sum(event["data"]["amount"] for event in events if event["type"] == "buy_in.recorded")


def following(events: Events, kind: str, **data: Any) -> Events:
    """Return one more event of a stream, as a list, and add it to the stream."""
    event = {**events[-1], "seq": events[-1]["seq"] + 1, "type": kind, "data": data}
    event.pop("actor", None)
    events.append(event)
    return [event]


class Staff:
    """Everybody at the desks, by name and role."""

    def __init__(self, deauville: Casino, trouville: Casino) -> None:
        self.ada = self._hire("ada", (deauville, Role.OFFICER))
        self.bela = self._hire("bela", (deauville, Role.SECOND), (trouville, Role.OFFICER))
        self.clara = self._hire("clara", (deauville, Role.SECOND), (trouville, Role.SECOND))
        self.dora = self._hire("dora", (deauville, Role.AUDITOR))
        self.emil = self._hire("emil", (deauville, Role.ADMINISTRATOR), (trouville, Role.ADMINISTRATOR))
        self.fanny = Officer.objects.create_superuser("fanny", password=PASSWORD)

    def _hire(self, name: str, *roles: tuple[Casino, Role]) -> Officer:
        officer = Officer.objects.create_user(name, f"{name}@cabochon.example", password=PASSWORD, is_staff=True)
        for casino, role in roles:
            Membership.objects.create(officer=officer, casino=casino, role=role)
        return officer


def first_night(house: House) -> Events:
    """Three irregular tables, counted. Return the craps session, whose entry is corrected later."""
    sessions = [house.played(table, FIRST, wrong=WRONG[table]) for table in ("C1", "R1", "A1")]
    for events in sessions:
        house.send(events)
        seal()
    house.send(house.count(FIRST, {events[0]["stream"]: buy_ins(events) for events in sessions}))
    return sessions[0]


def second_night(house: House) -> NightReport:
    """Two regular tables, counted to the cent: a night that reconciles."""
    sessions = [house.played(table, SECOND) for table in ("C1", "R1")]
    for events in sessions:
        house.send(events)
    house.send(house.count(SECOND, {events[0]["stream"]: buy_ins(events) for events in sessions}))
    return house.reconcile(SECOND)


def third_night(house: House) -> NightReport:
    """A table that is closed and one that is still open, and no count."""
    house.send(house.played("R1", THIRD, wrong=["half-refund-mismatch", "imprisoned-at-close"], coups=40))
    house.send(house.played("C1", THIRD, wrong=["point-marker-missing", "clock-went-back"])[:-1])
    return house.reconcile(THIRD)


def other_casino(house: House) -> NightReport:
    """A roulette whose count differs, and a Québec table, whose law ended in 2010."""
    events = house.played("R1", SECOND, wrong=["losing-wager-not-collected", "payout-overpaid"])
    house.send(events)
    house.send(house.played("Q1", SECOND, wrong=WRONG["Q1"]))
    house.send(house.count(SECOND, {events[0]["stream"]: buy_ins(events) + 12_300}))
    return house.reconcile(SECOND)


def signed(report: NightReport, *officers: Officer) -> NightReport:
    """Have a report signed, with an exception for each thing that it is signed in spite of."""
    for code in missing_reservations(report):
        reserve(report, code, f"Seen, and closed in spite of it: {code}.", officer=officers[0])
    for officer in officers:
        report = sign(report, officer=officer)
    return report


def correct(house: House, events: Events) -> None:
    """Correct the entry of the overpaid payout, in the count room's morning: its finding is superseded."""
    finding = Finding.objects.get(casino=house.casino, rule="payout-overpaid", stream__name=events[0]["stream"])
    entry = next(event for event in events if event["seq"] == finding.seq)
    right = {**entry["data"], "winnings": finding.expected}
    house.send(
        following(
            events,
            "entry.corrected",
            corrects=finding.seq,
            data=right,
            reason="The film shows the right payout.",
            approved_by="chef-1",
        )
    )
    replay()
    finding.refresh_from_db()
    assert finding.superseded_at is not None


def refused_requests(house: House, events: Events) -> None:
    """Requests that are kept: a misshapen event, an event that contradicts the record, one declared lost."""
    stream = events[0]["stream"]
    house.send([{"stream": stream, "seq": 9_000, "type": "dice.thrown", "data": {}}], expect=422)
    house.send([{**events[4], "data": {"contradicts": "the record"}, "type": "note"}], expect=422)
    house.send([{**events[5], "occurred_at": "2026-10-30T23:59:59+01:00"}], expect=409)


def casework(house: House, staff: Staff) -> None:
    """Bring cases to every state, by every step, with every outcome."""
    standing = Finding.objects.filter(casino=house.casino, superseded_at=None).order_by("stream_id", "seq", "pk")
    case = iter(list(dict.fromkeys(standing.values_list("case", flat=True))))

    def proposed(outcome: str, reason: str) -> int:
        number = next(case)
        work.do(number, staff.ada, "take")
        work.do(number, staff.ada, "propose", outcome=outcome, reason=reason)
        return number

    next(case)  # stays new
    work.do(next(case), staff.ada, "take")
    assigned = next(case)
    work.do(assigned, staff.bela, "assign", assignee=staff.ada)
    work.do(assigned, staff.ada, "comment", reason="Asked for the film of camera 4.")
    proposed("confirmed", "Camera 4, 20:14.")
    for outcome in ("confirmed", "explained", "mistaken"):
        work.do(proposed(outcome, f"Two have looked: {outcome}."), staff.bela, "approve")
    reopened = proposed("explained", "A slip of the hand, repaired at once.")
    work.do(reopened, staff.clara, "approve")
    work.do(reopened, staff.clara, "reopen", reason="It happened again.")
    closed_again = proposed("mistaken", "The sensor was wrong.")
    work.do(closed_again, staff.bela, "approve")
    work.do(closed_again, staff.clara, "reopen", reason="Which sensor?")
    work.do(closed_again, staff.ada, "propose", outcome="confirmed", reason="The sensor was right – é, 骰.")
    work.do(closed_again, staff.clara, "approve")
    work.do(proposed("confirmed", "Seen."), staff.bela, "send_back", reason="Seen where?")
    released = next(case)
    work.do(released, staff.ada, "take")
    work.do(released, staff.ada, "release")
    for officer, step in ((staff.dora, "take"), (staff.ada, "approve")):
        try:
            work.do(released, officer, step)
        except work.Refused:
            continue
        raise AssertionError("an auditor works on no case, and nobody closes a new one")
    work.take_next(staff.bela)


def jobs(house: House, staff: Staff) -> None:
    """Background jobs in every end: an export with its file, a verification, what-ifs, one failed, stopped, waiting."""
    shown = Finding.objects.filter(casino=house.casino, superseded_at=None).order_by("pk")
    export = {"findings": list(shown.values_list("pk", flat=True)), "form": "csv", "said": [], "language": "fr"}
    what_if = {"name": "the zero loses", "readings": {"zero_rule": "lose"}}
    other = {"name": "chips of five", "readings": {"payout_unit": 500}, "ruleset": "fr-craps"}
    asked = [
        ask_for(WorkKind.EXPORT, staff.ada, house.casino, export),
        ask_for(WorkKind.VERIFY, staff.fanny, None, {}),
        ask_for(WorkKind.BESIDE, staff.bela, house.casino, what_if),
        ask_for(WorkKind.BESIDE, staff.fanny, None, other),
        ask_for(WorkKind.BESIDE, staff.bela, house.casino, {**other, "name": "the zero loses"}),
    ]
    stopped = ask_for(WorkKind.VERIFY, staff.ada, house.casino, {"first_day": FIRST.isoformat()})
    stop(stopped, staff.bela)
    for job in [*asked, stopped]:
        runner.run(job.pk)
    ask_for(WorkKind.VERIFY, staff.dora, house.casino, {"last_day": THIRD.isoformat()})
    states = set(Work.objects.values_list("state", flat=True))
    assert states == {*WorkState.values} - {WorkState.RUNNING}, states


def desk(house: House, other: House, staff: Staff) -> None:
    Deadline.objects.filter(severity="minor").update(hours=96)
    SavedView.objects.create(officer=staff.ada, name="Mine", query="queue=mine")
    dice = "rule=throw-delayed&severity__exact=minor"
    SavedView.objects.create(officer=staff.bela, name="Dice", query=dice, is_shared=True)
    NightSubscriber.objects.create(casino=house.casino, officer=staff.clara, language="fr")
    NightSubscriber.objects.create(casino=other.casino, officer=staff.bela, language="en")


def make() -> tuple[str, bytes]:
    """Make the record. Return a secret of an API key, and the evidence of a finding as it was handed out."""
    call_command("migrate", verbosity=0)
    call_command("logkey", "--make", "--quiet")
    deauville = House("deauville", "Casino de Deauville", ["C1", "R1", "A1"])
    trouville = House("trouville", "Casino de Trouville – l’Été", ["R1", "Q1"])
    staff = Staff(deauville.casino, trouville.casino)
    desk(deauville, trouville, staff)

    craps = first_night(deauville)
    signed(deauville.reconcile(FIRST), staff.bela, staff.clara)
    call_command("logkey", "--rotate", "checkpoint", "--at-once", "--reason", "a yearly change", "--quiet")
    call_command("logkey", "--rotate", "receipt", "--at-once", "--reason", "a yearly change", "--quiet")
    keys._keyring.forget()
    correct(deauville, craps)
    restated = deauville.reconcile(FIRST)
    assert restated.version == 2, restated.version
    signed(restated, staff.clara)
    mail.send(signed(second_night(deauville), staff.ada, staff.bela))

    left = third_night(deauville)
    reserve(left, "count-missing", "The boxes are counted on Monday.", officer=staff.bela)
    reserve(left, "session-open", "The table plays on.", officer=staff.clara)
    mail.send(other_casino(trouville))
    refused_requests(deauville, craps)
    try:
        sign(left, officer=staff.bela)
        raise AssertionError("what is critical is not signed for")
    except NotSigned:
        pass

    casework(deauville, staff)
    [case] = Case.objects.filter(casino=trouville.casino, rule="payout-overpaid", findings__ruleset="fr-roulette")
    work.do(case.pk, staff.bela, "take")
    work.do(case.pk, staff.bela, "propose", outcome="confirmed", reason="Paid once too often.")
    work.do(case.pk, staff.clara, "approve")
    jobs(deauville, staff)
    seal()
    shown = Finding.objects.filter(rule="payout-overpaid", superseded_at=None).order_by("stream_id", "seq", "pk")[0]
    owner = next(house for house in (deauville, trouville) if house.casino.pk == shown.casino_id)
    bundle = owner.get(f"findings/{shown.pk}/bundle")
    seal()
    assert NightReport.objects.count() == 5
    assert NightDelivery.objects.count() == 2
    return deauville.secret, bundle


# The dump -------------------------------------------------------------------------------------------------------------


def dumped(database_url: str) -> str:
    """Return the database as SQL that a superuser of any name loads, on PostgreSQL 15 and later."""
    sql = subprocess.run(
        [os.environ.get("PG_DUMP", "pg_dump"), "--inserts", "--rows-per-insert=200", "--dbname", database_url],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return "\n".join(_loadable(sql)) + "\n"


def _loadable(sql: str) -> Iterator[str]:
    """Leave off what is for psql, for a later server, or about who owned this database."""
    for line in sql.splitlines():
        if re.match(r"\\(un)?restrict |SET transaction_timeout|-- Dumped ", line):
            continue
        if re.fullmatch(r"ALTER .* OWNER TO (?!cabochon_).*;", line):
            continue
        yield line


def main() -> None:
    shutil.rmtree(KEYS, ignore_errors=True)
    secret, bundle = make()
    database_url = os.environ["DATABASE_URL"]
    BUNDLE.write_bytes(bundle)
    answers = ask("record", "verify", "deploy", database_url=database_url, data=DATA)
    answers["secret"] = secret
    ANSWERS.write_bytes(lzma.compress(json.dumps(answers, ensure_ascii=False, indent=1).encode(), preset=9))
    DUMP.write_bytes(lzma.compress(dumped(database_url).encode(), preset=9))
    shutil.rmtree(DATA)
    for path in (DUMP, ANSWERS, BUNDLE):
        sys.stdout.write(f"{path.name}  {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
