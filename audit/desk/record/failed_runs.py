"""Failed runs: streams that are set aside because their replay failed, and a way to try one again at once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.adjudication.runs import try_again
from audit.desk.audited_admin import actor
from audit.desk.scoped_admin import RecordAdmin, at, demands, scope_of
from audit.desk.sessions import session_name
from audit.models import FailedRun, RunState
from audit.presentation import date_time
from audit.task_queue import REPLAY_STREAM, send_soon

REASON_IN_LIST = 120
"""Characters of a reason in the list."""


@admin.register(FailedRun)
class FailedRunAdmin(RecordAdmin[FailedRun]):
    when_empty = _("No run has failed. A stream whose run fails is listed here, and is tried again by itself.")
    list_display = ("stream_name", "casino", "reason", "since", "tries", "next_try")
    list_display_links = ("stream_name",)
    list_select_related = ("stream__table", "casino")
    list_filter = ("casino",)
    ordering = ("failed_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[FailedRun]:
        return super().get_queryset(request).filter(state=RunState.FAILED).select_related("stream__table", "casino")

    @admin.display(description=_("session"), ordering="stream__name")
    def stream_name(self, run: FailedRun) -> str:
        return format_html('<span title="{}">{}</span>', run.stream.name, session_name(run.stream))

    @admin.display(description=_("reason"))
    def reason(self, run: FailedRun) -> str:
        return f"{run.error_type}: {run.error}"[:REASON_IN_LIST]

    @admin.display(description=_("since"), ordering="failed_at")
    def since(self, run: FailedRun) -> str:
        return date_time(run.failed_at, run.casino) if run.failed_at else ""

    @admin.display(description=_("next attempt"), ordering="next_try_at")
    def next_try(self, run: FailedRun) -> str:
        return date_time(run.next_try_at, run.casino) if run.next_try_at else ""

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show one failed run: its reason, since when, how often it was tried, and when it is tried next."""
        run = self.row_or_404(request, object_id)
        context = {
            "title": _("Failed run of %(stream)s") % {"stream": session_name(run.stream)},
            "run": run,
            "since": self.since(run),
            "next_try": self.next_try(run),
            "may_try_again": scope_of(request, Capability.WORK_CASES).includes(run.casino_id),
        }
        return self.page(request, "admin/audit/failed_runs/run.html", **context)

    @at("<int:pk>/try-again/")
    @demands(Capability.WORK_CASES)
    def try_again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """End the pause of a failed run and have its stream replayed, by POST."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        run = self.row_or_404(request, pk, Capability.WORK_CASES)
        if try_again(run, actor(request)):
            send_soon(REPLAY_STREAM, stream_id=run.stream_id)
            messages.success(
                request, _("The stream is being replayed now. It will leave this list once that succeeds.")
            )
        else:
            messages.info(request, _("The run has resumed in the meantime."))
        return redirect("admin:audit_failedrun_changelist")
