"""Streams and their events. Events are shown a page at a time by key: no count, no offset, any size."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from audit.adjudication.results import standing
from audit.desk.audited_admin import record_act
from audit.desk.findings.admin import TableFilter
from audit.desk.record_admin import RecordAdmin, language
from audit.desk.tables.corrections import corrections_to
from audit.desk.tables.event_sentences import Language, sentence
from audit.desk.tables.replay import replay_context
from audit.event_store import read
from audit.models import Finding, LoggedStream
from settlement import decode

PAGE = 100

AROUND = 80
"""Events before and after the one that a table is shown at."""


@admin.register(LoggedStream)
class StreamAdmin(RecordAdmin):
    list_display = ("name", "table", "gaming_day", "ruleset", "opened_at", "findings_count")
    list_filter = (TableFilter, "ruleset")
    list_select_related = ("table", "casino")
    search_fields = ("=name",)
    search_help_text = _("a stream, whole")
    ordering = ("-gaming_day", "-stream_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        standing = Count("findings", filter=Q(findings__superseded_at=None))
        return super().get_queryset(request).filter(is_of_desk=False).annotate(findings_count=standing)

    @admin.display(description=_("findings"), ordering="findings_count")
    def findings_count(self, stream: Any) -> int:
        return int(stream.findings_count)

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("<signed:stream_id>/events/", guarded(self.events_view), name="audit_loggedstream_events"),
            path("<signed:stream_id>/table/", guarded(self.table_view), name="audit_loggedstream_table"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self.events_view(request, int(object_id) if object_id.lstrip("-").isdigit() else 0)

    def events_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Show a page of events: those after ``?after=SEQ``, or before ``?before=SEQ``."""
        stream = self._stream(request, stream_id)
        before = _seq(request, "before")
        if before is not None:
            events = read.before(stream_id, seq=before, limit=PAGE)
        else:
            events = read.slice_of(stream_id, after=_seq(request, "after") or 0, limit=PAGE)
        found: dict[int, list[Finding]] = {}
        for finding in Finding.objects.filter(
            stream_id=stream_id, superseded_at=None, seq__in=[seq for seq, _raw in events]
        ):
            found.setdefault(finding.seq, []).append(finding)
        if events:
            seqs = [events[0][0], events[-1][0]]
            record_act(request, "events.viewed", casino_id=stream.casino_id, stream=stream.name, seqs=seqs)
        head = read.head_of(stream.casino_id, stream.name)
        assert head is not None, "an opened stream has a head"
        zone = ZoneInfo(stream.casino.time_zone)
        tongue: Language = "fr" if language() == "fr" else "en"
        read_events = [decode(raw) for _seq, raw in events]
        corrected = corrections_to(stream_id, read_events, tongue, stream.currency)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": stream.name,
            "stream": stream,
            "head": head,
            "chain": head.chain.hex(),
            "adjudication": standing(stream_id),
            "lines": [
                {
                    "seq": event.seq,
                    "at": event.occurred_at.astimezone(zone),
                    "type": event.type,
                    "words": sentence(event, tongue, stream.currency),
                    "corrected": corrected.get(event.seq),
                    "findings": found.get(event.seq, []),
                }
                for event in read_events
            ],
            "earlier": events[0][0] if events and events[0][0] > 1 else None,
            "later": events[-1][0] if events and events[-1][0] < head.next_seq - 1 else None,
        }
        return TemplateResponse(request, "admin/audit/loggedstream/events.html", context)

    def table_view(self, request: HttpRequest, stream_id: int) -> HttpResponse:
        """Show the table at event ``?at=SEQ``, the last unless told, and let the officer move from there."""
        stream = self._stream(request, stream_id)
        if stream.table_id is None:
            raise Http404
        last = read.next_seq_of(stream_id) - 1
        at = min(_seq(request, "at") or last, last)
        first = max(1, at - AROUND)
        record_act(request, "table.viewed", casino_id=stream.casino_id, stream=stream.name, seq=at)
        tongue: Language = "fr" if language() == "fr" else "en"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Table %(table)s") % {"table": stream.table.code},
            "stream": stream,
            "at": at,
            "last": last,
            "earlier": max(1, first - AROUND) if first > 1 else None,
            "later": at + 2 * AROUND if at + AROUND < last else None,
            "replay": replay_context(stream, first, at + AROUND, at, tongue),
        }
        return TemplateResponse(request, "admin/audit/loggedstream/table.html", context)

    def _stream(self, request: HttpRequest, stream_id: int) -> Any:
        """Return a stream that the officer who asks may see. Raise 404 and 403 where there is none."""
        stream = self.get_queryset(request).select_related("table", "casino").filter(pk=stream_id).first()
        if stream is None:
            raise Http404
        if not self.has_view_permission(request, stream):
            raise PermissionDenied
        return stream


def _seq(request: HttpRequest, name: str) -> int | None:
    given = request.GET.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 17 else None
