"""*Settings*: the house, its machines, what it decides where the law is silent, and its officers, on one page.

What a section shows, and to whom, is what its own pages show: the rows and permissions are those of the section's
admin. Nothing is changed here; each button leads to the form that does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Min, Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from audit.access.capabilities import Capability
from audit.casework.holds import held, hold_of
from audit.casework.undelivered import Undelivered, undelivered
from audit.desk.scoped_admin import scope_of
from audit.desk.settings.tables import table_lines
from audit.desk.settings.webhook_states import webhook_line
from audit.models import ApiKey, ArchivedMonth, Case, Casino, KeyScope, RequestState, Role
from audit.presentation import count, date_time, day, local

SHOWN = 12
"""Rows of a section on the page; its own page has all of them."""

SOON = timedelta(days=14)
"""A key that expires within this time is marked."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The first rows of a section, how many there are in all, and whether the officer may add one."""

    shown: list[Any]
    total: int
    may_add: bool

    @property
    def has_more(self) -> bool:
        return self.total > len(self.shown)


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key that is not revoked, in words. ``state`` is the tag of its expiry: "", "warn" or "bad"."""

    key: ApiKey
    may: str
    tables: str
    last_used: str
    expires: str
    state: str


def settings_context(request: HttpRequest) -> Mapping[str, Any]:
    """Return the sections that the officer may open; empty if there is none."""
    sections: dict[str, Any] = {}
    now = timezone.now()
    for name, build in (
        ("casino", lambda rows: list(rows[:SHOWN])),
        ("gamingtable", lambda rows: table_lines(request, rows[:SHOWN])),
        ("apikey", lambda rows: [_key(each, now) for each in rows[:SHOWN]]),
        ("webhook", lambda rows: [webhook_line(each) for each in rows[:SHOWN]]),
        ("nightsubscriber", lambda rows: list(rows.select_related("casino", "officer").order_by("pk")[:SHOWN])),
        ("deadline", lambda rows: list(rows)),
        ("casecontacts", lambda rows: list(rows.select_related("casino", "deputy")[:SHOWN])),
        ("officer", lambda rows: [(each, _roles(each)) for each in rows.filter(is_active=True)[:SHOWN]]),
    ):
        section = _admin(name)
        if not section.has_module_permission(request):
            continue
        rows = _of_section(name, section.get_queryset(request))
        sections[name] = Rows(build(rows), rows.count(), section.has_add_permission(request))
    if not sections:
        return {}
    return {
        "sections": sections,
        "register": _register(request),
        "undelivered": _undelivered(request) if "casecontacts" in sections else [],
        "video_days": settings.CABOCHON_VIDEO_DAYS,
        "quarantine_days": settings.CABOCHON_QUARANTINE_DAYS,
        "retention_years": settings.CABOCHON_RETENTION_YEARS,
        "archive": ArchivedMonth.objects.order_by("-month")[:SHOWN],
        "holds": _holds(request),
    }


def _holds(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the cases that are held, of casinos whose record the officer sees: case, hold, address of the finding."""
    cases = held(scope_of(request, Capability.SEE_RECORD).rows(Case.objects.order_by("pk")))
    found = cases.annotate(finding=Min("findings"))[:SHOWN]
    return [
        {"case": each, "hold": hold_of(each), "address": reverse("admin:audit_finding_change", args=[each.finding])}
        for each in found
        if each.finding is not None
    ]


def _undelivered(request: HttpRequest) -> list[tuple[Casino, list[Undelivered]]]:
    """Return whom messages about cases do not reach, casino by casino, at those whose contacts the officer keeps."""
    casinos = {each.pk: each for each in scope_of(request, Capability.KEEP_EQUIPMENT).casinos().order_by("code")}
    found = undelivered(casinos)
    return [(casino, found[pk]) for pk, casino in casinos.items() if pk in found]


def _admin(model_name: str) -> Any:
    return next(each for model, each in admin.site._registry.items() if model._meta.model_name == model_name)


def _of_section(name: str, rows: QuerySet[Model]) -> QuerySet[Model]:
    """Return the rows of a section that the page counts and shows: of keys those that still open something."""
    match name:
        case "apikey":
            return rows.filter(revoked_at=None).select_related("casino").prefetch_related("tables")
        case "gamingtable":
            return rows.select_related("casino").order_by("casino__code", "code")
        case "officer":
            return rows.filter(is_active=True)
        case _:
            return rows


def _key(key: ApiKey, now: datetime) -> KeyLine:
    scopes = ", ".join(str(KeyScope(scope).label) for scope in key.scopes)
    tables = ", ".join(sorted(table.code for table in key.tables.all())) or gettext("every table")
    used = date_time(key.last_used_at, key.casino) if key.last_used_at else gettext("never")
    text, state = _expiry(key, now)
    return KeyLine(key, scopes, tables, used, text, state)


def _expiry(key: ApiKey, now: datetime) -> tuple[str, str]:
    if key.expires_at is None:
        return gettext("never"), ""
    left = key.expires_at - now
    if left <= timedelta():
        return gettext("expired"), "bad"
    if left > SOON:
        return day(local(key.expires_at, key.casino).date(), with_year=True), ""
    if left.days < 1:
        return date_time(key.expires_at, key.casino), "warn"
    return ngettext("in %(count)s day", "in %(count)s days", left.days) % {"count": count(left.days)}, "warn"


def _roles(officer: Any) -> str:
    if officer.is_superuser:
        return gettext("superuser")
    found = [(Role(each.role).label, each.casino) for each in officer.memberships.all()]
    return ", ".join(f"{role} ({casino.code})" for role, casino in found) or gettext("no role yet")


def _register(request: HttpRequest) -> dict[str, Any] | None:
    """Return how many entries of the register are in force and wait; None for who may not read it."""
    section = _admin("registerentry")
    if not section.has_module_permission(request):
        return None
    rows = section.get_queryset(request)
    return {
        "decided": rows.filter(state=RequestState.APPROVED).count(),
        "waiting": rows.filter(state=RequestState.WAITING).count(),
        "may_add": section.has_add_permission(request),
    }
