"""Casework: what an officer does to one case or to many, and the panel of the case on a finding's page."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.access.scope import officers_with
from audit.casework import actions
from audit.casework.state_machine import TRANSITIONS
from audit.desk.findings.queues import HEADS, can_work_cases, next_in_queue
from audit.desk.scoped_admin import RecordAdmin, demands, in_record, officer_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.models import Finding, Officer
from audit.models.cases import Outcome, State
from audit.presentation import countdown

if TYPE_CHECKING:
    from django.db.models import QuerySet

SIMILAR_SHOWN = 6

ACTION_TITLES = {
    "case.taken": _("took the case"),
    "case.assigned": _("assigned the case to"),
    "case.released": _("released the case"),
    "case.commented": _("added a note"),
    "case.proposed": _("proposed closing:"),
    "case.closed": _("approved closing:"),
    "case.sent_back": _("sent the case back"),
    "case.reopened": _("reopened the case"),
}
"""An action in the case's history, by its event type in the audit trail. One with a colon is followed by an outcome."""


class CaseActionForm(ActionForm):
    """Outcome and reason for all selected cases."""

    outcome = forms.ChoiceField(label=_("Outcome"), required=False, choices=[("", "—"), *Outcome.choices])
    reason = forms.CharField(label=_("Reason"), required=False, max_length=actions.MAX_REASON)


class CaseworkAdmin(RecordAdmin[Finding]):
    """The part of the findings admin that changes cases. Findings themselves are read-only."""

    actions = ("take_selected", "propose_selected")
    action_form = CaseActionForm

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Offer actions on many cases to officers who work on cases at some casino."""
        return super().get_actions(request) if can_work_cases(request) else {}

    @admin.action(description=_("Assign to me"))
    def take_selected(self, request: HttpRequest, findings: QuerySet[Finding]) -> None:
        self._perform_all(request, findings, "take")

    @admin.action(description=_("Propose closing"))
    def propose_selected(self, request: HttpRequest, findings: QuerySet[Finding]) -> None:
        reason, outcome = request.POST.get("reason", ""), request.POST.get("outcome", "")
        self._perform_all(request, findings, "propose", reason=reason, outcome=outcome)

    def _perform_all(
        self, request: HttpRequest, findings: QuerySet[Finding], name: str, *, reason: str = "", outcome: str = ""
    ) -> None:
        """Perform one action on many cases, each on its own, and report how many it was done to or refused for."""
        done = 0
        refusals: Counter[str] = Counter()
        for case_id in dict.fromkeys(findings.exclude(case=None).values_list("case_id", flat=True)):
            try:
                actions.perform(case_id, officer_of(request), name, reason=reason, outcome=outcome)
                done += 1
            except actions.ActionRefused as error:
                refusals[str(error)] += 1
        if done:
            text = ngettext("%(count)d case was changed.", "%(count)d cases were changed.", done)
            messages.success(request, text % {"count": done})
        for why, count in refusals.items():
            text = ngettext(
                "%(count)d case was not changed: %(why)s", "%(count)d cases were not changed: %(why)s", count
            )
            messages.warning(request, text % {"count": count, "why": why})

    def casework_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("take-next/", view(self.take_next_view), name="audit_finding_take_next"),
            path("<int:pk>/case/<slug:name>/", view(self.case_view), name="audit_finding_case"),
        ]

    @demands(Capability.WORK_CASES)
    def take_next_view(self, request: HttpRequest) -> HttpResponse:
        """Assign the first unassigned case of the list, as the request's query filters and orders it, and open it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        shown = self.get_changelist_instance(request).get_queryset(request)
        case = actions.take_next(officer_of(request), shown)
        finding = case and case.findings.standing().filter(HEADS).first()
        if finding is None:
            messages.info(request, _("No unassigned case is waiting."))
            return redirect("admin:audit_finding_changelist")
        return redirect("admin:audit_finding_change", finding.pk)

    @demands(Capability.WORK_CASES, Capability.APPROVE_CASES)
    def case_view(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Perform one action on the case of a finding, by POST, and return to the finding's page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        finding = self.row_or_404(request, pk)
        if name not in TRANSITIONS or finding.case_id is None:
            raise Http404
        decides = TRANSITIONS[name].capability is Capability.APPROVE_CASES
        if decides and (page := ask_for_proof(request)) is not None:
            return page
        assignee = Officer.objects.filter(username=request.POST.get("assignee", ""), is_active=True).first()
        try:
            actions.perform(
                finding.case_id,
                officer_of(request),
                name,
                reason=request.POST.get("reason", ""),
                outcome=request.POST.get("outcome", ""),
                assignee=assignee,
            )
        except actions.ActionRefused as error:
            messages.error(request, str(error))
        return redirect("admin:audit_finding_change", pk)


def case_context(request: HttpRequest, finding: Finding) -> dict[str, Any] | None:
    """Return what the panel of a finding's case shows; None if the finding has no case."""
    case = finding.case
    if case is None:
        return None
    officer = officer_of(request)
    similar = (
        in_record(Finding.objects.standing(), request)
        .filter(casino_id=finding.casino_id, rule=finding.rule, table_id=finding.table_id)
        .exclude(case=case)
        .select_related("case", "casino")
    )
    colleagues = officers_with(Capability.WORK_CASES, [case.casino_id]).exclude(pk=case.assigned_to_id or 0)
    outcomes = dict(Outcome.choices)
    return {
        "case": case,
        "states": [{"title": state.label, "is_current": state == case.state} for state in State],
        "deadline": countdown(case.deadline) if case.state != State.CLOSED else None,
        "video": countdown(finding.occurred_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS)),
        "may": {name: actions.is_allowed(case, officer, name) for name in TRANSITIONS},
        "is_own_proposal": case.state == State.SECOND and case.proposed_by_id == officer.pk,
        "outcomes": Outcome.choices,
        "colleagues": colleagues.order_by("username"),
        "history": [
            {
                "action": action,
                "title": ACTION_TITLES.get(action.type, action.type),
                "about": outcomes.get(action.about, action.about),
            }
            for action in case.actions.select_related("officer")
        ],
        "similar": similar.order_by("-occurred_at")[:SIMILAR_SHOWN],
        "has_recurred": similar.filter(case__state=State.CLOSED, case__closed_at__lt=case.opened_at).exists(),
        "next": next_in_queue(request, finding),
    }
