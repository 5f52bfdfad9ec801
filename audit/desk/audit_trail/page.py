"""The audit trail: what officers did at a casino's desk, day by day, as the event store has it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk.audit_trail import words
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import filter_texts, list_response
from audit.desk.scoped_admin import demands, scope_of
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.exports.lists import FORMATS
from audit.exports.sheets import Column, Dated, Sheet
from audit.models import Casino, LoggedStream
from audit.presentation import count, date_time, labelled, money, month_of
from audit.presentation import day as shown_day
from audit.transparency.kept_findings import ADJUDICATED, KEPT

PER_PAGE = 200
"""Entries on a page, the latest ones first shown; the file has all of the day."""


OF_THE_RECORD = (ADJUDICATED, KEPT)
"""Entries that nobody did: the roots of what was found."""

ISO_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
ISO_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
ISO_TIME = re.compile(ISO_DAY.pattern + r"T[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d)")
SEQ = re.compile(r"[0-9]{1,18}")
DIGEST = re.compile("[0-9a-f]{64}")
"""How data of an entry are recorded that the page writes as the desk does."""

FOR_MACHINES = ("csv", "json")
"""The files that have actors and actions as they were recorded; the others have their words."""

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

    def whole_day(self) -> list[AuditEntry]:
        """Return every entry of the day, the earliest first."""
        return list(audit_trail.entries_of(self.casino_id, self.day))

    def entries(self, of_day: Iterable[AuditEntry]) -> list[AuditEntry]:
        """Return those entries of the day that the filters leave.

        What the record enters by itself about its findings is there for whoever filters for it.
        """
        return [
            entry
            for entry in of_day
            if (not self.actor or entry.actor == self.actor)
            and entry.type.startswith(self.type)
            and (self.type or entry.type not in OF_THE_RECORD)
        ]


@demands(Capability.SEE_RECORD)
def day_view(request: HttpRequest) -> HttpResponse:
    """Show a day of a casino's audit trail: ``?casino=CODE&day=YYYY-MM-DD&actor=&type=``."""
    selection = _selection(request)
    of_day = selection.whole_day()
    entries, day = selection.entries(of_day), selection.day
    start, stop = _part(entries, request.GET.get("before", ""))
    record_entry(request, "trail.viewed", casino_id=selection.casino_id, day=day.isoformat())
    context = {
        **admin.site.each_context(request),
        "title": _("Officers’ trail"),
        "selection": selection,
        "actors": _actors(selection, of_day),
        "subjects": _subjects(selection),
        "day_before": day - timedelta(days=1) if day > FIRST_DAY else None,
        "day_after": day + timedelta(days=1) if day < datetime.now(UTC).date() else None,
        "rows": _rows(with_currencies(entries[start:stop], selection.casino), selection.casino),
        "pages": _pages(request, entries, start, stop) if len(entries) > PER_PAGE else None,
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
    is_read_by_machines = format in FOR_MACHINES
    entries = selection.entries(selection.whole_day())
    rows = [
        [
            entry.seq,
            _at(entry, selection.casino),
            entry.actor if is_read_by_machines else words.actor_name(entry.actor),
            entry.type if is_read_by_machines else words.action(entry.type),
            _about_in(format, entry, selection.casino),
            entry.reason,
        ]
        for entry in (entries if format == "json" else with_currencies(entries, selection.casino))
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


def _part(entries: Sequence[AuditEntry], before: str) -> tuple[int, int]:
    """Return which of the day's entries are on the page: the last of those before the entry of that number."""
    stop = len(entries)
    if SEQ.fullmatch(before):
        stop = bisect_left(entries, int(before), key=lambda entry: entry.seq)
    return max(0, stop - PER_PAGE), stop


def _pages(request: HttpRequest, entries: Sequence[AuditEntry], start: int, stop: int) -> dict[str, Any]:
    """Return which part of the day's entries is shown, in words, and where those before and after it are."""
    shown = {"first": count(min(start + 1, stop)), "last": count(stop), "number": count(len(entries))}
    later = min(len(entries), stop + PER_PAGE)
    return {
        "words": _("Entries %(first)s to %(last)s of %(number)s") % shown,
        "earlier": _address(request, entries[start].seq) if start else "",
        "later": _address(request, entries[later].seq if later < len(entries) else None) if stop < later else "",
    }


def _address(request: HttpRequest, before: int | None) -> str:
    query = request.GET.copy()
    query.pop("before", None)
    if before is not None:
        query["before"] = str(before)
    return f"?{query.urlencode()}"


def _actors(selection: Selection, of_day: Iterable[AuditEntry]) -> list[tuple[str, str]]:
    """Return who is in the trail of the day, and whom the page is narrowed to: each with the name that is shown."""
    found = {entry.actor for entry in of_day if entry.type not in OF_THE_RECORD} | ({selection.actor} - {""})
    return sorted(((actor, words.actor_name(actor)) for actor in found), key=lambda each: each[1].casefold())


def _subjects(selection: Selection) -> list[tuple[str, str]]:
    """Return what the page can be narrowed to, and what an address alone has narrowed it to."""
    known = [(prefix, str(title)) for prefix, title in words.SUBJECTS.items()]
    if selection.type and selection.type not in words.SUBJECTS:
        known.insert(0, (selection.type, capfirst(words.action(selection.type))))
    return known


def with_currencies(entries: Iterable[AuditEntry], casino: Casino | None) -> list[AuditEntry]:
    """Return the entries, each amount with the currency of its stream where an older version recorded none."""
    found = list(entries)
    streams = {entry.data.get("stream") for entry in found if _lacks_currency(entry)}
    if not streams:
        return found
    of_streams = dict(LoggedStream.objects.filter(casino=casino, name__in=streams).values_list("name", "currency"))
    return [
        replace(entry, data={**entry.data, "currency": of_streams.get(str(entry.data.get("stream")), "")})
        if _lacks_currency(entry)
        else entry
        for entry in found
    ]


def _lacks_currency(entry: AuditEntry) -> bool:
    return "amount" in entry.data and "currency" not in entry.data


def _rows(entries: Iterable[AuditEntry], casino: Casino | None) -> SafeString:
    """Return the rows of the page. There are up to two thousand, and a template takes its time for each."""
    return mark_safe("\n".join(_row(entry, casino) for entry in entries))


def _row(entry: AuditEntry, casino: Casino | None) -> str:
    at, about = date_time(entry.at, casino, seconds=True), escape(_about(entry, casino, is_short=True))
    return (
        f'<tr><td class="number">{entry.seq}</td><td><time datetime="{entry.at.isoformat()}">{escape(at)}</time></td>'
        f"<td>{escape(words.actor_name(entry.actor))}</td>"
        f'<td title="{escape(entry.type)}">{escape(words.action(entry.type))}</td>'
        f'<td class="about">{about}</td><td class="about">{escape(entry.reason)}</td></tr>'
    )


def _at(entry: AuditEntry, casino: Casino | None) -> Dated:
    """Return when an entry was recorded, by the casino’s clock; in UTC in the installation's own trail."""
    return Dated(date_time(entry.at, casino, seconds=True, with_year=True), entry.at.isoformat())


def _about_in(format: str, entry: AuditEntry, casino: Casino | None) -> str:
    """Return what an entry is about as a file has it: to a machine, as it was recorded."""
    if format == "json":
        return " · ".join(f"{name} {_recorded(value)}" for name, value in sorted(words.in_order(entry.data)))
    return _about(entry, casino)


def _about(entry: AuditEntry, casino: Casino | None, *, is_short: bool = False) -> str:
    """Return what an entry is about: its data by name, days, times and codes as the desk writes them.

    ``is_short``: of a digest its ends, as on a page; a file has it whole.
    """
    data = entry.data
    if data.get("currency") and isinstance(data.get("amount"), int):
        data = {name: value for name, value in data.items() if name != "currency"}
        data["amount"] = money(entry.data["amount"], entry.data["currency"])
    return " · ".join(
        labelled(words.name(entry.type, name), _text(entry.type, name, value, casino, is_short=is_short))
        for name, value in words.in_order(data)
    )


def _recorded(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _text(type: str, name: str, value: Any, casino: Casino | None, *, is_short: bool) -> str:
    match value:
        case list():
            return ", ".join(_text(type, name, each, casino, is_short=is_short) for each in value)
        case dict():
            return ", ".join(f"{words.code(type, name, each)} {decided}" for each, decided in sorted(value.items()))
        case bool():
            return words.code(type, "active", str(int(value)))
    text = str(value)
    if ISO_DAY.fullmatch(text):
        return shown_day(date.fromisoformat(text))
    if month := ISO_MONTH.fullmatch(text):
        return month_of(date(int(month[1]), int(month[2]), 1))
    if ISO_TIME.fullmatch(text):
        return date_time(datetime.fromisoformat(text), casino)
    if is_short and DIGEST.fullmatch(text):
        return f"{text[:8]}…{text[-4:]}"
    return words.code(type, name, text)
