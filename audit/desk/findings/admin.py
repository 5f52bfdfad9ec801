"""Findings: the list, and the page that explains one."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from audit.desk.audited_admin import actor, record_act
from audit.desk.downloads import attached
from audit.desk.findings.casework import Casework, QueueFilter, can_work_cases, case_context, countdown, state_of, tabs
from audit.desk.findings.page import page_of
from audit.desk.findings.saved_views import kept, views_of
from audit.desk.findings.saved_views import urls as view_urls
from audit.desk.record_admin import RecordAdmin, language, of_own_casinos
from audit.evidence.bundle import Unproven
from audit.evidence.export import export
from audit.exports.files import FORMS
from audit.models import Finding, GamingTable
from audit.models.adjudication import Severity
from audit.models.cases import State
from audit.transparency.proofs import NotSealed
from settlement.catalogue import RULES


class RuleFilter(admin.SimpleListFilter):
    """By rule, under its title, in the order of the catalogue."""

    title = _("rule")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        met = set(of_own_casinos(Finding.objects.order_by(), request).values_list("rule", flat=True).distinct())
        return [(name, rule.title.in_language(language())) for name, rule in RULES.items() if name in met]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        return queryset.filter(rule=self.value()) if self.value() else queryset


class TableFilter(admin.SimpleListFilter):
    """By table, of the officer's houses alone."""

    title = _("table")
    parameter_name = "table"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        tables = GamingTable.objects.filter(casino__in=request.user.casinos_with_role()).select_related("casino")
        return [(str(table.pk), f"{table.casino.code} · {table.code}") for table in tables]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        value = self.value()
        return queryset.filter(table_id=int(value)) if value and value.isdigit() else queryset


class DayFilter(admin.SimpleListFilter):
    """By gaming day: the thirty last ones with findings."""

    title = _("gaming day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = of_own_casinos(Finding.objects.order_by("-gaming_day"), request)
        days = newest.values_list("gaming_day", flat=True).distinct()
        return [(day.isoformat(), day.isoformat()) for day in days[:30]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        value = self.value()
        known = value in {day for day, _label in self.lookup_choices}
        return queryset.filter(gaming_day=value) if known else queryset


class StandingFilter(admin.SimpleListFilter):
    """What a later replay no longer finds is out of the way unless asked for."""

    title = _("standing")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("superseded", _("superseded")), ("all", _("all"))]

    def choices(self, changelist: Any) -> Any:
        for choice in super().choices(changelist):
            yield choice | ({"display": _("standing")} if choice["query_string"].find("standing=") < 0 else {})

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        match self.value():
            case "all":
                return queryset
            case "superseded":
                return queryset.exclude(superseded_at=None)
            case _:
                return queryset.filter(superseded_at=None)


@admin.register(Finding)
class FindingAdmin(Casework, RecordAdmin):
    list_display = ("weight", "title", "table", "when", "wager", "state", "officer", "due")
    list_display_links = ("title",)
    list_filter = (QueueFilter, "severity", RuleFilter, TableFilter, DayFilter, StandingFilter)
    list_select_related = ("table", "casino", "case__assigned_to")
    ordering = ("case__weight", "case__deadline", "-pk")
    search_fields = ("=wager", "=stream__name")
    search_help_text = _("a wager or a stream, whole")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Finding]:
        """Leave nobody out: every finding has a case, and saying so lets the list be read in the order of an index."""
        return super().get_queryset(request).filter(case__weight__gte=0)

    @admin.display(description=_("occurred"), ordering="occurred_at")
    def when(self, finding: Finding) -> str:
        return f"{finding.occurred_at.astimezone(ZoneInfo(finding.casino.time_zone)):%Y-%m-%d %H:%M:%S}"

    @admin.display(description=_("severity"), ordering="severity")
    def weight(self, finding: Finding) -> str:
        return format_html('<span class="weight {}">{}</span>', finding.severity, Severity(finding.severity).label)

    @admin.display(description=_("finding"), ordering="rule")
    def title(self, finding: Finding) -> str:
        return RULES[finding.rule].title.in_language(language())

    @admin.display(description=_("state"), ordering="case__state")
    def state(self, finding: Finding) -> str:
        return format_html('<span class="state {}">{}</span>', *state_of(finding))

    @admin.display(description=_("officer"), ordering="case__assigned_to")
    def officer(self, finding: Finding) -> str:
        return str(finding.case.assigned_to) if finding.case and finding.case.assigned_to else "—"

    @admin.display(description=_("deadline"), ordering="case__deadline")
    def due(self, finding: Finding) -> str:
        if finding.case is None or finding.case.state == State.CLOSED:
            return "—"
        left = countdown(finding.case.deadline)
        words = _("%(hours)d h overdue") if left.is_past else _("%(hours)d h left")
        kind = "past" if left.is_past else "near" if left.is_near else ""
        return format_html('<span class="due {}">{}</span>', kind, words % {"hours": left.hours})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {
            "tabs": tabs(request),
            "queue": request.GET.get("queue"),
            "can_work": can_work_cases(request.user),
            "forms": list(FORMS),
            "views": views_of(request.user),
            "filter": kept(request.GET.urlencode()),
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show one finding: rule, clause, what was expected and recorded, and the events around it."""
        finding = self.row_or_404(request, object_id)
        record_act(request, "finding.viewed", casino_id=finding.casino_id, id=finding.pk, stream=finding.stream.name)
        context = {
            **self.admin_site.each_context(request),
            **page_of(finding, language()),
            "casework": case_context(request, finding),
            "opts": self.opts,
            "title": RULES[finding.rule].title.in_language(language()),
        }
        return TemplateResponse(request, "admin/audit/finding/finding.html", context)

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:pk>/evidence/", self.admin_site.admin_view(self.evidence_view), name="audit_finding_evidence")
        return [own, *view_urls(), *self.casework_urls(), *super().get_urls()]

    def evidence_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Hand out the evidence of a finding. By POST: it is an act, which a mere link must not do."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        finding = self.row_or_404(request, pk)
        try:
            bundle = export(finding, actor=actor(request))
        except NotSealed:
            messages.warning(request, _("These events are not under a signed checkpoint yet. Try again in a moment."))
        except Unproven as reason:
            messages.error(request, _("The record does not prove this finding: %(reason)s.") % {"reason": reason})
        else:
            return attached(bundle.name, "application/zip", bundle.raw)
        return redirect("admin:audit_finding_change", pk)
