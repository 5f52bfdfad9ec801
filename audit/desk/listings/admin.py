"""The watch list and the exclusion list: the entries, the page that proposes one, and the page of each.

The use cases are in ``audit.persons.listings``; a page shows what they allow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access.capabilities import Capability
from audit.desk import kept_words, parts
from audit.desk.audited_admin import record_entry
from audit.desk.listings.fields import DismissalForm, ProposalForm, ReasonForm
from audit.desk.names import directory_for
from audit.desk.scoped_admin import RecordAdmin, at, demands, officer_of, scope_of
from audit.desk.sign_in.proof import ask_for_proof
from audit.models import Listing, ListKind, ListState, Person, PersonKind, Sighting, SightingOutcome
from audit.persons import listings
from audit.persons.directory import players
from audit.persons.listings import ListingRefused
from audit.presentation import MISSING, date_time, day

_WORKERS = (Capability.WORK_CASES, Capability.APPROVE_CASES)

SIGHTINGS_SHOWN = 30
"""Nights at a table that the page of an entry lists, the newest first."""


@admin.register(Listing)
class ListingAdmin(RecordAdmin[Listing]):
    list_display = ("player", "list", "casino", "standing", "through", "since")
    list_display_links = ("list",)
    list_select_related = ("casino",)
    list_filter = ("kind", "state", "casino")
    ordering = ("-proposed_at", "-pk")
    search_fields = ("=code",)
    search_help_text = gettext_lazy("the exact id of a player")
    when_empty = gettext_lazy(
        "No player is on a list. An officer proposes it on a player’s page, a second one approves."
    )

    @admin.display(description=gettext_lazy("player"), ordering="code")
    def player(self, listing: Listing) -> str:
        return parts.person("player", listing.casino_id, listing.code, getattr(listing, "shown_name", ""))

    @admin.display(description=gettext_lazy("list"), ordering="kind")
    def list(self, listing: Listing) -> str:
        return listing.get_kind_display()

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def standing(self, listing: Listing) -> str:
        return listing.get_state_display()

    @admin.display(description=gettext_lazy("last day"), ordering="last_day")
    def through(self, listing: Listing) -> str:
        return day(listing.last_day, with_year=True) if listing.last_day is not None else MISSING

    @admin.display(description=gettext_lazy("proposed"), ordering="proposed_at")
    def since(self, listing: Listing) -> str:
        return date_time(listing.proposed_at, listing.casino)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the entries, with the names of the players where the officer may see them."""
        response = super().changelist_view(request, extra_context)
        shown = getattr(response, "context_data", None) or {}
        if "cl" in shown:
            rows = shown["cl"].result_list = [*shown["cl"].result_list]
            for casino_id, codes in _codes(rows).items():
                directory = directory_for(request, casino_id, players(codes))
                for each in rows:
                    if each.casino_id == casino_id:
                        each.shown_name = directory.player(each.code)
        return response

    @at("new/<int:pk>/")
    @demands(Capability.WORK_CASES)
    def new_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask on which list the player of a row of the directory is put; by POST, propose it."""
        rows = scope_of(request, Capability.WORK_CASES).rows(Person.objects.filter(pk=pk, kind=PersonKind.PLAYER))
        person = rows.select_related("casino").first()
        if person is None:
            raise Http404
        form = ProposalForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            given = form.cleaned_data
            kind, last_day = ListKind(given["kind"]), given["last_day"]
            try:
                listing = listings.propose(
                    officer_of(request), person.casino, kind, person.code, reason=given["reason"], last_day=last_day
                )
            except ListingRefused as refused:
                form.add_error(None, str(refused))
            else:
                messages.success(request, _("Proposed. A second officer must approve it."))
                return redirect("admin:audit_listing_change", listing.pk)
        directory = directory_for(request, person.casino_id, players([person.code]))
        return self.page(
            request,
            "admin/audit/listings/new.html",
            title=_("Put a player on a list"),
            person=person,
            who=directory.player(person.code),
            form=form,
        )

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show an entry: who is on which list and why, and the next step of whoever may take it."""
        return self._listing_page(request, self.row_or_404(request, object_id))

    def _listing_page(self, request: HttpRequest, listing: Listing, reason: ReasonForm | None = None) -> HttpResponse:
        record_entry(request, "listing.viewed", casino_id=listing.casino_id, listing=listing.number, named=listing.code)
        officer = officer_of(request)
        first = listing.removal_by_id if listing.state == ListState.LEAVING else listing.proposed_by_id
        is_waiting = listing.state in (ListState.WAITING, ListState.LEAVING)
        can_remove = listing.state == ListState.LISTED and listings.may_propose(officer, listing.casino_id)
        seen = Sighting.objects.filter(listing=listing).select_related("stream__table", "dismissed_by")[
            :SIGHTINGS_SHOWN
        ]
        return self.page(
            request,
            "admin/audit/listings/listing.html",
            title=_("%(list)s, entry %(number)s")
            % {"list": listing.get_kind_display().capitalize(), "number": listing.number},
            listing=listing,
            who=directory_for(request, listing.casino_id, players([listing.code])).player(listing.code),
            address=parts.person_address("player", listing.casino_id, listing.code),
            last_day=day(listing.last_day, with_year=True) if listing.last_day is not None else "",
            nights=[(each, day(each.gaming_day, with_weekday=True, with_year=True)) for each in seen],
            may_approve=listings.may_approve(officer, listing),
            is_own=is_waiting and first == officer.pk,
            declining=(reason or ReasonForm(auto_id="decline_%s")) if listings.may_decline(officer, listing) else None,
            removing=(reason or ReasonForm(auto_id="remove_%s")) if can_remove else None,
        )

    @at("seen/<int:pk>/dismiss/")
    @demands(*_WORKERS)
    def dismiss_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Dismiss a sighting, by POST, and return to the inbox."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        rows = scope_of(request, *_WORKERS).rows(Sighting.objects.filter(pk=pk), casino="listing__casino")
        sighting, form = rows.select_related("listing").first(), DismissalForm(request.POST)
        if sighting is None:
            raise Http404
        try:
            if not form.is_valid():
                raise ListingRefused(_("Choose an outcome."))
            given = form.cleaned_data
            outcome = SightingOutcome(given["outcome"])
            listings.dismiss(officer_of(request), sighting, outcome, reason=given["reason"])
        except ListingRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, redirect("admin:inbox"))
        messages.success(request, _("Dismissed. It leaves the inbox of every officer of the casino."))
        return redirect("admin:inbox")

    @at("<int:pk>/decide/")
    @demands(*_WORKERS)
    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Approve what waits, decline it, or propose a removal, as the field ``step`` says, by POST."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        listing, actor, step = self.row_or_404(request, pk, *_WORKERS), officer_of(request), request.POST.get("step")
        if step not in ("approve", "decline", "remove"):
            raise Http404
        if step == "approve" and (page := ask_for_proof(request, is_signature=True)) is not None:
            return page
        form = ReasonForm(request.POST, auto_id=f"{step}_%s")
        if step != "approve" and not form.is_valid():
            return self._listing_page(request, listing, form)
        try:
            if step == "approve":
                listing = listings.approve(actor, listing)
            else:
                does = listings.decline if step == "decline" else listings.propose_removal
                listing = does(actor, listing, reason=form.cleaned_data["reason"])
        except ListingRefused as refused:
            messages.error(request, str(refused))
            return kept_words.keep_for(request, redirect("admin:audit_listing_change", pk))
        messages.success(request, str(_DONE[ListState(listing.state)]))
        return redirect("admin:audit_listing_change", pk)


def _codes(rows: Iterable[Listing]) -> Mapping[int, list[str]]:
    """Return the players of entries, by casino."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for each in rows:
        found[each.casino_id].append(each.code)
    return found


_DONE = {
    ListState.LISTED: gettext_lazy("The player is on the list."),
    ListState.DECLINED: gettext_lazy("Declined. The player is not on the list."),
    ListState.LEAVING: gettext_lazy("Proposed. The player stays on the list until a second officer approves."),
    ListState.REMOVED: gettext_lazy("The player is no longer on the list."),
}
"""What is said after a step, by the state that the entry then has."""
