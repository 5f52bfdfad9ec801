"""What-if runs: the progress of each, and how its findings differ from the standing ones."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.adjudication import promotion
from audit.adjudication import what_if as what_if_runs
from audit.desk.audited_admin import record_entry
from audit.desk.scoped_admin import RecordAdmin, demands, officer_of, scope_of
from audit.desk.sign_in.proof import fresh_proof
from audit.event_store import audit_trail
from audit.exports.what_if_difference import write_csv, write_json
from audit.models import WhatIf
from audit.models.adjudication import Severity
from audit.presentation import MISSING, date_time, finding_title, payment_error, value
from settlement.catalogue import RULES

MAX_CHANGES = 500
"""Changes shown on the page; the files have all."""


@admin.register(WhatIf)
class WhatIfAdmin(RecordAdmin[WhatIf]):
    list_display = ("name", "of_casino", "engine_version", "started", "started_by", "progress", "ended", "promoted")
    list_select_related = ("casino",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WhatIf]:
        """Return the what-if runs of the officer's casinos, and those of all casinos.

        Of the latter the officer sees the changes at their own casinos.
        """
        scope = scope_of(request, Capability.SEE_RECORD)
        if scope.is_everywhere:
            return WhatIf.objects.all()
        return WhatIf.objects.filter(Q(casino__in=scope.casino_ids or ()) | Q(casino=None))

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Whether a run is among those of the list: of a casino of theirs, or of all."""
        is_viewer = super().has_view_permission(request)
        return is_viewer and (obj is None or self.get_queryset(request).filter(pk=obj.pk).exists())

    @admin.display(description=_("casino"), ordering="casino")
    def of_casino(self, what_if: WhatIf) -> str:
        return str(what_if.casino or _("all casinos"))

    @admin.display(description=_("promoted"), ordering="promoted_at")
    def promoted(self, what_if: WhatIf) -> str:
        return date_time(what_if.promoted_at, what_if.casino) if what_if.promoted_at else MISSING

    @admin.display(description=_("started"), ordering="started_at")
    def started(self, what_if: WhatIf) -> str:
        return date_time(what_if.started_at, None)

    @admin.display(description=_("ended"), ordering="ended_at")
    def ended(self, what_if: WhatIf) -> str:
        return date_time(what_if.ended_at, None) if what_if.ended_at else MISSING

    @admin.display(description=_("streams"))
    def progress(self, what_if: WhatIf) -> str:
        return f"{what_if_runs.completed_streams(what_if)} / {what_if.streams}"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/difference.<str:format>", view(self.file_view), name="audit_whatif_file"),
            path("<int:pk>/promote/", view(self.promote_view), name="audit_whatif_promote"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the difference, by rule and finding by finding."""
        what_if = self.row_or_404(request, object_id)
        casino_ids = scope_of(request, Capability.SEE_RECORD).casino_ids
        changes = what_if_runs.difference(what_if, casino_ids)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": what_if.name,
            "what_if": what_if,
            "done": what_if_runs.completed_streams(what_if),
            "sums": [_sum_line(each) for each in what_if_runs.totals(what_if_runs.difference(what_if, casino_ids))],
            "changes": [_change_line(change) for change in islice(changes, MAX_CHANGES)],
            "max_changes": MAX_CHANGES,
            "engines": what_if_runs.engines_compared(what_if, casino_ids),
            "objection": promotion.objection(what_if),
            "may_promote": promotion.may_promote(officer_of(request), what_if),
        }
        return TemplateResponse(request, "admin/audit/what_if/what_if.html", context)

    @demands(Capability.SEE_RECORD)
    def file_view(self, request: HttpRequest, pk: int, format: str) -> HttpResponse:
        """Download the whole difference as CSV or JSON."""
        what_if = self.row_or_404(request, pk)
        write = {"csv": write_csv, "json": write_json}.get(format)
        if write is None:
            raise Http404
        self._record_export(request, what_if, format)
        content_type = "text/csv; charset=utf-8" if format == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="what-if-{what_if.pk}.{format}"'}
        response = HttpResponse(content_type=content_type, headers=headers)
        write(what_if_runs.difference(what_if, scope_of(request, Capability.SEE_RECORD).casino_ids), response)
        return response

    def _record_export(self, request: HttpRequest, what_if: WhatIf, format: str) -> None:
        """Record a download in the trail of each casino whose streams it has; of none, in the installation's."""
        scope = scope_of(request, Capability.SEE_RECORD)
        casinos = [what_if.casino_id] if what_if.casino_id else what_if_runs.casinos_of(what_if)
        seen = [casino_id for casino_id in casinos if scope.includes(casino_id)]
        for casino_id in seen or [audit_trail.INSTALLATION]:
            about = {"id": what_if.pk, "named": what_if.name, "form": format}
            record_entry(request, "difference.exported", casino_id=casino_id, **about)

    @demands(Capability.APPROVE_CASES)
    @fresh_proof
    def promote_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Promote a run, by POST: its streams are read again by this version of the engine."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        what_if = self.row_or_404(request, pk)
        try:
            promotion.promote(what_if, officer_of(request))
            messages.success(request, _("Promoted. The streams of this run are read again, and its findings stand."))
        except promotion.PromotionRefused as refused:
            messages.error(request, str(refused))
        return redirect("admin:audit_whatif_change", what_if.pk)


def _sum_line(total: what_if_runs.Total) -> dict[str, Any]:
    rule = RULES[total.rule]
    is_money = rule.expected_is == rule.recorded_is == "money" and bool(total.currency)
    return {
        "title": finding_title(total.rule),
        "total": total,
        "before": payment_error(total.before_minor, total.currency, of_several=True) if is_money else "",
        "after": payment_error(total.after_minor, total.currency, of_several=True) if is_money else "",
    }


def _change_line(change: what_if_runs.Change) -> dict[str, Any]:
    return {
        "change": change,
        "title": finding_title(change.rule),
        "before": _values_text(change, change.before),
        "after": _values_text(change, change.after),
    }


def _values_text(change: what_if_runs.Change, finding: dict[str, Any] | None) -> str:
    """Return “expected → recorded” of a finding, “✓” if its rule has neither; "" if there is no such finding.

    The severity is added where it is what changed.
    """
    if finding is None:
        return ""
    rule = RULES[change.rule]
    values = (
        value(finding["expected"], rule.expected_is, change.currency),
        value(finding["recorded"], rule.recorded_is, change.currency),
    )
    text = " → ".join(text for text in values if text) or "✓"
    severities = {(each or finding)["severity"] for each in (change.before, change.after)}
    return f"{text} ({Severity(finding['severity']).label})" if len(severities) > 1 else text
