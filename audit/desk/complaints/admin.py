"""Complaints: who disputes what, where, and until when it is to be answered.

The use cases are in ``audit.casework.complaints``; a page shows what they allow.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access.capabilities import Capability
from audit.casework import complaints
from audit.casework.actions import ActionRefused
from audit.desk import kept_words, parts
from audit.desk.audited_admin import record_entry
from audit.desk.complaints.complaint_form import AnswerForm, EntryForm, comparison
from audit.desk.names import directory_for, sees_names
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.tables.event_sentences import sentence
from audit.event_store import read
from audit.models import Complaint
from audit.models.complaints import Answer, Came
from audit.persons.directory import mentioned_in, players
from audit.presentation import date_time, language, local, money, time_left
from settlement.codec import decode_one_stored


class StateFilter(admin.SimpleListFilter):
    """Whether a complaint has been answered."""

    title = gettext_lazy("state")
    parameter_name = "answered"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("no", _("to answer")), ("yes", _("answered"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        return queryset.filter(answer__isnull=wanted == "no") if wanted in ("yes", "no") else queryset


@admin.register(Complaint)
class ComplaintAdmin(RecordAdmin[Complaint]):
    list_display = ("where", "casino", "complainant", "how", "entered", "until")
    list_display_links = ("where",)
    list_select_related = ("casino", "table", "stream", "answer")
    list_filter = (StateFilter, "casino")
    ordering = ("deadline", "pk")
    change_list_template = "admin/audit/complaints/list.html"
    when_empty = gettext_lazy("No complaint has been entered. One is, when a player disputes what happened at a table.")
    when_empty_of = MappingProxyType(
        {"answered=no": gettext_lazy("No complaint is waiting for an answer. Those that were answered are kept.")}
    )

    @admin.display(description=gettext_lazy("where"))
    def where(self, complaint: Complaint) -> str:
        return f"{complaint.table.code} · {complaint.clock:%H:%M}"

    @admin.display(description=gettext_lazy("player"), ordering="player")
    def complainant(self, complaint: Complaint) -> str:
        return complaint.player

    @admin.display(description=gettext_lazy("how it came in"), ordering="came")
    def how(self, complaint: Complaint) -> str:
        return str(Came(complaint.came).label)

    @admin.display(description=gettext_lazy("entered"), ordering="entered_at")
    def entered(self, complaint: Complaint) -> str:
        return date_time(complaint.entered_at, complaint.casino)

    @admin.display(description=gettext_lazy("answer by"), ordering="deadline")
    def until(self, complaint: Complaint) -> str:
        if hasattr(complaint, "answer"):
            return str(Answer(complaint.answer.outcome).label)
        return parts.due_ring(time_left(complaint.deadline, since=complaint.entered_at))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(scope_of(request, Capability.WORK_CASES))

    @demands(Capability.WORK_CASES)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Enter a complaint."""
        names = ("table", "day", "clock", "player", "wager")
        initial = {name: request.GET[name] for name in names if name in request.GET}
        initial |= kept_words.texts_of(request, "complaint")
        form = EntryForm(
            scope_of(request, Capability.WORK_CASES),
            request.POST or None,
            initial=initial,
            sees_names=lambda casino_id: sees_names(request, casino_id),
        )
        if request.method == "POST" and form.is_valid():
            moment = form.moment()
            if moment is None:
                form.add_error("day", _("The table has no session on that day."))
            else:
                content = {name: form.cleaned_data[name] for name in ("clock", "came", "words", "wager", "player")}
                try:
                    complaint = complaints.enter(
                        officer_of(request), complaints.Entered(moment.stream, moment.seq, **content)
                    )
                except ActionRefused as refused:
                    form.add_error(None, str(refused))
                else:
                    messages.success(request, _("Entered in the officers’ trail."))
                    return redirect("admin:audit_complaint_change", complaint.pk)
        return self.page(request, "admin/audit/complaints/enter.html", title=_("Enter a complaint"), form=form)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a complaint, what the table recorded then, and its answer or the form for it."""
        if request.method == "POST":
            return super().change_view(request, object_id, form_url, extra_context)
        return self._complaint_page(request, self.row_or_404(request, object_id))

    @at("<int:pk>/answer/")
    @demands(Capability.WORK_CASES)
    def answer_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Answer a complaint, by POST, and return to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        complaint = self.row_or_404(request, pk, Capability.WORK_CASES)
        form = AnswerForm(complaint, request.POST)
        if form.is_valid():
            values = form.cleaned_data
            try:
                complaints.answer(
                    pk,
                    officer_of(request),
                    values["outcome"],
                    values["words"],
                    amount=form.minor(),
                    paid=values["paid"],
                )
            except ActionRefused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, _("Answered. The answer pays nothing."))
                return redirect("admin:audit_complaint_change", pk)
        return self._complaint_page(request, complaint, form)

    def _complaint_page(
        self, request: HttpRequest, complaint: Complaint, form: AnswerForm | None = None
    ) -> HttpResponse:
        record_entry(request, "complaint.viewed", casino_id=complaint.casino_id, complaint=complaint.pk)
        events = [
            decode_one_stored(raw) for _seq, raw in read.slice_of(complaint.stream_id, after=complaint.seq - 1, limit=1)
        ]
        named = [*mentioned_in(events), *players([complaint.player] if complaint.player else [])]
        directory = directory_for(request, complaint.casino_id, named)
        currency = complaint.stream.currency
        answer = getattr(complaint, "answer", None)
        return self.page(
            request,
            "admin/audit/complaints/complaint.html",
            title=_("Complaint: table %(table)s at %(clock)s")
            % {"table": complaint.table.code, "clock": f"{complaint.clock:%H:%M}"},
            complaint=complaint,
            came=Came(complaint.came).label,
            player=parts.person("player", complaint.casino_id, complaint.player, directory.player(complaint.player))
            if complaint.player
            else "",
            recorded=[
                {
                    "at": local(each.occurred_at, complaint.casino),
                    "text": sentence(each, language(), currency, complaint.stream.ruleset, directory),
                }
                for each in events
            ],
            answer=answer,
            outcome=Answer(answer.outcome).label if answer is not None else "",
            amount=money(answer.amount, currency) if answer is not None and answer.amount is not None else "",
            left=parts.due_ring(time_left(complaint.deadline, since=complaint.entered_at)),
            compared=comparison(complaint, answer.amount, answer.paid_seq) if answer is not None else "",
            form=form or AnswerForm(complaint),
            may_answer=answer is None and scope_of(request, Capability.WORK_CASES).includes(complaint.casino_id),
        )
