"""The first page of the desk: the queues, the cases due soonest, findings by gaming day, the latest nights."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Max, QuerySet
from django.http import HttpRequest

from audit.access.capabilities import Capability
from audit.corrections.waiting import waiting
from audit.desk.findings.queues import HEADS, OPEN, can_work_cases, tabs
from audit.desk.scoped_admin import in_record, scope_of
from audit.models import FailedRun, Finding, NightReport, RegisterEntry, RequestState, RunState
from audit.presentation import countdown, finding_title

CHART_DAYS = 14

ROWS = 6
"""Rows of each list."""


def overview_context(request: HttpRequest) -> dict[str, Any] | None:
    """Return what the first page shows; None for an officer who reads no casino's record."""
    if not scope_of(request, Capability.SEE_RECORD).casinos().exists():
        return None
    standing = in_record(Finding.objects.standing(), request)
    due = standing.filter(HEADS, case__state__in=OPEN).select_related("case__assigned_to", "table", "casino")
    reports = in_record(NightReport.objects.all(), request).select_related("casino")
    return {
        "tabs": tabs(request),
        "can_work_cases": can_work_cases(request),
        "due": [
            {"finding": finding, "title": finding_title(finding.rule), "countdown": countdown(finding.case.deadline)}
            for finding in due.order_by("case__deadline", "case__weight", "-pk")[:ROWS]
            if finding.case is not None
        ],
        "bars": _bars(standing),
        "register_waits": in_record(RegisterEntry.objects.filter(state=RequestState.WAITING), request).count(),
        "corrections": waiting(in_record(Finding.objects.all(), request)).count(),
        "failed_runs": in_record(FailedRun.objects.filter(state=RunState.FAILED), request).count(),
        "exchanges": NightReport.objects.filter(casino__in=scope_of(request, Capability.SEE_NAMES).casinos())
        .values("casino_id", "casino__name")
        .annotate(day=Max("gaming_day"))
        .order_by("casino__name"),
        "nights": reports.order_by("-gaming_day", "casino__code", "-version").only(
            "gaming_day", "casino__name", "casino__code", "currency", "version", "state"
        )[:ROWS],
    }


def _bars(standing: QuerySet[Finding]) -> list[dict[str, Any]]:
    """Return the bars of the chart, one for each gaming day up to the last that has findings. The highest is 100."""
    newest = standing.order_by("-gaming_day").values_list("gaming_day", flat=True).first()
    if newest is None:
        return []
    first = newest - timedelta(days=CHART_DAYS - 1)
    counts: dict[Any, int] = dict(
        standing.filter(gaming_day__gte=first).values_list("gaming_day").annotate(count=Count("pk")).order_by()
    )
    most = max(counts.values())
    bars = []
    for index in range(CHART_DAYS):
        day = first + timedelta(days=index)
        height = round(100 * counts.get(day, 0) / most)
        bars.append(
            {
                "day": day,
                "count": counts.get(day, 0),
                "x": index * 40 + 6,
                "middle": index * 40 + 20,
                "height": height,
                "y": 120 - height,
                "above": 114 - height,
            }
        )
    return bars
