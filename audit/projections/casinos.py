"""Casinos and tables, held against the log: what they are set to, and under which codes they have played.

    casino.added, casino.changed, … the newest of each ─► what it is set to ─┬─► audit_casino, audit_gamingtable:
    the first event of each session ─► the code of its casino, its table ────┘    the same, or a fault

The sessions alone say the codes of what has played, of any version. The settings of what an earlier version left
outside the log are counted as ``unstated`` until ``manage.py keep`` enters them; from then on a row without an entry is
a fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from audit.access.casino_settings import CASINOS, TABLES, casino_id_of, settings_of
from audit.event_store import binary_copy
from audit.event_store.audit_trail import INSTALLATION
from audit.event_store.readable import readable
from audit.models import FIRST_SANDBOX_ID, Casino, GamingTable
from audit.models.casinos import is_zone
from audit.projections.entries import Entry, entries
from audit.projections.faults import WrongRow
from audit.projections.found import Figures

SETTINGS_KEPT = "settings.taken_over"
"""The entry of ``manage.py keep``: from then on the log keeps what every casino and table is set to."""

_OPENERS = f"""
select s.casino_id, s.table_id, ({readable("e.envelope")} -> 'data' -> 'casino')::text,
       ({readable("e.envelope")} -> 'data' -> 'table')::text,
       count(*), min(s.name)
from log.stream s join log.event e on e.stream_id = s.stream_id and e.seq = 1
where not s.is_of_desk and s.stream_id < %b::bigint and (%b::bigint is null or s.casino_id = %b::bigint)
group by 1, 2, 3, 4 order by 1, 2, 3, 4
"""


def wrong_casinos(casino_id: int | None, figures: Figures) -> Iterator[WrongRow]:
    """Yield what does not hold about a casino and its tables, every one and all tables for None."""
    casinos = {row.pk: row for row in Casino.objects.order_by("pk") if casino_id in (None, row.pk)}
    tables = {row.pk: row for row in GamingTable.objects.order_by("pk")}
    own = [row for row in tables.values() if casino_id in (None, row.casino_id)]
    is_kept = any(entries(INSTALLATION, (SETTINGS_KEPT,)))
    yield from _wrong_settings("casino", casinos.values(), _newest(casino_id, CASINOS), figures, is_kept=is_kept)
    yield from _wrong_settings("table", own, _newest(casino_id, TABLES), figures, is_kept=is_kept)
    for row in casinos.values():
        if not is_zone(row.time_zone):
            what = f"has the time zone {row.time_zone}, which does not exist: no page shows it"
            yield WrongRow("casino", f"casino {row.pk} ({row.code}) {what}")
    yield from _wrong_codes(casino_id, casinos, tables)


def _newest(casino_id: int | None, types: Iterable[str]) -> dict[int, Entry]:
    """Return the newest entry about each row, by its id. Entries of 0.2.0 did not say what a row was set to."""
    stating = (entry for entry in entries(casino_id, tuple(types)) if "code" in entry.data)
    return {entry.number("id"): entry for entry in stating}


def _wrong_settings(
    part: str,
    rows: Iterable[Casino | GamingTable],
    newest: dict[int, Entry],
    figures: Figures,
    *,
    is_kept: bool,
) -> Iterator[WrongRow]:
    for row in rows:
        entry = newest.pop(row.pk, None)
        if entry is None and is_kept:
            yield WrongRow(part, f"{part} {row.pk} ({row.code}) is stored, and no entry says what it is set to")
        elif entry is None:
            figures.unstated += 1
        else:
            altered = [name for name, value in settings_of(row).items() if entry.data.get(name, value) != value]
            if entry.casino_id != casino_id_of(row):
                altered.insert(0, "casino")
            if altered:
                what = f"{part} {row.pk} ({row.code}) is not what {entry.name} says: {', '.join(altered)}"
                yield WrongRow(part, what)
    for pk, entry in newest.items():
        yield WrongRow(part, f"{part} {pk} ({entry.text('code')}) is missing, of which {entry.name} says something")


def _wrong_codes(
    casino_id: int | None, casinos: dict[int, Casino], tables: dict[int, GamingTable]
) -> Iterator[WrongRow]:
    """Yield the casinos and tables that have another code than the first events of their sessions say."""
    rows = binary_copy.execute(_OPENERS, (FIRST_SANDBOX_ID, casino_id, casino_id))
    for of_casino, of_table, casino_json, table_json, sessions, name in rows:
        where = f"session {name}" + (f" and {sessions - 1} more" if sessions > 1 else "")
        casino = casinos.get(of_casino)
        if casino is None:
            yield WrongRow("casino", f"casino {of_casino} is missing, of which {where} is")
        elif casino.code != (stated := _text(casino_json)):
            what = f"casino {of_casino} is called {casino.code}, and the first event of {where} says {stated}"
            yield WrongRow("casino", what)
        if of_table is None:
            continue  # a count: the leaf of its batches says so
        table = tables.get(of_table)
        if table is None:
            yield WrongRow("table", f"table {of_table} is missing, at which {where} was played")
        elif table.casino_id != of_casino:
            yield WrongRow("table", f"table {of_table} ({table.code}) is not of the casino of which {where} is")
        elif table.code != (stated := _text(table_json)):
            what = f"table {of_table} is called {table.code}, and the first event of {where} says {stated}"
            yield WrongRow("table", what)


def _text(json: str | None) -> Any:
    try:
        return None if json is None else msgspec.json.decode(json)
    except msgspec.DecodeError:
        return None
