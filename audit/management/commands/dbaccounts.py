"""``manage.py dbaccounts``: the accounts with which processes sign in at the database, each a member of its role."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandError
from django.db import connection
from django.db.utils import ProgrammingError

from audit.access.database_roles import BEAT, OPERATOR, ROLES, SEQUENCER, WEB, WORKER
from audit.management.terminal import BaseCommand

_MEMBERSHIPS = """
select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles a on a.oid = m.member
where a.rolname = %s and r.rolname = any (%s)
"""


def _accounts() -> dict[str, tuple[str, str]]:
    """Return each account that has a password in the environment, its role and the password."""
    read = {
        "cabochon_web_login": (WEB, os.environ.get("CABOCHON_WEB_PASSWORD")),
        "cabochon_worker_login": (WORKER, os.environ.get("CABOCHON_WORKER_PASSWORD")),
        "cabochon_beat_login": (BEAT, os.environ.get("CABOCHON_BEAT_PASSWORD")),
        "cabochon_sequencer_login": (SEQUENCER, os.environ.get("CABOCHON_SEQUENCER_PASSWORD")),
        "cabochon_operator_login": (OPERATOR, os.environ.get("CABOCHON_OPERATOR_PASSWORD")),
    }
    return {account: (role, password) for account, (role, password) in read.items() if password}


class Command(BaseCommand):
    help = (
        "Create the accounts of web servers, workers, beat, sequencer and commands, or change their passwords. The "
        "passwords are read from CABOCHON_WEB_PASSWORD and its like (docs/deployment.md); an account whose variable is "
        "not set is left as it is. Run it after migrate, as the account that migrates."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        accounts = _accounts()
        if not accounts:
            raise CommandError("No password is set: give at least CABOCHON_WEB_PASSWORD.")
        with connection.cursor() as cursor:
            for account, (role, password) in accounts.items():
                cursor.execute("select 1 from pg_roles where rolname = %s", [account])
                verb = "alter" if cursor.fetchone() else "create"
                try:
                    cursor.execute(f"{verb} role {account} login password %s", [password])
                    cursor.execute(f"grant {role} to {account}")
                    cursor.execute(_MEMBERSHIPS, [account, [*ROLES]])
                    for (other,) in cursor.fetchall():
                        if other != role:  # an earlier version gave it that one
                            cursor.execute(f"revoke {other} from {account}")
                except ProgrammingError as error:
                    raise CommandError(f"{account}: {error}") from error
                self.stdout.write(f"{account} is a member of {role}.")
