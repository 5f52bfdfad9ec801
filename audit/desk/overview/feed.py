"""The feed of the tables: what came of each in the last two hours, and whether it is silent."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from audit import monitoring
from audit.charts.spark import draw_spark
from audit.presentation import duration

MAX_TABLES = 24
"""Tables shown, those that are silent first; the state of the record has them all."""


@dataclass(frozen=True, slots=True)
class Feed:
    """One table. ``kind`` is "silent", "shut", or "" for one that sends."""

    table: str
    address: str
    drawing: SafeString
    words: str
    kind: str


def feeds(casino_ids: Collection[int] | None) -> list[Feed]:
    """Return the tables of casinos, None for all: two queries."""
    return feeds_of(monitoring.tables(casino_ids))


def feeds_of(tables: Iterable[monitoring.TableState]) -> list[Feed]:
    """Return the feeds of those tables that have sent something: one query."""
    shown = sorted((each for each in tables if each.stream_id is not None), key=lambda table: not table.is_silent)
    shown = shown[:MAX_TABLES]
    came = monitoring.arrivals([table.stream_id for table in shown if table.stream_id is not None])
    return [_feed(table, came) for table in shown]


def _feed(table: monitoring.TableState, came: dict[int, list[int]]) -> Feed:
    assert table.stream_id is not None
    counts = came[table.stream_id]
    kind = "silent" if table.is_silent else "" if table.is_open else "shut"
    since = "" if table.received_at is None else duration((timezone.now() - table.received_at).total_seconds())
    if table.is_silent:
        words = _("silent for %(time)s") % {"time": since}
    elif not table.is_open:
        words = _("session closed")
    else:
        words = _("%(time)s ago") % {"time": since}
    spoken = _("Events of the last two hours: %(count)d") % {"count": sum(counts)}
    drawing = mark_safe(draw_spark(counts, title=table.table, description=spoken, kind=kind))
    address = reverse("admin:audit_loggedstream_table", args=(table.stream_id,))
    return Feed(table.table, address, drawing, words, kind)
