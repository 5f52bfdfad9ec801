"""Background jobs at the desk: start one, follow its progress, stop it, read its result or download its file."""

from __future__ import annotations

from datetime import date
from types import MappingProxyType
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.access.scope import Scope
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import file_response
from audit.desk.jobs.job_form import EVERY_CASINO, InvalidRequest, cleaned, job_params
from audit.desk.jobs.progress import percentage, phases, progress_text
from audit.desk.navigation import VERIFICATIONS, VERIFICATIONS_NAME
from audit.desk.scoped_admin import RecordAdmin, at, demands, note_section, officer_of, scope_of
from audit.event_store import audit_trail
from audit.exports.lists import FORMATS
from audit.exports.subject import ZIP
from audit.jobs.queue import enqueue, stop
from audit.models import Casino, Job, JobKind, JobState, WhatIf
from audit.presentation import count, date_time, day, duration, officer_name
from settlement import RULESETS

MAY_START = {JobKind.VERIFY: Capability.SEE_RECORD, JobKind.WHAT_IF: Capability.WORK_CASES}
"""The capability that starts a job of a kind. An export is started from its list."""

PARAM_LABELS = {
    "first_day": _("gaming days from"),
    "last_day": _("up to"),
    "name": _("name"),
    "ruleset": _("ruleset"),
    "readings": _("readings"),
    "form": _("format"),
    "code": _("id"),
}

COUNT_LABELS = {
    "events": _("events"),
    "streams": _("streams"),
    "batches": _("batches"),
    "leaves": _("leaves"),
    "checkpoints": _("checkpoints"),
    "bytes": _("bytes"),
}


OF_THE_TREE = ("leaves", "checkpoints")
"""Counts that are left out where the tree was not verified: no leaf was looked at."""


@admin.register(Job)
class JobAdmin(RecordAdmin[Job]):
    listed_as = _("Exports")
    when_empty = _(
        "Nothing has been started yet. A large export of a list is made in the background, as are verifications and"
        " what-if runs: each is listed here with its progress and its result."
    )
    when_empty_of = MappingProxyType(
        {
            VERIFICATIONS: _("Nobody has requested a verification yet. It is safe to run at any time."),
            f"kind__exact={JobKind.EXPORT.value}": _(
                "No export was requested. One is made in the background where a list is too long to download at once."
            ),
        }
    )
    list_display = ("title", "casino_name", "requester", "requested", "state_badge", "percentage")
    change_list_template = "admin/audit/jobs/list.html"
    list_display_links = ("title",)
    list_filter = ("kind", "state")
    list_select_related = ("casino", "officer")
    ordering = ("-requested_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        """Return the officer's own jobs, and those of others at the officer's casinos except exports."""
        jobs, scope = Job.objects.defer("file"), scope_of(request, Capability.SEE_RECORD)
        if scope.is_everywhere:
            return jobs
        of_all_casinos = Q(casino=None, kind=JobKind.EXPORT, officer=officer_of(request))
        return jobs.filter(Q(casino__in=scope.casino_ids or ()) | of_all_casinos)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Whether a job is among those of the list: an export of several casinos is its officer's."""
        is_viewer = super().has_view_permission(request)
        return is_viewer and (obj is None or self.get_queryset(request).filter(pk=obj.pk).exists())

    def title_of_list(self, request: HttpRequest) -> str:
        return gettext("Verifications") if _is_of_verifications(request) else super().title_of_list(request)

    @admin.display(description=_("job"), ordering="kind")
    def title(self, job: Job) -> str:
        return str(job)

    @admin.display(description=_("casino"), ordering="casino")
    def casino_name(self, job: Job) -> str:
        return str(job.casino or _("all casinos"))

    @admin.display(description=_("requested by"), ordering="officer")
    def requester(self, job: Job) -> str:
        return officer_name(job.officer)

    @admin.display(description=_("requested"), ordering="requested_at")
    def requested(self, job: Job) -> str:
        return date_time(job.requested_at, job.casino)

    @admin.display(description=_("state"), ordering="state")
    def state_badge(self, job: Job) -> str:
        return format_html('<span class="state {}">{}</span>', job.state, JobState(job.state).label)

    @admin.display(description=_("progress"))
    def percentage(self, job: Job) -> str:
        return percentage(job)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        scope = scope_of(request, MAY_START[JobKind.VERIFY])
        is_of_verifications = _is_of_verifications(request)
        if is_of_verifications:
            note_section(request, VERIFICATIONS_NAME)
        context = {
            "casinos": scope.casinos(),
            "what_if_casinos": () if is_of_verifications else scope_of(request, MAY_START[JobKind.WHAT_IF]).casinos(),
            "every_casino": EVERY_CASINO if scope.is_everywhere else "",
            "rulesets": sorted(RULESETS),
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show one job: its parameters, its progress and, once it is done, its result."""
        job = self.row_or_404(request, object_id)
        if job.kind == JobKind.VERIFY:
            note_section(request, VERIFICATIONS_NAME)
        context = {
            "title": str(job),
            "job": job,
            "state": JobState(job.state),
            "progress": progress_text(job),
            "phases": phases(job),
            "may_stop": job.is_open and job.stopped_by_id is None and self._may_stop(request, job),
            "params": [
                (PARAM_LABELS[name], _param_text(name, value))
                for name, value in job.params.items()
                if name in PARAM_LABELS and value
            ],
            "what_if": _what_if_of(job),
            "counts": [
                (COUNT_LABELS[name], count(number))
                for name, number in job.result.items()
                if name in COUNT_LABELS and (number or name not in OF_THE_TREE)
            ],
            "duration": _duration_of(job),
        }
        return self.page(request, "admin/audit/jobs/job.html", **context)

    @at("start/<slug:kind>/")
    @demands(Capability.SEE_RECORD)
    def start_view(self, request: HttpRequest, kind: str) -> HttpResponse:
        """Start a verification or a what-if run, by POST, and open the page of its job."""
        if request.method != "POST" or kind not in MAY_START:
            return HttpResponseNotAllowed(["POST"])
        officer = officer_of(request)
        form = cleaned(request.POST.dict())
        job_kind, code = JobKind(kind), form.get("casino", "")
        scope = scope_of(request, MAY_START[job_kind])
        casino = scope.casinos().filter(code=code).first()
        if casino is None and not (scope.is_everywhere and code == EVERY_CASINO):
            raise PermissionDenied
        try:
            params = job_params(job_kind, form, officer, casino)
        except InvalidRequest as error:
            messages.error(request, str(error))
            return redirect("admin:audit_job_changelist")
        return redirect("admin:audit_job_change", enqueue(job_kind, officer, casino, params).pk)

    @at("<int:pk>/stop/")
    @demands(Capability.SEE_RECORD)
    def stop_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask a job to stop, by POST."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        job = self.row_or_404(request, pk)
        if not self._may_stop(request, job):
            raise PermissionDenied
        if stop(job, officer_of(request)):
            messages.success(request, _("The job will stop at its next step."))
        else:
            messages.info(request, _("The job had already ended or was already stopping."))
        return redirect("admin:audit_job_change", pk)

    @at("<int:pk>/progress/")
    @demands(Capability.SEE_RECORD)
    def progress_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Answer with the progress of a job as JSON, for the script of its page."""
        job = self.row_or_404(request, pk)
        return JsonResponse(
            {
                "state": job.state,
                "done": job.done,
                "total": job.total,
                "text": progress_text(job),
                "phases": [{"state": each.state, "text": each.text} for each in phases(job)],
            }
        )

    @at("<int:pk>/file/")
    @demands(Capability.SEE_RECORD)
    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Download the file of an export. It is for the officer who requested it."""
        job = self.row_or_404(request, pk)
        if job.file is None or job.officer_id != request.user.pk or not _is_still_theirs(job):
            raise Http404
        casino_id = job.casino_id or audit_trail.INSTALLATION
        record_entry(request, "export.taken", casino_id=casino_id, id=job.pk, named=job.file_name)
        media_type = ZIP if job.kind == JobKind.SUBJECT else FORMATS[job.params["form"]]
        return file_response(job.file_name, media_type, bytes(job.file))

    def _may_stop(self, request: HttpRequest, job: Job) -> bool:
        """Return whether the officer may stop a job: they requested it, or work on cases at its casino."""
        is_case_officer = scope_of(request, Capability.WORK_CASES).includes(job.casino_id)
        return job.officer_id == officer_of(request).pk or is_case_officer


def _is_of_verifications(request: HttpRequest) -> bool:
    """Return whether the list that is shown is that of verifications alone, which belongs to the record."""
    return request.GET.get("kind__exact") == JobKind.VERIFY


def _is_still_theirs(job: Job) -> bool:
    """Return whether the officer may still see the record of every casino whose findings are in an export.

    Of what is held of a person: the record and the names of its casino.
    """
    if job.kind == JobKind.SUBJECT:
        seen = (Scope.of(job.officer, each) for each in (Capability.SEE_RECORD, Capability.SEE_NAMES))
        return all(scope.includes(job.casino_id) for scope in seen)
    casino_ids = Casino.objects.filter(findings__in=job.params["findings"]).distinct().values_list("pk", flat=True)
    scope = Scope.of(job.officer, Capability.SEE_RECORD)
    return all(scope.includes(casino_id) for casino_id in casino_ids)


def _what_if_of(job: Job) -> WhatIf | None:
    """Return the what-if run that a job replays; None for a job of another kind."""
    if job.kind != JobKind.WHAT_IF:
        return None
    return WhatIf.objects.filter(name=job.params.get("name"), casino=job.casino_id).first()


def _duration_of(job: Job) -> str:
    """Return how long a job ran; "" unless it has begun and ended."""
    if job.started_at is None or job.ended_at is None:
        return ""
    return duration((job.ended_at - job.started_at).total_seconds())


def _param_text(name: str, value: Any) -> str:
    if name in ("first_day", "last_day"):
        return day(date.fromisoformat(value), with_year=True)
    if isinstance(value, dict):
        return ", ".join(f"{name}={setting}" for name, setting in value.items())
    return str(value)
