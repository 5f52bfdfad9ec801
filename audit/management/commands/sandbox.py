"""``manage.py sandbox``: list the casinos that are sandboxes, or empty one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error

from audit.access import sandboxes
from audit.management.counted import counted
from audit.management.terminal import BaseCommand
from audit.models import FIRST_SANDBOX_ID, Casino, LoggedStream


class Command(BaseCommand):
    help = "List the sandboxes. --empty deletes what one has recorded; its tables, keys and audit trail stay."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--empty", metavar="CASINO", help="delete the events of this sandbox, and their findings")
        parser.add_argument("--reason", default="", help="recorded in the audit trail")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["empty"] is None:
            self._list()
            return
        casino = Casino.objects.filter(code=options["empty"]).first()
        if casino is None:
            raise CommandError(f"There is no casino '{options['empty']}'. 'manage.py sandbox' lists the sandboxes.")
        try:
            deleted = sandboxes.empty(casino, reason=options["reason"])
        except sandboxes.NotEmptied as error:
            raise CommandError(str(error)) from None
        except Error as error:
            raise CommandError(
                f"The database did not answer to the end: {str(error).strip()}. Run the same again:"
                " it deletes all or nothing."
            ) from None
        self.stdout.write(
            f"'{casino.code}' is empty: {counted(deleted.streams, 'stream')}, {counted(deleted.events, 'event')} and"
            f" {counted(deleted.findings, 'finding')} were deleted."
        )

    def _list(self) -> None:
        sandboxes_here = Casino.objects.filter(is_sandbox=True)
        for casino in sandboxes_here:
            streams = LoggedStream.objects.filter(casino=casino, pk__gte=FIRST_SANDBOX_ID).count()
            self.stdout.write(f"{casino.code}  {counted(streams, 'stream')}")
        if not sandboxes_here:
            self.stdout.write("There is no sandbox. 'manage.py createkey --sandbox --casino CODE' makes one.")
