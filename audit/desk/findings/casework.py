"""Casework: what an officer does to one case or to many, and the panel of the case on a finding's page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.access.scope import officers_with
from audit.casework import actions, patterns
from audit.casework.debts import stake_of_incident, with_money
from audit.casework.escalation import escalations_of
from audit.casework.priority import ALIKE_DAYS
from audit.casework.state_machine import TRANSITIONS
from audit.casework.video import is_deadlines_reason
from audit.desk import kept_words
from audit.desk.addresses import page_of
from audit.desk.approve.neighbours import next_address
from audit.desk.findings.neighbours import LISTED, list_kept
from audit.desk.findings.queues import HEADS, can_work_cases
from audit.desk.parts import STATES, due_ring, state_pie
from audit.desk.scoped_admin import RecordAdmin, at, demands, in_record, officer_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.desk.tables.moment import clock_in, instant_at, span_of
from audit.models import Case, CaseAction, Finding, Officer
from audit.models.cases import Outcome, State
from audit.models.officers import is_active_account
from audit.presentation import (
    countdown,
    finding_title,
    officer_name,
    passed_to,
    reference,
    time_left,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

SIMILAR_SHOWN = 6

ACTION_TITLES = {
    "case.taken": _("took the case"),
    "case.assigned": _("assigned the case to"),
    "case.released": _("released the case"),
    "case.commented": _("added a note"),
    "case.answered": _("entered the croupier’s answer"),
    "case.withdrawn": _("withdrew the proposal"),
    "case.payment_ordered": _("made a payment order"),
    "case.video_asked": _("asked for the video"),
    "case.proposed": _("proposed closing:"),
    "case.closed": _("approved closing:"),
    "case.sent_back": _("sent the case back"),
    "case.reopened": _("reopened the case"),
    "case.held": _("placed a legal hold"),
    "case.hold_lifted": _("lifted the legal hold"),
    "case.joined": _("took the case, as part of the pattern"),
    "case.left": _("released the case from the pattern"),
    "case.linked": _("added the case to the pattern"),
    "case.unlinked": _("took the case out of the pattern"),
}
"""An action in the case's history, by its event type in the audit trail. One with a colon is followed by an outcome."""


CHOICES = [("", _("choose")), *((value, capfirst(word)) for value, word in Outcome.choices)]


class CaseActionForm(ActionForm):
    """Outcome and reason for all selected cases."""

    outcome = forms.ChoiceField(label=_("Outcome"), required=False, choices=CHOICES)
    reason = forms.CharField(label=_("Reason"), required=False)  # one that is too long is cut, as that of one case


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
        reason, outcome = request.POST.get("reason", "").strip(), request.POST.get("outcome", "")
        if not reason or outcome not in Outcome.values:  # said once, not once for each case
            messages.error(request, _("Choose an outcome and give a reason: one for all of the cases."))
            kept_words.keep(request, request.path)
            return
        self._perform_all(request, findings, "propose", reason=reason, outcome=outcome)

    def _perform_all(
        self, request: HttpRequest, findings: QuerySet[Finding], name: str, *, reason: str = "", outcome: str = ""
    ) -> None:
        """Perform one action on many cases, each on its own, and report how many it was done to or refused for."""
        done: list[Case] = []
        refusals: Counter[str] = Counter()
        for case_id in dict.fromkeys(findings.exclude(case=None).values_list("case_id", flat=True)):
            try:
                done.append(actions.perform(case_id, officer_of(request), name, reason=reason, outcome=outcome))
            except actions.ActionRefused as error:
                refusals[str(error)] += 1
        if done:
            content = _done_words(name, len(done))
            undo = undo_form(request, done, TRANSITIONS[name].event)
            messages.success(request, format_html("{} {}", content, undo) if undo else content)
        say_refusals(request, refusals)

    @at("take-next/")
    @demands(Capability.WORK_CASES)
    def take_next_view(self, request: HttpRequest) -> HttpResponse:
        """Assign the first unassigned case of the list, as the request's query filters and orders it, and open it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        shown = self.get_changelist_instance(request).get_queryset(request)
        case = actions.take_next(officer_of(request), shown)
        finding = case and case.findings.standing().filter(HEADS).first()
        if finding is None:
            messages.info(request, _("No unassigned cases are waiting."))
            return redirect("admin:audit_finding_changelist")
        kept = urlencode({LISTED: request.GET.urlencode()}) if request.GET else ""
        return redirect(f"{reverse('admin:audit_finding_change', args=[finding.pk])}{'?' * bool(kept)}{kept}")

    @at("undo/")
    @demands(Capability.WORK_CASES)
    def undo_view(self, request: HttpRequest) -> HttpResponse:
        """Take back what the officer did to several cases, each on its own, and return to the list that it was of.

        What somebody has done to a case since stays as it is, and is said.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        officer = officer_of(request)
        sent = [each for each in request.POST.get("actions", "").split(",") if ID.fullmatch(each)]
        undone = 0
        refusals: Counter[str] = Counter()
        for action in CaseAction.objects.filter(pk__in=sent, officer=officer).select_related("case__casino"):
            try:
                actions.undo(action, officer)
                undone += 1
            except actions.ActionRefused as error:
                refusals[str(error)] += 1
        if undone:
            text = ngettext("Undone: %(count)d case.", "Undone: %(count)d cases.", undone)
            messages.success(request, text % {"count": undone})
        say_refusals(request, refusals)
        kept = request.GET.urlencode()
        return redirect(f"{reverse('admin:audit_finding_changelist')}{'?' * bool(kept)}{kept}")

    @at("<int:pk>/case/<slug:name>/")
    @demands(Capability.WORK_CASES, Capability.APPROVE_CASES)
    def case_view(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Perform one action on the case of a finding, by POST, and return to the finding's page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        finding = self.row_or_404(request, pk)
        if name not in TRANSITIONS or finding.case_id is None:
            raise Http404
        if TRANSITIONS[name].event in patterns.JOINED:
            raise Http404  # a pattern is opened on the page of its croupier, of all its cases at once
        decides = TRANSITIONS[name].capability is Capability.APPROVE_CASES
        if decides and (page := ask_for_proof(request, is_signature=name in DECISIONS)) is not None:
            return page
        shown = _shown_moment(request, finding) if name == "ask_video" else None
        back = shown.address if shown is not None else address_of(request, pk)
        named = request.POST.get("assignee", "").replace("\0", "")
        assignee = Officer.objects.filter(is_active_account(), username=named).first()
        undoes = request.POST.get("undoes", "")
        try:
            case = actions.perform(
                finding.case_id,
                officer_of(request),
                name,
                reason=request.POST.get("reason", ""),
                outcome=request.POST.get("outcome", ""),
                assignee=assignee,
                is_again=bool(request.POST.get("again")),
                moment=shown.at if shown is not None else None,
                undoes=int(undoes) if ID.fullmatch(undoes) else None,
                proposal=proposal_read(request) if name in DECISIONS else None,
            )
        except actions.ActionRefused as error:
            messages.error(request, str(error))
            kept_words.keep(request, urlsplit(back).path)
            return redirect(back)
        if name in DECISIONS:
            say_decided(request, finding, name)
            return redirect(next_address(request))
        if shown is not None:
            messages.success(request, _("The video was asked for under case %(case)s.") % {"case": reference(finding)})
        elif actions.undoable(case, officer_of(request)) is None:  # what can be taken back is said beside its button
            messages.success(request, str(MESSAGES[TRANSITIONS[name].event]))
        return redirect(back)


def _done_words(name: str, number: int) -> str:
    """Return what was done to ``number`` cases, and for proposed closings what comes next."""
    if name == "take":
        return ngettext("You took %(count)d case.", "You took %(count)d cases.", number) % {"count": number}
    text = ngettext(
        "You proposed closing %(count)d case. A second officer must decide.",
        "You proposed closing %(count)d cases. A second officer must decide.",
        number,
    )
    return text % {"count": number}


def proposal_read(request: HttpRequest) -> int:
    """Return the id of the proposed closing that the page of a decision showed; 0, which is no closing's, for none."""
    sent = request.POST.get("proposal", "")
    return int(sent) if ID.fullmatch(sent) else 0


def proposal_shown(case: Case, history: Sequence[CaseAction]) -> int | None:
    """Return the id of the proposed closing whose outcome and reason ``case`` has; None if its last one has others.

    The case and its history are read one after the other: somebody may propose something else in between.
    """
    last = next((each for each in reversed(history) if each.type == "case.proposed"), None)
    proposed = (case.proposed_by_id, case.outcome, case.reason)
    return None if last is None or proposed != (last.officer_id, last.about, last.reason) else last.pk


def say_decided(request: HttpRequest, finding: Finding, name: str) -> None:
    """Say what was decided about which case, with a link to it: the page of the next one follows."""
    link = format_html('<a href="{}">{}</a>', page_of("finding", finding.pk), reference(finding))
    messages.success(request, format_html("{}: {}", link, MESSAGES[TRANSITIONS[name].event]))


def say_refusals(request: HttpRequest, refusals: Counter[str]) -> None:
    """Say of how many cases nothing was changed, once for each cause."""
    for why, count in refusals.items():
        text = ngettext("%(count)d case was not changed: %(why)s", "%(count)d cases were not changed: %(why)s", count)
        messages.warning(request, text % {"count": count, "why": why})


def undo_form(request: HttpRequest, cases: Sequence[Case], *events: str, kept: str | None = None) -> SafeString | None:
    """Return the button that takes back what an officer has just done to ``cases``; None if it cannot be taken back.

    ``kept`` is the query of the list to return to, None for that of the request.
    """
    if not actions.UNDO.keys() >= {*events}:
        return None
    done = CaseAction.objects.filter(case__in=cases, officer=officer_of(request), type__in=events).values("case")
    kept = request.GET.urlencode() if kept is None else kept
    return format_html(
        '<form class="undo" method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">'
        '<input type="hidden" name="actions" value="{}"><button class="btn sm" type="submit">{}</button></form>',
        f"{reverse('admin:audit_finding_undo')}{'?' * bool(kept)}{kept}",
        get_token(request),
        ",".join(str(last) for last in done.annotate(last=Max("pk")).values_list("last", flat=True).order_by("last")),
        _("Undo"),
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """The moment at the table that an officer was looking at, and the address of its page."""

    at: datetime
    address: str


def _shown_moment(request: HttpRequest, finding: Finding) -> _Shown | None:
    """Return the moment of the finding's session that the request names by ``at`` and ``clock``; None if it names none.

    Raise ``Http404`` for one that the session does not have.
    """
    at, clock = request.POST.get("at", ""), request.POST.get("clock", "")
    if not at:
        return None
    span = span_of(finding.stream_id)
    seq = int(at) if at.isascii() and at.isdigit() and len(at) < 17 else 0
    if span is None or not 0 < seq <= span.last_seq:
        raise Http404
    instant = instant_at(finding.stream, seq, clock, span)
    if instant is None:
        raise Http404
    page = reverse("admin:audit_loggedstream_table", args=(finding.stream_id,))
    written = f"&{urlencode({'clock': clock})}" if clock_in(clock) is not None else ""
    return _Shown(instant, f"{page}?at={seq}{written}")


def address_of(request: HttpRequest, pk: int) -> str:
    """Return the address of a finding's page, with the list that the request came from."""
    return reverse("admin:audit_finding_change", args=[pk]) + list_kept(request)


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
    known = actions.Known(case, finding)
    return {
        "case": case,
        "states": [{"title": title, "is_current": state == case.state} for state, title in STATES.items()],
        "pie": state_pie(case),
        "due": due_ring(time_left(case.deadline, since=case.opened_at)) if case.state != State.CLOSED else "",
        "is_before_video_ends": finding.heads_case and is_deadlines_reason(case, finding),
        "late": _late_words(case),
        "asks_video": _video_of(known),
        "video": countdown(finding.occurred_at + timedelta(days=settings.CABOCHON_VIDEO_DAYS)),
        "may": {name: actions.is_allowed(case, officer, name, known) for name in TRANSITIONS},
        "hold": known.hold,
        "undo": _undo(known, officer),
        "proposal": proposal_shown(case, known.history),
        "is_own_proposal": case.state == State.SECOND and case.proposed_by_id == officer.pk,
        "outcomes": Outcome.choices,
        "colleagues": colleagues.order_by("username"),
        "history": [
            {
                "action": action,
                "title": ACTION_TITLES.get(action.type, action.type),
                "about": outcomes.get(action.about, action.about),
            }
            for action in known.history
        ],
        "similar": [
            {
                "finding": other,
                "words": _money_words(other),
                "reference": reference(other),
            }
            for other in with_money(similar).order_by("-occurred_at")[:SIMILAR_SHOWN]
        ],
        "pattern": _pattern(finding, request),
        "together": _together(known, finding, request),
        "has_recurred": similar.filter(case__state=State.CLOSED, case__closed_at__lt=case.opened_at).exists(),
    }


def _video_of(known: actions.Known) -> dict[str, Any]:
    """Return what the page says of asking for the video: whether a camera saw it, what is lacking, by whom and when."""
    requests = list(known.case.video_requests.select_related("requested_by"))
    lacking = known.no_video if known.is_of_a_table else None
    return {"is_of_a_table": known.is_of_a_table, "lacking": lacking, "requests": requests}


def _late_words(case: Case) -> dict[str, Any] | None:
    """Return since when an open case is late, to whom it passed and who has no mail address; None if it is not."""
    escalation = escalations_of([case.pk]).get(case.pk) if case.state != State.CLOSED else None
    if escalation is None:
        return None
    notices = list(escalation.notices.select_related("officer"))
    unreached = [each.officer for each in notices if each.sent_at is None and not each.officer.email]
    given_up = [each.officer for each in notices if each.given_up_at is not None]
    return {
        "since": escalation.deadline,
        "to": passed_to(escalation),
        "unreached": ", ".join(officer_name(each) for each in unreached),
        "given_up": ", ".join(officer_name(each) for each in given_up),
        "nobody": not notices,
    }


ID = re.compile(r"[0-9]{1,18}")

DECISIONS = ("approve", "send_back")
"""The transitions by which a second officer decides about a proposed closing: each is signed."""

DONE: Mapping[str, Promise] = {
    "case.taken": _("You took this case."),
    "case.assigned": _("The case was assigned."),
    "case.proposed": _("You proposed closing this case. A second officer must decide."),
    "case.joined": _("You took this case as part of a pattern."),
    "case.linked": _("You added this case to a pattern."),
}
"""What an officer has just done that can be taken back, by its event type in the audit trail."""

MESSAGES: Mapping[str, Promise] = {
    **DONE,
    "case.released": _("The case was released. No officer has it."),
    "case.commented": _("The note was added."),
    "case.answered": _("The croupier’s answer was added."),
    "case.withdrawn": _("The proposal was withdrawn."),
    "case.video_asked": _("The video was asked for."),
    "case.closed": _("The case was closed."),
    "case.sent_back": _("The case was sent back."),
    "case.reopened": _("The case was reopened."),
    "case.held": _("The legal hold was placed."),
    "case.hold_lifted": _("The legal hold was lifted."),
    "case.left": _("The case is no longer part of a pattern. No officer has it."),
    "case.unlinked": _("The case is no longer part of a pattern."),
}
"""What is said after an act, by its event type in the audit trail."""


def _undo(known: actions.Known, officer: Officer) -> dict[str, Any] | None:
    undo = actions.undoable(known.case, officer, known)
    if undo is None:
        return None
    assignee = undo.assignee.username if undo.assignee is not None else ""
    return {
        "content": DONE[undo.action.type],
        "name": undo.transition,
        "action": undo.action.pk,
        "assignee": assignee,
    }


def _pattern(finding: Finding, request: HttpRequest) -> dict[str, Any] | None:
    """Return how many other incidents of the same rule are the same croupier's within thirty days; None for none."""
    if not finding.croupier:
        return None
    alike = in_record(Finding.objects.standing(), request).filter(
        casino_id=finding.casino_id,
        rule=finding.rule,
        croupier=finding.croupier,
        gaming_day__range=(finding.gaming_day - ALIKE_DAYS, finding.gaming_day + ALIKE_DAYS),
    )
    count = alike.exclude(case=finding.case).values("case").distinct().count()
    query = urlencode({"rule": finding.rule, "q": finding.croupier})
    address = f"{reverse('admin:audit_finding_changelist')}?{query}"
    return {"count": count, "address": address} if count else None


def _money_words(head: Finding) -> str:
    """Return what an incident owes, or what happened where nothing is owed."""
    stake = stake_of_incident(head)
    return stake.text if stake.amount else finding_title(head.rule)


def _together(known: actions.Known, finding: Finding, request: HttpRequest) -> dict[str, Any] | None:
    """Return the pattern that the case is in, with the incidents of its other cases, the first first; None for none."""
    if not known.pattern:
        return None
    cases = patterns.members(finding, known.pattern)
    heads = in_record(Finding.objects.standing().filter(HEADS), request).filter(case__in=cases)
    others = heads.exclude(case=known.case).select_related("case__assigned_to", "casino").order_by("occurred_at", "pk")
    return {
        "name": known.pattern,
        "count": len(cases),
        "others": [
            {
                "finding": other,
                "reference": reference(other),
                "words": _money_words(other),
                "state": state_pie(other.case) if other.case is not None else "",
                "officer": other.case.assigned_to if other.case is not None else None,
            }
            for other in with_money(others)
        ],
    }
