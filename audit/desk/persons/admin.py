"""Persons: a casino's directory of names. The audit trail names each officer who looks at somebody, and not the words
of a search.

Officers who see names read it; administrators keep it, by hand or from a file. Somebody is deleted by the act that
erases them, on a page of its own: the id stays in the events, and is shown alone from then on.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.desk import parts
from audit.desk.audited_admin import AuditedAdmin, actor, record_entry
from audit.desk.downloads import list_response
from audit.desk.persons.pages import PersonPages
from audit.desk.persons.ranking import InOrder, orderable
from audit.desk.persons.subject_page import SubjectPages
from audit.desk.persons.tallies import Tally, key_of, tallies_of
from audit.desk.scoped_admin import at, demands, officer_of, scope_of
from audit.event_store.audit_trail import MAX_REASON
from audit.exports.lists import FORMATS
from audit.exports.sheets import Column, Sheet
from audit.models import Casino, Person, PersonKind
from audit.persons.directory_file import COLUMNS, MAX_BYTES, FileRefused, import_file
from audit.persons.erasure import Erased, ErasureRefused, erase
from audit.presentation import MISSING, count, day, isolated

SHOWN_REFUSALS = 200
"""Refused rows that the page lists."""


class ImportForm(forms.Form):
    """The casino, and the file to read into its directory."""

    casino = forms.ModelChoiceField(Casino.objects.none(), label=_("Casino"), empty_label=None)
    file = forms.FileField(label=_("File"))


@admin.register(Person)
class PersonAdmin(SubjectPages, PersonPages, AuditedAdmin[Person]):
    sees = (Capability.SEE_NAMES,)
    changes = (Capability.KEEP_EQUIPMENT,)
    change_list_template = "admin/audit/persons/list.html"
    when_empty = _("The directory names nobody yet. An administrator adds people, or imports a list of them.")
    list_display = (
        *(
            "who",
            "kind",
            "incidents",
            "owed_to_players",
            "paid_too_much",
            "nights",
            "code",
            "card_or_licence",
            "casino",
        ),
    )
    list_display_links = ("code",)
    card_title = "who"
    list_filter = ("kind", "casino")
    list_select_related = ("casino",)
    list_per_page = 50
    search_fields = ("=code", "name", "=card_or_licence")
    search_help_text = _("an exact id, card or licence, or part of a name")

    def title_of(self, row: Person) -> str:
        return isolated(row.name) or row.code

    @admin.display(description=_("person"), ordering="name")
    def who(self, person: Person) -> str:
        role = "player" if person.kind == PersonKind.PLAYER else "croupier"
        return parts.person(role, person.casino_id, person.code, person.name)

    @admin.display(description=_("incidents"), ordering="by_incidents")
    def incidents(self, person: Person) -> str:
        tally = _tally(person)
        if tally is None or not tally.incidents:
            return MISSING
        text = count(tally.incidents)
        if tally.open:
            words = gettext("%(number)s, %(open)s open") if tally.open < tally.incidents else _all_open(tally.open)
            text = words % {"number": text, "open": count(tally.open)}
        return text

    @admin.display(description=_("owed to players"), ordering="by_owed")
    def owed_to_players(self, person: Person) -> str:
        return self._amount(person, "player")

    @admin.display(description=_("paid too much"), ordering="by_overpaid")
    def paid_too_much(self, person: Person) -> str:
        return self._amount(person, "bank")

    @admin.display(description=_("nights with incidents"))
    def nights(self, person: Person) -> str:
        tally = _tally(person)
        if tally is None or not tally.days:
            return MISSING
        return gettext("%(number)s, last %(day)s") % {"number": count(len(tally.days)), "day": day(max(tally.days))}

    @staticmethod
    def _amount(person: Person, side: str) -> str:
        tally = _tally(person)
        return tally.amount_of(side) if tally is not None else MISSING

    def get_queryset(self, request: HttpRequest) -> QuerySet[Person]:
        return orderable(super().get_queryset(request))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return InOrder

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("casino", "code") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return no deletion of several: each erasure is an act with a reason."""
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    @demands(Capability.KEEP_EQUIPMENT)
    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Erase a person: say what goes and what stays, ask for the reason, and do it by POST."""
        person = self.row_or_404(request, object_id, Capability.KEEP_EQUIPMENT)
        reason = request.POST.get("reason", "")
        if request.method == "POST":
            try:
                erased = erase(officer_of(request), person, reason=reason)
            except ErasureRefused as refused:
                messages.error(request, str(refused))
            else:
                messages.success(request, erased_in_words(erased))
                return redirect("admin:audit_person_changelist")
        else:
            record_entry(request, "person.viewed", casino_id=person.casino_id, id=person.pk, named=str(person))
        context = {
            "title": gettext("Erase %(id)s") % {"id": self.title_of(person)},
            "person": person,
            "reason": "",
            "max_reason": MAX_REASON,
        }
        return self.page(request, "admin/audit/persons/erase.html", **context)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {"title": _("People"), "formats": list(FORMATS), "may_change": self.has_add_permission(request)}
        response = super().changelist_view(request, {**context, **(extra_context or {})})
        shown = getattr(response, "context_data", None) or {}
        if "cl" in shown:
            persons = list(shown["cl"].result_list)
            tallies = tallies_of(persons, scope_of(request, Capability.SEE_RECORD))
            for person in persons:
                person.tally = tallies.get(key_of(person))
            shown["cl"].result_list = persons
            _record_each(request, "persons.listed", persons)
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        person = self.get_object(request, object_id)
        if person is not None and request.method == "GET":
            record_entry(request, "person.viewed", casino_id=person.casino_id, id=person.pk, named=str(person))
        return super().change_view(request, object_id, form_url, extra_context)

    @at("export/<slug:format>/")
    @demands(Capability.SEE_NAMES, Capability.KEEP_EQUIPMENT)
    def export_view(self, request: HttpRequest, format: str) -> HttpResponse:
        """Download the persons that the list's filter leaves. By POST, because the download enters the audit trail.

        The headings are those that an import takes. The filter is not recorded: it may hold a name.
        """
        if request.method != "POST" or format not in FORMATS:
            return HttpResponseNotAllowed(["POST"])
        persons = list(self.get_changelist_instance(request).get_queryset(request).select_related("casino"))
        _record_each(request, "persons.exported", persons)
        rows = [[getattr(person, name) for name in COLUMNS] for person in persons]
        of_sandbox = any(person.casino.is_sandbox for person in persons)
        sheet = Sheet("persons", [Column(name) for name in COLUMNS], rows, is_of_sandbox=of_sandbox)
        return list_response(sheet, format, title=gettext("People"), filters=(), day=timezone.now().date())

    @at("import/")
    @demands(Capability.KEEP_EQUIPMENT)
    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Read a file into a casino's directory; with ``check`` only say what it would do."""
        casinos = scope_of(request, Capability.KEEP_EQUIPMENT).casinos()
        form = ImportForm(request.POST or None, request.FILES or None)
        form.fields["casino"].queryset = casinos  # type: ignore[attr-defined]  # a ModelChoiceField
        report = None
        is_check = "check" in request.POST
        if request.method == "POST" and form.is_valid():
            raw = form.cleaned_data["file"].read(MAX_BYTES + 1)
            try:
                report = import_file(form.cleaned_data["casino"], raw, actor=actor(request), dry_run=is_check)
            except FileRefused as refused:
                messages.error(request, str(refused))
        context = {
            "title": _("Import people"),
            "form": form,
            "report": report,
            "is_check": is_check,
            "refused": report.refused[:SHOWN_REFUSALS] if report else (),
        }
        return self.page(request, "admin/audit/persons/import.html", **context)


def erased_in_words(erased: Erased) -> str:
    """Return what an erasure did, for the officer."""
    sentences = [gettext("%(id)s is erased: from now on the id alone is shown.") % {"id": erased.code}]
    gone = [
        (
            erased.files,
            ngettext(
                "%(number)s export is done again or has to be requested again.",
                "%(number)s exports are done again or have to be requested again.",
                erased.files,
            ),
        ),
        (
            erased.refused,
            ngettext(
                "The bytes of %(number)s refused request are deleted.",
                "The bytes of %(number)s refused requests are deleted.",
                erased.refused,
            ),
        ),
        (
            erased.views,
            ngettext("%(number)s saved view is deleted.", "%(number)s saved views are deleted.", erased.views),
        ),
    ]
    return " ".join([*sentences, *(text % {"number": count(number)} for number, text in gone if number)])


def _all_open(number: int) -> str:
    """Return the words for incidents all of which are open."""
    return ngettext("%(number)s, open", "%(number)s, all open", number)


def _tally(person: Person) -> Tally | None:
    """Return what was added up of a person on the list; None where the officer does not see the casino's record."""
    return getattr(person, "tally", None)


def _record_each(request: HttpRequest, type: str, persons: QuerySet[Person] | list[Person]) -> None:
    """Record at each casino how many of its persons the officer was shown or given."""
    for casino_id, rows in sorted(Counter(person.casino_id for person in persons).items()):
        record_entry(request, type, casino_id=casino_id, rows=rows)
