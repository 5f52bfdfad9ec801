"""The audit trail: what officers did at a casino's desk, day by day, as the event store has it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import filter_texts, list_response
from audit.desk.scoped_admin import demands, scope_of
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.exports.lists import FORMATS
from audit.exports.sheets import Column, Dated, Sheet
from audit.models import Casino
from audit.presentation import date_time
from audit.presentation import day as shown_day
from audit.transparency.kept_findings import ADJUDICATED, KEPT

MAX_ENTRIES = 2_000
"""Entries of one day on the page, the latest ones; the file has all."""


OF_THE_RECORD = (ADJUDICATED, KEPT)
"""Entries that nobody did: the roots of what was found."""

ISO_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
ISO_TIME = re.compile(ISO_DAY.pattern + r"T[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d)")
DIGEST = re.compile("[0-9a-f]{64}")
"""How data of an entry are recorded that the page writes as the desk does."""

FIRST_DAY = date(1990, 1, 1)
"""The first day that any stream of the record can be of; the last is today."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A day of one casino's audit trail. ``casino`` is None for the installation's own. ``actor`` and ``type`` are
    the filters, "" for none: a whole user name, and the beginning of an entry's type."""

    casinos: list[Casino]  # those that the officer may choose from
    casino: Casino | None
    day: date
    actor: str
    type: str

    @property
    def casino_id(self) -> int:
        return self.casino.pk if self.casino is not None else audit_trail.INSTALLATION

    def entries(self) -> list[AuditEntry]:
        """Return the entries of the day that the filters leave, the earliest first.

        What the record enters by itself about its findings is there for whoever filters for it.
        """
        return [
            entry
            for entry in audit_trail.entries_of(self.casino_id, self.day)
            if (not self.actor or entry.actor == self.actor)
            and entry.type.startswith(self.type)
            and (self.type or entry.type not in OF_THE_RECORD)
        ]


@demands(Capability.SEE_RECORD)
def day_view(request: HttpRequest) -> HttpResponse:
    """Show a day of a casino's audit trail: ``?casino=CODE&day=YYYY-MM-DD&actor=&type=``."""
    selection = _selection(request)
    entries = selection.entries()
    day = selection.day
    record_entry(request, "trail.viewed", casino_id=selection.casino_id, day=day.isoformat())
    context = {
        **admin.site.each_context(request),
        "title": _("Officers’ trail"),
        "selection": selection,
        "day_before": day - timedelta(days=1) if day > FIRST_DAY else None,
        "day_after": day + timedelta(days=1) if day < datetime.now(UTC).date() else None,
        "rows": _rows(entries[-MAX_ENTRIES:], selection.casino),
        "left_out": max(0, len(entries) - MAX_ENTRIES),
        "formats": list(FORMATS),
        "query": request.GET.urlencode(),
    }
    return TemplateResponse(request, "admin/audit/audit_trail/day.html", context)


@demands(Capability.SEE_RECORD)
def export_view(request: HttpRequest, format: str) -> HttpResponse:
    """Download the entries that the filters of the page leave. By POST, because the download is an entry itself."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    selection = _selection(request)
    day, casino_id = selection.day, selection.casino_id
    rows = [
        [
            entry.seq,
            _at(entry, selection.casino),
            entry.actor,
            entry.type,
            _about_in(format, entry, selection.casino),
            entry.reason,
        ]
        for entry in selection.entries()
    ]
    record_entry(request, "trail.exported", casino_id=casino_id, day=day.isoformat(), form=format, rows=len(rows))
    names = (_("seq"), _("at"), _("officer"), _("action"), _("about"), _("reason"))
    sheet = Sheet("trail", [Column(name) for name in names], rows)
    return list_response(sheet, format, title=_("Officers’ trail"), filters=filter_texts(request.GET), day=day)


def _selection(request: HttpRequest) -> Selection:
    """Return what the request asks for: by default the first of the officer's casinos, today."""
    casinos = list(scope_of(request, Capability.SEE_RECORD).casinos())
    casino = next((each for each in casinos if each.code == request.GET.get("casino")), casinos[0] if casinos else None)
    today = datetime.now(UTC).date()
    try:
        day = min(max(date.fromisoformat(request.GET.get("day", "")), FIRST_DAY), today)
    except ValueError:
        day = today
    actor, type = (request.GET.get(name, "").strip() for name in ("actor", "type"))
    return Selection(casinos, casino, day, actor, type)


def _rows(entries: Iterable[AuditEntry], casino: Casino | None) -> SafeString:
    """Return the rows of the page. There are up to two thousand, and a template takes its time for each."""
    return mark_safe("\n".join(_row(entry, casino) for entry in entries))


def _row(entry: AuditEntry, casino: Casino | None) -> str:
    at, about = date_time(entry.at, casino, seconds=True), escape(_about(entry, casino, is_short=True))
    return (
        f'<tr><td class="number">{entry.seq}</td><td><time datetime="{entry.at.isoformat()}">{escape(at)}</time></td>'
        f"<td>{escape(entry.actor)}</td><td><code>{escape(entry.type)}</code></td>"
        f'<td class="about">{about}</td><td class="about">{escape(entry.reason)}</td></tr>'
    )


def _at(entry: AuditEntry, casino: Casino | None) -> Dated:
    """Return when an entry was recorded, by the casino’s clock; in UTC in the installation's own trail."""
    return Dated(date_time(entry.at, casino, seconds=True, with_year=True), entry.at.isoformat())


def _about_in(format: str, entry: AuditEntry, casino: Casino | None) -> str:
    """Return what an entry is about as a file has it: to a machine, as it was recorded."""
    if format == "json":
        return " · ".join(f"{name} {_recorded(value)}" for name, value in _named(entry))
    return _about(entry, casino)


def _about(entry: AuditEntry, casino: Casino | None, *, is_short: bool = False) -> str:
    """Return what an entry is about: its data by name, days and times as the desk writes them.

    ``is_short``: of a digest its ends, as on a page; a file has it whole.
    """
    return " · ".join(
        f"{name.replace('_', ' ')} {_text(value, casino, is_short=is_short)}" for name, value in _named(entry)
    )


def _named(entry: AuditEntry) -> Iterable[tuple[str, Any]]:
    return ((name, value) for name, value in sorted(entry.data.items()) if value not in ("", []))


def _recorded(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _text(value: Any, casino: Casino | None, *, is_short: bool) -> str:
    if isinstance(value, list):
        return ", ".join(_text(each, casino, is_short=is_short) for each in value)
    text = str(value)
    if ISO_DAY.fullmatch(text):
        return shown_day(date.fromisoformat(text))
    if ISO_TIME.fullmatch(text):
        return date_time(datetime.fromisoformat(text), casino)
    return f"{text[:8]}…{text[-4:]}" if is_short and DIGEST.fullmatch(text) else text
