"""The pages of one person: somebody of the staff, or a player. Ids for who sees the record; names for who sees those.

Whose page was looked at is in the audit trail, by id.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.access.capabilities import Capability
from audit.casework.actions import ActionRefused, OpenedPattern, open_pattern
from audit.casework.patterns import JOINED
from audit.desk import kept_words
from audit.desk.audited_admin import AuditedAdmin, record_entry
from audit.desk.downloads import file_response
from audit.desk.findings.casework import undo_form
from audit.desk.findings.person_filters import first_of
from audit.desk.names import sees_names
from audit.desk.persons.concerning import concerning, newest_month
from audit.desk.persons.croupier_page import croupier_context
from audit.desk.persons.money_page import money_context
from audit.desk.persons.person_files import croupier_pdf, money_workbook, player_pdf
from audit.desk.persons.player_page import player_context
from audit.desk.scoped_admin import at, demands, note_casino, officer_of, scope_of
from audit.exports.pdf import PDF
from audit.exports.sheets import XLSX
from audit.models import Casino, Finding, Person, PersonKind
from audit.models.persons import is_person_id
from audit.presentation import local
from audit.reconciliation.month import around

MAX_CODE = 200
"""The longest id that a finding has room for."""


class PersonPages(AuditedAdmin[Person]):
    """What the section of persons adds to Django's own: a page for each person whom the record names.

    Ids are whatever a table system gave, slashes included.
    """

    @at("croupier/<int:casino_id>/<path:code>/")
    @demands(Capability.SEE_RECORD)
    def croupier_view(self, request: HttpRequest, casino_id: int, code: str) -> HttpResponse:
        """Show what the nights and the findings of a month, ``?month=2026-11``, say of somebody of the staff."""
        return self._month_view(request, "croupier", casino_id, code, croupier_context, croupier_pdf)

    @at("pattern/<int:casino_id>/<path:code>/")
    @demands(Capability.WORK_CASES)
    def pattern_view(self, request: HttpRequest, casino_id: int, code: str) -> HttpResponse:
        """Work on the open incidents of one rule in a month of somebody of the staff as one, and show their list."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        casino = self._casino(request, casino_id, code, Capability.WORK_CASES)
        first, rule = first_of(request.POST.get("month", "")), request.POST.get("rule", "")
        if first is None:
            raise Http404
        found = concerning(casino, "croupier", code, first)
        chosen = [each.pk for each in found.alike(rule) if each.is_open]
        back = redirect(f"{reverse('admin:audit_person_croupier', args=(casino.pk, code))}?month={first:%Y-%m}")
        try:
            if not chosen:
                raise ActionRefused(_("No incident of this pattern is open."))
            findings = list(Finding.objects.filter(pk__in=chosen))
            opened = open_pattern(officer_of(request), findings, reason=request.POST.get("reason", ""))
        except ActionRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, back)
        _say_opened(request, opened, found.address(rule=rule, queue="open"))
        return redirect(found.address(rule=rule, queue="open"))

    @at("player/<int:casino_id>/<path:code>/")
    @demands(Capability.SEE_RECORD)
    def player_view(self, request: HttpRequest, casino_id: int, code: str) -> HttpResponse:
        """Show the findings of a player in a month, and to who sees names his play and its luck."""
        return self._month_view(request, "player", casino_id, code, player_context, player_pdf)

    def _month_view(
        self,
        request: HttpRequest,
        role: str,
        casino_id: int,
        code: str,
        context_of: Callable[[HttpRequest, Casino, str, date], dict[str, Any]],
        pdf_of: Callable[[Casino, date, dict[str, Any]], bytes],
    ) -> HttpResponse:
        """Show a month of somebody; with ``?file=pdf`` return it as PDF."""
        casino = self._casino(request, casino_id, code)
        first = _month(request, casino)
        month = f"{first:%Y-%m}"
        is_file = request.GET.get("file") == "pdf"
        if is_file:
            record_entry(request, "person.exported", casino_id=casino.pk, named=code, month=month)
        else:
            record_entry(request, "person.viewed", casino_id=casino.pk, named=code, month=month)
        context = context_of(request, casino, code, first)
        if is_file:
            return file_response(_name("person", casino, code, month, "pdf"), PDF, pdf_of(casino, first, context))
        return self._page(request, role, casino, code, first, context)

    @at("money/<int:casino_id>/<str:gaming_day>/<path:code>/")
    @demands(Capability.SEE_NAMES)
    def money_view(self, request: HttpRequest, casino_id: int, gaming_day: str, code: str) -> HttpResponse:
        """Show the money of a player on one gaming day: exchanges, what is due by them, play, opposite stakes."""
        casino = self._casino(request, casino_id, code, Capability.SEE_NAMES)
        try:
            day = date.fromisoformat(gaming_day)
        except ValueError:
            raise Http404 from None
        if first_of(f"{day:%Y-%m}") is None:  # a month that has no neighbours
            raise Http404
        is_file = request.GET.get("file") == "xlsx"
        if is_file:
            record_entry(request, "money.exported", casino_id=casino.pk, player=code, gaming_day=day.isoformat())
        else:
            record_entry(request, "money.viewed", casino_id=casino.pk, player=code, gaming_day=day.isoformat())
        context = money_context(request, casino, code, day)
        if is_file:
            return file_response(
                _name("money", casino, code, day.isoformat(), "xlsx"), XLSX, money_workbook(casino, context)
            )
        return self._page(request, "player", casino, code, day.replace(day=1), context, "money")

    def _page(
        self,
        request: HttpRequest,
        role: str,
        casino: Casino,
        code: str,
        first: date,
        context: dict[str, Any],
        template: str = "",
    ) -> HttpResponse:
        kinds = {"kind": PersonKind.PLAYER} if role == "player" else {}
        known = None
        if sees_names(request, casino.pk):
            rows = Person.objects.filter(casino=casino, code=code, **kinds)
            known = (rows if kinds else rows.exclude(kind=PersonKind.PLAYER)).first()
        shown = {
            "title": context["name"],
            "casino": casino,
            "code": code,
            "known": known,
            "role": role,
            "may_ask": sees_names(request, casino.pk) and is_person_id(code),
            "first": first,
            "around": around(first),
            "lists_people": bool(scope_of(request, *self.sees, *self.changes)),
            **context,
        }
        return self.page(request, f"admin/audit/persons/{template or role}.html", **shown)

    def _casino(
        self, request: HttpRequest, casino_id: int, code: str, needed: Capability = Capability.SEE_RECORD
    ) -> Casino:
        casino = scope_of(request, needed).casinos().filter(pk=casino_id).first()
        if casino is None or len(code) > MAX_CODE or "\0" in code:
            raise Http404
        note_casino(request, casino.pk)
        return casino


def _say_opened(request: HttpRequest, opened: OpenedPattern, address: str) -> None:
    """Say what has become of the cases of a pattern, with the button that takes it back."""
    number = len(opened.taken) + len(opened.linked)
    words = ngettext(
        "%(number)d case is in the pattern %(name)s now.", "%(number)d cases are in the pattern %(name)s now.", number
    )
    parts = [words % {"number": number, "name": opened.name}]
    if opened.taken:
        words = ngettext("You took %(number)d of them.", "You took %(number)d of them.", len(opened.taken))
        parts.append(words % {"number": len(opened.taken)})
    if opened.linked:
        words = ngettext(
            "%(number)d stays with its officer.", "%(number)d stay with their officers.", len(opened.linked)
        )
        parts.append(words % {"number": len(opened.linked)})
    if number:
        kept = address.partition("?")[2]
        undo = undo_form(request, [*opened.taken, *opened.linked], *JOINED, kept=kept)
        messages.success(request, format_html("{} {}", " ".join(parts), undo))
    for why in opened.refused:
        messages.warning(request, why)


def _name(what: str, casino: Casino, code: str, when: str, ending: str) -> str:
    """Return the name of a file about somebody; an id may be anything, and a name of a file is not."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", code)[:40]
    return f"{what}-{casino.code}-{plain}-{when}.{ending}"


def _month(request: HttpRequest, casino: Casino) -> date:
    """Return the first day of the month that the address says, else of the newest that has something."""
    chosen = first_of(request.GET.get("month", ""))
    return chosen if chosen is not None else newest_month(casino, local(timezone.now(), casino).date())
