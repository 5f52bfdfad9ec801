"""Long work at the desk: asking for it, how far it is, stopping it, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.adjudication import what_if as what_if_runs
from audit.adjudication.what_if import Selection
from audit.casework.state_machine import WORKING
from audit.desk.audited_admin import actor, record_act
from audit.desk.downloads import attached
from audit.desk.record_admin import RecordAdmin, officer_of
from audit.exports.files import FORMS
from audit.jobs.queue import ask, stop
from audit.models import Casino, Job, JobKind, JobState, Officer, WhatIf
from audit.models.jobs import OPEN
from audit.models.officers import READERS
from settlement import RULESETS, ShapeError

MAX_OPEN = 5
"""Pieces of work that one officer has under way at once."""

EVERY_CASINO = "*"

MINUTE_S, HOUR_S = 60, 3_600


class InvalidRequest(Exception):
    """What a form asks for cannot be done. Its words are for the officer."""


@admin.register(Job)
class JobAdmin(RecordAdmin):
    list_display = ("title", "casino_name", "officer", "requested_at", "stage", "far")
    change_list_template = "admin/audit/job/change_list.html"
    list_display_links = ("title",)
    list_filter = ("kind", "state")
    list_select_related = ("casino", "officer")
    ordering = ("-requested_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        """Return an officer's own work, and what others asked for at their houses; files are for who asked."""
        jobs = Job.objects.defer("file")
        officer = officer_of(request)
        if officer.is_superuser:
            return jobs
        at_casinos = Q(casino__in=officer.casinos_with_role(*READERS)) & ~Q(kind=JobKind.EXPORT)
        return jobs.filter(at_casinos | Q(officer=officer))

    @admin.display(description=_("job"), ordering="kind")
    def title(self, job: Job) -> str:
        return str(job)

    @admin.display(description=_("casino"), ordering="casino")
    def casino_name(self, job: Job) -> str:
        return str(job.casino or _("all casinos"))

    @admin.display(description=_("state"), ordering="state")
    def stage(self, job: Job) -> str:
        return format_html('<span class="state {}">{}</span>', job.state, JobState(job.state).label)

    @admin.display(description=_("progress"))
    def far(self, job: Job) -> str:
        return f"{100 * job.done // job.total} %" if job.total else "—"

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("ask/<slug:kind>/", guarded(self.ask_view), name="audit_job_ask"),
            path("<int:pk>/stop/", guarded(self.stop_view), name="audit_job_stop"),
            path("<int:pk>/progress/", guarded(self.progress_view), name="audit_job_progress"),
            path("<int:pk>/file/", guarded(self.file_view), name="audit_job_file"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        officer = officer_of(request)
        context = {
            "houses": officer.casinos_with_role(*READERS),
            "worked": officer.casinos_with_role(*WORKING),
            "every_house": EVERY_CASINO if officer.is_superuser else "",
            "rulesets": sorted(RULESETS),
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show how far a piece of work is, or what came of it."""
        job = self.row_or_404(request, object_id)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": str(job),
            "job": job,
            "state": JobState(job.state),
            "words": progress_words(job),
            "may_stop": job.is_open and job.stopped_by_id is None and self._may_stop(request, job),
            "asked": [
                (_ASKED[name], _written(value)) for name, value in job.params.items() if name in _ASKED and value
            ],
            "what_if": WhatIf.objects.filter(name=job.params.get("name")).first()
            if job.kind == JobKind.WHAT_IF
            else None,
            "counted": [
                (_COUNTED[name], number_format(count, force_grouping=True))
                for name, count in job.result.items()
                if name in _COUNTED
            ],
            "took": duration((job.ended_at - job.started_at).total_seconds())
            if job.ended_at and job.started_at
            else "",
        }
        return TemplateResponse(request, "admin/audit/job/job.html", context)

    def ask_view(self, request: HttpRequest, kind: str) -> HttpResponse:
        """Ask for a verification or a replay beside. By POST: it is an act."""
        if request.method != "POST" or kind not in (JobKind.VERIFY, JobKind.WHAT_IF):
            return HttpResponseNotAllowed(["POST"])
        officer = officer_of(request)
        if not self.has_view_permission(request):
            raise PermissionDenied
        said = {name: value.replace("\0", "").strip()[:1_000] for name, value in request.POST.items()}
        roles = READERS if kind == JobKind.VERIFY else WORKING
        casino = officer.casinos_with_role(*roles).filter(code=said.get("casino", "")).first()
        if casino is None and not (officer.is_superuser and said.get("casino") == EVERY_CASINO):
            raise PermissionDenied
        try:
            if Job.objects.filter(officer=officer, state__in=(JobState.WAITING, JobState.RUNNING)).count() >= MAX_OPEN:
                raise InvalidRequest(
                    gettext("You have as much under way as is done at once. Wait for some of it, or stop it.")
                )
            params = _days(said)
            if kind == JobKind.WHAT_IF:
                params |= _what_if(said, casino, params, actor(request))
        except InvalidRequest as error:
            messages.error(request, str(error))
            return redirect("admin:audit_job_changelist")
        return redirect("admin:audit_job_change", ask(JobKind(kind), officer, casino, params).pk)

    def stop_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask a piece of work to stop."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        job = self.row_or_404(request, pk)
        if not self._may_stop(request, job):
            raise PermissionDenied
        if stop(job, officer_of(request)):
            messages.success(request, _("It stops at its next step."))
        else:
            messages.info(request, _("There was nothing to stop."))
        return redirect("admin:audit_job_change", pk)

    def progress_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Say how far a piece of work is, for its page."""
        job = self.row_or_404(request, pk)
        return JsonResponse({"state": job.state, "done": job.done, "total": job.total, "words": progress_words(job)})

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Hand out the file that was made, to who asked for it."""
        job = self.row_or_404(request, pk)
        if job.file is None or job.officer_id != request.user.pk:
            raise Http404
        record_act(request, "export.taken", id=job.pk, named=job.file_name)
        return attached(job.file_name, FORMS[job.params["form"]], bytes(job.file))

    def _may_stop(self, request: HttpRequest, job: Job) -> bool:
        """Tell whether who asks may stop a piece of work: who asked for it, and who works on cases at its house."""
        officer = officer_of(request)
        at_casino = job.casino_id is not None and officer.role_at(job.casino_id) in WORKING
        return officer.is_superuser or job.officer_id == officer.pk or at_casino


def _refuse_too_much(officer: Officer) -> None:
    if Job.objects.filter(officer=officer, state__in=OPEN).count() >= MAX_OPEN:
        raise InvalidRequest(gettext("You have as much under way as is done at once. Wait for some of it, or stop it."))


def _days(said: Mapping[str, str]) -> dict[str, Any]:
    """Return the gaming days that a form names, both ends included, each left out where it is empty."""
    days: dict[str, Any] = {}
    for name in ("first_day", "last_day"):
        if said.get(name):
            try:
                days[name] = date.fromisoformat(said[name]).isoformat()
            except ValueError:
                raise InvalidRequest(gettext("“%(day)s” is no day.") % {"day": said[name][:40]}) from None
    return days


def _what_if(said: Mapping[str, str], casino: Casino | None, days: Mapping[str, str], by: str) -> dict[str, Any]:
    """Begin the replay that a form names and return what is asked of the workers."""
    ruleset = said.get("ruleset") or None
    if ruleset is not None and ruleset not in RULESETS:
        raise InvalidRequest(gettext("There is no such ruleset."))
    name = said.get("name", "")[:100]
    if not name:
        raise InvalidRequest(gettext("Give the what-if run a name."))
    first, last = (date.fromisoformat(days[each]) if each in days else None for each in ("first_day", "last_day"))
    try:
        readings = what_if_runs.readings_in(said.get("readings", ""))
        selection = Selection(casino.code if casino else None, first, last, ruleset)
        what_if_runs.begin(name, readings=readings, selection=selection, actor=by)
    except (what_if_runs.WhatIfRejected, ShapeError) as error:
        raise InvalidRequest(str(error)) from None
    return {"name": name, "readings": readings, "ruleset": ruleset}


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={setting}" for name, setting in value.items())
    return str(value)


_ASKED = {
    "first_day": _("gaming days from"),
    "last_day": _("through"),
    "name": _("name"),
    "ruleset": _("ruleset"),
    "readings": _("readings"),
    "form": _("form"),
}

_COUNTED = {
    "events": _("events"),
    "streams": _("streams"),
    "batches": _("batches"),
    "leaves": _("leaves"),
    "checkpoints": _("checkpoints"),
    "bytes": _("bytes"),
}


def progress_words(job: Job) -> str:
    """Return how far a piece of work is, in words: what is done, how fast, how long it still takes."""
    if job.state == JobState.WAITING:
        return gettext("Waiting for a worker.")
    done, total = (number_format(count, force_grouping=True) for count in (job.done, job.total))
    match job.kind:
        case JobKind.VERIFY:
            words = gettext("%(done)s of %(total)s events")
        case JobKind.WHAT_IF:
            words = gettext("%(done)s of %(total)s streams")
        case _:
            words = gettext("%(done)s of %(total)s rows")
    parts = [words % {"done": done, "total": total}]
    if job.state == JobState.RUNNING and job.started_at is not None:
        elapsed_s = max((timezone.now() - job.started_at).total_seconds(), 0.001)
        rate = round(job.done / elapsed_s)
        if rate:
            parts.append(gettext("%(rate)s a second") % {"rate": number_format(rate, force_grouping=True)})
            left = duration(max(0, job.total - job.done) * elapsed_s / job.done)
            parts.append(gettext("about %(duration)s left") % {"duration": left})
        if job.stopped_by_id is not None:
            parts.append(gettext("it stops at its next step"))
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Return a stretch of time in the words of the page, to the second, the minute or the hour."""
    whole = round(seconds)
    if whole < MINUTE_S:
        return ngettext("%(number)d second", "%(number)d seconds", whole) % {"number": whole}
    if whole < HOUR_S:
        minutes = round(whole / MINUTE_S)
        return ngettext("%(number)d minute", "%(number)d minutes", minutes) % {"number": minutes}
    hours = round(whole / HOUR_S)
    return ngettext("%(number)d hour", "%(number)d hours", hours) % {"number": hours}
