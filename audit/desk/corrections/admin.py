"""Corrections that took more than their table to decide: the list, the page with both readings, the two decisions.

The use cases are in ``audit.corrections.decisions``; a page shows what they allow.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access.capabilities import Capability
from audit.corrections import decisions, waiting
from audit.corrections.decisions import DecisionRefused
from audit.desk import kept_words
from audit.desk.approve.neighbours import correction_address, neighbours_of
from audit.desk.audited_admin import record_entry
from audit.desk.corrections.page import correction_context
from audit.desk.names import sees_names
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of
from audit.desk.sessions import table_name
from audit.desk.sign_in.proof import signature
from audit.models import CORRECTION_RULES, Correction, CorrectionDecision, CorrectionState, Verdict
from audit.presentation import finding_title
from audit.task_queue import REPLAY_STREAM, send_soon

REASON_IN_LIST = 120
"""Characters of a reason in the list."""


class StateFilter(admin.SimpleListFilter):
    """Where a correction is: it waits, is approved, or was refused."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(CorrectionState.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case CorrectionState.WAITING:
                return waiting.waiting(queryset)
            case CorrectionState.APPROVED:
                return waiting.approved(queryset)
            case CorrectionState.REFUSED:
                return waiting.refused(queryset)
            case _:
                return queryset


@admin.register(Correction)
class CorrectionAdmin(RecordAdmin[Correction]):
    when_empty = gettext_lazy(
        "No correction has needed officers. One that waits for two of them is listed here as soon as a table sends it."
    )
    list_display = ("what", "session", "casino", "gaming_day", "severity_name", "reason", "standing")
    list_display_links = ("what",)
    list_select_related = ("stream", "casino", "table")
    list_filter = (StateFilter, "casino")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Correction]:
        return self._about_officers(request).filter(status="standing")

    def _about_officers(self, request: HttpRequest) -> QuerySet[Correction]:
        """Return the findings of corrections that wait for officers, or that they decided about, that stood once."""
        decided = CorrectionDecision.objects.filter(stream=OuterRef("stream_id"), seq=OuterRef("seq"))
        rows = super().get_queryset(request).filter(rule__in=CORRECTION_RULES)
        return rows.filter(Q(facts__waits="waits") | Exists(decided)).annotate(
            is_refused=Exists(decided.filter(verdict=Verdict.REFUSED)),
            is_approved=Exists(decided.filter(verdict=Verdict.COUNTERSIGNED, number=2)),
        )

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Correction | None:
        """Return the finding of a page; for one that is superseded, the one about the same correction that stands."""
        found = super().get_object(request, object_id, from_field)
        if found is not None or not object_id.isdigit():
            return found
        superseded = self._about_officers(request).filter(pk=int(object_id))
        about = superseded.values_list("stream", "seq").first()
        return self.get_queryset(request).filter(stream=about[0], seq=about[1]).first() if about else None

    @admin.display(description=gettext_lazy("What is corrected"))
    def what(self, finding: Correction) -> str:
        return f"{finding_title(finding.rule)} #{finding.seq}"

    @admin.display(description=gettext_lazy("session"), ordering="stream__name")
    def session(self, finding: Correction) -> str:
        shown = table_name(finding.table.code if finding.table is not None else "")
        return format_html('<span title="{}">{}</span>', finding.stream.name, shown)

    @admin.display(description=gettext_lazy("severity"), ordering="severity")
    def severity_name(self, finding: Correction) -> str:
        return finding.get_severity_display()

    @admin.display(description=gettext_lazy("reason"))
    def reason(self, finding: Correction) -> str:
        return str(finding.facts.get("reason") or "")[:REASON_IN_LIST]

    @admin.display(description=gettext_lazy("state"))
    def standing(self, finding: Any) -> str:
        state = CorrectionState.REFUSED if finding.is_refused else CorrectionState.WAITING
        return str((CorrectionState.APPROVED if finding.is_approved else state).label)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show a correction: what it changes, both readings, who decided, and the buttons of whoever may decide."""
        finding = self.row_or_404(request, object_id)
        actor = officer_of(request)
        about = decisions.decisions_about(finding.stream_id, finding.seq)
        record_entry(
            request,
            "correction.viewed",
            casino_id=finding.casino_id,
            session=finding.stream.name,
            correction=finding.seq,
        )
        context = {
            **correction_context(finding, about, with_names=sees_names(request, finding.casino_id)),
            "title": self.what(finding),
            "neighbours": neighbours_of(request, correction_address(finding.pk)),
            "may_countersign": decisions.may_countersign(actor, finding.casino_id, about),
            "may_refuse": decisions.may_refuse(actor, finding.casino_id, about),
            "has_decided": any(each.officer_id == actor.pk for each in about),
        }
        return self.page(request, "admin/audit/corrections/correction.html", **context)

    @at("<int:pk>/decide/")
    @demands(Capability.WORK_CASES, Capability.APPROVE_CASES)
    @signature
    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Countersign or refuse a correction, as the field ``decision`` says, by POST, and return to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        finding = self.row_or_404(request, pk, Capability.WORK_CASES, Capability.APPROVE_CASES)
        actor, reason = officer_of(request), request.POST.get("reason", "")
        try:
            match request.POST.get("decision"):
                case "countersign":
                    decided = decisions.countersign(actor, finding.stream, finding.seq, reason=reason)
                    if decided.number > 1:
                        send_soon(REPLAY_STREAM, stream_id=finding.stream_id)
                        messages.success(request, _("Approved. The session is being replayed with this correction."))
                    else:
                        messages.success(request, _("Countersigned. Another officer must decide."))
                case "refuse":
                    decisions.refuse(actor, finding.stream, finding.seq, reason=reason)
                    messages.success(request, _("Refused. It will never have any effect; the table may send another."))
                case _:
                    raise Http404
        except DecisionRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, redirect("admin:audit_correction_change", finding.pk))
        return redirect("admin:audit_correction_change", finding.pk)
