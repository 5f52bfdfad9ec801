"""A record as a casino makes it: everything that officers read in tables, and that follows from the log.

tables   dice     closed, with findings whose cases officers have worked on
         open     the same, and the table goes on
         waits    closed, corrected after money moved; nobody has decided
         refused  closed, the correction was refused
         decided  closed, read again after two officers approved the correction: findings are superseded
         R1       roulette, counted; its night is reported twice, with sign-off exceptions, and closed by two
         R2       roulette, one player buys chips for an amount that is reported
register an entry of every state
others   findings of the night, of persons' money and of ingestion
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db.models import Max
from django.utils import timezone

from audit.casework import actions, payment_orders
from audit.models import (
    CLEARED,
    Case,
    Finding,
    ListKind,
    LoggedStream,
    NightReport,
    Officer,
    OrderKind,
    PaymentOrder,
    Person,
    PersonKind,
    RegisterEntry,
    Role,
    Sighting,
    SightingOutcome,
)
from audit.models import Casino as CasinoRow
from audit.persons import listings, sightings
from audit.projections.verify import Derived, verify_derived
from audit.reconciliation import runs
from audit.reconciliation.versions import add_signoff_exception, missing_signoff_exceptions, sign
from audit.register import entries
from audit.register.entries import Proposal
from audit.transparency.verify import Fault
from tests.audit.casework.test_actions import hired
from tests.audit.corrections.corrections_desk import CorrectionsDesk, replayed
from tests.audit.persons.test_sightings import played
from tests.audit.reconciliation.played import DAY, MORNING, Events, buy_ins, count, record, session
from tests.audit.reconciliation.test_persons import bought
from tests.audit.tables import Tenant, dice_changed_in_mid_series, numbered
from tests.audit.transparency.sealed import seal, verified

CLOSED = ("session.closed", {"float": 5_000_000})
LATER = date(2027, 1, 1)
"""From when what the register says is in force: after every night that was played."""


def faults(casino_id: int | None = None, *, deep: bool = False) -> list[Fault]:
    """Verify the log and all that follows from it, as ``manage.py verify`` does; return what does not hold."""
    own = set(LoggedStream.objects.filter(casino__gt=_before["casino"]).values_list("name", flat=True))
    found = _faults(casino_id, deep=deep)
    return [fault for fault in found if (fault.stream in own if fault.stream else str(fault) not in COMMITTED)]


def _faults(casino_id: int | None, *, deep: bool) -> list[Fault]:
    outcome = verified(decisions=[casino_id])
    return outcome.faults + verify_derived(casino_id, outcome, deep=deep).faults


COMMITTED: set[str] = set()
"""What does not hold of what tests before this one have committed: their tables are emptied, and the log is not."""


_before = {"casino": 0}
"""The last casino before the test: streams of later ones are the test's own."""


def note_committed() -> None:
    """Note what does not hold before a test begins."""
    # Of casinos whose rows are gone, the log still has the streams.
    lasts = (CasinoRow.objects.aggregate(last=Max("pk")), LoggedStream.objects.aggregate(last=Max("casino_id")))
    _before["casino"] = max(each["last"] or 0 for each in lasts)
    COMMITTED.clear()
    COMMITTED.update(str(fault) for fault in _faults(None, deep=True))


def derived(casino_id: int | None = None, *, deep: bool = False) -> Derived:
    """Hold the tables against the log; return what was held, and what does not hold."""
    return verify_derived(casino_id, verified(), deep=deep)


def of_a_session(first: dict[str, Any], events: Events, *, closed: bool = True) -> Events:
    """Return the events of a session, and its close if it is closed."""
    if not closed:
        return events
    closing = numbered(first, *[("no_more_bets", {})] * (len(events) - 1), CLOSED)[-1]
    return [*events, closing]


@dataclass
class Casino:
    """One casino, its officers and its record."""

    desk: CorrectionsDesk = field(default_factory=CorrectionsDesk)

    def __post_init__(self) -> None:
        self.tenant: Tenant = self.desk.tenant
        self.casino = self.desk.casino
        self.officer, self.second, self.other = self.desk.officer, self.desk.second, self.desk.other
        self.director = self.desk.director
        self.auditor = hired(self.tenant, Role.AUDITOR, "auditor")

    def name(self, session: str) -> str:
        """Return the name of one of its streams, which no other casino has."""
        return f"{session}-{self.tenant.code}"

    def played(self, name: str, *, closed: bool = True) -> int:
        """Record a session with findings, and read it. Return its stream's id."""
        stream = self.name(name)
        events = of_a_session(
            self.tenant.opener(stream), dice_changed_in_mid_series(self.tenant, stream), closed=closed
        )
        assert self.tenant.post(stream, events).status_code == 201
        stream_id = self.tenant.stream(stream).stream_id
        replayed(stream_id)
        return stream_id

    def unpaid(self, name: str) -> None:
        """Record a session in which a winner is swept and not paid and the bank is filled, and read it."""
        stream = self.name(name)
        opened = {"game": "french_roulette", "ruleset": "fr-roulette", "observes": ["collections"]}
        events = numbered(
            self.tenant.opener(stream, **opened),
            ("wager.placed", {"wager": "w1", "bet": "rouge", "stake": 1_000, "player": "p1"}),
            ("ball.settled", {"pocket": "1"}),
            ("stakes.collected", {"wagers": ["w1"]}),
            ("ball.settled", {"pocket": "2"}),
            ("bank.filled", {"amount": 100, "slip": "F-001"}),
            ("bank.filled", {"amount": 100, "slip": "F-002"}),
            CLOSED,
        )
        answer = self.tenant.post(stream, events)
        assert answer.status_code == 201, answer.content
        replayed(self.tenant.stream(stream).stream_id)

    def corrected(self, name: str, *, closed: bool = True) -> int:
        """Record a session that is corrected after money moved, and read it. Return its stream's id."""
        return self.desk.session(self.name(name), *([CLOSED] if closed else []))

    def cases_of(self, stream_id: int) -> list[int]:
        """Return the cases of what stands in a session, in the order of the events."""
        found = Finding.objects.standing().filter(stream_id=stream_id, case__isnull=False)
        return sorted(set(found.values_list("case_id", flat=True)))

    def close_case(self, case_id: int, *, by: Officer | None = None) -> Case:
        """Have two officers close a case that is new or under investigation."""
        actions.perform(case_id, self.officer, "take")
        actions.perform(case_id, self.officer, "propose", reason="the camera shows it", outcome="confirmed")
        return actions.perform(case_id, by or self.second, "approve")

    def propose(self, reading: str, value: Any, **more: Any) -> RegisterEntry:
        proposal = Proposal(reading=reading, value=value, **{"first_day": LATER, "reason": "custom", **more})
        return entries.propose(self.second, self.casino, proposal)

    def reconciled(self) -> NightReport:
        """Reconcile the night of its sessions; return its newest report."""
        reports = runs.reconcile(self.casino, DAY, actor="beat", now=MORNING)
        return next(report for report in reports if report.currency == "EUR")


def whole_record() -> Casino:
    """Return a casino with all of it."""
    casino = Casino()
    dice = casino.played("dice")
    casino.played("open", closed=False)
    casino.unpaid("unpaid")
    casino.corrected("waits")
    casino.desk.refused(casino.corrected("refused"))
    decided = casino.corrected("decided")
    casino.desk.approved(decided)
    _treat_cases(casino, casino.cases_of(dice), casino.cases_of(decided))
    replayed(decided)
    _keep_register(casino)
    _conflict(casino, "conflict")
    _play_night(casino)
    _order_payments(casino)
    _list_players(casino)
    seal()
    return casino


def _treat_cases(casino: Casino, of_dice: list[int], of_decided: list[int]) -> None:
    """Have officers work: every state a case can be in, and every action that is cheap to do."""
    closed, reopened, *rest = of_dice
    casino.close_case(closed)
    casino.close_case(reopened)
    actions.perform(reopened, casino.other, "reopen", reason="it happened again")
    actions.perform(reopened, casino.other, "assign", assignee=casino.officer)
    actions.perform(reopened, casino.officer, "comment", reason="camera 4, 20:14")
    for case_id in of_decided[:1] + rest[:1]:
        actions.perform(case_id, casino.officer, "take")
        actions.perform(case_id, casino.officer, "propose", reason="seen on video", outcome="explained")
        actions.perform(case_id, casino.second, "send_back", reason="which camera?")
        actions.perform(case_id, casino.officer, "propose", reason="camera 2", outcome="mistaken")
    for case_id in of_decided[1:2]:
        actions.perform(case_id, casino.officer, "take")
        actions.perform(case_id, casino.officer, "release")


def _order_payments(casino: Casino) -> None:
    """Have officers pay a claim of the house, whose player was not found before, and waive one that a player owes."""
    for case in Case.objects.filter(casino=casino.casino).order_by("pk"):
        for owing in payment_orders.owings_of(case.pk):
            kind = OrderKind.PAYMENT if owing.by == "house" else OrderKind.WAIVER
            if PaymentOrder.objects.filter(casino=casino.casino, kind=kind).exists():
                continue
            first, since = kind, None
            if kind == OrderKind.PAYMENT:
                first, since = (
                    OrderKind.NOT_FOUND,
                    payment_orders.findings_of(case.pk, "house", owing.player)[0].gaming_day,
                )
            begun = payment_orders.begin(
                casino.officer, case, owing, first, reason="the player is away", not_found_on=since
            )
            payment_orders.cancel(casino.second, begun, reason="the player came back")
            order = payment_orders.begin(casino.officer, case, owing, kind, reason="the player asks again")
            order = payment_orders.approve(casino.second, order) if order.state == "waiting" else order
            if kind == OrderKind.PAYMENT:
                payment_orders.record_paid(casino.officer, order, receipt="R-1", cage="main", paid_on=DAY)
    assert PaymentOrder.objects.filter(casino=casino.casino, state__in=CLEARED).count() == 2


def _list_players(casino: Casino) -> None:
    """Have officers put players on lists: one stays, one is taken off, one is declined, and one waits."""
    names = ("stays", "leaves", "declined", "waits")
    for name in names:
        Person.objects.create(casino=casino.casino, code=name, kind=PersonKind.PLAYER, name=f"Player {name}")
    stays, leaves, declined, _waits = (
        listings.propose(casino.officer, casino.casino, ListKind.EXCLUSION, name, reason="seen", last_day=LATER)
        for name in names
    )
    for listing in (stays, leaves):
        listings.approve(casino.second, listing)
    for listing in (stays, leaves):
        listing.refresh_from_db()
        leaving = listings.propose_removal(casino.second, listing, reason="asked for")
        if listing == leaves:
            listings.approve(casino.director, leaving)
        else:
            listings.decline(casino.director, leaving, reason="too early")
    listings.decline(casino.second, declined, reason="a slip")
    played(casino.tenant, "seen", "stays")
    replayed(casino.tenant.stream(casino.name("seen")).stream_id)
    assert sightings.sweep(timezone.now()) == 1
    sighting = Sighting.objects.get(listing=stays)
    listings.dismiss(casino.second, sighting, SightingOutcome.SHOWN_OUT, reason="he left without a word")


def _keep_register(casino: Casino) -> None:
    entries.approve(casino.director, casino.propose("payout_unit", 100).pk, reason="chips of 1 euro")
    entries.approve(casino.director, casino.propose("seat_limit", 6, reason="the smaller table").pk)
    entries.decline(casino.director, casino.propose("payout_unit", 200).pk, reason="there are no such chips")
    entries.withdraw(casino.second, casino.propose("payout_unit", 500).pk, reason="a slip")
    casino.propose("seat_limit", 5)


def _conflict(casino: Casino, name: str) -> None:
    """Send an event a second time with other content."""
    stream = casino.name(name)
    sent = numbered(casino.tenant.opener(stream, table="T2"), ("no_more_bets", {}), CLOSED)
    assert casino.tenant.post(stream, sent).status_code == 201
    assert casino.tenant.send(stream, [sent[1] | {"actor": "somebody else"}]).status_code == 409
    replayed(casino.tenant.stream(stream).stream_id)


def _play_night(casino: Casino) -> None:
    """Play two tables, count one of them wrong, report, correct the count, report again, and sign."""
    events = session(casino.casino, "R1", coups=4, irregularities=["payout-overpaid"])
    roulette = record(casino.casino, events)
    replayed(roulette)
    replayed(bought(casino.casino, "R2", 900_000, 400_000))
    box = count(casino.casino, {events[0]["stream"]: 0}, closed=False)
    record(casino.casino, box)
    seal()
    casino.reconciled()
    right = {"session": events[0]["stream"], "amount": buy_ins(events), "counted_by": ["Ida", "Max"]}
    correction = {"corrects": 2, "data": right, "reason": "a second box", "approved_by": "Ida"}
    record(casino.casino, [{**box[-1], "seq": 3, "type": "entry.corrected", "data": correction}])
    seal()
    report = casino.reconciled()
    assert report.version == 2
    for code in missing_signoff_exceptions(report):
        add_signoff_exception(report, code, f"{code}: known, and explained in the file", officer=casino.officer)
    sign(report, officer=casino.second, now=MORNING)
    sign(report, officer=casino.director, now=MORNING)
