"""Cases that are open after their deadline: told once to their officer and to the deputy of the casino."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from audit.access.capabilities import Capability
from audit.access.scope import Scope, officers_with
from audit.casework.priority import priorities_of
from audit.event_store import audit_trail
from audit.models import (
    AlertNotice,
    Case,
    CaseContacts,
    Escalation,
    EscalationNotice,
    Finding,
    LoggedStream,
    Officer,
    VideoRequest,
)
from audit.models.cases import State
from audit.models.officers import is_active_account

_Notice = TypeVar("_Notice", EscalationNotice, AlertNotice)

AT_ONCE = 200
"""Cases that one sweep escalates; the next goes on."""


def escalate_late(now: datetime) -> int:
    """Escalate the cases whose deadline has passed, each once for a deadline. Return how many. Idempotent."""
    found = _late(now).order_by("deadline", "pk").values_list("pk", flat=True)[:AT_ONCE]
    return sum(_escalate(case_id, now) for case_id in list(found))


def _late(now: datetime) -> QuerySet[Case]:
    """Return the open cases whose deadline has passed and was not escalated, of findings that stand."""
    escalated = Escalation.objects.filter(case=OuterRef("pk"), deadline=OuterRef("deadline"))
    standing = Finding.objects.standing().filter(case=OuterRef("pk"))
    return Case.objects.filter(~Exists(escalated), Exists(standing), deadline__lt=now).exclude(state=State.CLOSED)


def _escalate(case_id: int, now: datetime) -> bool:
    """Escalate one case. Return False if it was closed, or another worker was first."""
    with transaction.atomic():
        case = _late(now).filter(pk=case_id).select_related("assigned_to").first()
        if case is None:
            return False
        deputy = deputy_of(case.casino_id)
        escalation, is_new = Escalation.objects.get_or_create(
            case=case, deadline=case.deadline, defaults={"deputy": deputy}
        )
        if not is_new:
            return False
        notified = _notified(case, deputy)
        EscalationNotice.objects.bulk_create(EscalationNotice(escalation=escalation, officer=each) for each in notified)
        stream = LoggedStream.objects.filter(pk=case.stream_id).values_list("name", flat=True).first()
        audit_trail.record(
            "system",
            "case.escalated",
            casino_id=case.casino_id,
            data={
                "case": case.pk,
                "stream": stream or "",
                "seq": case.seq,
                "rule": case.rule,
                "wager": case.wager,
                "deadline": case.deadline.isoformat(),
                "to": [each.get_username() for each in notified],
            },
        )
    return True


def deputy_of(casino_id: int) -> Officer | None:
    """Return who takes over late cases of a casino; None if nobody is named, or may work on its cases any more."""
    contacts = CaseContacts.objects.select_related("deputy").filter(casino=casino_id).first()
    deputy = contacts.deputy if contacts is not None else None
    return deputy if deputy is not None and Scope.of(deputy, Capability.WORK_CASES).includes(casino_id) else None


def _notified(case: Case, deputy: Officer | None) -> list[Officer]:
    """Return the deputy, else the administrators, and the officer of the case while they see its record."""
    notified = [deputy] if deputy is not None else list(administrators_of(case.casino_id))
    officer = case.assigned_to
    if officer is None or officer in notified or not Scope.of(officer, Capability.SEE_RECORD).includes(case.casino_id):
        return notified
    return [*notified, officer]


def administrators_of(casino_id: int) -> QuerySet[Officer]:
    return officers_with(Capability.KEEP_EQUIPMENT, [casino_id]).order_by("username")


def escalations_of(cases: Iterable[int]) -> Mapping[int, Escalation]:
    """Return the last escalation of each of the cases that has one, by case: one query."""
    found = Escalation.objects.filter(case__in=list(cases)).order_by("deadline", "pk")
    return {each.case_id: each for each in found.select_related("deputy")}


def requests_to_mail(now: datetime) -> list[int]:
    """Return the ids of the requests for video that no mail server has taken yet, and are to be tried, by priority."""
    waiting = VideoRequest.objects.filter(is_due(now)).order_by("pk")
    levels = priorities_of(Finding.objects.filter(pk__in=waiting.values("finding")))
    by_priority = sorted(waiting, key=lambda each: -(levels[each.finding_id] or 0))
    return [each.pk for each in by_priority]


def officers_to_mail(now: datetime) -> list[tuple[int, int]]:
    """Return the officers with an address who were not told yet of a late case, each with the casino of the case."""
    both = ("officer", "escalation__case__casino")
    return list(notices_to_mail(now).order_by(*both).values_list(*both).distinct()[:AT_ONCE])


def notices_to_mail(now: datetime) -> QuerySet[EscalationNotice]:
    """Return the notices that are to be tried: of open cases, to officers with an address."""
    waiting = EscalationNotice.objects.filter(is_due(now), is_active_account("officer__")).exclude(officer__email="")
    return waiting.exclude(escalation__case__state=State.CLOSED)


def waiting_since(now: datetime, casinos: Collection[int] | None) -> list[datetime]:
    """Return since when each message waits that is to be mailed now, to an officer who has a role at its casino."""
    requests = VideoRequest.objects.filter(is_due(now)).order_by("pk")
    notices = notices_to_mail(now).select_related("escalation__case", "officer").order_by("pk")
    if casinos is not None:
        requests = requests.filter(case__casino__in=casinos)
        notices = notices.filter(escalation__case__casino__in=casinos)
    receivable = receivable_of(notices, lambda each: each.escalation.case.casino_id, *Capability)
    return [
        *(each.next_try_at or each.requested_at for each in requests),
        *(each.next_try_at or each.escalation.at for each in receivable),
    ]


def receivable_of(
    notices: Iterable[_Notice], casino_of: Callable[[_Notice], int], *capabilities: Capability
) -> Iterator[_Notice]:
    """Yield the notices whose officer has one of ``capabilities`` at their casino. Roles are read once an officer."""
    scopes: dict[int, Scope] = {}
    for each in notices:
        if each.officer_id not in scopes:
            scopes[each.officer_id] = Scope.of(each.officer, *capabilities)
        if scopes[each.officer_id].includes(casino_of(each)):
            yield each


def is_due(now: datetime) -> Q:
    """Return what is true of a message that is to be mailed now."""
    return Q(sent_at=None, given_up_at=None) & (Q(next_try_at=None) | Q(next_try_at__lte=now))
