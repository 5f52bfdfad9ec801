"""Complaints where they are about something that another page shows: a session, a finding, a player."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from audit.models import Complaint, Finding
from audit.presentation import local

SHOWN = 6

NEAR = 40
"""Events before and after a finding that is about no wager, in which a complaint is shown beside it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A complaint as one line."""

    complaint: Complaint
    is_answered: bool


def complaints_in(complaints: QuerySet[Complaint]) -> list[Line]:
    """Return the first of some complaints, those that wait before the others: two queries, one without any."""
    if not complaints.exists():
        return []
    rows = complaints.select_related("answer", "table", "stream").order_by("-answer__pk", "deadline", "pk")
    return sorted(_lines(rows[:SHOWN]), key=lambda line: line.is_answered)


def _lines(rows: QuerySet[Complaint]) -> Iterator[Line]:
    for each in rows:
        yield Line(each, hasattr(each, "answer"))


def about_finding(finding: Finding) -> list[Line]:
    """Return the complaints about the wager of a finding, or about the coup where it names none."""
    near = Q(seq__range=(finding.seq - NEAR, finding.seq + NEAR))
    about = Q(wager=finding.wager) | near & Q(wager="") if finding.wager else near
    return complaints_in(Complaint.objects.filter(about, stream_id=finding.stream_id))


def entry_address(finding: Finding) -> str:
    """Return where a complaint about what a finding is about is entered, with what is known filled in."""
    known = {
        "table": str(finding.table_id),
        "day": finding.gaming_day.isoformat(),
        "clock": f"{local(finding.occurred_at, finding.casino):%H:%M}",
        "wager": finding.wager,
        "player": finding.player,
    }
    return (
        f"{reverse('admin:audit_complaint_add')}?{urlencode({name: value for name, value in known.items() if value})}"
    )
