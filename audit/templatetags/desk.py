"""The first page of the desk: what waits, what is due, how many findings each day brought."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import template
from django.db.models import Count
from django.http import HttpRequest

from audit.desk.findings.casework import OPEN, can_work_cases, countdown, tabs
from audit.desk.record_admin import language, of_own_casinos
from audit.models import Finding, NightReport, Officer
from audit.models.officers import READERS
from settlement.catalogue import RULES

register = template.Library()

DAYS = 14
SOONEST = 6


@register.inclusion_tag("admin/audit/parts/dashboard.html", takes_context=True)
def dashboard(context: template.Context) -> dict[str, Any]:
    """Show the officer's first page, nothing to who sees no record."""
    request: HttpRequest = context["request"]
    officer = request.user
    if not isinstance(officer, Officer) or not officer.casinos_with_role(*READERS).exists():
        return {"is_shown": False}
    standing = of_own_casinos(Finding.objects.filter(superseded_at=None), request)
    due = standing.filter(case__state__in=OPEN).select_related("case__assigned_to", "table", "casino")
    reports = of_own_casinos(NightReport.objects.all(), request).select_related("casino")
    return {
        "is_shown": True,
        "csrf_token": context.get("csrf_token"),
        "tabs": tabs(request),
        "can_work": can_work_cases(officer),
        "due": [
            {
                "finding": finding,
                "title": RULES[finding.rule].title.in_language(language()),
                "left": countdown(finding.case.deadline),
            }
            for finding in due.order_by("case__deadline", "case__weight", "-pk")[:SOONEST]
        ],
        "bars": _bars(standing),
        "nights": reports.order_by("-gaming_day", "casino__code", "-version").only(
            "gaming_day", "casino__name", "casino__code", "currency", "version", "state"
        )[:SOONEST],
    }


def _bars(standing: Any) -> list[dict[str, Any]]:
    """Return the findings of the last days that had any, each as a bar of a chart a hundred high."""
    newest = standing.order_by("-gaming_day").values_list("gaming_day", flat=True).first()
    if newest is None:
        return []
    first = newest - timedelta(days=DAYS - 1)
    counts = dict(
        standing.filter(gaming_day__gte=first).values_list("gaming_day").annotate(count=Count("pk")).order_by()
    )
    most = max(counts.values())
    days = [first + timedelta(days=place) for place in range(DAYS)]
    return [
        {
            "day": day,
            "count": counts.get(day, 0),
            "x": place * 40 + 6,
            "middle": place * 40 + 20,
            "height": round(100 * counts.get(day, 0) / most),
            "y": 120 - round(100 * counts.get(day, 0) / most),
            "above": 114 - round(100 * counts.get(day, 0) / most),
        }
        for place, day in enumerate(days)
    ]
