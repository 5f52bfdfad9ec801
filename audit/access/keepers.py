"""Keepers: whose accounts an administrator may act on, and which two accounts may be one person's."""

from __future__ import annotations

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.models import AccountRequest, Membership, Officer, RequestKind, RequestState

SAME_HANDS = _(
    "One of you created the other’s account or reset its password, or one person "
    "could have chosen both passwords. Another officer must decide."
)
"""The refusal of a decision that takes two people."""


def keeps(actor: Officer, officer: Officer) -> bool:
    """Return whether ``actor`` may act on the account of ``officer``: another's, all of whose casinos they keep."""
    if actor.pk == officer.pk:
        return False
    scope = Scope.of(actor, Capability.KEEP_OFFICERS)
    if scope.is_everywhere:
        return True
    casino_ids = casino_ids_of(officer)
    return not officer.is_superuser and bool(casino_ids) and all(scope.includes(each) for each in casino_ids)


def may_decide(actor: Officer, request: AccountRequest) -> bool:
    """Return whether ``actor`` may approve or decline a request: not their own proposal, nor about themselves."""
    return (
        request.state == RequestState.WAITING
        and keeps(actor, request.officer)
        and (request.casino_id is None or Scope.of(actor, Capability.KEEP_OFFICERS).includes(request.casino_id))
        and are_two_people(actor, request)
    )


def are_two_people(actor: Officer, request: AccountRequest) -> bool:
    """Return whether ``actor`` and whoever proposed a request are four eyes.

    A superuser and the first administrator whom they appointed count as two as long as nobody else could decide.
    """
    parties = (request.proposed_by_id, actor.pk, request.officer_id, request.casino_id)
    with connection.cursor() as cursor:
        cursor.execute("select audit_may_decide(%s, %s, %s, %s)", parties)
        return bool(cursor.fetchone()[0])


def same_hands(one: Officer, other: Officer) -> bool:
    """Return whether two accounts may be in the hands of one person, so that they are not four eyes.

    They are if they are one account, if one created the other or issued the link with which its password was chosen,
    or if a third could have chosen both passwords: ``sql/hands_at.sql`` says whose hands an account is in.
    """
    with connection.cursor() as cursor:
        cursor.execute("select audit_same_hands(%s, %s)", (one.pk, other.pk))
        return bool(cursor.fetchone()[0])


def cannot_confirm(actor: Officer, officer: Officer) -> str | None:
    """Return why ``actor`` may not say whose account it is, a key of ``accounts.REFUSALS``; None if they may."""
    with connection.cursor() as cursor:
        cursor.execute("select audit_cannot_confirm(%s, %s)", (actor.pk, officer.pk))
        code: str | None = cursor.fetchone()[0]
    return code


def casino_ids_of(officer: Officer) -> frozenset[int]:
    """Return the casinos of an officer: those of their roles, and those of roles that wait for approval."""
    requested = officer.account_requests.filter(kind=RequestKind.ROLE, state=RequestState.WAITING)
    current = Membership.objects.filter(officer=officer).values_list("casino_id", flat=True)
    return frozenset(current) | frozenset(requested.values_list("casino_id", flat=True))


def kept_by(actor: Officer) -> QuerySet[Officer]:
    """Return the officers whose accounts ``actor`` may act on: see ``keeps``."""
    scope = Scope.of(actor, Capability.KEEP_OFFICERS)
    others = Officer.objects.exclude(pk=actor.pk)
    if scope.is_everywhere:
        return others
    requests = AccountRequest.objects.filter(kind=RequestKind.ROLE, state=RequestState.WAITING)
    own, own_requests = scope.rows(Membership.objects.all()), scope.rows(requests)
    foreign = Membership.objects.exclude(pk__in=own.values("pk"))
    foreign_requests = requests.exclude(pk__in=own_requests.values("pk"))
    return others.filter(
        Q(pk__in=own.values("officer")) | Q(pk__in=own_requests.values("officer")), is_superuser=False
    ).exclude(Q(pk__in=foreign.values("officer")) | Q(pk__in=foreign_requests.values("officer")))


def waiting_for(actor: Officer) -> QuerySet[AccountRequest]:
    """Return the requests that wait about the accounts that ``actor`` keeps, the earliest first."""
    return (
        AccountRequest.objects.filter(state=RequestState.WAITING, officer__in=kept_by(actor))
        .select_related("officer", "casino", "proposed_by")
        .order_by("proposed_at", "pk")
    )
