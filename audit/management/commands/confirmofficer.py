"""``manage.py confirmofficer``: say whose an account is, where no other administrator can."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.management.terminal import BaseCommand


class Command(BaseCommand):
    help = (
        "Confirm that an account is the person's whose name it has, and that they alone know its password. The first"
        " administrators of an installation invite each other, so that none of them can say it at the desk."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("officer", help="user name of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            audit_trail.perform_command("officer.confirmed", data={"named": options["officer"]})
        except EntryRefused as refused:
            raise CommandError("There is nothing to confirm about this account.") from refused
