"""What waits for one officer: a query over cases and the actions of others on them. There is no table of messages.

An action of another officer stands in the inbox for a week, or until the officer acts on that case. A deadline and the
end of a video stand there while the case is open and the officer's own.

    assigned     another officer gave me the case
    mentioned    a note, a reason or an answer has my name: @ada
    decided      the closing that I proposed was approved, or sent back
    reopened     a case on which I worked was reopened
    due          my cases whose deadline is before the end of the gaming day
    video        my cases whose video is about to be deleted, and nobody has asked for it
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.casework.debts import with_money
from audit.casework.priority import with_priority
from audit.casework.urgency import priority_of
from audit.models import Case, CaseAction, Casino, Finding, Officer, VideoRequest
from audit.models.cases import State

SHOWN_FOR = timedelta(days=7)
"""How long an act of another officer stands in the inbox."""

VIDEO_ENDS_WITHIN = timedelta(days=2)
"""How long before its end a video is named."""

MOST = 100
"""Lines of one kind."""

KINDS = ("due", "video", "mentioned", "assigned", "reopened", "decided")
"""The kinds of lines, the most urgent first."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the incident, when, and the action of another officer that it is about; None for a date that comes."""

    kind: str
    finding: Finding
    at: datetime
    action: CaseAction | None = None


def lines_of(officer: Officer, casino_ids: Sequence[int], now: datetime) -> Mapping[str, Sequence[Line]]:
    """Return the lines of an officer at casinos, by kind, in the order of ``KINDS``; kinds without a line are left out.

    Cases whose finding stands no more are left out, and so are casinos whose record the officer may not see.
    """
    scope = Scope.of(officer, Capability.SEE_RECORD)
    casinos = Casino.objects.filter(pk__in=[pk for pk in casino_ids if scope.includes(pk)]).in_bulk()
    found: dict[str, list[Line]] = {kind: [] for kind in KINDS}
    for line in (*_dated(officer, casinos, now), *_of_others(officer, casinos, now)):
        found[line.kind].append(line)
    return {kind: lines[:MOST] for kind, lines in found.items() if lines}


def actions_of_others(officer: Officer, now: datetime) -> QuerySet[CaseAction]:
    """Return the actions of other officers that are in an officer's inbox, the newest first."""
    own = CaseAction.objects.filter(case=OuterRef("case"), officer=officer)
    before = own.filter(at__lt=OuterRef("at"))
    proposed = before.filter(type="case.proposed")
    about = (
        Q(type="case.assigned", about=officer.get_username(), case__assigned_to=officer)
        | Q(reason__regex=mention_of(officer))
        # PostgreSQL reads conditions in this order: it looks for an earlier action where the type asks for one.
        | (Q(type__in=("case.closed", "case.sent_back")) & Q(Exists(proposed)))
        | (Q(type="case.reopened") & Q(Exists(before)))
    )
    recent = CaseAction.objects.filter(at__gt=now - SHOWN_FOR).exclude(officer=officer)
    return recent.filter(about).exclude(Exists(own.filter(at__gt=OuterRef("at")))).order_by("-at", "-pk")


def mention_of(officer: Officer) -> str:
    """Return the regular expression of PostgreSQL that finds the officer's name after an @, and no longer name."""
    return rf"(^|[^A-Za-z0-9_.+@-])@{re.escape(officer.get_username())}($|[^A-Za-z0-9_.+@-]|\.($|\s))"


def _of_others(officer: Officer, casinos: Mapping[int, Casino], now: datetime) -> Iterator[Line]:
    found = actions_of_others(officer, now).filter(case__casino__in=casinos).select_related("officer", "case")
    listed = list(found[: MOST * len(KINDS)])
    heads = _heads(each.case_id for each in listed)
    mentioned = re.compile(mention_of(officer))
    for each in listed:
        if each.case_id in heads:
            yield Line(
                _kind_of(each, is_mention=bool(mentioned.search(each.reason))), heads[each.case_id], each.at, each
            )


def _kind_of(action: CaseAction, *, is_mention: bool) -> str:
    if is_mention:
        return "mentioned"
    return {"case.assigned": "assigned", "case.reopened": "reopened"}.get(action.type, "decided")


def _dated(officer: Officer, casinos: Mapping[int, Casino], now: datetime) -> Iterator[Line]:
    """Yield the officer's open cases that are due on this gaming day, and those whose video ends soon."""
    own = Case.objects.filter(assigned_to=officer, casino__in=casinos).exclude(state__in=(State.CLOSED, State.SECOND))
    cases = own.order_by("deadline", "pk").in_bulk()
    heads = _heads(cases)
    requested = set(VideoRequest.objects.filter(case__in=cases).values_list("case", flat=True))
    ends = {pk: end_of_day(casino, now) for pk, casino in casinos.items()}
    for pk, case in sorted(cases.items(), key=lambda each: (each[1].deadline, each[0])):
        if pk in heads and case.deadline < ends[case.casino_id]:
            yield Line("due", heads[pk], case.deadline)
    for pk, finding in sorted(
        heads.items(), key=lambda each: (-(priority_of(each[1]) or 0), each[1].occurred_at, each[0])
    ):
        until = finding.occurred_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS)
        if finding.table_id is not None and pk not in requested and now < until < now + VIDEO_ENDS_WITHIN:
            yield Line("video", finding, until)


def end_of_day(casino: Casino, now: datetime) -> datetime:
    """Return when the gaming day of a casino ends."""
    return casino.cutoff_at(casino.gaming_day_at(now) + timedelta(days=1))


def _heads(cases: Iterator[int] | Mapping[int, Case]) -> dict[int, Finding]:
    """Return the incident of each case whose finding stands, by case, with its priority and its money."""
    heads = Finding.objects.standing().filter(heads_case=True, case__in=list(cases))
    described = with_money(with_priority(heads.select_related("casino", "table", "case")))
    return {each.case_id or 0: each for each in described}
