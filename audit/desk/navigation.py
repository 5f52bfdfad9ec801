"""The navigation of the desk: what waits for the officer, what happened on the floor, what the record holds.

An officer sees the sections that their capabilities open, with how much waits in each. Django's own list of all models
is nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.access.capabilities import Capability
from audit.casework.inbox import actions_of_others
from audit.casework.shift_notes import WRITERS
from audit.desk.addresses import fixed
from audit.desk.approve import waiting as proposed
from audit.desk.chosen_casino import Choice, choice_of
from audit.desk.findings.queues import HEADS, OPEN
from audit.desk.prepared import counted, key_of, prepared
from audit.desk.scoped_admin import in_record, narrowed, officer_of, scope_of, section_of_page
from audit.desk.typed_admin import ModelAdmin
from audit.models import Finding, JobKind, NightReport, NightState, Officer, Role, Sighting
from audit.persons import sightings


@dataclass(frozen=True, slots=True)
class Page:
    """A page that the navigation leads to: of a model, or with capabilities of its own.

    ``short`` stands below a page on a phone where the title is too long for a tab in one of our languages.
    ``name`` is its URL's. ``covers`` are the beginnings of the names of the URLs that belong to it, too.
    ``own_name`` is what it notes, by ``note_section``, where it has its address in common with another.
    ``is_contents`` if the page lists its children itself: they stand in the navigation only on their own pages.
    """

    title: str | Promise
    icon: str
    name: str
    query: str = ""
    needs: tuple[Capability, ...] = ()
    covers: tuple[str, ...] = ()
    count: str = ""
    children: tuple[Page, ...] = ()
    is_tab: bool = False
    short: str | Promise = ""
    is_contents: bool = False
    own_name: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A page as one officer sees it."""

    title: str | Promise
    icon: str
    address: str
    is_current: bool
    count: int
    is_late: bool
    is_tab: bool
    short: str | Promise = ""
    children: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Navigation:
    """What stands at the left of every page: groups of links, whose desk it is, and who sits there."""

    groups: tuple[tuple[str | Promise, tuple[Link, ...]], ...]
    choice: Choice
    role: str | Promise
    waits: int
    late: int
    nights: int
    """How many incidents are open, how many of them are late, and how many nights wait for a signature."""

    @property
    def tabs(self) -> list[Link]:
        """The links below the page on a phone; the rest is behind the last of them."""
        return [link for _title, links in self.groups for link in links if link.is_tab]

    @property
    def path(self) -> tuple[Link, ...]:
        """The links that lead to the open page, the outermost first."""
        for link in (link for _title, links in self.groups for link in links):
            below = tuple(child for child in link.children if child.is_current)
            if below or link.is_current:
                return (link, *below)
        return ()


SEE = (Capability.SEE_RECORD,)

VERIFICATIONS = f"kind__exact={JobKind.VERIFY.value}"
"""The query by which the list of jobs is that of verifications."""

VERIFICATIONS_NAME = "verifications"
"""What that list notes, and the page of a verification: they stand under the record, and other jobs under exports."""

DECIDE = (Capability.WORK_CASES, Capability.APPROVE_CASES, Capability.KEEP_REGISTER, Capability.KEEP_OFFICERS)


def _list(title: str | Promise, model: str, icon: str = "", **options: Any) -> Page:
    """Return the page of a model's list, with every page of its rows."""
    covers = (f"audit_{model}_", *options.pop("covers", ()))
    return Page(title, icon, f"audit_{model}_changelist", covers=covers, **options)


SETTINGS = (
    _list(_("Casinos"), "casino"),
    _list(_("Gaming tables"), "gamingtable"),
    _list(_("API keys"), "apikey"),
    _list(_("Webhooks"), "webhook", covers=("audit_deadletter_",)),
    _list(_("Subscribers"), "nightsubscriber"),
    _list(_("Deadlines"), "deadline"),
    _list(_("Case contacts"), "casecontacts"),
    _list(_("Officers"), "officer"),
)

PAGES: tuple[tuple[str | Promise, tuple[Page, ...]], ...] = (
    (
        "",
        (
            Page(_("Overview"), "overview", "index", is_tab=True, short=pgettext_lazy("tab", "Overview")),
            Page(_("Inbox"), "inbox", "inbox", needs=WRITERS, count="inbox"),
            _list(
                _("Findings"), "finding", "findings", query="?queue=open", count="open", covers=("audit_view_",),
                children=(
                    _list(_("Information"), "informationsigning"),
                    _list(_("Complaints"), "complaint", query="?answered=no"),
                    _list(_("Payment orders"), "paymentorder"),
                ),
                is_tab=True,
            ),
            Page(
                _("To approve"), "approve", "approve", needs=DECIDE, count="to_approve",
                covers=("approve_", "audit_correction_"),
            ),
            _list(_("Nights"), "nightreport", "nights", count="nights", is_tab=True),
            _list(_("Questions"), "ledgerprocess", "questions"),
        ),
    ),
    (
        _("The floor"),
        (
            _list(_("Tables"), "loggedstream", "tables", is_tab=True),
            _list(
                _("People"), "person", "people", children=(_list(_("Watch and exclusion lists"), "listing"),),
            ),
            Page(
                _("Rules and law"), "rules", "rules", needs=SEE, covers=("rule", "law"),
                children=(_list(_("House register"), "registerentry"),),
            ),
            _list(_("What if"), "whatif", "what_if"),
        ),
    ),
    (
        _("The record"),
        (
            Page(
                _("Record and proofs"), "record", "record_state", needs=SEE, covers=("record_proof",),
                children=(
                    Page(
                        _("Verifications"), "", "audit_job_changelist", query=f"?{VERIFICATIONS}",
                        own_name=VERIFICATIONS_NAME,
                    ),
                    _list(_("Failed runs"), "failedrun"), _list(_("Quarantine"), "quarantined"),
                ),
            ),
            _list(_("Exports"), "job", "exports"),
            Page(_("Officers’ trail"), "trail", "audit_trail", needs=SEE),
        ),
    ),
    ("", (Page(_("Settings"), "settings", "app_list", children=SETTINGS, is_contents=True),)),
)  # fmt: skip
"""Every page of the navigation, in its order."""


def navigation(request: HttpRequest) -> Navigation | None:
    """Return the navigation of the signed-in officer; None if nobody is. It is put together once for a request."""
    officer = request.user
    if not isinstance(officer, Officer) or not officer.is_active:
        return None
    kept: tuple[Officer, Navigation] | None = request.__dict__.get(_BUILT)
    if kept is None or kept[0] is not officer:
        kept = request.__dict__[_BUILT] = (officer, _built(request))
    return kept[1]


def is_of_several(request: HttpRequest) -> bool:
    """Return whether lists are of several casinos, and name that of each row."""
    own = navigation(request)
    return own is not None and own.choice.is_of_several


_BUILT = "_navigation"
"""Where on a request its navigation is kept, with the officer whom it is for."""


def _built(request: HttpRequest) -> Navigation:
    current, counts = section_of_page(request), _counts(request)
    found = ((title, tuple(_links(request, pages, current, counts))) for title, pages in PAGES)
    groups = tuple((title, links) for title, links in found if links)
    return Navigation(
        groups, choice_of(request), _role(request), counts.get("open", 0), counts["late"], counts.get("nights", 0)
    )


def _links(request: HttpRequest, pages: Iterable[Page], current: str, counts: Mapping[str, int]) -> Iterator[Link]:
    for page in pages:
        children = tuple(_links(request, page.children, current, counts))
        if not _may_open(request, page) or (page.children and page.name == "app_list" and not children):
            continue
        is_current = current == (page.own_name or page.name) or any(current.startswith(name) for name in page.covers)
        is_open = (is_current and not page.is_contents) or any(child.is_current for child in children)
        count = counts.get(page.count, 0)
        address = fixed(page.name, *(("audit",) if page.name == "app_list" else ())) + page.query
        is_late = page.count == "open" and counts["late"] > 0
        link = Link(page.title, page.icon, address, is_current, count, is_late, page.is_tab, page.short)
        if page.name.startswith("audit_nightreport") and is_current:
            children = tuple(_month(request, current))
            link = replace(link, is_current=not any(child.is_current for child in children))
        yield replace(link, children=children if is_open else ())


def _may_open(request: HttpRequest, page: Page) -> bool:
    if page.needs:
        return bool(scope_of(request, *page.needs))
    if not page.name.endswith("_changelist"):
        return True
    return bool(_section(page.name.split("_")[1]).has_module_permission(request))


@cache
def _section(model: str) -> ModelAdmin[Any]:
    """Return the section of the desk over a model, by the model's name."""
    return next(section for each, section in admin.site._registry.items() if each._meta.model_name == model)


def _month(request: HttpRequest, current: str) -> Iterator[Link]:
    """Yield the link to the month of the latest night, where there is one."""

    def newest(_now: datetime) -> QuerySet[Any]:
        reports = in_record(NightReport.objects.all(), request).order_by("-gaming_day", "casino__code", "-version")
        return reports.values_list("casino_id", "gaming_day", "currency")[:1]

    for casino_id, day, currency in prepared("newest night", key_of(request), newest):
        address = reverse("admin:audit_nightreport_month", args=(casino_id, day.year, day.month, currency))
        is_current = current == "audit_nightreport_month"
        yield Link(_("The month"), "", address, is_current, 0, False, False)


def _counts(request: HttpRequest) -> Mapping[str, int]:
    """Return how much waits in the sections that say it: one query."""
    if not scope_of(request, *SEE, *DECIDE):
        return {"late": 0}
    found = counted("waits", WAITS, request, lambda now: _waits(request, now))
    to_approve = sum(found[kind] for kind in TO_APPROVE)
    return {**found, "inbox": found["inbox"] + found["sightings"], "to_approve": to_approve}


TO_APPROVE = ("closings", "corrections", "sessions", "orders", "listings", "entries", "accounts")
"""The kinds of proposals that wait for a second officer."""

WAITS = ("open", "late", *TO_APPROVE, "nights", "inbox", "sightings")
"""What is counted."""


def _waits(request: HttpRequest, now: datetime) -> dict[str, QuerySet[Any]]:
    """Return the queries of what waits, by ``WAITS``."""
    standing = in_record(Finding.objects.standing(), request)
    open_cases = standing.filter(HEADS, case__state__in=OPEN)
    newer = NightReport.objects.filter(
        casino=OuterRef("casino"), gaming_day=OuterRef("gaming_day"), currency=OuterRef("currency"),
        version__gt=OuterRef("version"),
    )  # fmt: skip
    unsigned = NightReport.objects.filter(state__in=(NightState.PROVISIONAL, NightState.REVIEWED))
    return {
        "open": open_cases,
        "late": open_cases.filter(case__deadline__lt=now),
        "closings": narrowed(proposed.closings(request), request),
        "corrections": narrowed(proposed.corrections(request), request),
        "sessions": narrowed(proposed.sessions(request), request),
        "orders": narrowed(proposed.orders(request), request),
        "listings": narrowed(proposed.listings(request), request),
        "entries": narrowed(proposed.entries(request), request),
        "accounts": proposed.accounts(request),
        "inbox": narrowed(
            scope_of(request, *WRITERS).rows(actions_of_others(officer_of(request), now), casino="case__casino"),
            request,
            "case__casino",
        ),
        "sightings": narrowed(
            scope_of(request, *WRITERS).rows(sightings.recent(Sighting.objects.all(), now), casino="listing__casino"),
            request,
            "listing__casino",
        ),
        "nights": in_record(unsigned.filter(~Exists(newer)), request),
    }


def _role(request: HttpRequest) -> str | Promise:
    """Return what the officer is, where it is the same everywhere."""
    officer = officer_of(request)
    if officer.is_superuser:
        return _("superuser")
    roles = set(officer.roles_by_casino.values())
    return Role(roles.pop()).label if len(roles) == 1 else _("several roles")
