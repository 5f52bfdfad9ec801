"""The evidence ledger at the desk. Read by whoever sees the record; a director or a second notes equipment taken apart.

Persons have their names where an officer may see those. The audit trail names each officer who looked at the money of
a person, or at the exchange register.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework import actions
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.findings.todo import post_button
from audit.desk.ledger import list_page, page, process_page
from audit.desk.ledger.coups import Coup, to_ask_for
from audit.desk.ledger.inspection_order import inspected, inspection_order
from audit.desk.ledger.question_files import process_pdf, questions_pdf
from audit.desk.ledger.subjects import persons_in, subject_text, subjects_of
from audit.desk.ledger.to_do import steps_of
from audit.desk.names import directory_for
from audit.desk.scoped_admin import RecordAdmin, at, casinos_in_record, demands, officer_of, scope_of
from audit.exports.pdf import PDF
from audit.ledger import listing
from audit.ledger.equipment import EquipmentRefused, equipment_of, take_apart
from audit.models import Casino, Finding, LedgerProcess
from audit.persons.directory import players
from audit.presentation import MISSING, reference
from audit.presentation import day as written_day
from audit.reconciliation.wording import PROCESSES
from settlement.eprocess.kinds import KINDS
from settlement.eprocess.ledger import EDITION

ORDER = "inspection"
"""The file of a process that orders an inspection."""


class KindFilter(admin.SimpleListFilter):
    """By kind, as the list calls it; kinds without a process are left out."""

    title = _("Kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        kinds = set(model_admin.get_queryset(request).order_by().values_list("kind", flat=True).distinct())
        return [(kind, title) for kind, title in PROCESSES.items() if kind in kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LedgerProcess]) -> QuerySet[LedgerProcess]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class HalfFilter(admin.SimpleListFilter):
    """Things, whose half of the budget is one, or persons."""

    title = _("about")
    parameter_name = "about"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(list_page.HALVES.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[LedgerProcess]) -> QuerySet[LedgerProcess]:
        if self.value() not in list_page.HALVES:
            return queryset
        return queryset.filter(kind__in=[name for name, kind in KINDS.items() if kind.half == self.value()])


class EndedFilter(admin.SimpleListFilter):
    """Hides processes that have ended, unless the user asks for all."""

    title = _("tests")
    parameter_name = "ended"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("all", _("including those that have ended"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LedgerProcess]) -> QuerySet[LedgerProcess]:
        return queryset if self.value() == "all" else queryset.filter(ended_at=None, edition=EDITION)


def _has_number(process: LedgerProcess) -> bool:
    return listing.has_number(process, has_question=process.has_question)  # type: ignore[attr-defined]  # by get_queryset


@admin.register(LedgerProcess)
class LedgerAdmin(RecordAdmin[LedgerProcess]):
    listed_as = _("Questions")
    when_empty = _("The ledger has seen no session yet. It is fed when a session closes.")
    counted = ngettext_lazy("%(number)d test", "%(number)d tests", "number")
    change_list_template = "admin/audit/ledger/list.html"
    list_display = ("title", "about", "casino", "first_day", "sessions", "now", "of_the_year", "asks_at")
    list_filter = (HalfFilter, KindFilter, "casino", EndedFilter)
    list_select_related = ("casino",)
    search_fields = ("=subject", "subject")
    ordering = ("-wealth",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("state").annotate(has_question=listing.HAS_QUESTION)

    @admin.display(description=_("test"), ordering="kind")
    def title(self, process: LedgerProcess) -> Any:
        return page.title_of(process)

    @admin.display(description=_("about"), ordering="subject")
    def about(self, process: LedgerProcess) -> str:
        return subject_text(process.links)  # type: ignore[attr-defined]  # by changelist_view

    @admin.display(description=_("evidence since it began"), ordering="wealth")
    def now(self, process: LedgerProcess) -> str:
        return page.odds(process.wealth_over_start) if _has_number(process) else MISSING

    @admin.display(description=_("evidence of the year"))
    def of_the_year(self, process: LedgerProcess) -> str:
        return page.odds(process.e_value) if _has_number(process) else MISSING

    @admin.display(description=_("threshold"))
    def asks_at(self, process: LedgerProcess) -> str:
        return page.times(process.threshold)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """List the processes; above them, by casino, what raised its question and what is near the threshold."""
        about = request.GET.get("about", "")
        found = [
            list_page.casino_context(each, about, partial(directory_for, request, each.pk))
            for each in casinos_in_record(request)
        ]
        casinos = sorted(filter(None, found), key=lambda each: -each["raised_count"])
        if request.GET.get("file") == "pdf" and self.has_view_or_change_permission(request):
            for each in casinos:
                record_entry(request, "ledger.exported", casino_id=each["casino"].pk)
            today = timezone.localdate()
            return file_response(f"questions-{today}.pdf", PDF, questions_pdf(casinos, today))
        may_answer = scope_of(request, Capability.WORK_CASES)
        shown = {
            "title": gettext("Questions"),
            "casinos": casinos,
            "to_answer": [
                row["finding"]
                for each in casinos
                if may_answer.includes(each["casino"].pk)
                for row in each["raised"]
                if row["answered"] is None
            ],
            "about": about if about in list_page.HALVES else "",
            "halves": list_page.HALVES,
        }
        response = super().changelist_view(request, {**shown, **(extra_context or {})})
        listed = (getattr(response, "context_data", None) or {}).get("cl")
        if listed is not None:
            listed.result_list = _with_links(request, listed.result_list)
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show a process: its curve, what moved it most, its questions."""
        process = self.row_or_404(request, object_id)
        file = request.GET.get("file", "")
        may = {
            "may_answer": scope_of(request, Capability.WORK_CASES).includes(process.casino_id),
            "may_take_apart": scope_of(request, Capability.SIGN_NIGHTS).includes(process.casino_id),
        }
        may_order = any(may.values())
        if file == ORDER and not may_order:
            raise PermissionDenied
        if file == ORDER and inspected(process) is None:
            raise Http404
        as_file = "ledger.exported" if file == "pdf" else "ledger.viewed"
        entry = "equipment.inspection_ordered" if file == ORDER else as_file
        record_entry(request, entry, casino_id=process.casino_id, process=process.name)
        shown = process_page.process_context(process, partial(directory_for, request, process.casino_id))
        today = timezone.localdate()
        if file == "pdf":
            return file_response(f"process-{process.pk}-{today}.pdf", PDF, process_pdf(process, shown, today))
        if file == ORDER:
            order = inspection_order(process, shown, officer_of(request), timezone.now())
            return file_response(f"inspection-{process.pk}-{today}.pdf", PDF, order)
        context = {
            **shown,
            **may,
            "todo": steps_of(
                process,
                shown["subject"],
                shown["most"],
                shown["finding"],
                coups=shown["coups"],
                is_near_threshold=shown["is_near_threshold"],
                ask=_ask_button(request, process, shown["finding"], shown["coups"]),
                order=f"?file={ORDER}" if may_order else "",
                **may,
            ),
            "title": f"{page.title_of(process)} · {', '.join(link.text for link in shown['subject'])}",
        }
        return self.page(request, "admin/audit/ledger/process.html", **context)

    @at("<int:pk>/apart/")
    @demands(Capability.SIGN_NIGHTS)
    def apart_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Note that a wheel or a set of dice was taken apart. By POST, with a reason."""
        process = self.row_or_404(request, pk, Capability.SIGN_NIGHTS)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        equipment = equipment_of(process)
        if equipment is None or not process.is_going_on:
            raise Http404
        try:
            ended = take_apart(officer_of(request), process.casino, *equipment, reason=request.POST.get("reason", ""))
        except EquipmentRefused as refused:
            if refused.code != "reason-missing":  # another officer has noted it meanwhile
                raise Http404 from None
            messages.error(request, _("Give a reason."))
        else:
            messages.info(
                request,
                ngettext("%(n)d test has ended.", "%(n)d tests have ended.", ended) % {"n": ended},
            )
        return HttpResponseRedirect(reverse("admin:audit_ledgerprocess_change", args=(pk,)))

    @at("<int:pk>/video/")
    @demands(Capability.WORK_CASES)
    def video_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for the video of the coups that the page of a process shows, in the case of its question. By POST."""
        process = self.row_or_404(request, pk, Capability.WORK_CASES)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        question, coups = process_page.coups_to_look_at(process)
        if question is None or question.case_id is None:
            raise Http404
        spans = to_ask_for(coups, question)
        requested = 0
        try:
            for first, last in spans:
                actions.perform(question.case_id, officer_of(request), "ask_video", moment=first, until=last)
                requested += 1
        except actions.ActionRefused as refused:
            messages.error(request, str(refused))
        if requested:
            words = ngettext(
                "The video of %(number)d session was asked for, in case %(case)s.",
                "The video of %(number)d sessions was asked for, in case %(case)s.",
                requested,
            )
            messages.success(request, words % {"number": requested, "case": reference(question)})
        elif not spans:
            messages.info(request, _("There is no video left to ask for."))
        return HttpResponseRedirect(reverse("admin:audit_ledgerprocess_change", args=(pk,)))

    @at("exchanges/<int:casino_id>/<str:gaming_day>/")
    @demands(Capability.SEE_NAMES)
    def exchanges_view(self, request: HttpRequest, casino_id: int, gaming_day: str) -> HttpResponse:
        """Show the exchange register of each cash desk and table of a gaming day."""
        casino = self._casino(request, casino_id)
        try:
            day = date.fromisoformat(gaming_day)
        except ValueError:
            raise Http404 from None
        record_entry(request, "exchanges.viewed", casino_id=casino.pk, gaming_day=day.isoformat())
        directory = directory_for(request, casino.pk, players(page.players_of_day(casino, day)))
        registers = page.registers_of(casino, day, directory)
        context = {
            "title": gettext("Exchange register of %(day)s") % {"day": written_day(day, with_weekday=True)},
            "casino": casino,
            "before": day - timedelta(days=1) if day > date.min else None,
            "after": day + timedelta(days=1) if day < date.max else None,
            "registers": registers,
            "has_several_currencies": len({each["currency"] for each in registers}) > 1,
        }
        return self.page(request, "admin/audit/ledger/exchanges.html", **context)

    def _casino(self, request: HttpRequest, casino_id: int) -> Casino:
        casino = scope_of(request, Capability.SEE_NAMES).casinos().filter(pk=casino_id).first()
        if casino is None:
            raise Http404
        return casino


def _with_links(request: HttpRequest, processes: Iterable[LedgerProcess]) -> list[LedgerProcess]:
    """Return the ``processes`` with ``links`` to whom or what each is about: at most two queries a casino."""
    listed = list(processes)
    for casino_id in {each.casino_id for each in listed}:
        own = [each for each in listed if each.casino_id == casino_id]
        links = subjects_of(own[0].casino, own, directory_for(request, casino_id, persons_in(own)))
        for each in own:
            each.links = links[each.pk]  # type: ignore[attr-defined]
    return listed


def _ask_button(
    request: HttpRequest, process: LedgerProcess, question: Finding | None, coups: Sequence[Coup]
) -> SafeString | None:
    """Return the button that asks for the video of coups, None where there is nothing to ask for or one may not."""
    if question is None or question.case is None or not coups:
        return None
    if not actions.is_allowed(question.case, officer_of(request), "ask_video", actions.Known(question.case, question)):
        return None
    if not to_ask_for(coups, question):
        return None
    return post_button(
        reverse("admin:audit_ledgerprocess_video", args=(process.pk,)), gettext("Ask for the video"), request
    )
