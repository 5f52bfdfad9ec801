"""A forger made from PostgreSQL's catalogue: every column of every table, and every table's rows, one after the other.

A superuser with triggers, checks and unique indexes off. Each attack is of a row that is there, and is rolled back.

alter    another valid value in one column
far      the greatest number that a column holds
pair     in two columns of a row at once; or in a row, and in the entry of the log that says it
delete   the row is gone
double   a copy of it, as another row
add      a copy of it with another value in one column that is held
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper

from audit.projections.columns import state_of
from audit.projections.coverage import MADE_AGAIN, TABLES
from audit.projections.coverage_lines import State
from tests.audit.projections.forgers import CHOICES, KEYS
from tests.audit.transparency.forger import unguard

Kind = Literal["alter", "far", "pair", "delete", "double", "add"]

_PLACE = "(select format('of %s, event %s:', s.name, {seq}) from log.stream s where s.stream_id = {stream})"
_STREAM = "(select s.name from log.stream s where s.stream_id = {})"
_OFFICER = "(select o.username from audit_officer o where o.id = {})"
_CASINO = "(select c.code from audit_casino c where c.id = {})"
_OF_CASE = (
    "(select format('of %s, event %s:', s.name, f.seq) from audit_finding f join log.stream s using (stream_id)"
    " where f.case_id = {} order by f.heads_case desc, f.id limit 1)"
)
_OF_RUN = "(select s.name from log.stream s join audit_adjudicationrun r using (stream_id) where r.id = {})"
_OF_SESSION = _STREAM.format("t.stream_id")

NAMED_BY: Mapping[str, tuple[str, ...]] = {
    "log.event": (_OF_SESSION, "t.stream_id::text"),
    "log.batch": (_OF_SESSION, "t.stream_id::text"),
    "log.checkpoint": (
        *("format('number %s ', t.number)", "format('number %s:', t.number)", "format('of %s leaves', t.size)"),
    ),
    "log.clock": ("'clock'",),
    "log.leaf": (_OF_SESSION, "format('leaf %s ', t.log_index)"),
    "log.outbox": (_OF_SESSION,),
    "log.stream": ("t.name", "t.stream_id::text"),
    "log.stream_head": (_OF_SESSION, "format('of stream %s,', t.stream_id)"),
    "log.subtree": ("format('subtree %s of height %s', t.index, t.height)",),
    "audit_adjudication": (_OF_SESSION, _OF_RUN.format("t.run_id")),
    "audit_adjudicationrun": (_OF_SESSION,),
    "audit_retiredwagers": (_OF_RUN.format("t.run_id"),),
    "audit_finding": (_PLACE.format(seq="t.seq", stream="t.stream_id"),),
    "audit_whatif": ("format('run %s', t.name)", "format('run %s ', t.id)"),
    "audit_case": (
        _PLACE.format(seq="t.seq", stream="t.stream_id"),
        _OF_CASE.format("t.id"),
        "format('case %s ', t.id)",
    ),
    "audit_caseaction": ("format('case %s ', t.case_id)",),
    "audit_attachment": ("format('file %s of', t.id)",),
    "audit_complaint": ("format('complaint %s ', t.id)",),
    "audit_complaintanswer": ("format('complaint %s ', t.complaint_id)",),
    "audit_informationsigning": ("format('information %s ', t.id)",),
    "audit_correctiondecision": (_PLACE.format(seq="t.seq", stream="t.stream_id"), "t.entry_stream"),
    "audit_sessionclosing": (
        _PLACE.format(seq="t.next_seq", stream="t.stream_id"),
        "format('row %s is', t.id)",
    ),
    "audit_paymentorder": ("t.reference",),
    "audit_listing": ("format('entry %s on the lists of casino %s ', t.number, t.casino_id)",),
    "audit_sighting": (
        "(select format('the sighting of %s of entry %s on the lists of casino %s ', t.gaming_day, l.number,"
        " l.casino_id) from audit_listing l where l.id = t.listing_id)",
    ),
    "audit_casino": ("format('casino %s ', t.id)",),
    "audit_gamingtable": ("format('table %s ', t.id)",),
    "audit_apikey": ("t.prefix", "format('API key %s ', t.id)"),
    "audit_apikey_tables": ("(select k.prefix from audit_apikey k where k.id = t.apikey_id)",),
    "audit_registerentry": ("format('entry %s ', t.id)", "format('entry on %s ', t.reading)"),
    "audit_officer": ("t.username",),
    "audit_officer_casinos": (_OFFICER.format("t.officer_id"),),
    "audit_accesslink": (_OFFICER.format("t.officer_id"), _OFFICER.format("t.issued_by_id")),
    "audit_accountrequest": ("format('officer %s ', t.officer_id)", "format('request %s ', t.id)"),
    "audit_grouprole": ('t."group"',),
    "audit_provideraccount": (_OFFICER.format("t.officer_id"),),
    "audit_erasedperson": ("t.code",),
    "audit_findingchange": (
        "(select format('of %s, event %s:', s.name, f.seq) from audit_finding f join log.stream s using (stream_id)"
        " where f.id = t.finding_id)",
        "format('finding %s ', t.finding_id)",
        "format('feed of casino %s ', t.casino_id)",
    ),
    "audit_deadline": (
        "format('%s at casino %s ', t.severity, t.casino_id)",
        "format('%s at every casino', t.severity)",
    ),
    "audit_casecontacts": ("format('casino %s ', t.casino_id)",),
    "audit_findingcounter": ("format('casino %s in %s ', t.casino_id, t.year)",),
    "audit_webhook": ("format('webhook %s ', t.id)",),
    "audit_pushsubscription": ("format('browser %s ', t.id)", "'a browser of '"),
    "audit_nightsubscriber": (_OFFICER.format("t.officer_id"), "format('subscriber %s ', t.id)"),
    "audit_videorequest": ("format('request %s about', t.id)", "format('request about case %s ', t.case_id)"),
    "audit_nightreport": (
        "format('version %s of …%s, %s', t.version, t.gaming_day, t.currency)",
        "format('report %s,', t.id)",
    ),
    "audit_signoffexception": ("format('exception %s ', t.code)", "format('report %s,', t.report_id)"),
    "audit_sessionfigures": (_OF_SESSION,),
    "audit_streammoney": (_OF_SESSION,),
    "audit_streamevidence": (_OF_SESSION,),
    "audit_nightrun": ("format('run %s ', t.id)",),
    "audit_slipuse": (_OF_SESSION,),
    "audit_ledgerbatch": (_CASINO.format("t.casino_id"),),
    "audit_ledgersetaside": (_CASINO.format("t.casino_id"),),
    "audit_ledgercursor": (_CASINO.format("t.casino_id"),),
    "audit_ledgeryear": (_CASINO.format("t.casino_id"),),
    "audit_ledgerprocess": ("format('process %s ', t.id)", _CASINO.format("t.casino_id")),
    **dict.fromkeys(
        ("audit_ledgerlevel", "audit_ledgerpoint", "audit_ledgerquestion"),
        (_CASINO.format("(select p.casino_id from audit_ledgerprocess p where p.id = t.process_id)"),),
    ),
    "audit_archivedmonth": ("to_char(t.month, 'YYYY-MM')",),
    "audit_cosignature": ("t.witness", "t.vkey"),
    "audit_logepoch": ("format('epoch %s ', t.number)",),
}
"""By what a fault names a row ``t``: one of these, in each all that is between ellipses."""

ROWS: Mapping[str, str] = {
    "log.event": "t.stream_id in (select stream_id from log.stream where not is_of_desk)",
    "log.stream": "not t.is_of_desk and t.stream_id in (select stream_id from log.event)",
    "log.stream_head": "t.next_seq > 1",
    "audit_adjudication": "t.what_if_id is null",
    "audit_adjudicationrun": "t.what_if_id is null",
    "audit_retiredwagers": "t.run_id in (select r.id from audit_adjudicationrun r where r.what_if_id is null"
    " and r.state <> 'superseded')",
    "audit_officer": "t.is_active",
    "audit_whatif": "t.promoted_at is not null",
    "audit_ledgerprocess": "t.state <> ''",
    "audit_findingchange.position": "t.position is not null",  # the others have none yet
    "audit_apikey.public_key": "t.public_key is not null",
    "audit_ledgerprocess.ended_at": "t.ended_at is not null",
    "audit_ledgerprocess.ended_by": "t.ended_at is not null",
    "audit_ledgerprocess.ended_reason": "t.ended_at is not null",
}
"""Which rows of a table, or for a column, verification holds: the others are of what it says that it leaves out."""

OTHERS: Mapping[str, str] = {
    "log.key.purpose": "case t.purpose when 'receipt' then 'checkpoint' else 'receipt' end",
    "audit_officer_casinos.role": "case t.role when 'director' then 'auditor' else 'director' end",
    "audit_grouprole.role": "case t.role when 'director' then 'auditor' else 'director' end",
    "audit_adjudicationrun.register_version": "coalesce(t.register_version, 0) + 1000",
    "audit_adjudicationrun.cause": "case t.cause when 'manual' then 'engine' else 'manual' end",
    "audit_adjudicationrun.state": "case t.state when 'complete' then 'running' else 'complete' end",
    "audit_findingchange.kind": "case t.kind when 'opened' then 'superseded' else 'opened' end",
    "audit_sessionclosing.state": "case t.state when 'waiting' then 'approved' else 'waiting' end",
    "audit_paymentorder.state": "case t.state when 'paid' then 'cancelled' else 'paid' end",
    "audit_paymentorder.kind": "case t.kind when 'payment' then 'waiver' else 'payment' end",
    "audit_paymentorder.debtor": "case t.debtor when 'house' then 'player' else 'house' end",
    "audit_listing.state": "case t.state when 'listed' then 'leaving' else 'listed' end",
    "audit_listing.kind": "case t.kind when 'watch' then 'exclusion' else 'watch' end",
    "audit_sighting.outcome": "case t.outcome when 'spoken_to' then 'shown_out' else 'spoken_to' end",
    "audit_accountrequest.state": "case t.state when 'waiting' then 'approved' else 'waiting' end",
    "audit_accountrequest.kind": "case t.kind when 'role' then 'email' else 'role' end",
    "audit_accountrequest.role": "case t.role when 'director' then 'auditor' else 'director' end",
    "audit_complaint.came": "case t.came when 'letter' then 'cage' else 'letter' end",
    "audit_complaintanswer.outcome": "case t.outcome when 'founded' then 'unfounded' else 'founded' end",
    "audit_casino.time_zone": "'Asia/Tokyo'",
}
"""Another valid value of a column that has few, as SQL."""

REFERENCES: Mapping[str, str] = {
    **{f"{name}_id": "audit_officer" for name in ("officer", "issued_by", "proposed_by", "decided_by", "created_by")},
    "run_id": "audit_adjudicationrun",
    "process_id": "audit_ledgerprocess",
    "batch_id": "audit_ledgerbatch",
    "finding_id": "audit_finding",
    "apikey_id": "audit_apikey",
    "gamingtable_id": "audit_gamingtable",
    "complaint_id": "audit_complaint",
    "webhook_id": "audit_webhook",
}


OTHER_OF_TYPE: Mapping[str, str] = {
    **dict.fromkeys(("int2", "int4", "int8", "numeric"), "coalesce({v}, 0) + 1"),
    "bool": "not coalesce({v}, false)",
    "timestamptz": "coalesce({v}, now()) - interval '2 hours'",
    "date": "coalesce({v}, current_date) + 1",
    "time": "coalesce({v}, '00:00') + interval '90 minutes'",
    "bytea": "case when length({v}) > 0 then set_byte({v}, length({v}) / 2, (get_byte({v}, length({v}) / 2) + 1) % 256)"
    " else '\\x01'::bytea end",
    "jsonb": "case when jsonb_typeof({v}) = 'object' then {v} || '{{\"forged\": 1}}' else '[1, 2, 3]' end",
    "json": "replace({v}::text, '\"v\":1', '\"v\":2')::json",
    "_int8": "coalesce({v}, '{{}}') || 1::bigint",
    "_varchar": "coalesce({v}, '{{}}') || 'events:write'::varchar",
    "inet": "'192.0.2.77'",
    "uuid": "gen_random_uuid()",
    "xid8": "(({v}::text::bigint + 1)::text)::xid8",
}
"""Another value of a type, as SQL with the column for ``v``."""

FAR: Mapping[str, int] = {"int2": 2**15 - 1, "int4": 2**31 - 1, "int8": 2**63 - 1}
"""The greatest number of a type: what is added to it does not fit, and a row that has it is the last of its table."""

OTHER_TEXT = (
    "case when length({v}) > 0 then left({v}, -1) || case right({v}, 1) when 'a' then 'b' else 'a' end else 'x' end"
)


@dataclass(frozen=True, slots=True)
class Attack:
    """What was done: to which table, in which columns, and by what a fault names the row, before it and after it."""

    kind: Kind
    table: str
    columns: tuple[str, ...]
    words: frozenset[str]

    @property
    def state(self) -> State:
        """What is said to be proved: of the columns, or for a whole row of any column of its table."""
        if self.kind not in ("alter", "far", "pair") and self.table in MADE_AGAIN:
            return "not held"
        states = {state_of(self.table, column) for column in self.columns} or {
            line.state for line in TABLES[self.table]
        }
        return "held" if "held" in states else "recomputed" if "recomputed" in states else "not held"

    def is_named_by(self, fault: str) -> bool:
        return any(all(part in fault for part in word.split("…")) for word in self.words)

    def __str__(self) -> str:
        return f"{self.kind} {self.table} ({', '.join(self.columns)}) [{', '.join(sorted(self.words))}]"


class Refused(Exception):
    """There is nothing to alter, for the reason that it says."""

    def __init__(self, reason: str = "no such row or value") -> None:
        super().__init__(reason)


class ColumnForger:
    """Attacks by the name of a table and columns; ``cursor`` is a superuser's, and ``unguard_all`` has run."""

    def __init__(self, cursor: CursorWrapper) -> None:
        self.cursor = cursor
        self.at = ("", "")  # the row that was altered last, as a table and a ctid

    def columns(self, table: str) -> list[tuple[str, str]]:
        """Return the columns of a table that are stored, each with its type."""
        self.cursor.execute(
            "select a.attname, t.typname from pg_attribute a join pg_type t on t.oid = a.atttypid"
            " where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''"
            " order by a.attnum",
            [table],
        )
        return [(name, type) for name, type in self.cursor.fetchall()]

    def rows(self, table: str, column: str = "") -> list[tuple[str, str]]:
        """Return where the first and the last row are, as table (a partition) and ctid."""
        where = ROWS.get(f"{table}.{column}") or ROWS.get(table) or "true"
        # ctid tells only within a partition; the order of a heap is that in which its rows were written.
        self.cursor.execute(
            f"select t.tableoid::regclass::text, t.ctid::text from {table} t where {where} order by 1, t.ctid"
        )
        found = self.cursor.fetchall()
        return [(str(at), str(ctid)) for at, ctid in ([found[0], found[-1]] if len(found) > 1 else found)]

    def alter(self, table: str, columns: Sequence[str], row: tuple[str, str], kind: Kind = "alter") -> Attack:
        """Give each of some columns of a row another value."""
        before = self._words(table, row)
        types = dict(self.columns(table))
        assignments = [
            f'"{column}" = {FAR[types[column]] if kind == "far" else self._other(table, column, types[column])}'
            for column in columns
        ]
        changed = " or ".join(f'n."{column}"::text is distinct from o."{column}"::text' for column in columns)
        self.cursor.execute(
            f"create temp table was on commit drop as select * from {row[0]} t where t.ctid = '{row[1]}'"
        )
        self.cursor.execute(
            f"update {table} t set {', '.join(assignments)}"
            f" where t.tableoid = '{row[0]}'::regclass and t.ctid = '{row[1]}'"
            " returning t.tableoid::regclass::text, t.ctid::text"
        )
        now = self.cursor.fetchone()
        if now is None:
            raise Refused
        self.cursor.execute(f"select {changed} from {now[0]} n, was o where n.ctid = '{now[1]}'")
        if self.cursor.fetchone() != (True,):
            raise Refused
        self.at = (str(now[0]), str(now[1]))
        return Attack(kind, table, tuple(columns), before | self._words(table, (now[0], now[1])))

    def delete(self, table: str, row: tuple[str, str]) -> Attack:
        words = self._words(table, row)
        self.cursor.execute(f"delete from {table} t where t.tableoid = '{row[0]}'::regclass and t.ctid = '{row[1]}'")
        return Attack("delete", table, (), words)

    def copy(self, table: str, row: tuple[str, str], column: str = "") -> Attack:
        """Add a copy of a row, with another value in ``column`` unless that is ""."""
        columns = self.columns(table)
        values = {name: f't."{name}"' for name, _type in columns}
        if ("id", "int8") in columns or ("id", "int4") in columns:
            values["id"] = f"(select max(id) + 1 from {table})"
        if column:
            values[column] = self._other(table, column, dict(columns)[column])
        names = ", ".join(f'"{name}"' for name in values)
        self.cursor.execute(
            f"insert into {table} ({names}) overriding system value select {', '.join(values.values())} from {table} t"
            f" where t.tableoid = '{row[0]}'::regclass and t.ctid = '{row[1]}'"
            " returning tableoid::regclass::text, ctid::text"
        )
        now = self.cursor.fetchone()
        if now is None:
            raise Refused
        words = self._words(table, row) | self._words(table, (now[0], now[1]))
        return Attack("add" if column else "double", table, (column,) if column else (), words)

    def alter_with_entry(self, table: str, column: str, row: tuple[str, str]) -> Attack:
        """Alter a column, and the newest entry of the log that has the value which it had: it says the new one."""
        self.cursor.execute(f"select to_json(\"{column}\")::text from {row[0]} t where t.ctid = '{row[1]}'")
        [(was,)] = self.cursor.fetchall()
        if was is None or len(was.strip('"')) < 3:
            raise Refused("no entry says the value")
        attack = self.alter(table, (column,), row, "pair")
        self.cursor.execute(f"select to_json(\"{column}\")::text from {self.at[0]} t where t.ctid = '{self.at[1]}'")
        [(now,)] = self.cursor.fetchall()
        self.cursor.execute(
            "select e.stream_id, e.seq, s.name from log.event e join log.stream s using (stream_id)"
            " where s.is_of_desk and strpos(e.envelope::text, %s) > 0"
            " order by e.stream_id desc, e.seq desc limit 1",
            [was],
        )
        found = self.cursor.fetchone()
        if found is None:
            raise Refused("no entry says the value")
        self.cursor.execute(
            "update log.event set envelope = replace(envelope::text, %s, %s)::json where stream_id = %s and seq = %s",
            [was, now or "null", found[0], found[1]],
        )
        return Attack("pair", table, (column,), attack.words | {f"batch of {found[2]},"})

    def _words(self, table: str, row: tuple[str, str]) -> frozenset[str]:
        if table not in NAMED_BY:
            return frozenset()
        own = f"from {table} t where t.tableoid = '{row[0]}'::regclass and t.ctid = '{row[1]}'"
        rows = [f"format('{table} %s has ', t.id)"] if "id" in dict(self.columns(table)) else []
        self.cursor.execute(f"select {', '.join((*NAMED_BY[table], *rows))} {own}")
        return frozenset(word for word in self.cursor.fetchone() or () if word)

    def _other(self, table: str, column: str, type: str) -> str:
        """Return SQL for another valid value of a column of the row ``t``."""
        name = f't."{column}"'
        if (other := OTHERS.get(f"{table}.{column}")) is not None:
            return other
        choices = CHOICES.get(f"{table}.{column}") or CHOICES.get(column)
        if choices and type in ("varchar", "text"):
            return f"case when {name} = '{choices[0]}' then '{choices[1]}' else '{choices[0]}' end"
        if table.startswith("log.") and type == "int8":
            return f"{name} + 1000"  # no other row has it
        key = KEYS.get(column) or (f"select id from {REFERENCES[column]}" if column in REFERENCES else None)
        if key is not None:
            return f"coalesce((select min(k) from ({key}) k (k) where k is distinct from {name}), {name} + 1)"
        if column.endswith("_id") and type == "int8":
            return f"coalesce((select min(id) from audit_officer where id is distinct from {name}), 1)"
        if column == "id" and type in ("int2", "int4", "int8"):
            return f"(select max(id) + 1 from {table})"
        return OTHER_OF_TYPE.get(type, OTHER_TEXT).format(v=name)


def unguard_all(cursor: CursorWrapper, tables: Sequence[str]) -> None:
    """Drop what would stop a superuser: triggers, checks, references, unique indexes, but for primary keys."""
    unguard(cursor)
    cursor.execute("set constraints all immediate")
    cursor.execute("set local session_replication_role = replica")
    cursor.execute(
        "select c.conrelid::regclass::text, c.conname from pg_constraint c join pg_class r on r.oid = c.conrelid"
        " where c.conrelid = any (%s::regclass[]) and c.contype in ('c', 'u', 'f') and not r.relispartition"
        " and c.conparentid = 0",
        [list(tables)],
    )
    for table, name in cursor.fetchall():
        cursor.execute(f'alter table {table} drop constraint if exists "{name}" cascade')
    cursor.execute(
        "select i.indexrelid::regclass::text from pg_index i join pg_class r on r.oid = i.indrelid"
        " where i.indrelid = any (%s::regclass[]) and i.indisunique and not i.indisprimary and not r.relispartition",
        [list(tables)],
    )
    for (name,) in cursor.fetchall():
        cursor.execute(f"drop index {name}")
    for table in tables:
        cursor.execute(f"alter table {table} disable trigger user")
    cursor.execute("set local session_replication_role = origin")


class _RollBack(Exception):
    """Ends an attack."""


@contextmanager
def rolled_back(refused: list[str]) -> Iterator[ColumnForger]:
    """Attack within, and roll it back; what is refused ends it, and its reason is added to ``refused``."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("set local session_replication_role = replica")
            yield ColumnForger(cursor)
            raise _RollBack
    except _RollBack:
        return
    except (DatabaseError, Refused) as error:
        refused.append(str(error) if isinstance(error, Refused) else "refused by the database")
