"""Attackers of the tables that follow from the log: each draws rows, changes them by SQL and says where it was.

superuser   every trigger and constraint off: alters any column of any row, deletes rows, adds copies of them
worker      triggers and grants as they are: alters what workers may alter, adds what workers may add
web         the same, as a web server
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper

from audit.transparency.verify import Fault
from tests import citus

TABLES = {
    "audit_finding": "finding",
    "audit_case": "case",
    "audit_caseaction": "action",
    "audit_nightreport": "night",
    "audit_signoffexception": "exception",
    "audit_registerentry": "register",
    "audit_correctiondecision": "decision",
    "audit_casino": "casino",
    "audit_gamingtable": "table",
}

CHOICES: Mapping[str, tuple[str, ...]] = {
    "severity": ("critical", "major", "minor", "info"),
    "status": ("standing", "superseded", "pending"),
    "outcome": ("confirmed", "explained", "mistaken", ""),
    "rule": ("payout-overpaid", "count-missing", "identification-due", "sequence-conflict", "wager-left-open"),
    "type": ("case.taken", "case.closed", "case.commented", "case.proposed"),
    "verdict": ("countersigned", "refused"),
    "reading": ("payout_unit", "seat_limit"),
    "currency": ("EUR", "USD", "CHF"),
    "audit_attachment.kind": ("pdf", "png"),
    "audit_case.state": ("new", "investigating", "second", "closed"),
    "audit_nightreport.state": ("open", "counting", "provisional", "reviewed", "closed"),
    "audit_registerentry.state": ("waiting", "approved", "declined", "withdrawn"),
}
"""The values of columns that have few."""

KEYS = {
    "stream_id": "select stream_id from log.stream",
    "casino_id": "select id from audit_casino",
    "table_id": "select id from audit_gamingtable",
    "case_id": "select id from audit_case",
    "report_id": "select id from audit_nightreport",
    "run_id": "select id from audit_adjudicationrun",
    "superseded_by_run_id": "select id from audit_adjudicationrun",
}
"""Where the values of a key come from; every other key is of an officer."""

LEFT_OUT = {"id", "content"}
"""What names a row, which says nothing, and what the database computes. A report's content is altered, too."""

COPIED = {
    "audit_finding": ("seq", "rule", "recorded"),
    "audit_case": ("seq", "rule", "wager"),
    "audit_caseaction": ("type", "reason", "officer_id", "about"),
    "audit_nightreport": ("version", "gaming_day"),
    "audit_signoffexception": ("code",),
    "audit_registerentry": ("proposed_at", "reading", "first_day", "value"),
    "audit_correctiondecision": ("seq", "officer_id", "entry_seq"),
    "audit_casino": ("code", "name"),
    "audit_gamingtable": ("code", "name"),
}
"""What an added row has otherwise than the one that it is copied from: one of these."""


@dataclass(frozen=True, slots=True)
class Attack:
    """What was done, in words, and what a fault has to have one of to name the row."""

    what: str
    places: frozenset[tuple[str, int]]
    words: tuple[str, ...]

    def is_named_by(self, fault: Fault) -> bool:
        """Return whether a fault says which row is wrong: by session and number, or in words."""
        where = (fault.stream, fault.first_seq or 0)
        return where in self.places or any(all(word in str(fault) for word in each.split("…")) for each in self.words)


class Forger:
    """An attacker who draws at random."""

    def __init__(self, cursor: CursorWrapper, rng: random.Random) -> None:
        self.cursor = cursor
        self.rng = rng

    def rows(self, query: str, *params: Any) -> list[tuple[Any, ...]]:
        self.cursor.execute(query, params)
        return list(self.cursor.fetchall())

    def drawn(self, table: str) -> int:
        """Return a row of a table; raise ``DatabaseError`` if it has none."""
        return int(self._one_of([str(pk) for (pk,) in self.rows(f"select id from {table} order by id")]))

    # Where a row is

    def places_of(self, table: str, pk: int) -> tuple[frozenset[tuple[str, int]], tuple[str, ...]]:
        """Return by what a fault names a row as it is now."""
        if table == "audit_finding":
            [(case_id,)] = self.rows("select case_id from audit_finding where id = %s", pk)
            # A case that a forgery has left without its finding names the finding.
            return frozenset(self._findings("f.id = %s", pk)), (f"case {case_id} …of no finding",) if case_id else ()
        if table == "audit_case":
            return frozenset(self._findings("f.case_id = %s", pk)), (f"case {pk} ",)
        if table == "audit_caseaction":
            [(case_id,)] = self.rows("select case_id from audit_caseaction where id = %s", pk)
            return frozenset(), (f"action…case {case_id} ",)
        if table == "audit_registerentry":
            [(reading,)] = self.rows("select reading from audit_registerentry where id = %s", pk)
            return frozenset(), (f"entry {pk} ", f"entry on {reading} …missing")
        if table == "audit_correctiondecision":
            of = "from audit_correctiondecision d join log.stream s using (stream_id) where d.id = %s"
            return frozenset(self.rows(f"select s.name, d.seq {of}", pk)), ()
        if table in ("audit_casino", "audit_gamingtable"):
            return frozenset(), (f"{TABLES[table]} {pk} ",)
        return self._night(table, pk)

    def _findings(self, where: str, pk: int) -> list[Any]:
        return self.rows(
            f"select s.name, f.seq from audit_finding f join log.stream s using (stream_id) where {where}", pk
        )

    def _night(self, table: str, pk: int) -> tuple[frozenset[tuple[str, int]], tuple[str, ...]]:
        if table == "audit_nightreport":
            columns = "gaming_day::text, currency, version from audit_nightreport where id = %s"
            [(day, currency, version)] = self.rows(f"select {columns}", pk)
            return frozenset(), (f"{day}…{currency}…{version}", f"report {pk},")
        [(report, code)] = self.rows("select report_id, code from audit_signoffexception where id = %s", pk)
        return frozenset(), (f"signature…exception {code} ", f"report {report},")

    # What is done to it

    def alter(self, table: str) -> Attack:
        """Change one column of one row."""
        pk = self.drawn(table)
        column, type, nullable = self.rng.choice(self._columns(table))
        return self.altered(table, pk, column, self._other(table, pk, column, type, nullable))

    def altered(self, table: str, pk: int, column: str, value: str | None) -> Attack:
        before = self.places_of(table, pk)
        [(old,)] = self.rows(f"select {column}::text from {table} where id = %s", pk)
        statement = f"update {table} set {column} = %s where id = %s"
        self.cursor.execute(statement, [value, pk])
        if not self.cursor.rowcount or value == old:
            raise DatabaseError("nothing was changed")
        return self._attack(
            f"{statement} [{str(value)[:200]!r}, {pk}], was {str(old)[:200]!r}", before, self._now(table, pk)
        )

    def delete(self, table: str) -> Attack:
        pk = self.drawn(table)
        before = self.places_of(table, pk)
        self.cursor.execute(f"delete from {table} where id = %s", [pk])
        return self._attack(f"delete from {table} where id = {pk}", before)

    def add(self, table: str) -> Attack:
        """Add a copy of a row with one thing changed."""
        pk = self.drawn(table)
        changed = self.rng.choice(COPIED[table])
        columns = [column for column, _type, _nullable in self._columns(table)] + ["content"] * (
            table == "audit_nightreport"
        )
        types = {column: (type, nullable) for column, type, nullable in self._columns(table)}
        value = self._other(table, pk, changed, *types[changed])
        values = ", ".join(f"%s::{types[changed][0]}" if column == changed else column for column in columns)
        statement = (
            f"insert into {table} ({', '.join(columns)}) select {values} from {table} where id = %s returning id"
        )
        [(new,)] = self.rows(statement, value, pk)
        return self._attack(f"{statement} [{changed} = {value!r}, {pk}]", self._now(table, new))

    def _now(self, table: str, pk: int) -> Any:
        return self.places_of(table, pk) if self.rows(f"select 1 from {table} where id = %s", pk) else (frozenset(), ())

    def _attack(self, what: str, *where: tuple[frozenset[tuple[str, int]], tuple[str, ...]]) -> Attack:
        places = frozenset(spot for each, _words in where for spot in each)
        return Attack(what, places, tuple(word for _places, words in where for word in words))

    def _columns(self, table: str) -> list[tuple[str, str, bool]]:
        rows = self.rows(
            "select column_name, udt_name, is_nullable = 'YES' from information_schema.columns"
            " where table_schema = 'public' and table_name = %s order by ordinal_position",
            table,
        )
        return [row for row in rows if row[0] not in LEFT_OUT]  # type: ignore[misc]

    def _other(self, table: str, pk: int, column: str, type: str, nullable: bool) -> str | None:
        """Return another value for a column, as text."""
        [(now,)] = self.rows(f"select {column}::text from {table} where id = %s", pk)
        if nullable and now is not None and self.rng.random() < 0.2:
            return None
        choices = CHOICES.get(f"{table}.{column}") or CHOICES.get(column)
        if choices:
            return self.rng.choice([each for each in choices if each != now])
        if column.endswith("_id"):
            keys = self.rows(KEYS.get(column, "select id from audit_officer"))
            return self._one_of([str(key) for (key,) in sorted(keys) if str(key) != now])
        return self._moved(now, type)

    def _one_of(self, values: list[str]) -> str:
        if not values:
            raise DatabaseError("there is no other")
        return self.rng.choice(values)

    def _moved(self, now: str | None, type: str) -> str:
        if type in ("int2", "int4", "int8"):
            return str(int(now or 0) + self.rng.choice([-2, -1, 1, 2, 1_000]))
        if type in ("timestamptz", "date"):
            # Further than the seconds between a row and its entry.
            step = self.rng.choice(["1 day", "-1 day", "400 days"] + ["90 seconds", "-1 hour"] * (type != "date"))
            [(moved,)] = self.rows(
                f"select (coalesce(%s::{type}, now()::{type}) + %s::interval)::{type}::text", now, step
            )
            return str(moved)
        if type in ("time", "numeric"):
            return self.rng.choice(
                [each for each in ("01:30:00", "07:00:00") if each != now] if type == "time" else ["7"]
            )
        if type == "bool":
            return "false" if now == "true" else "true"
        if type == "_int8":
            return self.rng.choice([each for each in ("{1}", "{2,3}", "{1,2,3}") if each != now])
        if type == "jsonb":
            return self.rng.choice([each for each in ("1", "7", '{"a": 1}', "[]", "{}") if each != now])
        return self._rewritten(now or "")

    def _rewritten(self, now: str) -> str:
        if now and self.rng.random() < 0.5:
            at = self.rng.randrange(len(now))
            return now[:at] + self.rng.choice([each for each in "abc019" if each != now[at]]) + now[at + 1 :]
        return now + self.rng.choice(["x", "1", "-2"])


def drawn_attack(role: str | None, forge: Callable[[Forger], Attack], rng: random.Random) -> Attack | None:
    """Attack as ``role``, as a superuser with every trigger off for None; None if the database refuses."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("set local session_replication_role = replica" if role is None else f"set local role {role}")
            attack = forge(Forger(cursor, rng))
            cursor.execute("set local session_replication_role = origin" if role is None else "reset role")
            return attack
    except DatabaseError:
        return None


def unguarded() -> None:
    """Drop what would stop a superuser: the triggers, checks and unique indexes of the tables attacked."""
    with connection.cursor() as cursor:
        citus.let_a_superuser_attack(cursor)
        cursor.execute("set constraints all immediate")
        cursor.execute(
            "select conrelid::regclass::text, conname from pg_constraint"
            " where conrelid = any(%s::regclass[]) and contype in ('c', 'u')",
            [list(TABLES)],
        )
        checks = cursor.fetchall()
        for table in TABLES:
            changes = [f'drop constraint "{name}" cascade' for of_table, name in checks if of_table == table]
            cursor.execute(f"alter table {table} {', '.join(['disable trigger user', *changes])}")
        cursor.execute(
            "select indexrelid::regclass::text from pg_index"
            " where indrelid = any(%s::regclass[]) and indisunique and not indisprimary",
            [list(TABLES)],
        )
        if indexes := [name for (name,) in cursor.fetchall()]:
            cursor.execute(f"drop index {', '.join(indexes)}")
