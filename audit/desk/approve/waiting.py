"""What others proposed and this officer may decide, at the casinos where they may: never what is their own.

Whether two accounts are in the same hands is looked at when the officer decides: such a line may stand here, and says
why it cannot be decided on its own page.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from audit.access import keepers
from audit.access.capabilities import Capability
from audit.corrections import waiting
from audit.desk.findings.queues import HEADS
from audit.desk.scoped_admin import officer_of, scope_of
from audit.models import (
    UNDECIDED,
    AccountRequest,
    CorrectionDecision,
    Finding,
    Listing,
    ListState,
    OrderState,
    PaymentOrder,
    RegisterEntry,
    RequestState,
    SessionClosing,
)
from audit.models.cases import State

CLOSINGS_FIRST = ("case__deadline", "pk")
"""The order of closings: the most urgent first."""

CORRECTIONS_FIRST = ("opened_at", "pk")
"""The order of corrections: the oldest first."""


def closings(request: HttpRequest) -> QuerySet[Finding]:
    """Return the incidents whose closing another officer proposed."""
    proposed = Finding.objects.standing().filter(HEADS, case__state=State.SECOND)
    mine = scope_of(request, Capability.APPROVE_CASES).rows(proposed)
    return mine.exclude(case__proposed_by=officer_of(request))


def corrections(request: HttpRequest) -> QuerySet[Finding]:
    """Return the findings of corrections that wait for two officers, without those that this one has decided about."""
    decided = CorrectionDecision.objects.filter(
        stream=OuterRef("stream_id"), seq=OuterRef("seq"), officer=officer_of(request)
    )
    waits = waiting.waiting(Finding.objects.standing())
    deciders = scope_of(request, Capability.WORK_CASES, Capability.APPROVE_CASES)
    return deciders.rows(waits).exclude(Exists(decided))


def entries(request: HttpRequest) -> QuerySet[RegisterEntry]:
    """Return the entries of the house register that another officer proposed."""
    waits = RegisterEntry.objects.filter(state=RequestState.WAITING).exclude(proposed_by=officer_of(request))
    return scope_of(request, Capability.KEEP_REGISTER).rows(waits)


def sessions(request: HttpRequest) -> QuerySet[SessionClosing]:
    """Return the sessions that another officer proposed to close."""
    waits = SessionClosing.objects.filter(state=RequestState.WAITING).exclude(proposed_by=officer_of(request))
    return scope_of(request, Capability.APPROVE_CASES).rows(waits)


def orders(request: HttpRequest) -> QuerySet[PaymentOrder]:
    """Return the payment orders, waivers and sums to keep that another officer asked for and that take a second one."""
    waits = PaymentOrder.objects.filter(state=OrderState.WAITING).exclude(ordered_by=officer_of(request))
    return scope_of(request, Capability.APPROVE_CASES).rows(waits)


def listings(request: HttpRequest) -> QuerySet[Listing]:
    """Return the entries of lists that another officer proposed, and those whose removal another proposed."""
    actor = officer_of(request)
    own = Q(state=ListState.WAITING, proposed_by=actor) | Q(state=ListState.LEAVING, removal_by=actor)
    return scope_of(request, Capability.APPROVE_CASES).rows(Listing.objects.filter(state__in=UNDECIDED).exclude(own))


def accounts(request: HttpRequest) -> QuerySet[AccountRequest]:
    """Return the requests about accounts that another administrator proposed, the earliest first."""
    actor = officer_of(request)
    return keepers.waiting_for(actor).exclude(proposed_by=actor)
