"""The tables in the settings: their names, and what the record knows of each from the sessions that it sent.

A table system says in the opener of a session which game is played, by which rules, between which limits, with which
wheel or dice, and which families of events it reports. Nobody enters that here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, get_type_hints

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from audit import monitoring
from audit.access.capabilities import Capability
from audit.desk.scoped_admin import scope_of
from audit.desk.tables.limits import Limits, equipment_words, limits_of
from audit.event_store import read
from audit.models import GamingTable, LoggedStream
from audit.presentation import FAMILY_NAMES, date_time, day, language
from settlement import RULESETS
from settlement.codec import decode_one_stored
from settlement.events import SessionOpened
from settlement.events.session import SessionOpenedData
from settlement.families import observed

SESSIONS = 60
"""Sessions of a table whose openers its page looks at, the newest."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the opener of a session says of its table. ``limits`` is None, ``equipment`` empty if it says nothing."""

    game: str
    rules: str
    families: list[str]
    limits: Limits | None
    equipment: list[str]

    @classmethod
    def of(cls, opener: SessionOpenedData) -> Declared:
        ruleset = RULESETS.get(opener.ruleset)
        params = opener.params or None
        return cls(
            game=ruleset.game_title.in_language(language()) if ruleset is not None else opener.game,
            rules=opener.ruleset,
            families=[str(FAMILY_NAMES.get(each, each)) for each in sorted(observed(opener.observes))],
            limits=limits_of(
                opener.minimum or 0, (params.maximum or {}) if params else {}, opener.currency, opener.ruleset
            ),
            equipment=equipment_words(opener),
        )


@dataclass(frozen=True, slots=True)
class TableLine:
    """A table, what its newest session declared, and what comes of it. ``state`` is the tag of its feed.

    ``is_seen``: the officer sees its record; ``declared`` is None without that, and without a session.
    """

    table: GamingTable
    feed: str
    state: str
    is_seen: bool
    declared: Declared | None


@dataclass(slots=True)
class Used:
    """A wheel or a set of dice, in words, with the gaming days of the first and the last session that names it."""

    name: str
    first: date
    last: date
    sessions: int = 0

    @property
    def when(self) -> str:
        if self.first == self.last:
            return day(self.last)
        return gettext("%(first)s to %(last)s") % {"first": day(self.first), "last": day(self.last)}

    @property
    def times(self) -> str:
        return ngettext("%(number)d session", "%(number)d sessions", self.sessions) % {"number": self.sessions}


@dataclass(frozen=True, slots=True)
class Known:
    """What the record knows of one table: its newest session and what that declared, and the equipment of many.

    ``sets`` are those that events of the newest session brought into play, where they have a name.
    """

    newest: LoggedStream | None = None
    declared: Declared | None = None
    used: list[Used] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    looked_at: int = 0


def table_lines(request: HttpRequest, rows: QuerySet[Any]) -> list[TableLine]:
    """Return the lines of tables. An officer who sees its record sees its events and what it declared."""
    tables = list(rows)
    seen = scope_of(request, Capability.SEE_RECORD)
    requested = {table.casino_id for table in tables if seen.includes(table.casino_id)}
    feeds = {(each.casino_id, each.table): each for each in monitoring.tables(requested)} if requested else {}
    states = {table.pk: feeds.get((table.casino_id, table.code)) for table in tables}
    openers = _openers([state.stream_id for state in states.values() if state is not None and state.stream_id])
    return [_line(table, states[table.pk], openers, is_seen=table.casino_id in requested) for table in tables]


def known_of(table: GamingTable) -> Known:
    """Return what the record knows of a table: three queries, however long it has been there."""
    rows = LoggedStream.objects.filter(casino=table.casino_id, table=table.pk, is_of_desk=False)
    streams = list(rows.order_by("-gaming_day", "-stream_id")[:SESSIONS])
    if not streams:
        return Known()
    openers = _openers([stream.pk for stream in streams])
    used: dict[str, Used] = {}
    for stream in streams:
        for name in equipment_words(openers[stream.pk]) if stream.pk in openers else ():
            each = used.setdefault(name, Used(name, stream.gaming_day, stream.gaming_day))
            each.first = min(each.first, stream.gaming_day)
            each.sessions += 1
    newest = streams[0]
    sets = list(dict.fromkeys(_sets_in(newest)))
    declared = Declared.of(openers[newest.pk]) if newest.pk in openers else None
    return Known(newest, declared, list(used.values()), sets, len(streams))


def _sets_in(stream: LoggedStream) -> Iterator[str]:
    """Yield the sets of equipment that events of a session bring into play and name."""
    ruleset = RULESETS.get(stream.ruleset or "")
    kinds = (
        [kind for kind in ruleset.handlers if "set" in getattr(get_type_hints(kind)["data"], "__struct_fields__", ())]
        if ruleset
        else []
    )
    for raw in read.of_types(stream.pk, [kind.type for kind in kinds]):
        code = getattr(decode_one_stored(raw).data, "set", None)
        if isinstance(code, str):
            yield code


def _line(
    table: GamingTable,
    state: monitoring.TableState | None,
    openers: Mapping[int, SessionOpenedData],
    *,
    is_seen: bool,
) -> TableLine:
    opener = openers.get(state.stream_id) if state is not None and state.stream_id else None
    declared = Declared.of(opener) if opener is not None else None
    if state is None or state.received_at is None:
        return TableLine(table, gettext("nothing yet") if is_seen else "", "", is_seen, declared)
    if state.is_silent:
        since = date_time(state.received_at, table.casino)
        return TableLine(table, gettext("silent since %(when)s") % {"when": since}, "bad", is_seen, declared)
    words, tag = (gettext("live"), "ok") if state.is_open else (gettext("session closed"), "")
    return TableLine(table, words, tag, is_seen, declared)


def _openers(stream_ids: Collection[int]) -> dict[int, SessionOpenedData]:
    """Return what the openers of sessions say, by stream: one query, none for no sessions."""
    stored: Iterable[tuple[int, bytes]] = read.firsts_of(list(stream_ids)) if stream_ids else ()
    openers = ((stream_id, decode_one_stored(raw)) for stream_id, raw in stored)
    return {stream_id: event.data for stream_id, event in openers if isinstance(event, SessionOpened)}
