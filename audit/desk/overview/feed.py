"""The feed of the tables: what came of each in the last two hours, and whether it is silent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from audit import monitoring
from audit.charts.spark import draw_spark
from audit.desk.addresses import page_of_stream
from audit.desk.icons import icon
from audit.desk.parts import markup
from audit.models import Casino
from audit.presentation import duration, ruleset_label

MAX_TABLES = 24
"""Tables that the overview shows, those that are silent first; the state of the record has them all."""


@dataclass(frozen=True, slots=True)
class Feed:
    """One table. ``kind`` is "silent", "shut", or "" for one that sends; ``casino`` is "" where there is but one."""

    table: str
    game: str
    casino: str
    address: str
    drawing: SafeString
    words: str
    kind: str

    @property
    def link(self) -> SafeString:
        """Return the feed as HTML. Written without a template: the state of the record has one for each table."""
        game = f"<small>{markup(self.game)}</small>" if self.game else ""
        casino = f'<span class="s of-casino">{markup(self.casino)}</span>' if self.casino else ""
        mark = f"{icon('silent', is_small=True)} " if self.kind == "silent" else ""
        return mark_safe(
            f'<a class="{self.kind}" href="{self.address}"><span class="n1">{markup(self.table)}{game}</span>'
            f'{self.drawing}{casino}<span class="s">{mark}{markup(self.words)}</span></a>'
        )


def sending(tables: Iterable[monitoring.TableState]) -> list[monitoring.TableState]:
    """Return the tables that have sent something, those that are silent first."""
    return sorted((each for each in tables if each.stream_id is not None), key=lambda table: not table.is_silent)


def feeds_of(tables: Iterable[monitoring.TableState], casinos: Mapping[int, Casino]) -> list[Feed]:
    """Return the feeds of those tables that have sent something, those that are silent first: one query.

    Each has the name of its casino where ``casinos``, those that the page is about by their ids, are several.
    """
    shown = sending(tables)
    came = monitoring.arrivals([table.stream_id for table in shown if table.stream_id is not None])
    several = casinos if len(casinos) > 1 else {}
    return [_feed(table, came, several.get(table.casino_id)) for table in shown]


def _feed(table: monitoring.TableState, came: dict[int, list[int]], casino: Casino | None) -> Feed:
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
    address = page_of_stream(table.stream_id, "table")
    game = capfirst(ruleset_label(table.ruleset)) if table.ruleset else ""
    return Feed(table.table, game, str(casino or ""), address, drawing, words, kind)
