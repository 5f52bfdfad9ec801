"""The manifest of ``audit.access.database_roles`` and this database: what it grants, lacks, and has too much.

``apply`` gives each role exactly what the manifest says. It reports what the migrating account may not do, and leaves
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.utils import DatabaseError, ProgrammingError

from audit.access.database_roles import (
    EVERYBODY,
    FUNCTIONS,
    KEPT_BY_THE_MIGRATOR,
    MEMBERSHIPS,
    ON_A_CLUSTER,
    OWNER,
    ROLES,
    SCHEMAS,
    TABLES,
    WEB,
    WORKER,
)
from audit.access.role_queries import ACCOUNT, FUNCTIONS_HERE, GRANTED, MEMBERS, TABLES_HERE
from audit.event_store import cluster


@dataclass(frozen=True, slots=True, order=True)
class Privilege:
    """A privilege of ``grantee`` on ``name``, of a ``kind`` of object; on ``column`` alone unless that is ""."""

    kind: str
    name: str
    grantee: str
    privilege: str
    column: str = ""

    def __str__(self) -> str:
        column = f" ({self.column})" if self.column else ""
        return f"{self.grantee}: {self.privilege}{column} on {self.name}"


_ITEM = re.compile(r"(\w+)(?: \(([^)]*)\))?(?:, |$)")

Report = Callable[[str], object]


def wanted() -> set[Privilege]:
    """Return every privilege of the manifest on what this database has."""
    signatures: dict[str, list[str]] = {}
    for name, signature, _owner in _rows(FUNCTIONS_HERE):
        signatures.setdefault(name, []).append(signature)
    tables = {name for name, _owner in _rows(TABLES_HERE)}
    privileges = {
        Privilege("schema", name, role, privilege)
        for name, granted in SCHEMAS.items()
        for role, privilege in granted.items()
    }
    for name, roles in {**FUNCTIONS, **(ON_A_CLUSTER if cluster.is_distributed() else {})}.items():
        privileges |= {
            Privilege("function", each, role, "execute") for each in signatures.get(name, ()) for role in roles
        }
    for name in tables & TABLES.keys():
        for role, items in TABLES[name].items():
            for privilege, columns in _ITEM.findall(items):
                privileges |= {
                    Privilege("table", name, role, privilege, column) for column in (columns.split(", ") or [""])
                }
    return privileges


def granted(grantees: Collection[str]) -> set[Privilege]:
    """Return what is granted to ``grantees`` in this database, to others than the owners of things."""
    return {Privilege(*row) for row in _rows(GRANTED) if row[2] in grantees}


def unnamed() -> list[str]:
    """Return the tables, views and functions of this database that the manifest does not name."""
    tables = [name for name, _owner in _rows(TABLES_HERE) if name not in TABLES]
    return tables + [f"{name}()" for name in sorted({row[0] for row in _rows(FUNCTIONS_HERE)} - FUNCTIONS.keys())]


def misowned() -> list[str]:
    """Return the tables and functions that do not belong to the owner, though the role exists."""
    if OWNER not in _existing():
        return []
    of_others = [name for name, owner in _rows(TABLES_HERE) if owner != OWNER and not name.startswith("log_guard.")]
    return of_others + [
        f"{name}()"
        for name, _signature, owner in _rows(FUNCTIONS_HERE)
        if owner != OWNER and name in FUNCTIONS.keys() - set(KEPT_BY_THE_MIGRATOR)
    ]


def missing() -> list[Privilege]:
    """Return the privileges that the manifest gives and this database does not."""
    if len(_existing()) < len(ROLES):
        return []
    expected = wanted()
    return sorted(expected - granted({each.grantee for each in expected}))


def excessive() -> list[Privilege]:
    """Return what our roles, their members and everybody are granted and the manifest does not give."""
    return sorted(granted({*ROLES, EVERYBODY, *accounts()}) - wanted())


def accounts() -> set[str]:
    """Return the accounts that are members of our roles, directly or not, superusers excepted."""
    members = [(member, role) for member, role in _rows(MEMBERS)]
    found: set[str] = set()
    while new := {member for member, role in members if role in {*ROLES, *found}} - found - {*ROLES}:
        found |= new
    superusers = {name for (name,) in _rows("select rolname from pg_roles where rolsuper")}
    return found - superusers


def lacking_roles() -> list[str]:
    """Return the roles of the manifest that this server does not have."""
    return sorted(set(ROLES) - _existing())


def how_to_get_roles() -> str:
    """Return what to run, as whom, where roles are missing and the migrating account may not create them."""
    account = dict(_rows(TABLES_HERE)).get("log.event", "the account that migrates")
    statements = [f"create role {role} nologin;" for role in lacking_roles()]
    statements += [f"grant {role} to {member};" for member, of in MEMBERSHIPS.items() for role in of]
    return "\n".join(
        [
            f"Until the roles of the database are there, every process that serves must sign in as {account}, who owns",
            "the record, and nothing in the database holds it back. Run once, as a superuser of this server:",
            "    DATABASE_URL=postgres://SUPERUSER@HOST/DATABASE manage.py migrate",
            "or have an account that may create roles run this SQL, and then run manage.py migrate again as",
            f"{account}, with whom the tables stay:",
            *(f"    {statement}" for statement in statements),
        ]
    )


def accounts_of_everything() -> list[str]:
    """Return the accounts that are web server and worker in one; commands are to be."""
    present = {(member, role) for member, role in _rows(MEMBERS)}
    both = {member for member, role in present if role == WEB} & {member for member, role in present if role == WORKER}
    return sorted((both - {*ROLES}) | ({WEB} if (WEB, WORKER) in present else set()))


def lacking_memberships() -> list[tuple[str, str]]:
    """Return which role is to be a member of which other and is not: member, role."""
    if len(_existing()) < len(ROLES):
        return []
    present = {(member, role) for member, role in _rows(MEMBERS)}
    return [(member, role) for member, of in MEMBERSHIPS.items() for role in of if (member, role) not in present]


def apply(report: Report = print) -> None:
    """Make roles, owners and privileges what the manifest says. Idempotent; nothing is locked where nothing changes.

    What the migrating account may not do is reported, and the rest is done.
    """
    [(account, is_superuser, may_make_roles)] = _rows(ACCOUNT)
    with transaction.atomic():
        if may_make_roles:
            _make_roles()
        if lacking_roles():
            _revoke_excessive(report)  # of everybody: PostgreSQL lets everybody call a new function
            report(f"{account} may not create roles. {how_to_get_roles()}")
            return
        with _maintenance(is_superuser):
            _apply_memberships(report)
            if is_superuser:
                _hand_over()
            _revoke_excessive(report)
            for each in missing():
                _attempt(_statement("grant", each), report)
    for name in unnamed():
        report(f"{name} is not in audit/access/database_roles.py: nobody but its owner may use it.")


def _make_roles() -> None:
    for role in sorted(set(ROLES) - _existing()):
        try:
            with transaction.atomic():
                _execute(f"create role {role} nologin")
        except DatabaseError:  # another database of this server made it in the meantime
            if role not in _existing():
                raise


def _apply_memberships(report: Report) -> None:
    for member, role in lacking_memberships():
        _attempt(f"grant {role} to {member}", report)


def _hand_over() -> None:
    """Give the owner what is the owner's. Only a superuser may."""
    for name, owner in _rows(TABLES_HERE):
        if owner != OWNER and not name.startswith("log_guard."):
            _execute(f"alter table {_quoted(name)} owner to {OWNER}")
    for name, signature, owner in _rows(FUNCTIONS_HERE):
        if owner != OWNER and name in FUNCTIONS.keys() - set(KEPT_BY_THE_MIGRATOR):
            _execute(f"alter function {signature} owner to {OWNER}")


def _revoke_excessive(report: Report) -> None:
    for each in excessive():
        _attempt(_statement("revoke", each), report)


def _statement(verb: str, each: Privilege) -> str:
    column = f' ("{each.column}")' if each.column else ""
    name = _quoted(each.name) if each.kind == "table" else each.name
    grantee = each.grantee if each.grantee == EVERYBODY else f'"{each.grantee}"'
    return f"{verb} {each.privilege}{column} on {each.kind} {name} {'to' if verb == 'grant' else 'from'} {grantee}"


def _attempt(statement: str, report: Report) -> None:
    try:
        with transaction.atomic():
            _execute(statement)
    except ProgrammingError as error:
        report(f"{statement}: {str(error).strip()}")


@contextmanager
def _maintenance(is_superuser: bool) -> Iterator[None]:
    """Open maintenance of the log, if its guard would refuse what is to change."""
    of_log = [each for each in [*missing(), *excessive()] if each.name.startswith("log")]
    owned_wrongly = [name for name in misowned() if name.startswith("log.")]
    is_guarded = _rows("select to_regclass('log_guard.maintenance') is not null") == [(True,)]
    if is_superuser and is_guarded and (of_log or owned_wrongly):
        _execute("insert into log_guard.maintenance (reason) values ('roles and grants')")
    yield


def _existing() -> set[str]:
    return {name for (name,) in _rows("select rolname from pg_roles where rolname = any (%s)", list(ROLES))}


def _quoted(name: str) -> str:
    return ".".join(f'"{part}"' for part in (name if "." in name else f"public.{name}").split("."))


def _rows(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return list(cursor.fetchall())


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
