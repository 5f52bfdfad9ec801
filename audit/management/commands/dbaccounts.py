"""``manage.py dbaccounts``: the accounts with which processes sign in at the database, each a member of its role."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.utils import ProgrammingError

from audit.access.database_roles import OPERATOR, SEQUENCER, WEB, WORKER

ACCOUNTS = {
    "CABOCHON_WEB_PASSWORD": ("cabochon_web_login", WEB),
    "CABOCHON_WORKER_PASSWORD": ("cabochon_worker_login", WORKER),
    "CABOCHON_BEAT_PASSWORD": ("cabochon_beat_login", WORKER),
    "CABOCHON_SEQUENCER_PASSWORD": ("cabochon_sequencer_login", SEQUENCER),
    "CABOCHON_OPERATOR_PASSWORD": ("cabochon_operator_login", OPERATOR),
}
"""By the environment variable with its password: each account, and the role that it is a member of."""


class Command(BaseCommand):
    help = (
        "Create the accounts of web servers, workers, beat, sequencer and commands, or change their passwords. The "
        f"passwords are read from {', '.join(ACCOUNTS)}; an account whose variable is not set is left as it is. Run it "
        "after migrate, as the account that migrates."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: os.environ[name] for name in ACCOUNTS if os.environ.get(name)}
        if not given:
            raise CommandError(f"No password is set: give at least one of {', '.join(ACCOUNTS)}.")
        with connection.cursor() as cursor:
            for name, password in given.items():
                account, role = ACCOUNTS[name]
                cursor.execute("select 1 from pg_roles where rolname = %s", [account])
                verb = "alter" if cursor.fetchone() else "create"
                try:
                    cursor.execute(f"{verb} role {account} login password %s", [password])
                    cursor.execute(f"grant {role} to {account}")
                except ProgrammingError as error:
                    raise CommandError(f"{account}: {error}") from error
                self.stdout.write(f"{account} is a member of {role}.")
