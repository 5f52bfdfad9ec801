"""The months of the record, and where the events of each are: here, in the archive, or destroyed after the retention.

Cabochon makes no backup and sees none. It knows of a restore by the record alone: a log that is not the one that was
signed, and the epochs that officers opened after a loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.db.models import Min
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from audit import monitoring
from audit.access.capabilities import Capability
from audit.archive.conditions import first_of_next
from audit.casework.holds import held, hold_of
from audit.charts.spark import draw_column
from audit.desk.scoped_admin import scope_of
from audit.models import ArchivedMonth, ArchiveState, Case, LogEpoch
from audit.presentation import count, date_time, month_of
from audit.presentation import day as written_day

SHOWN = 14
"""Months that are drawn."""

LISTED = 12
"""Archived months, and cases that are held, in the lists."""


@dataclass(frozen=True, slots=True)
class MonthLine:
    """A month as it is drawn. ``state`` is "live" before its end, "" while it is in the database, or an archive's."""

    title: str
    drawing: SafeString
    events: str
    state: str
    words: str


@dataclass(frozen=True, slots=True)
class ArchivedLine:
    """A month that was archived: where its events are, and from which day on two officers may destroy the file."""

    title: str
    state: str
    words: str
    where: str
    events: str
    since: str
    destroyable: str


def months_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the record shows of its months, of legal holds and of restores."""
    casino_ids = scope_of(request, Capability.SEE_RECORD).casino_ids
    rows = list(ArchivedMonth.objects.order_by("-month").defer("note", "destruction_note"))
    states = {row.month: row.state for row in rows}
    return {
        "months": _months(monitoring.months(casino_ids, limit=SHOWN), states),
        "archived": [_archived(row) for row in rows[:LISTED]],
        "number_archived": count(len(states)) if states else "",
        "retention_years": settings.CABOCHON_RETENTION_YEARS,
        "holds": holds(request),
        "export_targets": count(len(settings.CABOCHON_CHECKPOINTS)),
        "last_epoch": _last_epoch(),
    }


def holds(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the cases that are held, of casinos whose record the officer sees: case, hold, address of the finding."""
    cases = held(scope_of(request, Capability.SEE_RECORD).rows(Case.objects.order_by("pk")))
    return [
        {"case": each, "hold": hold_of(each), "address": reverse("admin:audit_finding_change", args=[each.finding])}
        for each in cases.annotate(finding=Min("findings"))[:LISTED]
        if each.finding is not None
    ]


def _months(found: list[monitoring.MonthOfStreams], states: Mapping[date, str]) -> list[MonthLine]:
    most = max((month.events for month in found), default=0)
    return [_month(month, most, states.get(month.first, "")) for month in found]


def _month(month: monitoring.MonthOfStreams, most: int, archive_state: str) -> MonthLine:
    is_over = first_of_next(month.first) <= timezone.now().date()
    words = (
        str(ArchiveState(archive_state).label)
        if archive_state
        else gettext("in the database")
        if is_over
        else gettext("in progress")
    )
    title, events = month_of(month.first), _events(month.events)
    drawing = mark_safe(draw_column(month.events, most, title=title, description=f"{events}, {words}"))  # our own
    return MonthLine(title, drawing, count(month.events), archive_state or ("" if is_over else "live"), words)


def _archived(row: ArchivedMonth) -> ArchivedLine:
    after = first_of_next(row.month)
    from_day = date(after.year + settings.CABOCHON_RETENTION_YEARS, after.month, 1)
    if row.state == ArchiveState.DESTROYED:
        since, destroyable = row.destroyed_at, ""
        where = gettext("entry %(seq)s of %(stream)s") % {"seq": count(row.entry_seq), "stream": row.entry_stream}
    else:
        since, destroyable = row.archived_at, written_day(from_day, with_year=True)
        where = row.file
    return ArchivedLine(
        month_of(row.month),
        row.state,
        str(ArchiveState(row.state).label),
        where,
        count(row.events),
        date_time(since, None) if since is not None else "",
        destroyable,
    )


def _last_epoch() -> dict[str, str] | None:
    """Return when the log was recovered last, and how many signed batches were lost then; None if it never was."""
    epoch = LogEpoch.objects.defer("note").order_by("-number").first()
    if epoch is None:
        return None
    lost = max(0, epoch.signed_size - epoch.forked_at)
    return {
        "at": date_time(epoch.opened_at, None),
        "lost": ngettext("%(number)s batch lost", "%(number)s batches lost", lost) % {"number": count(lost)},
        "entry": gettext("entry %(seq)s of %(stream)s") % {"seq": count(epoch.entry_seq), "stream": epoch.entry_stream},
    }


def _events(number: int) -> str:
    return ngettext("%(number)s event", "%(number)s events", number) % {"number": count(number)}
