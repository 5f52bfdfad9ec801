"""Saved views: filters of the findings list under a name. And open findings in groups, by rule, table and night."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import admin, messages
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope, officers_with
from audit.desk.findings.queues import HEADS, OPEN
from audit.desk.scoped_admin import demands, in_record, officer_of
from audit.models import Casino, Finding, GamingTable, Officer, SavedView
from audit.presentation import finding_title

NARROWING = (
    *("day", "amount", "loses", "table", "croupier", "player", "rule"),
    *("severity__exact", "standing", "month", "owed", "q"),
)
"""The query parameters that leave a part of a list."""

FILTER_PARAMETERS = ("queue", *NARROWING, "by", "o")
"""The query parameters of the list that a view saves."""

MAX_QUERY = 500
"""Characters of a saved query string."""

MAX_NAME = 60
MAX_GROUPS = 100


def urls() -> list[URLPattern]:
    view = admin.site.admin_view
    return [
        path("views/save/", view(save_view), name="audit_view_save"),
        path("views/<int:pk>/delete/", view(delete_view), name="audit_view_delete"),
        path("groups/", view(groups_view), name="audit_finding_groups"),
    ]


def saved_views_of(officer: Officer) -> QuerySet[SavedView]:
    """Return an officer's own views, and those that colleagues at the same casinos share."""
    colleagues = officers_with(Capability.SEE_RECORD, Scope.of(officer, Capability.SEE_RECORD).casino_ids)
    return SavedView.objects.filter(Q(officer=officer) | Q(is_shared=True, officer__in=colleagues)).distinct()


@demands(Capability.SEE_RECORD)
def save_view(request: HttpRequest) -> HttpResponse:
    """Save the filter of the list under a name. A view of the same name is replaced."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    name = request.POST.get("name", "").replace("\0", "").strip()[:MAX_NAME]
    query = filter_query(request.POST.get("query", ""))
    if not name:
        messages.error(request, _("Give the view a name."))
    else:
        values = {"query": query, "is_shared": request.POST.get("shared") == "on"}
        SavedView.objects.update_or_create(officer=officer_of(request), name=name, defaults=values)
        messages.success(request, _("The view has been saved."))
    return HttpResponseRedirect(f"{reverse('admin:audit_finding_changelist')}?{query}")


@demands(Capability.SEE_RECORD)
def delete_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete one of the officer's own views."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    get_object_or_404(SavedView, pk=pk, officer=officer_of(request)).delete()
    messages.success(request, _("The view has been deleted."))
    return redirect("admin:audit_finding_changelist")


def filter_query(query: str) -> str:
    """Return a query string with its filter parameters alone, at most ``MAX_QUERY`` characters of them."""
    pairs = [
        (name, value) for name, value in parse_qsl(query[:2_000]) if name in FILTER_PARAMETERS and "\0" not in value
    ]
    while len(encoded := urlencode(pairs)) > MAX_QUERY:
        pairs.pop()
    return encoded


@demands(Capability.SEE_RECORD)
def groups_view(request: HttpRequest) -> HttpResponse:
    """Show open incidents by rule, table and night, so that what happened many times is looked at once."""
    open_incidents = in_record(Finding.objects.standing().filter(HEADS, case__state__in=OPEN), request)
    # Without names, which PostgreSQL would look up for every finding.
    grouped = open_incidents.values("rule", "severity", "table", "casino", "gaming_day").annotate(
        count=Count("pk"), weight=Max("case__weight")
    )
    groups = list(grouped.order_by("weight", "-count", "-gaming_day", "rule")[:MAX_GROUPS])
    number = len(groups) if len(groups) < MAX_GROUPS else grouped.order_by().count()
    tables = dict(GamingTable.objects.filter(pk__in={each["table"] for each in groups}).values_list("pk", "code"))
    casinos = {each.pk: str(each) for each in Casino.objects.filter(pk__in={each["casino"] for each in groups})}
    rows = [
        {
            **group,
            "casino": casinos[group["casino"]],
            "table": tables.get(group["table"], ""),
            "title": finding_title(group["rule"]),
            "query": _query_of(group),
        }
        for group in groups
    ]
    context = {**admin.site.each_context(request), "title": _("Grouped findings"), "rows": rows, "number": number}
    return TemplateResponse(request, "admin/audit/findings/groups.html", context)


def _query_of(group: Mapping[str, Any]) -> str:
    """Return the query string of the list that shows a group."""
    day = group["gaming_day"].isoformat()
    query = {"queue": "open", "rule": group["rule"], "severity__exact": group["severity"], "day": day}
    return urlencode({**query, "table": group["table"]} if group["table"] else query)
