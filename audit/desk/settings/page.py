"""*Settings*: the house, its machines, what it decides where the law is silent, and its officers, on one page.

A section shows what its own pages show: the rows and permissions are those of the section's admin. Nothing is changed
here; each button leads to the form that does it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django_otp.plugins.otp_totp.models import TOTPDevice

from audit import monitoring
from audit.access.capabilities import Capability
from audit.casework.undelivered import Undelivered, undelivered
from audit.desk.record.months import holds
from audit.desk.scoped_admin import scope_of
from audit.desk.settings.register_lines import entry_line
from audit.desk.settings.roles import roles_in_words
from audit.desk.settings.tables import table_lines
from audit.desk.settings.webhook_states import webhook_line
from audit.models import ApiKey, ArchivedMonth, Casino, KeyScope, NightRun, Officer, RequestState
from audit.presentation import count, date_time, day, duration, local, night_of

SHOWN = 12
"""Rows of a section on the page; its own page has all of them."""

NAMED = 2
"""Casinos of a role that the page names; of more it says how many. The list of officers has all of them."""

SOON = timedelta(days=14)
"""A key that expires within this time is marked."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The first rows of a section, how many there are in all, and whether the officer may add one.

    ``note`` says in words how many of all are to be looked at, "" if none.
    """

    shown: list[Any]
    total: int
    may_add: bool
    note: str = ""

    @property
    def words(self) -> str:
        """How many there are, and what is to be looked at among them: “12, 1 silent”."""
        return f"{count(self.total)}, {self.note}" if self.note else count(self.total)

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


@dataclass(frozen=True, slots=True)
class OfficerLine:
    """An officer who may sign in, with their roles in words."""

    officer: Officer
    roles: str
    has_second_factor: bool


@dataclass(frozen=True, slots=True)
class NightLine:
    """The reconciliation of a casino's nights: when the last ended, and its night with how long it took.

    Both are "" if there was none. ``error`` is why it failed, "" if it did not.
    """

    casino: Casino
    last: str
    night: str
    error: str


def settings_context(request: HttpRequest) -> Mapping[str, Any]:
    """Return the sections that the officer may open; empty if there is none."""
    sections: dict[str, Any] = {}
    now = timezone.now()
    for name, build in (
        ("casino", lambda rows: list(rows[:SHOWN])),
        ("gamingtable", lambda rows: table_lines(request, rows[:SHOWN])),
        ("apikey", lambda rows: [_key(each, now) for each in rows]),
        ("webhook", lambda rows: [webhook_line(each) for each in rows]),
        ("nightsubscriber", lambda rows: list(rows.select_related("casino", "officer").order_by("pk")[:SHOWN])),
        ("deadline", lambda rows: list(rows)),
        ("casecontacts", lambda rows: list(rows.select_related("casino", "deputy")[:SHOWN])),
        ("officer", lambda rows: _officers(rows[:SHOWN])),
    ):
        section = _admin(name)
        if not section.has_module_permission(request):
            continue
        rows = _of_section(name, section.get_queryset(request))
        lines = build(rows)
        note = _silent(request, rows) if name == "gamingtable" else _note(name, lines)
        shown = lines if name == "deadline" else lines[:SHOWN]
        sections[name] = Rows(shown, rows.count(), section.has_add_permission(request), note)
    if not sections:
        return {}
    return {
        "sections": sections,
        "nights": _nights(sections["casino"].shown if "casino" in sections else []),
        "register": _register(request),
        "undelivered": _undelivered(request) if "casecontacts" in sections else [],
        "video_days": settings.CABOCHON_VIDEO_DAYS,
        "quarantine_days": settings.CABOCHON_QUARANTINE_DAYS,
        "retention_years": settings.CABOCHON_RETENTION_YEARS,
        "archive": ArchivedMonth.objects.order_by("-month")[:SHOWN],
        "archived": ArchivedMonth.objects.count(),
        "holds": holds(request),
    }


def _silent(request: HttpRequest, rows: QuerySet[Any]) -> str:
    """Return how many of all tables are silent, as far as the officer sees their record, in words; "" if none is."""
    seen = scope_of(request, Capability.SEE_RECORD)
    keys = {key for key in rows.order_by().values_list("casino_id", "code") if seen.includes(key[0])}
    states = monitoring.tables({casino_id for casino_id, _code in keys}) if keys else []
    silent = sum(each.is_silent and (each.casino_id, each.table) in keys for each in states)
    words = ngettext("%(number)s silent", "%(number)s silent", silent) % {"number": count(silent)}
    return words if silent else ""


def _note(name: str, lines: Sequence[Any]) -> str:
    """Return how many of all rows of a section are to be looked at, in words; "" if none is."""
    match name:
        case "apikey":
            due = sum(line.state != "" for line in lines)
            words = ngettext("%(number)s to renew", "%(number)s to renew", due) % {"number": count(due)}
            return words if due else ""
        case "webhook":
            failing = sum(line.tag == "bad" for line in lines)
            words = ngettext("%(number)s failing", "%(number)s failing", failing) % {"number": count(failing)}
            return words if failing else ""
    return ""


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


def _officers(rows: QuerySet[Any]) -> list[OfficerLine]:
    """Return officers, their roles, and whether each has a second factor."""
    shown = list(rows)
    with_factor = TOTPDevice.objects.filter(user__in=shown, confirmed=True).values_list("user", flat=True)
    has_factor = {*with_factor} if shown else set()
    return [OfficerLine(each, _roles(each), each.pk in has_factor) for each in shown]


def _nights(casinos: Sequence[Casino]) -> list[NightLine]:
    """Return when the night of each casino is reconciled, and when that was done last: one query."""
    runs = NightRun.objects.filter(casino__in=casinos, ended_at__isnull=False)
    newest = {run.casino_id: run for run in runs.order_by("casino_id", "-started_at").distinct("casino_id")}
    return [_night(casino, newest.get(casino.pk)) for casino in casinos]


def _night(casino: Casino, run: NightRun | None) -> NightLine:
    if run is None or run.ended_at is None:
        return NightLine(casino, "", "", "")
    seconds = (run.ended_at - run.started_at).total_seconds()
    took = duration(seconds) if seconds >= 1 else gettext("under a second")
    night = f"{night_of(run.gaming_day)} " + f"· {took}".replace(" ", "\N{NO-BREAK SPACE}")
    return NightLine(casino, date_time(run.ended_at, casino), night, run.error)


def _roles(officer: Any) -> str:
    if officer.is_superuser:
        return gettext("superuser")
    return roles_in_words(officer, named=NAMED) or gettext("no role yet")


def _register(request: HttpRequest) -> dict[str, Any] | None:
    """Return how many entries of the register are approved and wait, and the newest; None for who may not read it."""
    section = _admin("registerentry")
    if not section.has_module_permission(request):
        return None
    rows = section.get_queryset(request)
    numbers = rows.aggregate(
        decided=Count("pk", filter=Q(state=RequestState.APPROVED)),
        waiting=Count("pk", filter=Q(state=RequestState.WAITING)),
    )
    shown = rows.filter(state__in=(RequestState.WAITING, RequestState.APPROVED)).order_by("-state", "-pk")[:SHOWN]
    waits = numbers["waiting"]
    return {
        **numbers,
        "words": count(numbers["decided"])
        + (
            ", " + ngettext("%(number)s waiting", "%(number)s waiting", waits) % {"number": count(waits)}
            if waits
            else ""
        ),
        "shown": [entry_line(each) for each in shown],
        "may_add": section.has_add_permission(request),
    }
