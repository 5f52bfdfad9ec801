"""``manage.py signon``: what groups of the single sign-on provider stand for, and accounts that are linked to it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.event_store import audit_trail
from audit.event_store.append import EntryRefused
from audit.management.terminal import BaseCommand
from audit.models import Casino, GroupRole, Role

MAX_GROUP = 255


class Command(BaseCommand):
    help = (
        "List, add and remove what a group of the single sign-on provider stands for; or unlink an officer's account."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--add", nargs=3, metavar=("CASINO", "ROLE", "GROUP"), help="whoever is in GROUP has ROLE")
        what.add_argument(
            "--remove", nargs=3, metavar=("CASINO", "ROLE", "GROUP"), help="GROUP no longer stands for it"
        )
        what.add_argument(
            "--unlink", metavar="OFFICER", help="the next sign-in links the account again, by its address"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["unlink"]:
            try:
                audit_trail.perform_command("officer.unlinked", data={"named": options["unlink"]})
            except EntryRefused:
                raise CommandError(f"{options['unlink']} is not linked to an account at the provider.") from None
        elif options["add"] or options["remove"]:
            self._change(*(options["add"] or options["remove"]), is_given=bool(options["add"]))
        for row in GroupRole.objects.select_related("casino").order_by("casino__code", "role", "group"):
            self.stdout.write(f"{row.casino.code}\t{row.role}\t{row.group}")

    def _change(self, code: str, role: str, group: str, *, is_given: bool) -> None:
        casino = Casino.objects.filter(code=code).first()
        if casino is None:
            raise CommandError(f"There is no casino {code}.")
        if role not in Role.values:
            raise CommandError(f"{role} is no role: {', '.join(Role.values)}.")
        if not group or len(group) > MAX_GROUP or not group.isprintable():
            raise CommandError(f"A group is called by 1 to {MAX_GROUP} characters that can be printed.")
        type, data = f"group.{'given' if is_given else 'removed'}", {"role": role, "group": group}
        try:
            audit_trail.perform_command(type, casino_id=casino.pk, data=data)
        except EntryRefused:
            raise CommandError(f"{group} does not stand for {role} at {code}.") from None
