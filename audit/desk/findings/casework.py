"""Casework at the desk: the queues, what is done to one case or to many, and the rail of a finding's page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.casework import actions
from audit.casework.state_machine import TRANSITIONS, WORKING
from audit.desk.audit_trail import page
from audit.desk.audited_admin import record_act
from audit.desk.downloads import handed_out, words_of
from audit.desk.record_admin import language, of_own_casinos, officer_of
from audit.desk.sign_in import second_factor
from audit.exports.files import FORMS, MAX_ROWS, findings_of, findings_sheet
from audit.jobs.queue import ask
from audit.models import Case, Finding, Officer
from audit.models.cases import Outcome, State
from audit.models.jobs import JobKind

MAX_AT_ONCE = 2_000
"""Rows of a file that is handed out at once; a larger one is made by the workers, on a page of its own."""

OPEN = (State.NEW, State.INVESTIGATING, State.SECOND)


@dataclass(frozen=True, slots=True)
class Tab:
    """One queue: its name in addresses, its title, how many wait in it."""

    name: str
    title: str | Promise
    count: int
    is_current: bool
    address: str


def queues(officer: Any) -> dict[str, tuple[Promise, Q]]:
    """Return the queues of an officer: title, and which findings are in it."""
    return {
        "open": (_("Open"), Q(case__state__in=OPEN)),
        "unassigned": (_("Unassigned"), Q(case__state=State.NEW)),
        "mine": (_("Mine"), Q(case__assigned_to=officer, case__state__in=OPEN)),
        "second": (_("Second officer"), Q(case__state=State.SECOND)),
        "overdue": (_("Overdue"), Q(case__state__in=OPEN, case__deadline__lt=timezone.now())),
        "closed": (_("Closed"), Q(case__state=State.CLOSED)),
    }


class QueueFilter(admin.SimpleListFilter):
    """By queue. It is shown as tabs above the list, not beside it."""

    title = _("queue")
    parameter_name = "queue"
    template = "admin/audit/parts/empty.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, title) for name, (title, _where) in queues(request.user).items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        known = queues(request.user)
        return queryset.filter(known[self.value()][1]) if self.value() in known else queryset


def tabs(request: HttpRequest) -> list[Tab]:
    """Return the queues with their counts, by one query: of standing findings at the officer's own houses."""
    known = queues(request.user)
    standing = of_own_casinos(Finding.objects.filter(superseded_at=None), request)
    counts = standing.aggregate(**{name: Count("pk", filter=where) for name, (_title, where) in known.items()})
    current = request.GET.get("queue")
    return [
        Tab(name, title, counts[name], name == current, f"?queue={name}") for name, (title, _where) in known.items()
    ]


class CaseActionForm(ActionForm):
    """What is said of many cases at once."""

    outcome = forms.ChoiceField(label=_("Outcome"), required=False, choices=[("", "—"), *Outcome.choices])
    reason = forms.CharField(label=_("Reason"), required=False, max_length=actions.MAX_WORDS)


class Casework:
    """Of a ``ModelAdmin`` of findings: what is done about them. Reading is the rest of it."""

    actions = ("take_selected", "propose_selected")
    action_form = CaseActionForm

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Offer what is done to many to those who work on cases somewhere."""
        actions: dict[str, Any] = super().get_actions(request)  # type: ignore[misc]
        return actions if can_work_cases(request.user) else {}

    @admin.action(description=_("Assign to me"))
    def take_selected(self, request: HttpRequest, findings: QuerySet[Finding]) -> None:
        self._do_all(request, findings, "take")

    @admin.action(description=_("Propose closing"))
    def propose_selected(self, request: HttpRequest, findings: QuerySet[Finding]) -> None:
        said = {"reason": request.POST.get("reason", ""), "outcome": request.POST.get("outcome", "")}
        self._do_all(request, findings, "propose", **said)

    def _do_all(self, request: HttpRequest, findings: QuerySet[Finding], name: str, **said: str) -> None:
        """Do one step to many cases, each by itself, and say what became of them."""
        done = 0
        refused: dict[str, int] = {}
        for case_id in dict.fromkeys(findings.exclude(case=None).values_list("case_id", flat=True)):
            try:
                actions.perform(case_id, request.user, name, **said)  # type: ignore[arg-type]
                done += 1
            except actions.ActionRefused as error:
                refused[str(error)] = refused.get(str(error), 0) + 1
        if done:
            told = ngettext("%(count)d case was changed.", "%(count)d cases were changed.", done) % {"count": done}
            messages.success(request, told)
        for why, count in refused.items():
            told = ngettext("%(count)d case was not: %(why)s", "%(count)d cases were not: %(why)s", count)
            messages.warning(request, told % {"count": count, "why": why})

    def casework_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view  # type: ignore[attr-defined]
        return [
            *page.urls(),
            *second_factor.urls(),
            path("export/<slug:form>/", guarded(self.export_view), name="audit_finding_export"),
            path("take-next/", guarded(self.take_next_view), name="audit_finding_take_next"),
            path("<int:pk>/case/<slug:name>/", guarded(self.case_view), name="audit_finding_case"),
        ]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponse:
        """Hand out exactly what the list's filter leaves. By POST: it is an act."""
        if request.method != "POST" or form not in FORMS:
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        found = self.get_changelist_instance(request).get_queryset(request)  # type: ignore[attr-defined]
        ids = list(found.values_list("pk", flat=True)[:MAX_ROWS])
        said = words_of(request.GET)
        for casino_id in {each.pk for each in request.user.casinos_with_role()}:  # type: ignore[union-attr]
            record_act(request, "findings.exported", casino_id=casino_id, form=form, rows=len(ids), filter=said)
        if len(ids) > MAX_AT_ONCE:
            asked = {"findings": ids, "form": form, "said": said, "language": language()}
            return redirect("admin:audit_job_change", ask(JobKind.EXPORT, request.user, None, asked).pk)  # type: ignore[arg-type]
        sheet = findings_sheet(findings_of(ids))
        return handed_out(sheet, form, title=str(_("Findings")), said=said, day=timezone.now().date())

    def take_next_view(self, request: HttpRequest) -> HttpResponse:
        """Assign the most urgent case that nobody has, and open it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        case = actions.take_next(request.user)  # type: ignore[arg-type]
        finding = case and case.findings.filter(superseded_at=None).order_by("-pk").first()
        if finding is None:
            messages.info(request, _("Nothing waits to be taken."))
            return redirect("admin:audit_finding_changelist")
        return redirect("admin:audit_finding_change", finding.pk)

    def case_view(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Do one step to the case of a finding. By POST alone, and back to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        finding = self.row_or_404(request, pk)  # type: ignore[attr-defined]
        if name not in TRANSITIONS or finding.case_id is None:
            raise Http404
        said = request.POST
        assignee = Officer.objects.filter(username=said.get("assignee", ""), is_active=True).first()
        try:
            actions.perform(
                finding.case_id,
                request.user,  # type: ignore[arg-type]
                name,
                reason=said.get("reason", ""),
                outcome=said.get("outcome", ""),
                assignee=assignee,
            )
        except actions.ActionRefused as error:
            messages.error(request, error.reason)
        return redirect("admin:audit_finding_change", pk)


def can_work_cases(officer: Any) -> bool:
    """Tell whether somebody works on cases at some house."""
    return bool(officer.is_superuser or officer.casinos_with_role(*WORKING).exists())


@dataclass(frozen=True, slots=True)
class Countdown:
    """How long something still takes, or is past."""

    until: datetime
    is_past: bool
    is_near: bool
    hours: int
    days: int


def countdown(until: datetime) -> Countdown:
    left = until - timezone.now()
    hours = int(abs(left).total_seconds() // 3600)
    return Countdown(until, left < timedelta(0), left < timedelta(hours=24), hours, hours // 24)


def case_context(request: HttpRequest, finding: Finding) -> dict[str, Any] | None:
    """Return what the rail of a finding's page shows of its case, None where it has none."""
    case = finding.case
    if case is None:
        return None
    officer = officer_of(request)
    alike = (
        of_own_casinos(Finding.objects.filter(superseded_at=None), request)
        .filter(casino_id=finding.casino_id, rule=finding.rule, table_id=finding.table_id)
        .exclude(case_id=finding.case_id)
        .select_related("case", "casino")
    )
    colleagues = Officer.objects.filter(
        memberships__casino_id=case.casino_id, memberships__role__in=WORKING, is_active=True
    ).exclude(pk=case.assigned_to_id or 0)
    return {
        "case": case,
        "states": [{"title": state.label, "is_current": state == case.state} for state in State],
        "deadline": countdown(case.deadline) if case.state != State.CLOSED else None,
        "video": countdown(finding.occurred_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS)),
        "may": {name: actions.is_allowed(case, officer, name) for name in TRANSITIONS},
        "is_own_proposal": case.state == State.SECOND and case.proposed_by_id == officer.pk,
        "outcomes": Outcome.choices,
        "colleagues": colleagues.order_by("username"),
        "actions": [
            {
                "action": action,
                "title": ACTIONS.get(action.type, action.type),
                "outcome": dict(Outcome.choices).get(action.about, action.about),
            }
            for action in case.actions.select_related("officer")
        ],
        "alike": alike.order_by("-occurred_at")[:6],
        "came_back": alike.filter(case__state=State.CLOSED, case__closed_at__lt=case.opened_at).exists(),
        "next": next_in_queue(request, finding),
        "address": reverse("admin:audit_finding_changelist"),
    }


def next_in_queue(request: HttpRequest, finding: Finding) -> int | None:
    """Return the finding that comes after one in the queue of open cases."""
    waiting = of_own_casinos(Finding.objects.filter(superseded_at=None, case__state__in=OPEN), request)
    case = finding.case
    if case is None:
        return None
    after = waiting.filter(
        Q(case__weight__gt=case.weight)
        | Q(case__weight=case.weight, case__deadline__gt=case.deadline)
        | Q(case__weight=case.weight, case__deadline=case.deadline, pk__lt=finding.pk)
    )
    found = after.order_by("case__weight", "case__deadline", "-pk").values_list("pk", flat=True).first()
    return int(found) if found is not None else None


ENDS = dict(Outcome.choices)

ACTIONS = {
    "case.taken": _("took the case"),
    "case.assigned": _("assigned the case to"),
    "case.released": _("put the case back"),
    "case.commented": _("noted"),
    "case.proposed": _("proposed closing:"),
    "case.closed": _("approved closing:"),
    "case.sent_back": _("sent the case back"),
    "case.reopened": _("reopened the case"),
}


def state_of(finding: Finding) -> tuple[str, str]:
    """Return the state of a finding's case, for a badge: its name and its title."""
    case: Case | None = finding.case
    return (case.state, State(case.state).label) if case else ("", "—")
