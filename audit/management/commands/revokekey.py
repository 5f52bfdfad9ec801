"""``manage.py revokekey``: revoke an API key at once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.access import keys
from audit.management.terminal import BaseCommand
from audit.models import ApiKey


class Command(BaseCommand):
    help = "Revoke an API key, named by the twelve digits after cab_ or whole: refused everywhere within a second."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix", metavar="PREFIX")
        parser.add_argument("--reason", default="", help="recorded in the audit trail")

    def handle(self, *args: Any, **options: Any) -> None:
        named = ApiKey.objects.filter(prefix=ApiKey.named_by(options["prefix"])).values_list("pk", flat=True)
        revoked = keys.revoke(keys.COMMAND, named, reason=options["reason"])
        if not revoked:
            raise CommandError(f"There is no active key '{options['prefix']}'. The desk lists those that there are.")
        self.stdout.write(f"{revoked[0]} is revoked.")
