"""The officers' trail: what was done at the desk, day by day, as the log has it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _

from audit.desk.audited_admin import record_act
from audit.desk.downloads import handed_out, words_of
from audit.desk.record_admin import officer_of
from audit.event_store import audit_trail
from audit.event_store.audit_trail import Act
from audit.exports.files import FORMS
from audit.models import Casino
from audit.models.officers import READERS
from audit.reconciliation.sheets import Column, Sheet

SHOWN = 2_000
"""Acts of one day on a page; the file has all."""


def urls() -> list[URLPattern]:
    guarded = admin.site.admin_view
    return [
        path("trail/", guarded(page), name="audit_trail"),
        path("trail/export/<slug:form>/", guarded(export), name="audit_trail_export"),
    ]


def page(request: HttpRequest) -> HttpResponse:
    """Show the acts of a day at a house: ``?casino=CODE&day=YYYY-MM-DD&actor=&type=``."""
    casinos, casino, day, found = _asked(request)
    record_act(request, "trail.viewed", casino_id=_place(casino), day=day.isoformat())
    context = {
        **admin.site.each_context(request),
        "title": _("Audit trail"),
        "houses": casinos,
        "casino": casino,
        "day": day,
        "before": day - timedelta(days=1),
        "after": day + timedelta(days=1) if day < datetime.now(UTC).date() else None,
        "actor": request.GET.get("actor", ""),
        "type": request.GET.get("type", ""),
        "acts": [{"act": act, "about": _about(act)} for act in found[-SHOWN:]],
        "left_off": max(0, len(found) - SHOWN),
        "forms": list(FORMS),
        "query": request.GET.urlencode(),
    }
    return TemplateResponse(request, "admin/audit/audit_trail.html", context)


def export(request: HttpRequest, form: str) -> HttpResponse:
    """Hand out the acts of a day, as the page's filter leaves them."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    _casinos, casino, day, found = _asked(request)
    columns = [Column(_(name)) for name in ("seq", "at", "officer", "act", "about", "reason")]
    rows = [[act.seq, act.at.isoformat(), act.actor, act.type, _about(act), act.reason] for act in found]
    said = words_of(request.GET)
    record_act(request, "trail.exported", casino_id=_place(casino), day=day.isoformat(), form=form, rows=len(rows))
    return handed_out(Sheet("trail", columns, rows), form, title=_("Audit trail"), said=said, day=day)


def _asked(request: HttpRequest) -> tuple[list[Casino], Casino | None, date, list[Act]]:
    """Return the houses to choose from, the one chosen, the day, and its acts. Raise 403 for who sees no record."""
    officer = officer_of(request)
    casinos = list(officer.casinos_with_role(*READERS).order_by("code"))
    if not casinos and not officer.is_superuser:
        raise PermissionDenied
    casino = next((each for each in casinos if each.code == request.GET.get("casino")), casinos[0] if casinos else None)
    try:
        day = date.fromisoformat(request.GET.get("day", ""))
    except ValueError:
        day = datetime.now(UTC).date()
    actor, type = request.GET.get("actor", "").strip(), request.GET.get("type", "").strip()
    found = [
        act
        for act in audit_trail.acts_of(_place(casino), day)
        if (not actor or act.actor == actor) and (not type or act.type.startswith(type))
    ]
    return casinos, casino, day, found


def _place(casino: Casino | None) -> int:
    return casino.pk if casino is not None else audit_trail.INSTALLATION


def _about(act: Act) -> str:
    """Return what an act was done to, as it was recorded."""
    return " · ".join(f"{name} {_written(value)}" for name, value in sorted(act.data.items()) if value not in ("", []))


def _written(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
