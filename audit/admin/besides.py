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

from audit.adjudications import beside as besides
from audit.admin.acts import record_act
from audit.admin.reading import RecordAdmin, language
from audit.models import Beside
from settlement.catalogue import RULES
from settlement.catalogue.sentences import amount, written

SHOWN = 500
"""Changes shown on the page; the file has all."""


@admin.register(Beside)
class BesideAdmin(RecordAdmin):
    list_display = ("name", "engine_version", "started_at", "started_by", "progress", "ended_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the replays of an officer's houses, and those of every house, of which he sees what concerns his."""
        if request.user.is_superuser:
            return Beside.objects.all()
        codes = list(request.user.houses().values_list("code", flat=True))  # type: ignore[union-attr]
        return Beside.objects.filter(Q(selection__casino__in=codes) | ~Q(selection__has_key="casino"))

    @admin.display(description=_("streams"))
    def progress(self, beside: Beside) -> str:
        return f"{besides.done(beside)} / {beside.streams}"

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:pk>/difference.<str:form>", self.admin_site.admin_view(self.file), name="audit_beside_file")
        return [own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the difference, by rule and finding by finding."""
        beside = self.asked(request, object_id)
        casinos = _houses(request)
        tongue = "fr" if language() == "fr" else "en"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": beside.name,
            "beside": beside,
            "done": besides.done(beside),
            "sums": [
                {
                    "title": RULES[total.rule].title.in_language(tongue),
                    "total": total,
                    "before": amount(total.before_minor, total.currency, tongue) if total.currency else "",
                    "after": amount(total.after_minor, total.currency, tongue) if total.currency else "",
                }
                for total in besides.sums(besides.difference(beside, casinos))
            ],
            "changes": [_shown(change, tongue) for change in islice(besides.difference(beside, casinos), SHOWN)],
            "shown": SHOWN,
        }
        return TemplateResponse(request, "admin/audit/beside/beside.html", context)

    def file(self, request: HttpRequest, pk: int, form: str) -> HttpResponse:
        """Hand out the whole difference as a file."""
        beside = self.asked(request, pk)
        write = {"csv": besides.write_csv, "json": besides.write_json}.get(form)
        if write is None:
            raise Http404
        record_act(request, "difference.exported", id=beside.pk, named=beside.name, form=form)
        kind = "text/csv; charset=utf-8" if form == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="beside-{beside.pk}.{form}"'}
        response = HttpResponse(content_type=kind, headers=headers)
        write(besides.difference(beside, _houses(request)), response)  # type: ignore[arg-type]
        return response


def _houses(request: HttpRequest) -> list[int] | None:
    """Return the houses whose streams the officer sees, None for all of them."""
    if request.user.is_superuser:
        return None
    return list(request.user.houses().values_list("pk", flat=True))  # type: ignore[union-attr]


def _shown(change: besides.Change, tongue: Any) -> dict[str, Any]:
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
