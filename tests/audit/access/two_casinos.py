"""Two casinos with a row of everything that has a page, each row marked; and the users and keys.

Whatever is of casino A is called ``zza…``, of B ``zzb…``, followed by what it is: see ``Mark``. So an answer that holds
a mark shows which casino it tells of.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import F
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit.access import accounts
from audit.adjudication import runs as adjudication_runs
from audit.adjudication import what_if as what_if_runs
from audit.adjudication.replay import advance
from audit.casework import actions, attachments, complaints, information, payment_orders, session_closing
from audit.event_store import audit_trail
from audit.event_store.audit_trail import COMMAND
from audit.models import (
    Alert,
    ApiKey,
    BatchKind,
    Case,
    CaseContacts,
    Casino,
    Correction,
    DeadLetter,
    Deadline,
    FailedRun,
    Finding,
    FindingChange,
    GamingTable,
    InformationSigning,
    Job,
    JobKind,
    JobState,
    KeyScope,
    LedgerProcess,
    LedgerSetAside,
    ListKind,
    LoggedStream,
    Membership,
    NightRun,
    NightSubscriber,
    Officer,
    OrderKind,
    PaymentOrder,
    Person,
    Quarantined,
    Role,
    SavedView,
    Sighting,
    WhatIf,
    WhatIfFinding,
)
from audit.notifications import webhooks
from audit.persons import listings
from audit.presentation import reference
from audit.reconciliation import runs as night_runs
from audit.register import entries as register
from audit.register.entries import Proposal
from audit.transparency import signing_keys
from audit.transparency.integrity_findings import integrity_finding
from settlement import ENGINE_VERSION
from settlement.eprocess.process import UNIT
from tests.audit.reconciliation.played import DAY, MORNING, buy_ins, count, record, session
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered
from tests.audit.transparency.sealed import seal

DAY_BEFORE = date(2026, 11, 18)
LETTERS = "ab"
PASSWORD = "correct-horse-9"


class Mark(StrEnum):
    """What a mark stands for."""

    CASINO = "casino"  # the casino itself
    TABLE = "table"
    RECORD = "record"  # streams, wagers, findings, cases, nights, runs, jobs, quarantine
    PERSON = "person"  # the id of a player or an employee
    NAME = "name"  # of such a person
    KEY = "key"
    OFFICER = "officer"  # the user name
    MAIL = "mail"  # of an officer


MARKED = re.compile(rf"zz([{LETTERS}])({'|'.join(Mark)})", re.IGNORECASE)


class Marked(Tenant):
    """A tenant whose table, players and wagers are marked."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.code = self.mark(Mark.CASINO)
        self.client = Client()
        self.casino = Casino.objects.create(code=self.code, name=f"Casino {self.code}", time_zone="Europe/Paris")
        self.table = GamingTable.objects.create(casino=self.casino, code=self.mark(Mark.TABLE, 1))
        self.other_table = GamingTable.objects.create(casino=self.casino, code=self.mark(Mark.TABLE, 2))
        self.key, self.secret = ApiKey.make(casino=self.casino, name=self.mark(Mark.KEY), scopes=list(KeyScope.values))

    def mark(self, what: Mark, number: int | str = "") -> str:
        return f"zz{self.letter}{what}{number}"

    def opener(self, stream: str, **data: Any) -> dict[str, Any]:
        return super().opener(stream, **{"table": self.table.code, "gaming_day": str(DAY_BEFORE), **data})

    def events(self, stream: str) -> list[dict[str, Any]]:
        """Return a session with an irregularity or two."""
        text = json.dumps(dice_changed_in_mid_series(self, stream))
        text = re.sub(r'"w(\d)"', rf'"{self.mark(Mark.RECORD)}w\1"', text)
        events: list[dict[str, Any]] = json.loads(text.replace('"Anna"', f'"{self.mark(Mark.PERSON)}"'))
        events[0]["data"]["croupier"] = self.mark(Mark.PERSON, 9)
        return events


@dataclass(eq=False)
class Site:
    """One casino with a row of everything."""

    letter: str
    tenant: Marked = field(init=False)

    def __post_init__(self) -> None:
        self.tenant = Marked(self.letter)
        self.casino, self.table = self.tenant.casino, self.tenant.table
        self._employ()
        self._play()
        self._reconcile()
        self._feed_ledger()
        self._keep()

    def mark(self, what: Mark, number: int | str = "") -> str:
        return self.tenant.mark(what, number)

    def hired(self, role: Role, name: str) -> Officer:
        officer = Officer.objects.create_user(
            self.mark(Mark.OFFICER, name),
            password=PASSWORD,
            is_staff=True,
            email=f"{self.mark(Mark.MAIL, name)}@x.example",
        )
        Membership.objects.create(officer=officer, casino=self.casino, role=role)
        return officer

    def _employ(self) -> None:
        """Hire colleagues: the user is none of them."""
        self.colleague = self.hired(Role.OFFICER, "1")
        self.reviewer = self.hired(Role.SECOND, "2")
        self.reader = self.hired(Role.AUDITOR, "3")
        self.keeper = self.hired(Role.ADMINISTRATOR, "4")
        self.gone = self.hired(Role.OFFICER, "5")
        TOTPDevice.objects.create(user=self.colleague, confirmed=True, name="phone")
        StaticDevice.objects.create(user=self.colleague, name="paper")

    def _play(self) -> None:
        """Record sessions: one with cases in every state, one whose replay fails, one that is refused."""
        self.stream = self._session("one")
        findings = list(Finding.objects.standing().filter(stream=self.stream).order_by("pk"))
        self.finding, self.proposed = findings[:2]
        failing = self._session("two")
        more = list(Finding.objects.standing().filter(stream=failing).order_by("pk"))
        self.taken, self.closed = more[:2]
        reason = self.mark(Mark.RECORD, " says the camera")
        for finding in (self.proposed, self.taken, self.closed):
            actions.perform(finding.case_id, self.colleague, "take")
        for finding in (self.proposed, self.closed):
            actions.perform(finding.case_id, self.colleague, "propose", reason=reason, outcome="confirmed")
        actions.perform(self.closed.case_id, self.reviewer, "approve")
        pattern = reference(Finding.objects.get(pk=self.taken.pk))
        actions.perform(self.taken.case_id, self.colleague, "link", reason=reason, pattern=pattern)
        self.held = self.taken
        actions.perform(self.held.case_id, self.reviewer, "hold", reason=self.mark(Mark.RECORD, " is before a court"))
        self.correction = self._corrected("three")
        burned = self.mark(Mark.RECORD, " burned out")
        self.closing = session_closing.propose(
            self.colleague, self.correction.stream, float_minor=5_000_000, reason=burned
        )
        self._order_payments()
        words = self.mark(Mark.RECORD, " was not paid")
        self.complaint = complaints.enter(self.colleague, complaints.Entered(self.stream, 1, time(21), "cage", words))
        self.signed_list = self._information()
        error = ZeroDivisionError(self.mark(Mark.RECORD, " by nothing"))
        adjudication_runs.record_failure(failing.stream_id, ENGINE_VERSION, error)
        self.failed_run = FailedRun.objects.get(stream_id=failing.stream_id)
        broken = self.mark(Mark.RECORD, "broken")
        assert self.tenant.post(broken, [{"stream": broken, "seq": 1, "type": "?"}]).status_code == 422
        self.quarantined = Quarantined.objects.get(casino=self.casino)

    def _information(self) -> InformationSigning:
        """Have the list of a night signed, and something be found afterwards."""
        for seq in (2, 3):
            finding = integrity_finding(self.stream, "wager-near-call", seq, occurred_at=timezone.now(), facts={})
            finding.player = self.mark(Mark.RECORD, " is near")
            finding.save()
            if seq == 2:
                own, day = [self.casino.pk], self.stream.gaming_day
                read = information.digest_of(information.unsigned(own, day, day).values_list("pk", flat=True))
                signed = information.sign(self.colleague, self.casino.pk, day, read)
        return signed

    def _order_payments(self) -> None:
        """Record three winners who are not paid: of one the payment is ordered, one is not found. Propose a waiver."""
        stream = self.mark(Mark.RECORD, "four")
        placed = {"bet": "rouge", "stake": 1_000}
        wagers = [
            {**placed, "wager": self.mark(Mark.RECORD, name), "player": f"p-{name}"} for name in ("w1", "w2", "w3")
        ]
        opened = {"game": "french_roulette", "ruleset": "fr-roulette", "observes": ["collections"]}
        events = numbered(
            self.tenant.opener(stream, **opened),
            *(("wager.placed", each) for each in wagers),
            ("ball.settled", {"pocket": "1"}),
            ("stakes.collected", {"wagers": [each["wager"] for each in wagers]}),
            ("ball.settled", {"pocket": "2"}),
        )
        of_session = Finding.objects.standing().filter(stream=self._session("four", events), owed__by="house")
        paid, self.claimed, away = of_session.order_by("pk")[:3]
        overpaid = Finding.objects.standing().filter(casino=self.casino, owed__by="player").exclude(case=None).first()
        reason = self.mark(Mark.RECORD, " asks for it")
        self.order = self._order(paid, OrderKind.PAYMENT, reason)
        assert overpaid is not None
        self.waiver = self._order(overpaid, OrderKind.WAIVER, reason)
        Casino.objects.filter(pk=self.casino.pk).update(unclaimed_days=1)
        self.kept = self._order(away, OrderKind.NOT_FOUND, reason, not_found_on=away.gaming_day)

    def _order(self, finding: Finding, kind: OrderKind, reason: str, **more: Any) -> PaymentOrder:
        case = Case.objects.get(pk=finding.case_id)
        owing = payment_orders.owing_of(case.pk, finding.owed["by"], finding.player)
        assert owing is not None
        return payment_orders.begin(self.colleague, case, owing, kind, reason=reason, **more)

    def _corrected(self, name: str) -> Correction:
        """Record a session in which a wager is corrected after it was paid; return the finding, which waits."""
        stream, wager = self.mark(Mark.RECORD, name), self.mark(Mark.RECORD, "w9")
        placed = {"wager": wager, "bet": "right_bet", "number": 6, "stake": 1000}
        reason = self.mark(Mark.RECORD, " was misread")
        events = numbered(
            self.tenant.opener(stream, observes=[]),
            ("wager.placed", placed),
            ("dice.thrown", {"faces": [2, 4]}),
            ("payout.made", {"wager": wager, "winnings": 1166, "stake_returned": 1000}),
            ("dice.thrown", {"faces": [1, 2]}),
            (
                "entry.corrected",
                {"corrects": 2, "data": placed | {"stake": 1200}, "reason": reason, "approved_by": "c"},
            ),
        )
        return Correction.objects.get(stream=self._session(name, events), seq=6, rule="entry-corrected")

    def _session(self, name: str, events: list[dict[str, Any]] | None = None) -> LoggedStream:
        stream = self.mark(Mark.RECORD, name)
        answer = self.tenant.post(stream, events or self.tenant.events(stream))
        assert answer.status_code == 201, answer.content
        found = self.tenant.stream(stream)
        while (progress := advance(found.stream_id)) and progress.behind:
            continue
        return found

    def _reconcile(self) -> None:
        """Count one night, so that it can be signed, and leave the one before without a count."""
        night = session(self.casino, self.table.code, coups=4)
        night = json.loads(json.dumps(night).replace(night[0]["stream"], self.mark(Mark.RECORD, "night")))
        self.night_stream = LoggedStream.objects.get(pk=record(self.casino, night))
        record(self.casino, count(self.casino, {night[0]["stream"]: buy_ins(night)}))
        seal()
        (self.uncounted,) = night_runs.reconcile(self.casino, DAY_BEFORE, actor="test", now=MORNING)
        (self.night,) = night_runs.reconcile(self.casino, DAY, actor="test", now=MORNING)
        self.failed_night = night_runs.begin(self.casino, DAY_BEFORE - timedelta(days=1), actor="test")
        NightRun.objects.filter(pk=self.failed_night.pk).update(error=self.mark(Mark.RECORD, "error"))

    def _list_players(self) -> None:
        """Put one player on the watch list, and propose another for it."""
        codes = [self.mark(Mark.PERSON, f"-{name}") for name in ("listed", "proposed")]
        for code in codes:
            Person.objects.create(casino=self.casino, code=code, kind="player", name=self.mark(Mark.NAME, " Ines"))
        reason = self.mark(Mark.RECORD, " bets late")
        self.listed, self.listing = (
            listings.propose(self.colleague, self.casino, ListKind.WATCH, code, reason=reason) for code in codes
        )
        listings.approve(self.reviewer, self.listed)
        self.sighting = Sighting.objects.create(
            listing=self.listed, stream=self.night_stream, gaming_day=DAY, seen_at=timezone.now()
        )

    def _feed_ledger(self) -> None:
        wheel = self.mark(Mark.RECORD, "wheel")
        wealth = {"wealth": UNIT, "highest": UNIT, "opening": UNIT, "year": 2026, "alpha": "1/16"}
        self.process = LedgerProcess.objects.create(
            casino=self.casino, name=f"wheel 37: {wheel}", kind="wheel", subject=wheel, variant=37, state=b"{}",
            first_day=DAY, **wealth,
        )  # fmt: skip
        about = {"kind": BatchKind.PAYOUTS, "gaming_day": DAY, "currency": "EUR"}
        error = self.mark(Mark.RECORD, "a letter that nobody can read")
        LedgerSetAside.objects.create(casino=self.casino, error=error, next_try_at=timezone.now(), **about)

    def _keep(self) -> None:
        casino = self.casino
        self.person = Person.objects.create(
            casino=casino,
            code=self.mark(Mark.PERSON),
            kind="player",
            name=self.mark(Mark.NAME, " Anna"),
            note=self.mark(Mark.NAME, " is told"),
        )
        self._list_players()
        self.spare_key, _secret = ApiKey.make(
            casino=casino, name=self.mark(Mark.KEY, "spare"), scopes=list(KeyScope.values)
        )
        values = {"name": self.mark(Mark.KEY, "hook"), "url": "https://hooks.example/", "severities": ["critical"]}
        self.webhook, _secret = webhooks.create(COMMAND, casino=casino, **values)
        change = FindingChange.objects.filter(casino=casino).earliest("position")
        self.dead_letter = DeadLetter.objects.create(webhook=self.webhook, change=change, given_up_at=timezone.now())
        self.deadline = Deadline.objects.create(casino=casino, severity="critical", hours=12)
        self.subscriber = NightSubscriber.objects.create(casino=casino, officer=self.colleague, language="fr")
        now = timezone.now()
        Alert.objects.create(casino=casino, table=self.table, kind="table-silent", since=now, opened_at=now)
        address = f"{self.mark(Mark.MAIL, 'video')}@x.example"
        case = Case.objects.get(pk=self.finding.case_id)
        name = f"{self.mark(Mark.NAME, ' file')}.pdf"
        self.attachment = attachments.attach(self.colleague, case, name, b"%PDF-1.7\n%%EOF\n")
        self.contacts = CaseContacts.objects.create(casino=casino, video_room=address, deputy=self.colleague)
        what_if = what_if_runs.Selection(casino.code)
        self.what_if = what_if_runs.begin(self.mark(Mark.RECORD, "if"), readings={}, selection=what_if, actor="test")
        self.job = Job.objects.create(kind=JobKind.VERIFY, officer=self.colleague, casino=casino)
        self.view = SavedView.objects.create(
            officer=self.colleague, name=self.mark(Mark.RECORD, "view"), query="", is_shared=True
        )
        accounts.deactivate(self.keeper, self.gone, reason="left")
        mail = f"{self.mark(Mark.MAIL, 'new')}@x.example"
        self.request = accounts.propose_email(self.keeper, self.reader, mail, reason="")
        self.token = accounts.issue_link(self.keeper, self.reviewer, is_shown=True)
        waits = Proposal(
            reading="seat_limit",
            value=6,
            first_day=DAY,
            table=self.table,
            reason=self.mark(Mark.RECORD, " says the house"),
        )
        self.entry = register.propose(self.reviewer, casino, waits)

    @property
    def rows(self) -> dict[str, Any]:
        """The row of each model that a page of it shows, by the model's name in addresses."""
        return {
            "finding": self.finding,
            "complaint": self.complaint,
            "informationsigning": self.signed_list,
            "correction": self.correction,
            "job": self.job,
            "paymentorder": self.order,
            "listing": self.listed,
            "ledgerprocess": self.process,
            "nightreport": self.night,
            "nightsubscriber": self.subscriber,
            "person": self.person,
            "failedrun": self.failed_run,
            "quarantined": self.quarantined,
            "casino": self.casino,
            "gamingtable": self.table,
            "apikey": self.spare_key,
            "deadline": self.deadline,
            "casecontacts": self.contacts,
            "officer": self.colleague,
            "loggedstream": self.stream,
            "registerentry": self.entry,
            "whatif": self.what_if,
            "webhook": self.webhook,
            "deadletter": self.dead_letter,
        }


def _ended(what_if: WhatIf) -> None:
    """Have a what-if run read all of its streams."""
    for stream_id in what_if_runs.streams_of(what_if):
        what_if_runs.replay_one(what_if, stream_id)
    what_if_runs.end(what_if)


class World:
    """Casinos A and B, the people and the table systems."""

    def __init__(self) -> None:
        signing_keys._keyring.forget()
        self.chief = Officer.objects.create_superuser("chief", password=PASSWORD)
        self.a, self.b = self.sites = tuple(Site(letter) for letter in LETTERS)
        seal()
        self._compare_all()
        for site in self.sites:
            _ended(site.what_if)
        # A test that truncates the tables may have taken those of the migrations with it.
        self.installation_deadline, _ = Deadline.objects.get_or_create(
            casino=None, severity="critical", defaults={"hours": 24}
        )
        self.people: dict[str, Officer] = {
            "officer": self._person("officer", {self.a: Role.OFFICER}),
            "second": self._person("second", {self.a: Role.SECOND}),
            "director": self._person("director", {self.a: Role.DIRECTOR}),
            "auditor": self._person("auditor", {self.a: Role.AUDITOR}),
            "administrator": self._person("administrator", {self.a: Role.ADMINISTRATOR}),
            "superuser": self.chief,
            "elsewhere": self._person("elsewhere", {self.b: Role.OFFICER}),
            "both": self._person("both", {self.a: Role.OFFICER, self.b: Role.ADMINISTRATOR}),
            "mixed": self._person("mixed", {self.a: Role.OFFICER, self.b: Role.DIRECTOR}),
        }
        self.other_chief = Officer.objects.create_superuser("other-chief", password=PASSWORD)
        self.of_both = self._person("of-both", {self.a: Role.AUDITOR, self.b: Role.AUDITOR})
        for officer in self.people.values():
            TOTPDevice.objects.create(user=officer, confirmed=False, name="phone")
        audit_trail.record("test", "desk.opened", data={})  # so that the installation has its trail of today
        self.exports = {
            (name, site.letter): self._past_at(site, officer)
            for name, officer in self.people.items()
            for site in self.sites
        }
        self.keys = self._keys()

    def _person(self, name: str, roles: dict[Site, Role]) -> Officer:
        officer = Officer.objects.create_user(name, password=PASSWORD, is_staff=True)
        for site, role in roles.items():
            Membership.objects.create(officer=officer, casino=site.casino, role=role)
        return officer

    def _past_at(self, site: Site, officer: Officer) -> Job:
        """Give an officer what is left of work at a casino, whether or not they are still there: an export, a change
        in Django's history. Return the export."""
        LogEntry.objects.create(
            user=officer,
            content_type=ContentType.objects.get_for_model(GamingTable),
            object_id=str(site.table.pk),
            object_repr=str(site.table),
            action_flag=CHANGE,
        )
        return Job.objects.create(
            kind=JobKind.EXPORT,
            officer=officer,
            state=JobState.DONE,
            file=site.mark(Mark.RECORD, " rows").encode(),
            file_name="findings-2026-11-22.csv",
            params={"findings": [site.finding.pk], "form": "csv", "said": [], "language": "en"},
            started_at=timezone.now(),
            ended_at=timezone.now(),
        )

    def _compare_all(self) -> None:
        """Run a what-if over both casinos, with a difference at each."""
        selection = what_if_runs.Selection(None)
        self.what_if_of_all = what_if_runs.begin("of all", readings={}, selection=selection, actor="test")
        _ended(self.what_if_of_all)
        found = WhatIfFinding.objects.filter(what_if=self.what_if_of_all, casino__in=[self.a.casino, self.b.casino])
        found.update(seq=F("seq") + 1)

    def _keys(self) -> dict[str, str]:
        """Return the secrets of the table systems."""
        secrets = {}
        for scope in KeyScope:
            scopes = [scope.value]
            if scope is KeyScope.EVENTS_BACKFILL:  # which is nothing alone
                scopes.append(KeyScope.EVENTS_WRITE.value)
            _key, secrets[scope.value] = ApiKey.make(casino=self.a.casino, name="asks", scopes=scopes)
        every = list(KeyScope.values)
        limited, secrets["table"] = ApiKey.make(casino=self.a.casino, name="asks", scopes=every)
        limited.tables.add(self.a.tenant.other_table)
        _key, secrets["foreign"] = ApiKey.make(casino=self.b.casino, name="asks", scopes=every)
        revoked, secrets["revoked"] = ApiKey.make(casino=self.a.casino, name="asks", scopes=every)
        ApiKey.objects.filter(pk=revoked.pk).update(revoked_at=datetime.now(UTC))
        expired, secrets["expired"] = ApiKey.make(casino=self.a.casino, name="asks", scopes=every)
        ApiKey.objects.filter(pk=expired.pk).update(expires_at=datetime.now(UTC))
        secrets["key"] = self.a.tenant.secret
        ApiKey.objects.update(last_used_at=timezone.now())  # which is stored once in some minutes
        return secrets
