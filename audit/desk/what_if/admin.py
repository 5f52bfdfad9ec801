"""Replays beside the standing one: how far each is, and what it finds otherwise."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from audit.adjudication import what_if as what_if_runs
from audit.desk.audited_admin import record_act
from audit.desk.record_admin import RecordAdmin, language
from audit.models import WhatIf
from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount, written

SHOWN = 500
"""Changes shown on the page; the file has all."""


@admin.register(WhatIf)
class WhatIfAdmin(RecordAdmin):
    list_display = ("name", "engine_version", "started_at", "started_by", "progress", "ended_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the replays of an officer's houses, and those of every house, of which he sees what concerns his."""
        if request.user.is_superuser:
            return WhatIf.objects.all()
        codes = list(request.user.casinos_with_role().values_list("code", flat=True))  # type: ignore[union-attr]
        return WhatIf.objects.filter(Q(selection__casino__in=codes) | ~Q(selection__has_key="casino"))

    @admin.display(description=_("streams"))
    def progress(self, what_if: WhatIf) -> str:
        return f"{what_if_runs.done(what_if)} / {what_if.streams}"

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:pk>/difference.<str:form>", self.admin_site.admin_view(self.file), name="audit_whatif_file")
        return [own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the difference, by rule and finding by finding."""
        what_if = self.row_or_404(request, object_id)
        casinos = _casinos(request)
        tongue = "fr" if language() == "fr" else "en"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": what_if.name,
            "what_if": what_if,
            "done": what_if_runs.done(what_if),
            "sums": [
                {
                    "title": RULES[total.rule].title.in_language(tongue),
                    "total": total,
                    "before": amount(total.before_minor, total.currency, tongue) if total.currency else "",
                    "after": amount(total.after_minor, total.currency, tongue) if total.currency else "",
                }
                for total in what_if_runs.sums(what_if_runs.difference(what_if, casinos))
            ],
            "changes": [_shown(change, tongue) for change in islice(what_if_runs.difference(what_if, casinos), SHOWN)],
            "shown": SHOWN,
        }
        return TemplateResponse(request, "admin/audit/whatif/what_if.html", context)

    def file(self, request: HttpRequest, pk: int, form: str) -> HttpResponse:
        """Hand out the whole difference as a file."""
        what_if = self.row_or_404(request, pk)
        write = {"csv": what_if_runs.write_csv, "json": what_if_runs.write_json}.get(form)
        if write is None:
            raise Http404
        record_act(request, "difference.exported", id=what_if.pk, named=what_if.name, form=form)
        kind = "text/csv; charset=utf-8" if form == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="what-if-{what_if.pk}.{form}"'}
        response = HttpResponse(content_type=kind, headers=headers)
        write(what_if_runs.difference(what_if, _casinos(request)), response)  # type: ignore[arg-type]
        return response


def _casinos(request: HttpRequest) -> list[int] | None:
    """Return the houses whose streams the officer sees, None for all of them."""
    if request.user.is_superuser:
        return None
    return list(request.user.casinos_with_role().values_list("pk", flat=True))  # type: ignore[union-attr]


def _shown(change: what_if_runs.Change, tongue: Any) -> dict[str, Any]:
    rule = RULES[change.rule]

    def said(which: dict[str, Any] | None) -> str:
        if which is None:
            return ""
        parts = (
            written(which["expected"], rule.expected_is, tongue, change.currency),
            written(which["recorded"], rule.recorded_is, tongue, change.currency),
        )
        return " → ".join(part for part in parts if part) or "✓"

    return {
        "change": change,
        "title": rule.title.in_language(tongue),
        "before": said(change.before),
        "after": said(change.after),
    }
