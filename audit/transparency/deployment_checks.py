"""Deployment checks (``manage.py check --deploy --database default``): is the log protected from the application?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from django.core.checks import CheckMessage, Error, Warning
from django.db import DatabaseError, connection

from audit.access import applied_roles
from audit.access.database_roles import OWNER
from audit.event_store import cluster
from audit.transparency import signing_keys, witnesses
from audit.transparency.signed_notes import BadNote
from audit.transparency.signing_keys import NoSigningKey, Purpose

APPEND_ONLY = ("stream", "event", "batch", "leaf", "subtree", "checkpoint", "key")

_PRIVILEGES = """
select current_user,
       (select rolsuper from pg_roles where rolname = current_user),
       exists (select from pg_class c where c.relnamespace = to_regnamespace('log')
               and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'member'))
"""

# For each append-only table and partition: which of its two triggers is missing or not set to fire always.
_UNPROTECTED = """
select c.relname, required.trigger
from pg_class c
left join pg_inherits i on i.inhrelid = c.oid
left join pg_class parent on parent.oid = i.inhparent
cross join unnest(array['no_change', 'no_truncate']) as required (trigger)
where c.relnamespace = to_regnamespace('log') and c.relkind in ('r', 'p')
  and coalesce(parent.relname, c.relname) = any (%s)
  and not exists (select from pg_trigger t
                  where t.tgrelid = c.oid and t.tgname = required.trigger and t.tgenabled = 'A')
order by 1, 2
"""

_GUARDS = "select evtname from pg_event_trigger where evtname in ('log_no_change', 'log_no_drop') and evtenabled = 'A'"


def check_log(*, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Report privileges on the log that the application does not need, missing guards, and missing keys."""
    if "default" not in (databases or ()):
        return []
    return [*_privileges(), *_manifest(), *_guards(), *_nearby(), *_keys(), *_disk()]


def _rows(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def _privileges() -> Iterator[CheckMessage]:
    [(role, is_superuser, is_owner)] = _rows(_PRIVILEGES)
    if is_superuser:
        yield Warning(
            f"The application connects as {role}, a superuser: nothing in the database holds it back.",
            hint="Migrate as a superuser; serve as a role that is granted cabochon_writer and cabochon_reader.",
            id="audit.W001",
        )
    elif is_owner:
        yield Warning(
            f"The application connects as {role}, who owns the log and may alter its tables.",
            hint="Migrate as a superuser, which hands the tables to cabochon_owner.",
            id="audit.W002",
        )


def _manifest() -> Iterator[CheckMessage]:
    """Compare the privileges in this database with those that the roles are to have."""
    again = "Run manage.py migrate as a superuser: it applies audit/access/database_roles.py."
    if lacking := applied_roles.lacking_roles():
        yield Error(
            f"The roles of the database are missing: {', '.join(lacking)}.",
            hint=applied_roles.how_to_get_roles(),
            id="audit.E007",
        )
    for name in applied_roles.unnamed():
        yield Error(
            f"{name} is not in the manifest of the database's roles.",
            hint="Say in audit/access/database_roles.py who may use it.",
            id="audit.E002",
        )
    for privilege in applied_roles.excessive():
        if privilege.name.startswith("pg_catalog."):  # only a superuser may take it, and a hosted server may have none
            yield Warning(f"{privilege} is too much.", hint=again, id="audit.W010")
        else:
            yield Error(f"{privilege} is too much.", hint=again, id="audit.E003")
    for privilege in applied_roles.missing():
        yield Error(f"{privilege} is missing.", hint=again, id="audit.E004")
    for name in applied_roles.misowned():
        yield Error(f"{name} does not belong to {OWNER}.", hint=again, id="audit.E005")
    for member, role in applied_roles.lacking_memberships():
        yield Error(f"{member} is no member of {role}.", hint=again, id="audit.E006")
    for account in applied_roles.accounts_of_everything():
        yield Warning(
            f"{account} serves both web and workers: whoever takes over a web server may also store findings.",
            hint="Give web servers, workers and the sequencer an account each: docs/deployment.md.",
            id="audit.W006",
        )


def _guards() -> Iterator[CheckMessage]:
    if len(_rows(_GUARDS)) < 2:
        yield Warning(
            "Nothing refuses DDL that would weaken the log.",
            hint="Run audit/event_store/sql/guard.sql as a superuser, or enable the event triggers again.",
            id="audit.W003",
        )
    for node, what in cluster.unprotected() if cluster.is_distributed() else ():
        yield Error(
            f"The worker {node} has unprotected: {what}",
            hint="Run manage.py distribute as a superuser, and manage.py verify: some may be changed already.",
            id="audit.E009",
        )
    for relation, trigger in _rows(_UNPROTECTED, list(APPEND_ONLY)):
        yield Error(
            f"log.{relation} lacks its trigger {trigger}, or it does not fire always: rows can be changed.",
            hint="Open log_guard.maintenance, call log.protect, and run manage.py verify: some may be changed already.",
            id="audit.E001",
        )


def _nearby() -> Iterator[CheckMessage]:
    """Report a ``CABOCHON_NEAR_URL`` by which events would be appended to another log, or to none."""
    try:
        is_of_the_cluster = cluster.is_near_of_the_same()
    except DatabaseError as error:
        yield Error(f"CABOCHON_NEAR_URL does not answer: {error}", hint="Leave it out, or start it.", id="audit.E010")
        return
    if not is_of_the_cluster:
        yield Error(
            "CABOCHON_NEAR_URL is no node of the cluster of DATABASE_URL: what it appends is in another log.",
            hint="Leave it out: a worker that DATABASE_URL names is the node nearby by itself.",
            id="audit.E010",
        )


_WHO_SIGNS = {
    "checkpoint": "Where the sequencer does not run, this is as it should be. The sequencer",
    "receipt": "A web server",
}


def _keys() -> Iterator[CheckMessage]:
    for purpose in get_args(Purpose):
        try:
            signing_keys.signer(purpose, datetime.now(UTC))
        except NoSigningKey as error:
            yield Warning(
                str(error),
                hint=f"{_WHO_SIGNS[purpose]} needs it: run manage.py logkey --make once, or copy its folder there.",
                id="audit.W004",
            )
    for path in signing_keys.keys_not_apart():
        yield Warning(
            f"{path} signs checkpoints, and is in the folder of the keys that sign receipts: web servers can read it.",
            hint="Run manage.py logkey --apart, and let nobody but the sequencer read CABOCHON_CHECKPOINT_KEYS.",
            id="audit.W007",
        )
    try:
        witnesses.configured()
    except BadNote as error:
        yield Error(str(error), hint="It is a list of KEY ADDRESS, separated by commas.", id="audit.E008")
    if signing_keys.origin().startswith("cabochon.localhost/"):
        yield Warning(
            f"The log is called {signing_keys.origin()}, as every other one that was given no name.",
            hint="Set CABOCHON_ORIGIN to a name of your own, as casino.example/log, before its first checkpoint.",
            id="audit.W005",
        )


def _disk() -> Iterator[CheckMessage]:
    [(checksums,)] = _rows("select current_setting('data_checksums')")
    if checksums != "on":
        yield Warning(
            "The cluster has no data checksums: PostgreSQL reads a page that the disk has damaged as if it were whole.",
            hint="Stop the server and run pg_checksums --enable; initdb --data-checksums makes a cluster with them.",
            id="audit.W008",
        )
