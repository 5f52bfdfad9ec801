"""The schemas ``log`` and ``log_guard`` as a migrated database has them now: what ``schema.sql`` shows.

Read from the catalogue, without pg_dump, so that PostgreSQL 15 to 18 give the same text. Left out: the monthly
partitions, which ``log.ensure_month`` creates, and the name of the role that migrated, where that role is the owner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, LiteralString, TypeAlias

import psycopg

HEADER = """\
-- The schemas log and log_guard as they are after all migrations. Generated; do not edit:
--
--   manage.py logschema > audit/event_store/schema.sql
--
-- The migrations that made it (audit/migrations/sql) say why each thing is as it is. The monthly partitions of
-- log.event and log.batch are made by log.ensure_month. What has no OWNER here belongs to the role that migrated."""

Rows: TypeAlias = Callable[[LiteralString], list[tuple[Any, ...]]]

_COLUMNS = """
select n.nspname, c.relname, pg_get_partkeydef(c.oid), c.reloptions,
       a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where n.nspname in ('log', 'log_guard') and c.relkind in ('r', 'p') and not c.relispartition
order by n.nspname, c.relname collate "C", a.attnum
"""

# From PostgreSQL 18 on, NOT NULL is a constraint, too ('n'); the columns show it.
_CONSTRAINTS = """
select n.nspname, c.relname, k.contype, k.conname, pg_get_constraintdef(k.oid)
from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'log_guard') and k.contype in ('p', 'u', 'c', 'f') and not c.relispartition
order by n.nspname, c.relname collate "C", position(k.contype::text in 'pucf'), k.conname collate "C"
"""

_INDEXES = """
select pg_get_indexdef(i.indexrelid)
from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'log_guard') and not c.relispartition
  and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
order by n.nspname, c.relname collate "C", i.indexrelid::regclass::text collate "C"
"""

_VIEWS = """
select n.nspname, c.relname, pg_get_viewdef(c.oid)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'log_guard') and c.relkind = 'v' order by n.nspname, c.relname collate "C"
"""

_FUNCTIONS = """
select pg_get_functiondef(p.oid)
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname in ('log', 'log_guard') order by n.nspname, p.proname collate "C", p.oid::regprocedure::text
"""

_TRIGGERS = """
select n.nspname, c.relname, t.tgname, pg_get_triggerdef(t.oid), t.tgenabled
from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'log_guard') and not t.tgisinternal and not c.relispartition
order by n.nspname, c.relname collate "C", t.tgname collate "C"
"""

_EVENT_TRIGGERS = """
select e.evtname, e.evtevent, coalesce(e.evttags, '{}'), p.oid::regprocedure::text, e.evtenabled
from pg_event_trigger e join pg_proc p on p.oid = e.evtfoid join pg_namespace n on n.oid = p.pronamespace
where n.nspname in ('log', 'log_guard') order by e.evtname collate "C"
"""

# What has an owner and privileges: kind, name, owner, grantee (null: everybody), privilege.
_PRIVILEGES = """
select o.kind, o.name, pg_get_userbyid(o.owner), r.rolname, a.privilege_type
from (
  select 1 as rank, 'SCHEMA' as kind, quote_ident(nspname) as name, nspowner as owner, nspacl as acl
    from pg_namespace where nspname in ('log', 'log_guard')
  union all
  select 2, 'TABLE', c.oid::regclass::text, c.relowner, c.relacl from pg_class c
    where c.relnamespace in (select oid from pg_namespace where nspname in ('log', 'log_guard'))
      and c.relkind in ('r', 'p', 'v') and not c.relispartition
  union all
  select 3, 'FUNCTION', p.oid::regprocedure::text, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
    from pg_proc p where p.pronamespace in (select oid from pg_namespace where nspname in ('log', 'log_guard'))
) o
left join lateral aclexplode(o.acl) a on a.grantee <> o.owner
left join pg_roles r on r.oid = a.grantee
order by o.rank, o.name collate "C", r.rolname collate "C" nulls first, a.privilege_type
"""

_OUR_ROLE = "cabochon_"
_FIRING = {"A": "ENABLE ALWAYS", "R": "ENABLE REPLICA", "D": "DISABLE"}  # and "O", as created


def schema_sql(connection: psycopg.Connection[Any]) -> str:
    """Return the SQL that creates the two schemas as they are in this database, which a superuser migrated."""

    def rows(statement: LiteralString) -> list[tuple[Any, ...]]:
        return connection.execute(statement).fetchall()

    with connection.transaction(force_rollback=True):
        connection.execute("select set_config('search_path', '', true)")  # so that every name comes with its schema
        parts = [HEADER, "CREATE SCHEMA log;\nCREATE SCHEMA log_guard;"]
        for part in (_tables, _indexes, _views, _functions, _triggers, _privileges, _event_triggers):
            parts += part(rows)
    return "\n\n".join(parts) + "\n"


def _tables(rows: Rows) -> Iterator[str]:
    constraints = rows(_CONSTRAINTS)
    for (schema, name, partition_key, options), columns in groupby(rows(_COLUMNS), key=lambda row: row[:4]):
        lines = [_column(*column[4:]) for column in columns]
        lines += [
            f"CONSTRAINT {constraint} {definition}"
            for of_schema, of_table, kind, constraint, definition in constraints
            if (of_schema, of_table) == (schema, name) and kind != "f"
        ]
        partitioned = f" PARTITION BY {partition_key}" if partition_key else ""
        storage = f" WITH ({', '.join(options)})" if options else ""
        yield f"CREATE TABLE {schema}.{name} (\n    " + ",\n    ".join(lines) + f"\n){partitioned}{storage};"
    for schema, name, kind, constraint, definition in constraints:
        if kind == "f":  # once every table is there
            yield f"ALTER TABLE {schema}.{name} ADD CONSTRAINT {constraint} {definition};"


def _column(name: str, type: str, is_required: bool, identity: str, default: str | None) -> str:
    generated = {"a": " GENERATED ALWAYS AS IDENTITY", "d": " GENERATED BY DEFAULT AS IDENTITY"}.get(identity, "")
    return f"{name} {type}{generated}{f' DEFAULT {default}' if default else ''}{' NOT NULL' if is_required else ''}"


def _indexes(rows: Rows) -> Iterator[str]:
    for (definition,) in rows(_INDEXES):
        yield f"{definition};"


def _views(rows: Rows) -> Iterator[str]:
    for schema, name, definition in rows(_VIEWS):
        # Before version 16 the columns of a view's only relation, a subquery here, bear its alias.
        for alias in re.findall(r"\) (\w+)$", definition, re.MULTILINE):
            definition = re.sub(rf"\b{alias}\.", "", definition)
        yield f"CREATE VIEW {schema}.{name} AS\n{definition}"


def _functions(rows: Rows) -> Iterator[str]:
    for (definition,) in rows(_FUNCTIONS):
        yield f"{definition.rstrip()};"


def _triggers(rows: Rows) -> Iterator[str]:
    for schema, name, trigger, definition, enabled in rows(_TRIGGERS):
        firing = f"\nALTER TABLE {schema}.{name} {_FIRING[enabled]} TRIGGER {trigger};" if enabled in _FIRING else ""
        yield f"{definition};{firing}"


def _event_triggers(rows: Rows) -> Iterator[str]:
    for name, event, tags, function, enabled in rows(_EVENT_TRIGGERS):
        when = f" WHEN TAG IN ({', '.join(repr(tag) for tag in tags)})" if tags else ""
        firing = f"\nALTER EVENT TRIGGER {name} {_FIRING[enabled]};" if enabled in _FIRING else ""
        yield f"CREATE EVENT TRIGGER {name} ON {event}{when} EXECUTE FUNCTION {function};{firing}"


def _privileges(rows: Rows) -> Iterator[str]:
    for (kind, name, owner), granted in groupby(rows(_PRIVILEGES), key=lambda row: row[:3]):
        grants = [(grantee, privilege) for *_, grantee, privilege in granted if privilege]
        lines: list[str] = []
        if owner.startswith(_OUR_ROLE):
            lines.append(f"ALTER {kind} {name} OWNER TO {owner};")
        if kind == "FUNCTION" and (None, "EXECUTE") not in grants:
            lines.append(f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC;")
        for grantee, privilege in grants:
            if (kind, grantee) != ("FUNCTION", None):  # which is as created
                lines.append(f"GRANT {privilege} ON {kind} {name} TO {grantee or 'PUBLIC'};")
        if lines:
            yield "\n".join(lines)
