"""The audit trail: what officers did at a casino's desk, day by day, as the event store has it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.utils.formats import number_format
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from audit.access.capabilities import Capability
from audit.desk.audit_trail import words
from audit.desk.audited_admin import record_entry
from audit.desk.downloads import filter_texts, list_response
from audit.desk.scoped_admin import chosen_casino, demands, scope_of
from audit.event_store import audit_trail
from audit.event_store.audit_trail import AuditEntry
from audit.exports.lists import FORMATS
from audit.exports.sheets import Column, Dated, Sheet
from audit.models import Casino, LoggedStream, Officer
from audit.presentation import count, date_time, labelled, money, month_of, officer_name
from audit.presentation import day as shown_day
from audit.transparency.kept_findings import ADJUDICATED, KEPT

PER_PAGE = 200
"""Entries on a page, the latest ones first shown; the file has all of the day."""


OF_THE_RECORD = (ADJUDICATED, KEPT)
"""Entries that nobody did: the roots of what was found."""

ISO_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
ISO_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
ISO_TIME = re.compile(ISO_DAY.pattern + r"T[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d)")
ISO_CLOCK = re.compile(r"(\d\d:\d\d):00")
DECIMAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,6})?")
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

    def left_out(self, of_day: Iterable[AuditEntry]) -> int:
        """Return how many entries the record has made by itself, and the page leaves out unasked."""
        if self.type or self.actor:
            return 0
        return sum(entry.type in OF_THE_RECORD for entry in of_day)


@dataclass(frozen=True, slots=True)
class Wording:
    """How entries are written: times by the clock of ``casino``, in UTC if it is None; officers as ``names`` has them.

    ``is_short``: as on a page, a digest by its ends, nothing twice; a file has all that was recorded.
    """

    casino: Casino | None
    names: Mapping[str, str]
    is_short: bool = False


@demands(Capability.SEE_RECORD)
def day_view(request: HttpRequest) -> HttpResponse:
    """Show a day of a casino's audit trail: ``?casino=CODE&day=YYYY-MM-DD&actor=&type=``."""
    selection = _selection(request)
    of_day = selection.whole_day()
    entries, day = selection.entries(of_day), selection.day
    start, stop = _part(entries, request.GET.get("before", ""))
    shown = with_currencies(entries[start:stop], selection.casino)
    actors = {entry.actor for entry in of_day if entry.type not in OF_THE_RECORD} | ({selection.actor} - {""})
    names = _names(shown, actors)
    record_entry(request, "trail.viewed", casino_id=selection.casino_id, day=day.isoformat())
    context = {
        **admin.site.each_context(request),
        "title": _("Officers’ trail"),
        "selection": selection,
        "actors": _actors(actors, names),
        "subjects": _subjects(selection),
        "day_before": day - timedelta(days=1) if day > FIRST_DAY else None,
        "day_after": day + timedelta(days=1) if day < datetime.now(UTC).date() else None,
        "rows": _rows(shown, Wording(selection.casino, names, is_short=True)),
        "left_out": selection.left_out(of_day),
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
    wording = Wording(selection.casino, {} if is_read_by_machines else _names(entries, ()))
    rows = [
        [
            entry.seq,
            _at(entry, selection.casino),
            entry.actor if is_read_by_machines else words.actor_name(entry.actor, wording.names),
            entry.type if is_read_by_machines else words.action(entry.type),
            _about_in(format, entry, wording),
            entry.reason,
        ]
        for entry in (entries if format == "json" else with_currencies(entries, selection.casino))
    ]
    record_entry(request, "trail.exported", casino_id=casino_id, day=day.isoformat(), form=format, rows=len(rows))
    names = (_("seq"), _("at"), _("officer"), _("action"), _("about"), _("reason"))
    sheet = Sheet("trail", [Column(name) for name in names], rows)
    return list_response(sheet, format, title=_("Officers’ trail"), filters=filter_texts(request.GET), day=day)


def _selection(request: HttpRequest) -> Selection:
    """Return what the request asks for: by default today, of the chosen casino or the one with the newest entries."""
    casinos = list(scope_of(request, Capability.SEE_RECORD).casinos())
    named = next((each for each in casinos if each.code == request.GET.get("casino")), None)
    casino = named or _newest_of(request, casinos)
    today = datetime.now(UTC).date()
    try:
        day = min(max(date.fromisoformat(request.GET.get("day", "")), FIRST_DAY), today)
    except ValueError:
        day = today
    actor, type = (request.GET.get(name, "").strip() for name in ("actor", "type"))
    return Selection(casinos, casino, day, actor, type)


def _newest_of(request: HttpRequest, casinos: Sequence[Casino]) -> Casino | None:
    """Return the casino that the officer has chosen for lists, or else that of the newest entries; None for none."""
    by_id = {each.pk: each for each in casinos}
    chosen = by_id.get(chosen_casino(request) or 0)
    if chosen is not None or not casinos:
        return chosen
    trails = LoggedStream.objects.filter(is_of_desk=True, casino__in=by_id).order_by("-gaming_day", "-opened_at")
    newest = trails.values_list("casino_id", flat=True).first()
    return by_id.get(newest or 0, casinos[0])


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


def _actors(actors: Iterable[str], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return those whom the page can be narrowed to, each with the name that is shown."""
    return sorted(((actor, words.actor_name(actor, names)) for actor in actors), key=lambda each: each[1].casefold())


def _names(entries: Iterable[AuditEntry], actors: Iterable[str]) -> dict[str, str]:
    """Return the names of the officers who are in entries, and of ``actors``, by user name: one query.

    Where two have the same name, the user name stands beside it.
    """
    accounts = set(actors)
    for entry in entries:
        accounts.add(entry.actor)
        for datum, value in entry.data.items():
            if words.names_officers(entry.type, datum):
                accounts.update(map(str, value) if isinstance(value, list) else [str(value)])
    known = [account for account in accounts if "\0" not in account]  # no text of the database has that
    found = Officer.objects.filter(username__in=known).only("username", "first_name", "last_name")
    names = {each.get_username(): officer_name(each) for each in found}
    alike = Counter(names.values())
    return {account: name if alike[name] == 1 else f"{name} ({account})" for account, name in names.items()}


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


def _rows(entries: Iterable[AuditEntry], wording: Wording) -> SafeString:
    """Return the rows of the page. There are up to two thousand, and a template takes its time for each."""
    return mark_safe("\n".join(_row(entry, wording) for entry in entries))


def _row(entry: AuditEntry, wording: Wording) -> str:
    at, about = date_time(entry.at, wording.casino, seconds=True), escape(_about(entry, wording))
    who = words.actor_name(entry.actor, wording.names)
    account = f' title="{escape(entry.actor)}"' if entry.actor in wording.names and who != entry.actor else ""
    return (
        f'<tr><td class="number">{entry.seq}</td><td><time datetime="{entry.at.isoformat()}">{escape(at)}</time></td>'
        f"<td{account}>{escape(who)}</td>"
        f'<td title="{escape(entry.type)}">{escape(words.action(entry.type))}</td>'
        f'<td class="about">{about}</td><td class="about">{escape(entry.reason)}</td></tr>'
    )


def _at(entry: AuditEntry, casino: Casino | None) -> Dated:
    """Return when an entry was recorded, by the casino’s clock; in UTC in the installation's own trail."""
    return Dated(date_time(entry.at, casino, seconds=True, with_year=True), entry.at.isoformat())


def _about_in(format: str, entry: AuditEntry, wording: Wording) -> str:
    """Return what an entry is about as a file has it: to a machine, as it was recorded."""
    if format == "json":
        return " · ".join(f"{name} {_recorded(value)}" for name, value in sorted(words.in_order(entry.data)))
    return _about(entry, wording)


def _about(entry: AuditEntry, wording: Wording) -> str:
    """Return what an entry is about: its data by name, days, times, numbers and codes as the desk writes them."""
    data = dict(entry.data)
    if data.get("currency") and isinstance(data.get("amount"), int):
        data["amount"] = money(data["amount"], data.pop("currency"))
    if wording.is_short:
        if any(data.get(each) for each in words.IDENTIFIES):
            data.pop("id", None)
        if data.get("named") in (data.get("name"), data.get("code")):
            data.pop("named", None)
    return " · ".join(
        labelled(words.name(entry.type, name), _text(entry.type, name, value, wording))
        for name, value in words.in_order(data)
    )


def _recorded(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _text(type: str, name: str, value: Any, wording: Wording) -> str:
    match value:
        case list():
            return ", ".join(_text(type, name, each, wording) for each in value)
        case dict():
            return ", ".join(f"{words.code(type, name, each)} {decided}" for each, decided in sorted(value.items()))
        case bool():
            return words.code(type, "active", str(int(value)))
    text = str(value)
    if words.names_officers(type, name):
        return wording.names.get(text, text)
    return _instant(text, wording.casino) or _figure(name, text, wording) or words.code(type, name, text)


def _instant(text: str, casino: Casino | None) -> str:
    """Return a day, a month or a time as the desk writes it; "" for anything else."""
    if ISO_DAY.fullmatch(text):
        return shown_day(date.fromisoformat(text))
    if month := ISO_MONTH.fullmatch(text):
        return month_of(date(int(month[1]), int(month[2]), 1))
    if ISO_TIME.fullmatch(text):
        return date_time(datetime.fromisoformat(text), casino)
    clock = ISO_CLOCK.fullmatch(text)
    return clock[1] if clock else ""


def _figure(name: str, text: str, wording: Wording) -> str:
    """Return a number in the language of the page, or the ends of a digest; "" for anything else."""
    if name in words.NUMBERS and DECIMAL.fullmatch(text):
        return number_format(Decimal(text), force_grouping=True)
    return f"{text[:8]}…{text[-4:]}" if wording.is_short and DIGEST.fullmatch(text) else ""
