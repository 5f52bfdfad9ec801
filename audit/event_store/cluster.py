"""Where the log is: in one PostgreSQL, or over the nodes of a Citus cluster, as ``manage.py distribute`` leaves it.

``citus.sql`` says what is on which node. A process looks once for each database: it is to be started again when the log
of its database was distributed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection, connections, transaction

from audit.event_store import binary_copy
from audit.event_store.any_node.base import NEAR

_SQL = Path(__file__).parent / "citus.sql"

_HAS_CITUS = "select to_regclass('pg_catalog.pg_dist_partition') is not null"
_HAS_WORKERS = "select exists (select from pg_dist_node where isactive and noderole = 'primary' and groupid > 0)"
_IS_DISTRIBUTED = "select exists (select from pg_dist_partition where logicalrelid = to_regclass('log.event'))"

_NODES = """
select current_database(), array_agg(format('%s %s:%s', groupid, nodename, nodeport) order by nodeid) from pg_dist_node
"""

_GUARD_PARTS = """
select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'log_guard'::regnamespace
union all
select format('create or replace view %s as select * from (%s) here%s', c.oid::regclass,
              rtrim(pg_get_viewdef(c.oid), ';'),
              case c.relname when 'misplaced' then ' where name not in (''leaf'', ''subtree'', ''checkpoint'')' end)
from pg_class c where c.relnamespace = 'log_guard'::regnamespace and c.relkind = 'v'
"""

# What Citus does not bring to a node by itself: the table of maintenance, and event triggers.
_GUARD = """
do $cluster$
begin
  set local citus.enable_ddl_propagation = off;
  set local check_function_bodies = off;
  create schema if not exists log_guard;
  if to_regclass('log_guard.maintenance') is null then
    create table log_guard.maintenance (
      id          bigint      generated always as identity primary key,
      reason      text        not null,
      opened_by   text        not null default session_user,
      opened_at   timestamptz not null default clock_timestamp(),
      closed_at   timestamptz,
      transaction xid8        not null default pg_current_xact_id());
    create index maintenance_open on log_guard.maintenance (transaction) where closed_at is null;
  end if;
  insert into log_guard.maintenance (reason) values ('distribute');
  %s
  if not exists (select from pg_trigger
                 where tgrelid = 'log_guard.maintenance'::regclass and tgname = 'close_at_commit') then
    create constraint trigger close_at_commit after insert on log_guard.maintenance deferrable initially deferred
      for each row execute function log_guard.close_maintenance();
    alter table log_guard.maintenance enable always trigger close_at_commit;
  end if;
  if not exists (select from pg_event_trigger where evtname = 'log_no_change') then
    create event trigger log_no_change on ddl_command_end execute function log_guard.refuse_change();
  end if;
  if not exists (select from pg_event_trigger where evtname = 'log_no_drop') then
    create event trigger log_no_drop on sql_drop execute function log_guard.refuse_drop();
  end if;
  revoke all on schema log_guard from public;
  alter event trigger log_no_change enable always;
  alter event trigger log_no_drop enable always;
end $cluster$
"""

_UNPROTECTED = """
select nodename || ':' || nodeport, success, result from run_command_on_workers($$
  select concat_ws(', ',
    case when (select count(*) from pg_event_trigger
               where evtname in ('log_no_change', 'log_no_drop') and evtenabled = 'A') < 2 then 'no guard' end,
    (select string_agg(c.relname, ', ' order by c.relname) from pg_class c
      where c.relnamespace = to_regnamespace('log') and c.relkind in ('r', 'p')
        and c.relname ~ '^(stream|event|batch|key|stream_head)(_?[0-9]{6}|_sandbox)?(_[0-9]+)?$'
        and (select count(*) from pg_trigger t where t.tgrelid = c.oid and t.tgenabled = 'A'
             and t.tgname ~ '^(no_change|forward_only|no_truncate)(_[0-9]+)?$') < 2))
$$) where not success or result <> '' order by 1
"""


_READ_THROUGH = (
    (r"\blog\.stream_head (?=[a-z])", "log_node.heads() "),
    (r"\blog\.outbox o join log\.batch b using \(stream_id, first_seq\)", "log_node.unsealed() b"),
    (r"\blog\.outbox (\w) where \1\.stream_id = (\w\.stream_id)", r"log_node.outbox_of(\2) \1 where true"),
    (r"\blog\.batch (\w) where \1\.stream_id = (\w\.stream_id)", r"log_node.batches_of(\2) \1 where true"),
    (r"\blog\.batch where stream_id = (\w\.stream_id)", r"log_node.batches_of(\1) where true"),
    (r"\blog\.event (\w)\s+where \1\.stream_id = (\w\.stream_id)", r"log_node.events_of(\2) \1 where true"),
    (r"\bjoin log\.batch (\w) on \1\.stream_id = (\w\.stream_id)", r"join log_node.batches_of(\2) \1 on true"),
    (r"\bjoin log\.event (\w) on \1\.stream_id = (\w\.stream_id)", r"join log_node.events_of(\2) \1 on true"),
)
_OF_ALL = r"unnest(\1) as u (u_id) cross join lateral log_node.{}(u.u_id) {} where true"
_READ_AS_THE_OWNER = (
    (r"\blog\.event where stream_id = any \((%b::bigint\[\])\)", _OF_ALL.format("events_of", "event")),
    (r"\blog\.event l where l\.stream_id = any \((%b::bigint\[\])\)", _OF_ALL.format("events_of", "l")),
    (r"\blog\.batch where stream_id = any \((%b::bigint\[\])\)", _OF_ALL.format("batches_of", "batch")),
    (r"\blog\.stream_head where stream_id = any \((%b::bigint\[\])\)", _OF_ALL.format("head_of", "stream_head")),
    (
        r"\bjoin log\.event e using \(stream_id, seq\)",
        "join lateral log_node.events_of(s.stream_id) e using (stream_id, seq)",
    ),
    (r"\blog\.event c where c\.stream_id = l\.stream_id", "log_node.events_of(l.stream_id) c where true"),
    (r"\blog\.event where stream_id = (%b::bigint|\d+)", r"log_node.events_of(\1) event where true"),
    (r"\blog\.event e\s+where e\.stream_id = (%b::bigint|\d+)", r"log_node.events_of(\1) e where true"),
    (r"\blog\.batch b where b\.stream_id = (%b::bigint|\d+)", r"log_node.batches_of(\1) b where true"),
    (r"\blog\.batch where stream_id = (%b::bigint|\d+)", r"log_node.batches_of(\1) batch where true"),
    (r"\blog\.stream_head where stream_id = (%b::bigint|\d+)", r"log_node.head_of(\1) stream_head where true"),
)
"""The same for a transaction that has written to the stream it reads."""
_READ_THROUGH_TO_WRITE = (
    (r"\blog\.stream s\s+where s\.stream_id = (%\(stream\)s)", r"log_node.stream_of(\1) s where true"),
    (r"\blog\.stream (?=[a-z])", "log_node.streams() "),
)
"""How a statement reads the log that also reads tables of the coordinator: what it has, and what it gets instead."""


_WRITES = re.compile(r"\b(insert into|update) audit_")


class NotCitus(Exception):
    """This database is not that of a Citus cluster with a worker. The text says what it lacks."""


class Unguarded(Exception):
    """A worker does not answer, or does not refuse every change: it was added, and ``distribute`` not run after it."""


def is_distributed() -> bool:
    """Return whether events are on other nodes than the one that the process is connected to."""
    given = connection.settings_dict
    return _is_distributed(given["HOST"], given["PORT"], given["NAME"])


@cache
def _is_distributed(*database: object) -> bool:
    return _is(_HAS_CITUS) and _is(_IS_DISTRIBUTED)


def is_near_of_the_same() -> bool:
    """Return whether the node of ``CABOCHON_NEAR_URL`` has the same database of the same cluster; True without one.

    Raise ``DatabaseError`` if it does not answer.
    """
    if NEAR not in settings.DATABASES:
        return True
    if not _is(_HAS_CITUS):
        return False
    with connections[NEAR].cursor() as near, connection.cursor() as own:
        near.execute(_HAS_CITUS)
        if near.fetchone() != (True,):
            return False
        for each in (near, own):
            each.execute(_NODES)
        return bool(near.fetchone() == own.fetchone())


def distribute() -> bool:
    """Distribute the log over the workers of the cluster, guarded on each. Return whether it was not yet.

    By a superuser, while no process uses the log. Idempotent: what a migration has changed, and a
    worker that was added, are brought to the same. Raise ``NotCitus``.
    """
    if not _is(_HAS_CITUS):
        raise NotCitus("This database has no extension citus.")
    if not _is(_HAS_WORKERS):
        raise NotCitus("The cluster has no worker: citus_add_node comes first.")
    was = _is(_IS_DISTRIBUTED)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set local client_min_messages = warning")
        cursor.execute(_SQL.read_text())
    _guard_workers()
    _is_distributed.cache_clear()
    return not was


def _guard_workers() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_GUARD_PARTS)
        parts = "\n".join(f"execute $part${part}$part$;" for (part,) in cursor.fetchall())
        cursor.execute(
            "select nodename || ':' || nodeport, result from run_command_on_workers(%s) where not success",
            [_GUARD.replace("%s", parts)],
        )
        for node, result in cursor.fetchall():
            raise NotCitus(f"The worker {node} has no guard: {result}")


_NO_ANSWER = "no answer"


def unprotected() -> list[tuple[str, str]]:
    """Return the workers that lack a trigger on a shard, or the guard, or that do not answer: node, and what."""
    with connection.cursor() as cursor:
        cursor.execute(_UNPROTECTED)
        return [(node, what if success else f"{_NO_ANSWER}: {what}") for node, success, what in cursor.fetchall()]


def readable(statement: str) -> str:
    """Return a statement about the log and tables of the coordinator in the form in which this database can run it."""
    if not is_distributed():
        return statement
    return _through(statement, _READ_THROUGH + (_READ_THROUGH_TO_WRITE if _WRITES.search(statement) else ()))


@contextmanager
def reading_what_it_wrote() -> Iterator[None]:
    """Read streams of a cluster here under the role that writes to them: Citus demands one role in a transaction.

    Each statement reads all of its stream. That is for a transaction that appends and then reads.
    """
    if not is_distributed():
        yield
        return
    with binary_copy.rewriting(_as_the_owner):
        yield


def _as_the_owner(statement: str) -> str:
    return _through(statement, _READ_AS_THE_OWNER + _READ_THROUGH)


@cache
def _through(statement: str, patterns: tuple[tuple[str, str], ...]) -> str:
    for pattern, function in patterns:
        statement = re.sub(pattern, function, statement)
    return statement


@contextmanager
def partitions_may_change() -> Iterator[None]:
    """Let shards be made and dropped by the owner of the log in this block, which is outside of any transaction.

    Killed in it, the owner keeps the privilege to make tables in the schema ``log`` until the next such block takes it
    away; he does not sign in but from node to node. Raise ``Unguarded``.
    """
    if not is_distributed():
        yield
        return
    for node, what in unprotected():
        if what.startswith(_NO_ANSWER):
            raise Unguarded(f"the worker {node} gives {what}")
        raise Unguarded(f"the worker {node} has unprotected: {what}; run manage.py distribute")
    binary_copy.execute("select log_node.allow_moves(true)", ())
    try:
        yield
    finally:
        binary_copy.execute("select log_node.allow_moves(false)", ())


def change_partitions_as_the_owner() -> None:
    """Do the rest of this transaction, which changes partitions, as Citus allows it: under the log's owner.

    On one server it is done as whoever signed in.
    """
    if is_distributed():
        binary_copy.execute("select log_node.begin_to_archive()", ())


@contextmanager
def nothing_half_committed() -> Iterator[None]:
    """Wait until what commits on several nodes is committed on all of them, and let nothing like it begin."""
    lock = "hashtext('log.view')"
    binary_copy.execute(f"select pg_advisory_lock({lock})", ())
    try:
        yield
    finally:
        binary_copy.execute(f"select pg_advisory_unlock({lock})", ())


def _is(statement: str) -> bool:
    [(result,)] = binary_copy.execute(statement, ())
    return bool(result)
