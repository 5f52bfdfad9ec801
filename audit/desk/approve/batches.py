"""Closings that are decided at once: one officer proposed them at one casino with one outcome and one reason.

A batch is no row of the database. It is what waits now and is alike: what was withdrawn or sent back is in none.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from audit.casework.debts import LOSERS, sums_owed
from audit.casework.stakes import Stake
from audit.desk import parts
from audit.desk.approve import waiting
from audit.models import Case, Finding
from audit.presentation import money_in_prose

MOST = 100
"""Cases of a batch that one page shows, and one signature decides."""

SAMPLE = 5
"""Cases of a batch that its page shows with what was found."""

_ALIKE = ("casino", "proposed_by", "outcome", "reason")
_GROUPED = tuple(f"case__{name}" for name in _ALIKE)


def batches(request: HttpRequest) -> QuerySet[Any]:
    """Return the batches that this officer may decide, as ``batch_rows`` has them."""
    return batch_rows(waiting.closings(request))


def batch_rows(closings: QuerySet[Finding]) -> QuerySet[Any]:
    """Return the batches among ``closings``, as rows: ``first``, the id of a finding, and ``cases``."""
    rows: Any = closings.order_by().values(*_GROUPED)
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


def first_of(request: HttpRequest, pk: int) -> int | None:
    """Return the id of the first finding of the batch in which a closing is; None for one that is in no batch."""
    finding = waiting.closings(request).select_related("case").filter(pk=pk).first()
    if finding is None or finding.case is None:
        return None
    found = batch_rows(members(request, finding.case)).order_by("first").first()
    return found["first"] if found else None


def owed_by(findings: QuerySet[Finding]) -> SafeString:
    """Return what is owed by the incidents of a batch, each sum with the sign of the side that is owed; "" for none."""
    standing = Finding.objects.standing().filter(case__in=findings.order_by().values("case"))
    stakes = (
        Stake(LOSERS[by], money_in_prose(total, currency), "")
        for currency, by, _casino, total, *_others in sums_owed(standing).order_by("currency", "debtor")
    )
    return format_html_join(" ", "{}", ((parts.who(stake, with_amount=True),) for stake in stakes))
