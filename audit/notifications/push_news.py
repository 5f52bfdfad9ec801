"""What an officer's browser is notified of at once, and in which words: no name, no id of a person, no sum.

critical   an incident of the gravest severity, at a casino where the officer works on cases or approves them
mention    another officer has written the officer's name in a case
reopened   a night has another version after the officer's signature
excluded   an excluded player is at a table
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.inbox import mention_of
from audit.models import (
    CaseAction,
    Finding,
    ListKind,
    NightReport,
    Officer,
    PushKind,
    PushMessage,
    Sighting,
)
from audit.models.adjudication import Severity
from audit.presentation import day, reference
from audit.reconciliation.reopened import reopened_for

NEWS_FOR = timedelta(days=1)
"""How long ago something may have happened of which a browser is notified: an import of old sessions is no news."""

AT_ONCE = 20
"""Most notifications of one kind."""


def news_for(officer: Officer, since: datetime, now: datetime) -> Iterator[tuple[PushKind, int]]:
    """Yield what became known since an instant, and not before the last day: its kind, and its id by the kind."""
    since = max(since, now - NEWS_FOR)
    queries: Mapping[PushKind, tuple[QuerySet[Finding] | QuerySet[CaseAction] | QuerySet[Sighting], str]] = {
        PushKind.CRITICAL: (
            _critical(officer).filter(case__opened_at__gt=since, occurred_at__gt=since - NEWS_FOR),
            "case",
        ),
        PushKind.MENTION: (_mentions(officer).filter(at__gt=since), "pk"),
        PushKind.EXCLUDED: (_excluded(officer).filter(seen_at__gt=since), "pk"),
    }
    for kind, (rows, name) in queries.items():
        for about in rows.order_by("-pk").values_list(name, flat=True)[:AT_ONCE]:
            yield kind, about
    for report in _reopened(officer).filter(made_at__gt=since)[:AT_ONCE]:
        yield PushKind.REOPENED, report.pk


def content_of(message: PushMessage) -> Mapping[str, str] | None:
    """Return what a browser shows, in its language: ``text``, and ``path``, the page that it opens, from the desk's
    address. None if it is no longer news for the officer."""
    officer = message.subscription.officer
    with translation.override(message.subscription.language):
        match message.kind:
            case PushKind.CRITICAL:
                head = _critical(officer).filter(case=message.about).first()
                if head is not None:
                    return _about(head, _("Critical incident: %(reference)s"))
            case PushKind.MENTION:
                action = _mentions(officer).filter(pk=message.about).first()
                head = _heads(officer).filter(case=action.case_id).first() if action is not None else None
                if head is not None:
                    return _about(head, _("You are mentioned: %(reference)s"))
            case PushKind.REOPENED:
                report = _reopened(officer).filter(pk=message.about).select_related("casino").first()
                if report is not None:
                    facts = {"day": day(report.gaming_day, with_year=True), "casino": report.casino.code}
                    text = _("Reopened after your signature: night of %(day)s at %(casino)s") % facts
                    return {"text": text, "path": f"audit/nightreport/{report.pk}/change/"}
            case PushKind.EXCLUDED:
                seen = _excluded(officer).filter(pk=message.about).select_related("listing__casino").first()
                if seen is not None:
                    text = _("Excluded player at a table, %(casino)s") % {"casino": seen.listing.casino.code}
                    return {"text": text, "path": "inbox/"}
    return None


def _about(head: Finding, text: str) -> Mapping[str, str]:
    return {"text": text % {"reference": reference(head)}, "path": f"audit/finding/{head.pk}/change/"}


def _heads(officer: Officer) -> QuerySet[Finding]:
    """Return the incidents with a case whose record the officer sees: none of a sandbox, which opens no case."""
    scope = Scope.of(officer, Capability.SEE_RECORD)
    return scope.rows(Finding.objects.standing().filter(heads_case=True))


def _critical(officer: Officer) -> QuerySet[Finding]:
    working = Scope.of(officer, Capability.WORK_CASES, Capability.APPROVE_CASES)
    return working.rows(_heads(officer)).filter(severity=Severity.CRITICAL)


def _mentions(officer: Officer) -> QuerySet[CaseAction]:
    seen = CaseAction.objects.filter(case__in=_heads(officer).values("case"))
    return seen.filter(reason__regex=mention_of(officer)).exclude(officer=officer)


def _reopened(officer: Officer) -> QuerySet[NightReport]:
    scope = Scope.of(officer, Capability.SEE_RECORD)
    return reopened_for(officer, NightReport.objects.filter(casino__in=scope.casinos()))


def _excluded(officer: Officer) -> QuerySet[Sighting]:
    working = Scope.of(officer, Capability.WORK_CASES, Capability.APPROVE_CASES)
    return Sighting.objects.filter(listing__kind=ListKind.EXCLUSION, listing__casino__in=working.casinos())
