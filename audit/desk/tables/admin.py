"""Event streams: the list, the events of one, and its table at any event.

Events are paged by seq, without a count or an offset, so that a page costs the same in a stream of any length.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from audit.access.capabilities import Capability
from audit.adjudication.results import standing
from audit.casework import session_closing
from audit.casework.session_closing import ClosingRefused
from audit.desk import kept_words
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.findings.filters import TableFilter
from audit.desk.names import directory_for
from audit.desk.rules.law_page import session_context
from audit.desk.rules.law_pdf import law_pdf
from audit.desk.scoped_admin import RecordAdmin, at, demands, in_record, officer_of, scope_of
from audit.desk.sessions import named_table, session_name, table_name
from audit.desk.sign_in.proof import signature
from audit.desk.tables.closing import DONE, PROPOSED, ClosingForm, closing_context, decide
from audit.desk.tables.corrections import corrections_to
from audit.desk.tables.course import course_of
from audit.desk.tables.event_sentences import own_content, sentence
from audit.desk.tables.going_on import Where, day_in, found_in, moment_context
from audit.desk.tables.limits import equipment_of_session
from audit.desk.tables.moment import clock_in, instant_at, moments_of, span_of
from audit.desk.tables.replay import persons_in, replay_context
from audit.desk.tables.video_menu import VideoMenu, video_menu
from audit.event_store import read
from audit.exports.pdf import PDF
from audit.felt.frames import playback_of
from audit.models import Finding, GamingTable, LoggedStream
from audit.persons.directory import Directory, mentioned_in
from audit.presentation import date_time, day, event_name, language, local, ruleset_label
from audit.projections.ended_keys import after_end
from settlement.codec import decode_one_stored
from settlement.rulesets import RULESETS

PAGE = 100

AROUND = 60
"""Events before and after the one at which a table is shown."""


class RulesetFilter(admin.SimpleListFilter):
    """Narrows to the sessions under one ruleset, in words."""

    title = _("game")
    parameter_name = "ruleset"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        return [(name, capfirst(ruleset_label(name))) for name in RULESETS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LoggedStream]) -> QuerySet[LoggedStream]:
        return queryset.filter(ruleset=self.value()) if self.value() else queryset


@admin.register(LoggedStream)
class StreamAdmin(RecordAdmin[LoggedStream]):
    listed_as = _("Tables")
    counted = ngettext_lazy("%(number)d session or count", "%(number)d sessions and counts", "number")
    when_empty = _("No table has sent anything yet. A session is listed here with its first event.")
    list_display = ("of_table", "game_played", "night", "casino", "opened", "findings_count", "stream_name")
    list_filter = (TableFilter, RulesetFilter)
    search_fields = ("=name", "=table__code", "table__name")
    search_help_text = _("a table, or the exact id of a session")
    ordering = ("-gaming_day", "-stream_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[LoggedStream]:
        streams = super().get_queryset(request).filter(is_of_desk=False).select_related("table", "casino")
        match = request.resolver_match
        if match is None or match.url_name != "audit_loggedstream_changelist":
            return streams
        # What stands out: information without a case is on the list of its night.
        with_case = Finding.objects.standing().filter(case__isnull=False)
        of_stream = with_case.filter(stream=OuterRef("pk")).order_by().values("stream")
        counted = Subquery(of_stream.annotate(count=Count("pk")).values("count"))
        return streams.annotate(findings_count=Coalesce(counted, 0))

    @admin.display(description=_("table"), ordering="table__code")
    def of_table(self, stream: LoggedStream) -> str:
        return named_table(stream.table) if stream.table is not None else table_name("")

    @admin.display(description=_("game"), ordering="ruleset")
    def game_played(self, stream: LoggedStream) -> str:
        return capfirst(ruleset_label(stream.ruleset)) if stream.ruleset else ""

    @admin.display(description=_("night"), ordering="gaming_day")
    def night(self, stream: LoggedStream) -> str:
        return day(stream.gaming_day, with_weekday=True)

    @admin.display(description=_("session"), ordering="name")
    def stream_name(self, stream: LoggedStream) -> str:
        return format_html('<span class="ref">{}</span>', stream.name)

    @admin.display(description=_("first received"), ordering="opened_at")
    def opened(self, stream: LoggedStream) -> str:
        return date_time(stream.opened_at, stream.casino)

    @admin.display(description=_("findings"), ordering="findings_count")
    def findings_count(self, stream: Any) -> int:
        return int(stream.findings_count)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the events: a stream has no form."""
        return self.events_view(request, int(object_id) if object_id.lstrip("-").isdigit() else 0)

    @at("<signed:stream_id>/events/")
    @demands(Capability.SEE_RECORD)
    def events_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Show a page of events: those after ``?after=SEQ``, or before ``?before=SEQ``."""
        stream = self.row_or_404(request, stream_id)
        before = _seq(request, "before")
        if before is not None:
            stored = read.before(stream_id, seq=before, limit=PAGE)
        else:
            stored = read.slice_of(stream_id, after=_seq(request, "after") or 0, limit=PAGE)
        seqs = [seq for seq, _raw in stored]
        if seqs:
            record_entry(
                request, "events.viewed", casino_id=stream.casino_id, stream=stream.name, seqs=[seqs[0], seqs[-1]]
            )
        head = read.head_of(stream.casino_id, stream.name)
        assert head is not None, "an opened stream has a head"
        events = [decode_one_stored(raw) for _seq, raw in stored]
        corrected = corrections_to(stream_id, events)
        named = [*mentioned_in(events), *chain.from_iterable(each.persons() for each in corrected.values())]
        directory = directory_for(request, stream.casino_id, named)
        corrections = {
            seq: each.described(stream.currency, stream.ruleset, directory) for seq, each in corrected.items()
        }
        findings = _findings_at(stream_id, seqs)
        context = {
            "title": session_name(stream),
            "stream": stream,
            "head": head,
            "chain": head.chain.hex(),
            "adjudication": (adjudication := standing(stream_id)),
            "is_open": stream.table is not None and not (adjudication is not None and adjudication.closed),
            "equipment": equipment_of_session(stream_id),
            "late": [(each, each.after.total_seconds()) for each in after_end(stream.casino_id, stream_id)],
            "lines": [
                {
                    "seq": event.seq,
                    "at": local(event.occurred_at, stream.casino),
                    "type": event.type,
                    "name": capfirst(event_name(event.type)),
                    "text": sentence(event, language(), stream.currency, stream.ruleset, directory),
                    "correction": corrections.get(event.seq),
                    "own": own_content(event),
                    "findings": findings.get(event.seq, []),
                }
                for event in events
            ],
            "earlier": seqs[0] if seqs and seqs[0] > 1 else None,
            "later": seqs[-1] if seqs and read.slice_of(stream_id, after=seqs[-1], limit=1) else None,
        }
        return self.page(request, "admin/audit/tables/events.html", **context)

    @at("<signed:stream_id>/coverage/")
    @demands(Capability.SEE_RECORD)
    def coverage_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Show text ``?text=ID``, sentence by sentence: what was checked in this session, and what was not."""
        stream = self.row_or_404(request, stream_id)
        context = {
            "title": _("The law in this session"),
            "stream": stream,
            "equipment": equipment_of_session(stream_id),
            **session_context(request, stream, request.GET.get("text", "")),
        }
        return self.page(request, "admin/audit/tables/coverage.html", **context)

    @at("<signed:stream_id>/coverage.pdf")
    @demands(Capability.SEE_RECORD)
    def coverage_pdf_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Download the page of text ``?text=ID`` as PDF, with what the register decided; the trail has who did."""
        stream = self.row_or_404(request, stream_id)
        context = session_context(request, stream, request.GET.get("text", ""))
        if not context["texts"]:
            raise Http404
        text = context["text"].id
        record_entry(request, "law.exported", casino_id=stream.casino_id, stream=stream.name, text=text)
        return file_response(f"{text}-{stream.name}.pdf".replace(":", "-"), PDF, law_pdf(stream, context))

    @at("<signed:stream_id>/closing/")
    @demands(Capability.SEE_RECORD)
    def closing_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Show what is known of a session that its table did not close, and what officers proposed about that."""
        return self._closing_page(request, self._session_or_404(request, stream_id))

    @at("<signed:stream_id>/closing/decide/")
    @demands(Capability.WORK_CASES, Capability.APPROVE_CASES)
    @signature
    def closing_decide_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Propose to close a session, or decide, as the field ``decision`` says, by POST.

        ``closing`` is the id of the proposal that the page showed: nothing is decided about another, or without it.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        stream = self._session_or_404(request, stream_id, Capability.WORK_CASES, Capability.APPROVE_CASES)
        decision, form = request.POST.get("decision", ""), None
        try:
            if decision == "propose":
                form = ClosingForm(stream, request.POST)
                if not form.is_valid():
                    return self._closing_page(request, stream, form)
                form.propose(officer_of(request))
                messages.success(request, str(PROPOSED))
            else:
                waits = session_closing.waiting_of(stream_id)
                if waits is None or decision not in DONE:
                    raise Http404
                if request.POST.get("closing") != str(waits.pk):
                    raise ClosingRefused(session_closing.CHANGED)
                decide(officer_of(request), waits, decision, request.POST.get("reason", ""))
                messages.success(request, str(DONE[decision]))
        except ClosingRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, redirect("admin:audit_loggedstream_closing", stream_id))
        return redirect("admin:audit_loggedstream_closing", stream_id)

    def _session_or_404(self, request: HttpRequest, stream_id: int, *capabilities: Capability) -> LoggedStream:
        stream = self.row_or_404(request, stream_id, *capabilities)
        if stream.table is None:
            raise Http404
        return stream

    def _closing_page(
        self, request: HttpRequest, stream: LoggedStream, form: ClosingForm | None = None
    ) -> HttpResponse:
        context = closing_context(officer_of(request), stream, form)
        return self.page(request, "admin/audit/tables/closing.html", title=_("Close a session"), **context)

    @at("at/")
    @demands(Capability.SEE_RECORD)
    def at_view(self, request: HttpRequest) -> HttpResponse:
        """Lead to table ``?table=PK`` at ``clock`` (“23:41”), of gaming day ``day`` if it is given, else the newest."""
        tables = in_record(GamingTable.objects.select_related("casino"), request)
        chosen = request.GET.get("table", "")
        table = tables.filter(pk=int(chosen)).first() if chosen.isascii() and chosen.isdigit() else None
        if table is None:
            raise Http404
        clock, day = clock_in(request.GET.get("clock", "")), day_in(request.GET.get("day", ""))
        if clock is None:
            messages.warning(request, _("Give a clock time, such as 23:41."))
            return redirect("admin:audit_loggedstream_changelist")
        streams = in_record(LoggedStream.objects.all(), request)
        moment = next(moments_of([table], clock, streams=streams, day=day), None)
        if moment is None:
            messages.warning(
                request,
                _("%(table)s has no session on that day.") % {"table": table.code},
            )
            return redirect(f"{reverse('admin:audit_loggedstream_changelist')}?table={table.pk}")
        return redirect(moment.address)

    @at("<signed:stream_id>/table/")
    @demands(Capability.SEE_RECORD)
    def table_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Show the table at event ``?at=SEQ``, by default the last, and let the officer move from there."""
        stream = self.row_or_404(request, stream_id)
        if stream.table is None:
            raise Http404
        span = span_of(stream_id)
        last = span.last_seq if span is not None else 0
        at = min(_seq(request, "at") or last, last)
        # By stored numbers: a declared loss may leave more numbers out than there are events.
        before = [seq for seq, _raw in read.before(stream_id, seq=at + 1, limit=2 * AROUND + 1)]
        after = [seq for seq, _raw in read.slice_of(stream_id, after=at, limit=2 * AROUND)]
        shown = [*before[-AROUND - 1 :], *after[:AROUND]] or [at]
        record_entry(request, "table.viewed", casino_id=stream.casino_id, stream=stream.name, seq=at)
        playback = playback_of(stream_id, shown[0], shown[-1])
        where = None
        if span is not None and playback.frames:
            where = Where(stream, span, course_of(stream), playback, at, request.GET.get("clock", ""))
        named = [*persons_in(playback), *(where.persons() if where is not None else ())]
        directory = directory_for(request, stream.casino_id, named)
        context = {
            "title": _("Table %(table)s") % {"table": stream.table.code},
            "stream": stream,
            "at": at,
            "last": last,
            "earlier": before[0] if len(before) > AROUND + 1 else None,
            "later": after[-1] if len(after) > AROUND else None,
            **(_replayed(where, directory) if where is not None else {"replay": None, "moment": None}),
            "video": self._video(request, where),
            "may_complain": scope_of(request, Capability.WORK_CASES).includes(stream.casino_id),
            "tables": GamingTable.objects.filter(casino=stream.casino_id).order_by("code"),
        }
        return self.page(request, "admin/audit/tables/table.html", **context)

    def _video(self, request: HttpRequest, where: Where | None) -> VideoMenu | None:
        if where is None:
            return None
        instant = instant_at(where.stream, where.seq, where.written, where.span)
        return video_menu(request, where.stream, instant) if instant is not None else None


def _replayed(where: Where, directory: Directory) -> dict[str, Any]:
    """Return the replay around a moment, and what the page says of the moment."""
    found = found_in(where)
    return {
        "replay": replay_context(
            where.stream, where.playback, where.seq, directory, course=where.course, found=found.replayed
        ),
        "moment": moment_context(where, directory, found),
    }


def _findings_at(stream_id: int, seqs: list[int]) -> dict[int, list[Finding]]:
    """Return the standing findings at the events of a page, by seq."""
    findings: dict[int, list[Finding]] = {}
    for finding in Finding.objects.standing().filter(stream_id=stream_id, seq__in=seqs):
        findings.setdefault(finding.seq, []).append(finding)
    return findings


def _seq(request: HttpRequest, name: str) -> int | None:
    """Return the seq in query parameter ``name``; None if it is missing or not a number."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 17 else None
