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

from audit.adjudications import beside as besides
from audit.adjudications.beside import Selection
from audit.admin.acts import actor, record_act
from audit.admin.exports import attached
from audit.admin.reading import RecordAdmin, officer_of
from audit.cases.machine import WORKING
from audit.models import Casino, Officer, Work, WorkKind, WorkState
from audit.models.officers import READERS
from audit.models.works import OPEN
from audit.works.asking import ask, stop
from audit.works.files import FORMS
from settlement import RULEBOOKS, ShapeError

MOST_OPEN = 5
"""Pieces of work that one officer has under way at once."""

EVERY_HOUSE = "*"

MINUTE_S, HOUR_S = 60, 3_600


class Misasked(Exception):
    """What a form asks for cannot be done. Its words are for the officer."""


@admin.register(Work)
class WorkAdmin(RecordAdmin):
    list_display = ("title", "house", "officer", "asked_at", "stage", "far")
    change_list_template = "admin/audit/works/change_list.html"
    list_display_links = ("title",)
    list_filter = ("kind", "state")
    list_select_related = ("casino", "officer")
    ordering = ("-asked_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Work]:
        """Return an officer's own work, and what others asked for at their houses; files are for who asked."""
        works = Work.objects.defer("file")
        officer = officer_of(request)
        if officer.is_superuser:
            return works
        at_houses = Q(casino__in=officer.houses(*READERS)) & ~Q(kind=WorkKind.EXPORT)
        return works.filter(at_houses | Q(officer=officer))

    @admin.display(description=_("work"), ordering="kind")
    def title(self, work: Work) -> str:
        return str(work)

    @admin.display(description=_("casino"), ordering="casino")
    def house(self, work: Work) -> str:
        return str(work.casino or _("every house"))

    @admin.display(description=_("state"), ordering="state")
    def stage(self, work: Work) -> str:
        return format_html('<span class="state {}">{}</span>', work.state, WorkState(work.state).label)

    @admin.display(description=_("progress"))
    def far(self, work: Work) -> str:
        return f"{100 * work.done // work.total} %" if work.total else "—"

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("ask/<slug:kind>/", guarded(self.ask_view), name="audit_work_ask"),
            path("<int:pk>/stop/", guarded(self.stop_view), name="audit_work_stop"),
            path("<int:pk>/progress/", guarded(self.progress_view), name="audit_work_progress"),
            path("<int:pk>/file/", guarded(self.file_view), name="audit_work_file"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        officer = officer_of(request)
        context = {
            "houses": officer.houses(*READERS),
            "worked": officer.houses(*WORKING),
            "every_house": EVERY_HOUSE if officer.is_superuser else "",
            "rulesets": sorted(RULEBOOKS),
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show how far a piece of work is, or what came of it."""
        work = self.asked(request, object_id)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": str(work),
            "work": work,
            "state": WorkState(work.state),
            "words": progress_words(work),
            "may_stop": work.is_open and work.stopped_by_id is None and self._may_stop(request, work),
            "asked": [
                (_ASKED[name], _written(value)) for name, value in work.asked.items() if name in _ASKED and value
            ],
            "counted": [
                (_COUNTED[name], number_format(count, force_grouping=True))
                for name, count in work.outcome.items()
                if name in _COUNTED
            ],
            "took": duration((work.ended_at - work.begun_at).total_seconds())
            if work.ended_at and work.begun_at
            else "",
        }
        return TemplateResponse(request, "admin/audit/works/work.html", context)

    def ask_view(self, request: HttpRequest, kind: str) -> HttpResponse:
        """Ask for a verification or a replay beside. By POST: it is an act."""
        if request.method != "POST" or kind not in (WorkKind.VERIFY, WorkKind.BESIDE):
            return HttpResponseNotAllowed(["POST"])
        officer = officer_of(request)
        if not self.has_view_permission(request):
            raise PermissionDenied
        said = {name: value.replace("\0", "").strip()[:1_000] for name, value in request.POST.items()}
        roles = READERS if kind == WorkKind.VERIFY else WORKING
        casino = officer.houses(*roles).filter(code=said.get("casino", "")).first()
        if casino is None and not (officer.is_superuser and said.get("casino") == EVERY_HOUSE):
            raise PermissionDenied
        try:
            if (
                Work.objects.filter(officer=officer, state__in=(WorkState.WAITING, WorkState.RUNNING)).count()
                >= MOST_OPEN
            ):
                raise Misasked(
                    gettext("You have as much under way as is done at once. Wait for some of it, or stop it.")
                )
            asked = _days(said)
            if kind == WorkKind.BESIDE:
                asked |= _beside(said, casino, asked, actor(request))
        except Misasked as error:
            messages.error(request, str(error))
            return redirect("admin:audit_work_changelist")
        return redirect("admin:audit_work_change", ask(WorkKind(kind), officer, casino, asked).pk)

    def stop_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask a piece of work to stop."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        work = self.asked(request, pk)
        if not self._may_stop(request, work):
            raise PermissionDenied
        if stop(work, officer_of(request)):
            messages.success(request, _("It stops at its next step."))
        else:
            messages.info(request, _("There was nothing to stop."))
        return redirect("admin:audit_work_change", pk)

    def progress_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Say how far a piece of work is, for its page."""
        work = self.asked(request, pk)
        return JsonResponse(
            {"state": work.state, "done": work.done, "total": work.total, "words": progress_words(work)}
        )

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Hand out the file that was made, to who asked for it."""
        work = self.asked(request, pk)
        if work.file is None or work.officer_id != request.user.pk:
            raise Http404
        record_act(request, "export.taken", id=work.pk, named=work.file_name)
        return attached(work.file_name, FORMS[work.asked["form"]], bytes(work.file))

    def _may_stop(self, request: HttpRequest, work: Work) -> bool:
        """Tell whether who asks may stop a piece of work: who asked for it, and who works on cases at its house."""
        officer = officer_of(request)
        at_house = work.casino_id is not None and officer.role_at(work.casino_id) in WORKING
        return officer.is_superuser or work.officer_id == officer.pk or at_house


def _refuse_too_much(officer: Officer) -> None:
    if Work.objects.filter(officer=officer, state__in=OPEN).count() >= MOST_OPEN:
        raise Misasked(gettext("You have as much under way as is done at once. Wait for some of it, or stop it."))


def _days(said: Mapping[str, str]) -> dict[str, Any]:
    """Return the gaming days that a form names, both ends included, each left out where it is empty."""
    days: dict[str, Any] = {}
    for name in ("first_day", "last_day"):
        if said.get(name):
            try:
                days[name] = date.fromisoformat(said[name]).isoformat()
            except ValueError:
                raise Misasked(gettext("“%(day)s” is no day.") % {"day": said[name][:40]}) from None
    return days


def _beside(said: Mapping[str, str], casino: Casino | None, days: Mapping[str, str], by: str) -> dict[str, Any]:
    """Begin the replay that a form names and return what is asked of the workers."""
    ruleset = said.get("ruleset") or None
    if ruleset is not None and ruleset not in RULEBOOKS:
        raise Misasked(gettext("There is no such ruleset."))
    name = said.get("name", "")[:100]
    if not name:
        raise Misasked(gettext("Give the replay a name."))
    first, last = (date.fromisoformat(days[each]) if each in days else None for each in ("first_day", "last_day"))
    try:
        readings = besides.readings_in(said.get("readings", ""))
        selection = Selection(casino.code if casino else None, first, last, ruleset)
        besides.begin(name, readings=readings, selection=selection, actor=by)
    except (besides.Refused, ShapeError) as error:
        raise Misasked(str(error)) from None
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


def progress_words(work: Work) -> str:
    """Return how far a piece of work is, in words: what is done, how fast, how long it still takes."""
    if work.state == WorkState.WAITING:
        return gettext("Waiting for a worker.")
    done, total = (number_format(count, force_grouping=True) for count in (work.done, work.total))
    match work.kind:
        case WorkKind.VERIFY:
            words = gettext("%(done)s of %(total)s events")
        case WorkKind.BESIDE:
            words = gettext("%(done)s of %(total)s streams")
        case _:
            words = gettext("%(done)s of %(total)s rows")
    parts = [words % {"done": done, "total": total}]
    if work.state == WorkState.RUNNING and work.begun_at is not None:
        elapsed_s = max((timezone.now() - work.begun_at).total_seconds(), 0.001)
        rate = round(work.done / elapsed_s)
        if rate:
            parts.append(gettext("%(rate)s a second") % {"rate": number_format(rate, force_grouping=True)})
            left = duration(max(0, work.total - work.done) * elapsed_s / work.done)
            parts.append(gettext("about %(duration)s left") % {"duration": left})
        if work.stopped_by_id is not None:
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
