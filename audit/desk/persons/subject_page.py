"""The page on which an officer has the file of what the record holds of one person made, as a background job."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from audit.access.capabilities import Capability
from audit.desk.audited_admin import AuditedAdmin
from audit.desk.names import directory_for
from audit.desk.scoped_admin import at, demands, note_casino, officer_of, scope_of
from audit.jobs.queue import enqueue
from audit.models import JobKind, Person
from audit.models.persons import is_person_id
from audit.persons.directory import Family, PersonId

ROLES = {"player": Family.PLAYER, "croupier": Family.STAFF}
"""Whose page leads here: as the addresses of persons have it."""


class SubjectPages(AuditedAdmin[Person]):
    """What the section of persons adds for whoever is asked what is held of somebody."""

    @at("held/<slug:role>/<int:casino_id>/<path:code>/")
    @demands(Capability.SEE_NAMES)
    def subject_view(self, request: HttpRequest, role: str, casino_id: int, code: str) -> HttpResponse:
        """Say what the file has, and by POST start the job that makes it: one act, in the audit trail."""
        casino = scope_of(request, Capability.SEE_NAMES).casinos().filter(pk=casino_id).first()
        if casino is None or role not in ROLES or not is_person_id(code):
            raise Http404
        if not scope_of(request, Capability.SEE_RECORD).includes(casino.pk):
            raise PermissionDenied
        note_casino(request, casino.pk)
        if request.method == "POST":
            params = {"family": str(ROLES[role]), "code": code}
            return redirect("admin:audit_job_change", enqueue(JobKind.SUBJECT, officer_of(request), casino, params).pk)
        known = PersonId(ROLES[role], code)
        directory = directory_for(request, casino.pk, [known])
        name = directory.player(code) if known.family is Family.PLAYER else directory.staff(code)
        context = {
            "title": gettext("What is held on %(id)s") % {"id": name},
            "name": name,
            "code": code,
            "casino": casino,
            "back": reverse(f"admin:audit_person_{role}", args=(casino.pk, code)),
        }
        return self.page(request, "admin/audit/persons/subject.html", **context)
