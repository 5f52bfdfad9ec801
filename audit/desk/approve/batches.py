"""Closings that are decided at once: one officer proposed them at one casino with one outcome and one reason.

A batch is no row of the database. It is what waits now and is alike: what was withdrawn or sent back is in none.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, QuerySet
from django.http import HttpRequest

from audit.desk.approve import waiting
from audit.models import Case, Finding

MOST = 100
"""Cases of a batch that one page shows, and one signature decides."""

SAMPLE = 5
"""Cases of a batch that its page shows with what was found."""

_ALIKE = ("casino", "proposed_by", "outcome", "reason")
_GROUPED = tuple(f"case__{name}" for name in _ALIKE)


def batches(request: HttpRequest) -> QuerySet[Any]:
    """Return the batches that this officer may decide, as rows: ``first``, the id of a finding, and ``cases``."""
    rows: Any = waiting.closings(request).order_by().values(*_GROUPED)
    found: QuerySet[Any] = rows.annotate(first=Min("pk"), cases=Count("case", distinct=True)).filter(cases__gte=2)
    return found


def alone(request: HttpRequest) -> QuerySet[Finding]:
    """Return the closings that are in no batch."""
    same = {name: OuterRef(name) for name in _GROUPED}
    others = waiting.closings(request).filter(**same).exclude(case=OuterRef("case"))
    return waiting.closings(request).exclude(Exists(others))


def members(request: HttpRequest, case: Case) -> QuerySet[Finding]:
    """Return the incidents of the batch of a proposed closing, the most urgent first."""
    alike = {f"case__{name}": getattr(case, name) for name in _ALIKE}
    return waiting.closings(request).filter(**alike).order_by(*waiting.CLOSINGS_FIRST)
