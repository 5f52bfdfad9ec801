"""Complaints: what a player disputes and no table recorded. Entered and answered by an officer, in the audit trail.

The numbers of a table's stream are the table system's, so a complaint is no event of it: it is an entry of the
officers' trail, and points at the event that stood last.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.actions import MAX_REASON, ActionRefused
from audit.event_store import audit_trail, read
from audit.models import Complaint, ComplaintAnswer, Deadline, LoggedStream, Officer
from audit.models.adjudication import Severity
from audit.models.cases import FALLBACK_HOURS
from audit.models.complaints import Answer, Came
from audit.models.persons import is_person_id
from settlement.codec import decode_one_stored
from settlement.events import DisputeSettled, GoodwillPaid

SEVERITY = Severity.MAJOR
"""A complaint is to be answered within the hours of a case of this severity."""


ENTERED, ANSWERED = "complaint.entered", "complaint.answered"


@dataclass(frozen=True, slots=True)
class Entered:
    """What an officer enters. ``wager`` and ``player`` are ids, "" if not known; ``clock`` is the casino's."""

    stream: LoggedStream
    seq: int
    clock: time
    came: str
    words: str
    wager: str = ""
    player: str = ""


@dataclass(frozen=True, slots=True)
class Payment:
    """What an event of a table paid a player, in minor units. ``player`` is "" where the event names none.

    ``is_approved``: a dispute that is settled without an approval counts as no payment.
    """

    seq: int
    amount: int
    player: str
    is_approved: bool


def enter(officer: Officer, entered: Entered) -> Complaint:
    """Enter a complaint. Raise ``ActionRefused`` where the officer may not, or the entry says too little."""
    stream = entered.stream
    words = audit_trail.cleaned(entered.words, most=MAX_REASON)
    _demand(officer, stream.casino_id)
    if not words:
        raise ActionRefused(_("Enter what the player says."))
    if entered.player and not is_person_id(entered.player):
        raise ActionRefused(_("Enter the player’s id, not a name: the trail keeps it for good."))
    if entered.came not in Came.values:
        raise ActionRefused(_("Choose how the complaint came in."))
    if stream.table is None or not read.slice_of(stream.pk, after=entered.seq - 1, limit=1):
        raise ActionRefused(_("There is no such moment at this table."))
    now = datetime.now(UTC)
    with transaction.atomic():
        complaint = Complaint.objects.create(
            casino_id=stream.casino_id, table=stream.table, stream=stream, seq=entered.seq, clock=entered.clock,
            wager=entered.wager, player=entered.player, came=entered.came, words=words,
            entered_by=officer, entered_at=now, deadline=now + timedelta(hours=_hours(stream.casino_id)),
        )  # fmt: skip
        data = {
            "complaint": complaint.pk, "stream": stream.name, "seq": entered.seq, "clock": f"{entered.clock:%H:%M}",
            "wager": entered.wager, "player": entered.player, "came": entered.came,
            "at": now.isoformat(), "deadline": complaint.deadline.isoformat(),
        }  # fmt: skip
        _record(complaint, officer, ENTERED, data, words)
    return complaint


def answer(
    complaint_id: int, officer: Officer, outcome: str, words: str, *, amount: int | None = None, paid: int | None = None
) -> ComplaintAnswer:
    """Answer a complaint, once and for good. ``paid`` is the seq of the event that paid ``amount``, if there is one.

    Raise ``ActionRefused``: nothing is stored.
    """
    words = audit_trail.cleaned(words, most=MAX_REASON)
    with transaction.atomic():
        complaint = Complaint.objects.select_related("stream").get(pk=complaint_id)
        _demand(officer, complaint.casino_id)
        if outcome not in Answer.values:
            raise ActionRefused(_("Choose an outcome."))
        if not words:
            raise ActionRefused(_("Enter the answer to the player."))
        if outcome != Answer.FOUNDED:
            amount = paid = None
        elif amount is None or amount < 0:
            raise ActionRefused(_("Enter the amount for which it is upheld; 0 if no money is at issue."))
        elif paid is not None and payment_of(complaint, paid) is None:
            raise ActionRefused(
                _(
                    "That event is neither a goodwill payment to a player nor the settlement of a "
                    "dispute in a player’s favour."
                )
            )
        added, is_new = ComplaintAnswer.objects.get_or_create(
            complaint=complaint,
            defaults={
                "outcome": outcome, "amount": amount, "paid_seq": paid, "words": words,
                "answered_by": officer, "answered_at": datetime.now(UTC),
            },
        )  # fmt: skip
        if not is_new:
            raise ActionRefused(_("The complaint has been answered already."))
        data = {"complaint": complaint.pk, "stream": complaint.stream.name, "seq": complaint.seq, "about": outcome}
        currency = complaint.stream.currency if amount is not None else None
        named = (("amount", amount), ("currency", currency), ("paid", paid))
        sums = {name: value for name, value in named if value is not None}
        _record(complaint, officer, ANSWERED, {**data, **sums, "at": added.answered_at.isoformat()}, words)
    return added


def payment_of(complaint: Complaint, seq: int) -> Payment | None:
    """Return what the event of that number, in the stream of the complaint, paid a player; None if it paid nobody."""
    stored = read.events_at(complaint.stream_id, [seq]).get(seq)
    match decode_one_stored(stored) if stored is not None else None:
        case GoodwillPaid(data=paid):
            return Payment(seq, paid.amount, paid.player or "", is_approved=True)
        case DisputeSettled(data=settled) if settled.by == "house":
            return Payment(seq, settled.amount, "", is_approved=bool(settled.approved_by))
    return None


def _demand(officer: Officer, casino_id: int) -> None:
    if not Scope.of(officer, Capability.WORK_CASES).includes(casino_id):
        raise ActionRefused(_("Your role at this casino does not allow this."))


def _hours(casino_id: int) -> int:
    """Return the hours of the casino's own deadline, else of the installation's."""
    deadlines = Deadline.objects.filter(Q(casino=casino_id) | Q(casino=None), severity=SEVERITY)
    own = deadlines.order_by(F("casino").asc(nulls_last=True)).values_list("hours", flat=True).first()
    return FALLBACK_HOURS if own is None else own


def _record(complaint: Complaint, officer: Officer, event: str, data: dict[str, object], words: str) -> None:
    audit_trail.record(officer.get_username(), event, casino_id=complaint.casino_id, data=data, reason=words)
