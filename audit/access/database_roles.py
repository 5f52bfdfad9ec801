"""The roles of the database, and what each may do: one manifest, which every migrate applies and every check compares.

| role | who is a member | may |
|---|---|---|
| ``cabochon_owner`` | nobody; it never signs in | owns every table and the functions below |
| ``cabochon_web`` | web servers | what the desk and the API need, in addition to reading and appending |
| ``cabochon_worker`` | workers and beat | what replay, nights and jobs need, in addition to reading and appending |
| ``cabochon_sequencer`` | the sequencer | seal batches, register keys, keep cosignatures, report tampering; reads |
| ``cabochon_operator`` | who runs commands | what the three above may, and make officers by a command |
| ``cabochon_writer`` | web and worker | append to the log, open its streams |
| ``cabochon_reader`` | web, worker, sequencer; auditors | read the record, without passwords, keys and sessions |

No role may rewrite a finding's identity, an action, a signature, an account, its role, link or password, a request
about it, the house register, or a decision on a correction: the functions of migrations 0018, 0022, 0024 and 0025 write
these, each with its entry of the audit trail. Whoever adds a table or a function adds a line here; until then a test
and ``manage.py check --deploy --database default`` name it.

``apply`` gives each role exactly this. What the migrating account may not do, it reports and leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.utils import DatabaseError, ProgrammingError

from audit.access.role_queries import ACCOUNT, FUNCTIONS_HERE, GRANTED, MEMBERS, TABLES_HERE

OWNER, WEB, WORKER, SEQUENCER, OPERATOR, WRITER, READER = ROLES = (
    "cabochon_owner",
    "cabochon_web",
    "cabochon_worker",
    "cabochon_sequencer",
    "cabochon_operator",
    "cabochon_writer",
    "cabochon_reader",
)

EVERYBODY = "public"

MEMBERSHIPS: Mapping[str, tuple[str, ...]] = {
    WEB: (WRITER, READER),
    WORKER: (WRITER, READER),
    SEQUENCER: (READER,),
    OPERATOR: (WEB, WORKER, SEQUENCER),
}
"""Of which roles each is a member."""

SCHEMAS: Mapping[str, Mapping[str, str]] = {
    "public": dict.fromkeys((EVERYBODY, OWNER, WEB, WORKER, SEQUENCER, OPERATOR, WRITER, READER), "usage"),
    "log": dict.fromkeys((OWNER, SEQUENCER, WRITER, READER), "usage"),
    "log_guard": {},
}

_READ = {READER: "select"}
_INSERTED = {READER: "select", WORKER: "insert"}
_KEPT = {READER: "select", WORKER: "insert, update, delete"}
_ALL, _DELIVERY = "select, insert, update, delete", "sent_at, failures, failing_since, next_try_at, given_up_at, error"

TABLES: Mapping[str, Mapping[str, str]] = {
    # The log: written by its functions alone.
    "log.clock": _READ,
    **{
        f"log.{name}": _READ
        for name in ("stream", "stream_head", "event", "batch", "outbox", "leaf", "subtree", "checkpoint", "key")
    },
    **{f"log_guard.{name}": {} for name in ("maintenance", "foreign_grant", "misplaced")},
    # Adjudication: workers compute it. A finding is never deleted, and what it is about never changes.
    "audit_adjudication": {**_READ, WORKER: "insert, update"},
    "audit_retiredwagers": {**_READ, WORKER: "insert, delete"},
    **{f"audit_{name}": _KEPT for name in ("waitingstream", "casinoturn", "leafcursor", "whatiffinding")},
    "audit_heartbeat": {**_READ, WEB: "insert, update", WORKER: "insert, update, delete", SEQUENCER: "insert, update"},
    "audit_cosignature": {**_READ, SEQUENCER: "insert"},  # never changed
    **{f"audit_{name}": {**_READ, SEQUENCER: "insert, update, delete"} for name in ("logfork", "leftbatch")},
    "audit_witnessstate": {**_READ, SEQUENCER: "insert, update"},
    "audit_finding": {
        **_READ,
        # What a finding of a run says never changes: a trigger. One of the night is amended where it is.
        WORKER: "insert, update (run_id, status, stood_at, superseded_at, superseded_by_run_id, severity, evidence,"
        " expected, recorded, provision, facts, currency, occurred_at, after_loss, player, croupier, provisions,"
        " causes, difference, owed, put_right_by)",
    },
    "audit_adjudicationrun": {**_READ, WEB: "update (next_try_at)", WORKER: "insert, update"},
    "audit_whatif": {
        **_READ,
        WEB: "insert, update (streams, promoted_at, promoted_by)",
        WORKER: "insert, update (streams, ended_at)",
    },
    # Casework: a case is opened by its finding and moves under its trigger; an action is never changed.
    "audit_case": {
        **_READ,
        WEB: "update (state, assigned_to_id, outcome, reason, proposed_by_id, approved_by_id, closed_at)",
    },
    **{f"audit_{name}": {**_READ, WEB: "insert"} for name in ("caseaction", "complaint", "complaintanswer")},
    "audit_videorequest": {**_READ, WEB: "insert", WORKER: f"update ({_DELIVERY})"},
    "audit_escalationnotice": {**_READ, WORKER: f"insert, update ({_DELIVERY})"},
    "audit_deadline": {**_READ, WEB: "insert, update (hours), delete"},
    "audit_savedview": {**_READ, WEB: "insert, update, delete"},
    "audit_slipuse": {**_READ, WORKER: "insert, delete"},  # nights: a worker writes a version, signed by functions
    **{f"audit_{name}": _INSERTED for name in ("escalation", "sessionfigures", "streammoney", "streamevidence")},
    **{f"audit_ledger{name}": _INSERTED for name in ("batch", "level", "point", "question", "year")},
    "audit_ledgercursor": {**_READ, WORKER: "insert, update"},
    "audit_ledgerprocess": {  # what was fed, and raised, never changes
        **_READ,
        WEB: "update (ended_at, ended_by, ended_reason)",
        WORKER: "insert, update (state, wealth, highest, opening, year, alpha, sessions, draws)",
    },
    "audit_nightrun": {**_READ, WEB: "insert", WORKER: "insert, update (ended_at, error)"},
    "audit_nightreport": {**_READ, WORKER: "insert"},
    "audit_signoffexception": _READ,
    "audit_nightsubscriber": {**_READ, WEB: "insert, update, delete"},
    "audit_nightdelivery": {**_READ, WEB: "delete", WORKER: "insert"},  # deleted with its subscriber
    # Casinos, tables, keys. One reconciliation at a time locks the casino's row, which takes a right to change it.
    "audit_casino": {**_READ, WEB: "insert, update", WORKER: "update (name)"},
    **{f"audit_{name}": {**_READ, WEB: "insert, update"} for name in ("gamingtable", "casecontacts")},
    # Names are not of the record, and are erased by a function.
    "audit_person": {READER: "select (id, casino_id, code, kind)", WEB: "select, insert, update", WORKER: "select"},
    "audit_apikey": {
        READER: "select (id, casino_id, name, prefix, scopes, created_at, expires_at, revoked_at, last_used_at,"
        " public_key)",
        WEB: "select, insert, update",
        WORKER: "select",
    },
    "audit_apikey_tables": {**_READ, WEB: "insert, delete"},
    "audit_quarantined": {**_READ, WEB: "insert", WORKER: "update (body, purged_at)"},
    "audit_job": {**_READ, WEB: "insert, update (stopped_by_id)", WORKER: "update"},
    # Officers: accounts, passwords, roles, links and requests are written by functions. Commands do more.
    "audit_officer": {
        READER: "select (id, username, first_name, last_name, email, is_active, is_staff, is_superuser, date_joined,"
        " last_login, created_by_id)",
        WEB: "select, update (last_login)",
        WORKER: "select",
        OPERATOR: "update (username, first_name, last_name, email, is_active)",
    },
    "audit_officer_casinos": _READ,
    "audit_accesslink": {
        READER: "select (id, officer_id, is_invitation, issued_by_id, issued_at, expires_at, is_shown, used_at,"
        " revoked_at)",
        WEB: "select",
    },
    "audit_accountrequest": _READ,
    "audit_signinrefusal": {WEB: _ALL, WORKER: "select, update, delete"},
    # The house register, decisions on corrections, epochs and archived months of the log: written by functions.
    **{f"audit_{name}": _READ for name in ("registerentry", "correctiondecision", "logepoch", "archivedmonth")},
    "audit_erasedperson": _READ,  # written by a function, too
    **{f"audit_officer_{name}": {WEB: "select"} for name in ("groups", "user_permissions")},
    # Of Django and its apps.
    **{f"auth_{name}": {WEB: "select"} for name in ("group", "group_permissions", "permission")},
    "django_content_type": {WEB: "select", WORKER: "select"},
    "django_admin_log": {WEB: "select, insert"},
    "django_session": {WEB: _ALL},
    "django_migrations": _READ,
    **{f"axes_accessattempt{suffix}": {WEB: _ALL, WORKER: "select, delete"} for suffix in ("", "expiration")},
    **{f"axes_access{name}": {WEB: _ALL} for name in ("failurelog", "log")},
    # A second factor is put into use and taken away by functions; a trigger keeps whose it is, and its secret.
    "otp_static_staticdevice": {WEB: "select, update", OPERATOR: "insert, delete"},
    "otp_static_statictoken": {WEB: "select, delete", OPERATOR: "insert"},  # a recovery code is good once
    "otp_totp_totpdevice": {WEB: "select, insert, update", OPERATOR: "delete"},
    "django_celery_beat_clockedschedule": {WEB: _ALL, WORKER: _ALL},
    "django_celery_beat_crontabschedule": {WEB: _ALL, WORKER: _ALL},
    "django_celery_beat_intervalschedule": {WEB: _ALL, WORKER: _ALL},
    "django_celery_beat_periodictask": {WEB: _ALL, WORKER: _ALL},
    "django_celery_beat_periodictasks": {WEB: _ALL, WORKER: _ALL},
    "django_celery_beat_solarschedule": {WEB: _ALL, WORKER: _ALL},
}
"""What each role may do to a table or view. A table of the schema public has no schema in its name."""

_ACCOUNT_ENTRIES = (
    *("invited", "link_issued", "link_used", "renamed", "deactivated", "second_factor"),
    *("role_narrowed", "role_removed", "first_administrator"),
)
_REQUEST_ENTRIES = tuple(
    f"{kind}_{verb}"
    for kind in ("role", "second_factor", "email", "reactivation")
    for verb in ("proposed", "approved", "declined", "withdrawn")
)
_OF_ACCOUNTS = (
    *("officer_of", "casinos_of", "keeps", "keeps_at", "is_in_own_trail", "role_is_within"),
    *("demand_keeper", "demand_keeper_at", "demand_own_trail", "demand_command"),
    *("set_superuser", "set_role", "revoke_links", "propose_request", "decide_request", "carry_out_request"),
)

FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    # Of the log.
    "log.append": (WRITER,),
    "log.append_named": (WRITER,),
    "log.open_stream": (WRITER,),
    "log.open_desk": (WRITER,),
    "log.hold": (WRITER,),
    "log.seal": (SEQUENCER,),
    "log.register_key": (SEQUENCER,),
    "log.ensure_month": (OWNER,),
    # Nobody is granted what takes a partition away: months go into the archive by the account that owns the log.
    **{f"log.{name}": () for name in ("protect", "refuse", "refuse_step_back", "refuse_earlier")},
    **{f"log.{name}": () for name in ("month_range", "refuse_archived", "stage_month", "swap_month")},
    # Doors: what they do is in the functions after them, which nobody calls in another way.
    "audit_perform_act": (WEB,),
    "audit_perform_command": (OPERATOR,),
    "audit_perform": (),
    **{f"audit_act_officer_{verb}": () for verb in ("added", "made_superuser", "unmade_superuser", "password_changed")},
    **{f"audit_act_membership_{verb}": () for verb in ("given", "removed")},
    **{f"audit_act_officer_{verb}": () for verb in (*_ACCOUNT_ENTRIES, *_REQUEST_ENTRIES)},
    **{f"audit_act_night_{verb}": () for verb in ("reviewed", "closed", "reserved")},
    "audit_active_officer": (),
    **{f"audit_{name}": () for name in _OF_ACCOUNTS},
    **{f"audit_act_register_{verb}": () for verb in ("proposed", "approved", "declined", "withdrawn")},
    **{f"audit_{name}": () for name in ("keeps_register", "decide_register_entry", "guard_register_entry")},
    **{f"audit_{name}": () for name in ("is_integer", "reading_is_readable")},
    **{f"audit_act_correction_{verb}": () for verb in ("countersigned", "refused")},
    **{f"audit_{name}": () for name in ("decides_corrections", "decide_correction", "guard_correction_decision")},
    **{f"audit_act_log_{verb}": () for verb in ("recovered", "archived", "attached", "detached", "destroyed")},
    **{f"audit_{name}": () for name in ("report_of", "demand_log_owner", "demand_nothing_open", "move_archived")},
    **{f"audit_{name}": () for name in ("act_person_erased", "as_ascii", "as_json_ascii", "keep_public_key")},
    "audit_report_to_sign": (),
    "audit_report_integrity": (WEB, SEQUENCER),
    # Four eyes are of two people.
    "audit_same_hands": (WEB,),
    "audit_may_decide": (WEB,),
    # Of a generated column.
    "audit_finding_content": (WORKER,),
    # Of triggers.
    "audit_case_of": (),
    "audit_deadline_of": (),
    "audit_incident_case": (),
    "audit_head_of_case": (),
    "audit_open_case": (),
    "audit_opens_case": (),
    "audit_guard_finding": (),
    "audit_keep_finding": (),
    "audit_guard_run": (),
    "audit_guard_case_hands": (),
    "audit_guard_night_hands": (),
    "audit_guard_account_request": (),
    "audit_guard_access_link": (),
    "audit_guard_officer": (),
    "audit_guard_second_factor": (),
    "audit_guard_case": (),
    "audit_keep_night": (),
    "audit_keep_reservation": (),
}
"""Who may call a function, beyond its owner. Functions of ``log_guard`` run by triggers alone."""

KEPT_BY_THE_MIGRATOR = (
    *("log.ensure_month", "log.protect", "log.refuse", "log.refuse_step_back", "log.refuse_earlier"),
    *("log.refuse_archived", "log.stage_month", "log.swap_month"),
)
"""What makes, protects and takes away partitions stays with the account that migrates: the owner cannot change it."""


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
    for name, roles in FUNCTIONS.items():
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
    """Return the accounts that are web server and worker in one, as 0.1.0 had them; commands are to be."""
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
            report(f"{account} may not create roles. {how_to_get_roles()}")
            return
        with _maintenance(is_superuser):
            _apply_memberships(report)
            if is_superuser:
                _hand_over()
            _apply_privileges(report)
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
    can_sign_in = {name for (name,) in _rows("select rolname from pg_roles where rolcanlogin and not rolsuper")}
    if WEB not in can_sign_in and (WEB, WORKER) in {(member, role) for member, role in _rows(MEMBERS)}:
        _attempt(f"revoke {WORKER} from {WEB}", report)
    # An account of 0.1.0 signs in for web servers and workers alike. It keeps doing both until they have one each.
    for account in sorted(_accounts_of_0_1_0()):
        roles = {WEB, WORKER} - {account}
        for role in sorted(roles):
            _attempt(f"grant {role} to {account}", report)
            report(f"{account} serves web and workers: give each an account of its own (docs/deployment.md).")


def _accounts_of_0_1_0() -> set[str]:
    """Return the accounts that were given ``cabochon_writer`` as 0.1.0 wanted it, and cannot do their work with that.

    0.1.0 called the account of its example ``cabochon_web``: where that signs in, it is the account of all processes.
    """
    present = {(member, role) for member, role in _rows(MEMBERS)}
    can_sign_in = {name for (name,) in _rows("select rolname from pg_roles where rolcanlogin and not rolsuper")}
    direct = {member for member, role in present if role == WRITER and member in can_sign_in}
    of_both = {member for member, role in present if role in (WEB, WORKER, OPERATOR)}
    alone = {WEB} if WEB in can_sign_in and (WEB, WORKER) not in present else set()
    return (direct - of_both - {*ROLES}) | alone


def _hand_over() -> None:
    """Give the owner what is the owner's. Only a superuser may."""
    for name, owner in _rows(TABLES_HERE):
        if owner != OWNER and not name.startswith("log_guard."):
            _execute(f"alter table {_quoted(name)} owner to {OWNER}")
    for name, signature, owner in _rows(FUNCTIONS_HERE):
        if owner != OWNER and name in FUNCTIONS.keys() - set(KEPT_BY_THE_MIGRATOR):
            _execute(f"alter function {signature} owner to {OWNER}")


def _apply_privileges(report: Report) -> None:
    for each in excessive():
        _attempt(_statement("revoke", each), report)
    for each in missing():
        _attempt(_statement("grant", each), report)


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
