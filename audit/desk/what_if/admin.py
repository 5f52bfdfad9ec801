"""What-if runs: the progress of each, and how its findings differ from the standing ones."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.adjudication import what_if as what_if_runs
from audit.desk.audited_admin import record_entry
from audit.desk.scoped_admin import RecordAdmin, demands, scope_of
from audit.exports.what_if_difference import write_csv, write_json
from audit.models import WhatIf
from audit.presentation import MISSING, date_time, finding_title, money, value
from settlement.catalogue import RULES

MAX_CHANGES = 500
"""Changes shown on the page; the files have all."""


@admin.register(WhatIf)
class WhatIfAdmin(RecordAdmin[WhatIf]):
    list_display = ("name", "engine_version", "started", "started_by", "progress", "ended")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WhatIf]:
        """Return the what-if runs of the officer's casinos, and those of all casinos.

        Of the latter the officer sees the changes at their own casinos.
        """
        scope = scope_of(request, Capability.SEE_RECORD)
        if scope.is_everywhere:
            return WhatIf.objects.all()
        codes = list(scope.casinos().values_list("code", flat=True))
        return WhatIf.objects.filter(Q(selection__casino__in=codes) | ~Q(selection__has_key="casino"))

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
        file_view = self.admin_site.admin_view(self.file_view)
        return [path("<int:pk>/difference.<str:format>", file_view, name="audit_whatif_file"), *super().get_urls()]

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
        }
        return TemplateResponse(request, "admin/audit/what_if/what_if.html", context)

    @demands(Capability.SEE_RECORD)
    def file_view(self, request: HttpRequest, pk: int, format: str) -> HttpResponse:
        """Download the whole difference as CSV or JSON."""
        what_if = self.row_or_404(request, pk)
        write = {"csv": write_csv, "json": write_json}.get(format)
        if write is None:
            raise Http404
        record_entry(request, "difference.exported", id=what_if.pk, named=what_if.name, form=format)
        content_type = "text/csv; charset=utf-8" if format == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="what-if-{what_if.pk}.{format}"'}
        response = HttpResponse(content_type=content_type, headers=headers)
        write(what_if_runs.difference(what_if, scope_of(request, Capability.SEE_RECORD).casino_ids), response)
        return response


def _sum_line(total: what_if_runs.Total) -> dict[str, Any]:
    return {
        "title": finding_title(total.rule),
        "total": total,
        "before": money(total.before_minor, total.currency) if total.currency else "",
        "after": money(total.after_minor, total.currency) if total.currency else "",
    }


def _change_line(change: what_if_runs.Change) -> dict[str, Any]:
    return {
        "change": change,
        "title": finding_title(change.rule),
        "before": _values_text(change, change.before),
        "after": _values_text(change, change.after),
    }


def _values_text(change: what_if_runs.Change, finding: dict[str, Any] | None) -> str:
    """Return “expected → recorded” of a finding, “✓” if its rule has neither; "" if there is no such finding."""
    if finding is None:
        return ""
    rule = RULES[change.rule]
    values = (
        value(finding["expected"], rule.expected_is, change.currency),
        value(finding["recorded"], rule.recorded_is, change.currency),
    )
    return " → ".join(text for text in values if text) or "✓"
