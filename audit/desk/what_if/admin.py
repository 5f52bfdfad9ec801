"""What-if runs: the progress of each, and how its findings differ from the standing ones."""

from __future__ import annotations

from datetime import date
from itertools import islice
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.adjudication import promotion, what_if_sums
from audit.adjudication import what_if as what_if_runs
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.sign_in.proof import fresh_proof
from audit.desk.what_if.choice import choice_context, is_settable
from audit.desk.what_if.comparison import Verdict, change_rows, rule_rows
from audit.desk.what_if.comparison_pdf import comparison_pdf
from audit.desk.what_if.comparison_sheets import comparison_workbook
from audit.event_store import audit_trail
from audit.exports.pdf import PDF
from audit.exports.sheets import XLSX
from audit.exports.what_if_difference import write_csv, write_json
from audit.models import WhatIf
from audit.presentation import MISSING, date_time, day, finding_title
from audit.register.readings import KINDS, as_read
from settlement.catalogue import RULES

MAX_CHANGES = 500
"""Changes shown on the page; the files have all."""


@admin.register(WhatIf)
class WhatIfAdmin(RecordAdmin[WhatIf]):
    listed_as = _("What if")
    when_empty = _("No what-if run has been started. Choose a reading above: what stands stays as it is.")
    list_display = ("name", "of_casino", "engine_version", "started", "started_by", "progress", "ended", "promoted")
    list_select_related = ("casino",)
    change_list_template = "admin/audit/what_if/list.html"

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

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the runs, and the form that starts one: of reading ``?reading=NAME``, where one is chosen."""
        filters = request.GET.copy()
        chosen = "".join(filters.pop("reading", [])[-1:])
        request.GET = filters  # type: ignore[assignment]  # Django's list takes no parameter that it does not know
        choice = choice_context(request, chosen if is_settable(chosen) else "")
        return super().changelist_view(request, {**choice, **(extra_context or {})})

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the difference, by rule and finding by finding."""
        what_if = self.row_or_404(request, object_id)
        casino_ids = scope_of(request, Capability.SEE_RECORD).casino_ids
        compared = what_if_sums.by_rule(what_if, casino_ids)
        rule = request.GET.get("rule", "")
        changes = (
            each for each in what_if_runs.difference(what_if, casino_ids) if rule not in RULES or each.rule == rule
        )
        reading = next(iter(what_if.readings), "")
        tried = request.GET.get("reading", "")
        context = {
            "title": what_if.name,
            "what_if": what_if,
            "done": what_if_runs.completed_streams(what_if),
            "settings": [as_read(name, value) for name, value in what_if.readings.items()],
            "first_day": _day_of(what_if, "first_day"),
            "last_day": _day_of(what_if, "last_day"),
            "tables": ", ".join(what_if.selection.get("tables", ())),
            "verdicts": [Verdict(each) for each in what_if_sums.in_all(compared)],
            "rules": rule_rows(compared),
            "rule": rule if rule in RULES else "",
            "rule_title": finding_title(rule) if rule in RULES else "",
            "changes": change_rows(islice(changes, MAX_CHANGES)),
            "max_changes": MAX_CHANGES,
            "engines": what_if_runs.engines_compared(what_if, casino_ids),
            "objection": promotion.objection(what_if),
            "may_promote": promotion.may_promote(officer_of(request), what_if),
            "proposable": reading if reading in KINDS and scope_of(request, Capability.KEEP_REGISTER).casinos() else "",
            **choice_context(request, tried if is_settable(tried) else reading),
        }
        return self.page(request, "admin/audit/what_if/what_if.html", **context)

    @at("<int:pk>/difference.<str:format>")
    @demands(Capability.SEE_RECORD)
    def file_view(self, request: HttpRequest, pk: int, format: str) -> HttpResponse:
        """Download the whole difference as CSV or JSON, or the comparison as PDF or XLSX."""
        what_if = self.row_or_404(request, pk)
        if format in ("pdf", "xlsx"):
            return self._comparison(request, what_if, format)
        write = {"csv": write_csv, "json": write_json}.get(format)
        if write is None:
            raise Http404
        self._record_export(request, what_if, format)
        content_type = "text/csv; charset=utf-8" if format == "csv" else "application/json"
        headers = {"Content-Disposition": f'attachment; filename="what-if-{what_if.pk}.{format}"'}
        response = HttpResponse(content_type=content_type, headers=headers)
        write(what_if_runs.difference(what_if, scope_of(request, Capability.SEE_RECORD).casino_ids), response)
        return response

    def _comparison(self, request: HttpRequest, what_if: WhatIf, format: str) -> HttpResponse:
        self._record_export(request, what_if, format)
        casino_ids = scope_of(request, Capability.SEE_RECORD).casino_ids
        compared = what_if_sums.by_rule(what_if, casino_ids)
        content_type, write = (PDF, comparison_pdf) if format == "pdf" else (XLSX, comparison_workbook)
        body = write(what_if, compared, what_if_runs.difference(what_if, casino_ids))
        return file_response(f"what-if-{what_if.pk}.{format}", content_type, body)

    def _record_export(self, request: HttpRequest, what_if: WhatIf, format: str) -> None:
        """Record a download in the trail of each casino whose streams it has; of none, in the installation's."""
        scope = scope_of(request, Capability.SEE_RECORD)
        casinos = [what_if.casino_id] if what_if.casino_id else what_if_runs.casinos_of(what_if)
        seen = [casino_id for casino_id in casinos if scope.includes(casino_id)]
        for casino_id in seen or [audit_trail.INSTALLATION]:
            about = {"id": what_if.pk, "named": what_if.name, "form": format}
            record_entry(request, "difference.exported", casino_id=casino_id, **about)

    @at("<int:pk>/promote/")
    @demands(Capability.APPROVE_CASES)
    @fresh_proof
    def promote_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Promote a run, by POST: its streams are read again by this version of the engine."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        what_if = self.row_or_404(request, pk)
        try:
            promotion.promote(what_if, officer_of(request))
            messages.success(
                request, _("Promoted. The streams of this run are being replayed, and its findings will stand.")
            )
        except promotion.PromotionRefused as refused:
            messages.error(request, str(refused))
        return redirect("admin:audit_whatif_change", what_if.pk)


def _day_of(what_if: WhatIf, name: str) -> str:
    """Return the first or the last gaming day that a run selects; "" where it is not limited."""
    chosen = what_if.selection.get(name)
    return day(date.fromisoformat(chosen), with_year=True) if chosen else ""
