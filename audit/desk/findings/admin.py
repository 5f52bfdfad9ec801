"""Findings: the list, its export, the page of one finding and its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core.paginator import InvalidPage, Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework.debts import sums_owed
from audit.casework.priority import reasons, with_order
from audit.desk.archived import where_words
from audit.desk.audited_admin import actor, record_entry
from audit.desk.complaints.about import about_finding, entry_address
from audit.desk.downloads import file_response, filter_texts, filters_in_words, list_response
from audit.desk.empty_lists import Empty
from audit.desk.findings import saved_views
from audit.desk.findings.attachments import AttachmentsAdmin, files_of
from audit.desk.findings.casework import ID, case_context
from audit.desk.findings.columns import LIST_COLUMNS, headings_of
from audit.desk.findings.empty_queues import empty_of
from audit.desk.findings.filters import (
    HAS_WEIGHT,
    AmountFilter,
    DayFilter,
    LosesFilter,
    QueueFilter,
    RuleFilter,
    SeverityFilter,
    StandingFilter,
    TableOrGameFilter,
)
from audit.desk.findings.folding import Summed, folded, is_queue, is_read_at_once, summed
from audit.desk.findings.grouping import GroupedBy, choices_of, grouping_of
from audit.desk.findings.neighbours import neighbours_of
from audit.desk.findings.page import finding_context
from audit.desk.findings.person_filters import (
    LARGEST_FIRST,
    OWED,
    CroupierFilter,
    MonthFilter,
    OwedFilter,
    PlayerFilter,
    with_size,
)
from audit.desk.findings.queue_page import queue_of
from audit.desk.findings.queues import OPEN_QUEUES, QUEUES, can_work_cases, tabs
from audit.desk.findings.search import search
from audit.desk.findings.shown_findings import in_full, lines
from audit.desk.findings.todo import steps_of
from audit.desk.icons import icon
from audit.desk.names import sees_names
from audit.desk.overview.waits import Loss, losses
from audit.desk.payment_orders.claims import claims_shown
from audit.desk.scoped_admin import OfChosenCasino, at, demands, in_record, note_casino, officer_of, scope_of
from audit.event_store.archived import StreamArchived
from audit.evidence.bundle import Unproven
from audit.evidence.export import export
from audit.exports.findings import MAX_ROWS, NOWHERE, add_names, findings_by_id, findings_sheet
from audit.exports.lists import FORMATS
from audit.jobs.queue import enqueue
from audit.models import Casino, Finding
from audit.models.cases import State
from audit.models.jobs import JobKind
from audit.presentation import count, finding_title, language, money_in_prose
from audit.transparency.proofs import NotSealed
from settlement.catalogue.sentences import amount_in_prose

MAX_ROWS_AT_ONCE = 2_000
"""Rows of an export that is made within the request. A larger one becomes a background job."""


class FindingList(OfChosenCasino):
    """The list of findings. The pages of a queue that folds count its lines; all else counts its incidents."""

    summed: Summed | None = None
    """What a queue is about; None for another list."""

    counted: Promise | None = None
    """What a line of a queue is called with its number; None for another list, whose lines are findings."""

    def get_results(self, request: HttpRequest) -> None:
        if request.GET.get("queue") in QUEUES:
            self.counted = ngettext_lazy("%(number)d incident", "%(number)d incidents", "number")
        if not is_read_at_once(request):
            super().get_results(request)
            self.result_list = self.result_list.values_list("pk", flat=True)  # a page reads what its lines show
            if is_queue(request):
                self.summed = summed(self.queryset, grouping_of(request))
            return
        length, start = self.list_per_page, self.list_per_page * (self.page_num - 1)
        if self.show_all:
            length, start = self.list_max_show_all, 0
        self.summed = folded(request, self.queryset, start=start, length=length)
        lines = range(self.summed.lines)
        self.paginator = Paginator(lines, self.list_per_page)
        self.result_count = self.summed.count
        self.can_show_all, self.multi_page = len(lines) <= self.list_max_show_all, len(lines) > self.list_per_page
        self.full_result_count, self.show_full_result_count, self.show_admin_actions = None, False, True
        if not self.multi_page and start:
            self.summed = folded(request, self.queryset, start=0, length=length)
        self.result_list: Any = self.summed.rows
        if self.multi_page and not (self.show_all and self.can_show_all):
            self.result_list = self.result_list[: self.list_per_page]
            try:
                self.paginator.validate_number(self.page_num)
            except InvalidPage:
                raise IncorrectLookupParameters from None

    @property
    def lines(self) -> list[Finding]:
        """The findings of the page, with what their lines show."""
        return list(self.result_list) if self.summed is not None and self.summed.rows else lines(self.result_list)

    def get_ordering_field_columns(self) -> dict[int, Any]:
        """Return the columns by which an officer has sorted the list: it has an order of its own that is of none."""
        return super().get_ordering_field_columns() if ORDER_VAR in self.params else {}


class PagesByCase(Paginator):  # type: ignore[type-arg]  # Django has no such class at run time
    """The pages of a list of findings with cases: counted without the cases, by which each page is read."""

    object_list: QuerySet[Any]

    def page(self, number: int | str) -> Page[Any]:
        read: Paginator[Any] = Paginator(self.object_list.filter(HAS_WEIGHT), self.per_page)
        read.count = self.count
        return read.page(number)


@admin.register(Finding)
class FindingAdmin(AttachmentsAdmin):
    list_display = tuple(LIST_COLUMNS.values())
    list_display_links = (LIST_COLUMNS["title"],)
    list_filter = (
        *(
            QueueFilter,
            DayFilter,
            AmountFilter,
            LosesFilter,
            TableOrGameFilter,
            CroupierFilter,
            PlayerFilter,
            RuleFilter,
        ),
        *(SeverityFilter, StandingFilter, MonthFilter, OwedFilter, GroupedBy),
    )
    show_facets = admin.ShowFacets.NEVER
    list_select_related = False  # what lines show is read by ``lines``
    change_list_template = "admin/audit/findings/list.html"
    ordering = ("case__weight", "case__deadline", "-pk")
    list_per_page, list_max_show_all = 25, 100
    search_fields = ("=wager",)  # what the box is shown for; ``search`` looks further
    search_help_text = _("a reference, a table, a person, or the exact id of a wager or of a stream")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FindingList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Finding]:
        findings: QuerySet[Finding] = super().get_queryset(request)
        is_by_priority = request.GET.get("queue") in OPEN_QUEUES or "o" in request.GET
        return with_size(with_order(findings), request) if is_by_priority else findings

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Finding | None:
        """Return the finding of a page with what the page shows of it, None if the officer does not see it."""
        pk = int(object_id) if ID.fullmatch(object_id) else 0
        finding = in_full(pk)
        if finding is None or not scope_of(request, *self.sees, *self.changes).includes(finding.casino_id):
            return None
        note_casino(request, finding.casino_id)
        return finding

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Finding], per_page: int, *args: Any
    ) -> Paginator[Any]:
        return (PagesByCase if StandingFilter.leaves_cases(request) else Paginator)(queryset, per_page)

    def get_ordering(self, request: HttpRequest) -> Any:
        """Return the order of amounts or of the queue where the list is one; else one that is read from an index."""
        if request.GET.get("owed") in OWED:
            return LARGEST_FIRST
        in_queue = request.GET.get("queue") in OPEN_QUEUES
        return grouping_of(request).order if in_queue else super().get_ordering(request)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Finding], search_term: str
    ) -> tuple[QuerySet[Finding], bool]:
        """Find by what names a finding: its wager, stream, table or persons; a name only where the officer sees it."""
        return search(request, queryset, search_term), False

    def get_urls(self) -> list[URLPattern]:
        return [*saved_views.urls(), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        officer = officer_of(request)
        views = list(saved_views.saved_views_of(officer))
        filter_query = saved_views.filter_query(request.GET.urlencode())
        view_shown = next((view.pk for view in views if view.query == filter_query and filter_query), None)
        context = {
            "tabs": tabs(request),
            "queue": request.GET.get("queue"),
            "can_work_cases": can_work_cases(request),
            "formats": list(FORMATS),
            "views": views,
            "view_shown": view_shown,
            "filter_query": filter_query,
            "is_narrowed": any(request.GET.get(each) for each in saved_views.NARROWING),
            "player_icon": icon("player", is_small=True),
            "bank_icon": icon("bank", is_small=True),
        }
        page = super().changelist_view(request, {**context, **(extra_context or {})})
        listed = getattr(page, "context_data", {}).get("cl")
        if listed is not None:
            listed.result_list = listed.lines
            add_names(listed.result_list, scope_of(request, Capability.SEE_NAMES))
            queue = queue_of(request, listed.result_list, listed.summed)
            is_queue_of_cases = queue.sums is not None
            page.context_data |= {  # type: ignore[attr-defined]
                "listed": queue,
                "owed_by_closed": _owed_by_closed(request) if _has_closed(request, context["tabs"]) else (),
                "grouped": choices_of(request, listed) if is_queue_of_cases and not request.GET.get("owed") else (),
                "headings": list(headings_of(listed, are_sorting=not is_queue_of_cases)),
                "num_sorted_fields": len(listed.get_ordering_field_columns()),
            }
        return page

    def emptiness(self, request: HttpRequest, listed: ChangeList) -> Empty:
        return empty_of(request, listed)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show one finding: rule, clause, what was expected and recorded, and the events around it."""
        finding = self.row_or_404(request, object_id)
        finding.stream.casino = finding.casino
        record_entry(request, "finding.viewed", casino_id=finding.casino_id, id=finding.pk, stream=finding.stream.name)
        casework = case_context(request, finding)
        try:
            shown = finding_context(finding, with_names=sees_names(request, finding.casino_id))
        except StreamArchived as error:
            return self._archived(request, finding, casework, error)
        claims = claims_shown(request, finding, shown["directory"])
        context = {
            **shown,
            "casework": casework,
            "priority_reasons": " · ".join(reasons(finding)) if shown["bars"] else "",
            "attached": files_of(request, finding),
            "complaints": about_finding(finding),
            "complain_address": entry_address(finding) if finding.table and can_work_cases(request) else "",
            "neighbours": neighbours_of(request, self, finding),
            "todo": steps_of(finding, _remedies(shown), shown["croupier"], casework, claims, request),
            "claims_shown": claims,
            "can_work_cases": can_work_cases(request),
            "title": shown["verdict"].plain_title,
        }
        return self.page(request, "admin/audit/findings/finding.html", **context)

    def _archived(
        self, request: HttpRequest, finding: Finding, casework: dict[str, Any] | None, error: StreamArchived
    ) -> HttpResponse:
        """Show a finding whose events are in the archive: what it says, its case, and where they are."""
        context = {
            **where_words(error),
            "finding": finding,
            "message": finding.as_value().message(language(), amount_in_prose),
            "casework": casework,
            "claims_shown": claims_shown(request, finding),
            "neighbours": neighbours_of(request, self, finding),
            "title": finding_title(finding.rule),
        }
        return self.page(request, "admin/audit/archived/finding.html", **context)

    @at("export/<slug:format>/")
    @demands(Capability.SEE_RECORD)
    def export_view(self, request: HttpRequest, format: str) -> HttpResponse:
        """Download the findings that the list's filter leaves. By POST, because the download enters the audit trail.

        A large export becomes a background job, and the answer leads to its page.
        """
        if request.method != "POST" or format not in FORMATS:
            return HttpResponseNotAllowed(["POST"])
        officer = officer_of(request)
        changelist = self.get_changelist_instance(request)
        filtered = changelist.get_queryset(request)
        ids = list(filtered.values_list("pk", flat=True)[: MAX_ROWS + 1])
        if len(ids) > MAX_ROWS:  # no part of a list may pass for the whole
            text = _(
                "The list has more than %(number)s findings, the most that a file has. Narrow it and download again."
            )
            messages.error(request, text % {"number": count(MAX_ROWS)})
            return redirect(f"{reverse('admin:audit_finding_changelist')}?{request.GET.urlencode()}")
        filters = filters_in_words(changelist, request.GET)
        recorded = [text for text in filter_texts(request.GET) if not text.startswith("q = ")]
        recorded += (
            ["q"] if request.GET.get("q") else []
        )  # what was looked for may be a name, and the trail never forgets
        for casino_id in Casino.objects.filter(findings__in=ids).distinct().values_list("pk", flat=True):
            record_entry(request, "findings.exported", casino_id=casino_id, form=format, rows=len(ids), filter=recorded)
        if len(ids) > MAX_ROWS_AT_ONCE:
            params = {"findings": ids, "form": format, "said": filters, "language": language()}
            return redirect("admin:audit_job_change", enqueue(JobKind.EXPORT, officer, None, params).pk)
        scope, names = scope_of(request, Capability.SEE_RECORD), scope_of(request, Capability.SEE_NAMES)
        names = NOWHERE if format == "json" else names  # JSON has ids alone, whoever asks
        sheet = findings_sheet(findings_by_id(ids, scope, names=names))
        return list_response(sheet, format, title=gettext("Findings"), filters=filters, day=timezone.now().date())

    @at("<int:pk>/evidence/")
    @demands(Capability.SEE_RECORD)
    def evidence_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Download the evidence bundle of a finding. By POST, because the download enters the audit trail."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        finding = self.row_or_404(request, pk)
        try:
            bundle = export(finding, actor=actor(request))
        except NotSealed:
            messages.warning(request, _("These events are not under a signed checkpoint yet. Try again in a moment."))
        except Unproven as reason:
            messages.error(request, _("The record does not prove this finding: %(reason)s.") % {"reason": reason})
        else:
            return file_response(bundle.name, "application/zip", bundle.raw)
        return redirect("admin:audit_finding_change", pk)


def _remedies(shown: Mapping[str, Any]) -> list[str]:
    """Return what is to be done about a finding, and about those at which the claim of its incident stands."""
    return [shown["remedy"], *(each["remedy"] for each in shown["claims"])]


def _has_closed(request: HttpRequest, shown: Any) -> bool:
    """Return whether a list is the queue of all open incidents, and there are closed ones beside it."""
    return request.GET.dict() == {"queue": "open"} and any(tab.count for tab in shown if tab.name == "closed")


def _owed_by_closed(request: HttpRequest) -> list[Loss]:
    """Return what the incidents owe that are closed: no line of the queue has it, and it is owed all the same."""
    closed = in_record(Finding.objects.standing(), request).filter(case__state=State.CLOSED)
    return losses(sums_owed(closed), write=money_in_prose)
