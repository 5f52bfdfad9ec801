"""Legal holds: while a case is held, the months of its stream are neither archived nor destroyed."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import OuterRef, QuerySet, Subquery

from audit.models import Case, CaseAction

HELD, LIFTED = "case.held", "case.hold_lifted"


def held(cases: QuerySet[Case]) -> QuerySet[Case]:
    """Return those of ``cases`` that are held: whose newest action about a hold places one."""
    # Few cases ever were: without this, PostgreSQL looks for the newest action of each.
    once = CaseAction.objects.filter(type=HELD).values("case")
    about_holds = CaseAction.objects.filter(case=OuterRef("pk"), type__in=(HELD, LIFTED)).order_by("-at", "-pk")
    newest = Subquery(about_holds.values("type")[:1])
    return cases.filter(pk__in=once).alias(newest_hold=newest).filter(newest_hold=HELD)


def hold_of(case: Case) -> CaseAction | None:
    """Return the action that holds a case: by whom, when and why. None if it is not held."""
    return hold_among(CaseAction.objects.filter(case=case, type__in=(HELD, LIFTED)).select_related("officer"))


def hold_among(actions: Iterable[CaseAction]) -> CaseAction | None:
    """Return what ``hold_of`` does, of a case whose ``actions`` are these, in their order."""
    about_holds = [action for action in actions if action.type in (HELD, LIFTED)]
    return about_holds[-1] if about_holds and about_holds[-1].type == HELD else None
