"""The inbox: what waits for the signed-in officer, with the hand-over notes of the shift before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.access.capabilities import Capability
from audit.casework import inbox, shift_notes
from audit.casework.actions import ActionRefused
from audit.casework.titles import incident_title, second_line
from audit.desk import kept_words
from audit.desk.addresses import page_of
from audit.desk.findings.casework import ACTION_TITLES
from audit.desk.listings.fields import DismissalForm
from audit.desk.names import directory_for
from audit.desk.navigation import is_of_several
from audit.desk.scoped_admin import demands, narrowed, officer_of, scope_of
from audit.exports.findings import add_names
from audit.models import Casino, ListKind, ShiftNote, Sighting
from audit.persons import sightings
from audit.persons.directory import players
from audit.presentation import date_time, day, officer_name, reference

TITLES: Mapping[str, Promise] = {
    "due": _("Due today"),
    "video": _("Video ends"),
    "mentioned": _("Mentioned"),
    "assigned": _("Assigned to me by others"),
    "reopened": _("Reopened"),
    "decided": _("Decided"),
}
"""What the page calls the kinds of lines, in the order of ``inbox.KINDS``."""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """How a line leaves the inbox: where its form is sent, by which name its text is kept, and its fields."""

    address: str
    name: str
    form: DismissalForm


@dataclass(frozen=True, slots=True)
class Line:
    """One line as the page shows it."""

    address: str
    reference: str
    title: str
    about: str
    says: str
    text: str
    dismissal: Dismissal | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one kind."""

    name: str
    title: Promise
    lines: Sequence[Line]


@demands(*shift_notes.WRITERS)
def inbox_view(request: HttpRequest) -> HttpResponse:
    """Show the inbox. POST leaves a hand-over note at the casino of the field ``casino``."""
    casinos = narrowed(scope_of(request, *shift_notes.WRITERS).casinos(), request, "pk").order_by("code")
    if request.method == "POST":
        return _hand_over(request)
    now, several = timezone.now(), is_of_several(request)
    lines = inbox.lines_of(officer_of(request), [casino.pk for casino in casinos], now)
    add_names([each.finding for of_kind in lines.values() for each in of_kind], scope_of(request, Capability.SEE_NAMES))
    context = {
        **admin.site.each_context(request),
        "title": _("Inbox"),
        "sections": [*_sightings(request, now, of_several=several)]
        + [
            Section(kind, TITLES[kind], [_line(each, of_several=several) for each in found])
            for kind, found in lines.items()
        ],
        "notes": shift_notes.recent(notes_of(request), now),
        "casinos": casinos,
        "several": several,
        "mention": officer_of(request).get_username(),
    }
    return TemplateResponse(request, "admin/audit/inbox/inbox.html", context)


def notes_of(request: HttpRequest) -> QuerySet[ShiftNote]:
    """Return the hand-over notes of the casinos that a list shows the officer."""
    return narrowed(scope_of(request, *shift_notes.WRITERS).rows(ShiftNote.objects.all()), request)


def _hand_over(request: HttpRequest) -> HttpResponse:
    sent = request.POST.get("casino", "")
    known = scope_of(request, *shift_notes.WRITERS).casinos()
    is_id = sent.isascii() and sent.isdigit() and len(sent) < 19
    casino: Casino | None = known.filter(pk=int(sent)).first() if is_id else None
    if casino is None:
        raise Http404
    try:
        shift_notes.hand_over(officer_of(request), casino, request.POST.get("text", ""))
    except ActionRefused as refused:
        messages.error(request, str(refused))
        kept_words.keep(request, request.path)
    else:
        messages.success(request, _("The note is there for the next shift."))
    return redirect("admin:inbox")


def _sightings(request: HttpRequest, now: datetime, *, of_several: bool) -> Iterator[Section]:
    """Yield the listed players who were at a table in the last week: excluded ones, then watched ones."""
    rows = scope_of(request, *shift_notes.WRITERS).rows(Sighting.objects.all(), casino="listing__casino")
    seen = list(sightings.recent(narrowed(rows, request, "listing__casino"), now))
    for kind, title in sightings.TITLES.items():
        lines = [_seen(request, each, of_several=of_several) for each in seen if each.listing.kind == kind]
        if lines:
            yield Section(ListKind(kind).value, title, lines)


def _seen(request: HttpRequest, sighting: Sighting, *, of_several: bool) -> Line:
    listing, stream = sighting.listing, sighting.stream
    where = [stream.table.code if stream.table else "", str(listing.casino) if of_several else ""]
    at, name = day(sighting.gaming_day, with_weekday=True), f"dismiss-{sighting.pk}"
    kept = kept_words.texts_of(request, name)
    return Line(
        reverse("admin:audit_listing_change", args=(listing.pk,)),
        listing.code,
        directory_for(request, listing.casino_id, players([listing.code])).player(listing.code),
        " · ".join(filter(None, (*where, at))),
        "",
        listing.reason,
        Dismissal(
            reverse("admin:audit_listing_dismiss", args=(sighting.pk,)),
            name,
            DismissalForm(initial=kept, auto_id=f"{name}-%s"),
        ),
    )


def _line(line: inbox.Line, *, of_several: bool) -> Line:
    finding, action = line.finding, line.action
    where = [finding.table.code if finding.table else "", str(finding.casino) if of_several else ""]
    at = date_time(line.at, finding.casino)
    says = (
        f"{officer_name(action.officer)} {ACTION_TITLES.get(action.type, action.type)}".rstrip(":")
        if action is not None
        else ""
    )
    return Line(
        page_of("finding", finding.pk),
        reference(finding),
        title := incident_title(finding),
        " · ".join(filter(None, (second_line(finding, title), *where, at))),
        says,
        action.reason if action is not None else "",
    )
