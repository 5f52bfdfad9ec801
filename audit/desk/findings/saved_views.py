"""Views of the findings: filters kept under a name, and findings in groups, for who has many before them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from audit.desk.findings.casework import OPEN
from audit.desk.record_admin import language, of_own_casinos, officer_of
from audit.models import Finding, Officer, SavedView
from audit.models.officers import READERS
from settlement.catalogue import RULES

KEPT = ("queue", "severity__exact", "rule", "table", "day", "standing", "q", "o")
"""The parameters of the list that a view keeps."""

MAX_KEPT = 500
"""Characters of what a view keeps."""

MAX_GROUPS = 500


def urls() -> list[URLPattern]:
    guarded = admin.site.admin_view
    return [
        path("views/save/", guarded(save), name="audit_view_save"),
        path("views/<int:pk>/delete/", guarded(delete), name="audit_view_delete"),
        path("groups/", guarded(groups), name="audit_finding_groups"),
    ]


def views_of(officer: Any) -> QuerySet[SavedView]:
    """Return the views of an officer, and those that colleagues of the same houses share."""
    colleagues = Officer.objects.filter(memberships__casino__in=officer.casinos_with_role(*READERS))
    return SavedView.objects.filter(Q(officer=officer) | Q(is_shared=True, officer__in=colleagues)).distinct()


def save(request: HttpRequest) -> HttpResponse:
    """Keep the filter of a list under a name; under a name that is there already, in its place."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    name = request.POST.get("name", "").replace("\0", "").strip()[:60]
    query = kept(request.POST.get("query", ""))
    if not name:
        messages.error(request, _("Give the view a name."))
    else:
        said = {"query": query, "is_shared": request.POST.get("shared") == "on"}
        SavedView.objects.update_or_create(officer=request.user, name=name, defaults=said)
        messages.success(request, _("The view is kept."))
    return HttpResponseRedirect(f"{reverse('admin:audit_finding_changelist')}?{query}")


def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Drop a view of one's own."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    get_object_or_404(SavedView, pk=pk, officer=request.user).delete()
    return redirect("admin:audit_finding_changelist")


def kept(query: str) -> str:
    """Return what of an address's parameters a view keeps: those that are filters, and nothing else."""
    told = [(name, value) for name, value in parse_qsl(query[:2_000]) if name in KEPT and "\0" not in value]
    while len(written := urlencode(told)) > MAX_KEPT:
        told.pop()
    return written


def groups(request: HttpRequest) -> HttpResponse:
    """Show open findings by rule, table and night: what came many times is looked at once."""
    officer = officer_of(request)
    if not officer.is_superuser and not officer.casinos_with_role(*READERS).exists():
        raise PermissionDenied
    standing = of_own_casinos(Finding.objects.filter(superseded_at=None, case__state__in=OPEN), request)
    found = (
        standing.values("rule", "severity", "table", "table__code", "casino__code", "gaming_day")
        .annotate(count=Count("pk"), weight=Max("case__weight"))
        .order_by("weight", "-count", "-gaming_day", "rule")[:MAX_GROUPS]
    )
    rows = [
        {
            **each,
            "title": RULES[each["rule"]].title.in_language(language()),
            "query": urlencode(
                {
                    "queue": "open",
                    "rule": each["rule"],
                    "day": each["gaming_day"].isoformat(),
                    **({"table": each["table"]} if each["table"] else {}),
                }
            ),
        }
        for each in found
    ]
    context = {**admin.site.each_context(request), "title": _("Findings in groups"), "rows": rows}
    return TemplateResponse(request, "admin/audit/finding/groups.html", context)
